// The worker of browsers.
import { answering } from './jobs.js';

const answer = answering((message) => postMessage(message));
addEventListener('message', ({ data }) => answer(data));
