// The page in a real Chromium: what it shows, what it refuses to do, and that it stays quick.
// PAGE_LARGE=1 adds a transcript of 126 MB.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import * as engine from '../dist/node.js';
import { root } from '../scripts/lib.mjs';
import { serve } from '../scripts/serve.mjs';
import { describe as parts } from '../www/describe.js';
import { visible } from '../www/text.js';
import {
  ANTHROPIC,
  OPENAI,
  WAIT,
  browser,
  choose,
  compareWithView,
  drop,
  folder,
  numbers,
  open,
  paste,
  readRows,
  sample,
  sampleText,
  server,
  settled,
  showAll,
  start,
  stop,
} from './page/driver.mjs';

before(start);
after(stop);

describe('what it shows', () => {
  for (const name of [OPENAI, ANTHROPIC]) {
    test(`${name} under every policy: rows, words and numbers are those of the projection`, async (t) => {
      const page = await open(t);
      const transcript = sample(name);
      if (name !== OPENAI) await page.selectOption('#sample', name);
      await page.check('#ignore-signatures');
      for (const policy of ['raw', 'clean_tool_repair', 'squash_failed_calls', 'summary_prefix', 'reachability_gc']) {
        await choose(page, policy);
        await showAll(page);
        const view = engine.transcriptProject(transcript, { policy, respect_provider_signatures: false });
        compareWithView(policy, transcript.messages, view, await readRows(page));
        const [raw, seen] = await numbers(page);
        const sum = (list) => list.filter((value) => !Number.isNaN(value)).reduce((total, value) => total + value, 0);
        assert.equal(raw[0], transcript.messages.length);
        assert.equal(seen[0], view.messages.length);
        assert.equal(sum(raw.slice(1)), raw[0], `${policy}: the line of the raw messages adds up`);
        assert.equal(sum(seen.slice(1)), seen[0], `${policy}: the line of what the model sees adds up`);
        const totals = await page.textContent('#totals');
        assert.ok(totals.includes(view.prefix_hash), policy);
        assert.ok(totals.includes(`~${view.reclaimed_tokens.toLocaleString('en-US')} tokens`), policy);
      }
      assert.deepEqual(page.errors, []);
    });
  }

  test('a dropped call says what made it obsolete, with a link to it', async (t) => {
    const page = await open(t);
    const [hidden] = engine.transcriptProject(sample(OPENAI), 'clean_tool_repair').hidden_calls;
    const row = page.locator(`#r${hidden.call_index}`);
    assert.equal(
      await row.locator('.reasons').textContent(),
      `The call of ${hidden.tool_name} failed; the tool succeeded at #${/\d+/.exec(hidden.reason)[0]}.`,
    );
    assert.equal(await row.locator('.reasons a').count(), 1);
  });

  test('the samples show every status', () => {
    const transcript = sample(OPENAI);
    const project = (policy) => engine.transcriptProject(transcript, policy);
    assert.ok(project('clean_tool_repair').dropped_count > 0);
    assert.ok(project('clean_tool_repair').trimmed_indices.length > 0);
    assert.ok(project('reachability_gc').redacted_count > 1);
    assert.ok(
      project('reachability_gc').redacted_indices.length <
        transcript.messages.filter(({ role, content }) => role === 'tool' && content.length >= 500).length,
      'one long read is still referred to',
    );
    assert.ok(
      project({ policy: 'summary_prefix', keep_last: 4 }).messages.some(
        (message) => message._harn_projection?.synthetic,
      ),
    );
    assert.equal(engine.transcriptProject(sample(ANTHROPIC), 'clean_tool_repair').provider_safety_blocked, true);
    assert.ok(engine.transcriptProject(sample(ANTHROPIC), 'reachability_gc').redacted_count > 0);
  });

  test('a custom projector: what it hides, and what a provider would say to it', async (t) => {
    const page = await open(t);
    await choose(page, 'custom');
    const dropped = await page.$$eval('.row.dropped', (rows) => rows.length);
    assert.ok(dropped > 0);
    assert.match(await page.textContent('.banner.refused'), /provider would find \d+ faults?/i);
    await page.selectOption('#option-projector', 'keep_last_ten');
    await page.waitForFunction(
      () => document.querySelector('.sums .total')?.closest('tbody').rows[1].cells[1].textContent === '10',
      null,
      WAIT,
    );
  });

  test('a pointer opens the raw body and says that its hash matches', async (t) => {
    const page = await open(t);
    await choose(page, 'reachability_gc');
    const row = page.locator('.row.redacted').first();
    const index = Number((await row.getAttribute('id')).slice(1));
    await row
      .locator('.side.seen')
      .getByRole('button', { name: /original/ })
      .click();
    await row.locator('.verdict').waitFor(WAIT);
    assert.match(await row.locator('.verdict').textContent(), /matches its hash/);
    const { content } = sample(OPENAI).messages[index];
    assert.equal(await row.locator('.original pre').textContent(), content);
    const pointer = engine
      .transcriptProject(sample(OPENAI), 'reachability_gc')
      .redaction_pointers.find(({ source_index }) => source_index === index);
    assert.equal(await row.locator('.original .hash').textContent(), pointer.content_hash);
  });

  test('a pointer whose body is not the recorded one is said to be wrong', async (t) => {
    const page = await open(t, {
      prepare: (fresh) =>
        fresh.route('**/dist/api.js', async (route) => {
          const response = await route.fetch();
          const text = (await response.text()).replace(
            'engine.recoverRedacted(transcript, pointer)',
            "engine.recoverRedacted(transcript, { ...pointer, content_hash: 'sha256:' + '0'.repeat(64) })",
          );
          await route.fulfill({ response, body: text });
        }),
    });
    await choose(page, 'reachability_gc');
    await page
      .locator('.row.redacted .side.seen')
      .first()
      .getByRole('button', { name: /original/ })
      .click();
    await page.locator('.verdict').first().waitFor(WAIT);
    assert.match(await page.locator('.verdict').first().textContent(), /does not match/);
  });

  test('long runs are folded, and opening a fold shows its rows in place', async (t) => {
    const page = await open(t);
    const fold = page.locator('.fold').first();
    const [, from, to] = /#(\d+) to #(\d+)/.exec(await fold.textContent());
    await fold.getByRole('button', { name: /Show all/ }).click();
    await page.locator(`#r${to}`).waitFor(WAIT);
    const order = (await readRows(page)).map(({ raw }) => Number(raw)).filter((raw) => !Number.isNaN(raw));
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
      'file order',
    );
    assert.equal(
      await page.evaluate(() => document.activeElement.id),
      `r${from}`,
      'the focus is on the first row that came',
    );
  });

  test('raw JSON of a message opens on demand', async (t) => {
    const page = await open(t);
    assert.equal(await page.locator('.json pre').count(), 0);
    await page.locator('#r1').focus();
    await page.keyboard.press('Enter');
    await page.locator('#r1 .json pre').waitFor(WAIT);
    assert.deepEqual(JSON.parse(await page.locator('#r1 .json pre').textContent()), sample(OPENAI).messages[1]);
  });

  test('long text is cut, and comes piece by piece', async (t) => {
    const page = await open(t);
    const text = Array.from({ length: 3000 }, (_, line) => `line ${line} ${'x'.repeat(40)}`).join('\n');
    await paste(page, JSON.stringify([{ role: 'user', content: text }]));
    const pre = page.locator('#r0 .raw pre');
    assert.ok((await pre.textContent()).length < 2000);
    await page.locator('#r0 .raw .more').click();
    await page.waitForFunction(() => document.querySelector('#r0 .raw pre').textContent.length > 1500, null, WAIT);
    const opened = await pre.textContent();
    assert.ok(opened.length <= 24_000 && opened.split('\n').length <= 60);
    assert.ok(text.startsWith(opened));
    assert.equal(
      await page.locator('#r0 .seen pre').textContent(),
      opened,
      'both sides of an unchanged row open together',
    );
  });
});

