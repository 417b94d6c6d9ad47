// One call into the engine: what it throws becomes the errors of this package.
import { engine } from './engine.js';
import { ProjectionError } from './error.js';
import { takeFailure } from './host.js';

/** The glue takes a string argument for one unseen, and anything else would be read as memory. */
export function mustBeText(value, path, code = 'invalid_option') {
  if (typeof value === 'string') return;
  throw new ProjectionError({ code, path, expected: 'a string', message: `${path}: expected a string` });
}

/** Runs one call into the engine. What a callback or a getter of the caller throws comes out as it is. */
export function call(run) {
  engine.ensureReady();
  let result;
  try {
    result = run();
  } catch (thrown) {
    throwFailure();
    throw translated(thrown);
  }
  throwFailure();
  return result;
}

function throwFailure() {
  const failure = takeFailure();
  if (failure) throw failure.error;
}

/** What a call threw, as its caller is to get it. */
export function translated(thrown) {
  if (isEngineError(thrown)) return new ProjectionError(thrown);
  if (thrown instanceof WebAssembly.RuntimeError) {
    return new ProjectionError(
      { code: 'engine_failure', message: `the engine failed: ${thrown.message}` },
      { cause: thrown },
    );
  }
  return thrown;
}

/** The engine throws plain objects; no callback throws one of this make by accident. */
function isEngineError(thrown) {
  return (
    typeof thrown === 'object' &&
    thrown !== null &&
    Object.getPrototypeOf(thrown) === Object.prototype &&
    typeof thrown.code === 'string' &&
    typeof thrown.message === 'string' &&
    'expected' in thrown
  );
}
