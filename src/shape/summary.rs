//! The synthetic summary in the nearest form that a shape has for it.

use serde_json::Value;

use crate::facts::Shape;
use crate::node::{Key, Node};
use crate::options::SummaryRole;
use crate::value::{extend, object};

/// LangChain loads classes by this path.
const MODULES: [&str; 2] = ["langchain_core", "messages"];

/// A message that says `text`. Gemini and Bedrock have no place for a system message inside the list.
pub fn summary_message(shape: Shape, role: SummaryRole, text: &str, policy: &str) -> Value {
    let role_name = Value::from(role.as_str());
    let text = Value::from(text);
    let list = |block| Value::Array(vec![block]);
    let of_type = |kind: &str, text| list(object([("type", kind.into()), ("text", text)]));
    let of_langchain = if role == SummaryRole::User { "human" } else { "system" };
    let mut message = match shape {
        Shape::Chat => object([("role", role_name), ("content", text)]),
        Shape::Responses => {
            let content = of_type("input_text", text);
            object([("type", "message".into()), ("role", role_name), ("content", content)])
        }
        Shape::Gemini => object([("role", "user".into()), ("parts", list(object([("text", text)])))]),
        Shape::Bedrock => object([("role", "user".into()), ("content", list(object([("text", text)])))]),
        Shape::AiSdkUi => {
            // UI messages know no developer.
            let role_name = if role == SummaryRole::User { "user" } else { "system" };
            let id = Value::from(policy);
            object([("id", id), ("role", role_name.into()), ("parts", of_type("text", text))])
        }
        Shape::LangChain => object([("type", of_langchain.into()), ("content", text)]),
        Shape::LangChainStored => object([("type", of_langchain.into()), ("data", object([("content", text)]))]),
        Shape::LangChainSerialized => object([
            ("lc", 1.into()),
            ("type", "constructor".into()),
            ("id", class(role == SummaryRole::User)),
            ("kwargs", object([("content", text)])),
        ]),
    };
    if let Value::Object(fields) = &mut message {
        let mark = object([("synthetic", true.into()), ("policy", policy.into())]);
        extend(fields, [("_harn_projection", mark)]);
    }
    message
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
