//! OpenAI Chat Completions: `tool_calls[{id, function: {name, arguments}}]` answered by messages of role `tool`,
//! the legacy `function_call` answered by role `function`.

use crate::error::ProjectionError;
use crate::facts::{Call, Place, ToolResult};
use crate::failure::is_failure;
use crate::node::{Key, Kind, Node};

use super::{has_text, id_field, is_visible};

/// A call in OpenAI's form, `None` when the element is not of it.
pub fn call<N: Node>(element: &N, place: Place, id: Option<String>) -> Option<Call> {
    let in_field = |field: Key, arguments: &'static [Key]| {
        let function = element.field(field).filter(|function| function.kind() == Kind::Object)?;
        let name = function.field_str(Key::Name).unwrap_or_default();
        Some(Call { place, id: id.clone(), name, arguments })
    };
    in_field(Key::Function, &[Key::Function, Key::Arguments])
        .or_else(|| in_field(Key::Custom, &[Key::Custom, Key::Input]))
}

/// The legacy single call, which has no id: its result is found by name.
pub fn legacy_call<N: Node>(message: &N) -> Option<Call> {
    let call = message.field(Key::FunctionCall).filter(|call| call.kind() == Kind::Object)?;
    Some(Call {
        place: Place::Field(Key::FunctionCall),
        id: None,
        name: call.field_str(Key::Name).unwrap_or_default(),
        arguments: &[Key::Arguments],
    })
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
        replaceable: body.as_ref().is_none_or(is_plain),
        redacted: is_redacted(message),
    })
}

/// Whether a body is text or a list of text and media. A list that holds results of its own is of another shape.
fn is_plain<N: Node>(body: &N) -> bool {
    let is_result = |part: N| part.field_str(Key::Type).is_some_and(|kind| kind.starts_with("tool"));
    body.kind() != Kind::Array || !body.items().flatten().any(is_result)
}

/// Gemini's signature in OpenAI's clothes, on a message or on a call: `extra_content.google.thought_signature`;
/// OpenRouter's opaque `reasoning_details`.
pub fn is_signed<N: Node>(carrier: &N) -> bool {
    let google = carrier.follow(&[Key::ExtraContent, Key::Google]);
    google.is_some_and(|google| has_text(&google, Key::ThoughtSignature))
        || carrier.field(Key::ReasoningDetails).is_some_and(|details| {
            details.items().flatten().any(|detail| has_text(&detail, Key::Signature) || has_text(&detail, Key::Data))
        })
}

/// A refusal or an audio answer stands beside the content.
pub fn speaks_outside_content<N: Node>(message: &N) -> bool {
    message.field(Key::Refusal).is_some_and(|refusal| is_visible(&refusal))
        || message.field(Key::Audio).is_some_and(|audio| audio.kind() == Kind::Object)
}

/// Whether an earlier projection has put a pointer in place of the body.
pub fn is_redacted<N: Node>(carrier: &N) -> bool {
    carrier.follow(&[Key::HarnProjection, Key::RedactionPointer]).is_some_and(|pointer| pointer.kind() == Kind::Object)
}
