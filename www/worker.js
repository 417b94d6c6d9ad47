// The worker: holds the transcript and the engine, answers the page. The page itself never holds a whole transcript.
import * as engine from './dist/browser.js';
import { align } from './align.js';
import { callNames, characters, describe, json } from './describe.js';
import { contains, excerpt, matcher } from './find.js';
import { explain } from './problems.js';
import { PROJECTORS } from './projectors.js';
import { hiddenByMessage, reasonsOf, reasonsOfAdded } from './reasons.js';
import { DROPPED, KEPT, STATUS_NAMES, TRIMMED } from './statuses.js';
import { MORE, PREVIEW, slice } from './slice.js';

const MOST_PARTS = 24; // of a message, before "show more"

let source = null; // what was loaded last: { blob, transcript, messages, places, outcomes, names }
let shown = null; // what was projected last: { generation, view, rows, hidden }
let generations = 0;

const answers = {
  /** What is wasm comes compiled: this worker never asks the network for anything. */
  start: ({ module, importers }) => Promise.all([engine.init(module), engine.initImport(importers)]).then(() => {}),

  formats: () => engine.importFormats(),

  async load({ file, text, name, reading }) {
    const blob = file ?? new Blob([text]);
    const { transcript, source: places, outcomes, ...rest } = await imported(blob, reading);
    source?.transcript.free();
    const { messages } = transcript;
    source = { blob, transcript, messages, places, outcomes: byMessage(outcomes), names: callNames(messages), text: null };
    shown = null;
    return { ...rest, name, sizes: Float64Array.from(messages, characters), count: messages.length };
  },

  /** The piece of the file that a message stands in, as it is. */
  async sourceText({ key, from }) {
    if (source.text?.key !== key) {
      const { start, end } = source.places[key];
      source.text = { key, text: await source.blob.slice(start, end).text() };
    }
    return slice(source.text.text, from, MORE);
  },

  project({ options }) {
    const { projector, ...rest } = options;
    if (projector !== undefined && Object.hasOwn(PROJECTORS, projector)) rest.projector = PROJECTORS[projector];
    const view = source.transcript.project(rest);
    const rows = align(source.messages, view);
    generations += 1;
    shown = { generation: generations, view, rows, hidden: hiddenByMessage(view) };
    const { messages, event, hidden_calls, redaction_pointers, kept_indices, dropped_indices, ...summary } = view;
    return {
      ...summary,
      ...rows,
      generation: generations,
      seen: messages.length,
      respected: event.metadata.respects_provider_signatures,
    };
  },

  rows: ({ keys }) => keys.map(row),

  /** The next piece of one part, or of the raw JSON, of one side of a row. */
  more: ({ key, side, part, from }) =>
    slice(part === 'json' ? jsonOf(key, side) : partsOf(key, side)[part].text, from, MORE),

  /** The parts of a message that the first answer left out. */
  restOfParts: ({ key, side, from }) =>
    partsOf(key, side)
      .slice(from, from + MOST_PARTS)
      .map(preview),

  /** The raw body behind a pointer, hashed again by the engine. */
  recover({ key, pointer, from }) {
    const entry = pointersAt(key)[pointer];
    const { content, verified } = engine.recoverRedacted(source.messages, entry);
    const text = typeof content === 'string' ? content : json(content);
    return { verified, hash: entry.content_hash, source: entry.source, piece: slice(text, from, MORE) };
  },

  find({ text }) {
    const pattern = matcher(text);
    const hits = [];
    const { added } = shown.rows;
    let next = 0;
    for (let index = 0; index <= source.messages.length; index += 1) {
      while (next < added.length && added[next].before === index) {
        if (contains(shown.view.messages[added[next].place], pattern)) hits.push(-1 - next);
        next += 1;
      }
      if (index < source.messages.length && contains(source.messages[index], pattern)) hits.push(index);
    }
    return Int32Array.from(hits);
  },

  excerpt: ({ key, text }) =>
    excerpt(partsOf(key, key < 0 ? 'seen' : 'raw'), matcher(text)) ??
    excerpt([{ kind: 'JSON', text: jsonOf(key, key < 0 ? 'seen' : 'raw') }], matcher(text)),

  event: ({ from }) => slice(json(shown.view.event), from, MORE),

  export({ what }) {
    const { view } = shown;
    const pretty = (value) => `${JSON.stringify(value, null, 2)}\n`;
    const text = {
      messages: () => pretty(view.messages),
      // What is sent keeps the spelling of the file.
      json: () => `${engine.exportMessages(view, 'json')}\n`,
      jsonl: () => engine.exportMessages(view, 'jsonl'),
      event: () => pretty(view.event),
    }[what]();
    return new Blob([text], { type: what === 'jsonl' ? 'application/jsonl' : 'application/json' });
  },
};

