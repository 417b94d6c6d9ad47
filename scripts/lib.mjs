// What the scripts share: where things are, saying what happens, running programs.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** A failure whose message says all a person needs: it is printed without a stack. */
export class Failure extends Error {}

const begun = performance.now();
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** Prints a line with the time since the start. */
export function say(text) {
  console.log(`[${seconds(begun).padStart(7)}] ${text}`);
}

/** Says what begins, does it, says how long it took. */
export async function step(title, work) {
  const start = performance.now();
  say(`${title} ...`);
  try {
    const result = await work();
    say(`${title}: done in ${seconds(start)}`);
    return result;
  } catch (error) {
    say(`${title}: FAILED after ${seconds(start)}`);
    throw error;
  }
}

/** Runs the script's work; a Failure ends the process with its message. */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    console.error(`\n${error instanceof Failure ? error.message : error.stack}`);
    process.exit(1);
  }
}

/** Whether the module was started as a program, and not imported. */
export const isMain = (meta) => process.argv[1] === fileURLToPath(meta.url);

/** The path of a program, or undefined. */
export function which(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
}

/** What a quick program prints, or undefined when it fails. */
export function outputOf(command, args) {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill();
});
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

/**
 * Runs a program and prints its lines as they come, with a label where several run side by side.
 * Rejects with a Failure when it fails. `onLine` sees each line too. `inherit` gives it the terminal as it is.
 */
export function run(command, args, { env, cwd = root, label, timeout, onLine, inherit = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      timeout,
      env: { ...process.env, ...(process.stdout.isTTY && { CARGO_TERM_COLOR: 'always' }), ...env },
      stdio: inherit ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    for (const stream of inherit ? [] : [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        console.log(label === undefined ? line : `${label} | ${line}`);
        onLine?.(line);
      });
    }
    child.on('error', (error) => reject(new Failure(`${command} could not be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      children.delete(child);
      if (code === 0) resolve();
      else reject(new Failure(`failed (${signal ?? `exit code ${code}`}): ${[command, ...args].join(' ')}`));
    });
  });
}

/** All files under a path of the repository, in a fixed order. */
export function filesUnder(path) {
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

/** One hash over the names and contents of files. */
export function hashOf(files, ...more) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.update(JSON.stringify(more)).digest('hex');
}

export const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
