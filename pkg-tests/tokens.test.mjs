// The estimates by script, against a tokenizer and at their edges. The aims are those that docs/tokens.md states.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { HALVES, errors, measure, samples, table } from '../benches/corpus/measure.mjs';
import { PACKAGE_DIR } from './installed.mjs';

const tp = await import(createRequire(join(PACKAGE_DIR, 'package.json')).resolve('transcript-projection'));
const { estimateMessagesTokensByScript, estimateTokensByScript, ProjectionError } = tp;
const bytesByFour = (text) => Math.floor(Buffer.byteLength(text) / 4);

test('the corpus is what the aims ask for', () => {
  const kinds = new Set(samples().map(({ kind }) => kind));
  assert(kinds.size >= 10);
  for (const kind of kinds) {
    const all = samples().filter((sample) => sample.kind === kind);
    assert(all.length >= 5, kind);
    for (const half of HALVES) assert.equal(all.filter((sample) => sample.half === half).length, all.length / 2, kind);
  }
  for (const { text, title } of samples()) {
    assert(text.length >= 300 && text.length <= 1500, `${title}: ${text.length}`);
  }
});

for (const half of HALVES) {
  test(`${half}: less than 12 % off in the mean, no kind more than 25 %`, () => {
    const { rows } = measure(half, [estimateTokensByScript, bytesByFour]);
    assert(rows.length >= 10);
    const ours = errors(rows, 0);
    assert(ours.mean < 12, `mean ${ours.mean}`);
    assert(ours.worst < 25, `worst ${ours.worst}`);
    assert(ours.mean < errors(rows, 1).mean / 3);
  });

  test(`${half}: the table in docs/tokens.md is this build's`, () => {
    const docs = readFileSync(new URL('../docs/tokens.md', import.meta.url), 'utf8');
    assert(docs.includes(table(half, [estimateTokensByScript, bytesByFour])), 'run `node benches/tokens.mjs`');
  });
}

test('text is text', () => {
  assert.equal(estimateTokensByScript(''), 0);
  assert.equal(estimateTokensByScript('Hello world'), 2);
  assert.equal(tp.estimate_tokens_by_script, estimateTokensByScript);
  for (const wrong of [undefined, null, 7, {}, ['Hello'], new String('Hello')]) {
    assert.throws(
      () => estimateTokensByScript(wrong),
      (error) => error instanceof ProjectionError && error.code === 'invalid_option' && error.path === 'text',
    );
  }
  // Half a surrogate pair is a character that is not known.
  assert(estimateTokensByScript('\ud83d') <= 3);
});

test('messages: text, calls, results, and media by their kind', () => {
  const image = (length) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(length)}` } });
  const look = { name: 'look', arguments: '{"zoom":2}' };
  const messages = (length) => [
    { role: 'user', content: [{ type: 'text', text: 'What is this?' }, image(length)] },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: look }] },
    { role: 'tool', tool_call_id: 'c1', content: 'A lighthouse.' },
  ];
  const parts = ['What is this?', 'look', '{"zoom":2}', 'A lighthouse.'].map(estimateTokensByScript);
  const expected = 765 + parts.reduce((sum, tokens) => sum + tokens, 0);
  const estimate = estimateMessagesTokensByScript(messages(100));
  assert(Math.abs(estimate - expected) <= 1, `${estimate} against ${expected}`);
  assert.equal(estimateMessagesTokensByScript(messages(100_000)), estimate);
  assert.equal(estimateMessagesTokensByScript({ messages: messages(1) }), estimate);
  assert.equal(estimateMessagesTokensByScript([]), 0);
  assert.equal(tp.estimate_messages_tokens_by_script, estimateMessagesTokensByScript);
  assert.throws(() => estimateMessagesTokensByScript('Hello'), ProjectionError);
  assert.throws(() => estimateMessagesTokensByScript([7]), { path: 'messages[0]' });
});

test('what a getter throws comes out', () => {
  const thrown = new Error('mine');
  const message = {
    role: 'user',
    get content() {
      throw thrown;
    },
  };
  assert.throws(
    () => estimateMessagesTokensByScript([message]),
    (error) => error === thrown,
  );
});

test('a megabyte takes no time to speak of', () => {
  const [prose] = samples().filter(({ kind }) => kind === 'english');
  const text = prose.text.repeat(Math.ceil(1e6 / prose.text.length));
  estimateTokensByScript(text);
  const start = performance.now();
  estimateTokensByScript(text);
  assert(performance.now() - start < 500);
});
