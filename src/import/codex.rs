//! Codex CLI: rollouts of three generations (`{session, items}`; bare items behind a first line of id and instructions;
//! lines of `type` and `payload`) and the log of `codex exec --json`. Messages are Responses items as they stand.

use crate::document::{Index, Slice};

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely};
use super::line::Line;
use super::output::{Message, Outcome, Output, Source};
use super::positions::Positions;
use super::write::{Object, as_text, of_type};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((sniff, reader)),
    document: Some((sniff_document, read_document)),
    ..Format::new("codex", "Codex CLI rollout (JSONL, JSON) and `codex exec --json` log")
};

fn sniff(line: Slice<'_>) -> Option<Sniff> {
    if line.own("record_type").is_some() {
        return certain("lines with record_type");
    }
    let Some(kind) = line.text("type") else {
        let is_head = ["id", "timestamp", "instructions"].iter().all(|name| line.own(name).is_some());
        return if is_head { certain("a first line of id, timestamp and instructions") } else { None };
    };
    if line.get("payload").is_some_and(Slice::is_object) {
        return match &*kind {
            "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted" => {
                certain("lines with type and payload")
            }
            _ => likely("lines with type and payload"),
        };
    }
    let is_exec = kind == "thread.started" && line.get("thread_id").is_some()
        || kind.starts_with("item.") && line.get("item").is_some();
    if is_exec { certain("a log of thread and item events") } else { None }
}

fn sniff_document(root: Slice<'_>) -> Option<Sniff> {
    let is_rollout =
        root.get("session").is_some_and(Slice::is_object) && root.get("items").is_some_and(Slice::is_array);
    if is_rollout { certain("an object of session and items") } else { None }
}

fn reader(scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader::new(scope))
}

fn read_document(root: Slice<'_>, scope: Scope, out: &mut Output) {
    let mut reader = Reader::new(scope);
    for (index, item) in root.get("items").map(Slice::list).unwrap_or_default().into_iter().enumerate() {
        let place = out.place(format!("items[{index}]"), item);
        reader.item(item, place, out);
    }
    reader.put_out(out);
}

struct Reader {
    scope: Scope,
    entries: Vec<Entry>,
    /// The entries that make or answer each call.
    by_call: Positions,
    /// What events say of outputs that are not there yet.
    ends: Vec<Outcome>,
    /// What events repeat of messages: it counts only where there are no items, as in very old files.
    repeated: Vec<(String, Message)>,
    has_items: bool,
    /// Calls of the exec log that have started and not ended.
    open: Vec<String>,
}

struct Entry {
    message: Message,
    part: Part,
    /// Whether it answers a call.
    is_output: bool,
}

/// What a message is to a compaction and to a rollback.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// What begins a turn.
    Prompt,
    /// What the host says beside the user.
    Context,
    Summary,
    Other,
}

/// Types of items that a request can hold.
const ITEMS: [&str; 17] = [
    "message",
    "agent_message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
    "image_generation_call",
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
];

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        let kind = value.text("type").unwrap_or_default();
        let Some(payload) = value.get("payload").filter(|payload| payload.is_object()) else {
            return self.bare_line(&kind, line, out);
        };
        let place = Source::in_line(line, payload);
        match &*kind {
            "response_item" => self.item(payload, place, out),
            "event_msg" => self.event(payload, Source::of_line(line), out),
            "compacted" => {
                self.compact(payload, line, out);
                out.count("compacted");
            }
            "inter_agent_communication" => {
                let content = payload
                    .get("content")
                    .filter(|content| content.is_string())
                    .map(|text| text_part("input_text", text));
                let encrypted = payload.get("encrypted_content");
                let encrypted =
                    encrypted.map(|data| of_type("encrypted_content").value("encrypted_content", Some(data)));
                let part = encrypted.map(Object::build).or(content).unwrap_or_default();
                let item = of_type("agent_message").value("author", payload.get("author"));
                let item = item.value("recipient", payload.get("recipient")).raw("content", &format!("[{part}]"));
                self.add(item.build(), place, Part::Prompt);
            }
            "session_meta" | "turn_context" | "world_state" | "inter_agent_communication_metadata" => out.count(&kind),
            _ => out.unknown(&place, "a line", &kind),
        }
    }

    fn finish(self: Box<Self>, out: &mut Output) {
        self.put_out(out);
    }
}

