//! Anthropic's thinking after an edit: which blocks the provider would no longer take. Needs the messages as they
//! were before.
//!
//! Both lists become runs of pieces. A thinking block is valid when the other pieces before it are those that were
//! before it when it was made, and when the thinking blocks that are left are an unbroken run of the old ones.

use serde_json::Value;

use crate::canonical::canonical_text;
use crate::node::{Kind, Node, to_value};
use crate::value::object;

use super::request::Binding;
use super::{Findings, Scene};

/// A block that is no thinking, or where a message begins.
struct Piece {
    message: usize,
    text: String,
    /// Whether a person or a program wrote it as text of the user.
    is_user_text: bool,
}

struct Thinking {
    message: usize,
    block: usize,
    text: String,
    /// How many pieces stand before it.
    before: usize,
}

#[derive(Default)]
struct Flat {
    pieces: Vec<Piece>,
    thinking: Vec<Thinking>,
    /// The last assistant message.
    last_assistant: Option<usize>,
}

/// Reports thinking that an edit made invalid.
pub fn check<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    let Some(original) = &scene.request.original_messages else { return };
    let (original, current) = (flat(original), flat(scene.messages));
    latest(&original, &current, found);
    let binds = match (scene.request.preserved_thinking, scene.request.claude()) {
        (Some(true), _) => Binding::Always,
        (Some(false), _) => Binding::Never,
        (None, Some(model)) => model.binds_thinking(),
        (None, None) => Binding::Perhaps,
    };
    if binds == Binding::Never || scene.request.drops_unbound_thinking {
        return;
    }
    if let Some((rule, at, text)) = first_invalid(&original, &current) {
        let (index, block) = (at.message, Some(at.block));
        match binds {
            Binding::Always => found.error(rule, index, block, text),
            _ => found.warning(rule, index, block, format!("{text} (not every model and account checks this)")),
        }
    }
}

/// The first block that the provider would refuse; every later one is as invalid.
fn first_invalid<'a>(original: &Flat, current: &'a Flat) -> Option<(&'static str, &'a Thinking, &'static str)> {
    let pairs = original.pieces.iter().zip(&current.pieces);
    let common = pairs.take_while(|(a, b)| a.text == b.text).count();
    let mut restored = None;
    let mut last: Option<usize> = None;
    for thinking in &current.thinking {
        let start = last.map_or(0, |last| last + 1);
        let is_it = |(at, other): &(usize, &Thinking)| *at >= start && other.text == thinking.text;
        let Some((at, other)) = original.thinking.iter().enumerate().find(is_it) else {
            // Behind all that was there it is new.
            if thinking.before >= original.pieces.len() && common == original.pieces.len() {
                return None;
            }
            restored = restored.or(Some(thinking));
            continue;
        };
        if let Some(restored) = restored {
            return Some(("ANT-BIND-3", restored, "thinking that was left out came back: what followed is invalid"));
        }
        if last.is_some_and(|last| at != last + 1) {
            return Some(("ANT-BIND-2", thinking, "a thinking block before this one is missing"));
        }
        if thinking.before != other.before || thinking.before > common {
            let is_summary = current.pieces.get(common).is_some_and(|piece| piece.is_user_text);
            return Some(match is_summary && thinking.before != other.before {
                true => ("ANT-BIND-7", thinking, "a summary stands where this thinking had other messages before it"),
                false => ("ANT-BIND-1", thinking, "something before this thinking was changed"),
            });
        }
        last = Some(at);
    }
    None
}

/// The thinking of the latest assistant message comes back as it was, or not at all.
fn latest(original: &Flat, current: &Flat, found: &mut Findings) {
    let Some(index) = current.last_assistant else { return };
    let now = texts(current, index);
    let Some(first) = current.thinking.iter().find(|thinking| thinking.message == index) else { return };
    let pieces = said(current, index);
    let messages = original.last_assistant.map_or(0, |last| last + 1);
    let Some(twin) = (0..messages).rev().find(|message| said(original, *message) == pieces) else { return };
    if texts(original, twin) != now {
        let text = "the thinking of the latest assistant message was changed";
        found.error("ANT-THK-1", index, Some(first.block), text);
    }
}

fn texts(flat: &Flat, message: usize) -> Vec<&str> {
    let thinking = flat.thinking.iter().filter(|thinking| thinking.message == message);
    thinking.map(|thinking| thinking.text.as_str()).collect()
}

fn said(flat: &Flat, message: usize) -> Vec<&str> {
    flat.pieces.iter().filter(|piece| piece.message == message).map(|piece| piece.text.as_str()).collect()
}

/// The pieces of a list. What is no edit is evened out: cache marks, a string or one block of text, the white space
/// around text, the order of fields.
fn flat<N: Node>(messages: &[N]) -> Flat {
    let mut flat = Flat::default();
    for (index, message) in messages.iter().enumerate() {
        let Some(Value::Object(mut fields)) = to_value(message).filter(|_| message.kind() == Kind::Object) else {
            continue;
        };
        let role = fields.remove("role").unwrap_or_default();
        let is_user = role == "user";
        if role == "assistant" {
            flat.last_assistant = Some(index);
        }
        let mut has_begun = false;
        for (position, block) in blocks_of(fields.remove("content")).into_iter().enumerate() {
            let Some(block) = evened(block) else { continue };
            let text = canonical_text(&&block).unwrap_or_default();
            let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
            // The provider drops what stands before it (`ANT-BIND-5`).
            if kind == "compaction" {
                flat.pieces.clear();
                flat.thinking.clear();
                has_begun = false;
            }
            if matches!(kind, "thinking" | "redacted_thinking") {
                flat.thinking.push(Thinking { message: index, block: position, text, before: flat.pieces.len() });
                continue;
            }
            if !std::mem::replace(&mut has_begun, true) {
                let text = role.as_str().unwrap_or_default().to_owned();
                flat.pieces.push(Piece { message: index, text, is_user_text: false });
            }
            flat.pieces.push(Piece { message: index, text, is_user_text: is_user && kind == "text" });
        }
    }
    flat
}

fn blocks_of(content: Option<Value>) -> Vec<Value> {
    match content {
        Some(Value::Array(blocks)) => blocks,
        Some(text @ Value::String(_)) => vec![object([("type", "text".into()), ("text", text)])],
        _ => Vec::new(),
    }
}

/// A block without what is no part of the check; `None` when nothing is left.
fn evened(mut block: Value) -> Option<Value> {
    let fields = block.as_object_mut()?;
    fields.remove("cache_control");
    if let Some(Value::String(text)) = fields.get_mut("text") {
        *text = text.trim().to_owned();
        if text.is_empty() {
            return None;
        }
    }
    if let Some(content) = fields.remove("content") {
        let parts = match content {
            content @ Value::Object(_) => content,
            content => Value::Array(blocks_of(Some(content)).into_iter().filter_map(evened).collect()),
        };
        fields.insert("content".to_owned(), parts);
    }
    Some(block)
}
