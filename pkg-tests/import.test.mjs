// Session files through the installed package: whole and in pieces, out again byte for byte, and what files say of their
// results in the policies. What each format means is tested in Rust (tests/import).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { PACKAGE_DIR, entry } from './installed.mjs';

const tp = await import(entry);
const { Importer, Transcript, detectFormat, exportMessages, importFormats, importTranscript, transcriptProject } = tp;

const bytesOf = (text) => new TextEncoder().encode(text);
const textOf = (bytes) => new TextDecoder().decode(bytes);
const jsonl = (...lines) => lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');

/** A session of Claude Code's: each message hangs on the one before. */
let last = null;
const first = (line) => {
  last = null;
  return next(line);
};
const next = (line) => {
  const uuid = last === null ? 'u0' : `u${Number(last.slice(1)) + 1}`;
  const full = { uuid, parentUuid: last, sessionId: 's', ...line };
  last = uuid;
  return full;
};
const says = (content) => ({ type: 'user', message: { role: 'user', content } });
const calls = (id, name, input) => ({
  type: 'assistant',
  message: { id: `m-${id}`, role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
});
const answers = (id, content, { line = {}, block = {} } = {}) => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, ...block }] },
  ...line,
});
const replies = (text) => ({ type: 'assistant', message: { id: 'm-end', role: 'assistant', content: text } });

/** `run` fails as its first call did in the file; later it succeeds. */
const session = (...failure) =>
  jsonl(
    first(says('Run the tests – bitte.')),
    next(calls('t1', 'run', { cmd: 'tset' })),
    next(answers('t1', ...failure)),
    next(calls('t2', 'run', { cmd: 'test' })),
    next(answers('t2', '12 passed')),
    next(replies('All pass. 🎉')),
  );

test('in pieces, of bytes or of text, a file is what it is as a whole', () => {
  const text = `\ufeff${session('boom', { block: { is_error: true } })}\n\n42\n{"type":"user","mess`;
  const whole = described(importTranscript(text));
  assert.equal(whole.stats.messages, 6);
  assert.deepEqual(whole.warnings.map(({ code }) => code), ['not_an_object', 'truncated']);
  const bytes = bytesOf(text);
  assert.equal(whole.stats.bytes, bytes.length);
  assert.deepEqual(described(importTranscript(bytes)), whole);
  const kinds = [Buffer.from(bytes), bytes.slice().buffer, new DataView(bytes.slice().buffer)];
  for (const kind of kinds) assert.deepEqual(described(importTranscript(kind)), whole);
  for (const size of [1, 2, 3, 7, 64, 100_000]) {
    const pieces = { bytes: [], text: [] };
    for (let at = 0; at < bytes.length; at += size) pieces.bytes.push(bytes.subarray(at, at + size));
    const characters = [...text];
    for (let at = 0; at < characters.length; at += size) pieces.text.push(characters.slice(at, at + size).join(''));
    for (const [kind, list] of Object.entries(pieces)) {
      const importer = new Importer();
      for (const piece of list) importer.push(piece);
      assert.deepEqual(described(importer.finish()), whole, `${kind} by ${size}`);
    }
  }
});

/** All that a result says, with the messages as they are written. */
function described({ transcript, ...rest }) {
  const messages = exportMessages(transcript.project('raw'), 'jsonl');
  transcript.free();
  return { ...rest, messages };
}

test('a JSON document in pieces, pretty-printed, with a byte order mark', () => {
  const document = `\ufeff${JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Grüße' }] }, null, 2)}\n`;
  const whole = importTranscript(document);
  assert.deepEqual(whole.transcript.messages, [{ role: 'user', content: 'Grüße' }]);
  assert.equal(whole.source[0].path, 'messages[0]');
  const { start, end } = whole.source[0];
  assert.deepEqual(JSON.parse(textOf(bytesOf(document).subarray(start, end))), whole.transcript.message(0));
  const importer = new Importer();
  for (const byte of bytesOf(document)) importer.push(Uint8Array.of(byte));
  assert.deepEqual(described(importer.finish()), described(importTranscript(document)));
});

