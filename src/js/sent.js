// What providers are sent of a session's last view. Most of it was made for the view before: only what is behind the
// first change is asked of the engine, so that sending a turn costs what is new, as projecting it does.
import * as engine from './glue.js';
import { call } from './call.js';

const owners = new WeakMap(); // the views of sessions, and whose they are

export class Sent {
  #view; // the last one
  #shown = []; // its messages
  #read = {}; // what the caller has of it: `messages`, once read
  #lists = new Map(); // by provider, `undefined` for none: the beginning that is known

  /**
   * Takes the next view.
   *
   * @param {object | undefined} view
   * @param {object[]} shown its messages: a list that only grows
   * @param {number} from where they first differ from the view before
   * @param {{messages?: object[]}} read
   */
  next(view, shown, from, read) {
    for (const list of this.#lists.values()) list.length = Math.min(list.length, from);
    this.#view = view;
    this.#shown = shown;
    this.#read = read;
    if (view) owners.set(view, this);
  }

  /** The messages to send, or `undefined` when this is not the last view as it was made. */
  of(view, provider) {
    // For Bedrock messages are joined: there is no telling where the new ones begin.
    if (view !== this.#view || provider === 'bedrock') return;
    const { messages } = this.#read;
    if (messages && !hasSame(messages, this.#shown)) return;
    const known = this.#lists.get(provider) ?? [];
    const tail = this.#shown.slice(known.length);
    const sent = call(() => engine.providerMessages(tail, provider));
    const all = known.concat(sent);
    // A summary may go elsewhere when it is the last message: in the next view it is asked for again.
    for (const message of sent.slice(0, -1)) known.push(message);
    this.#lists.set(provider, known);
    return all;
  }
}

/** The messages to send of a session's view, where only a part of them has to be made; else `undefined`. */
export function sentOf(view, provider) {
  return owners.get(view)?.of(view, provider);
}

function hasSame(a, b) {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
