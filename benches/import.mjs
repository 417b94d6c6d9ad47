// A session file of 200 MB through the Importer, piece by piece: time and memory beside JSON.parse line by line.
// See benches/README.md. Each run is a process of its own, so that its peak is its own.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MEGABYTES = 200;
const ROUNDS = 5;
const PIECE = 1 << 20;

const WORDS = 'the parser reads a line and keeps what it was told until the next one comes around again'.split(' ');

/** Claude Code's lines, about `megabytes` of them: a call and a result of 4 KB a turn, each tenth failed. */
function* lines(megabytes) {
  let left = megabytes * 1e6;
  let parent = null;
  for (let turn = 0; left > 0; turn += 1) {
    const id = `toolu_${turn}`;
    const envelope = (uuid, more) => {
      const line = JSON.stringify({ parentUuid: parent, isSidechain: false, userType: 'external', cwd: '/home/user/project', sessionId: 's', version: '2.0.1', gitBranch: 'main', uuid, timestamp: '2026-01-01T00:00:00.000Z', ...more });
      parent = uuid;
      return line;
    };
    const call = { type: 'tool_use', id, name: 'Read', input: { file_path: `/home/user/project/src/part${turn}.rs` } };
    const usage = { input_tokens: 4, cache_read_input_tokens: 12_000 + turn, output_tokens: 120 };
    const asked = envelope(`a${turn}`, { type: 'assistant', requestId: `req_${turn}`, message: { id: `msg_${turn}`, type: 'message', role: 'assistant', model: 'a-model', content: [call], stop_reason: null, usage } });
    const failed = turn % 10 === 3;
    const text = body(turn);
    const content = [{ type: 'tool_result', tool_use_id: id, content: failed ? `Error: ${text}` : text, ...(failed && { is_error: true }) }];
    const told = envelope(`u${turn}`, { type: 'user', message: { role: 'user', content }, toolUseResult: { type: 'text', numLines: 40 } });
    for (const line of [asked, told]) {
      left -= line.length + 1;
      yield `${line}\n`;
    }
  }
}

function body(seed) {
  let text = '';
  for (let word = seed; text.length < 4096; word += 1) {
    text += WORDS[(word * 7 + seed) % WORDS.length] + (word % 12 === 11 ? '\n' : ' ');
  }
  return text;
}

/** The file in pieces of a megabyte. It is never there as a whole. */
function* pieces(megabytes) {
  let parts = [];
  let size = 0;
  for (const line of lines(megabytes)) {
    parts.push(line);
    size += line.length;
    if (size >= PIECE) {
      yield Buffer.from(parts.join(''));
      parts = [];
      size = 0;
    }
  }
  yield Buffer.from(parts.join(''));
}

/** What reads it, and what it says of itself at the end. */
const READERS = {
  async importer() {
    const { Importer } = await import('../dist/node.js');
    const warm = new Importer();
    for (const piece of pieces(1)) warm.push(piece);
    warm.finish().transcript.free();
    const importer = new Importer();
    return { push: (piece) => importer.push(piece), finish: () => importer.finish() };
  },
  // What every reader in JavaScript does first. It keeps the values, as one that shows them must.
  async 'JSON.parse'() {
    const values = [];
    const decoder = new TextDecoder();
    let rest = '';
    const take = (text) => {
      const found = (rest + text).split('\n');
      rest = found.pop();
      for (const line of found) values.push(JSON.parse(line));
    };
    return {
      push: (piece) => take(decoder.decode(piece, { stream: true })),
      finish: () => ({ stats: { messages: values.length } }),
    };
  },
};

async function run(name) {
  const reader = await READERS[name]();
  let bytes = 0;
  // What the generator takes is not the reader's.
  for (const piece of pieces(20)) bytes += piece.length;
  const baseline = memory();
  bytes = 0;
  let time = 0;
  // Time of the processor, all threads: what else runs on the machine does not count.
  const timed = (work) => {
    const start = process.cpuUsage();
    const result = work();
    const { user, system } = process.cpuUsage(start);
    time += (user + system) / 1000;
    return result;
  };
  for (const piece of pieces(MEGABYTES)) {
    bytes += piece.length;
    timed(() => reader.push(piece));
  }
  const { stats } = timed(() => reader.finish());
  console.log(JSON.stringify({ bytes, time, messages: stats.messages, peak: (peak() - baseline) / bytes }));
}

const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
const memory = () => field('VmRSS');
const peak = () => field('VmHWM');

const [reader] = process.argv.slice(2);
if (reader !== undefined) {
  await run(reader);
} else {
  const results = { importer: [], 'JSON.parse': [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, list] of Object.entries(results)) {
      const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), name], { encoding: 'utf8' });
      if (stdout === '') throw new Error(stderr);
      list.push(JSON.parse(stdout));
    }
  }
  const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
  const [{ bytes, messages }] = results.importer;
  console.log(`\n${(bytes / 1e6).toFixed(0)} MB of Claude Code lines, ${messages} messages, in pieces of 1 MB`);
  for (const [name, list] of Object.entries(results)) {
    const time = median(list.map((each) => each.time));
    const speed = `${(bytes / 1e3 / time).toFixed(0).padStart(5)} MB/s`;
    const most = `peak ${Math.max(...list.map((each) => each.peak)).toFixed(2)} x the file`;
    console.log(`${name.padEnd(12)} ${time.toFixed(0).padStart(6)} ms ${speed}  ${most}`);
  }
  const ratios = results.importer.map(({ time }, round) => time / results['JSON.parse'][round].time);
  console.log(`importer / JSON.parse, of one round each: ${median(ratios).toFixed(2)}`);
}
