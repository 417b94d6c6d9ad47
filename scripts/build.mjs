// Makes dist/: `npm run build`. What did not change is not built again.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { Failure, filesUnder, hashOf, isMain, main, readJson, root, run, say, step } from './lib.mjs';
import { setup } from './setup.mjs';

const ENGINE = join(root, 'target/engine'); // the built wasm and its glue, and the hash of what they were built from
const DIST = join(root, 'dist');

const WASM_OPT = [
  '-O3',
  // No inlining of functions with one caller: it saves 1 % raw and costs 9 % gzip.
  '--one-caller-inline-max-function-size=0',
  // Features of every supported host, which the compiler uses.
  '--enable-bulk-memory',
  '--enable-nontrapping-float-to-int',
  '--enable-sign-ext',
  '--enable-mutable-globals',
  '--enable-reference-types',
  '--enable-multivalue',
];

/** @param wasm the toolchain that setup() found */
export async function build({ wasm }) {
  sameVersions();
  const inputs = hashOf(
    [
      'Cargo.toml',
      'Cargo.lock',
      'scripts/build.mjs',
      ...filesUnder('src').filter((file) => file.endsWith('.rs')),
      ...filesUnder('xtask'),
    ],
    wasm.id,
    readJson('package.json').devDependencies.binaryen,
  );
  if (builtFrom() === inputs) say('engine: sources unchanged, not built again');
  else await step('engine', () => buildEngine(wasm, inputs));
  const changed = assemble();
  say(changed ? `dist/: ${changed} file${changed === 1 ? '' : 's'} updated` : 'dist/: up to date');
}

function sameVersions() {
  const crate = /^version = "(.*)"/m.exec(readFileSync(join(root, 'Cargo.toml'), 'utf8'))?.[1];
  const { version } = readJson('package.json');
  if (crate !== version) throw new Failure(`Cargo.toml says version ${crate}, package.json ${version}.`);
}

function builtFrom() {
  const stamp = join(ENGINE, 'built-from');
  return existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined;
}

async function buildEngine(wasm, inputs) {
  await run('cargo', ['fetch']);
  // The tool that writes the glue; the host's own compiler builds it.
  await run('cargo', ['build', '-p', 'xtask'], { env: { CARGO_TARGET_DIR: join(root, 'target') }, label: 'xtask' });
  // In a folder of its own until it is complete: another build may be under way.
  const out = mkdtempSync(join(root, 'target/engine-'));
  try {
    for (const name of ['engine', 'importers']) await buildPart(name, wasm, out);
    writeFileSync(join(out, 'built-from'), inputs);
    rmSync(ENGINE, { recursive: true, force: true });
    renameSync(out, ENGINE);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** One wasm file and its glue: the crate with the feature of this name. */
async function buildPart(name, wasm, out) {
  await run(wasm.cargo, ['build', '--lib', '--release', '--features', name, ...wasm.args], {
    env: { ...wasm.env, CARGO_TARGET_DIR: wasm.targetDir, CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: remaps() },
    label: name,
  });
  const made = join(wasm.targetDir, 'wasm32-unknown-unknown/release/transcript_projection.wasm');
  await run(join(root, 'target/debug/xtask'), [made, out, name]);
  const file = join(out, `${name}_bg.wasm`);
  await step(`wasm-opt ${WASM_OPT[0]} (${name})`, () =>
    run(process.execPath, [join(root, 'node_modules/binaryen/bin/wasm-opt'), ...WASM_OPT, file, '-o', file]),
  );
  const prefix = name === 'engine' ? '' : `${name}-`;
  const glue = withModule(withoutRepeats(readFileSync(join(out, `${name}.js`), 'utf8')));
  rmSync(join(out, `${name}.js`));
  writeFileSync(join(out, `${prefix}glue.js`), glue);
  const base64 = readFileSync(file).toString('base64');
  writeFileSync(join(out, `${prefix}bytes.js`), `// ${name}_bg.wasm as base64\nexport default '${base64}';\n`);
}

/** The glue imports a module once for each function that it takes from it: one is enough, bundlers warn of the rest. */
function withoutRepeats(glue) {
  const seen = new Set();
  return glue
    .split('\n')
    .filter((line) => {
      if (!/^(import \* as import\d+ from ".*"|\s+".*": import\d+,)$/.test(line)) return true;
      const what = line.replace(/import\d+/, '');
      return !seen.has(what) && seen.add(what);
    })
    .join('\n');
}

/** The glue keeps the compiled engine for itself; the worker gets it from there, compiled already. */
function withModule(glue) {
  if (!/^let wasmModule\b/m.test(glue)) throw new Failure('the glue has no variable "wasmModule" any more.');
  return `${glue}\nexport { wasmModule as engineModule };\n`;
}

/** Panic messages name source files: not where they lie on this machine. The folders exist after `cargo fetch`. */
function remaps() {
  const crates = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'registry/src');
  const folders = existsSync(crates) ? readdirSync(crates).map((name) => join(crates, name)) : [];
  return folders.map((folder) => `--remap-path-prefix=${folder}=crates`).join(' ');
}

/** Brings dist/ in line with what was built and with src/js; returns how many files that changed. */
function assemble() {
  const wanted = new Map();
  for (const from of ['target/engine', 'src/js']) {
    for (const file of filesUnder(from)) wanted.set(relative(from, file), file);
  }
  wanted.delete('built-from');
  let changed = 0;
  mkdirSync(DIST, { recursive: true });
  for (const file of filesUnder('dist')) {
    if (wanted.has(relative('dist', file))) continue;
    rmSync(join(root, file));
    changed += 1;
  }
  for (const [name, source] of wanted) {
    const target = join(DIST, name);
    if (existsSync(target) && readFileSync(target).equals(readFileSync(join(root, source)))) continue;
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(root, source), target);
    changed += 1;
  }
  return changed;
}

if (isMain(import.meta)) {
  await main(async () => build(await setup()));
}
