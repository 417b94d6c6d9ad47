//! Checks that several providers share, each in one place.

use std::collections::HashMap;

use serde_json::Value;

use crate::canonical::Writer;
use crate::exchange::{Exchange, Spot};
use crate::facts::{Call, Place, Shape};
use crate::node::{Key, Kind, Node};
use crate::provider::Provider;

use super::{Findings, Scene};

/// What no provider takes.
pub fn everywhere<N: Node>(scene: &Scene<'_, N>, provider: Provider, found: &mut Findings) {
    if scene.messages.is_empty() {
        found.error("empty_list", 0, None, "a request needs at least one message");
    }
    let mut writer = Writer::default();
    for (index, message) in scene.messages.iter().enumerate() {
        marks(message, index, found);
        if let Some(owner) = scene.facts.get(index).and_then(|facts| stranger(facts.shape, provider)) {
            found.error("foreign_shape", index, None, format!("this is a message of {owner}: convert it first"));
        }
        writer.bytes.clear();
        if writer.node(message).is_err() {
            found.error("too_deep", index, None, "the message nests too deep, or contains itself");
        }
        if std::mem::take(&mut writer.lone_surrogate) {
            let text = "the text holds half of a surrogate pair, which is no valid Unicode";
            found.error("lone_surrogate", index, None, text);
        }
    }
}

/// Whose shape a message has, when it is not the provider's. What shares `role` and `content` differs only inside.
fn stranger(shape: Shape, provider: Provider) -> Option<&'static str> {
    let (owner, name) = match shape {
        Shape::Chat => return None,
        Shape::Responses => (Some(Provider::OpenaiResponses), "OpenAI Responses"),
        Shape::Gemini => (Some(Provider::Gemini), "Gemini"),
        Shape::Bedrock => (Some(Provider::Bedrock), "Bedrock Converse"),
        Shape::AiSdk | Shape::AiSdkUi => (None, "the AI SDK"),
        Shape::LangChain | Shape::LangChainStored | Shape::LangChainSerialized => (None, "LangChain"),
    };
    (owner != Some(provider)).then_some(name)
}

/// `_harn_projection` is for observers.
fn marks<N: Node>(message: &N, index: usize, found: &mut Findings) {
    let text = "`_harn_projection` is left in: send what `providerMessages` gives";
    if message.field(Key::HarnProjection).is_some() {
        found.error("projection_mark", index, None, text);
    }
    for (block, part) in objects(message, Key::Content) {
        if part.field(Key::HarnProjection).is_some() {
            found.error("projection_mark", index, Some(block), text);
        }
    }
}

/// The role as the message has it; empty when it has none.
pub fn role_of<N: Node>(message: &N) -> String {
    message.field_str(Key::Role).unwrap_or_default()
}

/// The type of a block; empty when it has none.
pub fn type_of<N: Node>(block: &N) -> String {
    block.field_str(Key::Type).unwrap_or_default()
}

/// A role that the provider does not have.
pub fn unknown_role(index: usize, role: &str, known: &str, found: &mut Findings) {
    let role = if role.is_empty() { "missing" } else { role };
    found.error("unknown_role", index, None, format!("the role must be {known}, not {role}"));
}

/// The objects of a list in a message, with their positions.
pub fn objects<N: Node>(message: &N, list: Key) -> Vec<(usize, N)> {
    let Some(list) = message.field(list) else { return Vec::new() };
    let items = list.items().enumerate();
    items.filter_map(|(at, item)| Some((at, item.filter(|item| item.kind() == Kind::Object)?))).collect()
}

/// Whether a string is empty or only white space.
pub fn is_blank<N: Node>(text: &N) -> bool {
    text.head(1).is_some_and(|head| head.is_empty())
}

/// Whether a field holds text that shows something.
pub fn shows<N: Node>(node: &N, key: Key) -> bool {
    node.field(key).and_then(|text| text.head(1)).is_some_and(|head| !head.is_empty())
}

/// Reports items of a list that are no objects.
pub fn only_objects<N: Node>(list: &N, index: usize, found: &mut Findings) {
    for (block, item) in list.items().enumerate() {
        let kind = item.as_ref().map_or(Kind::Null, Node::kind);
        if kind != Kind::Object {
            found.error(
                "wrong_type",
                index,
                Some(block),
                format!("a block must be an object, not {}", kind.in_words()),
            );
        }
    }
}

