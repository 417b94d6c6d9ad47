// What the table lists, in file order: rows, and folds that stand for long runs of rows in which nothing happens.
import { DROPPED, KEPT, STATUS_NAMES } from './statuses.js';

const CONTEXT = 1; // rows that stay at either end of a fold
const OPENING = 2; // rows that stay at the very start: the prompt and the task
const SHORTEST_FOLD = 4;

/**
 * Items: { key } is a row (see worker.js for keys), { from, to, status } a fold of source rows [from, to).
 * opened[i] = 1: source row i is never folded. filter: 'all', 'changed' or the name of a status.
 */
export function listItems({ status, added }, opened, filter) {
  const items = [];
  const all = filter === 'all';
  const folds = all && !nothingChanged(status, added);
  const wants = (name) => all || filter === name || (filter === 'changed' && name !== 'kept');
  const count = status.length;
  let next = 0;
  let index = 0;
  while (index <= count) {
    for (; next < added.length && added[next].before === index; next += 1) {
      if (wants(STATUS_NAMES[added[next].status])) items.push({ key: -1 - next });
    }
    if (index === count) break;
    // A run ends where the status changes, at an opened row, or where the view added a message.
    let end = index + 1;
    const limit = next < added.length ? Math.min(count, added[next].before) : count;
    while (end < limit && status[end] === status[index] && opened[end] === opened[index]) end += 1;
    if (wants(STATUS_NAMES[status[index]])) pushRun(items, index, end, status[index], folds && opened[index] === 0);
    index = end;
  }
  return items;
}

function pushRun(items, from, to, status, folds) {
  const first = from + (from === 0 ? OPENING : CONTEXT);
  const last = to - CONTEXT;
  const foldable = folds && (status === KEPT || status === DROPPED) && last - first >= SHORTEST_FOLD;
  for (let index = from; index < to; index += 1) {
    if (foldable && index === first) {
      items.push({ from: first, to: last, status: STATUS_NAMES[status] });
      index = last - 1;
    } else {
      items.push({ key: index });
    }
  }
}

const nothingChanged = (status, added) => added.length === 0 && status.every((value) => value === KEPT);

/** How many rows each filter would list. */
export function countRows({ status, added }) {
  const counts = Object.fromEntries(STATUS_NAMES.map((name) => [name, 0]));
  for (const value of status) counts[STATUS_NAMES[value]] += 1;
  for (const { status: value } of added) counts[STATUS_NAMES[value]] += 1;
  counts.all = status.length + added.length;
  counts.changed = counts.all - counts.kept;
  return counts;
}
