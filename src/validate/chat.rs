//! What the providers of OpenAI's chat shape have in common; which of their rules is broken each says itself.

use crate::facts::Place;
use crate::node::{Key, Kind, Node};

use super::checks::{
    arguments, calls_in, foreign, is_blank, is_orphan, label, objects, only_objects, required, result_label, role_of,
    shows, type_of, unknown_role,
};
use super::{Findings, Scene};

/// The names of a provider's rules.
pub struct Rules {
    /// A call that is not answered directly after its message.
    pub unanswered: &'static str,
    /// The same at the end of the list.
    pub unanswered_last: &'static str,
    /// A result that answers no call before it.
    pub orphan: &'static str,
    /// A second result of one call.
    pub repeated: &'static str,
    /// A list without items.
    pub empty_list: &'static str,
    /// A message without content.
    pub no_content: &'static str,
    /// Whether it is OpenAI's, which has more roles than its relatives.
    pub is_openai: bool,
    /// Whether it is Mistral's: arguments may be an object, and content may hold thinking.
    pub is_mistral: bool,
}

/// Reports what every provider of the shape refuses.
pub fn check<N: Node>(scene: &Scene<'_, N>, rules: &Rules, found: &mut Findings) {
    for (index, message) in scene.messages.iter().enumerate() {
        let role = role_of(message);
        match &*role {
            "system" | "user" | "assistant" | "tool" => {}
            "developer" | "function" if rules.is_openai => {}
            other => unknown_role(index, other, "system, user, assistant or tool", found),
        }
        tool_calls(message, index, &role, rules, found);
        content(message, index, &role, rules, found);
        answers(scene, index, rules, found);
        results(scene, index, rules, found);
    }
}

fn content<N: Node>(message: &N, index: usize, role: &str, rules: &Rules, found: &mut Findings) {
    let Some(content) = message.field(Key::Content) else {
        let stands_without = [Key::ToolCalls, Key::FunctionCall, Key::Refusal, Key::Audio];
        if role != "assistant" || !stands_without.into_iter().any(|key| message.field(key).is_some()) {
            found.error(rules.no_content, index, None, "the content is missing or null");
        }
        return;
    };
    match content.kind() {
        Kind::String if is_blank(&content) && !calls_anything(message) && role != "tool" => {
            found.warning("empty_message", index, None, "the message shows nothing");
        }
        Kind::String => {}
        Kind::Array if content.is_empty() => {
            found.error(rules.empty_list, index, None, "`content` is an empty array");
        }
        Kind::Array => {
            only_objects(&content, index, found);
            objects(message, Key::Content)
                .iter()
                .for_each(|(block, part)| part_of(part, role, (index, *block), rules, found));
        }
        kind => {
            let text = format!("`content` must be a string or an array, not {}", kind.in_words());
            found.error("wrong_type", index, None, text);
        }
    }
}

fn calls_anything<N: Node>(message: &N) -> bool {
    [Key::ToolCalls, Key::FunctionCall, Key::Refusal, Key::Audio].into_iter().any(|key| message.field(key).is_some())
}

fn part_of<N: Node>(part: &N, role: &str, (index, block): (usize, usize), rules: &Rules, found: &mut Findings) {
    match &*type_of(part) {
        "" => found.error("wrong_type", index, Some(block), "the part has no `type`"),
        "text" if !shows(part, Key::Text) => found.warning("empty_text", index, Some(block), "the text part is empty"),
        "thinking" if rules.is_mistral => {}
        "image_url" | "input_audio" | "file" if rules.is_openai && role == "tool" => {
            let text = "of what a tool message holds older models refuse all but text, and newer ones see no more";
            found.warning("wrong_role", index, Some(block), text);
        }
        kind @ ("image_url" | "input_audio" | "file") if rules.is_openai && role != "user" => {
            found.error("wrong_role", index, Some(block), format!("`{kind}` in a message of role {role}"));
        }
        kind @ ("tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use" | "reasoning"
        | "input_text" | "output_text" | "input_image" | "image" | "document") => {
            foreign(index, Some(block), kind, found);
        }
        _ => {}
    }
}

fn tool_calls<N: Node>(message: &N, index: usize, role: &str, rules: &Rules, found: &mut Findings) {
    let Some(list) = message.field(Key::ToolCalls).filter(|list| list.kind() == Kind::Array) else { return };
    if role != "assistant" {
        found.error("wrong_role", index, None, format!("`tool_calls` in a message of role {role}"));
    }
    if list.is_empty() {
        found.error(rules.empty_list, index, None, "`tool_calls` is an empty array: leave it out");
    }
    for (block, call) in objects(message, Key::ToolCalls) {
        let at = (index, Some(block));
        required(&call, Key::Id, "missing_id", at, found);
        let is_object = |field: &N| field.kind() == Kind::Object;
        if let Some(custom) = call.field(Key::Custom).filter(is_object) {
            required(&custom, Key::Name, "missing_name", at, found);
        } else if let Some(function) = call.field(Key::Function).filter(is_object) {
            required(&function, Key::Name, "missing_name", at, found);
            arguments(&function, at, rules.is_mistral, found);
        } else {
            found.error("foreign_shape", index, Some(block), "a call needs `function` or `custom`, as OpenAI has it");
        }
    }
}

/// Each call of a message is answered by the tool messages directly after it.
fn answers<N: Node>(scene: &Scene<'_, N>, index: usize, rules: &Rules, found: &mut Findings) {
    let calls = calls_in(scene, index, Key::ToolCalls);
    let after = scene.messages.get(index + 1..).filter(|_| !calls.is_empty()).unwrap_or_default();
    let run = after.iter().take_while(|message| matches!(&*role_of(*message), "tool" | "function")).count();
    let end = index + 1 + run;
    for (call, exchange) in calls {
        let mut direct = exchange.results.iter().filter(|(message, _)| (index + 1..end).contains(message));
        if direct.next().is_none() {
            let rule = if end >= scene.messages.len() { rules.unanswered_last } else { rules.unanswered };
            let text = format!("{} is not answered directly after this message", label(call));
            found.error(rule, index, call.place.block(), text);
        }
        for (message, _) in direct {
            found.error(rules.repeated, *message, None, format!("{} is answered already", label(call)));
        }
        for (message, _) in exchange.results.iter().skip(1).filter(|(message, _)| *message >= end) {
            found.error(rules.orphan, *message, None, format!("{} was answered before", label(call)));
        }
    }
    // The old form has no ids and nobody checks it.
    for exchange in scene.exchanges.of_message(index) {
        if let Some(call) = scene.exchanges.call(exchange)
            && matches!(call.place, Place::Field(_))
            && exchange.results.is_empty()
        {
            let text = format!("{} is not answered", label(call));
            found.warning(rules.unanswered, index, None, text);
        }
    }
}

fn results<N: Node>(scene: &Scene<'_, N>, index: usize, rules: &Rules, found: &mut Findings) {
    let Some(message) = scene.messages.get(index) else { return };
    if role_of(message) != "tool" {
        return;
    }
    required(message, Key::ToolCallId, "missing_id", (index, None), found);
    if is_orphan(scene, (index, 0)) {
        let text = format!("{} answers no call before it", result_label(scene, (index, 0)));
        found.error(rules.orphan, index, None, text);
    }
}
