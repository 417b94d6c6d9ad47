// The examples of the README, run as they are written against the installed package.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { serve } from '../scripts/serve.mjs';
import { PACKAGE_DIR } from './installed.mjs';

const { CHROMIUM } = process.env;

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const blocksOf = (language) => {
  return [...read('README.md').matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , code]) => code);
};

/** What a block says that it prints: the comment behind each console.log, up to a colon and an explanation. */
const promisedBy = (code) => [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);

// What an example imports beside the package is a dependency of these tests.
const tokenizer = join(PACKAGE_DIR, 'node_modules/gpt-tokenizer');
if (!existsSync(tokenizer)) symlinkSync(fileURLToPath(new URL('../node_modules/gpt-tokenizer', import.meta.url)), tokenizer, 'junction');

for (const [index, code] of blocksOf('js').entries()) {
  test(`js block ${index + 1} prints what its comments say`, (t) => {
    const file = join(PACKAGE_DIR, `readme-${index}.mjs`);
    t.after(() => rmSync(file));
    writeFileSync(file, code);
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    assert.equal(stderr, '');
    assert.equal(status, 0);
    const printed = stdout.trimEnd().split('\n');
    const promised = promisedBy(code);
    assert.notEqual(promised.length, 0);
    assert.deepEqual(
      promised.map((comment, line) => (comment.startsWith(`${printed[line]}: `) ? printed[line] : comment)),
      printed,
    );
  });
}

test('the html block runs in a browser, from a folder with node_modules', async (t) => {
  const folder = mkdtempSync(join(PACKAGE_DIR, 'readme-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'index.html'), blocksOf('html')[0]);
  const folders = { '/node_modules/': join(PACKAGE_DIR, 'node_modules'), '/': folder };
  // Its scripts are inline.
  const headers = { 'Content-Security-Policy': "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'" };
  const server = await serve({ port: 0, folders, headers });
  t.after(() => server.close());
  const browser = await chromium.launch({ executablePath: CHROMIUM });
  t.after(() => browser.close());
  const page = await browser.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(server.url);
  await page.locator('pre:not(:empty)').waitFor({ timeout: 10_000 });
  assert.deepEqual(errors, []);
  const messages = JSON.parse(await page.locator('pre').textContent());
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content]),
    [
      ['system', 'The user wants a shorter README.'],
      ['user', 'All of it.'],
    ],
  );
});

test('the first examples are files too', () => {
  assert.equal(blocksOf('js')[0], read('examples/node.mjs'));
  assert.equal(blocksOf('html')[0], read('examples/browser.html'));
});

test('the Rust example is that of the crate, which cargo tests', () => {
  const doc = [...read('src/lib.rs').matchAll(/^\/\/! ?(.*)$/gm)].map(([, line]) => line).join('\n');
  const [, code] = /^```\n([^]*?)^```$/m.exec(doc);
  assert.equal(blocksOf('rust')[0], code.replace(/^# .*\n/gm, ''));
});

test('the tables name every option and every error code that the types have', () => {
  const readme = read('README.md');
  const types = read('src/js/index.d.ts');
  for (const name of ['Common', 'CleanToolRepair', 'SummaryPrefix', 'ReachabilityGc', 'Custom']) {
    const [body] = new RegExp(`^export interface ${name}(Options|Fields)\\b[^]*?^}`, 'm').exec(types);
    for (const [, option] of body.matchAll(/^ {2}readonly (\w+)/gm)) assert.match(readme, new RegExp(`\`${option}`));
  }
  const codes = /^export type ErrorCode =[^]*?;$/m.exec(types)[0];
  for (const [, code] of codes.matchAll(/\| '(\w+)'/g)) assert.match(readme, new RegExp(`\`${code}\``));
});
