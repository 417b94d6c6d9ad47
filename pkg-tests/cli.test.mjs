// The command as npm installs it: what it reads, prints, and how it fails.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { PACKAGE_DIR } from './installed.mjs';

const command = join(PACKAGE_DIR, 'node_modules/.bin/transcript-projection');

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'transcript-projection-cli-'));
});
after(() => rmSync(folder, { recursive: true }));

/** Runs the command; output is no terminal, so it is 80 columns wide and has no colour. */
function run(args, { input = '', env = {} } = {}) {
  const inherited = { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined };
  return spawnSync(command, args, { cwd: folder, input, env: { ...inherited, ...env }, encoding: 'utf8' });
}

function project(content, ...args) {
  return run(['project', '-', ...args], { input: typeof content === 'string' ? content : JSON.stringify(content) });
}

function file(name, content) {
  writeFileSync(join(folder, name), content);
  return name;
}

/** A failure is one line on standard error that begins with the name of the command. */
function assertFails({ status, stdout, stderr }, code, pattern) {
  assert.equal(stdout, '');
  assert.match(stderr, /^transcript-projection: .*\n$/);
  assert.match(stderr.slice('transcript-projection: '.length), pattern);
  assert.equal(status, code);
}

const call = (id, name, args) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } });
const REPAIRED = [
  { role: 'user', content: 'Run the tests.' },
  { role: 'assistant', content: null, tool_calls: [call('c1', 'bash', { cmd: 'npm tset' })] },
  { role: 'tool', tool_call_id: 'c1', content: 'Error: Unknown command: "tset"' },
  { role: 'assistant', content: null, tool_calls: [call('c2', 'bash', { cmd: 'npm test' })] },
  { role: 'tool', tool_call_id: 'c2', content: '12 passed' },
  { role: 'assistant', content: 'All pass.' },
];
const PARALLEL = [
  REPAIRED[0],
  {
    role: 'assistant',
    content: '',
    tool_calls: [call('c1', 'bash', { cmd: 'npm tset' }), call('c2', 'read', { path: 'a' })],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'Error: Unknown command: "tset"' },
  { role: 'tool', tool_call_id: 'c2', content: 'text' },
  { role: 'assistant', content: '', tool_calls: [call('c3', 'bash', { cmd: 'npm test' })] },
  { role: 'tool', tool_call_id: 'c3', content: '12 passed' },
  { role: 'assistant', content: 'All pass.' },
];
const STALE = [
  REPAIRED[0],
  { role: 'assistant', content: '', tool_calls: [call('c1', 'read', { path: 'src/old.rs' })] },
  { role: 'tool', tool_call_id: 'c1', content: 'fn f() {}\n'.repeat(100) },
  { role: 'assistant', content: 'Read it.' },
  { role: 'user', content: 'Now something else.' },
];
const SIGNED = [
  REPAIRED[0],
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
      { type: 'tool_use', id: 't1', name: 'bash', input: { cmd: 'npm tset' } },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'boom', is_error: true }] },
  { role: 'assistant', content: [{ type: 'tool_use', id: 't2', name: 'bash', input: { cmd: 'npm test' } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't2', content: 'ok' }] },
  { role: 'assistant', content: 'done' },
];

