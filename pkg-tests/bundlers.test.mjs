// The installed package through the tools that people use, and in a real Chromium under the page's strict CSP.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { serve } from '../scripts/serve.mjs';
import { PACKAGE_DIR } from './installed.mjs';

const { CHROMIUM } = process.env;
assert(CHROMIUM, 'CHROMIUM must name a Chromium');

const PROGRAM = (entry) => `
  import { init, transcriptProject } from '${entry}';
  init().then(
    () => { document.title = transcriptProject([]).reason; },
    (error) => { document.title = error.message; },
  );`;
const READER = (entry) => `
  import { init, initImport, importTranscript } from '${entry}';
  Promise.all([init(), initImport()]).then(
    () => { document.title = importTranscript('{"messages":[{"role":"user","content":"go"}]}').transcript.project('raw').reason; },
    (error) => { document.title = error.message; },
  );`;
const PAGE = (...head) => `<!doctype html><title>waiting</title><link rel="icon" href="data:,">${head.join('')}`;
const SCRIPT = (file) => `<script type="module" src="${file}"></script>`;

let browser;
before(async () => {
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
  });
});
after(() => browser?.close());

/** A project inside the folder, so that the package is found as a user's tool finds it. */
function project(t, files) {
  const folder = mkdtempSync(join(PACKAGE_DIR, 'project-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** Opens a page, waits for its program to write into the title; the title, then what the console complains of. */
async function outcomeOf(t, url) {
  const page = await browser.newPage();
  t.after(() => page.close());
  const problems = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(url);
  await page.waitForFunction(() => document.title !== 'waiting', undefined, { timeout: 15_000 }).catch(() => {});
  return [await page.title(), ...problems];
}

async function served(t, folder, headers) {
  const folders = { '/node_modules/': join(PACKAGE_DIR, 'node_modules'), '/': folder };
  const server = await serve({ port: 0, folders, headers });
  t.after(() => server.close());
  return server.url;
}

/** Each wasm file is shipped once: the importers too, for tools cannot tell who calls initImport(). */
function assertShippedOnce(folder) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.wasm'));
  assert.ok(files.length <= 2 && new Set(files.map((name) => statSync(join(folder, name)).size)).size === files.length, files.join());
}

async function assertWorks(t, url) {
  assert.deepEqual(await outcomeOf(t, url), ['raw_passthrough']);
}

async function assertFolderWorks(t, folder, headers) {
  await assertWorks(t, await served(t, folder, headers));
}

test('no bundler: an import map', async (t) => {
  const map = { imports: { 'transcript-projection': '/node_modules/transcript-projection/dist/browser.js' } };
  const head = `<script type="importmap">${JSON.stringify(map)}</script>`;
  const folder = project(t, {
    'index.html': PAGE(head, SCRIPT('main.js')),
    'main.js': PROGRAM('transcript-projection'),
  });
  // An import map is an inline script.
  const csp = "default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; connect-src 'self'; img-src data:";
  await assertFolderWorks(t, folder, { 'Content-Security-Policy': csp });
});

for (const [what, program] of [['', PROGRAM], [', with importers', READER]]) {
  test(`Vite: build${what}`, async (t) => {
    const { build } = await import('vite');
    const folder = project(t, {
      'index.html': PAGE(SCRIPT('/main.js')),
      'main.js': program('transcript-projection'),
    });
    await build({ root: folder, configFile: false, logLevel: 'warn' });
    assertShippedOnce(join(folder, 'dist/assets'));
    await assertFolderWorks(t, join(folder, 'dist'));
  });

  test(`webpack${what}`, async (t) => {
    const { default: webpack } = await import('webpack');
    const folder = project(t, { 'main.js': program('transcript-projection') });
    const out = join(folder, 'dist');
    const stats = await new Promise((done, fail) => {
      const config = {
        mode: 'production',
        context: folder,
        entry: './main.js',
        output: { path: out },
        performance: { hints: false }, // the wasm is larger than what webpack likes
      };
      webpack(config, (error, result) => (error ? fail(error) : done(result)));
    });
    assert(!stats.hasErrors() && !stats.hasWarnings(), stats.toString('errors-warnings'));
    assertShippedOnce(out);
    writeFileSync(join(out, 'index.html'), PAGE('<script defer src="main.js"></script>'));
    await assertFolderWorks(t, out);
  });
}

test('Vite: development server', async (t) => {
  const { createServer } = await import('vite');
  const folder = project(t, {
    'index.html': PAGE(SCRIPT('/main.js')),
    'main.js': PROGRAM('transcript-projection'),
  });
  const server = await createServer({
    root: folder,
    configFile: false,
    logLevel: 'error',
    server: { host: '127.0.0.1' },
  });
  t.after(() => server.close());
  await server.listen();
  await assertWorks(t, `http://127.0.0.1:${server.httpServer.address().port}/`);
});

test('esbuild for browsers: ./inline, one file', async (t) => {
  const { build } = await import('esbuild');
  const folder = project(t, {
    'index.html': PAGE(SCRIPT('out.js')),
    // Without init(): nothing may drop the part of the entry that loads the engine.
    'main.js': `import { transcriptProject } from 'transcript-projection/inline';
                document.title = transcriptProject([]).reason;`,
  });
  const files = { entryPoints: [join(folder, 'main.js')], outfile: join(folder, 'out.js') };
  await build({ ...files, bundle: true, minify: true, format: 'esm', logLevel: 'warning' });
  await assertFolderWorks(t, folder);
});

test('esbuild for Node: one file that runs elsewhere', async (t) => {
  const { build } = await import('esbuild');
  const folder = project(t, {
    'main.js': `import { transcriptProject } from 'transcript-projection'; console.log(transcriptProject([]).reason);`,
  });
  const elsewhere = mkdtempSync(join(tmpdir(), 'transcript-projection-'));
  t.after(() => rmSync(elsewhere, { recursive: true, force: true }));
  for (const [format, name] of [['esm', 'out.mjs'], ['cjs', 'out.cjs']]) {
    const outfile = join(elsewhere, name);
    await build({ entryPoints: [join(folder, 'main.js')], outfile, format, bundle: true, platform: 'node' });
    const printed = execFileSync(process.execPath, [outfile], { cwd: elsewhere, encoding: 'utf8' });
    assert.equal(printed, 'raw_passthrough\n');
  }
});

test('a module worker', async (t) => {
  const folder = project(t, {
    'index.html': PAGE(SCRIPT('main.js')),
    'main.js': `const policy = trustedTypes.createPolicy('boot', { createScriptURL: (url) => url });
                const worker = new Worker(policy.createScriptURL('worker.js'), { type: 'module' });
                worker.onmessage = ({ data }) => { document.title = data; };`,
    'worker.js': PROGRAM('/node_modules/transcript-projection/dist/browser.js').replaceAll(
      /document\.title = (.*?);/g,
      'postMessage($1);',
    ),
  });
  await assertFolderWorks(t, folder);
});

test('a page whose CSP forbids wasm is told so by init()', async (t) => {
  const folder = project(t, {
    'index.html': PAGE(SCRIPT('main.js')),
    'main.js': PROGRAM('/node_modules/transcript-projection/dist/browser.js'),
  });
  const csp = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:";
  const url = await served(t, folder, { 'Content-Security-Policy': csp });
  const [title] = await outcomeOf(t, url);
  assert.match(title, /^the engine could not be loaded: .*Content Security Policy/);
});

test('publint finds nothing to say about the package', async (t) => {
  const { publint } = await import('publint');
  const { formatMessage } = await import('publint/utils');
  const pkgDir = join(PACKAGE_DIR, 'node_modules/transcript-projection');
  const { messages, pkg } = await publint({ pkgDir, pack: false });
  assert.deepEqual(messages.map((message) => formatMessage(message, pkg)), []);
});
