// The cases of the shapes, through the package: live objects and JSON text are read as the crate reads its own values.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { entry } from './installed.mjs';

const { Transcript, providerMessages, recoverRedacted, transcriptProject } = await import(entry);

const fixtures = new URL('../tests/fixtures/shapes/', import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, fixtures), 'utf8'));
const listOf = (transcript) => transcript.messages ?? transcript.contents ?? transcript.input ?? transcript;

for (const { id, transcript, options, expect } of read('cases.json')) {
  test(id, () => {
    const view = transcriptProject(transcript, options);
    for (const [field, value] of Object.entries(expect)) assert.deepEqual(view[field], value, field);
    const parsed = Transcript.fromJSON(JSON.stringify(transcript));
    assert.deepEqual(parsed.project(options), view);
    parsed.free();
    const changed = [...view.trimmed_indices, ...view.redacted_indices, ...view.stripped_indices];
    const shown = view.messages.filter((message) => !message._harn_projection?.synthetic);
    view.kept_indices.forEach((source, at) => {
      if (!changed.includes(source)) assert.equal(shown[at], listOf(transcript)[source]);
    });
  });
}

for (const name of readdirSync(fixtures).filter((name) => name !== 'cases.json')) {
  test(`${name}: a body comes back, and marks go`, () => {
    const transcript = read(name);
    const view = transcriptProject(transcript, { policy: 'reachability_gc', root_window: 3, min_chars: 100 });
    assert.equal(view.redacted_count, 1);
    assert.equal(recoverRedacted(transcript, view.redaction_pointers[0]).verified, true);
    assert.doesNotMatch(JSON.stringify(providerMessages(view)), /_harn_projection/);
  });
}

test('Bedrock: neighbours of one role are joined, and binary parts survive it', () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const image = { image: { format: 'png', source: { bytes } } };
  const messages = [
    { role: 'user', content: [{ text: 'q' }] },
    { role: 'assistant', content: [{ text: 'a' }] },
    { role: 'user', content: [image] },
  ];
  const view = transcriptProject(messages, { policy: 'summary_prefix', keep_last: 1, summary: 'Before.' });
  const [sent, ...rest] = providerMessages(view, 'bedrock');
  assert.deepEqual(rest, []);
  assert.deepEqual(sent.content[0], { text: 'Before.' });
  assert.equal(sent.content[1], image);
});

test('LangChain: live messages are read as the JSON that they say they are, and kept ones stay the same objects', () => {
  const calls = (...ids) =>
    new AIMessage({ content: '', tool_calls: ids.map((id) => ({ id, name: 'read', args: { path: id }, type: 'tool_call' })) });
  const answer = (id, content, status) => new ToolMessage({ tool_call_id: id, name: 'read', content, status });
  const messages = [
    new HumanMessage('go'),
    calls('a', 'b'),
    answer('a', 'no such file', 'error'),
    answer('b', 'text'),
    calls('c'),
    answer('c', 'text'),
    new AIMessage('done'),
  ];
  const view = transcriptProject(messages, 'clean_tool_repair');
  assert.deepEqual([view.trimmed_indices, view.dropped_indices], [[1], [2]]);
  const [first, trimmed, ...rest] = providerMessages(view);
  assert.deepEqual([first, ...rest], [0, 3, 4, 5, 6].map((index) => messages[index]));
  assert.ok(rest.every((message, at) => message === messages[at + 3]));
  // A plain object in LangChain's own JSON: nothing of the call is left in it, wherever it was written.
  assert.doesNotMatch(JSON.stringify(trimmed), /"a"/);
  assert.deepEqual(trimmed.kwargs.tool_calls.map(({ id }) => id), ['b']);
  assert.equal(trimmed.tool_calls, undefined);
  assert.deepEqual(transcriptProject(JSON.parse(JSON.stringify(messages)), 'clean_tool_repair').prefix_hash, view.prefix_hash);
});
