// A transcript that stays in the engine.
import * as engine from './glue.js';
import { call, mustBeText } from './call.js';
import { Owned } from './owned.js';

/** What writes each view that was made of a transcript of text. */
const exporters = new WeakMap();

/**
 * A transcript read once and projected often. It holds memory of the engine: `free()` it, or
 * declare it with `using`. One that is forgotten is freed when the garbage collector finds it.
 */
export class Transcript {
  #owned;

  /** Not for callers: use `Transcript.fromJSON` or `Transcript.fromObject`. */
  constructor(handle) {
    if (!(handle instanceof engine.TranscriptHandle)) {
      throw new TypeError('a Transcript is made by Transcript.fromJSON or Transcript.fromObject');
    }
    this.#owned = new Owned(handle, 'Transcript');
  }

  /**
   * Reads JSON text or its UTF-8 bytes. Hashes are exact for integers of 64 bits, which a
   * JavaScript number cannot hold.
   *
   * @param {string | Uint8Array} json
   * @returns {Transcript}
   */
  static fromJSON(json) {
    return new Transcript(call(() => engine.TranscriptHandle.fromJSON(json)));
  }

  /**
   * Reads a transcript object or a list of messages.
   *
   * @param {object | object[]} transcript
   * @returns {Transcript}
   */
  static fromObject(transcript) {
    return new Transcript(call(() => engine.TranscriptHandle.fromObject(transcript)));
  }

  /**
   * Not for callers: takes what an importer read.
   *
   * @param {object} report
   * @param {(taker: {take: (batch: Uint8Array) => void}) => void} give gives the messages, as JSON arrays
   */
  static ofImport({ summary, outcomes, stats }, give) {
    const known = JSON.stringify(outcomes);
    const { messages, bytes } = stats;
    const handle = call(() => engine.TranscriptHandle.forImport(summary ?? undefined, known, messages, bytes));
    give({ take: (batch) => call(() => handle.appendJSON(batch)) });
    return new Transcript(handle);
  }

  /** The messages: the caller's own objects, or those made of its JSON, the same ones each time. */
  get messages() {
    return this.#owned.use((handle) => Array.from({ length: handle.length }, (_, index) => handle.message(index)));
  }

  /** Not for callers: what is known of results beyond what they say themselves, as JSON; nothing without any. */
  get outcomes() {
    const outcomes = this.#owned.use((handle) => handle.outcomes);
    return outcomes === '[]' ? undefined : outcomes;
  }

  /** The summary that the transcript carries; `undefined` without one. */
  get summary() {
    return this.#owned.use((handle) => handle.summary);
  }

  /** The number of messages. */
  get length() {
    return this.#owned.use((handle) => handle.length);
  }

  /**
   * Adds messages at the end.
   *
   * @param {object[]} messages
   */
  append(messages) {
    this.#owned.change((handle) => handle.append(messages));
  }

  /**
   * As `transcriptProject`, of the transcript as it stands.
   *
   * @param {string | object | null} [options]
   * @returns {object}
   */
  project(options) {
    const view = this.#owned.use((handle) => handle.project(options));
    // A projector's own messages are objects only: there is no text of theirs to keep.
    if (view.policy !== 'custom' && this.#owned.use((handle) => handle.isExact)) {
      exporters.set(view, (isLines, provider) =>
        this.#owned.use((handle) => handle.exportView(view.event, provider, isLines)),
      );
    }
    return view;
  }

  /**
   * As `validateMessages`, of the transcript as it stands.
   *
   * @param {string} provider
   * @param {object} [request]
   * @returns {object[]}
   */
  validate(provider, request) {
    mustBeText(provider, 'provider', 'unknown_provider');
    return this.#owned.use((handle) => handle.validate(provider, request));
  }

  /**
   * One message of the source.
   *
   * @param {number} index
   * @returns {object | undefined} nothing when there is no such message
   */
  message(index) {
    const isIndex = Number.isInteger(index) && index >= 0;
    return this.#owned.use((handle) => (isIndex && index < handle.length ? handle.message(index) : undefined));
  }

  /**
   * Gives the memory back; a call that is under way is finished first. More than once does no harm;
   * any other use after it throws.
   */
  free() {
    this.#owned.free();
  }

  // Hosts without the symbol have no `using` either; compilers of `using` look for this stand-in.
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }
}

/** Writes a view as its transcript's text spells it; `undefined` for views of objects. */
export function exporterOf(view) {
  return typeof view === 'object' && view !== null ? exporters.get(view) : undefined;
}
