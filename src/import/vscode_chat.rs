//! VS Code's Copilot chat: the exported JSON (`requests[]`), and the log of patches that it keeps on disk
//! (`{kind, k, v}` a line). Messages become OpenAI Chat's, from the rounds of tool calls where the file has them.

use crate::document::{Document, Slice};

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely};
use super::line::Line;
use super::output::{Message, Outcome, Output, Source};
use super::parts::{as_string, chat_answer, chat_call, chat_call_of, chat_result};
use super::write::{Object, list, message, quoted};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((sniff_line, reader)),
    document: Some((sniff, read)),
    ..Format::new("vscode_chat", "VS Code Copilot chat (JSON export, JSONL log)")
};

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    let requests = root.get("requests").filter(|requests| requests.is_array())?;
    if root.get("responderUsername").is_some() {
        return certain("requests and responderUsername");
    }
    requests.list().first()?.get("requestId").and_then(|_| likely("requests with requestId"))
}

fn sniff_line(line: Slice<'_>) -> Option<Sniff> {
    line.get("kind")?.int()?;
    let is_patch = line.get("k").is_some_and(Slice::is_array);
    let is_start = line.at(&["v", "requests"]).is_some();
    (is_patch || is_start).then(|| certain("patches with kind, k and v")).flatten()
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    let mut found = Vec::new();
    for (index, request) in root.get("requests").map(Slice::list).unwrap_or_default().into_iter().enumerate() {
        let source = out.place(format!("requests[{index}]"), request);
        read_request(request, &source, &mut found, out);
    }
    found.into_iter().for_each(|message| out.put(message, scope));
}

fn reader(scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader { scope, requests: Vec::new() })
}

/// The requests as the patches so far leave them.
struct Reader {
    scope: Scope,
    requests: Vec<(String, Source)>,
}

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        let kind = value.get("kind").and_then(Slice::int).unwrap_or(-1);
        let path = value.get("k").map(Slice::list).unwrap_or_default();
        let new = value.get("v");
        let is_of_requests = path.first().is_some_and(|name| name.is("requests"))
            || path.len() == 1
                && new.is_some_and(|new| new.list().first().is_some_and(|item| item.get("requestId").is_some()));
        let whole = if path.is_empty() { new.and_then(|new| new.get("requests")) } else { new };
        if kind == 0 && path.is_empty() || is_of_requests && path.len() == 1 {
            let items = whole.map(Slice::list).unwrap_or_default();
            let keep = if kind == PUSH { value.get("i").and_then(Slice::int).unwrap_or(i64::MAX) } else { 0 };
            self.requests.truncate(usize::try_from(keep).unwrap_or(usize::MAX));
            self.requests.extend(items.iter().map(|item| (item.raw().to_owned(), Source::of_line(line))));
            return;
        }
        let at = path.get(1).and_then(|index| usize::try_from(index.int()?).ok());
        let request = at.filter(|_| is_of_requests).and_then(|at| self.requests.get_mut(at));
        match (request, path.get(2..)) {
            (Some((text, source)), Some(path)) if path.len() <= DEEPEST => {
                source.also_lines.push(line.number);
                if let Ok(document) = Document::parse(std::mem::take(text)) {
                    *text = patched(Some(document.root()), path, kind, value);
                }
            }
            _ => out.count("patch"),
        }
    }

    fn finish(self: Box<Self>, out: &mut Output) {
        let mut found = Vec::new();
        for (text, source) in self.requests {
            if let Ok(document) = Document::parse(text) {
                read_request(document.root(), &source, &mut found, out);
            }
        }
        found.into_iter().for_each(|message| out.put(message, self.scope));
    }
}

/// How deep trees are looked into, and how long a path can be.
const DEEPEST: usize = 256;
const PUSH: i64 = 2;
const DELETE: i64 = 3;

/// The JSON of a value behind a patch: `v` takes the place of what stands at the path, or its items are added there
/// behind the first `i`.
fn patched(value: Option<Slice<'_>>, path: &[Slice<'_>], kind: i64, patch: Slice<'_>) -> String {
    let new = patch.get("v");
    let Some((step, rest)) = path.split_first() else {
        if kind != PUSH {
            return new.map_or("null", Slice::raw).to_owned();
        }
        let mut items: Vec<&str> = value.map(Slice::list).unwrap_or_default().into_iter().map(Slice::raw).collect();
        let keep = patch.get("i").and_then(Slice::int).and_then(|keep| usize::try_from(keep).ok());
        items.truncate(keep.unwrap_or(usize::MAX));
        items.extend(new.map(Slice::list).unwrap_or_default().into_iter().map(Slice::raw));
        return list(&items);
    };
    let is_gone = rest.is_empty() && kind == DELETE;
    if let Some(array) = value.filter(|value| value.is_array()) {
        let at = step.int().and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX);
        let mut items: Vec<String> = Vec::new();
        for (index, item) in array.list().into_iter().enumerate() {
            if index != at {
                items.push(item.raw().to_owned());
            } else if !is_gone {
                items.push(patched(Some(item), rest, kind, patch));
            }
        }
        if at == items.len() && !is_gone {
            items.push(patched(None, rest, kind, patch));
        }
        return list(&items);
    }
    let name = step.str().unwrap_or_default();
    let mut object = Object::new();
    let mut old = None;
    for (known, field) in value.map(Slice::fields).unwrap_or_default() {
        if known == name {
            old = Some(field);
        } else {
            object = object.raw(&known, field.raw());
        }
    }
    if is_gone { object } else { object.raw(&name, &patched(old, rest, kind, patch)) }.build()
}

