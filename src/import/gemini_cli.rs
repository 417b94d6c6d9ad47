//! Gemini CLI: `chats/session-*.json`, the newer `.jsonl` that is replayed line by line, and checkpoints of
//! `/chat save`. Messages are Gemini contents; call and result are kept in one record and become two messages.

use std::borrow::Cow;

use crate::document::Slice;

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely, possible};
use super::line::Line;
use super::output::{Message, Outcome, Output, Source};
use super::positions::Positions;
use super::write::{Object, list};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((sniff, reader)),
    document: Some((sniff_document, read_document)),
    ..Format::new("gemini_cli", "Gemini CLI session (JSON, JSONL) and /chat save checkpoint")
};

fn is_head(value: Slice<'_>) -> bool {
    value.get("sessionId").is_some() && value.get("projectHash").is_some()
}

fn sniff(line: Slice<'_>) -> Option<Sniff> {
    if is_head(line) && line.get("messages").is_none() {
        return certain("a line with sessionId and projectHash");
    }
    if line.own("$set").is_some() || line.own("$rewindTo").is_some() {
        return certain("a line with $set or $rewindTo");
    }
    let is_record = line.get("id").is_some() && line.says("type", "gemini");
    if is_record { likely("lines of type gemini") } else { None }
}

fn sniff_document(root: Slice<'_>) -> Option<Sniff> {
    let is_content = |list: Slice<'_>| {
        let first = list.list().into_iter().next();
        first.is_some_and(|first| {
            first.get("parts").is_some_and(Slice::is_array)
                && (first.says("role", "user") || first.says("role", "model"))
        })
    };
    if is_head(root) && root.get("messages").is_some_and(Slice::is_array) {
        certain("an object of sessionId, projectHash and messages")
    } else if root.get("history").is_some_and(is_content) {
        certain("a checkpoint: history of contents")
    } else if is_content(root) {
        possible("a list of contents: a checkpoint")
    } else {
        None
    }
}

fn read_document(root: Slice<'_>, scope: Scope, out: &mut Output) {
    if let Some(records) = root.get("messages") {
        let mut reader = Reader::new(scope);
        for (index, record) in records.list().into_iter().enumerate() {
            let place = out.place(format!("messages[{index}]"), record);
            reader.add(record, place, out);
        }
        return reader.put_out(out);
    }
    let (name, history) = root.get("history").map_or(("", root), |history| ("history", history));
    for (index, content) in history.list().into_iter().enumerate() {
        out.take(format!("{name}[{index}]"), content);
    }
}

fn reader(scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader::new(scope))
}

struct Reader {
    scope: Scope,
    records: Vec<Record>,
    ids: Positions,
}

/// What the CLI keeps of a turn.
struct Record {
    source: Source,
    role: &'static str,
    parts: Vec<String>,
    /// The results of its calls, with their ids.
    results: Vec<(Option<String>, String)>,
    outcomes: Vec<Outcome>,
    /// The calls that it answers, when it is the user's.
    answers: Vec<String>,
}

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        if let Some(set) = value.get("$set") {
            // A compression writes the whole history anew.
            if let Some(messages) = set.get("messages").filter(|messages| messages.is_array()) {
                self.records.iter_mut().for_each(|record| record.source.leave("compacted"));
                for record in messages.list() {
                    self.add(record, Source::in_line(line, record), out);
                }
            }
            out.count("$set");
        } else if let Some(target) = value.get("$rewindTo") {
            let target = target.str();
            let from = self.live().position(|record| record.source.id.as_deref() == target.as_deref());
            // The CLI forgets everything when it does not know the id.
            self.live().skip(from.unwrap_or(0)).for_each(|record| record.source.leave("abandoned"));
            if from.is_none() {
                out.warn_line(
                    "unknown_rewind",
                    line.number,
                    "a rewind to an id that is not there: it leaves every message",
                );
            }
            out.count("$rewindTo");
        } else if value.own("type").is_none() && is_head(value) {
            out.count("session");
        } else {
            self.add(value, Source::of_line(line), out);
        }
    }

    fn finish(self: Box<Self>, out: &mut Output) {
        self.put_out(out);
    }
}

