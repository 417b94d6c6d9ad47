// The numbers above the table. They add up, and the page shows how.
import { element, shape } from './dom.js';
import { count, label, plural, visible } from './text.js';

/** projection: the worker's answer; counts: rows by status (items.js); loaded: what was read. */
export function renderTotals(place, projection, counts, loaded) {
  place.replaceChildren(
    element(
      'p',
      { class: 'source' },
      element('span', { class: 'file' }, label(loaded.name, 80)),
      element('span', { class: 'hash' }, `prefix ${projection.prefix_hash ?? 'not hashed'}`),
    ),
    sums(projection, counts),
    element(
      'dl',
      { class: 'facts' },
      ...fact(
        'Reclaimed',
        `~${count(projection.reclaimed_tokens)} tokens`,
        `est., from ${plural(projection.reclaimed_chars, 'character')}`,
      ),
      ...fact('Reason', visible(projection.reason)),
      ...(projection.roots_consulted.length > 0
        ? fact('Roots', projection.roots_consulted.map((root) => label(root)).join(', '))
        : []),
      ...(counts.redacted !== projection.redacted_count
        ? fact(
            'Pointers',
            plural(projection.redacted_count, 'body', 'bodies'),
            `in ${plural(counts.redacted, 'message')}`,
          )
        : []),
    ),
  );
}

function fact(name, value, note) {
  return [
    element('dt', {}, name),
    element('dd', {}, value, note ? element('span', { class: 'note' }, ` ${note}`) : null),
  ];
}

/** Two sums over the same columns: all raw messages, and what the model sees of them. */
function sums(projection, counts) {
  const raw = projection.status.length;
  const ifAny = (name) => (counts[name] > 0 ? [name] : []);
  const columns = ['kept', 'trimmed', 'redacted', ...ifAny('stripped'), 'dropped', 'summary', ...ifAny('added')];
  const inRaw = { kept: true, trimmed: true, redacted: true, stripped: true, dropped: true };
  const cell = (there, name) =>
    element(
      'td',
      { class: there ? name : 'blank' },
      there ? count(counts[name]) : element('span', { 'aria-label': 'not counted' }, '·'),
    );
  const line = (title, total, includes) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, title),
      element('td', { class: 'total' }, count(total)),
      ...columns.map((name) => cell(includes(name), name)),
    );
  return element(
    'table',
    { class: 'sums' },
    element('caption', { class: 'visually-hidden' }, 'How the messages add up'),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        element('td'),
        element('th', { scope: 'col' }, 'messages'),
        ...columns.map((name) =>
          element(
            'th',
            { scope: 'col' },
            element('span', { class: `status ${name}` }, shape(name), name === 'summary' ? 'summaries' : name),
          ),
        ),
      ),
    ),
    element(
      'tbody',
      {},
      line('Raw', raw, (name) => inRaw[name]),
      line('Model sees', projection.seen, (name) => name !== 'dropped'),
    ),
  );
}
