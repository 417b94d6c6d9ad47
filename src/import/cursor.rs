//! Cursor agent transcripts: lines of `role` and `message`, or a text of `user:` and `assistant:` blocks. Messages are
//! Anthropic's. Many files hold no results, and the text no ids.

use std::borrow::Cow;

use crate::document::{Index, Slice};

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely, possible};
use super::line::{Line, RawLine, each_line, is_blank};
use super::output::{Message, Output, Source};
use super::write::{Object, list, message, of_type, text_block};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((sniff, reader)),
    text: Some((sniff_text, read_text)),
    ..Format::new("cursor", "Cursor agent transcript (JSONL, text)")
};

fn sniff(line: Slice<'_>) -> Option<Sniff> {
    let is_own = line.get("role").is_some_and(Slice::is_string)
        && line.get("message").is_some_and(|message| message.is_object() && message.get("role").is_none())
        && ["type", "uuid", "sessionId"].iter().all(|name| line.own(name).is_none());
    if is_own { likely("lines with role and message, and no type") } else { None }
}

fn reader(_: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader)
}

struct Reader;

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        let content = value.at(&["message", "content"]);
        match (value.text("role"), content) {
            (Some(role), Some(content)) => {
                let place = Source::of_line(line);
                out.messages.push(Message::new(message(&role, content.raw()), place));
            }
            (Some(_), None) => {
                out.count("empty");
                out.warn_line("empty_message", line.number, "a message without content: left out");
            }
            (None, _) => match value.text("type") {
                Some(kind) => out.count(&kind),
                None => out.unknown(&Source::of_line(line), "a line without a role,", ""),
            },
        }
    }

    fn finish(self: Box<Self>, _: &mut Output) {}
}

/// The role that a line of the text gives to the lines behind it.
fn role_of(line: &str) -> Option<&'static str> {
    match line.trim_end() {
        "user:" => Some("user"),
        "assistant:" => Some("assistant"),
        _ => None,
    }
}

fn sniff_text(text: &str) -> Option<Sniff> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    let has = |role: &str| text.lines().any(|line| role_of(line) == Some(role));
    match role_of(first) {
        Some(_) if has("user") && has("assistant") => certain("a text of user: and assistant: blocks"),
        Some(_) => possible("a text that starts with user: or assistant:"),
        None => None,
    }
}

fn read_text(text: &str, _: Scope, out: &mut Output) {
    let mut reader = TextReader::default();
    each_line(text.as_bytes(), &mut |line| reader.line(line, out));
    reader.end_block();
    if reader.is_empty {
        out.count("empty");
    }
    reader.end_message(out);
}

/// The message and the block under way.
#[derive(Default)]
struct TextReader {
    role: &'static str,
    /// Whether a person wrote it.
    is_prompt: bool,
    /// Whether nothing stands behind the role yet.
    is_empty: bool,
    source: Source,
    blocks: Vec<String>,
    kind: Marker,
    name: String,
    body: String,
    /// Calls that have no result yet: id and name.
    open: Vec<(String, String)>,
    calls: usize,
}

/// What a marker at the start of a line begins.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Marker {
    #[default]
    Text,
    Thinking,
    Call,
    Result,
}

fn marker(line: &str) -> Option<(Marker, &str)> {
    let markers = [("[Thinking]", Marker::Thinking), ("[Tool call]", Marker::Call), ("[Tool result]", Marker::Result)];
    markers.into_iter().find_map(|(start, kind)| Some((kind, line.strip_prefix(start)?.trim())))
}

