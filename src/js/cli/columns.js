// Rows of a table in aligned columns that fit the terminal.
import { cut, visible, width } from './text.js';

const GAP = '  ';
const LEAST = 40; // narrower terminals wrap

/**
 * @param {string[]} heads the last column takes what is left
 * @param {(string | number)[][]} rows numbers stand right
 * @param {{columns: number, paint: Function}} style
 * @returns {string}
 */
export function inColumns(heads, rows, { columns, paint }) {
  const texts = rows.map((row) => row.map((cell) => visible(typeof cell === 'number' ? grouped(cell) : cell)));
  const isRight = heads.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'));
  const most = Math.max(LEAST, columns);
  const widest = heads.map((head, column) => Math.max(width(head), ...texts.map((row) => width(row[column]))));
  // The widest column of words gives way first.
  const gaps = GAP.length * (heads.length - 1);
  for (let over = sum(widest) + gaps - most; over > 0; over = sum(widest) + gaps - most) {
    const column = widestOf(widest, isRight);
    if (widest[column] <= width(heads[column])) break;
    widest[column] = Math.max(width(heads[column]), widest[column] - over);
  }
  const line = (cells) =>
    cells
      .map((cell, column) => {
        const text = cut(cell, widest[column]);
        const room = ' '.repeat(widest[column] - width(text));
        return isRight[column] ? room + text : text + room;
      })
      .join(GAP)
      .trimEnd();
  return [paint('bold', line(heads)), ...texts.map(line)].join('\n');
}

/**
 * @param {[string, string][]} facts names and what is to be said of each
 * @param {{columns: number, paint: Function}} style
 * @returns {string} a fact a line, wrapped
 */
export function factLines(facts, { columns, paint }, alarming = () => false) {
  const label = Math.max(...facts.map(([name]) => name.length));
  return facts
    .map(([name, fact]) => {
      const lines = wrap(visible(fact), Math.max(LEAST, columns) - label - GAP.length);
      const text = lines.join(`\n${' '.repeat(label)}${GAP}`);
      return `${paint('dim', name.padEnd(label))}${GAP}${alarming(name) ? paint('blocked', text) : text}`;
    })
    .join('\n');
}

/** The text in lines of at most that many columns, as far as its words allow. */
export function wrap(text, columns) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines[lines.length - 1];
    if (line !== '' && width(line) + 1 + width(word) > columns) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

/** A number as people read it. */
export const grouped = (number) => number.toLocaleString('en-US');

/** `1 message`, `2 messages`. */
export const counted = (number, one, many = `${one}s`) => `${grouped(number)} ${number === 1 ? one : many}`;

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

function widestOf(widths, isRight) {
  const words = widths.map((width, column) => (isRight[column] ? 0 : width));
  return words.indexOf(Math.max(...words));
}
