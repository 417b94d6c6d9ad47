// The find field: asks the worker, walks through the hits, shows where in a long row a hit is.
import { byId, element } from './dom.js';
import { ignoreSuperseded } from './client.js';
import { appendVisible, count, label } from './text.js';

const TYPING = 200; // ms

export class Finder {
  #ask;
  #goTo;
  #field = byId('find');
  #output = byId('find-count');
  #hits = [];
  #at = -1;
  #timer;

  /** ask(kind, question) asks the worker about the projection on show; goTo(key) opens and reveals a row. */
  constructor({ ask, goTo }) {
    this.#ask = ask;
    this.#goTo = goTo;
    this.#field.addEventListener('input', () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.search(), TYPING);
    });
    this.#field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        event.preventDefault();
        this.step(event.shiftKey ? -1 : 1);
      } else if (event.key === 'Escape') {
        this.#field.value = '';
        this.search();
      }
    });
    byId('find-next').addEventListener('click', () => this.step(1));
    byId('find-previous').addEventListener('click', () => this.step(-1));
  }

  get text() {
    return this.#field.value;
  }

  focus() {
    this.#field.focus();
    this.#field.select();
  }

  async search() {
    clearTimeout(this.#timer);
    this.#hits = [];
    this.#at = -1;
    if (this.text === '') {
      this.#output.textContent = '';
      this.highlight();
      return;
    }
    try {
      this.#hits = await this.#ask('find', { text: this.text });
    } catch (error) {
      ignoreSuperseded(error);
      return;
    }
    this.#say();
    this.highlight();
  }

  async step(direction) {
    if (this.#at === -1) await this.search();
    const total = this.#hits.length;
    if (total === 0) return;
    this.#at = this.#at === -1 ? (direction > 0 ? 0 : total - 1) : (this.#at + direction + total) % total;
    this.#say();
    const row = await this.#goTo(this.#hits[this.#at]);
    if (row) await this.#point(row, this.#hits[this.#at]);
  }

  #say() {
    const total = this.#hits.length;
    this.#output.textContent =
      total === 0
        ? 'no hits'
        : this.#at === -1
          ? `${count(total)} ${total === 1 ? 'message' : 'messages'}`
          : `${count(this.#at + 1)} of ${count(total)}`;
  }

  /** Marks the row; when the hit is in text that the row does not show, quotes it. */
  async #point(row, key) {
    for (const old of document.querySelectorAll('.hit, .excerpt')) {
      if (old.matches('.excerpt')) old.remove();
      else old.classList.remove('hit');
    }
    row.classList.add('hit');
    if (row.textContent.toLowerCase().includes(this.text.toLowerCase())) return;
    try {
      const found = await this.#ask('excerpt', { key, text: this.text });
      if (!found) return;
      const quote = element('p', { class: 'excerpt' }, `in ${label(found.part, 40)}: …`);
      appendVisible(quote, found.before);
      const mark = element('mark');
      appendVisible(mark, found.match);
      quote.append(mark);
      appendVisible(quote, found.after);
      quote.append('…');
      row.querySelector('.side:has(.parts)')?.querySelector('.head').after(quote);
    } catch (error) {
      ignoreSuperseded(error);
    }
  }

  /** Marks the text itself, where the browser can do that without touching the elements. */
  highlight() {
    if (!CSS.highlights) return;
    CSS.highlights.delete('find');
    const wanted = this.text.toLowerCase();
    if (wanted === '') return;
    const ranges = [];
    const walker = document.createTreeWalker(byId('rows'), NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && ranges.length < 2000) {
      const node = walker.currentNode;
      const text = node.data.toLowerCase();
      // Lower-casing may change lengths; then positions mean nothing.
      if (text.length !== node.data.length) continue;
      for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + wanted.length);
        ranges.push(range);
      }
    }
    CSS.highlights.set('find', new Highlight(...ranges));
  }
}
