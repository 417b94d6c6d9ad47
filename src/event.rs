//! The `transcript.projection` event that a host appends to the raw transcript, and its live form for ACP clients.

use serde_json::{Map, Value};

use crate::canonical::{canonical_value, sha256};
use crate::error::{ErrorCode, ProjectionError};
use crate::node::{Key, Kind, Node, to_value};
use crate::options::Options;
use crate::policy::Policy;
use crate::report::{Report, Verdict};
use crate::value::{extend, list, object};

/// The kind of the event.
pub const PROJECTION: &str = "transcript.projection";
const INTERNAL: &str = "internal";

/// The kind of the event that a session appends when it compacts.
pub const COMPACTION: &str = "compaction";

/// The event of a view. Its id is derived from its metadata: a pure function has no clock and no dice.
pub fn projection_event(report: &Report, options: &Options, summary_of_transcript: Option<&str>) -> Value {
    let metadata = projection_metadata(report.shared_fields(), report, options, summary_of_transcript);
    event_of(PROJECTION, &report.reason, metadata).0
}

/// What the event of a view records, beside `fields` of its report.
pub fn projection_metadata(
    fields: Map<String, Value>,
    report: &Report,
    options: &Options,
    summary_of_transcript: Option<&str>,
) -> Map<String, Value> {
    let mut metadata = fields;
    extend(
        &mut metadata,
        [
            ("source_hash", report.source_hash.clone().into()),
            ("source_count", report.source_count.into()),
            ("respects_provider_signatures", options.respect_provider_signatures.into()),
            ("summary_keep_last", (options.policy == Policy::SummaryPrefix).then_some(options.keep_last).into()),
            ("options", options.recorded(summary_of_transcript)),
        ],
    );
    if options.policy == Policy::Custom {
        metadata.insert("is_selection".to_owned(), report.is_selection.into());
    }
    if !report.is_error_verdicts.is_empty() {
        metadata.insert("is_error_verdicts".to_owned(), list(&report.is_error_verdicts, Verdict::to_json));
    }
    metadata
}

/// An event with this metadata, and its canonical JSON. Its id follows from the metadata.
pub fn event_of(kind: &str, text: &str, metadata: Map<String, Value>) -> (Value, String) {
    let metadata = Value::Object(metadata);
    let written = canonical_value(&metadata);
    let text = || Value::from(text);
    let block = object([("type", "text".into()), ("text", text()), ("visibility", INTERNAL.into())]);
    let mut event = object([
        ("id", id_of(&written).into()),
        ("kind", kind.into()),
        ("role", "system".into()),
        ("visibility", INTERNAL.into()),
        ("text", text()),
        ("blocks", Value::Array(vec![block])),
        ("metadata", Value::Null),
    ]);
    // What was written for the id is put in: it is most of the event. In a string the quotes would be escaped.
    let mut event_text = canonical_value(&event);
    let gap = b"\"metadata\":null";
    if let Some(at) = event_text.as_bytes().windows(gap.len()).position(|window| window == gap) {
        let rest = event_text.split_off(at + gap.len());
        event_text.truncate(event_text.len() - 4);
        event_text.push_str(&written);
        event_text.push_str(&rest);
    }
    if let Some(place) = event.get_mut("metadata") {
        *place = metadata;
    }
    (event, event_text)
}

/// A UUID of version 8 from the hash of the metadata's canonical JSON.
fn id_of(metadata: &str) -> String {
    let hash = sha256(metadata.as_bytes());
    let hex = hash.strip_prefix("sha256:").unwrap_or(&hash);
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    let variant = part(16, 17).chars().next().and_then(|digit| digit.to_digit(16)).unwrap_or_default() & 0b11 | 0b1000;
    format!("{}-{}-8{}-{variant:x}{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

/// The events of a transcript that are of this kind.
///
/// # Errors
/// When the transcript or its `events` are of the wrong type.
pub fn events_by_kind<N: Node>(transcript: &N, kind: &str) -> Result<Vec<N>, ProjectionError> {
    let wrong = |path: &str, expected: &str, found: Kind| {
        Err(ProjectionError::new(ErrorCode::InvalidTranscript, path, expected, found.in_words()))
    };
    if transcript.kind() != Kind::Object {
        return wrong("transcript", "a transcript object with `events`", transcript.kind());
    }
    let Some(events) = transcript.field(Key::Events) else { return Ok(Vec::new()) };
    match events.kind() {
        Kind::Null => Ok(Vec::new()),
        Kind::Array => {
            let is_wanted =
                |event: &N| event.field(Key::Kind).is_some_and(|found| found.as_str().as_deref() == Some(kind));
            Ok((0..events.len()).filter_map(|index| events.own_item(index)).filter(is_wanted).collect())
        }
        found => wrong("transcript.events", "an array of events", found),
    }
}

/// The ACP `session/update` parameters of a view: `sessionUpdate: "transcript_projected"` with `_meta.harn`.
///
/// # Errors
/// When the view is no view.
pub fn acp_update<N: Node>(session_id: &str, view: &N) -> Result<Value, ProjectionError> {
    let wrong = |path: &str, expected: &str, found: Kind| {
        ProjectionError::new(ErrorCode::InvalidTranscript, path, expected, found.in_words())
    };
    if view.kind() != Kind::Object {
        return Err(wrong("view", "a view", view.kind()));
    }
    let entries = view.entries();
    let field = |name: &str| {
        let found = entries.iter().find(|(key, _)| **key == *name);
        let value = found.and_then(|(_, value)| to_value(value));
        value.ok_or_else(|| wrong(&format!("view.{name}"), "the field of a view", Kind::Null))
    };
    let mut harn = Map::new();
    for (name, source) in [
        ("policy", "policy"),
        ("reason", "reason"),
        ("prefixHash", "prefix_hash"),
        ("keptCount", "kept_count"),
        ("droppedCount", "dropped_count"),
        ("providerSafetyBlocked", "provider_safety_blocked"),
    ] {
        harn.insert(name.to_owned(), field(source)?);
    }
    // Clients show these only when there is something to say.
    for (name, source) in [
        ("redactedCount", "redacted_count"),
        ("reclaimedTokens", "reclaimed_tokens"),
        ("rootsConsulted", "roots_consulted"),
        ("redactionPointers", "redaction_pointers"),
    ] {
        let value = field(source)?;
        let says_nothing = value.as_f64() == Some(0.0) || value.as_array().is_some_and(Vec::is_empty);
        // Roots are of interest where they decided something.
        let is_idle = source == "roots_consulted" && field("redacted_count")?.as_f64() == Some(0.0);
        if !says_nothing && !is_idle {
            harn.insert(name.to_owned(), value);
        }
    }
    let meta = object([("harn", Value::Object(harn))]);
    let update = object([("sessionUpdate", "transcript_projected".into()), ("_meta", meta)]);
    Ok(object([("sessionId", session_id.into()), ("update", update)]))
}
