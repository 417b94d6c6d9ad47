// Compaction as the package has it: lists of the caller's own objects, errors, tokenizers, and the worker in Node.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { PACKAGE_DIR } from './installed.mjs';

const tp = await import(pathToFileURL(join(PACKAGE_DIR, 'node_modules/transcript-projection/dist/node.js')));
const { ProjectionError, compact, compactAsync, maybeCompact, maybeCompactAsync, pruneToolResults } = tp;

const workers = [];
subscribe('worker_threads', ({ worker }) => workers.push(worker));
// One that kept the process alive would hang the run instead of failing it.
after(() => Promise.all(workers.map((worker) => worker.terminate())));

const user = (content) => ({ role: 'user', content });
const users = (count) => Array.from({ length: count }, (_, index) => user(`Message ${index + 1}`));
const call = (id) => ({ id, type: 'function', function: { name: 'run', arguments: '{}' } });
const tool = (content) => ({ role: 'tool', tool_call_id: 'c1', content });

/** Nothing of it can be changed: what tries to, throws. */
function frozen(value) {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

function assertIs(error, code, path) {
  assert(error instanceof ProjectionError, `${error}`);
  assert.deepEqual([error.code, error.path], [code, path]);
  assert.match(error.message, /^[^\n]+$/);
  return true;
}

test('the names of the seed are the same functions', () => {
  const names = ['maybeCompact', 'compactAsync', 'maybeCompactAsync', 'shouldCompact', 'pruneToolResults'];
  names.push('balanceToolCallBoundary', 'estimateTokens', 'estimateMessagesTokens');
  for (const name of names) {
    const seeds = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    assert.equal(typeof tp[name], 'function', name);
    assert.equal(tp[seeds], tp[name], seeds);
  }
});

test('the examples of the seed', async () => {
  const messages = users(20);
  assert.equal(compact(messages, 10).length, 11);
  assert.equal((await compactAsync(messages, 10)).length, 11);
  assert.equal(tp.shouldCompact(users(25), 20), true);
  assert.equal(tp.shouldCompact(users(20), 20), false);
  const old = [{ role: 'assistant', content: 'calling', tool_calls: [call('c1')] }];
  const [before, after] = tp.balanceToolCallBoundary(old, [tool('done'), user('next')]);
  assert.deepEqual([before.length, after.length], [2, 1]);
  assert.equal(tp.estimateTokens('Hello world, how are you?'), 6);
  assert.equal(tp.estimateTokens('Hello world'), 2);
  assert.equal(tp.estimateTokens('antidisestablishmentarianism'), 7);
  assert.equal(tp.estimateTokens(''), 0);
  assert.equal(tp.estimateTokens(null), 0);
  assert.equal(tp.estimateTokens(undefined), 0);
  assert.equal(tp.estimateMessagesTokens([user('Hello'), { role: 'assistant', content: 'Hi there' }]), 3);
  const [pruned] = pruneToolResults([tool('x'.repeat(20_000))]);
  assert.match(pruned.content, /bytes elided/);
  const small = [tool('ok')];
  assert.equal(pruneToolResults(small), small);
  assert.deepEqual(['你好世界', '🔥🎉💯', 'abcd'].map(tp.estimateTokens), [3, 3, 1]);
});

test('kept messages are the same objects, and nothing that is given changes', async () => {
  const messages = frozen([{ role: 'system', content: 'You are.' }, ...users(6)]);
  for (const shown of [compact(messages, 2), await compactAsync(messages, 2)]) {
    assert.equal(shown.length, 4);
    assert.equal(shown[0], messages[0]);
    assert.equal(shown[2], messages[5]);
    assert.equal(shown[3], messages[6]);
    assert.deepEqual(shown[1], {
      role: 'system',
      content: '[Compacted 4 earlier messages]\n[user] Message 1\n[user] Message 2\n[user] Message 3\n[user] Message 4',
      _harn_projection: { synthetic: true, policy: 'compact' },
    });
  }
  const sent = tp.providerMessages(compact(messages, 2), 'anthropic')[1];
  assert.deepEqual(Object.keys(sent).sort(), ['content', 'role']);
  assert.equal(sent.role, 'user');

  const block = { type: 'tool_result', tool_use_id: 'c1', content: 'l'.repeat(500), is_error: false };
  const other = { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'l'.repeat(500) }] };
  const list = frozen([user('a'), tool('l'.repeat(500)), { role: 'user', content: [block, other] }, tool('short')]);
  const pruned = pruneToolResults(list, 64);
  const short = `${'l'.repeat(32)}\n[460 bytes elided]\n${'l'.repeat(8)}`;
  assert.deepEqual(pruned, [
    list[0],
    { ...list[1], content: short },
    { role: 'user', content: [{ ...block, content: short }, other] },
    list[3],
  ]);
  assert.equal(pruned[0], list[0]);
  assert.equal(pruned[2].content[1], other);
  assert.equal(pruned[3], list[3]);
});

