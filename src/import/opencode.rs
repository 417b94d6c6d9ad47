//! OpenCode: `opencode export` (`info` and `messages[]{info, parts}`), and its stored messages and parts as lines.
//! Messages become UI messages of the AI SDK, in which a call and its result are one part, as in OpenCode's own.

use crate::document::{Document, Slice};

use super::format::{Format, ReadLines, Scope, Sniff, certain, possible};
use super::line::Line;
use super::output::{Message, Outcome, Output, Source};
use super::write::{Object, list};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((sniff_line, reader)),
    document: Some((sniff, read)),
    ..Format::new("opencode", "OpenCode export (JSON)")
};

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    let messages = root.get("messages").unwrap_or(root).list();
    let first = messages.first()?;
    let is_with_parts = first.get("info").is_some_and(Slice::is_object) && first.get("parts").is_some();
    is_with_parts.then(|| certain("messages with info and parts")).flatten()
}

fn sniff_line(line: Slice<'_>) -> Option<Sniff> {
    if line.get("sessionID").is_some() && (line.get("messageID").is_some() || line.get("role").is_some()) {
        return certain("stored messages and parts with sessionID");
    }
    let is_state = line.get("input").is_some_and(Slice::is_object) && line.at(&["metadata", "exit"]).is_some();
    is_state.then(|| possible("states of tool parts: input and metadata.exit")).flatten()
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    let list = root.get("messages").unwrap_or(root);
    let prefix = if root.is_object() { "messages[" } else { "[" };
    let mut entries = Vec::new();
    for (index, value) in list.list().into_iter().enumerate() {
        let source = out.place(format!("{prefix}{index}]"), value);
        entries.extend(Entry::read(value, source, scope, out));
    }
    finish(entries, scope, out);
}

fn reader(scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader { scope, messages: Vec::new() })
}

/// Stored lines: a message, then its parts.
struct Reader {
    scope: Scope,
    messages: Vec<(String, Source, Vec<String>)>,
}

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        if value.get("role").is_some() {
            let id = value.text("id").map(|id| id.into_owned());
            self.messages.push((value.raw().to_owned(), Source { id, ..Source::of_line(line) }, Vec::new()));
            return;
        }
        let id = value.text("messageID");
        let owner =
            self.messages.iter().rposition(|(_, source, _)| id.is_some() && source.id.as_deref() == id.as_deref());
        let owner = owner.or(self.messages.len().checked_sub(1)).and_then(|at| self.messages.get_mut(at));
        match (value.get("type"), owner) {
            (Some(_), Some((_, source, parts))) => {
                parts.push(value.raw().to_owned());
                source.also_lines.push(line.number);
            }
            _ => {
                out.count("part");
                out.warn_line("unknown_type", line.number, "a part whose message is not in this file: left out");
            }
        }
    }

    fn finish(self: Box<Self>, out: &mut Output) {
        let mut entries = Vec::new();
        for (info, source, parts) in self.messages {
            let text = Object::new().raw("info", &info).raw("parts", &list(&parts)).build();
            if let Ok(document) = Document::parse(text) {
                entries.extend(Entry::read(document.root(), source, self.scope, out));
            }
        }
        finish(entries, self.scope, out);
    }
}

/// A message and what decides whether the model sees it.
struct Entry {
    message: Message,
    parent: Option<String>,
    /// The user's message that asks for a compaction, and from where on messages stay as they were.
    compaction: Option<Option<String>>,
    /// A summary that is complete.
    is_summary: bool,
}

impl Entry {
    fn read(value: Slice<'_>, source: Source, scope: Scope, out: &mut Output) -> Option<Entry> {
        let Some(info) = value.get("info") else {
            out.count("unknown");
            out.warn_of("unknown_type", &source, "a message without info: left out");
            return None;
        };
        let text = |name: &str| info.text(name).map(|text| text.into_owned());
        let role = text("role").unwrap_or_default();
        let source = Source { id: text("id"), ..source };
        let mut entry = Entry {
            message: Message::new(String::new(), source),
            parent: text("parentID"),
            compaction: None,
            is_summary: info.flag("summary") && info.get("finish").is_some() && info.get("error").is_none(),
        };
        let mut parts = Vec::new();
        let mut says = false;
        for part in value.get("parts").map(Slice::list).unwrap_or_default() {
            let written = entry.part(part, scope, out);
            let kind = part.text("type").unwrap_or_default();
            says |= written.is_some() && !matches!(&*kind, "step-start" | "reasoning");
            parts.extend(written);
        }
        if let Some(error) = info.get("error") {
            // An answer that failed is not sent again, unless the user stopped it with something said.
            let is_aborted = error.text("name").is_some_and(|name| name == "MessageAbortedError");
            if !(is_aborted && says) {
                entry.message.source.branch = Some("hidden");
            }
        }
        if parts.is_empty() {
            out.count("empty");
            return None;
        }
        let mut json = Object::new();
        if let Some(id) = info.get("id") {
            json = json.raw("id", id.raw());
        }
        entry.message.json = json.text("role", &role).raw("parts", &list(&parts)).build();
        Some(entry)
    }

