//! The pipeline: messages, facts, policy, plan, guards, view.

use std::borrow::Cow;

use serde_json::Value;

use crate::canonical::{TooDeep, TwinHash};
use crate::error::{ErrorCode, ProjectionError};
use crate::event;
use crate::exchange::{Exchanges, Pairs, Spot};
use crate::facts::{MessageFacts, arguments, body, text_parts};
use crate::guard::{pairing, signatures};
use crate::node::{Key, Kind, Node};
use crate::options::{Options, SignatureScope};
use crate::patched::Patched;
use crate::plan::{ResolvedPlan, Shown, visible_chars};
use crate::policy::custom::{CustomView, shown as custom_shown};
use crate::policy::{Policy, Scene, plan};
use crate::report::{Report, Verdict};
use crate::settle::{Outcome, attempt, blocked_by};
use crate::shape;
use crate::tokens;

/// The names that a list of messages has in a transcript or in a request body (Gemini, OpenAI Responses).
pub const LISTS: [Key; 3] = [Key::Messages, Key::Contents, Key::Input];

/// A transcript as the engine reads it: its messages, in place.
#[derive(Clone, Debug)]
pub struct Transcript<N> {
    /// The messages, in order.
    pub messages: Vec<N>,
    /// The summary that the transcript itself carries.
    pub summary: Option<String>,
    /// What is known of results beyond what they say themselves.
    pub verdicts: Vec<Verdict>,
}

impl<N: Node> Transcript<N> {
    /// Reads a transcript object (`{messages: [...], summary?}`, or a request body that names its list otherwise) or
    /// a bare list of messages.
    pub fn of(input: &N) -> Result<Self, ProjectionError> {
        let (name, list) = match input.kind() {
            Kind::Array => ("messages", input.clone()),
            Kind::Object => {
                let named = LISTS.into_iter().find_map(|key| Some((key.as_str(), input.field(key)?)));
                named.ok_or_else(|| not_a_transcript("messages", "nothing"))?
            }
            kind => return Err(not_a_transcript("transcript", kind.in_words())),
        };
        if list.kind() != Kind::Array {
            let found = list.kind().in_words();
            return Err(ProjectionError::new(ErrorCode::InvalidTranscript, name, "an array of messages", found));
        }
        let messages = list.own_items().into_iter().enumerate().map(|(index, message)| {
            let nothing = || {
                ProjectionError::new(ErrorCode::InvalidMessage, format!("messages[{index}]"), "an object", "nothing")
            };
            message.ok_or_else(nothing)
        });
        let summary = match (input.field_str(Key::Summary), input.field(Key::Summary)) {
            (None, Some(other)) if input.kind() == Kind::Object => {
                let found = other.kind().in_words();
                return Err(ProjectionError::new(ErrorCode::InvalidTranscript, "summary", "a string or null", found));
            }
            (summary, _) => summary,
        };
        Ok(Transcript { messages: messages.collect::<Result<_, _>>()?, summary, verdicts: Vec::new() })
    }

    /// The facts of every message.
    pub fn facts(&self) -> Result<Vec<MessageFacts>, ProjectionError> {
        let mut facts = read_facts(&self.messages, 0)?;
        apply_verdicts(&mut facts, &self.verdicts);
        Ok(facts)
    }
}

/// Writes into facts what is known of results beyond what they say themselves.
pub fn apply_verdicts(facts: &mut [MessageFacts], verdicts: &[Verdict]) {
    for verdict in verdicts {
        let results = facts.get_mut(verdict.message_index).map(|facts| &mut facts.results);
        let meant =
            results.and_then(|results| results.iter_mut().find(|result| result.place.block() == verdict.block_index));
        if let Some(result) = meant {
            result.failed = verdict.is_error;
            result.refused = verdict.refused;
        }
    }
}

/// The facts of some messages, the first of which stands at `offset` in its transcript.
pub fn read_facts<N: Node>(messages: &[N], offset: usize) -> Result<Vec<MessageFacts>, ProjectionError> {
    messages.iter().enumerate().map(|(index, message)| shape::read(message, offset + index)).collect()
}

fn not_a_transcript(path: &str, found: &str) -> ProjectionError {
    let expected = "a transcript object with `messages`, or an array of messages";
    ProjectionError::new(ErrorCode::InvalidTranscript, path, expected, found)
}

