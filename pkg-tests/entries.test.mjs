// The entries of the installed package as Node runs them: import, require, and the one that needs init().
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { PACKAGE_DIR } from './installed.mjs';

const dist = join(PACKAGE_DIR, 'node_modules/transcript-projection/dist');

function runNode(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: PACKAGE_DIR, encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return stdout.trim();
}

test('import needs no init()', () => {
  const program =
    "import { transcriptProject } from 'transcript-projection'; console.log(transcriptProject([]).reason);";
  assert.equal(runNode('--input-type=module', '-e', program), 'raw_passthrough');
});

test('require works, without a warning', () => {
  const program =
    "const { transcriptProject } = require('transcript-projection'); console.log(transcriptProject([]).reason);";
  assert.equal(runNode('--input-type=commonjs', '-e', program), 'raw_passthrough');
});

test('./inline needs no init() and nothing of Node', () => {
  const program = `
    import { transcriptProject, init } from 'transcript-projection/inline';
    console.log(transcriptProject([]).reason);
    init().then(() => init('ignored'));`;
  assert.equal(runNode('--input-type=module', '-e', program), 'raw_passthrough');
  for (const file of ['inline.js', 'engine.js', 'api.js', 'glue.js', 'browser.js']) {
    assert.doesNotMatch(readFileSync(join(dist, file), 'utf8'), /from '(node:|fs|path)/);
  }
});

test('no entry awaits at its top level: require() and service workers refuse that', () => {
  for (const entry of ['node', 'browser', 'inline']) {
    runNode('--input-type=commonjs', '-e', `require(${JSON.stringify(join(dist, `${entry}.js`))})`);
  }
});

test('the command is installed', () => {
  const command = join(PACKAGE_DIR, 'node_modules/.bin/transcript-projection');
  assert.match(execFileSync(command, ['--help'], { encoding: 'utf8' }), /project/);
});

// One test, in order: the modules behind the entry are one copy.
test('the browser entry: a call before init(), a failed init(), then two at once', async () => {
  const { init, transcriptProject, Transcript, ProjectionError } = await import(pathToFileURL(join(dist, 'browser.js')));
  for (const call of [() => transcriptProject([]), () => Transcript.fromJSON('[]')]) {
    assert.throws(call, (error) => {
      assert(error instanceof ProjectionError);
      assert.equal(error.code, 'not_initialized');
      assert.match(error.message, /await init\(\)/);
      return true;
    });
  }

  const html = new Response('<!doctype html>', { status: 404, statusText: 'Not Found' });
  for (const [input, message] of [
    [new Uint8Array([1, 2, 3]), /could not be loaded/],
    [html, /could not be loaded.*404/],
    [{ then: (_, fail) => fail(new Error('offline')) }, /could not be loaded.*offline/],
  ]) {
    await assert.rejects(init(input), (error) => {
      assert(error instanceof ProjectionError);
      assert.equal(error.code, 'not_initialized');
      assert.match(error.message, message);
      assert(error.cause instanceof Error);
      return true;
    });
  }

  const bytes = readFileSync(join(dist, 'engine_bg.wasm'));
  const first = init(bytes);
  assert.equal(init(bytes), first);
  await first;
  await init();
  await init(new Uint8Array([1, 2, 3]));
  assert.equal(transcriptProject([]).reason, 'raw_passthrough');
});

for (const [what, input] of Object.entries({
  'a compiled module': (bytes) => new WebAssembly.Module(bytes),
  'a Response': (bytes) => new Response(bytes, { headers: { 'Content-Type': 'application/wasm' } }),
  'a promise of a Response': async (bytes) => new Response(bytes, { headers: { 'Content-Type': 'application/wasm' } }),
  'an ArrayBuffer': (bytes) => new Uint8Array(bytes).buffer,
})) {
  test(`the browser entry: init() takes ${what}`, () => {
    const program = `
      import { readFileSync } from 'node:fs';
      import { init, transcriptProject } from ${JSON.stringify(String(pathToFileURL(join(dist, 'browser.js'))))};
      const bytes = readFileSync(${JSON.stringify(join(dist, 'engine_bg.wasm'))});
      await init((${input})(bytes));
      console.log(transcriptProject([]).reason);`;
    assert.equal(runNode('--input-type=module', '-e', program), 'raw_passthrough');
  });
}
