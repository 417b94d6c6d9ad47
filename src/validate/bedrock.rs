//! Bedrock Converse.

use crate::node::{Key, Kind, Node};

use super::checks::{
    block_of, call_id, calls_in, foreign, is_orphan, label, objects, only_objects, required, result_label, role_of,
    shows, tool_input, unknown_role,
};
use super::request::place_of;
use super::{Findings, Scene};

/// Reports what Bedrock Converse would refuse.
pub fn check<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    let model = scene.request.model.as_deref();
    let is_claude = model.and_then(is_claude);
    let mut before = String::new();
    for (index, message) in scene.messages.iter().enumerate() {
        let role = role_of(message);
        match &*role {
            "assistant" if index == 0 => found.error("BED-1", 0, None, "the first message must be of role user"),
            "user" | "assistant" if role == before => {
                found.error("BED-1", index, None, format!("two messages of role {role} in a row"));
            }
            "user" | "assistant" => {}
            _ => unknown_role(index, &role, "user or assistant", found),
        }
        content(scene, index, message, is_claude, found);
        answers(scene, index, found);
        before = role;
    }
    if before == "assistant"
        && scene.facts.last().is_some_and(|last| last.calls.is_empty())
        && scene.request.claude().is_some_and(|model| model.refuses_prefill())
    {
        let text = "this model refuses an assistant message at the end";
        found.error("ANT-ROLE-6", scene.messages.len() - 1, None, text);
    }
    let has_tools = |facts: &crate::facts::MessageFacts| !facts.calls.is_empty() || !facts.results.is_empty();
    if scene.request.has_tool_config == Some(false)
        && let Some(index) = scene.facts.iter().position(has_tools)
    {
        found.error("BED-5", index, None, "tool blocks need `toolConfig` in the request");
    }
}

/// The name of an inference profile does not say which model it stands for.
fn is_claude(model: &str) -> Option<bool> {
    let is_it = ["claude", "anthropic"].into_iter().any(|word| place_of(model, word).is_some());
    (is_it || !model.starts_with("arn:")).then_some(is_it)
}

fn content<N: Node>(scene: &Scene<'_, N>, index: usize, message: &N, is_claude: Option<bool>, found: &mut Findings) {
    let role = role_of(message);
    let Some(list) = message.field(Key::Content).filter(|list| list.kind() == Kind::Array) else {
        found.error("wrong_type", index, None, "`content` must be an array of blocks");
        return;
    };
    if list.is_empty() {
        found.error("empty_message", index, None, "the content is empty");
    }
    only_objects(&list, index, found);
    // Nova writes text before its calls, and wants it back.
    let is_nova = scene.request.names("nova");
    let (mut has_text, mut has_tool) = (false, false);
    for (block, part) in objects(message, Key::Content) {
        let at = (index, Some(block));
        let has = |key| part.field(key).is_some();
        has_text |= has(Key::Text);
        has_tool |= !is_of_server(&part) && (has(Key::ToolResult) || (has(Key::ToolUse) && !is_nova));
        if has(Key::Type) {
            foreign(index, at.1, "type", found);
        } else if has(Key::Text) && !shows(&part, Key::Text) {
            found.error("empty_text", at.0, at.1, "the text is blank");
        } else if part.entries().is_empty() {
            found.error("wrong_type", at.0, at.1, "the block is empty");
        }
        for (key, owner) in
            [(Key::ToolUse, "assistant"), (Key::ReasoningContent, "assistant"), (Key::ToolResult, "user")]
        {
            if has(key) && role != owner && !is_of_server(&part) {
                let text = format!("`{}` belongs in a message of role {owner}", key.as_str());
                found.error("wrong_role", at.0, at.1, text);
            }
        }
        if let Some(call) = part.field(Key::ToolUse) {
            call_id(&call, Key::ToolUseIdCamel, at, found);
            required(&call, Key::Name, "missing_name", at, found);
            tool_input(call.field(Key::Input).as_ref(), at, found);
        }
        if let Some(result) = part.field(Key::ToolResult) {
            required(&result, Key::ToolUseIdCamel, "missing_id", at, found);
            let content = result.field(Key::Content);
            let is_empty = content.as_ref().is_none_or(N::is_empty);
            if is_empty && result.field_str(Key::Status).as_deref() == Some("error") {
                found.error("BED-4", at.0, at.1, "a toolResult of status error needs content");
            }
            if content.is_some_and(|content| content.kind() != Kind::Array) {
                found.error("wrong_type", at.0, at.1, "the content of a toolResult must be an array of blocks");
            }
        }
        reasoning(&part, at, is_claude, found);
    }
    if has_text && has_tool && is_claude == Some(false) {
        found.error("BED-3", index, None, "this model takes no text beside tool blocks in one turn");
    }
}

/// Whether it is a call that Bedrock ran itself, or the result of one, both of which stand in the assistant's message.
fn is_of_server<N: Node>(part: &N) -> bool {
    let is_typed = |key| part.field(key).is_some_and(|block| block.field(Key::Type).is_some());
    is_typed(Key::ToolUse) || is_typed(Key::ToolResult)
}

fn reasoning<N: Node>(part: &N, at: (usize, Option<usize>), is_claude: Option<bool>, found: &mut Findings) {
    let Some(text) = part.follow(&[Key::ReasoningContent, Key::ReasoningText]) else { return };
    if shows(&text, Key::Signature) {
        return;
    }
    let what = "reasoning without a signature";
    match is_claude {
        Some(true) => found.error("BED-6", at.0, at.1, what),
        None => found.warning("BED-6", at.0, at.1, what),
        // Other models sign nothing.
        Some(false) => {}
    }
}

/// All results of a turn in the message after it, and none besides.
fn answers<N: Node>(scene: &Scene<'_, N>, index: usize, found: &mut Findings) {
    let rule = "BED-2";
    for (call, exchange) in calls_in(scene, index, Key::Content) {
        let mut results = exchange.results.iter();
        // What the server ran itself has its result beside it.
        if !results.clone().any(|(message, _)| *message <= index + 1) {
            let text = format!("{} is not answered in the next message", label(call));
            found.error(rule, index, call.place.block(), text);
        }
        results.next();
        for spot in results {
            found.error(rule, spot.0, block_of(scene, *spot), format!("{} is answered already", label(call)));
        }
    }
    let results = scene.facts.get(index).map_or(0, |facts| facts.results.len());
    for spot in (0..results).map(|position| (index, position)).filter(|spot| is_orphan(scene, *spot)) {
        let text = format!("{} answers no call of the message before", result_label(scene, spot));
        found.error(rule, index, block_of(scene, spot), text);
    }
}
