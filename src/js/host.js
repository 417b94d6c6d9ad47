// What the engine asks of JavaScript. Bindings of a general kind would be several times the code, and several crossings
// for each of these.

const KIND = { null: 0, boolean: 1, number: 2, string: 3, array: 4, object: 5, function: 6, missing: 7 };
const encoder = new TextEncoder();

let memory;
let bytes = new Uint8Array(0);
let keys = [];

// An exception must not fly through the engine, which would keep what it had borrowed. So what a getter or a proxy of
// the caller's throws is kept here, the value counts as missing, and the API throws it when the engine is done.
let failure;

function keep(error) {
  failure ??= { error };
}

/** What reading the caller's values threw since the last time. */
export function takeFailure() {
  const kept = failure;
  failure = undefined;
  // The caller may change it before the next call.
  own = undefined;
  return kept;
}

/** Takes the engine's memory and the field names that it looks up by number. */
export function connect(engineMemory, fieldNames) {
  memory = engineMemory;
  keys = fieldNames;
}

/** The engine's memory moves when it grows, which empties the old view of it. */
function engineBytes() {
  if (bytes.length === 0) bytes = new Uint8Array(memory.buffer);
  return bytes;
}

/** What a value is, by number; `missing` is what JSON cannot hold. */
export function kindOf(value) {
  switch (typeof value) {
    case 'string':
      return KIND.string;
    case 'object':
      if (value === null) return KIND.null;
      return kindOfObject(value);
    case 'number':
    case 'bigint':
      return KIND.number;
    case 'boolean':
      return KIND.boolean;
    case 'function':
      return KIND.function;
    default:
      return KIND.missing;
  }
}

function isList(value) {
  try {
    return Array.isArray(value);
  } catch (error) {
    keep(error);
    return false;
  }
}

/** A field by the number of its name. */
export function field(object, key) {
  try {
    return asJson(plain(object)[keys[key]]);
  } catch (error) {
    keep(error);
    return undefined;
  }
}

// Messages stay as the caller made them, so that they can be handed back. One that says itself what its JSON is, as those
// of LangChain do, is read as that, like the rest of its fields: once, for many are asked for in a row.
let own;
let ownPlain;

function plain(object) {
  if (typeof object.toJSON !== 'function') return object;
  if (object !== own) {
    ownPlain = object.toJSON();
    own = object;
  }
  return ownPlain;
}

/** An item of a list. */
export function item(list, index) {
  try {
    return asJson(list[index]);
  } catch (error) {
    keep(error);
    return undefined;
  }
}

/** The same, as the caller made it: messages are handed back. */
export function ownItem(list, index) {
  try {
    return list[index];
  } catch (error) {
    keep(error);
    return undefined;
  }
}

/** What `JSON.stringify` would write in place of a value: dates and their like say so themselves. */
function asJson(value) {
  return typeof value === 'object' && value !== null && typeof value.toJSON === 'function' ? value.toJSON() : value;
}

function kindOfObject(object) {
  const json = ownJson(object);
  if (json !== object) return kindOf(json);
  return isList(object) ? KIND.array : KIND.object;
}

function ownJson(value) {
  try {
    return asJson(value);
  } catch (error) {
    keep(error);
    return undefined;
  }
}

/** The length of a list. */
export function lengthOf(list) {
  try {
    return list.length;
  } catch (error) {
    keep(error);
    return 0;
  }
}

// Messages are alike: the names of their fields are told once for all objects that have the same ones in the same
// order. Number 0 stands for the names of the last object that is not remembered: data can have any names.
const MOST_LAYOUTS = 1024;
const MOST_NAMES = 24;
const layouts = new Map();
const layoutNames = [[]];
// A transcript has few layouts: trying the last ones is faster than making a key.
const RECENT_LAYOUTS = 8;
const recentLayouts = [];

// The object whose fields are being told.
let opened;

/** Opens an object and returns the number of its layout. */
export function layoutOf(object) {
  let names = [];
  try {
    opened = asJson(object);
    if (typeof opened === 'object' && opened !== null) names = Object.keys(opened);
  } catch (error) {
    keep(error);
  }
  return numberOf(names);
}

/** The number of a layout that says all that can be asked of an object; 0 for any other value. */
export function plainLayout(object) {
  try {
    if (typeof object !== 'object' || object === null || Object.getPrototypeOf(object) !== Object.prototype) return 0;
    return typeof object.toJSON === 'function' ? 0 : numberOf(Object.keys(object));
  } catch (error) {
    keep(error);
    return 0;
  }
}

