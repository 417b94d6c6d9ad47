// The worker of Node, Deno and Bun.
import { parentPort } from 'node:worker_threads';
import { answering } from './jobs.js';

const answer = answering((message) => parentPort.postMessage(message));
parentPort.on('message', answer);
