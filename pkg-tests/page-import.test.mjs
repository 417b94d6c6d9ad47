// Session files in the page: whatever is opened, what is known of it, and the way back to the file.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as engine from '../dist/node.js';
import { WAIT, choose, drop, folder, open, paste, readRows, settled, showAll, start, stop } from './page/driver.mjs';

before(start);
after(stop);

const use = (id, name, input) => ({ type: 'tool_use', id, name, input });
const result = (id, content, more) => ({ type: 'tool_result', tool_use_id: id, content, ...more });
const user = (content, more) => ({ type: 'user', message: { role: 'user', content }, ...more });
const assistant = (id, content, more) => ({ type: 'assistant', message: { id, role: 'assistant', content }, ...more });

/** A session of Claude Code's: each line hangs on the one before, unless it says otherwise. */
const lines = [
  user('Run the tests – bitte.'),
  assistant('m1', [use('t1', 'bash', { cmd: 'tset' })]),
  user([result('t1', '<tool_use_error>no such command</tool_use_error>')]),
  assistant('m2', [{ type: 'text', text: 'Again.' }]),
  assistant('m2', [use('t2', 'bash', { n: 'BIG' })]),
  user([result('t2', 'passed')]),
  assistant('m3', [use('t3', 'write', {})]),
  user([result('t3', 'No.', { is_error: true })], { toolDenialKind: 'user-rejected' }),
  assistant('m4', 'A wrong turn.'),
  user('Rather this way.', { parentUuid: 'u7' }),
  assistant('a1', 'Aside.', { uuid: 's1', parentUuid: null, isSidechain: true, agentId: 'agent-7' }),
].map((line, index) => {
  const uuid = line.uuid ?? `u${index}`;
  const parentUuid = line.parentUuid === undefined ? (index ? `u${index - 1}` : null) : line.parentUuid;
  return JSON.stringify({ ...line, uuid, parentUuid, sessionId: 's' }).replace('"BIG"', '9007199254740993');
});
const SESSION = `\ufeff${[...lines, '42', '{"type":"us'].join('\r\n')}`;

const openFile = async (page, name, content) => {
  const file = join(folder, name);
  writeFileSync(file, content);
  await page.setInputFiles('#file', file);
  await page.waitForFunction((start) => document.querySelector('.source')?.textContent.startsWith(start), name, WAIT);
  await settled(page);
};
const show = async (page, view, count) => {
  await page.selectOption('#view', view);
  await page.waitForFunction(
    (wanted) => document.querySelector('.filter.all .count').textContent === String(wanted) && !document.body.classList.contains('busy'),
    count,
    WAIT,
  );
  await settled(page);
};

test('a session file: what it is and why, its numbers, what could not be read', async (t) => {
  const page = await open(t);
  await openFile(page, 'session.jsonl', SESSION);
  const { stats, warnings } = engine.importTranscript(SESSION);
  assert.equal(warnings.length, 2);
  assert.match(await page.textContent('.about-file > summary'), /^Claude Code session \(JSONL\), 1\.\d KB certain2 warnings$/);
  assert.ok(!(await page.locator('.about-file').getAttribute('open')), 'the details are closed at first');
  await page.locator('.about-file > summary').click();
  assert.match(await page.textContent('.about-file'), /Recognised by lines with type, message and uuid or sessionId\./);
  const facts = await page.textContent('#about .facts');
  assert.match(facts, new RegExp(`Messages${stats.messages} in 13 lines`));
  assert.match(facts, /Calls3, 3 results/);
  assert.match(facts, /Failures1, 1 of them guessed from a text or an exit code, 1 more refused by the user/);
  assert.match(facts, /1 sidechain:agent-7/);
  assert.match(await page.textContent('.banner.note'), /Not all of this file was read as it stands\. Line 12: a number, no object: left out/);
  await page.getByRole('button', { name: 'Show all 2' }).click();
  assert.deepEqual(await page.locator('.warnings li').allTextContents(), [
    'Line 12: a number, no object: left out',
    'Line 13: a line that was cut off: left out',
  ]);
  assert.deepEqual(page.errors, []);
});

