//! OpenAI Responses items.

use crate::canonical::canonical_text;
use crate::node::{Key, Kind, Node};

use super::checks::{
    Met, arguments, foreign, label, objects, only_objects, required, result_label, role_of, shows, type_of,
    unknown_role,
};
use super::{Findings, Scene};

/// Reports what OpenAI Responses would refuse.
pub fn check<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    let mut ids = Met::default();
    let mut call_ids = Met::default();
    for (index, item) in scene.messages.iter().enumerate() {
        if let Some(id) = item.field_str(Key::Id)
            && let Some(first) = ids.before(&id, index)
        {
            found.error("OAR-PAIR-5", index, None, format!("the item id {id} stands at {first} already"));
        }
        let kind = kind_of(item);
        match &*kind {
            "message" => message(item, index, found),
            "reasoning" => reasoning(scene, item, index, found),
            "item_reference" => stored(scene, item, index, found),
            "compaction" => required(item, Key::EncryptedContent, "OAR-CMP-1", (index, None), found),
            _ => {}
        }
        approvals(scene, item, index, &kind, found);
        calls(scene, item, index, &kind, &mut call_ids, found);
        outputs(scene, item, index, &kind, found);
    }
    if let Some(original) = &scene.request.original_messages {
        lost_reasoning(original, scene.messages, found);
        lost_phase(original, scene.messages, found);
        touched_turn(original, scene.messages, found);
        if scene.request.continues
            && let Some(index) = first_lost(original, scene.messages)
        {
            let text = "what was left out or changed is still in the provider's state: send a projection without it";
            found.warning("OAR-STATE-1", index, None, text);
        }
    }
}

/// Easy messages have no type, nor need references have one.
fn kind_of<N: Node>(item: &N) -> String {
    let kind = type_of(item);
    let is_reference = || item.field(Key::Id).is_some() && item.field(Key::Role).is_none();
    match &*kind {
        "" if is_reference() => "item_reference".to_owned(),
        "" => "message".to_owned(),
        _ => kind,
    }
}

fn message<N: Node>(item: &N, index: usize, found: &mut Findings) {
    let role = role_of(item);
    if !matches!(&*role, "user" | "assistant" | "system" | "developer") {
        unknown_role(index, &role, "user, assistant, system or developer", found);
    }
    if item.field(Key::ToolCalls).is_some() {
        foreign(index, None, "tool_calls", found);
    }
    let Some(content) = item.field(Key::Content) else {
        found.error("empty_message", index, None, "the content is missing or null");
        return;
    };
    only_objects(&content, index, found);
    for (block, part) in objects(item, Key::Content) {
        match &*type_of(&part) {
            "" => found.error("wrong_type", index, Some(block), "the part has no `type`"),
            kind @ ("input_text" | "output_text") if (kind == "output_text") != (role == "assistant") => {
                let text = "the text of the assistant is `output_text`, that of others `input_text`";
                found.error("wrong_role", index, Some(block), text);
            }
            // The model does write empty ones.
            "input_text" if !shows(&part, Key::Text) => {
                found.warning("empty_text", index, Some(block), "the text part is empty");
            }
            kind @ ("text" | "image_url" | "tool_use" | "tool_result" | "thinking") => {
                foreign(index, Some(block), kind, found);
            }
            _ => {}
        }
    }
}

/// Whether the caller answers such a call, and the rule that says so.
fn answer_rule<N: Node>(item: &N) -> Option<&'static str> {
    match &*type_of(item) {
        "function_call" => Some("OAR-PAIR-2"),
        "tool_search_call" => (item.field_str(Key::Execution).as_deref() == Some("client")).then_some("OAR-PAIR-4"),
        "custom_tool_call" | "local_shell_call" | "shell_call" | "apply_patch_call" | "computer_call" => {
            Some("OAR-PAIR-4")
        }
        _ => None,
    }
}