// What JSON.parse and JSON.stringify would change.
const SPELLINGS = {
  'integers beyond 2^53': '9007199254740993',
  'integers beyond 64 bits': '123456789012345678901234567890',
  'minus zero': '-0',
  'a small exponent': '1e-7',
  'a capital exponent with a plus': '1E+5',
  'trailing zeros': '1.50',
  'a number no float can hold': '1e400',
  'key order of numbers': '{"10":1,"9":2,"b":3,"a":4}',
  'keys that are there twice': '{"a":1,"a":2}',
  'a key named __proto__': '{"__proto__":{"x":1},"constructor":2}',
  'escapes that need not be': '"\\u0041\\/\\u00e9\\ud83d\\ude00"',
  'half of a surrogate pair': '"cut \\ud83d"',
  'line separators': '"\u2028\u2029\u0085"',
  'white space between': '[ 1 ,\t2 ]',
  'nested empties': '[[],{},"",null,true]',
};

for (const [what, spelled] of Object.entries(SPELLINGS)) {
  test(`comes out as it was spelled: ${what}`, () => {
    const call = `{"type":"tool_use","id":"t1","name":"run","input":{"it":${spelled}}}`;
    const kept = `{"role":"assistant","content":[${call}]}`;
    const lines = [
      '{"role":"user","content":"go"}',
      kept,
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}',
    ];
    const messages = (view) => exportMessages(view, 'jsonl').trimEnd().split('\n');
    // As a document, as lines, and inside the envelope of a session file.
    const document = importTranscript(`{"model":"m","messages":[${lines}]}`);
    assert.deepEqual(messages(document.transcript.project('raw')), lines);
    assert.equal(exportMessages(document.transcript.project('raw')), `[${lines}]`);
    assert.deepEqual(messages(importTranscript(lines.join('\n')).transcript.project('raw')), lines);
    assert.deepEqual(messages(Transcript.fromJSON(`[${lines}]`).project('raw')), lines);
    const envelope = (line, index) =>
      `{"type":"${index === 1 ? 'assistant' : 'user'}","uuid":"u${index}","sessionId":"s","message":${line}}`;
    const claude = importTranscript(lines.map(envelope).join('\n'));
    assert.equal(claude.format, 'claude_code');
    assert.ok(messages(claude.transcript.project('raw'))[1].includes(call));
  });
}

test('a message that loses a part keeps the spelling of the rest', () => {
  const [failing, working] = ['f', 'w'].map((id) => `{"type":"tool_use","id":"${id}","name":"${id}","input":{"n":1e-7,"z":-0}}`);
  const result = (id, more) => `{"type":"tool_result","tool_use_id":"${id}","content":"x","big":9007199254740993${more}}`;
  const text = jsonl(
    '{"role":"user","content":"go"}',
    `{"role":"assistant","z":1.0,"content":[${failing},${working}],"a":{"k":1,"k":2}}`,
    `{"role":"user","content":[${result('f', ',"is_error":true')},${result('w', '')}]}`,
    '{"role":"assistant","content":[{"type":"tool_use","id":"f2","name":"f","input":{}}]}',
    '{"role":"user","content":[{"type":"tool_result","tool_use_id":"f2","content":"ok"}]}',
    '{"role":"assistant","content":"done"}',
  );
  const { transcript } = importTranscript(text);
  const view = transcript.project('clean_tool_repair');
  assert.deepEqual(view.trimmed_indices, [1, 2]);
  const lines = exportMessages(view, 'jsonl').split('\n');
  assert.equal(lines[1], `{"role":"assistant","z":1.0,"content":[${working}],"a":{"k":1,"k":2}}`);
  assert.equal(lines[2], `{"role":"user","content":[${result('w', '')}]}`);
  assert.equal(lines[5], '{"role":"assistant","content":"done"}'.slice(0, lines[5].length));
});