test('policies know what the file says of its results', async (t) => {
  const page = await open(t);
  await openFile(page, 'session.jsonl', SESSION);
  await choose(page, 'clean_tool_repair');
  const rows = await readRows(page);
  assert.deepEqual(rows.map(({ status }) => status).slice(0, 5), ['kept', 'dropped', 'dropped', 'kept', 'kept']);
  assert.deepEqual(await page.locator('#r2 .raw .tag.bad').allTextContents(), ['failed (a guess)']);
  assert.deepEqual(await page.locator('#r6 .head .tag').allTextContents(), ['refused by the user']);
  assert.ok(await page.locator('#r6.kept').count(), 'a refusal is no failure');
});

test('what the model does not see any more is listed on request, and marked in words', async (t) => {
  const page = await open(t);
  await openFile(page, 'session.jsonl', SESSION);
  const contents = async () => (await readRows(page)).map(({ rawTexts }) => rawTexts.at(-1));
  assert.ok(!(await contents()).includes('A wrong turn.'));
  await show(page, 'all', 10);
  await showAll(page);
  assert.ok((await contents()).includes('A wrong turn.') && (await contents()).includes('Aside.'));
  assert.deepEqual(await page.locator('.head .tag.cut').allTextContents(), ['abandoned']);
  assert.deepEqual(await page.locator('.head .tag.side').allTextContents(), ['sub-agent agent-7']);
  assert.match(await page.textContent('.banner.note'), /Everything in the file is listed/);
  await show(page, 'model', 8);
  assert.equal(await page.locator('.head .tag.cut, .head .tag.side').count(), 0);
});

test('each row leads back to its line of the file', async (t) => {
  const page = await open(t);
  await openFile(page, 'session.jsonl', SESSION);
  await choose(page, 'raw');
  const toggle = page.locator('#r3 .source-toggle');
  assert.equal(await toggle.textContent(), 'lines 4 +1', 'a message that the file has in two lines');
  await toggle.click();
  await page.locator('#r3 .source-text pre').waitFor(WAIT);
  await page.waitForFunction(() => document.querySelector('#r3 .source-text pre').textContent !== '', null, WAIT);
  assert.equal(await page.textContent('#r3 .source-text pre'), lines[3]);
  const { start, end } = engine.importTranscript(SESSION).source[3];
  assert.match(await page.textContent('#r3 .hash'), new RegExp(`bytes ${start} to ${end.toLocaleString('en-US')}, and lines 5 of the file`));
  await toggle.click();
  assert.ok(!(await page.locator('#r3 .source-text').isVisible()));
  assert.equal(await page.textContent('#r0 .source-toggle'), 'line 1');
});

test('in a document, to its path', async (t) => {
  const page = await open(t);
  const document = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'ü' }, { role: 'assistant', content: 'a', n: 1 }] }, null, 1);
  await paste(page, document);
  assert.equal(await page.textContent('#r1 .source-toggle'), 'messages[1]');
  await page.locator('#r1 .source-toggle').click();
  await page.waitForFunction(() => document.querySelector('#r1 .source-text pre')?.textContent, null, WAIT);
  assert.deepEqual(JSON.parse(await page.textContent('#r1 .source-text pre')), { role: 'assistant', content: 'a', n: 1 });
});

test('what is saved to be sent is spelled as in the file', async (t) => {
  const page = await open(t);
  await openFile(page, 'session.jsonl', SESSION);
  const view = engine.importTranscript(SESSION).transcript.project('clean_tool_repair');
  for (const form of ['json', 'jsonl']) {
    const name = form === 'json' ? 'To send, as JSON' : 'To send, as JSON Lines';
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name, exact: true }).click(),
    ]);
    const text = readFileSync(await download.path(), 'utf8');
    assert.equal(text.trimEnd(), engine.exportMessages(view, form).trimEnd());
    assert.match(text, /9007199254740993/);
    assert.equal(download.suggestedFilename(), `session.provider.${form}`);
  }
});

