/// <reference lib="esnext.disposable" />

// Data (options, views, pointers, events) is snake_case: it is the wire format of Harn's transcript
// projection, here called "the seed". Members that the seed does not have say "ours".
// Functions are camelCase.

// ---------------------------------------------------------------------------------------------
// Transcripts and messages

/**
 * A message of which nothing is known but that it is an object. The engine reads the messages of
 * OpenAI Chat and Responses, Anthropic, Gemini, Bedrock, the AI SDK, LangChain and Harn, mixed in one
 * list if need be; `docs/shapes.md` says how. `M` is inferred from the messages that are given; a
 * function of yours that takes views of any messages takes `ProjectionView<object>`.
 */
export interface Message {
  readonly role?: string;
  readonly content?: unknown;
  /** What a projection or a compaction did to it: in views and compacted lists only. */
  readonly _harn_projection?: ProjectionMark;
  readonly [field: string]: unknown;
}

/** A transcript object: also the body of an OpenAI or Anthropic request. Other fields are left alone. */
export interface TranscriptObject<M extends object = Message> {
  /** What a projection is of. */
  readonly messages: readonly M[];
  /** The default body of the message that `summary_prefix` puts in. */
  readonly summary?: string | null | undefined;
  /** What `transcriptEventsByKind` looks through. */
  readonly events?: readonly object[] | null | undefined;
}

/**
 * The body of a Gemini request. Other fields are left alone. What the SDK takes besides for `contents` (a text, one
 * content, parts without a role) is no list of messages: a projection refuses it with `invalid_transcript` or
 * `invalid_message`, or takes each part for a message of its own. `validateMessages` knows it.
 */
export interface ContentsObject<M extends object = Message> {
  readonly contents: readonly M[];
  readonly summary?: string | null | undefined;
}

/**
 * The body of an OpenAI Responses request. Other fields are left alone. The SDK's own type says more: `input` may be
 * missing, or a text, which is no list of messages: a projection refuses both with `invalid_transcript`. Give
 * `[{ role: 'user', content: text }]` in its place. `validateMessages` takes a text.
 */
export interface InputObject<M extends object = Message> {
  readonly input: readonly M[];
  readonly summary?: string | null | undefined;
}

/**
 * A transcript, whatever else it holds, or the bare list of its messages. An interface has no index signature, a literal
 * may have any field: hence both forms of each.
 */
export type TranscriptInput<M extends object = Message> =
  | readonly M[]
  | TranscriptObject<M>
  | ContentsObject<M>
  | InputObject<M>
  | (TranscriptObject<M> & { readonly [field: string]: unknown })
  | (ContentsObject<M> & { readonly [field: string]: unknown })
  | (InputObject<M> & { readonly [field: string]: unknown });

// ---------------------------------------------------------------------------------------------
// Options

/** The policies, by name. */
export type PolicyName =
  | 'raw'
  | 'clean_tool_repair'
  | 'squash_failed_calls'
  | 'summary_prefix'
  | 'reachability_gc'
  | 'custom';

/** Options that every policy takes. */
export interface CommonOptions<M extends object = Message> {
  /**
   * Fall back to raw rather than drop, trim or redact a message that holds signed or opaque
   * reasoning. `false` is for previews that no provider will see. Default `true`. (Seed)
   */
  readonly respect_provider_signatures?: boolean | undefined;
  /**
   * What a signature vouches for: its own `message`, or the whole `prefix` before it as well, as
   * with newer Claude models. With `prefix` a view is refused when a kept signed message comes
   * after the first change. Default `message`, the seed's rule. (Ours)
   */
  readonly signature_scope?: 'message' | 'prefix' | undefined;
  /**
   * What to do when signed reasoning stands in the way: `raw` shows the whole transcript as it is;
   * `skip` leaves what would touch it as it is and applies the rest; `strip_reasoning` applies all and
   * takes the reasoning out of every message from the first change on, of each wholly. The turn that
   * the newest message of a person began keeps its reasoning: what would touch it is skipped.
   * `custom` knows only `raw`. Default `raw`, the seed's rule. (Ours)
   */
  readonly on_signature_conflict?: 'raw' | 'skip' | 'strip_reasoning' | undefined;
  /** The reason recorded with the view. Default: derived from the policy and what it did. (Seed) */
  readonly reason?: string | undefined;
  /**
   * Whether to hash. `false` saves the time of it; `prefix_hash` and `source_hash` are then `null`
   * and a replay has nothing to compare. Default `true`. (Ours)
   */
  readonly prefix_hash?: boolean | undefined;
  /**
   * Leave the last assistant message and its results alone when it has calls: a model that never
   * sees the error of the call it just made repeats it. Default `true`. (Ours)
   */
  readonly protect_open_turn?: boolean | undefined;
  /**
   * Decides which tool results are failures; `undefined` leaves a result to the built-in rules.
   * What it decides is recorded in the event, so a replay does not need it. (Ours)
   */
  readonly is_error?: ((result: ToolResult<M>) => boolean | undefined) | undefined;
}

/** What `clean_tool_repair` takes beside the common options. */
export interface CleanToolRepairFields {
  /**
   * What repairs a failed call: a later success of the same `tool`, or one with the same `target`,
   * that is with equal arguments or an identifier in common. Default `tool`, the seed's rule. (Ours)
   */
  readonly repair_match?: 'tool' | 'target' | undefined;
}

/** What `summary_prefix` takes beside the common options. */
export interface SummaryPrefixFields {
  /**
   * How many messages at the end stay verbatim. More stay where the boundary would come between a
   * call and its result. Default 0. (Seed)
   */
  readonly keep_last?: number | undefined;
  /** The body of the summary. Default: `transcript.summary`, else a line with the count. (Seed) */
  readonly summary?: string | undefined;
  /** The role of the summary. Default `system`, as the seed. (Ours) */
  readonly summary_role?: 'system' | 'developer' | 'user' | undefined;
  /** Keep the newest user message verbatim too, wherever it is. Default `false`. (Ours) */
  readonly keep_newest_user?: boolean | undefined;
}

/** What `reachability_gc` takes beside the common options. (All from the seed) */
export interface ReachabilityGcFields {
  /** How many messages at the end are roots: what they mention stays. Default 8. */
  readonly root_window?: number | undefined;
  /** Another name of `root_window`. */
  readonly recent_messages?: number | undefined;
  /** Another name of `root_window`. */
  readonly keep_last?: number | undefined;
  /** The shortest tool-result body to reclaim, in characters. Default 500. */
  readonly min_chars?: number | undefined;
  /** Any JSON; tool results whose identifiers occur in it stay. */
  readonly roots?: unknown;
  /** Root material, as `roots`. */
  readonly active_plan?: unknown;
  /** Root material, as `roots`. */
  readonly scratchpad?: unknown;
  /** Root material, as `roots`. */
  readonly pending_tool_args?: unknown;
  /** Root material, as `roots`. */
  readonly unresolved_findings?: unknown;
  /** Reclaim nothing unless one of the three barriers is given. Default `false`. */
  readonly require_write_barrier?: boolean | undefined;
  /** Any JSON: says that the working memory was written down. */
  readonly write_barrier?: unknown;
  /** As `write_barrier`. */
  readonly write_barrier_refs?: unknown;
  /** As `write_barrier`. */
  readonly barrier_refs?: unknown;
}

/** What `custom` takes beside the common options. */
export interface CustomFields<M extends object = Message, N extends object = M> {
  /** Gets a list of the caller's own messages and returns those that the model is to see. (Seed) */
  readonly projector: Projector<M, N>;
}

/** A projector for `transcriptProject`. */
export type Projector<M extends object = Message, N extends object = M> = (messages: M[]) => Projected<N>;

/** A projector for `transcriptProjectAsync`: it may also return a promise. */
export type AsyncProjector<M extends object = Message, N extends object = M> = (
  messages: M[],
) => Projected<N> | PromiseLike<Projected<N>>;

/** What a projector returns. */
export type Projected<N extends object = Message> =
  | readonly N[]
  | {
      readonly messages: readonly N[];
      /** Recorded as the reason, unless the options have one. */
      readonly reason?: string | undefined;
      /** Which source messages these are: ascending, one a message. Default: found by comparing. */
      readonly kept_indices?: readonly number[] | undefined;
      /** Which source messages are hidden. Default: all that are not kept. */
      readonly dropped_indices?: readonly number[] | undefined;
    };

/** A tool result as `is_error` gets it. */
export interface ToolResult<M extends object = Message> {
  /** The id of the call it answers. */
  readonly tool_call_id: string | null;
  readonly tool_name: string | null;
  /** The arguments of the call as they stand in it: JSON text in OpenAI's form, an object in Anthropic's. */
  readonly arguments: unknown;
  /** The body as it stands in the message. */
  readonly content: unknown;
  /** The text of the body. */
  readonly text: string;
  /** The message that holds the result. */
  readonly message: M;
  /** Its index in the transcript. */
  readonly message_index: number;
  /** The block of the message that is the result; `null` when the whole message is. */
  readonly block_index: number | null;
  /** What the built-in rules say. */
  readonly is_error: boolean;
}

