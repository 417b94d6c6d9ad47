//! LangChain messages in three forms: plain (`{type, content}`), stored (`{type, data}`) and serialized
//! (`{lc: 1, type: "constructor", id, kwargs}`). One call is written up to three times: in `tool_calls`, in
//! `additional_kwargs.tool_calls` and as a content block.

use crate::error::ProjectionError;
use crate::facts::{Call, MessageFacts, Opaque, Place, Role, Shape, Stub, ToolResult};
use crate::failure::is_failure;
use crate::node::{Key, Kind, Node};

use super::openai_chat::{self, is_redacted};
use super::{id_field, mistake, read_content};

/// Where a form keeps things.
struct Form {
    shape: Shape,
    base: &'static [Key],
    content: &'static [Key],
    calls: &'static [Key],
    invalid_calls: &'static [Key],
    raw_calls: &'static [Key],
    raw_call: &'static [Key],
    gemini: &'static [Key],
}

const PLAIN: Form = Form {
    shape: Shape::LangChain,
    base: &[],
    content: &[Key::Content],
    calls: &[Key::ToolCalls],
    invalid_calls: &[Key::InvalidToolCalls],
    raw_calls: &[Key::AdditionalKwargs, Key::ToolCalls],
    raw_call: &[Key::AdditionalKwargs, Key::FunctionCall],
    gemini: &[Key::AdditionalKwargs, Key::GeminiSignatures],
};
const STORED: Form = Form {
    shape: Shape::LangChainStored,
    base: &[Key::Data],
    content: &[Key::Data, Key::Content],
    calls: &[Key::Data, Key::ToolCalls],
    invalid_calls: &[Key::Data, Key::InvalidToolCalls],
    raw_calls: &[Key::Data, Key::AdditionalKwargs, Key::ToolCalls],
    raw_call: &[Key::Data, Key::AdditionalKwargs, Key::FunctionCall],
    gemini: &[Key::Data, Key::AdditionalKwargs, Key::GeminiSignatures],
};
const SERIALIZED: Form = Form {
    shape: Shape::LangChainSerialized,
    base: &[Key::Kwargs],
    content: &[Key::Kwargs, Key::Content],
    calls: &[Key::Kwargs, Key::ToolCalls],
    invalid_calls: &[Key::Kwargs, Key::InvalidToolCalls],
    raw_calls: &[Key::Kwargs, Key::AdditionalKwargs, Key::ToolCalls],
    raw_call: &[Key::Kwargs, Key::AdditionalKwargs, Key::FunctionCall],
    gemini: &[Key::Kwargs, Key::AdditionalKwargs, Key::GeminiSignatures],
};

/// The facts of a message without a role of this type; `None` when it is not LangChain's.
pub fn read<N: Node>(message: &N, kind: &str, index: usize) -> Result<Option<MessageFacts>, ProjectionError> {
    let form = if kind == "constructor" && message.field(Key::Lc).is_some() {
        SERIALIZED
    } else if message.field(Key::Data).is_some_and(|data| data.kind() == Kind::Object) {
        STORED
    } else {
        PLAIN
    };
    let class = if form.shape == Shape::LangChainSerialized {
        let id = message.field(Key::Id);
        let last = id.and_then(|id| id.item(id.len().checked_sub(1)?));
        last.and_then(|name| name.as_str().map(|name| name.into_owned())).unwrap_or_default()
    } else {
        kind.to_owned()
    };
    let Some(base) = message.follow(form.base) else { return Ok(None) };
    let Some(role) = role(&class, &base) else { return Ok(None) };
    // Log lines of other systems have such types as well, but say nothing themselves.
    let says = [Key::Content, Key::ToolCalls].into_iter().any(|key| base.field(key).is_some());
    if !says && role != Role::Other {
        return Ok(None);
    }
    let mut facts = MessageFacts { shape: form.shape, text: form.content, ..MessageFacts::new(role) };
    if role == Role::Tool {
        facts.results.push(result(message, &base, &form, index)?);
        return Ok(Some(facts));
    }
    if role == Role::Other {
        facts.speaks = true;
        return Ok(Some(facts));
    }
    if let Some(content) = base.field(Key::Content) {
        read_content(&content, form.content, index, &mut facts)?;
        facts.shape = form.shape;
    }
    if role == Role::Assistant {
        // The blocks are the copies: `tool_calls` is what LangChain reads.
        let blocks = std::mem::take(&mut facts.calls);
        for list in [form.calls, form.invalid_calls, form.raw_calls] {
            read_calls(message, list, index, &mut facts)?;
        }
        if let Some(call) = message.follow(form.raw_call).filter(|call| call.kind() == Kind::Object) {
            let name = call.field_str(Key::Name).unwrap_or_default();
            add_call(Call::new(Place::Nested(form.raw_call, None), None, name, &[Key::Arguments]), &mut facts);
        }
        blocks.into_iter().for_each(|call| add_call(call, &mut facts));
        if message.follow(form.gemini).is_some_and(|signatures| !signatures.entries().is_empty()) {
            facts.signed = true;
            facts.opaque.push(Opaque { place: Place::Nested(form.gemini, None), field: &[], step: None });
        }
    }
    Ok(Some(facts))
}

