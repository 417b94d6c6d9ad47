// The server behind `npm start`: what it gives, how, and what it does not give.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { serve } from '../scripts/serve.mjs';

let folder;
let server;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'transcript-projection-'));
  for (const name of ['site', 'lib']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  writeFileSync(join(folder, 'site/index.html'), 'page');
  writeFileSync(join(folder, 'site/a b.js'), 'script');
  writeFileSync(join(folder, 'lib/engine_bg.wasm'), 'wasm');
  server = await serve({ port: 0, folders: { '/lib/': join(folder, 'lib'), '/': join(folder, 'site') } });
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Sends the path as it is: fetch() would resolve the dots. */
function get(path, method = 'GET') {
  return new Promise((done, fail) => {
    const { hostname, port } = new URL(server.url);
    const sent = request({ hostname, port, path, method }, (response) => {
      let body = '';
      response.on('data', (chunk) => (body += chunk));
      response.on('end', () => done({ status: response.statusCode, headers: response.headers, body }));
    });
    sent.on('error', fail).end();
  });
}

test('gives files of the folders with their types, under a policy that lets nothing leave', async () => {
  for (const [path, type, body] of [
    ['/', 'text/html; charset=utf-8', 'page'],
    ['/a%20b.js?query', 'text/javascript; charset=utf-8', 'script'],
    ['/lib/engine_bg.wasm', 'application/wasm', 'wasm'],
  ]) {
    const answer = await get(path);
    assert.deepEqual([answer.status, answer.headers['content-type'], answer.body], [200, type, body]);
    assert.match(answer.headers['content-security-policy'], /default-src 'none'.*connect-src 'self'/);
    assert.equal((await get(path, 'HEAD')).body, '');
  }
});

test('gives nothing else', async () => {
  for (const path of [
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/..%5csecret.txt',
    '/lib/../../secret.txt',
    '/lib/%2e%2e%2f%2e%2e%2fsecret.txt',
    '//secret.txt',
    '/a%00.js',
    '/%',
    '/lib',
    '/lib/',
    '/none.js',
  ]) {
    assert.equal((await get(path)).status, 404, path);
  }
  assert.equal((await get('/', 'POST')).status, 405);
});

test('takes the next free port', async (t) => {
  const taken = Number(new URL(server.url).port);
  const next = await serve({ port: taken });
  t.after(() => next.close());
  assert(Number(new URL(next.url).port) > taken);
});
