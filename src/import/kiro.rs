//! Kiro CLI and Amazon Q: a saved conversation, a list of turns of `user` and `assistant`. Messages become Anthropic's.

use crate::document::Slice;

use super::format::{Format, Scope, Sniff, certain};
use super::output::{Message, Outcome, Output};
use super::parts::{blocks, text_of, tool_result, tool_use_of};
use super::write::{list, message};

/// The format.
pub const FORMAT: Format =
    Format { document: Some((sniff, read)), ..Format::new("kiro", "Kiro CLI or Amazon Q conversation (JSON)") };

/// What the user and the model said in a turn: fields, or a pair.
fn sides(turn: Slice<'_>) -> [Option<Slice<'_>>; 2] {
    let pair = turn.list();
    [turn.get("user").or(pair.first().copied()), turn.get("assistant").or(pair.get(1).copied())]
}

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    root.get("conversation_id")?;
    let first = *root.get("history")?.list().first()?;
    sides(first)[0]?.get("content")?.fields().first().and_then(|_| certain("conversation_id and history of turns"))
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    for (index, turn) in root.get("history").map(Slice::list).unwrap_or_default().into_iter().enumerate() {
        let [user, assistant] = sides(turn);
        let name = |field: &str, at: usize| match turn.is_array() {
            true => format!("history[{index}][{at}]"),
            false => format!("history[{index}].{field}"),
        };
        if let Some(user) = user {
            let mut outcomes = Vec::new();
            let mut said = Vec::new();
            for (kind, content) in user.get("content").map(Slice::fields).unwrap_or_default() {
                for result in content.get("tool_use_results").map(Slice::list).unwrap_or_default() {
                    said.push(read_result(result, kind == "CancelledToolUses", &mut outcomes));
                }
                said.extend(content.get("prompt").map(blocks).unwrap_or_default());
            }
            put("user", said, outcomes, name("user", 0), user, scope, out);
        }
        if let Some(assistant) = assistant {
            let mut said = Vec::new();
            for (_, answer) in assistant.fields() {
                said.extend(answer.get("content").map(blocks).unwrap_or_default());
                for call in answer.get("tool_uses").map(Slice::list).unwrap_or_default() {
                    said.push(tool_use_of(call, ["id", "name", "args"]));
                }
            }
            put("assistant", said, Vec::new(), name("assistant", 1), assistant, scope, out);
        }
    }
}

fn put(
    role: &str,
    said: Vec<String>,
    outcomes: Vec<Outcome>,
    path: String,
    value: Slice<'_>,
    scope: Scope,
    out: &mut Output,
) {
    if said.is_empty() {
        return out.count("empty");
    }
    let source = out.place(path, value);
    out.put(Message { json: message(role, &list(&said)), source, outcomes }, scope);
}

fn read_result(result: Slice<'_>, is_cancelled: bool, outcomes: &mut Vec<Outcome>) -> String {
    let id = result.text("tool_use_id").unwrap_or_default();
    let mut content = Vec::new();
    for part in result.get("content").map(Slice::list).unwrap_or_default() {
        let text = part.get("Text").or(part.get("Json")).unwrap_or(part);
        content.push(text_of(text));
    }
    if is_cancelled {
        outcomes.push(Outcome::refusal(Some(id.to_string()), "CancelledToolUses"));
    }
    let status = result.text("status");
    let is_error = status.map(|status| status.eq_ignore_ascii_case("error")).filter(|_| !is_cancelled);
    tool_result(&id, Some(&list(&content)), is_error)
}
