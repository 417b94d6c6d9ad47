// What is wrong with a file, in words, and where in it. Runs in the worker.

const MOST = 64 * 1024 * 1024; // bytes; in a larger document the place is told, but not shown
const BEFORE = 60;
const AFTER = 40;

/** The error with the words and the place that the page shows. */
export async function explain(error, blob) {
  const found = error.message?.slice(`${error.path}: expected ${error.expected}, found `.length);
  switch (error.code) {
    case 'empty_file':
      return told('There is nothing in it.');
    case 'unsupported_file':
      return told(`It is ${found}.`);
    case 'unknown_format':
      return told(`No format that is known here looks so: it is ${found}.`);
    case 'invalid_json': {
      const [, line, column] = /^line (\d+) column (\d+)$/.exec(error.path) ?? [];
      const what = /\((.*)\)$/.exec(found)?.[1] ?? found;
      return told(`This is not valid JSON: ${what}.`, await around(blob, Number(line), Number(column)));
    }
    default:
      return error;
  }
}

function told(message, place = {}) {
  return Object.assign(new Error(message), { name: 'ReadError', ...place });
}

/** The line and the column, and the text on either side. Columns are counted in bytes, as the engine counts. */
async function around(blob, line, column) {
  if (blob.size > MOST) return { line, column, before: '', after: '' };
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let start = 0;
  for (let passed = 1; passed < line; passed += 1) start = bytes.indexOf(10, start) + 1;
  const end = bytes.indexOf(10, start) === -1 ? bytes.length : bytes.indexOf(10, start);
  const at = Math.min(end, start + Math.max(0, column - 1));
  const text = (from, to) => new TextDecoder().decode(bytes.subarray(from, to));
  return {
    line,
    column,
    before: text(Math.max(start, at - BEFORE), at),
    after: text(at, Math.min(end, at + AFTER)).replace(/\r$/, ''),
  };
}
