// View -> which row stands beside which. Runs in the worker.
// The projection says which source messages are left; nothing here compares texts to guess it.
import { ADDED, DROPPED, KEPT, REDACTED, STRIPPED, SUMMARY, TRIMMED } from './statuses.js';

/**
 * status[i]: what became of source message i; place[i]: its index in view.messages, or -1.
 * added: [{ before, place, status }] messages of the view that no source message stands for, in order; each comes before
 * the source message `before` (or at the end, when that is the number of messages).
 */
export function align(messages, view) {
  const count = messages.length;
  const status = new Uint8Array(count).fill(DROPPED);
  const place = new Int32Array(count).fill(-1);
  const added = [];
  const kept = view.kept_indices;
  const isSummary = (message) => message?._harn_projection?.synthetic === true;
  // More messages than indices: a custom projector added some.
  let extra = view.messages.length - kept.length - view.messages.filter(isSummary).length;
  let next = 0; // position in kept
  view.messages.forEach((message, at) => {
    const summary = isSummary(message);
    if (!summary && (extra <= 0 || same(message, messages[kept[next]]))) {
      status[kept[next]] = KEPT;
      place[kept[next]] = at;
      next += 1;
      return;
    }
    if (!summary) extra -= 1;
    added.push({ before: next < kept.length ? kept[next] : count, place: at, status: summary ? SUMMARY : ADDED });
  });
  for (const index of view.stripped_indices) if (status[index] === KEPT) status[index] = STRIPPED;
  for (const index of view.trimmed_indices) status[index] = TRIMMED;
  for (const index of view.redacted_indices) status[index] = REDACTED;
  return { status, place, added };
}

const same = (a, b) => a === b || (b !== undefined && JSON.stringify(a) === JSON.stringify(b));
