// A consumer with the messages and requests of the SDKs' own types: no cast anywhere.
import type Anthropic from '@anthropic-ai/sdk';
import { type BedrockRuntimeClient, ConverseCommand, type ConverseCommandInput, type Message as BedrockMessage } from '@aws-sdk/client-bedrock-runtime';
import type { Content, GenerateContentParameters, GoogleGenAI } from '@google/genai';
import { type LanguageModel, type ModelMessage, type UIMessage, convertToModelMessages, generateText } from 'ai';
import type OpenAI from 'openai';
import {
  AgentSession,
  Transcript,
  compact,
  importTranscript,
  maybeCompact,
  providerMessages,
  pruneToolResults,
  transcriptProject,
  validateMessages,
} from 'transcript-projection';
import type { PolicyName, ProjectionOptions, TurnOptions } from 'transcript-projection';

/** Compiles only when both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(..._proof: Same<A, B> extends true ? [] : ['the types differ']): void {}

type Policy = Exclude<PolicyName, 'custom'>;

/** The messages to send, by every way to a view or a list. */
function ways<M extends object>(messages: M[], policy: Policy, options: ProjectionOptions<M>, turn: TurnOptions<M>) {
  using transcript = Transcript.fromObject(messages);
  using session = new AgentSession<M>({ session_id: 's', transcript: messages, transcript_projection: turn });
  const lists: M[][] = [
    providerMessages(transcriptProject(messages)),
    providerMessages(transcriptProject(messages, 'clean_tool_repair')),
    providerMessages(transcriptProject(messages, 'squash_failed_calls')),
    providerMessages(transcriptProject(messages, { policy: 'summary_prefix', keep_last: 2 })),
    providerMessages(transcriptProject(messages, 'reachability_gc')),
    providerMessages(transcriptProject(messages, { policy: 'custom', projector: (all) => all.slice(1) })),
    providerMessages(transcriptProject(messages, policy)),
    providerMessages(transcriptProject(messages, { policy, keep_last: 2 })),
    providerMessages(transcriptProject(messages, options)),
    providerMessages(transcript.project('summary_prefix')),
    providerMessages(transcript.project({ policy })),
    providerMessages(transcript.project(options)),
    providerMessages(session.projectTurn()),
    providerMessages(session.projectTurn('raw')),
    providerMessages(session.projectTurn({ policy, flush: true })),
    pruneToolResults(messages),
  ];
  return lists;
}

// Lists of views, and compacted ones, of each SDK's messages.
declare const policy: Policy;
declare const claude: Anthropic.MessageParam[];
declare const chat: OpenAI.Chat.ChatCompletionMessageParam[];
declare const items: OpenAI.Responses.ResponseInputItem[];
declare const contents: Content[];
declare const bedrock: BedrockMessage[];
declare const model: ModelMessage[];
declare const ui: UIMessage[];

export const all = [
  ways(claude, policy, { policy: 'raw' }, { policy, batch: { max_turns: 3 } }) satisfies Anthropic.MessageParam[][],
  ways(chat, policy, 'raw', 'raw') satisfies OpenAI.Chat.ChatCompletionMessageParam[][],
  ways(items, policy, 'raw', 'raw') satisfies OpenAI.Responses.ResponseInputItem[][],
  ways(contents, policy, 'raw', 'raw') satisfies Content[][],
  ways(bedrock, policy, 'raw', 'raw') satisfies BedrockMessage[][],
  ways(model, policy, 'raw', 'raw') satisfies ModelMessage[][],
  ways(ui, policy, 'raw', 'raw') satisfies UIMessage[][],
];

const byPolicy = { keep_last: 2, policy };
same<typeof sentClaude, Anthropic.MessageParam[]>();
const sentClaude = providerMessages(transcriptProject(claude, byPolicy).messages, 'anthropic');
same<typeof sentChat, OpenAI.Chat.ChatCompletionMessageParam[]>();
const sentChat = providerMessages(transcriptProject(chat, byPolicy).messages, 'openai_chat');
same<typeof sentItems, OpenAI.Responses.ResponseInputItem[]>();
const sentItems = providerMessages(transcriptProject(items, byPolicy).messages, 'openai_responses');
same<typeof sentContents, Content[]>();
const sentContents = providerMessages(compact(contents, 4), 'gemini');
same<typeof sentBedrock, BedrockMessage[]>();
const sentBedrock = providerMessages(maybeCompact(bedrock, { every: 20, keep_last: 4 }), 'bedrock');
same<typeof sentModel, ModelMessage[]>();
const sentModel = providerMessages(transcriptProject(compact(model, 4), 'reachability_gc').messages);
same<typeof sentUi, UIMessage[]>();
const sentUi = providerMessages(transcriptProject(ui, 'summary_prefix'));

