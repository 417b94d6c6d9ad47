// The entry that works anywhere without a second file: the wasm comes as bytes in a module.
import bytes from './bytes.js';
import { engine } from './engine.js';
import { importers } from './importers.js';

engine.loadOnFirstUse(() => Uint8Array.fromBase64?.(bytes) ?? decode(bytes));

export * from './api.js';

/** Nothing needs it here; it is there so that one program runs everywhere. */
export async function init() {
  engine.ensureReady();
}

/**
 * Loads the importers of session files, which are not in here: give it what `transcript-projection/importers.wasm` is.
 *
 * @param {URL | string | Request | Response | BufferSource | WebAssembly.Module | Promise<unknown>} input
 * @returns {Promise<void>}
 */
export function initImport(input) {
  return importers.load(input);
}

// For hosts without Uint8Array.fromBase64.
function decode(base64) {
  const binary = atob(base64);
  const decoded = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) decoded[i] = binary.charCodeAt(i);
  return decoded;
}
