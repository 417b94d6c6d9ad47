//! Copilot CLI session files (`events.jsonl`): lines of `type`, `data`, `id`, `parentId`. Messages become OpenAI Chat
//! messages.

use crate::document::Slice;

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely};
use super::line::Line;
use super::output::{Message, Outcome, Output, Source};
use super::write::{Object, as_text, list, message, of_type};

/// The format.
pub const FORMAT: Format =
    Format { lines: Some((sniff, reader)), ..Format::new("copilot_cli", "Copilot CLI session (events.jsonl)") };

fn sniff(line: Slice<'_>) -> Option<Sniff> {
    let kind = line.text("type").filter(|_| line.get("data").is_some_and(Slice::is_object))?;
    match &*kind {
        "session.start" | "user.message" | "assistant.message" | "tool.execution_complete" => {
            certain("events with type and data, such as assistant.message")
        }
        _ if kind.as_bytes().contains(&b'.') => likely("events with type and data"),
        _ => None,
    }
}

fn reader(scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader { scope, messages: Vec::new(), events: Vec::new() })
}

struct Reader {
    scope: Scope,
    messages: Vec<Message>,
    /// Each event's id, and how many messages there were behind it.
    events: Vec<(String, usize)>,
}

/// What begins the types of events that are no messages.
const EVENTS: [&str; 16] = [
    "session.",
    "assistant.",
    "tool.",
    "hook.",
    "subagent.",
    "skill.",
    "permission.",
    "system.",
    "user_input.",
    "elicitation.",
    "external_tool.",
    "command.",
    "mcp.",
    "sampling.",
    "capabilities.",
    "abort",
];

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        let kind = value.text("type").unwrap_or_default();
        let Some(data) = value.get("data").filter(|data| data.is_object()) else {
            return out.unknown(&Source::of_line(line), "a line without data,", &kind);
        };
        let id = value.string("id");
        // A sub-agent's events name its call, or the agent.
        let agent = data.string("parentToolCallId").or(value.string("agentId"));
        let source = Source { id: id.clone(), sidechain: agent, ..Source::of_line(line) };
        match &*kind {
            "user.message" => {
                let content = data.get("transformedContent").or(data.get("content")).map_or("\"\"", Slice::raw);
                self.messages.push(Message::new(message("user", content), source));
            }
            "system.message" if data.get("content").is_some() => {
                let role = data.text("role").unwrap_or("system".into());
                let content = data.get("content").map_or("\"\"", Slice::raw);
                self.messages.push(Message::new(message(&role, content), source));
            }
            "assistant.message" => self.messages.push(Message::new(answer(data), source)),
            "tool.execution_complete" => self.messages.push(result(data, source)),
            "session.compaction_complete" => {
                self.compact(data, source, line, out);
                out.count(&kind);
            }
            "session.snapshot_rewind" => {
                let target = data.text("upToEventId").unwrap_or_default();
                let known = self.events.iter().rfind(|(id, _)| *id == target).map(|(_, messages)| *messages);
                match known {
                    Some(from) => {
                        self.messages.iter_mut().skip(from).for_each(|message| message.source.leave("abandoned"))
                    }
                    None => out.warn_line("unknown_rewind", line.number, "a rewind to an event that is not there"),
                }
                out.count(&kind);
            }
            _ if EVENTS.iter().any(|start| kind.starts_with(start)) => out.count(&kind),
            _ => out.unknown(&source, "an event", &kind),
        }
        self.events.extend(id.map(|id| (id, self.messages.len())));
    }

    fn finish(self: Box<Self>, out: &mut Output) {
        let scope = self.scope;
        self.messages.into_iter().for_each(|message| out.put(message, scope));
    }
}

impl Reader {
    /// Puts the summary in place of what there was, but for the system's words.
    fn compact(&mut self, data: Slice<'_>, source: Source, line: &Line<'_>, out: &mut Output) {
        if data.get("success").is_some_and(|success| success.raw() == "false") {
            return;
        }
        let Some(summary) = data.get("summaryContent").filter(|summary| summary.is_string()) else {
            return out.warn_line(
                "no_summary",
                line.number,
                "a compaction whose summary is not here: all before it stays",
            );
        };
        for message in &mut self.messages {
            if !message.json.starts_with("{\"role\":\"system\"") {
                message.source.leave("compacted");
            }
        }
        self.messages.push(Message::new(message("user", summary.raw()), source));
    }
}

fn answer(data: Slice<'_>) -> String {
    let calls = data.get("toolRequests").map(Slice::list).unwrap_or_default();
    let calls: Vec<String> = calls
        .iter()
        .map(|call| {
            let function =
                Object::new().value("name", call.get("name")).raw("arguments", &as_text(call.get("arguments")));
            let call = Object::new().value("id", call.get("toolCallId")).text("type", "function");
            call.raw("function", &function.build()).build()
        })
        .collect();
    let mut answer =
        Object::new().text("role", "assistant").raw("content", data.get("content").map_or("null", Slice::raw));
    if !calls.is_empty() {
        answer = answer.raw("tool_calls", &list(&calls));
    }
    let reasoning = [("reasoning.text", "text", "reasoningText"), ("reasoning.encrypted", "data", "reasoningOpaque")];
    let is_there = |name: &str| data.get(name).filter(|value| value.is_string() && value.raw() != "\"\"");
    let details = reasoning
        .map(|(kind, field, name)| is_there(name).map(|value| of_type(kind).value(field, Some(value)).build()));
    let details: Vec<String> = details.into_iter().flatten().collect();
    if !details.is_empty() {
        answer = answer.raw("reasoning_details", &list(&details));
    }
    answer.build()
}

fn result(data: Slice<'_>, source: Source) -> Message {
    let result = data.get("result");
    let content = result.and_then(|result| result.get("content")).or(data.at(&["error", "message"])).or(result);
    let json = Object::new().text("role", "tool").value("tool_call_id", data.get("toolCallId"));
    let mut message = Message::new(json.raw("content", &as_text(content)).build(), source);
    let id = data.string("toolCallId");
    let code = data.at(&["error", "code"]).and_then(Slice::str).unwrap_or_default();
    message.outcomes.extend(match (&*code, data.get("success").map(Slice::raw)) {
        ("denied" | "rejected", _) => Some(Outcome::refusal(id, format!("error.code: {code}"))),
        (_, Some("false")) => Some(Outcome::failure(id, "success: false")),
        (_, Some("true")) => Some(Outcome::success(id, "success: true")),
        _ => None,
    });
    message
}