/// Adds the messages of a request: what the user asked, and what came of it.
fn read_request(request: Slice<'_>, source: &Source, found: &mut Vec<Message>, out: &mut Output) {
    let mut source = Source { id: request.text("requestId").map(|id| id.into_owned()), ..source.clone() };
    if request.flag("shouldBeRemovedOnSend") || request.get("shouldBeRemovedOnSend").is_some_and(Slice::is_object) {
        source.branch = Some("abandoned");
    }
    let prompt = request.get("message").map(|message| message.get("text").unwrap_or(message));
    if let Some(prompt) = prompt.filter(|prompt| prompt.is_string()) {
        found.push(Message::new(message("user", prompt.raw()), source.clone()));
    } else {
        out.count("no_prompt");
        out.warn_of("unknown_type", &source, "a request whose message is no text");
    }
    let metadata = request.at(&["result", "metadata"]);
    let rounds = metadata.and_then(|metadata| metadata.get("toolCallRounds")).map(Slice::list).unwrap_or_default();
    if rounds.is_empty() {
        read_shown(request, &source, found, out);
    }
    let results = metadata.and_then(|metadata| metadata.get("toolCallResults"));
    let late = metadata.and_then(|metadata| metadata.get("summary"));
    for round in rounds {
        read_round(round, results, &source, found);
        let is_meant = |late: &Slice<'_>| round.get("id").is_some() && late.text("toolCallRoundId") == round.text("id");
        let summary = round.get("summary").or(late.filter(is_meant).and_then(|late| late.get("text")));
        if let Some(summary) = summary.filter(|summary| summary.is_string()) {
            // It stands for the round that carries it, too.
            found.iter_mut().for_each(|message| message.source.branch = Some("compacted"));
            found.push(Message::new(message("user", summary.raw()), source.clone()));
        }
    }
}

fn read_round(round: Slice<'_>, results: Option<Slice<'_>>, source: &Source, found: &mut Vec<Message>) {
    let calls = round.get("toolCalls").map(Slice::list).unwrap_or_default();
    let said = round.get("response").filter(|said| said.is_string()).map_or("\"\"", Slice::raw);
    let mut written = Vec::new();
    for call in &calls {
        written.push(chat_call_of(*call, ["id", "name", "arguments"]));
    }
    let thinking = round.get("thinking");
    if written.is_empty() && said == "\"\"" && thinking.is_none() {
        return;
    }
    let answer = with_thinking(chat_answer(said, &written), thinking, "text");
    found.push(Message::new(answer.build(), source.clone()));
    for call in calls {
        let id = call.text("id").unwrap_or_default();
        let Some(result) = results.and_then(|results| results.get(&id)) else { continue };
        let mut text = String::new();
        for part in result.get("content").map(Slice::list).unwrap_or_default() {
            match part.get("value") {
                Some(value) if value.is_string() => text.push_str(&value.str().unwrap_or_default()),
                Some(value) => collect_text(value.get("node").unwrap_or(value), 0, &mut text),
                None => text.push_str(part.raw()),
            }
        }
        let outcome = if result.flag("hasError") || result.flag("isError") {
            Some(Outcome::failure(Some(id.to_string()), "the result's error flag"))
        } else if text.starts_with("The user chose to skip the tool call") || text.starts_with("The user cancelled") {
            Some(Outcome::refusal(Some(id.to_string()), "the text of a refusal").inferred())
        } else {
            None
        };
        let json = chat_result(Some(&id), &quoted(&text));
        found.push(Message { json, source: source.clone(), outcomes: outcome.into_iter().collect() });
    }
}

/// Adds the texts of a prompt that was kept as a tree.
fn collect_text(node: Slice<'_>, depth: usize, text: &mut String) {
    if depth > DEEPEST {
        return;
    }
    if node.flag("lineBreakBefore") && !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&node.text("text").unwrap_or_default());
    node.get("children")
        .map(Slice::list)
        .unwrap_or_default()
        .into_iter()
        .for_each(|child| collect_text(child, depth + 1, text));
}

