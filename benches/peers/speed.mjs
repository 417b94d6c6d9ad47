// How long one pruning takes, once over a whole transcript, and per turn of a session that grows by two messages. All in
// one process, in passes: each gets a few rounds in a row, on a heap without the garbage of the others. A busy machine is
// as unfair to one as to another. See benches/README.md.
import { createHash } from 'node:crypto';
import { trimMessages } from '@langchain/core/messages';
import { ToolCallFilter } from '@mastra/core/processors';
import { SlidingWindowConversationManager } from '@strands-agents/sdk';
import { pruneMessages } from 'ai';
import { AgentSession, providerMessages, Transcript, transcriptProject } from '../../dist/node.js';
import { generate } from '../generate.mjs';
import { FORMS } from './forms.mjs';

const SIZES = (process.env.SIZES ?? '200,2000,20000').split(',').map(Number);
const PASSES = 3;
const PATIENCE = 1500; // ms for what is slow, a pass

const hash = (value) => createHash('sha256').update(value).digest('hex');
const mastra = new ToolCallFilter({ filterAfterToolSteps: 2 });
const strands = new SlidingWindowConversationManager();

// Their documented settings. Each gets its own messages and returns what is to be sent.
const PEERS = {
  'ai pruneMessages': {
    form: 'aiSdk',
    prune: (messages) =>
      pruneMessages({ messages, reasoning: 'before-last-message', toolCalls: 'before-last-2-messages' }),
  },
  'Mastra ToolCallFilter': {
    form: 'prompt',
    prune: (prompt) => mastra.processLLMRequest({ prompt, state: {} }),
  },
  'LangChain trimMessages': {
    form: 'langchain',
    prune: (messages) =>
      trimMessages(messages, {
        strategy: 'last',
        maxTokens: 10,
        tokenCounter: ({ length }) => length,
        includeSystem: true,
      }),
  },
  // It cuts the list that it is given, so it gets a copy: the transcript stays, as with the others.
  'Strands sliding window': {
    form: 'strands',
    prune: (messages) => {
      const agent = { messages: [...messages] };
      strands.reduce({ agent });
      return agent.messages;
    },
  },
};

const STRUCTURE = [
  { policy: 'clean_tool_repair' },
  { policy: 'squash_failed_calls' },
  { policy: 'summary_prefix', keep_last: 20 },
];
const OURS = [{ policy: 'raw' }, ...STRUCTURE, { policy: 'reachability_gc' }];

/** Once over the whole: name to a function that does it. */
function onceOver(messages) {
  const runs = {};
  const bytes = Buffer.from(JSON.stringify(messages));
  runs['floor: JSON.stringify + SHA-256'] = () => hash(JSON.stringify(messages));
  for (const [name, { form, prune }] of Object.entries(PEERS)) {
    const own = messages.map(FORMS[form]);
    runs[name] = () => prune(own);
  }
  for (const options of OURS) {
    runs[`ours ${options.policy}`] = () => transcriptProject(messages, options);
    const unhashed = { ...options, prefix_hash: false };
    runs[`ours ${options.policy}, no hash`] = () => transcriptProject(messages, unhashed);
  }
  runs['floor: JSON.parse'] = () => JSON.parse(bytes);
  for (const prefix_hash of [true, false]) {
    runs[`ours from bytes, clean_tool_repair${prefix_hash ? '' : ', no hash'}`] = () => {
      const transcript = Transcript.fromJSON(bytes);
      transcript.project({ policy: 'clean_tool_repair', prefix_hash });
      transcript.free();
    };
  }
  return runs;
}

/** A turn of a session: two messages more, then what is to be sent. `more(n)` are the messages of the nth turn. */
function perTurn(messages, more) {
  const turns = {};
  const list = [...messages];
  turns['floor: JSON.stringify + SHA-256'] = (turn) => {
    list.push(...more(turn));
    return hash(JSON.stringify(list));
  };
  for (const [name, { form, prune }] of Object.entries(PEERS)) {
    const own = messages.map(FORMS[form]);
    turns[name] = (turn) => {
      own.push(...more(turn).map(FORMS[form]));
      return prune(own);
    };
  }
  // As Strands' agents do it: what was cut is gone. No other here gives up the transcript.
  const agent = { messages: messages.map(FORMS.strands) };
  turns['Strands, its own list cut for good'] = (turn) => {
    agent.messages.push(...more(turn).map(FORMS.strands));
    strands.reduce({ agent });
    return agent.messages;
  };
  for (const options of OURS) {
    const session = new AgentSession({ session_id: 'bench', transcript: messages, transcript_projection: options });
    turns[`ours AgentSession ${options.policy}`] = (turn) => {
      session.append(...more(turn));
      return providerMessages(session.projectTurn());
    };
  }
  const transcript = Transcript.fromObject({ messages });
  turns['ours Transcript clean_tool_repair'] = (turn) => {
    transcript.append(more(turn));
    return providerMessages(transcript.project('clean_tool_repair'));
  };
  return turns;
}

