//! What policies may know of a message. Shape readers write these; policies, guards and exchanges read them,
//! and none of them ever looks at JSON.

use crate::node::{Key, Kind, Node};
use crate::patched::Step;
use crate::work;

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

/// The form that a message is written in, as far as it matters for what is put beside or into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `role` and `content`: OpenAI Chat, Anthropic, Harn, plain messages of Responses and the AI SDK.
    Chat,
    /// OpenAI Responses items.
    Responses,
    /// Gemini contents: `role` and `parts`.
    Gemini,
    /// AI SDK model messages with calls or results.
    AiSdk,
    /// AI SDK UI messages: `role` and typed `parts`.
    AiSdkUi,
    /// Bedrock Converse: `content` of blocks that are named by their one field.
    Bedrock,
    /// LangChain: `type` and `content`.
    LangChain,
    /// LangChain's `{type, data}`.
    LangChainStored,
    /// LangChain's `{lc, type: "constructor", id, kwargs}`.
    LangChainSerialized,
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
    /// Something deeper in the message: an item of a list (`kwargs.content[2]`), or the field itself.
    Nested(&'static [Key], Option<usize>),
}

impl Place {
    /// An item of the list at this path.
    pub fn item(path: &'static [Key], index: usize) -> Self {
        match path {
            [list] => Place::Item(*list, index),
            path => Place::Nested(path, Some(index)),
        }
    }

    /// The position in the list, for reports; `None` when it is not in a list.
    pub fn block(self) -> Option<usize> {
        match self {
            Place::Item(_, index) => Some(index),
            Place::Nested(_, index) => index,
            Place::Message | Place::Field(_) => None,
        }
    }

    /// The JSON that stands there.
    pub fn resolve<N: Node>(self, message: &N) -> Option<N> {
        match self {
            Place::Message => Some(message.clone()),
            Place::Field(key) => message.field(key),
            Place::Item(list, index) => message.field(list)?.item(index),
            Place::Nested(path, None) => message.follow(path),
            Place::Nested(path, Some(index)) => message.follow(path)?.item(index),
        }
    }

    /// The way from the message to the field or to the list.
    fn path(&self) -> &[Key] {
        match self {
            Place::Message => &[],
            Place::Field(key) | Place::Item(key, _) => std::slice::from_ref(key),
            Place::Nested(path, _) => path,
        }
    }

    /// Whether both are in the same list, or are the same field.
    pub fn is_beside(&self, other: &Place) -> bool {
        self.path() == other.path()
    }

    /// The way from the message to what stands `below` this place.
    pub fn steps(self, below: &[Key]) -> Vec<Step> {
        let fields = |path: &[Key]| path.iter().copied().map(Step::Field).collect::<Vec<_>>();
        let mut steps = fields(self.path());
        steps.extend(self.block().map(Step::Item));
        steps.extend(fields(below));
        steps
    }
}

/// A tool call of an assistant message.
#[derive(Clone, Debug)]
pub struct Call {
    /// Where it stands.
    pub place: Place,
    /// Where the same call is written again, in another form: what hides it hides these too.
    pub copies: Vec<Place>,
    /// The id that its result names; some shapes have none.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The way from the call to its arguments.
    pub arguments: &'static [Key],
    /// The id of the call whose program made this one.
    pub program: Option<String>,
    /// Which step of its message it belongs to, where a message holds several with their results.
    pub step: usize,
}

impl Call {
    /// A call that is written once.
    pub fn new(place: Place, id: Option<String>, name: String, arguments: &'static [Key]) -> Self {
        Call { place, copies: Vec::new(), id, name, arguments, program: None, step: 0 }
    }
}

/// What a shape takes in place of a result's body, so that the result stays what the provider expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stub {
    /// Nothing: typed or encrypted results.
    None,
    /// A line of text.
    Text,
    /// An object with the line in it: `{output: text}`.
    Object,
    /// A list of one block: `[{text}]`.
    Blocks,
    /// The body and the type beside it: `{type: "text", value: text}`.
    Typed,
    /// What each command of a shell printed: the first `stdout` is the line, all else is empty; outcomes stay.
    Shell,
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
    /// What may stand in place of the body.
    pub stub: Stub,
    /// Whether a projection has replaced the body already.
    pub redacted: bool,
}

/// Something that means nothing without a call: an approval that was asked for or given.
#[derive(Clone, Debug)]
pub struct Dependant {
    /// Where it stands.
    pub place: Place,
    /// The id of the call, or of the approval that was asked for it.
    pub call_id: Option<String>,
    /// A further id that the call is known by from here on.
    pub alias: Option<String>,
}

/// Reasoning, or a signature over it, that can be taken out of its message.
#[derive(Clone, Debug)]
pub struct Opaque {
    /// The block that it is or is part of.
    pub place: Place,
    /// The part of the block; the block itself when empty.
    pub field: &'static [Key],
    /// The step of its message that it only led to calls in, where a message holds several steps.
    pub step: Option<usize>,
}

