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
  ]) {
    assertFails(run(args), 2, pattern);
  }
});

test('bad input: exit code 1, and where it is', () => {
  const good = JSON.stringify(REPAIRED[0]);
  for (const [name, content, pattern] of [
    ['a.json', '', /^a\.json: is empty/],
    ['b.json', '\ufeff \n\n', /^b\.json: is empty/],
    ['c.json', 'PK\u0003\u0004\0\0', /^c\.json: is no text \(a NUL byte at offset 4\)/],
    ['d.json', Buffer.from('{"messages":\n["\xe9"]}', 'latin1'), /^d\.json:2: is not valid UTF-8/],
    ['e.json', '{\n"messages": [\n{"role": "user",}\n]}', /^e\.json:3: is not valid JSON/],
    ['f.json', '{\n"messages": [\n{"role": tru}\n]}', /^f\.json:3: is not valid JSON/],
    ['g.json', '[\n{"role": "user"},', /^g\.json:2: is not valid JSON/],
    ['h.json', 'Dear diary', /^h\.json:1: is not valid JSON/],
    ['i.json', '{"message": []}', /^i\.json: .*messages/],
    ['j.json', '{"messages": {}}', /^j\.json: .*messages/],
    ['k.json', '[{"role": "user"}, null]', /^k\.json: .*messages\[1\]/],
    ['l.json', '"text"', /^l\.json: /],
    ['m.jsonl', `${good}\n\n{"role": "us`, /^m\.jsonl:3: is not valid JSON/],
    ['n.jsonl', `${good}\r\n42\r\n`, /^n\.jsonl:2: is no message/],
    ['o.jsonl', `${good}\n[${good}]`, /^o\.jsonl:2: is no message/],
    ['p.jsonl', `{"messages": [${good}]}\n{"messages": [${good}]}`, /^p\.jsonl:1: holds a whole conversation/],
    ['q.txt', `${good}\nnonsense \u001b[31m\n`, /^q\.txt:2: is not valid JSON/],
  ]) {
    assertFails(run(['project', file(name, content)]), 1, pattern);
  }
  assertFails(run(['project', 'missing.json']), 1, /^missing\.json: no such file$/m);
  assertFails(run(['project', '.']), 1, /^\.: is a folder$/m);
  assertFails(project('{"a": 1}'), 1, /^<stdin>: /);
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
