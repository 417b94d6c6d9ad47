// What the API adds to the engine: errors of one class, the life of a Transcript, asynchronous projectors.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { entry } from './installed.mjs';

const {
  ProjectionError,
  Transcript,
  acpUpdate,
  init,
  providerMessages,
  recoverRedacted,
  replayProjection,
  transcriptEventsByKind,
  transcriptProject,
  transcriptProjectAsync,
  transcript_project,
} = await import(entry);

const user = (content) => ({ role: 'user', content });

/** The error of a call, which must be a ProjectionError with this code and, if given, this path. */
function failure(run, code, path) {
  let error;
  assert.throws(run, (thrown) => {
    error = thrown;
    return true;
  });
  return assertIs(error, code, path);
}

function assertIs(error, code, path) {
  assert(error instanceof ProjectionError, `${error}`);
  assert(error instanceof Error);
  assert.equal(error.name, 'ProjectionError');
  assert.equal(error.code, code);
  if (path !== undefined) assert.equal(error.path, path);
  assert.match(error.message, /^[^\n]+$/);
  assert.match(error.stack, /^ProjectionError: /);
  return error;
}

test('the alias is the same function; init() does no harm', async () => {
  assert.equal(transcript_project, transcriptProject);
  await init();
  await init('ignored');
});

test('every function reports bad input as ProjectionError', () => {
  failure(() => transcriptProject('text'), 'invalid_transcript');
  failure(() => transcriptProject(null), 'invalid_transcript');
  failure(() => transcriptProject(), 'invalid_transcript');
  failure(() => transcriptProject({}), 'invalid_transcript');
  failure(() => transcriptProject({ messages: {} }), 'invalid_transcript', 'messages');
  failure(() => transcriptProject([user('a'), null]), 'invalid_message', 'messages[1]');
  failure(() => transcriptProject([], 7), 'invalid_option', 'options');
  failure(() => transcriptProject([], 'clean'), 'unknown_policy', 'options');
  failure(() => transcriptProject([], { policy: 'clean' }), 'unknown_policy', 'options.policy');
  failure(() => transcriptProject([], { keep_last: -1 }), 'invalid_option', 'options.keep_last');
  failure(() => transcriptProject([], { keep_last: 1.5 }), 'invalid_option', 'options.keep_last');
  failure(() => transcriptProject([], { keep_last: '1' }), 'invalid_option', 'options.keep_last');
  failure(() => transcriptProject([], { is_error: 1 }), 'invalid_option', 'options.is_error');
  const unknown = failure(() => transcriptProject([], { keepLast: 1 }), 'unknown_option', 'options.keepLast');
  assert.match(unknown.message, /keep_last/);
  failure(() => transcriptProject([], 'custom'), 'projector_required', 'options.projector');
  failure(() => transcriptProject([], { policy: 'custom' }), 'projector_required', 'options.projector');
  failure(() => providerMessages(7), 'invalid_transcript');
  failure(() => providerMessages([], 'openai'), 'unknown_provider');
  failure(() => providerMessages([], 7), 'unknown_provider', 'provider');
  failure(() => acpUpdate(7, transcriptProject([])), 'invalid_option', 'sessionId');
  failure(() => acpUpdate('s', null), 'invalid_transcript', 'view');
  failure(() => transcriptEventsByKind({ events: [] }), 'invalid_option', 'kind');
  failure(() => transcriptEventsByKind(null, 'x'), 'invalid_transcript');
  failure(() => recoverRedacted([], {}), 'pointer_invalid');
  failure(() => replayProjection([], {}), 'event_invalid');
  failure(() => Transcript.fromJSON('{"messages": [}'), 'invalid_json');
  failure(() => Transcript.fromJSON('7'), 'invalid_transcript');
  failure(() => Transcript.fromObject(7), 'invalid_transcript');
});

test('what a callback throws comes through as it is', async () => {
  const own = { code: 'mine', message: 'mine' };
  const projector = () => {
    throw own;
  };
  const is_error = projector;
  const thrownBy = (run) => {
    try {
      run();
    } catch (thrown) {
      return thrown;
    }
  };
  assert.equal(thrownBy(() => transcriptProject([user('a')], { policy: 'custom', projector })), own);
  const messages = [
    { role: 'assistant', content: '', tool_calls: [{ id: 'c', name: 'a', arguments: {} }] },
    { role: 'tool', tool_call_id: 'c', content: 'x' },
    user('a'),
  ];
  assert.equal(thrownBy(() => transcriptProject(messages, { policy: 'squash_failed_calls', is_error })), own);
  await assert.rejects(transcriptProjectAsync(messages, { policy: 'custom', projector }), (thrown) => thrown === own);
  const rejecting = () => Promise.reject(own);
  await assert.rejects(
    transcriptProjectAsync(messages, { policy: 'custom', projector: rejecting }),
    (thrown) => thrown === own,
  );
});

test('what a projector returns is checked', async () => {
  const custom = (answer) => ({ policy: 'custom', projector: () => answer });
  const source = [user('a')];
  for (const answer of [undefined, null, 7, 'text', {}, { messages: 7 }]) {
    failure(() => transcriptProject(source, custom(answer)), 'projector_result');
    await assert.rejects(transcriptProjectAsync(source, custom(Promise.resolve(answer))), (error) =>
      Boolean(assertIs(error, 'projector_result')),
    );
  }
  const error = failure(() => transcriptProject(source, custom(Promise.resolve(source))), 'projector_async');
  assert.match(error.message, /transcriptProjectAsync/);
});

