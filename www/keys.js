// Single keys, only while the focus is in the table: elsewhere they belong to the browser and to assistive software.
import { byId } from './dom.js';
import { KEPT } from './statuses.js';

/** projection(): the one on show, or null. */
export function watchKeys(table, finder, projection) {
  const isChange = ({ key }) => key < 0 || (key !== undefined && projection().status[key] !== KEPT);

  function move(direction, wanted = () => true) {
    const { items } = table;
    const start = table.focusedPosition();
    let position = start === undefined ? (direction > 0 ? 0 : items.length - 1) : start + direction;
    while (items[position] && !wanted(items[position])) position += direction;
    table.revealPosition(position);
  }

  const actions = {
    j: () => move(1),
    k: () => move(-1),
    n: () => move(1, isChange),
    p: () => move(-1, isChange),
    '/': () => finder.focus(),
    Enter: (event) => event.target.querySelector('.json-toggle, .more')?.click(),
  };

  byId('rows').addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || projection() === null) return;
    if (!Object.hasOwn(actions, event.key)) return;
    // On a button or a link inside a row, Enter is that button's.
    if (event.key === 'Enter' && !event.target.matches('.row, .fold')) return;
    event.preventDefault();
    actions[event.key](event);
  });
}
