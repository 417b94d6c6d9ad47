// What a provider would refuse: the verdicts through the package, and the command.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { PACKAGE_DIR } from './installed.mjs';

const entry = createRequire(join(PACKAGE_DIR, 'package.json')).resolve('transcript-projection');
const { ProjectionError, Transcript, providerMessages, transcriptProject, validateMessages, validate_messages } =
  await import(pathToFileURL(entry));
const command = join(PACKAGE_DIR, 'node_modules/.bin/transcript-projection');
const vectors = JSON.parse(readFileSync(new URL('../tests/fixtures/provider-rules.json', import.meta.url), 'utf8'));

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'transcript-projection-validate-'));
});
after(() => rmSync(folder, { recursive: true }));

function run(args, input = '') {
  const env = { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined };
  return spawnSync(command, args, { cwd: folder, input, env, encoding: 'utf8' });
}

function validate(content, ...args) {
  return run(['validate', '-', ...args], typeof content === 'string' ? content : JSON.stringify(content));
}

const rules = (violations) => violations.map(({ rule }) => rule);

const USER = { role: 'user', content: 'Run the tests.' };
const CALL = { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'bash', input: { cmd: 'npm test' } }] };
const RESULT = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: '12 passed' }] };
const ANSWER = { role: 'assistant', content: 'All pass.' };

test('all collected verdicts, of live objects and of text', () => {
  assert.equal(vectors.length, 102);
  for (const { id, provider, messages, valid, rule, params, original_messages } of vectors) {
    const [name, strict_template] =
      { bedrock_converse: ['bedrock'], openai_compat_strict_template: ['openai_chat', true] }[provider] ?? [provider];
    const request = { ...params, strict_template, original_messages };
    const found = validateMessages(messages, name, request);
    if (valid) assert.deepEqual(found, [], id);
    else assert(found.some((violation) => violation.rule === rule && violation.severity === 'error'), id);
    const transcript = Transcript.fromJSON(JSON.stringify({ messages }));
    assert.deepEqual(transcript.validate(name, request), found, id);
    transcript.free();
  }
});

test('a violation says where, what, and how bad it is', () => {
  assert.equal(validate_messages, validateMessages);
  const [violation, ...others] = validateMessages([USER, CALL, USER], 'anthropic');
  assert.deepEqual(others, []);
  const { message, ...rest } = violation;
  assert.deepEqual(rest, { rule: 'ANT-PAIR-1', index: 1, block: 0, severity: 'error' });
  assert.match(message, /t1 \(bash\)/);
  const messages = [USER, ANSWER];
  assert.deepEqual(validateMessages(messages, 'anthropic')[0].severity, 'warning');
  assert.deepEqual(validateMessages(messages, 'openai_chat'), []);
});

test('a request is read whole: its list under any of its names, and what rules need', () => {
  const messages = [USER, ANSWER];
  const request = { model: 'claude-opus-4-8', max_tokens: 8, system: 'Be brief.', messages };
  assert.deepEqual(rules(validateMessages(request, 'anthropic')), ['ANT-ROLE-6']);
  assert.deepEqual(rules(validateMessages(messages, 'anthropic', request)), ['ANT-ROLE-6']);
  assert.equal(validateMessages(request, 'anthropic')[0].severity, 'error');
  assert.deepEqual(validateMessages(request, 'anthropic', { model: 'claude-sonnet-4-5' }), []);
  // What is given beside it goes before, field by field.
  assert.equal(validateMessages(request, 'anthropic', { thinking: { type: 'adaptive' } })[0].severity, 'error');
  assert.deepEqual(validateMessages({ model: 'gpt-5.4', input: 'Run the tests.' }, 'openai_responses'), []);
  assert.deepEqual(rules(validateMessages({ input: ' ' }, 'mistral')), ['empty_message']);
  const contents = [{ role: 'user', parts: [] }];
  assert.deepEqual(rules(validateMessages({ contents }, 'gemini')), ['GEM-ROLE-1']);
  // What Google's SDK takes for `contents`, each with what is found in it.
  const spoken = { role: 'user', parts: [{ text: 'Run the tests.' }] };
  for (const [given, found] of [
    ['Run the tests.', []],
    [{ text: 'Run the tests.' }, []],
    [spoken, []],
    [['Run the tests.', { text: 'Now.' }], []],
    [[spoken], []],
    [{ role: 'user', parts: [] }, ['GEM-ROLE-1']],
    [[{ role: 'user' }], ['GEM-ROLE-1']],
    [[], ['empty_list']],
  ]) {
    const before = structuredClone(given);
    assert.deepEqual(rules(validateMessages({ contents: given }, 'gemini')), found, JSON.stringify(given));
    assert.deepEqual(given, before);
  }
  for (const given of [7, [spoken, 'Now.'], ['Now.', 7]]) {
    assert.throws(() => validateMessages({ contents: given }, 'gemini'), ProjectionError, JSON.stringify(given));
  }
  const input = [{ type: 'function_call', call_id: 'c1', name: 'bash', arguments: '{}' }];
  assert.deepEqual(rules(validateMessages({ input }, 'openai_responses')), ['OAR-PAIR-2']);
});

