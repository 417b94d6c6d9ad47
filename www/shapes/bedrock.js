// Bedrock Converse: blocks without a type, named by their one field.
import { call, encrypted, object, result, text, thinking } from '../parts.js';

/** The part that a block is, or undefined when it is none of Bedrock's. */
export function readBlock(block, nameOf) {
  const { toolUse, toolResult, reasoningContent } = block;
  if (block.type !== undefined) return undefined;
  if (object(toolUse)) return call(toolUse.name, toolUse.toolUseId, toolUse.input);
  if (object(toolResult)) {
    const failed = toolResult.status === 'error';
    return result(nameOf(toolResult.toolUseId), toolResult.toolUseId, block, toolResult.content, failed);
  }
  if (object(reasoningContent)) {
    const { reasoningText, redactedContent } = reasoningContent;
    return object(reasoningText) ? thinking(reasoningText.text, reasoningText.signature) : encrypted(redactedContent);
  }
  return typeof block.text === 'string' ? text(block.text) : undefined;
}
