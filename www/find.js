// Finding text in all of the data, not in what happens to be on the screen. Runs in the worker.

/** A case-insensitive test for an exact substring. A pattern, because lower-casing would copy every body. */
export function matcher(text) {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'iu');
}

/** Whether any text or number in the value matches. */
export function contains(value, pattern) {
  const rest = [value];
  while (rest.length > 0) {
    const item = rest.pop();
    if (typeof item === 'string') {
      if (pattern.test(item)) return true;
    } else if (typeof item === 'number') {
      if (pattern.test(String(item))) return true;
    } else if (item !== null && typeof item === 'object') {
      for (const inner of Object.values(item)) rest.push(inner);
    }
  }
  return false;
}

const AROUND = 90;

/** The first match in the parts of a message, with a little text around it, or null. */
export function excerpt(parts, pattern) {
  for (const part of parts) {
    const found = pattern.exec(part.text);
    if (found === null) continue;
    const end = found.index + found[0].length;
    return {
      part: part.name ?? part.title ?? part.kind,
      before: part.text.slice(Math.max(0, found.index - AROUND), found.index),
      match: found[0],
      after: part.text.slice(end, end + AROUND),
    };
  }
  return null;
}
