// The requests in a file: one, or those of a log or a batch, each with the fields that rules need.

// Where logs and batches have a request.
const WRAPPERS = [['request', 'body'], ['request'], ['body'], ['params'], ['input', 'inputBodyJson'], []];
const LISTS = ['messages', 'contents', 'input'];
// Their files may hold requests; those of others hold messages only.
const PROVIDERS = ['anthropic', 'openai_chat', 'openai_responses', 'gemini', 'bedrock'];
const NEWLINE = 0x0a;

/**
 * @typedef {object} FoundRequest
 * @property {object} body as the provider gets it
 * @property {number | null} line from 1, in a file of lines
 * @property {string} path the way to it in the document or the line
 */

/**
 * @param {Buffer} bytes of the whole file
 * @param {{format: string, stats: {lines: number}}} input what the importer says of the file
 * @returns {{requests: FoundRequest[], others: number, isLog: boolean}} `others`: how many entries of a log are none;
 *   `isLog` is false when the file is one request or a list of messages
 */
export function requestsIn(bytes, { format, stats }) {
  const document = stats.lines > 0 ? undefined : parsed(bytes);
  const entries = stats.lines > 0 ? [...linesOf(bytes)] : entriesOf(document);
  const found = PROVIDERS.includes(format) ? entries.map(requestOf).filter(Boolean) : [];
  if (found.length > 1 || (found.length === 1 && (found[0].path !== '' || entries.length > 1))) {
    return { requests: found, others: entries.length - found.length, isLog: true };
  }
  const body = Array.isArray(document) ? { messages: document } : document;
  return { requests: [{ body: body ?? {}, line: null, path: '' }], others: 0, isLog: false };
}

function* linesOf(bytes) {
  let start = 0;
  for (let line = 1; start < bytes.length; line += 1) {
    const next = bytes.indexOf(NEWLINE, start);
    const end = next === -1 ? bytes.length : next;
    const text = bytes.toString('utf8', start, end);
    if (text.trim() !== '') yield { value: parsed(text), line, path: '' };
    start = end + 1;
  }
}

/** A document that is an array holds an entry an item, and so does a batch. */
function entriesOf(value) {
  const [items, name] = Array.isArray(value) ? [value, ''] : [value?.requests, 'requests'];
  if (!Array.isArray(items)) return [{ value, line: null, path: '' }];
  return items.map((item, index) => ({ value: item, line: null, path: `${name}[${index}]` }));
}

/** The request that an entry holds or is, if there is one. */
function requestOf({ value, line, path }) {
  for (const keys of WRAPPERS) {
    const body = keys.reduce((at, key) => at?.[key], value);
    if (isRequest(body)) return { body, line, path: [path, ...keys].filter(Boolean).join('.') };
  }
  return undefined;
}

function isRequest(body) {
  if (typeof body !== 'object' || body === null) return false;
  // A text is a message of the user, but elsewhere `input` is any text.
  const isInput = typeof body.input === 'string' && typeof body.model === 'string';
  const isContents = typeof body.contents === 'string' || typeof body.contents?.parts === 'object';
  return isInput || isContents || LISTS.some((name) => Array.isArray(body[name]));
}

function parsed(text) {
  try {
    // A byte order mark and NULs around it: the importer steps over them as well.
    return JSON.parse(text.toString().replace(/^[\uFEFF\0]+|\0+$/g, ''));
  } catch {
    return undefined; // a text that is no JSON, which some formats are
  }
}