test('what is sent is what the view holds, for every policy, with a provider too', () => {
  const { transcript } = importTranscript(session('boom '.repeat(200), { block: { is_error: true } }));
  for (const options of [
    'raw',
    'clean_tool_repair',
    'squash_failed_calls',
    { policy: 'summary_prefix', keep_last: 2, summary: 'Ran "tests".\n' },
    { policy: 'reachability_gc', root_window: 1, min_chars: 5 },
  ]) {
    const view = transcript.project(options);
    for (const provider of [undefined, 'anthropic', 'openai_chat']) {
      const sent = tp.providerMessages(view, provider);
      assert.deepEqual(JSON.parse(exportMessages(view, 'json', provider)), sent);
      const lines = exportMessages(view, 'jsonl', provider).trimEnd().split('\n');
      assert.deepEqual(lines.map((line) => JSON.parse(line)), sent);
    }
  }
  // A projector's messages are objects; those of the transcript among them are too.
  const custom = transcript.project({ policy: 'custom', projector: (all) => [...all.slice(3), { role: 'user', content: 'x' }] });
  assert.deepEqual(JSON.parse(exportMessages(custom)), custom.messages);
  assert.equal(exportMessages([], 'jsonl'), '');
  assert.equal(exportMessages([]), '[]');
  assert.equal(exportMessages([{ role: 'user', content: 'a\nb' }], 'jsonl'), '{"role":"user","content":"a\\nb"}\n');
});

test('line breaks between the fields of a message go, in lines', () => {
  const pretty = JSON.stringify([{ role: 'user', content: 'two\nlines' }, { role: 'assistant', content: 'n' }], null, 2);
  const view = importTranscript(pretty.replaceAll('\n', '\r\n')).transcript.project('raw');
  const lines = exportMessages(view, 'jsonl').split('\n');
  assert.equal(lines.length, 3);
  assert.deepEqual(JSON.parse(lines[0]), { role: 'user', content: 'two\nlines' });
});

test('messages are the same objects each time, in views too', () => {
  const { transcript } = importTranscript(session('boom', { block: { is_error: true } }));
  const view = transcript.project('clean_tool_repair');
  assert.equal(view.messages[0], transcript.message(0));
  assert.equal(view.messages[1], transcript.message(3));
  assert.equal(transcript.messages[0], transcript.message(0));
  assert.equal(transcriptProject(transcript, 'raw').messages[0], transcript.message(0));
  const custom = transcript.project({ policy: 'custom', projector: (all) => all.slice(1) });
  assert.equal(custom.messages[0], transcript.message(1));
  assert.deepEqual(custom.kept_indices, [1, 2, 3, 4, 5]);
});

test('a Transcript of a file can grow', () => {
  const { transcript } = importTranscript(session('boom', { block: { is_error: true } }));
  const added = { role: 'user', content: 'Thanks.', z: 1, a: 2 };
  transcript.append([added]);
  assert.equal(transcript.length, 7);
  assert.equal(transcript.message(6), added);
  const lines = exportMessages(transcript.project('raw'), 'jsonl').trimEnd().split('\n');
  assert.equal(lines[6], JSON.stringify(added));
});

test('the hash of a file is that of its messages', () => {
  const { transcript } = importTranscript(session('boom', { block: { is_error: true } }));
  assert.equal(transcript.project('raw').prefix_hash, transcriptProject(transcript.messages, 'raw').prefix_hash);
});

