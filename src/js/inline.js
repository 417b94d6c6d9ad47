// The entry that works anywhere without a second file: the wasm comes as bytes in a module.
import bytes from './bytes.js';
import { ensureReady, loadOnFirstUse } from './engine.js';

loadOnFirstUse(() => Uint8Array.fromBase64?.(bytes) ?? decode(bytes));

export * from './api.js';

/** Nothing needs it here; it is there so that one program runs everywhere. */
export async function init() {
  ensureReady();
}

// For hosts without Uint8Array.fromBase64.
function decode(base64) {
  const binary = atob(base64);
  const decoded = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) decoded[i] = binary.charCodeAt(i);
  return decoded;
}