test('when there is nothing to do, the very same list comes back', async () => {
  const messages = users(5);
  assert.equal(compact(messages, 5), messages);
  assert.equal(await compactAsync(messages, 5), messages);
  assert.equal(maybeCompact(messages, { every: 5, keep_last: 1 }), messages);
  assert.equal(maybeCompact(messages, { every: 1, keep_last: 5 }), messages);
  const outcome = await maybeCompactAsync(messages, { every: 5, keep_last: 1 });
  assert.deepEqual([outcome.status, outcome.messages === messages], ['unchanged', true]);
  assert.equal((await maybeCompactAsync(messages, { every: 1, keep_last: 5 })).status, 'unchanged');
  assert.equal(pruneToolResults(messages, 1), messages);
  const [old, recent] = tp.balanceToolCallBoundary(messages, []);
  assert.equal(old, messages);
  assert.deepEqual(recent, []);
  const twice = compact(messages, 2);
  assert.equal(compact(twice, 2), twice);
});

test('a transcript is as good as its messages', async () => {
  const transcript = { messages: users(5), summary: 'x', events: [] };
  assert.deepEqual(compact(transcript, 2), compact(transcript.messages, 2));
  assert.deepEqual(await compactAsync(transcript, 2), compact(transcript.messages, 2));
  assert.equal(compact(transcript, 9), transcript.messages);
  assert.equal(tp.shouldCompact(transcript, 4), true);
  assert.equal(pruneToolResults(transcript), transcript.messages);
  assert.equal(tp.estimateMessagesTokens(transcript), 11);
});

test('mistakes are named', async () => {
  const messages = users(3);
  const fails = async (code, path, name, ...args) => {
    assert.throws(
      () => tp[name](...args),
      (error) => assertIs(error, code, path),
    );
    const asynchronous = tp[`${name}Async`];
    if (asynchronous) await assert.rejects(asynchronous(...args), (error) => assertIs(error, code, path));
  };
  for (const keep_last of [undefined, null, 0, -1, 1.5, '1', NaN]) {
    await fails('invalid_option', 'keep_last', 'compact', messages, keep_last);
    await fails('invalid_option', 'options.keep_last', 'maybeCompact', messages, { keep_last });
  }
  await fails('invalid_option', 'options', 'maybeCompact', messages);
  await fails('invalid_option', 'options', 'maybeCompact', messages, 7);
  for (const [name, values] of Object.entries({
    every: [0, 'x', true],
    token_budget: [0, -1, '128k'],
    threshold: [0, 1.1, '0.8', NaN],
    count_tokens: [1, 'gpt', {}],
  })) {
    for (const value of values) {
      const options = { keep_last: 1, [name]: value };
      await fails('invalid_option', `options.${name}`, 'maybeCompact', messages, options);
    }
  }
  await fails('unknown_option', 'options.keepLast', 'maybeCompact', messages, { keepLast: 1 });
  await fails('unknown_option', 'options.budget', 'maybeCompact', messages, { keep_last: 1, budget: 1 });
  await fails('invalid_option', 'threshold', 'shouldCompact', messages);
  await fails('invalid_option', 'max_result_chars', 'pruneToolResults', messages, 0);
  await fails('invalid_option', 'text', 'estimateTokens', 7);
  for (const value of [7, 'text', null, undefined]) {
    await fails('invalid_transcript', 'transcript', 'compact', value, 1);
    await fails('invalid_transcript', 'transcript', 'maybeCompact', value, { keep_last: 1 });
    for (const name of ['shouldCompact', 'pruneToolResults']) await fails('invalid_transcript', 'transcript', name, value, 1);
    await fails('invalid_transcript', 'transcript', 'balanceToolCallBoundary', value, []);
    await fails('invalid_transcript', 'transcript', 'balanceToolCallBoundary', [], value);
    await fails('invalid_transcript', 'transcript', 'estimateMessagesTokens', value);
  }
  await fails('invalid_transcript', 'messages', 'compact', { messages: 7 }, 1);
  await fails('invalid_message', 'messages[1]', 'compact', [user('a'), 7, user('b')], 1);
  await fails('invalid_message', 'messages[1]', 'compact', [user('a'), undefined, user('b')], 1);
  const count_tokens = (text) => text.length;
  const counting = { token_budget: 1, keep_last: 1, count_tokens };
  await fails('invalid_message', 'messages[1].role', 'maybeCompact', [user('a'), { role: 7 }], counting);
  await assert.rejects(compactAsync(messages, 1, 'done'), (error) => assertIs(error, 'invalid_option', 'callback'));
});