impl Reader {
    fn new(scope: Scope) -> Self {
        Reader { scope, records: Vec::new(), ids: Positions::default() }
    }

    fn live(&mut self) -> impl Iterator<Item = &mut Record> {
        self.records.iter_mut().filter(|record| record.is_live())
    }

    fn add(&mut self, value: Slice<'_>, mut source: Source, out: &mut Output) {
        let kind = value.text("type").unwrap_or_default();
        source.id = value.string("id");
        let role = match &*kind {
            "user" => "user",
            "gemini" => "model",
            "info" | "error" | "warning" => return out.count(&kind),
            _ => return out.unknown(&source, "a record", &kind),
        };
        let mut record = Record::of(value, source, role);
        if value.get("thoughts").is_some_and(|thoughts| !thoughts.list().is_empty()) {
            // Headlines of what the model thought, for the screen only.
            out.count("thoughts");
        }
        let is_live = |at: &&usize| self.records.get(**at).is_some_and(Record::is_live);
        let known = record.source.id.as_deref().and_then(|id| self.ids.all(id).iter().find(is_live)).copied();
        if let Some(known) = known.and_then(|at| self.records.get_mut(at)) {
            // A record is written again when a tool reports; it keeps its place.
            record.source.also_lines.clone_from(&known.source.also_lines);
            record.source.also_lines.extend(known.source.line);
            *known = record;
        } else {
            record.source.id.iter().for_each(|id| self.ids.add(id, self.records.len()));
            self.records.push(record);
        }
    }

    fn put_out(self, out: &mut Output) {
        let mut records = self.records.into_iter().peekable();
        while let Some(record) = records.next() {
            // Where the user's record holds the results, those of the call's record are the same ones again.
            let next = records.peek().filter(|next| next.source.branch == record.source.branch);
            let answered = next.map(|next| next.answers.as_slice()).unwrap_or_default();
            let is_new = |id: &Option<String>| id.as_ref().is_none_or(|id| !answered.contains(id));
            let (results, repeated): (Vec<_>, Vec<_>) = record.results.into_iter().partition(|(id, _)| is_new(id));
            let (outcomes, carried): (Vec<_>, Vec<_>) =
                record.outcomes.into_iter().partition(|outcome| repeated.is_empty() || is_new(&outcome.call_id));
            if record.parts.is_empty() && results.is_empty() {
                out.count("empty");
            }
            let mut put = |role: &str, parts: &[String], outcomes: Vec<Outcome>| {
                if !parts.is_empty() {
                    let json = Object::new().text("role", role).raw("parts", &list(parts)).build();
                    out.put(Message { json, source: record.source.clone(), outcomes }, self.scope);
                }
            };
            let results: Vec<String> = results.into_iter().map(|(_, part)| part).collect();
            if record.role == "user" {
                put("user", &record.parts, outcomes);
            } else {
                put("model", &record.parts, Vec::new());
                put("user", &results, outcomes);
            }
            if let Some(next) = records.peek_mut() {
                next.outcomes.extend(carried);
            }
        }
    }
}

/// What begins a user's text that never goes to the model.
const NOT_SENT: [&str; 4] = ["/", "?", "<session_context>", "<hook_context>"];

impl Record {
    fn is_live(&self) -> bool {
        !matches!(self.source.branch, Some("abandoned" | "compacted"))
    }

