// A message of any shape -> the parts a person reads: text, thinking, calls, results. Runs in the worker.
// Only for showing; what is hidden and why is the engine's decision, never made here.
import { array, call, data, encrypted, isText, mediaTitle, media, object, result, text, thinking } from './parts.js';
import * as aiSdk from './shapes/ai-sdk.js';
import * as bedrock from './shapes/bedrock.js';
import * as gemini from './shapes/gemini.js';
import * as langchain from './shapes/langchain.js';
import * as responses from './shapes/responses.js';

export { json } from './parts.js';

/** { role, parts }: see parts.js. */
export function describe(message, nameOf = () => undefined) {
  if (message === null || typeof message !== 'object') return { role: 'not a message', parts: [data(message)] };
  if (aiSdk.isUi(message)) return aiSdk.readUi(message);
  if (gemini.isContent(message)) return gemini.read(message);
  const described = responses.read(message, nameOf) ?? roleAndContent(langchain.unwrap(message) ?? message, nameOf);
  // A shape that is not known here still shows: as what it is.
  if (described.parts.length === 0 && message.content === undefined) described.parts.push(data(message));
  return described;
}

function roleAndContent(message, nameOf) {
  const role = [message.role, message.type, 'message'].find((name) => typeof name === 'string');
  const parts = [];
  for (const key of ['thinking', 'reasoning', 'reasoning_content']) {
    if (isText(message[key])) parts.push(thinking(message[key], message.thinking_signature ?? message.signature));
  }
  const resultId = message.tool_call_id ?? message.tool_use_id;
  const isResult = ['tool', 'tool_result', 'function'].includes(role) || isText(resultId);
  if (isResult && !aiSdk.isToolContent(message.content)) {
    parts.push(result(message.name ?? message.tool_name ?? nameOf(resultId), resultId, message, message.content));
  } else {
    parts.push(...contentParts(message.content, nameOf));
  }
  // LangChain writes a call as a block as well.
  const shown = new Set(parts.filter(({ kind }) => kind === 'call').map(({ id }) => id));
  for (const each of array(message.tool_calls)) {
    const inner = object(each.function) ?? each;
    if (!isText(each.id) || !shown.has(each.id))
      parts.push(call(inner.name, each.id, inner.arguments ?? inner.args ?? inner.input));
  }
  if (object(message.function_call))
    parts.push(call(message.function_call.name, undefined, message.function_call.arguments));
  parts.push(...aiSdk.readInvocations(message.toolInvocations));
  return { role, parts };
}

function contentParts(content, nameOf) {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [text(content)];
  if (!Array.isArray(content)) return [data(content)];
  return content.map((block, index) => ({ ...blockPart(block, nameOf), block: index }));
}

function blockPart(block, nameOf) {
  if (typeof block === 'string') return text(block);
  if (block === null || typeof block !== 'object') return data(block);
  const type = String(block.type);
  if (isText(block.text) && ['text', 'input_text', 'output_text'].includes(type)) return text(block.text);
  if (type === 'thinking') return thinking(block.thinking ?? block.text, block.signature);
  if (type === 'redacted_thinking') return encrypted(block.data);
  if (type.endsWith('tool_use')) return call(block.name, block.id, block.input);
  if (type.endsWith('tool_result')) return result(nameOf(block.tool_use_id), block.tool_use_id, block, block.content);
  const known = aiSdk.readPart(block) ?? bedrock.readBlock(block, nameOf);
  if (known) return known;
  return mediaTitle(block, type) ? media(block, type) : data(block, type);
}

/** Names of calls by id, for results that do not repeat them. An id used for two tools names neither. */
export function callNames(messages) {
  const names = new Map();
  const note = (id, name) => {
    if (isText(id) && isText(name)) names.set(id, names.has(id) && names.get(id) !== name ? undefined : name);
  };
  for (const message of messages) {
    const { tool_calls, content, call_id, name } = langchain.unwrap(object(message) ?? {}) ?? object(message) ?? {};
    note(call_id, name);
    for (const each of array(tool_calls)) note(each.id, object(each.function)?.name ?? each.name);
    for (const block of array(content)) {
      if (String(block.type).endsWith('tool_use')) note(block.id, block.name);
      if (object(block.toolUse)) note(block.toolUse.toolUseId, block.toolUse.name);
    }
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