test('mistakes of no one provider', () => {
  assert.deepEqual(rules(validateMessages([], 'mistral')), ['empty_list']);
  const half = 'cut inside an emoji \ud83c';
  const bodies = [half, [{ type: 'text', text: half }], [{ type: 'tool_result', tool_use_id: 't1', content: half }]];
  for (const content of bodies) {
    assert(rules(validateMessages([{ role: 'user', content }], 'anthropic')).includes('lone_surrogate'));
  }
  const transcript = Transcript.fromJSON(`[{"role":"user","content":"\\ud83c"}]`);
  assert.deepEqual(rules(transcript.validate('anthropic')), ['lone_surrogate']);
  transcript.free();
  const itself = { role: 'user', content: [] };
  itself.content.push({ type: 'text', text: 'x', itself });
  assert.deepEqual(rules(validateMessages([itself], 'openai_chat')), ['too_deep']);
});

test('marks are a mistake until providerMessages takes them off', () => {
  const view = transcriptProject([USER, ANSWER, USER], { policy: 'summary_prefix', keep_last: 1 });
  assert(rules(validateMessages(view.messages, 'anthropic')).includes('projection_mark'));
  assert.deepEqual(validateMessages(providerMessages(view, 'anthropic'), 'anthropic'), []);
});

test('what is no message, no provider, no request is an error that says so', () => {
  const codeOf = (run) => {
    try {
      run();
    } catch (error) {
      assert(error instanceof ProjectionError);
      return [error.code, error.path];
    }
  };
  assert.deepEqual(codeOf(() => validateMessages([USER, 7], 'anthropic')), ['invalid_message', 'messages[1]']);
  assert.deepEqual(codeOf(() => validateMessages('x', 'anthropic')), ['invalid_transcript', 'transcript']);
  assert.deepEqual(codeOf(() => validateMessages([USER], 'openai')), ['unknown_provider', 'provider']);
  assert.deepEqual(codeOf(() => validateMessages([USER])), ['unknown_provider', 'provider']);
  assert.deepEqual(codeOf(() => validateMessages([USER], 'mistral', { model: 7 })), ['invalid_option', 'request.model']);
  assert.deepEqual(codeOf(() => validateMessages({ messages: [USER] }, 'mistral', 7)), ['invalid_option', 'request']);
  assert.deepEqual(codeOf(() => validateMessages({ messages: [USER] }, 'mistral', [])), ['invalid_option', 'request']);
  for (const content of [7, null, undefined, [null], [[]], {}, [{ type: 7 }], () => {}, Symbol('x'), 10n]) {
    for (const provider of ['anthropic', 'openai_chat', 'openai_responses', 'gemini', 'bedrock', 'mistral', 'deepseek']) {
      const role = provider === 'gemini' ? 'model' : 'assistant';
      validateMessages([USER, { role, content, parts: content, tool_calls: content }, USER], provider);
    }
  }
});

test('what a getter throws comes out as it is', () => {
  const wrong = new Error('no');
  const message = {
    role: 'user',
    get content() {
      throw wrong;
    },
  };
  assert.throws(() => validateMessages([message], 'anthropic'), wrong);
});

test('the command: a line a violation and the totals; 0 when nothing is refused, 1 when something is', () => {
  const good = validate([USER, CALL, RESULT], '--provider', 'anthropic');
  assert.deepEqual([good.stdout, good.stderr, good.status], ['anthropic: nothing to refuse in 3 messages\n', '', 0]);
  const bad = validate([USER, CALL, USER], '--provider', 'anthropic');
  assert.equal(bad.status, 1);
  assert.equal(bad.stderr, '');
  assert.match(bad.stdout, /^1\.0 {2}error +ANT-PAIR-1 {2}call t1 \(bash\) is not answered in the next message$/m);
  assert.match(bad.stdout, /\n\nanthropic: 1 error in 3 messages\n$/);
  assert(bad.stdout.split('\n').every((line) => line.length <= 80));
  // A message is wrapped, never cut.
  const long = { ...CALL, content: [{ ...CALL.content[0], name: 'a_tool_with_a_name_that_takes_room' }] };
  const wrapped = validate([USER, long, USER], '--provider', 'anthropic').stdout;
  assert.match(wrapped, /is not\n +answered in the next message\n/);
  const warned = validate([USER, ANSWER], '--provider', 'anthropic');
  assert.match(warned.stdout, /1 warning in 2 messages/);
  assert.equal(warned.status, 0);
});

