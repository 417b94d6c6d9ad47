// Session files: bytes in, a transcript out.
import * as glue from './importers-glue.js';
import { translated } from './call.js';
import { ProjectionError } from './error.js';
import { importers } from './importers.js';
import { Transcript } from './transcript.js';

// Messages go to the engine in pieces of this size: at no time are all of them there twice.
const BATCH = 1 << 20;
const encoder = new TextEncoder();

/**
 * Says what a file is.
 *
 * @param {string | Uint8Array} input its text or its bytes; the start of it is mostly enough
 * @returns {{format: string, title: string, confidence: 'possible' | 'likely' | 'certain', reason: string}}
 */
export function detectFormat(input) {
  const bytes = bytesOf(input);
  return JSON.parse(call(() => glue.detectFormat(bytes)));
}

/**
 * Lists the formats that `importTranscript` reads.
 *
 * @returns {{format: string, title: string}[]}
 */
export function importFormats() {
  return JSON.parse(call(() => glue.importFormats()));
}

/**
 * Reads a session file. No message is lost: what cannot be read is warned of, what is no message is counted.
 *
 * @param {string | Uint8Array} input the file's text or bytes
 * @param {{format?: string, view?: 'model' | 'all', transcript?: number}} [options]
 * @returns {object} `{transcript, format, source, warnings, outcomes, stats, ...}`
 */
export function importTranscript(input, options) {
  const importer = new Importer(options);
  try {
    importer.push(input);
    return importer.finish();
  } finally {
    importer.free();
  }
}

/** Reads a session file that comes in pieces: only what messages need is kept of it. */
export class Importer {
  #handle;

  /** @param {{format?: string, view?: 'model' | 'all', transcript?: number}} [options] */
  constructor(options) {
    const { format, view, transcript } = checked(options);
    this.#handle = call(() => new glue.ImporterHandle(format, view, transcript));
  }

  /**
   * Adds a piece. A character may be split between two of bytes, not between two of text.
   *
   * @param {string | Uint8Array} chunk
   */
  push(chunk) {
    const bytes = bytesOf(chunk);
    call(() => this.#open().push(bytes));
  }

  /**
   * Reads what is left; nothing can be pushed afterwards.
   *
   * @returns {object} as `importTranscript`
   */
  finish() {
    const handle = this.#open();
    try {
      const report = JSON.parse(call(() => handle.finish()));
      return { ...report, transcript: Transcript.ofImport(report, (taker) => handle.giveMessages(BATCH, taker)) };
    } finally {
      this.free();
    }
  }

  /** Gives the memory back; more often does no harm. */
  free() {
    this.#handle?.free();
    this.#handle = undefined;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }

  #open() {
    if (this.#handle) return this.#handle;
    throw new ProjectionError({
      code: 'freed',
      expected: 'an Importer in use',
      message: 'this Importer has finished or was freed',
    });
  }
}

/** One call into the importers. They throw JSON. */
function call(run) {
  importers.ensureReady();
  try {
    return run();
  } catch (thrown) {
    throw typeof thrown === 'string' ? new ProjectionError(JSON.parse(thrown)) : translated(thrown);
  }
}

function bytesOf(input) {
  if (typeof input === 'string') return encoder.encode(input);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  const expected = 'text or bytes';
  throw new ProjectionError({ code: 'invalid_json', path: 'input', expected, message: `input: expected ${expected}` });
}

const isText = (value) => typeof value === 'string';
const isIndex = (value) => Number.isInteger(value) && value >= 0 && value < 2 ** 32;

// What each option takes, and in words.
const OPTIONS = {
  format: [isText, 'a format name'],
  view: [isText, '"model" or "all"'],
  transcript: [isIndex, 'an index, counted from 0'],
};

function checked(options) {
  if (options === undefined || options === null) return {};
  if (typeof options !== 'object' || Array.isArray(options)) throw refused('invalid_option', 'options', 'an object');
  const known = {};
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(OPTIONS, name)) {
      throw refused('unknown_option', `options.${name}`, `one of ${Object.keys(OPTIONS).join(', ')}`);
    }
    const [isRight, expected] = OPTIONS[name];
    if (value === undefined || value === null) continue;
    if (!isRight(value)) throw refused('invalid_option', `options.${name}`, expected);
    known[name] = value;
  }
  return known;
}

function refused(code, path, expected) {
  return new ProjectionError({ code, path, expected, message: `${path}: expected ${expected}` });
}