impl TextReader {
    fn line(&mut self, raw: RawLine<'_>, out: &mut Output) {
        let text = String::from_utf8_lossy(raw.bytes);
        if let Some(role) = role_of(&text) {
            self.end_block();
            if self.is_empty && self.blocks.is_empty() {
                out.count("empty");
            }
            self.end_message(out);
            self.begin_message(role, &raw, out);
            (self.is_prompt, self.is_empty) = (role == "user", true);
            return;
        }
        if self.role.is_empty() {
            if !is_blank(raw.bytes) {
                out.warn_line("unknown_type", raw.number, "text before the first message: left out");
            }
            return;
        }
        self.is_empty &= is_blank(raw.bytes);
        // Whatever a person writes is text.
        match marker(&text).filter(|_| !self.is_prompt) {
            Some((kind, rest)) => {
                self.end_block();
                // Results are the user's, all else the assistant's.
                let role = if kind == Marker::Result { "user" } else { "assistant" };
                self.turn_to(role, &raw, out);
                self.kind = kind;
                if kind == Marker::Thinking {
                    self.body = rest.to_owned();
                } else {
                    self.name = rest.to_owned();
                }
            }
            None => {
                // The body of a marker is indented; prose at the margin ends it.
                let is_prose = !is_blank(raw.bytes) && !text.starts_with([' ', '\t']);
                if self.kind != Marker::Text && is_prose {
                    self.end_block();
                    self.turn_to("assistant", &raw, out);
                }
                if !self.body.is_empty() {
                    self.body.push('\n');
                }
                self.body.push_str(&text);
            }
        }
        self.source.end = out.base + raw.start + raw.bytes.len();
    }

    fn begin_message(&mut self, role: &'static str, raw: &RawLine<'_>, out: &Output) {
        self.role = role;
        let (start, end) = (out.base + raw.start, out.base + raw.start + raw.bytes.len());
        self.source = Source { line: Some(raw.number), start, end, ..Source::default() };
    }

    fn turn_to(&mut self, role: &'static str, raw: &RawLine<'_>, out: &mut Output) {
        if self.role != role {
            self.end_message(out);
            self.begin_message(role, raw, out);
        }
    }

    fn end_block(&mut self) {
        let body = std::mem::take(&mut self.body);
        let body = body.trim_matches(['\n', '\r']);
        let name = std::mem::take(&mut self.name);
        let block = match std::mem::take(&mut self.kind) {
            Marker::Text if body.trim().is_empty() => return,
            Marker::Text => text_block(body),
            Marker::Thinking => of_type("thinking").text("thinking", &dedented(body)).build(),
            Marker::Call => {
                // The text has no ids, and a request needs them.
                self.calls += 1;
                let id = format!("call_{}", self.calls);
                let call =
                    of_type("tool_use").text("id", &id).text("name", &name).raw("input", &input(&dedented(body)));
                self.open.push((id, name));
                call.build()
            }
            Marker::Result => {
                let known = self.open.iter().position(|(_, called)| *called == name);
                let id = match known {
                    Some(at) => self.open.remove(at).0,
                    None => "unknown".to_owned(),
                };
                of_type("tool_result").text("tool_use_id", &id).text("content", &dedented(body)).build()
            }
        };
        self.blocks.push(block);
    }

    fn end_message(&mut self, out: &mut Output) {
        let blocks = std::mem::take(&mut self.blocks);
        if !blocks.is_empty() {
            out.messages.push(Message::new(message(self.role, &list(&blocks)), self.source.clone()));
        }
    }
}

/// A body without the indentation that all of its lines share.
fn dedented(body: &str) -> Cow<'_, str> {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let shared = body.lines().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    if shared == 0 {
        return Cow::Borrowed(body);
    }
    let mut text = String::with_capacity(body.len());
    for (index, line) in body.lines().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        text.push_str(line.get(shared..).unwrap_or_default());
    }
    Cow::Owned(text)
}

/// A call's arguments: JSON as it stands, lines of `name=value`, or else one text.
fn input(body: &str) -> String {
    let index = Index::of(body);
    if let Ok(index) = index
        && index.root(body).is_object()
    {
        return body.trim().to_owned();
    }
    let mut fields = Object::new();
    for line in body.lines() {
        let Some((name, value)) = line.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
            return Object::new().text("text", body).build();
        };
        fields = fields.text(name.trim(), value.trim());
    }
    fields.build()
}
