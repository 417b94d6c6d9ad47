// AgentSession: turns, events, replays, compaction, what it keeps in memory and how much it works.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { entry } from './installed.mjs';

const {
  AgentSession,
  ProjectionError,
  acpUpdate,
  importTranscript,
  providerMessages,
  recoverRedacted,
  replayProjection,
  transcriptEventsByKind,
  transcriptProject,
} = await import(entry);

const CASES = JSON.parse(readFileSync(new URL('../tests/fixtures/session-cases.json', import.meta.url), 'utf8'));

const user = (content) => ({ role: 'user', content });
const assistant = (content) => ({ role: 'assistant', content });
const call = (id, name = 'run', args = '{}') => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
});
const result = (id, content) => ({ role: 'tool', tool_call_id: id, content });

/** A call and its result, for ever; every tenth fails. */
function* steps(chars = 400) {
  for (let n = 0; ; n++) {
    const body = n % 10 === 3 ? 'Error: busy' : `line ${n} of text\n`.repeat(Math.ceil(chars / 16));
    yield [call(`c${n}`, 'read', JSON.stringify({ path: `src/file_${n}.rs` })), result(`c${n}`, body)];
  }
}

function session(t, options) {
  const made = new AgentSession({ session_id: 's', ...options });
  t.after(() => made.free());
  return made;
}

/** Views and events have their lists as getters: as data they are plain. */
const plain = (value) => JSON.parse(JSON.stringify(value));

function failure(run, code, path) {
  assert.throws(run, (error) => {
    assert(error instanceof ProjectionError, `${error}`);
    assert.equal(error.code, code, error.message);
    if (path !== undefined) assert.equal(error.path, path);
    return true;
  });
}

const BROKEN = [user('go'), call('a'), result('a', 'Error: no'), call('b'), result('b', 'fine'), assistant('done')];

test('a first turn is what transcriptProject gives, of the very same objects', (t) => {
  for (const policy of ['raw', 'clean_tool_repair', 'squash_failed_calls', 'summary_prefix', 'reachability_gc']) {
    const options = { policy, keep_last: 2, root_window: 1, min_chars: 4 };
    const agent = session(t, { transcript: BROKEN, transcript_projection: options });
    const view = agent.projectTurn();
    const expected = transcriptProject(BROKEN, options);
    const { event, pending, cache, ...rest } = view;
    const { event: expectedEvent, ...expectedRest } = expected;
    assert.deepEqual(plain(rest), plain(expectedRest), policy);
    const { session: ofSession, ...metadata } = plain(event.metadata);
    assert.deepEqual(metadata, plain(expectedEvent.metadata), policy);
    assert.equal(ofSession.turn, 1);
    assert.deepEqual(pending, { count: 0, indices: [], reclaimed_tokens: 0, turns: 0 });
    assert.equal(cache.break_even_requests, null);
    for (const [at, message] of view.messages.entries()) {
      if (!message._harn_projection) assert.equal(message, BROKEN[view.kept_indices[at - (policy === 'summary_prefix')]]);
    }
  }
});

test('turns: decisions stay, events are appended, views of earlier turns stay as they were', (t) => {
  const agent = session(t, { transcript_projection: 'clean_tool_repair' });
  agent.append(...BROKEN.slice(0, 3));
  const first = agent.projectTurn();
  agent.append(...BROKEN.slice(3));
  const second = agent.projectTurn();
  agent.append(user('thanks'));
  const third = agent.projectTurn();
  assert.deepEqual([first, second, third].map((view) => view.dropped_indices), [[], [1, 2], [1, 2]]);
  assert.deepEqual([first, second, third].map((view) => view.kept_indices.length), [3, 4, 5]);
  assert.deepEqual(second.messages, [BROKEN[0], ...BROKEN.slice(3)]);
  assert.equal(third.messages.length, 5);
  const events = transcriptEventsByKind(agent.transcript, 'transcript.projection');
  assert.equal(events.length, 3);
  assert.equal(events[1], second.event);
  assert.deepEqual(events[1].metadata.dropped_indices, [1, 2]);
  assert.deepEqual(events[0].metadata.dropped_indices, []);
  assert.equal(new Set(events.map((event) => event.id)).size, 3);
  assert.equal(events[2].metadata.session.previous_event_id, events[1].id);
  assert.equal(agent.length, 7);
  // Options of a turn are its own; what they leave out is as the session has it.
  const raw = agent.projectTurn('raw');
  assert.equal(raw.policy, 'raw');
  assert.deepEqual(raw.dropped_indices, [1, 2]);
  assert.equal(agent.projectTurn({ reason: 'because' }).policy, 'clean_tool_repair');
});

