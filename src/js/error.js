/**
 * The one error class of the package. `code` is stable and meant for programs;
 * the message is one line for people and may change.
 */
export class ProjectionError extends Error {
  /**
   * @param {{code: string, path?: string | null, expected?: string | null, message: string}} fields
   * @param {{cause?: unknown}} [options] the standard options of `Error`
   */
  constructor({ code, path = null, expected = null, message }, options) {
    super(message, options);
    this.code = code;
    this.path = path;
    this.expected = expected;
  }
}

// On the prototype, as the built-in errors have it: `name` is no data of one error.
Object.defineProperty(ProjectionError.prototype, 'name', {
  value: 'ProjectionError',
  configurable: true,
  writable: true,
});

/** The error of a value that is not what was expected in its place. */
export function mistake(code, path, expected, found) {
  return new ProjectionError({ code, path, expected, message: `${path}: expected ${expected}, found ${found}` });
}
