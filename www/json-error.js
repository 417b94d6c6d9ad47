// Where a text stops being JSON. JSON.parse says whether it is; only some engines say where it is not.

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** { offset, message } of the first error, or null when there is none. */
export function findJsonError(text) {
  let at = 0;
  const open = []; // '{' or '[' of each container we are in; no recursion, so depth cannot hurt
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found !== null;
  };
  const fail = (message) => ({ offset: at, message: at >= text.length ? `it ends early; ${message}` : message });
  const string = () => {
    if (!match(STRING)) return fail('expected a string in double quotes');
    if (text[at] !== '"')
      return fail(
        text[at] === '\\' ? 'this escape does not exist' : 'a string is not closed, or holds a raw control character',
      );
    at += 1;
    return null;
  };
  const key = () => {
    match(SPACE);
    if (text[at] !== '"') return fail('expected a property name in double quotes');
    const error = string();
    if (error) return error;
    match(SPACE);
    if (text[at] !== ':') return fail('expected ":" after a property name');
    at += 1;
    return null;
  };

  for (;;) {
    // A value starts here.
    match(SPACE);
    const start = text[at];
    if (start === '{' || start === '[') {
      at += 1;
      match(SPACE);
      const close = start === '{' ? '}' : ']';
      if (text[at] === close) {
        at += 1;
      } else {
        open.push(close);
        if (start === '{') {
          const error = key();
          if (error) return error;
        }
        continue;
      }
    } else if (start === '"') {
      const error = string();
      if (error) return error;
    } else if (!match(SCALAR)) {
      return fail('expected a value');
    }
    // A value ended here.
    for (;;) {
      match(SPACE);
      if (open.length === 0) return at < text.length ? fail('there is something after the end') : null;
      const close = open[open.length - 1];
      if (text[at] === close) {
        at += 1;
        open.pop();
      } else if (text[at] === ',') {
        at += 1;
        if (close === '}') {
          const error = key();
          if (error) return error;
        }
        break;
      } else {
        return fail(`expected "," or "${close}"`);
      }
    }
  }
}
