// OpenAI Responses items: calls and outputs are messages of their own.
import { array, call, encrypted, isText, result, thinking } from '../parts.js';

/** Where a call of this type has its arguments, and a hosted one its result. */
const CALLS = {
  function_call: ['arguments'],
  custom_tool_call: ['input'],
  local_shell_call: ['action'],
  shell_call: ['action'],
  apply_patch_call: ['operation'],
  computer_call: ['action'],
  tool_search_call: ['arguments'],
  mcp_approval_request: ['arguments'],
  mcp_call: ['arguments', 'output'],
  web_search_call: ['action', 'results'],
  file_search_call: ['queries', 'results'],
  code_interpreter_call: ['code', 'outputs'],
};

/** The parts of an item, or null when it is of another type. */
export function read(item, nameOf) {
  const { type } = item;
  if (type === 'reasoning' && Array.isArray(item.summary)) return { role: type, parts: reasoning(item) };
  if (typeof type !== 'string') return null;
  const id = item.call_id ?? item.id;
  if (Object.hasOwn(CALLS, type)) {
    const [input, output] = CALLS[type];
    const name = item.name ?? type.replace(/_call$/, '');
    const parts = [call(name, id, item[input])];
    if (item[output] !== undefined && item[output] !== null) parts.push(result(name, id, item, item[output]));
    return { role: type, parts };
  }
  // A search's output is the tools that it found.
  if (type.endsWith('_output')) {
    return { role: type, parts: [result(nameOf(id) ?? item.name, id, item, item.output ?? item.tools ?? item.result)] };
  }
  return null;
}

function reasoning({ summary, encrypted_content }) {
  const parts = array(summary).map(({ text }) => thinking(text, encrypted_content));
  if (parts.length === 0) parts.push(isText(encrypted_content) ? encrypted(encrypted_content) : thinking('', ''));
  return parts;
}