impl Reader {
    fn new(scope: Scope) -> Self {
        Reader {
            scope,
            entries: Vec::new(),
            by_call: Positions::default(),
            ends: Vec::new(),
            repeated: Vec::new(),
            has_items: false,
            open: Vec::new(),
        }
    }

    /// A line without an envelope: an item of the second generation, or an event of the exec log.
    fn bare_line(&mut self, kind: &str, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        if let Some(item) = value.get("item").filter(|item| item.is_object() && kind.starts_with("item.")) {
            return self.exec(kind, item, Source::of_line(line), out);
        }
        match kind {
            "" if value.own("record_type").is_some() => out.count("record"),
            "" if value.own("instructions").is_some() => out.count("session_meta"),
            "" if value.own("role").is_none() => out.unknown(&Source::of_line(line), "a line", kind),
            "error" => out.count(kind),
            _ if kind.starts_with("thread.") || kind.starts_with("turn.") || kind.starts_with("item.") => {
                out.count(kind)
            }
            _ => self.item(value, Source::of_line(line), out),
        }
    }

    fn add(&mut self, json: String, source: Source, part: Part) {
        self.entries.push(Entry { message: Message::new(json, source), part, is_output: false });
    }

    fn item(&mut self, item: Slice<'_>, mut place: Source, out: &mut Output) {
        self.has_items = true;
        self.repeated.drain(..).for_each(|(kind, _)| out.count(&kind));
        let kind = item.text("type").unwrap_or_default();
        if kind == "ghost_snapshot" {
            // The host's own copy of the working tree: no request holds it.
            return out.count(&kind);
        }
        if !(ITEMS.contains(&&*kind) || kind.is_empty() && item.own("role").is_some()) {
            out.warn_of("unknown_type", &place, format!("an item of type {kind}: passed through"));
        }
        place.id = item.string("id");
        self.add(item.raw().to_owned(), place, part_of(item, &kind));
        let call_id = item.string("call_id");
        let is_output = call_id.is_some() && kind.ends_with("_output");
        let outcome = is_output.then(|| match self.ends.iter().rposition(|end| end.call_id == call_id) {
            Some(at) => Some(self.ends.swap_remove(at)),
            None => said_by_text(item.get("output")),
        });
        call_id.iter().for_each(|id| self.by_call.add(id, self.entries.len() - 1));
        if let Some(entry) = self.entries.last_mut() {
            entry.is_output = is_output;
            entry.message.outcomes.extend(outcome.flatten());
        }
    }

    fn event(&mut self, event: Slice<'_>, place: Source, out: &mut Output) {
        let kind = event.text("type").unwrap_or_default();
        let name = "event_msg:".to_owned() + &kind;
        let message = event.get("message").or(event.get("text")).filter(|message| message.is_string());
        if let (false, "user_message" | "agent_message" | "agent_reasoning", Some(text)) =
            (self.has_items, &*kind, message)
        {
            let json = match &*kind {
                "user_message" => message_item("user", "input_text", text),
                "agent_message" => message_item("assistant", "output_text", text),
                _ => reasoning_item(text),
            };
            self.repeated.push((name, Message::new(json, place)));
            return;
        }
        out.count(&name);
        if kind == "thread_rolled_back" {
            self.roll_back(event.get("num_turns").and_then(Slice::int).unwrap_or(1));
        } else if let Some(end) = said_by_event(event) {
            // The nearest item of the call: its output, or the call itself where the output is still to come.
            let meant = end.call_id.as_deref().and_then(|id| self.by_call.last(id));
            match meant.and_then(|at| self.entries.get_mut(at)).filter(|entry| entry.is_output) {
                Some(entry) if entry.message.outcomes.iter().all(|known| known.inferred) => {
                    entry.message.outcomes = vec![end];
                }
                _ => self.ends.push(end),
            }
        }
    }

    /// Leaves the last turns.
    fn roll_back(&mut self, turns: i64) {
        let mut left = turns;
        let mut cut = self.entries.len();
        for (index, entry) in self.entries.iter().enumerate().rev() {
            if left > 0 && entry.part == Part::Prompt && entry.message.source.branch.is_none() {
                (left, cut) = (left - 1, index);
            }
        }
        self.entries.iter_mut().skip(cut).for_each(|entry| entry.message.source.leave("abandoned"));
    }

