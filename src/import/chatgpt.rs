//! ChatGPT's data export (`conversations.json`): trees of messages. Messages become OpenAI Chat's; what the model said
//! to a tool (`recipient`) is a call, known by its message's id.

use crate::document::{Document, Slice};

use super::format::{Format, Scope, Sniff, certain};
use super::output::{Message, Outcome, Output, Source};
use super::parts::{active_path, chat_answer, chat_call, chat_result, read_one, text_of};
use super::write::{Object, list, message};

/// The format.
pub const FORMAT: Format =
    Format { document: Some((sniff, read)), ..Format::new("chatgpt", "ChatGPT export (conversations.json)") };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    let first = if root.is_array() { *root.list().first()? } else { root };
    first.get("mapping").filter(|mapping| mapping.is_object())?;
    certain("a conversation with mapping")
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    read_one(root, out, &mut |conversation, path, out| read_conversation(conversation, path, scope, out));
}

fn read_conversation(conversation: Slice<'_>, path: &str, scope: Scope, out: &mut Output) {
    let fields = conversation.get("mapping").map(Slice::fields).unwrap_or_default();
    let node_of = |(name, node): &(std::borrow::Cow<'_, str>, Slice<'_>)| {
        let id = node.text("id").unwrap_or(name.clone()).into_owned();
        (id, node.text("parent").map(|parent| parent.into_owned()))
    };
    let nodes: Vec<_> = fields.iter().map(node_of).collect();
    let on_path = active_path(&nodes, conversation.text("current_node").as_deref());
    // The calls so far: the node, and the tool that is to answer.
    let mut calls: Vec<(&str, String)> = Vec::new();
    for (((name, node), (id, parent)), on_path) in fields.iter().zip(&nodes).zip(on_path) {
        let Some(value) = node.get("message") else { continue };
        let source = out.place([path, "mapping.", name].concat(), *node);
        let mut source = Source { id: Some(id.clone()), ..source };
        let weight = value.get("weight").map(Slice::raw);
        source.branch = match weight {
            _ if !on_path => Some("abandoned"),
            Some("0" | "0.0") => Some("hidden"),
            _ => None,
        };
        let role = value.at(&["author", "role"]).and_then(Slice::str).unwrap_or_default();
        let text = said_in(value.get("content"));
        let said = text.as_ref().map_or("\"\"", |text| text.as_str());
        let recipient = value.text("recipient").filter(|recipient| recipient != "all");
        let message = match (&*role, recipient) {
            ("assistant", Some(tool)) => {
                calls.push((id, tool.to_string()));
                let arguments = arguments(said);
                let call = chat_call(id, &tool, arguments.as_ref().map(Document::root));
                Message::new(chat_answer("\"\"", &[call]).build(), source)
            }
            ("tool", _) => {
                // A tool can say several things about one call, each below the other.
                let call = call_above(parent.as_deref(), &nodes, &calls);
                let status = value.at(&["metadata", "aggregate_result", "status"]).and_then(Slice::str);
                let failure = status.filter(|status| status.starts_with("failed"));
                let failure =
                    failure.map(|status| Outcome::failure(call.clone(), ["aggregate_result: ", &status].concat()));
                let json = with_name(chat_result(call.as_deref(), said), value.at(&["author", "name"]));
                Message { json, source, outcomes: failure.into_iter().collect() }
            }
            _ if text.is_none() => {
                let kind = value.at(&["content", "content_type"]).and_then(Slice::str).unwrap_or("empty".into());
                out.count(if said == "\"\"" { &kind } else { "empty" });
                continue;
            }
            _ => Message::new(message(&role, said), source),
        };
        out.put(message, scope);
    }
}

fn with_name(json: String, name: Option<Slice<'_>>) -> String {
    match name {
        Some(name) => [json.strip_suffix('}').unwrap_or(&json), ",\"name\":", name.raw(), "}"].concat(),
        None => json,
    }
}

/// The nearest call above a node, past other results of it.
fn call_above(parent: Option<&str>, nodes: &[(String, Option<String>)], calls: &[(&str, String)]) -> Option<String> {
    let mut next = parent;
    for _ in 0..8 {
        let id = next?;
        if calls.iter().any(|(call, _)| *call == id) {
            return Some(id.to_owned());
        }
        next = nodes.iter().find(|(node, _)| node == id).and_then(|(_, parent)| parent.as_deref());
    }
    None
}

/// What was said to a tool: JSON as it stands, code as one argument.
fn arguments(said: &str) -> Option<Document> {
    let text: String = serde_json::from_str(said).ok()?;
    let document = Document::parse(&*text).ok().filter(|document| document.root().is_object());
    document.or_else(|| Document::parse(Object::new().text("input", &text).build()).ok())
}

/// The content as JSON: a text where it is nothing else, else blocks; `None` where there is none.
fn said_in(content: Option<Slice<'_>>) -> Option<String> {
    let content = content?;
    let Some(parts) = content.get("parts") else {
        let text = ["text", "result", "content"].iter().find_map(|name| content.get(name));
        return text.filter(|text| text.is_string() && !text.is("")).map(|text| text.raw().to_owned());
    };
    let parts: Vec<_> = parts.list().into_iter().filter(|part| !part.is("") && part.raw() != "null").collect();
    match parts.as_slice() {
        [] => None,
        [one] if one.is_string() => Some(one.raw().to_owned()),
        // Pictures and sound are elsewhere in the export: what is known of them stands as text.
        parts => Some(list(&parts.iter().map(|part| text_of(*part)).collect::<Vec<_>>())),
    }
}
