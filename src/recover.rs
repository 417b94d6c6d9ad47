//! The way back: the raw body behind a redaction pointer, and the replay of a recorded projection.

use crate::canonical::canonical_text;
use crate::error::{ErrorCode, ProjectionError};
use crate::event::PROJECTION;
use crate::facts::body;
use crate::node::{Key, Kind, Node, to_value};
use crate::options::Options;
use crate::patched::Patched;
use crate::policy::content_hash;
use crate::policy::custom::CustomView;
use crate::projection::{Callbacks, Projector, Transcript, View, project};
use crate::report::Verdict;

use serde_json::Value;

/// A recovered body.
pub struct Recovered<N> {
    /// The body, the transcript's own.
    pub content: N,
    /// Whether its hash is the pointer's.
    pub verified: bool,
}

/// Finds the body that a redaction pointer points to and hashes it again.
///
/// # Errors
/// When the pointer is malformed or names nothing in this transcript.
pub fn recover_redacted<N: Node, P: Node>(
    transcript: &Transcript<N>,
    pointer: &P,
) -> Result<Recovered<N>, ProjectionError> {
    let pointer = to_value(pointer).unwrap_or(Value::Null);
    let field = |name: &str| pointer.get(name);
    let invalid = |name: &str, expected: &str| {
        let found = field(name).map_or("nothing", |value| (&value).kind().in_words());
        ProjectionError::new(ErrorCode::PointerInvalid, format!("pointer.{name}"), expected, found)
    };
    let whole = |value: &Value| value.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0).map(|n| n as usize);
    if !pointer.is_object() {
        let found = (&&pointer).kind().in_words();
        return Err(ProjectionError::new(ErrorCode::PointerInvalid, "pointer", "a redaction pointer object", found));
    }
    let index = field("source_index").and_then(whole).ok_or_else(|| invalid("source_index", "a message index"))?;
    let block = match field("source_block_index") {
        None | Some(Value::Null) => None,
        Some(value) => Some(whole(value).ok_or_else(|| invalid("source_block_index", "a block index or null"))?),
    };
    let hash = field("content_hash").and_then(Value::as_str);
    let hash = hash.ok_or_else(|| invalid("content_hash", "\"sha256:\" and 64 hex digits"))?;

    let missing = |path: &str, expected: String| {
        ProjectionError::new(ErrorCode::PointerNotFound, path, expected, "nothing there")
    };
    let message = transcript.messages.get(index);
    let message = message
        .ok_or_else(|| missing("pointer.source_index", format!("one of {} messages", transcript.messages.len())))?;
    let facts = crate::shape::read(message, index)?;
    let result = facts.results.iter().find(|result| result.place.block() == block);
    let content = result.and_then(|result| body(message, result));
    let content =
        content.ok_or_else(|| missing("pointer.source_block_index", format!("a tool result in message {index}")))?;
    let verified = content_hash(&content) == hash;
    Ok(Recovered { content, verified })
}

/// A projection made again from its event.
pub struct Replay<N> {
    /// Whether the view is the recorded one; `None` when nothing speaks against it but no hash was recorded to prove it.
    pub matches: Option<bool>,
    /// Whether the raw messages are the recorded ones; `None` when no hash was recorded.
    pub source_matches: Option<bool>,
    /// The view.
    pub view: View<N>,
}

