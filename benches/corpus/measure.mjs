// Reads the samples and compares estimates with the tokens that o200k_base makes of them.
import { readdirSync, readFileSync } from 'node:fs';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';

export const HALVES = ['fit', 'held out'];

/** Every sample: `{kind, half, title, text}`. In a file of a kind each begins with a line `=== half: title`. */
export function samples() {
  const folder = new URL('./', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.txt'));
  return names.sort().flatMap((name) => {
    const sections = readFileSync(new URL(name, folder), 'utf8').split(/^=== /m).slice(1);
    return sections.map((section) => {
      const [, half, title, text] = /^(.*?): (.*)\n([^]*?)\n$/.exec(section);
      return { kind: name.replace('.txt', ''), half, title, text };
    });
  });
}

/** The rows of one half, a kind each, with `tokens` and what each estimate makes of them; the same for each sample. */
export function measure(half, estimates) {
  const rows = new Map();
  const singles = [];
  for (const { kind, title, text, ...sample } of samples()) {
    if (sample.half !== half) continue;
    const counts = [encode(text).length, ...estimates.map((estimate) => estimate(text))];
    singles.push({ kind, title, counts });
    const sums = rows.get(kind) ?? counts.map(() => 0);
    rows.set(kind, sums.map((sum, at) => sum + counts[at]));
  }
  return { rows: [...rows].map(([kind, counts]) => ({ kind, counts })), singles };
}

/** How far an estimate is off, in percent. */
export const errorOf = ({ counts }, estimate) => 100 * (counts[estimate + 1] / counts[0] - 1);

/** The mean and the worst of the absolute errors of some rows. */
export function errors(rows, estimate) {
  const sizes = rows.map((row) => Math.abs(errorOf(row, estimate)));
  return { mean: sizes.reduce((sum, size) => sum + size, 0) / sizes.length, worst: Math.max(...sizes) };
}

/** The rows of one half as a table in Markdown. */
export function table(half, estimates) {
  const { rows, singles } = measure(half, estimates);
  const signed = (percent) => `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`;
  const line = (...cells) => `| ${cells.join(' | ')} |`;
  const summary = (name, from, pick) =>
    line(name, '', ...estimates.flatMap((_, at) => ['', `${errors(from, at)[pick].toFixed(1)} %`]));
  return [
    line(half, 'o200k', 'by script', 'off by', 'bytes/4', 'off by'),
    '|---|---:|---:|---:|---:|---:|',
    ...rows.map((row) => {
      const cells = estimates.flatMap((_, at) => [row.counts[at + 1], signed(errorOf(row, at))]);
      return line(row.kind, row.counts[0], ...cells);
    }),
    summary('mean, without signs', rows, 'mean'),
    summary('worst kind', rows, 'worst'),
    summary('worst single sample', singles, 'worst'),
  ].join('\n');
}
