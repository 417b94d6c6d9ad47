// `npm run test:deep [cases]`: the guarantee, over many more cases than `npm test` has time for, from a new seed.
import { main, run, say, step } from './lib.mjs';

await main(async () => {
  const [cases = '100000'] = process.argv.slice(2);
  // Given again, a seed gives the same cases.
  const seed = process.env.GUARANTEE_SEED ?? String(Date.now());
  say(`seed ${seed}, ${cases} cases`);
  await step('cargo test --release --test guarantee', () =>
    run('cargo', ['test', '--release', '--test', 'guarantee', '--', '--nocapture'], {
      env: { GUARANTEE_CASES: cases, GUARANTEE_SEED: seed },
      label: 'rust',
    }),
  );
});
