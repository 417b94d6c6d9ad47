//! Harn: `tool_calls[{id, name, arguments}]`, results of role `tool_result` or `tool`, blocks as Anthropic's.

use crate::facts::{Call, MessageFacts, Opaque, Place};
use crate::node::{Key, Node};

use super::has_text;

/// A call with its name beside its id.
pub fn call<N: Node>(element: &N, place: Place, id: Option<String>) -> Call {
    Call::new(place, id, element.field_str(Key::Name).unwrap_or_default(), &[Key::Arguments])
}

/// Adds a signature over the message's thinking that stands beside the content, with the thinking.
pub fn note_signature<N: Node>(message: &N, facts: &mut MessageFacts) {
    if has_text(message, Key::ThinkingSignature) {
        facts.signed = true;
        let fields: [&[Key]; 2] = [&[Key::ThinkingSignature], &[Key::Thinking]];
        facts.opaque.extend(fields.map(|field| Opaque { place: Place::Message, field, step: None }));
    }
}
