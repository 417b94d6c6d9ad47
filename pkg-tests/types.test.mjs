// The types of the installed package, seen by a strict consumer that checks libraries too.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PACKAGE_DIR } from './installed.mjs';

/** The newest TypeScript, and the oldest that the README promises. */
const COMPILERS = ['typescript', 'typescript-oldest'];
const tscOf = (name) => join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'tsc');

const HOST = { module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2022'] };
const OWN = ['good.ts', 'bad.ts', 'compaction.ts', 'import.ts', 'session.ts'];
// The SDKs' own declarations need the DOM, and are not all strict.
const WITH_SDKS = { lib: ['es2022', 'dom'], skipLibCheck: true };
const CONSUMERS = [
  { ...HOST, files: OWN },
  { ...HOST, exactOptionalPropertyTypes: false, files: OWN },
  { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022'], files: OWN },
  { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], files: [...OWN, 'dom.ts'] },
  { ...HOST, ...WITH_SDKS, files: ['sdk.ts'] },
  { ...HOST, ...WITH_SDKS, exactOptionalPropertyTypes: false, files: ['sdk.ts'] },
];

for (const compiler of COMPILERS) {
  for (const { files, ...host } of CONSUMERS) {
    const exact = host.exactOptionalPropertyTypes === false ? ', undefined for missing' : '';
    test(`${files.at(-1)} compiles with ${compiler}, ${host.moduleResolution}, ${host.lib.join(', ')}${exact}`, (t) => {
      const sources = files.map((name) => [name, readFileSync(new URL(`types/${name}`, import.meta.url), 'utf8')]);
      compile(t, host, Object.fromEntries(sources), compiler);
    });
  }
}

test('the examples of the README compile', (t) => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const blocks = [...readme.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code], index) => [`block-${index + 1}.mjs`, code]);
  assert.notEqual(blocks.length, 0);
  // They are JavaScript: nothing in them says what type a parameter has.
  const host = { ...HOST, ...WITH_SDKS, allowJs: true, checkJs: true, strict: false, exactOptionalPropertyTypes: false };
  compile(t, host, Object.fromEntries(blocks));
});

/** Compiles files inside the folder, so that the package is found as a consumer finds it. */
function compile(t, host, files, compiler = COMPILERS[0]) {
  const project = mkdtempSync(join(PACKAGE_DIR, 'types-'));
  t.after(() => rmSync(project, { recursive: true }));
  // The SDKs are dependencies of these tests.
  symlinkSync(fileURLToPath(new URL('../node_modules', import.meta.url)), join(project, 'node_modules'), 'junction');
  const compilerOptions = {
    target: 'es2022',
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    ...host,
  };
  writeFileSync(join(project, 'package.json'), '{"type": "module"}');
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  try {
    execFileSync(process.execPath, [tscOf(compiler), '-p', project], { encoding: 'utf8' });
  } catch (error) {
    assert.fail(error.stdout || error.message);
  }
}

/** A session with every mark that a source can have, a warning and a known outcome. */
const SESSION = [
  { type: 'user', uuid: 'u1', message: { content: 'Run the tests.' } },
  { type: 'assistant', uuid: 'a1', parentUuid: 'u1', message: { id: 'm1', content: [{ type: 'text', text: 'As you wish.' }] } },
  { type: 'assistant', uuid: 'a2', parentUuid: 'a1', message: { id: 'm1', content: [{ type: 'tool_use', id: 't1', name: 'bash', input: {} }] } },
  { type: 'assistant', uuid: 's1', isSidechain: true, agentId: 'agent-1', message: { content: 'A second opinion.' } },
  { type: 'user', uuid: 'r1', parentUuid: 'a2', toolDenialKind: 'user-rejected', message: { content: [{ type: 'tool_result', tool_use_id: 't1', is_error: true, content: 'No.' }] } },
  { type: 'user', uuid: 'u2', parentUuid: 'a2', message: { content: 'Never mind.' } },
  { type: 'user', uuid: 'u3', parentUuid: 'u1', message: { content: 'Rather read the code.' } },
]
  .map((line) => JSON.stringify(line))
  .concat('{"type": "us')
  .join('\n');

/** A message of each shape, and the type that a caller has for it. */
const SHAPES = {
  Chat: ['{ role: string; content: string }', { role: 'user', content: 'go' }],
  Responses: [
    '{ type: string; role?: string; content?: object[]; call_id?: string }',
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
  ],
  Gemini: ['{ role?: string; parts?: { text?: string }[] }', { role: 'user', parts: [{ text: 'go' }] }],
  Bedrock: ['{ role: string; content: { text?: string }[] }', { role: 'user', content: [{ text: 'go' }] }],
  Ui: ['{ id: string; role: string; parts: object[] }', { id: 'u', role: 'user', parts: [{ type: 'text', text: 'go' }] }],
  LangChain: ['{ type: string; content: string }', { type: 'human', content: 'go' }],
  Stored: ['{ type: string; data: { content: string } }', { type: 'human', data: { content: 'go' } }],
  Both: [
    '{ id: string; role: string; content: string; parts: object[] }',
    { id: 'u', role: 'user', content: 'go', parts: [{ type: 'text', text: 'go' }] },
  ],
};