fn calls<N: Node>(scene: &Scene<'_, N>, item: &N, index: usize, kind: &str, ids: &mut Met, found: &mut Findings) {
    let Some(rule) = answer_rule(item) else { return };
    let at = (index, None);
    if matches!(kind, "function_call" | "custom_tool_call") {
        required(item, Key::CallId, "missing_id", at, found);
        required(item, Key::Name, "missing_name", at, found);
    }
    if kind == "function_call" {
        arguments(item, at, false, found);
    }
    let is_deepseek = scene.request.names("deepseek");
    for exchange in scene.exchanges.of_message(index) {
        let Some(call) = scene.exchanges.call(exchange) else { continue };
        if let Some(first) = call.id.as_deref().and_then(|id| ids.before(id, index)) {
            found.error("OAR-PAIR-3", index, None, format!("{}: the call at {first} has the same id", label(call)));
        }
        if exchange.results.is_empty() {
            found.error(rule, index, None, format!("{} has no output", label(call)));
        } else if is_deepseek && exchange.results.first() != Some(&(index + 1, 0)) {
            let text = format!("DeepSeek takes the output of {} only right behind it", label(call));
            found.error("OAR-DS-1", index, None, text);
        }
        for (repeated, _) in exchange.results.iter().skip(1) {
            found.error("OAR-PAIR-3", *repeated, None, format!("{} has an output already", label(call)));
        }
    }
}

/// What a person approved or refused was asked for before, by an id.
fn approvals<N: Node>(scene: &Scene<'_, N>, item: &N, index: usize, kind: &str, found: &mut Findings) {
    match kind {
        "mcp_approval_request" => required(item, Key::Id, "missing_id", (index, None), found),
        "mcp_approval_response" if !scene.request.continues => {
            let id = item.field_str(Key::ApprovalRequestId);
            let asks = |other: &N| type_of(other) == "mcp_approval_request" && other.field_str(Key::Id) == id;
            if id.is_none() || !scene.messages.iter().take(index).any(asks) {
                found.error("OAR-PAIR-4", index, None, "the approval answers no request before it");
            }
        }
        _ => {}
    }
}

fn outputs<N: Node>(scene: &Scene<'_, N>, item: &N, index: usize, kind: &str, found: &mut Findings) {
    let Some(stem) = kind.strip_suffix("_output") else { return };
    let is_body = |output: Option<N>| output.is_some_and(|output| matches!(output.kind(), Kind::String | Kind::Array));
    if matches!(kind, "function_call_output" | "custom_tool_call_output") && !is_body(item.field(Key::Output)) {
        found.error("wrong_type", index, None, "`output` must be a string or an array of parts");
    }
    // The output of a function answers no call of another kind.
    let call = scene.exchanges.answered_by((index, 0)).and_then(|exchange| scene.messages.get(exchange.call.0));
    if call.is_some_and(|call| type_of(call).starts_with(stem)) {
        return;
    }
    // A reference may stand for the call.
    let before = scene.messages.get(..index).unwrap_or_default();
    let is_elsewhere = scene.request.continues || before.iter().any(|item| kind_of(item) == "item_reference");
    let id = item.field_str(Key::CallId);
    let is_its_call = |later: &N| id.is_some() && later.field_str(Key::CallId) == id && answer_rule(later).is_some();
    let what = result_label(scene, (index, 0));
    if scene.messages.iter().skip(index + 1).any(is_its_call) {
        found.error("OAR-PAIR-3", index, None, format!("{what} stands before its call"));
    } else if !is_elsewhere {
        let rule = if kind == "function_call_output" { "OAR-PAIR-1" } else { "OAR-PAIR-4" };
        found.error(rule, index, None, format!("{what} answers no call of its kind before it"));
    }
}

fn reasoning<N: Node>(scene: &Scene<'_, N>, item: &N, index: usize, found: &mut Findings) {
    if item.field(Key::Summary).is_none_or(|summary| summary.kind() != Kind::Array) {
        found.error("OAR-RSN-4", index, None, "a reasoning item needs a `summary`, if only an empty list");
    }
    // Servers of open models take it.
    if !scene.request.names("gpt-oss") && item.field(Key::Content).is_some_and(|content| !content.is_empty()) {
        found.error("OAR-RSN-4", index, None, "a reasoning item may not hold `content`");
    }
    if item.field(Key::Id).is_none() {
        return;
    }
    stored(scene, item, index, found);
    let rule = "OAR-RSN-1";
    let Some(next) = scene.messages.get(index + 1).filter(|next| is_of_model(*next)) else {
        found.error(rule, index, None, "the item that this reasoning was made with does not follow it");
        return;
    };
    let original = scene.request.original_messages.as_deref();
    let followed = original.and_then(|original| {
        let at = original.iter().position(|other| is_same_item(item, other))?;
        original.get(at + 1)
    });
    match followed {
        Some(followed) if !is_same_item(next, followed) => {
            found.error(rule, index, None, "the item that this reasoning was made with does not follow it");
        }
        None if type_of(next) == "reasoning" => {
            found.warning(rule, index, None, "reasoning is followed by other reasoning: was a call between them?");
        }
        _ => {}
    }
}