/// A call by its name and id, for messages.
pub fn label(call: &Call) -> String {
    let name = if call.name.is_empty() { "without a name" } else { &call.name };
    match &call.id {
        Some(id) => format!("call {id} ({name})"),
        None => format!("call ({name})"),
    }
}

/// The calls of the message at `index` that stand in `list`, each with its exchange.
pub fn calls_in<'a, N: Node>(scene: &'a Scene<'_, N>, index: usize, list: Key) -> Vec<(&'a Call, &'a Exchange)> {
    let exchanges = scene.exchanges.of_message(index).iter();
    let calls = exchanges.filter_map(|exchange| Some((scene.exchanges.call(exchange)?, exchange)));
    calls.filter(|(call, _)| matches!(call.place, Place::Item(of, _) if of == list)).collect()
}

/// The block of the result at `spot`.
pub fn block_of<N: Node>(scene: &Scene<'_, N>, spot: Spot) -> Option<usize> {
    scene.exchanges.result(spot)?.place.block()
}

/// Whether a result answers no call before it.
pub fn is_orphan<N: Node>(scene: &Scene<'_, N>, spot: Spot) -> bool {
    scene.exchanges.answered_by(spot).is_none()
}

/// A result by the id of its call, for messages.
pub fn result_label<N: Node>(scene: &Scene<'_, N>, spot: Spot) -> String {
    match scene.exchanges.result(spot).and_then(|result| result.call_id.as_deref()) {
        Some(id) => format!("result {id}"),
        None => "result without an id".to_owned(),
    }
}

/// The ids that were met, with the messages that had them, in order.
#[derive(Default)]
pub struct Met(HashMap<String, Vec<usize>>);

impl Met {
    /// Notes an id; gives the message that had it before.
    pub fn note(&mut self, id: &str, index: usize) -> Option<usize> {
        let places = self.0.entry(id.to_owned()).or_default();
        let first = places.first().copied();
        places.push(index);
        first
    }

    /// The messages that had it.
    pub fn at(&self, id: &str) -> &[usize] {
        self.0.get(id).map_or(&[], Vec::as_slice)
    }
}

/// Content of another provider's shape: its blocks would be refused as unknown.
pub fn foreign(index: usize, block: Option<usize>, what: &str, found: &mut Findings) {
    found.error("foreign_shape", index, block, format!("`{what}` is of another provider's shape"));
}

/// The id of a call, which is there and plain.
pub fn call_id<N: Node>(call: &N, key: Key, at: (usize, Option<usize>), found: &mut Findings) {
    required(call, key, "missing_id", at, found);
    let is_plain = |id: &str| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if call.field(key).and_then(|id| id.with_str(is_plain)) == Some(false) {
        found.error("tool_id_format", at.0, at.1, "an id may hold only letters, digits, `_` and `-`");
    }
}

/// Input of a call, which must be an object.
pub fn tool_input(input: Option<&impl Node>, at: (usize, Option<usize>), found: &mut Findings) {
    let kind = input.map_or(Kind::Null, Node::kind);
    if kind != Kind::Object {
        found.error("tool_input", at.0, at.1, format!("the input must be an object, not {}", kind.in_words()));
    }
}

/// Arguments of a call in a shape of OpenAI's: JSON as text, of Mistral also an object.
pub fn arguments<N: Node>(call: &N, at: (usize, Option<usize>), may_be_object: bool, found: &mut Findings) {
    let arguments = call.field(Key::Arguments);
    match arguments.as_ref().map_or(Kind::Null, Node::kind) {
        Kind::Object if may_be_object => {}
        Kind::String => {
            let is_json = |text: &str| serde_json::from_str::<Value>(text).is_ok();
            if arguments.and_then(|arguments| arguments.with_str(is_json)) == Some(false) {
                found.warning("arguments_not_json", at.0, at.1, "`arguments` is no JSON: some servers refuse it");
            }
        }
        kind => {
            let text = format!("`arguments` must be JSON text, not {}", kind.in_words());
            found.error("arguments_not_text", at.0, at.1, text);
        }
    }
}

/// A required field of a call.
pub fn required<N: Node>(node: &N, key: Key, rule: &'static str, at: (usize, Option<usize>), found: &mut Findings) {
    if !shows(node, key) {
        found.error(rule, at.0, at.1, format!("`{}` is missing or empty", key.as_str()));
    }
}
