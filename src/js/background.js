// Jobs off the calling thread: one worker, started with the first job and used for all that follow. Where there is no
// worker to be had, or it fails, a job is done on the calling thread: it is late then, and never lost.
import { engineModule } from './glue.js';
import { call } from './call.js';
import { ProjectionError } from './error.js';
import { run } from './jobs.js';
import { CannotGo, slicesOf } from './slices.js';

/**
 * @typedef {object} Host a worker as an entry starts it
 * @property {(message: object) => void} post
 * @property {(isBusy: boolean) => void} hold keeps the process alive while there is something to wait for
 * @property {() => void} stop
 */

let startHost; // of entries whose host has workers
let worker;
const PATIENCE = 10_000; // milliseconds until a worker that says nothing counts as none

/** @param {(onMessage: (message: object) => void, onFailure: () => void) => Host} start */
export function useWorkers(start) {
  startHost ??= start;
}

/**
 * Does a job with these messages.
 *
 * @param {{name: string, options: unknown, tokens?: number}} job
 * @param {object[]} messages
 * @returns {Promise<unknown>} what the engine returns
 */
export async function inBackground(job, messages) {
  try {
    worker ??= startHost && startWorker();
    if (worker) return await worker.run(job, messages);
  } catch (error) {
    if (!(error instanceof CannotGo)) throw error;
  }
  // Not in the caller's own turn.
  await new Promise((done) => setTimeout(done));
  return call(() => run(job, messages));
}

function startWorker() {
  const jobs = new Map(); // how each job that is under way goes on
  let lastId = 0;
  let hasSpoken = false;
  let isOver = false;
  let host;
  const patience = setTimeout(fail, PATIENCE);

  function fail() {
    if (isOver) return;
    isOver = true;
    clearTimeout(patience);
    worker = undefined;
    // One that never came up would not do so the next time.
    if (!hasSpoken) startHost = undefined;
    host?.stop();
    for (const { lose } of jobs.values()) lose(new CannotGo('the worker failed'));
    jobs.clear();
  }

  function onMessage({ id, result, error, isBroken }) {
    if (isBroken) return fail();
    hasSpoken = true;
    clearTimeout(patience);
    const job = jobs.get(id);
    if (error) {
      job?.lose(new ProjectionError(error));
      // An engine that failed once cannot be trusted with the next job.
      if (error.code === 'engine_failure') fail();
    } else {
      job?.next(result);
    }
  }

  /** Sends a message and waits for the answer. */
  function ask(id, message) {
    return new Promise((next, lose) => {
      jobs.set(id, { next, lose });
      try {
        host.post({ id, ...message });
      } catch (cause) {
        lose(new CannotGo('a message cannot be copied', { cause }));
      }
    });
  }

  async function runJob(job, messages) {
    const id = (lastId += 1);
    jobs.set(id, { next() {}, lose() {} });
    host.hold(true);
    try {
      // Slice by slice, each when the one before has arrived: in between the calling thread is free.
      for (const slice of slicesOf(messages)) await ask(id, { slice });
      return await ask(id, { job });
    } catch (error) {
      if (!isOver) host.post({ id }); // it may forget what it got
      throw error;
    } finally {
      jobs.delete(id);
      if (jobs.size === 0) host.hold(false);
    }
  }

  try {
    host = startHost(onMessage, fail);
    host.post({ module: engineModule });
  } catch (cause) {
    fail();
    throw new CannotGo('no worker can be started', { cause });
  }
  return { run: runJob };
}
