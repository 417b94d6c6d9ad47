// Why a row is not what it was, in words. Runs in the worker.
// A reason is a list of strings and row numbers; the page shows a number as a link. Strings may quote the transcript.
import { ADDED, DROPPED, REDACTED, SUMMARY, TRIMMED } from './statuses.js';

/** hidden_calls by the messages they touch: index -> calls. */
export function hiddenByMessage(view) {
  const table = new Map();
  const note = (index, call) => {
    if (typeof index !== 'number') return;
    if (!table.has(index)) table.set(index, new Set());
    table.get(index).add(call);
  };
  for (const call of view.hidden_calls) {
    note(call.call_index, call);
    note(call.result_index, call);
  }
  return table;
}

const MOST_CALLS = 8;

/** The reasons for a source row. */
export function reasonsOf(index, status, view, hidden) {
  const reasons = ownReasons(index, status, view, hidden);
  if (view.stripped_indices.includes(index)) {
    if (status === DROPPED) return [['It was nothing but reasoning, which went with what was signed before it.']];
    reasons.push(['Stripped: its reasoning and signatures vouch for what was changed, and are left out.']);
  }
  if (view.skipped_indices.includes(index))
    reasons.push(['Left as it is: the policy would change it, but signed reasoning stands in the way.']);
  return reasons;
}

function ownReasons(index, status, view, hidden) {
  if (status === DROPPED || status === TRIMMED) {
    const calls = [...(hidden.get(index) ?? [])];
    if (calls.length > MOST_CALLS)
      return [
        ...calls.slice(0, MOST_CALLS).map((call) => hiddenReason(call, index)),
        [`and ${calls.length - MOST_CALLS} more`],
      ];
    if (calls.length > 0) return calls.map((call) => hiddenReason(call, index));
    if (view.policy === 'summary_prefix') return [['The summary stands for it.']];
    if (view.policy === 'custom') return [['The projector did not return it.']];
    return [[view.reason]];
  }
  if (status === REDACTED)
    return [['Stale: nothing recent refers to this result. The raw body stays in the transcript.']];
  return [];
}

export function reasonsOfAdded(status, view) {
  if (status === ADDED) return [['The projector made this message.']];
  if (status === SUMMARY) return [[`Synthetic: it stands for the ${view.dropped_count} dropped.`]];
  return [];
}

function hiddenReason(call, index) {
  const name = call.tool_name ?? 'a tool';
  const what = call.call_index === index ? `The call of ${name}` : `The result of ${name}`;
  const later = /^later_success_at_index_(\d+)$/.exec(call.reason);
  if (later) return [`${what} failed; the tool succeeded at `, Number(later[1]), '.'];
  if (call.reason === 'turn_only_failed_calls') return [`${what} failed, and the turn did nothing else.`];
  return [`${what}: ${call.reason}.`];
}
