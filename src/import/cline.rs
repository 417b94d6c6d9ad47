//! Cline, Roo Code and Kilo Code: `api_conversation_history.json`, Anthropic's messages as they were sent, and
//! `ui_messages.json`, what the user saw.

use crate::document::Slice;

use super::format::{Format, Scope, Sniff, certain, likely};
use super::output::{Message, Output};
use super::parts::holds;
use super::write::message;

/// The format.
pub const FORMAT: Format =
    Format { document: Some((sniff, read)), ..Format::new("cline", "Cline, Roo Code or Kilo Code task (JSON)") };

const RANGE: &str = "conversationHistoryDeletedRange";

/// The list of messages, and the way to it.
fn history(root: Slice<'_>) -> (Slice<'_>, &'static str) {
    let names = ["apiConversationHistory", "api_conversation_history", "messages"];
    let named = names.into_iter().find_map(|name| root.get(name).map(|list| (list, name)));
    named.unwrap_or((root, ""))
}

fn is_ui(first: Slice<'_>) -> bool {
    first.get("ts").is_some() && first.text("type").is_some_and(|kind| kind == "say" || kind == "ask")
}

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    if root.get(RANGE).is_some() && history(root).0.is_array() {
        return certain("a task with conversationHistoryDeletedRange");
    }
    if !root.is_array() {
        return None;
    }
    let messages = root.list();
    let first = *messages.first()?;
    if is_ui(first) {
        return certain("messages with ts and type say or ask");
    }
    let has_role = first.text("role").is_some_and(|role| role == "user" || role == "assistant");
    if !has_role || first.get("content").is_none() || first.get("parts").is_some() {
        return None;
    }
    if messages.iter().any(|message| message.get("isSummary").is_some() || message.get("condenseParent").is_some()) {
        return certain("messages with isSummary or condenseParent");
    }
    if first.get("ts").is_some_and(|ts| ts.int().is_some()) {
        return likely("Anthropic's messages with ts");
    }
    let is_told = holds(first.raw(), "<environment_details>");
    is_told.then(|| likely("a first message with <environment_details>")).flatten()
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    let (list, name) = history(root);
    let messages = list.list();
    if messages.first().is_some_and(|first| is_ui(*first)) {
        read_ui(&messages, out);
        return;
    }
    let deleted = root.get(RANGE).map(Slice::list).unwrap_or_default();
    let deleted = deleted.first().and_then(|from| from.int()).zip(deleted.get(1).and_then(|to| to.int()));
    let summaries: Vec<String> = messages
        .iter()
        .flat_map(|message| ["condenseId", "truncationId"].map(|name| message.text(name)))
        .flatten()
        .map(|id| id.into_owned())
        .collect();
    let last_summary = messages.iter().rposition(|message| message.flag("isSummary"));
    for (index, value) in messages.iter().enumerate() {
        let mut source = out.place(format!("{name}[{index}]"), *value);
        let stands_for = ["condenseParent", "truncationParent"].map(|name| value.text(name));
        let is_condensed = stands_for.iter().flatten().any(|parent| summaries.iter().any(|id| *id == **parent));
        let is_deleted = deleted.is_some_and(|(from, to)| (from..=to).contains(&(index as i64)));
        // Before summaries had ids they stood for all before them but the task itself.
        let is_old = summaries.is_empty() && index > 0 && last_summary.is_some_and(|summary| index < summary);
        source.branch = (is_condensed || is_deleted || is_old).then_some("compacted");
        let role = value.text("role").unwrap_or_default();
        match value.get("content") {
            // Roo writes the reasoning of some providers as an item of its own.
            _ if value.text("type").is_some_and(|kind| kind == "reasoning") => {
                out.put(Message::new(super::parts::only(*value, ITEM), source), scope);
            }
            Some(content) => out.put(Message::new(message(&role, content.raw()), source), scope),
            None => {
                out.count("unknown");
                out.warn_path("unknown_type", format!("{name}[{index}]"), "a message without content: left out");
            }
        }
    }
}

const ITEM: &[&str] = &["type", "id", "summary", "content", "encrypted_content"];

/// What the user saw: texts only. Calls have no ids here, so they are counted.
fn read_ui(messages: &[Slice<'_>], out: &mut Output) {
    out.warn_path("ui_only", "", "what the user saw: api_conversation_history.json has what the model saw");
    let mut is_first = true;
    for (index, value) in messages.iter().enumerate() {
        let kind = value.text("say").or(value.text("ask")).unwrap_or_default();
        let text = value.get("text").filter(|text| !text.is("") && !value.flag("partial"));
        let role = match &*kind {
            "text" | "task" if is_first => "user",
            "user_feedback" | "user_feedback_diff" => "user",
            "text" | "completion_result" | "followup" | "plan_mode_respond" => "assistant",
            _ => "",
        };
        match text.filter(|_| !role.is_empty()) {
            Some(text) => {
                is_first = false;
                let source = out.place(format!("[{index}]"), *value);
                out.messages.push(Message::new(message(role, text.raw()), source));
            }
            None => out.count(&[&value.text("type").unwrap_or_default(), ":", &*kind].concat()),
        }
    }
}