/**
 * Options of the other policies are accepted and not used, so that one set of options can serve
 * all; their types are checked all the same.
 */
type Unused<Fields> = Partial<Fields>;

export interface RawOptions<M extends object = Message>
  extends CommonOptions<M>,
    Unused<CleanToolRepairFields>,
    Unused<SummaryPrefixFields>,
    Unused<ReachabilityGcFields>,
    Unused<CustomFields<M, object>> {
  /** Changes nothing; binds a hash to the prefix. The default policy. */
  readonly policy?: 'raw' | undefined;
}

export interface CleanToolRepairOptions<M extends object = Message>
  extends CommonOptions<M>,
    CleanToolRepairFields,
    Unused<SummaryPrefixFields>,
    Unused<ReachabilityGcFields>,
    Unused<CustomFields<M, object>> {
  /** Hides each failed call and its error when the same tool succeeded later. */
  readonly policy: 'clean_tool_repair';
}

export interface SquashFailedCallsOptions<M extends object = Message>
  extends CommonOptions<M>,
    Unused<CleanToolRepairFields>,
    Unused<SummaryPrefixFields>,
    Unused<ReachabilityGcFields>,
    Unused<CustomFields<M, object>> {
  /** Hides the assistant turns that came to nothing but failed calls. */
  readonly policy: 'squash_failed_calls';
}

export interface SummaryPrefixOptions<M extends object = Message>
  extends CommonOptions<M>,
    SummaryPrefixFields,
    Unused<CleanToolRepairFields>,
    Unused<ReachabilityGcFields>,
    Unused<CustomFields<M, object>> {
  /** Puts one summary in place of all but the last messages. */
  readonly policy: 'summary_prefix';
}

export interface ReachabilityGcOptions<M extends object = Message>
  extends CommonOptions<M>,
    ReachabilityGcFields,
    Unused<CleanToolRepairFields>,
    Unused<SummaryPrefixFields>,
    Unused<CustomFields<M, object>> {
  /** Puts pointers in place of old tool results that nothing recent refers to. */
  readonly policy: 'reachability_gc';
}

export interface CustomOptions<M extends object = Message, N extends object = M>
  extends CommonOptions<M>,
    CustomFields<M, N>,
    Unused<CleanToolRepairFields>,
    Unused<SummaryPrefixFields>,
    Unused<ReachabilityGcFields> {
  /** Lets a function decide. */
  readonly policy: 'custom';
}

/** `CustomOptions` whose projector may return a promise: for `transcriptProjectAsync` only. */
export type AsyncCustomOptions<M extends object = Message, N extends object = M> = Omit<
  CustomOptions<M, N>,
  'projector'
> & { readonly projector: AsyncProjector<M, N> };

/** The options of any policy. A name alone is short for `{policy: name}`; `custom` needs more. */
export type ProjectionOptions<M extends object = Message, N extends object = M> =
  | Exclude<PolicyName, 'custom'>
  | RawOptions<M>
  | CleanToolRepairOptions<M>
  | SquashFailedCallsOptions<M>
  | SummaryPrefixOptions<M>
  | ReachabilityGcOptions<M>
  | CustomOptions<M, N>;

// ---------------------------------------------------------------------------------------------
// What a view puts in place of messages

/** What `_harn_projection` says of a message that is not the source's own: its flags tell what was done. */
export type ProjectionMark = SummaryMark | CompactionMark | TrimmedMark | RedactedMark | StrippedMark | SettledMark;

/** Marks the message that stands for those before it. */
export interface SummaryMark {
  readonly synthetic: true;
  readonly policy: 'summary_prefix';
  readonly trimmed?: undefined;
  readonly redacted?: undefined;
}

/** Marks the summary that a compaction put into the list itself. */
export interface CompactionMark {
  readonly synthetic: true;
  readonly policy: 'compact';
  readonly trimmed?: undefined;
  readonly redacted?: undefined;
}

/** Marks a message that lost some of its calls, or some of its results. */
export interface TrimmedMark {
  readonly trimmed: true;
  readonly policy: 'clean_tool_repair' | 'squash_failed_calls';
  readonly hidden_tool_call_ids: readonly string[];
  /** When its reasoning went as well. */
  readonly stripped?: true;
  readonly synthetic?: undefined;
  readonly redacted?: undefined;
}

/** Marks a message with a tool-result body that was replaced by a pointer. */
export interface RedactedMark {
  readonly redacted: true;
  readonly policy: 'reachability_gc';
  /** When the message as a whole is the tool result. */
  readonly redaction_pointer?: RedactionPointer;
  /** When blocks of the message are; each redacted block has its own mark too. */
  readonly redaction_pointers?: readonly RedactionPointer[];
  /** When its reasoning went as well. */
  readonly stripped?: true;
  readonly synthetic?: undefined;
  readonly trimmed?: undefined;
}

/** Marks a message that lost its reasoning, because of `strip_reasoning`, and nothing else. */
export interface StrippedMark {
  readonly stripped: true;
  readonly policy: Exclude<PolicyName, 'raw' | 'custom'>;
  readonly synthetic?: undefined;
  readonly trimmed?: undefined;
  readonly redacted?: undefined;
}

/** Marks a message that turns of a session changed, in one way or several: more than one flag may be there. */
export interface SettledMark {
  /** That of the last turn that changed it. */
  readonly policy: Exclude<PolicyName, 'raw' | 'custom'>;
  readonly trimmed?: true;
  readonly hidden_tool_call_ids?: readonly string[];
  readonly redacted?: true;
  readonly redaction_pointer?: RedactionPointer;
  readonly redaction_pointers?: readonly RedactionPointer[];
  readonly stripped?: true;
  readonly synthetic?: undefined;
}

/** The message that stands for those before it, in the form of their shape. */
export type SyntheticSummary<M extends object = object> = SummaryForm<M> & { readonly _harn_projection: SummaryMark };

/**
 * A summary as each shape has it. The engine goes by the messages (`docs/shapes.md`), the type by the fields that all
 * messages of `M` know: `role` and `content`, or `role` and `parts`. Where these do not tell, it may be any.
 */
export type SummaryForm<M extends object = object> = [keyof M & 'role'] extends [never]
  ? AnySummary
  : [keyof M & 'parts'] extends [never]
    ? [keyof M & 'content'] extends [never]
      ? AnySummary
      : SummaryWithContent
    : [keyof M & 'content'] extends [never]
      ? SummaryWithParts
      : AnySummary;

export type AnySummary = SummaryWithContent | SummaryWithParts | SummaryOfLangChain;

/** `summary_role` chooses the role where there is a choice; a compaction's is `system`. */
export type SummaryWithContent =
  /** OpenAI Chat, Anthropic, Harn; AI SDK model messages, which know no `developer`. */
  | { readonly role: 'system' | 'developer' | 'user'; readonly content: string }
  /** OpenAI Responses. */
  | {
      readonly type: 'message';
      readonly role: 'system' | 'developer' | 'user';
      readonly content: readonly [{ readonly type: 'input_text'; readonly text: string }];
    }
  /** Bedrock Converse. */
  | { readonly role: 'user'; readonly content: readonly [{ readonly text: string }] };

export type SummaryWithParts =
  /** Gemini. */
  | { readonly role: 'user'; readonly parts: readonly [{ readonly text: string }] }
  /** AI SDK UI messages. */
  | {
      readonly id: string;
      readonly role: 'system' | 'user';
      readonly parts: readonly [{ readonly type: 'text'; readonly text: string }];
    };

/** Plain, stored, serialized. */
export type SummaryOfLangChain =
  | { readonly type: 'system' | 'human'; readonly content: string }
  | { readonly type: 'system' | 'human'; readonly data: { readonly content: string } }
  | {
      readonly lc: 1;
      readonly type: 'constructor';
      readonly id: readonly ['langchain_core', 'messages', 'SystemMessage' | 'HumanMessage'];
      readonly kwargs: { readonly content: string };
    };

/** A message without some of its calls or results; all other fields are those of the source. */
export type Trimmed<M extends object> = M & { readonly _harn_projection: TrimmedMark };

/** A message with a pointer, one line of text, for a tool-result body; all else as in the source. */
export type Redacted<M extends object> = M & { readonly _harn_projection: RedactedMark };

/** A message without its reasoning and what signs it; all other fields are those of the source. */
export type Stripped<M extends object> = M & { readonly _harn_projection: StrippedMark };

/** Where the raw body of a replaced tool result is. */
export interface RedactionPointer {
  readonly policy: 'reachability_gc';
  /**
   * `transcript.messages[N].content`, `transcript.messages[N].content[B].content`, or the way in another
   * shape: `transcript.messages[N].parts[B].functionResponse.response`. It says `messages` whatever the
   * list is called.
   */
  readonly source: string;
  /** The N of `source`. */
  readonly source_index: number;
  /** The B of `source`; `null` when the message as a whole is the result. */
  readonly source_block_index: number | null;
  /** `sha256:` and 64 hex digits, of the text; of the canonical JSON when the body is no string. */
  readonly content_hash: string;
  /** The length of what was hashed, in characters (Unicode scalar values). */
  readonly content_chars: number;
  /** A quarter of `content_chars`. */
  readonly estimated_tokens_reclaimed: number;
  readonly tool_call_id: string | null;
  readonly tool_name: string | null;
  readonly reason: 'stale_tool_result_unreachable';
}