test('a file of several conversations, and one of an unlikely format', async (t) => {
  const page = await open(t);
  const data = ['one', 'two', 'three'].map((content) => JSON.stringify({ messages: [{ role: 'user', content }] })).join('\n');
  await drop(page, 'data.jsonl', data);
  await page.locator('#rows').getByText('one').first().waitFor(WAIT);
  await page.locator('.about-file > summary').click();
  await page.fill('#transcript', '3');
  await page.locator('#transcript').dispatchEvent('change');
  await page.locator('#rows').getByText('three').first().waitFor(WAIT);
  assert.equal(await page.inputValue('#transcript'), '3');
  await page.selectOption('#format', 'anthropic');
  await page.waitForFunction(() => /^Anthropic/.test(document.querySelector('.about-file > summary').textContent), null, WAIT);
  assert.equal(await page.inputValue('#format'), 'anthropic');
  await drop(page, 'other.json', '[{"role":"user","content":"plain"}]');
  assert.match(await page.textContent('.about-file > summary'), /^OpenAI Chat/, 'the next file is looked at anew');
  assert.deepEqual(page.errors, []);
});

test('a file that cannot be read in another way stays as it was', async (t) => {
  const page = await open(t);
  await openFile(page, 'session.jsonl', SESSION);
  await page.locator('.about-file > summary').click();
  await page.selectOption('#format', 'atif');
  await page.waitForFunction(() => document.querySelector('#problem').textContent !== '', null, WAIT);
  assert.equal(await page.inputValue('#format'), 'auto');
  assert.match(await page.textContent('.about-file > summary'), /^Claude Code/);
  assert.equal(await page.locator('#r0').count(), 1);
});

test('many warnings come a few at a time', async (t) => {
  const page = await open(t);
  await openFile(page, 'many.jsonl', `{"role":"user","content":"x"}\n${'42\n'.repeat(3000)}`);
  assert.ok((await page.locator('.warnings li').count()) <= 50);
  await page.getByRole('button', { name: 'Show all 3,000' }).click();
  await page.locator('.warnings .more').click();
  assert.equal(await page.locator('.warnings li').count(), 100);
  assert.match(await page.textContent('.warnings .more'), /2,900 left/);
});

// 50 MB, mostly in one field: no task of the main thread may take a second.
test('a large session file is read in the worker', { timeout: 120_000 }, async (t) => {
  const page = await open(t);
  const body = 'const value = 1;\\n'.repeat(20_000);
  const big = lines.map((line, index) => (index === 5 ? line.replace('passed', body.repeat(60)) : line));
  for (let more = 0; more < 100; more += 1) {
    big.push(JSON.stringify({ ...user('more'), uuid: `x${more}`, parentUuid: more ? `x${more - 1}` : 'u9', sessionId: 's' }).replace('more', body));
  }
  await openFile(page, 'large.jsonl', big.join('\n'));
  await choose(page, 'raw'); // nothing is folded then
  await page.locator('.filter.all').click();
  await page.locator('#r4').waitFor(WAIT);
  await page.locator('#r4 .source-toggle').click();
  await page.waitForFunction(() => document.querySelector('#r4 .source-text pre')?.textContent, null, WAIT);
  const { longest, shown, elements } = await page.evaluate(() => ({
    longest: Math.max(0, ...globalThis.longTasks),
    shown: document.querySelector('#r4 .source-text pre').textContent.length,
    elements: document.querySelectorAll('*').length,
  }));
  assert.ok(longest < 1000, `a task of ${Math.round(longest)} ms on the main thread`);
  assert.ok(shown < 50_000, 'only a piece of the source is shown');
  assert.ok(elements < 25_000);
  t.diagnostic(`longest task of the main thread: ${Math.round(longest)} ms`);
});