/// A tool result as the caller's `is_error` sees it.
pub struct ResultInfo<N> {
    /// The message that holds it.
    pub message: N,
    /// The index of that message.
    pub message_index: usize,
    /// Its block in the message, if it is one.
    pub block_index: Option<usize>,
    /// The id of the call.
    pub tool_call_id: Option<String>,
    /// The tool, from the result or from its call.
    pub tool_name: Option<String>,
    /// The arguments of the call.
    pub arguments: Option<N>,
    /// The body.
    pub content: Option<N>,
    /// The body's text parts, one after the other.
    pub text: String,
    /// What the engine itself would decide.
    pub is_error: bool,
}

/// Decides whether a result is an error; `None` leaves it to the engine.
pub type IsError<'a, N> = &'a mut dyn FnMut(&ResultInfo<N>) -> Result<Option<bool>, ProjectionError>;
/// Projects for the policy `custom`.
pub type Projector<'a, N> = &'a mut dyn FnMut(&[N]) -> Result<CustomView<N>, ProjectionError>;

/// The caller's own functions.
pub struct Callbacks<'a, N> {
    /// Decides about results.
    pub is_error: Option<IsError<'a, N>>,
    /// Projects for `custom`.
    pub projector: Option<Projector<'a, N>>,
}

impl<N> Default for Callbacks<'_, N> {
    fn default() -> Self {
        Callbacks { is_error: None, projector: None }
    }
}

/// What the model sees next, and the record of what it does not see.
#[derive(Clone)]
pub struct View<N> {
    /// The messages; kept ones are the caller's own.
    pub messages: Vec<Shown<N>>,
    /// Indices, counts, hashes and pointers.
    pub report: Report,
    /// The `transcript.projection` event.
    pub event: Value,
}

/// Projects a transcript.
///
/// # Errors
/// When a message is malformed, or `custom` has no projector or a bad one.
pub fn project<N: Node>(
    transcript: &Transcript<N>,
    options: &Options,
    callbacks: Callbacks<'_, N>,
) -> Result<View<N>, ProjectionError> {
    let facts = transcript.facts()?;
    let mut pairs = Pairs::default();
    pairs.extend(&facts);
    project_facts(transcript, Cow::Owned(facts), &pairs, options, callbacks)
}

/// Projects a transcript whose facts are known already, and what belongs together.
///
/// # Errors
/// As [`project`].
pub fn project_facts<N: Node>(
    transcript: &Transcript<N>,
    mut facts: Cow<'_, [MessageFacts]>,
    pairs: &Pairs,
    options: &Options,
    callbacks: Callbacks<'_, N>,
) -> Result<View<N>, ProjectionError> {
    let mut verdicts = transcript.verdicts.clone();
    if let Some(is_error) = callbacks.is_error {
        let infos = result_infos(&transcript.messages, &Exchanges::over(&facts, pairs), &facts, 0);
        let asked = ask_caller(infos, facts.to_mut(), is_error)?;
        verdicts.retain(|known| asked.iter().all(|asked| !asked.is_of_same_result(known)));
        verdicts.extend(asked);
    }
    let exchanges = Exchanges::over(&facts, pairs);
    let draft = match (options.policy, callbacks.projector) {
        (Policy::Custom, Some(projector)) => custom_draft(&transcript.messages, projector)?,
        (Policy::Custom, None) => return Err(projector_missing()),
        _ => built_in_draft(transcript, &facts, &exchanges, options),
    };
    let refusal = if options.policy == Policy::Custom {
        custom_conflict(&draft, &facts, &exchanges, options).map(|index| blocked_by(options, index))
    } else {
        draft.refusal.clone()
    };
    let draft = match refusal {
        Some(reason) => Draft { blocked: true, reason: Some(reason), ..Draft::raw(&transcript.messages) },
        None => draft,
    };
    finish(transcript, &facts, options, verdicts, draft)
}

/// A view before it is recorded.
struct Draft<N> {
    messages: Vec<Shown<N>>,
    plan: ResolvedPlan,
    reason: Option<String>,
    blocked: bool,
    /// Why it may not be shown, if it may not.
    refusal: Option<String>,
    /// Messages that were to change and stay because of signatures.
    skipped: Vec<usize>,
}