test('the event of a turn is replayed alone where no earlier turn shows, and refused where one does', (t) => {
  const agent = session(t, { transcript: BROKEN, transcript_projection: 'clean_tool_repair' });
  agent.projectTurn();
  assert.equal(replayProjection(agent.transcript, agent.events[0]).matches, true);
  const [saved] = agent.toJSON().transcript.events;
  assert.equal(saved.metadata.kept_indices, undefined);
  assert.equal(replayProjection(agent.transcript, saved).matches, true);
  agent.projectTurn('raw');
  failure(() => replayProjection(agent.transcript, agent.events[1]), 'replay_needs_session', 'event');
  assert.equal(replayProjection([user('else')], agent.events[1]).source_matches, false);
  assert.equal(agent.replay(agent.events[1].id).matches, true);
});

test('a view that is read late is the view of its turn', (t) => {
  const agent = session(t, { transcript_projection: 'clean_tool_repair' });
  const views = BROKEN.map((message) => {
    agent.append(message);
    return agent.projectTurn();
  });
  const counts = [1, 2, 3, 4, 3, 4];
  assert.deepEqual(views.map((view) => view.messages.length), counts);
  for (const view of views) {
    assert.equal(transcriptProject(view.messages).prefix_hash, view.prefix_hash);
    assert.equal(view.messages, view.messages);
    assert.deepEqual(view.kept_indices.length, view.kept_count);
  }
});

test('listeners get the view, the event and its ACP form; one that throws stops nothing', (t) => {
  const agent = session(t, { transcript: BROKEN, transcript_projection: 'clean_tool_repair' });
  const heard = [];
  const printed = t.mock.method(console, 'error', () => {});
  agent.on('transcript_projected', () => {
    throw new Error('a listener');
  });
  const end = agent.on('transcript_projected', (payload) => heard.push(payload));
  const view = agent.projectTurn();
  assert.equal(heard.length, 1);
  assert.equal(heard[0].type, 'transcript_projected');
  assert.equal(heard[0].session_id, 's');
  assert.equal(heard[0].view, view);
  assert.equal(heard[0].event, view.event);
  assert.deepEqual(heard[0].acp, acpUpdate('s', view));
  assert.equal(heard[0].acp.update._meta.harn.droppedCount, 2);
  assert.equal(printed.mock.callCount(), 1);
  end();
  agent.projectTurn();
  assert.equal(heard.length, 1);
});

test('batch, pending, cache and flush', (t) => {
  const batch = { min_reclaimed_tokens: 1e6 };
  const agent = session(t, { transcript_projection: { policy: 'clean_tool_repair', batch } });
  agent.append(...BROKEN.slice(0, 3));
  agent.projectTurn();
  agent.append(...BROKEN.slice(3));
  const held = agent.projectTurn();
  assert.deepEqual(held.dropped_indices, []);
  assert.deepEqual(held.pending, { count: 1, indices: [1, 2], reclaimed_tokens: 2, turns: 1 });
  assert.equal(held.cache.stable_prefix_count, 3);
  assert.equal(agent.projectTurn({ now: Date.now() + 1e9 }).pending.turns, 2);
  const idle = { ...batch, when_idle_ms: 1000 };
  assert.equal(agent.projectTurn({ batch: idle, now: Date.now() + 1e9 + 500 }).pending.turns, 3);
  const flushed = agent.projectTurn({ flush: true });
  assert.deepEqual(flushed.dropped_indices, [1, 2]);
  assert.equal(flushed.pending.count, 0);
  assert.equal(flushed.cache.stable_prefix_count, 1);
});