describe('signatures', () => {
  test('the guard refuses, says where, and the switch previews all the same', async (t) => {
    const page = await open(t);
    assert.equal(await page.locator('.banner').count(), 0);
    await page.selectOption('#sample', ANTHROPIC);
    const refused = page.locator('.banner.refused');
    await refused.waitFor(WAIT);
    const view = engine.transcriptProject(sample(ANTHROPIC), 'clean_tool_repair');
    const [, index] = /at index (\d+)/.exec(view.reason);
    assert.equal(await refused.locator('a').textContent(), `#${index}`);
    assert.equal(await page.locator('.row.dropped').count(), 0);
    await refused.locator('a').click();
    await page.waitForFunction((id) => document.activeElement.id === id, `r${index}`, WAIT);
    assert.equal(new URL(page.url()).hash, `#r${index}`);

    await page.check('#ignore-signatures');
    await page.locator('.banner.preview').waitFor(WAIT);
    assert.match(await page.textContent('.banner.preview'), /Preview only.*a provider may reject this/);
    assert.equal(await refused.count(), 0);
    assert.ok((await page.locator('.row.dropped').count()) > 0);
    const free = engine.transcriptProject(sample(ANTHROPIC), {
      policy: 'clean_tool_repair',
      respect_provider_signatures: false,
    });
    assert.ok(free.invalidated_signature_indices.length > 0);
    assert.deepEqual(
      await page.locator('.banner.note a').allTextContents(),
      free.invalidated_signature_indices.map((each) => `#${each}`),
    );

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Projected messages' }).click(),
    ]);
    assert.match(download.suggestedFilename(), /\.preview\.json$/, 'a preview says so in its name');
    await page.getByRole('button', { name: 'Respect signatures again' }).click();
    await refused.waitFor(WAIT);
  });
});

describe('what to do where signed reasoning stands in the way', () => {
  const policy = 'clean_tool_repair';
  const conflict = '#option-on_signature_conflict';
  const view = (on_signature_conflict) =>
    engine.transcriptProject(sample(ANTHROPIC), { policy, on_signature_conflict });
  const openRefused = async (t) => {
    const page = await open(t);
    await page.selectOption('#sample', ANTHROPIC);
    await page.locator('.banner.refused').waitFor(WAIT);
    return page;
  };
  const answer = async (page, value) => {
    await page.selectOption(conflict, value);
    const { reason } = view(value);
    await page.waitForFunction((words) => document.querySelector('#totals').textContent.includes(words), reason, WAIT);
    await settled(page);
    await showAll(page);
    return view(value);
  };

  test('strip_reasoning: rows without their reasoning say so in words', async (t) => {
    const page = await openRefused(t);
    assert.equal(await page.locator('.filter.stripped').isVisible(), false, 'as long as there is none');
    const stripped = await answer(page, 'strip_reasoning');
    assert.ok(stripped.stripped_indices.length > 1);
    compareWithView(policy, sample(ANTHROPIC).messages, stripped, await readRows(page));
    for (const index of stripped.stripped_indices) {
      const row = page.locator(`#r${index}`);
      assert.match(await row.locator('.reasons').textContent(), /Stripped: its reasoning/);
      assert.equal(await row.locator('.raw .part.thinking .tag.cut').first().textContent(), 'hidden from the model');
      assert.equal(await row.locator('.seen .part.thinking').count(), 0);
    }
    const alone = stripped.stripped_indices.filter((index) => !stripped.trimmed_indices.includes(index));
    assert.equal(await page.locator('.filter.stripped .count').textContent(), String(alone.length));
    assert.equal(await page.locator(`#r${alone[0]} .status`).textContent(), 'stripped');
    assert.match(await page.textContent('.banner.note'), /messages stripped of reasoning/);
    assert.deepEqual(page.errors, []);
  });

  test('skip: what stays for that reason is listed', async (t) => {
    const page = await openRefused(t);
    const skipped = await answer(page, 'skip');
    assert.ok(skipped.skipped_indices.length > 1);
    compareWithView(policy, sample(ANTHROPIC).messages, skipped, await readRows(page));
    assert.deepEqual(
      await page.locator('.banner.note a').allTextContents(),
      skipped.skipped_indices.map((index) => `#${index}`),
    );
    const row = page.locator(`#r${skipped.skipped_indices[0]}`);
    assert.match(await row.locator('.reasons').textContent(), /Left as it is: .*signed reasoning/);
  });

  test('it is there only while signatures are respected', async (t) => {
    const page = await openRefused(t);
    await answer(page, 'skip');
    assert.match(await page.textContent('#hint-on_signature_conflict'), /reasoning of the current turn always stays/);
    await page.check('#ignore-signatures');
    await page.locator('.banner.preview').waitFor(WAIT);
    assert.equal(await page.locator(conflict).isVisible(), false);
    await page.uncheck('#ignore-signatures');
    await page.locator('.banner.preview').waitFor({ ...WAIT, state: 'detached' });
    assert.equal(await page.locator(conflict).inputValue(), 'skip');
    await page.selectOption(conflict, 'raw');
    await page.locator('.banner.refused').waitFor(WAIT);
  });
});

