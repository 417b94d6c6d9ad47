// `npm run bench`: the benchmarks in benches/, of the crate (Rust) and of the built package (JavaScript).
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { main, root, run, step } from './lib.mjs';
import { setup } from './setup.mjs';

await main(async () => {
  await build(await setup());
  const files = existsSync(join(root, 'benches')) ? readdirSync(join(root, 'benches')) : [];
  if (files.some((name) => name.endsWith('.rs'))) await step('cargo bench', () => run('cargo', ['bench', '--benches']));
  for (const name of files.filter((name) => name.endsWith('.mjs'))) {
    await step(`benches/${name}`, () => run(process.execPath, ['--expose-gc', `benches/${name}`]));
  }
});