test('the scratchpad is root and write barrier of reachability_gc', (t) => {
  const bodies = ['a', 'b'].flatMap((id) => [
    call(id, 'read', JSON.stringify({ path: `src/${id}.rs` })),
    result(id, 'plain words '.repeat(60)),
  ]);
  const agent = session(t, {
    transcript: [user('read'), ...bodies, assistant('read'), user('well?')],
    transcript_projection: { policy: 'reachability_gc', root_window: 1, require_write_barrier: true },
  });
  assert.equal(agent.projectTurn().reason, 'reachability_gc_write_barrier_missing');
  agent.setScratchpad({ next: 'src/b.rs' }, 'turn-2');
  const view = agent.projectTurn();
  assert.deepEqual(view.redacted_indices, [2]);
  assert.equal(view.redaction_pointers.length, 1);
  assert(recoverRedacted(agent.transcript, view.redaction_pointers[0]).verified);
  assert.deepEqual(view.event.metadata.options.write_barrier_refs, ['scratchpad:turn-2']);
  agent.setScratchpad({ next: 'nothing' });
  assert.deepEqual(agent.projectTurn().redacted_indices, [2, 4]);
  agent.setScratchpad(null);
  assert.equal(agent.projectTurn().reason, 'reachability_gc_write_barrier_missing');
});

test('custom: the projector sees all messages, its view is for one turn', (t) => {
  const agent = session(t, { transcript: BROKEN, transcript_projection: 'clean_tool_repair' });
  agent.projectTurn();
  let seen;
  const projector = (messages) => {
    seen = messages;
    failure(() => agent.append(user('now')), 'in_use');
    return messages.slice(0, 2);
  };
  const view = agent.projectTurn({ policy: 'custom', projector });
  assert.deepEqual(seen, BROKEN);
  assert.equal(seen[0], BROKEN[0]);
  assert.deepEqual(view.kept_indices, [0, 1]);
  assert.equal(view.violations[0].rule, 'unanswered_call');
  assert.deepEqual(agent.projectTurn().dropped_indices, [1, 2]);
  assert(agent.replay(view.event.id).matches);
  failure(() => agent.projectTurn('custom'), 'projector_required');
  const thrown = new Error('mine');
  const throws = () => {
    throw thrown;
  };
  assert.throws(() => agent.projectTurn({ policy: 'custom', projector: throws }), (error) => error === thrown);
  const after = agent.projectTurn();
  assert.deepEqual(after.dropped_indices, [1, 2]);
  assert.equal(after.messages.length, 4);
});

test('is_error is asked once about each result, and recorded', (t) => {
  const agent = session(t, { transcript_projection: 'clean_tool_repair' });
  const asked = [];
  const is_error = ({ tool_call_id }) => {
    asked.push(tool_call_id);
    return tool_call_id === 'a' ? true : undefined;
  };
  agent.append(user('go'), call('a'), result('a', 'exit 1'), call('b'));
  agent.projectTurn({ is_error });
  agent.append(result('b', 'fine'), assistant('done'));
  const view = agent.projectTurn({ is_error });
  assert.deepEqual(asked, ['a', 'b']);
  assert.deepEqual(view.dropped_indices, [1, 2]);
  assert.deepEqual(agent.events[0].metadata.is_error_verdicts, [{ message_index: 2, block_index: null, is_error: true }]);
  const again = AgentSession.fromJSON(JSON.stringify(agent));
  t.after(() => again.free());
  again.append(user('more'));
  assert.deepEqual(again.projectTurn().dropped_indices, [1, 2]);
});

/** A session with turns of several policies before, between and after two compactions. */
function longSession(t) {
  const agent = session(t, { transcript: [{ role: 'system', content: 'be brief' }, user('go on')] });
  const source = steps();
  const policies = ['raw', 'clean_tool_repair', 'reachability_gc', 'squash_failed_calls'];
  for (let turn = 0; turn < 24; turn++) {
    agent.append(...source.next().value, ...source.next().value);
    agent.projectTurn({ policy: policies[turn % policies.length], root_window: 4, min_chars: 100 });
    if (turn === 9 || turn === 17) agent.compact(turn === 9 ? 12 : { keep_last: 9 });
  }
  return agent;
}