    fn of(value: Slice<'_>, mut source: Source, role: &'static str) -> Self {
        let parts = value.get("content").map(parts).unwrap_or_default();
        let mut answers = Vec::new();
        if role == "user" {
            let text = value.get("content").and_then(first_text);
            if text.is_some_and(|text| NOT_SENT.iter().any(|start| text.trim_start().starts_with(start))) {
                source.leave("hidden");
            }
            let content = value.get("content").map(Slice::list).unwrap_or_default();
            let ids = content.into_iter().filter_map(|part| part.at(&["functionResponse", "id"])?.str());
            answers.extend(ids.map(|id| id.into_owned()));
        }
        let mut record = Record { source, role, parts, results: Vec::new(), outcomes: Vec::new(), answers };
        let content = value.get("content").map(Slice::list).unwrap_or_default();
        let mut written: Vec<Slice<'_>> = content.iter().filter_map(|part| part.get("functionCall")).collect();
        for call in value.get("toolCalls").map(Slice::list).unwrap_or_default() {
            let is_same = |known: &Slice<'_>| match known.text("id") {
                Some(id) => call.text("id") == Some(id),
                None => {
                    known.text("name") == call.text("name")
                        && known.get("args").map(Slice::raw) == call.get("args").map(Slice::raw)
                }
            };
            match written.iter().position(is_same) {
                Some(at) => drop(written.swap_remove(at)),
                None => {
                    let made = Object::new().value("id", call.get("id")).value("name", call.get("name"));
                    let made = made.raw("args", call.get("args").map_or("{}", Slice::raw)).build();
                    record.parts.push(Object::new().raw("functionCall", &made).build());
                }
            }
            record.read_result(call);
        }
        record
    }

    fn read_result(&mut self, call: Slice<'_>) {
        let Some(result) = call.get("result") else { return };
        let call_id = call.string("id");
        let mut output = None;
        if let Some(text) = result.str() {
            let response = Object::new().raw("output", result.raw()).build();
            let made = Object::new().value("id", call.get("id")).value("name", call.get("name"));
            let part = Object::new().raw("functionResponse", &made.raw("response", &response).build()).build();
            self.results.push((call_id.clone(), part));
            output = Some(text);
        } else {
            let items = if result.is_array() { result.list() } else { vec![result] };
            output = output.or_else(|| items.first().and_then(|part| said(part.get("functionResponse")?)));
            let part_of = |part: &Slice<'_>| (call_id.clone(), one_part(*part));
            self.results.extend(items.iter().map(part_of));
        }
        let is_shell = call.says("name", "run_shell_command");
        self.outcomes.extend(outcome(call_id, call.text("status").as_deref(), output.as_deref().filter(|_| is_shell)));
    }
}

/// The parts of a content: a text, a part, or a list of both.
fn parts(content: Slice<'_>) -> Vec<String> {
    if content.is_array() {
        content.list().into_iter().map(one_part).collect()
    } else if content.raw() == "\"\"" {
        Vec::new()
    } else {
        vec![one_part(content)]
    }
}

fn one_part(part: Slice<'_>) -> String {
    if part.is_string() { Object::new().raw("text", part.raw()).build() } else { part.raw().to_owned() }
}

fn first_text(content: Slice<'_>) -> Option<Cow<'_, str>> {
    let first = content.list().first().copied().unwrap_or(content);
    first.str().or_else(|| first.text("text"))
}

/// The text of a `functionResponse`.
pub fn said(response: Slice<'_>) -> Option<Cow<'_, str>> {
    response.at(&["response", "output"])?.str()
}

/// What a call's status says of its result, and an exit code in the text of a shell: a shell's status is `success`
/// whatever the command says.
pub fn outcome(call_id: Option<String>, status: Option<&str>, shell: Option<&str>) -> Option<Outcome> {
    match status {
        Some("error") => return Some(Outcome::failure(call_id, "status: error")),
        Some("cancelled") => return Some(Outcome::refusal(call_id, "status: cancelled")),
        _ => {}
    }
    for line in shell.unwrap_or_default().split('\n') {
        if let Some(code) = line.strip_prefix("Exit Code: ") {
            let code = code.trim();
            let failed = code != "0" && code != "(none)";
            return failed.then(|| Outcome::failure(call_id, format!("Exit Code: {code} in the text")).inferred());
        }
    }
    status.filter(|status| *status == "success").map(|_| Outcome::success(call_id, "status: success"))
}
