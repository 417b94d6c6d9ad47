// What is known of the file: what it is and why, its numbers, what could not be read, and how to read it otherwise.
import { byId, button, element } from './dom.js';
import { bytes, count, label, plural } from './text.js';

const SOME = 50; // warnings that come at a time

/**
 * loaded: what was read. reading: how. formats: all there are. read(changes) reads the file again in another way.
 */
export function renderFile(place, loaded, reading, formats, read) {
  const wasOpen = place.querySelector('details')?.open ?? false;
  const details = element(
    'details',
    { class: 'about-file', open: wasOpen },
    element(
      'summary',
      {},
      element('span', { class: 'what' }, `${loaded.title}, ${bytes(loaded.stats.bytes)}`),
      element('span', { class: 'note' }, ` ${loaded.confidence}`),
      loaded.warnings.length > 0
        ? element('span', { class: 'tag cut' }, plural(loaded.warnings.length, 'warning'))
        : null,
    ),
    element('p', {}, `Recognised by ${loaded.reason}.`),
    element('dl', { class: 'facts' }, ...facts(loaded).flatMap(([name, what]) => [element('dt', {}, name), element('dd', {}, what)])),
    controls(loaded, reading, formats, read),
    warnings(loaded.warnings),
  );
  place.replaceChildren(details);
}

/** Opens what is known of the file, at its warnings. */
export function showWarnings() {
  const details = byId('about').querySelector('details');
  details.open = true;
  const list = details.querySelector('.warnings');
  list.open = true;
  list.querySelector('summary').focus();
}

function facts({ stats, summary }) {
  const list = [
    ['Messages', `${count(stats.messages)}${stats.lines > 0 ? ` in ${plural(stats.lines, 'line')}` : ''}`],
    ['Calls', calls(stats)],
    ['Failures', failures(stats)],
  ];
  if (summary !== null) list.push(['Summary', 'the file carries one']);
  const kinds = Object.entries(stats.kinds).map(([kind, number]) => `${count(number)} ${label(kind, 80)}`);
  if (kinds.length > 0) list.push(['Besides', some(kinds)]);
  return list;
}

const MOST_KINDS = 40;

const some = (words) =>
  words.length > MOST_KINDS
    ? `${words.slice(0, MOST_KINDS).join(', ')} and ${count(words.length - MOST_KINDS)} more kinds`
    : words.join(', ');

function calls({ calls: made, results, unanswered_calls: unanswered, orphan_results: orphans }) {
  const parts = [count(made), plural(results, 'result')];
  if (unanswered > 0) parts.push(`${count(unanswered)} without a result`);
  if (orphans > 0) parts.push(`${plural(orphans, 'result')} without a call`);
  return parts.join(', ');
}

function failures({ failed_results: failed, inferred_failures: guessed, refused_calls: refused }) {
  const parts = [count(failed)];
  if (guessed > 0) parts.push(`${count(guessed)} of them guessed from a text or an exit code`);
  if (refused > 0) parts.push(`${count(refused)} more refused by the user`);
  return parts.join(', ');
}

function controls(loaded, reading, formats, read) {
  const as = element(
    'select',
    { id: 'format' },
    element('option', { value: 'auto' }, 'what it looks like'),
    ...formats.map(({ format, title }) => element('option', { value: format }, title)),
  );
  as.value = reading.format;
  as.addEventListener('change', () => read({ format: as.value }));
  const parts = [element('label', { for: as.id }, 'Read it as '), as];
  if (reading.transcript > 0 || loaded.warnings.some(({ code }) => code === 'several_transcripts')) {
    const which = element('input', { id: 'transcript', type: 'number', min: 1, value: reading.transcript + 1, size: 5 });
    which.addEventListener('change', () => read({ transcript: Math.max(0, Math.trunc(Number(which.value)) - 1 || 0) }));
    parts.push(' ', element('label', { for: which.id }, 'Conversation '), which);
  }
  return element('p', { class: 'reading' }, ...parts);
}

function warnings(list) {
  if (list.length === 0) return null;
  const items = element('ul');
  const details = element('details', { class: 'warnings' }, element('summary', {}, plural(list.length, 'warning')), items);
  const more = button('', () => add(), { class: 'more' });
  let next = 0;
  const add = () => {
    items.append(...list.slice(next, next + SOME).map((warning) => element('li', {}, sentence(warning))));
    next = Math.min(list.length, next + SOME);
    more.textContent = `Show more (${count(list.length - next)} left)`;
    if (next === list.length) more.remove();
  };
  details.append(more);
  add();
  return details;
}

/** A warning with its place in the file. */
export function sentence({ line, path, message }) {
  const place = [line === null ? null : `Line ${count(line)}`, path === null ? null : label(path, 120)].filter(Boolean);
  return `${place.length > 0 ? `${place.join(', ')}: ` : ''}${label(message, 300)}`;
}
