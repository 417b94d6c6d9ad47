// One row of the table: the raw message on the left, what the model sees of it on the right.
import { button, element, rowLink, shape } from './dom.js';
import { ignoreSuperseded } from './client.js';
import { appendVisible, count, label, plural, tokens } from './text.js';

const MOST_NAMES = 40; // characters of a tool name or an id in a heading

/**
 * content: the worker's answer for the row. context: { ask, sizes, place(key), added(key) }, where ask() puts a question
 * about the projection on show.
 */
export function createRow(content, context) {
  const { key, status } = content;
  const isSource = key >= 0;
  const node = element('div', { role: 'row', class: `row ${status}`, id: isSource ? `r${key}` : null, tabindex: -1 });
  const place = isSource ? context.place(key) : context.added(key).place;
  const raw = element('div', { role: 'cell', class: 'side raw' });
  const seen = element('div', { role: 'cell', class: 'side seen' });
  node.append(
    number(
      'rowheader',
      isSource ? key : null,
      isSource ? `raw message ${key}, ${status}` : `no raw message, ${status}`,
      isSource,
    ),
    raw,
    number('cell', place === -1 ? null : place, place === -1 ? 'not seen by the model' : `model message ${place}`),
    seen,
  );
  // Both sides of an unchanged row open and close together: there is one list of parts for the two.
  const shared = content.seen === 'same' ? new Parts(content.raw, 'raw', content, context) : null;
  if (isSource) {
    const json = jsonToggle(key, 'raw', context);
    const file = sourceToggle(key, content.place, context);
    const marks = marksOf(content);
    raw.append(head(content.raw.role, tokens(context.sizes[key]), [...marks, file.toggle, json.toggle]));
    raw.append(file.place, json.place);
    raw.append((shared ?? new Parts(content.raw, 'raw', content, context)).copy());
  } else {
    raw.append(element('p', { class: 'nothing' }, 'No raw message'));
  }
  fillSeen(seen, content, context, shared);
  return node;
}

function fillSeen(seen, content, context, shared) {
  const { key, status } = content;
  const role = content.seen === 'same' ? content.raw.role : content.seen?.role;
  // The JSON of an unchanged message is the one on the left.
  const json = content.seen && !shared ? jsonToggle(key, 'seen', context) : null;
  seen.append(head(role, null, json ? [json.toggle] : [], statusSign(status)));
  if (json) seen.append(json.place);
  if (content.reasons.length > 0) seen.append(element('ul', { class: 'reasons' }, ...content.reasons.map(reason)));
  if (shared) seen.append(shared.copy());
  else if (content.seen) seen.append(new Parts(content.seen, 'seen', content, context).copy());
}

/** The number of a message; that of a raw one is also the address of its row. */
function number(role, value, words, isAddress = false) {
  const sign = element('span', { 'aria-hidden': 'true' }, value === null ? '–' : String(value));
  const spoken = element('span', { class: 'visually-hidden' }, words);
  return element(
    'div',
    { role, class: 'number' },
    ...(isAddress ? [element('a', { href: `#r${value}` }, sign, spoken)] : [sign, spoken]),
  );
}

export function statusSign(status) {
  return element('span', { class: `status ${status}` }, shape(status), status);
}

function head(role, size, actions, sign) {
  return element(
    'div',
    { class: 'head' },
    sign,
    role === undefined ? null : element('span', { class: 'role' }, label(role, MOST_NAMES)),
    size ? element('span', { class: 'size' }, size) : null,
    ...actions,
  );
}

const BRANCHES = {
  abandoned: ['abandoned', 'a rewind or a retry left it: the model does not see it'],
  compacted: ['compacted', 'a summary stands for it: the model does not see it'],
  hidden: ['hidden by the host', 'the host does not send it: the model does not see it'],
};

/** What the file says of a message beside it, in words. */
function marksOf({ place: { branch, sidechain }, outcomes }) {
  const marks = [];
  if (branch !== undefined) marks.push(tag(...BRANCHES[branch], 'cut'));
  if (sidechain !== undefined) marks.push(tag(`sub-agent ${label(sidechain, 24)}`, 'a conversation beside the main one', 'side'));
  for (const { word, because, bad } of outcomes.slice(0, 4)) {
    marks.push(tag(word, `the file says so: ${label(because, 120)}`, bad ? 'bad' : 'told'));
  }
  return marks;
}

const tag = (word, title, kind) => element('span', { class: `tag ${kind}`, title }, word);

