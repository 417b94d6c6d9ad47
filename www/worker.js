// The worker: holds the transcript and the engine, answers the page. The page itself never holds a whole transcript.
import * as engine from './dist/browser.js';
import { align } from './align.js';
import { callNames, characters, describe, json } from './describe.js';
import { contains, excerpt, matcher } from './find.js';
import { PROJECTORS } from './projectors.js';
import { messagesOf, readTranscript } from './read.js';
import { hiddenByMessage, reasonsOf, reasonsOfAdded } from './reasons.js';
import { DROPPED, KEPT, STATUS_NAMES, TRIMMED } from './statuses.js';
import { MORE, PREVIEW, slice } from './slice.js';

const MOST_PARTS = 24; // of a message, before "show more"

let source = null; // what was loaded last: { transcript, messages, handle, names }
let shown = null; // what was projected last: { generation, view, rows, hidden }
let generations = 0;

const answers = {
  /** The engine comes as a compiled module: this worker never asks the network for anything. */
  start: ({ module }) => engine.init(module),

  async load({ file, text, name }) {
    const input = file ? new Uint8Array(await file.arrayBuffer()) : text;
    const { transcript, format, warnings } = readTranscript(input);
    const messages = messagesOf(transcript);
    const handle = engine.Transcript.fromObject(transcript);
    source?.handle.free();
    source = { transcript, messages, handle, names: callNames(messages), parts: new Map() };
    shown = null;
    const sizes = Float64Array.from(messages, characters);
    return { name, format, warnings, sizes, count: messages.length };
  },

  project({ options }) {
    const { projector, ...rest } = options;
    if (projector !== undefined && Object.hasOwn(PROJECTORS, projector)) rest.projector = PROJECTORS[projector];
    const view = source.handle.project(rest);
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
    const { content, verified } = engine.recoverRedacted(source.transcript, entry);
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
    const value = {
      messages: () => shown.view.messages,
      provider: () => engine.providerMessages(shown.view),
      event: () => shown.view.event,
    }[what]();
    return new Blob([JSON.stringify(value, null, 2), '\n'], { type: 'application/json' });
  },
};

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
