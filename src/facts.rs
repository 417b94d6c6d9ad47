//! What policies may know of a message. Shape readers write these; policies, guards and exchanges read them,
//! and none of them ever looks at JSON.

use crate::node::{Key, Kind, Node};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A system prompt.
    System,
    /// A developer prompt; treated as a system prompt.
    Developer,
    /// A person, or results in the person's name (Anthropic).
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// A role that the engine does not know; such a message is always kept.
    Other,
}

/// Where in its message a call or a result stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The message itself.
    Message,
    /// A field of the message (`function_call`).
    Field(Key),
    /// An item of a list in the message (`tool_calls[0]`, `content[2]`).
    Item(Key, usize),
}

impl Place {
    /// The position in the list, for reports; `None` when it is not in a list.
    pub fn block(self) -> Option<usize> {
        match self {
            Place::Item(_, index) => Some(index),
            Place::Message | Place::Field(_) => None,
        }
    }

    /// The JSON that stands there.
    pub fn resolve<N: Node>(self, message: &N) -> Option<N> {
        match self {
            Place::Message => Some(message.clone()),
            Place::Field(key) => message.field(key),
            Place::Item(list, index) => message.field(list)?.item(index),
        }
    }
}

/// A tool call of an assistant message.
#[derive(Clone, Debug)]
pub struct Call {
    /// Where it stands.
    pub place: Place,
    /// The id that its result names; some shapes have none.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The way from the call to its arguments.
    pub arguments: &'static [Key],
}

/// A tool result.
#[derive(Clone, Debug)]
pub struct ToolResult {
    /// Where it stands.
    pub place: Place,
    /// The id of the call that it answers; some shapes have none.
    pub call_id: Option<String>,
    /// The tool's name, where the result itself carries it.
    pub name: Option<String>,
    /// Whether it reports a failure: the structured flag where there is one, else the text rule.
    pub failed: bool,
    /// Whether a person refused the call. A refusal answers the call but is no failure.
    pub refused: bool,
    /// The way from the result to its body.
    pub body: &'static [Key],
    /// Whether the shape allows one line of text in place of the body.
    pub replaceable: bool,
    /// Whether a projection has replaced the body already.
    pub redacted: bool,
}

/// What is known of one message.
#[derive(Clone, Debug)]
pub struct MessageFacts {
    /// Who speaks.
    pub role: Role,
    /// The tool calls, in order.
    pub calls: Vec<Call>,
    /// The tool results, in order.
    pub results: Vec<ToolResult>,
    /// Whether it holds signed or opaque reasoning that a provider verifies.
    pub signed: bool,
    /// Whether it shows more than calls, results and reasoning: text that is not blank, an image, an unknown block.
    pub speaks: bool,
}

impl MessageFacts {
    /// Facts of a message that holds nothing yet.
    pub fn new(role: Role) -> Self {
        MessageFacts { role, calls: Vec::new(), results: Vec::new(), signed: false, speaks: false }
    }

    /// Whether a call or a result stands there.
    pub fn stands_at(&self, place: Place) -> bool {
        self.calls.iter().any(|call| call.place == place) || self.results.iter().any(|result| result.place == place)
    }

    /// Whether it is a prompt of the system or the developer.
    pub fn is_prompt(&self) -> bool {
        matches!(self.role, Role::System | Role::Developer)
    }

    /// Whether a person wrote it: a user message that answers no call.
    pub fn is_ordinary_user(&self) -> bool {
        self.role == Role::User && self.results.is_empty()
    }
}

/// The arguments of a call.
pub fn arguments<N: Node>(message: &N, call: &Call) -> Option<N> {
    call.place.resolve(message)?.follow(call.arguments)
}

/// The body of a result.
pub fn body<N: Node>(message: &N, result: &ToolResult) -> Option<N> {
    result.place.resolve(message)?.follow(result.body)
}

/// The text parts of a body or of a message's content: itself when it is a string, the text of its parts when it
/// is a list. Images and other media are not text.
pub fn text_parts<N: Node>(content: &N) -> Vec<N> {
    match content.kind() {
        Kind::String => vec![content.clone()],
        Kind::Array => content.items().flatten().filter_map(|part| part_text(&part)).collect(),
        _ => Vec::new(),
    }
}

/// The texts that a message says, beside its calls, its results and its reasoning.
pub fn said<N: Node>(message: &N, facts: &MessageFacts) -> Vec<N> {
    let Some(content) = message.field(Key::Content).filter(|_| !facts.stands_at(Place::Message)) else {
        return Vec::new();
    };
    if content.kind() != Kind::Array {
        return text_parts(&content);
    }
    let mut texts = Vec::new();
    for index in (0..content.len()).filter(|index| !facts.stands_at(Place::Item(Key::Content, *index))) {
        let part = content.item(index).filter(|part| !is_reasoning(part));
        if let Some(text) = part.and_then(|part| part_text(&part)) {
            texts.push(text);
        }
    }
    texts
}

/// Every text of a message: what it says, and the texts of its results.
pub fn texts<N: Node>(message: &N, facts: &MessageFacts) -> Vec<N> {
    let mut texts = said(message, facts);
    for result in &facts.results {
        if let Some(body) = body(message, result) {
            texts.append(&mut text_parts(&body));
        }
    }
    texts
}

fn is_reasoning<N: Node>(part: &N) -> bool {
    matches!(part.field_str(Key::Type).as_deref(), Some("thinking" | "reasoning"))
}

fn part_text<N: Node>(part: &N) -> Option<N> {
    match part.kind() {
        Kind::String => Some(part.clone()),
        Kind::Object => part.field(Key::Text).filter(|text| text.kind() == Kind::String),
        _ => None,
    }
}
