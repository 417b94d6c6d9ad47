// What the reader must know before trusting the right-hand column.
import { button, element, rowLink } from './dom.js';
import { sentence, showWarnings } from './file.js';
import { count, label, plural, visible } from './text.js';

const MOST_LINKS = 24;

/** controls: to turn the preview on and off from here. */
export function renderBanners(place, projection, loaded, controls) {
  place.replaceChildren(
    ...[
      refused(projection, controls),
      preview(projection, controls),
      resolved(projection),
      invalidated(projection),
      violations(projection),
      surrogates(projection),
      everything(loaded),
      unread(loaded.warnings),
    ].filter(Boolean),
  );
}

function everything({ view }) {
  if (view !== 'all') return null;
  return banner(
    'note',
    'Everything in the file is listed,',
    'also what the model does not see any more: such rows are marked. The right-hand side is what a policy would make of it all.',
  );
}

function unread(warnings) {
  if (warnings.length === 0) return null;
  const [first] = warnings;
  const rest = warnings.length > 1 ? button(`Show all ${count(warnings.length)}`, showWarnings) : null;
  return banner('note', 'Not all of this file was read as it stands.', sentence(first), rest);
}

function banner(kind, title, ...content) {
  return element('div', { class: `banner ${kind}` }, element('strong', {}, title), ' ', ...content.filter(Boolean));
}

function refused(projection, controls) {
  if (!projection.provider_safety_blocked) return null;
  // The last one: the words before it may be the user's own reason.
  const index = [...projection.reason.matchAll(/at index (\d+)/g)].at(-1)?.[1];
  return banner(
    'refused',
    'The guard refused this projection.',
    ...(index === undefined
      ? []
      : [
          'Message ',
          rowLink(Number(index)),
          ' holds signed reasoning that it would change or cut off from what it was signed with. ',
        ]),
    'A provider would reject the request, so the model sees everything, raw. What happens then is an option beside the ',
    'policies. ',
    button('Preview it all the same', () => {
      controls.respectsSignatures = false;
    }),
  );
}

function preview(projection, controls) {
  if (projection.respected) return null;
  return banner(
    'preview',
    'Preview only – a provider may reject this.',
    'Provider signatures are ignored. ',
    button('Respect signatures again', () => {
      controls.respectsSignatures = true;
    }),
  );
}

/** What became of the rest when signatures stood in the way and something else than raw was asked for. */
function resolved({ skipped_indices: skipped, stripped_indices: stripped }) {
  if (skipped.length === 0 && stripped.length === 0) return null;
  const pieces = [];
  if (stripped.length > 0)
    pieces.push(`${plural(stripped.length, 'message')} stripped of reasoning:`, ...links(stripped), '. ');
  if (skipped.length > 0)
    pieces.push(`${plural(skipped.length, 'message')} left as they are:`, ...links(skipped), '. ');
  return banner('note', 'Signed reasoning stood in the way.', ...pieces);
}

function invalidated({ invalidated_signature_indices: indices, first_changed_index: first }) {
  if (indices.length === 0) return null;
  return banner(
    'note',
    `${plural(indices.length, 'signature')} may no longer hold:`,
    ...links(indices),
    `. They come after the first change (model message ${first}), and newer Claude models sign everything before them `,
    'too. To refuse such a view, let a signature vouch for everything before it, under "All policies".',
  );
}

function violations({ violations: list }) {
  if (!list || list.length === 0) return null;
  const items = list
    .slice(0, MOST_LINKS)
    .map(({ message, index, severity }) =>
      element('li', {}, `Model message ${index}: ${label(message, 300)} (${label(severity)})`),
    );
  if (list.length > MOST_LINKS) items.push(element('li', {}, `and ${list.length - MOST_LINKS} more`));
  return banner(
    'refused',
    `A provider would find ${plural(list.length, 'fault')} in this list of messages.`,
    element('ul', {}, ...items),
  );
}

function surrogates({ lone_surrogate_indices: indices }) {
  if (indices.length === 0) return null;
  return banner(
    'note',
    'Broken characters.',
    `Half characters (lone surrogates) in ${plural(indices.length, 'message')} hash as \\ufffd.`,
  );
}

function links(indices) {
  const list = indices.slice(0, MOST_LINKS).flatMap((index) => [' ', rowLink(index)]);
  if (indices.length > MOST_LINKS) list.push(` and ${indices.length - MOST_LINKS} more`);
  return list;
}

/** What went wrong, and where in the file. A null error takes the message away. */
export function renderProblem(place, title, error, dismiss) {
  if (error === null) {
    place.replaceChildren();
    return;
  }
  const where = error.line === undefined ? '' : ` Line ${error.line}, column ${error.column}.`;
  const message = element(
    'div',
    { class: 'banner problem' },
    element('strong', {}, title),
    ' ',
    visible(error.message),
    where,
  );
  if (error.line !== undefined) {
    message.append(
      element(
        'pre',
        {},
        `${visible(error.before)}`,
        element('mark', {}, visible(error.after.slice(0, 1)) || ' '),
        visible(error.after.slice(1)),
      ),
    );
  }
  message.append(button('Dismiss', dismiss));
  place.replaceChildren(message);
}
