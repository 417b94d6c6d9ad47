//! Amp threads (`T-….json`): Anthropic's messages, in which a result is a `run` with a status of its own.

use crate::document::Slice;

use super::format::{Format, Scope, Sniff, certain, likely};
use super::output::{Message, Outcome, Output};
use super::parts::{as_string, failed_exit, only, text_of, tool_result};
use super::write::{list, message};

/// The format.
pub const FORMAT: Format = Format { document: Some((sniff, read)), ..Format::new("amp", "Amp thread (JSON)") };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    root.get("messages").filter(|messages| messages.is_array())?;
    if root.text("id").is_some_and(|id| id.starts_with("T-")) {
        return certain("a thread with messages and an id T-…");
    }
    (root.get("v").is_some() && root.get("created").is_some())
        .then(|| likely("a thread with v, created and messages"))
        .flatten()
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    let mut messages: Vec<Message> = Vec::new();
    for (index, value) in root.get("messages").map(Slice::list).unwrap_or_default().into_iter().enumerate() {
        let source = out.place(format!("messages[{index}]"), value);
        let mut outcomes = Vec::new();
        let role = value.text("role").unwrap_or_default();
        let mut blocks = Vec::new();
        let mut is_summary = false;
        let content = value.get("content");
        for block in content.map(Slice::list).unwrap_or_default() {
            let kind = block.text("type").unwrap_or_default();
            blocks.push(match &*kind {
                "text" => only(block, &["type", "text"]),
                "thinking" | "redacted_thinking" => only(block, &["type", "thinking", "signature", "data"]),
                "tool_use" => only(block, &["type", "id", "name", "input"]),
                "tool_result" => result(block, &mut outcomes),
                "image" | "document" => only(block, &["type", "source"]),
                "summary" => {
                    is_summary = true;
                    let summary = block.get("summary");
                    let text = summary.and_then(|summary| summary.get("summary")).or(summary);
                    text_of(text.unwrap_or(block))
                }
                _ if role == "info" => continue,
                _ => {
                    out.warn_unknown(&source, &kind);
                    block.raw().to_owned()
                }
            });
        }
        if is_summary {
            messages.iter_mut().for_each(|message| message.source.branch = Some("compacted"));
        }
        let role = match &*role {
            "info" if is_summary => "user",
            "user" | "assistant" => &*role,
            _ => {
                out.count(&role);
                continue;
            }
        };
        let content = match content {
            Some(content) if content.is_string() => content.raw().to_owned(),
            _ => list(&blocks),
        };
        messages.push(Message { json: message(role, &content), source, outcomes });
    }
    messages.into_iter().for_each(|message| out.put(message, scope));
}

/// A result as Anthropic has it. What the host's flag says is written into it, what is a guess goes beside it.
fn result(block: Slice<'_>, outcomes: &mut Vec<Outcome>) -> String {
    let id = block.text("toolUseID").or(block.text("tool_use_id")).unwrap_or_default().into_owned();
    let Some(run) = block.get("run") else {
        let is_error = block.get("is_error").map(|flag| flag.raw() == "true");
        return tool_result(&id, block.get("content").map(Slice::raw), is_error);
    };
    let status = run.text("status").unwrap_or_default();
    let output = run.get("result");
    let shown = output.and_then(|output| ["output", "content", "diff"].iter().find_map(|name| output.get(name)));
    let shown = shown.filter(|shown| shown.is_string() || shown.is_array()).or(output).map(|shown| {
        if shown.is_array() && shown.list().iter().all(|block| block.get("type").is_some()) {
            shown.raw().to_owned()
        } else {
            as_string(shown)
        }
    });
    let error = run.get("error").map(|error| as_string(error.get("message").unwrap_or(error)));
    let reason = run.get("reason").map(as_string);
    match &*status {
        "error" => return tool_result(&id, error.or(shown).as_deref(), Some(true)),
        "cancelled" | "rejected-by-user" => {
            outcomes.push(Outcome::refusal(Some(id.clone()), ["run.status: ", &status].concat()));
            let said = reason.or(error).or(shown).unwrap_or_else(|| super::write::quoted(&status));
            return tool_result(&id, Some(&said), None);
        }
        _ => {}
    }
    let exit = failed_exit(output.and_then(|output| output.get("exitCode")));
    let failed = output.and_then(|output| output.get("success")).is_some_and(|success| success.raw() == "false");
    if let Some(because) = exit.or(failed.then(|| "run.result.success: false".to_owned())) {
        outcomes.push(Outcome::failure(Some(id.clone()), because).inferred());
    }
    tool_result(&id, shown.as_deref(), None)
}