/** A call that a view hides, with its result. */
export interface HiddenCall {
  readonly tool_call_id: string | null;
  readonly tool_name: string;
  /** The source message of the call, and its place among the calls or blocks there. */
  readonly call_index: number;
  readonly call_block: number | null;
  /** The source message of the result, and its block there. */
  readonly result_index: number | null;
  readonly result_block: number | null;
  readonly reason: string;
}

/** Something that a provider refuses, or takes with a loss. */
export interface Violation {
  /** The rule: `ANT-PAIR-1`, `lone_surrogate`, ... `docs/validate.md` lists them. */
  readonly rule: string;
  /** The message; of a custom view, the index in `view.messages`. */
  readonly index: number;
  /** The block, part or call in the message, where it is about one. */
  readonly block: number | null;
  /** What is wrong, in words that may change. */
  readonly message: string;
  /** `error`: a documented or reported refusal; `warning`: a loss of quality, or a refusal that is only inferred. */
  readonly severity: 'error' | 'warning';
}

// ---------------------------------------------------------------------------------------------
// Views

/** What every view holds. All indices are of the source, from 0, ascending, unless said otherwise. */
export interface ViewBase<P extends PolicyName, Out extends object> {
  readonly policy: P;
  /**
   * Why the view is what it is: `raw_passthrough`, the name of the policy, the reason that was asked
   * for, or `POLICY (blocked: signed reasoning at index N)` when a guard refused, or
   * `POLICY (blocked: nothing would be left)`.
   */
  readonly reason: string;
  /** What the model is to see. Kept messages are the caller's own objects (`===`). */
  readonly messages: Out[];
  /** All that is still there, trimmed and redacted messages included. */
  readonly kept_indices: number[];
  /** All that is not. */
  readonly dropped_indices: number[];
  /** Those of the kept that lost some calls or results. (Ours) */
  readonly trimmed_indices: number[];
  /** Those of the kept that hold a pointer. */
  readonly redacted_indices: number[];
  readonly kept_count: number;
  readonly dropped_count: number;
  /** The number of pointers. */
  readonly redacted_count: number;
  /** An estimate: a quarter of `reclaimed_chars`. */
  readonly reclaimed_tokens: number;
  /** How many characters the model no longer reads, less those put in their place; 0 at least. */
  readonly reclaimed_chars: number;
  /** The kinds of root material that `reachability_gc` looked at. */
  readonly roots_consulted: string[];
  readonly redaction_pointers: RedactionPointer[];
  /** The calls that are not there any more. (Ours) */
  readonly hidden_calls: HiddenCall[];
  /** `sha256:` and 64 hex digits over the canonical JSON of `messages`; `null` when not asked for. */
  readonly prefix_hash: string | null;
  /** Whether a guard made this view fall back to raw; `reason` says which. */
  readonly provider_safety_blocked: boolean;
  /** Where `messages` (not the source) first differs from the source; `null`: nowhere. (Ours) */
  readonly first_changed_index: number | null;
  /** Kept messages after the first change whose signatures may vouch for what was changed. (Ours) */
  readonly invalidated_signature_indices: number[];
  /** `skip`, `strip_reasoning`: the messages that were to change and stay as they are. (Ours) */
  readonly skipped_indices: number[];
  /** `strip_reasoning`: the messages that lost their reasoning; those that were nothing else are dropped. (Ours) */
  readonly stripped_indices: number[];
  /** Indices in `messages` of those with lone surrogates, which hash as U+FFFD; found by hashing. (Ours) */
  readonly lone_surrogate_indices: number[];
  /** The record of this decision, to be appended to the transcript. */
  readonly event: ProjectionEvent<P>;
}

export interface RawView<M extends object = Message> extends ViewBase<'raw', M> {
  readonly violations?: undefined;
}

export interface CleanToolRepairView<M extends object = Message>
  extends ViewBase<'clean_tool_repair', M | Trimmed<M> | Stripped<M>> {
  readonly violations?: undefined;
}

export interface SquashFailedCallsView<M extends object = Message>
  extends ViewBase<'squash_failed_calls', M | Trimmed<M> | Stripped<M>> {
  readonly violations?: undefined;
}

export interface SummaryPrefixView<M extends object = Message>
  extends ViewBase<'summary_prefix', M | SyntheticSummary<M> | Stripped<M>> {
  readonly violations?: undefined;
}

export interface ReachabilityGcView<M extends object = Message>
  extends ViewBase<'reachability_gc', M | Redacted<M> | Stripped<M>> {
  readonly violations?: undefined;
}

/** `N` is what the projector returned: the caller's messages, and any that it made. */
export interface CustomView<N extends object = Message> extends ViewBase<'custom', N> {
  /** What a provider would refuse. A custom view is checked, not mended. (Ours) */
  readonly violations: Violation[];
}

/** A view by any policy; `view.policy` tells which. */
export type ProjectionView<M extends object = Message, N extends object = M> =
  | RawView<M>
  | CleanToolRepairView<M>
  | SquashFailedCallsView<M>
  | SummaryPrefixView<M>
  | ReachabilityGcView<M>
  | CustomView<N>;

/** The record of a projection, to be appended to the events of the transcript. */
export interface ProjectionEvent<P extends PolicyName = PolicyName> {
  /** A UUID derived from the metadata: the same decision has the same id. */
  readonly id: string;
  readonly kind: 'transcript.projection';
  readonly role: 'system';
  readonly visibility: 'internal';
  /** The reason. */
  readonly text: string;
  readonly blocks: readonly { readonly type: 'text'; readonly text: string; readonly visibility: 'internal' }[];
  readonly metadata: ProjectionMetadata<P>;
}

/** What a projection event records. Members not explained here are as in the view. */
export interface ProjectionMetadata<P extends PolicyName = PolicyName> {
  readonly policy: P;
  readonly reason: string;
  readonly prefix_hash: string | null;
  /** The hash of the source messages, as `prefix_hash`. (Ours) */
  readonly source_hash: string | null;
  /** How many messages the source had. (Ours) */
  readonly source_count: number;
  readonly kept_count: number;
  readonly kept_indices: readonly number[];
  readonly dropped_count: number;
  readonly dropped_indices: readonly number[];
  readonly trimmed_indices: readonly number[];
  readonly redacted_indices: readonly number[];
  readonly redacted_count: number;
  readonly reclaimed_tokens: number;
  readonly reclaimed_chars: number;
  readonly roots_consulted: readonly string[];
  readonly redaction_pointers: readonly RedactionPointer[];
  readonly hidden_calls: readonly HiddenCall[];
  readonly provider_safety_blocked: boolean;
  /** The option `respect_provider_signatures`. */
  readonly respects_provider_signatures: boolean;
  /** The option `keep_last` of `summary_prefix`; `null` for other policies. */
  readonly summary_keep_last: number | null;
  readonly first_changed_index: number | null;
  readonly invalidated_signature_indices: readonly number[];
  readonly skipped_indices: readonly number[];
  readonly stripped_indices: readonly number[];
  /** The options as understood, for a replay, without the functions. (Ours) */
  readonly options: Readonly<Record<string, unknown>>;
  /** `custom` only: whether the view but chose among the source's messages, and kept their order. (Ours) */
  readonly is_selection?: boolean;
  /** What the caller's `is_error` decided, and what an imported file says of its results. (Ours) */
  readonly is_error_verdicts?: readonly {
    readonly message_index: number;
    readonly block_index: number | null;
    readonly is_error: boolean;
    /** When a person refused the call: of an imported file. */
    readonly refused?: true;
  }[];
}

// ---------------------------------------------------------------------------------------------
// Functions

/** The view follows from the policy. */
export interface TranscriptProject {
  <M extends object = Message>(transcript: TranscriptInput<M>, options?: 'raw' | RawOptions<M> | null): RawView<M>;
  <M extends object = Message>(
    transcript: TranscriptInput<M>,
    options: 'clean_tool_repair' | CleanToolRepairOptions<M>,
  ): CleanToolRepairView<M>;
  <M extends object = Message>(
    transcript: TranscriptInput<M>,
    options: 'squash_failed_calls' | SquashFailedCallsOptions<M>,
  ): SquashFailedCallsView<M>;
  <M extends object = Message>(
    transcript: TranscriptInput<M>,
    options: 'summary_prefix' | SummaryPrefixOptions<M>,
  ): SummaryPrefixView<M>;
  <M extends object = Message>(
    transcript: TranscriptInput<M>,
    options: 'reachability_gc' | ReachabilityGcOptions<M>,
  ): ReachabilityGcView<M>;
  <M extends object = Message, N extends object = M>(
    transcript: TranscriptInput<M>,
    options: CustomOptions<M, N>,
  ): CustomView<N>;
  <M extends object = Message>(
    transcript: TranscriptInput<M>,
    options?: ProjectionOptions<M> | null,
  ): ProjectionView<M>;
}

