//! Anthropic content blocks: `tool_use` answered by `tool_result` blocks of a user message, several in one message;
//! server tools (`server_tool_use`, `mcp_tool_use`) answered by `*_tool_result` blocks of the same message.

use crate::error::ProjectionError;
use crate::facts::{Call, MessageFacts, Opaque, Place, Stub, ToolResult};
use crate::failure::is_failure;
use crate::node::{Key, Node};

use super::openai_chat::is_redacted;
use super::{ai_sdk, has_text, id_field, is_visible};

/// Adds what one block of this type holds.
pub fn read_block<N: Node>(
    block: &N,
    kind: &str,
    place: Place,
    at: &dyn Fn() -> String,
    facts: &mut MessageFacts,
) -> Result<(), ProjectionError> {
    match kind {
        "text" | "input_text" | "output_text" => {
            facts.speaks |= block.field(Key::Text).is_some_and(|text| is_visible(&text));
            ai_sdk::note_metadata(block, place, facts);
        }
        "thinking" | "redacted_thinking" | "redactedThinking" | "reasoning" => {
            ai_sdk::note_reasoning(block, place, facts);
            // An empty signature signs nothing: streams that were cut leave one. An empty text may well be signed.
            facts.signed |= REASONING.iter().any(|key| has_text(block, *key));
            return Ok(());
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let name = block.field_str(Key::Name).unwrap_or_default();
            let program = block.field(Key::Caller).and_then(|caller| caller.field_str(Key::ToolId));
            facts.calls.push(Call { program, ..Call::new(place, id_field(block, Key::Id, at)?, name, &[Key::Input]) });
        }
        // LangChain's names for the same.
        "tool_call" | "server_tool_call" | "function_call" => {
            let id = if kind == "function_call" { Key::CallId } else { Key::Id };
            let arguments: &[Key] = if kind == "function_call" { &[Key::Arguments] } else { &[Key::Args] };
            let name = block.field_str(Key::Name).unwrap_or_default();
            facts.calls.push(Call::new(place, id_field(block, id, at)?, name, arguments));
        }
        "tool_result" => facts.results.push(result(block, place, Stub::Text, at)?),
        "compaction" => (facts.speaks, facts.compacts) = (true, true),
        kind if kind.ends_with("_tool_result") => facts.results.push(result(block, place, Stub::None, at)?),
        _ => facts.speaks = true,
    }
    for (key, field) in SIGNATURES {
        if has_text(block, key) {
            facts.signed = true;
            facts.opaque.push(Opaque { place, field, step: None });
        }
    }
    Ok(())
}

/// What signs or hides reasoning in a block of it, by whichever name the writer has for it.
const REASONING: [Key; 5] =
    [Key::Signature, Key::ThinkingSignatureCamel, Key::Data, Key::EncryptedContent, Key::ThoughtSignature];
/// What signs another block.
const SIGNATURES: [(Key, &[Key]); 4] = [
    (Key::Signature, &[Key::Signature]),
    (Key::TextSignature, &[Key::TextSignature]),
    (Key::ThoughtSignature, &[Key::ThoughtSignature]),
    (Key::ThoughtSignatureCamel, &[Key::ThoughtSignatureCamel]),
];

/// Server results are typed objects, some encrypted: a line of text in their place would be refused.
fn result<N: Node>(
    block: &N,
    place: Place,
    stub: Stub,
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
        stub,
        redacted: is_redacted(block),
    })
}

/// A failed server tool answers with an object of type `*_tool_result_error`.
fn is_server_error<N: Node>(body: &N) -> bool {
    body.field_str(Key::Type).is_some_and(|kind| kind.ends_with("_tool_result_error"))
}
