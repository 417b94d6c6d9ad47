//! When a tool result counts as a failure. A structured flag decides when there is one, both ways; only without
//! any does the text decide.

use serde_json::Value;

use crate::facts::text_parts;
use crate::node::{Key, Kind, Node};

const FAILED_STATUS: [&str; 5] = ["error", "failed", "rejected", "exception", "denied"];
const SUCCEEDED_STATUS: [&str; 4] = ["success", "succeeded", "ok", "completed"];
const FAILED_TEXT: [&str; 3] = ["error:", "tool error", "failed:"];
/// Enough characters to recognise any of `FAILED_TEXT` or the start of a JSON object.
const HEAD: usize = 24;

/// Whether the result `carrier` (a tool message or a result block) with this body reports a failure.
pub fn is_failure<N: Node>(carrier: &N, body: Option<&N>) -> bool {
    structured_flag(carrier).unwrap_or_else(|| body.is_some_and(says_failure))
}

/// The same for items whose `status` says something else.
pub fn is_failure_but_status<N: Node>(carrier: &N, body: Option<&N>) -> bool {
    error_flag(carrier).unwrap_or_else(|| body.is_some_and(says_failure))
}

/// What the structured fields say: `is_error`, then `error`, then `status`; `None` when all are silent.
fn structured_flag<N: Node>(carrier: &N) -> Option<bool> {
    error_flag(carrier).or_else(|| carrier.field(Key::Status).and_then(|node| status_field(&node)))
}

fn error_flag<N: Node>(carrier: &N) -> Option<bool> {
    let is_error = carrier.field(Key::IsError).and_then(|node| as_flag(&node));
    is_error.or_else(|| carrier.field(Key::Error).and_then(|node| error_field(&node)))
}

/// Some hosts write booleans as strings.
pub fn as_flag<N: Node>(node: &N) -> Option<bool> {
    node.as_bool().or_else(|| match node.as_str()?.trim().to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    })
}

/// What an `error` field says: something, unless it is empty.
pub fn error_field<N: Node>(node: &N) -> Option<bool> {
    as_flag(node).or_else(|| {
        let says_something = match node.kind() {
            Kind::String => node.head(1).is_some_and(|head| !head.is_empty()),
            Kind::Array => !node.is_empty(),
            Kind::Object => !node.entries().is_empty(),
            _ => false,
        };
        says_something.then_some(true)
    })
}

fn status_field<N: Node>(node: &N) -> Option<bool> {
    let status = node.as_str()?.trim().to_ascii_lowercase();
    if FAILED_STATUS.contains(&status.as_str()) {
        Some(true)
    } else {
        SUCCEEDED_STATUS.contains(&status.as_str()).then_some(false)
    }
}

/// What a body says without any flag.
pub fn says_failure<N: Node>(body: &N) -> bool {
    if body.kind() == Kind::Object {
        return body.field(Key::IsError).and_then(|node| as_flag(&node)) == Some(true);
    }
    let parts = text_parts(body);
    let heads = parts.iter().map(|part| (part, part.head(HEAD).unwrap_or_default().to_ascii_lowercase()));
    let Some((first, head)) = heads.into_iter().find(|(_, head)| !head.is_empty()) else { return false };
    FAILED_TEXT.iter().any(|start| head.starts_with(start))
        || (parts.len() == 1 && head.starts_with('{') && is_error_object(first))
}

/// Whether the whole text is a JSON object that says `is_error: true`; quoting such a thing inside prose is none.
fn is_error_object<N: Node>(text: &N) -> bool {
    let Some(text) = text.as_str() else { return false };
    // Most JSON bodies say nothing of errors: they are not parsed.
    text.as_bytes().windows(8).any(|window| window == b"is_error")
        && serde_json::from_str::<Value>(&text)
            .is_ok_and(|value| (&value).field(Key::IsError).and_then(|node| as_flag(&node)) == Some(true))
}
