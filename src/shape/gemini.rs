//! Gemini contents: `functionCall` parts of role `model` answered by `functionResponse` parts of the content after it;
//! ids are optional. The REST and JavaScript APIs write camelCase, Python dumps snake_case.

use crate::error::ProjectionError;
use crate::facts::{Call, MessageFacts, Opaque, Place, Role, Shape, Stub, ToolResult};
use crate::failure::{error_field, says_failure};
use crate::node::{Key, Kind, Node};

use super::openai_chat::is_redacted;
use super::{has_text, id_field, is_visible};

const PARTS: &[Key] = &[Key::Parts];

/// The facts of a content with these parts.
pub fn read<N: Node>(parts: &N, role_name: &str, index: usize) -> Result<MessageFacts, ProjectionError> {
    let role = match role_name {
        "model" => Role::Assistant,
        // A content without a role is the user's.
        "" => Role::User,
        name => super::role(name),
    };
    let mut facts = MessageFacts { shape: Shape::Gemini, text: PARTS, ..MessageFacts::new(role) };
    for (position, part) in parts.items().enumerate() {
        if let Some(part) = part {
            let at = || format!("messages[{index}].parts[{position}]");
            read_part(&part, Place::Item(Key::Parts, position), &at, &mut facts)?;
        }
    }
    Ok(facts)
}

fn read_part<N: Node>(
    part: &N,
    place: Place,
    at: &dyn Fn() -> String,
    facts: &mut MessageFacts,
) -> Result<(), ProjectionError> {
    let object = |key| part.field(key).filter(|value: &N| value.kind() == Kind::Object);
    let text = part.field(Key::Text).filter(|text| text.kind() == Kind::String);
    let is_thought = part.field(Key::Thought).and_then(|thought| thought.as_bool()) == Some(true);
    let is_visible_text = text.as_ref().is_some_and(is_visible);
    for (key, field) in
        [(Key::ThoughtSignatureCamel, &[Key::ThoughtSignatureCamel]), (Key::ThoughtSignature, &[Key::ThoughtSignature])]
    {
        if has_text(part, key) {
            facts.signed = true;
            // A part without text is there for its signature, and alone would be refused.
            let is_carrier = text.is_some() && !is_visible_text;
            facts.opaque.push(Opaque { place, field: if is_carrier { &[] } else { field }, step: None });
        }
    }
    if is_thought {
        facts.opaque.push(Opaque { place, field: &[], step: None });
        return Ok(());
    }
    for (key, arguments) in [
        (Key::FunctionCallCamel, &[Key::FunctionCallCamel, Key::Args]),
        (Key::FunctionCall, &[Key::FunctionCall, Key::Args]),
    ] {
        if let Some(call) = object(key) {
            let name = call.field_str(Key::Name).unwrap_or_default();
            facts.calls.push(Call::new(place, id_field(&call, Key::Id, at)?, name, arguments));
            return Ok(());
        }
    }
    for (key, body) in [
        (Key::FunctionResponseCamel, &[Key::FunctionResponseCamel, Key::Response]),
        (Key::FunctionResponse, &[Key::FunctionResponse, Key::Response]),
    ] {
        if let Some(response) = object(key) {
            facts.results.push(ToolResult {
                place,
                call_id: id_field(&response, Key::Id, at)?,
                name: response.field_str(Key::Name),
                failed: response.field(Key::Response).is_some_and(|response| has_failed(&response)),
                refused: false,
                body,
                stub: Stub::Object,
                redacted: is_redacted(part),
            });
            return Ok(());
        }
    }
    // Code that the model ran, files and what is not known yet count as said.
    facts.speaks |= if text.is_some() { is_visible_text } else { part.entries().iter().any(|(name, _)| is_data(name)) };
    Ok(())
}

fn is_data(name: &str) -> bool {
    !matches!(name, "thoughtSignature" | "thought_signature" | "text" | "_harn_projection")
}

/// By convention a response holds `error`, or else `output` or `result`, whose text may say it.
fn has_failed<N: Node>(response: &N) -> bool {
    let flag = response.field(Key::Error).and_then(|error| error_field(&error));
    flag.unwrap_or_else(|| {
        let text = response.field(Key::Output).or_else(|| response.field(Key::Result));
        says_failure(response) || text.is_some_and(|text| text.kind() == Kind::String && says_failure(&text))
    })
}