test('an asynchronous projector gets and gives what a synchronous one does', async () => {
  const source = [user('a'), user('b'), user('c')];
  const pick = (messages) => ({ messages: messages.slice(1), reason: 'picked' });
  const sync = transcriptProject(source, { policy: 'custom', projector: pick });
  const later = await transcriptProjectAsync(source, { policy: 'custom', projector: async (list) => pick(list) });
  assert.deepEqual(later, sync);
  assert.equal(later.messages[0], source[1]);
  assert.deepEqual(later.dropped_indices, [0]);
  // And is asked once.
  let asked = 0;
  await transcriptProjectAsync(source, { policy: 'custom', projector: async (list) => ((asked += 1), list) });
  assert.equal(asked, 1);
});

test('what is appended while the projector thinks is no part of the view', async () => {
  const transcript = { messages: [user('a'), user('b')] };
  const view = await transcriptProjectAsync(transcript, {
    policy: 'custom',
    projector: async (messages) => {
      transcript.messages.push(user('later'));
      messages.reverse();
      return [transcript.messages[0]];
    },
  });
  assert.deepEqual(view.kept_indices, [0]);
  assert.deepEqual(view.dropped_indices, [1]);
});

test('asynchronous input is checked before the projector is asked', async () => {
  const projector = () => assert.fail('asked');
  for (const [input, options, code] of [
    [7, { policy: 'custom', projector }, 'invalid_transcript'],
    [[null], { policy: 'custom', projector }, 'invalid_message'],
    [[], { policy: 'custom', projector, keep: 1 }, 'unknown_option'],
    [[], 'clean', 'unknown_policy'],
  ]) {
    await assert.rejects(transcriptProjectAsync(input, options), (error) => Boolean(assertIs(error, code)));
  }
  assert.equal((await transcriptProjectAsync([], { policy: 'raw', projector })).reason, 'raw_passthrough');
  assert.equal((await transcriptProjectAsync([])).reason, 'raw_passthrough');
});

test('a Transcript: append, project, message, length', () => {
  const source = [user('a'), user('b')];
  const transcript = Transcript.fromObject({ messages: source });
  assert.equal(transcript.length, 2);
  assert.equal(transcript.message(1), source[1]);
  for (const index of [2, -1, 0.5, 2 ** 32, '0', undefined]) assert.equal(transcript.message(index), undefined);
  transcript.append([user('c')]);
  assert.equal(transcript.length, 3);
  assert.equal(source.length, 2);
  const view = transcript.project({ policy: 'summary_prefix', keep_last: 1 });
  assert.deepEqual(view, transcriptProject([...source, user('c')], { policy: 'summary_prefix', keep_last: 1 }));
  failure(() => transcript.append([7]), 'invalid_message');
  failure(() => transcript.append(7), 'invalid_transcript');
  assert.equal(transcript.length, 3);
  transcript.free();

  const bytes = new TextEncoder().encode(JSON.stringify(source));
  for (const json of [JSON.stringify({ messages: source }), bytes]) {
    const read = Transcript.fromJSON(json);
    assert.deepEqual(read.project(), transcriptProject(source));
    read.free();
  }
});

test('a Transcript after free(): free() again is nothing, all else is an error', () => {
  const transcript = Transcript.fromObject([]);
  transcript.free();
  transcript.free();
  transcript[Symbol.dispose]();
  failure(() => transcript.length, 'freed');
  failure(() => transcript.project(), 'freed');
  failure(() => transcript.append([]), 'freed');
  failure(() => transcript.message(0), 'freed');
  assert.throws(() => new Transcript(), TypeError);
});

test('a Transcript in the hands of its own projector', () => {
  const transcript = Transcript.fromObject([user('a')]);
  const view = transcript.project({
    policy: 'custom',
    projector: (messages) => {
      assert.equal(transcript.length, 1);
      assert.equal(transcript.project().reason, 'raw_passthrough');
      failure(() => transcript.append([user('b')]), 'in_use');
      transcript.free();
      failure(() => transcript.length, 'freed');
      return messages;
    },
  });
  assert.deepEqual(view.kept_indices, [0]);
  failure(() => transcript.length, 'freed');
});

test('events, ACP, provider messages', () => {
  const view = transcriptProject([user('a'), user('b')], { policy: 'summary_prefix', keep_last: 1 });
  const other = { kind: 'message' };
  const events = [other, view.event, other];
  assert.deepEqual(transcriptEventsByKind({ messages: [], events }, 'transcript.projection'), [view.event]);
  assert.equal(transcriptEventsByKind({ messages: [], events }, 'message')[1], other);
  assert.deepEqual(transcriptEventsByKind({ messages: [] }, 'message'), []);
  const { sessionId, update } = acpUpdate('s1', view);
  assert.equal(sessionId, 's1');
  assert.equal(update.sessionUpdate, 'transcript_projected');
  assert.equal(update._meta.harn.prefixHash, view.prefix_hash);
  assert.equal(JSON.stringify(providerMessages(view)), JSON.stringify(providerMessages(view.messages)));
  assert.doesNotMatch(JSON.stringify(providerMessages(view)), /_harn_projection/);
  assert.equal(providerMessages(view)[1], view.messages[1]);
});

test('a host without Symbol.dispose', () => {
  // The real symbol can be neither deleted nor redefined; a stand-in for Symbol can lack it.
  const program = `
    const real = Symbol;
    const get = (_, key) => (key === 'dispose' ? undefined : real[key]);
    globalThis.Symbol = new Proxy(() => {}, { get, apply: (_, __, [name]) => real(name) });
    const { Transcript } = await import(${JSON.stringify(entry)});
    Transcript.fromObject([])[Symbol.for('Symbol.dispose')]();
    console.log('ok');`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(stdout, 'ok\n');
});
