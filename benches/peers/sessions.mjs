// Sessions of coding agents, the same on every machine, and valid for every provider at the moment of a request: parallel
// calls, failures that the next step mends, signed reasoning, results that come one by one and out of order, text beside
// calls. One neutral form, from which each library gets its own.

const TOOLS = ['read', 'bash', 'edit', 'search'];
const WORDS = 'cache parser token build module queue socket buffer index worker schema ledger'.split(' ');

/** Numbers from 0 to 1 that look like chance (mulberry32). */
function chanceOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * The session of a seed: `{system, thinks, turns}`, where a turn is what the user says, `{user}`, or a step of the assistant,
 * `{reasoning?, text?, calls, results, split}`; `split` says that each result is a message of its own.
 * In every second session (`thinks`) the model reasons. Every second one ends with what the user says, the others with results that the model has not seen yet.
 */
export function sessionOf(seed) {
  const chance = chanceOf(seed);
  const pick = (list) => list[Math.floor(chance() * list.length)];
  const thinks = chance() < 0.5;
  const turns = [];
  let count = 0;

  const step = (calls) => {
    const turn = { calls: [], results: [], split: chance() < 0.3 };
    // Reasoning opens the turn; manual thinking asks for that.
    if (thinks && (turns.at(-1).user !== undefined || chance() < 0.6)) {
      count += 1;
      turn.reasoning = { text: `About the ${pick(WORDS)}, once more.`, signature: `c2lnbmF0dXJl${seed}x${count}` };
    }
    if (chance() < 0.4) turn.text = `I look at the ${pick(WORDS)} now.`;
    for (const { name, path, failed } of calls) {
      count += 1;
      const id = `toolu_${seed}_${count}`;
      turn.calls.push({ id, name, input: { path } });
      turn.results.push({ id, name, failed, text: failed ? `Error: ${path} does not exist` : bodyOf(path, chance) });
    }
    if (chance() < 0.3) turn.results.reverse();
    turns.push(turn);
  };

  const asks = 2 + Math.floor(chance() * 4);
  for (let ask = 0; ask < asks; ask++) {
    turns.push({ user: `Why does the ${pick(WORDS)} fail? Question ${ask}.` });
    let broken = [];
    for (let steps = 1 + Math.floor(chance() * 5); steps > 0; steps--) {
      const calls = broken.map((call) => ({ ...call, path: `src/${call.path}`, failed: false }));
      while (calls.length === 0 || (calls.length < 3 && chance() < 0.4)) {
        calls.push({ name: pick(TOOLS), path: `${pick(WORDS)}/${pick(WORDS)}.rs`, failed: chance() < 0.3 });
      }
      step(calls);
      broken = chance() < 0.8 ? calls.filter((call) => call.failed) : [];
    }
    if (ask < asks - 1) turns.push({ text: `It was the ${pick(WORDS)}.`, calls: [], results: [] });
  }
  if (seed % 2 === 0) {
    turns.push({ text: `It was the ${pick(WORDS)}.`, calls: [], results: [] }, { user: 'Thank you. What is next?' });
  }
  return { system: 'You mend what is broken.', thinks, turns };
}

function bodyOf(path, chance) {
  const lines = 2 + Math.floor(chance() * 40);
  return Array.from({ length: lines }, (_, line) => `${path}:${line}: the ${WORDS[(line * 5 + lines) % WORDS.length]} waits`).join('\n');
}

/** The session as a model without signed reasoning would have had it. */
export const unsigned = ({ system, turns }) => ({ system, thinks: false, turns: turns.map(({ reasoning, ...turn }) => turn) });

/** The messages of a session for the AI SDK; its system prompt goes beside them. */
export function forAiSdk({ turns }) {
  return turns.flatMap((turn) => {
    if (turn.user !== undefined) return { role: 'user', content: turn.user };
    const content = [];
    if (turn.reasoning) {
      const { text, signature } = turn.reasoning;
      content.push({ type: 'reasoning', text, providerOptions: { anthropic: { signature } } });
    }
    if (turn.text !== undefined) content.push({ type: 'text', text: turn.text });
    for (const { id, name, input } of turn.calls) {
      content.push({ type: 'tool-call', toolCallId: id, toolName: name, input });
    }
    const results = turn.results.map(({ id, name, failed, text }) => {
      return { type: 'tool-result', toolCallId: id, toolName: name, output: { type: failed ? 'error-text' : 'text', value: text } };
    });
    const messages = turn.split ? results.map((result) => [result]) : results.length > 0 ? [results] : [];
    return [{ role: 'assistant', content }, ...messages.map((content) => ({ role: 'tool', content }))];
  });
}

/** The messages of a session for LangChain, as it stores them: `mapStoredMessagesToChatMessages` makes its objects. */
export function forLangChain({ system, turns }) {
  const stored = turns.flatMap((turn) => {
    if (turn.user !== undefined) return { type: 'human', data: { content: turn.user } };
    const blocks = [];
    if (turn.reasoning) {
      blocks.push({ type: 'thinking', thinking: turn.reasoning.text, signature: turn.reasoning.signature });
    }
    if (turn.text !== undefined) blocks.push({ type: 'text', text: turn.text });
    const tool_calls = turn.calls.map(({ id, name, input }) => ({ type: 'tool_call', id, name, args: input }));
    const results = turn.results.map(({ id, name, failed, text }) => {
      const status = failed ? 'error' : 'success';
      return { type: 'tool', data: { content: text, tool_call_id: id, name, status } };
    });
    return [{ type: 'ai', data: { content: turn.reasoning ? blocks : (turn.text ?? ''), tool_calls } }, ...results];
  });
  return [{ type: 'system', data: { content: system } }, ...stored];
}