/** As `TranscriptProject`; a custom projector may return a promise. */
export interface TranscriptProjectAsync {
  <M extends object = Message>(
    transcript: TranscriptInput<M>,
    options?: 'raw' | RawOptions<M> | null,
  ): Promise<RawView<M>>;
  <M extends object = Message>(
    transcript: TranscriptInput<M>,
    options: 'clean_tool_repair' | CleanToolRepairOptions<M>,
  ): Promise<CleanToolRepairView<M>>;
  <M extends object = Message>(
    transcript: TranscriptInput<M>,
    options: 'squash_failed_calls' | SquashFailedCallsOptions<M>,
  ): Promise<SquashFailedCallsView<M>>;
  <M extends object = Message>(
    transcript: TranscriptInput<M>,
    options: 'summary_prefix' | SummaryPrefixOptions<M>,
  ): Promise<SummaryPrefixView<M>>;
  <M extends object = Message>(
    transcript: TranscriptInput<M>,
    options: 'reachability_gc' | ReachabilityGcOptions<M>,
  ): Promise<ReachabilityGcView<M>>;
  <M extends object = Message, N extends object = M>(
    transcript: TranscriptInput<M>,
    options: AsyncCustomOptions<M, N>,
  ): Promise<CustomView<N>>;
  <M extends object = Message>(
    transcript: TranscriptInput<M>,
    options?: ProjectionOptions<M> | AsyncCustomOptions<M> | null,
  ): Promise<ProjectionView<M>>;
}

/**
 * Derives what a model will see next from an unchanged transcript. Without options: `raw`.
 * The input is never changed, and needs to stay as it is only during the call.
 *
 * @throws {ProjectionError} on bad input or options
 */
export declare const transcriptProject: TranscriptProject;

/** The name of `transcriptProject` in the Harn language. */
export declare const transcript_project: TranscriptProject;

/**
 * `transcriptProject` for a custom projector that may return a promise. The view is that of the
 * transcript as it was when called. An error of the projector reaches the caller unchanged.
 */
export declare const transcriptProjectAsync: TranscriptProjectAsync;

/** The events of the transcript that have the given kind, in order; the caller's own objects. */
export declare function transcriptEventsByKind(
  transcript: { readonly events?: readonly object[] | null | undefined },
  kind: 'transcript.projection',
): ProjectionEvent[];
export declare function transcriptEventsByKind<E extends object>(
  transcript: { readonly events?: readonly E[] | null | undefined },
  kind: string,
): E[];

/**
 * The raw body that a redaction pointer stands for, hashed again: `verified` is `false` when it is
 * not the body that was recorded.
 *
 * @throws {ProjectionError} `pointer_not_found` when the transcript has no such tool result
 */
export declare function recoverRedacted<M extends object = Message>(
  transcript: TranscriptInput<M>,
  pointer: RedactionPointer,
): { content: unknown; verified: boolean };

/** What an event cannot record. What `is_error` decided it does record. */
export interface ReplayCallbacks<M extends object = Message> {
  /** Needed for a `custom` view that made messages of its own; one that only chose is rebuilt without. */
  readonly projector?: Projector<M, object> | undefined;
}

/** What a replay found. */
export interface Replay<M extends object = Message> {
  /**
   * Whether the view is the recorded one: the same `prefix_hash`, of the same source. `null` when nothing speaks
   * against it, but no hash was recorded to prove it (`prefix_hash: false`).
   */
  matches: boolean | null;
  /** Whether the transcript still begins with the recorded source; `null` when no hash of it was recorded. */
  source_matches: boolean | null;
  view: ProjectionView<M, object>;
}

/**
 * Applies the recorded options of a projection event to the recorded prefix of a transcript, which
 * may have grown since.
 *
 * @throws {ProjectionError} `replay_needs_projector` when a custom projector made messages of its own;
 *   `replay_needs_session` when the event is of a session's turn that shows what earlier turns decided
 */
export declare function replayProjection<M extends object = Message>(
  transcript: TranscriptInput<M>,
  event: ProjectionEvent,
  callbacks?: ReplayCallbacks<M>,
): Replay<M>;

/** The `params` of an ACP `session/update` notification that tells of a projection. */
export interface AcpSessionNotification {
  sessionId: string;
  update: {
    sessionUpdate: 'transcript_projected';
    _meta: {
      harn: {
        policy: PolicyName;
        reason: string;
        prefixHash: string | null;
        keptCount: number;
        droppedCount: number;
        providerSafetyBlocked: boolean;
        /** This and what follows: only when something was reclaimed. */
        redactedCount?: number;
        /** An estimate. */
        reclaimedTokens?: number;
        rootsConsulted?: string[];
        redactionPointers?: RedactionPointer[];
      };
    };
  };
}

/** Writes the notification by which an ACP agent tells its client of a projection. */
export declare function acpUpdate(sessionId: string, view: ProjectionView<object>): AcpSessionNotification;

/** The providers whose rules the package knows. */
export type Provider =
  | 'anthropic'
  | 'openai_chat'
  | 'openai_responses'
  | 'gemini'
  | 'bedrock'
  | 'mistral'
  | 'deepseek';

/** The caller's own type among the messages of a view or of a compacted list: what carries no mark. */
export type Unmarked<M> = Exclude<M, { readonly _harn_projection: unknown }>;

/**
 * The messages to send: those of the view without the `_harn_projection` marks, which strict providers refuse, in a list
 * of its own. Unmarked messages are the caller's own objects.
 *
 * The result has the caller's type, so that it goes into the SDK's request as it is: a message that was trimmed, redacted
 * or stripped has the fields of its source, and a summary has the form of the messages around it. Its role is the one
 * exception: `system`, or what `summary_role` says, whether or not `M` knows it, unless the provider is named.
 *
 * @param provider also moves a synthetic summary to where this provider accepts it
 */
export declare function providerMessages<M extends object = Message>(
  view: ProjectionView<M> | SessionView<M>,
  provider?: Provider,
): M[];
export declare function providerMessages<M extends object = Message>(
  messages: readonly M[] | { readonly messages: readonly M[] },
  provider?: Provider,
): Unmarked<M>[];

/**
 * What rules depend on beside the messages. A whole request body is one: its other fields are not
 * read. A rule that needs to know more than is given only warns, or says nothing.
 */
export interface ValidationRequest {
  /** The model: what it refuses differs. */
  readonly model?: string | null | undefined;
  /** Anthropic, DeepSeek: the field of the request. */
  readonly thinking?: object | null | undefined;
  /** Anthropic: the beta headers of the request. */
  readonly betas?: readonly string[] | null | undefined;
  /** Anthropic: whether thinking is bound to all before it. Default: what is known of the model. */
  readonly preserved_thinking?: boolean | null | undefined;
  /** OpenAI Responses: the field of the request. */
  readonly store?: boolean | null | undefined;
  /** OpenAI Responses: the field of the request. The provider holds what went before. */
  readonly previous_response_id?: string | null | undefined;
  /** OpenAI Responses: the field of the request. The same. */
  readonly conversation?: string | object | null | undefined;
  /** OpenAI: the field of the request. */
  readonly reasoning_effort?: string | null | undefined;
  /** Bedrock: the fields of the request. With `modelId` it is a whole one, which needs tools for its tool blocks. */
  readonly modelId?: string | null | undefined;
  readonly toolConfig?: object | null | undefined;
  /** OpenAI Chat: a server that renders a chat template (vLLM, llama.cpp). Default `false`. */
  readonly strict_template?: boolean | null | undefined;
  /** The messages before an edit: rules about what an edit may not take or change need them. */
  readonly original_messages?: readonly object[] | null | undefined;
}

/**
 * A list of messages, or the request or transcript that holds it: the SDKs' own request types too. OpenAI Responses takes
 * a text as `input`, Google's SDK a text, one content, or parts as `contents`: each is read as the message of the user that
 * it stands for.
 *
 * Some SDKs let the list be missing (`input` beside a stored prompt, `messages` beside a prompt's ARN). There is nothing
 * to check then: `invalid_transcript`.
 */
export type ValidationInput =
  | readonly object[]
  | (RequestFields & { readonly messages: readonly object[] })
  | (RequestFields & { readonly contents: readonly (object | string)[] | object | string })
  | (RequestFields & { readonly input: readonly object[] | string })
  | (ValidationRequest & { readonly modelId: string | undefined; readonly messages?: readonly object[] | undefined })
  | (ValidationRequest & { readonly input?: readonly object[] | string | undefined });

/** A request may have fields that no rule asks for. */
export type RequestFields = ValidationRequest | (ValidationRequest & { readonly [field: string]: unknown });

/**
 * Lists what a provider would refuse in a list of messages, or take with a loss, in the order of
 * the messages. An empty list: nothing to say.
 *
 * @param request goes before the fields of a request that was given as `messages`
 * @throws {ProjectionError} `unknown_provider`; `invalid_message` when a message is no object; `invalid_option` when a
 *   field of the request is of a wrong type
 */
export declare function validateMessages(
  messages: ValidationInput,
  provider: Provider,
  request?: RequestFields,
): Violation[];

/** The name of `validateMessages` in the Harn language. */
export declare const validate_messages: typeof validateMessages;

// ---------------------------------------------------------------------------------------------
// Estimates by script