test('a tokenizer decides instead of the estimate', async () => {
  const messages = [
    user([{ type: 'text', text: 'one' }, { type: 'image_url', image_url: { url: 'data:' } }]),
    { role: 'assistant', content: 'two', tool_calls: [call('c1')] },
    tool('three'),
    user('four'),
  ];
  for (const run of [
    async (options) => maybeCompact(messages, options) !== messages,
    async (options) => (await maybeCompactAsync(messages, options)).status === 'compacted',
  ]) {
    const seen = [];
    const counting = (each) => ({
      token_budget: 100,
      keep_last: 1,
      count_tokens: (text) => {
        seen.push(text);
        return each;
      },
    });
    assert.equal(await run(counting(20)), false); // 80 of 100 is not above 80 %
    assert.deepEqual(seen.splice(0), ['one', 'two', 'three', 'four']);
    assert.equal(await run(counting(20.3)), true);
    assert.equal(await run({ ...counting(20), threshold: 0.7 }), true);
    assert.equal(await run({ ...counting(0), count_tokens: undefined, token_budget: 3 }), true); // 15 bytes
    assert.equal(await run({ ...counting(0), count_tokens: undefined, token_budget: 4 }), false);
    seen.length = 0;
    assert.equal(await run({ ...counting(0), every: 3 }), true);
    assert.equal(await run({ ...counting(9), token_budget: undefined }), false);
    assert.deepEqual(seen, [], 'nothing to count for');

    const own = new Error('mine');
    const throwing = () => {
      throw own;
    };
    await assert.rejects(run({ ...counting(0), count_tokens: throwing }), (error) => error === own);
    for (const answer of [undefined, -1, NaN, Infinity, '7', Promise.resolve(7)]) {
      await assert.rejects(run(counting(answer)), (error) => assertIs(error, 'invalid_option', 'options.count_tokens'));
    }
  }
});

test('a slow tokenizer leaves room for others', async () => {
  const messages = users(30);
  const count_tokens = () => {
    const until = performance.now() + 4;
    while (performance.now() < until);
    return 1;
  };
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  const { status } = await maybeCompactAsync(messages, { token_budget: 10, keep_last: 2, count_tokens });
  clearInterval(timer);
  assert.equal(status, 'compacted');
  assert(ticks >= 5, `${ticks} ticks`);
});

