/** The engine's file. What an import of it gives is up to the bundler: a compiled module, a URL, bytes. */
declare const engine: unknown;
export default engine;
