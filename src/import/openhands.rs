//! OpenHands: events of the SDK (`kind: MessageEvent`, `ActionEvent`, …) and trajectories of the older releases
//! (`action`, `observation`), as an array or as lines. Messages become OpenAI Chat's.

use std::collections::HashSet;

use crate::document::Slice;

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely};
use super::line::Line;
use super::output::{Message, Outcome, Output, Source};
use super::parts::{as_string, chat_answer, chat_call, chat_call_of, chat_result, failed_exit, only};
use super::positions::Positions;
use super::write::{Object, list, message, quoted};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((sniff_event, reader)),
    document: Some((sniff, read)),
    ..Format::new("openhands", "OpenHands events or trajectory")
};

fn sniff_event(event: Slice<'_>) -> Option<Sniff> {
    event.get("source")?;
    if event.text("kind").is_some_and(|kind| kind.ends_with("Event") || kind == "Condensation") {
        return certain("events with kind and source");
    }
    let is_old = event.get("action").or(event.get("observation")).is_some_and(Slice::is_string);
    if is_old && (event.get("args").is_some() || event.get("extras").is_some()) {
        return certain("events with action or observation, and args or extras");
    }
    is_old.then(|| likely("events with source, and action or observation")).flatten()
}

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    events(root).0.list().into_iter().take(20).find_map(sniff_event)
}

/// The list of events, and the way to it.
fn events(root: Slice<'_>) -> (Slice<'_>, &'static str) {
    let names = ["events", "trajectory", "history"];
    names.into_iter().find_map(|name| root.get(name).map(|list| (list, name))).unwrap_or((root, ""))
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    let (list, name) = events(root);
    let mut reader = Reader { scope, entries: Vec::new(), condensations: Vec::new() };
    for (index, event) in list.list().into_iter().enumerate() {
        let source = out.place(format!("{name}[{index}]"), event);
        reader.event(event, source, out);
    }
    reader.put(out);
}

fn reader(scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader { scope, entries: Vec::new(), condensations: Vec::new() })
}

struct Reader {
    scope: Scope,
    entries: Vec<Entry>,
    condensations: Vec<Condensation>,
}

/// An event that is a message, or a part of one.
struct Entry {
    source: Source,
    /// What the model answered together: several events of one response are one message.
    response: Option<String>,
    content: Content,
    outcome: Option<Outcome>,
}

enum Content {
    Whole(String),
    /// The content of an answer, its calls, and what else belongs to it.
    Answer {
        said: String,
        calls: Vec<String>,
        more: Vec<(&'static str, String)>,
    },
}

/// What was forgotten, and what stands for it.
struct Condensation {
    forgotten: Vec<String>,
    summary: Option<String>,
    offset: Option<i64>,
    source: Source,
    /// How many entries there were before.
    behind: usize,
}

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        self.event(line.value, Source::of_line(line), out);
    }

    fn finish(self: Box<Self>, out: &mut Output) {
        self.put(out);
    }
}

impl Reader {
    fn event(&mut self, event: Slice<'_>, source: Source, out: &mut Output) {
        let id = event.get("id").map(|id| id.str().map_or_else(|| id.raw().to_owned(), |id| id.into_owned()));
        let source = Source { id, ..source };
        match event.text("kind") {
            Some(kind) => self.new_event(&kind, event, source, out),
            None => self.old_event(event, source, out),
        }
    }

    fn push(&mut self, source: Source, content: Content) {
        self.entries.push(Entry { source, response: None, content, outcome: None });
    }

    fn result(&mut self, source: Source, call_id: Option<&str>, content: &str, outcome: Option<Outcome>) {
        let content = Content::Whole(chat_result(call_id, content));
        self.entries.push(Entry { source, response: None, content, outcome });
    }

