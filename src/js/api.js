// The public API over the raw exports of the engine. It translates and does nothing else: the
// engine's error values become ProjectionError, and a handle into its memory becomes Transcript.
import * as engine from './glue.js';
import { call, mustBeText } from './call.js';
import { ProjectionError } from './error.js';
import { sentOf } from './sent.js';
import { Transcript, exporterOf } from './transcript.js';

export { ProjectionError, Transcript };
export * from './compaction.js';
export * from './import.js';
export { AgentSession } from './session.js';

/** The version of this package. */
export const version = '0.1.0';

/**
 * Derives what a model will see next from an unchanged transcript.
 *
 * @param {object | object[]} transcript a transcript (`{messages, summary?, ...}`), its messages, or a `Transcript`
 * @param {string | object | null} [options] the name of a policy, or options; `raw` without any
 * @returns {object} the view: kept messages are the caller's own objects
 */
export function transcriptProject(transcript, options) {
  if (transcript instanceof Transcript) return transcript.project(options);
  return call(() => engine.project(transcript, options));
}

/** The name of `transcriptProject` in the Harn language. */
export const transcript_project = transcriptProject;

/**
 * `transcriptProject` for a custom projector that may return a promise. The view is that of the
 * transcript as it was when called, whatever is appended to it meanwhile.
 *
 * @param {object | object[]} transcript
 * @param {string | object | null} [options]
 * @returns {Promise<object>}
 */
export async function transcriptProjectAsync(transcript, options) {
  const projector = options?.projector;
  if (typeof projector !== 'function') return transcriptProject(transcript, options);

  // The engine cannot wait. So it is stopped where it would ask the projector, all input checked,
  // and asked again with the answer at hand.
  const pause = Symbol('pause');
  let messages;
  try {
    return transcriptProject(transcript, {
      ...options,
      is_error: undefined, // asked once, when the answer is at hand
      projector(list) {
        messages = list;
        throw pause;
      },
    });
  } catch (thrown) {
    if (thrown !== pause) throw thrown;
  }
  const source = [...messages];
  const answer = await projector(messages);
  return transcriptProject(source, { ...options, projector: () => answer });
}

/**
 * Lists the events of a transcript that have the given kind, in order.
 *
 * @param {object} transcript
 * @param {string} kind for instance `transcript.projection`
 * @returns {object[]} the caller's own objects
 */
export function transcriptEventsByKind(transcript, kind) {
  mustBeText(kind, 'kind');
  return call(() => engine.transcriptEventsByKind(transcript, kind));
}

/**
 * Finds the raw body that a redaction pointer stands for and hashes it again.
 *
 * @param {object | object[]} transcript
 * @param {object} pointer one of `view.redaction_pointers`
 * @returns {{content: unknown, verified: boolean}} `verified` is false when the body is not the one recorded
 */
export function recoverRedacted(transcript, pointer) {
  return call(() => engine.recoverRedacted(transcript, pointer));
}

/**
 * Applies the recorded options of a projection event to the recorded prefix of a transcript.
 *
 * @param {object | object[]} transcript
 * @param {object} event a `transcript.projection` event
 * @param {{projector?: Function}} [callbacks] what an event cannot record
 * @returns {{matches: boolean | null, source_matches: boolean | null, view: object}}
 */
export function replayProjection(transcript, event, callbacks) {
  return call(() => engine.replayProjection(transcript, event, callbacks));
}

/**
 * Writes the ACP `session/update` notification that tells a client of a projection.
 *
 * @param {string} sessionId
 * @param {object} view
 * @returns {object} the `params` of the notification
 */
export function acpUpdate(sessionId, view) {
  mustBeText(sessionId, 'sessionId');
  return call(() => engine.acpUpdate(sessionId, view));
}

/**
 * Lists the messages to send: without the `_harn_projection` marks, which strict providers refuse.
 *
 * @param {object | object[]} view a view or a list of messages
 * @param {string} [provider] also moves a synthetic summary to where this provider accepts it
 * @returns {object[]} unmarked messages are the caller's own objects
 */
export function providerMessages(view, provider) {
  if (provider !== undefined) mustBeText(provider, 'provider', 'unknown_provider');
  const sent = sentOf(view, provider);
  if (sent) return sent;
  // Of a value that is neither, the engine says what is wrong with it.
  const messages = Array.isArray(view) ? view : (view?.messages ?? view);
  return call(() => engine.providerMessages(messages, provider));
}