impl<N: Node> Draft<N> {
    /// The view that hides nothing.
    fn raw(messages: &[N]) -> Self {
        let shown = messages.iter().enumerate();
        Draft {
            messages: shown.map(|(source, message)| Shown::Kept { source, message: message.clone() }).collect(),
            plan: ResolvedPlan::nothing(),
            reason: None,
            blocked: false,
            refusal: None,
            skipped: Vec::new(),
        }
    }
}

fn built_in_draft<N: Node>(
    transcript: &Transcript<N>,
    facts: &[MessageFacts],
    exchanges: &Exchanges<'_>,
    options: &Options,
) -> Draft<N> {
    let scene = Scene {
        messages: &transcript.messages,
        facts,
        exchanges,
        summary: transcript.summary.as_deref(),
        options,
        open_turn: if options.protect_open_turn { exchanges.open_turn() } else { facts.len() },
    };
    let mut resolved = ResolvedPlan::nothing();
    resolved.begin(facts.len(), options.policy.name());
    let Outcome { reason, refusal, skipped, .. } = attempt(&mut resolved, plan(&scene), &scene);
    let messages = resolved.apply(&transcript.messages, facts);
    Draft { messages, reason, plan: resolved, blocked: false, refusal, skipped }
}

fn custom_draft<N: Node>(messages: &[N], projector: Projector<'_, N>) -> Result<Draft<N>, ProjectionError> {
    let view = projector(messages)?;
    let shown = custom_shown(&view, messages);
    let plan = ResolvedPlan::nothing();
    Ok(Draft { messages: shown, plan, reason: view.reason, blocked: false, refusal: None, skipped: Vec::new() })
}

/// The error of `custom` without a projector.
pub fn projector_missing() -> ProjectionError {
    ProjectionError::new(
        ErrorCode::ProjectorRequired,
        "options.projector",
        "a function for policy \"custom\"",
        "nothing",
    )
}

/// The first signed message that a custom view would break. Its calls are the caller's: they are checked and reported.
fn custom_conflict<N: Node>(
    draft: &Draft<N>,
    facts: &[MessageFacts],
    exchanges: &Exchanges<'_>,
    options: &Options,
) -> Option<usize> {
    if !options.respect_provider_signatures {
        return None;
    }
    let touched = complement(&unchanged(&draft.messages), facts.len());
    touched.iter().filter_map(|index| signatures::protector(*index, facts, exchanges)).min().or_else(|| {
        let first_change = signatures::first_change(&draft.messages, facts.len());
        let invalidated = || signatures::invalidated(&draft.messages, first_change, facts, &[]).first().copied();
        (options.signature_scope == SignatureScope::Prefix).then(invalidated).flatten()
    })
}

fn finish<N: Node>(
    transcript: &Transcript<N>,
    facts: &[MessageFacts],
    options: &Options,
    verdicts: Vec<Verdict>,
    draft: Draft<N>,
) -> Result<View<N>, ProjectionError> {
    let sources = &transcript.messages;
    let Draft { messages, mut plan, reason, blocked, skipped, .. } = draft;
    plan.stripped.sort_unstable();
    let first_changed_index = signatures::first_change(&messages, sources.len());
    let hashes = if options.prefix_hash { Some(hashes(sources, &messages, first_changed_index)?) } else { None };
    let mut kept: Vec<usize> = messages.iter().filter_map(Shown::source).collect();
    let is_in_order = kept.is_sorted();
    // A projector may have reordered them; what is missing from what is missing comes in order.
    if !is_in_order {
        kept = complement(&complement(&kept, sources.len()), sources.len());
    }
    let pointers = plan.pointers();
    let reclaimed_chars = if options.policy == Policy::Custom {
        custom_reclaimed(sources, facts, &messages)?
    } else {
        plan.reclaimed(sources, facts).total(plan.summary_chars())
    };
    let derived = || reason.clone().unwrap_or_else(|| options.policy.reason().to_owned());
    let report = Report {
        policy: options.policy.name(),
        reason: if blocked { derived() } else { options.reason.clone().unwrap_or_else(derived) },
        kept_count: kept.len(),
        dropped_count: sources.len() - kept.len(),
        dropped_indices: complement(&kept, sources.len()),
        trimmed_indices: plan.trimmed(),
        redacted_indices: plan.redacted(),
        redacted_count: pointers.len(),
        kept_indices: kept,
        reclaimed_tokens: tokens::estimate(reclaimed_chars),
        reclaimed_chars,
        roots_consulted: plan.roots_consulted,
        redaction_pointers: pointers,
        hidden_calls: plan.hidden_calls,
        prefix_hash: hashes.as_ref().map(|hashes| hashes.prefix.clone()),
        source_hash: hashes.as_ref().map(|hashes| hashes.source.clone()),
        source_count: sources.len(),
        provider_safety_blocked: blocked,
        first_changed_index,
        invalidated_signature_indices: signatures::invalidated(&messages, first_changed_index, facts, &plan.stripped),
        skipped_indices: skipped,
        stripped_indices: plan.stripped,
        lone_surrogate_indices: hashes.map(|hashes| hashes.lone_surrogates).unwrap_or_default(),
        violations: (options.policy == Policy::Custom).then(|| violations(&messages)).transpose()?,
        is_selection: messages.iter().all(|shown| matches!(shown, Shown::Kept { .. })) && is_in_order,
        is_error_verdicts: verdicts,
    };
    let event = event::projection_event(&report, options, transcript.summary.as_deref());
    Ok(View { messages, report, event })
}

