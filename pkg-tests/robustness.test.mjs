// Thousands of damaged transcripts, options, pointers and events. Each gives a view or an error with a name, never a
// failed engine, and the engine stays in order. `ROBUSTNESS_SEED` and `ROBUSTNESS_ROUNDS` change what is tried.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { canonical, sha256 } from './json.mjs';
import { entry } from './installed.mjs';

const { ROBUSTNESS_SEED = '1', ROBUSTNESS_ROUNDS = '4000' } = process.env;

const {
  ProjectionError,
  Transcript,
  acpUpdate,
  providerMessages,
  recoverRedacted,
  replayProjection,
  transcriptEventsByKind,
  transcriptProject,
} = await import(entry);

/** Random choices that a seed repeats (mulberry32). */
function choices(seed) {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count) => Math.floor(random() * count);
  const pick = (list) => list[below(list.length)];
  const chance = (share) => random() < share;
  const several = (most, make) => Array.from({ length: below(most + 1) }, make);
  return { below, pick, chance, several };
}

const hostile = new Error('thrown by a value of the test');
const refuse = () => {
  throw hostile;
};

// ---------------------------------------------------------------------------------------------
// Sound input

const long = 'plain words that nobody needs; '.repeat(20);

function session({ below, pick, chance, several }) {
  const messages = several(2, () => ({ role: pick(['system', 'developer']), content: 'rules' }));
  messages.push({ role: 'user', content: 'go' });
  const id = () => pick([`c${messages.length}`, 'again']);
  const name = () => pick(['run', 'read', 'toString']);
  const input = () => ({ path: pick(['src/a.rs', '/repo/docs/b.md', 'x']), n: below(9) });
  const flags = [{}, {}, { is_error: true }, { status: 'failed' }, { error: 'no' }, { is_error: 'false' }];
  const outcome = () => pick(flags);
  const body = () => pick(['ok', long, `Error: ${long}`, [{ type: 'text', text: long }], '', null, { text: long }]);
  const turns = {
    openai() {
      const ids = [id(), ...several(2, () => `d${messages.length}${below(99)}`)];
      const call = (id) => ({ id, type: 'function', function: { name: name(), arguments: JSON.stringify(input()) } });
      messages.push({ role: 'assistant', content: pick([null, '', 'Trying.']), tool_calls: ids.map(call) });
      messages.push(...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: body(), ...outcome() })));
    },
    harn() {
      const call = { id: id(), name: name(), arguments: input() };
      const signed = chance(0.1) ? { thinking_signature: 's' } : {};
      messages.push({ role: 'assistant', content: '', tool_calls: [call], ...signed });
      messages.push({ role: 'tool_result', tool_use_id: call.id, content: body(), ...outcome() });
    },
    anthropic() {
      const ids = [id(), ...several(2, () => `t${messages.length}${below(99)}`)];
      const thinking = several(1, () => ({ type: 'thinking', thinking: 'hm', signature: pick(['', 's']) }));
      const use = (id) => ({ type: 'tool_use', id, name: name(), input: input() });
      const answer = (id) => ({ type: 'tool_result', tool_use_id: id, content: body(), ...outcome() });
      messages.push({ role: 'assistant', content: [...thinking, ...ids.map(use)] });
      const words = several(1, () => ({ type: 'text', text: 'go on' }));
      messages.push({ role: 'user', content: [...ids.map(answer), ...words] });
    },
    legacy() {
      messages.push({ role: 'assistant', content: null, function_call: { name: 'run', arguments: '{}' } });
      messages.push({ role: 'function', name: 'run', content: body() });
    },
    words() {
      messages.push({ role: 'assistant', content: 'Done.' }, { role: 'user', content: 'now src/a.rs' });
    },
  };
  several(8, () => turns[pick(Object.keys(turns))]());
  return messages;
}

/** A function of the caller's that fails in one way only, whatever it is given. */
const mine = (run) => (argument) => {
  try {
    return run(argument);
  } catch {
    return refuse();
  }
};

function someOptions({ below, pick, chance }) {
  const options = {
    policy: pick(['raw', 'clean_tool_repair', 'squash_failed_calls', 'summary_prefix', 'reachability_gc', 'custom']),
    projector: mine(pick([(list) => list, (list) => list.slice(1), (list) => list.map((m) => ({ ...m })), () => []])),
    is_error: pick([undefined, () => undefined, mine(({ text }) => text.includes('no'))]),
    keep_last: below(9),
    root_window: below(9),
    min_chars: pick([0, 20, 500]),
    summary: pick([undefined, 'short']),
    summary_role: pick(['system', 'developer', 'user']),
    keep_newest_user: chance(0.5),
    repair_match: pick(['tool', 'target']),
    roots: pick([undefined, 'src/a.rs', { list: ['docs/b.md'] }]),
    write_barrier: pick([undefined, 'x']),
    require_write_barrier: chance(0.3),
    respect_provider_signatures: chance(0.5),
    signature_scope: pick(['message', 'prefix']),
    protect_open_turn: chance(0.7),
    prefix_hash: chance(0.9),
  };
  // Most callers give few.
  for (const name of Object.keys(options).slice(2)) if (chance(0.5)) delete options[name];
  return options;
}

