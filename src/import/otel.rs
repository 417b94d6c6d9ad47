//! OpenTelemetry spans of model calls: GenAI attributes (`gen_ai.input.messages`, often JSON in a string) and flattened
//! ones (OpenInference's `llm.input_messages.0.message.role`, OpenLLMetry's `gen_ai.prompt.0.role`). Every span repeats
//! the conversation so far, so its last span has all of it. Messages become OpenAI Chat's.

use crate::document::{Document, Slice};

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely};
use super::line::Line;
use super::output::{Message, Output, Source};
use super::parts::{as_string, chat_answer, chat_call, chat_call_of, chat_result};
use super::write::{Object, list, message, quoted, text_block};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((sniff, reader)),
    document: Some((sniff, read)),
    ..Format::new("otel", "OpenTelemetry GenAI spans (OTLP JSON)")
};

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    let first = if root.is_array() { *root.list().first()? } else { root };
    if first.get("resourceSpans").or(first.get("scopeSpans")).is_some_and(Slice::is_array) {
        return certain("resourceSpans");
    }
    let first = root.get("spans").and_then(|spans| spans.list().first().copied()).unwrap_or(first);
    let attributes = Attributes::of(first)?;
    let is_known = |(name, _): &(std::borrow::Cow<'_, str>, Slice<'_>)| {
        ["gen_ai.", "llm.", "openinference."].iter().any(|start| name.starts_with(start))
    };
    attributes.0.iter().any(is_known).then(|| likely("spans with gen_ai or llm attributes")).flatten()
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    let mut reader = Reader { scope, threads: Vec::new() };
    let mut found = Vec::new();
    spans(root, String::new(), 0, &mut found);
    for (path, span) in found {
        let source = out.place(path, span);
        reader.span(span, source, out);
    }
    reader.put(out);
}

fn reader(scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader { scope, threads: Vec::new() })
}

/// How deep values are looked into: no writer nests them further.
const DEEPEST: usize = 64;

/// The spans of a value, and the way to each.
fn spans<'a>(value: Slice<'a>, path: String, depth: usize, found: &mut Vec<(String, Slice<'a>)>) {
    if depth > DEEPEST {
        return;
    }
    let names = ["resourceSpans", "scopeSpans", "instrumentationLibrarySpans", "spans"];
    let mut is_span = !value.is_array();
    for (name, list) in names.into_iter().filter_map(|name| Some((name, value.get(name)?))) {
        is_span = false;
        let dot = if path.is_empty() { "" } else { "." };
        spans(list, [&path, dot, name].concat(), depth + 1, found);
    }
    for (index, item) in value.list().into_iter().enumerate() {
        spans(item, format!("{path}[{index}]"), depth + 1, found);
    }
    if is_span {
        found.push((path, value));
    }
}

/// What is known of a span, by name.
struct Attributes<'a>(Vec<(std::borrow::Cow<'a, str>, Slice<'a>)>);

impl<'a> Attributes<'a> {
    /// Those of a span and of the events in it: a list of keys and values, or an object.
    fn of(span: Slice<'a>) -> Option<Self> {
        let mut all = Vec::new();
        let events = span.get("events").map(Slice::list).unwrap_or_default();
        let own = span.get("attributes").or(span.get("Attributes"));
        let carriers = events.iter().filter_map(|event| event.get("attributes"));
        for attributes in own.into_iter().chain(carriers) {
            all.extend(attributes.fields());
            let pairs = attributes.list();
            all.extend(pairs.iter().filter_map(|pair| Some((pair.text("key")?, pair.get("value")?))));
        }
        (!all.is_empty()).then_some(Attributes(all))
    }

    fn get(&self, names: &[&str]) -> Option<Slice<'a>> {
        names.iter().find_map(|name| self.0.iter().find(|(known, _)| known == name)).map(|(_, value)| *value)
    }
}

/// The JSON of an attribute's value: a string that holds JSON is taken as that.
fn json(value: Slice<'_>) -> String {
    if let Some(text) = value.str().or(value.text("stringValue")) {
        return match Document::parse(&*text) {
            Ok(_) => text.into_owned(),
            Err(_) => quoted(&text),
        };
    }
    plain(value, 0)
}

/// The JSON of a value that OTLP writes with its type.
fn plain(value: Slice<'_>, depth: usize) -> String {
    if depth > DEEPEST {
        return value.raw().to_owned();
    }
    let depth = depth + 1;
    if let Some(values) = value.at(&["arrayValue", "values"]) {
        return list(&values.list().into_iter().map(|value| plain(value, depth)).collect::<Vec<_>>());
    }
    if let Some(values) = value.at(&["kvlistValue", "values"]) {
        let pairs = values.list();
        let pairs = pairs.iter().filter_map(|pair| Some((pair.text("key")?, pair.get("value")?)));
        return pairs.fold(Object::new(), |object, (name, value)| object.raw(&name, &plain(value, depth))).build();
    }
    if let Some(number) = value.text("intValue") {
        return number.into_owned();
    }
    let names = ["stringValue", "boolValue", "intValue", "doubleValue"];
    names.iter().find_map(|name| value.get(name)).unwrap_or(value).raw().to_owned()
}

