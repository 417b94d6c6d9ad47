// AgentSession over the engine's sessions. The engine tells what a turn changed; the lists of messages, events and
// indices are put together here, of the caller's own objects, so that no turn carries the history across.
import * as engine from './glue.js';
import { call, mustBeText } from './call.js';
import { tokensIfNeeded } from './counting.js';
import { mistake } from './error.js';
import { Lists, Log, liveEvent, viewOf } from './lists.js';
import { Owned } from './owned.js';
import { everyMessage, listsThrough, parsed, placeOf } from './saved.js';
import { Sent } from './sent.js';
import { Transcript } from './transcript.js';

const KNOWN = ['session_id', 'transcript', 'transcript_projection'];
const RESUME = ['verify', 'transcript_projection'];
const EVENT = 'transcript_projected';
const PROJECTION = 'transcript.projection';
const COMPACTION = 'compaction';

/** The transcript of an agent, projected before each request. A turn costs what is new, not the history. */
export class AgentSession {
  #owned;
  #id;
  #outcomes; // what the file that the messages come from knows of their results, as JSON
  #options;
  #isKnown = false; // whether the engine has read the options and keeps them
  #transcript;
  #archive = [];
  #log = new Log();
  #shown = []; // the messages of the view
  #sent = new Sent();
  #records = new WeakMap(); // of each event of ours, what is saved of it
  #hashes = new WeakMap(); // of each message, as it was saved
  #listeners = new Set();
  #scratchpad = null;
  #scratchpads = 0;
  #lastTurnAt = null;