    /// Puts the compacted history in place of what there was. Without one, the user's words stay and the summary
    /// stands behind them, as Codex rebuilds it.
    fn compact(&mut self, payload: Slice<'_>, line: &Line<'_>, out: &mut Output) {
        let history = payload.get("replacement_history").filter(|history| history.is_array());
        for entry in &mut self.entries {
            if history.is_some() || !matches!(entry.part, Part::Prompt | Part::Context) {
                entry.message.source.leave("compacted");
            }
        }
        let Some(history) = history else {
            let summary = payload.get("message").filter(|text| text.is_string() && text.raw() != "\"\"");
            if let Some(summary) = summary {
                self.add(message_item("user", "input_text", summary), Source::in_line(line, payload), Part::Summary);
            }
            return;
        };
        for item in history.list() {
            self.item(item, Source::in_line(line, item), out);
        }
    }

    /// An item of the exec log: a message, or a call and its result in one.
    fn exec(&mut self, event: &str, item: Slice<'_>, mut place: Source, out: &mut Output) {
        let kind = item.text("type").or(item.text("item_type")).unwrap_or_default();
        let id = item.string("id").unwrap_or_default();
        place.id = Some(id.clone());
        let is_done = event == "item.completed";
        let text = item.get("text").filter(|text| is_done && text.is_string());
        match (&*kind, text) {
            ("agent_message" | "assistant_message" | "plan", Some(text)) => {
                self.add(message_item("assistant", "output_text", text), place, Part::Other);
            }
            ("reasoning", Some(text)) => self.add(reasoning_item(text), place, Part::Other),
            ("web_search", _) if is_done => {
                let query = || of_type("search").value("query", item.get("query")).build();
                let action = item.get("action").map_or_else(query, |action| action.raw().to_owned());
                let search = of_type("web_search_call").text("status", "completed").raw("action", &action);
                self.add(search.build(), place, Part::Other);
            }
            ("command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call", _)
                if event != "item.updated" =>
            {
                let known = self.open.iter().position(|open| *open == id);
                if known.is_none() {
                    self.add(exec_call(&kind, &id, item), place.clone(), Part::Other);
                }
                match known {
                    Some(at) if is_done => drop(self.open.swap_remove(at)),
                    None if !is_done => self.open.push(id.clone()),
                    _ => {}
                }
                if is_done {
                    self.add(exec_output(&kind, &id, item), place, Part::Other);
                    if let Some(entry) = self.entries.last_mut() {
                        entry.message.outcomes.extend(said_by_flag(id, item));
                    }
                }
            }
            _ => out.count(&format!("{event}:{kind}")),
        }
    }

    fn put_out(self, out: &mut Output) {
        let repeated = self.repeated.into_iter().map(|(_, message)| message);
        let messages = self.entries.into_iter().map(|entry| entry.message);
        messages.chain(repeated).for_each(|message| out.put(message, self.scope));
    }
}

/// What begins a user's message that only the host wrote.
const CONTEXT: [&str; 6] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
];

fn part_of(item: Slice<'_>, kind: &str) -> Part {
    if kind == "agent_message" {
        return Part::Prompt;
    }
    match item.text("role").as_deref() {
        Some("developer" | "system") => Part::Context,
        Some("user") => {
            let content = item.get("content");
            let blocks = content.map(Slice::list).unwrap_or_default();
            // One message can hold the prompt and what the host adds to it.
            let is_context = |block: &Slice<'_>| {
                let text = block.text("text").or(block.str());
                text.is_some_and(|text| CONTEXT.iter().any(|start| text.starts_with(start)))
            };
            let is_context = match content {
                Some(text) if text.is_string() => is_context(&text),
                _ => !blocks.is_empty() && blocks.iter().all(is_context),
            };
            if is_context { Part::Context } else { Part::Prompt }
        }
        _ => Part::Other,
    }
}

fn text_part(kind: &str, text: Slice<'_>) -> String {
    of_type(kind).value("text", Some(text)).build()
}

fn message_item(role: &str, kind: &str, text: Slice<'_>) -> String {
    let content = format!("[{}]", text_part(kind, text));
    of_type("message").text("role", role).raw("content", &content).build()
}

fn reasoning_item(text: Slice<'_>) -> String {
    of_type("reasoning").raw("summary", &format!("[{}]", text_part("summary_text", text))).build()
}

