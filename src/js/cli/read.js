// A session file, or standard input, read in pieces: a file of any size fits.
import { createReadStream } from 'node:fs';
import { Importer, ProjectionError } from '../node.js';
import { requestsIn } from './requests.js';

const PIECE = 1 << 20; // bytes
// A log is kept in memory as long as it is no larger.
const LARGEST_LOG = 256 << 20;
const NO_REQUESTS = { requests: [{ body: {} }], others: 0, isLog: false };

/** The input is at fault, at this line if there is one. */
export class InputError extends Error {
  constructor(message, line) {
    super(message);
    this.line = line;
  }
}

/**
 * @typedef {import('../index.d.ts').ImportResult & ReturnType<typeof requestsIn> & {isTooLarge: boolean}} Input
 *   `requests` and what goes with them: only when that was asked for, and not of a log that is too large
 */

/**
 * @param {string} file a path; `-` is standard input
 * @param {object} options of the importer
 * @param {{withRequests?: boolean}} [wanted]
 * @returns {Promise<Input>}
 */
export async function readInput(file, options, { withRequests = false } = {}) {
  const importer = new Importer(options);
  const pieces = [];
  let size = 0;
  try {
    const stream = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: PIECE });
    for await (const piece of stream) {
      importer.push(piece);
      size += piece.length;
      if (withRequests && size <= LARGEST_LOG) pieces.push(piece);
      else pieces.length = 0;
    }
    const input = importer.finish();
    if (!withRequests) return input;
    const isTooLarge = size > LARGEST_LOG;
    return { ...input, ...(isTooLarge ? NO_REQUESTS : requestsIn(Buffer.concat(pieces), input)), isTooLarge };
  } catch (error) {
    throw explained(error);
  } finally {
    importer.free();
  }
}

const SYSTEM = { ENOENT: 'no such file', EISDIR: 'is a folder', EACCES: 'may not be read' };

/** What the importer or the system says of a file, as said of its name. */
function explained(error) {
  if (error instanceof InputError) return error;
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
