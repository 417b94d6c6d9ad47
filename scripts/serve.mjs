// Serves files on this machine only; without more, the page: www/ at /, dist/ at /dist/.
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { root } from './lib.mjs';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.jsonl': 'application/jsonl; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.wasm': 'application/wasm',
};

// On every answer, not on the page alone: a worker obeys the policy of its own script's answer.
const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types boot',
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
};

const PAGE = { '/dist/': join(root, 'dist'), '/': join(root, 'www') };

/**
 * Starts a server on the loopback address, at the port or the next free one (0: any).
 *
 * @param {{port?: number, folders?: Record<string, string>, headers?: Record<string, string>}} [options]
 *   `folders`: which folder answers for a path that begins so, the first that fits
 * @returns {Promise<{url: string, close: () => Promise<void>}>}
 */
export async function serve({ port = 8080, folders = PAGE, headers } = {}) {
  const server = createServer((request, response) => answer(request, response, folders, { ...HEADERS, ...headers }));
  for (let candidate = port; ; candidate += 1) {
    try {
      return await listen(server, candidate);
    } catch (error) {
      if (!['EADDRINUSE', 'EACCES'].includes(error.code) || candidate >= port + 100) throw error;
    }
  }
}

function listen(server, port) {
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', fail);
      const close = () =>
        new Promise((closed) => {
          server.close(() => closed());
          server.closeAllConnections();
        });
      done({ url: `http://127.0.0.1:${server.address().port}/`, close });
    });
  });
}

function answer(request, response, folders, headers) {
  const refuse = (status, text) => {
    response.writeHead(status, { ...headers, 'Content-Type': TYPES['.txt'] });
    response.end(text);
  };
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'Only GET and HEAD\n');
  const file = fileFor(request.url, folders);
  if (file === undefined) return refuse(404, 'Not found\n');
  response.writeHead(200, {
    ...headers,
    'Content-Type': TYPES[extname(file.path)] ?? 'application/octet-stream',
    'Content-Length': file.size,
  });
  if (request.method === 'HEAD') return response.end();
  createReadStream(file.path)
    .on('error', () => response.destroy())
    .pipe(response);
}

/** The file that a URL names; undefined when there is none inside the served folders. */
function fileFor(url, folders) {
  let path;
  try {
    path = decodeURIComponent(url.split(/[?#]/, 1)[0]);
  } catch {
    return undefined;
  }
  if (/[\0\\]/.test(path)) return undefined;
  if (path.endsWith('/')) path += 'index.html';
  const prefix = Object.keys(folders).find((prefix) => path.startsWith(prefix));
  if (prefix === undefined) return undefined;
  const base = resolve(folders[prefix]);
  const full = resolve(base, `./${path.slice(prefix.length)}`);
  if (!full.startsWith(base + sep)) return undefined; // it climbed out with `..`
  const found = statSync(full, { throwIfNoEntry: false });
  return found?.isFile() ? { path: full, size: found.size } : undefined;
}
