// The strip above the rows: the whole transcript from left to right, coloured by status, each message as wide as it is
// long. A picture only; a click on it is a shortcut to what the keys n and p and the filters do as well.
import { byId } from './dom.js';
import { DROPPED, KEPT, REDACTED, STRIPPED, TRIMMED } from './statuses.js';

const COLOURS = {
  [KEPT]: 'var(--line)',
  [DROPPED]: 'var(--dropped)',
  [TRIMMED]: 'var(--trimmed)',
  [REDACTED]: 'var(--redacted)',
  [STRIPPED]: 'var(--trimmed)',
};
const NARROWEST = 1 / 400; // of the strip

export class Overview {
  #place = byId('overview');
  #ends = []; // where each message ends, from 0 to 1

  constructor(goTo) {
    this.#place.addEventListener('click', ({ clientX }) => {
      const { left, width } = this.#place.getBoundingClientRect();
      const index = this.#ends.findIndex((end) => end >= (clientX - left) / width);
      if (index !== -1) goTo(index);
    });
  }

  show({ status }, sizes) {
    // Square roots: one enormous message must not be all there is to see.
    const widths = Array.from(sizes, (size) => Math.sqrt(size) + 4);
    const total = widths.reduce((sum, width) => sum + width, 0);
    let sum = 0;
    this.#ends = widths.map((width) => (sum += width) / total);
    this.#place.style.setProperty('background-image', `linear-gradient(90deg, ${this.#stops(status).join(', ')})`);
  }

  #stops(status) {
    const pieces = []; // { value, from, to }
    let from = 0;
    let value = KEPT;
    status.forEach((each, index) => {
      // Of messages too narrow to be seen alone, what changed shows through.
      if (each !== KEPT) value = each;
      const to = this.#ends[index];
      if (to - from < NARROWEST && index < status.length - 1) return;
      const last = pieces.at(-1);
      if (last?.value === value) last.to = to;
      else pieces.push({ value, from, to });
      from = to;
      value = KEPT;
    });
    const percent = (part) => `${(part * 100).toFixed(2)}%`;
    const stops = pieces.map((piece) => `${COLOURS[piece.value]} ${percent(piece.from)} ${percent(piece.to)}`);
    return [...stops, `${COLOURS[KEPT]} 100%`, `${COLOURS[KEPT]} 100%`];
  }
}