    fn new_event(&mut self, kind: &str, event: Slice<'_>, source: Source, out: &mut Output) {
        let call_id = event.text("tool_call_id");
        let known = || call_id.as_ref().map(|id| id.to_string());
        match kind {
            "SystemPromptEvent" => {
                let prompt = event.get("system_prompt");
                let text = prompt.and_then(|prompt| prompt.get("text")).or(prompt).map_or("\"\"", Slice::raw);
                self.push(source, Content::Whole(message("system", text)));
            }
            "MessageEvent" => {
                let Some(said) = event.get("llm_message") else { return out.count(kind) };
                let mut parts = contents(said.get("content"));
                // What the host adds to a prompt.
                parts.extend(contents(event.get("extended_content")));
                let role = said.text("role").unwrap_or_default();
                let calls = said.get("tool_calls").map(Slice::list).unwrap_or_default();
                let calls: Vec<String> = calls.into_iter().map(call).collect();
                let more = reasoning(said).into_iter().chain(reasoning(event)).collect();
                let content = if role == "assistant" {
                    Content::Answer { said: list(&parts), calls, more }
                } else {
                    Content::Whole(message(&role, &list(&parts)))
                };
                self.push(source, content);
            }
            "ActionEvent" => {
                let calls = event.get("tool_call").map(call).into_iter().collect();
                let said = list(&contents(event.get("thought")));
                let content = Content::Answer { said, calls, more: reasoning(event) };
                let response = event.text("llm_response_id").map(|id| id.into_owned());
                self.entries.push(Entry { source, response, content, outcome: None });
            }
            "ObservationEvent" => {
                let Some(seen) = event.get("observation") else { return out.count(kind) };
                let content = seen.get("content").or(seen.get("output"));
                let content = match content {
                    Some(content) if content.is_array() => list(&contents(Some(content))),
                    Some(content) => as_string(content),
                    None => as_string(seen),
                };
                let exit = seen.get("exit_code").or(seen.at(&["metadata", "exit_code"]));
                let outcome = match seen.get("is_error").map(Slice::raw) {
                    Some("true") => Some(Outcome::failure(known(), "observation.is_error")),
                    flag => match failed_exit(exit) {
                        Some(because) => Some(Outcome::failure(known(), because).inferred()),
                        None => flag.map(|_| Outcome::success(known(), "observation.is_error: false")),
                    },
                };
                self.result(source, call_id.as_deref(), &content, outcome);
            }
            "UserRejectObservation" => {
                let reason = event.get("rejection_reason").map_or("\"\"", Slice::raw);
                self.result(source, call_id.as_deref(), reason, Some(Outcome::refusal(known(), kind)));
            }
            "AgentErrorEvent" => {
                let error = event.get("error").map_or("\"\"", Slice::raw);
                self.result(source, call_id.as_deref(), error, Some(Outcome::failure(known(), kind)));
            }
            "Condensation" | "CondensationEvent" => self.condense(event, source),
            _ => out.count(kind),
        }
    }

    fn condense(&mut self, event: Slice<'_>, source: Source) {
        let id = |id: &Slice<'_>| id.str().map_or_else(|| id.raw().to_owned(), |id| id.into_owned());
        let mut forgotten: Vec<String> =
            event.get("forgotten_event_ids").map(Slice::list).unwrap_or_default().iter().map(id).collect();
        let int = |name| event.get(name).and_then(Slice::int);
        if let Some((from, to)) = int("forgotten_events_start_id").zip(int("forgotten_events_end_id")) {
            let is_in = |entry: &&Entry| {
                let id = entry.source.id.as_deref().and_then(|id| id.parse::<i64>().ok());
                id.is_some_and(|id| (from..=to).contains(&id))
            };
            forgotten.extend(self.entries.iter().filter(is_in).filter_map(|entry| entry.source.id.clone()));
        }
        let summary =
            event.get("summary").filter(|summary| summary.is_string()).map(|summary| summary.raw().to_owned());
        let offset = int("summary_offset");
        let behind = self.entries.len();
        self.condensations.push(Condensation { forgotten, summary, offset, source, behind });
    }

