// What a projection is in JavaScript: whose objects a view holds, what is hashed of values that JSON cannot hold, what
// the caller's functions may do, and the way back from views and events.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { canonical, canonicalText, sha256 } from './json.mjs';
import { PACKAGE_DIR, entry } from './installed.mjs';

const {
  ProjectionError,
  Transcript,
  acpUpdate,
  providerMessages,
  recoverRedacted,
  replayProjection,
  transcriptEventsByKind,
  transcriptProject,
  transcriptProjectAsync,
} = await import(entry);

const user = (content) => ({ role: 'user', content });
const assistant = (content) => ({ role: 'assistant', content });
const calls = (...calls) => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(([id, name, args = {}]) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  })),
});
const result = (id, content, fields) => ({ role: 'tool', tool_call_id: id, content, ...fields });
const failed = { is_error: true };
const long = 'plain words that nobody needs; '.repeat(20);
const gc = { policy: 'reachability_gc', root_window: 1, min_chars: 20 };

/** A session in which every policy finds something to do. */
const openai = () => [
  { role: 'system', content: 'rules', weight: 1 },
  user('go'),
  calls(['c1', 'run'], ['c2', 'read', { path: 'docs/old.md' }]),
  result('c1', 'boom', failed),
  result('c2', long, { took: { ms: 12 } }),
  calls(['c3', 'list']),
  result('c3', 'bang', failed),
  calls(['c4', 'run']),
  result('c4', 'ok'),
  assistant('Done.'),
  user('more'),
];
const anthropic = () => [
  user([{ type: 'text', text: 'go' }]),
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'Both.' },
      { type: 'tool_use', id: 'c1', name: 'run', input: {} },
      { type: 'tool_use', id: 'c2', name: 'read', input: { path: 'docs/old.md' } },
    ],
  },
  user([
    { type: 'tool_result', tool_use_id: 'c1', content: 'boom', is_error: true },
    { type: 'tool_result', tool_use_id: 'c2', content: long, cache_control: { type: 'ephemeral' } },
    { type: 'text', text: 'hurry' },
  ]),
  { role: 'assistant', content: [{ type: 'tool_use', id: 'c4', name: 'run', input: {} }] },
  user([{ type: 'tool_result', tool_use_id: 'c4', content: 'ok' }]),
  assistant('Done.'),
  user('more'),
];
const policies = [
  'raw',
  'clean_tool_repair',
  'squash_failed_calls',
  { policy: 'summary_prefix', keep_last: 3 },
  gc,
  { policy: 'custom', projector: (messages) => messages.slice(1) },
];

const optionsOf = (policy) => (typeof policy === 'string' ? { policy } : policy);