/**
 * About how many tokens a text is, by what it is written in: scripts, code, digits, base64. No
 * tokenizer: a few percent off for most kinds of text, up to a third for a single one. (Ours)
 */
export declare function estimateTokensByScript(text: string): number;

/** Another name of `estimateTokensByScript`. */
export declare const estimate_tokens_by_script: typeof estimateTokensByScript;

/**
 * About how many tokens messages are: what they say, names and arguments of their calls, bodies of
 * their results; for each image 765, audio 600, document 2250, whatever its data. Neither reasoning
 * nor what a provider puts around messages is counted. (Ours)
 */
export declare function estimateMessagesTokensByScript(messages: TranscriptInput<object>): number;

/** Another name of `estimateMessagesTokensByScript`. */
export declare const estimate_messages_tokens_by_script: typeof estimateMessagesTokensByScript;

// ---------------------------------------------------------------------------------------------
// Compaction: the list itself becomes shorter, without a model

/**
 * The message that stands for those that were compacted: their number, then a line for each. It holds no word of a
 * tool result and none of a call's arguments. It has the form of the messages that it stands for, as `SyntheticSummary`.
 * `providerMessages` takes the mark off.
 */
export type CompactionSummary<M extends object = object> = SummaryForm<M> & {
  readonly _harn_projection: CompactionMark;
};

/** What is in a list that may have been compacted. */
export type Compacted<M extends object = Message> = M | CompactionSummary<M>;

/** What compacts, and to what. Either trigger is enough; without any, nothing happens. (Seed) */
export interface CompactionOptions {
  /** Compact a list of more messages than this. */
  readonly every?: number | null | undefined;
  /** Compact a list whose tokens exceed `threshold` of this. */
  readonly token_budget?: number | null | undefined;
  /** The fraction of the budget: above 0, at most 1. Default `0.8`. */
  readonly threshold?: number | null | undefined;
  /** How many messages at the end stay; one at least. */
  readonly keep_last: number;
  /**
   * Counts the tokens of a text, instead of the estimate of a quarter of its bytes. It is asked about every text of
   * every message, when the budget decides. (Ours)
   */
  readonly count_tokens?: ((text: string) => number) | null | undefined;
}

/** What `maybeCompactAsync` found and did. */
export interface CompactionOutcome<M extends object = Message> {
  readonly status: 'compacted' | 'unchanged';
  /** The very same list when it is unchanged. */
  readonly messages: Compacted<M>[];
}

/**
 * Replaces all but the leading system and developer messages and the last `keep_last` by one summary. No call is parted
 * from its results: results move to their call, and where nothing recent would be left, the step stays whole. A summary
 * of an earlier compaction is carried on in the new one.
 *
 * @returns kept messages are the caller's own objects; the very same list when there is nothing to replace
 */
export declare function compact<M extends object = Message>(
  messages: TranscriptInput<M>,
  keep_last: number,
): Compacted<M>[];

/** `compact` when a trigger fires. */
export declare function maybeCompact<M extends object = Message>(
  messages: TranscriptInput<M>,
  options: CompactionOptions,
): Compacted<M>[];

/** The name of `maybeCompact` in the seed. */
export declare const maybe_compact: typeof maybeCompact;

/**
 * `compact` off the calling thread, in a worker that is started once; on the calling thread where there are no workers.
 * The messages must not change meanwhile; the list may.
 *
 * @param callback gets the list before the promise is resolved
 */
export declare function compactAsync<M extends object = Message>(
  messages: TranscriptInput<M>,
  keep_last: number,
  callback?: ((messages: Compacted<M>[]) => unknown) | null,
): Promise<Compacted<M>[]>;

/** `compactAsync`, as the seed spells its names. */
export declare const compact_async: typeof compactAsync;

/**
 * `maybeCompact` off the calling thread, as `compactAsync`. Only `count_tokens` runs on the calling thread, text by text
 * with pauses.
 *
 * @param callback gets the outcome before the promise is resolved
 */
export declare function maybeCompactAsync<M extends object = Message>(
  messages: TranscriptInput<M>,
  options: CompactionOptions,
  callback?: ((outcome: CompactionOutcome<M>) => unknown) | null,
): Promise<CompactionOutcome<M>>;

/** The name of `maybeCompactAsync` in the seed. */
export declare const maybe_compact_async: typeof maybeCompactAsync;

/** Whether there are more messages than `threshold`. */
export declare function shouldCompact<M extends object = Message>(
  messages: TranscriptInput<M>,
  threshold: number,
): boolean;

/** The name of `shouldCompact` in the seed. */
export declare const should_compact: typeof shouldCompact;

/**
 * Takes the middle out of tool results of more than `max_result_chars` characters (8192): a head of half as many and a
 * tail of an eighth stay, and between them stands how many bytes went. Results that are no plain text, such as lists of
 * parts, stay as they are, and so does everything else.
 *
 * @returns as many messages as before; the very same list when there is nothing to shorten
 */
export declare function pruneToolResults<M extends object = Message>(
  messages: TranscriptInput<M>,
  max_result_chars?: number,
): M[];

/** The name of `pruneToolResults` in the seed. */
export declare const prune_tool_results: typeof pruneToolResults;

/**
 * Moves messages over the boundary between two lists so that no call is parted from its results: results at the start of
 * `recent` move to their calls.
 *
 * @returns both lists; the very same ones when nothing moves
 */
export declare function balanceToolCallBoundary<M extends object = Message>(
  old: readonly M[],
  recent: readonly M[],
): [old: M[], recent: M[]];

/** The name of `balanceToolCallBoundary` in the seed. */
export declare const balance_tool_call_boundary: typeof balanceToolCallBoundary;

/** The tokens of a text as a quarter of its UTF-8 bytes, 0 for none: fair for English prose, wrong for all else. */
export declare function estimateTokens(text: string | null | undefined): number;

/** The name of `estimateTokens` in the seed. */
export declare const estimate_tokens: typeof estimateTokens;

/**
 * The same over messages: bytes are added first and divided once. Text counts, also that of tool results; arguments,
 * media and signatures do not.
 */
export declare function estimateMessagesTokens<M extends object = Message>(messages: TranscriptInput<M>): number;

/** The name of `estimateMessagesTokens` in the seed. */
export declare const estimate_messages_tokens: typeof estimateMessagesTokens;

// ---------------------------------------------------------------------------------------------
// Transcript

/** As `TranscriptProject`, of a transcript that is already there. */
export interface TranscriptProjectMethod<M extends object = Message> {
  (options?: 'raw' | RawOptions<M> | null): RawView<M>;
  (options: 'clean_tool_repair' | CleanToolRepairOptions<M>): CleanToolRepairView<M>;
  (options: 'squash_failed_calls' | SquashFailedCallsOptions<M>): SquashFailedCallsView<M>;
  (options: 'summary_prefix' | SummaryPrefixOptions<M>): SummaryPrefixView<M>;
  (options: 'reachability_gc' | ReachabilityGcOptions<M>): ReachabilityGcView<M>;
  <N extends object = M>(options: CustomOptions<M, N>): CustomView<N>;
  <N extends object = M>(options?: ProjectionOptions<M, N> | null): ProjectionView<M, N>;
}

/**
 * A transcript read once and projected often. It holds memory of the engine: `free()` it, or
 * declare it with `using`. One that is forgotten is freed when the garbage collector finds it.
 */
export declare class Transcript<M extends object = Message> {
  private constructor();
  /**
   * Reads a transcript or a list of messages from JSON text or its UTF-8 bytes. The text is kept: hashes are exact for
   * integers of 64 bits, which a JavaScript number cannot hold, and `exportMessages` writes them as they were spelled.
   * For files of any other kind there is `importTranscript`.
   *
   * @throws {ProjectionError} `invalid_json` with line and column
   */
  static fromJSON<M extends object = Message>(json: string | Uint8Array): Transcript<M>;
  /** Takes a transcript object or a list of messages. Messages must not change afterwards. */
  static fromObject<M extends object = Message>(transcript: TranscriptInput<M>): Transcript<M>;
  /** The number of messages. */
  readonly length: number;
  /**
   * The messages: the caller's own objects; of a transcript of text objects made of it, the same ones each time. A list
   * of its own with each call.
   */
  readonly messages: M[];
  /** The summary that the transcript carries: what `summary_prefix` takes when the options have none. */
  readonly summary: string | undefined;
  /** Adds messages at the end. */
  append(messages: readonly M[]): void;
  /** As `transcriptProject`, of the transcript as it stands. */
  readonly project: TranscriptProjectMethod<M>;
  /** As `validateMessages`, of the transcript as it stands. */
  validate(provider: Provider, request?: RequestFields): Violation[];
  /** A message of the source, counted from 0; `undefined` past the end. */
  message(index: number): M | undefined;
  /**
   * Gives the memory back; a call that is under way is finished first. More than once does no harm;
   * any other use after it throws `freed`.
   */
  free(): void;
  /** `free()`, for `using`. */
  [Symbol.dispose](): void;
}

// ---------------------------------------------------------------------------------------------
// AgentSession: projecting before every request of an agent (ours; the seed's `agent_session_project_turn`)

