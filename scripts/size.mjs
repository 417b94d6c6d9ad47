// `npm run size`: what the package weighs. Fails above the budget.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from './build.mjs';
import { Failure, isMain, main, root } from './lib.mjs';
import { setup } from './setup.mjs';

// Of the wasm, gzip. Projection of the three first shapes alone fits into 120 KB; compaction and estimates weigh 12,
// the other wire shapes 21, the validator 30, sessions 34.
const BUDGET = 227 * 1024;

/** Prints the table. An entry is counted as a bundler ships it, all it imports included, the wasm file apart. */
export async function size() {
  const { build: bundle } = await import('esbuild'); // not at the top: setup() may have to install it first
  const wasm = readFileSync(join(root, 'dist/engine_bg.wasm'));
  print(['', 'raw', 'gzip', 'brotli']);
  const gzip = row('engine_bg.wasm', wasm);
  for (const entry of ['node', 'browser', 'inline', 'workerd']) {
    const { outputFiles } = await bundle({
      entryPoints: [join(root, `dist/${entry}.js`)],
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      external: ['node:*', '*.wasm'],
    });
    row(`${entry}.js`, outputFiles[0].contents);
  }
  if (gzip > BUDGET) throw new Failure(`engine_bg.wasm is ${gzip} bytes gzip, the budget is ${BUDGET}.`);
  console.log(`engine_bg.wasm uses ${((100 * gzip) / BUDGET).toFixed(0)} % of its budget of ${BUDGET} bytes gzip`);
}

function row(name, bytes) {
  const gzip = gzipSync(bytes, { level: 9 }).length;
  print([name, bytes.length, gzip, brotliCompressSync(bytes).length]);
  return gzip;
}

function print([name, ...cells]) {
  console.log(name.padEnd(16) + cells.map((cell) => String(cell).padStart(10)).join(''));
}

if (isMain(import.meta)) {
  await main(async () => {
    await build(await setup());
    await size();
  });
}
