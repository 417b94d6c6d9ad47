// The reference system's results through the installed package: from objects, and from text with every digit.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { canonical, canonicalText, fieldTexts, itemTexts, sha256 } from './json.mjs';
import { entry } from './installed.mjs';

const { Transcript, transcriptProject } = await import(entry);

/** The cases of a fixture: `transcript` as text too, since JSON.parse loses digits. */
function read(fixture) {
  const text = readFileSync(new URL(`../tests/fixtures/${fixture}`, import.meta.url), 'utf8');
  return itemTexts(text).map((item) => {
    const { transcript, ...rest } = JSON.parse(item);
    const transcriptText = fieldTexts(item).get('transcript');
    assert.deepEqual(JSON.parse(transcriptText), transcript);
    return { ...rest, transcript, transcriptText };
  });
}

function projectText(text, options) {
  const transcript = Transcript.fromJSON(text);
  const view = transcript.project(options);
  transcript.free();
  return view;
}

/** Whether a JavaScript object says all that the text says. */
const survivesParsing = ({ transcript, transcriptText }) => canonical(transcript) === canonicalText(transcriptText);

/** The differences between what the reference says and ours, which may say more. */
function differences(theirs, ours, policy, at = '') {
  return Object.entries(theirs).flatMap(([name, expected]) => {
    const path = `${at}${name}`;
    const found = ours[name];
    if (['event', 'metadata'].includes(name)) return differences(expected, found, policy, `${path}.`);
    // The reference counts nothing reclaimed for policies that drop messages.
    if (name.startsWith('reclaimed_') && policy !== 'reachability_gc') return [];
    if (isDeepStrictEqual(found, expected)) return [];
    return [`${path}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`];
  });
}

const golden = read('reference-golden.json');

test('every golden case, from text', () => {
  assert.equal(golden.length, 269);
  for (const { id, transcriptText, options, result } of golden) {
    const view = projectText(transcriptText, options);
    assert.deepEqual(differences(result, view, result.policy), [], id);
  }
});

test('every golden case that an object can hold, from objects', () => {
  const held = golden.filter(survivesParsing);
  assert(held.length > 250 && held.length < golden.length, `${held.length} cases`);
  for (const { id, transcript, options, result } of held) {
    const view = transcriptProject(transcript, options);
    assert.deepEqual(differences(result, view, result.policy), [], id);
    assert.equal(view.prefix_hash, sha256(canonical(view.messages)), id);
  }
});

test('both ways give the same view', () => {
  for (const { id, transcript, transcriptText, options } of golden.filter(survivesParsing)) {
    assert.deepEqual(projectText(transcriptText, options), transcriptProject(transcript, options), id);
  }
});

test('every case in which we differ from the reference, from objects and from text', () => {
  const cases = read('reference-differs.json');
  assert.equal(cases.length, 39);
  for (const { id, transcript, transcriptText, options, expect } of cases) {
    for (const view of [transcriptProject(transcript, options), projectText(transcriptText, options)]) {
      for (const [field, expected] of Object.entries(expect)) {
        const what = `${id}: ${field}`;
        if (field === 'hidden_tool_call_ids') {
          const ids = view.hidden_calls.map((call) => call.tool_call_id);
          assert.deepEqual(ids, expected, what);
        } else if (field === 'synthetic_at') {
          assert.equal(view.messages[expected]._harn_projection.synthetic, true, what);
        } else if (field.endsWith('_at_least')) {
          assert(view[field.replace('_at_least', '')] >= expected, what);
        } else {
          assert.deepEqual(view[field], expected, what);
        }
      }
    }
  }
});