// How the first call ended; what the policies may make of it.
const ENDS = [
  { what: 'a flag of the block', content: 'boom', block: { is_error: true }, hidden: true, outcome: null },
  { what: 'an error element in the text', content: '<tool_use_error>boom</tool_use_error>', hidden: true, outcome: { is_error: true, refused: false, inferred: true } },
  { what: 'an error text beside the message', content: 'boom', line: { toolUseResult: 'Error: boom' }, hidden: true, outcome: { is_error: true, refused: false, inferred: true } },
  { what: 'a refusal by a flag', content: 'No.', block: { is_error: true }, line: { toolDenialKind: 'user-rejected' }, hidden: false, outcome: { is_error: false, refused: true, inferred: false } },
  { what: 'a refusal by its text', content: "The user doesn't want to proceed with this tool use. Stop.", block: { is_error: true }, hidden: false, outcome: { is_error: false, refused: true, inferred: true } },
  { what: 'a success', content: 'fine', hidden: false, outcome: null },
];

for (const { what, content, line, block, hidden, outcome } of ENDS) {
  test(`what a file says of a result decides: ${what}`, () => {
    const { transcript, outcomes, stats } = importTranscript(session(content, { line, block }));
    if (outcome === null) assert.deepEqual(outcomes, []);
    else {
      assert.equal(outcomes.length, 1);
      const { because, ...rest } = outcomes[0];
      assert.notEqual(because, '');
      assert.deepEqual(rest, { message_index: 2, block_index: 0, tool_call_id: 't1', ...outcome });
    }
    assert.equal(stats.failed_results, hidden ? 1 : 0);
    assert.equal(stats.refused_calls, outcome?.refused ? 1 : 0);
    assert.equal(stats.inferred_failures, outcome?.is_error && outcome.inferred ? 1 : 0);
    for (const policy of ['clean_tool_repair', 'squash_failed_calls']) {
      const view = transcript.project(policy);
      assert.deepEqual(view.dropped_indices, hidden ? [1, 2] : [], policy);
      // The event has all it takes: the messages alone do, later.
      for (const again of [transcript, transcript.messages, { messages: JSON.parse(exportMessages(transcript.messages)) }]) {
        const replay = tp.replayProjection(again, JSON.parse(JSON.stringify(view.event)));
        assert.deepEqual([replay.matches, replay.source_matches], [true, true], policy);
        assert.deepEqual(replay.view.dropped_indices, view.dropped_indices);
      }
    }
    // The caller has the last word.
    const all = transcript.project({ policy: 'squash_failed_calls', is_error: () => true });
    const none = transcript.project({ policy: 'squash_failed_calls', is_error: () => false });
    assert.ok(all.dropped_count > 0);
    assert.equal(none.dropped_count, 0);
  });
}

test('a Transcript stands wherever a transcript does', () => {
  const { transcript } = importTranscript(session('boom '.repeat(200)));
  const view = transcript.project({ policy: 'reachability_gc', root_window: 1, min_chars: 5 });
  assert.equal(view.redacted_count, 2);
  const [pointer] = view.redaction_pointers;
  assert.deepEqual(tp.recoverRedacted(transcript, pointer), { content: 'boom '.repeat(200), verified: true });
  assert.equal(tp.replayProjection(transcript, view.event).matches, true);
  assert.deepEqual(tp.validateMessages(transcript, 'anthropic'), transcript.validate('anthropic'));
  assert.deepEqual(tp.compact(transcript, 2), tp.compact(transcript.messages, 2));
  assert.equal(tp.estimateMessagesTokens(transcript), tp.estimateMessagesTokens(transcript.messages));
});

test('what the model does not see comes with view "all", marked', () => {
  const lines = [
    first(says('One.')),
    next(replies('Or two?')),
    { ...replies('Aside.'), uuid: 's1', isSidechain: true, agentId: 'agent-7', sessionId: 's' },
    { ...says('No, three.'), uuid: 'u9', parentUuid: 'u0', sessionId: 's' },
  ];
  const model = importTranscript(jsonl(...lines));
  assert.deepEqual(model.transcript.messages.map(({ content }) => content), ['One.', 'No, three.']);
  assert.deepEqual(model.stats.kinds, { abandoned: 1, 'sidechain:agent-7': 1 });
  const all = importTranscript(jsonl(...lines), { view: 'all' });
  assert.deepEqual(
    all.source.map(({ line, branch, sidechain }) => [line, branch, sidechain]),
    [[1, undefined, undefined], [2, 'abandoned', undefined], [3, undefined, 'agent-7'], [4, undefined, undefined]],
  );
});