/** The median time of each in milliseconds, of up to `rounds` in each pass after `warm` ones. */
async function medians(runs, rounds, warm) {
  const all = Object.entries(runs).map(([name, run]) => ({ name, run, times: [], calls: 0 }));
  for (let pass = 0; pass < PASSES; pass++) {
    for (const one of all) {
      globalThis.gc?.();
      const begin = performance.now();
      for (let round = -warm; round < rounds; round++) {
        const start = performance.now();
        const result = one.run(one.calls++);
        if (result instanceof Promise) await result;
        const end = performance.now();
        if (round >= 0) one.times.push(end - start);
        if (round >= 0 && end - begin > PATIENCE) break;
      }
    }
  }
  return Object.fromEntries(all.map(({ name, times }) => [name, times.sort((a, b) => a - b)[times.length >> 1]]));
}

function print(title, bySize, floor) {
  console.log(`\n${title}\n`);
  printRow(['', ...SIZES.map((size) => `${size.toLocaleString('en')} messages`)]);
  printRow(['---', ...SIZES.map(() => '---:')]);
  for (const name of Object.keys(bySize[SIZES[0]])) {
    const cells = SIZES.map((size) => {
      const time = bySize[size][name];
      return `${inWords(time)} (${(time / bySize[size][floor]).toPrecision(2)} x)`;
    });
    printRow([name, ...cells]);
  }
}

function printRow(cells) {
  console.log(`| ${cells.join(' | ')} |`);
}

const inWords = (ms) => (ms < 1 ? `${(ms * 1000).toPrecision(3)} us` : `${ms.toPrecision(3)} ms`);

const once = {};
const turn = {};
for (const size of SIZES) {
  const turns = 30;
  const warm = 5;
  const all = generate({ count: size + 2 * PASSES * (turns + warm) });
  const messages = all.slice(0, size - 1);
  const more = (number) => all.slice(size - 1 + 2 * number, size + 1 + 2 * number);
  once[size] = await medians(onceOver(messages), 9, 1);
  turn[size] = await medians(perTurn(messages, more), turns, warm);
}

const FLOOR = 'floor: JSON.stringify + SHA-256';
print('Once over the whole transcript, results of 4 KB. In brackets: against the floor.', once, FLOOR);
print('Per turn: two messages more, then what is to be sent. In brackets: against the floor.', turn, FLOOR);

// The aims. A peer that deletes the transcript is no peer in keeping it.
const [, middle, large] = SIZES;
const peerTimes = Object.keys(PEERS).map((name) => [name, turn[middle]?.[name]]);
const [fastest, fastestTime] = peerTimes.sort(([, a], [, b]) => a - b)[0];
const at = (table, size, name) => table[size]?.[name];

console.log('\nAims\n');
for (const { policy } of OURS) {
  const name = `ours AgentSession ${policy}`;
  aim(`per turn at ${middle}, ${policy}: at least 5 x faster than ${fastest}`, fastestTime / at(turn, middle, name), 5, true);
  aim(`per turn, ${policy}: ${large} against ${middle}`, at(turn, large, name) / at(turn, middle, name), 1.5);
}
for (const { policy } of STRUCTURE) {
  const perMessage = (size) => (1000 * at(once, size, `ours ${policy}, no hash`)) / size;
  aim(`one-shot ${policy}, no hash: us a message at ${middle}`, perMessage(middle), 1);
  aim(`one-shot ${policy}, no hash: a message at ${large} against ${middle}`, perMessage(large) / perMessage(middle), 1.2);
}
for (const { policy } of OURS) {
  for (const size of [middle, large]) {
    aim(`one-shot ${policy} with hash at ${size} against the floor`, at(once, size, `ours ${policy}`) / at(once, size, FLOOR), 2);
  }
}
for (const hashed of ['', ', no hash']) {
  const name = `ours from bytes, clean_tool_repair${hashed}`;
  aim(`from bytes${hashed} at ${middle} against JSON.parse`, at(once, middle, name) / at(once, middle, 'floor: JSON.parse'), 1.5);
}

function aim(what, value, limit, atLeast = false) {
  if (Number.isNaN(value)) return; // SIZES leaves out what it compares
  const reached = atLeast ? value >= limit : value <= limit;
  console.log(`${reached ? 'reached    ' : 'NOT REACHED'} ${what}: ${value.toPrecision(3)} (${atLeast ? '>=' : '<='} ${limit})`);
}