describe('every shape', () => {
  const story = (file) => readFileSync(join(root, 'tests/fixtures/shapes', file), 'utf8');

  // Where the failed call of the story and its result stand, and the window that leaves one old body out.
  const SHAPES = [
    ['openai_responses.json', 'user', [2, 'function_call'], 3, 4],
    ['gemini.json', 'user', [1, 'model'], 2, 4],
    ['gemini_snake.json', 'user', [1, 'model'], 2, 4],
    ['ai_sdk.json', 'user', [1, 'assistant'], 2, 4],
    ['ai_sdk_ui.json', 'user', [1, 'assistant'], 1, 3],
    ['bedrock.json', 'user', [1, 'assistant'], 2, 4],
    ['langchain.json', 'human', [1, 'ai'], 2, 4],
    ['langchain_stored.json', 'human', [1, 'ai'], 2, 4],
    ['langchain_serialized.json', 'human', [1, 'ai'], 2, 4],
  ];

  test('shows roles, texts, calls, results and pointers as what they are', { timeout: 120_000 }, async (t) => {
    const page = await open(t);
    await choose(page, 'raw');
    for (const [file, user, [callAt, caller], resultAt] of SHAPES) {
      await drop(page, file, story(file));
      await showAll(page);
      const row = (index) => page.locator(`#r${index} .raw`);
      assert.equal(await row(0).locator('.role').textContent(), user, file);
      assert.equal(await row(0).locator('pre').textContent(), 'start', file);
      assert.equal(await row(callAt).locator('.role').textContent(), caller, file);
      const call = row(callAt).locator('.part.call').first();
      assert.equal(await call.locator('.name').textContent(), 'edit', file);
      assert.equal(await call.locator('pre').textContent(), 'at: 1', file);
      const result = row(resultAt).locator('.part.result').first();
      assert.equal(await result.locator('.name').textContent(), 'edit', file);
      assert.match(await result.locator('pre').textContent(), /no match$/, file);
      assert.equal(await page.locator('#rows .part.data').count(), 0, `${file}: nothing is shown as raw data`);
    }
    assert.deepEqual(page.errors, []);
  });

  test('opens the raw body behind a pointer', { timeout: 120_000 }, async (t) => {
    const page = await open(t);
    await choose(page, 'reachability_gc');
    await page.fill('#option-min_chars', '100');
    for (const [file, , , , window] of SHAPES) {
      await drop(page, file, story(file));
      // What was typed counts after a pause, and then all rows are new.
      for (const number of [99, window]) {
        await page.fill('#option-root_window', String(number));
        await page.waitForFunction(
          (none) => (document.querySelector('.filter.redacted .count').textContent === '0') === none,
          number === 99,
          WAIT,
        );
      }
      await settled(page);
      const seen = page.locator('.row.redacted .side.seen');
      await seen.waitFor(WAIT);
      const pointer = seen.locator('.part.pointer');
      assert.match(await pointer.locator('pre').first().textContent(), /^\[tool result reclaimed/, file);
      await pointer.getByRole('button', { name: /original/ }).click();
      await pointer.locator('.verdict').waitFor(WAIT);
      assert.match(await pointer.locator('.verdict').textContent(), /matches its hash/, file);
      assert.match(await pointer.locator('.original pre').textContent(), /line of an old listing/, file);
    }
    assert.deepEqual(page.errors, []);
  });

  // Without ids only the place tells the hidden call from the others.
  test('marks the hidden one of parallel calls', async (t) => {
    const page = await open(t);
    for (const file of ['gemini.json', 'ai_sdk_ui.json', 'langchain_stored.json']) {
      await drop(page, file, story(file));
      const marked = page.locator('.row.trimmed .raw .part.call.hidden-call');
      await marked.first().waitFor(WAIT);
      assert.deepEqual(await marked.locator('pre').allTextContents(), ['n: 1'], file);
    }
  });
});

describe('ways in', () => {
  const small = {
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'gone' },
    ],
  };

  test('a dropped file', async (t) => {
    const page = await open(t);
    await drop(page, 'mine.json', JSON.stringify(small));
    assert.match(await page.textContent('.source'), /^mine\.json/);
    assert.deepEqual(
      (await readRows(page)).map(({ rawTexts }) => rawTexts),
      [['go'], ['gone']],
    );
    assert.equal(await page.inputValue('#sample'), '');
  });

  test('a picked file, as JSON Lines with a byte order mark and CRLF', async (t) => {
    const page = await open(t);
    const file = join(folder, 'lines.jsonl');
    writeFileSync(file, `\ufeff${small.messages.map((message) => JSON.stringify(message)).join('\r\n')}\r\n\r\n`);
    await page.setInputFiles('#file', file);
    await page.waitForFunction(
      () => document.querySelector('.source').textContent.startsWith('lines.jsonl'),
      null,
      WAIT,
    );
    assert.match(await page.textContent('.about-file > summary'), /^OpenAI Chat Completions, 76 B/);
    assert.match(await page.textContent('#about .facts'), /Messages2 in 3 lines/);
    assert.equal(await page.locator('#rows .row').count(), 2);
  });

  test('pasting anywhere, and through the dialog', async (t) => {
    const page = await open(t);
    await paste(page, JSON.stringify(small.messages));
    assert.deepEqual(
      (await readRows(page)).map(({ rawTexts }) => rawTexts),
      [['go'], ['gone']],
    );
    await page.getByRole('button', { name: 'Paste…' }).click();
    await page.fill('#paste-text', JSON.stringify([{ role: 'user', content: 'typed' }]));
    await page.getByRole('button', { name: 'Project it' }).click();
    await page.locator('#rows').getByText('typed').first().waitFor(WAIT);
  });

  test('a transcript that cannot be projected leaves nothing of the one before', async (t) => {
    const page = await open(t);
    await choose(page, 'reachability_gc');
    await page.fill('#option-root_window', 'many');
    await page.locator('#option-root_window[aria-invalid=true]').waitFor(WAIT);
    const file = join(folder, 'next.json');
    writeFileSync(file, JSON.stringify(small));
    await page.setInputFiles('#file', file);
    await page.waitForFunction(() => document.querySelector('.filter.all .count').textContent === '0', null, WAIT);
    assert.equal(await page.locator('#rows .row').count(), 0);
    await page.fill('#option-root_window', '2');
    await page.waitForFunction(() => document.querySelectorAll('#rows .row').length === 2, null, WAIT);
    assert.match(await page.textContent('.source'), /^next\.json/);
    assert.deepEqual(page.errors, []);
  });

  test('an address with a row opens at that row', async (t) => {
    const page = await open(t, { hash: '#r20' });
    await page.waitForFunction(() => document.activeElement.id === 'r20', null, WAIT);
    assert.ok(await page.locator('#r20').isVisible());
  });

  const bad = [
    [
      'broken.json',
      '{\n "messages": [\n  {"role": "user", "content": "a"},\n  {"role": "user" "content": "b"}\n ]\n}',
      /not valid JSON: expected `,` or `}`.*Line 4, column \d+\. {2}\{"role": "user" *"?content/s,
    ],
    ['cut.json', '{"messages": [{"role": "us', /EOF while parsing.*Line 1/s],
    ['deep.json', `[{"role":"user","content":${'['.repeat(2000)}${']'.repeat(2000)}}]`, /recursion limit/],
    ['notes.txt', 'Dear diary', /No format.*text that is no JSON/s],
    ['other.json', '{"name": "thing", "version": 1}', /No format.*fields name, version/s],
    ['object.json', '{"messages": {"role": "user"}}', /No format.*fields messages/],
    ['empty.json', '', /nothing in it/],
    ['packed.eval', 'PK\u0003\u0004\u0014\0\0\0', /It is a ZIP archive.*unpack it/],
    ['state.vscdb', 'SQLite format 3\0\u0010', /It is an SQLite database.*export/],
  ];
  test('bad files are explained, with the line, and change nothing', async (t) => {
    const page = await open(t);
    for (const [name, text, wanted] of bad) {
      await drop(page, name, text);
      await page.waitForFunction(
        (start) => document.querySelector('#problem').textContent.startsWith(start),
        `${name} could not be read.`,
        WAIT,
      );
      assert.match(await page.textContent('#problem'), wanted);
      assert.match(await page.textContent('.source'), /^openai/, 'what was there before stays');
    }
    await drop(page, 'good.json', JSON.stringify(small));
    assert.equal(await page.textContent('#problem'), '', 'the next good file takes the message away');
    assert.deepEqual(page.errors, []);
  });
});

