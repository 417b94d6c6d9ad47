// Rows and totals as text for a terminal.
import { factLines } from './columns.js';
import { preview } from './preview.js';
import { cut, fit, visible, width } from './text.js';

const SGR = { dropped: 31, trimmed: 33, redacted: 35, summary: 36, added: 36, blocked: 31, dim: 2, bold: 1 };

/** A painter: `paint('dropped', text)`. Without colour it gives the text back. */
export const painter = (colour) => (style, text) =>
  colour && SGR[style] ? `\x1b[${SGR[style]}m${text}\x1b[0m` : text;

const LEAST = 40; // narrower terminals wrap
const GAP = '  ';
const STATUS = 'redacted'.length; // the longest word
const ROLE = 12;
// A run of rows with the same fate that is longer than this is folded to its ends.
const RUN = 7;
const ENDS = 2;

/**
 * @param {import('./rows.js').Row[]} rows
 * @param {{columns: number, all: boolean, paint: Function}} style
 * @returns {string} one line a row
 */
export function table(rows, { columns, all, paint }) {
  const last = rows.findLast((row) => row.index !== null)?.index ?? 0;
  const cells = (all ? rows : folded(rows)).map((row) => (row.fold ? row : cellsOf(row)));
  const widest = (key, least) => Math.max(least, ...cells.map((cell) => (cell.fold ? 0 : width(cell[key]))));
  const index = Math.max(String(last).length, 1);
  const role = Math.min(ROLE, widest('role', 4));
  const rest = Math.max(LEAST, columns) - index - role - STATUS - 3 * GAP.length;
  // Why a row changed is worth more than what it says: the preview gives way, down to a third.
  const reasons = widest('why', 0);
  const why = Math.min(reasons, Math.floor((rest * 2) / 3));
  const text = why ? rest - why - GAP.length : rest;

  const line = (number, cell) => {
    const columns = [number.padStart(index), fit(cell.role, role), fit(cell.status, STATUS), fit(cell.text, text)];
    return [...columns, cut(cell.why, why)].join(GAP).trimEnd();
  };
  const head = line('#', { role: 'role', status: 'status', text: 'message', why: why ? 'why' : '' });
  const lines = cells.map((cell) => {
    if (cell.fold) return paint('dim', `${' '.repeat(index)}${GAP}… ${cell.fold} more ${cell.status}`);
    return paint(cell.status, line(cell.number, cell));
  });
  return [paint('bold', head), ...lines].join('\n');
}

function cellsOf(row) {
  return {
    number: row.index === null ? '+' : String(row.index),
    role: visible(String(row.message.role ?? row.message.type ?? '')),
    status: row.status,
    text: visible(preview(row.message)),
    why: visible(row.why),
  };
}

function folded(rows) {
  const out = [];
  for (let start = 0; start < rows.length; ) {
    const { status, why } = rows[start];
    let end = start + 1;
    while (end < rows.length && rows[end].status === status && rows[end].why === why) end += 1;
    const run = rows.slice(start, end);
    const fold = run.length - 2 * ENDS;
    if (run.length > RUN) out.push(...run.slice(0, ENDS), { fold, status }, ...run.slice(-ENDS));
    else out.push(...run);
    start = end;
  }
  return out;
}

/**
 * @param {object} view
 * @param {{columns: number, paint: Function, systemPrompt: boolean}} style
 *   `systemPrompt`: whether there is one beside the messages
 * @returns {string} what became of the whole, a line a fact
 */
export function totals(view, { columns, paint, systemPrompt }) {
  const facts = [
    ['totals', counts(view)],
    ['saved', `${view.reclaimed_chars} characters, about ${view.reclaimed_tokens} tokens`],
    ['policy', view.policy],
    ['reason', view.reason],
    ['guard', guard(view)],
    ['hash', view.prefix_hash ?? 'not asked for'],
  ];
  if (systemPrompt) facts.push(['system', 'a prompt beside the messages: always sent, never projected']);
  if (view.lone_surrogate_indices.length > 0) {
    facts.push(['unicode', `lone surrogates in ${list(view.lone_surrogate_indices)}: they hash as U+FFFD`]);
  }
  for (const { severity, index, message } of view.violations ?? []) {
    facts.push([severity, `message ${index} of the view: ${message}`]);
  }
  const isAlarming = (name) => name === 'error' || (name === 'guard' && view.provider_safety_blocked);
  return factLines(facts, { columns, paint }, isAlarming);
}

function counts(view) {
  const parts = [`${view.kept_count} kept`];
  const inside = [];
  if (view.trimmed_indices.length > 0) inside.push(`${view.trimmed_indices.length} trimmed`);
  if (view.redacted_indices.length > 0) inside.push(`${view.redacted_indices.length} redacted`);
  if (inside.length > 0) parts[0] += ` (${inside.join(', ')})`;
  parts.push(`${view.dropped_count} dropped`);
  const added = view.messages.length - view.kept_count;
  if (added > 0) parts.push(view.policy === 'custom' ? `${added} added` : '1 summary put in');
  return parts.join(', ');
}

function guard(view) {
  if (view.provider_safety_blocked) {
    const why = /\(blocked: (.*)\)$/.exec(view.reason)?.[1] ?? view.reason;
    return `BLOCKED, so nothing is hidden: ${why}`;
  }
  const { respects_provider_signatures: respected } = view.event.metadata;
  if (!respected) return 'signatures not respected: a preview, not for a provider';
  const later = view.invalidated_signature_indices;
  if (later.length === 0) return 'passed: nothing signed was changed';
  return `passed, but there are signatures after the first change, at ${list(later)} (see --signature-scope)`;
}

function list(indices) {
  const some = indices.slice(0, 8).join(', ');
  return indices.length > 8 ? `${some} and ${indices.length - 8} more` : some;
}