    fn old_event(&mut self, event: Slice<'_>, source: Source, out: &mut Output) {
        let action = event.text("action");
        let seen = event.text("observation");
        let kind = action.as_deref().or(seen.as_deref()).unwrap_or("unknown").to_owned();
        let args = event.get("args");
        let arg = |names: &[&str]| names.iter().find_map(|name| args?.get(name)).map_or("\"\"", Slice::raw);
        let is_users = event.text("source").is_some_and(|source| source == "user");
        let linked = event.get("tool_call_metadata");
        let linked_id = linked.and_then(|linked| linked.text("tool_call_id"));
        match &*kind {
            "system" => self.push(source, Content::Whole(message("system", arg(&["content"])))),
            "message" if is_users => self.push(source, Content::Whole(message("user", arg(&["content"])))),
            "condensation" if action.is_some() => self.condense(args.unwrap_or(event), source),
            "message" | "finish" if action.is_some() => {
                let said = arg(&["content", "final_thought", "thought"]).to_owned();
                self.push(source, Content::Answer { said, calls: Vec::new(), more: Vec::new() });
            }
            "recall"
            | "change_agent_state"
            | "agent_state_changed"
            | "null"
            | "condense"
            | "condensation_request"
            | "condensation" => out.count(&kind),
            _ if action.is_some() => {
                let said = || linked?.at(&["model_response", "choices"])?.list().first()?.get("message");
                let response = linked.and_then(|linked| linked.at(&["model_response", "id"]));
                let entry = match said() {
                    Some(answer) => {
                        let calls = answer.get("tool_calls").map(Slice::list).unwrap_or_default();
                        let calls = calls.iter().map(|call| only(*call, &["id", "type", "function", "extra_content"]));
                        let content = Content::Answer {
                            said: answer.own("content").map_or("\"\"", Slice::raw).to_owned(),
                            calls: calls.collect(),
                            more: reasoning(answer),
                        };
                        let response = response.and_then(Slice::str).map(|id| id.into_owned());
                        Entry { source, response, content, outcome: None }
                    }
                    None => {
                        let id = linked_id.map_or_else(|| event_id(source.id.as_deref()), |id| id.into_owned());
                        let name = linked.and_then(|linked| linked.text("function_name"));
                        let calls = vec![chat_call(&id, name.as_deref().unwrap_or(&kind), args)];
                        let content = Content::Answer { said: arg(&["thought"]).to_owned(), calls, more: Vec::new() };
                        // What the user ran is no call of the model's.
                        if is_users {
                            out.count("user_action");
                            return self.push(source, Content::Whole(message("user", &quoted(event.raw()))));
                        }
                        Entry { source, response: None, content, outcome: None }
                    }
                };
                self.entries.push(entry);
            }
            _ => self.old_observation(&kind, event, linked_id.as_deref(), source),
        }
    }

    fn old_observation(&mut self, kind: &str, event: Slice<'_>, linked_id: Option<&str>, source: Source) {
        let content = event.get("content").map_or_else(|| "\"\"".to_owned(), as_string);
        let cause = event.get("cause").map(Slice::raw);
        let is_called = |cause: &&str| {
            let is_cause = |entry: &&Entry| entry.source.id.as_deref() == Some(cause);
            self.entries.iter().rfind(is_cause).is_some_and(|entry| matches!(entry.content, Content::Answer { .. }))
        };
        let id = linked_id.map(str::to_owned).or(cause.filter(is_called).map(|cause| event_id(Some(cause))));
        if id.is_none() {
            return self.push(source, Content::Whole(message("user", &content)));
        }
        let extras = event.get("extras");
        let exit = extras.and_then(|extras| extras.at(&["metadata", "exit_code"]).or(extras.get("exit_code")));
        // -1 is a command that still runs.
        let exit = failed_exit(exit.filter(|exit| exit.raw() != "-1"));
        let outcome = match kind {
            "error" => Some(Outcome::failure(id.clone(), "observation: error")),
            "user_rejected" => Some(Outcome::refusal(id.clone(), "observation: user_rejected")),
            _ => exit.map(|because| Outcome::failure(id.clone(), because).inferred()),
        };
        self.result(source, id.as_deref(), &content, outcome);
    }