/**
 * Writes the messages to send as text, without marks. A view of a `Transcript` that was read from text keeps the
 * text's own spelling: integers beyond 2^53, `-0`, key order.
 *
 * @param {object | object[]} view a view or a list of messages
 * @param {'json' | 'jsonl'} [format] a JSON array, or one message a line
 * @param {string} [provider] as for `providerMessages`
 * @returns {string}
 */
export function exportMessages(view, format = 'json', provider) {
  if (format !== 'jsonl' && format !== 'json') {
    const expected = '"json" or "jsonl"';
    throw new ProjectionError({ code: 'invalid_option', path: 'format', expected, message: `format: expected ${expected}` });
  }
  if (provider !== undefined) mustBeText(provider, 'provider', 'unknown_provider');
  const isLines = format === 'jsonl';
  const exact = exporterOf(view);
  if (exact) return exact(isLines, provider);
  const texts = providerMessages(view, provider).map(jsonOf);
  return isLines ? texts.map((text) => `${text}\n`).join('') : `[${texts.join()}]`;
}

function jsonOf(message, index) {
  let text;
  let cause;
  try {
    text = JSON.stringify(message);
  } catch (error) {
    cause = error; // too deep, or a big integer
  }
  if (text !== undefined) return text;
  const path = `messages[${index}]`;
  const expected = 'a message that JSON.stringify can write';
  throw new ProjectionError({ code: 'invalid_message', path, expected, message: `${path}: expected ${expected}` }, { cause });
}

/**
 * Estimates the tokens of a text by what it is written in: scripts, code, digits, base64. See docs/tokens.md for how
 * far it is off.
 *
 * @param {string} text
 * @returns {number}
 */
export function estimateTokensByScript(text) {
  mustBeText(text, 'text');
  return call(() => engine.estimateTokensByScript(text));
}

/** The same function, named as the seed names its own. */
export const estimate_tokens_by_script = estimateTokensByScript;

/**
 * Estimates the tokens of messages: what they say, the calls, the results, and a fixed count for each image, audio and
 * document, whatever its data.
 *
 * @param {object | object[]} messages a list of messages, or a transcript
 * @returns {number}
 */
export function estimateMessagesTokensByScript(messages) {
  return call(() => engine.estimateMessagesTokensByScript(messages));
}

/** The same function, named as the seed names its own. */
export const estimate_messages_tokens_by_script = estimateMessagesTokensByScript;

/**
 * Lists what a provider would refuse in a list of messages, or take with a loss.
 *
 * @param {object | object[]} messages a list of messages, or the request (or transcript) that holds it
 * @param {string} provider
 * @param {object} [request] the rest of the request (`model`, `thinking`, `store`, ...) and, after an edit,
 *   `original_messages`; goes before the fields of a request that was given as `messages`
 * @returns {object[]} the violations, in the order of the messages; none when there is nothing to say
 */
export function validateMessages(messages, provider, request) {
  mustBeText(provider, 'provider', 'unknown_provider');
  if (Array.isArray(messages)) return call(() => engine.validateMessages(messages, provider, request));
  const list = messages?.messages ?? contentsOf(messages?.contents) ?? itemsOf(messages?.input) ?? messages;
  const isObject = request !== null && typeof request === 'object' && !Array.isArray(request);
  const fields = isObject ? { ...messages, ...request } : (request ?? messages);
  return call(() => engine.validateMessages(list, provider, fields));
}

/** OpenAI Responses takes a text for a message of the user. */
function itemsOf(input) {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input;
}

/** Google's SDK takes one content for a list of it, and texts and parts for one message of the user. */
function contentsOf(contents) {
  const items = Array.isArray(contents) ? contents : [contents];
  const isContent = (item) => 'parts' in item || 'role' in item || 'content' in item;
  const isPart = (item) => typeof item === 'string' || (typeof item === 'object' && item !== null && !isContent(item));
  if (items.length > 0 && items.every(isPart)) {
    return [{ role: 'user', parts: items.map((part) => (typeof part === 'string' ? { text: part } : part)) }];
  }
  return typeof contents === 'object' && contents !== null ? items : contents;
}

/** The name of `validateMessages` in the Harn language. */
export const validate_messages = validateMessages;
