// The lists of a session's views and events: kept, dropped, redacted and so on. The engine tells what is new in each; the
// lists are put together when they are read.

/** What became of messages, in the order in which it was told. It only grows, so a view needs but its lengths. */
export class Log {
  dropped = [];
  trimmed = [];
  redacted = [];
  pointers = [];
  hidden_calls = [];
  stripped = [];
  invalidated = [];

  add(news) {
    for (const name of Object.keys(news)) for (const item of news[name]) this[name].push(item);
  }
}

/** The lists of a view that its record leaves out, and what each is made of. What is not dropped is kept. */
const SOURCES = {
  kept_indices: undefined,
  dropped_indices: 'dropped',
  trimmed_indices: 'trimmed',
  redacted_indices: 'redacted',
  redaction_pointers: 'pointers',
  hidden_calls: 'hidden_calls',
  invalidated_signature_indices: 'invalidated',
  stripped_indices: 'stripped',
};

/** The lists of a view, each made when it is first asked for. */
export class Lists {
  #log;
  #count;
  #lengths = {};
  #made = {};

  constructor(log, count) {
    this.#log = log;
    this.#count = count;
    for (const name of Object.keys(log)) this.#lengths[name] = log[name].length;
  }

  /** Whether a list is known to hold nothing. */
  isEmpty(name) {
    return this.#lengths[SOURCES[name]] === 0;
  }

  #of(name) {
    return this.#log[name].slice(0, this.#lengths[name]);
  }

  #once(name, make) {
    return (this.#made[name] ??= make());
  }

  get dropped_indices() {
    return this.#once('dropped', () => ascending(this.#of('dropped')));
  }

  get kept_indices() {
    return this.#once('kept', () => {
      const kept = [];
      let next = 0;
      for (const dropped of this.dropped_indices) {
        while (next < dropped) kept.push(next++);
        next = dropped + 1;
      }
      while (next < this.#count) kept.push(next++);
      return kept;
    });
  }

  get #gone() {
    return this.#once('gone', () => new Set(this.dropped_indices));
  }

  #left(name, without = []) {
    const gone = this.#gone;
    const others = new Set(without);
    return ascending(this.#of(name).filter((index) => !gone.has(index) && !others.has(index)));
  }

  get trimmed_indices() {
    return this.#once('trimmed', () => this.#left('trimmed'));
  }

  get redacted_indices() {
    return this.#once('redacted', () => this.#left('redacted'));
  }

  get stripped_indices() {
    return this.#once('stripped', () => ascending(this.#of('stripped')));
  }

  get invalidated_signature_indices() {
    return this.#once('invalidated', () => this.#left('invalidated', this.stripped_indices));
  }

  get redaction_pointers() {
    return this.#once('pointers', () => {
      const gone = this.#gone;
      const pointers = this.#of('pointers').filter((pointer) => !gone.has(pointer.source_index));
      return pointers.sort((a, b) => a.source_index - b.source_index || a.source_block_index - b.source_block_index);
    });
  }

  get hidden_calls() {
    return this.#once('hidden', () =>
      this.#of('hidden_calls').sort((a, b) => a.call_index - b.call_index || a.call_block - b.call_block),
    );
  }
}

function ascending(indices) {
  return indices.sort((a, b) => a - b);
}

/**
 * Gives an object lists of its own, each made when it is first asked for: who changes the list of a view does not change
 * that of its event. Most are empty, for which a getter costs more.
 */
function withLists(object, lists) {
  const own = {};
  for (const name of Object.keys(SOURCES)) {
    if (lists.isEmpty(name)) {
      object[name] = [];
      continue;
    }
    const get = () => (own[name] ??= [...lists[name]]);
    Object.defineProperty(object, name, { get, enumerable: true, configurable: true });
  }
  return object;
}

/** A record with the lists that follow from it. */
export function liveEvent(record, lists) {
  let metadata;
  return {
    ...record,
    get metadata() {
      return (metadata ??= withLists({ ...record.metadata }, lists));
    },
  };
}

/** A view of the messages that are shown now; its lists are made when they are first asked for. */
export function viewOf(event, { metadata }, shown, read, lists, lone_surrogate_indices) {
  const count = shown.length;
  const view = {
    policy: metadata.policy,
    reason: metadata.reason,
    get messages() {
      return (read.messages ??= shown.slice(0, count));
    },
    kept_indices: undefined,
    dropped_indices: undefined,
    trimmed_indices: undefined,
    redacted_indices: undefined,
    kept_count: metadata.kept_count,
    dropped_count: metadata.dropped_count,
    redacted_count: metadata.redacted_count,
    reclaimed_tokens: metadata.reclaimed_tokens,
    reclaimed_chars: metadata.reclaimed_chars,
    roots_consulted: [...metadata.roots_consulted],
    redaction_pointers: undefined,
    hidden_calls: undefined,
    prefix_hash: metadata.prefix_hash,
    provider_safety_blocked: metadata.provider_safety_blocked,
    first_changed_index: metadata.first_changed_index,
    invalidated_signature_indices: undefined,
    skipped_indices: [...metadata.skipped_indices],
    stripped_indices: undefined,
    lone_surrogate_indices,
    pending: metadata.session.pending,
    cache: metadata.session.cache,
    event,
  };
  return withLists(view, lists);
}