/// `ai`, `AIMessage` and `AIMessageChunk` are the same.
fn role<N: Node>(class: &str, base: &N) -> Option<Role> {
    let name = class.strip_suffix("Chunk").unwrap_or(class);
    let name = name.strip_suffix("Message").unwrap_or(name);
    Some(match name.to_ascii_lowercase().as_str() {
        "human" => Role::User,
        "ai" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        "system" => Role::System,
        "developer" => Role::Developer,
        "chat" | "generic" => super::role(&base.field_str(Key::Role).unwrap_or_default()),
        "remove" => Role::Other,
        _ => return None,
    })
}

fn result<N: Node>(message: &N, base: &N, form: &Form, index: usize) -> Result<ToolResult, ProjectionError> {
    let at = || format!("messages[{index}]");
    Ok(ToolResult {
        place: Place::Message,
        call_id: id_field(base, Key::ToolCallId, &at)?,
        name: base.field_str(Key::Name),
        failed: is_failure(base, base.field(Key::Content).as_ref()),
        refused: false,
        body: form.content,
        stub: Stub::Text,
        redacted: is_redacted(message),
    })
}

fn read_calls<N: Node>(
    message: &N,
    path: &'static [Key],
    index: usize,
    facts: &mut MessageFacts,
) -> Result<(), ProjectionError> {
    let Some(list) = message.follow(path) else { return Ok(()) };
    if list.kind() != Kind::Array {
        return Err(mistake(format!("messages[{index}].tool_calls"), "an array or null", &list));
    }
    for (position, element) in list.items().enumerate() {
        let Some(element) = element.filter(|element| element.kind() == Kind::Object) else { continue };
        let place = Place::item(path, position);
        let at = || format!("messages[{index}].tool_calls[{position}]");
        let id = id_field(&element, Key::Id, &at)?;
        let name = || element.field_str(Key::Name).unwrap_or_default();
        let of_openai = openai_chat::call(&element, place, id.clone());
        add_call(of_openai.unwrap_or_else(|| Call::new(place, id, name(), &[Key::Args])), facts);
    }
    Ok(())
}

/// Adds a call, or another place of one that is there already.
fn add_call(call: Call, facts: &mut MessageFacts) {
    let is_same = |known: &&mut Call| match (&known.id, &call.id) {
        (Some(known), Some(id)) => known == id,
        _ => known.name == call.name,
    };
    // Where ids are missing, the nth of a name is the nth in every list.
    let is_free = |known: &&mut Call| {
        !known.place.is_beside(&call.place) && !known.copies.iter().any(|copy| copy.is_beside(&call.place))
    };
    match facts.calls.iter_mut().filter(is_free).find(is_same) {
        Some(known) => known.copies.push(call.place),
        None => facts.calls.push(call),
    }
}