fn complement(indices: &[usize], count: usize) -> Vec<usize> {
    let mut is_in = vec![false; count];
    for index in indices {
        if let Some(slot) = is_in.get_mut(*index) {
            *slot = true;
        }
    }
    (0..count).filter(|index| is_in.get(*index) == Some(&false)).collect()
}

/// The source indices of the messages that a view shows as they are.
fn unchanged<N>(messages: &[Shown<N>]) -> Vec<usize> {
    let kept = messages.iter().filter_map(|shown| match shown {
        Shown::Kept { source, .. } => Some(*source),
        _ => None,
    });
    kept.collect()
}

struct Hashes {
    prefix: String,
    source: String,
    /// Positions in the view whose strings hold lone surrogates.
    lone_surrogates: Vec<usize>,
}

/// The hashes of the view and of its source.
fn hashes<N: Node>(sources: &[N], shown: &[Shown<N>], first_change: Option<usize>) -> Result<Hashes, ProjectionError> {
    let mut hash = TwinHash::new();
    let mut lone_surrogates = Vec::new();
    // The next message that only the source's hash lacks; meaningful behind the first change.
    let mut next_source = 0;
    for (position, message) in shown.iter().enumerate() {
        if first_change == Some(position) {
            hash.fork();
            next_source = position;
        }
        let is_forked = first_change.is_some_and(|change| change <= position);
        let written = match message {
            Shown::Kept { message, .. } if !is_forked => hash.add_to_both(&|writer| writer.node(message)),
            // A projector may have put a message behind a later one.
            Shown::Kept { source, message } if *source < next_source => {
                hash.add_to_view(&|writer| writer.node(message))
            }
            Shown::Kept { source, message } => {
                add_sources(&mut hash, sources, next_source..*source)?;
                next_source = source + 1;
                hash.add_to_both(&|writer| writer.node(message))
            }
            Shown::Changed { message, .. } | Shown::Added { message } => {
                hash.add_to_view(&|writer| writer.patched(message))
            }
        };
        if written.map_err(|TooDeep| too_deep(message.source().unwrap_or(position)))? {
            lone_surrogates.push(position);
        }
    }
    if first_change == Some(shown.len()) {
        hash.fork();
        next_source = shown.len();
    }
    if first_change.is_some() {
        add_sources(&mut hash, sources, next_source..sources.len())?;
    }
    let (prefix, source) = hash.finish();
    Ok(Hashes { prefix, source, lone_surrogates })
}

fn add_sources<N: Node>(
    hash: &mut TwinHash,
    sources: &[N],
    range: std::ops::Range<usize>,
) -> Result<(), ProjectionError> {
    for (index, message) in sources.iter().enumerate().take(range.end).skip(range.start) {
        hash.add_to_source(&|writer| writer.node(message)).map_err(|TooDeep| too_deep(index))?;
    }
    Ok(())
}

/// The error of a message that nests too deep.
pub fn too_deep(index: usize) -> ProjectionError {
    ProjectionError::new(
        ErrorCode::InvalidMessage,
        format!("messages[{index}]"),
        "JSON that nests at most 512 deep and does not contain itself",
        "a deeper value",
    )
}

