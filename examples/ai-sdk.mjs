// AI SDK: every step of generateText or streamText sends a projection, and the session keeps everything.
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { AgentSession, providerMessages } from 'transcript-projection';

/** For `prepareStep`. The SDK builds each step on what the step before sent, so the transcript is put together anew. */
export function projectSteps(session) {
  let seen = 0;
  return ({ initialMessages, responseMessages }) => {
    const messages = [...initialMessages, ...responseMessages];
    session.append(...messages.slice(seen));
    seen = messages.length;
    return { messages: providerMessages(session.projectTurn()) };
  };
}

/** An agent that runs commands. `run` throws when a command fails. */
export async function ask(question, { model, run }) {
  // The SDK refuses system messages in the list, so a summary would have to be the user's.
  const transcript_projection = { policy: 'clean_tool_repair', summary_role: 'user' };
  const session = new AgentSession({ session_id: 'ai-sdk', transcript_projection });
  session.on('transcript_projected', ({ view }) => console.log(view.reason, view.dropped_indices));

  const { text } = await generateText({
    model,
    instructions: 'You run the tests.',
    prompt: question,
    tools: {
      bash: tool({
        inputSchema: jsonSchema({ type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] }),
        execute: ({ cmd }) => run(cmd),
      }),
    },
    stopWhen: isStepCount(10),
    prepareStep: projectSteps(session),
  });
  return { text, session };
}