fn text(value: Slice<'_>) -> String {
    let text = value.text("stringValue").or(value.str());
    text.map_or_else(|| plain(value, 0), |text| text.into_owned())
}

/// A conversation, and its latest span so far.
struct Thread {
    id: String,
    start: (usize, String),
    messages: Vec<Message>,
    /// What earlier spans said and the latest does not; only where everything is wanted.
    others: Vec<Message>,
}

struct Reader {
    scope: Scope,
    threads: Vec<Thread>,
}

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let mut found = Vec::new();
        spans(line.value, String::new(), 0, &mut found);
        for (_, span) in found {
            self.span(span, Source::of_line(line), out);
        }
    }

    fn finish(self: Box<Self>, out: &mut Output) {
        self.put(out);
    }
}

impl Reader {
    fn span(&mut self, span: Slice<'_>, source: Source, out: &mut Output) {
        let messages = Attributes::of(span).map(|attributes| (messages(&attributes, &source), attributes));
        let Some((messages, attributes)) = messages.filter(|(messages, _)| !messages.is_empty()) else {
            return out.count("span");
        };
        out.count("chat_span");
        let known = attributes.get(&["gen_ai.conversation.id", "session.id"]).map(text);
        let trace = || span.text("traceId").or(span.at(&["context", "trace_id"]).and_then(Slice::str));
        let id = known.or(trace().map(|id| id.into_owned())).unwrap_or_default();
        let start = span.get("startTimeUnixNano").or(span.get("start_time")).map(text).unwrap_or_default();
        // Numbers without leading zeros: the longer one is the greater.
        let start = (start.len(), start);
        let Some(thread) = self.threads.iter_mut().find(|thread| thread.id == id) else {
            self.threads.push(Thread { id, start, messages, others: Vec::new() });
            return;
        };
        let mut older = messages;
        if start >= thread.start {
            thread.start = start;
            std::mem::swap(&mut thread.messages, &mut older);
        }
        if self.scope == Scope::All {
            let is_new = |message: &Message| !thread.others.iter().any(|known| known.json == message.json);
            older.retain(is_new);
            thread.others.append(&mut older);
        }
    }

    fn put(mut self, out: &mut Output) {
        if self.threads.is_empty() {
            out.warn_path("no_messages", "", "no span holds messages under a known name");
            return;
        }
        let index = out.choose(self.threads.len(), "");
        let Some(thread) = self.threads.get_mut(index) else { return };
        for mut message in std::mem::take(&mut thread.others) {
            if !thread.messages.iter().any(|known| known.json == message.json) {
                message.source.branch = Some("abandoned");
                out.put(message, self.scope);
            }
        }
        std::mem::take(&mut thread.messages).into_iter().for_each(|message| out.put(message, self.scope));
    }
}

/// The messages of a span: what was sent, then what came.
fn messages(attributes: &Attributes<'_>, source: &Source) -> Vec<Message> {
    let mut found = Vec::new();
    let system = attributes.get(&["gen_ai.system_instructions"]).map(json);
    if let Some(document) = system.and_then(|text| Document::parse(text).ok()) {
        let parts = document.root();
        let content = if parts.is_array() { contents(&parts.list()) } else { parts.raw().to_owned() };
        found.push(message("system", &content));
    }
    for names in [["gen_ai.input.messages", "pydantic_ai.all_messages"], ["gen_ai.output.messages", ""]] {
        let value = attributes.get(&names).map(json);
        let Some(document) = value.and_then(|text| Document::parse(text).ok()) else { continue };
        document.root().list().into_iter().for_each(|message| read_message(message, &mut found));
    }
    if found.is_empty() {
        for start in ["llm.input_messages.", "gen_ai.prompt.", "llm.output_messages.", "gen_ai.completion."] {
            read_flat(attributes, start, &mut found);
        }
    }
    found.into_iter().map(|json| Message::new(json, source.clone())).collect()
}

/// A message of parts: its results are messages of their own.
fn read_message(value: Slice<'_>, found: &mut Vec<String>) {
    let role = value.text("role").unwrap_or_default();
    let Some(parts) = value.get("parts").filter(|parts| parts.is_array()) else {
        // Some writers keep the provider's own messages.
        found.push(value.raw().to_owned());
        return;
    };
    let (mut said, mut calls, mut results, mut thoughts) = (Vec::new(), Vec::new(), Vec::new(), String::new());
    for part in parts.list() {
        match part.text("type").as_deref() {
            Some("tool_call") => {
                calls.push(chat_call_of(part, ["id", "name", "arguments"]));
            }
            Some("tool_call_response") => {
                let content = part.get("response").or(part.get("result")).map_or_else(|| "\"\"".to_owned(), as_string);
                results.push(chat_result(part.text("id").as_deref(), &content));
            }
            Some("reasoning" | "thinking") => thoughts.push_str(&part.text("content").unwrap_or_default()),
            _ => said.push(part),
        }
    }
    let is_answer = role == "assistant" || role == "model" || !calls.is_empty();
    if is_answer {
        let answer = chat_answer(&contents(&said), &calls);
        found.push(if thoughts.is_empty() { answer } else { answer.text("reasoning_content", &thoughts) }.build());
    }
    found.append(&mut results);
    if !is_answer && !said.is_empty() {
        found.push(message(if role == "tool" { "user" } else { &role }, &contents(&said)));
    }
}