/** Reads a file piece by piece: it is never in memory as a whole, but for what its messages need. */
async function imported(blob, reading) {
  const importer = new engine.Importer(reading);
  try {
    const reader = blob.stream().getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) importer.push(piece.value);
    return importer.finish();
  } catch (error) {
    throw await explain(error, blob);
  } finally {
    importer.free();
  }
}

/** What the file says of results, by the message that holds them. */
function byMessage(outcomes) {
  const table = new Map();
  for (const { message_index, refused, is_error, inferred, because } of outcomes) {
    const word = refused ? 'refused by the user' : is_error ? 'failed' : 'succeeded';
    const told = { word: inferred ? `${word} (a guess)` : word, because, bad: is_error };
    table.set(message_index, [...(table.get(message_index) ?? []), told]);
  }
  return table;
}

// A row is named by its key: the index of a source message, or -1, -2, ... for the messages that the view added.

function messageOf(key, side) {
  if (key < 0) return shown.view.messages[shown.rows.added[-1 - key].place];
  return side === 'raw' ? source.messages[key] : shown.view.messages[shown.rows.place[key]];
}

const nameOf = (id) => source.names.get(id);
const partsOf = (key, side) => describe(messageOf(key, side), nameOf).parts;
const jsonOf = (key, side) => json(messageOf(key, side));
const pointersAt = (key) => shown.view.redaction_pointers.filter((pointer) => pointer.source_index === key);

function preview(part) {
  const { text, ...rest } = part;
  return { ...rest, ...slice(text, 0, PREVIEW) };
}

function side(key, which) {
  const { role, parts } = describe(messageOf(key, which), nameOf);
  return { role, parts: parts.slice(0, MOST_PARTS).map(preview), otherParts: Math.max(0, parts.length - MOST_PARTS) };
}

/** Whether a part belongs to one of the hidden calls: by id, or by its place where there are no ids. */
const isHidden = (part, key, calls) =>
  calls.some((call) => {
    if (part.id !== undefined && part.id !== null) return part.id === call.tool_call_id;
    const [index, block] =
      part.kind === 'call' ? [call.call_index, call.call_block] : [call.result_index, call.result_block];
    return ['call', 'result'].includes(part.kind) && index === key && block === part.block;
  });

/** What the page shows of a row before anything in it is opened. */
function row(key) {
  if (key < 0) {
    const { status } = shown.rows.added[-1 - key];
    return {
      key,
      status: STATUS_NAMES[status],
      raw: null,
      seen: side(key, 'seen'),
      reasons: reasonsOfAdded(status, shown.view),
      pointers: [],
      place: null,
      outcomes: [],
    };
  }
  const status = shown.rows.status[key];
  const raw = side(key, 'raw');
  const calls = [...(shown.hidden.get(key) ?? [])];
  const loses = shown.view.stripped_indices.includes(key);
  for (const part of raw.parts) {
    part.hidden =
      (status === TRIMMED && isHidden(part, key, calls)) ||
      (loses && status !== DROPPED && (part.kind === 'thinking' || part.signed === true));
  }
  return {
    key,
    status: STATUS_NAMES[status],
    raw,
    seen: shown.rows.place[key] === -1 ? null : status === KEPT ? 'same' : side(key, 'seen'),
    reasons: reasonsOf(key, status, shown.view, shown.hidden),
    place: source.places[key],
    outcomes: source.outcomes.get(key) ?? [],
    pointers: pointersAt(key).map(
      ({ content_hash, content_chars, estimated_tokens_reclaimed, source_block_index, tool_call_id }) => ({
        content_hash,
        content_chars,
        estimated_tokens_reclaimed,
        source_block_index,
        tool_call_id,
      }),
    ),
  };
}

self.addEventListener('message', async ({ data: { id, kind, payload } }) => {
  try {
    // A question about a projection that is not the current one any more has no answer.
    if (payload.generation !== undefined && payload.generation !== shown?.generation)
      throw Object.assign(new Error(kind), { name: 'Stale' });
    const value = await answers[kind](payload);
    self.postMessage({ id, value });
  } catch (error) {
    const { name, message, code, path, expected, line, column, before, after } = error;
    self.postMessage({ id, error: { name, message, code, path, expected, line, column, before, after } });
  }
});
self.postMessage({ ready: true });
