// Drives the page in a real Chromium, and reads what it shows.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { root, which } from '../../scripts/lib.mjs';
import { serve } from '../../scripts/serve.mjs';

export const OPENAI = 'openai-fix-failing-test.json';
export const ANTHROPIC = 'anthropic-signed-thinking.json';
export const sampleText = (name) => readFileSync(join(root, 'www/samples', name), 'utf8');
export const sample = (name) => JSON.parse(sampleText(name));
export const WAIT = { timeout: 20_000 };

export let browser;
export let server;
/** A folder for the files of a test. */
export let folder;

export async function start() {
  folder = mkdtempSync(join(tmpdir(), 'page-test-'));
  server = await serve({ port: 0 });
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? which('chromium') ?? which('google-chrome'),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export async function stop() {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
}

/** A page that is loaded and shows its first sample. Everything that goes wrong in it fails the test. */
export async function open(t, { url = server.url, context: options = {}, hash = '', prepare } = {}) {
  const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options });
  t.after(() => context.close());
  const page = await context.newPage();
  page.errors = [];
  page.requests = [];
  page.on('pageerror', (error) => page.errors.push(error.message));
  page.on('console', (message) => message.type() === 'error' && page.errors.push(message.text()));
  page.on('request', (request) => page.requests.push(request.url()));
  await page.addInitScript(() => {
    globalThis.longTasks = [];
    new PerformanceObserver((list) =>
      globalThis.longTasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({ type: 'longtask', buffered: true });
  });
  await prepare?.(page);
  await page.goto(url + hash);
  await settled(page);
  return page;
}

/** Nothing is being read or projected, and there is something to see. */
export async function settled(page) {
  await page.waitForFunction(
    () =>
      !document.body.classList.contains('busy') &&
      document.querySelector('#local').dataset.locked === 'yes' &&
      document.querySelector('#rows [role=row].row, #problem .banner, #empty:not([hidden])'),
    null,
    WAIT,
  );
}

export async function choose(page, policy) {
  await page.check(`input[name=policy][value=${policy}]`);
  await page.waitForFunction((wanted) => document.querySelector('#totals')?.dataset.policy === wanted, policy, WAIT);
  await settled(page);
}

export const showAll = (page) =>
  page.evaluate(async () => {
    for (let fold; (fold = document.querySelector('.fold button'));) {
      fold.click();
      await new Promise((done) => setTimeout(done, 60));
    }
  });

/** What the table says, row by row. */
export const readRows = (page) =>
  page.$$eval('#rows .row', (rows) =>
    rows.map((row) => {
      const [rawNumber, raw, seenNumber, seen] = row.children;
      const text = (cell) => [...cell.querySelectorAll('.parts pre')].map((pre) => pre.textContent);
      const shown = (cell) => cell.querySelector('[aria-hidden]').textContent;
      return {
        raw: shown(rawNumber),
        seen: shown(seenNumber),
        status: row.querySelector('.status').textContent,
        reasons: [...row.querySelectorAll('.reasons li')].map((item) => item.textContent),
        rawTexts: text(raw),
        seenTexts: text(seen),
        sameTop: Math.abs(raw.getBoundingClientRect().top - seen.getBoundingClientRect().top) < 1,
      };
    }),
  );

/** The same, worked out from a view of the package. */
function expectedRows(messages, view) {
  const rows = [];
  let place = 0;
  const added = () => {
    while (view.messages[place]?._harn_projection?.synthetic)
      rows.push({ raw: '–', seen: String(place++), status: 'summary' });
  };
  messages.forEach((_, index) => {
    if (view.dropped_indices.includes(index)) {
      rows.push({ raw: String(index), seen: '–', status: 'dropped' });
      return;
    }
    added();
    const status = view.trimmed_indices.includes(index)
      ? 'trimmed'
      : view.redacted_indices.includes(index)
        ? 'redacted'
        : view.stripped_indices.includes(index)
          ? 'stripped'
          : 'kept';
    rows.push({ raw: String(index), seen: String(place++), status });
  });
  added();
  return rows;
}

export function compareWithView(policy, messages, view, rows) {
  assert.deepEqual(
    rows.map(({ raw, seen, status }) => ({ raw, seen, status })),
    expectedRows(messages, view),
    policy,
  );
  assert.ok(
    rows.every(({ sameTop }) => sameTop),
    `${policy}: the two sides of a row begin at the same height`,
  );
  for (const row of rows) {
    if (row.status === 'kept') assert.deepEqual(row.rawTexts, row.seenTexts);
    else
      assert.ok(
        row.reasons.length > 0 && row.reasons.every((reason) => reason.length > 8),
        `${policy}: row ${row.raw} says why`,
      );
    if (row.status === 'dropped') assert.deepEqual(row.seenTexts, []);
  }
}

export async function drop(page, name, text) {
  await page.evaluate(
    ([fileName, content]) => {
      const data = new DataTransfer();
      data.items.add(new File([content], fileName, { type: 'application/json' }));
      for (const type of ['dragover', 'drop'])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    [name, text],
  );
  await page.waitForTimeout(50);
  await settled(page);
}

export async function paste(page, text) {
  await page.evaluate((content) => {
    const data = new DataTransfer();
    data.setData('text/plain', content);
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
  await page.waitForTimeout(50);
  await settled(page);
}

export const numbers = (page) =>
  page.$$eval('.sums tbody tr', (lines) =>
    lines.map((line) => [...line.children].slice(1).map((cell) => Number(cell.textContent.replace(/\D/g, '') || NaN))),
  );
