//! Wire shapes: a message in, facts out. Readers know JSON and nothing of policies.
//!
//! Most shapes share one skeleton, `role` and `content`, and real transcripts mix them even inside one message, so
//! each reader is asked about the parts it knows. A shape with a skeleton of its own (Responses items, Gemini
//! contents) is a new file and a new line at the top of [`read`].

mod ai_sdk;
mod anthropic;
mod bedrock;
mod gemini;
mod harn;
mod langchain;
mod openai_chat;
mod openai_responses;
mod summary;

use crate::error::{ErrorCode, ProjectionError};
use crate::facts::{Dependant, MessageFacts, Place, Role, Shape, Stub, ToolResult};
use crate::node::{Key, Kind, Node};

pub use openai_responses::is_item_type;
pub use summary::{as_user, shape_of_summary, summary_message};

/// Reads the facts of the message at `index`.
pub fn read<N: Node>(message: &N, index: usize) -> Result<MessageFacts, ProjectionError> {
    crate::work::message_read();
    let message = &message.opened();
    if message.kind() != Kind::Object {
        return Err(mistake(format!("messages[{index}]"), "an object", message));
    }
    let role_name = role_name(message, index)?;
    let kind = message.field_str(Key::Type);
    if let Some(kind) = &kind {
        if let Some(facts) = openai_responses::read(message, kind, index)? {
            return Ok(facts);
        }
        if role_name.is_empty()
            && let Some(facts) = langchain::read(message, kind, index)?
        {
            return Ok(facts);
        }
    }
    let content = message.field(Key::Content);
    if let Some(parts) = message.field(Key::Parts).filter(|parts| parts.kind() == Kind::Array) {
        let is_ui = parts.items().flatten().any(|part| part.kind() == Kind::Object && part.field(Key::Type).is_some());
        return if is_ui {
            ai_sdk::read_ui(message, &parts, &role_name, index)
        } else {
            gemini::read(&parts, &role_name, index)
        };
    }
    let mut facts = read_role_and_content(message, content.as_ref(), &role_name, kind.as_deref(), index)?;
    if facts.role == Role::Assistant {
        ai_sdk::read_invocations(message, index, &mut facts)?;
    }
    Ok(facts)
}

fn read_role_and_content<N: Node>(
    message: &N,
    content: Option<&N>,
    role_name: &str,
    kind: Option<&str>,
    index: usize,
) -> Result<MessageFacts, ProjectionError> {
    let mut facts = MessageFacts::new(role(role_name));
    let is_list_of_results = facts.role == Role::Tool && content.is_some_and(ai_sdk::is_tool_content);
    match facts.role {
        Role::Tool if !is_list_of_results => facts.results.push(openai_chat::result(message, index)?),
        Role::Assistant => {
            read_tool_calls(message, index, &mut facts)?;
            facts.calls.extend(openai_chat::legacy_call(message));
            harn::note_signature(message, &mut facts);
            openai_chat::note_signatures(message, &mut facts);
            facts.speaks |= openai_chat::speaks_outside_content(message);
        }
        _ => {}
    }
    // A tool message's content is its result's body, not something that the message says.
    if (facts.role != Role::Tool || is_list_of_results)
        && let Some(content) = content
    {
        read_content(content, &[Key::Content], index, &mut facts)?;
    }
    if kind == Some("message") && content.is_some_and(openai_responses::is_content) {
        facts.shape = Shape::Responses;
        openai_responses::note_id(message, &mut facts);
    }
    Ok(facts)
}

fn role_name<N: Node>(message: &N, index: usize) -> Result<String, ProjectionError> {
    match message.field_str(Key::Role) {
        Some(name) => Ok(name),
        None => match message.field(Key::Role) {
            None => Ok(String::new()),
            Some(role) => Err(mistake(format!("messages[{index}].role"), "a string", &role)),
        },
    }
}

fn role(name: &str) -> Role {
    match name {
        "system" => Role::System,
        "developer" => Role::Developer,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "tool_result" | "function" => Role::Tool,
        _ => Role::Other,
    }
}

