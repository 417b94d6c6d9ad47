//! Mistral: OpenAI's chat shape with a strict order of roles and ids of nine characters.

use crate::node::{Key, Node};

use super::chat::{self, Rules};
use super::checks::{calls_in, role_of};
use super::{Findings, Scene};

const RULES: Rules = Rules {
    unanswered: "MIS-2",
    unanswered_last: "MIS-2",
    orphan: "MIS-2",
    repeated: "MIS-2",
    empty_list: "empty_message",
    no_content: "empty_message",
    is_openai: false,
    is_mistral: true,
};

/// Reports what Mistral would refuse.
pub fn check<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    chat::check(scene, &RULES, found);
    let mut before = String::new();
    for (index, message) in scene.messages.iter().enumerate() {
        let role = role_of(message);
        if before == "tool" && !matches!(&*role, "tool" | "assistant") {
            found.error("MIS-1", index, None, format!("role {role} directly after a tool result"));
        }
        before = role;
        for (call, _) in calls_in(scene, index, Key::ToolCalls) {
            if let Some(id) = call.id.as_deref().filter(|id| !is_id(id)) {
                let text = format!("the id {id} is not of nine letters and digits");
                found.error("MIS-3", index, call.place.block(), text);
            }
        }
    }
    let Some((last, index)) = scene.messages.last().zip(scene.messages.len().checked_sub(1)) else { return };
    let is_prefix = last.field(Key::Prefix).and_then(|prefix| prefix.as_bool()) == Some(true);
    // Of a call at the end the missing answer is what is wrong.
    let may_be_last = match &*before {
        "user" | "tool" => true,
        "assistant" => is_prefix || !calls_in(scene, index, Key::ToolCalls).is_empty(),
        _ => false,
    };
    if !may_be_last {
        let text = format!("the last message must be of role user or tool (or assistant with `prefix`), not {before}");
        found.error("MIS-4", index, None, text);
    }
}

fn is_id(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
