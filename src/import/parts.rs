//! Parts of messages in the shapes of OpenAI Chat and Anthropic, made of parts of other formats.

use std::collections::HashMap;

use crate::document::Slice;

use super::output::Output;
use super::write::{Object, list, quoted};

/// The fields with these names, as they stand; the whole value when it has no others.
pub fn only(value: Slice<'_>, names: &[&str]) -> String {
    let fields = value.fields();
    if fields.iter().all(|(name, _)| names.contains(&&**name)) {
        return value.raw().to_owned();
    }
    let kept = fields.iter().filter(|(name, _)| names.contains(&&**name));
    kept.fold(Object::new(), |object, (name, value)| object.raw(name, value.raw())).build()
}

/// Whether a text holds another one.
pub fn holds(text: &str, part: &str) -> bool {
    text.as_bytes().windows(part.len()).any(|window| window == part.as_bytes())
}

/// A string as it stands; anything else as a string of its JSON.
pub fn as_string(value: Slice<'_>) -> String {
    if value.is_string() { value.raw().to_owned() } else { quoted(value.raw()) }
}

/// A call as OpenAI Chat has it. Arguments that are no string are written as one.
pub fn chat_call(id: &str, name: &str, arguments: Option<Slice<'_>>) -> String {
    let arguments = arguments.map_or_else(|| "\"{}\"".to_owned(), as_string);
    let function = Object::new().text("name", name).raw("arguments", &arguments).build();
    Object::new().text("id", id).text("type", "function").raw("function", &function).build()
}

/// The JSON of a field that is a string, or of an empty one.
fn field(value: Slice<'_>, name: &str) -> String {
    value.get(name).map_or_else(|| "\"\"".to_owned(), as_string)
}

/// A call as OpenAI Chat has it, from the fields that hold its id, its tool's name and its arguments.
pub fn chat_call_of(call: Slice<'_>, [id, name, arguments]: [&str; 3]) -> String {
    let arguments = call.get(arguments).map_or_else(|| "\"{}\"".to_owned(), as_string);
    let function = Object::new().raw("name", &field(call, name)).raw("arguments", &arguments).build();
    Object::new().raw("id", &field(call, id)).text("type", "function").raw("function", &function).build()
}

/// A call as Anthropic has it, from the fields that hold its id, its tool's name and its input.
pub fn tool_use_of(call: Slice<'_>, [id, name, input]: [&str; 3]) -> String {
    let input = call.get(input).map_or("{}", Slice::raw);
    let object = Object::new().text("type", "tool_use").raw("id", &field(call, id)).raw("name", &field(call, name));
    object.raw("input", input).build()
}

/// A block of text; of what is no string, its JSON.
pub fn text_of(text: Slice<'_>) -> String {
    Object::new().text("type", "text").raw("text", &as_string(text)).build()
}

/// An answer of the model as OpenAI Chat has it, to which more can be added; the content is JSON text.
pub fn chat_answer(content: &str, calls: &[String]) -> Object {
    let answer = Object::new().text("role", "assistant").raw("content", content);
    if calls.is_empty() { answer } else { answer.raw("tool_calls", &list(calls)) }
}

/// A tool result as OpenAI Chat has it; the content is JSON text.
pub fn chat_result(id: Option<&str>, content: &str) -> String {
    let result = Object::new().text("role", "tool");
    let result = if let Some(id) = id { result.text("tool_call_id", id) } else { result };
    result.raw("content", content).build()
}

/// A call as Anthropic has it; the input is JSON text.
pub fn tool_use(id: &str, name: &str, input: &str) -> String {
    Object::new().text("type", "tool_use").text("id", id).text("name", name).raw("input", input).build()
}

/// A tool result as Anthropic has it; the content is JSON text.
pub fn tool_result(id: &str, content: Option<&str>, is_error: Option<bool>) -> String {
    let mut result = Object::new().text("type", "tool_result").text("tool_use_id", id);
    if let Some(content) = content {
        result = result.raw("content", content);
    }
    match is_error {
        Some(is_error) => result.raw("is_error", if is_error { "true" } else { "false" }).build(),
        None => result.build(),
    }
}

/// A content as a list of blocks.
pub fn blocks(content: Slice<'_>) -> Vec<String> {
    match content.str() {
        Some(text) if text.is_empty() => Vec::new(),
        Some(_) => vec![text_of(content)],
        None => content.list().iter().map(|block| block.raw().to_owned()).collect(),
    }
}

/// The outcome that an exit code tells, where it is not 0.
pub fn failed_exit(code: Option<Slice<'_>>) -> Option<String> {
    let code = code?.int().filter(|code| *code != 0)?;
    Some(format!("exit code {code}"))
}

/// For each node of a tree, whether it is on the way from the root to `leaf`; on it are all when the leaf is unknown.
pub fn active_path(nodes: &[(String, Option<String>)], leaf: Option<&str>) -> Vec<bool> {
    let by_id: HashMap<&str, usize> = nodes.iter().enumerate().map(|(index, (id, _))| (id.as_str(), index)).collect();
    let mut next = leaf.and_then(|leaf| by_id.get(leaf)).copied();
    let mut on_path = vec![next.is_none(); nodes.len()];
    while let Some((index, on_it)) = next.and_then(|index| Some((index, on_path.get_mut(index)?))) {
        if *on_it {
            break;
        }
        *on_it = true;
        let parent = nodes.get(index).and_then(|(_, parent)| parent.as_deref());
        next = parent.and_then(|parent| by_id.get(parent)).copied();
    }
    on_path
}

/// Reads the one conversation of a file, or the chosen one of a list of them, with the way to it.
pub fn read_one(root: Slice<'_>, out: &mut Output, read: &mut dyn FnMut(Slice<'_>, &str, &mut Output)) {
    if !root.is_array() {
        return read(root, "", out);
    }
    let conversations = root.list();
    let index = out.choose(conversations.len(), "");
    if let Some(conversation) = conversations.get(index) {
        read(*conversation, &format!("[{index}]."), out);
    }
}
