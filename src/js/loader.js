// Knows whether a wasm file is loaded, and loads it. Every call of the API asks here first.
import { ProjectionError } from './error.js';

export class Loader {
  #glue;
  #names;
  #ready = false;
  #pending; // the one load under way
  #instant; // of entries that carry the wasm: loads it without waiting

  /**
   * @param {{initAsync: Function, initSync: Function}} glue
   * @param {{what: string, init: string, file: string}} names for errors
   */
  constructor(glue, names) {
    this.#glue = glue;
    this.#names = names;
  }

  /** Throws unless it is loaded or can be loaded at once. */
  ensureReady() {
    if (this.#ready) return;
    if (this.#instant === undefined || this.#pending !== undefined) {
      const { what, init } = this.#names;
      throw new ProjectionError({
        code: 'not_initialized',
        expected: `a finished ${init}()`,
        message: `${what} not loaded yet: \`await ${init}()\` once before any other call`,
      });
    }
    try {
      this.#instant();
    } catch (cause) {
      throw this.#notLoaded(cause);
    }
    this.#ready = true;
  }

  /**
   * For entries that carry the wasm: the first call of the API loads it, so an import costs nothing.
   *
   * @param {() => BufferSource | WebAssembly.Module} source
   * @param {() => void} [afterwards]
   */
  loadOnFirstUse(source, afterwards) {
    this.#instant = () => {
      this.#glue.initSync({ module: source() });
      afterwards?.();
    };
  }

  /**
   * For entries that must wait. Calls at the same time share one load; after a failure the next call tries again.
   *
   * @param {URL | string | Request | Response | BufferSource | WebAssembly.Module | Promise<unknown>} input
   * @returns {Promise<void>}
   */
  load(input) {
    if (this.#ready) return Promise.resolve();
    this.#pending ??= this.#loadOnce(input).finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #loadOnce(input) {
    try {
      await this.#glue.initAsync({ module_or_path: input });
    } catch (cause) {
      throw this.#notLoaded(cause);
    }
    this.#ready = true;
  }

  #notLoaded(cause) {
    const { what, init, file } = this.#names;
    return new ProjectionError(
      {
        code: 'not_initialized',
        path: init,
        expected: `the package's ${file}`,
        message: `${what.replace(/ (is|are)$/, '')} could not be loaded: ${cause?.message ?? cause}`,
      },
      { cause },
    );
  }
}
