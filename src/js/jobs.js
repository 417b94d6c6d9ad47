// What can be done in the background, and the worker's side of it.
import { compact, initSync, maybeCompact } from './glue.js';
import { Assembly } from './slices.js';

const JOBS = {
  compact: (messages, { options }) => compact(messages, options),
  maybeCompact: (messages, { options, tokens }) => maybeCompact(messages, options, tokens),
};

/** Does a job. */
export function run(job, messages) {
  return JOBS[job.name](messages, job);
}

/**
 * Answers what the calling thread asks: first the engine comes, then of each job its messages, then the job.
 *
 * @param {(message: object) => void} post
 * @returns {(message: object) => void} what to do with a message
 */
export function answering(post) {
  const assemblies = new Map();
  return ({ module, id, slice, job }) => {
    if (module) return start(module, post);
    const assembly = assemblies.get(id) ?? new Assembly();
    if (slice) {
      assemblies.set(id, assembly);
      assembly.take(slice);
      return post({ id });
    }
    assemblies.delete(id);
    if (job) post({ id, ...outcomeOf(job, assembly.messages) });
  };
}

function start(module, post) {
  try {
    initSync({ module });
  } catch {
    post({ isBroken: true });
  }
}

function outcomeOf(job, list) {
  try {
    return { result: run(job, list) };
  } catch (thrown) {
    const { code = 'engine_failure', path = null, expected = null, message = String(thrown) } = thrown;
    return { error: { code, path, expected, message } };
  }
}