/**
 * When new decisions are worth that the provider's cache of the prompt is broken. Any one of them is enough; with none of
 * them only `flush` takes what is held back.
 */
export interface BatchOptions {
  /** When so many tokens would be reclaimed by all that is held back. */
  readonly min_reclaimed_tokens?: number | null | undefined;
  /** When so many turns have passed since the first of them was held back. */
  readonly max_turns?: number | null | undefined;
  /** When the last turn is so long ago: the provider has forgotten its cache, so that breaking it costs nothing. */
  readonly when_idle_ms?: number | null | undefined;
}

/** What a token costs, relative to one that is not cached. */
export interface CachePrices {
  /** Read from the cache. Default 0.1. */
  readonly read?: number | null | undefined;
  /** Written to it. Default 1.25. */
  readonly write?: number | null | undefined;
}

/** What a turn takes beside the options of its policy. */
export interface TurnFields {
  /** Holds new decisions back until they are worth a break of the cache. Without it each is taken at once. */
  readonly batch?: BatchOptions | null | undefined;
  /** For `view.cache.break_even_requests`. */
  readonly cache_prices?: CachePrices | null | undefined;
  /** Takes all that is held back, whatever `batch` says. Default `false`. */
  readonly flush?: boolean | null | undefined;
  /** The time in milliseconds, for `when_idle_ms`. Default `Date.now()`. */
  readonly now?: number | null | undefined;
}

/**
 * The options of a turn. What is not given is as in the session's `transcript_projection`; a name alone is short for
 * `{policy: name}`.
 */
export type TurnOptions<M extends object = Message, N extends object = M> =
  | Exclude<PolicyName, 'custom'>
  | TurnFields
  | ((
      | RawOptions<M>
      | CleanToolRepairOptions<M>
      | SquashFailedCallsOptions<M>
      | SummaryPrefixOptions<M>
      | ReachabilityGcOptions<M>
      | SessionCustomOptions<M, N>
      | (CommonOptions<M> & CleanToolRepairFields & SummaryPrefixFields & ReachabilityGcFields)
    ) &
      TurnFields);

/** `CustomOptions` whose projector also gets the summaries of compactions. */
export type SessionCustomOptions<M extends object = Message, N extends object = M> = Omit<
  CustomOptions<M, N>,
  'projector'
> & { readonly projector: Projector<Compacted<M>, N> };

/** Decisions that `batch` holds back. */
export interface Pending {
  /** How many: calls to hide, bodies to replace, messages to drop. */
  readonly count: number;
  /** The messages that they would change. */
  readonly indices: readonly number[];
  /** What they would reclaim, estimated. */
  readonly reclaimed_tokens: number;
  /** For how many turns the oldest of them has been held back. */
  readonly turns: number;
}

/** A view against the session's view before it: what of a provider's prompt cache is still good. */
export interface CacheReport {
  /** How many messages at the start are the same as in the view before. */
  readonly stable_prefix_count: number;
  /**
   * The tokens, estimated, that the view before had sent already and that have to be written again, because something
   * before them changed. 0 when the view before is a prefix of this one.
   */
  readonly rewritten_tokens: number;
  /** What the decisions that this turn took reclaim of what the view before had sent, estimated. */
  readonly reclaimed_tokens: number;
  /**
   * After how many further requests the change has paid: with R rewritten and S reclaimed tokens,
   * `ceil((R * write - (R + S) * read) / (S * read))`, at least 0. `null` when nothing was rewritten or reclaimed.
   */
  readonly break_even_requests: number | null;
}

/** What a view of a session says beside what every view says. */
export interface TurnReport {
  readonly pending: Pending;
  readonly cache: CacheReport;
}

/**
 * The view of a turn; `view.policy` tells which policy made it. Its lists, `messages` among them, are made when they are
 * first read: they are as long as the session.
 */
export type SessionView<M extends object = Message, N extends object = Compacted<M>> =
  | TurnView<'raw', M>
  | TurnView<'clean_tool_repair', M>
  | TurnView<'squash_failed_calls', M>
  | TurnView<'summary_prefix', M>
  | TurnView<'reachability_gc', M>
  | CustomTurnView<N>;

/**
 * The view of a turn whose decisions stay. What earlier turns settled under other policies is there too, whatever the
 * policy of this one: also with `raw` a message may be trimmed, redacted, stripped or a summary (`docs/sessions.md`).
 */
export interface TurnView<P extends Exclude<PolicyName, 'custom'>, M extends object = Message>
  extends ViewBase<P, SessionMessage<M>>,
    TurnReport {
  readonly event: SessionProjectionEvent<P>;
  readonly violations?: undefined;
}

/** The view of a `custom` turn: its projector saw all messages, and nothing that was settled counts. */
export interface CustomTurnView<N extends object = Message> extends ViewBase<'custom', N>, TurnReport {
  readonly event: SessionProjectionEvent<'custom'>;
  readonly violations: Violation[];
}

/** What there may be in a view of a session. */
export type SessionMessage<M extends object = Message> = Compacted<M> | SyntheticSummary<M> | Settled<M>;

/** A message as the turns so far left it: what was not hidden, replaced or stripped is as in the source. */
export type Settled<M extends object> = M & { readonly _harn_projection: SettledMark };

/** A decision of a turn, as the event records it. Spots are `[message, position among its calls or results]`. */
export type RecordedDecision =
  | { readonly hide: readonly [number, number]; readonly reason: string }
  | { readonly replace: readonly [number, number] }
  | {
      readonly drop: readonly (readonly [first: number, last: number])[];
      readonly before: number;
      readonly text: string | null;
      readonly role: 'system' | 'developer' | 'user';
    }
  | { readonly strip: readonly number[] };

/** The record of a turn. Alone it says what the turn changed; the session knows what was settled before. */
export type SessionProjectionEvent<P extends PolicyName = PolicyName> = Omit<ProjectionEvent<P>, 'metadata'> & {
  readonly metadata: ProjectionMetadata<P> & {
    readonly session: {
      readonly session_id: string;
      /** The turn, from 1. */
      readonly turn: number;
      /** How many compactions came before. */
      readonly compactions: number;
      readonly previous_event_id: string | null;
      /** What this turn decided, in order. */
      readonly decisions: readonly RecordedDecision[];
      readonly pending: Pending;
      readonly cache: CacheReport;
    };
  };
};

/** The record of a compaction. */
export interface CompactionEvent {
  readonly id: string;
  readonly kind: 'compaction';
  readonly role: 'system';
  readonly visibility: 'internal';
  readonly text: string;
  readonly blocks: readonly { readonly type: 'text'; readonly text: string; readonly visibility: 'internal' }[];
  readonly metadata: {
    readonly mode: 'manual' | 'auto';
    readonly strategy: 'summary';
    /** How many messages went to the archive. */
    readonly archived_messages: number;
    readonly estimated_tokens_before: number;
    readonly estimated_tokens_after: number;
    /** The entry of the archive. */
    readonly snapshot_asset_id: string;
    /** Which messages went: from `start`, without `end`. */
    readonly start: number;
    readonly end: number;
    /** How many messages there were. */
    readonly source_count: number;
    readonly session_id: string;
    readonly previous_event_id: string | null;
  };
}

/** Messages that a compaction took out of the list. */
export interface ArchiveEntry<M extends object = Message> {
  readonly id: string;
  /** Where they stood in the list: from `start`, without `end`. The summary stands at `start` now. */
  readonly start: number;
  readonly end: number;
  readonly messages: readonly Compacted<M>[];
  /** The message that stands for them. */
  readonly summary: CompactionSummary<M>;
  /** `sha256:` and 64 hex digits over the canonical JSON of `messages`. */
  readonly hash: string;
  /** The `compaction` event. */
  readonly event_id: string;
}

/** The raw transcript of a session: live, so leave it as it is. */
export interface SessionTranscript<M extends object = Message> {
  readonly _type: 'transcript';
  readonly version: 2;
  readonly id: string;
  readonly messages: readonly Compacted<M>[];
  readonly events: readonly (SessionProjectionEvent | CompactionEvent | object)[];
  readonly assets: readonly object[];
  readonly summary?: string | null | undefined;
}

/** What listeners of `transcript_projected` get. */
export interface TranscriptProjected<M extends object = Message> {
  readonly type: 'transcript_projected';
  readonly session_id: string;
  readonly view: SessionView<M, object>;
  readonly event: SessionProjectionEvent;
  /** The parameters of the ACP notification, as `acpUpdate` writes them; made when it is read. */
  readonly acp: AcpSessionNotification;
}

/** Where two transcripts begin to differ. */
export interface Difference {
  /** `transcript.messages[12]`, `archive[0].messages[3]`. */
  readonly path: string;
  readonly index: number;
  /** The entry of the archive; `null` when the message is still in the list. */
  readonly archive_id: string | null;
}

/** A turn made again. */
export interface SessionReplay<M extends object = Message> {
  /** As in `Replay`. Both hashes are made anew, from the first message on. */
  readonly matches: boolean | null;
  readonly source_matches: boolean | null;
  /** The raw messages of that turn. */
  readonly messages: Compacted<M>[];
  readonly view: SessionView<M, object>;
  /** The first message that is not the one that was saved; `null` when none is, or when nothing was saved. */
  readonly first_difference: Difference | null;
}