/// What is known of one message.
#[derive(Clone, Debug)]
pub struct MessageFacts {
    /// Who speaks.
    pub role: Role,
    /// How it is written.
    pub shape: Shape,
    /// The way to what it says.
    pub text: &'static [Key],
    /// The tool calls, in order.
    pub calls: Vec<Call>,
    /// The tool results, in order.
    pub results: Vec<ToolResult>,
    /// What hangs on calls, in order.
    pub dependants: Vec<Dependant>,
    /// Whether it holds signed or opaque reasoning that a provider verifies.
    pub signed: bool,
    /// What has to go, all of it, when its reasoning shall go.
    pub opaque: Vec<Opaque>,
    /// Whether it is nothing but reasoning that belongs to the assistant's messages after it.
    pub leads: bool,
    /// Whether others name it by its own id, which it has to keep.
    pub named: bool,
    /// Whether it holds the provider's summary of what was before it.
    pub compacts: bool,
    /// Whether something else stands before its reasoning.
    pub reasons_late: bool,
    /// Whether results end it that providers get as the user's (AI SDK UI messages).
    pub ends_in_results: bool,
    /// Whether it shows more than calls, results and reasoning: text that is not blank, an image, an unknown block.
    pub speaks: bool,
}

impl MessageFacts {
    /// Facts of a message that holds nothing yet.
    pub fn new(role: Role) -> Self {
        MessageFacts {
            role,
            shape: Shape::Chat,
            text: &[Key::Content],
            calls: Vec::new(),
            results: Vec::new(),
            dependants: Vec::new(),
            signed: false,
            opaque: Vec::new(),
            leads: false,
            named: false,
            compacts: false,
            reasons_late: false,
            ends_in_results: false,
            speaks: false,
        }
    }

    /// Adds a block that is nothing but reasoning.
    pub fn add_reasoning(&mut self, place: Place) {
        let holds_more = self.speaks || !self.calls.is_empty() || !self.results.is_empty();
        self.reasons_late |= self.opaque.is_empty() && holds_more;
        self.opaque.push(Opaque { place, field: &[], step: None });
    }

    /// Whether it begins with reasoning that a provider verifies.
    pub fn begins_signed(&self) -> bool {
        self.signed && !self.reasons_late
    }

    /// Whether a call or a result stands there.
    pub fn stands_at(&self, place: Place) -> bool {
        self.calls.iter().any(|call| call.place == place || call.copies.contains(&place))
            || self.results.iter().any(|result| result.place == place)
    }

    /// Whether the block that stands there is nothing but reasoning.
    pub fn is_reasoning(&self, place: Place) -> bool {
        self.opaque.iter().any(|opaque| opaque.field.is_empty() && opaque.place == place)
    }

    /// Whether it is a prompt of the system or the developer.
    pub fn is_prompt(&self) -> bool {
        matches!(self.role, Role::System | Role::Developer)
    }

    /// Whether it is the user's, or answers calls in the user's place.
    pub fn is_of_user(&self) -> bool {
        matches!(self.role, Role::User | Role::Tool)
    }

    /// Whether a person wrote it: a user message that answers no call.
    pub fn is_ordinary_user(&self) -> bool {
        self.role == Role::User && self.results.is_empty()
    }
}

/// The arguments of a call.
pub fn arguments<N: Node>(message: &N, call: &Call) -> Option<N> {
    work::body_fetched();
    call.place.resolve(message)?.follow(call.arguments)
}

/// The body of a result.
pub fn body<N: Node>(message: &N, result: &ToolResult) -> Option<N> {
    work::body_fetched();
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
    if facts.leads || facts.stands_at(Place::Message) {
        return Vec::new();
    }
    let Some(content) = message.follow(facts.text) else { return Vec::new() };
    if content.kind() != Kind::Array {
        return text_parts(&content);
    }
    let is_said = |index: &usize| {
        let place = Place::item(facts.text, *index);
        !facts.stands_at(place) && !facts.is_reasoning(place)
    };
    let parts = (0..content.len()).filter(is_said).filter_map(|index| content.item(index));
    parts.filter_map(|part| part_text(&part)).collect()
}

/// The texts of a result: the text parts of its body, or the strings of an object that is one.
pub fn result_texts<N: Node>(message: &N, result: &ToolResult) -> Vec<N> {
    let Some(body) = body(message, result) else { return Vec::new() };
    if result.stub == Stub::Shell {
        return printed(&body);
    }
    if result.stub != Stub::Object {
        return text_parts(&body);
    }
    let strings = body.entries().into_iter().map(|(_, value)| value);
    strings.filter(|value| value.kind() == Kind::String).collect()
}

/// What the commands of a shell printed.
pub fn printed<N: Node>(output: &N) -> Vec<N> {
    let streams = output.items().flatten().flat_map(|part| [Key::Stdout, Key::Stderr].map(|stream| part.field(stream)));
    streams.flatten().filter(|text| text.kind() == Kind::String).collect()
}

/// Every text of a message: what it says, and the texts of its results.
pub fn texts<N: Node>(message: &N, facts: &MessageFacts) -> Vec<N> {
    let mut texts = said(message, facts);
    facts.results.iter().for_each(|result| texts.append(&mut result_texts(message, result)));
    texts
}

fn part_text<N: Node>(part: &N) -> Option<N> {
    match part.kind() {
        Kind::String => Some(part.clone()),
        Kind::Object => part.field(Key::Text).filter(|text| text.kind() == Kind::String),
        _ => None,
    }
}
