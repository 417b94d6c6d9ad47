// Compaction in a real Chromium: off the page's thread, under strict policies, through Vite.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { serve } from '../scripts/serve.mjs';
import { PACKAGE_DIR } from './installed.mjs';

const { CHROMIUM } = process.env;
assert(CHROMIUM, 'CHROMIUM must name a Chromium');

const FROM_FILES = '/node_modules/transcript-projection/dist/browser.js';
const SOURCES = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src data:";
const CSP = `${SOURCES}; worker-src 'self'`;

/** A page that compacts a list three times, the last two times at once, and a large one when it is told how large. */
const PROGRAM = (entry) => `
  import { compact, compactAsync, init } from '${entry}';
  const megabytes = Number(location.hash.slice(1));
  const text = 'lorem ipsum dolor sit amet, '.repeat(180);
  const count = Math.ceil(megabytes * 1e6 / text.length) || 9;
  const messages = Array.from({ length: count }, (_, index) => ({ role: 'user', content: index + ' ' + text }));

  async function longestGap(run) {
    let last = performance.now();
    let longest = 0;
    const timer = setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }, 1);
    const result = await run();
    clearInterval(timer);
    return [result, Math.max(longest, performance.now() - last)];
  }

  async function main() {
    await init();
    const [list, gap] = await longestGap(() => compactAsync(messages, 3));
    const both = await Promise.all([compactAsync(messages, 3), compactAsync(messages, 3)]);
    const sizes = [list, ...both].map((each) => each.length);
    const isOwn = list[1] === messages.at(-3);
    const isSame = JSON.stringify(list) === JSON.stringify(compact(messages, 3));
    const bad = await compactAsync([7], 1).catch((error) => error.code);
    return JSON.stringify({ sizes, isOwn, isSame, bad, gap });
  }
  main().then((text) => { document.title = text; }, (error) => { document.title = error.message; });`;
const PAGE = '<!doctype html><title>waiting</title><link rel="icon" href="data:,"><script type="module" src="/main.js"></script>';

let browser;
before(async () => {
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
  });
});
after(() => browser?.close());

/** A project inside the folder, so that the package is found as a user's tool finds it. */
function project(t, entry) {
  const folder = mkdtempSync(join(PACKAGE_DIR, 'project-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'main.js'), PROGRAM(entry));
  return folder;
}

async function served(t, folder, policy) {
  const folders = { '/node_modules/': join(PACKAGE_DIR, 'node_modules'), '/': folder };
  const server = await serve({ port: 0, folders, headers: { 'Content-Security-Policy': policy } });
  t.after(() => server.close());
  return server.url;
}

/** What the page found, how many workers it started, and what the console complains of. */
async function outcomeOf(t, url) {
  const page = await browser.newPage();
  t.after(() => page.close());
  const problems = [];
  const workers = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('worker', (worker) => workers.push(worker.url()));
  await page.goto(url);
  await page.waitForFunction(() => document.title !== 'waiting', undefined, { timeout: 30_000 }).catch(() => {});
  const title = await page.title();
  assert.match(title, /^\{/, `${title} ${problems}`);
  const { gap, ...found } = JSON.parse(title);
  assert.deepEqual(found, { sizes: [4, 4, 4], isOwn: true, isSame: true, bad: 'invalid_message' });
  return { gap, workers, problems };
}

async function assertUsesOneWorker(t, url) {
  const { workers, problems } = await outcomeOf(t, url);
  assert.deepEqual(problems, []);
  assert.equal(workers.length, 1, `${workers}`);
}

test('the page stays responsive while 50 MB compact', async (t) => {
  const url = await served(t, project(t, FROM_FILES), CSP);
  const gaps = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    const { gap, workers, problems } = await outcomeOf(t, `${url}#50`);
    assert.deepEqual([workers.length, problems], [1, []]);
    gaps.push(gap);
  }
  t.diagnostic(`longest gaps: ${gaps.map((gap) => gap.toFixed(1)).join(', ')} ms`);
  // Other tests run beside this one: one undisturbed attempt is enough.
  assert(Math.min(...gaps) < 50, `${gaps}`);
});

test('one worker, under a policy without unsafe-eval', async (t) => {
  await assertUsesOneWorker(t, await served(t, project(t, FROM_FILES), CSP));
});

test('one worker, built by Vite', async (t) => {
  const { build } = await import('vite');
  const folder = project(t, 'transcript-projection');
  await build({ root: folder, configFile: false, logLevel: 'warn' });
  const wasm = readdirSync(join(folder, 'dist/assets')).filter((name) => /^engine.*\.wasm$/.test(name));
  assert.equal(wasm.length, 1, 'the wasm is shipped once');
  await assertUsesOneWorker(t, await served(t, join(folder, 'dist'), CSP));
});

test('one worker, built by webpack', async (t) => {
  const { default: webpack } = await import('webpack');
  const folder = project(t, 'transcript-projection');
  const stats = await new Promise((done, fail) => {
    const output = { path: join(folder, 'dist') };
    const config = { mode: 'production', context: folder, entry: './main.js', output, performance: { hints: false } };
    webpack(config, (error, result) => (error ? fail(error) : done(result)));
  });
  assert(!stats.hasErrors() && !stats.hasWarnings(), stats.toString('errors-warnings'));
  writeFileSync(join(folder, 'dist/index.html'), PAGE);
  await assertUsesOneWorker(t, await served(t, join(folder, 'dist'), CSP));
});

test('Vite: development server', async (t) => {
  const { createServer } = await import('vite');
  const server = await createServer({
    root: project(t, 'transcript-projection'),
    configFile: false,
    logLevel: 'error',
    server: { host: '127.0.0.1' },
  });
  t.after(() => server.close());
  await server.listen();
  await outcomeOf(t, `http://127.0.0.1:${server.httpServer.address().port}/`);
});

for (const [what, policy] of Object.entries({
  'forbids workers': `${SOURCES}; worker-src 'none'`,
  'forbids scripts from plain strings': `${CSP}; require-trusted-types-for 'script'`,
})) {
  test(`without a worker, where a policy ${what}`, async (t) => {
    const { workers } = await outcomeOf(t, await served(t, project(t, FROM_FILES), policy));
    assert.deepEqual(workers, []);
  });
}

test('without a worker, where its file is missing', async (t) => {
  const url = await served(t, project(t, FROM_FILES), CSP);
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.route('**/worker.js', (route) => route.fulfill({ status: 404 }));
  await page.goto(url);
  await page.waitForFunction(() => document.title !== 'waiting', undefined, { timeout: 30_000 });
  assert.deepEqual(JSON.parse(await page.title()).sizes, [4, 4, 4]);
});

test('without a worker: ./inline', async (t) => {
  const folder = project(t, '/node_modules/transcript-projection/dist/inline.js');
  const { workers, problems } = await outcomeOf(t, await served(t, folder, CSP));
  assert.deepEqual([workers, problems], [[], []]);
});
