// Compaction, seen by a strict consumer.
import {
  balanceToolCallBoundary,
  compact,
  compactAsync,
  estimateMessagesTokens,
  estimateTokens,
  maybeCompact,
  maybeCompactAsync,
  maybe_compact,
  providerMessages,
  pruneToolResults,
  prune_tool_results,
  shouldCompact,
  transcriptProject,
} from 'transcript-projection';
import type { Compacted, CompactionOptions, CompactionOutcome, CompactionSummary } from 'transcript-projection';

interface Turn {
  role: 'user' | 'assistant';
  content: string;
}
declare const turns: readonly Turn[];

const compacted: (Turn | CompactionSummary<Turn>)[] = compact(turns, 10);
compact({ messages: turns, model: 'a-model' }, 10);
const again: Compacted<Turn>[] = compact(compacted, 10);
const options: CompactionOptions = { every: 20, token_budget: 128_000, threshold: 0.8, keep_last: 10 };
maybeCompact(turns, { ...options, count_tokens: (text) => text.length }).at(0)?.role;
maybe_compact(turns, { keep_last: 1 });
const promise: Promise<Compacted<Turn>[]> = compactAsync(turns, 10, (messages) => messages.length);
const outcome: Promise<CompactionOutcome<Turn>> = maybeCompactAsync(turns, options, ({ status }) => status);
const pruned: Turn[] = pruneToolResults(turns, 100);
prune_tool_results(turns);
const [old, recent]: [Turn[], Turn[]] = balanceToolCallBoundary(turns, turns);
const sum: number = estimateTokens(null) + estimateTokens('a') + estimateMessagesTokens(turns);
const isLong: boolean = shouldCompact(turns, 20);
const sent: Turn[] = providerMessages(compacted);
const sentLater: Turn[] = providerMessages(again);
const sentTwice: Turn[] = providerMessages(providerMessages(transcriptProject(again, 'reachability_gc')));
for (const message of again) {
  if ('_harn_projection' in message) {
    const policy: 'compact' = message._harn_projection.policy;
    void policy;
  }
}

// A summary has the form of the messages, as far as their type tells it.
interface Gemini {
  role?: string;
  parts?: { text?: string }[];
}
interface Item {
  type?: 'message' | 'function_call';
}
function summaryOf<M extends object>(list: readonly M[]): CompactionSummary<M> | undefined {
  return compact(list, 1).find((message): message is CompactionSummary<M> => '_harn_projection' in message);
}
summaryOf(turns)?.content satisfies string | readonly object[] | undefined;
// @ts-expect-error
summaryOf(turns)?.parts;
summaryOf([] as Gemini[])?.parts[0].text satisfies string | undefined;
// @ts-expect-error
summaryOf([] as Gemini[])?.content;
const ofItems = summaryOf([] as Item[]);
// @ts-expect-error
ofItems?.content;
if (ofItems && 'content' in ofItems && typeof ofItems.content === 'string') ofItems.content.trim();

// @ts-expect-error
compact(turns);
// @ts-expect-error
compact('text', 1);
// @ts-expect-error
maybeCompact(turns, { every: 20 });
// @ts-expect-error
maybeCompact(turns, { keep_last: 1, keepLast: 1 });
// @ts-expect-error
maybeCompact(turns, { keep_last: 1, count_tokens: async (text: string) => text.length });
// @ts-expect-error
shouldCompact(turns);
// @ts-expect-error
estimateTokens(7);
// @ts-expect-error
compactAsync(turns, 1, 'done');

export { isLong, old, outcome, promise, pruned, recent, sent, sentLater, sentTwice, sum };