function numberOf(names) {
  for (const layout of recentLayouts) if (hasNames(layout, names)) return layout;
  const key = names.length <= MOST_NAMES && names.join();
  const known = key && layouts.get(key);
  // No separator is safe in a name: `a,b` and `c` join like `a` and `b,c`.
  if (!key || (known ? !hasNames(known, names) : layouts.size >= MOST_LAYOUTS)) {
    layoutNames[0] = names;
    return 0;
  }
  const layout = known ?? layoutNames.push(names) - 1;
  layouts.set(key, layout);
  recentLayouts.unshift(layout);
  recentLayouts.length = Math.min(recentLayouts.length, RECENT_LAYOUTS);
  return layout;
}

function hasNames(layout, names) {
  const known = layoutNames[layout];
  if (known.length !== names.length) return false;
  for (let at = 0; at < names.length; at++) if (known[at] !== names[at]) return false;
  return true;
}

/** The names of a layout's fields. */
export function namesOf(layout) {
  return layoutNames[layout];
}

/** The field at a position of the opened object's layout; `undefined` for all that JSON cannot hold. */
export function fieldAt(layout, position) {
  try {
    const value = asJson(opened[layoutNames[layout][position]]);
    return typeof value === 'function' || typeof value === 'symbol' ? undefined : value;
  } catch (error) {
    keep(error);
    return undefined;
  }
}

/** Short strings are faster by hand than through the encoder. */
const SHORT = 32;

/** What the functions below return for what is no text. */
const NO_TEXT = -0x80000000;

/**
 * Writes a string as UTF-8 at `at`. Returns the number of bytes, or less than zero when `capacity` could be too
 * small: then minus the capacity that is enough.
 */
export function writeText(text, at, capacity) {
  if (typeof text === 'object') return writeJsonText(text, at, capacity);
  if (typeof text !== 'string') return NO_TEXT;
  const units = text.length;
  if (units * 3 > capacity) return -3 * units;
  const target = engineBytes();
  if (units <= SHORT) {
    let written = 0;
    for (; written < units; written++) {
      const unit = text.charCodeAt(written);
      if (unit > 0x7f) break;
      target[at + written] = unit;
    }
    if (written === units) return units;
  }
  return encoder.encodeInto(text, target.subarray(at, at + capacity)).written;
}

/** Writes the string that an object says its JSON is: a date. */
function writeJsonText(object, at, capacity) {
  const text = ownJson(object);
  return typeof text === 'string' ? writeText(text, at, capacity) : NO_TEXT;
}

/** Writes the string that a field holds, by the number of its name. */
export function writeField(object, key, at, capacity) {
  return writeText(field(object, key), at, capacity);
}

/** Writes the first `units` UTF-16 units after leading white space. */
export function writeHead(text, units, at, capacity) {
  if (typeof text !== 'string') return NO_TEXT;
  // Most texts start at once: only the others are trimmed, which copies.
  return writeText((text.charCodeAt(0) > 0x20 ? text : text.trimStart()).slice(0, units), at, capacity);
}

/** Writes a number or a big integer as JavaScript spells it, minus zero with its sign and a point. */
export function writeNumber(number, at, capacity) {
  if (typeof number !== 'number' && typeof number !== 'bigint') return NO_TEXT;
  return writeText(Object.is(number, -0) ? '-0.0' : String(number), at, capacity);
}

/** Whether a string has no lone surrogates. */
export function isWellFormed(text) {
  return typeof text.isWellFormed === 'function' ? text.isWellFormed() : !/\p{Surrogate}/u.test(text);
}

/** JSON text as a value. */
export function parseJson(text) {
  return JSON.parse(text);
}

/** A value as JSON text; `undefined` when `JSON.stringify` cannot write it. */
export function stringify(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** An empty list. */
export function newList() {
  return [];
}

/** Adds an item to a list. */
export function push(list, value) {
  list.push(value);
}

/** An object without fields. */
export function newObject() {
  return {};
}

/** Adds a field; one named `__proto__` is a field like any other. */
export function define(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Whether both are the same value. */
export function isSame(a, b) {
  return Object.is(a, b);
}

/** Calls a function of the caller's; what it throws is the caller's too. */
export function call(callback, argument) {
  return callback(argument);
}

/** Whether a value has no fields that only its prototype knows: a map or a class instance would read as empty. */
export function isPlain(value) {
  if (typeof value === 'symbol') return false;
  if (typeof value !== 'object' || value === null) return true;
  try {
    const prototype = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null || isList(value);
  } catch (error) {
    keep(error);
    return true;
  }
}

/** The names of the fields that hold functions or symbols. */
export function functionNames(object) {
  if (typeof object !== 'object' || object === null) return [];
  try {
    return Object.keys(object).filter((name) => /function|symbol/.test(typeof object[name]));
  } catch (error) {
    keep(error);
    return [];
  }
}

/** Whether a value would have to be awaited. */
export function isPromise(value) {
  return typeof value?.then === 'function';
}

/** A field by its name. */
export function namedField(object, name) {
  return object?.[name];
}

/** The bytes of a byte array, `undefined` for everything else. */
export function bytesOf(value) {
  return value instanceof Uint8Array ? value : undefined;
}
