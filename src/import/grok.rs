//! Grok Build session files: lines `system`, `user`, `assistant`, `tool_result`, `reasoning`, `backend_tool_call`.
//! They become items of OpenAI Responses, which `reasoning` and the backend's calls are already.

use crate::document::Slice;

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely};
use super::line::Line;
use super::output::{Message, Output, Source};
use super::parts::{as_string, only};
use super::write::{Object, list, quoted};

/// The format.
pub const FORMAT: Format = Format { lines: Some((sniff, reader)), ..Format::new("grok", "Grok Build session (JSONL)") };

fn sniff(line: Slice<'_>) -> Option<Sniff> {
    let kind = line.text("type")?;
    if line.get("message").or(line.get("payload")).or(line.get("data")).is_some() {
        return None;
    }
    match &*kind {
        "backend_tool_call" => certain("backend_tool_call lines"),
        "tool_result" if line.get("tool_call_id").is_some() => certain("tool_result lines with tool_call_id"),
        "user" if line.get("synthetic_reason").or(line.get("prompt_index")).is_some() => {
            certain("user lines with prompt_index or synthetic_reason")
        }
        "assistant" if line.get("content").is_some() && line.get("model_id").is_some() => {
            likely("assistant lines with content and model_id")
        }
        _ => None,
    }
}

fn reader(_: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader)
}

struct Reader;

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        let kind = value.text("type").unwrap_or_default();
        let mut put = |json: String| out.messages.push(Message::new(json, Source::of_line(line)));
        match &*kind {
            "system" | "user" => put(item(&kind, &content(value.get("content")))),
            "assistant" => {
                let said = value.get("content").filter(|said| !said.is("") && said.raw() != "[]");
                if let Some(said) = said {
                    put(item(&kind, said.raw()));
                }
                for call in value.get("tool_calls").map(Slice::list).unwrap_or_default() {
                    let field = |name| call.get(name).map_or_else(|| "\"\"".to_owned(), as_string);
                    let object = Object::new().text("type", "function_call").raw("call_id", &field("id"));
                    put(object.raw("name", &field("name")).raw("arguments", &field("arguments")).build());
                }
            }
            "tool_result" => {
                let id = value.get("tool_call_id").map_or("\"\"", Slice::raw);
                let object = Object::new().text("type", "function_call_output").raw("call_id", id);
                put(object.raw("output", &content(value.get("content"))).build());
            }
            "reasoning" => put(only(value, &["type", "id", "summary", "content", "encrypted_content"])),
            "backend_tool_call" => {
                let call = value.get("kind");
                let name = call.and_then(|call| call.text("tool_type")).unwrap_or_default();
                let fields = call.map(Slice::fields).unwrap_or_default();
                let object = Object::new().raw("type", &quoted(&[&*name, "_call"].concat()));
                let fields = fields.iter().filter(|(name, _)| name != "tool_type");
                put(fields.fold(object, |object, (name, value)| object.raw(name, value.raw())).build());
            }
            _ => {
                out.count(&kind);
                out.warn_line("unknown_type", line.number, "a line of an unknown type: left out");
            }
        }
    }

    fn finish(self: Box<Self>, _: &mut Output) {}
}

fn item(role: &str, content: &str) -> String {
    Object::new().text("type", "message").text("role", role).raw("content", content).build()
}

/// Texts under the name that they have in a request.
fn content(content: Option<Slice<'_>>) -> String {
    let Some(content) = content else { return "\"\"".to_owned() };
    if !content.is_array() {
        return as_string(content);
    }
    let block =
        |block: &Slice<'_>| match block.get("text").filter(|_| block.get("type").is_some_and(|kind| kind.is("text"))) {
            Some(text) => Object::new().text("type", "input_text").raw("text", text.raw()).build(),
            None => block.raw().to_owned(),
        };
    list(&content.list().iter().map(block).collect::<Vec<_>>())
}
