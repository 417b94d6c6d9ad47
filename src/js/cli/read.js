// A session file, or standard input, read in pieces: a file of any size fits.
import { createReadStream } from 'node:fs';
import { Importer, ProjectionError } from '../node.js';

const PIECE = 1 << 20; // bytes
// No provider takes a larger request.
const LARGEST_REQUEST = 64 << 20;

/** The input is at fault, at this line if there is one. */
export class InputError extends Error {
  constructor(message, line) {
    super(message);
    this.line = line;
  }
}

/**
 * @typedef {import('../index.d.ts').ImportResult & {request: object}} Input
 *   `request`: of a file that is a request or a list of messages, what it holds, when that was asked for
 */

/**
 * @param {string} file a path; `-` is standard input
 * @param {object} options of the importer
 * @param {{withRequest?: boolean}} [wanted]
 * @returns {Promise<Input>}
 */
export async function readInput(file, options, { withRequest = false } = {}) {
  const importer = new Importer(options);
  const start = withRequest ? new Start() : undefined;
  try {
    const stream = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: PIECE });
    for await (const piece of stream) {
      importer.push(piece);
      start?.add(piece);
    }
    const input = importer.finish();
    return { ...input, request: start?.request(input) ?? {} };
  } catch (error) {
    throw explained(error);
  } finally {
    importer.free();
  }
}

/** The start of a file, kept as long as it can be a request. */
class Start {
  #pieces = [];
  #size = 0;

  add(piece) {
    this.#size += piece.length;
    if (this.#size > LARGEST_REQUEST) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  request({ stats }) {
    const isDocument = stats.lines === 0;
    if (!isDocument || this.#pieces.length === 0) return undefined;
    try {
      const value = JSON.parse(new TextDecoder().decode(Buffer.concat(this.#pieces)));
      return Array.isArray(value) ? { messages: value } : value;
    } catch {
      return undefined; // a text that is no JSON, which some formats are
    }
  }
}

const SYSTEM = { ENOENT: 'no such file', EISDIR: 'is a folder', EACCES: 'may not be read' };

/** What the importer or the system says of a file, as said of its name. */
function explained(error) {
  if (error.syscall !== undefined) return new InputError(SYSTEM[error.code] ?? error.message);
  if (!(error instanceof ProjectionError)) return error;
  const found = error.message.slice(`${error.path}: expected ${error.expected}, found `.length);
  switch (error.code) {
    case 'empty_file':
      return new InputError('is empty');
    case 'unsupported_file':
      return new InputError(`cannot be read: it is ${found}`);
    case 'unknown_format':
      return new InputError(`is of no known format: it is ${found} (transcript-projection formats lists them)`);
    case 'invalid_json': {
      const [, line, column] = /^line (\d+) column (\d+)$/.exec(error.path) ?? [];
      const what = /\((.*)\)$/.exec(found)?.[1] ?? found;
      return new InputError(`is not valid JSON: ${what} at column ${column}`, Number(line));
    }
    default:
      return error;
  }
}
