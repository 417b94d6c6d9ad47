// The entry for Node, Deno and Bun: the wasm comes as bytes in a module, so that bundled servers need no file.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import bytes from './bytes.js';
import { ensureReady, loadOnFirstUse } from './engine.js';
import { setSha256 } from './glue.js';

loadOnFirstUse(
  () => Buffer.from(bytes, 'base64'),
  // The host's SHA-256 is several times faster than one in wasm.
  () => setSha256(() => createHash('sha256')),
);

export * from './api.js';

/** Nothing needs it here; it is there so that one program runs everywhere. */
export async function init() {
  ensureReady();
}