test('every turn can be replayed from JSON alone, across compactions, and is proven by hash', (t) => {
  const agent = longSession(t);
  const views = agent.events.filter((event) => event.kind === 'transcript.projection');
  assert.equal(views.length, 24);
  const saved = JSON.stringify(agent);
  const loaded = AgentSession.fromJSON(saved);
  t.after(() => loaded.free());
  assert.equal(JSON.stringify(loaded), saved);
  assert.deepEqual(plain(loaded.events), plain(agent.events));
  for (const event of views) {
    const replayed = loaded.replay(event.id);
    assert.equal(replayed.matches, true, event.text);
    assert.equal(replayed.source_matches, true);
    assert.equal(replayed.first_difference, null);
    // Not by the engine that goes on, but by the projection of the lists as they are.
    assert.equal(transcriptProject(replayed.view.messages).prefix_hash, event.metadata.prefix_hash);
    assert.equal(transcriptProject(replayed.messages).prefix_hash, event.metadata.source_hash);
    assert.deepEqual(plain(replayed.view.event), plain(event));
    assert.deepEqual(replayed.view.dropped_indices, event.metadata.dropped_indices);
  }
  // The loaded session goes on where the saved one was.
  const next = steps().next().value;
  agent.append(...next);
  loaded.append(...next);
  const [a, b] = [agent, loaded].map((one) => plain(one.projectTurn('clean_tool_repair')));
  assert.deepEqual(b, a);
});

test('events do not hold what follows from them: a saved session grows with its messages', (t) => {
  const sizes = [200, 400].map((turns) => {
    const agent = session(t, { transcript_projection: 'clean_tool_repair' });
    const source = steps(40);
    for (let turn = 0; turn < turns; turn++) {
      agent.append(...source.next().value);
      agent.projectTurn();
    }
    return JSON.stringify(agent).length;
  });
  assert(sizes[1] < 2.1 * sizes[0], `${sizes}`);
});

test('a tampered session is named, with the first message that differs', (t) => {
  const saved = plain(longSession(t));
  const tamper = [
    ['transcript.messages[5]', ({ transcript }) => (transcript.messages[5].content = 'changed')],
    ['archive[0].messages[2]', ({ archive }) => (archive[0].messages[2].content = 'changed')],
    ['archive[1].summary', ({ archive }) => (archive[1].summary.content += '.')],
    ['transcript.messages[3]', ({ transcript }) => transcript.messages.splice(3, 1)],
  ];
  for (const [path, change] of tamper) {
    const changed = structuredClone(saved);
    change(changed);
    failure(() => AgentSession.fromJSON(changed), 'session_tampered', path);
  }
  const changed = structuredClone(saved);
  changed.archive[0].messages[2].content = 'changed';
  const loaded = AgentSession.fromJSON(changed, { verify: false });
  t.after(() => loaded.free());
  const [first] = loaded.events;
  const replayed = loaded.replay(first.id);
  assert.equal(replayed.matches, false);
  assert.equal(replayed.source_matches, false);
  assert.deepEqual(replayed.first_difference, { path: 'archive[0].messages[2]', index: 2, archive_id: 's/archive/1' });
  // What came after the compaction had no such message.
  assert.equal(loaded.replay(loaded.events.at(-1).id).matches, true);
});

test('a compaction archives what it takes out, and indices refer to what remains', (t) => {
  const agent = session(t, { transcript_projection: 'clean_tool_repair' });
  agent.append(user('q'), ...BROKEN, ...BROKEN.slice(1));
  const before = agent.projectTurn();
  assert.deepEqual(before.dropped_indices, [2, 3, 7, 8]);
  const messages = [...agent.transcript.messages];
  const entry = agent.compact(5);
  assert.deepEqual([entry.start, entry.end], [0, 7]);
  assert.deepEqual(entry.messages, messages.slice(0, 7));
  assert.equal(entry.messages[0], messages[0]);
  assert.equal(entry.hash, transcriptProject(entry.messages).prefix_hash);
  assert.deepEqual(agent.archive, [entry]);
  assert.deepEqual(agent.transcript.messages, [entry.summary, ...messages.slice(7)]);
  const event = agent.events.at(-1);
  assert.equal(event.kind, 'compaction');
  assert.equal(event.id, entry.event_id);
  assert.equal(event.metadata.archived_messages, 7);
  assert.equal(event.metadata.snapshot_asset_id, entry.id);
  assert.equal(event.metadata.strategy, 'summary');
  assert.equal(event.metadata.mode, 'manual');
  assert.deepEqual(agent.transcript.assets[0].data.messages, entry.messages);
  const after = agent.projectTurn();
  assert.deepEqual(after.dropped_indices, [1, 2]);
  assert.equal(after.event.metadata.session.compactions, 1);
  assert.equal(after.event.metadata.session.previous_event_id, entry.event_id);
  assert.deepEqual(before.dropped_indices, [2, 3, 7, 8]);
  assert.equal(agent.compact(20), null);
  assert.equal(agent.compact({ every: 100, keep_last: 2 }), null);
  assert.equal(agent.compact({ token_budget: 10, keep_last: 2, count_tokens: () => 5 }).start, 0);
  assert.equal(agent.events.at(-1).metadata.mode, 'auto');
});

