//! Goose: session files of lines (`role`, `created`, `content[]`), `goose session export` as JSON, and bare content
//! blocks. Messages become Anthropic's.

use crate::document::{Document, Slice};

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely, possible};
use super::line::Line;
use super::output::{Message, Outcome, Output, Source};
use super::parts::{as_string, only, text_of, tool_result, tool_use};
use super::write::{Object, list, message};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((sniff_line, reader)),
    document: Some((sniff, read)),
    ..Format::new("goose", "Goose session")
};

/// Types that only Goose writes.
const OWN: [&str; 5] = ["toolRequest", "toolResponse", "frontendToolRequest", "systemNotification", "redactedThinking"];
/// Notes of the host's, which it does not send.
const NOTES: [&str; 6] = [
    "toolConfirmationRequest",
    "actionRequired",
    "systemNotification",
    "contextLengthExceeded",
    "summarizationRequested",
    "conversationCompacted",
];

fn is_own(block: Slice<'_>) -> bool {
    let kind = block.text("type").unwrap_or_default();
    OWN.contains(&&*kind) || NOTES.contains(&&*kind)
}

fn sniff_line(line: Slice<'_>) -> Option<Sniff> {
    if is_own(line) {
        return certain("content blocks toolRequest or toolResponse");
    }
    if line.text("content_json").is_some_and(|content| content.starts_with('[')) {
        return likely("rows with content_json");
    }
    if line.get("working_dir").is_some() && line.get("message_count").is_some() {
        return certain("a first line with working_dir and message_count");
    }
    line.text("role")?;
    let content = line.get("content").filter(|content| content.is_array())?;
    if content.list().into_iter().any(is_own) {
        return certain("content with toolRequest or toolResponse");
    }
    line.get("created").and_then(|_| possible("messages with created and content blocks"))
}

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    let messages = conversation(root).0.list();
    if messages.iter().filter_map(|message| message.get("content")).flat_map(Slice::list).any(is_own) {
        return certain("messages with toolRequest or toolResponse");
    }
    (root.get("working_dir").is_some() && !messages.is_empty()).then(|| likely("a session with working_dir")).flatten()
}

/// The list of messages, and the way to it.
fn conversation(root: Slice<'_>) -> (Slice<'_>, &'static str) {
    let names = ["conversation", "messages"];
    names.into_iter().find_map(|name| root.get(name).map(|list| (list, name))).unwrap_or((root, ""))
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    let (list, name) = conversation(root);
    for (index, value) in list.list().into_iter().enumerate() {
        let source = out.place(format!("{name}[{index}]"), value);
        read_message(value, source, scope, out);
    }
}

fn reader(scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader(scope))
}

struct Reader(Scope);

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        if value.get("role").is_some() {
            read_message(value, Source::of_line(line), self.0, out);
        } else if let Some(kind) = value.text("type") {
            // A block without its message: results are the user's, the rest is the model's.
            let mut message = Under::new(Source::of_line(line));
            message.block(value, out);
            message.finish(if kind == "toolResponse" { "user" } else { "assistant" }, self.0, out);
        } else {
            let is_head = value.get("working_dir").is_some() || value.get("description").is_some();
            out.count(if is_head { "session" } else { "unknown" });
            if !is_head {
                out.warn_line("unknown_type", line.number, "a line without a role or a type: left out");
            }
        }
    }

    fn finish(self: Box<Self>, _: &mut Output) {}
}

fn read_message(value: Slice<'_>, source: Source, scope: Scope, out: &mut Output) {
    let mut message = Under::new(Source { id: value.text("id").map(|id| id.into_owned()), ..source });
    if value.get("metadata").and_then(|metadata| metadata.get("agentVisible")).is_some_and(|seen| seen.raw() == "false")
    {
        message.source.branch = Some("compacted");
    }
    let role = value.text("role").unwrap_or_default();
    // The database keeps the blocks as text.
    let packed = value.text("content_json").and_then(|content| Document::parse(content.into_owned()).ok());
    let content = packed.as_ref().map(Document::root).or(value.get("content"));
    if let Some(text) = content.filter(|content| content.is_string()) {
        out.put(Message::new(super::write::message(&role, text.raw()), message.source), scope);
        return;
    }
    content.map(Slice::list).unwrap_or_default().into_iter().for_each(|block| message.block(block, out));
    message.finish(&role, scope, out);
}