test('a row a message: index, role, status, preview, why; then the totals', () => {
  const { stdout, stderr, status } = project(REPAIRED, '--policy', 'clean_tool_repair');
  assert.equal(stderr, '');
  assert.equal(status, 0);
  const lines = stdout.split('\n');
  assert.match(lines[0], /^# +role +status +message +why$/);
  assert.match(lines[1], /^0 +user +kept +Run the tests\.$/);
  assert.match(lines[2], /^1 +assistant +dropped +→ bash\(\{"cmd":"npm tset"\}\) +later success at 3$/);
  assert.match(lines[3], /^2 +tool +dropped +Error: Unknown command: "tset" +later success at 3$/);
  assert.match(lines[6], /^5 +assistant +kept +All pass\.$/);
  assert.match(stdout, /^totals +4 kept, 2 dropped$/m);
  assert.match(stdout, /^saved +\d+ characters, about \d+ tokens$/m);
  assert.match(stdout, /^reason +clean_tool_repair$/m);
  assert.match(stdout, /^guard +passed: nothing signed was changed$/m);
  assert.match(stdout, /^hash +sha256:[0-9a-f]{64}$/m);
});

test('every status has its word and its reason', () => {
  const repair = project(PARALLEL, '--policy', 'clean_tool_repair').stdout;
  assert.match(repair, /^1 .* trimmed .* without bash: later success at 4$/m);
  const stale = project(STALE, '--policy', 'reachability_gc', '--root-window', '1').stdout;
  assert.match(stale, /^2 +tool +redacted .* 1000 characters, unreachable$/m);
  assert.match(stale, /^totals +5 kept \(1 redacted\), 0 dropped$/m);
  const summary = project(REPAIRED, '--policy', 'summary_prefix', '--keep-last', '1', '--summary', 'Tests ran.').stdout;
  assert.match(summary, /^0 .* dropped .* behind the summary$/m);
  assert.match(summary, /^\+ +system +summary +Tests ran\. +stands for the 5 dropped\n5 +assistant +kept/m);
  assert.match(summary, /^totals +1 kept, 5 dropped, 1 summary put in$/m);
});

test('the signature guard says that it refused, and why', () => {
  const { stdout } = project(SIGNED, '--policy=clean_tool_repair');
  assert.match(stdout, /^totals +6 kept, 0 dropped$/m);
  assert.match(stdout, /^guard +BLOCKED, so nothing is hidden: signed reasoning at index 1$/m);
  assert.match(stdout, /^reason +clean_tool_repair \(blocked: signed reasoning at index 1\)$/m);
  const preview = project(SIGNED, '--policy=clean_tool_repair', '--no-respect-provider-signatures').stdout;
  assert.match(preview, /^totals +4 kept, 2 dropped$/m);
  assert.match(preview, /^guard +signatures not respected/m);
});

test('reads a transcript, a request, a list, JSONL, one message', () => {
  const lines = REPAIRED.map((message) => JSON.stringify(message));
  const same = [
    REPAIRED,
    { _type: 'transcript', version: 2, messages: REPAIRED, events: [] },
    { model: 'm', messages: REPAIRED },
    `\ufeff${JSON.stringify(REPAIRED, null, 2)}`,
    lines.join('\n'),
    `\ufeff\n${lines.join('\r\n\r\n')}\r\n\r\n`,
  ].map((content) => project(content, '--policy', 'clean_tool_repair').stdout);
  assert.match(same[0], /^totals +4 kept, 2 dropped$/m);
  assert.deepEqual(same, same.map(() => same[0]));
  assert.match(project(lines[0]).stdout, /^totals +1 kept/m);
  assert.match(project([]).stdout, /^totals +0 kept/m);
  assert.match(project({ system: 'Be brief.', messages: REPAIRED }).stdout, /^system +a prompt beside the messages/m);
  const session = file('session.jsonl', lines.join('\n'));
  assert.equal(run(['project', session, '--policy', 'clean_tool_repair']).stdout, same[0]);
});

test('--json prints the view, with the digits of big integers in the hash', () => {
  const view = JSON.parse(project(REPAIRED, '--policy', 'clean_tool_repair', '--json').stdout);
  assert.deepEqual(view.dropped_indices, [1, 2]);
  assert.deepEqual(view.messages[1], REPAIRED[3]);
  assert.equal(view.event.kind, 'transcript.projection');
  const hashOf = (content) => JSON.parse(project(content, '--json').stdout).prefix_hash;
  assert.notEqual(
    hashOf('[{"role":"user","content":"x","n":9007199254740993}]'),
    hashOf('[{"role":"user","content":"x","n":9007199254740992}]'),
  );
});

test('a projector and a failure detector from modules', () => {
  const projector = file(
    'projector.mjs',
    'export default async (all) => [all[0], { role: "user", content: "new" }, ...all.slice(3)];',
  );
  const { stdout } = project(REPAIRED, '--projector', projector);
  assert.match(stdout, /^1 .* dropped .* not returned by the projector$/m);
  assert.match(stdout, /^\+ +user +added +new +made by the projector$/m);
  const detector = file('detector.mjs', 'export default (result) => result.text === "12 passed";');
  assert.match(project(REPAIRED, '--policy=squash_failed_calls', '--is-error', detector).stdout, /^3 .* dropped/m);
  const broken = file('broken.mjs', 'export default () => { throw new Error("my own\\nmistake"); };');
  assertFails(project(REPAIRED, '--projector', broken), 1, /^<stdin>: my own mistake$/m);
  const none = file('none.mjs', 'export const a = 1;');
  assertFails(project(REPAIRED, '--projector', none), 2, /default export is no function/);
  assertFails(project(REPAIRED, '--projector', 'missing.mjs'), 2, /missing\.mjs/);
});

test('every option of the engine has a flag', () => {
  const types = join(PACKAGE_DIR, 'node_modules/transcript-projection/dist/index.d.ts');
  const { stdout: help } = run(['--help']);
  const fields = ['Common', 'CleanToolRepair', 'SummaryPrefix', 'ReachabilityGc', 'Custom'];
  for (const name of fields) {
    const interfaceOf = new RegExp(`^export interface ${name}(Options|Fields)\\b[^]*?^}`, 'm');
    const [body] = interfaceOf.exec(readFileSync(types, 'utf8'));
    for (const [, option] of body.matchAll(/^ {2}readonly (\w+)/gm)) {
      const flag = option.replaceAll('_', '-');
      assert.match(help, new RegExp(`--(\\[no-\\])?${flag} `.replace(' ', '\\s')));
    }
  }
});

test('the engine knows every flag', () => {
  const args = [
    ['--signature-scope', 'prefix'], ['--on-signature-conflict', 'skip'], ['--reason', 'r'],
    ['--no-prefix-hash'], ['--no-protect-open-turn'],
    ['--repair-match', 'target'], ['--keep-last', '1'], ['--summary', 's'], ['--summary-role', 'user'],
    ['--keep-newest-user'], ['--root-window', '1'], ['--recent-messages', '1'], ['--min-chars', '1'],
    ['--roots', '["a"]'], ['--active-plan', 'plain text'], ['--scratchpad', '{"a": 1}'], ['--pending-tool-args', '1'],
    ['--unresolved-findings', 'null'], ['--require-write-barrier'], ['--write-barrier', 'true'],
    ['--write-barrier-refs', '"a"'], ['--barrier-refs', '[]'], ['--respect-provider-signatures'],
  ];
  for (const policy of ['raw', 'clean_tool_repair', 'squash_failed_calls', 'summary_prefix', 'reachability_gc']) {
    const { status, stderr } = project(STALE, '--policy', policy, ...args.flat());
    assert.equal(stderr, '');
    assert.equal(status, 0);
  }
});

test('wrong usage: exit code 2', () => {
  const name = file('good.json', JSON.stringify(REPAIRED));
  for (const [args, pattern] of [
    [[], /what is to be done/],
    [['show', name], /no command "show"/],
    [['project'], /takes one FILE/],
    [['project', name, name], /takes one FILE/],
    [['project', name, '--keep-lst', '3'], /no option --keep-lst/],
    [['project', name, '--keep-last'], /--keep-last needs a value/],
    [['project', name, '--keep-last', '-1'], /--keep-last needs a value/],
    [['project', name, '--keep-last=-1'], /--keep-last takes a whole number, not "-1"/],
    [['project', name, '--json=1'], /--json/],
    [['project', name, '--roots', '{"a'], /--roots is not valid JSON/],
    [['project', name, '--policy', 'clean'], /--policy.*"clean_tool_repair"/],
    [['project', name, '--summary-role', 'tool'], /--summary-role.*"developer"/],
    [['project', name, '--policy', 'custom'], /--projector/],
    [['project', name, '--format', 'word'], /^--format: expected one of auto, .*, found "word"$/m],
    [['project', name, '--transcript', 'x'], /--transcript takes a whole number, not "x"/],
    [['project', name, '--view', 'raw'], /^--view: expected "model" or "all"/],
    [['project', name, '--export', 'yaml'], /--export takes json or jsonl, not "yaml"/],
    [['project', name, '--provider', 'anthropic'], /project has no option --provider/],
    [['project', name, '--export', 'json', '--provider', 'openai'], /provider.*"openai_chat"/],
    [['inspect'], /takes one FILE/],
    [['inspect', name, '--keep-last', '3'], /inspect has no option --keep-last/],
    [['validate', name, '--provider', 'anthropic', '--export', 'json'], /validate has no option --export/],
    [['formats', name], /formats takes no FILE/],
    [['formats', '--view', 'all'], /formats has no option --view/],
  ]) {
    assertFails(run(args), 2, pattern);
  }
});

test('bad input: exit code 1, and where it is', () => {
  for (const [name, content, pattern] of [
    ['a.json', '', /^a\.json: is empty/],
    ['b.json', '\ufeff \n\n', /^b\.json: is empty/],
    ['c.json', 'PK\u0003\u0004\0\0', /^c\.json: cannot be read: it is a ZIP archive/],
    ['d.db', 'SQLite format 3\0', /^d\.db: cannot be read: it is an SQLite database: export/],
    ['e.json', '{\n"messages": [\n{"role": "user",}\n]}', /^e\.json:3: is not valid JSON: .* at column \d+$/m],
    ['f.json', '{\n"messages": [\n{"role": tru}\n]}', /^f\.json:3: is not valid JSON/],
    ['g.json', '[\n{"role": "user"},', /^g\.json:2: is not valid JSON/],
    ['h.json', 'Dear diary', /^h\.json: is of no known format: it is text that is no JSON \(.* formats /],
    ['i.json', '{"message": []}', /^i\.json: is of no known format: it is a JSON object with the fields message /],
    ['j.json', '{"messages": {}}', /^j\.json: is of no known format/],
    ['l.json', '"text"', /^l\.json: is of no known format: it is JSON that is a string /],
  ]) {
    assertFails(run(['project', file(name, content)]), 1, pattern);
  }
  assertFails(run(['inspect', 'a.json']), 1, /^a\.json: is empty/);
  assertFails(run(['validate', 'a.json', '--provider', 'anthropic']), 1, /^a\.json: is empty/);
  assertFails(run(['project', 'missing.json']), 1, /^missing\.json: no such file$/m);
  assertFails(run(['project', '.']), 1, /^\.: is a folder$/m);
  assertFails(project('{"a": 1}'), 1, /^<stdin>: /);
});

test('what can be read of a broken file is read, with a warning for each line that cannot', () => {
  const good = JSON.stringify(REPAIRED[0]);
  for (const [name, content, pattern] of [
    ['a.jsonl', `${good}\n\n{"role": "us`, /^a\.jsonl:3: a line that was cut off: left out$/],
    ['b.jsonl', `${good}\r\n42\r\n`, /^b\.jsonl:2: a number, no object: left out$/],
    ['c.jsonl', `${good}\n[${good}]`, /^c\.jsonl:2: an array, no object: left out$/],
    ['d.jsonl', `{"messages": [${good}]}\n{"messages": [${good}]}`, /^d\.jsonl: 2 transcripts/],
    ['e.txt', `${good}\nnonsense \u001b[31m\n`, /^e\.txt:2: text that is not JSON \(.*\): left out$/],
    ['f.jsonl', Buffer.from(`${good}\n{"role":"user","content":"\xe9"}\n`, 'latin1'), /^f\.jsonl:2: bytes that are not UTF-8: read as U\+FFFD, which shifts/],
  ]) {
    const { status, stderr, stdout } = run(['project', file(name, content)]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^0 +user +kept +Run the tests\.$/m);
    const lines = stderr.split('\n');
    assert.equal(lines.length, 2, stderr);
    assert.match(lines[0], /^transcript-projection: warning: /);
    assert.match(lines[0].slice('transcript-projection: warning: '.length), pattern);
    assert.doesNotMatch(stderr.replaceAll('\n', ''), CONTROLS);
  }
  const second = run(['project', 'd.jsonl', '--transcript', '1']);
  assert.match(second.stdout, /^totals +1 kept/m);
  const many = project(`${good}\n${'42\n'.repeat(30)}`);
  assert.equal(many.stderr.split('\n').length, 12);
  assert.match(many.stderr, /^transcript-projection: warning: <stdin>: 20 more warnings$/m);
});

// A session of Claude Code's: each line hangs on the one before. The first call fails, another is refused.
const session = () => {
  const use = (id, name, input) => ({ type: 'tool_use', id, name, input });
  const result = (id, content, more) => ({ type: 'tool_result', tool_use_id: id, content, ...more });
  const lines = [
    { type: 'user', message: { role: 'user', content: 'Run the tests.' } },
    { type: 'assistant', message: { id: 'm1', role: 'assistant', content: [use('t1', 'bash', { cmd: 'tset' })] } },
    { type: 'user', message: { role: 'user', content: [result('t1', 'no such command', { is_error: true })] } },
    { type: 'assistant', message: { id: 'm2', role: 'assistant', content: [use('t2', 'bash', { cmd: 'test', n: 9007199254740993n })] } },
    { type: 'user', message: { role: 'user', content: [result('t2', `${'12 passed. '.repeat(100)}`)] } },
    { type: 'assistant', message: { id: 'm3', role: 'assistant', content: [use('t3', 'write', { path: 'a.js' })] } },
    { type: 'user', toolDenialKind: 'user-rejected', message: { role: 'user', content: [result('t3', 'No.', { is_error: true })] } },
    { type: 'assistant', message: { id: 'm4', role: 'assistant', content: [{ type: 'text', text: 'All pass.' }] } },
    { type: 'user', message: { role: 'user', content: 'Thanks.' } },
  ];
  const text = (line, index) =>
    JSON.stringify({ uuid: `u${index}`, parentUuid: index ? `u${index - 1}` : null, sessionId: 's', ...line }, (_, value) =>
      typeof value === 'bigint' ? `${value}n` : value,
    ).replace(/"(\d+)n"/, '$1');
  const snapshot = '{"type":"file-history-snapshot","messageId":"x"}';
  const aside = { type: 'assistant', uuid: 's1', parentUuid: null, isSidechain: true, agentId: 'a1', sessionId: 's', message: { content: 'Aside.' } };
  return [snapshot, ...lines.map(text), JSON.stringify(aside), '42'].map((line) => `${line}\n`).join('');
};

test('a session file of an agent, in its own format', () => {
  const name = file('session.jsonl', session());
  const { stdout, stderr, status } = run(['project', name, '--policy', 'clean_tool_repair']);
  assert.equal(status, 0);
  assert.match(stderr, /^transcript-projection: warning: session\.jsonl:12: a number, no object: left out\n$/);
  assert.match(stdout, /^1 +assistant +dropped +→ bash\(\{"cmd":"tset"\}\) +later success at 3$/m);
  assert.match(stdout, /^totals +7 kept, 2 dropped$/m);
  const all = run(['project', name, '--view', 'all']).stdout;
  assert.match(all, /^totals +10 kept, 0 dropped$/m);
  assert.match(all, /Aside\./);
  const told = run(['project', name, '--format', 'claude_code', '--policy', 'clean_tool_repair']);
  assert.equal(told.stdout, stdout);
});

test('--export prints the messages to send, spelled as in the file', () => {
  const name = file('session.jsonl', session());
  const lines = run(['project', name, '--policy', 'clean_tool_repair', '--export', 'jsonl']).stdout.split('\n');
  assert.equal(lines.length, 8);
  assert.equal(
    lines[1],
    '{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"bash","input":{"cmd":"test","n":9007199254740993}}]}',
  );
  const summary = ['--policy', 'summary_prefix', '--keep-last', '1', '--summary', 'So far.'];
  const list = run(['project', name, ...summary, '--export', 'json', '--provider', 'anthropic']).stdout;
  assert.deepEqual(JSON.parse(list), [{ role: 'user', content: 'So far.' }, { role: 'user', content: 'Thanks.' }]);
  assert(list.endsWith(']\n'));
  const hostile = '"\u202e\x9b"';
  assert.equal(project(`[{"role":"user","content":${hostile}}]`, '--export', 'json').stdout, `[{"role":"user","content":${hostile}}]\n`);
});

test('inspect says what there is, and what each policy would reclaim', () => {
  const name = file('session.jsonl', session());
  const { stdout, stderr, status } = run(['inspect', name]);
  assert.equal(status, 0);
  assert.match(stderr, /session\.jsonl:12: /);
  for (const fact of [
    /^file +session\.jsonl, [\d,]+ bytes, 12 lines$/m,
    /^format +Claude Code session \(JSONL\): certain, by lines with type/m,
    /^messages +9: 5 user, 4 assistant$/m,
    /^calls +3, 3 results$/m,
    /^failures +1, 1 repaired later; 1 refused by the user$/m,
    /^besides +1 file-history-snapshot, 1 not_an_object, 1 sidechain:a1$/m,
    /^warnings +1: 1 not_an_object$/m,
    /^message +line +tool +characters +share$/m,
    /^ +4 +6 +bash +1,100 +\d+\.\d %$/m,
    /^clean_tool_repair +2 +0 +\d+ +\d+\.\d %$/m,
    /^summary_prefix +0 +0 +0 +0\.0 % +keeps the last 10$/m,
  ]) {
    assert.match(stdout, fact);
  }
  const [biggest] = JSON.parse(run(['inspect', name, '--json']).stdout).biggest_results;
  assert.deepEqual(
    { ...biggest, share: undefined },
    { message_index: 4, block_index: 0, line: 6, tool_name: 'bash', tool_call_id: 't2', characters: 1100, share: undefined },
  );
});

test('inspect --json holds what the policies do', () => {
  const report = JSON.parse(run(['inspect', '-', '--json'], { input: JSON.stringify(SIGNED) }).stdout);
  assert.equal(report.format, 'anthropic');
  assert.deepEqual(report.failures, { failed: 1, inferred: 0, repaired: 1, refused: 0 });
  const [repair, , summary] = report.policies;
  assert.deepEqual([repair.hidden, repair.blocked], [0, 'clean_tool_repair (blocked: signed reasoning at index 1)']);
  assert.deepEqual(summary.options, { policy: 'summary_prefix', keep_last: 10 });
  assert.match(run(['inspect', '-'], { input: JSON.stringify(SIGNED) }).stdout, /^clean_tool_repair .* blocked at 1: signed/m);
  const parallel = run(['inspect', '-'], { input: JSON.stringify(PARALLEL) }).stdout;
  assert.match(parallel, /^clean_tool_repair .* 1 more message trimmed$/m);
});

test('inspect of little, of hostile words, in a narrow place', () => {
  for (const content of ['[]', '[{"role":"user","content":"x"}]']) {
    const { status, stdout } = run(['inspect', '-'], { input: content });
    assert.equal(status, 0);
    assert.match(stdout, /^messages +[01]/m);
    assert.doesNotMatch(stdout, /Biggest results|NaN/);
  }
  const hostile = '\x1b[2J\u202e__proto__';
  const messages = [
    { role: '__proto__', content: 'x' },
    { role: 'assistant', content: '', tool_calls: [call('c', `${hostile}${'long '.repeat(40)}`, {})] },
    { role: 'tool', tool_call_id: 'c', content: 'y' },
  ];
  const { stdout } = run(['inspect', '-'], { input: JSON.stringify(messages) });
  assert.doesNotMatch(stdout, CONTROLS);
  assert.match(stdout, /^messages +3: 1 __proto__, 1 assistant, 1 tool$/m);
  for (const line of stdout.split('\n')) assert(line.length <= 80, line);
  const args = ['inspect', '-'];
  const input = JSON.stringify(messages);
  const coloured = run(args, { input, env: { FORCE_COLOR: '1' } }).stdout;
  assert.match(coloured, /\x1b\[1mmessage/);
  assert.equal(run(args, { input, env: { FORCE_COLOR: '1', NO_COLOR: '1' } }).stdout, stdout);
});

test('formats lists what importTranscript reads', async () => {
  const { importFormats } = await import(join(PACKAGE_DIR, 'node_modules/transcript-projection/dist/node.js'));
  const { stdout } = run(['formats']);
  for (const { format, title } of importFormats()) assert(stdout.includes(`\n${format} `) && stdout.includes(title), format);
  assert.deepEqual(JSON.parse(run(['formats', '--json']).stdout), importFormats());
});

test('validate takes a session file, and the other fields of a request', () => {
  const name = file('session.jsonl', session());
  const { stdout, status } = run(['validate', name, '--provider', 'anthropic']);
  assert.match(stdout, /^anthropic: nothing to refuse in 9 messages$/m);
  assert.equal(status, 0);
  const orphan = [...REPAIRED.slice(0, 2), REPAIRED[5]].map((message) => JSON.stringify(message)).join('\n');
  const refused = run(['validate', '-', '--provider', 'openai_chat'], { input: orphan });
  assert.equal(refused.status, 1);
});

test('standard input may come a byte at a time', async () => {
  const child = spawn(command, ['project', '-', '--policy', 'clean_tool_repair'], { cwd: folder });
  let printed = '';
  child.stdout.on('data', (data) => (printed += data));
  const bytes = Buffer.from(session());
  for (let at = 0; at < bytes.length; at += 97) {
    child.stdin.write(bytes.subarray(at, at + 97));
    if (at % 5 === 0) await new Promise((done) => setImmediate(done));
  }
  child.stdin.end();
  const [code] = await new Promise((closed) => child.once('close', (...result) => closed(result)));
  assert.equal(code, 0);
  assert.equal(printed, run(['project', file('session.jsonl', session()), '--policy', 'clean_tool_repair']).stdout);
});

// Written as escapes: this file is read in terminals too.
const CONTROLS = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

test('text of a transcript cannot act on the terminal', () => {
  const hostile = '\x1b[2J\x1b]0;title\x07 a\rb\tc\u202etxt\u2066 \x9b31m \u{e0041}';
  const messages = [
    { role: hostile, content: hostile },
    { role: 'assistant', content: '', tool_calls: [call(hostile, hostile, { [hostile]: hostile })] },
    { role: 'tool', tool_call_id: hostile, content: `Error: ${hostile}` },
    { role: 'assistant', content: '', tool_calls: [call('c2', hostile, {})] },
    { role: 'tool', tool_call_id: 'c2', content: 'ok' },
    { role: 'assistant', content: 'x' },
  ];
  const args = ['--policy', 'clean_tool_repair', '--reason', hostile];
  const { stdout } = project(messages, ...args);
  assert.doesNotMatch(stdout, CONTROLS);
  assert.match(stdout, /\\x1b\[2J/);
  const json = project(messages, ...args, '--json').stdout;
  assert.doesNotMatch(json, CONTROLS);
  assert.equal(JSON.parse(json).messages[0].content, hostile);
  assert.doesNotMatch(project(hostile).stderr, CONTROLS);
});

test('rows fit the width, whatever the script', () => {
  const messages = ['漢字'.repeat(100), '👩‍💻'.repeat(100), 'e\u0301'.repeat(200), '\ud800'.repeat(50)].map((content) => ({
    role: 'a role with a very long name',
    content,
  }));
  const { stdout } = project(messages);
  const columnsOf = (grapheme) => (/[漢字👩]/u.test(grapheme) ? 2 : 1);
  const columns = (line) => [...new Intl.Segmenter().segment(line)].reduce((n, { segment }) => n + columnsOf(segment), 0);
  for (const line of stdout.split('\n').slice(0, 5)) assert(columns(line) <= 80, line);
  assert.match(stdout, /^unicode +lone surrogates in 3/m);
});

test('long runs are folded, --all shows them', () => {
  const messages = Array.from({ length: 100 }, (_, index) => ({ role: 'user', content: `line ${index}` }));
  const rows = (stdout) => stdout.split('\n\n')[0].split('\n').length - 1;
  const folded = project(messages).stdout;
  assert.equal(rows(folded), 5);
  assert.match(folded, /^ +… 96 more kept$/m);
  assert.equal(rows(project(messages, '--all').stdout), 100);
});

test('colour on request only, and never with NO_COLOR', () => {
  const input = JSON.stringify(REPAIRED);
  const args = ['project', '-', '--policy', 'clean_tool_repair'];
  const plain = run(args, { input }).stdout;
  assert.doesNotMatch(plain, /\x1b/);
  const coloured = run(args, { input, env: { FORCE_COLOR: '1' } }).stdout;
  assert.match(coloured, /\x1b\[31m1 +assistant +dropped/);
  assert.equal(coloured.replace(/\x1b\[\d+m/g, ''), plain);
  assert.equal(run(args, { input, env: { FORCE_COLOR: '1', NO_COLOR: '1' } }).stdout, plain);
});

test('a reader that has seen enough is no error', async () => {
  const messages = Array.from({ length: 20000 }, (_, index) => ({ role: 'user', content: `line ${index}` }));
  const child = spawn(command, ['project', file('long.json', JSON.stringify(messages)), '--json'], { cwd: folder });
  let complaints = '';
  child.stderr.on('data', (data) => (complaints += data));
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = await new Promise((closed) => child.once('close', (...result) => closed(result)));
  assert.equal(complaints, '');
  assert.equal(code, 0);
});

test('--version is that of the package, everywhere', async () => {
  const installed = join(PACKAGE_DIR, 'node_modules/transcript-projection');
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  assert.equal(run(['--version']).stdout, `${version}\n`);
  const api = await import(join(installed, 'dist/node.js'));
  assert.equal(api.version, version);
});
