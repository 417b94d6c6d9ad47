// Long text goes to the page in pieces, so that no single field can freeze it.

/** What a row shows of one part before anyone asks for more. */
export const PREVIEW = { lines: 8, characters: 800 };
/** What each "show more" adds. */
export const MORE = { lines: 40, characters: 20_000 };

/** A piece of text from an offset: { text, end, left }; left is what remains, in characters. */
export function slice(text, from, limit) {
  let end = Math.min(text.length, from + limit.characters);
  let lines = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) {
    lines += 1;
    if (lines === limit.lines) end = at + 1;
  }
  // Never half a character.
  if (end < text.length && isHigh(text.charCodeAt(end - 1)) && end - from > 1) end -= 1;
  // A rest too short to be worth a click is shown at once.
  if (text.length - end < limit.characters / 8 && countLines(text, end) <= limit.lines / 4) end = text.length;
  return { text: text.slice(from, end), end, left: text.length - end };
}

const isHigh = (unit) => unit >= 0xd800 && unit <= 0xdbff;

function countLines(text, from) {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