test('case-084: what a first compaction kept is kept or archived by the second, exactly once', (t) => {
  const { messages } = CASES['case-084'];
  const agent = session(t, { transcript: messages });
  agent.compact(4);
  agent.append(user('q5'), assistant('a5'));
  agent.compact(2);
  const isSource = (message) => !message._harn_projection;
  const archived = agent.archive.flatMap((entry) => entry.messages).filter(isSource);
  const live = agent.transcript.messages.filter(isSource);
  assert.deepEqual(live.map((message) => message.content), ['q5', 'a5']);
  assert.deepEqual(archived, messages);
});

test('case-100: a window that slides rewrites nothing that it has rewritten before', (t) => {
  const { messages } = CASES['case-100'];
  const options = { policy: 'reachability_gc', root_window: 1, min_chars: 20 };
  const agent = session(t, { transcript: messages, transcript_projection: options });
  const first = agent.projectTurn();
  for (let turn = 0; turn < 2; turn++) {
    agent.append(assistant('ok'), user('still unrelated'));
    const view = agent.projectTurn();
    assert.deepEqual(view.redacted_indices, [2]);
    assert.equal(JSON.stringify(view.messages.slice(0, 4)), JSON.stringify(first.messages.slice(0, 4)));
    assert.equal(view.cache.rewritten_tokens, 0);
  }
});

test('case-102: arguments stay byte for byte, and what is not trimmed is the very same object', (t) => {
  const { messages } = CASES['case-102'];
  const agent = session(t, { transcript_projection: 'clean_tool_repair' });
  let view;
  for (const message of messages) {
    agent.append(message);
    view = agent.projectTurn();
  }
  assert.deepEqual(view.trimmed_indices, [1]);
  assert.deepEqual(view.dropped_indices, [3]);
  const [sent] = providerMessages(view).slice(1);
  assert.equal(sent.tool_calls[0].function.arguments, messages[1].tool_calls[0].function.arguments);
  view.kept_indices.forEach((source, at) => source !== 1 && assert.equal(view.messages[at], messages[source]));
});

test('the work of a turn does not grow with the session', () => {
  for (const policy of ['raw', 'clean_tool_repair', 'reachability_gc']) {
    const works = [2000, 20000].map((count) => {
      const source = steps(60);
      const transcript = [user('go')];
      while (transcript.length < count) transcript.push(...source.next().value);
      const agent = new AgentSession({ session_id: 's', transcript, transcript_projection: policy });
      agent.projectTurn();
      const turns = [];
      for (let turn = 0; turn < 8; turn++) {
        const before = agent.work;
        agent.append(...source.next().value);
        const view = agent.projectTurn();
        const after = agent.work;
        const isChanged = view.event.metadata.session.decisions.length > 0;
        turns.push([isChanged, after.messages_read - before.messages_read, after.bodies_fetched - before.bodies_fetched]);
        if (!isChanged) assert(after.bytes_hashed - before.bytes_hashed < 6000);
      }
      agent.free();
      return turns;
    });
    // Only where something changed, marks of the hash may stand a few messages further back.
    works[0].forEach(([isChanged, messages, bodies], turn) => {
      const [, longMessages, longBodies] = works[1][turn];
      assert.equal(longBodies, bodies, `${policy}, turn ${turn}`);
      assert(longMessages <= messages + (isChanged ? 64 : 0), `${policy}, turn ${turn}: ${messages}, ${longMessages}`);
    });
  }
});

