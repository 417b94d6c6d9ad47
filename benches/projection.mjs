// One projection from JavaScript objects, hash included, beside what any implementation pays that hashes its messages:
// JSON.stringify and SHA-256 once over all of it. See benches/README.md.
import { createHash } from 'node:crypto';
import { transcriptProject } from '../dist/node.js';
import { generate, median } from './generate.mjs';

const policies = ['raw', 'clean_tool_repair', 'squash_failed_calls', 'summary_prefix', 'reachability_gc'];

for (const speaks of [false, true]) {
  const messages = generate({ count: 2000, size: 4096, speaks });
  const text = JSON.stringify(messages);
  const floor = median(() => createHash('sha256').update(JSON.stringify(messages)).digest('hex'));
  console.log(
    `\n${messages.length} messages, ${(text.length / 1e6).toFixed(1)} MB: 4 KB in ${speaks ? 'every message' : 'every result'}`,
  );
  console.log(`${'floor (stringify + SHA-256)'.padEnd(36)} ${floor.toFixed(1).padStart(6)} ms`);
  for (const policy of policies) {
    for (const prefix_hash of [true, false]) {
      const options = { policy, prefix_hash, ...(policy === 'summary_prefix' && { keep_last: 20 }) };
      const time = median(() => transcriptProject(messages, options));
      const view = transcriptProject(messages, options);
      const name = prefix_hash ? policy : `${policy}, no hash`;
      const what = `${view.dropped_count} dropped, ${view.redacted_count} redacted`;
      const ratio = `${(time / floor).toFixed(2)} x floor`;
      console.log(`${name.padEnd(36)} ${time.toFixed(1).padStart(6)} ms  ${ratio.padEnd(12)} ${what}`);
    }
  }
}
