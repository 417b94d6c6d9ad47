// The projectors that the page offers for the custom policy. A page with a strict content policy cannot run code that
// someone types, so these stand for your own: each is what you would pass as `projector`.

export const PROJECTORS = {
  drop_tracebacks(messages) {
    const isTraceback = (message) =>
      message.role === 'tool' && typeof message.content === 'string' && /^(Traceback|Error)/.test(message.content);
    return { messages: messages.filter((message) => !isTraceback(message)), reason: 'traceback_squashed' };
  },
  keep_last_ten(messages) {
    return { messages: messages.slice(-10), reason: 'last_ten' };
  },
  user_and_answers(messages) {
    const speaks = (message) =>
      ['system', 'user', 'assistant'].includes(message.role) &&
      typeof message.content === 'string' &&
      !message.tool_calls;
    return { messages: messages.filter(speaks), reason: 'words_only' };
  },
};
