//! Takes the middle out of oversized tool results. Length and order of the list stay, and every other message.

use crate::error::ProjectionError;
use crate::facts::{MessageFacts, Stub, ToolResult, body};
use crate::node::{Kind, Node};
use crate::patched::Patched;
use crate::plan::with_bodies;
use crate::projection::read_facts;

use super::cut;

/// The length, in characters, from which a result is oversized, unless the caller says another.
pub const MAX_RESULT_CHARS: usize = 8192;

const BEFORE_COUNT: &str = "\n[";
const AFTER_COUNT: &str = " bytes elided]\n";

/// Shortens results of more than `max` characters to a head of `max / 2`, a tail of `max / 8` and a line between them
/// that says how many bytes went. `None` stands for a message that is the same as before: also one whose result is
/// not plain text, and one that would not become shorter.
///
/// # Errors
/// When a message is malformed.
pub fn prune_tool_results<N: Node>(messages: &[N], max: usize) -> Result<Vec<Option<Patched<N>>>, ProjectionError> {
    let facts = read_facts(messages, 0)?;
    Ok(messages.iter().zip(&facts).map(|(message, facts)| pruned(message, facts, max)).collect())
}

fn pruned<N: Node>(message: &N, facts: &MessageFacts, max: usize) -> Option<Patched<N>> {
    let mut bodies = Vec::new();
    for result in &facts.results {
        if let Some(text) = shortened(message, result, max) {
            bodies.push((result, text));
        }
    }
    (!bodies.is_empty()).then(|| with_bodies(message, bodies))
}

fn shortened<N: Node>(message: &N, result: &ToolResult, max: usize) -> Option<String> {
    // A pointer to a body is no body.
    if result.stub == Stub::None || result.redacted {
        return None;
    }
    let body = body(message, result).filter(|body| body.kind() == Kind::String)?;
    body.as_str().and_then(|text| shorten(&text, max))
}

fn shorten(text: &str, max: usize) -> Option<String> {
    // Most results are short, and bytes are counted already.
    if text.len() <= max {
        return None;
    }
    let chars = text.chars().count();
    if chars <= max || is_shortened(text, max) {
        return None;
    }
    let head = cut::head(text, max / 2);
    let tail = cut::tail(text, max / 8);
    let elided = text.len() - head.len() - tail.len();
    let short = format!("{head}{BEFORE_COUNT}{elided}{AFTER_COUNT}{tail}");
    (short.chars().count() < chars).then_some(short)
}

/// Whether a text was shortened to `max` before: where `max` is smaller than the line in the middle, the text that
/// comes out is longer than `max`.
fn is_shortened(text: &str, max: usize) -> bool {
    text.match_indices(AFTER_COUNT).any(|(at, mark)| {
        let (before, tail) = text.split_at(at);
        let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
        let head = before.get(..at - digits).and_then(|head| head.strip_suffix(BEFORE_COUNT));
        let tail = tail.strip_prefix(mark).unwrap_or_default();
        head.is_some_and(|head| head.chars().count() <= max / 2) && tail.chars().count() <= max / 8
    })
}