describe('controls', () => {
  test('an error of the engine stands beside the control it is about', async (t) => {
    const page = await open(t);
    await choose(page, 'reachability_gc');
    await page.fill('#option-root_window', 'many');
    await page.locator('#option-root_window[aria-invalid=true]').waitFor(WAIT);
    assert.match(await page.textContent('#error-root_window'), /root_window.*whole number/);
    assert.ok((await page.locator('.row').count()) > 0, 'the last good projection stays');
    await page.fill('#option-root_window', '2');
    await page.locator('#option-root_window:not([aria-invalid])').waitFor(WAIT);
    assert.equal(await page.textContent('#error-root_window'), '');
  });

  test('options reach the engine', async (t) => {
    const page = await open(t);
    await choose(page, 'summary_prefix');
    await page.fill('#option-keep_last', '4');
    await page.fill('#option-summary', 'So far so good.');
    await page.selectOption('#option-summary_role', 'user');
    await page.locator('.row.summary', { hasText: 'So far so good.' }).waitFor(WAIT);
    await page.getByText('All policies').click();
    await page.fill('#option-reason', 'to see');
    await page.waitForFunction(() => document.querySelector('#totals').textContent.includes('to see'), null, WAIT);
    await page.uncheck('#option-prefix_hash');
    await page.waitForFunction(() => document.querySelector('#totals').textContent.includes('not hashed'), null, WAIT);
    await page.locator('.event summary').click();
    await page.locator('.event pre').waitFor(WAIT);
    while (await page.locator('.event .more').count()) {
      await page.locator('.event .more').click();
      await page.waitForTimeout(50);
    }
    const event = JSON.parse(await page.textContent('.event pre'));
    const view = engine.transcriptProject(sample(OPENAI), {
      policy: 'summary_prefix',
      keep_last: 4,
      summary: 'So far so good.',
      summary_role: 'user',
      reason: 'to see',
      prefix_hash: false,
    });
    assert.deepEqual(event, view.event);
  });

  test('what is saved is what the package gives', async (t) => {
    const page = await open(t);
    const view = engine.transcriptProject(sample(OPENAI), 'clean_tool_repair');
    const wanted = {
      'Projected messages': [view.messages, 'messages.json'],
      'To send, as JSON': [engine.providerMessages(view), 'provider.json'],
      'To send, as JSON Lines': [engine.providerMessages(view), 'provider.jsonl'],
      'Projection event': [view.event, 'event.json'],
    };
    for (const [name, [value, ending]] of Object.entries(wanted)) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('#downloads').getByRole('button', { name, exact: true }).click(),
      ]);
      const text = readFileSync(await download.path(), 'utf8');
      const saved = ending.endsWith('jsonl') ? `[${text.trimEnd().replaceAll('\n', ',')}]` : text;
      assert.deepEqual(JSON.parse(saved), value, name);
      assert.ok(download.suggestedFilename().endsWith(`.${ending}`), download.suggestedFilename());
    }
  });

  test('filters list only what they say', async (t) => {
    const page = await open(t);
    await page.locator('.filter.dropped').click();
    await page.waitForFunction(() => !document.querySelector('.row.kept'), null, WAIT);
    const rows = await readRows(page);
    assert.ok(rows.length > 0 && rows.every(({ status }) => status === 'dropped'));
    assert.equal(rows.length, Number(await page.textContent('.filter.dropped .count')));
    await page.locator('.filter.redacted').click();
    await page.locator('#empty').waitFor(WAIT);
    assert.match(await page.textContent('#empty'), /No message is redacted/);
  });

  test('find counts in all the data, wraps, and opens folds', async (t) => {
    const page = await open(t);
    const text = 'read_file';
    const hits = sample(OPENAI).messages.flatMap((message, index) =>
      JSON.stringify(message).includes(text) ? [index] : [],
    );
    assert.ok(hits.length > 1 && (await page.locator(`#r${hits[0]}`).count()) === 0, 'the first hit is folded away');
    await page.fill('#find', text.toUpperCase());
    await page.keyboard.press('Enter');
    await page.locator(`#r${hits[0]}.hit`).waitFor(WAIT);
    assert.equal(await page.textContent('#find-count'), `1 of ${hits.length}`);
    for (let step = 0; step < hits.length; step += 1) await page.keyboard.press('Enter');
    await page.waitForFunction(
      (wanted) => document.querySelector('#find-count').textContent === wanted,
      `1 of ${hits.length}`,
      WAIT,
    );
    await page.fill('#find', 'no such text anywhere');
    await page.waitForFunction(() => document.querySelector('#find-count').textContent === 'no hits', null, WAIT);
  });

  test('a hit beyond what a row shows is quoted', async (t) => {
    const page = await open(t);
    await paste(page, JSON.stringify([{ role: 'user', content: `${'filler '.repeat(1000)}the needle is here` }]));
    await page.fill('#find', 'NEEDLE');
    await page.keyboard.press('Enter');
    await page.locator('.excerpt mark').waitFor(WAIT);
    assert.equal(await page.textContent('.excerpt mark'), 'needle');
  });

  test('single keys act in the table only', async (t) => {
    const page = await open(t);
    await page.locator('h1').click();
    await page.keyboard.press('n');
    assert.equal(await page.evaluate(() => document.activeElement === document.body), true);
    await page.focus('#rows');
    await page.keyboard.press('n');
    await page.waitForFunction(() => document.activeElement.matches('.row:not(.kept)'), null, WAIT);
    const first = await page.evaluate(() => document.activeElement.id);
    await page.keyboard.press('j');
    await page.waitForFunction(
      (id) => document.activeElement.matches('.row') && document.activeElement.id !== id,
      first,
      WAIT,
    );
    await page.keyboard.press('k');
    await page.waitForFunction((id) => document.activeElement.id === id, first, WAIT);
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'find');
    await page.keyboard.type('njk');
    assert.equal(await page.inputValue('#find'), 'njk');
  });

  test('a focused row is not under the toolbar', async (t) => {
    const page = await open(t);
    await showAll(page);
    await page.focus('#rows');
    for (let step = 0; step < 12; step += 1) await page.keyboard.press('j');
    for (let step = 0; step < 9; step += 1) await page.keyboard.press('k');
    await page.waitForTimeout(300);
    const [row, toolbar] = await page.evaluate(() => [
      document.activeElement.getBoundingClientRect().top,
      document.querySelector('#toolbar').getBoundingClientRect().bottom,
    ]);
    assert.ok(row >= toolbar - 1, `${row} ${toolbar}`);
  });
});