    fn put(mut self, out: &mut Output) {
        let last = self.condensations.iter().rposition(|condensation| condensation.summary.is_some());
        let forgotten: HashSet<&str> =
            self.condensations.iter().flat_map(|condensation| &condensation.forgotten).map(String::as_str).collect();
        for entry in &mut self.entries {
            if entry.source.id.as_deref().is_some_and(|id| forgotten.contains(id)) {
                entry.source.branch = Some("compacted");
            }
        }
        for (index, condensation) in self.condensations.iter().enumerate().rev() {
            let Some(summary) = &condensation.summary else { continue };
            let mut source = condensation.source.clone();
            let is_last = Some(index) == last;
            if !is_last {
                source.branch = Some("compacted");
            }
            // The place where the model finds it, among what it still sees; without one, behind what was forgotten.
            let is_seen = |entry: &Entry| entry.source.branch.is_none();
            let wanted = condensation.offset.and_then(|offset| usize::try_from(offset).ok());
            let seen = self.entries.iter().enumerate().filter(|(_, entry)| is_seen(entry));
            let is_forgotten =
                |entry: &Entry| entry.source.id.as_ref().is_some_and(|id| condensation.forgotten.contains(id));
            let at = match wanted {
                _ if !is_last || self.scope == Scope::All => condensation.behind,
                Some(wanted) => seen.map(|(at, _)| at).nth(wanted).unwrap_or(condensation.behind),
                None => self.entries.iter().rposition(is_forgotten).map_or(condensation.behind, |at| at + 1),
            };
            let content = Content::Whole(message("user", summary));
            let entry = Entry { source, response: None, content, outcome: None };
            self.entries.insert(at.min(condensation.behind), entry);
        }
        let mut merged: Vec<Entry> = Vec::new();
        let mut responses = Positions::default();
        for entry in self.entries {
            let response = entry.response.as_deref();
            let is_beside =
                |at: &&usize| merged.get(**at).is_some_and(|known| known.source.branch == entry.source.branch);
            let first = response.and_then(|response| responses.all(response).iter().rfind(is_beside)).copied();
            match first.and_then(|at| merged.get_mut(at)) {
                Some(first) => first.merge(entry),
                None => {
                    response.iter().for_each(|response| responses.add(response, merged.len()));
                    merged.push(entry);
                }
            }
        }
        for entry in merged {
            let json = entry.content.build();
            out.put(Message { json, source: entry.source, outcomes: entry.outcome.into_iter().collect() }, self.scope);
        }
    }
}

impl Entry {
    fn merge(&mut self, other: Entry) {
        self.source.also_lines.extend(other.source.line);
        let Content::Answer { said, calls, more } = &mut self.content else { return };
        let Content::Answer { said: new_said, calls: new_calls, more: new_more } = other.content else { return };
        // Older releases write the whole answer beside each of its calls.
        calls.extend(new_calls.into_iter().filter(|call| !calls.contains(call)).collect::<Vec<_>>());
        if matches!(said.as_str(), "[]" | "\"\"" | "null") {
            *said = new_said;
        }
        if more.is_empty() {
            *more = new_more;
        }
    }
}

impl Content {
    fn build(self) -> String {
        match self {
            Content::Whole(json) => json,
            Content::Answer { said, calls, more } => {
                let said = if said == "[]" { "\"\"" } else { &said };
                let answer = chat_answer(said, &calls);
                more.iter().fold(answer, |answer, (name, value)| answer.raw(name, value)).build()
            }
        }
    }
}

fn event_id(id: Option<&str>) -> String {
    ["event_", id.unwrap_or_default()].concat()
}

/// A call of either form: the name beside the id, or within `function`.
fn call(call: Slice<'_>) -> String {
    if call.get("function").is_some() {
        return only(call, &["id", "type", "function"]);
    }
    chat_call_of(call, ["id", "name", "arguments"])
}

/// The reasoning of an answer, as gateways to several providers write it.
fn reasoning(value: Slice<'_>) -> Vec<(&'static str, String)> {
    let names = ["reasoning_content", "thinking_blocks", "reasoning_details"];
    let found = names.into_iter().filter_map(|name| Some((name, value.get(name)?)));
    let is_there = |value: &Slice<'_>| !value.is("") && !matches!(value.raw(), "[]");
    found.filter(|(_, value)| is_there(value)).map(|(name, value)| (name, value.raw().to_owned())).collect()
}

/// Texts and images as OpenAI Chat has them.
fn contents(content: Option<Slice<'_>>) -> Vec<String> {
    let Some(content) = content else { return Vec::new() };
    let mut parts = Vec::new();
    for part in content.list() {
        match part.get("image_urls") {
            Some(urls) => parts.extend(urls.list().into_iter().map(|url| {
                let image = Object::new().raw("url", url.raw()).build();
                Object::new().text("type", "image_url").raw("image_url", &image).build()
            })),
            None => parts.push(only(part, &["type", "text", "image_url"])),
        }
    }
    if content.is_string() { super::parts::blocks(content) } else { parts }
}
