//! Pi and OpenClaw session files: a header line, then entries, in file order (version 1) or as a tree (versions 2 and
//! 3). Also Pi's own messages as JSON. Messages become Anthropic's: Pi names the same blocks otherwise.

use crate::document::Slice;

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely};
use super::line::Line;
use super::output::{Message, Output, Source};
use super::tree::{Link, active_path};
use super::write::{list, message, of_type, text_block};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((sniff, reader)),
    document: Some((sniff_document, read_document)),
    ..Format::new("pi", "Pi or OpenClaw session (JSONL), Pi messages (JSON)")
};

fn sniff(line: Slice<'_>) -> Option<Sniff> {
    match &*line.text("type")? {
        "session" if line.get("id").is_some() && (line.get("cwd").is_some() || line.get("version").is_some()) => {
            certain("a session line with id and cwd")
        }
        "message" if line.get("message").is_some_and(|message| message.get("role").is_some()) => {
            likely("lines of type message with message.role")
        }
        _ => None,
    }
}

fn sniff_document(root: Slice<'_>) -> Option<Sniff> {
    let is_own = |message: &Slice<'_>| {
        let role = message.text("role").unwrap_or_default();
        let is_result = role == "toolResult" && message.get("toolCallId").is_some();
        is_result || role == "assistant" && message.get("stopReason").is_some() && message.get("usage").is_some()
    };
    let messages = root.get("messages").unwrap_or(root).list();
    if is_own(&root) || messages.iter().take(20).any(is_own) {
        certain("messages with stopReason and usage, or of role toolResult")
    } else {
        None
    }
}

fn read_document(root: Slice<'_>, scope: Scope, out: &mut Output) {
    let (name, messages) = match root.get("messages") {
        _ if !root.is_object() => ("", root.list()),
        Some(messages) => ("messages", messages.list()),
        None => ("", vec![root]),
    };
    let (mut left, mut made) = (Vec::new(), Vec::new());
    for (index, value) in messages.into_iter().enumerate() {
        let path = if root.get("role").is_some() { String::new() } else { format!("{name}[{index}]") };
        let place = out.place(path, value);
        let message = convert(value, place, &mut left, out);
        made.extend(message.map(|message| (message, is_result(value))));
    }
    out.put_joined(made, "content", scope);
}

fn reader(scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader { scope, entries: Vec::new(), objects: 0, left: Vec::new() })
}

struct Reader {
    scope: Scope,
    entries: Vec<Entry>,
    /// How many entries there were, the header included: version 1 counts so.
    objects: i64,
    /// Calls of answers that were cut off.
    left: Vec<String>,
}

struct Entry {
    link: Link,
    ordinal: i64,
    message: Option<Message>,
    is_result: bool,
    /// Where a compaction keeps the messages from.
    kept_from: Option<KeptFrom>,
}

enum KeptFrom {
    Id(String),
    Ordinal(i64),
    Nowhere,
}

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        let text = |name: &str| value.string(name);
        let kind = value.text("type").unwrap_or_default();
        let link = Link { id: text("id"), parent: text("parentId") };
        let source = Source { id: link.id.clone(), ..Source::of_line(line) };
        let ordinal = self.objects;
        self.objects += 1;
        let mut entry = Entry { link, ordinal, message: None, is_result: false, kept_from: None };
        match &*kind {
            "message" if value.get("message").is_some_and(Slice::is_object) => {
                let made = value.get("message").and_then(|value| convert(value, source, &mut self.left, out));
                entry.message = made;
                entry.is_result = value.get("message").is_some_and(is_result);
            }
            "custom_message" => {
                let content = value.get("content").map_or_else(|| "\"\"".to_owned(), content);
                entry.message = Some(Message::new(message("user", &content), source));
            }
            "compaction" | "branch_summary" => {
                let summary = value.text("summary").filter(|summary| !summary.is_empty());
                entry.message = summary.map(|summary| summary_message(&summary, source));
                if kind == "compaction" {
                    let ordinal = value.get("firstKeptEntryIndex").and_then(Slice::int);
                    let first = text("firstKeptEntryId").map(KeptFrom::Id).or(ordinal.map(KeptFrom::Ordinal));
                    entry.kept_from = Some(first.unwrap_or(KeptFrom::Nowhere));
                }
                if entry.message.is_none() {
                    out.count(&kind);
                }
            }
            // The header is no part of the tree.
            "session" | "title" => return out.count(&kind),
            "model_change"
            | "thinking_level_change"
            | "custom"
            | "label"
            | "session_info"
            | "context_transform"
            | "ephemeral" => out.count(&kind),
            _ => out.unknown(&source, "an entry", &kind),
        }
        self.entries.push(entry);
    }

    fn finish(self: Box<Self>, out: &mut Output) {
        let Reader { scope, mut entries, .. } = *self;
        let links: Vec<&Link> = entries.iter().map(|entry| &entry.link).collect();
        let path = active_path(&links, out);
        let is_on_path = |index: usize| path.as_ref().is_none_or(|path| path.get(index) == Some(&true));
        let compaction =
            entries.iter().enumerate().rposition(|(index, entry)| entry.kept_from.is_some() && is_on_path(index));
        let first_kept = compaction.and_then(|at| {
            let is_first = |entry: &Entry| match entries.get(at).and_then(|entry| entry.kept_from.as_ref()) {
                Some(KeptFrom::Id(id)) => entry.link.id.as_ref() == Some(id),
                Some(KeptFrom::Ordinal(ordinal)) => entry.ordinal == *ordinal,
                _ => false,
            };
            entries.iter().position(is_first).filter(|first| *first < at)
        });
        let first_kept = first_kept.or(compaction).unwrap_or(0);
        for (index, entry) in entries.iter_mut().enumerate() {
            let Some(message) = &mut entry.message else { continue };
            if !is_on_path(index) {
                message.source.leave("abandoned");
            } else if index < first_kept || entry.kept_from.is_some() && compaction != Some(index) {
                message.source.leave("compacted");
            }
        }
        // The model reads the summary before what the compaction kept.
        let summary = compaction.and_then(|at| entries.get_mut(at)).filter(|_| scope == Scope::Model);
        let summary = summary.and_then(|entry| entry.message.take());
        let summary = summary.map(|message| (message, false));
        let messages = entries.into_iter().filter_map(|entry| Some((entry.message?, entry.is_result)));
        out.put_joined(summary.into_iter().chain(messages).collect(), "content", scope);
    }
}

