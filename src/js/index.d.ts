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

/** The body of a Gemini request. Other fields are left alone. */
export interface ContentsObject<M extends object = Message> {
  readonly contents: readonly M[];
  readonly summary?: string | null | undefined;
}

/** The body of an OpenAI Responses request. Other fields are left alone. */
export interface InputObject<M extends object = Message> {
  readonly input: readonly M[];
  readonly summary?: string | null | undefined;
}

/** A transcript, whatever else it holds, or the bare list of its messages. */
export type TranscriptInput<M extends object = Message> =
  | readonly M[]
  | TranscriptObject<M>
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

/** Marks the message that stands for those before it. */
export interface SummaryMark {
  readonly synthetic: true;
  readonly policy: 'summary_prefix';
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

/** The message that stands for those before it, in the form of their shape. */
export type SyntheticSummary<M extends object = object> = SummaryForm<M> & { readonly _harn_projection: SummaryMark };

/** A summary as each shape has it; among messages that all have a `role` it has one too. */
export type SummaryForm<M extends object = object> = [M] extends [{ readonly role: unknown }]
  ? SummaryWithRole
  : SummaryWithRole | SummaryOfLangChain;

/** `summary_role` chooses the role where there is a choice. */
export type SummaryWithRole =
  /** OpenAI Chat, Anthropic, Harn; AI SDK model messages, which know no `developer`. */
  | { readonly role: 'system' | 'developer' | 'user'; readonly content: string }
  /** OpenAI Responses. */
  | {
      readonly type: 'message';
      readonly role: 'system' | 'developer' | 'user';
      readonly content: readonly [{ readonly type: 'input_text'; readonly text: string }];
    }
  /** Gemini. */
  | { readonly role: 'user'; readonly parts: readonly [{ readonly text: string }] }
  /** AI SDK UI messages. */
  | {
      readonly id: string;
      readonly role: 'system' | 'user';
      readonly parts: readonly [{ readonly type: 'text'; readonly text: string }];
    }
  /** Bedrock Converse. */
  | { readonly role: 'user'; readonly content: readonly [{ readonly text: string }] };

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
   * for, or `POLICY (blocked: signed reasoning at index N)` when a guard refused.
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
  /** What the caller's `is_error` decided, when it decided something. (Ours) */
  readonly is_error_verdicts?: readonly {
    readonly message_index: number;
    readonly block_index: number | null;
    readonly is_error: boolean;
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
 * @throws {ProjectionError} `replay_needs_projector` when a custom projector made messages of its own
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

/** A message as it goes to a provider: without a mark. */
export type Unmarked<M> = M extends { readonly _harn_projection: unknown }
  ? { [Field in keyof M as Field extends '_harn_projection' ? never : Field]: M[Field] }
  : M;

/**
 * The messages to send: those of the view without the `_harn_projection` marks, which strict
 * providers refuse. Unmarked messages are the caller's own objects.
 *
 * @param provider also moves a synthetic summary to where this provider accepts it
 */
export declare function providerMessages<M extends object = Message>(
  view: readonly M[] | { readonly messages: readonly M[] },
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
  /** OpenAI Chat: a server that renders a chat template (vLLM, llama.cpp). Default `false`. */
  readonly strict_template?: boolean | null | undefined;
  /** The messages before an edit: rules about what an edit may not take or change need them. */
  readonly original_messages?: readonly object[] | null | undefined;
}

/** A list of messages, or the request or transcript that holds it. */
export type ValidationInput =
  | readonly object[]
  | { readonly messages: readonly object[] }
  | { readonly contents: readonly object[] }
  | { readonly input: readonly object[] };

/**
 * Lists what a provider would refuse in a list of messages, or take with a loss, in the order of
 * the messages. An empty list: nothing to say.
 *
 * @param request default: the request that was given as `messages`
 * @throws {ProjectionError} `unknown_provider`; `invalid_message` when a message is no object
 */
export declare function validateMessages(
  messages: ValidationInput,
  provider: Provider,
  request?: ValidationRequest,
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
 * tool result and none of a call's arguments. `providerMessages` takes the mark off.
 */
export interface CompactionSummary {
  readonly role: 'system';
  readonly content: string;
  readonly _harn_projection: { readonly synthetic: true; readonly policy: 'compact' };
}

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
  readonly messages: (M | CompactionSummary)[];
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
): (M | CompactionSummary)[];

/** `compact` when a trigger fires. */
export declare function maybeCompact<M extends object = Message>(
  messages: TranscriptInput<M>,
  options: CompactionOptions,
): (M | CompactionSummary)[];

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
  callback?: ((messages: (M | CompactionSummary)[]) => unknown) | null,
): Promise<(M | CompactionSummary)[]>;

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
  (options?: ProjectionOptions<M, object> | null): ProjectionView<M, object>;
}

/**
 * A transcript read once and projected often. It holds memory of the engine: `free()` it, or
 * declare it with `using`. One that is forgotten is freed when the garbage collector finds it.
 */
export declare class Transcript<M extends object = Message> {
  private constructor();
  /**
   * Reads a transcript or a list of messages from JSON text or its UTF-8 bytes. Hashes are exact
   * for integers of 64 bits, which a JavaScript number cannot hold.
   *
   * @throws {ProjectionError} `invalid_json` with line and column
   */
  static fromJSON<M extends object = Message>(json: string | Uint8Array): Transcript<M>;
  /** Takes a transcript object or a list of messages. Messages must not change afterwards. */
  static fromObject<M extends object = Message>(transcript: TranscriptInput<M>): Transcript<M>;
  /** The number of messages. */
  readonly length: number;
  /** Adds messages at the end. */
  append(messages: readonly M[]): void;
  /** As `transcriptProject`, of the transcript as it stands. */
  readonly project: TranscriptProjectMethod<M>;
  /** As `validateMessages`, of the transcript as it stands. */
  validate(provider: Provider, request?: ValidationRequest): Violation[];
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
  /** In the browser: `await init()` first. Or `init()` could not load the engine; the message says why. */
  | 'not_initialized'
  /** The `Transcript` was freed. */
  | 'freed'
  /** A callback tried to append to the `Transcript` that is being projected. */
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

/** The version of this package. */
export declare const version: string;
