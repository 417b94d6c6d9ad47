// The entry for Cloudflare Workers: there wasm may not be compiled from bytes, an import brings it compiled.
import { engine } from './engine.js';
import engineModule from './engine_bg.wasm';
import { importers } from './importers.js';
import importersModule from './importers_bg.wasm';

engine.loadOnFirstUse(() => engineModule);
importers.loadOnFirstUse(() => importersModule);

export * from './api.js';

/** Nothing needs it here; it is there so that one program runs everywhere. */
export async function init() {
  engine.ensureReady();
}

/** Nothing needs it here either. */
export async function initImport() {
  importers.ensureReady();
}
