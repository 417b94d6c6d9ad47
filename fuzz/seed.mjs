// `node fuzz/seed.mjs [folder]` fills the corpora from the fixtures, and from a folder of session files if there is one.
// Then, with a nightly toolchain and cargo-fuzz: `cargo +nightly fuzz run import`, `cargo +nightly fuzz run document`.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const fixtures = join(root, 'tests/fixtures/import');
let count = 0;

for (const name of readdirSync(fixtures)) {
  for (const { file } of JSON.parse(readFileSync(join(fixtures, name), 'utf8'))) seed(bytesOf(file));
}
if (process.argv[2]) walk(process.argv[2]);
console.log(`${count} seeds`);

/** A file as tests/import/main.rs writes it. */
function bytesOf(file) {
  if (typeof file === 'string') return Buffer.from(file);
  if (Array.isArray(file)) {
    return Buffer.from(file.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  }
  return typeof file.base64 === 'string' ? Buffer.from(file.base64, 'base64') : Buffer.from(JSON.stringify(file));
}

function walk(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) walk(path);
    else seed(readFileSync(path));
  }
}

function seed(bytes) {
  // Small files find more: each run costs what its input is long.
  if (bytes.length > 16384) return;
  // The format is found out, the view is the model's, and pieces have 64 bytes.
  put('import', Buffer.concat([Buffer.from([255, 0, 64]), bytes]));
  put('document', bytes);
  for (const line of bytes.toString().split('\n')) if (line) put('document', Buffer.from(line));
  count += 1;
}

function put(target, bytes) {
  const folder = join(root, 'fuzz/corpus', target);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, createHash('sha256').update(bytes).digest('hex').slice(0, 16)), bytes);
}
