//! OpenAI Responses items.

use crate::node::{Key, Kind, Node};

use super::checks::{
    Met, arguments, foreign, label, objects, only_objects, required, result_label, role_of, shows, type_of,
    unknown_role,
};
use super::edited_items::{self, Known, is_of_model, is_same_item};
use super::{Findings, Scene};

/// Reports what OpenAI Responses would refuse.
pub fn check<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    let mut ids = Met::default();
    let mut call_ids = Met::default();
    let mut asked = Met::default();
    let list = List::of(scene);
    for (index, item) in scene.messages.iter().enumerate() {
        if let Some(id) = item.field_str(Key::Id)
            && let Some(first) = ids.note(&id, index)
        {
            found.error("OAR-PAIR-5", index, None, format!("the item id {id} stands at {first} already"));
        }
        let kind = kind_of(item);
        match &*kind {
            "message" => message(item, index, found),
            "reasoning" => reasoning(scene, item, index, list.original.as_ref(), found),
            "item_reference" => stored(scene, item, index, found),
            "compaction" => required(item, Key::EncryptedContent, "OAR-CMP-1", (index, None), found),
            _ => {}
        }
        approvals(&list, item, index, &kind, &mut asked, found);
        calls(scene, item, index, &kind, &mut call_ids, found);
        outputs(scene, item, index, &kind, &list, found);
    }
    if let Some(original) = &list.original {
        edited_items::check(scene, original, found);
    }
}

/// What is asked of the whole list again and again.
struct List<'a, N> {
    /// Whether the provider has what came before.
    continues: bool,
    /// The first item that stands for one that the provider has.
    reference: Option<usize>,
    /// The calls that the caller answers, by their `call_id`.
    calls: Met,
    /// The list as it was before.
    original: Option<Known<'a, N>>,
}

impl<'a, N: Node> List<'a, N> {
    fn of(scene: &'a Scene<'_, N>) -> Self {
        let mut calls = Met::default();
        for (index, item) in scene.messages.iter().enumerate() {
            if answer_rule(item).is_some()
                && let Some(id) = item.field_str(Key::CallId)
            {
                calls.note(&id, index);
            }
        }
        let reference = scene.messages.iter().position(|item| kind_of(item) == "item_reference");
        let continues = scene.request.continues;
        List { continues, reference, calls, original: scene.request.original_messages.as_deref().map(Known::of) }
    }

    /// Whether what the item at `index` answers may be with the provider: a reference may stand for it.
    fn is_elsewhere(&self, index: usize) -> bool {
        self.continues || self.reference.is_some_and(|reference| reference < index)
    }
}

/// Easy messages have no type, nor need references have one.
pub(super) fn kind_of<N: Node>(item: &N) -> String {
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
    if !matches!(content.kind(), Kind::String | Kind::Array) {
        let text = format!("`content` must be a string or an array, not {}", content.kind().in_words());
        found.error("wrong_type", index, None, text);
    }
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
        if let Some(first) = call.id.as_deref().and_then(|id| ids.note(id, index)) {
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
fn approvals<N: Node>(list: &List<'_, N>, item: &N, index: usize, kind: &str, asked: &mut Met, found: &mut Findings) {
    let id = |key| item.field_str(key);
    match kind {
        "mcp_approval_request" => {
            required(item, Key::Id, "missing_id", (index, None), found);
            id(Key::Id).map(|id| asked.note(&id, index));
        }
        "mcp_approval_response"
            if !list.is_elsewhere(index) && id(Key::ApprovalRequestId).is_none_or(|id| asked.at(&id).is_empty()) =>
        {
            found.error("OAR-PAIR-4", index, None, "the approval answers no request before it");
        }
        _ => {}
    }
}

fn outputs<N: Node>(
    scene: &Scene<'_, N>,
    item: &N,
    index: usize,
    kind: &str,
    list: &List<'_, N>,
    found: &mut Findings,
) {
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
    let its_calls = item.field_str(Key::CallId).map_or(&[][..], |id| list.calls.at(&id));
    let what = result_label(scene, (index, 0));
    if its_calls.last().is_some_and(|later| *later > index) {
        found.error("OAR-PAIR-3", index, None, format!("{what} stands before its call"));
    } else if !list.is_elsewhere(index) {
        let rule = if kind == "function_call_output" { "OAR-PAIR-1" } else { "OAR-PAIR-4" };
        found.error(rule, index, None, format!("{what} answers no call of its kind before it"));
    }
}

fn reasoning<N: Node>(
    scene: &Scene<'_, N>,
    item: &N,
    index: usize,
    original: Option<&Known<'_, N>>,
    found: &mut Findings,
) {
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
    let followed = original.and_then(|original| original.items.get(original.position(item)? + 1));
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
