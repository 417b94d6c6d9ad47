//! Wire shapes: a message in, facts out. Readers know JSON and nothing of policies.
//!
//! The shapes here share one skeleton, `role` and `content`, and real transcripts mix them even inside one
//! message, so each reader is asked about the parts it knows. A shape with a skeleton of its own (Responses items,
//! Gemini contents) is a new file and a new line at the top of [`read`].

mod anthropic;
mod harn;
mod openai_chat;

use crate::error::{ErrorCode, ProjectionError};
use crate::facts::{MessageFacts, Place, Role};
use crate::node::{Key, Kind, Node};

/// Reads the facts of the message at `index`.
pub fn read<N: Node>(message: &N, index: usize) -> Result<MessageFacts, ProjectionError> {
    if message.kind() != Kind::Object {
        return Err(mistake(format!("messages[{index}]"), "an object", message));
    }
    let role_name = role_name(message, index)?;
    let mut facts = MessageFacts::new(role(&role_name));
    match facts.role {
        Role::Tool => facts.results.push(openai_chat::result(message, index)?),
        Role::Assistant => {
            read_tool_calls(message, index, &mut facts)?;
            facts.calls.extend(openai_chat::legacy_call(message));
            facts.signed |= harn::is_signed(message) || openai_chat::is_signed(message);
            facts.speaks |= openai_chat::speaks_outside_content(message);
        }
        _ => {}
    }
    // A tool message's content is its result's body, not something that the message says.
    if facts.role != Role::Tool
        && let Some(content) = message.field(Key::Content)
    {
        read_content(&content, index, &mut facts)?;
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
        let element = element.filter(|element| element.kind() == Kind::Object);
        let Some(element) = element else {
            return Err(ProjectionError::new(ErrorCode::InvalidMessage, at(), "a tool call object", "something else"));
        };
        let place = Place::Item(Key::ToolCalls, position);
        let id = id_field(&element, Key::Id, &at)?;
        facts.signed |= openai_chat::is_signed(&element);
        facts
            .calls
            .push(openai_chat::call(&element, place, id.clone()).unwrap_or_else(|| harn::call(&element, place, id)));
    }
    Ok(())
}

fn read_content<N: Node>(content: &N, index: usize, facts: &mut MessageFacts) -> Result<(), ProjectionError> {
    match content.kind() {
        Kind::String => facts.speaks |= is_visible(content),
        Kind::Array => {
            for (position, block) in content.items().enumerate() {
                if let Some(block) = block {
                    let at = || format!("messages[{index}].content[{position}]");
                    anthropic::read_block(&block, Place::Item(Key::Content, position), &at, facts)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
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