/// A message under way.
struct Under {
    source: Source,
    blocks: Vec<String>,
    outcomes: Vec<Outcome>,
}

impl Under {
    fn new(source: Source) -> Self {
        Under { source, blocks: Vec::new(), outcomes: Vec::new() }
    }

    fn finish(self, role: &str, scope: Scope, out: &mut Output) {
        if self.blocks.is_empty() {
            return out.count("empty");
        }
        let json = message(role, &list(&self.blocks));
        out.put(Message { json, source: self.source, outcomes: self.outcomes }, scope);
    }

    fn block(&mut self, block: Slice<'_>, out: &mut Output) {
        let kind = block.text("type").unwrap_or_default();
        let id = || block.text("id").unwrap_or_default();
        match &*kind {
            "text" if is_for_user(block) => out.count("for_user"),
            "thinking" => self.blocks.push(only(block, &["type", "thinking", "signature"])),
            "redactedThinking" => {
                let data = block.get("data").map_or("\"\"", Slice::raw);
                self.blocks.push(Object::new().text("type", "redacted_thinking").raw("data", data).build());
            }
            "toolRequest" | "frontendToolRequest" => {
                let call = block.get("toolCall");
                let call = call.and_then(|call| call.get("value")).or(call);
                // A call that could not be read has no name, but its result says so to the model.
                let name = call.and_then(|call| call.text("name")).unwrap_or("invalid_tool_call".into());
                let input = call.and_then(|call| call.get("arguments")).map_or("{}", Slice::raw);
                self.blocks.push(tool_use(&id(), &name, input));
            }
            "toolResponse" => {
                let written = self.result(&id(), block.get("toolResult"), out);
                self.blocks.push(written);
            }
            kind if NOTES.contains(&kind) => out.count(kind),
            _ => {
                if let Some(known) = content(block) {
                    self.blocks.push(known);
                    return;
                }
                out.warn_unknown(&self.source, &kind);
                self.blocks.push(block.raw().to_owned());
            }
        }
    }

    fn result(&mut self, id: &str, result: Option<Slice<'_>>, out: &mut Output) -> String {
        let status = result.and_then(|result| result.text("status")).unwrap_or_default();
        if status == "error" {
            let error = result.and_then(|result| result.get("error")).map(as_string);
            return tool_result(id, error.as_deref(), Some(true));
        }
        let value = result.and_then(|result| result.get("value")).or(result);
        let contents = value.map(|value| value.get("content").unwrap_or(value).list()).unwrap_or_default();
        let mut blocks = Vec::new();
        for item in contents {
            let said = item.text("text").unwrap_or_default();
            if said.starts_with("The user has declined to run this tool") {
                self.outcomes.push(Outcome::refusal(Some(id.to_owned()), "the text of a refusal").inferred());
            }
            if is_for_user(item) {
                out.count("for_user");
                continue;
            }
            blocks.push(content(item).unwrap_or_else(|| text_of(item)));
        }
        let is_error = value.is_some_and(|value| value.flag("isError"));
        tool_result(id, Some(&list(&blocks)), Some(is_error).filter(|is_error| *is_error || status == "success"))
    }
}

/// Whether only the user is meant to see it.
fn is_for_user(block: Slice<'_>) -> bool {
    let audience = block.at(&["annotations", "audience"]).map(Slice::list).unwrap_or_default();
    !audience.is_empty() && !audience.iter().any(|who| who.is("assistant"))
}

/// A text, an image or a resource as Anthropic has it.
fn content(block: Slice<'_>) -> Option<String> {
    match &*block.text("type")? {
        "text" => Some(only(block, &["type", "text"])),
        "image" => {
            let (data, kind) = (block.get("data")?, block.get("mimeType")?);
            let source =
                Object::new().text("type", "base64").raw("media_type", kind.raw()).raw("data", data.raw()).build();
            Some(Object::new().text("type", "image").raw("source", &source).build())
        }
        "resource" => {
            let text = block.at(&["resource", "text"])?;
            Some(text_of(text))
        }
        _ => None,
    }
}
