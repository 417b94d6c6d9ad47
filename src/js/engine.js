// The engine: projection, validation, compaction, sessions.
import initAsync, { initSync } from './glue.js';
import { Loader } from './loader.js';

export const engine = new Loader(
  { initAsync, initSync },
  { what: 'the engine is', init: 'init', file: 'engine_bg.wasm' },
);