describe('untrusted text', () => {
  const evil =
    '<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script><a href="javascript:globalThis.pwned=1">x</a>"\'`</pre></div>';
  const everywhere = [
    { role: 'user', content: evil, name: evil, [evil]: evil },
    { role: evil, content: evil },
    {
      role: 'assistant',
      content: evil,
      tool_calls: [
        { id: evil, type: 'function', function: { name: evil, arguments: JSON.stringify({ [evil]: evil }) } },
      ],
    },
    { role: 'tool', tool_call_id: evil, name: evil, content: `Error: ${evil}` },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `${evil}2`, type: 'function', function: { name: evil, arguments: evil } }],
    },
    { role: 'tool', tool_call_id: `${evil}2`, content: evil.repeat(20) },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: evil, signature: evil },
        { type: evil, text: evil },
        { type: 'text', text: evil },
        { type: 'image', source: { media_type: evil, data: evil } },
        { type: 'tool_use', id: evil, name: '__proto__', input: { __proto__: evil, constructor: evil } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: evil,
          content: [
            { type: 'text', text: evil },
            { type: 'image', source: evil },
          ],
          is_error: true,
        },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'again', name: '__proto__', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'again', content: 'ok' }] },
    { role: 'assistant', content: evil },
  ];

  for (const policy of ['clean_tool_repair', 'summary_prefix', 'reachability_gc', 'custom']) {
    test(`stays text under ${policy}`, async (t) => {
      const page = await open(t);
      const before = await page.evaluate(() => ({ title: document.title, scripts: document.scripts.length }));
      await drop(page, `${evil}.json`, JSON.stringify({ messages: everywhere, summary: evil, id: evil }));
      assert.equal(await page.textContent('#problem'), '');
      await page.check('#ignore-signatures');
      if (policy === 'reachability_gc')
        await page.evaluate(() => {
          document.querySelector('#option-root_window').value = '1';
        });
      await choose(page, policy);
      await showAll(page);
      for (const toggle of await page.locator('.json-toggle, .source-toggle, .row .more').all())
        if (await toggle.isVisible()) await toggle.click();
      await page.fill('#find', '<img');
      await page.keyboard.press('Enter');
      await page.waitForTimeout(400);
      const found = await page.evaluate(() => ({
        pwned: globalThis.pwned,
        title: document.title,
        scripts: document.scripts.length,
        tags: [
          ...new Set(
            [...document.querySelectorAll('#rows *, #banners *, #about *, #totals *, #problem *')].map((node) => node.localName),
          ),
        ].sort(),
        links: [...document.querySelectorAll('main a')]
          .map((link) => link.getAttribute('href'))
          .filter((href) => !/^#r\d+$/.test(href)),
        names: [...document.querySelectorAll('#rows *')]
          .flatMap((node) => [node.id, ...node.classList])
          .filter((name) => /[^a-z0-9-]/.test(name)),
        attributes: [
          ...new Set([...document.querySelectorAll('#rows *:not(.space)')].flatMap((node) => node.getAttributeNames())),
        ].filter((name) => /^on|^style$|^src/.test(name)),
        shown: document.querySelector('#rows').textContent.includes('<script>globalThis.pwned=1</script>'),
      }));
      assert.equal(found.pwned, undefined);
      assert.deepEqual({ title: found.title, scripts: found.scripts }, before);
      const own = [
        'a',
        'button',
        'caption',
        'dd',
        'details',
        'div',
        'dl',
        'dt',
        'label',
        'li',
        'mark',
        'option',
        'p',
        'path',
        'pre',
        'section',
        'select',
        'span',
        'strong',
        'summary',
        'svg',
        'table',
        'tbody',
        'td',
        'th',
        'thead',
        'tr',
        'ul',
      ];
      assert.deepEqual(
        found.tags.filter((tag) => !own.includes(tag)),
        [],
      );
      assert.deepEqual([found.links, found.names, found.attributes], [[], [], []]);
      assert.ok(found.shown, 'it is shown as the text it is');
      assert.deepEqual(page.errors, []);
    });
  }

  test('what cannot be seen is shown as an escape', async (t) => {
    const page = await open(t);
    const text = 'a\u202eb\u200bc\x1b[31mred\x1b[0m\x07 \ud800 tag\u{e0041} nul\0 end';
    await paste(page, JSON.stringify([{ role: 'us\u202eer', content: text }]));
    const shown = await page.textContent('#r0 .raw pre');
    assert.equal(shown, 'a\\u202eb\\u200bc\\x1b[31mred\\x1b[0m\\x07 \\ud800 tag\\u{e0041} nul\\x00 end');
    assert.equal(await page.textContent('#r0 .raw .role'), 'us\\u202eer');
    assert.ok((await page.locator('#r0 .raw .escape').count()) >= 6);
    assert.equal(visible('plain\ttext\r\nünïcödé 漢字 👍'), 'plain\ttext\r\nünïcödé 漢字 👍');
  });
});

