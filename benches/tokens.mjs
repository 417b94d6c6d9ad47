// How far the estimates of tokens are off: the table of docs/tokens.md.
import { estimateTokensByScript } from '../dist/node.js';
import { HALVES, table } from './corpus/measure.mjs';

const bytesByFour = (text) => Math.floor(Buffer.byteLength(text) / 4);

console.log(HALVES.map((half) => table(half, [estimateTokensByScript, bytesByFour])).join('\n\n'));