test('a file of several transcripts: the first, or which one is wanted', () => {
  const text = jsonl(...['a', 'b', 'c'].map((content) => ({ messages: [{ role: 'user', content }] })));
  const contents = (options) => {
    const { transcript, warnings } = importTranscript(text, options);
    return [transcript.messages.map(({ content }) => content), warnings.map(({ code }) => code)];
  };
  assert.deepEqual(contents(), [['a'], ['several_transcripts']]);
  assert.deepEqual(contents({ transcript: 2 })[0], ['c']);
  assert.deepEqual(contents({ transcript: 3 }), [[], ['no_such_transcript']]);
});

test('source leads back to the bytes of each message', () => {
  const text = `\ufeff\r\n${session('ü').replaceAll('\n', '\r\n')}`;
  const bytes = bytesOf(text);
  const { source, transcript } = importTranscript(bytes);
  assert.deepEqual(source.map(({ line }) => line), [2, 3, 4, 5, 6, 7]);
  source.forEach(({ start, end, id }, index) => {
    const line = JSON.parse(textOf(bytes.subarray(start, end)));
    assert.equal(line.uuid, id);
    assert.deepEqual(line.message.content, transcript.message(index).content);
  });
});

test('a format that is named is the one that is read', () => {
  assert.equal(importTranscript('[{"role":"user","content":"x"}]', { format: 'anthropic' }).format, 'anthropic');
  assert.equal(importTranscript('[{"role":"user","content":"x"}]', { format: 'auto', view: null }).format, 'openai_chat');
  for (const { format, title } of importFormats()) {
    assert.match(format, /^[a-z][a-z_]*$/);
    assert.notEqual(title, '');
  }
});

test('detectFormat says what and why, from the start of a file of lines', () => {
  const text = session('boom');
  const found = detectFormat(bytesOf(text).subarray(0, text.indexOf('\n') + 40));
  const { reason, title, ...rest } = found;
  assert.deepEqual(rest, { format: 'claude_code', confidence: 'certain' });
  assert.match(reason, /uuid/);
  assert.equal(title, importFormats().find(({ format }) => format === 'claude_code').title);
  const { transcript, ...whole } = importTranscript(text);
  for (const [name, value] of Object.entries(found)) assert.equal(whole[name], value);
});

const deep = (depth) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
const WRONG = [
  ['an empty file', () => importTranscript(''), 'empty_file'],
  ['white space', () => importTranscript(bytesOf('\ufeff \r\n\n')), 'empty_file'],
  ['nothing but NUL bytes', () => importTranscript(new Uint8Array(20)), 'empty_file'],
  ['a ZIP archive', () => importTranscript(Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0)), 'unsupported_file'],
  ['a gzip file', () => detectFormat(Uint8Array.of(0x1f, 0x8b, 8, 0)), 'unsupported_file'],
  ['a database', () => detectFormat('SQLite format 3\0...'), 'unsupported_file'],
  ['an unknown document', () => importTranscript('{"name":"thing","version":1}'), 'unknown_format', /name, version/],
  ['plain words', () => importTranscript('Dear diary'), 'unknown_format'],
  ['a broken document', () => importTranscript('{\n"messages": [\n{"role": "user",}\n]}'), 'invalid_json', /line 3/],
  ['no file at all', () => importTranscript(), 'invalid_json', /text or bytes/],
  ['a list of numbers', () => detectFormat([91, 93]), 'invalid_json', /text or bytes/],
  ['a number as a piece', () => new Importer().push(7), 'invalid_json', /text or bytes/],
  ['a format that is not known', () => importTranscript('[]', { format: 'word' }), 'invalid_option', /options\.format.*claude_code.*"word"/],
  ['a format of the wrong type', () => new Importer({ format: 7 }), 'invalid_option', /options\.format/],
  ['a view that does not exist', () => importTranscript('[]', { view: 'raw' }), 'invalid_option', /options\.view.*"all"/],
  ['an option that does not exist', () => importTranscript('[]', { fromat: 'auto' }), 'unknown_option', /options\.fromat.*format, view, transcript/],
  ['a transcript that is no index', () => importTranscript('[]', { transcript: -1 }), 'invalid_option', /options\.transcript.*from 0/],
  ['a transcript beyond any file', () => importTranscript('[]', { transcript: 2 ** 40 }), 'invalid_option', /options\.transcript/],
  ['options that are none', () => importTranscript('[]', 'claude_code'), 'invalid_option', /options/],
  ['an export that does not exist', () => exportMessages([], 'yaml'), 'invalid_option', /format.*"jsonl"/],
  ['an unknown provider', () => exportMessages([], 'json', 'openai'), 'unknown_provider'],
  ['a message too deep for JSON.stringify', () => exportMessages([{}, deep(20_000)]), 'invalid_message', /messages\[1\]/],
  ['a big integer, which JSON.stringify refuses', () => exportMessages([{ n: 1n }]), 'invalid_message', /messages\[0\]/],
  ['no view', () => exportMessages(null), 'invalid_transcript'],
];