describe('network', () => {
  const noPolicyHeader = () => serve({ port: 0, headers: { 'Content-Security-Policy': 'upgrade-insecure-requests' } });

  /** Does everything that a reader does and answers with what was asked of the network meanwhile. */
  async function requestsWhileReading(page) {
    const before = page.requests.length;
    await drop(page, 'mine.json', sampleText(ANTHROPIC));
    for (const policy of ['raw', 'summary_prefix', 'reachability_gc', 'custom', 'clean_tool_repair'])
      await choose(page, policy);
    await page.fill('#find', 'export');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(300);
    return page.requests.slice(before).filter((url) => !url.startsWith('blob:'));
  }

  for (const [name, startHost] of [
    ['with the headers of the server', () => serve({ port: 0 })],
    ['on a static host without headers', noPolicyHeader],
  ]) {
    test(`no request after load, and none possible: ${name}`, async (t) => {
      const host = await startHost();
      t.after(() => host.close());
      const page = await open(t, { url: host.url });
      assert.deepEqual(await requestsWhileReading(page), []);
      assert.deepEqual(page.errors, []);
      const attempt = (address) =>
        fetch(address).then(
          () => 'sent',
          () => 'blocked',
        );
      assert.equal(await page.evaluate(attempt, host.url), 'blocked', 'the page itself');
      const [worker] = page.workers();
      assert.equal(await worker.evaluate(attempt, host.url), 'blocked', 'the worker');
      // Later, because code that the debugger evaluates may do what the policy forbids.
      assert.equal(
        await worker.evaluate(
          () =>
            new Promise((done) =>
              setTimeout(() => {
                try {
                  done((0, eval)('"ran"'));
                } catch {
                  done('blocked');
                }
              }),
            ),
        ),
        'blocked',
        'the worker has the policy of the page',
      );
      assert.equal(
        await page.evaluate(() => {
          try {
            document.body.innerHTML = '<p>';
            return 'written';
          } catch {
            return 'blocked';
          }
        }),
        'blocked',
        'markup from strings',
      );
    });
  }

  test('the sources have no way from strings to markup', () => {
    const modules = readdirSync(join(root, 'www')).filter((file) => file.endsWith('.js'));
    assert.ok(modules.includes('rows.js') && modules.length > 10);
    for (const file of modules) {
      assert.doesNotMatch(
        readFileSync(join(root, 'www', file), 'utf8'),
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|setHTML|\beval\b|new Function/,
        file,
      );
    }
  });

  test('it works in a sub-folder of a static host', async (t) => {
    const host = await serve({
      port: 0,
      folders: { '/some/where/dist/': join(root, 'dist'), '/some/where/': join(root, 'www') },
    });
    t.after(() => host.close());
    const page = await open(t, { url: `${host.url}some/where/` });
    assert.ok((await page.locator('.row').count()) > 5);
    assert.deepEqual(page.errors, []);
  });

  test('a page without its engine says so', async (t) => {
    const host = await serve({ port: 0, folders: { '/': join(root, 'www') } });
    t.after(() => host.close());
    const page = await browser.newPage();
    t.after(() => page.close());
    await page.goto(host.url);
    await page.locator('#problem .banner').waitFor(WAIT);
    assert.match(await page.textContent('#problem'), /(engine|importers)_bg\.wasm is not there.*built/);
  });

  test('a worker that cannot be loaded says so', async (t) => {
    const page = await browser.newPage();
    t.after(() => page.close());
    await page.route('**/dist/api.js', (route) => route.abort());
    await page.goto(server.url);
    await page.locator('#problem .banner').waitFor(WAIT);
    assert.match(await page.textContent('#problem'), /^The page could not start\..*import/);
  });
});