test('pruning keeps strings well-formed and what a reader sees as one character whole', () => {
  const segmenter = new Intl.Segmenter();
  const pieces = ['a', 'é', 'e\u0301', '👩🏽‍🚀', '❤️', '🇩🇪', '7️⃣', '\r\n', ' ', 'क्षि', 'ก็', '각', 'ᄀ', 'ᅡ', '中', '\u200d', '\u0301'];
  const text = fc.array(fc.constantFrom(...pieces), { minLength: 50, maxLength: 200 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 60 }), (content, max) => {
      const [{ content: short }] = pruneToolResults([tool(content)], max);
      assert(short.isWellFormed());
      if (short === content) return;
      const [, head, elided, tail] = /^([^]*)\n\[(\d+) bytes elided\]\n([^]*)$/.exec(short);
      assert.equal(Buffer.byteLength(head + tail) + Number(elided), Buffer.byteLength(content));
      const starts = new Set([...segmenter.segment(content)].map(({ index }) => index).concat(content.length));
      assert(content.startsWith(head) && starts.has(head.length));
      assert(content.endsWith(tail) && starts.has(content.length - tail.length));
      const again = pruneToolResults([tool(short)], max);
      assert.equal(again[0].content, short);
    }),
    { numRuns: 300 },
  );
});

test('callbacks get what the promise gives', async () => {
  const messages = users(5);
  const got = [];
  const compacted = await compactAsync(messages, 2, (list) => got.push(list));
  assert.deepEqual(got.splice(0), [compacted]);
  const outcome = await maybeCompactAsync(messages, { every: 4, keep_last: 2 }, (value) => got.push(value));
  assert.equal(outcome.status, 'compacted');
  assert.equal(got[0], outcome);
  const own = new Error('mine');
  const throwing = () => {
    throw own;
  };
  await assert.rejects(compactAsync(messages, 2, throwing), (error) => error === own);
});

/** Messages of about so many megabytes. */
function messagesOf(megabytes) {
  const text = 'lorem ipsum dolor sit amet, '.repeat(180);
  const count = Math.ceil((megabytes * 1e6) / text.length);
  return Array.from({ length: count }, (_, index) => ({
    role: index % 2 ? 'assistant' : 'user',
    content: [{ type: 'text', text: `${index} ${text}` }],
  }));
}

/** The longest time for which no timer fired, in milliseconds, and how many fired. */
async function longestGap(run) {
  let last = performance.now();
  let longest = 0;
  let ticks = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    ticks += 1;
  }, 1);
  const result = await run();
  clearInterval(timer);
  return { result, ticks, longest: Math.max(longest, performance.now() - last) };
}

test('the calling thread stays responsive while 50 MB compact', async (t) => {
  const messages = messagesOf(50);
  const options = { token_budget: 1_000_000, keep_last: 10 };
  const gaps = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    const { result, ticks, longest } = await longestGap(() => maybeCompactAsync(messages, options));
    assert.equal(result.status, 'compacted');
    assert.equal(result.messages.at(-1), messages.at(-1));
    gaps.push(longest);
    assert(ticks >= 20, `${ticks} ticks`);
  }
  t.diagnostic(`longest gaps: ${gaps.map((gap) => gap.toFixed(1)).join(', ')} ms`);
  // Other tests run beside this one: one undisturbed attempt is enough.
  assert(Math.min(...gaps) < 50, `${gaps}`);
});

test('one worker does all jobs, also at once', async () => {
  await compactAsync(users(3), 1);
  const before = workers.length;
  const lists = Array.from({ length: 20 }, (_, index) => [...users(index + 5), ...messagesOf(0.5)]);
  const results = await Promise.all(lists.map((list) => compactAsync(list, 3)));
  results.forEach((result, index) => assert.deepEqual(result, compact(lists[index], 3)));
  assert.equal(workers.length, before);
  assert.equal(before, 1);
});

test('the list may grow meanwhile', async () => {
  const messages = users(9);
  const source = [...messages];
  const pending = compactAsync(messages, 2);
  messages.push(user('new'));
  messages.shift();
  assert.deepEqual(await pending, compact(source, 2));
});

