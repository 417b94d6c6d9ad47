//! Anthropic content blocks: `tool_use` answered by `tool_result` blocks of a user message, several in one message;
//! server tools (`server_tool_use`, `mcp_tool_use`) answered by `*_tool_result` blocks of the same message.

use crate::error::ProjectionError;
use crate::facts::{Call, MessageFacts, Place, ToolResult};
use crate::failure::is_failure;
use crate::node::{Key, Kind, Node};

use super::openai_chat::is_redacted;
use super::{has_text, id_field, is_visible};

/// Adds what one block of a content list holds. Strings in the list are text.
pub fn read_block<N: Node>(
    block: &N,
    place: Place,
    at: &dyn Fn() -> String,
    facts: &mut MessageFacts,
) -> Result<(), ProjectionError> {
    if block.kind() == Kind::String {
        facts.speaks |= is_visible(block);
        return Ok(());
    }
    // An empty signature signs nothing: streams that were cut leave one.
    facts.signed |= has_text(block, Key::Signature);
    match block.field_str(Key::Type).as_deref().unwrap_or_default() {
        "text" | "input_text" | "output_text" => {
            facts.speaks |= block.field(Key::Text).is_some_and(|text| is_visible(&text));
        }
        "thinking" | "reasoning" => {}
        "redacted_thinking" => facts.signed |= has_text(block, Key::Data),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => facts.calls.push(Call {
            place,
            id: id_field(block, Key::Id, at)?,
            name: block.field_str(Key::Name).unwrap_or_default(),
            arguments: &[Key::Input],
        }),
        "tool_result" => facts.results.push(result(block, place, true, at)?),
        kind if kind.ends_with("_tool_result") => facts.results.push(result(block, place, false, at)?),
        _ => facts.speaks = true,
    }
    Ok(())
}

/// Server results are typed objects, some encrypted: a line of text in their place would be refused.
fn result<N: Node>(
    block: &N,
    place: Place,
    replaceable: bool,
    at: &dyn Fn() -> String,
) -> Result<ToolResult, ProjectionError> {
    let body = block.field(Key::Content);
    let call_id = match id_field(block, Key::ToolUseId, at)? {
        Some(id) => Some(id),
        None => id_field(block, Key::ToolCallId, at)?,
    };
    Ok(ToolResult {
        place,
        call_id,
        name: block.field_str(Key::Name),
        failed: is_failure(block, body.as_ref()) || body.as_ref().is_some_and(is_server_error),
        refused: false,
        body: &[Key::Content],
        replaceable,
        redacted: is_redacted(block),
    })
}

/// A failed server tool answers with an object of type `*_tool_result_error`.
fn is_server_error<N: Node>(body: &N) -> bool {
    body.field_str(Key::Type).is_some_and(|kind| kind.ends_with("_tool_result_error"))
}
