//! Logs of Inspect AI (`.json`, or a sample of one). Messages become OpenAI Chat's; reasoning that is signed stays as
//! blocks of the content.

use crate::document::{Document, Slice};

use super::format::{Format, Scope, Sniff, certain, likely};
use super::output::{Message, Outcome, Output, Source};
use super::parts::{chat_answer, chat_call_of, chat_result, only};
use super::write::{Object, list, message, quoted};

/// The format.
pub const FORMAT: Format = Format { document: Some((sniff, read)), ..Format::new("inspect", "Inspect AI log (JSON)") };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    if root.get("samples").is_some_and(Slice::is_array) && root.get("eval").is_some_and(Slice::is_object) {
        return certain("samples and eval");
    }
    let is_sample = root.get("messages").is_some_and(Slice::is_array) && root.get("epoch").is_some();
    is_sample.then(|| likely("a sample with messages and epoch")).flatten()
}

fn read(root: Slice<'_>, _: Scope, out: &mut Output) {
    let Some(samples) = root.get("samples") else {
        read_sample(root, "", out);
        return;
    };
    let samples = samples.list();
    let index = out.choose(samples.len(), "samples");
    if let Some(sample) = samples.get(index) {
        read_sample(*sample, &format!("samples[{index}]."), out);
    }
}

fn read_sample(sample: Slice<'_>, path: &str, out: &mut Output) {
    let attachments = sample.get("attachments");
    for event in sample.get("events").map(Slice::list).unwrap_or_default() {
        if event.get("event").is_some_and(|kind| kind.is("compaction")) {
            out.count("compaction");
        }
    }
    for (index, value) in sample.get("messages").map(Slice::list).unwrap_or_default().into_iter().enumerate() {
        let path = format!("{path}messages[{index}]");
        let source = out.place(&*path, value);
        let source = Source { id: value.text("id").map(|id| id.into_owned()), ..source };
        let resolved = resolved(value.raw(), attachments, &path, out);
        let resolved = resolved.and_then(|text| Document::parse(text).ok());
        let value = resolved.as_ref().map_or(value, Document::root);
        let message = read_message(value, source);
        out.messages.push(message);
    }
}

const REFERENCE: &[u8] = b"attachment://";
const OLD_REFERENCE: &[u8] = b"tc://";

/// The JSON of a message with the texts that were kept elsewhere; `None` when all of it is there.
fn resolved(json: &str, attachments: Option<Slice<'_>>, path: &str, out: &mut Output) -> Option<String> {
    let mut text = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(rest) = json.as_bytes().get(at..).filter(|rest| !rest.is_empty()) {
        let start = [REFERENCE, OLD_REFERENCE].into_iter().find(|start| rest.starts_with(start));
        let Some(start) = start else {
            at += 1;
            continue;
        };
        let name = rest.get(start.len()..).unwrap_or_default();
        let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let end = at + start.len() + length;
        let name = json.get(at + start.len()..end).unwrap_or_default();
        // Both are the inside of a JSON string, so one takes the place of the other as it stands.
        match attachments.and_then(|all| all.get(name)).filter(|found| found.is_string()) {
            Some(found) => {
                text.push_str(json.get(done..at).unwrap_or_default());
                text.push_str(found.raw().get(1..found.raw().len() - 1).unwrap_or_default());
                done = end;
            }
            None if length == 32 => {
                out.warn_path(
                    "missing_attachment",
                    path,
                    format!("no attachment {name}: its name is left in the text"),
                );
            }
            None => {}
        }
        at = end;
    }
    (done > 0).then(|| text + json.get(done..).unwrap_or_default())
}

fn read_message(value: Slice<'_>, source: Source) -> Message {
    let role = value.text("role").unwrap_or_default();
    let content = value.get("content");
    match &*role {
        "assistant" => Message::new(answer(value, content), source),
        "tool" => {
            let id = value.text("tool_call_id").map(|id| id.into_owned());
            let error = value.get("error").filter(|error| error.is_object());
            let said = content.map_or_else(|| "\"\"".to_owned(), plain);
            let kind = error.and_then(|error| error.text("type")).unwrap_or_default();
            let outcome = error.map(|_| match &*kind {
                "approval" => Outcome::refusal(id.clone(), "error.type: approval"),
                _ => Outcome::failure(id.clone(), ["error.type: ", &kind].concat()),
            });
            let text = error.and_then(|error| error.get("message")).filter(|_| matches!(said.as_str(), "\"\"" | "[]"));
            let json = chat_result(id.as_deref(), text.map_or(said.as_str(), Slice::raw));
            let outcome = outcome.or_else(|| value.own("error").map(|_| Outcome::success(id, "error: null")));
            Message { json, source, outcomes: outcome.into_iter().collect() }
        }
        _ => Message::new(message(&role, &content.map_or_else(|| "\"\"".to_owned(), plain)), source),
    }
}

/// A content without reasoning.
fn plain(content: Slice<'_>) -> String {
    if content.is_array() {
        list(&content.list().into_iter().map(block).collect::<Vec<_>>())
    } else {
        content.raw().to_owned()
    }
}

fn block(block: Slice<'_>) -> String {
    match block.text("type").as_deref() {
        Some("text") => only(block, &["type", "text"]),
        Some("image") => {
            let url = Object::new().raw("url", block.get("image").map_or("\"\"", Slice::raw)).build();
            Object::new().text("type", "image_url").raw("image_url", &url).build()
        }
        _ => block.raw().to_owned(),
    }
}

fn answer(value: Slice<'_>, content: Option<Slice<'_>>) -> String {
    let mut calls = Vec::new();
    for call in value.get("tool_calls").map(Slice::list).unwrap_or_default() {
        calls.push(chat_call_of(call, ["id", "function", "arguments"]));
    }
    let blocks = content.map(Slice::list).unwrap_or_default();
    let is_reasoning = |block: &Slice<'_>| block.get("type").is_some_and(|kind| kind.is("reasoning"));
    let is_signed =
        |block: &Slice<'_>| block.flag("redacted") || block.text("signature").is_some_and(|it| !it.is_empty());
    let keeps = blocks.iter().any(|block| is_reasoning(block) && is_signed(block));
    let mut written = Vec::new();
    let mut thoughts = String::new();
    for part in &blocks {
        let text = part.get("reasoning").map_or("\"\"", Slice::raw);
        match is_reasoning(part) {
            // Then what is called reasoning is what the provider sent in its place.
            true if part.flag("redacted") => {
                written.push(Object::new().text("type", "redacted_thinking").raw("data", text).build());
            }
            true if keeps => {
                let object = Object::new().text("type", "thinking").raw("thinking", text);
                let signature = part.get("signature");
                written.push(if let Some(it) = signature { object.raw("signature", it.raw()) } else { object }.build());
            }
            true => thoughts.push_str(&part.text("reasoning").unwrap_or_default()),
            false => written.push(block(*part)),
        }
    }
    let said = match content {
        Some(content) if content.is_array() => list(&written),
        content => content.map_or("\"\"", Slice::raw).to_owned(),
    };
    let said = if said == "[]" { "\"\"" } else { &said };
    let answer = chat_answer(said, &calls);
    if thoughts.is_empty() { answer } else { answer.raw("reasoning_content", &quoted(&thoughts)) }.build()
}