for (const [what, run, code, message = /./] of WRONG) {
  test(`refused: ${what}`, () => {
    assert.throws(run, (error) => {
      assert.ok(error instanceof tp.ProjectionError, error.stack);
      assert.equal(error.code, code, error.message);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /\n/);
      return true;
    });
  });
}

test('an importer that has finished, failed or was freed is of no more use', () => {
  const freed = { name: 'ProjectionError', code: 'freed' };
  const finished = new Importer();
  finished.push('[{"role":"user","content":"x"}]');
  assert.equal(finished.finish().transcript.length, 1);
  const failed = new Importer();
  assert.throws(() => failed.finish(), { code: 'empty_file' });
  const given = new Importer();
  given.free();
  for (const importer of [finished, failed, given]) {
    importer.free();
    assert.throws(() => importer.push('x'), freed);
    assert.throws(() => importer.finish(), freed);
  }
});

test('a view outlives its Transcript, but for its exact text', () => {
  const { transcript } = importTranscript(session('boom'));
  const view = transcript.project('raw');
  transcript.free();
  assert.equal(view.messages.length, 6);
  assert.throws(() => exportMessages(view), { name: 'ProjectionError', code: 'freed' });
  assert.equal(JSON.parse(exportMessages(view.messages)).length, 6);
});

test('a view of what the Transcript was is written as it was', () => {
  const { transcript } = importTranscript(session('boom'));
  const view = transcript.project('raw');
  const before = exportMessages(view);
  transcript.append([{ role: 'user', content: 'more' }]);
  assert.equal(exportMessages(view), before);
});

test('bytes are not kept: they may change after the call', () => {
  const bytes = bytesOf('[{"role":"user","content":"keep"}]');
  const importer = new Importer();
  importer.push(bytes);
  bytes.fill(0x20);
  const { transcript } = importer.finish();
  assert.deepEqual(transcript.messages, [{ role: 'user', content: 'keep' }]);
});

// In a process of its own: the entries share what is loaded.
test('the inline entry imports once it is given the importers, which are a file of their own', () => {
  const code = `
    import { readFileSync } from 'node:fs';
    import { importTranscript, initImport } from 'transcript-projection/inline';
    const read = () => importTranscript('[{"role":"user","content":"x"}]').transcript.length;
    try { read(); } catch ({ code, message }) { console.log(code, /initImport/.test(message)); }
    const file = import.meta.resolve('transcript-projection/importers.wasm');
    await initImport(readFileSync(new URL(file)));
    console.log(read());`;
  const args = ['--input-type=module', '--eval', code];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: PACKAGE_DIR, encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(stdout, 'not_initialized true\n1\n');
});
