// Knows whether the engine is loaded, and loads it. Every call of the API asks here first.
import initAsync, { initSync } from './glue.js';
import { ProjectionError } from './error.js';

let ready = false;
let pending; // the one load under way
let instant; // of entries that carry the wasm: loads it without waiting

/** Throws unless the engine is loaded or can be loaded at once. */
export function ensureReady() {
  if (ready) return;
  if (instant === undefined || pending !== undefined) {
    throw new ProjectionError({
      code: 'not_initialized',
      expected: 'a finished init()',
      message: 'the engine is not loaded yet: `await init()` once before any other call',
    });
  }
  try {
    instant();
  } catch (cause) {
    throw notLoaded(cause);
  }
  ready = true;
}

/**
 * For entries that carry the wasm: the first call of the API loads it, so an import costs nothing.
 *
 * @param {() => BufferSource | WebAssembly.Module} source
 * @param {() => void} [afterwards]
 */
export function loadOnFirstUse(source, afterwards) {
  instant = () => {
    initSync({ module: source() });
    afterwards?.();
  };
}

/**
 * For entries that must wait. Calls at the same time share one load; after a failure the next call tries again.
 *
 * @param {URL | string | Request | Response | BufferSource | WebAssembly.Module | Promise<unknown>} input
 * @returns {Promise<void>}
 */
export function load(input) {
  if (ready) return Promise.resolve();
  pending ??= loadOnce(input).finally(() => {
    pending = undefined;
  });
  return pending;
}

async function loadOnce(input) {
  try {
    await initAsync({ module_or_path: input });
  } catch (cause) {
    throw notLoaded(cause);
  }
  ready = true;
}

function notLoaded(cause) {
  return new ProjectionError(
    {
      code: 'not_initialized',
      path: 'init',
      expected: "the package's engine_bg.wasm",
      message: `the engine could not be loaded: ${cause?.message ?? cause}`,
    },
    { cause },
  );
}
