// The parts that a person reads of a message, whatever its shape:
// { kind, title?, name?, id?, block?, error?, signed?, pointer?, text }. Runs in the worker.

export const isText = (value) => typeof value === 'string' && value !== '';
export const array = (value) => (Array.isArray(value) ? value.filter(object) : []);
export const object = (value) => (value !== null && typeof value === 'object' ? value : undefined);

export const text = (value) => ({ kind: 'text', text: value });
export const data = (value, title = 'data') => ({ kind: 'data', title, text: json(value) });
export const thinking = (value, signature) => ({
  kind: 'thinking',
  signed: isText(signature),
  text: isText(value) ? value : '',
});
export const encrypted = (value) => ({
  kind: 'thinking',
  title: 'thinking, encrypted',
  signed: true,
  text: `${String(value ?? '').length} characters that only the provider can read`,
});
export const call = (name, id, input) => ({ kind: 'call', name: name ?? '(no name)', id, text: argumentText(input) });

/** holder: the message or block that is the result; it says whether it failed, and whether a pointer stands for it. */
export function result(name, id, holder, content, failed = hasFailed(holder)) {
  const pointer = object(holder._harn_projection)?.redacted === true;
  return { kind: 'result', name, id, error: failed, pointer, text: resultText(content) };
}

const hasFailed = (holder) => holder.is_error === true || isText(holder.error) || holder.status === 'error';

function resultText(content) {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) return json(content);
  return content
    .map((block) => {
      if (typeof block === 'string') return block;
      const { text: said, stdout, stderr, type, json: value } = object(block) ?? {};
      if (isText(said)) return said;
      if (isText(stdout) || isText(stderr)) return [stdout, stderr].filter(isText).join('\n');
      return mediaTitle(object(block) ?? {}, String(type)) ?? json(value ?? block);
    })
    .join('\n');
}

/** Arguments as lines "name: value". The exact JSON is a click away. */
export function argumentText(input) {
  let value = input;
  if (typeof input === 'string') {
    if (input.length > 200_000) return input;
    try {
      value = JSON.parse(input);
    } catch {
      return input;
    }
  }
  if (!object(value) || Array.isArray(value))
    return input === undefined ? '' : typeof input === 'string' ? input : json(input);
  return Object.entries(value)
    .map(([key, item]) => {
      if (typeof item !== 'string') return `${key}: ${shortJson(item)}`;
      return item.includes('\n') ? `${key}:\n${item}` : `${key}: ${item}`;
    })
    .join('\n');
}

const MEDIA = ['image', 'image_url', 'document', 'file', 'input_audio', 'input_image', 'audio', 'video'];

export function mediaTitle(block, type) {
  if (!MEDIA.includes(type)) return null;
  const kind = object(block.source)?.media_type ?? block.mediaType ?? type;
  const size =
    object(block.source)?.data ?? object(block.image_url)?.url ?? object(block.input_audio)?.data ?? block.url ?? '';
  return `${type.replace('_url', '')}, ${kind}${isText(size) ? `, ${size.length} characters` : ''}`;
}

export const media = (block, type) => ({ kind: 'media', title: mediaTitle(block, type), text: '' });

/** On one line where that is short. */
function shortJson(value) {
  const long = json(value);
  const line = long.replace(/\n\s*/g, ' ');
  return line.length <= 80 ? line : long;
}

/** Indented JSON; hostile depth gets a sentence instead of an exception. */
export function json(value) {
  try {
    return JSON.stringify(value, null, 2) ?? String(value);
  } catch {
    return '(nested too deeply to show)';
  }
}
