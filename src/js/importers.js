// The importers of session files: a wasm file of their own, since most programs read none.
import initAsync, { initSync } from './importers-glue.js';
import { Loader } from './loader.js';

export const importers = new Loader(
  { initAsync, initSync },
  { what: 'the importers are', init: 'initImport', file: 'importers_bg.wasm' },
);
