// Transcript text as it is shown: what a person cannot see becomes a visible escape.

// ANSI sequences whole; then control and format characters (bidi, zero-width, tags, BOM), lone surrogates, line
// and paragraph separators, fillers that draw nothing, and variation selectors other than the emoji one.
// Tab, line feed and the carriage return of a CRLF stay.
const INVISIBLE =
  /\x1b\[[0-?]*[ -/]*[@-~]|\r(?!\n)|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0e\uffa0\u{e0100}-\u{e01ef}]|(?![\t\n\r])\p{Cc}/gu;

// A text may be nothing but such characters. Past this many marked ones the escapes stay plain text.
const MOST_MARKED = 400;

const escapeOne = (character) => {
  const code = character.codePointAt(0);
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\u{${code.toString(16)}}`;
};
const escapeMatch = (match) => (match.startsWith('\x1b[') ? `\\x1b${match.slice(1)}` : escapeOne(match));

/** The text with escapes, as a string. */
export const visible = (text) => text.replace(INVISIBLE, escapeMatch);

/** The text with escapes, appended to a node, the escapes marked as such. */
export function appendVisible(node, text) {
  let from = 0;
  let run = '';
  let marked = 0;
  const flush = () => {
    if (run === '') return;
    const mark = document.createElement('span');
    mark.className = 'escape';
    mark.textContent = run;
    node.append(mark);
    run = '';
    marked += 1;
  };
  for (const match of text.matchAll(INVISIBLE)) {
    if (marked >= MOST_MARKED) break;
    if (match.index > from) {
      flush();
      node.append(text.slice(from, match.index));
    }
    run += escapeMatch(match[0]);
    from = match.index + match[0].length;
  }
  flush();
  if (from < text.length) node.append(visible(text.slice(from)));
}

/** A name from the transcript (a role, a tool, an id), short enough for a heading. */
export function label(value, most = 64) {
  const text = visible(String(value));
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

export const count = (number) => number.toLocaleString('en-US');
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** Estimated tokens: a quarter of the characters, as the engine estimates too. */
export function tokens(characters) {
  const estimate = Math.floor(characters / 4);
  if (estimate < 1000) return `~${estimate} tok`;
  if (estimate < 100_000) return `~${(estimate / 1000).toFixed(1)}k tok`;
  return `~${count(Math.round(estimate / 1000))}k tok`;
}

export function bytes(size) {
  if (size < 1024) return `${size} B`;
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(1)} KB`;
  return `${(size / 1024 / 1024).toFixed(1)} MB`;
}