/** How much a session has worked: for tests, which count rather than time. */
export interface Work {
  /** How often a message was read, whether for its facts, its characters, or to be hashed. */
  readonly messages_read: number;
  readonly bytes_hashed: number;
  /** How often the body of a result or the arguments of a call were fetched. */
  readonly bodies_fetched: number;
}

/** A session as JSON. It has all that `AgentSession.fromJSON` needs; the lists that follow from it are left out. */
export interface SavedSession<M extends object = Message> {
  readonly _type: 'agent_session';
  readonly version: 1;
  readonly session_id: string;
  readonly transcript: {
    readonly _type: 'transcript';
    readonly version: 2;
    readonly id: string;
    readonly messages: readonly Compacted<M>[];
    readonly events: readonly object[];
    readonly assets: readonly object[];
    readonly summary?: string | null | undefined;
  };
  readonly archive: readonly ArchiveEntry<M>[];
  /** The SHA-256 of each message, those of the archive first. */
  readonly message_hashes: readonly string[];
  readonly transcript_projection: object;
  readonly scratchpad: { readonly value: unknown; readonly version: string | number } | null;
  /** The `now` of the last turn. */
  readonly last_turn_at: number | null;
  /** What the file that the first messages came from knew of their results. */
  readonly outcomes?: readonly object[] | undefined;
}

/** What a session starts with. */
export interface AgentSessionOptions<M extends object = Message> {
  readonly session_id: string;
  /** Messages that are there already. Their list is copied, they are not. */
  readonly transcript?: TranscriptInput<M> | null | undefined;
  /** The options of every turn. Default `raw`. */
  readonly transcript_projection?: TurnOptions<M, object> | null | undefined;
}

/**
 * The transcript of an agent, projected before each request. A turn costs what is new, not the history.
 *
 * Decisions are sticky: what a turn hid or replaced stays so in every later one, and nothing comes back, so that the
 * start of the prompt stays the same and a provider's cache of it stays good. `custom` is not: its projector sees all
 * messages each time. It holds memory of the engine: `free()` it, or declare it with `using`.
 */
export declare class AgentSession<M extends object = Message> {
  constructor(options: AgentSessionOptions<M>);
  /**
   * Goes on with a saved session.
   *
   * @param options `verify: false` takes messages that are not the saved ones, which `replay` then names;
   *   `transcript_projection` goes before the saved options, which have no functions (`is_error`, `projector`)
   * @throws {ProjectionError} `session_tampered`, with the `path` of the first message that is not the saved one
   */
  static fromJSON<M extends object = Message>(
    json: string | Uint8Array | SavedSession<M>,
    options?: {
      readonly verify?: boolean | null | undefined;
      readonly transcript_projection?: TurnOptions<M, object> | null | undefined;
    } | null,
  ): AgentSession<M>;
  readonly session_id: string;
  /** The number of messages in the list. */
  readonly length: number;
  /** The raw transcript, with all events. */
  readonly transcript: SessionTranscript<M>;
  /** The events of the transcript. */
  readonly events: SessionTranscript<M>['events'];
  /** What compactions took out of the list, oldest first. */
  readonly archive: readonly ArchiveEntry<M>[];
  readonly work: Work;
  /** Adds messages at the end. They must not change afterwards. */
  append(...messages: M[]): void;
  /**
   * Projects, appends the `transcript.projection` event to the transcript and tells the listeners.
   *
   * @returns kept messages are the caller's own objects
   */
  projectTurn<N extends object = Compacted<M>>(options?: TurnOptions<M, N> | null): SessionView<M, N>;
  /**
   * The agent's working memory: root and write barrier of `reachability_gc` in all later turns, unless their own
   * options say otherwise. `null` takes it back. What JSON would leave out or empty (a `Map`, a function, `NaN`) is an
   * `invalid_option`.
   *
   * @param version names this state of it in the events; default: counted from 1
   */
  setScratchpad(value: unknown, version?: string | number): void;
  /**
   * Puts a summary in place of old messages, which go to the archive. Later indices refer to what remains. With `every`
   * or `token_budget` only when one of them fires, as `maybeCompact`.
   *
   * @returns the entry of the archive; `null` when there was nothing to do
   */
  compact(options: number | CompactionOptions): ArchiveEntry<M> | null;
  /**
   * Listens. What a listener throws goes to `reportError`, or to the console: the turn and the other listeners go on.
   *
   * @returns a function that ends it
   */
  on(type: 'transcript_projected', listener: (event: TranscriptProjected<M>) => void): () => void;
  /** Makes a turn again, from what is saved alone, and proves it by hash. */
  replay(eventId: string, callbacks?: ReplayCallbacks<M>): SessionReplay<M>;
  /** What `JSON.stringify(session)` saves. */
  toJSON(): SavedSession<M>;
  /**
   * Gives the memory back; more than once does no harm. What needs the engine throws `freed` after it; the transcript, the
   * archive and `toJSON` are still there.
   */
  free(): void;
  /** `free()`, for `using`. */
  [Symbol.dispose](): void;
}

// ---------------------------------------------------------------------------------------------
// Session files. (All ours)

/** The formats that `importTranscript` reads. `docs/formats.md` says of each how it is read. */
export type ImportFormat =
  | 'claude_code'
  | 'codex'
  | 'gemini_cli'
  | 'qwen'
  | 'pi'
  | 'copilot_cli'
  | 'cursor'
  | 'opencode'
  | 'cline'
  | 'vscode_chat'
  | 'goose'
  | 'amp'
  | 'grok'
  | 'kiro'
  | 'gptme'
  | 'openhands'
  | 'swe_agent'
  | 'inspect'
  | 'atif'
  | 'otel'
  | 'chatgpt'
  | 'claude_ai'
  | 'harn'
  | 'langchain'
  | 'ai_sdk'
  | 'gemini'
  | 'bedrock'
  | 'openai_responses'
  | 'anthropic'
  | 'openai_chat';

/** A file, or a piece of one: its text or its bytes. Bytes are read during the call, not kept. */
export type ImportInput = string | ArrayBuffer | ArrayBufferView;

/** What a file is. */
export interface FormatDetection {
  readonly format: ImportFormat;
  /** What people call the format. */
  readonly title: string;
  /** `certain`: the format's own marks are there; `likely`: few others look so; `possible`: others may. */
  readonly confidence: 'possible' | 'likely' | 'certain';
  /** What was seen in the file, in words that may change. */
  readonly reason: string;
}

/**
 * Says what a file is. The start of a file of lines is enough; a JSON document has to be whole.
 *
 * @throws {ProjectionError} `empty_file`, `unsupported_file`, `unknown_format`; `invalid_json` for a document that is none,
 *   and for what is neither text nor bytes
 */
export declare function detectFormat(input: ImportInput): FormatDetection;

/** The formats, the most specific first: among equally sure ones the first counts. */
export declare function importFormats(): { readonly format: ImportFormat; readonly title: string }[];

/** How a file is read. */
export interface ImportOptions {
  /** The format. Default: found out, as `auto`. */
  readonly format?: ImportFormat | 'auto' | null | undefined;
  /**
   * `model`: what the model saw last, that is after the last compaction, on the active branch, without sub-agents.
   * `all`: every message in the order of the file; `source` says of each which the model does not see. Default `model`.
   */
  readonly view?: 'model' | 'all' | null | undefined;
  /**
   * Which conversation of a file that holds several (an export, training data with one a line, a log of requests),
   * counted from 0. Default: the first, of a log the longest, with the warning `several_transcripts`. Where there is no
   * such conversation: no messages, and the warning `no_such_transcript`.
   */
  readonly transcript?: number | null | undefined;
}

/** A session file that was read. */
export interface ImportResult extends FormatDetection {
  /**
   * The messages, each in its provider's own shape, exactly as the file spells it. What the file says of its tool
   * results beside them (`outcomes`) goes into every projection, and into its event. It holds memory of the engine:
   * `free()` it.
   */
  readonly transcript: Transcript;
  /** Where each message stands in the file: one for each, in their order. */
  readonly source: ImportSource[];
  /** What could not be read, or not as it stands. In the order of the lines. */
  readonly warnings: ImportWarning[];
  /** What the file says of tool results beside the results themselves. */
  readonly outcomes: ImportOutcome[];
  readonly stats: ImportStats;
  /** The summary that the file carries for its transcript, or `null`. */
  readonly summary: string | null;
}

/** Where a message stands in its file. Members that do not apply are not there. */
export interface ImportSource {
  /** The line, from 1, in files of lines. */
  readonly line?: number;
  /** The way to it in a JSON document, or in its line where that holds several: `messages[3]`. */
  readonly path?: string;
  /** The byte of the file at which the line, or the value, begins. */
  readonly start: number;
  /**
   * The byte behind it: `bytes.subarray(start, end)` is its raw text, without a line end. Behind bytes of which the warning
   * `invalid_utf8` tells, both are off where it is a part of its line or of a document.
   */
  readonly end: number;
  /** The lines of the other parts, where the file has one message in several. */
  readonly also_lines?: number[];
  /** The message's id in the file. */
  readonly id?: string;
  /**
   * Why the model does not see it, with `view: "all"`: `abandoned` by a rewind or a retry; `compacted`: a summary stands
   * for it; `hidden`: the host does not send it.
   */
  readonly branch?: 'abandoned' | 'compacted' | 'hidden';
  /** The sub-agent whose message it is: its id in the file, or the call that started it. */
  readonly sidechain?: string;
}