/// What is only an id needs the provider to have stored it.
fn stored<N: Node>(scene: &Scene<'_, N>, item: &N, index: usize, found: &mut Findings) {
    if scene.request.store == Some(false) && !shows(item, Key::EncryptedContent) {
        let text = "without `store` an id stands for nothing: strip it and keep `encrypted_content`";
        found.error("OAR-RSN-3", index, None, text);
    }
}

/// Whether the model made the item.
fn is_of_model<N: Node>(item: &N) -> bool {
    match &*kind_of(item) {
        "message" => role_of(item) == "assistant",
        "compaction" | "mcp_approval_response" => false,
        kind => !kind.ends_with("_output"),
    }
}

/// By id where one of them has one, else by what they hold.
fn is_same_item<N: Node>(a: &N, b: &N) -> bool {
    let id = |item: &N| item.field_str(Key::CallId).or_else(|| item.field_str(Key::Id));
    match (id(a), id(b)) {
        (Some(a), Some(b)) => a == b,
        // An id may have been stripped.
        _ => type_of(a) == type_of(b) && content_of(a) == content_of(b),
    }
}

fn content_of<N: Node>(item: &N) -> Option<String> {
    canonical_text(&item.field(Key::Content)?).ok()
}

/// Items that kept their id and lost the reasoning that stood before them.
fn lost_reasoning<N: Node>(original: &[N], current: &[N], found: &mut Findings) {
    for (index, item) in current.iter().enumerate() {
        if item.field(Key::Id).is_none() || type_of(item) == "reasoning" || !is_of_model(item) {
            continue;
        }
        let Some(at) = original.iter().position(|other| is_same_item(item, other)) else { continue };
        let before = |list: &[N], at: usize| at.checked_sub(1).and_then(|at| list.get(at).cloned());
        let is_reasoning = |item: &N| type_of(item) == "reasoning" && item.field(Key::Id).is_some();
        let Some(reasoning) = before(original, at).filter(is_reasoning) else { continue };
        if before(current, index).is_none_or(|before| !is_same_item(&before, &reasoning)) {
            let text = "the reasoning before this item is gone: strip the item's id as well";
            found.error("OAR-RSN-2", index, None, text);
        }
    }
}

/// Messages that lost the `phase` that newer models give them.
fn lost_phase<N: Node>(original: &[N], current: &[N], found: &mut Findings) {
    let is_message = |item: &N| kind_of(item) == "message" && role_of(item) == "assistant";
    let had_phase = |item: &&N| item.field(Key::Phase).is_some() && is_message(item);
    let phased: Vec<&N> = original.iter().filter(had_phase).collect();
    let bare = current.iter().enumerate().filter(|(_, item)| item.field(Key::Phase).is_none() && is_message(item));
    for (index, item) in bare {
        if phased.iter().any(|other| is_same_item(item, other)) {
            found.warning("OAR-RSN-7", index, None, "the message lost its `phase`: the model may stop early");
        }
    }
}

/// In an open tool loop, all from the newest user message on should stay as it was.
fn touched_turn<N: Node>(original: &[N], current: &[N], found: &mut Findings) {
    if !original.last().is_some_and(|last| type_of(last).ends_with("_output")) {
        return;
    }
    let is_user = |item: &N| kind_of(item) == "message" && role_of(item) == "user";
    let start = original.iter().rposition(is_user).map_or(0, |newest| newest + 1);
    if let Some(index) = original.get(start..).and_then(|turn| first_lost(turn, current)) {
        let text = "the open tool loop was changed: what stands behind the newest user message should stay";
        found.warning("OAR-RSN-5", index, None, text);
    }
}

/// Where the first item would stand that is not among the current ones as it was, in order.
fn first_lost<N: Node>(original: &[N], current: &[N]) -> Option<usize> {
    let mut left = current.iter().map(|item| canonical_text(item).ok());
    let mut passed = 0;
    let lost = original.iter().any(|item| {
        let text = canonical_text(item).ok();
        match left.position(|other| other == text) {
            Some(between) => {
                passed += between + 1;
                false
            }
            None => true,
        }
    });
    lost.then(|| passed.min(current.len().saturating_sub(1)))
}