fn read_tool_calls<N: Node>(message: &N, index: usize, facts: &mut MessageFacts) -> Result<(), ProjectionError> {
    let Some(list) = list_field(message, Key::ToolCalls, index)? else { return Ok(()) };
    for (position, element) in list.items().enumerate() {
        let at = || format!("messages[{index}].tool_calls[{position}]");
        let element = element.map(|element| element.opened()).filter(|element| element.kind() == Kind::Object);
        let Some(element) = element else {
            return Err(ProjectionError::new(ErrorCode::InvalidMessage, at(), "a tool call object", "something else"));
        };
        let place = Place::Item(Key::ToolCalls, position);
        let id = id_field(&element, Key::Id, &at)?;
        openai_chat::note_call_signature(&element, place, &mut facts.signed, &mut facts.opaque);
        facts
            .calls
            .push(openai_chat::call(&element, place, id.clone()).unwrap_or_else(|| harn::call(&element, place, id)));
    }
    Ok(())
}

/// Adds what a content, which stands at `path`, holds.
fn read_content<N: Node>(
    content: &N,
    path: &'static [Key],
    index: usize,
    facts: &mut MessageFacts,
) -> Result<(), ProjectionError> {
    match content.kind() {
        Kind::String => facts.speaks |= is_visible(content),
        Kind::Array => {
            for (position, block) in content.items().enumerate() {
                if let Some(block) = block {
                    let at = || format!("messages[{index}].content[{position}]");
                    read_block(&block, Place::item(path, position), &at, facts)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Adds what one block of a content list holds. Strings in the list are text.
fn read_block<N: Node>(
    block: &N,
    place: Place,
    at: &dyn Fn() -> String,
    facts: &mut MessageFacts,
) -> Result<(), ProjectionError> {
    if block.kind() == Kind::String {
        facts.speaks |= is_visible(block);
        return Ok(());
    }
    let block = &block.opened();
    match block.field_str(Key::Type) {
        None => bedrock::read_block(block, place, at, facts),
        Some(kind) if kind.starts_with("tool-") => ai_sdk::read_part(block, &kind, place, at, facts),
        Some(kind) => anthropic::read_block(block, &kind, place, at, facts),
    }
}

/// Adds an answer to a request for approval: a refusal answers the call, a permission hangs on it.
fn approval(place: Place, call_id: Option<String>, approved: bool, facts: &mut MessageFacts) {
    if approved {
        facts.dependants.push(Dependant { place, call_id, alias: None });
        return;
    }
    facts.results.push(ToolResult {
        place,
        call_id,
        name: None,
        failed: false,
        refused: true,
        body: &[Key::Reason],
        stub: Stub::None,
        redacted: false,
    });
}

/// Whether a string shows anything but white space.
fn is_visible<N: Node>(text: &N) -> bool {
    text.head(1).is_some_and(|head| !head.is_empty())
}

/// An id that is a string, or none.
fn id_field<N: Node>(node: &N, key: Key, at: &dyn Fn() -> String) -> Result<Option<String>, ProjectionError> {
    match node.field_str(key) {
        Some(id) => Ok(Some(id)),
        None => match node.field(key) {
            None => Ok(None),
            Some(id) => Err(mistake(format!("{}.{}", at(), key.as_str()), "a string or null", &id)),
        },
    }
}

fn list_field<N: Node>(message: &N, key: Key, index: usize) -> Result<Option<N>, ProjectionError> {
    match message.field(key) {
        None => Ok(None),
        Some(list) => match list.kind() {
            Kind::Null => Ok(None),
            Kind::Array => Ok(Some(list)),
            _ => Err(mistake(format!("messages[{index}].{}", key.as_str()), "an array or null", &list)),
        },
    }
}

fn mistake<N: Node>(path: String, expected: &str, found: &N) -> ProjectionError {
    ProjectionError::new(ErrorCode::InvalidMessage, path, expected, found.kind().in_words())
}

/// Whether a field holds text that is not empty.
fn has_text<N: Node>(node: &N, key: Key) -> bool {
    node.field_str(key).is_some_and(|text| !text.is_empty())
}