/// Asks the caller about each result and keeps what it decided.
pub fn ask_caller<N: Node>(
    infos: Vec<(Spot, ResultInfo<N>)>,
    facts: &mut [MessageFacts],
    is_error: IsError<'_, N>,
) -> Result<Vec<Verdict>, ProjectionError> {
    let mut decided = Vec::new();
    for ((message_index, position), info) in infos {
        if let Some(is_error) = is_error(&info)? {
            decided
                .push((position, Verdict { message_index, block_index: info.block_index, is_error, refused: false }));
        }
    }
    let verdicts = decided.into_iter().map(|(position, verdict)| {
        let facts = facts.get_mut(verdict.message_index);
        if let Some(result) = facts.and_then(|facts| facts.results.get_mut(position)) {
            result.failed = verdict.is_error;
            result.refused = false;
        }
        verdict
    });
    Ok(verdicts.collect())
}

/// The results in the messages from `from` on, as the caller sees them.
pub fn result_infos<N: Node>(
    messages: &[N],
    exchanges: &Exchanges<'_>,
    facts: &[MessageFacts],
    from: usize,
) -> Vec<(Spot, ResultInfo<N>)> {
    let mut infos = Vec::new();
    for (message_index, (message, facts)) in messages.iter().zip(facts).enumerate().skip(from) {
        for (position, result) in facts.results.iter().enumerate() {
            let spot = (message_index, position);
            let exchange = exchanges.answered_by(spot);
            let call = exchange.and_then(|exchange| exchanges.call(exchange));
            let caller = exchange.and_then(|exchange| messages.get(exchange.call.0));
            let content = body(message, result);
            let text = content.as_ref().map(text_parts).unwrap_or_default();
            infos.push((
                spot,
                ResultInfo {
                    message: message.clone(),
                    message_index,
                    block_index: result.place.block(),
                    tool_call_id: result.call_id.clone(),
                    tool_name: result.name.clone().or_else(|| call.map(|call| call.name.clone())),
                    arguments: caller.zip(call).and_then(|(message, call)| arguments(message, call)),
                    text: text.iter().filter_map(|part| part.as_str().map(|text| text.into_owned())).collect(),
                    content,
                    is_error: result.failed,
                },
            ));
        }
    }
    infos
}

/// What providers would refuse in a custom view.
fn violations<N: Node>(messages: &[Shown<N>]) -> Result<Vec<pairing::Violation>, ProjectionError> {
    let facts = messages.iter().enumerate().map(|(index, shown)| shown_facts(index, shown));
    Ok(pairing::violations(&facts.collect::<Result<Vec<_>, _>>()?))
}

fn shown_facts<N: Node>(index: usize, shown: &Shown<N>) -> Result<MessageFacts, ProjectionError> {
    read_shown(index, shown).map(|(facts, _)| facts)
}

/// The facts of a shown message and the characters that a model reads of it.
fn read_shown<N: Node>(index: usize, shown: &Shown<N>) -> Result<(MessageFacts, usize), ProjectionError> {
    fn read<N: Node>(index: usize, message: &N) -> Result<(MessageFacts, usize), ProjectionError> {
        let facts = shape::read(message, index).map_err(ProjectionError::of_projector)?;
        let chars = visible_chars(message, &facts);
        Ok((facts, chars))
    }
    match shown.message() {
        Patched::Source(node) => read(index, &node),
        message => read(index, &N::of_value(&message.to_value().ok_or_else(|| too_deep(index))?)),
    }
}

/// What a custom view no longer shows, less what it shows instead.
fn custom_reclaimed<N: Node>(
    sources: &[N],
    facts: &[MessageFacts],
    messages: &[Shown<N>],
) -> Result<usize, ProjectionError> {
    let gone = complement(&unchanged(messages), sources.len());
    let gone = gone.iter().filter_map(|index| sources.get(*index).zip(facts.get(*index)));
    let removed: usize = gone.map(|(message, facts)| visible_chars(message, facts)).sum();
    let mut added = 0;
    for (index, shown) in messages.iter().enumerate() {
        if !matches!(shown, Shown::Kept { .. }) {
            added += read_shown(index, shown)?.1;
        }
    }
    Ok(removed.saturating_sub(added))
}
