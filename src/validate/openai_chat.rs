//! OpenAI Chat Completions, and servers of its shape that render a chat template.

use crate::node::{Key, Node};

use super::chat::{self, Rules};
use super::checks::{objects, role_of, shows};
use super::{Findings, Scene};

const RULES: Rules = Rules {
    unanswered: "OAC-PAIR-1",
    unanswered_last: "OAC-PAIR-3",
    orphan: "OAC-PAIR-2",
    repeated: "OAC-PAIR-5",
    empty_list: "OAC-PAIR-4",
    no_content: "OAC-ROLE-2",
    is_openai: true,
    is_mistral: false,
};

/// Reports what OpenAI Chat would refuse.
pub fn check<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    chat::check(scene, &RULES, found);
    needs_responses(scene, found);
    gemini_signatures(scene, found);
    if scene.request.strict_template {
        template(scene, found);
    }
}

/// Models that call tools through Responses only.
fn needs_responses<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    let is_one_of = |names: [&str; 2]| names.into_iter().any(|name| scene.request.names(name));
    let never = is_one_of(["gpt-6-astra", "gpt-6.1-sol"]);
    let unless_unreasoning = is_one_of(["gpt-6-sol", "gpt-6-luna"]);
    if !never && (!unless_unreasoning || scene.request.reasoning_effort.as_deref() == Some("none")) {
        return;
    }
    if let Some(index) = scene.messages.iter().position(|message| message.field(Key::ToolCalls).is_some()) {
        let text = "this model calls tools through the Responses API only";
        found.error("OAC-ROLE-3", index, None, text);
    }
}

/// Gemini behind OpenAI's shape: in the current turn the first call of each step carries its signature.
fn gemini_signatures<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    let model = scene.request.model.as_deref().unwrap_or_default();
    // Other gateways keep the signatures in places of their own.
    let is_googles = ["gemini-", "models/", "google/"].into_iter().any(|start| model.starts_with(start));
    if !is_googles || scene.request.gemini().is_none_or(|version| version < 3) {
        return;
    }
    let turn = scene.messages.iter().rposition(|message| role_of(message) == "user").map_or(0, |newest| newest + 1);
    for (index, message) in scene.messages.iter().enumerate().skip(turn) {
        let Some((block, first)) = objects(message, Key::ToolCalls).into_iter().next() else { continue };
        let google = first.follow(&[Key::ExtraContent, Key::Google]);
        let is_signed = google.is_some_and(|google| shows(&google, Key::ThoughtSignature));
        // OpenRouter has Google's names of models.
        if !is_signed && message.field(Key::ReasoningDetails).is_none() {
            let text = "the first call of a step in the current turn needs its thought signature";
            found.error("OAC-RSN-1", index, Some(block), text);
        }
    }
}

/// Chat templates: user and assistant in turn, one system message at most and that first, no null content.
fn template<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    // The user begins.
    let mut last = "assistant".to_owned();
    let mut has_calls = false;
    for (index, message) in scene.messages.iter().enumerate() {
        let role = role_of(message);
        has_calls |= !objects(message, Key::ToolCalls).is_empty();
        if message.field(Key::Content).is_none() {
            found.warning("CMP-3", index, None, "some servers refuse null content: an empty string is safe");
        }
        match &*role {
            "system" | "developer" if index > 0 => {
                found.error("CMP-1", index, None, "a chat template takes a system message first or not at all");
            }
            // A step of calls and results stands inside the assistant's turn.
            "assistant" if last == "tool" => last = role,
            "user" | "assistant" if last == role => {
                let text = format!("a chat template wants user and assistant in turn, not two of role {role}");
                found.error("CMP-1", index, None, text);
            }
            "tool" => {
                if !has_calls {
                    found.error("CMP-2", index, None, "a tool message without any call before it");
                }
                last = role;
            }
            "user" | "assistant" => last = role,
            _ => {}
        }
    }
}
