// Finds what the build and the tests need, and installs what is missing: `node scripts/setup.mjs [--browser]`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, isMain, main, outputOf, readJson, root, run, say, step, which } from './lib.mjs';

const TARGET = 'wasm32-unknown-unknown';
// Debian's compiler comes without this target, but with the sources of its standard library.
const DEBIAN_RUST = ['rustc-web', 'cargo-web', 'rust-web-src', 'lld-22'];
const DEBIAN_LINKER = '/usr/bin/wasm-ld-22';

/** @returns how to build for wasm, and (`browser`) the path of a Chromium. */
export async function setup({ browser = false } = {}) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Failure(`Node.js 20.19 or newer is needed, this is ${process.versions.node}.`);
  }
  await npmPackages();
  const wasm = await wasmToolchain();
  return { wasm, chromium: browser ? await chromium() : undefined };
}

/** Installs what the lock file of a folder of the repository names. */
export async function npmPackages(folder = '.') {
  const name = folder === '.' ? 'npm packages' : `npm packages of ${folder}`;
  if (npmIsCurrent(folder)) return say(`${name}: up to date`);
  // No dependency needs its install script, so none runs. Some say that they want Node 22 and run in 20, tested here:
  // their warnings are no news.
  const args = ['ci', '--ignore-scripts', '--loglevel=error'];
  await step(`${name}: npm ci`, () => run('npm', args, { cwd: join(root, folder) }));
}

/** Compares the lock file with the list that npm keeps of what it installed. */
function npmIsCurrent(folder) {
  const list = join(folder, 'node_modules/.package-lock.json');
  if (!existsSync(join(root, list))) return false;
  const installed = readJson(list).packages;
  return Object.entries(readJson(join(folder, 'package-lock.json')).packages).every(([path, wanted]) => {
    if (path === '') return true;
    const found = installed[path];
    return found ? found.integrity === wanted.integrity : wanted.optional === true;
  });
}

/** WASM_TOOLCHAIN=debian skips the default toolchain, to try that way on purpose. */
async function wasmToolchain() {
  if (process.env.WASM_TOOLCHAIN !== 'debian') {
    if (hasTarget()) {
      say(`Rust for wasm: the default toolchain has ${TARGET}`);
      return defaultToolchain();
    }
    if (which('rustup')) {
      try {
        await step(`Rust for wasm: rustup target add ${TARGET}`, () =>
          run('rustup', ['target', 'add', TARGET], { timeout: 180_000 }),
        );
      } catch (error) {
        say(`rustup cannot install it (${error.message})`);
      }
      if (hasTarget()) return defaultToolchain();
    }
  }
  if (!hasDebianRust()) await apt("Rust for wasm: Debian's compiler, sources and linker", DEBIAN_RUST);
  if (hasDebianRust()) {
    say("Rust for wasm: Debian's compiler");
    return debianToolchain();
  }
  throw new Failure(
    `No Rust compiler for ${TARGET} was found, and none could be installed.\n` +
      `Do one of these by hand, then try again:\n` +
      `  rustup target add ${TARGET}\n` +
      `  apt-get install ${DEBIAN_RUST.join(' ')}   (Debian 12 or newer, as root)`,
  );
}

function hasTarget() {
  const folder = outputOf('rustc', ['--print', 'target-libdir', '--target', TARGET]);
  return folder !== undefined && existsSync(folder);
}

function defaultToolchain() {
  return {
    id: outputOf('rustc', ['--version']),
    cargo: 'cargo',
    args: ['--target', TARGET],
    env: {},
    // One folder each: the two compilers would build everything anew in turn.
    targetDir: join(root, 'target/wasm'),
  };
}

function hasDebianRust() {
  const sysroot = outputOf('/usr/bin/rustc', ['--print', 'sysroot']);
  return (
    sysroot !== undefined &&
    existsSync('/usr/bin/cargo') &&
    existsSync(DEBIAN_LINKER) &&
    existsSync(join(sysroot, 'lib/rustlib/src/rust/library/std'))
  );
}

function debianToolchain() {
  return {
    id: outputOf('/usr/bin/rustc', ['--version']),
    cargo: '/usr/bin/cargo',
    args: ['--target', TARGET, '-Z', 'build-std=std,panic_abort'],
    env: {
      RUSTC: '/usr/bin/rustc',
      RUSTC_BOOTSTRAP: '1', // a released compiler refuses -Z build-std without it
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: DEBIAN_LINKER,
    },
    targetDir: join(root, 'target/wasm-debian'),
  };
}

const BROWSERS = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

async function chromium() {
  const chosen = process.env.CHROMIUM;
  if (chosen) {
    if (!existsSync(chosen)) throw new Failure(`CHROMIUM is ${chosen}, which does not exist.`);
    return chosen;
  }
  if (!findBrowser()) await apt('Chromium for the page tests', ['chromium']);
  const found = findBrowser();
  if (found) {
    say(`Chromium: ${found}`);
    return found;
  }
  throw new Failure('The page tests need Chromium or Chrome: install one, or set CHROMIUM to the path of one.');
}

function findBrowser() {
  for (const name of BROWSERS) {
    const path = name.startsWith('/') ? existsSync(name) && name : which(name);
    if (path) return path;
  }
}

/** Installs Debian packages where that is possible without a question; the caller looks whether it helped. */
async function apt(what, packages) {
  if (!which('apt-get')) return;
  const root = process.getuid?.() === 0;
  if (!root && (!which('sudo') || outputOf('sudo', ['-n', 'true']) === undefined)) return;
  const aptGet = (...args) =>
    run(root ? 'apt-get' : 'sudo', [
      ...(root ? [] : ['-n', 'apt-get']),
      '-q',
      '-o',
      'Dpkg::Use-Pty=0',
      ...args,
    ]);
  try {
    await step(`${what}: apt-get install ${packages.join(' ')}`, async () => {
      await aptGet('update');
      // --no-remove: never at the cost of something that is installed.
      await aptGet('install', '-y', '--no-install-recommends', '--no-remove', ...packages);
    });
  } catch (error) {
    say(`apt-get cannot install it (${error.message})`);
  }
}

if (isMain(import.meta)) {
  await main(() => setup({ browser: process.argv.includes('--browser') }));
}
