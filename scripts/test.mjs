// `npm test`: set-up, build, then every test. `npm test -- rust` runs the Rust part only, `npm test -- package [word]`
// the tests of the packed package (with a word: only the files that hold it in their name).
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from './build.mjs';
import { Failure, main, root, run, say, step } from './lib.mjs';
import { setup } from './setup.mjs';
import { size } from './size.mjs';

const PARTS = { rust: rustPart, package: packagePart };
const count = { passed: 0, failed: 0, skipped: 0 };

await main(async () => {
  const [part, word = ''] = process.argv.slice(2);
  if (part !== undefined && !Object.hasOwn(PARTS, part)) {
    throw new Failure(`unknown part "${part}"; there is: ${Object.keys(PARTS).join(', ')}`);
  }
  const tools = await setup({ browser: part !== 'rust' });
  if (part !== 'rust') await build(tools);
  // Side by side: one part keeps the compiler busy, the other mostly waits for tools that use one core.
  const parts = part === undefined ? Object.values(PARTS) : [PARTS[part]];
  await Promise.all(parts.map((run) => run(tools, word)));
  say('all steps passed');
  console.log(`total: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
});

async function rustPart() {
  const cargo = (...args) => step(`cargo ${args[0]}`, () => run('cargo', args, { label: 'rust', onLine: countRust }));
  await cargo('fmt', '--all', '--check');
  await cargo('clippy', '--all-targets', '--', '-D', 'warnings');
  await cargo('test');
}

function countRust(line) {
  const [, passed, failed, ignored] = /^test result: .* (\d+) passed; (\d+) failed; (\d+) ignored/.exec(line) ?? [];
  add(passed, failed, ignored);
}

/** The package as a user gets it: packed, installed in an empty project, used from there. */
async function packagePart({ chromium }, word) {
  if (word === '') await step('npm run size', () => size());
  const folder = mkdtempSync(join(tmpdir(), 'transcript-projection-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const npm = (args, cwd) => run('npm', [...args, '--ignore-scripts', '--loglevel=error'], { cwd, label: 'package' });
  await step('npm pack, npm install', async () => {
    await npm(['pack', '--pack-destination', folder], root);
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    await npm(['install', '--offline', `./${tarball}`], folder);
  });
  const files = readdirSync(join(root, 'pkg-tests'))
    .filter((name) => name.endsWith('.test.mjs') && name.includes(word))
    .map((name) => `pkg-tests/${name}`);
  if (files.length === 0) throw new Failure(`no file of pkg-tests has "${word}" in its name`);
  await step('node --test pkg-tests', () =>
    run(process.execPath, ['--test', '--test-reporter=spec', ...files], {
      env: { PACKAGE_DIR: folder, CHROMIUM: chromium, NODE_TEST_CONTEXT: undefined },
      label: 'package',
      onLine: countNode,
    }),
  );
}

function countNode(line) {
  const [, what, number] = /^ℹ (pass|fail|skipped) (\d+)$/.exec(line) ?? [];
  if (what) add(what === 'pass' && number, what === 'fail' && number, what === 'skipped' && number);
}

function add(passed, failed, skipped) {
  count.passed += Number(passed || 0);
  count.failed += Number(failed || 0);
  count.skipped += Number(skipped || 0);
}
