// Fetches all the page needs, then gives up the network for good.
import { startWorker } from './client.js';
import { SAMPLES } from './samples.js';

/** { client, samples: Map(file -> text) } */
export async function boot() {
  const [module, importers, ...texts] = await Promise.all([
    fetchModule(new URL('./dist/engine_bg.wasm', import.meta.url)),
    fetchModule(new URL('./dist/importers_bg.wasm', import.meta.url)),
    ...SAMPLES.map(({ file }) => fetchText(new URL(`./samples/${file}`, import.meta.url))),
  ]);
  closeNetwork();
  // After that, so that the worker inherits it.
  const client = await startWorker(module, importers);
  return { client, samples: new Map(SAMPLES.map(({ file }, index) => [file, texts[index]])) };
}

async function fetchModule(url) {
  const response = await fetchOk(url);
  // Not compileStreaming: some static hosts serve wasm under another media type.
  return WebAssembly.compile(await response.arrayBuffer());
}

const fetchText = async (url) => (await fetchOk(url)).text();

async function fetchOk(url) {
  const response = await fetch(url);
  if (!response.ok)
    throw new Error(`${url.pathname} is not there (HTTP ${response.status}). Has the package been built?`);
  return response;
}

/** A second policy only ever adds restrictions: from here on no fetch, socket or beacon can leave. */
function closeNetwork() {
  const meta = document.createElement('meta');
  meta.httpEquiv = 'Content-Security-Policy';
  meta.content = "connect-src 'none'";
  document.head.append(meta);
}
