// Compaction: the engine says what becomes of which messages, the lists are put together here.
import * as engine from './glue.js';
import { inBackground } from './background.js';
import { call, mustBeText } from './call.js';
import { counted, needsCount, tokensIfNeeded } from './counting.js';
import { ProjectionError } from './error.js';

/**
 * Replaces all but the leading prompts and the last messages by one summary, which is made without a model.
 *
 * @param {object | object[]} messages a list of messages, or a transcript
 * @param {number} keep_last how many messages at the end stay
 * @returns {object[]} kept messages are the caller's own objects; the very same list when nothing is replaced
 */
export function compact(messages, keep_last) {
  return applied(listOf(messages), call(() => engine.compact(messages, keep_last)));
}

/**
 * Compacts when there are more than `every` messages, or more tokens than `threshold` of `token_budget`.
 *
 * @param {object | object[]} messages
 * @param {object} options
 * @returns {object[]} the very same list when no trigger fires
 */
export function maybeCompact(messages, options) {
  const list = listOf(messages);
  const tokens = tokensIfNeeded(list, messages, options);
  return applied(list, call(() => engine.maybeCompact(messages, options, tokens)));
}

/**
 * `compact` off the calling thread where the host has workers. The messages must not change meanwhile; the list may.
 *
 * @param {object | object[]} messages
 * @param {number} keep_last
 * @param {(messages: object[]) => unknown} [callback] gets the list too
 * @returns {Promise<object[]>}
 */
export async function compactAsync(messages, keep_last, callback) {
  mustBeCallback(callback);
  call(() => engine.compact([], keep_last));
  const { list, source } = snapshotOf(messages);
  const compacted = applied(list, await inBackground({ name: 'compact', options: keep_last }, source), source);
  await callback?.(compacted);
  return compacted;
}

/**
 * `maybeCompact` off the calling thread; only `count_tokens` runs on it, text by text with pauses.
 *
 * @param {object | object[]} messages
 * @param {object} options
 * @param {(outcome: {status: 'compacted' | 'unchanged', messages: object[]}) => unknown} [callback] gets it too
 * @returns {Promise<{status: 'compacted' | 'unchanged', messages: object[]}>}
 */
export async function maybeCompactAsync(messages, options, callback) {
  mustBeCallback(callback);
  call(() => engine.maybeCompact([], options));
  const { list, source } = snapshotOf(messages);
  const tokens = needsCount(source, options) ? await countedWithPauses(source, options.count_tokens) : undefined;
  // A function cannot go to a worker.
  const { count_tokens: _, ...plain } = options;
  const cut = await inBackground({ name: 'maybeCompact', options: plain, tokens }, source);
  const outcome = { status: cut ? 'compacted' : 'unchanged', messages: applied(list, cut, source) };
  await callback?.(outcome);
  return outcome;
}

/**
 * Whether there are more messages than `threshold`.
 *
 * @param {object | object[]} messages
 * @param {number} threshold
 * @returns {boolean}
 */
export function shouldCompact(messages, threshold) {
  return call(() => engine.shouldCompact(messages, threshold));
}

/**
 * Takes the middle out of tool results that are longer than `max_result_chars`, and says there how many bytes went.
 *
 * @param {object | object[]} messages
 * @param {number} [max_result_chars] 8192 without it
 * @returns {object[]} as long as before; the very same list when there is nothing to shorten
 */
export function pruneToolResults(messages, max_result_chars) {
  return call(() => engine.pruneToolResults(messages, max_result_chars)) ?? listOf(messages);
}

/**
 * Moves messages over the boundary between two lists so that no call is parted from its results.
 *
 * @param {object[]} old
 * @param {object[]} recent
 * @returns {[object[], object[]]} the same lists when nothing moves
 */
export function balanceToolCallBoundary(old, recent) {
  const boundary = call(() => engine.balanceToolCallBoundary(old, recent));
  const [before, after] = [listOf(old), listOf(recent)];
  if (boundary === before.length) return [before, after];
  const all = [...before, ...after];
  return [all.slice(0, boundary), all.slice(boundary)];
}

/**
 * The tokens of a text, as a quarter of its UTF-8 bytes.
 *
 * @param {string | null | undefined} text
 * @returns {number}
 */
export function estimateTokens(text) {
  if (text === null || text === undefined) return 0;
  mustBeText(text, 'text');
  return call(() => engine.estimateTokens(text));
}

/**
 * The tokens of messages: the bytes of all their texts, added first and divided once.
 *
 * @param {object | object[]} messages
 * @returns {number}
 */
export function estimateMessagesTokens(messages) {
  return call(() => engine.estimateMessagesTokens(messages));
}

// The names of the seed.
export const maybe_compact = maybeCompact;
export const compact_async = compactAsync;
export const maybe_compact_async = maybeCompactAsync;
export const should_compact = shouldCompact;
export const prune_tool_results = pruneToolResults;
export const balance_tool_call_boundary = balanceToolCallBoundary;
export const estimate_tokens = estimateTokens;
export const estimate_messages_tokens = estimateMessagesTokens;

/** The list of a transcript or the list itself. Of a value that is neither, the engine says what is wrong with it. */
function listOf(messages) {
  return Array.isArray(messages) ? messages : messages?.messages;
}

/** The list, and what it holds now: a caller may add to it while a worker is at it. */
function snapshotOf(messages) {
  const list = listOf(messages);
  if (!Array.isArray(list)) call(() => engine.shouldCompact(messages, 1)); // throws
  return { list, source: [...list] };
}

/** The list with what the engine cut out replaced by its summary. */
function applied(list, cut, source = list) {
  return cut ? [...source.slice(0, cut.start), cut.summary, ...source.slice(cut.end)] : list;
}

const MOST_MILLISECONDS = 8;

async function countedWithPauses(messages, count) {
  let tokens = 0;
  let since = performance.now();
  for (const message of messages) {
    for (const text of textsOf(message, messages)) {
      tokens += counted(text, count);
      if (performance.now() - since < MOST_MILLISECONDS) continue;
      await new Promise((done) => setTimeout(done));
      since = performance.now();
    }
  }
  return tokens;
}

function textsOf(message, messages) {
  try {
    return call(() => engine.messageTexts([message]));
  } catch (error) {
    // Of all the messages, the error names the right one.
    call(() => engine.messageTexts(messages));
    throw error;
  }
}

function mustBeCallback(callback) {
  if (callback === undefined || callback === null || typeof callback === 'function') return;
  throw new ProjectionError({
    code: 'invalid_option',
    path: 'callback',
    expected: 'a function',
    message: `callback: expected a function, found ${typeof callback}`,
  });
}
