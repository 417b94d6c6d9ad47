// The entry for Node, Deno and Bun: the wasm comes as bytes in a module, so that bundled servers need no file.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { useWorkers } from './background.js';
import bytes from './bytes.js';
import { engine } from './engine.js';
import { setSha256 } from './glue.js';
import importerBytes from './importers-bytes.js';
import { importers } from './importers.js';

engine.loadOnFirstUse(
  () => Buffer.from(bytes, 'base64'),
  // The host's SHA-256 is several times faster than one in wasm.
  () => setSha256(() => createHash('sha256')),
);
importers.loadOnFirstUse(() => Buffer.from(importerBytes, 'base64'));

useWorkers((onMessage, onFailure) => {
  // Flags of the process, such as --input-type, are not for this file.
  const worker = new Worker(new URL('./worker-node.js', import.meta.url), { execArgv: [] });
  worker.on('message', onMessage);
  for (const event of ['error', 'messageerror', 'exit']) worker.on(event, onFailure);
  return {
    post: (message) => worker.postMessage(message),
    // An idle worker keeps no process alive.
    hold: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
    stop: () => void worker.terminate(),
  };
});

export * from './api.js';

/** Nothing needs it here; it is there so that one program runs everywhere. */
export async function init() {
  engine.ensureReady();
}

/** Nothing needs it here either. */
export async function initImport() {
  importers.ensureReady();
}