/** Where a message stands in its file. */
function placeWords({ line, path, also_lines: also = [], start, end }) {
  const words = [];
  if (line !== undefined) words.push(also.length > 0 ? `lines ${count(line)} +${also.length}` : `line ${count(line)}`);
  if (path !== undefined) words.push(label(path, 60));
  if (words.length === 0) words.push('file');
  const others = also.length > 0 ? `, and lines ${also.slice(0, 12).join(', ')}${also.length > 12 ? ', ...' : ''}` : '';
  return { short: words.join(' '), long: `bytes ${count(start)} to ${count(end)}${others}` };
}

/** The place in the file, which opens what stands there. */
function sourceToggle(key, where, context) {
  const { short, long } = placeWords(where);
  const place = element('div', { class: 'json source-text' });
  const fill = async () => {
    place.append(element('p', { class: 'hash' }, `${long} of the file:`));
    const text = element('pre');
    place.append(text);
    try {
      const from = (at) => context.ask('sourceText', { key, from: at });
      grow(text, await from(0), from);
    } catch (error) {
      if (error.name !== 'WorkerError' && error.name !== 'NotReadableError') ignoreSuperseded(error);
      else text.replaceWith(element('p', { class: 'nothing' }, 'The file is not there any more, or has changed.'));
    }
  };
  const toggle = disclosure(short, `Hide ${short}`, place, fill, { class: 'quiet source-toggle', title: `${long}: show the source` });
  return { toggle, place };
}

function reason(pieces) {
  const item = element('li');
  for (const piece of pieces) {
    if (typeof piece === 'number') item.append(rowLink(piece));
    else item.append(label(piece, 240));
  }
  return item;
}

/** The parts of a message; copies of one object share what is opened in them. */
class Parts {
  constructor({ parts, otherParts }, side, content, context) {
    Object.assign(this, { parts: [...parts], otherParts, side, content, context });
    this.copies = []; // { list, button }
    this.texts = parts.map(() => []); // for each part, its { text, button } in each copy
    this.ends = parts.map(({ end }) => end);
  }

  copy() {
    const list = element('div', { class: 'parts' });
    const copy = { list, button: null };
    this.copies.push(copy);
    this.parts.forEach((part, index) => list.append(this.#part(part, index)));
    this.#offerParts(copy);
    return list;
  }

  #part(part, index) {
    const node = element('div', {
      class: `part ${part.kind}${part.hidden ? ' hidden-call' : ''}${part.pointer ? ' pointer' : ''}`,
    });
    const title = partTitle(part);
    if (title.length > 0) node.append(element('div', { class: 'part-head' }, ...title));
    if (part.text !== '') {
      const text = element('pre');
      appendVisible(text, part.text);
      node.append(text);
      const entry = { text, button: null };
      this.texts[index].push(entry);
      if (part.left > 0) {
        entry.button = button(moreLabel(part.left), () => this.#more(index), { class: 'more' });
        node.append(entry.button);
      }
    } else if (part.kind === 'result') {
      node.append(element('p', { class: 'nothing' }, '(empty)'));
    }
    if (part.pointer && this.side === 'seen') this.#offerOriginal(node, part);
    return node;
  }

  async #more(index) {
    const piece = await this.#ask('more', { part: index, from: this.ends[index] });
    if (!piece) return;
    this.ends[index] = piece.end;
    for (const { text, button: more } of this.texts[index]) {
      appendVisible(text, piece.text);
      afterMore(more, text, piece.left);
    }
  }

  #offerParts(copy) {
    if (this.otherParts === 0) return;
    copy.button = button(`Show ${plural(this.otherParts, 'more part')}`, () => this.#moreParts(), { class: 'more' });
    copy.list.append(copy.button);
  }

  async #moreParts() {
    const parts = await this.#ask('restOfParts', { from: this.parts.length });
    if (!parts) return;
    const first = this.parts.length;
    this.parts.push(...parts);
    this.otherParts -= parts.length;
    parts.forEach((part) => {
      this.texts.push([]);
      this.ends.push(part.end);
    });
    for (const copy of this.copies) {
      copy.button.remove();
      parts.forEach((part, index) => copy.list.append(this.#part(part, first + index)));
      this.#offerParts(copy);
    }
  }

  /** A pointer says where the raw body is; this shows that body and what its hash says. */
  #offerOriginal(node, part) {
    const at = this.content.pointers.findIndex(({ source_block_index }) => source_block_index === (part.block ?? null));
    if (at === -1) return;
    const pointer = this.content.pointers[at];
    const place = element('div', { class: 'original' });
    const toggle = disclosure('Show the original and check its hash', 'Hide the original', place, async () => {
      let found;
      try {
        found = await this.context.ask('recover', { key: this.content.key, pointer: at, from: 0 });
      } catch (error) {
        ignoreSuperseded(error);
        return;
      }
      const verdict = element(
        'p',
        { class: found.verified ? 'verdict good' : 'verdict bad' },
        shape(found.verified ? 'kept' : 'dropped'),
        found.verified
          ? 'The original matches its hash.'
          : 'The original does not match its hash: it is not what was redacted.',
      );
      const text = element('pre');
      place.append(verdict, element('p', { class: 'hash' }, label(found.hash, 80)), text);
      grow(text, found.piece, (from) =>
        this.context.ask('recover', { key: this.content.key, pointer: at, from }).then(({ piece }) => piece),
      );
    });
    const reclaimed = count(pointer.estimated_tokens_reclaimed);
    const size = `${count(pointer.content_chars)} characters, ~${reclaimed} tokens reclaimed`;
    node.append(element('p', { class: 'saved' }, size), toggle, place);
  }

  async #ask(kind, question) {
    try {
      return await this.context.ask(kind, { key: this.content.key, side: this.side, ...question });
    } catch (error) {
      ignoreSuperseded(error);
      return null;
    }
  }
}