test('sessions that are freed leave no memory behind', async () => {
  const { initSync } = await import(entry.replace('node.js', 'glue.js'));
  assert.equal(typeof initSync, 'function');
  const memory = initSync().memory;
  const run = (count) => {
    const source = steps(60);
    const transcript = [user('go')];
    while (transcript.length < count) transcript.push(...source.next().value);
    const agent = new AgentSession({ session_id: 's', transcript, transcript_projection: 'reachability_gc' });
    for (let turn = 0; turn < 3; turn++) {
      agent.projectTurn();
      agent.append(...source.next().value);
    }
    agent.free();
    return memory.buffer.byteLength;
  };
  const sizes = Array.from({ length: Number(process.env.SESSIONS ?? 20) }, () => run(20_000));
  // The first may leave a hole or two that the second cannot use.
  assert.equal(sizes.at(-1), sizes[2], `${sizes}`);
});

test('bad input is a ProjectionError that names what is wrong', (t) => {
  failure(() => new AgentSession(), 'invalid_option', 'options');
  failure(() => new AgentSession({}), 'invalid_option', 'options.session_id');
  failure(() => new AgentSession({ session_id: 's', policy: 'raw' }), 'unknown_option', 'options.policy');
  failure(() => new AgentSession({ session_id: 's', transcript: {} }), 'invalid_transcript');
  failure(() => new AgentSession({ session_id: 's', transcript: [user('a'), 7] }), 'invalid_message', 'messages[1]');
  failure(() => new AgentSession({ session_id: 's', transcript_projection: 7 }), 'invalid_option', 'options');
  const agent = session(t, { transcript: [user('a')] });
  failure(() => agent.append(user('b'), null), 'invalid_message', 'messages[2]');
  assert.equal(agent.length, 1);
  failure(() => agent.append([user('b')]), 'invalid_message', 'messages[1]');
  failure(() => agent.projectTurn('clean'), 'unknown_policy');
  failure(() => agent.projectTurn({ root_windows: 3 }), 'unknown_option', 'options.root_windows');
  failure(() => agent.projectTurn({ batch: { max_turn: 1 } }), 'unknown_option', 'options.batch.max_turn');
  failure(() => agent.projectTurn({ batch: { max_turns: -1 } }), 'invalid_option', 'options.batch.max_turns');
  failure(() => agent.projectTurn({ batch: 3 }), 'invalid_option', 'options.batch');
  failure(() => agent.projectTurn({ cache_prices: { read: -1 } }), 'invalid_option', 'options.cache_prices.read');
  failure(() => agent.projectTurn({ flush: 'yes' }), 'invalid_option', 'options.flush');
  failure(() => agent.on('projected', () => {}), 'invalid_option', 'type');
  failure(() => agent.on('transcript_projected'), 'invalid_option', 'listener');
  failure(() => agent.setScratchpad({}, {}), 'invalid_option', 'version');
  failure(() => agent.compact(), 'invalid_option');
  failure(() => agent.compact(0), 'invalid_option');
  failure(() => agent.compact({ keep: 1 }), 'unknown_option', 'options.keep');
  failure(() => agent.replay('none'), 'event_not_found', 'eventId');
  failure(() => agent.replay(), 'invalid_option', 'eventId');
  assert.equal(agent.events.length, 0);
  failure(() => AgentSession.fromJSON('{'), 'invalid_json');
  failure(() => AgentSession.fromJSON(new Uint8Array([0xff])), 'invalid_json');
  failure(() => AgentSession.fromJSON('{}'), 'session_invalid', 'session');
  for (const part of ['session_id', 'archive', 'message_hashes']) {
    failure(() => AgentSession.fromJSON({ ...plain(agent), [part]: undefined }), 'session_invalid', part);
  }
  agent.free();
  agent.free();
  failure(() => agent.append(user('b')), 'freed');
  failure(() => agent.projectTurn(), 'freed');
});

test('a scratchpad that JSON cannot hold is refused, and the one before it stays', (t) => {
  const agent = session(t, { transcript: BROKEN });
  agent.setScratchpad({ open: 1 }, 7);
  const circular = {};
  circular.self = circular;
  const dropped = [new Map([[1, 2]]), { todo: new Set(['x']) }, { a: [/x/] }, { run() {} }, { share: NaN }];
  for (const value of [() => {}, Symbol('x'), 10n, circular, ...dropped]) {
    failure(() => agent.setScratchpad(value), 'invalid_option', 'value');
  }
  for (const version of [NaN, Infinity, null, {}]) {
    failure(() => agent.setScratchpad({}, version), 'invalid_option', 'version');
  }
  assert.deepEqual(plain(agent).scratchpad, { value: { open: 1 }, version: 7 });
});

