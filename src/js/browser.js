// The entry for browsers: the wasm is a file of its own, fetched when init() is called.
import { useWorkers } from './background.js';
import { engine } from './engine.js';
import { importers } from './importers.js';

export * from './api.js';

/**
 * Loads the engine. Await it once before any other call; more often does no harm.
 *
 * @param {URL | string | Request | Response | BufferSource | WebAssembly.Module | Promise<unknown>} [input]
 *   where the wasm is, or what it is; the file beside this module without it
 * @returns {Promise<void>}
 */
export function init(input) {
  useWorkers(startWorker);
  // Bundlers find the file by this very expression: it must stay literal.
  return engine.load(input ?? new URL('./engine_bg.wasm', import.meta.url));
}

/**
 * Loads the importers of session files, beside `init()`. Await it once before `importTranscript` and its like.
 *
 * @param {URL | string | Request | Response | BufferSource | WebAssembly.Module | Promise<unknown>} [input] as for `init`
 * @returns {Promise<void>}
 */
export function initImport(input) {
  return importers.load(input ?? new URL('./importers_bg.wasm', import.meta.url));
}

function startWorker(onMessage, onFailure) {
  // Literal for the same reason.
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }) => onMessage(data);
  worker.onmessageerror = onFailure;
  worker.onerror = (event) => {
    event.preventDefault();
    onFailure();
  };
  return {
    post: (message) => worker.postMessage(message),
    hold: () => {},
    stop: () => worker.terminate(),
  };
}