function deepFreeze(value) {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

/** The error of a call, which must be a ProjectionError of this kind. */
function failure(run, code, path) {
  try {
    run();
  } catch (error) {
    assert(error instanceof ProjectionError, error);
    assert.equal(error.code, code);
    if (path !== undefined) assert.equal(error.path, path);
    return error;
  }
  assert.fail(`${code} was not thrown`);
}

/** What a call throws. */
function thrownBy(run) {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  assert.fail('nothing was thrown');
}

/** The engine works as before. */
function assertUsable() {
  assert.deepEqual(transcriptProject(openai(), 'clean_tool_repair').dropped_indices, [3]);
}

// ---------------------------------------------------------------------------------------------
// Whose objects

test('the input is never changed', () => {
  for (const messages of [openai(), anthropic()]) {
    const before = JSON.stringify(messages);
    deepFreeze(messages);
    for (const policy of policies) {
      const view = transcriptProject(messages, deepFreeze({ ...optionsOf(policy) }));
      assert.equal(JSON.stringify(messages), before);
      const events = deepFreeze({ messages, events: [view.event] });
      providerMessages(deepFreeze(view), 'anthropic');
      replayProjection(events, view.event, { projector: policy.projector });
      view.redaction_pointers.forEach((pointer) => recoverRedacted(events, pointer));
      acpUpdate('s', view);
    }
  }
});

test('kept messages are the very objects of the caller', () => {
  for (const messages of [openai(), anthropic()]) {
    for (const policy of policies) {
      const view = transcriptProject({ messages }, policy);
      const changed = new Set([...view.trimmed_indices, ...view.redacted_indices]);
      const shown = view.messages.filter((message) => !message._harn_projection?.synthetic);
      assert.equal(shown.length, view.kept_count);
      view.kept_indices.forEach((source, at) => {
        assert.equal(shown[at] === messages[source], !changed.has(source), `${view.policy}: ${source}`);
      });
      assert.notEqual(view.messages, messages);
    }
  }
});

test('what a changed message keeps is the very value of the caller', () => {
  const source = openai();
  const trimmed = transcriptProject(source, 'clean_tool_repair').messages[2];
  assert.equal(trimmed.tool_calls.length, 1);
  assert.equal(trimmed.tool_calls[0], source[2].tool_calls[1]);
  const redacted = transcriptProject(source, gc).messages[4];
  assert.equal(redacted.took, source[4].took);
  assert.deepEqual(Object.keys(redacted), ['role', 'tool_call_id', 'content', 'took', '_harn_projection']);

  const blocks = anthropic();
  const [, call, answer] = transcriptProject(blocks, 'clean_tool_repair').messages;
  assert.equal(call.content[0], blocks[1].content[0]);
  assert.equal(call.content[1], blocks[1].content[2]);
  assert.equal(answer.content[0], blocks[2].content[1]);
  const pointed = transcriptProject(blocks, gc).messages[2];
  assert.equal(pointed.content[0], blocks[2].content[0]);
  assert.equal(pointed.content[2], blocks[2].content[2]);
  assert.equal(pointed.content[1].cache_control, blocks[2].content[1].cache_control);
  assert.match(pointed.content[1].content, /^\[tool result reclaimed by reachability_gc; source_index=2; /);
});

test('a view is the caller’s to change', () => {
  const source = openai();
  const view = transcriptProject(source, 'clean_tool_repair');
  view.messages.length = 0;
  view.kept_indices.push(99);
  view.event.metadata.kept_indices.push(99);
  assert.equal(source.length, 11);
  assertUsable();
});

test('fields that nobody knows survive, one named __proto__ too', () => {
  const source = openai();
  const poison = (message) => Object.assign(JSON.parse('{"__proto__": {"role": "user", "x": 1}}'), message);
  source[2] = poison(source[2]);
  source[4] = poison(source[4]);
  const own = (message) => Object.getOwnPropertyDescriptor(message, '__proto__').value;
  for (const [policy, index] of [
    ['clean_tool_repair', 2],
    [gc, 4],
  ]) {
    const view = transcriptProject(source, policy);
    const message = view.messages[index];
    assert.equal(own(message), own(source[index]));
    assert.equal(Object.getPrototypeOf(message), Object.prototype);
    assert.equal(message.role, source[index].role);
    const sent = providerMessages(view)[index];
    assert.equal(own(sent), own(source[index]));
    assert.equal(Object.getPrototypeOf(sent), Object.prototype);
    assert.equal(view.prefix_hash, sha256(canonical(view.messages)));
  }
  assert.equal({}.x, undefined);
  failure(() => transcriptProject([], JSON.parse('{"__proto__": {}}')), 'unknown_option', 'options.__proto__');
  const plain = Object.assign(Object.create(null), { policy: 'raw' });
  assert.equal(transcriptProject([], plain).policy, 'raw');
});

// ---------------------------------------------------------------------------------------------
// What is hashed

test('hashes are SHA-256 over canonical JSON', () => {
  const rows = [
    [],
    [{}],
    [user('')],
    [{ b: 1, a: { d: [], c: {} }, '': null }],
    // By UTF-8 bytes U+E000 comes before an emoji, by UTF-16 units behind it.
    [{ '\u{1f389}': 1, '\ue000': 2, ﬀ: 3, z: 4, é: 5, Z: 6, 10: 7, 9: 8 }],
    [user('\u0000\u0001\b\t\n\v\f\r\u001f "\\/\u007f\u0080\u2028\u2029\ufeff\u{1f389}')],
    [{ n: [0, -0, 1, -1, 1.5, 100, 1e15, 2 ** 53, 2 ** 53 + 2, 1e16, 1e19, 2 ** 63, 2 ** 64, -(2 ** 63), 1e20, 1e21] }],
    [{ n: [0.1, 1e-4, 1e-5, 1.25e-5, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308, 123456.789, -1e-7, -1e300] }],
    [{ deep: [[[{ a: [{ b: [true, false, null] }] }]]] }],
    // The engine's memory grows in the middle.
    [user('a'), user('x'.repeat(8_000_000)), user('b')],
    [user('x'.repeat(100_000)), user('é'.repeat(100_000)), user('\u{1f389}"'.repeat(50_000))],
    Array.from({ length: 2000 }, (_, index) => user(`${index}`)),
    openai(),
    anthropic(),
  ];
  for (const messages of rows) {
    const view = transcriptProject(messages);
    assert.equal(view.prefix_hash, sha256(canonical(messages)));
    assert.equal(view.event.metadata.source_hash, view.prefix_hash);
  }
});

test('many layouts of objects hash as few do', () => {
  const messages = Array.from({ length: 3000 }, (_, index) => ({ [`k${index}`]: index, role: 'user', a: index }));
  messages.push(Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${99 - index}`, index])));
  for (let round = 0; round < 2; round += 1) {
    assert.equal(transcriptProject(messages).prefix_hash, sha256(canonical(messages)));
  }
});

test('what JSON cannot hold', () => {
  class Message {
    role = 'user';
    content = 'from a class';
    get shout() {
      return 'inherited: not a field of its own';
    }
  }
  const hidden = Object.defineProperty(user('x'), 'secret', { value: 1, enumerable: false });
  const sparse = [1, , 3];
  const rows = [
    { a: undefined, b: () => 1, c: Symbol('c'), d: NaN, e: Infinity, f: -Infinity },
    { list: [undefined, () => 1, Symbol('c'), NaN, , 2] },
    { big: [1n, -1n, 2n ** 53n + 1n, 2n ** 64n, -(10n ** 40n)] },
    { sparse, holes: Array(3) },
    { [Symbol('key')]: 1, typed: new Uint8Array([1, 2]), boxed: Object('x'), when: null },
    new Message(),
    hidden,
    Object.assign(Object.create(null), user('no prototype')),
  ];
  for (const message of rows) {
    const view = transcriptProject([message]);
    assert.equal(view.messages[0], message);
    assert.equal(view.prefix_hash, sha256(canonical([message])));
  }
  const instance = new Message();
  const view = transcriptProject([user('a'), instance], { policy: 'summary_prefix', keep_last: 1 });
  assert.equal(view.messages[1], instance);
});

test('values that say themselves what their JSON is', () => {
  class Message {
    role = 'user';
    content = 'x';
    #client = 1;
    internal = this.#client;
    toJSON() {
      return { role: this.role, content: this.content };
    }
  }
  const message = new Message();
  const view = transcriptProject([message]);
  assert.equal(view.messages[0], message);
  assert.equal(view.prefix_hash, sha256('[{"content":"x","role":"user"}]'));
  transcriptProject([message], { policy: 'custom', projector: (list) => (assert.equal(list[0], message), list) });
  const transcript = Transcript.fromObject([message]);
  assert.equal(transcript.message(0), message);
  transcript.free();
  assert.equal(providerMessages([message])[0], message);

  const when = new Date(0);
  const source = [calls(['c', 'now']), result('c', when), assistant('a'), user([when])];
  assert.equal(transcriptProject(source).prefix_hash, sha256(canonical(source)));
  const [pointer] = transcriptProject(source, { ...gc, min_chars: 1 }).redaction_pointers;
  assert.equal(pointer.content_hash, sha256('1970-01-01T00:00:00.000Z'));
  assert.equal(recoverRedacted(source, pointer).verified, true);
});

test('a changed message keeps what JSON cannot hold', () => {
  const source = openai();
  const fn = () => 1;
  Object.assign(source[2], { big: 2n ** 60n, nan: NaN, nothing: undefined, list: [undefined, NaN], fn });
  const view = transcriptProject(source, 'clean_tool_repair');
  const trimmed = view.messages[2];
  assert.equal(trimmed.big, 2n ** 60n);
  assert.equal(trimmed.list, source[2].list);
  assert(Number.isNaN(trimmed.nan));
  assert.equal(view.prefix_hash, sha256(canonical(view.messages)));
});

test('lone surrogates hash as U+FFFD and are reported', () => {
  const odd = { role: 'user', content: 'x', '\udf89': ['\ud83c\ud83c'] };
  const source = [user('fine'), user('cut \ud83c'), odd, user('\ufffd')];
  const view = transcriptProject(source);
  assert.deepEqual(view.lone_surrogate_indices, [1, 2]);
  assert.equal(view.messages[1], source[1]);
  assert.equal(view.prefix_hash, sha256(canonical(source)));
  const mended = JSON.parse(JSON.stringify(source).replaceAll(/\\ud83c|\\udf89/g, '\ufffd'));
  assert.equal(transcriptProject(mended).prefix_hash, view.prefix_hash);
  assert.deepEqual(transcriptProject(mended).lone_surrogate_indices, []);

  // Positions are of the view, and a message that is not shown is not reported.
  const shorter = transcriptProject([...source, user('\udfff')], { policy: 'summary_prefix', keep_last: 2 });
  assert.deepEqual(shorter.lone_surrogate_indices, [2]);
  assert.deepEqual(transcriptProject(source, { prefix_hash: false }).lone_surrogate_indices, []);

  const body = `${long}\ud83c`;
  const pointed = transcriptProject([calls(['c', 'read']), result('c', body), assistant('a'), user('b')], gc);
  assert.equal(pointed.redaction_pointers[0].content_hash, sha256(`${long}\ufffd`));
  assert.deepEqual(pointed.lone_surrogate_indices, []);

  const transcript = Transcript.fromJSON(JSON.stringify(source));
  const read = transcript.project();
  assert.equal(read.prefix_hash, view.prefix_hash);
  assert.deepEqual(read.lone_surrogate_indices, [1, 2]);
  assert.equal(read.messages[1].content, 'cut \ud83c');
  transcript.free();
});

test('text is hashed with every digit', () => {
  const texts = [
    '[{"n": 9007199254740993}]',
    '[{"n": 18446744073709551615, "m": -9223372036854775808}]',
    '[{"n": 100.0, "m": 1e2, "o": 1E+21, "p": 0.1e1, "q": -0.0, "r": -0, "s": 1e-7, "t": 18446744073709551616}]',
    ' [ { "b" : 1 , "a" : [ ] , "\\u00e9\\n" : "\\/\\u0041\\ud83c\\udf89" } ] ',
    '\ufeff[{"role": "user", "content": "byte order mark"}]',
    '[{"a": 1, "a": 2}]',
  ];
  for (const text of texts) {
    for (const json of [text, new TextEncoder().encode(text)]) {
      const transcript = Transcript.fromJSON(json);
      assert.equal(transcript.project().prefix_hash, sha256(canonicalText(text.replace('\ufeff', ''))), text);
      assert.deepEqual(transcript.message(0), JSON.parse(text.replace('\ufeff', ''))[0]);
      transcript.free();
    }
  }
  const id = '9007199254740993';
  const turn = (content) => JSON.stringify(content).replaceAll('"BIG"', id);
  const last = { ...user('b'), id: 'BIG' };
  const text = turn([calls(['c', 'read']), result('c', { list: ['BIG', long] }), assistant('a'), last]);
  const transcript = Transcript.fromJSON(text);
  const view = transcript.project(gc);
  assert.equal(view.redaction_pointers[0].content_hash, sha256(`{"list":[${id},${JSON.stringify(long)}]}`));
  const own = transcript.message(3);
  assert.equal(view.messages[3], own);
  const picked = transcript.project({ policy: 'custom', projector: ([, , , last]) => [last] });
  assert.equal(picked.messages[0], own);
  assert.deepEqual(picked.kept_indices, [3]);
  assert.equal(picked.prefix_hash, sha256(`[{"content":"b","id":${id},"role":"user"}]`));
  transcript.free();
});

// ---------------------------------------------------------------------------------------------
// Values that do not behave

test('what a getter or a proxy throws comes through, and the engine stays in order', () => {
  const own = new Error('mine');
  const refuse = () => {
    throw own;
  };
  const getter = (object, key) => Object.defineProperty(object, key, { get: refuse, enumerable: true });
  const proxy = (target, trap) => new Proxy(target, { [trap]: refuse });
  const hostile = [
    getter(user('x'), 'role'),
    getter(user('x'), 'content'),
    getter(user('x'), 'unknown'),
    user(getter([{}, {}], 1)),
    proxy(user('x'), 'get'),
    proxy(user('x'), 'ownKeys'),
    user(proxy([1], 'get')),
    { role: 'assistant', content: '', tool_calls: proxy([], 'get') },
    getter(result('c', 'x'), 'tool_call_id'),
  ];
  for (const message of hostile) {
    for (const policy of policies) {
      assert.equal(thrownBy(() => transcriptProject([message, user('b')], policy)), own, `${policy.policy ?? policy}`);
      assertUsable();
    }
    assert.equal(thrownBy(() => Transcript.fromObject([message]).project()), own);
    assert.equal(thrownBy(() => providerMessages([getter(user('x'), '_harn_projection')])), own);
  }
  for (const messages of [proxy([user('a')], 'get'), { messages: proxy([user('a')], 'get') }, getter({}, 'messages')]) {
    assert.equal(thrownBy(() => transcriptProject(messages)), own);
  }
  for (const options of [getter({}, 'policy'), getter({}, 'projector'), getter({}, 'is_error'), proxy({}, 'ownKeys')]) {
    assert.equal(thrownBy(() => transcriptProject([], options)), own);
  }
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  assert(thrownBy(() => transcriptProject([revoked])) instanceof Error);
  assert(thrownBy(() => transcriptProject(revoked)) instanceof Error);
  assert(thrownBy(() => transcriptProject([], revoked)) instanceof Error);
  assertUsable();
});

test('a Transcript survives messages that do not behave', () => {
  let throws = false;
  const message = Object.defineProperty(user('x'), 'extra', {
    enumerable: true,
    get() {
      if (throws) throw new RangeError('now');
      return 1;
    },
  });
  const transcript = Transcript.fromObject([message, user('b')]);
  const before = transcript.project();
  throws = true;
  assert.throws(() => transcript.project(), RangeError);
  throws = false;
  assert.deepEqual(transcript.project(), before);
  transcript.append([user('c')]);
  assert.equal(transcript.project().kept_count, 3);
  failure(() => transcript.append([user('d'), 7]), 'invalid_message', 'messages[4]');
  assert.equal(transcript.length, 3);
  transcript.free();
});

test('proxies and getters that behave are read like any object', () => {
  const message = new Proxy(user('x'), {});
  const lazy = { role: 'user', get content() {
    return 'lazy';
  } };
  const list = new Proxy([message, lazy], {});
  const view = transcriptProject(list);
  assert.equal(view.messages[0], message);
  assert.equal(view.messages[1], lazy);
  assert.equal(view.prefix_hash, sha256(canonical([user('x'), user('lazy')])));
});

test('values that contain themselves', () => {
  const cyclic = user('x');
  cyclic.self = { list: [cyclic] };
  failure(() => transcriptProject([user('a'), cyclic]), 'invalid_message', 'messages[1]');
  failure(() => transcriptProject([], { policy: 'reachability_gc', roots: cyclic }), 'invalid_option', 'options.roots');
  const body = [long];
  body.push(body);
  const turn = [calls(['c', 'read']), result('c', body), assistant('a'), user('b')];
  for (const policy of policies.filter((policy) => policy !== 'raw')) {
    failure(() => transcriptProject(turn, policy), 'invalid_message');
  }
  const unhashed = transcriptProject([user('a'), cyclic], { prefix_hash: false });
  assert.equal(unhashed.messages[1], cyclic);
  assert.equal(unhashed.prefix_hash, null);
  assertUsable();
});

test('options that are nothing of JSON', () => {
  const material = ['roots', 'active_plan', 'scratchpad', 'pending_tool_args', 'unresolved_findings', 'write_barrier'];
  for (const name of material) {
    failure(() => transcriptProject([], { ...gc, [name]: () => 1 }), 'invalid_option', `options.${name}`);
  }
  for (const name of ['policy', 'keep_last', 'reason', 'prefix_hash', 'summary_role']) {
    failure(() => transcriptProject([], { [name]: () => 1 }), 'invalid_option', `options.${name}`);
  }
  failure(() => transcriptProject([], { onDone: () => 1 }), 'unknown_option', 'options.onDone');
  for (const keep_last of [NaN, Infinity, -Infinity, -1, -1n, 0.5, '1', false, {}]) {
    failure(() => transcriptProject([], { keep_last }), 'invalid_option', 'options.keep_last');
  }
  failure(() => transcriptProject([], () => 1), 'invalid_option', 'options');
  failure(() => transcriptProject(() => []), 'invalid_transcript', 'transcript');
  for (const nothing of [undefined, null]) {
    const options = { policy: nothing, roots: nothing, keep_last: nothing, projector: nothing, reason: nothing };
    assert.equal(transcriptProject([], options).reason, 'raw_passthrough');
    assert.equal(transcriptProject([], nothing).reason, 'raw_passthrough');
  }
});

// ---------------------------------------------------------------------------------------------
// Entries

test('import, require and ./inline give the same results', () => {
  const required = createRequire(join(PACKAGE_DIR, 'x.js'))('transcript-projection');
  const options = policies.slice(0, 5);
  const views = (project) => [openai(), anthropic()].flatMap((list) => options.map((option) => project(list, option)));
  const imported = views(transcriptProject);
  assert.deepEqual(views(required.transcriptProject), imported);
  // The inlined engine hashes by itself, this one through node:crypto.
  const program = `
    import { transcriptProject } from 'transcript-projection/inline';
    const { lists, options } = ${JSON.stringify({ lists: [openai(), anthropic()], options })};
    const views = lists.flatMap((list) => options.map((option) => transcriptProject(list, option)));
    console.log(JSON.stringify(views));`;
  const flags = ['--input-type=module', '-e', program];
  const { stdout, stderr } = spawnSync(process.execPath, flags, { cwd: PACKAGE_DIR, encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout), JSON.parse(JSON.stringify(imported)));
});

// ---------------------------------------------------------------------------------------------
// The caller's functions

const custom = (projector, more) => ({ policy: 'custom', projector, ...more });

test('a projector gets a list of its own with the caller’s own messages', () => {
  const source = openai();
  const seen = [];
  const view = transcriptProject({ messages: source }, custom((messages) => {
    seen.push(...messages);
    messages.pop();
    return messages;
  }));
  assert.equal(seen.length, source.length);
  seen.forEach((message, index) => assert.equal(message, source[index]));
  assert.deepEqual(view.dropped_indices, [10]);
  assert.equal(source.length, 11);
});

test('what a projector returns is mapped to the source', () => {
  const source = [user('a'), assistant('b'), user('a'), assistant('c')];
  const all = { kept_indices: [0, 1, 2, 3], dropped_indices: [] };
  const last = { kept_indices: [2], dropped_indices: [0, 1, 3] };
  const z = (message) => ({ ...message, content: 'z' });
  const rows = [
    ['by identity', ([, , a]) => [a], last],
    ['a clone is the first equal message', () => [user('a')], { kept_indices: [0], dropped_indices: [1, 2, 3] }],
    ['an equal clone in another key order', () => [{ content: 'b', role: 'assistant' }], { kept_indices: [1] }],
    ['two clones are the first two', () => [user('a'), user('a')], { kept_indices: [0, 2] }],
    ['clones of all', (messages) => structuredClone(messages), { ...all, first_changed_index: null }],
    ['in another order', (messages) => messages.reverse(), { ...all, first_changed_index: 0 }],
    ['with a new message', ([a, b]) => [a, user('new'), b], { kept_indices: [0, 1], first_changed_index: 1 }],
    ['a changed message is new', ([a, b]) => [z(a), b], { kept_indices: [1], dropped_indices: [0, 2, 3] }],
    ['a changed message with its index', ([a]) => ({ messages: [z(a)], kept_indices: [2] }), last],
    ['explicit indices', ([a]) => ({ messages: [a], kept_indices: [2] }), last],
    ['dropped indices alone', ([a]) => ({ messages: [a], dropped_indices: [0, 1, 3] }), last],
    ['the reason', ([a]) => ({ messages: [a], reason: 'because' }), { kept_indices: [0], reason: 'because' }],
    ['no reason', ([a]) => ({ messages: [a], note: 1, reason: undefined }), { kept_indices: [0], reason: 'custom' }],
    ['nothing', () => [], { kept_indices: [], dropped_indices: [0, 1, 2, 3] }],
    ...[[9], [-1], [0.5], ['0'], [2, 1], [0, 1], 'x', {}, [null], [NaN], null].map((kept_indices) => [
      `${JSON.stringify(kept_indices)} are no indices`,
      ([, , , c]) => ({ messages: [c], kept_indices }),
      { kept_indices: [3] },
    ]),
  ];
  for (const [what, projector, expected] of rows) {
    const view = transcriptProject(source, custom(projector));
    for (const [field, value] of Object.entries(expected)) assert.deepEqual(view[field], value, what);
    assert.equal(view.prefix_hash, sha256(canonical(view.messages)), what);
  }
});

test('a projector that returns no messages', () => {
  const rows = [
    [undefined, 'projector()'],
    [null, 'projector()'],
    ['text', 'projector()'],
    [7, 'projector()'],
    [() => [], 'projector()'],
    [{}, 'projector().messages'],
    [{ messages: 'x' }, 'projector().messages'],
    [{ messages: null }, 'projector().messages'],
    [{ messages: [], reason: 7 }, 'projector().reason'],
    [[null], 'projector()[0]'],
    [[user('a'), 7], 'projector()[1]'],
    [[[]], 'projector()[0]'],
    [{ messages: [undefined] }, 'projector().messages[0]'],
  ];
  for (const [answer, path] of rows) {
    failure(() => transcriptProject([user('a')], custom(() => answer)), 'projector_result', path);
  }
  failure(() => transcriptProject([user('a')], custom(() => [{ role: 7 }])), 'projector_result', 'projector()[0].role');
  const cyclic = user('x');
  cyclic.self = cyclic;
  failure(() => transcriptProject([user('a')], custom(() => [cyclic])), 'invalid_message');
  assertUsable();
});

test('promises go with transcriptProjectAsync', async () => {
  const source = openai();
  const pick = (messages) => ({ messages: messages.slice(5), reason: 'picked' });
  for (const answer of [Promise.resolve(source), { then() {} }]) {
    failure(() => transcriptProject(source, custom(() => answer)), 'projector_async', 'options.projector');
  }
  const view = await transcriptProjectAsync(source, custom(async (messages) => pick(messages)));
  assert.deepEqual(view, transcriptProject(source, custom(pick)));
  assert.equal(view.messages[0], source[5]);
  const asked = [];
  const is_error = ({ tool_call_id }) => void asked.push(tool_call_id);
  await transcriptProjectAsync(source, custom(async (messages) => messages, { is_error }));
  assert.deepEqual(asked, ['c1', 'c2', 'c3', 'c4']);
  const own = new Error('mine');
  await assert.rejects(transcriptProjectAsync(source, custom(() => Promise.reject(own))), (thrown) => thrown === own);
  await assert.rejects(transcriptProjectAsync(source, custom(async () => 7)), { code: 'projector_result' });
  const from = (index) => transcriptProjectAsync(source, custom(async (messages) => messages.slice(index)));
  const both = await Promise.all([from(0), from(1)]);
  assert.deepEqual(both.map((view) => view.dropped_indices), [[], [0]]);
});

test('what a function of the caller throws comes through as it was thrown', () => {
  for (const own of [new Error('mine'), 'text', 7, null, undefined, {}, new Proxy({}, {}), Symbol('mine')]) {
    const refuse = () => {
      throw own;
    };
    assert.equal(thrownBy(() => transcriptProject(openai(), custom(refuse))), own);
    for (const policy of policies) {
      assert.equal(thrownBy(() => transcriptProject(openai(), { ...optionsOf(policy), is_error: refuse })), own);
    }
    const { event } = transcriptProject(openai(), custom((messages) => messages.slice(1)));
    assert.equal(thrownBy(() => replayProjection(openai(), event, { projector: refuse })), own);
  }
  assertUsable();
});

test('functions of the caller may project', () => {
  const inner = [];
  const view = transcriptProject(openai(), custom((messages) => {
    inner.push(transcriptProject(messages, 'clean_tool_repair').dropped_indices);
    return messages;
  }, { is_error: () => {
    inner.push(transcriptProject(openai(), 'squash_failed_calls').dropped_indices);
  } }));
  assert.deepEqual(inner.at(-1), [3]);
  assert.equal(inner.length, 5);
  assert.deepEqual(view.dropped_indices, []);
});

test('is_error decides, and is told what it decides about', () => {
  const parts = ['a', 'b'].map((text) => ({ type: 'text', text }));
  const messages = [
    user('go'),
    calls(['c1', 'emit', { v: 1 }]),
    result('c1', '{"status":"error"}', { is_error: false }),
    calls(['c2', 'emit', { v: 2 }]),
    result('c2', parts),
    assistant('ok'),
    user('next'),
  ];
  const seen = [];
  const ask = (is_error, source = messages) => transcriptProject(source, { policy: 'clean_tool_repair', is_error });
  const view = ask((info) => {
    seen.push(info);
    return info.text.includes('"error"');
  });
  assert.deepEqual(view.dropped_indices, [1, 2]);
  assert.deepEqual(view.event.metadata.is_error_verdicts, [
    { message_index: 2, block_index: null, is_error: true },
    { message_index: 4, block_index: null, is_error: false },
  ]);
  assert.equal(seen.length, 2);
  assert.equal(seen[0].message, messages[2]);
  assert.equal(seen[1].content, parts);
  const { message, content, arguments: args, ...rest } = seen[1];
  assert.deepEqual(rest, {
    tool_call_id: 'c2',
    tool_name: 'emit',
    text: 'ab',
    message_index: 4,
    block_index: null,
    is_error: false,
  });
  assert.match(JSON.stringify(args), /"?v/);

  assert.deepEqual(ask(() => undefined).dropped_indices, []);
  assert.deepEqual(ask(() => undefined).event.metadata.is_error_verdicts, undefined);
  assert.deepEqual(ask(() => false).dropped_indices, []);
  assert.deepEqual(ask(() => true).dropped_indices, []);
  assert.deepEqual(ask(({ message_index }) => (message_index === 2 ? true : undefined)).dropped_indices, [1, 2]);

  const blocks = [];
  const source = anthropic();
  ask((info) => void blocks.push(info), source);
  assert.deepEqual(
    blocks.map((info) => [info.block_index, info.tool_name, info.arguments]),
    [
      [0, 'run', {}],
      [1, 'read', { path: 'docs/old.md' }],
      [0, 'run', {}],
    ],
  );
  assert.equal(blocks[1].message, source[2]);
});

test('an is_error that answers anything else', async () => {
  for (const answer of [null, 0, 1, 'true', {}, [], Promise.resolve(true)]) {
    const options = { policy: 'squash_failed_calls', is_error: () => answer };
    failure(() => transcriptProject(openai(), options), 'invalid_option', 'options.is_error');
  }
  for (const is_error of [true, 'x', 7, {}]) {
    failure(() => transcriptProject(openai(), { policy: 'raw', is_error }), 'invalid_option', 'options.is_error');
  }
  for (const is_error of [undefined, null]) assert.equal(transcriptProject([], { is_error }).policy, 'raw');
});

// ---------------------------------------------------------------------------------------------
// The way back

test('a replay matches, and notices every change', () => {
  for (const source of [openai(), anthropic()]) {
    for (const policy of policies) {
      const view = transcriptProject({ messages: source, summary: 's' }, policy);
      const record = JSON.parse(JSON.stringify(view.event));
      const transcript = { messages: source, summary: 's', events: [record] };
      const replayed = replayProjection(transcript, record);
      assert.equal(replayed.matches, true, view.policy);
      assert.equal(replayed.source_matches, true);
      assert.deepEqual(replayed.view, view);
      // What came later is not part of the recorded prefix.
      const longer = { ...transcript, messages: [...source, assistant('x'), user('y')] };
      assert.equal(replayProjection(longer, record).matches, true);
      source.forEach((message, index) => {
        const tampered = { ...transcript, messages: source.with(index, { ...message, tampered: true }) };
        const { matches, source_matches } = replayProjection(tampered, record);
        assert.deepEqual([matches, source_matches], [false, false], `${view.policy}: ${index}`);
      });
      assert.equal(replayProjection(source.slice(1), record).matches, false);
    }
  }
});

test('a replay of other options or another record does not match', () => {
  const source = openai();
  const { event } = transcriptProject(source, 'clean_tool_repair');
  const altered = (change) => {
    const copy = structuredClone(event);
    change(copy.metadata);
    return replayProjection(source, copy).matches;
  };
  assert.equal(altered(() => {}), true);
  assert.equal(altered((metadata) => (metadata.options.policy = 'squash_failed_calls')), false);
  assert.equal(altered((metadata) => (metadata.prefix_hash = `sha256:${'0'.repeat(64)}`)), false);
  assert.equal(altered((metadata) => (metadata.source_hash = `sha256:${'0'.repeat(64)}`)), false);
  assert.equal(altered((metadata) => metadata.dropped_indices.push(1)), false);
  assert.equal(altered((metadata) => (metadata.source_count = 10)), false);
  assert.equal(altered((metadata) => (metadata.provider_safety_blocked = true)), false);
});

test('a replay without hashes has less to compare', () => {
  const source = openai();
  const view = transcriptProject(source, { policy: 'clean_tool_repair', prefix_hash: false });
  const replayed = replayProjection(source, view.event);
  assert.equal(replayed.matches, null);
  assert.equal(replayed.source_matches, null);
  assert.deepEqual(replayed.view, view);
  assert.equal(replayProjection(source.with(0, user('x')), view.event).matches, null);
  assert.equal(replayProjection(source.slice(1), view.event).matches, false);
});

test('a replay needs no is_error, and a projector only when it made messages', () => {
  const source = openai();
  const is_error = ({ tool_name }) => tool_name === 'run';
  const verdict = transcriptProject(source, { policy: 'squash_failed_calls', is_error });
  assert.equal(replayProjection(source, verdict.event).matches, true);

  const chosen = transcriptProject(source, custom((messages) => messages.filter((_, index) => index % 2)));
  const replayed = replayProjection(source, chosen.event);
  assert.equal(replayed.matches, true);
  assert.deepEqual(replayed.view, chosen);

  const shorten = (messages) => [user('short'), ...messages.slice(9)];
  const made = transcriptProject(source, custom(shorten));
  failure(() => replayProjection(source, made.event), 'replay_needs_projector', 'projector');
  assert.equal(replayProjection(source, made.event, { projector: shorten }).matches, true);
  assert.equal(replayProjection(source, made.event, { projector: (messages) => messages }).matches, false);
  failure(() => replayProjection(source, made.event, { projector: 7 }), 'invalid_option');
  const reordered = transcriptProject(source, custom((messages) => messages.toReversed()));
  failure(() => replayProjection(source, reordered.event), 'replay_needs_projector');
});

test('a pointer leads back to the raw body', () => {
  const parts = [{ type: 'text', text: long }, { type: 'image', source: { data: 'iVBORw0KGgo=' } }];
  for (const body of [long, parts, { nested: long, n: 1.5 }]) {
    const source = [calls(['c', 'read']), result('c', body), assistant('a'), user('b')];
    const [pointer] = transcriptProject(source, gc).redaction_pointers;
    const recovered = recoverRedacted({ messages: source }, JSON.parse(JSON.stringify(pointer)));
    assert.equal(recovered.verified, true);
    assert.equal(recovered.content, body);
    const tampered = source.with(1, result('c', `${long} `));
    assert.deepEqual(recoverRedacted(tampered, pointer), { content: `${long} `, verified: false });
    failure(() => recoverRedacted(source.slice(0, 1), pointer), 'pointer_not_found', 'pointer.source_index');
    failure(() => recoverRedacted(source.toReversed(), pointer), 'pointer_not_found');
  }
  const blocks = anthropic();
  const [pointer] = transcriptProject(blocks, gc).redaction_pointers;
  assert.deepEqual(recoverRedacted(blocks, pointer), { content: long, verified: true });
  // The projected view holds a line in its place.
  const view = transcriptProject(blocks, gc);
  assert.equal(recoverRedacted(view.messages, pointer).verified, false);
});

test('the update that tells a client', () => {
  const dropped = transcriptProject(openai(), 'clean_tool_repair');
  assert.deepEqual(acpUpdate('s1', dropped), {
    sessionId: 's1',
    update: {
      sessionUpdate: 'transcript_projected',
      _meta: {
        harn: {
          policy: 'clean_tool_repair',
          reason: 'clean_tool_repair',
          prefixHash: dropped.prefix_hash,
          keptCount: 10,
          droppedCount: 1,
          providerSafetyBlocked: false,
          reclaimedTokens: dropped.reclaimed_tokens,
        },
      },
    },
  });
  const raw = acpUpdate('', transcriptProject(openai(), { prefix_hash: false })).update._meta.harn;
  const always = ['droppedCount', 'keptCount', 'policy', 'prefixHash', 'providerSafetyBlocked', 'reason'];
  assert.deepEqual(Object.keys(raw).sort(), always);
  assert.equal(raw.prefixHash, null);
  const idle = acpUpdate('', transcriptProject(openai(), { ...gc, root_window: 99 })).update._meta.harn;
  assert.deepEqual(Object.keys(idle).sort(), always);
  const view = transcriptProject(openai(), { ...gc, roots: ['x'] });
  const { harn } = acpUpdate('s1', view).update._meta;
  assert.equal(harn.redactedCount, 1);
  assert.equal(harn.reclaimedTokens, view.reclaimed_tokens);
  assert.deepEqual(harn.rootsConsulted, ['last_1_messages', 'roots']);
  assert.deepEqual(harn.redactionPointers, view.redaction_pointers);
});

test('events are appended to the transcript and found again', () => {
  const transcript = { messages: openai(), events: [{ kind: 'message' }] };
  for (const policy of policies) transcript.events.push(transcriptProject(transcript, policy).event);
  const found = transcriptEventsByKind(transcript, 'transcript.projection');
  assert.deepEqual(
    found.map((event) => event.metadata.policy),
    policies.map((policy) => optionsOf(policy).policy),
  );
  found.forEach((event, index) => assert.equal(event, transcript.events[index + 1]));
  assert.equal(new Set(found.map((event) => event.id)).size, 6);
  for (const event of found) {
    assert.match(event.id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.deepEqual([event.role, event.visibility, event.text], ['system', 'internal', event.metadata.reason]);
    assert.deepEqual(event.blocks, [{ type: 'text', text: event.text, visibility: 'internal' }]);
    assert.deepEqual(JSON.parse(JSON.stringify(event)), event);
  }
  assert.deepEqual(transcriptEventsByKind(transcript, 'nothing'), []);
  // An event in the transcript is no message: the next projection is the same.
  assert.deepEqual(transcriptProject(transcript, 'clean_tool_repair').event, found[1]);
});

// ---------------------------------------------------------------------------------------------
// What is sent

// Who takes a system message inside the list, and who does not.
const takeUser = ['anthropic', 'gemini', 'bedrock'];
const takeSystem = ['openai_chat', 'openai_responses', 'mistral', 'deepseek'];

test('providers see no marks', () => {
  for (const messages of [openai(), anthropic()]) {
    for (const policy of policies) {
      const view = transcriptProject(messages, policy);
      for (const provider of [undefined, ...takeUser, ...takeSystem]) {
        const sent = providerMessages(view, provider);
        assert.equal(sent.length, view.messages.length);
        assert.doesNotMatch(JSON.stringify(sent), /_harn_projection/);
        sent.forEach((message, index) => {
          const shown = view.messages[index];
          assert.equal(message === shown, shown._harn_projection === undefined);
          if (message !== shown && !shown._harn_projection.synthetic) assert.equal(message.role, shown.role);
        });
      }
    }
  }
});

test('a summary speaks as each provider accepts it', () => {
  const options = { policy: 'summary_prefix', keep_last: 1, summary: 's' };
  const view = transcriptProject([user('a'), assistant('b'), user('c')], options);
  const role = (provider) => providerMessages(view, provider)[0].role;
  for (const provider of takeUser) assert.equal(role(provider), 'user', provider);
  for (const provider of [...takeSystem, undefined]) assert.equal(role(provider), 'system', provider);
  assert.deepEqual(providerMessages(view, 'anthropic')[0], user('s'));
  assert.equal(view.messages[0].role, 'system');
  // A real system prompt in front is not a summary.
  const behind = transcriptProject(openai(), { policy: 'summary_prefix', keep_last: 1 });
  assert.deepEqual(providerMessages(behind, 'anthropic').map((message) => message.role), ['system', 'user', 'user']);
  for (const provider of ['openai', '', 'Anthropic']) {
    failure(() => providerMessages(view, provider), 'unknown_provider', 'provider');
  }
});

test('marks that were in the source are taken off as well', () => {
  const first = transcriptProject(openai(), gc);
  const again = transcriptProject(first.messages, 'clean_tool_repair');
  assert.doesNotMatch(JSON.stringify(providerMessages(again)), /_harn_projection/);
  assert.deepEqual(providerMessages([]), []);
});

// ---------------------------------------------------------------------------------------------
// Transcript

test('a Transcript is projected as it stands, often', () => {
  const source = openai();
  const transcript = Transcript.fromObject({ messages: source, summary: 's' });
  for (let round = 0; round < 3; round += 1) {
    for (const policy of policies) {
      assert.deepEqual(transcript.project(policy), transcriptProject({ messages: source, summary: 's' }, policy));
    }
    const id = `d${round}`;
    const more = [calls([id, 'run']), result(id, 'said', round % 2 ? failed : {}), assistant('x')];
    transcript.append(more);
    source.push(...more);
    assert.equal(transcript.length, source.length);
    assert.equal(transcript.message(source.length - 1), source.at(-1));
  }
  transcript.free();
  transcript.free();
  failure(() => transcript.project(), 'freed');
});

test('a Transcript from text grows by objects', () => {
  const first = '{"content":"a","n":9007199254740993,"role":"user"}';
  const transcript = Transcript.fromJSON(`{"summary": "s", "messages": [${first}]}`);
  const more = [assistant('b'), { ...user('c'), n: 2n ** 60n, nothing: undefined }];
  transcript.append(more);
  const view = transcript.project();
  assert.equal(view.messages[1], more[0]);
  assert.equal(view.messages[2], more[1]);
  assert.equal(view.prefix_hash, sha256(`[${first},${more.map(canonical)}]`));
  assert.equal(transcript.project({ policy: 'summary_prefix', keep_last: 1 }).messages[0].content, 's');
  transcript.free();
});

test('text that is no transcript', () => {
  const rows = [
    ['', 'invalid_json', 'line 1 column 0'],
    ['[', 'invalid_json', 'line 1 column 1'],
    ['{"messages": [\n{]}', 'invalid_json', 'line 2 column 2'],
    ['[] x', 'invalid_json', 'line 1 column 4'],
    [new Uint8Array([0x5b, 0xff, 0x5d]), 'invalid_json', 'input'],
    [7, 'invalid_json', 'input'],
    [null, 'invalid_json', 'input'],
    [[1], 'invalid_json', 'input'],
    ['null', 'invalid_transcript', 'transcript'],
    ['"[]"', 'invalid_transcript', 'transcript'],
    ['{}', 'invalid_transcript', 'messages'],
    ['[null]', 'invalid_message', 'messages[0]'],
    [`${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'invalid_json'],
    [`[{"content":${'['.repeat(5000)}${']'.repeat(5000)}}]`, 'invalid_json'],
  ];
  for (const [json, code, path] of rows) failure(() => Transcript.fromJSON(json), code, path);
  assertUsable();
});
