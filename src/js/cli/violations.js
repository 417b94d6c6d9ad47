// Violations as text for a terminal.
import { wrap } from './columns.js';
import { fit, visible, width } from './text.js';

const LEAST = 40; // narrower terminals wrap
const GAP = '  ';
const SEVERITY = 'severity'.length; // the longest word

/**
 * @param {object[]} violations
 * @param {{columns: number, paint: Function}} style
 * @returns {string} a violation under the other, its message wrapped, under a head
 */
export function violationTable(violations, { columns, paint }) {
  const places = violations.map(({ index, block }) => (block === null ? `${index}` : `${index}.${block}`));
  const place = Math.max(1, ...places.map((text) => text.length));
  const rule = Math.max('rule'.length, ...violations.map((violation) => width(violation.rule)));
  const room = place + SEVERITY + rule + 3 * GAP.length;
  const rest = Math.max(LEAST, columns - room);
  const line = (...[at, severity, name, what]) => {
    const text = wrap(visible(what), rest).join(`\n${' '.repeat(room)}`);
    return [at.padEnd(place), fit(severity, SEVERITY), fit(name, rule), text].join(GAP).trimEnd();
  };
  const lines = violations.map(({ severity, rule: name, message }, at) =>
    paint(severity === 'error' ? 'blocked' : 'trimmed', line(places[at], severity, name, message)),
  );
  return [paint('bold', line('#', 'severity', 'rule', 'what')), ...lines].join('\n');
}

/**
 * @param {object[]} violations
 * @param {{provider: string, messages?: number, requests?: number}} of how many messages of one request, or requests
 * @returns {string} one line
 */
export function violationTotals(violations, { provider, messages, requests }) {
  const errors = violations.filter(({ severity }) => severity === 'error').length;
  const said = [some(errors, 'error'), some(violations.length - errors, 'warning')].filter(Boolean).join(', ');
  const refused = new Set(violations.map(({ request }) => request)).size;
  const where = requests === undefined ? counted(messages, 'message') : `${said && `${refused} of `}${counted(requests, 'request')}`;
  return `${provider}: ${said || 'nothing to refuse'} in ${where}`;
}

function some(count, what) {
  return count > 0 && counted(count, what);
}

function counted(count, what) {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
