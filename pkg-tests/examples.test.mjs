// The integrations in examples/: the real libraries with the models of their test kits, against the installed package.
import assert from 'node:assert/strict';
import { cpSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Usage } from '@openai/agents';
import { generateText, isStepCount, jsonSchema } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { AIMessage, fakeModel } from 'langchain';
import { PACKAGE_DIR } from './installed.mjs';

// Beside the package, so that the examples import it as a user's files do; the libraries are dependencies of these tests.
const folder = join(PACKAGE_DIR, 'examples');
cpSync(fileURLToPath(new URL('../examples', import.meta.url)), folder, { recursive: true });
const libraries = join(folder, 'node_modules');
if (!existsSync(libraries)) {
  symlinkSync(fileURLToPath(new URL('../node_modules', import.meta.url)), libraries, 'junction');
}
const example = (name) => import(pathToFileURL(join(folder, name)).href);

const QUESTION = 'Do the tests pass?';
const ANSWER = 'They pass.';
// What the model says: it mistypes, mends that, and looks again.
const CALLS = [
  { id: 'c1', cmd: 'npm tset' },
  { id: 'c2', cmd: 'npm test' },
  { id: 'c3', cmd: 'cat log' },
];
const PRINTED = { 'npm test': '12 passed', 'cat log': 'done' };

function run(cmd) {
  if (!PRINTED[cmd]) throw new Error(`no such script: ${cmd}`);
  return PRINTED[cmd];
}

// What every library's model must have been asked, in one notation: the failed call is there while it is news, and gone
// from the moment that it is mended.
const ASKED = [
  ['user'],
  ['user', 'call c1', 'result c1'],
  ['user', 'call c2', 'result c2'],
  ['user', 'call c2', 'result c2', 'call c3', 'result c3'],
];
const KEPT = ['user', 'call c1', 'result c1', 'call c2', 'result c2', 'call c3', 'result c3'];

/** The session holds all that happened, and one event for each request. */
function assertRecorded(session, notation) {
  assert.deepEqual(session.transcript.messages.flatMap(notation), KEPT);
  const events = session.events.filter(({ kind }) => kind === 'transcript.projection');
  assert.deepEqual(
    events.map(({ metadata }) => [metadata.policy, metadata.kept_indices.length]),
    ASKED.map((messages) => ['clean_tool_repair', messages.length]),
  );
}

// The notation of the AI SDK's prompts; the system prompt is not the session's.
const ofAiSdk = ({ role, content }) => {
  if (role === 'system') return [];
  if (role === 'user') return ['user'];
  return content.map(({ type, toolCallId }) => `${type === 'tool-call' ? 'call' : 'result'} ${toolCallId}`);
};

function aiSdkModel() {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const responses = [
    ...CALLS.map(({ id, cmd }) => ({
      content: [{ type: 'tool-call', toolCallId: id, toolName: 'bash', input: JSON.stringify({ cmd }) }],
      finishReason: { unified: 'tool-calls' },
      usage,
      warnings: [],
    })),
    { content: [{ type: 'text', text: ANSWER }], finishReason: { unified: 'stop' }, usage, warnings: [] },
  ];
  return new MockLanguageModelV4({ doGenerate: responses });
}

test('AI SDK: prepareStep projects every step', async () => {
  const { ask } = await example('ai-sdk.mjs');
  const model = aiSdkModel();
  const { text, session } = await ask(QUESTION, { model, run });
  assert.equal(text, ANSWER);
  assert.deepEqual(model.doGenerateCalls.map(({ prompt }) => prompt.flatMap(ofAiSdk)), ASKED);
  assert.equal(model.doGenerateCalls[3].prompt[0].role, 'system');
  assertRecorded(session, ofAiSdk);
  session.free();
});

test('AI SDK: a wrapped model projects every prompt, and the result keeps all messages', async () => {
  const { projecting } = await example('ai-sdk-middleware.mjs');
  const mock = aiSdkModel();
  const { model, session } = projecting(mock, { policy: 'clean_tool_repair' });
  const tools = { bash: { inputSchema: jsonSchema({ type: 'object' }), execute: ({ cmd }) => run(cmd) } };
  const { text, responseMessages } = await generateText({ model, prompt: QUESTION, tools, stopWhen: isStepCount(10) });
  assert.equal(text, ANSWER);
  assert.deepEqual(mock.doGenerateCalls.map(({ prompt }) => prompt.flatMap(ofAiSdk)), ASKED);
  assert.deepEqual(responseMessages.slice(0, -1).flatMap(ofAiSdk), KEPT.slice(1));
  assertRecorded(session, ofAiSdk);
  session.free();
});

test('LangChain: the middleware projects every call of the model, and the state keeps all messages', async () => {
  const { ask } = await example('langchain.mjs');
  const model = fakeModel();
  for (const { id, cmd } of CALLS) model.respondWithTools([{ id, name: 'bash', args: { cmd } }]);
  model.respond(new AIMessage(ANSWER));
  const { text, session, messages } = await ask(QUESTION, { model, run });
  assert.equal(text, ANSWER);
  const ofLangChain = ({ type, tool_calls, tool_call_id }) => {
    if (type === 'human') return ['user'];
    return type === 'tool' ? [`result ${tool_call_id}`] : tool_calls.map(({ id }) => `call ${id}`);
  };
  assert.deepEqual(model.calls.map((call) => call.messages.flatMap(ofLangChain)), ASKED);
  assert.deepEqual(messages.flatMap(ofLangChain), KEPT);
  assertRecorded(session, ({ type, data }) => ofLangChain({ type, ...data }));
  session.free();
});

/** A model of the OpenAI Agents SDK that says what it is told to and keeps what it was asked. */
class AgentsModel {
  asked = [];

  async getResponse({ input }) {
    this.asked.push(structuredClone(input));
    const call = CALLS[this.asked.length - 1];
    const message = { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: ANSWER }] };
    const output = call
      ? { type: 'function_call', callId: call.id, name: 'bash', arguments: JSON.stringify({ cmd: call.cmd }) }
      : message;
    return { usage: new Usage(), output: [output] };
  }
}

test('OpenAI Agents SDK: the filter projects what each call gets, and the run keeps all items', async () => {
  const { ask } = await example('openai-agents.mjs');
  const model = new AgentsModel();
  const { text, session, history } = await ask(QUESTION, { model, run });
  assert.equal(text, ANSWER);
  const ofAgents = ({ role, type, callId }) => {
    return role === 'user' ? ['user'] : [`${type === 'function_call' ? 'call' : 'result'} ${callId}`];
  };
  assert.deepEqual(model.asked.map((input) => input.flatMap(ofAgents)), ASKED);
  // What the SDK's own conversion needs of a result is there still.
  const [, , result] = model.asked[1];
  assert.equal(result.type, 'function_call_result');
  assert.match(result.output.text, /^An error occurred/);
  assert.deepEqual(history.slice(0, -1).flatMap(ofAgents), KEPT);
  assertRecorded(session, ({ call_id, ...item }) => ofAgents({ ...item, callId: call_id }));
  session.free();
});