/// One of Pi's messages as Anthropic writes it. `left` holds the calls of answers that were cut off.
fn convert(value: Slice<'_>, mut source: Source, left: &mut Vec<String>, out: &mut Output) -> Option<Message> {
    let role = value.text("role").unwrap_or_default();
    let of_role = |role: &str| message(role, &value.get("content").map_or_else(|| "\"\"".to_owned(), content));
    let json = match &*role {
        "user" | "system" | "developer" => of_role(&role),
        "custom" | "hookMessage" => of_role("user"),
        "assistant" => {
            let reason = value.text("stopReason").unwrap_or_default();
            if reason == "error" || reason == "aborted" {
                // Pi does not send what was cut off, and nothing answers the calls in it.
                source.leave("hidden");
                let blocks = value.get("content").map(Slice::list).unwrap_or_default();
                left.extend(blocks.iter().filter_map(|block| block.string("id")));
            }
            of_role("assistant")
        }
        "toolResult" => {
            let id = value.text("toolCallId").unwrap_or_default();
            if left.iter().any(|call| *call == id) {
                source.leave("hidden");
            }
            let result = of_type("tool_result").value("tool_use_id", value.get("toolCallId"));
            let result = result.raw("content", &value.get("content").map_or_else(|| "[]".to_owned(), content));
            message("user", &list(&[result.value("is_error", value.get("isError")).build()]))
        }
        "bashExecution" => {
            if value.flag("excludeFromContext") {
                source.leave("hidden");
            }
            user_text(&command_in_words(value))
        }
        "branchSummary" | "compactionSummary" => {
            return Some(summary_message(&value.text("summary").unwrap_or_default(), source));
        }
        _ => {
            out.warn_of("unknown_type", &source, format!("a message of role {role}: passed through"));
            of_role(&role)
        }
    };
    Some(Message::new(json, source))
}

fn is_result(message: Slice<'_>) -> bool {
    message.says("role", "toolResult")
}

fn user_text(text: &str) -> String {
    message("user", &list(&[text_block(text)]))
}

fn summary_message(summary: &str, source: Source) -> Message {
    Message::new(user_text(&format!("<summary>\n{summary}\n</summary>")), source)
}

/// A command that the user ran, and what came of it.
fn command_in_words(value: Slice<'_>) -> String {
    let [command, output] = ["command", "output"].map(|name| value.text(name).unwrap_or_default());
    let mut text = format!("$ {command}\n{output}");
    if value.flag("cancelled") {
        text.push_str("\n(cancelled)");
    } else if let Some(code) = value.get("exitCode").map(Slice::raw).filter(|code| *code != "0") {
        text.push_str("\n(exit code ");
        text.push_str(code);
        text.push(')');
    }
    text
}

fn content(content: Slice<'_>) -> String {
    if content.is_array() {
        list(&content.list().into_iter().map(block).collect::<Vec<_>>())
    } else {
        content.raw().to_owned()
    }
}

fn block(block: Slice<'_>) -> String {
    match block.text("type").as_deref() {
        Some("thinking") => thinking(block),
        Some("toolCall") => of_type("tool_use")
            .value("id", block.get("id"))
            .value("name", block.get("name"))
            .raw("input", block.get("arguments").or(block.get("input")).map_or("{}", Slice::raw))
            .value("thoughtSignature", block.get("thoughtSignature"))
            .build(),
        Some("toolResult") if block.get("text").is_some() => of_type("text").value("text", block.get("text")).build(),
        Some("image") if block.get("data").is_some() => {
            let source = of_type("base64").value("media_type", block.get("mimeType")).value("data", block.get("data"));
            of_type("image").raw("source", &source.build()).build()
        }
        _ => block.raw().to_owned(),
    }
}

/// Pi keeps three things as `thinkingSignature`: Anthropic's signature, a whole reasoning item of OpenAI's as JSON, and
/// the name of the field that an OpenAI-like server put its thinking in, which signs nothing.
fn thinking(block: Slice<'_>) -> String {
    let signature = block.get("thinkingSignature").filter(|signature| signature.is_string());
    let text = signature.and_then(Slice::str).unwrap_or_default();
    let plain = of_type("thinking").value("thinking", block.get("thinking"));
    match &*text {
        _ if text.starts_with('{') => block.raw().to_owned(),
        "" | "reasoning" | "reasoning_content" | "reasoning_text" => plain.build(),
        _ if block.flag("redacted") => of_type("redacted_thinking").value("data", signature).build(),
        _ => plain.value("signature", signature).build(),
    }
}
