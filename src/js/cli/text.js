// Text of a transcript on a terminal. It is untrusted: it may hold escape sequences that move the
// cursor or change colours, and marks that reorder a line.

// All of Unicode's class "other" (controls, formats such as bidi marks, lone surrogates, private
// use) but the two joiners, which emoji and some scripts need.
const UNSAFE = /(?![\u200c\u200d])\p{C}/gu;

/** The text on one line: white space runs become a blank, what cannot be seen becomes an escape. */
export function visible(text) {
  return text.replace(/\s+/g, ' ').trim().replace(UNSAFE, escaped);
}

function escaped(character) {
  const code = character.codePointAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** JSON text without characters that act on a terminal; its value is the same. */
export function terminalSafeJson(json) {
  return json.replace(/[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

const graphemes = new Intl.Segmenter();
const ASCII = /^[\x20-\x7e]*$/;
// East Asian wide and full-width characters take two columns, as emoji do.
const WIDE = new RegExp(
  '^[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97f\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f' +
    '\\uff00-\\uff60\\uffe0-\\uffe6\\u{20000}-\\u{3fffd}]|\\p{Emoji_Presentation}|\\ufe0f',
  'u',
);

const columnsOf = (grapheme) => (WIDE.test(grapheme) ? 2 : 1);

/** The number of terminal columns of a text without control characters. */
export function width(text) {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of graphemes.segment(text)) columns += columnsOf(segment);
  return columns;
}

/** The text cut to at most `columns`, with an ellipsis where something is missing. */
export function cut(text, columns) {
  if (width(text) <= columns) return text;
  let end = 0;
  let used = 1;
  for (const { segment, index } of graphemes.segment(text)) {
    used += columnsOf(segment);
    if (used > columns) break;
    end = index + segment.length;
  }
  return `${text.slice(0, end)}…`;
}

/** The text in a column of exactly that width. */
export function fit(text, columns) {
  const short = cut(text, columns);
  return short + ' '.repeat(Math.max(0, columns - width(short)));
}
