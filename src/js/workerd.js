// The entry for Cloudflare Workers: there wasm may not be compiled from bytes, an import brings it compiled.
import { ensureReady, loadOnFirstUse } from './engine.js';
import module from './engine_bg.wasm';

loadOnFirstUse(() => module);

export * from './api.js';

/** Nothing needs it here; it is there so that one program runs everywhere. */
export async function init() {
  ensureReady();
}
