// The AI SDK. Model messages have their parts in `content`; UI messages in `parts`, call and result in one; before there
// were parts, the calls stood beside the text.
import { array, call, data, isText, media, object, result, text, thinking } from '../parts.js';

const isTool = (type) => type === 'dynamic-tool' || type.startsWith('tool-');

export const isUi = ({ parts }) => array(parts).some(({ type }) => typeof type === 'string');

export const readUi = ({ role, parts }) => ({
  role: role ?? 'message',
  parts: parts.flatMap((part, block) => uiParts(part).map((each) => ({ ...each, block }))),
});

export const readInvocations = (list) =>
  (Array.isArray(list) ? list : []).flatMap((invocation, block) =>
    object(invocation) ? toolParts(invocation, invocation).map((each) => ({ ...each, block })) : [],
  );

function uiParts(part) {
  if (!object(part)) return [data(part)];
  const type = String(part.type);
  if (type === 'step-start') return [];
  if (type === 'text') return [text(String(part.text ?? ''))];
  if (type === 'reasoning') return [thinking(part.text, signatureOf(part))];
  if (type === 'tool-invocation') return toolParts(object(part.toolInvocation) ?? {}, part);
  if (isTool(type)) return toolParts({ toolName: type.replace(/^tool-/, ''), ...part }, part);
  return [type === 'file' ? media(part, type) : data(part, type)];
}

/** holder: the part that a pointer's mark stands on. */
function toolParts({ toolName, toolCallId, input, args, output, result: body, errorText, state }, holder) {
  const parts = [call(toolName, toolCallId, input ?? args)];
  if (state === 'output-error') parts.push(result(toolName, toolCallId, holder, errorText, true));
  else if (state === 'output-denied') parts.push(result(toolName, toolCallId, holder, 'denied by a person', false));
  else if (state === 'output-available' || state === 'result')
    parts.push(result(toolName, toolCallId, holder, output ?? body, false));
  return parts;
}

/** The part that a block of a model message is, or undefined when it is none of the SDK's. */
export function readPart(part) {
  const { type, toolName, toolCallId } = part;
  if (type === 'tool-call') return call(toolName, toolCallId, part.input ?? part.args);
  if (type === 'tool-result') {
    const output = object(part.output) ?? { value: part.result };
    const failed = String(output.type).startsWith('error-') || part.isError === true;
    return result(toolName, toolCallId, part, output.value ?? output.reason, failed);
  }
  if (type === 'reasoning') return thinking(part.text, part.signature ?? signatureOf(part));
  return undefined;
}

export const isToolContent = (content) => ['tool-result', 'tool-approval-response'].includes(array(content)[0]?.type);

/** Any provider's signature. */
function signatureOf({ providerOptions, providerMetadata }) {
  const of = Object.values(object(providerOptions ?? providerMetadata) ?? {}).map((each) => object(each) ?? {});
  return of.flatMap((each) => [each.signature, each.redactedData, each.reasoningEncryptedContent]).find(isText);
}
