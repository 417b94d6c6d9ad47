//! DeepSeek: OpenAI's chat shape, and reasoning that must come back with tool calls.

use crate::node::{Key, Kind, Node};

use super::chat::{self, Rules};
use super::checks::{calls_in, role_of};
use super::{Findings, Scene};

const RULES: Rules = Rules {
    unanswered: "DSK-3",
    unanswered_last: "DSK-3",
    orphan: "DSK-3",
    repeated: "DSK-3",
    empty_list: "empty_message",
    no_content: "empty_message",
    is_openai: false,
    is_mistral: false,
};

/// Reports what DeepSeek would refuse.
pub fn check<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    chat::check(scene, &RULES, found);
    let thinks = match scene.request.thinking.as_deref() {
        Some("disabled") => return,
        Some(_) => true,
        None => scene.request.names("reasoner"),
    };
    let carries =
        |message: &N| message.field(Key::ReasoningContentSnake).is_some_and(|text| text.kind() == Kind::String);
    if !thinks && !scene.messages.iter().any(carries) {
        return;
    }
    for (index, message) in scene.messages.iter().enumerate() {
        if role_of(message) != "assistant" || carries(message) {
            continue;
        }
        let text = "`reasoning_content` is missing";
        match calls_in(scene, index, Key::ToolCalls).is_empty() {
            false if thinks => found.error("DSK-1", index, None, format!("{text} beside tool calls")),
            false => found.warning("DSK-1", index, None, format!("{text} beside tool calls")),
            true if scene.request.names("v4") => {
                found.warning("DSK-2", index, None, format!("{text}: an empty one is taken"))
            }
            true => {}
        }
    }
}
