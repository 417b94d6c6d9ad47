// JSON as the tests need it, independent of the package: the text of a part of a document, digits and all, and the
// canonical form that hashes are taken of.
import { createHash } from 'node:crypto';

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

/** The texts of the parts of a list or an object: names and values in turn for an object. */
function partsOf(text) {
  const parts = [];
  let depth = 0;
  let start = -1;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === ']' || token === '}') depth -= 1;
    const isBorder = depth === 1 && (token === ',' || token === ':');
    if ((isBorder || depth === 0) && start >= 0) {
      parts.push(text.slice(start, index).trim());
      start = -1;
    } else if (depth >= 1 && !isBorder && start < 0) start = index;
    if (token === '[' || token === '{') depth += 1;
  }
  return parts;
}

/** The texts of the items of a list, as they stand. */
export const itemTexts = partsOf;

/** The texts of the values of an object, as they stand, by name. */
export function fieldTexts(text) {
  const parts = partsOf(text);
  const fields = new Map();
  for (let i = 0; i < parts.length; i += 2) fields.set(JSON.parse(parts[i]), parts[i + 1]);
  return fields;
}

const byBytes = ([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b));
// Writing a string as UTF-8 makes U+FFFD of a lone surrogate.
const string = (text) => JSON.stringify(Buffer.from(text).toString());
const list = (items) => `[${items.join(',')}]`;
const object = (fields) => `{${fields.sort(byBytes).map(([name, value]) => `${string(name)}:${value}`)}}`;

/** A number that is no integer of 64 bits: the shortest digits, with an exponent from 1e16 and below 1e-5. */
function float(number) {
  if (!Number.isFinite(number)) return 'null';
  if (Object.is(number, -0)) return '-0.0';
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-5 || size >= 1e16)) return number.toExponential();
  return Number.isInteger(number) ? `${number}.0` : String(number);
}

/** Whether digits are an integer of 64 bits; JSON's `-0` is a float. */
function isInteger(digits) {
  if (!/^-?\d+$/.test(digits) || digits === '-0') return false;
  return BigInt(digits) >= -(2n ** 63n) && BigInt(digits) < 2n ** 64n;
}

/** The canonical JSON of a JavaScript value; what JSON cannot hold is treated as JSON.stringify does. */
export function canonical(given) {
  const value = typeof given?.toJSON === 'function' ? given.toJSON() : given;
  switch (typeof value) {
    case 'string':
      return string(value);
    case 'boolean':
      return String(value);
    case 'bigint':
      return String(value);
    case 'number':
      return isInteger(Object.is(value, -0) ? '-0' : String(value)) ? String(value) : float(value);
    case 'object':
      if (value === null) return 'null';
      // A hole is an item as well, so no map() here.
      if (Array.isArray(value)) return list(Array.from(value, canonical));
      return object(
        Object.entries(value)
          .filter(([, inner]) => !['undefined', 'function', 'symbol'].includes(typeof inner))
          .map(([name, inner]) => [name, canonical(inner)]),
      );
    default:
      return 'null';
  }
}

/** The canonical JSON of a JSON text, every digit of its numbers used. */
export function canonicalText(text) {
  const start = text.trim()[0];
  if (start === '[') return list(itemTexts(text).map(canonicalText));
  if (start === '{') return object([...fieldTexts(text)].map(([name, value]) => [name, canonicalText(value)]));
  if (start === '"') return string(JSON.parse(text));
  if (!/^-?\d/.test(text)) return text;
  return isInteger(text) ? text : float(Number(text));
}

/** `sha256:` and 64 hex digits. */
export const sha256 = (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
