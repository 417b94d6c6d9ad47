//! Bedrock Converse blocks, named by their one field: `toolUse` answered by `toolResult` in the next user message.

use crate::error::ProjectionError;
use crate::facts::{Call, MessageFacts, Place, Shape, Stub, ToolResult};
use crate::failure::is_failure;
use crate::node::{Key, Kind, Node};

use super::openai_chat::is_redacted;
use super::{has_text, id_field, is_visible};

/// Adds what one block without a type holds.
pub fn read_block<N: Node>(
    block: &N,
    place: Place,
    at: &dyn Fn() -> String,
    facts: &mut MessageFacts,
) -> Result<(), ProjectionError> {
    facts.shape = Shape::Bedrock;
    let object = |key| block.field(key).filter(|value: &N| value.kind() == Kind::Object);
    if let Some(text) = block.field(Key::Text) {
        facts.speaks |= is_visible(&text);
    } else if let Some(call) = object(Key::ToolUse) {
        let name = call.field_str(Key::Name).unwrap_or_default();
        let id = id_field(&call, Key::ToolUseIdCamel, at)?;
        facts.calls.push(Call::new(place, id, name, &[Key::ToolUse, Key::Input]));
    } else if let Some(result) = object(Key::ToolResult) {
        facts.results.push(ToolResult {
            place,
            call_id: id_field(&result, Key::ToolUseIdCamel, at)?,
            name: None,
            failed: is_failure(&result, result.field(Key::Content).as_ref()),
            refused: false,
            body: &[Key::ToolResult, Key::Content],
            stub: Stub::Blocks,
            redacted: is_redacted(block),
        });
    } else if let Some(reasoning) = object(Key::ReasoningContent) {
        let text = reasoning.field(Key::ReasoningText);
        facts.signed |=
            text.is_some_and(|text| has_text(&text, Key::Signature)) || reasoning.field(Key::RedactedContent).is_some();
        facts.add_reasoning(place);
    } else {
        facts.speaks |= block.entries().iter().any(|(name, _)| &**name != "cachePoint");
    }
    Ok(())
}