describe('accessibility', () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

  for (const [colorScheme, width] of [
    ['light', 1300],
    ['dark', 360],
  ]) {
    test(`axe finds nothing serious: ${colorScheme}, ${width} px`, async (t) => {
      const page = await open(t, { context: { colorScheme, viewport: { width, height: 900 }, bypassCSP: true } });
      const found = [];
      const check = async (what) => {
        const { violations } = await page.evaluate(() =>
          globalThis.axe.run(document, {
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
          }),
        );
        for (const { id, impact, nodes } of violations) {
          if (['serious', 'critical'].includes(impact))
            found.push(
              `${what}: ${id} ${nodes
                .slice(0, 3)
                .map(({ target, failureSummary }) => `${target} ${failureSummary}`)
                .join(' | ')}`,
            );
        }
      };
      await page.evaluate(axe);
      await check('clean_tool_repair');
      if (width < 900) await page.locator('#panel-summary').click();
      await choose(page, 'reachability_gc');
      await page
        .locator('.row.redacted .side.seen')
        .first()
        .getByRole('button', { name: /original/ })
        .click();
      await page.locator('.verdict').waitFor(WAIT);
      await page.fill('#option-min_chars', '-1');
      await page.locator('#option-min_chars[aria-invalid]').waitFor(WAIT);
      await check('reachability_gc');
      await page.fill('#option-min_chars', '500');
      await choose(page, 'summary_prefix');
      await check('summary_prefix');
      await choose(page, 'custom');
      await check('custom');
      await page.emulateMedia({ colorScheme: colorScheme === 'light' ? 'dark' : 'light' });
      await check('custom, other colours');
      await page.emulateMedia({ colorScheme });
      await choose(page, 'clean_tool_repair');
      await page.selectOption('#sample', ANTHROPIC);
      await page.locator('.banner.refused').waitFor(WAIT);
      await check('refused');
      await page.check('#ignore-signatures');
      await page.locator('.banner.preview').waitFor(WAIT);
      await check('preview');
      await drop(page, 'bad.json', '{"messages": [}');
      await check('bad file');
      assert.deepEqual(found, []);
    });
  }

  test('nothing scrolls sideways at 320 px, and pairs stack', async (t) => {
    const page = await open(t, { context: { viewport: { width: 320, height: 800 } } });
    await showAll(page);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320);
    const [raw, seen] = await page.evaluate(() =>
      [...document.querySelectorAll('.row.dropped .side')].slice(0, 2).map((side) => side.getBoundingClientRect().top),
    );
    assert.ok(seen > raw + 20);
  });
});

describe('size', () => {
  /** Rows and elements in the page now, and the longest task of the main thread so far. */
  const measure = (page) =>
    page.evaluate(() => ({
      rows: document.querySelectorAll('[role=row]').length,
      elements: document.querySelectorAll('*').length,
      longest: Math.max(0, ...globalThis.longTasks),
    }));

  async function within(page) {
    const { rows, elements, longest } = await measure(page);
    assert.ok(rows < 1000, `${rows} rows in the page`);
    assert.ok(elements < 25_000, `${elements} elements in the page`);
    assert.ok(longest < 1000, `a task of ${Math.round(longest)} ms on the main thread`);
  }

  function writeLarge(name, count, body) {
    const file = join(folder, name);
    const messages = [{ role: 'user', content: 'Look at everything.' }];
    for (let turn = 0; messages.length < count; turn += 1) {
      const id = `call_${turn}`;
      const failed = turn % 20 === 7;
      messages.push({
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id,
            type: 'function',
            function: { name: 'read_file', arguments: JSON.stringify({ path: `src/part${turn}.ts` }) },
          },
        ],
      });
      messages.push({ role: 'tool', tool_call_id: id, content: failed ? 'Error: no such file' : body(turn) });
    }
    messages.push({ role: 'assistant', content: 'That was everything.' });
    writeFileSync(file, JSON.stringify({ messages }));
    return { file, messages };
  }

  async function readLarge(t, { file, messages }, waitForIt) {
    const page = await open(t);
    const begun = performance.now();
    await page.setInputFiles('#file', file);
    await page.waitForFunction(
      (name) => document.querySelector('.source')?.textContent.startsWith(name),
      file.split('/').pop(),
      { timeout: waitForIt },
    );
    await settled(page);
    t.diagnostic(`read and projected in ${Math.round(performance.now() - begun)} ms`);
    await within(page);
    await page.locator('.filter.all').click();
    await page.locator('#r0').waitFor(WAIT);
    // Through the whole of it, by steps and by jumps.
    for (let step = 0; step < Math.min(75, messages.length / 10); step += 1) {
      await page.evaluate(() => scrollBy(0, 1500));
      await page.waitForTimeout(40);
    }
    await within(page);
    const last = messages.length - 1;
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.locator(`#r${last}`).waitFor(WAIT);
    await within(page);
    await choose(page, 'reachability_gc');
    await page.locator('.filter.redacted').click();
    await page.locator('.row.redacted').first().waitFor(WAIT);
    for (const part of [0.5, 0.2, 0.9, 0]) {
      await page.evaluate((where) => scrollTo(0, document.documentElement.scrollHeight * where), part);
      await page.waitForTimeout(250);
      assert.ok(
        await page.evaluate(() => {
          const box = document.querySelector('#rows [role=rowgroup]:not(.visually-hidden)').getBoundingClientRect();
          return box.top < innerHeight && box.bottom > 0;
        }),
        `there are rows on the screen at ${part}`,
      );
      await within(page);
    }
    const middle = Math.floor(last / 2);
    await page.evaluate((index) => {
      location.hash = `r${index}`;
    }, middle);
    await page.waitForFunction((id) => document.activeElement.id === id, `r${middle}`, WAIT);
    await page.fill('#find', 'that was EVERYTHING');
    await page.keyboard.press('Enter');
    await page.locator(`#r${last}.hit`).waitFor(WAIT);
    await within(page);
    t.diagnostic(`longest task of the main thread: ${Math.round((await measure(page)).longest)} ms`);
    assert.deepEqual(page.errors, []);
  }

  test('20 MB in 20,000 messages', { timeout: 120_000 }, async (t) => {
    await readLarge(
      t,
      writeLarge('many.json', 20_000, (turn) => `// part ${turn}\n${'const value = 1;\n'.repeat(120)}`),
      60_000,
    );
  });

  test('one line of 12 million characters', { timeout: 60_000 }, async (t) => {
    const page = await open(t);
    const file = join(folder, 'line.json');
    writeFileSync(file, JSON.stringify([{ role: 'user', content: 'x'.repeat(12_800_000) }]));
    await page.setInputFiles('#file', file);
    await page.waitForFunction(
      () => document.querySelector('.source')?.textContent.startsWith('line.json'),
      null,
      WAIT,
    );
    await page.locator('#r0 .raw .more').click();
    await page.waitForFunction(() => document.querySelector('#r0 .raw pre').textContent.length > 15_000, null, WAIT);
    assert.ok((await page.textContent('#r0 .raw pre')).length < 50_000);
    await within(page);
  });

  test('126 MB in 280 turns', { timeout: 300_000, skip: !process.env.PAGE_LARGE && 'set PAGE_LARGE=1' }, async (t) => {
    await readLarge(
      t,
      writeLarge('huge.json', 561, (turn) => `// part ${turn}\n${'const value = 1;\n'.repeat(450_000 / 17)}`),
      120_000,
    );
  });

  test('a newer file wins over one that is still being read', async (t) => {
    const page = await open(t);
    await page.evaluate(() => {
      globalThis.shown = new Set();
      const note = () => globalThis.shown.add(document.querySelector('.source .file').textContent);
      new MutationObserver(note).observe(document.querySelector('#totals'), { childList: true });
    });
    const { file } = writeLarge('slow.json', 6000, () => 'x'.repeat(2000));
    await page.setInputFiles('#file', file);
    await drop(page, 'quick.json', JSON.stringify([{ role: 'user', content: 'quick' }]));
    await page.waitForFunction(
      () => document.querySelector('.source')?.textContent.startsWith('quick.json'),
      null,
      WAIT,
    );
    await page.waitForTimeout(500);
    assert.match(await page.textContent('.source'), /^quick\.json/);
    assert.equal(await page.locator('#rows .row').count(), 1);
    assert.deepEqual(await page.evaluate(() => [...globalThis.shown]), ['quick.json'], 'the slow one never shows');
    assert.deepEqual(page.errors, []);
  });
});