  /** @param {{session_id: string, transcript?: object | object[], transcript_projection?: string | object}} options */
  constructor(options) {
    if (typeof options !== 'object' || options === null) {
      throw mistake('invalid_option', 'options', 'an object with `session_id`', typeof options);
    }
    for (const name of Object.keys(options)) {
      if (KNOWN.includes(name)) continue;
      throw mistake('unknown_option', `options.${name}`, `one of ${KNOWN.join(', ')}`, 'another');
    }
    const { session_id, transcript, transcript_projection } = options;
    mustBeText(session_id, 'options.session_id');
    this.#id = session_id;
    this.#options = ownOptions(transcript_projection);
    const given = transcript ?? [];
    // What is wrong with it, the engine says.
    call(() => engine.shouldCompact(given, 1));
    const messages = listOf(given);
    for (const name of ['events', 'assets']) {
      const list = given[name] ?? [];
      if (!Array.isArray(list)) throw mistake('invalid_transcript', `transcript.${name}`, 'an array', typeof list);
    }
    this.#transcript = {
      _type: 'transcript',
      version: 2,
      id: given.id ?? session_id,
      messages: [],
      events: [...(given.events ?? [])],
      ...(given.summary === undefined ? {} : { summary: given.summary }),
    };
    const own = this;
    const others = [...(given.assets ?? [])];
    Object.defineProperty(this.#transcript, 'assets', {
      get: () => [...others, ...own.#archive.map(assetOf)],
      enumerable: true,
    });
    this.#outcomes = given instanceof Transcript ? given.outcomes : given.outcomes && JSON.stringify(given.outcomes);
    this.#owned = new Owned(
      call(() => engine.SessionHandle.open(session_id, given.summary ?? undefined, this.#outcomes)),
      'AgentSession',
    );
    try {
      this.#append([...messages]);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /**
   * Goes on with a saved session.
   *
   * @param {string | Uint8Array | object} json
   * @param {{verify?: boolean, transcript_projection?: string | object} | null} [options]
   * @returns {AgentSession}
   */
  static fromJSON(json, options) {
    const { verify, transcript_projection } = resumeOptions(options);
    const saved = parsed(json);
    const { summary, id, assets } = saved.transcript;
    const { outcomes } = saved;
    const session = new AgentSession({
      session_id: saved.session_id,
      transcript: { messages: [], summary, id, assets, outcomes },
      transcript_projection: { ...tableOf(saved.transcript_projection), ...tableOf(transcript_projection) },
    });
    try {
      session.#remember(saved, verify);
      session.#redo(saved.transcript.messages, saved.archive, saved.transcript.events);
      if (saved.scratchpad) session.setScratchpad(saved.scratchpad.value, saved.scratchpad.version);
      session.#lastTurnAt = saved.last_turn_at ?? null;
      session.#owned.use((handle) => handle.setLastTime(session.#lastTurnAt ?? undefined));
    } catch (error) {
      session.free();
      throw error;
    }
    return session;
  }

  get session_id() {
    return this.#id;
  }

  /** The number of messages in the list. */
  get length() {
    return this.#transcript.messages.length;
  }

  /** The raw transcript with all events. It is live. */
  get transcript() {
    return this.#transcript;
  }

  /** The events of the transcript. */
  get events() {
    return this.#transcript.events;
  }

  /** What compactions took out of the list, oldest first. */
  get archive() {
    return this.#archive;
  }

  /** How much the session has worked so far. */
  get work() {
    return this.#owned.use((handle) => handle.work());
  }

  /** Adds messages at the end. */
  append(...messages) {
    this.#append(messages);
  }

  #append(messages) {
    this.#owned.change((handle) => handle.append(messages));
    const list = this.#transcript.messages;
    for (const message of messages) list.push(message);
  }

  /**
   * Projects, appends the event to the transcript and tells the listeners.
   *
   * @param {string | object | null} [options] what is not given is as in the session's `transcript_projection`
   * @returns {object} the view
   */
  projectTurn(options) {
    const { batch, cache_prices, flush, now, ...projection } = { ...this.#options, ...tableOf(options) };
    // Most turns give none of these: then the engine has nothing to read.
    const isPlain = (batch ?? cache_prices ?? flush ?? now ?? undefined) === undefined;
    const turn = isPlain ? undefined : { batch, cache_prices, flush, now };
    const clock = Date.now();
    const told = this.#owned.change((handle) => this.#turn(handle, options, projection, turn, clock), 'do so');
    this.#lastTurnAt = now ?? clock;
    const { view, event } = this.#take(told);
    if (this.#listeners.size > 0) this.#tell(view, event);
    return view;
  }

  /** The session's own options are read once, where nobody can change them. */
  #turn(handle, options, projection, turn, clock) {
    const isOwn = options === undefined || options === null;
    const isFixed = isOwn && !Object.values(projection).some((value) => typeof value === 'object' && value !== null);
    const told = handle.turn(isFixed && this.#isKnown ? undefined : projection, isFixed, turn, clock);
    this.#isKnown ||= isFixed;
    return told;
  }

  /** Takes what the engine tells of a turn. */
  #take(told) {
    const record = told.event;
    const { messages } = this.#transcript;
    // Views that were not read yet hold on to the old list: it only ever grows.
    if (told.from < this.#shown.length) this.#shown = this.#shown.slice(0, told.from);
    for (const item of told.tail) this.#shown.push(typeof item === 'number' ? messages[item] : item);
    if (told.is_fresh) this.#log = new Log();
    this.#log.add(told.news);
    const lists = new Lists(this.#log, record.metadata.source_count);
    const isCustom = record.metadata.policy === 'custom';
    const event = isCustom ? record : liveEvent(record, lists);
    this.#records.set(event, record);
    this.#transcript.events.push(event);
    const read = {}; // what the caller has of the view
    const view = isCustom
      ? customView(told.custom, event)
      : viewOf(event, record, this.#shown, read, lists, told.lone_surrogates);
    this.#sent.next(isCustom ? undefined : view, this.#shown, told.from, read);
    return { view, event };
  }

  #tell(view, event) {
    const session_id = this.#id;
    let acp;
    const payload = {
      type: EVENT,
      session_id,
      view,
      event,
      get acp() {
        return (acp ??= call(() => engine.acpUpdate(session_id, view)));
      },
    };
    for (const listener of [...this.#listeners]) {
      try {
        listener(payload);
      } catch (error) {
        // The turn is done, and the other listeners are to hear of it.
        if (typeof reportError === 'function') reportError(error);
        else console.error(error);
      }
    }
  }

  /**
   * Listens.
   *
   * @param {'transcript_projected'} type
   * @param {(event: object) => void} listener
   * @returns {() => void} ends it
   */
  on(type, listener) {
    if (type !== EVENT) throw mistake('invalid_option', 'type', `"${EVENT}"`, typeof type === 'string' ? `"${type}"` : typeof type);
    if (typeof listener !== 'function') throw mistake('invalid_option', 'listener', 'a function', typeof listener);
    // A function that listens twice is two listeners.
    const own = (payload) => listener(payload);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /**
   * Sets the working memory: root and write barrier of `reachability_gc` from now on.
   *
   * @param {unknown} value JSON; `null` takes it back
   * @param {string | number} [version] names this state of it
   */
  setScratchpad(value, version = this.#scratchpads + 1) {
    if (typeof version !== 'string' && !Number.isFinite(version)) {
      const found = typeof version === 'number' ? version : typeof version;
      throw mistake('invalid_option', 'version', 'a string or a number', found);
    }
    // As it will be read back: a session that goes on from JSON is to have the same.
    const copy = asJSON(value ?? null);
    const isNone = copy === null;
    this.#owned.change((handle) => handle.setScratchpad(copy, isNone ? undefined : `${version}`), 'do so');
    this.#scratchpads = typeof version === 'number' ? version : this.#scratchpads + 1;
    this.#scratchpad = isNone ? null : { value: copy, version };
  }

  /**
   * Puts a summary in place of old messages, which go to the archive.
   *
   * @param {number | object} options as of `compact` or `maybeCompact`
   * @returns {object | null} the entry of the archive
   */
  compact(options) {
    const { messages } = this.#transcript;
    const isNumber = typeof options !== 'object' || options === null;
    const tokens = isNumber ? undefined : tokensIfNeeded(messages, messages, options);
    const cut = this.#owned.change((handle) => handle.planCompaction(options, tokens), 'compact it');
    if (!cut) return null;
    const isAuto = !isNumber && (options.every ?? options.token_budget ?? null) !== null;
    const before = call(() => engine.estimateMessagesTokens(messages));
    const { removed, hash, id } = this.#cut(cut);
    const facts = {
      mode: isAuto ? 'auto' : 'manual',
      strategy: 'summary',
      estimated_tokens_before: before,
      estimated_tokens_after: call(() => engine.estimateMessagesTokens(this.#transcript.messages)),
      snapshot_asset_id: id,
      start: cut.start,
      end: cut.end,
      source_count: messages.length,
    };
    const event = this.#owned.use((handle) => handle.compactionEvent(facts, removed.length));
    this.#transcript.events.push(event);
    this.#records.set(event, event);
    const entry = { id, start: cut.start, end: cut.end, messages: removed, summary: cut.summary, hash, event_id: event.id };
    this.#archive.push(entry);
    return entry;
  }

  /** Takes messages out of the list. */
  #cut({ start, end, summary }) {
    const { messages } = this.#transcript;
    this.#owned.change((handle) => handle.compact(start, end, summary), 'compact it');
    const removed = messages.slice(start, end);
    this.#transcript.messages = [...messages.slice(0, start), summary, ...messages.slice(end)];
    const { prefix_hash: hash } = call(() => engine.project(removed, 'raw'));
    return { removed, hash, id: `${this.#id}/archive/${this.#archive.length + 1}` };
  }

  /** What `JSON.stringify` saves. */
  toJSON() {
    const { id, messages, events, summary } = this.#transcript;
    return {
      _type: 'agent_session',
      version: 1,
      session_id: this.#id,
      transcript: {
        _type: 'transcript',
        version: 2,
        id,
        messages: [...messages],
        events: events.map((event) => this.#records.get(event) ?? event),
        assets: this.#transcript.assets.slice(0, this.#transcript.assets.length - this.#archive.length),
        ...(summary === undefined ? {} : { summary }),
      },
      archive: [...this.#archive],
      message_hashes: this.#hashesOf(everyMessage(this.#archive, messages)),
      transcript_projection: { ...this.#options },
      scratchpad: this.#scratchpad,
      last_turn_at: this.#lastTurnAt,
      ...(this.#outcomes && { outcomes: JSON.parse(this.#outcomes) }),
    };
  }

  /** The hash of each message as it was when it was first asked for, so that a later change shows. */
  #hashesOf(messages) {
    const unknown = messages.filter((message) => !this.#hashes.has(message));
    call(() => engine.messageHashes(unknown)).forEach((hash, at) => this.#hashes.set(unknown[at], hash));
    return messages.map((message) => this.#hashes.get(message));
  }

  /** Takes over the hashes that were saved. */
  #remember({ archive, transcript, message_hashes: hashes }, verify) {
    const messages = everyMessage(archive, transcript.messages);
    messages.forEach((message, at) => at < hashes.length && this.#hashes.set(message, hashes[at]));
    if (!verify) return;
    let first = messages.length === hashes.length ? -1 : Math.min(messages.length, hashes.length);
    const different = this.#firstDifferent(messages);
    if (different >= 0 && (first < 0 || different < first)) first = different;
    if (first < 0) return;
    const { path } = placeOf(first, archive);
    throw mistake('session_tampered', path, 'the message that was saved', 'another');
  }

  /** The position of the first message that is not as it was saved; -1 when there is none. */
  #firstDifferent(messages) {
    const now = call(() => engine.messageHashes(messages));
    return messages.findIndex((message, at) => this.#hashes.has(message) && this.#hashes.get(message) !== now[at]);
  }

  /** Does all that events record once more, up to the event at `last`. Returns the last turn. */
  #redo(messages, archive, events, last = Infinity) {
    const lists = listsThrough(messages, archive);
    let at = 0;
    const appendTo = (count) => {
      const list = lists[this.#archive.length];
      if (!(Number.isInteger(count) && count >= at && count <= list.length)) {
        throw mistake('session_invalid', 'transcript.messages', `${count} messages`, list.length);
      }
      this.#append(list.slice(at, count));
      at = count;
    };
    let turn;
    for (const [index, record] of events.entries()) {
      if (index > last) break;
      if (this.#isOurs(record, PROJECTION)) {
        appendTo(record.metadata.source_count);
        const told = this.#owned.use((handle) => handle.resume(record));
        turn = { told, ...this.#take({ ...told, event: record }) };
      } else if (this.#isOurs(record, COMPACTION)) {
        appendTo(record.metadata.source_count);
        const entry = archive[this.#archive.length];
        // The very message that stands in the list that follows.
        const summary = lists[this.#archive.length + 1]?.[entry?.start];
        if (summary === undefined || entry.end > this.length) throw mistake('session_invalid', 'archive', 'an entry for each compaction', 'fewer');
        this.#cut({ start: entry.start, end: entry.end, summary });
        this.#owned.use((handle) => handle.setLastEvent(record.id));
        this.#transcript.events.push(record);
        this.#records.set(record, record);
        this.#archive.push(entry);
        at = this.length;
      } else {
        this.#transcript.events.push(record);
      }
    }
    if (last === Infinity) appendTo(lists[this.#archive.length].length);
    return turn;
  }

  #isOurs(event, kind) {
    const { metadata } = event;
    if (event.kind !== kind) return false;
    return (kind === PROJECTION ? metadata?.session?.session_id : metadata?.session_id) === this.#id;
  }

  /**
   * Makes a turn again, from what is saved alone.
   *
   * @param {string} eventId
   * @param {{projector?: Function}} [callbacks]
   * @returns {object}
   */
  replay(eventId, callbacks) {
    mustBeText(eventId, 'eventId');
    this.#owned.use(() => {});
    const { messages, events, summary } = this.#transcript;
    const records = events.map((event) => this.#records.get(event) ?? event);
    const last = records.findIndex((record) => record.id === eventId && this.#isOurs(record, PROJECTION));
    if (last < 0) {
      throw mistake('event_not_found', 'eventId', 'the id of a projection event of this session', `"${eventId}"`);
    }
    const scratch = new AgentSession({ session_id: this.#id, transcript: { messages: [], summary } });
    try {
      const { told, view } = scratch.#redo(messages, this.#archive, records, last);
      const raw = scratch.#transcript.messages.slice();
      const replayed = replayOf(told, records[last], view, raw, callbacks);
      const isSame = replayed.source_matches === true;
      return { ...replayed, messages: raw, first_difference: isSame ? null : this.#differenceIn(raw) };
    } finally {
      scratch.free();
    }
  }

  /** Where the first of these messages is that is not as it was saved. */
  #differenceIn(messages) {
    const at = this.#firstDifferent(messages);
    if (at < 0) return null;
    const all = everyMessage(this.#archive, this.#transcript.messages);
    return placeOf(all.indexOf(messages[at]), this.#archive);
  }

  /** Gives the memory back. More than once does no harm; any other use after it throws. */
  free() {
    this.#owned.free();
  }

  // Hosts without the symbol have no `using` either; compilers of `using` look for this stand-in.
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }
}

/** The view of a projector; none when only what is sticky was done once more. */
function customView(view, event) {
  if (view === undefined) return undefined;
  const { pending, cache } = event.metadata.session;
  return { ...view, pending, cache, event };
}

/** Whether a turn that was done once more came to what its record says. */
function replayOf(told, record, view, messages, callbacks) {
  const { metadata } = record;
  if (metadata.policy === 'custom') {
    const replayed = call(() => engine.replayProjection(messages, record, callbacks));
    return { ...replayed, view: customView(replayed.view, record) };
  }
  const source_matches = metadata.source_hash === null ? null : told.source_hash === metadata.source_hash;
  const isSame = told.prefix_hash === metadata.prefix_hash && told.kept_count === metadata.kept_count;
  const matches = isSame && source_matches === null ? null : isSame && source_matches;
  return { matches, source_matches, view };
}

function assetOf({ id, messages }) {
  return {
    _type: 'transcript_asset',
    id,
    kind: 'compaction_source_transcript',
    visibility: 'internal',
    data: { _type: 'transcript', version: 2, messages },
  };
}

/** Options as a table: a name alone is short for one. */
function tableOf(options) {
  if (options === undefined || options === null) return {};
  if (typeof options === 'string') return { policy: options };
  if (typeof options === 'object' && !Array.isArray(options)) return options;
  throw mistake('invalid_option', 'options', 'an object or the name of a policy', typeof options);
}

/** A session's options, checked and copied: a mistake shows at once, and what the caller does to them later does not. */
function ownOptions(options) {
  const own = { ...tableOf(options) };
  for (const name of ['batch', 'cache_prices']) {
    if (typeof own[name] === 'object' && own[name] !== null) own[name] = { ...own[name] };
  }
  const { batch, cache_prices, flush, now, ...projection } = own;
  // A projector is for the session's own messages, and may come with a turn.
  if (projection.policy !== 'custom') call(() => engine.project([], projection));
  return own;
}

/** The options of `fromJSON`. */
function resumeOptions(options) {
  const table = options ?? {};
  if (typeof table !== 'object') throw mistake('invalid_option', 'options', 'an object', typeof table);
  for (const name of Object.keys(table)) {
    if (!RESUME.includes(name)) throw mistake('unknown_option', `options.${name}`, `one of ${RESUME.join(', ')}`, 'another');
  }
  const verify = table.verify ?? true;
  if (typeof verify !== 'boolean') throw mistake('invalid_option', 'options.verify', 'a boolean', typeof verify);
  return { ...table, verify };
}

/** A copy of a value as JSON has it. */
function asJSON(value) {
  let text;
  try {
    text = JSON.stringify(value, (key, item) => {
      if (!isJSON(item)) throw mistake('invalid_option', 'value', 'a JSON value', `${kindOf(item)} at "${key}"`);
      return item;
    });
  } catch (error) {
    // What `toJSON` of the caller throws is the caller's.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
  }
  if (text === undefined) throw mistake('invalid_option', 'value', 'a JSON value', typeof value);
  return JSON.parse(text);
}

/** Whether JSON has the value, rather than leave it out or make `{}` or `null` of it. A key without a value is none. */
function isJSON(value) {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return typeof value !== 'function' && typeof value !== 'symbol';
  return Array.isArray(value) || kindOf(value) === 'Object' || Object.keys(value).length > 0;
}

/** `Map`, `Set`, `Function`, `Number`. */
function kindOf(value) {
  return Object.prototype.toString.call(value).slice(8, -1);
}

function listOf(transcript) {
  return Array.isArray(transcript) ? transcript : (transcript.messages ?? transcript.contents ?? transcript.input);
}
