// The caller's own tokenizer, where it decides about a compaction.
import * as engine from './glue.js';
import { call } from './call.js';
import { ProjectionError } from './error.js';

/** Whether the caller's tokenizer decides. */
export function needsCount(list, options) {
  const isNeeded = call(() => engine.needsTokens(list?.length ?? 0, options));
  return isNeeded && typeof options.count_tokens === 'function';
}

/** The tokens of a text. */
export function counted(text, count) {
  const tokens = count(text);
  if (typeof tokens === 'number' && tokens >= 0 && tokens < Infinity) return tokens;
  throw new ProjectionError({
    code: 'invalid_option',
    path: 'options.count_tokens',
    expected: 'a function that returns a number, zero or more',
    message: `options.count_tokens: expected a function that returns a number, zero or more; it returned ${typeof tokens}`,
  });
}

/** The tokens of all texts of the messages, when they decide. */
export function tokensIfNeeded(list, messages, options) {
  if (!needsCount(list, options)) return undefined;
  let tokens = 0;
  for (const text of call(() => engine.messageTexts(messages))) tokens += counted(text, options.count_tokens);
  return tokens;
}
