// A consumer whose code must compile, with the types it gets written out.
import {
  ProjectionError,
  Transcript,
  acpUpdate,
  estimateMessagesTokensByScript,
  estimateTokensByScript,
  init,
  providerMessages,
  recoverRedacted,
  replayProjection,
  transcriptEventsByKind,
  transcriptProject,
  transcriptProjectAsync,
  transcript_project,
  validateMessages,
  validate_messages,
  version,
} from 'transcript-projection';
import type {
  AcpSessionNotification,
  CleanToolRepairView,
  CustomView,
  ErrorCode,
  HiddenCall,
  Message,
  PolicyName,
  ProjectionEvent,
  ProjectionOptions,
  ProjectionView,
  RawView,
  Redacted,
  RedactionPointer,
  Stripped,
  StrippedMark,
  SummaryMark,
  SummaryPrefixView,
  SyntheticSummary,
  Trimmed,
  Violation,
} from 'transcript-projection';

/** Compiles only when both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(..._proof: Same<A, B> extends true ? [] : ['the types differ']): void {}

// Messages of a consumer's own, as a union of interfaces.
interface UserTurn {
  role: 'user';
  content: string;
}
interface AssistantTurn {
  role: 'assistant';
  content: string | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
}
interface ToolTurn {
  role: 'tool';
  tool_call_id: string;
  content: string;
}
type Turn = UserTurn | AssistantTurn | ToolTurn;
const turns: readonly Turn[] = [{ role: 'user', content: 'go' }];

// Input: a list, a readonly list, a literal, an interface, a request body, a transcript.
interface Request {
  model: string;
  system?: string;
  messages: Turn[];
}
declare const request: Request;
same<ReturnType<typeof listed>, RawView<Turn>>();
function listed() {
  return transcriptProject(turns);
}
same<(typeof fromRequest)['messages'], Turn[]>();
const fromRequest = transcriptProject(request);
transcriptProject({ model: 'm', temperature: 0, messages: turns });
transcriptProject({ _type: 'transcript', version: 2, messages: turns, events: [], summary: null });
transcriptProject([{ role: 'user', content: [{ type: 'text', text: 'go' }] }]);
const loose: RawView = transcriptProject([] as Message[]);
loose.messages[0]?.role satisfies string | undefined;

// The view follows from the policy.
const raw = transcriptProject(turns, 'raw');
same<typeof raw, RawView<Turn>>();
same<(typeof raw)['messages'], Turn[]>();
const withoutPolicy = transcriptProject(turns, { prefix_hash: false });
same<typeof withoutPolicy, RawView<Turn>>();
const repaired = transcriptProject(turns, { policy: 'clean_tool_repair', repair_match: 'target' });
same<typeof repaired, CleanToolRepairView<Turn>>();
same<(typeof repaired)['messages'], (Turn | Trimmed<Turn> | Stripped<Turn>)[]>();
same<(typeof repaired)['hidden_calls'], HiddenCall[]>();
const summarised = transcriptProject(turns, {
  policy: 'summary_prefix',
  keep_last: 3,
  summary: 'Earlier.',
  summary_role: 'developer',
});
same<typeof summarised, SummaryPrefixView<Turn>>();
same<(typeof summarised)['messages'], (Turn | SyntheticSummary<Turn> | Stripped<Turn>)[]>();
const collected = transcriptProject(turns, {
  policy: 'reachability_gc',
  root_window: 6,
  scratchpad: request,
  unresolved_findings: ['src/a.rs'],
  write_barrier_refs: ['scratchpad:turn-42'],
  require_write_barrier: true,
});
same<(typeof collected)['messages'], (Turn | Redacted<Turn> | Stripped<Turn>)[]>();
same<(typeof collected)['redaction_pointers'], RedactionPointer[]>();
same<typeof collected.event, ProjectionEvent<'reachability_gc'>>();

// The bodies of other providers' requests.
const gemini = transcriptProject(
  { model: 'a-model', contents: [{ role: 'user', parts: [{ text: 'go' }] }] },
  { policy: 'clean_tool_repair', on_signature_conflict: 'strip_reasoning' },
);
same<(typeof gemini)['stripped_indices'], number[]>();
transcriptProject({ model: 'a-model', input: [{ type: 'function_call', call_id: 'c', name: 'run', arguments: '{}' }] });

// A summary has the form of its list.
const summaryOf = <M extends object>(messages: readonly M[]) => transcriptProject(messages, 'summary_prefix').messages;
for (const message of summaryOf([{ role: 'model', parts: [{ text: 'go' }] }])) message.role satisfies string;
for (const message of summaryOf([{ type: 'human', content: 'go' }])) {
  if ('_harn_projection' in message && 'data' in message) message.data.content satisfies string;
}

// Marks tell the messages of a view apart.
for (const message of summarised.messages) {
  if (!('_harn_projection' in message)) same<typeof message, Turn>();
  else if (message._harn_projection.synthetic) same<typeof message._harn_projection, SummaryMark>();
  else same<typeof message._harn_projection, StrippedMark>();
}

// One set of options for all policies: what a policy does not use is no error.
transcriptProject(turns, { policy: 'raw', keep_last: 3 });
transcriptProject(turns, { policy: 'clean_tool_repair', root_window: 4, summary: 'x' });
const shared = { keep_last: 3, min_chars: 200, reason: 'tidy' };
transcriptProject(turns, { ...shared, policy: 'summary_prefix' });
transcriptProject(turns, { policy: 'summary_prefix', keep_last: undefined });

// A policy that is known only at run time.
declare const chosen: Exclude<PolicyName, 'custom'>;
const byName = transcriptProject(turns, chosen);
same<typeof byName, ProjectionView<Turn>>();
transcriptProject(turns, { policy: chosen, keep_last: 2 });
declare const anyPolicy: PolicyName;
transcriptProject(turns, { policy: anyPolicy, projector: (messages) => messages });
declare const options: ProjectionOptions<Turn>;
const view = transcriptProject(turns, options);
switch (view.policy) {
  case 'custom':
    same<typeof view.violations, Violation[]>();
    break;
  case 'raw':
    same<typeof view.violations, undefined>();
    same<typeof view.messages, Turn[]>();
    break;
  default:
    view.messages satisfies object[];
}

// A projector gets the caller's messages and says of which type its own are.
const custom = transcriptProject(turns, {
  policy: 'custom',
  projector: (messages) => {
    same<typeof messages, Turn[]>();
    return messages.filter((message) => message.role !== 'tool');
  },
});
custom satisfies CustomView<Turn>;
custom.violations[0]?.severity satisfies 'error' | 'warning' | undefined;
const mixed = transcriptProject(turns, {
  policy: 'custom',
  projector: (messages) => ({ messages: [...messages, { note: 1 }], reason: 'noted', kept_indices: [0] }),
});
mixed.messages satisfies (Turn | { note: number })[];

// The message type may be given instead.
same<ReturnType<typeof given>, CleanToolRepairView<Turn>>();
function given() {
  return transcriptProject<Turn>({ messages: [] }, 'clean_tool_repair');
}

// A detector of failures.
transcriptProject(turns, {
  policy: 'squash_failed_calls',
  is_error: (result) => {
    same<typeof result.message, Turn>();
    if (result.tool_name === 'bash') return /exit code [1-9]/.test(result.text);
    return undefined;
  },
});

export async function awaited(): Promise<void> {
  await init();
  await init(new Uint8Array());
  const later = await transcriptProjectAsync(turns, {
    policy: 'custom',
    projector: async (messages) => messages.slice(1),
  });
  same<typeof later.violations, Violation[]>();
  later.messages satisfies Turn[];
  const plain = await transcriptProjectAsync(turns, 'raw');
  same<typeof plain, RawView<Turn>>();
}

// What goes to a provider has no marks and is of the caller's type, by whatever policy: of a view, of its messages.
same<typeof sent, Turn[]>();
const sent = providerMessages(summarised, 'anthropic');
same<typeof sentOfAny, Turn[]>();
const sentOfAny = providerMessages(byName);
same<typeof sentOfList, Turn[]>();
const sentOfList = providerMessages(byName.messages);
same<typeof sentOfMixed, (Turn | { note: number })[]>();
const sentOfMixed = providerMessages(mixed);
same<typeof bare, Turn[]>();
const bare = providerMessages(repaired);
bare.push({ role: 'user', content: 'a list of its own' });
same<ReturnType<typeof untouched>, Turn[]>();
function untouched() {
  return providerMessages(turns, 'openai_chat');
}
export function sentOf<M extends object>(messages: readonly M[], policy: typeof chosen): M[] {
  return providerMessages(transcriptProject(messages, policy));
}

// Events, pointers, replay, ACP.
const events = transcriptEventsByKind({ events: [] }, 'transcript.projection');
same<typeof events, ProjectionEvent[]>();
for (const event of events) {
  const replay = replayProjection(turns, event, { projector: (messages) => messages });
  replay.matches satisfies boolean | null;
  replay.view.prefix_hash satisfies string | null;
}
for (const pointer of collected.redaction_pointers) {
  const { content, verified } = recoverRedacted(turns, pointer);
  if (verified && typeof content === 'string') content.trim();
}
const update: AcpSessionNotification = acpUpdate('session-1', summarised);
update.update._meta.harn.prefixHash satisfies string | null;

// Estimates.
estimateTokensByScript('text') + estimateMessagesTokensByScript(turns) satisfies number;
estimateMessagesTokensByScript(request) satisfies number;

// A transcript that is kept.
export function kept(): void {
  using transcript = Transcript.fromJSON<Turn>('[]');
  transcript.append(turns);
  same<ReturnType<typeof projected>, SummaryPrefixView<Turn>>();
  function projected() {
    return transcript.project({ policy: 'summary_prefix', keep_last: 2 });
  }
  transcript.message(0) satisfies Turn | undefined;
  transcript.length satisfies number;
  transcript.free();
  Transcript.fromObject({ messages: turns }).project(options).policy satisfies PolicyName;
}

// A function that takes any.
export function summary(view: ProjectionView<object>, transcript: Transcript<object>): string {
  return `${view.kept_count} of ${transcript.length}`;
}
summary(view, Transcript.fromObject(turns));
summary(summarised, Transcript.fromObject(request));
summary(custom, Transcript.fromJSON('[]'));

// Errors.
try {
  transcript_project(turns, 'raw');
} catch (error) {
  if (error instanceof ProjectionError) {
    error.code satisfies ErrorCode;
    error.path satisfies string | null;
  }
}
version satisfies string;

// What a provider would refuse.
const refused: Violation[] = validateMessages([{ role: 'user', content: 'a' }], 'anthropic');
same<(typeof refused)[number]['severity'], 'error' | 'warning'>();
same<typeof validate_messages, typeof validateMessages>();
validateMessages({ contents: [{ role: 'user', parts: [] }] }, 'gemini');
validateMessages({ input: [] }, 'openai_responses', { store: false, original_messages: [] });
validateMessages({ model: 'gpt-5.4', instructions: 'Be brief.', input: 'a' }, 'openai_responses');
validateMessages([], 'bedrock', { modelId: 'm', toolConfig: { tools: [] }, inferenceConfig: { maxTokens: 8 } });
// A request of the caller's own type.
const body = { model: 'a-model', max_tokens: 8, messages: [{ role: 'user', content: 'a' }] };
validateMessages(body, 'anthropic', body);
validateMessages({ model: 'claude-opus-4-8', messages: [{ role: 'user', content: 'a' }] }, 'anthropic');
validateMessages({ model: 'a-model', contents: 'a' }, 'gemini');
validateMessages({ model: 'a-model', contents: ['a', { text: 'b' }] }, 'gemini');
validateMessages({ modelId: 'm', messages: [], toolConfig: { tools: [] } }, 'bedrock');
Transcript.fromObject(body.messages).validate('mistral', { model: null });
