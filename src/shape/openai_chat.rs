//! OpenAI Chat Completions: `tool_calls[{id, function: {name, arguments}}]` answered by messages of role `tool`,
//! the legacy `function_call` answered by role `function`.

use crate::error::ProjectionError;
use crate::facts::{Call, MessageFacts, Opaque, Place, Stub, ToolResult};
use crate::failure::is_failure;
use crate::node::{Key, Kind, Node};

use super::{has_text, id_field, is_visible};

/// A call in OpenAI's form, `None` when the element is not of it.
pub fn call<N: Node>(element: &N, place: Place, id: Option<String>) -> Option<Call> {
    let in_field = |field: Key, arguments: &'static [Key]| {
        let function = element.field(field).filter(|function| function.kind() == Kind::Object)?;
        let name = function.field_str(Key::Name).unwrap_or_default();
        Some(Call::new(place, id.clone(), name, arguments))
    };
    in_field(Key::Function, &[Key::Function, Key::Arguments])
        .or_else(|| in_field(Key::Custom, &[Key::Custom, Key::Input]))
}

/// The legacy single call, which has no id: its result is found by name.
pub fn legacy_call<N: Node>(message: &N) -> Option<Call> {
    let call = message.field(Key::FunctionCall).filter(|call| call.kind() == Kind::Object)?;
    let name = call.field_str(Key::Name).unwrap_or_default();
    Some(Call::new(Place::Field(Key::FunctionCall), None, name, &[Key::Arguments]))
}

/// A message that is a result: role `tool`, legacy `function`, Harn's `tool_result`.
pub fn result<N: Node>(message: &N, index: usize) -> Result<ToolResult, ProjectionError> {
    let at = || format!("messages[{index}]");
    let call_id = match id_field(message, Key::ToolCallId, &at)? {
        Some(id) => Some(id),
        None => id_field(message, Key::ToolUseId, &at)?,
    };
    let body = message.field(Key::Content);
    Ok(ToolResult {
        place: Place::Message,
        call_id,
        name: message.field_str(Key::Name),
        failed: is_failure(message, body.as_ref()),
        refused: false,
        body: &[Key::Content],
        stub: if body.as_ref().is_none_or(is_plain) { Stub::Text } else { Stub::None },
        redacted: is_redacted(message),
    })
}

/// Whether a body is text or a list of text and media. A list that holds results of its own is of another shape.
fn is_plain<N: Node>(body: &N) -> bool {
    let is_result = |part: N| part.field_str(Key::Type).is_some_and(|kind| kind.starts_with("tool"));
    body.kind() != Kind::Array || !body.items().flatten().any(is_result)
}

/// Adds the signatures beside a message's content: Gemini's in OpenAI's clothes, OpenRouter's opaque
/// `reasoning_details`, Anthropic's blocks as gateways pass them on.
pub fn note_signatures<N: Node>(message: &N, facts: &mut MessageFacts) {
    note_call_signature(message, Place::Message, &mut facts.signed, &mut facts.opaque);
    for (key, field) in LISTS {
        let Some(details) = message.field(key) else { continue };
        let is_signed = |detail: N| has_text(&detail, Key::Signature) || has_text(&detail, Key::Data);
        if details.items().flatten().any(is_signed) {
            facts.signed = true;
            facts.opaque.push(Opaque { place: Place::Message, field, step: None });
        }
    }
}

/// Adds Gemini's signature on a message or on a call: `extra_content.google.thought_signature`.
pub fn note_call_signature<N: Node>(carrier: &N, place: Place, signed: &mut bool, opaque: &mut Vec<Opaque>) {
    let field: &[Key] = &[Key::ExtraContent, Key::Google, Key::ThoughtSignature];
    let google = carrier.field(Key::ExtraContent).and_then(|extra| extra.field(Key::Google));
    if google.is_some_and(|google| has_text(&google, Key::ThoughtSignature)) {
        *signed = true;
        opaque.push(Opaque { place, field, step: None });
    }
}

const LISTS: [(Key, &[Key]); 2] =
    [(Key::ReasoningDetails, &[Key::ReasoningDetails]), (Key::ThinkingBlocks, &[Key::ThinkingBlocks])];

/// A refusal or an audio answer stands beside the content.
pub fn speaks_outside_content<N: Node>(message: &N) -> bool {
    message.field(Key::Refusal).is_some_and(|refusal| is_visible(&refusal))
        || message.field(Key::Audio).is_some_and(|audio| audio.kind() == Kind::Object)
}

/// Whether an earlier projection has put a pointer in place of the body.
pub fn is_redacted<N: Node>(carrier: &N) -> bool {
    carrier.follow(&[Key::HarnProjection, Key::RedactionPointer]).is_some_and(|pointer| pointer.kind() == Kind::Object)
}
