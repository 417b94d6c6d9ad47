// A glance at a message: its words, calls and results in one string. For the eye only; what a
// message means is decided by the engine.

// Longer than any row of a table; what follows need not be looked at.
const LIMIT = 1000;

/** @param {unknown} message @returns {string} */
export function preview(message) {
  const { content, parts, tool_calls: calls, function_call: call } = message;
  const glance = [contentOf(content ?? parts)];
  if (Array.isArray(calls)) for (const each of calls) glance.push(callOf(each?.function ?? each));
  if (call) glance.push(callOf(call));
  return glance.filter(Boolean).join(' ');
}

function contentOf(content) {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content.slice(0, LIMIT);
  if (Array.isArray(content)) return content.slice(0, 20).map(blockOf).filter(Boolean).join(' ');
  return jsonOf(content);
}

function blockOf(block) {
  if (typeof block === 'string') return block.slice(0, LIMIT);
  if (typeof block !== 'object' || block === null) return jsonOf(block);
  if (typeof block.text === 'string') return block.text.slice(0, LIMIT);
  if (String(block.type).endsWith('tool_use')) return callOf(block);
  if (String(block.type).endsWith('tool_result')) return `← ${contentOf(block.content)}`;
  return `[${block.type ?? Object.keys(block)[0] ?? ''}]`;
}

function callOf(call) {
  const input = call?.arguments ?? call?.input ?? call?.args;
  const text = typeof input === 'string' ? input : input === undefined ? '' : jsonOf(input);
  return `→ ${call?.name ?? '?'}(${text.slice(0, LIMIT)})`;
}

function jsonOf(value) {
  return JSON.stringify(value).slice(0, LIMIT);
}