// Into the request, as it is.
export async function send(
  anthropic: Anthropic,
  openai: OpenAI,
  google: GoogleGenAI,
  aws: BedrockRuntimeClient,
  languageModel: LanguageModel,
) {
  using session = new AgentSession<Anthropic.MessageParam>({ session_id: 's' });
  await anthropic.messages.create({
    model: 'a-model',
    max_tokens: 8,
    messages: providerMessages(session.projectTurn(), 'anthropic'),
  });
  await anthropic.messages.create({ model: 'a-model', max_tokens: 8, messages: sentClaude });
  await openai.chat.completions.create({
    model: 'a-model',
    messages: providerMessages(transcriptProject(chat, { policy: 'summary_prefix' }), 'openai_chat'),
  });
  await openai.responses.create({
    model: 'a-model',
    input: providerMessages(transcriptProject(items, { policy }), 'openai_responses'),
  });
  await google.models.generateContent({
    model: 'a-model',
    contents: providerMessages(transcriptProject(contents, 'summary_prefix'), 'gemini'),
  });
  await aws.send(
    new ConverseCommand({
      modelId: 'a-model',
      messages: providerMessages(transcriptProject(bedrock, 'summary_prefix'), 'bedrock'),
    }),
  );
  await generateText({
    model: languageModel,
    messages: providerMessages(transcriptProject(model, { policy: 'summary_prefix', summary_role: 'user' })),
  });
  await generateText({
    model: languageModel,
    messages: await convertToModelMessages(providerMessages(transcriptProject(ui, 'reachability_gc'))),
  });
  return [sentChat, sentItems, sentContents, sentBedrock, sentModel, sentUi];
}

// A file knows nothing of an SDK: its messages take the SDK's type by one cast, and keep it.
const imported = importTranscript('').transcript.messages as Anthropic.MessageParam[];
same<typeof fromFile, Anthropic.MessageParam[]>();
const fromFile = providerMessages<Anthropic.MessageParam>(transcriptProject(imported, 'summary_prefix'), 'anthropic');
fromFile.length;

// A summary has the form of its list.
for (const message of compact(contents, 1)) if ('_harn_projection' in message) message.parts[0].text satisfies string;
for (const message of compact(ui, 1)) if ('_harn_projection' in message) message.parts[0].text satisfies string;
for (const message of compact(bedrock, 1)) {
  // @ts-expect-error a list of blocks in Bedrock's shape
  if ('_harn_projection' in message) message.content satisfies string;
  // @ts-expect-error
  if ('_harn_projection' in message) message.parts;
}

// Whole requests, and the rest of one beside a list.
declare const claudeRequest: Anthropic.MessageCreateParams;
declare const claudeBeta: Anthropic.Beta.MessageCreateParams;
declare const chatRequest: OpenAI.ChatCompletionCreateParams;
declare const responseRequest: OpenAI.Responses.ResponseCreateParams;
declare const geminiRequest: GenerateContentParameters;
declare const bedrockRequest: ConverseCommandInput;
validateMessages(claudeRequest, 'anthropic');
validateMessages(claude, 'anthropic', claudeRequest);
validateMessages(claudeBeta, 'anthropic');
validateMessages(chatRequest, 'openai_chat');
validateMessages(chatRequest, 'mistral', { original_messages: chat });
validateMessages(chat, 'deepseek', chatRequest);
validateMessages(responseRequest, 'openai_responses');
validateMessages(items, 'openai_responses', responseRequest);
validateMessages(geminiRequest, 'gemini');
validateMessages(contents, 'gemini', geminiRequest);
validateMessages({ model: 'a-model', contents }, 'gemini');
validateMessages(bedrockRequest, 'bedrock');
validateMessages(bedrock, 'bedrock', bedrockRequest);
validateMessages({ modelId: 'a-model', messages: bedrock, toolConfig: { tools: [] } }, 'bedrock');
validateMessages(bedrock, 'bedrock', { toolConfig: { tools: [] } });

// A request is a transcript where its list is surely one.
same<(typeof claudeView)['messages'], Anthropic.MessageParam[]>();
const claudeView = transcriptProject(claudeRequest, 'raw');
transcriptProject(chatRequest).messages satisfies OpenAI.Chat.ChatCompletionMessageParam[];
// @ts-expect-error `input` may be a text, or missing
transcriptProject(responseRequest);
// @ts-expect-error `contents` may be a text or parts
transcriptProject(geminiRequest);
// @ts-expect-error `messages` may be missing
transcriptProject(bedrockRequest);
export const views = [
  transcriptProject({ ...responseRequest, input: items }),
  transcriptProject({ ...geminiRequest, contents }),
  transcriptProject({ ...bedrockRequest, messages: bedrock }),
];
export function ofInterface(request: Omit<GenerateContentParameters, 'contents'> & { contents: Content[] }): Content[] {
  if (typeof responseRequest.input === 'object') transcriptProject(responseRequest.input).messages satisfies typeof items;
  return providerMessages(transcriptProject(request, 'summary_prefix'), 'gemini');
}
