// Messages on their way to a worker: in slices, for a copy of all of them at once would hold the calling thread up.
// What is small goes as it is; what is larger than a slice is opened, and put together again on the other side.

/** What a worker could not get, or not as the engine would see it on the calling thread. */
export class CannotGo extends Error {}

const SLICE = 256 * 1024; // about as many bytes
const MOST_DEEP = 512; // as the engine

// A slice is a flat list: one of these, and what belongs to it.
const VALUE = 0; // a value
const LIST = 1; // what follows is in a list
const OBJECT = 2; // ... in an object
const NAME = 3; // the name of the field that follows
const TEXT = 4; // what follows is pieces of a string
const END = 5; // of a list, an object, a string

/**
 * @param {object[]} messages
 * @returns {Generator<unknown[]>}
 */
export function* slicesOf(messages) {
  let slice = [];
  let room = SLICE;

  function put(size, part, ofIt) {
    slice.push(part);
    if (part === VALUE || part === NAME) slice.push(ofIt);
    room -= size;
  }

  function full() {
    const done = slice;
    slice = [];
    room = SLICE;
    return done;
  }

  function* write(value, depth) {
    const size = sizeOf(value, depth);
    if (size <= SLICE) {
      put(size, VALUE, value);
      if (room < 0) yield full();
    } else if (typeof value === 'string') {
      put(8, TEXT);
      for (let at = 0; at < value.length; at += SLICE) {
        put(SLICE, VALUE, value.slice(at, at + SLICE));
        yield full();
      }
      put(8, END);
    } else {
      const isList = Array.isArray(value);
      put(8, isList ? LIST : OBJECT);
      // Not those of the list itself: a hole in it is as good as `undefined`.
      for (const name of isList ? value.keys() : Object.keys(value)) {
        if (!isList) put(name.length, NAME, name);
        yield* write(value[name], depth - 1);
      }
      put(8, END);
    }
  }

  for (const message of messages) yield* write(message, MOST_DEEP);
  if (slice.length > 0) yield slice;
}

/** The other side: takes the slices in order. */
export class Assembly {
  /** What was put together so far. */
  messages = [];
  #open = [this.messages]; // the lists, objects and pieces that are not complete, the innermost last
  #names = []; // under which each is to be put

  take(slice) {
    for (let at = 0; at < slice.length; at++) {
      switch (slice[at]) {
        case VALUE:
          this.#add(slice[(at += 1)]);
          break;
        case NAME:
          this.#names.push(slice[(at += 1)]);
          break;
        case LIST:
          this.#open.push([]);
          break;
        case OBJECT:
          this.#open.push({});
          break;
        case TEXT:
          this.#open.push(new Pieces());
          break;
        default: {
          const whole = this.#open.pop();
          this.#add(whole instanceof Pieces ? whole.join('') : whole);
        }
      }
    }
  }

  #add(value) {
    const around = this.#open.at(-1);
    if (Array.isArray(around)) {
      around.push(value);
    } else {
      // One named `__proto__` is a field like any other.
      const field = { value, writable: true, enumerable: true, configurable: true };
      Object.defineProperty(around, this.#names.pop(), field);
    }
  }
}

class Pieces extends Array {}

/** About how many bytes a copy of the value takes; more than a slice is not counted further. */
function sizeOf(value, depth) {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (depth === 0) throw new CannotGo('too deep');
  if (ArrayBuffer.isView(value)) return 0; // it cannot be opened
  if (!isPlain(value)) throw new CannotGo('an object with a class loses it on the way');
  let size = 16;
  for (const name of Object.keys(value)) {
    size += name.length + sizeOf(value[name], depth - 1);
    if (size > SLICE) break;
  }
  return size;
}

function isPlain(object) {
  if (Array.isArray(object)) return true;
  const prototype = Object.getPrototypeOf(object);
  // That of another realm is as plain.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
