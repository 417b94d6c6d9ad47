// A message of any shape -> the parts a person reads: text, thinking, calls, results. Runs in the worker.
// Only for showing; what is hidden and why is the engine's decision, never made here.

/** { role, parts: [{ kind, title?, name?, id?, block?, error?, signed?, pointer?, text }] } */
export function describe(message, nameOf = () => undefined) {
  if (message === null || typeof message !== 'object') return { role: 'not a message', parts: [data(message)] };
  const role =
    typeof message.role === 'string' ? message.role : typeof message.type === 'string' ? message.type : 'message';
  const parts = [];
  for (const key of ['thinking', 'reasoning', 'reasoning_content']) {
    if (typeof message[key] === 'string' && message[key] !== '') {
      parts.push({
        kind: 'thinking',
        signed: isText(message.thinking_signature) || isText(message.signature),
        text: message[key],
      });
    }
  }
  const resultId = message.tool_call_id ?? message.tool_use_id;
  if (role === 'tool' || role === 'tool_result' || role === 'function' || isText(resultId)) {
    parts.push(result(message.name ?? message.tool_name ?? nameOf(resultId), resultId, message, message.content));
  } else {
    parts.push(...contentParts(message.content, nameOf));
  }
  for (const call of array(message.tool_calls)) {
    const inner = object(call.function) ?? call;
    parts.push(callPart(inner.name, call.id, inner.arguments ?? inner.args ?? inner.input));
  }
  if (object(message.function_call))
    parts.push(callPart(message.function_call.name, undefined, message.function_call.arguments));
  // A shape that is not known here still shows: as what it is.
  if (parts.length === 0 && message.content === undefined) parts.push(data(message));
  return { role, parts };
}

function contentParts(content, nameOf) {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  if (!Array.isArray(content)) return [data(content)];
  return content.map((block, index) => ({ ...blockPart(block, nameOf), block: index }));
}

function blockPart(block, nameOf) {
  if (typeof block === 'string') return { kind: 'text', text: block };
  if (block === null || typeof block !== 'object') return data(block);
  const type = String(block.type);
  if (isText(block.text) && ['text', 'input_text', 'output_text'].includes(type))
    return { kind: 'text', text: block.text };
  if (type === 'thinking' || type === 'reasoning') {
    return {
      kind: 'thinking',
      signed: isText(block.signature),
      text: isText(block.thinking ?? block.text) ? (block.thinking ?? block.text) : '',
    };
  }
  if (type === 'redacted_thinking') {
    return {
      kind: 'thinking',
      title: 'thinking, encrypted',
      signed: true,
      text: `${String(block.data ?? '').length} characters that only the provider can read`,
    };
  }
  if (type.endsWith('tool_use')) return callPart(block.name, block.id, block.input);
  if (type.endsWith('tool_result')) return result(nameOf(block.tool_use_id), block.tool_use_id, block, block.content);
  const media = mediaTitle(block, type);
  if (media) return { kind: 'media', title: media, text: '' };
  return data(block, type);
}

const callPart = (name, id, input) => ({ kind: 'call', name: name ?? '(no name)', id, text: argumentText(input) });

function result(name, id, holder, content) {
  const redacted = object(holder._harn_projection)?.redacted === true;
  return {
    kind: 'result',
    name,
    id,
    error: holder.is_error === true || isText(holder.error),
    pointer: redacted,
    text: resultText(content),
  };
}

function resultText(content) {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) return json(content);
  return content
    .map((block) => {
      if (typeof block === 'string') return block;
      if (isText(object(block)?.text)) return block.text;
      return mediaTitle(object(block) ?? {}, String(object(block)?.type)) ?? json(block);
    })
    .join('\n');
}

/** Arguments as lines "name: value". The exact JSON is a click away. */
function argumentText(input) {
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

function mediaTitle(block, type) {
  if (!['image', 'image_url', 'document', 'file', 'input_audio', 'input_image', 'audio', 'video'].includes(type))
    return null;
  const kind = object(block.source)?.media_type ?? type;
  const size = object(block.source)?.data ?? object(block.image_url)?.url ?? object(block.input_audio)?.data ?? '';
  return `${type.replace('_url', '')}, ${kind}${isText(size) ? `, ${size.length} characters` : ''}`;
}

const data = (value, title = 'data') => ({ kind: 'data', title, text: json(value) });

/** On one line where that is short. */
function shortJson(value) {
  const text = json(value);
  const line = text.replace(/\n\s*/g, ' ');
  return line.length <= 80 ? line : text;
}

/** Indented JSON; hostile depth gets a sentence instead of an exception. */
export function json(value) {
  try {
    return JSON.stringify(value, null, 2) ?? String(value);
  } catch {
    return '(nested too deeply to show)';
  }
}

const isText = (value) => typeof value === 'string' && value !== '';
const array = (value) => (Array.isArray(value) ? value.filter(object) : []);
const object = (value) => (value !== null && typeof value === 'object' ? value : undefined);

/** Names of calls by id, for results that do not repeat them. An id used for two tools names neither. */
export function callNames(messages) {
  const names = new Map();
  const note = (id, name) => {
    if (isText(id)) names.set(id, names.has(id) && names.get(id) !== name ? undefined : name);
  };
  for (const message of messages) {
    for (const call of array(object(message)?.tool_calls)) note(call.id, object(call.function)?.name ?? call.name);
    for (const block of array(object(message)?.content))
      if (String(block.type).endsWith('tool_use')) note(block.id, block.name);
  }
  return names;
}

/** Characters of all strings in a message: a size to show, not a measure of what was reclaimed. */
export function characters(message) {
  let sum = 0;
  const rest = [message];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string') sum += value.length;
    else if (value !== null && typeof value === 'object') for (const item of Object.values(value)) rest.push(item);
  }
  return sum;
}
