// What pruning costs and saves where a provider caches prompts: a session of 400 messages, one request before each message
// of the assistant, the cache always warm. A token that the request before had sent at the same place is read from the
// cache, all others are written to it. The system prompt and the tools, which all read alike, are not counted.
import { AIMessage, HumanMessage, ToolMessage, trimMessages } from '@langchain/core/messages';
import { pruneMessages } from 'ai';
import { ClearToolUsesEdit, countTokensApproximately as countTokens } from 'langchain';
import { AgentSession, providerMessages } from '../dist/node.js';
import { generate } from './generate.mjs';

const READ = 0.1;
const WRITE = 1.25;

const transcript = generate({ count: 400 });

/** Ours: a session that gets the messages as they come. */
function ours(transcript_projection) {
  const session = new AgentSession({ session_id: 'cache', transcript_projection });
  let seen = 0;
  return (messages) => {
    session.append(...messages.slice(seen));
    seen = messages.length;
    return providerMessages(session.projectTurn());
  };
}

// The forms of the other libraries, and back: what they sent is counted in one form for all.
const toAiSdk = ({ role, content, tool_calls, tool_call_id: toolCallId }) => {
  if (role === 'user') return { role, content };
  if (role === 'tool') {
    return { role, content: [{ type: 'tool-result', toolCallId, toolName: 'read', output: { type: 'text', value: content } }] };
  }
  const calls = (tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => {
    return { type: 'tool-call', toolCallId: id, toolName: name, input: JSON.parse(text) };
  });
  return { role, content: content === null ? calls : [{ type: 'text', text: content }, ...calls] };
};

const toLangChain = ({ role, content, tool_calls, tool_call_id }) => {
  if (role === 'user') return new HumanMessage(content);
  if (role === 'tool') return new ToolMessage({ content, tool_call_id, name: 'read' });
  const calls = (tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => ({ id, name, args: JSON.parse(text) }));
  return new AIMessage({ content: content ?? '', tool_calls: calls });
};

const keyOf = ({ tool_call_id, tool_calls }) => tool_call_id ?? (tool_calls && `${tool_calls[0].id} call`);
const original = new Map(transcript.map((message) => [keyOf(message), message]));

// Of this transcript the libraries change no message: it is there or it is not, or its body was cleared.
const fromAiSdk = ({ role, content }) => {
  if (role === 'user') return transcript[0];
  if (role === 'tool') return original.get(content[0].toolCallId);
  return original.get(`${content[0].toolCallId} call`) ?? transcript.at(-1);
};
const fromLangChain = (message) => {
  if (message.type === 'human') return transcript[0];
  if (message.type === 'tool') return { ...original.get(message.tool_call_id), content: message.content };
  return original.get(`${message.tool_calls[0]?.id} call`) ?? transcript.at(-1);
};

const pruned = (toolCalls) => (messages) => pruneMessages({ messages: messages.map(toAiSdk), toolCalls }).map(fromAiSdk);
const trimmed = (maxTokens) => async (messages) => {
  const options = { strategy: 'last', maxTokens, tokenCounter: ({ length }) => length };
  return (await trimMessages(messages.map(toLangChain), options)).map(fromLangChain);
};

/** As contextEditingMiddleware: it edits the messages of the agent's state, so that what it cleared is gone for good. */
function cleared(options) {
  const edit = new ClearToolUsesEdit(options);
  const state = [];
  return async (messages) => {
    state.push(...messages.slice(state.length).map(toLangChain));
    await edit.apply({ messages: state, countTokens });
    return state.map(fromLangChain);
  };
}

const batch = { min_reclaimed_tokens: 16_000 };
const window = (size) => ({ policy: 'reachability_gc', root_window: size });
const summary = (size) => ({ policy: 'summary_prefix', keep_last: size });