test('options that are given to fromJSON go before the saved ones, and leave the others', (t) => {
  const is_error = ({ content }) => (content === 'odd' ? true : undefined);
  const agent = session(t, { transcript: BROKEN, transcript_projection: { policy: 'clean_tool_repair', reason: 'saved' } });
  agent.projectTurn();
  const again = AgentSession.fromJSON(JSON.stringify(agent), { transcript_projection: { is_error, reason: 'given' } });
  t.after(() => again.free());
  const { policy, reason, dropped_indices } = again.projectTurn();
  assert.deepEqual({ policy, reason, dropped_indices }, { policy: 'clean_tool_repair', reason: 'given', dropped_indices: [1, 2] });
});

test('who changes the lists of a view changes no event', (t) => {
  const agent = session(t, { transcript: BROKEN, transcript_projection: 'clean_tool_repair' });
  const { event, ...view } = agent.projectTurn();
  const saved = plain(event);
  for (const value of Object.values(view)) if (Array.isArray(value)) value.push('x');
  assert.deepEqual(plain(event), saved);
  assert.ok(saved.metadata.dropped_indices.length > 0);
});

test('a saved session that is broken is a ProjectionError, whatever is broken in it', (t) => {
  const agent = session(t, { transcript: BROKEN });
  agent.projectTurn('clean_tool_repair');
  agent.compact(2);
  agent.append(user('go on'));
  const saved = () => plain(agent);
  for (const [path, breakIt] of [
    ['transcript.messages[0]', (json) => (json.transcript.messages[0] = null)],
    ['transcript.events[0]', (json) => (json.transcript.events[0] = null)],
    ['archive[0].messages[1]', (json) => (json.archive[0].messages[1] = 5)],
    ['archive[0]', (json) => (json.archive[0].end = -5)],
    ['archive[0]', (json) => (json.archive[0].start = -1)],
    ['archive[0]', (json) => (json.archive[0].end += 1)],
    ['transcript.messages', (json) => (json.transcript.events[0].metadata.source_count = -5)],
    ['transcript.messages', (json) => (json.transcript.events[1].metadata.source_count = 0)],
    ['scratchpad', (json) => (json.scratchpad = 'x')],
    ['last_turn_at', (json) => (json.last_turn_at = 'x')],
  ]) {
    const json = saved();
    breakIt(json);
    failure(() => AgentSession.fromJSON(json, { verify: false }), 'session_invalid', path);
  }
  failure(() => AgentSession.fromJSON(saved(), { verfy: false }), 'unknown_option', 'options.verfy');
  failure(() => AgentSession.fromJSON(saved(), { verify: 'no' }), 'invalid_option', 'options.verify');
  failure(() => session(t, { transcript: { messages: [], events: 'x' } }), 'invalid_transcript', 'transcript.events');
  failure(() => session(t, { transcript: { messages: [], assets: 5 } }), 'invalid_transcript', 'transcript.assets');
  AgentSession.fromJSON(saved(), null).free();
});

test('a session that goes on from JSON decides nothing twice', (t) => {
  const messages = steps();
  const agent = session(t, { transcript_projection: { policy: 'reachability_gc', root_window: 2, min_chars: 100 } });
  agent.append(user('go'));
  for (let n = 0; n < 6; n++) agent.append(...messages.next().value);
  const before = agent.projectTurn();
  assert(before.redacted_count > 0);
  const next = AgentSession.fromJSON(JSON.stringify(agent));
  t.after(() => next.free());
  const after = next.projectTurn();
  assert.deepEqual(after.event.metadata.session.decisions, []);
  assert.deepEqual(after.redaction_pointers, before.redaction_pointers);
  assert.equal(after.reclaimed_chars, before.reclaimed_chars);
});