function partTitle({ kind, title, name, id, error, signed, hidden }) {
  const pieces = [];
  if (kind === 'call' || kind === 'result') pieces.push(element('span', { class: 'kind' }, kind));
  else if (kind !== 'text') pieces.push(element('span', { class: 'kind' }, label(title ?? kind, MOST_NAMES * 2)));
  if (name !== undefined) pieces.push(element('span', { class: 'name' }, label(name, MOST_NAMES)));
  if (id !== undefined && id !== null) pieces.push(element('span', { class: 'id' }, label(id, MOST_NAMES)));
  if (error) pieces.push(element('span', { class: 'tag bad' }, 'error'));
  if (signed) pieces.push(element('span', { class: 'tag' }, 'signed'));
  if (hidden) pieces.push(element('span', { class: 'tag cut' }, 'hidden from the model'));
  return pieces;
}

const moreLabel = (left) => `Show more (${plural(left, 'character')} left)`;

function afterMore(more, text, left) {
  if (left > 0) {
    more.textContent = moreLabel(left);
    return;
  }
  // The focus must not fall to the top of the page when its button goes.
  if (document.activeElement === more) text.closest('.row, details')?.focus();
  more.remove();
}

/** Shows a piece of a long text, and a button for the next one as long as there is one. */
export function grow(text, piece, next) {
  let { end } = piece;
  appendVisible(text, piece.text);
  if (piece.left === 0) return;
  const more = button(
    moreLabel(piece.left),
    async () => {
      try {
        const following = await next(end);
        end = following.end;
        appendVisible(text, following.text);
        afterMore(more, text, following.left);
      } catch (error) {
        ignoreSuperseded(error);
      }
    },
    { class: 'more' },
  );
  text.after(more);
}

/** A button that fills a place when it is opened for the first time. */
function disclosure(closed, opened, place, fill, attributes = {}) {
  place.hidden = true;
  const toggle = button(
    closed,
    async () => {
      const opening = place.hidden;
      place.hidden = !opening;
      toggle.setAttribute('aria-expanded', String(opening));
      toggle.textContent = opening ? opened : closed;
      if (opening && !place.hasChildNodes()) await fill();
    },
    { class: 'more', 'aria-expanded': 'false', ...attributes },
  );
  return toggle;
}

function jsonToggle(key, side, context) {
  const place = element('div', { class: 'json' });
  const toggle = disclosure(
    'JSON',
    'Hide JSON',
    place,
    async () => {
      try {
        const from = (at) => context.ask('more', { key, side, part: 'json', from: at });
        const text = element('pre');
        const piece = await from(0);
        place.append(text);
        grow(text, piece, from);
      } catch (error) {
        ignoreSuperseded(error);
      }
    },
    { class: 'quiet json-toggle' },
  );
  return { toggle, place };
}

/** A fold: stands for a run of rows. open(from, to) shows some of them. */
export function createFold({ from, to, status }, context, open) {
  const rows = to - from;
  const what = status === 'kept' ? plural(rows, 'unchanged message') : `${count(rows)} more ${status}`;
  let size = 0;
  for (let index = from; index < to; index += 1) size += context.sizes[index];
  const node = element('div', { role: 'row', class: `fold ${status}`, tabindex: -1 });
  const cell = element(
    'div',
    { role: 'cell', class: 'fold-cell' },
    shape(status),
    element('span', {}, `${what} (#${from} to #${to - 1}, ${tokens(size)})`),
    button(`Show all ${count(rows)}`, () => open(from, to, from), { class: 'more' }),
  );
  if (rows > 40) {
    cell.append(
      button('First 20', () => open(from, from + 20, from), { class: 'more' }),
      button('Last 20', () => open(to - 20, to, to - 20), { class: 'more' }),
    );
  }
  node.append(cell);
  return node;
}