/// What a part of text says.
fn said<'a>(part: &Slice<'a>) -> Option<Slice<'a>> {
    let is_text = part.get("type").is_some_and(|kind| kind.is("text"));
    part.get("content").filter(|content| is_text && content.is_string())
}

/// A text where there is nothing else, else blocks.
fn contents(parts: &[Slice<'_>]) -> String {
    match parts {
        [] => "\"\"".to_owned(),
        [one] if said(one).is_some() => said(one).map_or_else(String::new, |text| text.raw().to_owned()),
        parts => list(
            &parts
                .iter()
                .map(|part| match said(part).and_then(Slice::str) {
                    Some(text) => text_block(&text),
                    None => part.raw().to_owned(),
                })
                .collect::<Vec<_>>(),
        ),
    }
}

/// A message under way whose fields are attributes of their own.
#[derive(Default)]
struct Flat {
    index: usize,
    role: String,
    content: Option<String>,
    parts: Vec<(usize, String)>,
    calls: Vec<FlatCall>,
    call_id: Option<String>,
}

#[derive(Default)]
struct FlatCall {
    index: usize,
    id: String,
    name: String,
    arguments: Option<String>,
}

fn read_flat(attributes: &Attributes<'_>, start: &str, found: &mut Vec<String>) {
    let mut messages: Vec<Flat> = Vec::new();
    for (name, value) in &attributes.0 {
        let Some((index, field)) = name.strip_prefix(start).and_then(numbered) else { continue };
        let at = messages.iter().position(|message| message.index >= index).unwrap_or(messages.len());
        if messages.get(at).is_none_or(|message| message.index != index) {
            messages.insert(at, Flat { index, ..Flat::default() });
        }
        if let Some(message) = messages.get_mut(at) {
            message.set(field.strip_prefix("message.").unwrap_or(field), *value);
        }
    }
    found.extend(messages.into_iter().map(Flat::build));
}

/// A number and what comes behind its dot.
fn numbered(text: &str) -> Option<(usize, &str)> {
    let (index, rest) = text.split_once('.')?;
    Some((index.parse().ok()?, rest))
}

impl Flat {
    fn set(&mut self, field: &str, value: Slice<'_>) {
        if let Some((index, field)) = field.strip_prefix("contents.").and_then(numbered) {
            match field {
                "message_content.text" => self.parts.push((index, text_block(&text(value)))),
                "message_content.image.image.url" => {
                    let url = Object::new().text("url", &text(value)).build();
                    self.parts.push((index, Object::new().text("type", "image_url").raw("image_url", &url).build()));
                }
                _ => {}
            }
            return;
        }
        if let Some((index, field)) = field.strip_prefix("tool_calls.").and_then(numbered) {
            let at = self.calls.iter().position(|call| call.index == index).unwrap_or(self.calls.len());
            if at == self.calls.len() {
                self.calls.push(FlatCall { index, ..FlatCall::default() });
            }
            let Some(call) = self.calls.get_mut(at) else { return };
            match field {
                "tool_call.id" | "id" => call.id = text(value),
                "tool_call.function.name" | "name" => call.name = text(value),
                "tool_call.function.arguments" | "arguments" => call.arguments = Some(text(value)),
                _ => {}
            }
            return;
        }
        match field {
            "role" => self.role = text(value),
            "content" => self.content = Some(quoted(&text(value))),
            "tool_call_id" => self.call_id = Some(text(value)),
            _ => {}
        }
    }

    fn build(mut self) -> String {
        let mut parts = Vec::new();
        while let Some(at) = (0..self.parts.len()).min_by_key(|at| self.parts.get(*at).map(|(index, _)| *index)) {
            parts.push(self.parts.remove(at).1);
        }
        let content = self.content.unwrap_or_else(|| if parts.is_empty() { "\"\"".to_owned() } else { list(&parts) });
        if self.role == "tool" {
            return chat_result(self.call_id.as_deref(), &content);
        }
        if self.calls.is_empty() {
            return message(&self.role, &content);
        }
        let mut calls = Vec::new();
        for call in &self.calls {
            let arguments = call.arguments.as_deref().map(quoted).and_then(|text| Document::parse(text).ok());
            calls.push(chat_call(&call.id, &call.name, arguments.as_ref().map(Document::root)));
        }
        chat_answer(&content, &calls).build()
    }
}