fn exec_call(kind: &str, id: &str, item: Slice<'_>) -> String {
    let (name, arguments) = match kind {
        "command_execution" => (kind.into(), Object::new().value("command", item.get("command")).build()),
        "file_change" => (kind.into(), Object::new().value("changes", item.get("changes")).build()),
        "mcp_tool_call" => {
            let [server, tool] = ["server", "tool"].map(|name| item.text(name).unwrap_or_default());
            let arguments = item.get("arguments").map_or("{}", Slice::raw).to_owned();
            (format!("mcp__{server}__{tool}").into(), arguments)
        }
        _ => {
            let arguments = Object::new().value("prompt", item.get("prompt"));
            let arguments = arguments.value("receiver_thread_ids", item.get("receiver_thread_ids")).build();
            (item.text("tool").unwrap_or_default(), arguments)
        }
    };
    of_type("function_call").text("call_id", id).text("name", &name).text("arguments", &arguments).build()
}

fn exec_output(kind: &str, id: &str, item: Slice<'_>) -> String {
    let output = match kind {
        "command_execution" => item.get("aggregated_output"),
        "mcp_tool_call" => item.at(&["error", "message"]).or(item.get("result")),
        "collab_tool_call" => item.get("agents_states"),
        _ => item.get("status"),
    };
    of_type("function_call_output").text("call_id", id).raw("output", &as_text(output)).build()
}

/// What an event that ends a call says of it.
fn said_by_event(event: Slice<'_>) -> Option<Outcome> {
    let id = event.string("call_id")?;
    let result = event.get("result");
    if result.and_then(|result| result.get("Err")).is_some() {
        return Some(Outcome::failure(Some(id), "an event with result.Err"));
    }
    if let Some(result) = result.and_then(|result| result.get("Ok")) {
        let failed = result.flag("isError") || result.flag("is_error");
        let outcome = if failed { Outcome::failure } else { Outcome::success };
        return Some(outcome(Some(id), "an event with result.Ok".to_owned()));
    }
    said_by_flag(id, event)
}

/// What the flags of a record say of a call: `status`, `success`, or its exit code.
fn said_by_flag(id: String, record: Slice<'_>) -> Option<Outcome> {
    let id = Some(id);
    let success = record.get("success").map(Slice::raw);
    match (record.text("status").as_deref(), success) {
        (Some("declined"), _) => Some(Outcome::refusal(id, "status: declined")),
        (_, Some("true")) => Some(Outcome::success(id, "success: true")),
        (_, Some("false")) => Some(Outcome::failure(id, "success: false")),
        (Some("failed"), _) => Some(Outcome::failure(id, "status: failed")),
        (Some("completed"), _) => Some(Outcome::success(id, "status: completed")),
        _ => match record.get("exit_code").and_then(Slice::int)? {
            0 => Some(Outcome::success(id, "exit code 0").inferred()),
            code => Some(Outcome::failure(id, format!("exit code {code}")).inferred()),
        },
    }
}

/// What an output's own text says. Codex keeps no flag beside it.
fn said_by_text(output: Option<Slice<'_>>) -> Option<Outcome> {
    let output = output?;
    let first = output.list().first().and_then(|part| part.text("text"));
    let text = output.str().or(first)?;
    if let Some(code) = exit_code(&text) {
        return (code != 0).then(|| Outcome::failure(None, format!("exit code {code} in the text")).inferred());
    }
    let starts = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    if starts(&["aborted by user", "exec command rejected by user", "patch rejected by user"]) {
        return Some(Outcome::refusal(None, "the text of a refusal").inferred());
    }
    let failed = starts(&[
        "err: ",
        "failed to parse function arguments",
        "unsupported call: ",
        "apply_patch verification failed",
    ]);
    failed.then(|| Outcome::failure(None, "the text of a failure").inferred())
}

/// The exit code that the head of an output names, never one that is quoted further down.
fn exit_code(text: &str) -> Option<i64> {
    if text.starts_with("{\"output\":") {
        let index = Index::of(text).ok()?;
        return index.root(text).at(&["metadata", "exit_code"])?.int();
    }
    let heads = ["Wall time", "Chunk ID", "Original token count", "Total output lines", "Warning"];
    for line in text.split('\n') {
        let code = line.strip_prefix("Exit code: ").or(line.strip_prefix("Process exited with code "));
        if let Some(code) = code {
            return code.trim().parse().ok();
        }
        if !heads.iter().any(|head| line.starts_with(head)) {
            return None;
        }
    }
    None
}