test('a message that cannot be hashed decides nothing, and the session goes on', (t) => {
  const agent = session(t, { transcript: BROKEN.slice(0, 3), transcript_projection: 'clean_tool_repair' });
  agent.projectTurn();
  const circle = { role: 'assistant', content: 'done' };
  circle.self = circle;
  agent.append(...BROKEN.slice(3, 5), circle);
  failure(() => agent.projectTurn(), 'invalid_message', 'messages[5]');
  assert.equal(agent.events.length, 1);
  const view = agent.projectTurn({ prefix_hash: false });
  assert.deepEqual(view.dropped_indices, [1, 2]);
  assert.equal(view.messages.length, 4);
  assert.equal(view.prefix_hash, null);
});

test('turns without a hash do not spoil those with one', (t) => {
  const agent = session(t, { transcript_projection: 'clean_tool_repair' });
  const source = steps();
  for (let turn = 0; turn < 12; turn++) {
    agent.append(...source.next().value);
    const view = agent.projectTurn({ prefix_hash: turn % 3 === 2 });
    const expected = turn % 3 === 2 ? transcriptProject(view.messages).prefix_hash : null;
    assert.equal(view.prefix_hash, expected, `turn ${turn}`);
  }
});

// Claude Code writes a refusal like a failure, and old versions wrote no flag: only the file tells.
const FILE = [
  ['user', 'u1', null, { role: 'user', content: 'go' }],
  ['assistant', 'u2', 'u1', { role: 'assistant', content: [toolUse('A')] }],
  ['user', 'u3', 'u2', { role: 'user', content: [toolResult('A', '<tool_use_error>no</tool_use_error>')] }],
  ['assistant', 'u4', 'u3', { role: 'assistant', content: [toolUse('B')] }],
  ['user', 'u5', 'u4', { role: 'user', content: [toolResult('B', 'no')] }, { toolDenialKind: 'user-rejected' }],
  ['assistant', 'u6', 'u5', { role: 'assistant', content: [toolUse('C')] }],
  ['user', 'u7', 'u6', { role: 'user', content: [toolResult('C', 'ok')] }],
  ['assistant', 'u8', 'u7', { role: 'assistant', content: 'done' }],
]
  .map(([type, uuid, parentUuid, message, more]) => JSON.stringify({ type, uuid, parentUuid, sessionId: 's', message, ...more }))
  .join('\n');

function toolUse(id) {
  return { type: 'tool_use', id, name: 'Bash', input: {} };
}

function toolResult(id, content) {
  return { type: 'tool_result', tool_use_id: id, content };
}

for (const [what, prepare] of [
  ['at once', (made) => made],
  ['saved before its first turn', (made) => AgentSession.fromJSON(JSON.stringify(made))],
]) {
  test(`what a file knows of its results counts in a session, ${what}`, (t) => {
    const { transcript } = importTranscript(FILE);
    t.after(() => transcript.free());
    const made = prepare(session(t, { transcript, transcript_projection: 'clean_tool_repair' }));
    const view = made.projectTurn();
    assert.deepEqual(view.dropped_indices, [1, 2]); // the failure, not the refusal
    assert.equal(made.replay(view.event.id).matches, true);
    assert.equal(AgentSession.fromJSON(JSON.stringify(made)).replay(view.event.id).matches, true);
  });
}

test('and moves along when a compaction comes first', (t) => {
  const { transcript } = importTranscript(FILE);
  t.after(() => transcript.free());
  const made = session(t, { transcript, transcript_projection: 'squash_failed_calls' });
  made.compact(6);
  const view = made.projectTurn();
  const shown = JSON.stringify(view.messages);
  assert.ok(shown.includes('"B"'), 'a refusal is no failure, wherever it stands now');
  assert.equal(view.dropped_count, 0);
});

test('the options of a session are checked when it is made, and are its own', (t) => {
  for (const [transcript_projection, code, path] of [
    ['nope', 'unknown_policy', 'options.policy'],
    [{ policy: 'summary_prefix', keep_last: -1 }, 'invalid_option', 'options.keep_last'],
    [{ polcy: 'raw' }, 'unknown_option', 'options.polcy'],
  ]) {
    assert.throws(() => new AgentSession({ session_id: 's', transcript_projection }), { code, path });
  }
  const options = { policy: 'clean_tool_repair', batch: { max_turns: 9 } };
  const made = session(t, { transcript_projection: options });
  options.batch.max_turns = 0;
  made.toJSON().transcript_projection.policy = 'raw';
  assert.deepEqual(made.toJSON().transcript_projection, { policy: 'clean_tool_repair', batch: { max_turns: 9 } });
});
