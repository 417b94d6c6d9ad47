// `npm run bench`: the benchmarks in benches/, of the crate (Rust) and of the built package (JavaScript), and those beside
// other libraries in benches/peers/, which are installed there. `npm run bench -- peers` or `-- validity` runs only the
// files that hold that word in their path.
import { build } from './build.mjs';
import { Failure, main, run, step } from './lib.mjs';
import { npmPackages, setup } from './setup.mjs';

const PROGRAMS = [
  'benches/projection.rs',
  'benches/projection.mjs',
  'benches/tokens.mjs',
  'benches/cache.mjs',
  'benches/peers/validity.mjs',
  'benches/peers/speed.mjs',
];

await main(async () => {
  const [word = ''] = process.argv.slice(2);
  const programs = PROGRAMS.filter((path) => path.includes(word));
  if (programs.length === 0) throw new Failure(`"${word}" is in none of: ${PROGRAMS.join(', ')}`);
  await build(await setup());
  if (programs.some((path) => path.startsWith('benches/peers/'))) await npmPackages('benches/peers');
  for (const path of programs) {
    await step(path, () =>
      path.endsWith('.rs') ? run('cargo', ['bench', '--benches']) : run(process.execPath, ['--expose-gc', path]),
    );
  }
});