const PRUNINGS = {
  raw: ours('raw'),
  'ai pruneMessages, before-last-20-messages': pruned('before-last-20-messages'),
  'ai pruneMessages, before-last-10-messages': pruned('before-last-10-messages'),
  'LangChain trimMessages, last 20': trimmed(20),
  'LangChain trimMessages, last 10': trimmed(10),
  'LangChain contextEditingMiddleware, from 100,000 tokens on all but 3 results': cleared({}),
  'LangChain contextEditingMiddleware, all but 10 results': cleared({ trigger: { tokens: 1 }, keep: { messages: 10 } }),
  'ours clean_tool_repair': ours({ policy: 'clean_tool_repair' }),
  'ours clean_tool_repair, batch': ours({ policy: 'clean_tool_repair', batch }),
  'ours reachability_gc, root_window 20': ours(window(20)),
  'ours reachability_gc, root_window 20, batch': ours({ ...window(20), batch }),
  'ours reachability_gc, root_window 10, batch': ours({ ...window(10), batch }),
  'ours summary_prefix, keep_last 20, batch': ours({ ...summary(20), batch }),
  'ours summary_prefix, keep_last 10, batch': ours({ ...summary(10), batch }),
};

const bodies = new Set(transcript.filter(({ role }) => role === 'tool').map(({ content }) => content));

const rows = {};
for (const [name, prune] of Object.entries(PRUNINGS)) {
  let before = [];
  const sum = { cost: 0, broken: 0, visible: 0, readable: 0, least: Infinity, requests: 0 };
  for (const [index, { role }] of transcript.entries()) {
    if (role !== 'assistant') continue;
    const raw = transcript.slice(0, index);
    const sent = (await prune(raw)).map((message) => ({ text: JSON.stringify(message), content: message.content }));
    let same = 0;
    while (same < before.length && before[same] === sent[same]?.text) same += 1;
    const read = tokens(sent.slice(0, same));
    const written = tokens(sent.slice(same));
    sum.requests += 1;
    sum.cost += READ * read + WRITE * written;
    if (same < before.length) sum.broken += 1;
    sum.visible += read + written;
    const readable = sent.filter(({ content }) => bodies.has(content)).length;
    sum.readable += readable;
    // Once there are more results than any window is wide.
    if (index > 100) sum.least = Math.min(sum.least, readable);
    before = sent.map(({ text }) => text);
  }
  rows[name] = sum;
}

function tokens(messages) {
  return messages.reduce((sum, { text }) => sum + text.length / 4, 0);
}

console.log(`${rows.raw.requests} requests of a session of ${transcript.length} messages, batch: ${JSON.stringify(batch)}\n`);
printRow(['', 'token equivalents', 'against raw', 'broken prefixes', 'visible tokens, mean', 'results readable, mean', 'least']);
printRow(['---', ...Array(6).fill('---:')]);
for (const [name, { cost, broken, visible, readable, least, requests }] of Object.entries(rows)) {
  printRow([
    name,
    inThousands(cost),
    `${(cost / rows.raw.cost).toFixed(2)} x`,
    broken,
    inThousands(visible / requests),
    (readable / requests).toFixed(1),
    least,
  ]);
}

function inThousands(count) {
  return `${Math.round(count / 1000).toLocaleString('en')} k`;
}

function printRow(cells) {
  console.log(`| ${cells.join(' | ')} |`);
}

// Comparable retention: a peer's window against the policies that keep at least as many results readable.
console.log('\nAims\n');
for (const size of [20, 10]) {
  const peers = Object.keys(rows).filter((name) => name.includes(`before-last-${size}-`) || name.endsWith(`, last ${size}`));
  const cheapest = peers.sort((a, b) => rows[a].cost - rows[b].cost)[0];
  for (const name of Object.keys(rows).filter((name) => name.endsWith(`${size}, batch`))) {
    aim(`${name}: cost against ${cheapest}`, rows[name].cost / rows[cheapest].cost, 0.5);
    aim(`${name}: results readable against the same, at least as many`, rows[cheapest].readable / rows[name].readable, 1);
  }
}
for (const [name, { cost }] of Object.entries(rows).filter(([name]) => name.startsWith('ours'))) {
  aim(`${name}: cost against raw`, cost / rows.raw.cost, 1);
}

function aim(what, value, limit) {
  console.log(`${value <= limit ? 'reached    ' : 'NOT REACHED'} ${what}: ${value.toFixed(2)} (<= ${limit})`);
}
