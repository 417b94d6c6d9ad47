// `npm run size`: what the package weighs. Fails above the budget.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from './build.mjs';
import { Failure, isMain, main, root } from './lib.mjs';
import { setup } from './setup.mjs';

// Of each wasm file, gzip. Of the engine, projection of the three first shapes alone takes 120 KB; compaction and
// estimates weigh 12, the other wire shapes 21, the validator 30, sessions and exact text the rest. Importers are loaded
// by programs that read session files only.
const BUDGETS = { 'engine_bg.wasm': 270 * 1024, 'importers_bg.wasm': 222 * 1024 };

/** Prints the table. An entry is counted as a bundler ships it, all it imports included, the wasm file apart. */
export async function size() {
  const { build: bundle } = await import('esbuild'); // not at the top: setup() may have to install it first
  print(['', 'raw', 'gzip', 'brotli']);
  const files = Object.entries(BUDGETS).map(([name, budget]) => {
    return { name, budget, gzip: row(name, readFileSync(join(root, 'dist', name))) };
  });
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
  for (const { name, budget, gzip } of files) {
    if (gzip > budget) throw new Failure(`${name} is ${gzip} bytes gzip, the budget is ${budget}.`);
    console.log(`${name} uses ${((100 * gzip) / budget).toFixed(0)} % of its budget of ${budget} bytes gzip`);
  }
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
