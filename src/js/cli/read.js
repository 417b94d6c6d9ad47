// A file, or standard input, as JSON text for the engine.
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { Transcript } from '../node.js';

/** The input is at fault, in this line if there is one. */
export class InputError extends Error {
  constructor(message, line) {
    super(message);
    this.line = line;
  }
}

/**
 * @typedef {object} Input
 * @property {string} json a transcript or a list of messages, as it was written: numbers keep their digits
 * @property {object | object[]} value the same, parsed
 * @property {number[] | null} lines of JSONL: the line of each message
 */

/**
 * @param {string} file a path; `-` is standard input
 * @returns {Promise<Input>}
 */
export async function readInput(file) {
  const text = decode(await readBytes(file));
  const first = text.trimStart();
  if (first === '') throw new InputError('is empty');
  if (isLines(file, first)) return readLines(text);
  try {
    const value = JSON.parse(text);
    // One line of JSONL is a JSON document too.
    if (isMessage(value)) return { json: `[${text}]`, value: [value], lines: null };
    return { json: text, value, lines: null };
  } catch (error) {
    throw new InputError(`is not valid JSON: ${mistake(error)}`, lineOfSyntaxError(text));
  }
}

async function readBytes(file) {
  if (file === '-') return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    const why = { ENOENT: 'no such file', EISDIR: 'is a folder', EACCES: 'may not be read' };
    throw new InputError(why[error.code] ?? error.message);
  }
}

function decode(bytes) {
  const nul = bytes.indexOf(0);
  if (nul >= 0) throw new InputError(`is no text (a NUL byte at offset ${nul})`);
  try {
    // Takes a byte order mark away.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InputError('is not valid UTF-8', lineOfBadByte(bytes));
  }
}

function lineOfBadByte(bytes) {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let line = 1, start = 0; ; line += 1) {
    const end = bytes.indexOf(10, start);
    try {
      decoder.decode(bytes.subarray(start, end < 0 ? undefined : end));
    } catch {
      return line;
    }
    if (end < 0) return undefined;
    start = end + 1;
  }
}

/** JSONL by its name; or by its first line, if that is an object of its own and not the last. */
function isLines(file, text) {
  if (/\.(jsonl|ndjson)$/i.test(file)) return true;
  const [line, rest] = text.split(/\r?\n([^]*)/, 2);
  return rest !== undefined && rest.trim() !== '' && /^\{.*\}\s*$/.test(line);
}

function readLines(text) {
  const kept = [];
  const value = [];
  const lines = [];
  text.split('\n').forEach((raw, index) => {
    const line = raw.trim();
    if (line === '') return;
    value.push(readLine(line, index + 1));
    kept.push(line);
    lines.push(index + 1);
  });
  return { json: `[${kept.join(',\n')}]`, value, lines };
}

function readLine(line, number) {
  let value;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new InputError(`is not valid JSON: ${mistake(error)}`, number);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InputError('is no message: a message is an object', number);
  }
  if (value.role === undefined && typeof value.type === 'string' && typeof value.message === 'object') {
    throw new InputError('is a line of a session file, not a message: give the messages alone', number);
  }
  if (Array.isArray(value.messages) && value.role === undefined) {
    throw new InputError('holds a whole conversation, not a message: give one conversation at a time', number);
  }
  return value;
}

function isMessage(value) {
  return typeof value?.role === 'string' && !('messages' in value);
}

/** What JSON.parse found, without what it says about the whole. */
function mistake(error) {
  return error.message.replace(/ in JSON at position .*| is not valid JSON$/, '');
}

/** The engine says where a text stops being JSON; JSON.parse does not always. */
function lineOfSyntaxError(text) {
  try {
    Transcript.fromJSON(text).free();
  } catch (error) {
    const line = /^line (\d+)/.exec(error.path)?.[1];
    return line && Number(line);
  }
}
