// A saved session, and where its messages are: some in the list, others in the archive.
import { mistake } from './error.js';

/** A saved session, read. */
export function parsed(json) {
  const saved = typeof json === 'string' ? read(json) : json instanceof Uint8Array ? read(decoded(json)) : json;
  const needs = (path, isThere, expected) => {
    if (!isThere) throw mistake('session_invalid', path, expected, 'something else');
  };
  needs('session', saved?._type === 'agent_session' && saved.version === 1, 'what `JSON.stringify(session)` writes');
  needs('session_id', typeof saved.session_id === 'string', 'a string');
  needs('transcript.messages', Array.isArray(saved.transcript?.messages), 'an array of messages');
  const needsObjects = (path, list, expected) =>
    list.forEach((item, at) => needs(`${path}[${at}]`, typeof item === 'object' && item !== null, expected));
  needsObjects('transcript.messages', saved.transcript.messages, 'a message');
  needs('transcript.events', Array.isArray(saved.transcript.events), 'an array of events');
  needsObjects('transcript.events', saved.transcript.events, 'an event');
  needs('archive', Array.isArray(saved.archive), 'an array');
  saved.archive.forEach((entry, at) => {
    const isEntry = Array.isArray(entry?.messages) && Number.isInteger(entry.start) && entry.start >= 0;
    const isWhole = isEntry && entry.end === entry.start + entry.messages.length;
    needs(`archive[${at}]`, isWhole, 'messages with `start` and `end`');
    needsObjects(`archive[${at}].messages`, entry.messages, 'a message');
    needs(`archive[${at}].summary`, typeof entry.summary === 'object' && entry.summary !== null, 'a message');
  });
  needs('message_hashes', Array.isArray(saved.message_hashes), 'an array of hashes');
  const { scratchpad, last_turn_at: time } = saved;
  needs('scratchpad', (scratchpad ?? null) === null || typeof scratchpad === 'object', '`value` and `version`, or null');
  needs('last_turn_at', (time ?? null) === null || Number.isFinite(time), 'a number or null');
  return saved;
}

function decoded(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw mistake('invalid_json', 'json', 'JSON text or its UTF-8 bytes', 'bytes that are not UTF-8');
  }
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw mistake('invalid_json', 'json', 'JSON', `text that is not (${error.message})`);
  }
}

/** The lists of messages that a session had: before its first compaction, and after each. */
export function listsThrough(messages, archive) {
  const lists = [messages];
  for (const { start, messages: removed } of [...archive].reverse()) {
    const [list] = lists;
    lists.unshift([...list.slice(0, start), ...removed, ...list.slice(start + 1)]);
  }
  return lists;
}

/** All messages of a session: those of the archive, each entry's summary behind them, then those of the list. */
export function everyMessage(archive, messages) {
  return [...archive.flatMap((entry) => [...entry.messages, entry.summary]), ...messages];
}

/** Where the message stands that is the `position`th of them all. */
export function placeOf(position, archive) {
  let index = position;
  for (const [at, { id, messages }] of archive.entries()) {
    if (index < messages.length) return { path: `archive[${at}].messages[${index}]`, index, archive_id: id };
    if (index === messages.length) return { path: `archive[${at}].summary`, index, archive_id: id };
    index -= messages.length + 1;
  }
  return { path: `transcript.messages[${index}]`, index, archive_id: null };
}