/// Applies the recorded options to the recorded prefix of the transcript again and compares.
///
/// The caller's `is_error` is not needed: what it decided is recorded. A custom view that only chose among the
/// messages is rebuilt from its indices; one that made messages of its own needs its projector.
///
/// # Errors
/// When the event is malformed, or its projector is missing.
pub fn replay<N: Node, E: Node>(
    transcript: &Transcript<N>,
    event: &E,
    projector: Option<Projector<'_, N>>,
) -> Result<Replay<N>, ProjectionError> {
    let record = Record::read(event)?;
    let prefix = Transcript {
        messages: transcript.messages.iter().take(record.source_count).cloned().collect(),
        // What it was is recorded with the options.
        summary: None,
        verdicts: record.verdicts.clone(),
    };
    let mut projector = projector;
    let mut by_indices = |messages: &[N]| match &mut projector {
        Some(projector) => projector(messages),
        None => record.custom_view(messages),
    };
    let callbacks = Callbacks { is_error: None, projector: Some(&mut by_indices) };
    let view = project(&prefix, &record.options, callbacks)?;
    let (now, then) = (&view.event, &record.metadata);
    let same = |name: &str| now.get("metadata").and_then(|metadata| metadata.get(name)) == then.get(name);
    let source_matches = then.get("source_hash").filter(|hash| hash.is_string()).map(|_| same("source_hash"));
    let compared = ["prefix_hash", "source_count", "kept_indices", "dropped_indices", "provider_safety_blocked"];
    // What a session saves of its events has no lists.
    let mut recorded = compared.into_iter().filter(|name| then.get(*name).is_some());
    let is_same = recorded.all(same) && source_matches != Some(false);
    if !is_same && source_matches == Some(true) && then.get("session").is_some() {
        let expected = "AgentSession.replay: what this turn shows depends on the turns before it";
        return Err(ProjectionError::new(ErrorCode::ReplayNeedsSession, "event", expected, "the event alone"));
    }
    let matches = if is_same && source_matches.is_none() { None } else { Some(is_same) };
    Ok(Replay { matches, source_matches, view })
}

/// What an event recorded.
struct Record {
    metadata: Value,
    options: Options,
    source_count: usize,
    verdicts: Vec<Verdict>,
}

impl Record {
    fn read<E: Node>(event: &E) -> Result<Self, ProjectionError> {
        let wrong = |path: &str, expected: &str, found: &str| {
            ProjectionError::new(ErrorCode::EventInvalid, path, expected, found)
        };
        if event.kind() != Kind::Object {
            return Err(wrong("event", "a transcript.projection event", event.kind().in_words()));
        }
        if event.field_str(Key::Kind).as_deref() != Some(PROJECTION) {
            return Err(wrong("event.kind", "\"transcript.projection\"", "something else"));
        }
        let node = event.field(Key::Metadata).filter(|metadata| metadata.kind() == Kind::Object);
        let node = node.ok_or_else(|| wrong("event.metadata", "an object", "something else"))?;
        let metadata = to_value(&node).unwrap_or(Value::Null);
        let recorded = node.field(Key::Options);
        let recorded = recorded.ok_or_else(|| wrong("event.metadata.options", "the recorded options", "nothing"))?;
        let options = Options::parse(Some(&recorded)).map_err(|error| error.below("event.metadata"))?;
        let count = metadata.get("source_count").and_then(Value::as_f64);
        let count = count.ok_or_else(|| wrong("event.metadata.source_count", "a number of messages", "nothing"))?;
        let verdicts = metadata.get("is_error_verdicts").and_then(Value::as_array).into_iter().flatten();
        let verdicts = verdicts.filter_map(Verdict::of_json).collect();
        Ok(Record { options, source_count: count as usize, verdicts, metadata })
    }

    /// A custom view that only chose among the source's messages.
    fn custom_view<N: Node>(&self, messages: &[N]) -> Result<CustomView<N>, ProjectionError> {
        if self.metadata.get("is_selection").and_then(Value::as_bool) != Some(true) {
            let expected = "the projector that made messages of its own";
            return Err(ProjectionError::new(ErrorCode::ReplayNeedsProjector, "projector", expected, "nothing"));
        }
        let kept = self.metadata.get("kept_indices").and_then(Value::as_array);
        let kept: Vec<usize> = kept.into_iter().flatten().filter_map(Value::as_f64).map(|n| n as usize).collect();
        let chosen: Vec<N> = kept.iter().filter_map(|index| messages.get(*index)).cloned().collect();
        let mut view = CustomView::of(chosen.into_iter().map(Patched::Source).collect());
        view.reason = self.metadata.get("reason").and_then(Value::as_str).map(str::to_owned);
        Ok(view)
    }
}

/// The canonical JSON of a node, for callers that want to check a hash themselves.
///
/// # Errors
/// When the value nests too deep.
pub fn canonical_json<N: Node>(node: &N) -> Result<String, ProjectionError> {
    canonical_text(node).map_err(|_| {
        ProjectionError::new(ErrorCode::InvalidMessage, "value", "JSON nested at most 512 deep", "a deeper value")
    })
}