test('the command: --json, --model, requests and JSONL', () => {
  const { stdout, status } = validate([USER, CALL, USER], '--provider', 'anthropic', '--json');
  assert.deepEqual([rules(JSON.parse(stdout)), status], [['ANT-PAIR-1'], 1]);
  assert.deepEqual(JSON.parse(validate([USER, CALL, RESULT], '--provider', 'anthropic', '--json').stdout), []);
  assert.equal(validate([USER, ANSWER], '--provider', 'anthropic', '--model', 'claude-opus-4-8').status, 1);
  const request = { model: 'claude-opus-4-8', system: [{ type: 'text', text: 'Be brief.' }], messages: [USER, ANSWER] };
  assert.equal(validate(request, '--provider', 'anthropic').status, 1);
  assert.equal(validate(request, '--provider', 'anthropic', '--model', 'claude-sonnet-4-5').status, 0);
  const contents = [{ role: 'user', parts: [{ text: 'Run the tests.' }] }];
  assert.equal(validate({ contents }, '--provider', 'gemini').stdout, 'gemini: nothing to refuse in 1 message\n');
  writeFileSync(join(folder, 'chat.jsonl'), [USER, CALL, RESULT].map((message) => JSON.stringify(message)).join('\n'));
  assert.equal(run(['validate', 'chat.jsonl', '--provider', 'anthropic']).status, 0);
});

test('the command: each request of a log or a batch, with the fields that it has', () => {
  const opus = { model: 'claude-opus-4-8', messages: [USER, ANSWER] };
  const sonnet = { model: 'claude-sonnet-4-5', messages: [USER, CALL, RESULT] };
  const gemini = { model: 'gemini-3-pro-preview', contents: [{ role: 'user', parts: [{ text: 'a' }] }] };
  const unsigned = { ...gemini, contents: [...gemini.contents, { role: 'model', parts: [{ functionCall: { name: 'x', args: {} } }] }] };
  const bedrock = { modelId: 'anthropic.claude-opus-4-7', messages: [{ role: 'user', content: [{ text: 'a' }] }, { role: 'assistant', content: [{ text: 'b' }] }] };
  const openai = { model: 'gpt-5.4', input: [{ type: 'function_call', call_id: 'c1', name: 'x', arguments: '{}' }] };
  const stored = { ...openai, input: [{ type: 'function_call_output', call_id: 'c1', output: 'x' }], previous_response_id: 'r1' };
  const chat = { model: 'gpt-6-astra', messages: [USER] };
  const lines = (...entries) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  for (const [provider, file, found] of [
    ['anthropic', lines(opus, sonnet), [[0, 1, '', 'ANT-ROLE-6']]],
    ['anthropic', lines({ request: sonnet }, { request: opus }), [[1, 2, 'request', 'ANT-ROLE-6']]],
    ['anthropic', lines({ note: 'x' }, { request: { body: sonnet } }, {}, { request: { body: opus } }), [[1, 4, 'request.body', 'ANT-ROLE-6']]],
    ['anthropic', [sonnet, opus], [[1, null, '[1]', 'ANT-ROLE-6']]],
    ['anthropic', { requests: [{ custom_id: 'a', params: sonnet }, { custom_id: 'b', params: opus }] }, [[1, null, 'requests[1].params', 'ANT-ROLE-6']]],
    ['anthropic', lines({ custom_id: 'a', params: opus }), [[0, null, 'params', 'ANT-ROLE-6']]],
    ['anthropic', lines({ custom_id: 'a', params: sonnet }), []],
    ['openai_responses', lines({ body: openai }, { body: stored }), [[0, 1, 'body', 'OAR-PAIR-2']]],
    ['openai_responses', lines({ request: { model: 'gpt-5.4', input: 'Run.' } }, { request: openai }), [[1, 2, 'request', 'OAR-PAIR-2']]],
    ['openai_chat', lines(chat, { ...chat, messages: [USER, { role: 'assistant', content: null, tool_calls: [] }] }), [
      [1, 2, '', 'OAC-ROLE-3'], [1, 2, '', 'OAC-PAIR-4'],
    ]],
    ['gemini', lines({ request: gemini }, { request: unsigned }), [[1, 2, 'request', 'GEM-SIG-1'], [1, 2, 'request', 'GEM-PAIR-1']]],
    ['bedrock', lines({ ...bedrock, modelId: 'amazon.nova-pro' }, bedrock), [[1, 2, '', 'ANT-ROLE-6']]],
  ]) {
    const { stdout, stderr, status } = validate(file, '--provider', provider, '--json');
    const violations = JSON.parse(stdout);
    const places = violations.map(({ request, line, path, rule }) => [request, line, path, rule]);
    const name = `${JSON.stringify(file)}: ${stdout}${stderr}`;
    assert.deepEqual(places.toSorted(), found.toSorted(), name);
    assert.equal(status, violations.some(({ severity }) => severity === 'error') ? 1 : 0, name);
  }
  const log = lines({ request: opus }, { note: 'x' }, { request: sonnet }, { request: opus });
  const all = validate(log, '--provider', 'anthropic');
  assert.match(all.stdout, /^request 0 \(line 1, request\)\n.*\n1 +error .*\n\nrequest 2 \(line 4, request\)\n/);
  assert.match(all.stdout, /anthropic: 2 errors in 2 of 3 requests\n$/);
  assert.equal(all.stderr, 'transcript-projection: warning: <stdin>: 1 without a request\n');
  assert.equal(validate(log, '--provider', 'anthropic', '--model', 'claude-sonnet-4-5').status, 0);
  const one = validate(log, '--provider', 'anthropic', '--transcript', '1');
  assert.deepEqual([one.stdout, one.status], ['anthropic: nothing to refuse in 1 request\n', 0]);
  const none = validate(log, '--provider', 'anthropic', '--transcript', '3');
  assert.match(none.stderr, /--transcript 3: expected a request from 0 to 2/);
  assert.deepEqual([none.stdout, none.status], ['', 1]);
  const wrong = validate(lines({ request: sonnet }, { request: { ...opus, model: 7 } }), '--provider', 'anthropic');
  assert.match(wrong.stdout, /^request 1 \(line 2, request\)\n.*\n0 +error +invalid_option +model: expected a string/);
  assert.match(wrong.stdout, /anthropic: 1 error in 1 of 2 requests\n$/);
  for (const [file, status] of [
    [`\uFEFF${JSON.stringify(opus)}`, 1],
    [`\uFEFF${lines({ request: opus }, { request: sonnet })}`, 1],
    [`\0${JSON.stringify(opus)}\0\0`, 1],
    [lines({ request: { messages: [USER, 7] } }, { request: sonnet }), 1],
  ]) {
    const { stdout, stderr } = validate(file, '--provider', 'anthropic');
    assert.match(stdout, / 1 error in /, JSON.stringify(file) + stderr);
    assert.equal(stderr.includes('without a request'), false);
  }
});

