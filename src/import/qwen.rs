//! Qwen Code session files (`~/.qwen/projects/*/chats/*.jsonl`): lines like Claude Code's, messages as Gemini contents.

use crate::document::Slice;

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely};
use super::gemini_cli::{outcome, said};
use super::line::Line;
use super::output::{Message, Outcome, Output, Source};
use super::tree::{Link, active_path};

/// The format.
pub const FORMAT: Format = Format { lines: Some((sniff, reader)), ..Format::new("qwen", "Qwen Code session (JSONL)") };

fn sniff(line: Slice<'_>) -> Option<Sniff> {
    let has_id = line.get("uuid").is_some() || line.get("sessionId").is_some();
    if line.text("type")? == "system" {
        let is_compression = line.says("subtype", "chat_compression");
        return if is_compression { certain("a system line of subtype chat_compression") } else { None };
    }
    line.at(&["message", "parts"]).filter(|parts| parts.is_array())?;
    if has_id {
        certain("lines with type, uuid and message.parts")
    } else {
        likely("lines with type and message.parts")
    }
}

fn reader(scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader { scope, entries: Vec::new() })
}

struct Reader {
    scope: Scope,
    entries: Vec<Entry>,
}

/// A line of the tree.
struct Entry {
    link: Link,
    messages: Vec<Message>,
    is_result: bool,
    /// Whether its messages stand for everything before them.
    is_compression: bool,
}

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        let text = |name: &str| value.string(name);
        let kind = value.text("type").unwrap_or_default();
        let link = Link { id: text("uuid"), parent: text("parentUuid") };
        let mut source = Source::of_line(line);
        source.id.clone_from(&link.id);
        let mut entry = Entry { link, messages: Vec::new(), is_result: false, is_compression: false };
        let history = value.at(&["systemPayload", "compressedHistory"]).filter(|history| history.is_array());
        if let Some(message) = value.get("message").filter(|message| message.get("parts").is_some()) {
            if !matches!(&*kind, "user" | "assistant" | "tool_result") {
                out.warn_line(
                    "unknown_type",
                    line.number,
                    format!("a message in a line of type {kind}: passed through"),
                );
            }
            let place = Source::in_line(line, message);
            (source.start, source.end) = (place.start, place.end);
            let mut message_of = Message::new(message.raw().to_owned(), source);
            let parts = message.get("parts").map(Slice::list).unwrap_or_default();
            if let Some(response) = parts.iter().find_map(|part| part.get("functionResponse")) {
                entry.is_result = true;
                message_of.outcomes.extend(outcome_of(value, response));
            }
            entry.messages.push(message_of);
        } else if let (true, Some(history)) = (kind == "system", history) {
            entry.is_compression = true;
            for content in history.list() {
                entry.messages.push(Message::new(content.raw().to_owned(), Source::in_line(line, content)));
            }
            out.count("system:chat_compression");
        } else {
            match (&*kind, value.text("subtype")) {
                ("" | "user" | "assistant" | "tool_result", _) => {
                    out.unknown(&source, "a line without a message,", "");
                }
                (_, Some(subtype)) => out.count(&format!("{kind}:{subtype}")),
                (_, None) => out.count(&kind),
            }
        }
        // Lines that are no messages can be the parents of some.
        if entry.link.id.is_some() || !entry.messages.is_empty() {
            self.entries.push(entry);
        }
    }

    fn finish(self: Box<Self>, out: &mut Output) {
        let Reader { scope, mut entries } = *self;
        let links: Vec<&Link> = entries.iter().map(|entry| &entry.link).collect();
        let path = active_path(&links, out);
        let is_on_path = |index: usize| path.as_ref().is_none_or(|path| path.get(index) == Some(&true));
        let compressed =
            entries.iter().enumerate().rposition(|(index, entry)| entry.is_compression && is_on_path(index));
        for (index, entry) in entries.iter_mut().enumerate() {
            for message in &mut entry.messages {
                if !is_on_path(index) {
                    message.source.leave("abandoned");
                } else if compressed.is_some_and(|compressed| index < compressed) {
                    message.source.leave("compacted");
                }
            }
        }
        let mut messages = Vec::new();
        for entry in entries {
            messages.extend(entry.messages.into_iter().map(|message| (message, entry.is_result)));
        }
        out.put_joined(messages, "parts", scope);
    }
}

/// What the line says of the result in it.
fn outcome_of(line: Slice<'_>, response: Slice<'_>) -> Option<Outcome> {
    let status = line.get("toolCallResult").and_then(|result| result.text("status"));
    let shell = said(response).filter(|_| response.says("name", "run_shell_command"));
    outcome(response.string("id"), status.as_deref(), shell.as_deref())
}