describe('reading', () => {
  test('tells what each shape holds', () => {
    const long = 'x'.repeat(40);
    for (const [message, expected] of [
      [{ role: 'model', parts: [{ text: 'Hm', thought: true }] }, ['thinking Hm']],
      [
        { role: 'model', parts: [{ functionCall: { name: 'a', args: { b: 1 } }, thoughtSignature: 's' }] },
        ['call* a b: 1'],
      ],
      [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: long } }] }, ['media']],
      [
        { role: 'assistant', content: [{ reasoningContent: { reasoningText: { text: 'Hm', signature: 's' } } }] },
        ['thinking* Hm'],
      ],
      [
        { role: 'user', content: [{ toolResult: { toolUseId: 'i', status: 'error', content: [{ json: { a: 1 } }] } }] },
        ['result! {\n  "a": 1\n}'],
      ],
      [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'e' },
        ['thinking* Hm'],
      ],
      [
        { type: 'shell_call_output', call_id: 'i', output: [{ stdout: 'a', stderr: 'b', outcome: {} }] },
        ['result a\nb'],
      ],
      [{ type: 'mcp_call', id: 'i', name: 'a', arguments: '{"b":1}', output: 'ok' }, ['call a b: 1', 'result a ok']],
      [
        {
          role: 'assistant',
          content: [{ type: 'reasoning', text: 'Hm', providerOptions: { anthropic: { signature: 's' } } }],
        },
        ['thinking* Hm'],
      ],
      [
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolName: 'a', toolCallId: 'i', output: { type: 'error-text', value: 'no' } },
          ],
        },
        ['result! a no'],
      ],
      [
        {
          role: 'assistant',
          parts: [
            { type: 'step-start' },
            { type: 'tool-a', toolCallId: 'i', state: 'output-error', input: {}, errorText: 'no' },
          ],
        },
        ['call a ', 'result! a no'],
      ],
      [
        {
          role: 'assistant',
          content: 'Hm',
          toolInvocations: [{ toolName: 'a', toolCallId: 'i', args: { b: 1 }, state: 'result', result: 'ok' }],
        },
        ['text Hm', 'call a b: 1', 'result a ok'],
      ],
      [
        { type: 'ai', data: { content: 'Hm', tool_calls: [{ id: 'i', name: 'a', args: { b: 1 } }] } },
        ['text Hm', 'call a b: 1'],
      ],
      [
        {
          lc: 1,
          type: 'constructor',
          id: ['langchain_core', 'messages', 'ToolMessage'],
          kwargs: { content: 'no', tool_call_id: 'i', name: 'a', status: 'error' },
        },
        ['result! a no'],
      ],
      [{ of: 'no known shape' }, ['data {\n  "of": "no known shape"\n}']],
    ]) {
      const words = parts(message).parts.map(({ kind, error, signed, name, text }) =>
        [`${kind}${error ? '!' : ''}${signed ? '*' : ''}`, name, kind === 'media' ? undefined : text]
          .filter((word) => word !== undefined)
          .join(' '),
      );
      assert.deepEqual(words, expected, JSON.stringify(message));
    }
  });
});
