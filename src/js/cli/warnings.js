// What was not read as it stands: said on standard error, so that what is printed stays whole.
import { visible } from './text.js';

const MOST = 10;

/**
 * @param {object[]} warnings
 * @param {string} file
 * @returns {string} a line each; of many, the first and a count
 */
export function warningLines(warnings, file) {
  const lines = warnings.slice(0, MOST).map(({ line, path, message }) => {
    const place = line === null ? file : `${file}:${line}`;
    return `${place}: ${path === null ? '' : `${path}: `}${message}`;
  });
  if (warnings.length > MOST) lines.push(`${file}: ${warnings.length - MOST} more warnings`);
  return lines.map((line) => `transcript-projection: warning: ${visible(line)}\n`).join('');
}
