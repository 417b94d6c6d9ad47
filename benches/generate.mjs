// A transcript that is the same on every machine: `turns` of one call and one result of about `size` characters.
// Every tenth call fails and is made again; each reads another file.

const WORDS = 'the parser reads a line and keeps what it was told until the next one comes around again'.split(' ');

/** @returns {object[]} messages in OpenAI's form, `count` of them */
export function generate({ count = 2000, size = 4096, speaks = false } = {}) {
  const messages = [{ role: 'user', content: 'Find out why the build is slow.' }];
  for (let turn = 0; messages.length < count - 1; turn++) {
    const failed = turn % 10 === 3;
    messages.push({
      role: 'assistant',
      // With `speaks`, every message holds about `size` characters.
      content: speaks ? body(turn, size) : null,
      tool_calls: [
        {
          id: `call_${turn}`,
          type: 'function',
          function: { name: 'read', arguments: JSON.stringify({ path: `src/part${turn}/file${turn}.rs` }) },
        },
      ],
    });
    messages.push({
      role: 'tool',
      tool_call_id: `call_${turn}`,
      content: (failed ? 'Error: ' : '') + body(turn + 1, size),
    });
  }
  messages.push({ role: 'assistant', content: 'The cache was never warm.' });
  return messages;
}

function body(seed, size) {
  let text = '';
  for (let word = seed; text.length < size; word++) {
    text += WORDS[(word * 7 + seed) % WORDS.length] + (word % 12 === 11 ? '\n' : ' ');
  }
  return text.slice(0, size);
}

/** The median of `rounds` runs in milliseconds, after a few to warm up. */
export function median(run, rounds = 15) {
  for (let warm = 0; warm < 3; warm++) run();
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    run();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[rounds >> 1];
}
