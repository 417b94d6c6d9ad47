//! The synthetic summary in the nearest form that a shape has for it.

use serde_json::{Map, Value};

use crate::facts::{MessageFacts, Shape};
use crate::node::{Key, Node};
use crate::options::SummaryRole;
use crate::value::object;

/// LangChain loads classes by this path.
const MODULES: [&str; 2] = ["langchain_core", "messages"];

/// The shape that a summary takes beside these messages, nearest first; `role` and `content` alone say nothing of it.
pub fn shape_of_summary<'a>(near: impl Iterator<Item = &'a MessageFacts>) -> Shape {
    near.map(|facts| facts.shape).find(|shape| *shape != Shape::Chat).unwrap_or(Shape::Chat)
}

/// A message that says `text`. Gemini and Bedrock have no place for a system message inside the list.
pub fn summary_message(shape: Shape, role: SummaryRole, text: &str, policy: &str) -> Value {
    let is_user = role == SummaryRole::User;
    let role_name = match shape {
        Shape::Gemini | Shape::Bedrock => "user",
        // The AI SDK knows no developer.
        Shape::AiSdk | Shape::AiSdkUi if !is_user => "system",
        _ => role.as_str(),
    };
    let of_langchain = if is_user { "human" } else { "system" };
    // What the text is wrapped in: a block's type, if it is in one.
    let (block, content) = match shape {
        Shape::Responses => (Some("input_text"), "content"),
        Shape::AiSdkUi => (Some("text"), "parts"),
        Shape::Gemini => (Some(""), "parts"),
        Shape::Bedrock => (Some(""), "content"),
        _ => (None, "content"),
    };
    let text = match block {
        None => Value::from(text),
        Some("") => Value::Array(vec![object([("text", text.into())])]),
        Some(kind) => Value::Array(vec![object([("type", kind.into()), ("text", text.into())])]),
    };
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    match shape {
        Shape::LangChain => {
            set("type", of_langchain.into());
            set(content, text);
        }
        Shape::LangChainStored => {
            set("type", of_langchain.into());
            set("data", object([(content, text)]));
        }
        Shape::LangChainSerialized => {
            set("lc", 1.into());
            set("type", "constructor".into());
            set("id", class(is_user));
            set("kwargs", object([(content, text)]));
        }
        _ => {
            set("role", role_name.into());
            set(content, text);
        }
    }
    match shape {
        Shape::Responses => set("type", "message".into()),
        Shape::AiSdkUi => set("id", policy.into()),
        _ => None,
    };
    set("_harn_projection", object([("synthetic", true.into()), ("policy", policy.into())]));
    Value::Object(fields)
}

fn class(is_user: bool) -> Value {
    let name = if is_user { "HumanMessage" } else { "SystemMessage" };
    Value::Array(MODULES.into_iter().chain([name]).map(Value::from).collect())
}

/// What makes a summary the user's, for providers that refuse a system message inside the list.
pub fn as_user<N: Node>(message: &N) -> (Key, Value) {
    if message.field(Key::Lc).is_some() {
        (Key::Id, class(true))
    } else if message.field(Key::Role).is_none() {
        (Key::Type, "human".into())
    } else {
        (Key::Role, "user".into())
    }
}
