// A consumer with the DOM library: the host's own types are accepted for the engine.
import { init } from 'transcript-projection';

export async function started(): Promise<void> {
  await init(new URL('engine.wasm', 'https://example.org/'));
  await init(fetch('/engine.wasm'));
  await init(await WebAssembly.compileStreaming(fetch('/engine.wasm')));
  // @ts-expect-error
  await init(42);
}
