// AI SDK: a model that projects whatever it is asked, for code that you cannot give a `prepareStep`.
import { wrapLanguageModel } from 'ai';
import { AgentSession, providerMessages } from 'transcript-projection';

/** The model for one conversation: each prompt that it gets begins with the one before. */
export function projecting(model, transcript_projection) {
  const session = new AgentSession({ session_id: 'ai-sdk-middleware', transcript_projection });
  let seen = 0;
  const middleware = {
    specificationVersion: 'v4',
    transformParams: async ({ params }) => {
      session.append(...params.prompt.slice(seen));
      seen = params.prompt.length;
      return { ...params, prompt: providerMessages(session.projectTurn()) };
    },
  };
  return { model: wrapLanguageModel({ model, middleware }), session };
}
