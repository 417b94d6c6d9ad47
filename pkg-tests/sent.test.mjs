// What goes to a provider of a session's views: the same as without a session, and made only where it is new.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entry } from './installed.mjs';

const { AgentSession, providerMessages } = await import(entry);

const call = (n) => ({ id: `c${n}`, type: 'function', function: { name: 'read', arguments: `{"path":"src/f${n}.rs"}` } });
const turn = (n) => [
  { role: 'assistant', content: null, tool_calls: [call(n)] },
  { role: 'tool', tool_call_id: `c${n}`, content: n % 3 === 0 ? `Error: no f${n}` : `text of f${n} `.repeat(60) },
];
const ask = { role: 'user', content: 'Read them all.' };

const POLICIES = [
  { policy: 'raw' },
  { policy: 'clean_tool_repair' },
  { policy: 'squash_failed_calls' },
  { policy: 'reachability_gc', root_window: 4 },
  { policy: 'reachability_gc', root_window: 4, batch: { max_turns: 3 } },
  { policy: 'summary_prefix', keep_last: 3 },
  // Only the summary is left: it is the last message, and no longer in the next turn.
  { policy: 'summary_prefix', keep_last: 0, protect_open_turn: false },
];
const PROVIDERS = [undefined, 'anthropic', 'openai_chat', 'bedrock', 'mistral'];

for (const options of POLICIES) {
  test(`${JSON.stringify(options)}: every turn, for every provider`, () => {
    const session = new AgentSession({ session_id: 's', transcript: [ask], transcript_projection: options });
    for (let n = 1; n <= 9; n++) {
      session.append(...turn(n));
      if (n === 6) session.compact(4);
      const view = session.projectTurn();
      // Not every provider in every turn: what is known may be of an earlier view.
      for (const provider of PROVIDERS.filter((_, at) => (at + n) % 3 !== 0)) {
        // A copy is no view of the session's.
        assert.deepEqual(providerMessages(view, provider), providerMessages([...view.messages], provider));
      }
    }
    session.free();
  });
}

test('an older view, a view whose list was changed and a list that was returned are what they are', () => {
  const session = new AgentSession({
    session_id: 's',
    transcript: [ask, ...turn(1), ...turn(2)],
    transcript_projection: { policy: 'reachability_gc', root_window: 2 },
  });
  const older = session.projectTurn();
  const sentOlder = providerMessages(older);
  session.append(...turn(4), ...turn(5), ...turn(7));
  const view = session.projectTurn();
  const sent = providerMessages(view);
  assert.notDeepEqual(sent.slice(0, sentOlder.length), sentOlder);
  assert.deepEqual(providerMessages(older), sentOlder);
  providerMessages(view).pop();
  assert.deepEqual(providerMessages(view), sent);
  const added = { role: 'user', content: 'One more.' };
  view.messages.push(added);
  assert.deepEqual(providerMessages(view), [...sent, added]);
  assert.throws(() => providerMessages(view, 'nobody'), { code: 'unknown_provider' });
  session.free();
});

test('messages that were sent before are not looked at again', () => {
  let looks = 0;
  const watched = new Proxy(turn(1)[0], {
    get: (target, key) => {
      looks += 1;
      return target[key];
    },
  });
  const session = new AgentSession({
    session_id: 's',
    transcript: [ask, watched, turn(1)[1]],
    transcript_projection: 'clean_tool_repair',
  });
  for (let n = 2; n <= 4; n++) {
    session.append(...turn(n));
    const view = session.projectTurn();
    if (n > 2) looks = 0;
    assert.equal(providerMessages(view)[1], watched);
    assert.equal(looks > 0, n === 2);
  }
  session.free();
});
