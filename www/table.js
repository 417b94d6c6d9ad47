// The table: one scroller, one window of rows. However long the transcript, the page holds a few hundred rows of it;
// empty space before and after stands for the rest, so that the scroll bar stays about right.
import { Superseded } from './client.js';
import { element } from './dom.js';
import { createFold, createRow } from './rows.js';

const STEP = 80; // rows added at an end
const MOST = 320; // rows kept in the page
const AHEAD = 1500; // px: how near an end may come before rows are added there
const TALLEST_SPACE = 4_000_000; // px: browsers refuse much more

export class Table {
  #root;
  #body = element('div', { role: 'rowgroup' });
  #above = element('div', { class: 'space', 'aria-hidden': 'true' });
  #below = element('div', { class: 'space', 'aria-hidden': 'true' });
  #items = [];
  #positions = new Map(); // key of a row -> position in items
  #first = 0;
  #last = 0;
  #average = 90; // px, of a row
  #context;
  #openFold;
  #lists = 0; // the number of the newest list(); it wins over everything that began before it has ended
  #listing = 0;
  #moves = 0; // the number of the newest change of the window
  #onRender;
  #top;

  /** top(): where the screen begins for rows, below what sticks to its edge. */
  constructor(root, { openFold, onRender, top }) {
    this.#root = root;
    this.#top = top;
    this.#openFold = openFold;
    this.#onRender = onRender;
    const header = element(
      'div',
      { role: 'rowgroup', class: 'visually-hidden' },
      element(
        'div',
        { role: 'row' },
        ...['Raw number', 'Raw', 'Model number', 'Model sees'].map((name) =>
          element('span', { role: 'columnheader' }, name),
        ),
      ),
    );
    root.append(header, this.#above, this.#body, this.#below);
    let frame = 0;
    addEventListener(
      'scroll',
      () => {
        frame ||= requestAnimationFrame(() => {
          frame = 0;
          this.#follow();
        });
      },
      { passive: true },
    );
  }

  get items() {
    return this.#items;
  }

  /** The position of a row, or undefined when it is folded away or filtered out. */
  position(key) {
    return this.#positions.get(key);
  }

  /** The key of the row that holds a node. */
  keyOf(node) {
    const row = node.closest?.('.row, .fold');
    const position = this.#positionOf(row);
    return position === undefined ? undefined : this.#items[position].key;
  }

  rowNodes() {
    return [...this.#body.children];
  }

  /**
   * Lists other items. Scrolls to the row `at` if there is one, else leaves what was at the top of the screen where it was.
   */
  async list(items, context, { at, fresh = false } = {}) {
    const anchor = fresh ? null : this.#anchor();
    const positions = new Map();
    items.forEach(({ key }, position) => {
      if (key !== undefined) positions.set(key, position);
    });
    const target = at ?? anchor?.key;
    const position = target === undefined ? 0 : this.#nearest(items, positions, target);
    const first = Math.max(0, position - STEP / 2);
    const last = Math.min(items.length, first + STEP * 2);
    this.#lists += 1;
    this.#listing += 1;
    const mine = this.#lists;
    let nodes;
    try {
      nodes = await this.#nodes(items, context, first, last, () => mine === this.#lists);
    } finally {
      this.#listing -= 1;
    }
    if (nodes === null) return false;
    this.#items = items;
    this.#positions = positions;
    this.#context = context;
    this.#body.replaceChildren(...nodes);
    this.#first = first;
    this.#last = last;
    this.#root.setAttribute('aria-rowcount', String(items.length + 1));
    this.#spaces();
    if (at === undefined && anchor) this.#moveTo(this.#body.children[position - first], anchor.top);
    this.#onRender();
    if (at !== undefined) await this.reveal(at);
    return true;
  }

  /** Brings a listed row onto the screen and gives it the focus. */
  async reveal(key, { focus = true } = {}) {
    return this.revealPosition(this.#positions.get(key), { focus });
  }

  async revealPosition(position, { focus = true } = {}) {
    if (position === undefined || position < 0 || position >= this.#items.length) return null;
    if (position < this.#first || position >= this.#last) {
      const first = Math.max(0, position - STEP / 2);
      if (!(await this.#jump(first, Math.min(this.#items.length, first + STEP * 2)))) return null;
    }
    const node = this.#body.children[position - this.#first];
    if (focus) node.focus({ preventScroll: true });
    node.scrollIntoView({ block: 'nearest' });
    return node;
  }

  focusedPosition() {
    return this.#positionOf(document.activeElement?.closest?.('.row, .fold'));
  }

  #positionOf(row) {
    const index = row ? this.rowNodes().indexOf(row) : -1;
    return index === -1 ? undefined : this.#first + index;
  }

  /** The scroll bar moved: add rows at an end, or start anew where it has gone. */
  async #follow() {
    if (this.#items.length === 0 || this.#listing > 0) return;
    const box = this.#body.getBoundingClientRect();
    if (box.bottom < 0 || box.top > innerHeight) {
      const from = this.#above.getBoundingClientRect().top;
      const rest = this.#items.length - this.#last;
      const position =
        box.top > innerHeight
          ? (-from / this.#above.offsetHeight) * this.#first
          : this.#last + (-box.bottom / this.#below.offsetHeight) * rest;
      const first = Math.max(0, Math.min(this.#items.length - STEP, Math.floor(position) - STEP / 4));
      await this.#jump(first, Math.min(this.#items.length, first + STEP));
      // At the place where the bar stands, not where the new rows happen to begin.
      const node = this.#body.children[Math.max(0, Math.min(this.#last - 1, Math.floor(position)) - this.#first)];
      if (node) this.#moveTo(node, this.#top());
      return;
    }
    if (this.#first > 0 && box.top > -AHEAD) await this.#extend(Math.max(0, this.#first - STEP), this.#last);
    else if (this.#last < this.#items.length && box.bottom < innerHeight + AHEAD) {
      await this.#extend(this.#first, Math.min(this.#items.length, this.#last + STEP));
    }
  }

  async #jump(first, last) {
    const nodes = await this.#nodes(this.#items, this.#context, first, last, this.#move());
    if (nodes === null) return false;
    this.#body.replaceChildren(...nodes);
    this.#first = first;
    this.#last = last;
    this.#spaces();
    this.#onRender();
    return true;
  }

  /** Adds rows at one end and takes as many as needed from the other. */
  async #extend(first, last) {
    const isCurrent = this.#move();
    const before = await this.#nodes(this.#items, this.#context, first, this.#first, isCurrent);
    if (before === null) return;
    const after = await this.#nodes(this.#items, this.#context, this.#last, last, isCurrent);
    if (after === null) return;
    const anchor = this.#anchor();
    this.#body.prepend(...before);
    this.#body.append(...after);
    this.#first = first;
    this.#last = last;
    const tooMany = this.#last - this.#first - MOST;
    for (let left = tooMany; left > 0; left -= 1) {
      const node = before.length > 0 ? this.#body.lastChild : this.#body.firstChild;
      if (node.contains(document.activeElement)) this.#root.focus({ preventScroll: true });
      node.remove();
      if (before.length > 0) this.#last -= 1;
      else this.#first += 1;
    }
    this.#spaces();
    if (anchor) this.#moveTo(anchor.node, anchor.top);
    this.#onRender();
  }

  /** Begins a change of the window; the answer tells whether it still is the newest thing that happens. */
  #move() {
    this.#moves += 1;
    const move = this.#moves;
    const list = this.#lists;
    return () => move === this.#moves && list === this.#lists;
  }

  /** Elements for items [first, last), or null when that is not wanted any more. */
  async #nodes(items, context, first, last, isCurrent) {
    const wanted = items.slice(first, last);
    const keys = wanted.map(({ key }) => key).filter((key) => key !== undefined);
    let contents = [];
    try {
      if (keys.length > 0) contents = await context.ask('rows', { keys });
    } catch (error) {
      if (error instanceof Superseded) return null;
      throw error;
    }
    if (!isCurrent()) return null;
    let next = 0;
    return wanted.map((item, index) => {
      const node =
        item.key === undefined ? createFold(item, context, this.#openFold) : createRow(contents[next++], context);
      node.setAttribute('aria-rowindex', String(first + index + 2));
      return node;
    });
  }

  /** The first row on the screen, and where it stands. */
  #anchor() {
    for (const [index, node] of this.rowNodes().entries()) {
      const { top, bottom } = node.getBoundingClientRect();
      if (bottom > this.#top()) {
        const item = this.#items[this.#first + index];
        return { node, top, key: item.key ?? item.from };
      }
    }
    return null;
  }

  #moveTo(node, top) {
    if (node) scrollBy({ top: node.getBoundingClientRect().top - top, behavior: 'instant' });
  }

  /** The listed position of a row, or of the row or fold that stands where it would. */
  #nearest(items, positions, key) {
    if (positions.has(key)) return positions.get(key);
    const position = items.findIndex((item) => (item.key ?? item.to - 1) >= key);
    return position === -1 ? Math.max(0, items.length - 1) : position;
  }

  #spaces() {
    const shown = this.#last - this.#first;
    if (shown > 0) this.#average = this.#body.offsetHeight / shown;
    const height = (rows) => `${Math.round(Math.min(rows * this.#average, TALLEST_SPACE))}px`;
    this.#above.style.setProperty('height', height(this.#first));
    this.#below.style.setProperty('height', height(this.#items.length - this.#last));
  }
}
