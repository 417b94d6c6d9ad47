//! Claude.ai's data export (`conversations.json`): `chat_messages` of a `sender`. Messages become Anthropic's; a result
//! stands in the answer there, and is put in a message of the user's.

use crate::document::Slice;

use super::format::{Format, Scope, Sniff, certain};
use super::output::{Message, Output, Source};
use super::parts::{active_path, only, read_one, text_of, tool_result, tool_use};
use super::write::{list, message};

/// The format.
pub const FORMAT: Format =
    Format { document: Some((sniff, read)), ..Format::new("claude_ai", "Claude.ai export (conversations.json)") };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    let first = if root.is_array() { *root.list().first()? } else { root };
    first.get("chat_messages").filter(|messages| messages.is_array())?;
    certain("a conversation with chat_messages")
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    read_one(root, out, &mut |conversation, path, out| read_conversation(conversation, path, scope, out));
}

fn read_conversation(conversation: Slice<'_>, path: &str, scope: Scope, out: &mut Output) {
    let messages = conversation.get("chat_messages").map(Slice::list).unwrap_or_default();
    let text = |value: &Slice<'_>, name| value.text(name).map(|text| text.into_owned());
    let node = |value: &Slice<'_>| (text(value, "uuid").unwrap_or_default(), text(value, "parent_message_uuid"));
    let nodes: Vec<_> = messages.iter().map(node).collect();
    let is_tree = nodes.iter().any(|(_, parent)| nodes.iter().any(|(id, _)| Some(id) == parent.as_ref()));
    let leaf = conversation.text("current_leaf_message_uuid");
    let leaf = leaf.as_deref().or(nodes.last().map(|(id, _)| id.as_str())).filter(|_| is_tree);
    let on_path = active_path(&nodes, leaf);
    for (((index, value), (id, _)), on_path) in messages.into_iter().enumerate().zip(&nodes).zip(on_path) {
        let source = out.place(format!("{path}chat_messages[{index}]"), value);
        let branch = (!on_path).then_some("abandoned");
        let source = Source { id: Some(id.clone()), branch, ..source };
        read_message(value, &source, scope, out);
    }
}

fn read_message(value: Slice<'_>, source: &Source, scope: Scope, out: &mut Output) {
    let role = if value.get("sender").is_some_and(|sender| sender.is("assistant")) { "assistant" } else { "user" };
    let mut blocks: Vec<String> = Vec::new();
    // What an attached file holds was sent before the words.
    for file in value.get("attachments").map(Slice::list).unwrap_or_default() {
        match file.get("extracted_content").filter(|text| text.str().is_some_and(|text| !text.trim().is_empty())) {
            Some(text) => blocks.push(text_of(text)),
            None => out.count("attachment"),
        }
    }
    let put = |role: &str, blocks: &mut Vec<String>, out: &mut Output| {
        if !blocks.is_empty() {
            out.put(Message::new(message(role, &list(&std::mem::take(blocks))), source.clone()), scope);
        }
    };
    let mut results: Vec<String> = Vec::new();
    // Older exports leave the ids out: a result follows its call.
    let mut calls: Vec<String> = Vec::new();
    let mut answered = 0;
    let content = value.get("content").map(Slice::list).unwrap_or_default();
    if content.is_empty() {
        let text = value.get("text").filter(|text| !text.is(""));
        blocks.extend(text.map(text_of));
    }
    if content.is_empty() && blocks.is_empty() {
        out.count("empty");
    }
    for block in content {
        let kind = block.text("type").unwrap_or_default();
        if kind == "tool_result" {
            put(role, &mut blocks, out);
            let own = block.text("tool_use_id").map(|id| id.into_owned());
            let id = own.or(calls.get(answered).cloned()).unwrap_or_default();
            answered += 1;
            let is_error = block.get("is_error").map(|flag| flag.raw() == "true");
            results.push(tool_result(&id, block.get("content").map(Slice::raw), is_error));
            continue;
        }
        put("user", &mut results, out);
        match &*kind {
            "text" if block.get("text").is_none_or(|text| text.is("")) => out.count("empty"),
            "text" => blocks.push(only(block, &["type", "text"])),
            "thinking" | "redacted_thinking" => blocks.push(only(block, &["type", "thinking", "signature", "data"])),
            "tool_use" => {
                let own = block.text("id").map(|id| id.into_owned());
                let id = own.unwrap_or_else(|| format!("{}_{}", source.id.as_deref().unwrap_or("call"), calls.len()));
                let input = block.get("input").map_or("{}", Slice::raw);
                blocks.push(tool_use(&id, &block.text("name").unwrap_or_default(), input));
                calls.push(id);
            }
            "token_budget" | "flag" => out.count(&kind),
            _ => {
                out.warn_unknown(source, &kind);
                blocks.push(block.raw().to_owned());
            }
        }
    }
    put(role, &mut blocks, out);
    put("user", &mut results, out);
}
