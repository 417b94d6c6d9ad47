// LangChain: an agent's middleware projects before each call of the model; the agent's state keeps everything.
import { mapChatMessagesToStoredMessages, mapStoredMessagesToChatMessages } from '@langchain/core/messages';
import { createAgent, createMiddleware, tool, toolErrorMiddleware } from 'langchain';
import { AgentSession, providerMessages } from 'transcript-projection';

/** The middleware for one conversation. The engine reads LangChain's messages as LangChain stores them. */
export function projecting(session) {
  let seen = 0;
  return createMiddleware({
    name: 'TranscriptProjection',
    wrapModelCall: (request, handler) => {
      session.append(...mapChatMessagesToStoredMessages(request.messages.slice(seen)));
      seen = request.messages.length;
      const messages = mapStoredMessagesToChatMessages(providerMessages(session.projectTurn()));
      return handler({ ...request, messages });
    },
  });
}

/** An agent that runs commands. `run` throws when a command fails. */
export async function ask(question, { model, run }) {
  const session = new AgentSession({ session_id: 'langchain', transcript_projection: 'clean_tool_repair' });
  session.on('transcript_projected', ({ view }) => console.log(view.reason, view.dropped_indices));

  const bash = tool(({ cmd }) => run(cmd), {
    name: 'bash',
    description: 'Runs a command.',
    schema: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
  });
  // Without it a failure ends the run.
  const failures = toolErrorMiddleware({ onError: (error) => error.message });
  const agent = createAgent({ model, tools: [bash], middleware: [failures, projecting(session)] });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: question }] });
  return { text: messages.at(-1).content, messages, session };
}