// A literal may have no member that its type does not have: so the types name all that the engine returns.
test('what the engine returns is what the types say', async (t) => {
  const entry = createRequire(join(PACKAGE_DIR, 'package.json')).resolve('transcript-projection');
  const { AgentSession, acpUpdate, compact, importTranscript, replayProjection, transcriptProject } = await import(entry);
  const call = (id, name) => ({ id, type: 'function', function: { name, arguments: '{}' } });
  const messages = [
    { role: 'user', content: 'go \ud800' },
    { role: 'assistant', content: null, tool_calls: [call('c1', 'run'), call('c2', 'read')] },
    { role: 'tool', tool_call_id: 'c1', content: 'Error: no' },
    { role: 'tool', tool_call_id: 'c2', content: 'text '.repeat(200) },
    { role: 'assistant', content: null, tool_calls: [call('c3', 'run')] },
    { role: 'tool', tool_call_id: 'c3', content: 'ok' },
    { role: 'assistant', content: 'done' },
  ];
  const is_error = ({ is_error: failed }) => failed;
  const views = {
    RawView: transcriptProject(messages, { prefix_hash: false }),
    CleanToolRepairView: transcriptProject(messages, { policy: 'clean_tool_repair', is_error }),
    SquashFailedCallsView: transcriptProject(messages, 'squash_failed_calls'),
    SummaryPrefixView: transcriptProject(messages, { policy: 'summary_prefix', keep_last: 1 }),
    ReachabilityGcView: transcriptProject(messages, { policy: 'reachability_gc', root_window: 1, scratchpad: 'x' }),
    CustomView: transcriptProject(messages, { policy: 'custom', projector: (all) => all.slice(2) }),
  };
  assert.equal(views.CleanToolRepairView.trimmed_indices.length, 1);
  assert.equal(views.ReachabilityGcView.redaction_pointers.length, 1);
  assert.notEqual(views.CustomView.violations.length, 0);
  const session = new AgentSession({ session_id: 's', transcript: messages });
  session.projectTurn('clean_tool_repair');
  session.projectTurn({ policy: 'reachability_gc', root_window: 1, min_chars: 9 });
  const turn = session.projectTurn('raw');
  assert.equal(turn.trimmed_indices.length + turn.redacted_indices.length, 2);
  const archived = session.compact(1);
  const customTurn = session.projectTurn({ policy: 'custom', projector: (all) => all });
  const notice = acpUpdate('s', views.ReachabilityGcView);
  const replay = replayProjection(messages, views.SummaryPrefixView.event);
  const { transcript, ...imported } = importTranscript(SESSION, { view: 'all' });
  transcript.free();
  const { source, warnings, outcomes } = imported;
  for (const list of [source, warnings, outcomes]) assert.notEqual(list.length, 0);
  for (const mark of ['also_lines', 'branch', 'sidechain']) assert(source.some((place) => mark in place), mark);
  const lines = [
    "import type * as tp from 'transcript-projection';",
    'interface Call { id: string; type: string; function: { name: string; arguments: string } }',
    'interface Turn { role: string; content: string | null; tool_calls?: Call[]; tool_call_id?: string }',
    ...Object.entries(views).map(([type, view]) => `export const a${type}: tp.${type}<Turn> = ${JSON.stringify(view)}`),
    `export const turn: tp.SessionView<Turn> = ${JSON.stringify(turn)};`,
    `export const customTurn: tp.SessionView<Turn> = ${JSON.stringify(customTurn)};`,
    `export const archived: tp.ArchiveEntry<Turn> | null = ${JSON.stringify(archived)};`,
    ...Object.entries(SHAPES).flatMap(([name, [type, message]]) => {
      const summaries = [compact([message, message], 1)[0], transcriptProject([message], 'summary_prefix').messages[0]];
      return [
        `interface ${name} ${type}`,
        `export const c${name}: tp.CompactionSummary<${name}> = ${JSON.stringify(summaries[0])};`,
        `export const s${name}: tp.SyntheticSummary<${name}> = ${JSON.stringify(summaries[1])};`,
      ];
    }),
    `export const notice: tp.AcpSessionNotification = ${JSON.stringify(notice)};`,
    `export const replay: tp.Replay<Turn> = ${JSON.stringify(replay)};`,
    `export const imported: Omit<tp.ImportResult, 'transcript'> = ${JSON.stringify(imported)};`,
  ];
  compile(t, HOST, { 'real.ts': lines.join('\n') });
});

test('the types name every format', async () => {
  const entry = createRequire(join(PACKAGE_DIR, 'package.json')).resolve('transcript-projection');
  const { importFormats } = await import(entry);
  const [union] = /^export type ImportFormat =[^]*?;$/m.exec(readFileSync(join(dirname(entry), 'index.d.ts'), 'utf8'));
  const named = [...union.matchAll(/\| '(\w+)'/g)].map(([, name]) => name);
  assert.deepEqual(named, importFormats().map(({ format }) => format));
});

test('the type any occurs nowhere', () => {
  const types = join(PACKAGE_DIR, 'node_modules', 'transcript-projection', 'dist', 'index.d.ts');
  const code = readFileSync(types, 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
  assert.doesNotMatch(code, /\bany\b/);
});

test('what the types declare is what the entry exports', async () => {
  const entry = createRequire(join(PACKAGE_DIR, 'package.json')).resolve('transcript-projection');
  const types = readFileSync(join(dirname(entry), 'index.d.ts'), 'utf8');
  const declared = [...types.matchAll(/^export declare (?:const|function|class) (\w+)/gm)].map(([, name]) => name);
  const { default: _, ...exported } = await import(entry);
  assert.deepEqual([...new Set(declared)].sort(), Object.keys(exported).sort());
});
