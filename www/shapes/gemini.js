// Gemini contents: { role, parts } whose parts are named by their one field.
import { argumentText, array, call, data, isText, object, result, text, thinking } from '../parts.js';

export const isContent = ({ parts }) => Array.isArray(parts) && !array(parts).some(({ type }) => type !== undefined);

export const read = ({ role, parts }) => ({
  role: role ?? 'content',
  parts: parts.map((part, block) => ({ ...readPart(part), block })),
});

function readPart(part) {
  const holder = object(part) ?? {};
  const signature = holder.thoughtSignature ?? holder.thought_signature;
  const calls = object(holder.functionCall ?? holder.function_call);
  if (calls) return { ...call(calls.name, calls.id, calls.args), signed: isText(signature) };
  const answer = object(holder.functionResponse ?? holder.function_response);
  if (answer) return { ...result(answer.name, answer.id, holder, bodyOf(answer.response), failed(answer.response)) };
  if (holder.thought === true) return thinking(holder.text, signature);
  if (typeof holder.text === 'string') return { ...text(holder.text), signed: isText(signature) };
  const media = object(holder.inlineData ?? holder.inline_data ?? holder.fileData ?? holder.file_data);
  if (media) return { kind: 'media', title: `file, ${media.mimeType ?? media.mime_type}`, text: '' };
  return data(part);
}

const failed = (response) => object(response)?.error !== undefined;

/** Most responses are an object around one text. */
function bodyOf(response) {
  const values = Object.values(object(response) ?? {});
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : argumentText(response);
}