test('what is larger than a slice arrives whole', async () => {
  const { Assembly, slicesOf } = await import(pathToFileURL(join(PACKAGE_DIR, 'node_modules/transcript-projection/dist/slices.js')));
  const large = fc.constantFrom('x', '中', '\ud83d\ude00', '\ud800').map((text) => text.repeat(300_000));
  const leaf = fc.oneof(fc.json().map(JSON.parse), fc.constant(undefined), { arbitrary: large, weight: 2 });
  const name = fc.oneof(fc.string(), fc.constant('__proto__'));
  const fields = fc.dictionary(name, leaf, { noNullPrototype: true });
  const list = fc.array(fc.oneof(leaf, fc.array(leaf), fields));
  fc.assert(
    fc.property(list, (messages) => {
      const assembly = new Assembly();
      for (const slice of slicesOf(messages)) {
        assert(JSON.stringify(slice).length < 4e6);
        assembly.take(structuredClone(slice));
      }
      assert.deepEqual(assembly.messages, messages);
    }),
    { numRuns: 20 },
  );
});

test('messages that no worker can get are compacted all the same', async () => {
  class Turn {
    role = 'user';
    get content() {
      return 'of a class';
    }
  }
  const own = new Error('mine');
  const hostile = Object.defineProperty({ role: 'user' }, 'content', {
    enumerable: true,
    get() {
      throw own;
    },
  });
  for (const message of [new Turn(), { ...user('a'), render() {} }, { ...user('b'), at: new Date(0) }, new Proxy(user('c'), {})]) {
    const messages = [...messagesOf(1), message, ...users(3)];
    assert.deepEqual(await compactAsync(messages, 2), compact(messages, 2));
  }
  assert.match((await compactAsync([new Turn(), ...users(1)], 1))[0].content, /of a class/);
  await assert.rejects(compactAsync([hostile, ...users(3)], 1), (error) => error === own);
});

test('a worker that dies is replaced, and its jobs are done', async () => {
  const messages = messagesOf(20);
  const pending = [compactAsync(messages, 3), compactAsync(messages, 5)];
  await new Promise((done) => setTimeout(done, 5));
  await workers.at(-1).terminate();
  const results = await Promise.all(pending);
  assert.deepEqual(results.map((list) => list.length), [4, 6]);
  const before = workers.length;
  assert.equal((await compactAsync(users(9), 2)).length, 3);
  assert.equal((await compactAsync(users(9), 2)).length, 3);
  assert.equal(workers.length, before + 1);
});

function runNode(args, options = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: PACKAGE_DIR,
    encoding: 'utf8',
    timeout: 20_000,
    ...options,
  });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return stdout.trim();
}

const USES = `
  const messages = Array.from({ length: 9 }, (_, index) => ({ role: 'user', content: String(index) }));
  compactAsync(messages, 2).then((list) => console.log(list.length));`;
const IMPORT = `import { compactAsync } from 'transcript-projection';${USES}`;

test('a program waits for its jobs and then ends', () => {
  assert.equal(runNode(['--input-type=module', '-e', IMPORT]), '3');
  const required = `const { compactAsync } = require('transcript-projection');${USES}`;
  assert.equal(runNode(['--input-type=commonjs', '-e', required]), '3');
  const awaited = `import { compactAsync } from 'transcript-projection';
    const messages = Array.from({ length: 9 }, () => ({ role: 'user', content: 'x' }));
    console.log((await compactAsync(messages, 2)).length, (await compactAsync(messages, 3)).length);`;
  assert.equal(runNode(['--input-type=module', '-e', awaited]), '3 4');
});

test('without workers: ./inline, and one file made by a bundler', async (t) => {
  assert.equal(runNode(['--input-type=module', '-e', IMPORT.replace("projection'", "projection/inline'")]), '3');
  const { build } = await import('esbuild');
  const folder = mkdtempSync(join(PACKAGE_DIR, 'project-'));
  const elsewhere = mkdtempSync(join(tmpdir(), 'transcript-projection-'));
  for (const made of [folder, elsewhere]) t.after(() => rmSync(made, { recursive: true, force: true }));
  writeFileSync(join(folder, 'main.js'), IMPORT);
  for (const [format, name] of [['esm', 'out.mjs'], ['cjs', 'out.cjs']]) {
    const outfile = join(elsewhere, name);
    const files = { entryPoints: [join(folder, 'main.js')], outfile };
    await build({ ...files, format, bundle: true, platform: 'node', logLevel: 'error' });
    assert.equal(runNode([outfile], { cwd: elsewhere }), '3');
  }
});