    /// A part as the AI SDK has it; `None` for what is not sent.
    fn part(&mut self, part: Slice<'_>, scope: Scope, out: &mut Output) -> Option<String> {
        let kind = part.text("type").unwrap_or_default();
        let text = |text: &str| Some(Object::new().text("type", "text").text("text", text).build());
        match &*kind {
            "text" if part.flag("ignored") => {
                out.count("ignored");
                None
            }
            "text" | "reasoning" => {
                let object = Object::new().text("type", &kind).raw("text", part.get("text").map_or("\"\"", Slice::raw));
                Some(with_metadata(object, "providerMetadata", part).build())
            }
            "tool" => self.tool(part, scope),
            "step-start" => Some(Object::new().text("type", "step-start").build()),
            "file" => {
                let mime = part.text("mime").unwrap_or_default();
                // Texts and folders were written into the prompt.
                if matches!(&*mime, "text/plain" | "application/x-directory") {
                    out.count("file");
                    return None;
                }
                let mut object = Object::new().text("type", "file").text("mediaType", &mime);
                for name in ["filename", "url"] {
                    if let Some(value) = part.get(name) {
                        object = object.raw(name, value.raw());
                    }
                }
                Some(object.build())
            }
            "compaction" => {
                self.compaction = Some(part.text("tail_start_id").map(|id| id.into_owned()));
                text("What did we do so far?")
            }
            "subtask" => text("The following tool was executed by the user"),
            "agent" | "step-finish" | "snapshot" | "patch" | "retry" => {
                out.count(&kind);
                None
            }
            _ => {
                out.warn_unknown(&self.message.source, &kind);
                Some(part.raw().to_owned())
            }
        }
    }

    fn tool(&mut self, part: Slice<'_>, scope: Scope) -> Option<String> {
        let name = part.text("tool").unwrap_or_default();
        let id = part.text("callID").unwrap_or_default();
        let state = part.get("state").unwrap_or(part);
        let field = |name: &str, or: &'static str| state.get(name).map_or(or, Slice::raw);
        let status = state.text("status").unwrap_or_default();
        let metadata = state.get("metadata");
        let was_interrupted = metadata.is_some_and(|metadata| metadata.flag("interrupted"));
        let kept = metadata.filter(|_| was_interrupted).and_then(|metadata| metadata.get("output"));
        let is_cleared = scope == Scope::Model && state.at(&["time", "compacted"]).is_some();
        let object =
            Object::new().raw("type", &super::write::quoted(&["tool-", &name].concat())).text("toolCallId", &id);
        let ended = |state: &str| object.text("state", state).raw("input", field("input", "{}"));
        let id = || Some(id.clone().into_owned());
        let object = match &*status {
            "completed" => {
                let exit = super::parts::failed_exit(metadata.and_then(|metadata| metadata.get("exit")));
                let is_invalid = (name == "invalid").then(|| "a call of an unknown tool".to_owned());
                if let Some(because) = exit.or(is_invalid) {
                    self.message.outcomes.push(Outcome::failure(id(), because).inferred());
                }
                let output = match state.get("attachments") {
                    _ if is_cleared => "\"[Old tool result content cleared]\"".to_owned(),
                    Some(files) if files.is_array() && !files.list().is_empty() => {
                        Object::new().raw("text", field("output", "\"\"")).raw("attachments", files.raw()).build()
                    }
                    _ => field("output", "\"\"").to_owned(),
                };
                ended("output-available").raw("output", &output)
            }
            "error" => match kept {
                Some(output) => ended("output-available").raw("output", output.raw()),
                None => {
                    let error = state.text("error").unwrap_or_default();
                    if error.starts_with("The user rejected permission")
                        || error.starts_with("The user has specified a rule")
                    {
                        self.message.outcomes.push(Outcome::refusal(id(), "the text of a refusal").inferred());
                    }
                    ended("output-error").raw("errorText", field("error", "\"\""))
                }
            },
            // The file ends before the tool did, or the host was stopped: this is what OpenCode tells the model.
            _ => ended("output-error").text("errorText", "[Tool execution was interrupted]"),
        };
        Some(with_metadata(object, "callProviderMetadata", part).build())
    }
}

fn with_metadata(object: Object, name: &str, part: Slice<'_>) -> Object {
    match part.get("metadata").filter(|metadata| metadata.is_object()) {
        Some(metadata) => object.raw(name, metadata.raw()),
        None => object,
    }
}

/// Leaves out what the last compaction stands for. Its request and its summary come first, then what it kept.
fn finish(mut entries: Vec<Entry>, scope: Scope, out: &mut Output) {
    let summary = entries.iter().rposition(|entry| entry.is_summary);
    let by_id =
        |id: &Option<String>| id.is_some().then(|| entries.iter().position(|entry| entry.message.source.id == *id))?;
    let request = summary.and_then(|at| by_id(&entries.get(at)?.parent));
    let request = request.filter(|at| entries.get(*at).is_some_and(|entry| entry.compaction.is_some()));
    let Some((request, summary)) = request.zip(summary) else {
        entries.into_iter().for_each(|entry| out.put(entry.message, scope));
        return;
    };
    let tail = entries.get(request).and_then(|entry| by_id(entry.compaction.as_ref()?));
    let tail = tail.filter(|tail| *tail < request).unwrap_or(request);
    entries.iter_mut().take(tail).for_each(|entry| entry.message.source.branch = Some("compacted"));
    if scope == Scope::Model {
        // [kept, request, summary] becomes [request, summary, kept].
        if let Some(window) = entries.get_mut(tail..=summary) {
            window.rotate_left(request - tail);
        }
    }
    entries.into_iter().for_each(|entry| out.put(entry.message, scope));
}