// ---------------------------------------------------------------------------------------------
// Damage

const deep = (levels) => {
  let value = 'bottom';
  for (let i = 0; i < levels; i += 1) value = i % 2 ? [value] : { value };
  return value;
};

/** Values that do not belong where they are put. */
const rubbish = [
  () => null,
  () => undefined,
  () => 0,
  () => -1,
  () => 1.5,
  () => NaN,
  () => Infinity,
  () => 2 ** 53,
  () => 10n ** 30n,
  () => true,
  () => '',
  () => 'text',
  () => '\ud83c',
  () => '\u0000\u{1f389}',
  () => 'x'.repeat(70_000),
  () => [],
  () => [null, undefined, , [[]]],
  () => Array(5),
  () => ({}),
  () => ({ role: 'assistant', content: [{ type: 'tool_use' }] }),
  () => ({ type: 'tool_result', tool_use_id: 'again', content: {} }),
  () => JSON.parse('{"__proto__": {"type": "tool_use"}, "constructor": 1, "toString": 2}'),
  () => Object.create(null),
  () => Object.freeze({ a: 1 }),
  () => new Date(0),
  () => ({ toJSON: () => ({ type: 'text', text: 'said' }) }),
  () => ({ toJSON: refuse }),
  () => new Map([[1, 2]]),
  () => new Uint8Array(3),
  () => Promise.resolve(1),
  () => Symbol('s'),
  () => () => 1,
  () => deep(100),
  () => deep(600),
  () => deep(5000),
  () => {
    const self = { list: [] };
    self.list.push(self);
    return self;
  },
  () => new Proxy({ role: 'user' }, {}),
  () => new Proxy([{ type: 'text', text: 'x' }], {}),
  () => ({ get role() { return refuse(); } }),
  () => new Proxy({}, { get: refuse, ownKeys: refuse }),
  () => new Proxy([], { get: refuse }),
];
const names = ['role', 'content', 'tool_calls', 'tool_call_id', 'id', 'type', 'input', 'is_error', 'messages', 'name'];

/** All places in a value, unless it is very deep: the object or list, and the key. */
function places(value, found = [], seen = new Set(), depth = 0) {
  if (typeof value !== 'object' || value === null || seen.has(value) || depth > 700) return found;
  seen.add(value);
  for (const key of Object.keys(value)) {
    found.push([value, key]);
    places(value[key], found, seen, depth + 1);
  }
  return found;
}

/** Damages a value in some places. What was put there may refuse to be looked at or changed: then it is enough. */
function damage(root, random) {
  const holder = { root };
  try {
    for (let times = 1 + random.below(3); times > 0; times -= 1) damageOnce(holder, random);
  } catch (error) {
    assert(error === hostile || error instanceof TypeError, error);
  }
  return holder.root;
}

function damageOnce(holder, { below, pick, chance }) {
  const found = places(holder);
  const [parent, key] = found.length === 0 || chance(0.02) ? [holder, 'root'] : pick(found);
  const value = parent[key];
  const kinds = [
    () => (parent[key] = pick(rubbish)()),
    () => (parent[key] = pick(rubbish)()),
    () => delete parent[key],
    () => (Array.isArray(parent) ? parent.splice(below(parent.length), 1) : (parent[pick(names)] = value)),
    () => (Array.isArray(value) ? value.push(pick(rubbish)()) : (parent[pick(names)] = pick(rubbish)())),
    () => (Array.isArray(value) ? value.reverse() : (parent[key] = [value])),
    () => Array.isArray(value) && value.push(...value.slice(0, 50)),
  ];
  pick(kinds)();
}

// ---------------------------------------------------------------------------------------------
// What must come of it

/** Runs a call; it returns, or throws an error with a name, or what a value of the test threw. */
function outcomeOf(run) {
  try {
    return { value: run() };
  } catch (error) {
    if (error === hostile) return { error: 'hostile' };
    assert(error instanceof ProjectionError, error);
    assert.notEqual(error.code, 'engine_failure', error.message);
    assert.notEqual(error.code, 'callback_failed', error.message);
    assert.match(error.message, /^[^\n]+$/);
    return { error: error.code };
  }
}

function assertSound(view, count) {
  const indices = [...view.kept_indices, ...view.dropped_indices].sort((a, b) => a - b);
  assert.deepEqual(indices, Array.from({ length: count }, (_, index) => index));
  assert.equal(view.reclaimed_tokens, Math.floor(view.reclaimed_chars / 4));
  assert.deepEqual(JSON.parse(JSON.stringify(view.event)), view.event);
  if (view.prefix_hash !== null) assert.equal(view.prefix_hash, sha256(canonical(view.messages)));
}

