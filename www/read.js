// Bytes or text -> a transcript. Runs in the worker.
import { findJsonError } from './json-error.js';

/** What is wrong with the input, in words, and where. */
export class ReadError extends Error {
  constructor(message, place = {}) {
    super(message);
    this.name = 'ReadError';
    Object.assign(this, place);
  }
}

// What a list of messages is called: in most requests, in Gemini's, in those of OpenAI Responses.
const LISTS = ['messages', 'contents', 'input'];

/** The list in a transcript, or undefined. The engine looks for the same names in the same order. */
export const messagesOf = (transcript) =>
  Array.isArray(transcript) ? transcript : LISTS.map((name) => transcript[name]).find(Array.isArray);

/** { transcript, format, warnings }: the transcript is an object that names its messages, or an array of them. */
export function readTranscript(input) {
  const warnings = [];
  let text = typeof input === 'string' ? input : decode(input, warnings);
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  const start = text.search(/\S/);
  if (start === -1) throw new ReadError('There is nothing in it.');
  const first = text[start];
  if (first !== '{' && first !== '[') {
    throw new ReadError(
      `A transcript starts with "{" or "[", this starts with ${JSON.stringify(text.slice(start, start + 12))}.`,
      locate(text, start),
    );
  }
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (first === '{' && looksLikeLines(text)) return { transcript: parseLines(text), format: 'JSON Lines', warnings };
    throw describe(text, error);
  }
  return { transcript: asTranscript(value, text), format: 'JSON', warnings };
}

function decode(data, warnings) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(data);
  } catch (error) {
    if (!(error instanceof TypeError)) throw new ReadError('It is too large for this browser to hold as text.');
    warnings.push('It is not valid UTF-8; the bytes that are not show as \ufffd.');
    return new TextDecoder('utf-8').decode(data);
  }
}

function asTranscript(value, text) {
  if (Array.isArray(value) || messagesOf(value)) return value;
  // One line of JSON Lines is a message, not a transcript.
  if (typeof value.role === 'string') return [value];
  const keys = Object.keys(value)
    .slice(0, 6)
    .map((key) => JSON.stringify(key.slice(0, 40)));
  const found = keys.length === 0 ? 'This object is empty.' : `This object has ${keys.join(', ')}.`;
  const wrong = 'messages' in value ? 'Its "messages" is not an array.' : `There is no "messages" in it. ${found}`;
  throw new ReadError(
    `${wrong} A transcript is an object with "messages", an array of messages, or one message a line.`,
    locate(text, text.search(/\S/)),
  );
}

// JSON Lines, and not one object with a mistake: the first line that holds anything is complete by itself.
function looksLikeLines(text) {
  const line = text.slice(text.search(/\S/)).split(/\r?\n/, 1)[0];
  if (line.trim().length === text.trim().length) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

function parseLines(text) {
  const messages = [];
  let from = 0;
  while (from < text.length) {
    let end = text.indexOf('\n', from);
    if (end === -1) end = text.length;
    const line = text.slice(from, end);
    if (line.trim() !== '') {
      try {
        messages.push(JSON.parse(line));
      } catch (error) {
        throw describe(text, error, from, line);
      }
    }
    from = end + 1;
  }
  return messages;
}

// Browsers word JSON errors differently and some give no position, so the place is found here.
function describe(text, error, from = 0, part = text) {
  const found = findJsonError(part);
  if (found === null) return new ReadError(error.message);
  return new ReadError(`This is not valid JSON: ${found.message}.`, locate(text, from + found.offset));
}

/** Line and column (both from 1) of an offset, and the line around it. */
function locate(text, offset) {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    start = at + 1;
  }
  let end = text.indexOf('\n', start);
  if (end === -1) end = text.length;
  const before = text.slice(Math.max(start, offset - 60), offset);
  const after = text.slice(offset, Math.min(end, offset + 40)).replace(/\r$/, '');
  return { line, column: offset - start + 1, before, after };
}
