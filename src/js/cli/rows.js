// View -> rows: each message of the source and each that was put in, with what became of it and why.

/**
 * @typedef {object} Row
 * @property {number | null} index of the source; null for a message that was put in
 * @property {object} message
 * @property {'kept' | 'dropped' | 'trimmed' | 'redacted' | 'summary' | 'added'} status
 * @property {string} why
 */

/**
 * @param {object[]} messages the source
 * @param {object} view
 * @returns {Row[]}
 */
export function rowsOf(messages, view) {
  const status = statusOf(view);
  const { added, changed } = compared(messages, view);
  const why = reasonsOf(view, changed);
  const rows = [];
  messages.forEach((message, index) => {
    while (added[0]?.before === index) rows.push(added.shift().row);
    rows.push({ index, message, status: status.get(index), why: why(index, status.get(index)) });
  });
  rows.push(...added.map(({ row }) => row));
  return rows;
}

function statusOf(view) {
  return new Map([
    ...view.kept_indices.map((index) => [index, 'kept']),
    ...view.dropped_indices.map((index) => [index, 'dropped']),
    // Part of the kept, and said in more detail.
    ...view.trimmed_indices.map((index) => [index, 'trimmed']),
    ...view.redacted_indices.map((index) => [index, 'redacted']),
  ]);
}

/**
 * Walks the messages of the view beside the kept ones of the source. `added`: those that no source
 * message stands for, with the source index each comes before. `changed`: kept ones that a projector
 * gave back in another form or order; what the engine changes, the view itself tells.
 */
function compared(messages, view) {
  const kept = view.kept_indices;
  const isCustom = view.policy === 'custom';
  const added = [];
  const changed = new Set();
  let missing = view.messages.length - kept.length;
  let next = 0;
  for (const message of view.messages) {
    const differs = isCustom ? !isSame(message, messages[kept[next]]) : message._harn_projection?.synthetic === true;
    if (missing > 0 && differs) {
      missing -= 1;
      added.push({ before: kept[next] ?? messages.length, row: addedRow(message, view) });
    } else {
      if (isCustom && differs) changed.add(kept[next]);
      next += 1;
    }
  }
  return { added, changed };
}

const isSame = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b);

function addedRow(message, view) {
  if (view.policy === 'custom') return { index: null, message, status: 'added', why: 'made by the projector' };
  return { index: null, message, status: 'summary', why: `stands for the ${view.dropped_count} dropped` };
}

/** What the view says about single messages, as a function of index and status. */
function reasonsOf(view, changed) {
  const reasons = new Map();
  const trimmed = new Set(view.trimmed_indices);
  const note = (index, why) => {
    if (index !== null) reasons.set(index, (reasons.get(index) ?? new Set()).add(why));
  };
  for (const call of view.hidden_calls) {
    const why = call.reason.replace('_at_index_', ' at ').replaceAll('_', ' ');
    for (const index of [call.call_index, call.result_index]) {
      // Of a message that lost a part, say which.
      note(index, trimmed.has(index) ? `without ${call.tool_name}: ${why}` : why);
    }
  }
  for (const pointer of view.redaction_pointers) {
    note(pointer.source_index, `${pointer.content_chars} characters, unreachable`);
  }
  for (const index of view.invalidated_signature_indices) note(index, 'signed, after a change');
  for (const index of changed) note(index, 'changed or moved by the projector');
  const other = { summary_prefix: 'behind the summary', custom: 'not returned by the projector' };
  return (index, status) => {
    const why = reasons.get(index);
    if (why) return [...why].join('; ');
    return status === 'dropped' ? (other[view.policy] ?? '') : '';
  };
}