test('the command: text of the transcript cannot act on the terminal', () => {
  const call = { type: 'tool_use', id: '\x1b[2Jx', name: '\u202ebash', input: {} };
  const { stdout } = validate([USER, { role: 'assistant', content: [call] }, USER], '--provider', 'anthropic');
  assert.match(stdout, /ANT-PAIR-1/);
  assert.doesNotMatch(stdout, /[\x1b\u202e]/);
});

test('the command: bad input is 1, wrong usage is 2', () => {
  for (const [result, status, pattern] of [
    [validate('{"messages":', '--provider', 'anthropic'), 1, /<stdin>:1: is not valid JSON/],
    [validate('[7]', '--provider', 'anthropic'), 1, /is of no known format: it is JSON that is an array/],
    [validate([USER, 7], '--provider', 'anthropic'), 1, /<stdin>: messages\[1\]: expected an object, found a number/],
    [validate({ messages: [null, USER] }, '--provider', 'mistral'), 1, /messages\[0\]: expected an object, found nothing/],
    [validate({ contents: [{ role: 'user', parts: [{ text: 'a' }] }, 'b'] }, '--provider', 'gemini'), 1, /messages\[1\]/],
    [validate({ model: 7, messages: [USER] }, '--provider', 'anthropic'), 1, /<stdin>: model: expected a string/],
    [run(['validate', 'none.json', '--provider', 'anthropic']), 1, /no such file/],
    [validate([USER]), 2, /needs a --provider/],
    [validate([USER], '--provider', 'openai'), 2, /provider: expected one of/],
    [validate([USER], '--provider', 'anthropic', '--policy', 'raw'), 2, /validate has no option --policy/],
    [run(['project', '-', '--provider', 'anthropic'], '[]'), 2, /project has no option --provider/],
    [run(['validate', '--provider', 'anthropic']), 2, /validate takes one FILE/],
  ]) {
    assert.equal(result.stdout, '');
    assert.match(result.stderr, pattern);
    assert.match(result.stderr, /^transcript-projection: .*\n$/);
    assert.equal(result.status, status, result.stderr);
  }
});
