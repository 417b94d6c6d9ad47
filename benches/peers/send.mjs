// What the libraries would send: their own providers, with a fetch that keeps the body and answers nothing.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { generateText } from 'ai';

const apiKey = 'none';
const ANTHROPIC = 'claude-sonnet-4-6';
const OPENAI = 'gpt-5';

class Sent extends Error {}
let body;

async function fetch(_, init) {
  body = JSON.parse(init.body);
  throw new Sent('nothing is sent');
}

/** The body of the request that `work` makes; `undefined`, with the error, when the library makes none. */
async function captured(work) {
  body = undefined;
  let error;
  try {
    await work();
  } catch (thrown) {
    error = thrown;
  }
  return body ? { body } : { error };
}

const viaAiSdk = (model) => (messages, { system }) =>
  captured(() => generateText({ model, system, messages, maxRetries: 0 }));

const viaLangChain = (model) => (messages) => captured(() => model.invoke(messages));

/** By library and provider: `(messages, session) => {body} | {error}`. */
export const senders = {
  'AI SDK': {
    anthropic: viaAiSdk(createAnthropic({ apiKey, fetch })(ANTHROPIC)),
    openai_chat: viaAiSdk(createOpenAI({ apiKey, fetch }).chat(OPENAI)),
  },
  LangChain: {
    anthropic: viaLangChain(new ChatAnthropic({ apiKey, model: ANTHROPIC, maxRetries: 0, clientOptions: { fetch } })),
    openai_chat: viaLangChain(new ChatOpenAI({ apiKey, model: OPENAI, maxRetries: 0, configuration: { fetch } })),
  },
};
