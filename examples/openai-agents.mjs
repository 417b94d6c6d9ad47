// OpenAI Agents SDK: a filter projects what each call of the model gets; the run's history keeps everything.
import { Agent, Runner, tool } from '@openai/agents';
import { AgentSession, providerMessages } from 'transcript-projection';

// The SDK's items are those of the Responses API but for two names, and results that are objects.
const toResponses = ({ callId, type, output, ...item }) => {
  if (callId === undefined) return { type, ...item };
  if (type !== 'function_call_result') return { type, call_id: callId, ...item };
  return { type: 'function_call_output', call_id: callId, output: output.text ?? output, ...item };
};
const toAgents = ({ call_id, type, ...item }) => {
  if (call_id === undefined) return { type, ...item };
  return { type: type === 'function_call_output' ? 'function_call_result' : type, callId: call_id, ...item };
};

/** For `callModelInputFilter`, for one conversation. What the view keeps goes to the model as the SDK made it. */
export function projectInput(session) {
  const itemOf = new Map();
  return ({ modelData }) => {
    for (const item of modelData.input.slice(itemOf.size)) {
      const message = toResponses(item);
      itemOf.set(message, item);
      session.append(message);
    }
    const messages = providerMessages(session.projectTurn());
    return { ...modelData, input: messages.map((message) => itemOf.get(message) ?? toAgents(message)) };
  };
}

/** An agent that runs commands. `run` throws when a command fails. */
export async function ask(question, { model, run }) {
  const session = new AgentSession({
    session_id: 'openai-agents',
    transcript_projection: {
      policy: 'clean_tool_repair',
      // The SDK's own words are the only sign of a failure.
      is_error: ({ text }) => text.startsWith('An error occurred while running the tool') || undefined,
    },
  });
  session.on('transcript_projected', ({ view }) => console.log(view.reason, view.dropped_indices));

  const bash = tool({
    name: 'bash',
    description: 'Runs a command.',
    parameters: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'], additionalProperties: false },
    execute: ({ cmd }) => run(cmd),
  });
  const agent = new Agent({ name: 'Tester', instructions: 'You run the tests.', model, tools: [bash] });
  const runner = new Runner({ tracingDisabled: true, callModelInputFilter: projectInput(session) });
  const { finalOutput, history } = await runner.run(agent, question);
  return { text: finalOutput, history, session };
}
