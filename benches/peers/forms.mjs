// The transcript of ../generate.mjs in the form that each library keeps in memory. The texts are the same strings.
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { Message } from '@strands-agents/sdk';

/** By form: a message in OpenAI's form to one of the library's. */
export const FORMS = {
  openai: (message) => message,

  aiSdk: ({ role, content, tool_calls, tool_call_id }) => {
    if (role === 'tool') return { role, content: [resultPart(tool_call_id, content)] };
    return tool_calls ? { role, content: [...textParts(content), ...tool_calls.map(callPart)] } : { role, content };
  },

  // What Mastra's agents hand to its filter: the prompt of the AI SDK's provider interface.
  prompt: ({ role, content, tool_calls, tool_call_id }) => {
    if (role === 'tool') return { role, content: [resultPart(tool_call_id, content)] };
    return { role, content: [...textParts(content), ...(tool_calls ?? []).map(callPart)] };
  },

  langchain: ({ role, content, tool_calls, tool_call_id }) => {
    if (role === 'user') return new HumanMessage(content);
    if (role === 'tool') return new ToolMessage({ content, tool_call_id, name: 'read' });
    return new AIMessage({ content: content ?? '', tool_calls: (tool_calls ?? []).map(callOf) });
  },

  strands: ({ role, content, tool_calls, tool_call_id }) => {
    if (role === 'tool') {
      const toolResult = { toolUseId: tool_call_id, status: 'success', content: [{ text: content }] };
      return Message.fromMessageData({ role: 'user', content: [{ toolResult }] });
    }
    const calls = (tool_calls ?? []).map(callOf).map(({ id, name, args }) => {
      return { toolUse: { toolUseId: id, name, input: args } };
    });
    return Message.fromMessageData({ role, content: [...(content ? [{ text: content }] : []), ...calls] });
  },
};

const callOf = (call) => ({ id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) });

function callPart(call) {
  const { id, name, args } = callOf(call);
  return { type: 'tool-call', toolCallId: id, toolName: name, input: args };
}

function resultPart(id, text) {
  const output = { type: text.startsWith('Error: ') ? 'error-text' : 'text', value: text };
  return { type: 'tool-result', toolCallId: id, toolName: 'read', output };
}

const textParts = (content) => (content ? [{ type: 'text', text: content }] : []);