/** Something in a file that was not read as it stands. */
export interface ImportWarning {
  readonly code: ImportWarningCode;
  /** The line, from 1, in files of lines. */
  readonly line: number | null;
  /** The way to it in a JSON document. */
  readonly path: string | null;
  /** What happened, in words that may change. */
  readonly message: string;
}

/** What a warning is about. Importers of single formats know more codes than these, which any file can have. */
export type ImportWarningCode =
  /** The last line was cut off: left out. */
  | 'truncated'
  /** A line is not JSON: left out. */
  | 'invalid_json'
  /** A line holds something else than an object: left out. */
  | 'not_an_object'
  /** Bytes that are not UTF-8: read as U+FFFD. */
  | 'invalid_utf8'
  /** NUL bytes around a line, or in place of one. */
  | 'nul_bytes'
  /** Half of an escaped surrogate pair: it hashes as U+FFFD. */
  | 'lone_surrogate'
  /** A line, an entry or a part of a kind that the importer does not know. */
  | 'unknown_type'
  /** A message that no provider's shape can hold: left out. */
  | 'invalid_message'
  /** The file's own links between messages do not hold: its order counts. */
  | 'broken_tree'
  /** The file holds several conversations, of which one was read: the option `transcript` says which. */
  | 'several_transcripts'
  /** The file holds fewer conversations than the option `transcript` says: none was read. */
  | 'no_such_transcript'
  | (string & Record<never, never>);

/** What a file says of a tool result beside the result itself. */
export interface ImportOutcome {
  /** The message that holds the result. */
  readonly message_index: number;
  /** Its block there; `null` when the message as a whole is the result. */
  readonly block_index: number | null;
  readonly tool_call_id: string | null;
  /** Whether it reports a failure: failure policies go by it. */
  readonly is_error: boolean;
  /** Whether a person refused the call: that is no failure, and no policy hides it as one. */
  readonly refused: boolean;
  /** Whether that is a guess from a text or an exit code, rather than a flag of the host's. */
  readonly inferred: boolean;
  /** What says so, in words that may change. */
  readonly because: string;
}

/** What there is in a file, in numbers. */
export interface ImportStats {
  readonly bytes: number;
  /** Lines, in files of lines; 0 for documents. */
  readonly lines: number;
  readonly messages: number;
  readonly calls: number;
  readonly results: number;
  readonly unanswered_calls: number;
  /** Results that answer no call of these messages. */
  readonly orphan_results: number;
  /** Results that report a failure. */
  readonly failed_results: number;
  /** Those of them of which that is a guess. */
  readonly inferred_failures: number;
  /** Calls that a person refused. */
  readonly refused_calls: number;
  /** What is no message of this view, counted by kind: `file-history-snapshot`, `compacted`, `sidechain:ID`, ... */
  readonly kinds: Readonly<Record<string, number>>;
}

/**
 * Reads a session file of a coding agent, a provider or a framework, from its text or its bytes. No message is lost:
 * what cannot be read is warned of, and what is no message is counted.
 *
 * @throws {ProjectionError} `empty_file`, `unsupported_file`, `unknown_format`; `invalid_json` for a document that is none,
 *   and for what is neither text nor bytes; `invalid_option`, `unknown_option`
 */
export declare function importTranscript(input: ImportInput, options?: ImportOptions | null): ImportResult;

/**
 * Reads a session file that comes in pieces, of any size. Of files of lines only what messages need is kept; a JSON
 * document is kept until it is whole.
 */
export declare class Importer {
  /** @throws {ProjectionError} `invalid_option`, `unknown_option` */
  constructor(options?: ImportOptions | null);
  /** Adds a piece. A character may be split between two pieces of bytes, not between two of text. */
  push(chunk: ImportInput): void;
  /** What `importTranscript` returns, and throws. The importer is freed either way. */
  finish(): ImportResult;
  /** Gives the memory back; more than once does no harm; `push` and `finish` throw `freed` after it. */
  free(): void;
  /** `free()`, for `using`. */
  [Symbol.dispose](): void;
}

// ---------------------------------------------------------------------------------------------
// Export. (Ours)

/**
 * Writes the messages to send as text, without marks: a JSON array, or one message a line. The view of a `Transcript`
 * that was read from text or from a file keeps the text's own spelling: every digit, the order of keys, escapes. Nothing
 * of a message that was kept is changed but, in `jsonl`, line breaks between its fields.
 *
 * @param provider as for `providerMessages`
 * @throws {ProjectionError} `freed` when the view's `Transcript` was; `invalid_message` for one that JSON cannot hold;
 *   `unknown_provider`; `invalid_option`
 */
export declare function exportMessages(
  view: readonly object[] | { readonly messages: readonly object[] },
  format?: 'json' | 'jsonl',
  provider?: Provider,
): string;

// ---------------------------------------------------------------------------------------------
// Errors and start

/** What went wrong, for programs. */
export type ErrorCode =
  /** The input is no transcript and no list of messages. */
  | 'invalid_transcript'
  /** A message, `path` says which, is no object. */
  | 'invalid_message'
  | 'invalid_json'
  /** An option has the wrong type or an impossible value. */
  | 'invalid_option'
  /** There is no such option; the message names the nearest. */
  | 'unknown_option'
  | 'unknown_policy'
  | 'unknown_provider'
  /** The file holds nothing. */
  | 'empty_file'
  /** The file is packed, a database, a picture, binary: the message says what, and what to do. */
  | 'unsupported_file'
  /** No importer knows the file; the message says what was seen. */
  | 'unknown_format'
  /** `custom` without a `projector`. */
  | 'projector_required'
  /** The projector returned something else than messages. */
  | 'projector_result'
  /** The projector returned a promise: call `transcriptProjectAsync`. */
  | 'projector_async'
  /** The pointer is none. */
  | 'pointer_invalid'
  /** The pointer names nothing in this transcript. */
  | 'pointer_not_found'
  /** The event is no projection event. */
  | 'event_invalid'
  /** The event records messages that a custom projector made: the replay needs that projector. */
  | 'replay_needs_projector'
  /** The turn of a session depends on the turns before it: call `AgentSession.replay`. */
  | 'replay_needs_session'
  /** The session has no projection event of this id. */
  | 'event_not_found'
  /** A message of a saved session, `path` says which, is not the one that was saved. */
  | 'session_tampered'
  /** A saved session is none, or misses a part. */
  | 'session_invalid'
  /**
   * In the browser: `await init()` first, and `initImport()` for session files. Or they could not load what they load; the
   * message says why.
   */
  | 'not_initialized'
  /** The `Transcript`, the `AgentSession` or the `Importer` was freed; an `Importer` is when it has finished. */
  | 'freed'
  /** A callback tried to change the `Transcript` or the `AgentSession` that is being projected. */
  | 'in_use'
  /** A fault of this package; `cause` holds the WebAssembly error. */
  | 'engine_failure';

/** Every error of this package. What a callback of the caller throws is passed on as it is. */
export declare class ProjectionError extends Error {
  constructor(
    fields: {
      readonly code: ErrorCode;
      readonly path?: string | null;
      readonly expected?: string | null;
      readonly message: string;
    },
    options?: { readonly cause?: unknown },
  );
  readonly name: 'ProjectionError';
  readonly code: ErrorCode;
  /** Where: `options.root_window`, `messages[3].tool_calls[0].id`, ... */
  readonly path: string | null;
  /** What would have been right, in a short phrase. */
  readonly expected: string | null;
}

// Types of the host, where it has them: a consumer may compile without the DOM library.
type Host<Name extends string> = typeof globalThis extends { readonly [K in Name]: { prototype: infer T } }
  ? T & object
  : never;
type HostModule = typeof globalThis extends {
  readonly WebAssembly: { readonly Module: { readonly prototype: infer T } };
}
  ? T & object
  : never;

/** The engine: where it is, or itself. */
export type InitInput =
  | string
  | Host<'URL'>
  | Host<'Request'>
  | Host<'Response'>
  | ArrayBuffer
  | ArrayBufferView
  | HostModule;

/**
 * Loads the engine, once: later calls wait for the first; after a failure the next call tries again.
 * Needed in the browser, where the engine is a file of its own, beside the entry unless `input` says
 * otherwise. In all other entries this is not needed and does no harm.
 */
export declare function init(input?: InitInput | PromiseLike<InitInput>): Promise<void>;

/**
 * Loads the importers, a file of their own, once: `importTranscript`, `Importer`, `detectFormat` and `importFormats` need
 * them. As `init`, and beside it, in the browser; with `/inline` it needs an `input`, such as what
 * `transcript-projection/importers.wasm` is. In all other entries this is not needed and does no harm.
 */
export declare function initImport(input?: InitInput | PromiseLike<InitInput>): Promise<void>;

/** The version of this package. */
export declare const version: string;
