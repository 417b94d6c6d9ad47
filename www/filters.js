// The filter buttons, which are also the legend: shape, word and number of every status.
import { button, shape } from './dom.js';
import { RARE, STATUS_NAMES } from './statuses.js';
import { count } from './text.js';

export class Filters {
  #buttons = new Map(); // value -> { node, number }
  #value = 'all';

  constructor(place, onChange) {
    for (const value of ['all', 'changed', ...STATUS_NAMES]) {
      const node = button(
        '',
        () => {
          this.choose(value);
          onChange();
        },
        { 'aria-pressed': 'false', class: `filter ${value}` },
      );
      const number = document.createElement('span');
      number.className = 'count';
      node.append(...(STATUS_NAMES.includes(value) ? [shape(value)] : []), value, ' ', number);
      this.#buttons.set(value, { node, number });
      place.append(node);
    }
    this.choose('all');
  }

  get value() {
    return this.#value;
  }

  choose(value) {
    this.#value = value;
    for (const [name, { node }] of this.#buttons) node.setAttribute('aria-pressed', String(name === value));
  }

  show(counts) {
    for (const [name, { node, number }] of this.#buttons) {
      number.textContent = count(counts[name]);
      node.hidden = RARE.includes(name) && counts[name] === 0;
    }
  }
}