fn with_thinking(mut answer: Object, thinking: Option<Slice<'_>>, name: &str) -> Object {
    let Some(thinking) = thinking else { return answer };
    let text = thinking.get(name).map(|text| match text.str() {
        Some(text) => text.into_owned(),
        None => text.list().iter().filter_map(|part| part.str()).collect::<String>(),
    });
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        answer = answer.text("reasoning_content", &text);
    }
    if let Some(data) = thinking.get("encrypted").filter(|data| data.is_string()) {
        let detail = Object::new().text("type", "reasoning.encrypted");
        let detail = if let Some(id) = thinking.get("id") { detail.raw("id", id.raw()) } else { detail };
        answer = answer.raw("reasoning_details", &list(&[detail.raw("data", data.raw()).build()]));
    }
    answer
}

/// A turn under way, from what the user was shown.
#[derive(Default)]
struct Shown {
    text: String,
    calls: Vec<String>,
    results: Vec<(String, Option<Outcome>)>,
}

impl Shown {
    /// Adds a text: behind a call it is the next answer's.
    fn say(&mut self, text: &str, source: &Source, found: &mut Vec<Message>) {
        if !self.calls.is_empty() {
            self.flush(source, found);
        }
        self.text.push_str(text);
    }

    fn flush(&mut self, source: &Source, found: &mut Vec<Message>) {
        let shown = std::mem::take(self);
        if !shown.text.trim().is_empty() || !shown.calls.is_empty() {
            let json = chat_answer(&quoted(&shown.text), &shown.calls).build();
            found.push(Message::new(json, source.clone()));
        }
        for (json, outcome) in shown.results {
            found.push(Message { json, source: source.clone(), outcomes: outcome.into_iter().collect() });
        }
    }
}

/// Adds what the user was shown, where the file does not have what the model saw.
fn read_shown(request: Slice<'_>, source: &Source, found: &mut Vec<Message>, out: &mut Output) {
    let mut shown = Shown::default();
    let mut is_shortened = false;
    for item in request.get("response").map(Slice::list).unwrap_or_default() {
        match &*item.text("kind").unwrap_or_default() {
            "" | "markdownContent" => {
                let text = item.get("value").or(item.at(&["content", "value"]));
                shown.say(&text.and_then(Slice::str).unwrap_or_default(), source, found);
            }
            "inlineReference" => {
                let reference = item.get("inlineReference");
                let path = reference.and_then(|it| {
                    let of_symbol = || it.at(&["location", "uri", "path"]).and_then(Slice::str);
                    it.text("name").or(it.text("path")).or_else(of_symbol)
                });
                shown.say(&item.text("name").or(path).unwrap_or_default(), source, found);
            }
            "toolInvocationSerialized" | "toolInvocation" => is_shortened |= shown.call(item),
            kind => out.count(kind),
        }
    }
    shown.flush(source, found);
    if is_shortened {
        let what = "the file keeps no output of some calls: their result is the line that the user was shown";
        out.warn_of("shortened_result", source, what);
    }
}

impl Shown {
    /// Adds a call, and says whether its result is only a line about it.
    fn call(&mut self, item: Slice<'_>) -> bool {
        let id = item.text("toolCallId").unwrap_or_default();
        let details = item.get("resultDetails");
        let data = item.get("toolSpecificData");
        let input = details.and_then(|details| details.get("input")).or(data.and_then(|data| data.get("rawInput")));
        let command = data.and_then(|data| data.get("commandLine"));
        let command =
            command.and_then(|line| line.get("toolEdited").or(line.get("userEdited")).or(line.get("original")));
        let call = match command.filter(|_| input.is_none()) {
            Some(command) => {
                let arguments = Object::new().raw("command", command.raw()).build();
                let document = Document::parse(arguments).ok();
                chat_call(&id, &item.text("toolId").unwrap_or_default(), document.as_ref().map(Document::root))
            }
            None => chat_call(&id, &item.text("toolId").unwrap_or_default(), input),
        };
        self.calls.push(call);
        let confirmed = item.get("isConfirmed");
        let confirmed = confirmed.map(|it| it.get("type").unwrap_or(it).raw()).unwrap_or_default();
        let is_refused = matches!(confirmed, "0" | "5" | "false");
        if !item.flag("isComplete") && !is_refused {
            return false;
        }
        let output = details.and_then(|details| details.get("output")).map(|output| match output.list() {
            parts if !parts.is_empty() => {
                let texts = parts.iter().filter_map(|part| part.text("value").or(part.text("text")));
                quoted(&texts.collect::<Vec<_>>().concat())
            }
            _ => as_string(output),
        });
        let line = || item.get("pastTenseMessage").or(item.get("invocationMessage"));
        let line = || line().map_or_else(|| "\"\"".to_owned(), |line| as_string(line.get("value").unwrap_or(line)));
        let outcome = if is_refused {
            Some(Outcome::refusal(Some(id.to_string()), "isConfirmed: denied or skipped"))
        } else {
            let is_error = details.is_some_and(|details| details.flag("isError"));
            is_error.then(|| Outcome::failure(Some(id.to_string()), "resultDetails.isError"))
        };
        let is_shortened = output.is_none();
        self.results.push((chat_result(Some(&id), &output.unwrap_or_else(line)), outcome));
        is_shortened
    }
}
