// The page's side of the worker: starts it, asks it, and forgets questions that a newer one has replaced.

/** What went wrong in the worker, with the fields of the error there. */
export class WorkerError extends Error {
  constructor({ name, message, ...fields }) {
    super(message);
    this.name = name;
    Object.assign(this, fields);
  }
}

/** Thrown to the asker of a question that something newer has replaced: a question of its kind, or another projection. */
export class Superseded extends Error {}

/** For questions whose answer nobody waits for any more. */
export function ignoreSuperseded(error) {
  if (!(error instanceof Superseded)) throw error;
}

export async function startWorker(module, importers) {
  const worker = new Worker(workerUrl(), { type: 'module', name: 'projection' });
  const client = new Client(worker);
  await client.ready;
  await client.ask('start', { module, importers });
  return client;
}

// A worker from the network has no policy but that of its own response, and a static host may not send one. A worker
// from a blob: address inherits the policy of this page, so that is what it is; all it holds is the import.
function workerUrl() {
  const script = new URL('./worker.js', import.meta.url).href;
  const url = URL.createObjectURL(
    new Blob([`import(${JSON.stringify(script)}).catch((error) => postMessage({ failed: error.message }));`], {
      type: 'text/javascript',
    }),
  );
  const policy = globalThis.trustedTypes?.createPolicy('boot', {
    createScriptURL(candidate) {
      if (candidate !== url) throw new TypeError('only the worker may be loaded');
      return candidate;
    },
  });
  return policy ? policy.createScriptURL(url) : url;
}

class Client {
  #worker;
  #waiting = new Map(); // id -> { resolve, reject }
  #lines = new Map(); // kind -> { running, next }, for latest()
  #next = 1;

  constructor(worker) {
    this.#worker = worker;
    this.ready = new Promise((resolve, reject) => {
      worker.addEventListener('message', ({ data }) => {
        if (data.ready) resolve();
        else if (data.failed) reject(new Error(data.failed));
        else this.#settle(data);
      });
      worker.addEventListener('error', (event) => {
        const error = new Error(event.message || 'the worker could not be started');
        reject(error);
        for (const { reject: fail } of this.#waiting.values()) fail(error);
        this.#waiting.clear();
      });
    });
  }

  ask(kind, payload) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, kind, payload });
    });
  }

  /** As ask(), but of many questions of a kind only the newest is put, and only its answer arrives. */
  latest(kind, payload) {
    const line = this.#lines.get(kind) ?? { running: null, next: null };
    this.#lines.set(kind, line);
    line.next?.reject(new Superseded(kind));
    return new Promise((resolve, reject) => {
      line.next = { payload, resolve, reject };
      if (line.running === null) this.#advance(kind, line);
    });
  }

  async #advance(kind, line) {
    while (line.next !== null) {
      line.running = line.next;
      line.next = null;
      const { payload, resolve, reject } = line.running;
      try {
        const value = await this.ask(kind, payload);
        if (line.next === null) resolve(value);
        else reject(new Superseded(kind));
      } catch (error) {
        reject(line.next === null ? error : new Superseded(kind));
      }
    }
    line.running = null;
  }

  #settle({ id, value, error }) {
    const { resolve, reject } = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) reject(error.name === 'Stale' ? new Superseded(error.message) : new WorkerError(error));
    else resolve(value);
  }
}
