// A value in the engine's memory that a class of the API owns: it can be freed, and is not while a call is under way.
import { call } from './call.js';
import { ProjectionError } from './error.js';

export class Owned {
  #handle;
  #name;
  #calls = 0; // under way: more than none only inside a callback of the caller

  /**
   * @param {{free: () => void}} handle
   * @param {string} name of the class, for errors
   */
  constructor(handle, name) {
    this.#handle = handle;
    this.#name = name;
  }

  /** Runs one call on the handle. */
  use(run) {
    const handle = this.#handle;
    if (handle === undefined) {
      throw new ProjectionError({
        code: 'freed',
        expected: `${this.#name === 'AgentSession' ? 'an' : 'a'} ${this.#name} in use`,
        message: `this ${this.#name} was freed`,
      });
    }
    this.#calls += 1;
    try {
      return call(() => run(handle));
    } finally {
      this.#calls -= 1;
      if (this.#handle === undefined && this.#calls === 0) release(handle);
    }
  }

  /** Runs one call that changes it: none may be under way. */
  change(run, what = 'append to it') {
    if (this.#calls > 0) {
      throw new ProjectionError({
        code: 'in_use',
        expected: 'a call after the projection',
        message: `this ${this.#name} is being projected: ${what} afterwards`,
      });
    }
    return this.use(run);
  }

  /** Gives the memory back; a call that is under way is finished first. */
  free() {
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle !== undefined && this.#calls === 0) release(handle);
  }
}

function release(handle) {
  try {
    handle.free();
  } catch {
    // The engine failed in a call on it and holds it for ever: there is nothing to give back.
  }
}