const sample = [
  { role: 'user', content: 'go' },
  { role: 'assistant', tool_calls: [{ id: 'a', name: 'run', arguments: {} }] },
  { role: 'tool', tool_call_id: 'a', content: long },
  { role: 'assistant', content: 'a' },
];
const sampleView = JSON.stringify(transcriptProject(sample, { policy: 'reachability_gc', root_window: 1 }));

function assertInOrder() {
  const view = transcriptProject(sample, { policy: 'reachability_gc', root_window: 1 });
  assert.equal(JSON.stringify(view), sampleView);
}

const lengthOf = (input) => (Array.isArray(input) ? input : (input.messages ?? input.contents ?? input.input)).length;

test('damaged input gives a view or an error with a name', (t) => {
  const seed = Number(ROBUSTNESS_SEED);
  const rounds = Number(ROBUSTNESS_ROUNDS);
  t.diagnostic(`seed ${seed}, ${rounds} rounds`);
  const outcomes = new Map();
  for (let round = 0; round < rounds; round += 1) {
    const random = choices(seed * 1_000_003 + round);
    const { pick, chance } = random;
    const messages = session(random);
    const options = someOptions(random);
    const sound = transcriptProject(messages, options);
    const began = performance.now();
    const attempts = {
      transcript() {
        const input = damage(pick([messages, { messages, summary: 's' }]), random);
        const outcome = outcomeOf(() => transcriptProject(input, options));
        if (outcome.value) assertSound(outcome.value, lengthOf(input));
        return outcome;
      },
      options() {
        const damaged = damage(options, random);
        const outcome = outcomeOf(() => transcriptProject(messages, damaged));
        if (outcome.value) assertSound(outcome.value, messages.length);
        return outcome;
      },
      kept() {
        const transcript = Transcript.fromObject(messages);
        const added = damage(session(random), random);
        const appended = outcomeOf(() => transcript.append(added));
        const outcome = outcomeOf(() => transcript.project(options));
        if (outcome.value) assertSound(outcome.value, transcript.length);
        outcomeOf(() => transcript.project({ ...options, policy: 'raw' }));
        transcript.free();
        return appended.error ? appended : outcome;
      },
      text() {
        const text = JSON.stringify(messages);
        const at = random.below(text.length);
        const scrap = pick(['', '"', '{', ']', ',', '\\', '\\ud800', '\u0000', '9'.repeat(400), 'null', '-', '\ufeff']);
        const cut = chance(0.1) ? text.length : random.below(3);
        const damaged = text.slice(0, at) + scrap + text.slice(at + cut);
        const read = outcomeOf(() => Transcript.fromJSON(chance(0.5) ? damaged : Buffer.from(damaged, 'latin1')));
        if (read.error) return read;
        const outcome = outcomeOf(() => read.value.project(options));
        if (outcome.value) assert.equal(outcome.value.kept_count + outcome.value.dropped_count, read.value.length);
        read.value.free();
        return outcome;
      },
      view() {
        const damaged = damage(structuredClone(pick([sound, sound.messages])), random);
        outcomeOf(() => acpUpdate('s', damaged));
        return outcomeOf(() => providerMessages(damaged, pick([undefined, 'anthropic', 'openai_chat'])));
      },
      event() {
        const event = damage(structuredClone(sound.event), random);
        const events = damage({ events: [event, sound.event] }, random);
        outcomeOf(() => transcriptEventsByKind(events, 'transcript.projection'));
        return outcomeOf(() => replayProjection(messages, event, pick([undefined, { projector: (list) => list }])));
      },
      pointer() {
        const pointer = damage({ source_index: 2, source_block_index: null, content_hash: 'sha256:0' }, random);
        return outcomeOf(() => recoverRedacted(chance(0.5) ? messages : damage(messages, random), pointer));
      },
    };
    const name = pick(['transcript', 'transcript', ...Object.keys(attempts)]);
    try {
      const { error = 'a value' } = attempts[name]();
      const what = `${name}: ${error}`;
      outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
      if (error !== 'a value' || round % 50 === 0) assertInOrder();
      assert(performance.now() - began < 5000, 'a hang');
    } catch (cause) {
      throw new Error(`seed ${seed}, round ${round}, ${name}: ${cause.message}`, { cause });
    }
  }
  t.diagnostic([...outcomes].sort().map(([what, count]) => `${what} ${count}`).join('; '));
  for (const name of ['transcript', 'options', 'kept', 'text', 'view', 'event', 'pointer']) {
    const codes = [...outcomes.keys()].filter((what) => what.startsWith(`${name}:`));
    assert(codes.length > 1, `${name}: the damage did nothing, or everything was refused`);
  }
});
