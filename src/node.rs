//! Read-only access to a JSON-like value, so that the engine reads a `serde_json` document and a live
//! JavaScript object through the same code and never has to copy either.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Number, Value};

/// What a [`Node`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// JSON `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// Any number.
    Number,
    /// A string.
    String,
    /// A list.
    Array,
    /// A set of named fields.
    Object,
    /// A JavaScript function; never found in JSON.
    Function,
}

impl Kind {
    /// The kind in words, for error messages.
    pub fn in_words(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
            Kind::Function => "a function",
        }
    }
}

macro_rules! keys {
    ($($name:ident = $text:literal,)*) => {
        /// A field name that the engine looks up. A fixed set, so that JavaScript strings are made once.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Key { $($name,)* }

        impl Key {
            /// Every key, in declaration order: `ALL[key as usize] == key`.
            pub const ALL: &'static [Key] = &[$(Key::$name,)*];

            /// The field name as it stands in the data.
            pub const fn as_str(self) -> &'static str {
                match self { $(Key::$name => $text,)* }
            }
        }
    };
}

keys! {
    Action = "action",
    AdditionalKwargs = "additional_kwargs",
    Approval = "approval",
    ApprovalId = "approvalId",
    ApprovalRequestId = "approval_request_id",
    Approve = "approve",
    Approved = "approved",
    Args = "args",
    Arguments = "arguments",
    Audio = "audio",
    CallId = "call_id",
    CallProviderMetadata = "callProviderMetadata",
    Caller = "caller",
    Code = "code",
    Content = "content",
    Contents = "contents",
    Custom = "custom",
    Data = "data",
    DroppedIndices = "dropped_indices",
    EncryptedContent = "encrypted_content",
    Error = "error",
    ErrorText = "errorText",
    Events = "events",
    Execution = "execution",
    ExtraContent = "extra_content",
    Fingerprint = "fingerprint",
    Function = "function",
    FunctionCall = "function_call",
    FunctionCallCamel = "functionCall",
    FunctionResponse = "function_response",
    FunctionResponseCamel = "functionResponse",
    GeminiSignatures = "__gemini_function_call_thought_signatures__",
    Google = "google",
    HarnProjection = "_harn_projection",
    Id = "id",
    Input = "input",
    InvalidToolCalls = "invalid_tool_calls",
    IsError = "is_error",
    IsErrorCamel = "isError",
    ItemId = "itemId",
    Json = "json",
    KeptIndices = "kept_indices",
    Kind = "kind",
    Kwargs = "kwargs",
    Lc = "lc",
    Messages = "messages",
    Metadata = "metadata",
    Name = "name",
    Operation = "operation",
    Options = "options",
    Outcome = "outcome",
    Output = "output",
    Outputs = "outputs",
    Parts = "parts",
    Phase = "phase",
    Policy = "policy",
    Prefix = "prefix",
    ProviderExecuted = "providerExecuted",
    ProviderMetadata = "providerMetadata",
    ProviderOptions = "providerOptions",
    Queries = "queries",
    Reason = "reason",
    ReasoningContent = "reasoningContent",
    ReasoningContentSnake = "reasoning_content",
    ReasoningDetails = "reasoning_details",
    ReasoningEncryptedContent = "reasoningEncryptedContent",
    ReasoningText = "reasoningText",
    RedactedContent = "redactedContent",
    RedactedData = "redactedData",
    RedactionPointer = "redaction_pointer",
    Refusal = "refusal",
    Response = "response",
    Result = "result",
    ResultProviderMetadata = "resultProviderMetadata",
    Results = "results",
    RevisedPrompt = "revised_prompt",
    Role = "role",
    Signature = "signature",
    Source = "source",
    State = "state",
    Status = "status",
    Stderr = "stderr",
    Stdout = "stdout",
    Summary = "summary",
    Synthetic = "synthetic",
    Text = "text",
    TextSignature = "textSignature",
    Thinking = "thinking",
    ThinkingBlocks = "thinking_blocks",
    ThinkingSignature = "thinking_signature",
    ThinkingSignatureCamel = "thinkingSignature",
    Thought = "thought",
    ThoughtSignature = "thought_signature",
    ThoughtSignatureCamel = "thoughtSignature",
    ToolCallId = "tool_call_id",
    ToolCallIdCamel = "toolCallId",
    ToolCalls = "tool_calls",
    ToolId = "tool_id",
    ToolInvocation = "toolInvocation",
    ToolInvocations = "toolInvocations",
    ToolName = "toolName",
    ToolResult = "toolResult",
    ToolUse = "toolUse",
    ToolUseId = "tool_use_id",
    ToolUseIdCamel = "toolUseId",
    Tools = "tools",
    Type = "type",
    Value = "value",
}

/// A JSON-like value that can be looked at. Cloning must be cheap: it clones a handle, not the value.
pub trait Node: Clone {
    /// The node over a value that the engine made itself. The same type wherever that is possible: what is compiled
    /// for one node is compiled for both.
    type Made<'v>: Node;
    /// A value that the engine made, as a node.
    fn of_value(value: &Value) -> Self::Made<'_>;

    /// What the value is.
    fn kind(&self) -> Kind;
    /// The field `key` of an object; `None` when it is missing, `null` or JavaScript's `undefined`.
    fn field(&self, key: Key) -> Option<Self>;
    /// The same value, for many questions in a row about its fields: those that it does not have are known at once. Not
    /// to be kept, for the caller may give its object other fields later.
    fn opened(&self) -> Self {
        self.clone()
    }
    /// The item at `index` of an array; `None` when it is missing or `null`.
    fn item(&self, index: usize) -> Option<Self>;
    /// The same item as the caller made it: in JavaScript, a value can say itself what its JSON is.
    fn own_item(&self, index: usize) -> Option<Self> {
        self.item(index)
    }
    /// The number of items of an array; 0 for everything else.
    fn len(&self) -> usize;
    /// The boolean, if it is one.
    fn as_bool(&self) -> Option<bool>;
    /// The number, if it is one; integers beyond 2^53 lose digits here, never in [`Node::number_text`].
    fn as_f64(&self) -> Option<f64>;
    /// The number in canonical JSON spelling, if it is one.
    fn number_text(&self) -> Option<String>;
    /// The string, if it is one.
    fn as_str(&self) -> Option<Cow<'_, str>>;
    /// The named fields of an object in their own order, `null` ones too. What JSON cannot hold is left out.
    fn entries(&self) -> Vec<(Rc<str>, Self)>;
    /// The same fields in the order of their names' UTF-8 bytes.
    fn sorted_entries(&self) -> Vec<(Rc<str>, Self)> {
        sort_by_name(self.entries())
    }
    /// The JSON text that the value was read from, if it was read from one.
    fn source_text(&self) -> Option<&str> {
        None
    }
    /// Whether both are the very same value in memory.
    fn same(&self, other: &Self) -> bool;

    /// Reads a string without owning a copy, if it is one.
    fn with_str<R>(&self, read: impl FnOnce(&str) -> R) -> Option<R> {
        self.as_str().map(|text| read(&text))
    }
    /// Reads the UTF-8 bytes of a string, if it is one.
    fn with_utf8<R>(&self, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.with_str(|text| read(text.as_bytes()))
    }
    /// Whether a string has no lone surrogates. Only JavaScript strings can have them.
    fn is_well_formed(&self) -> bool {
        true
    }
    /// The first `chars` characters of a string after leading white space, without fetching the rest of it.
    fn head(&self, chars: usize) -> Option<String> {
        self.with_str(|text| text.trim_start().chars().take(chars).collect())
    }
    /// The length of a string in characters (Unicode scalar values).
    fn char_count(&self) -> Option<usize> {
        self.with_str(|text| text.chars().count())
    }

    /// Whether an array has no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The field `key`, if it holds a string.
    fn field_str(&self, key: Key) -> Option<String> {
        self.field(key)?.as_str().map(Cow::into_owned)
    }
    /// The items of an array; `None` for `null` ones.
    fn items(&self) -> impl Iterator<Item = Option<Self>> + '_ {
        (0..self.len()).map(|index| self.item(index))
    }
    /// The items of an array as the caller made them.
    fn own_items(&self) -> Vec<Option<Self>> {
        (0..self.len()).map(|index| self.own_item(index)).collect()
    }
    /// The node reached through the fields of `path`.
    fn follow(&self, path: &[Key]) -> Option<Self> {
        let Some((first, rest)) = path.split_first() else { return Some(self.clone()) };
        rest.iter().try_fold(self.field(*first)?, |node, key| node.field(*key))
    }
}

impl Node for &Value {
    type Made<'v> = &'v Value;

    fn of_value(value: &Value) -> &Value {
        value
    }
    fn kind(&self) -> Kind {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Number(_) => Kind::Number,
            Value::String(_) => Kind::String,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }
    }
    fn field(&self, key: Key) -> Option<Self> {
        Value::get(self, key.as_str()).filter(|value| !value.is_null())
    }
    fn item(&self, index: usize) -> Option<Self> {
        Value::get(self, index).filter(|value| !value.is_null())
    }
    fn len(&self) -> usize {
        self.as_array().map_or(0, Vec::len)
    }
    fn as_bool(&self) -> Option<bool> {
        Value::as_bool(self)
    }
    fn as_f64(&self) -> Option<f64> {
        Value::as_f64(self)
    }
    fn number_text(&self) -> Option<String> {
        self.as_number().map(|number| number.to_string())
    }
    fn as_str(&self) -> Option<Cow<'_, str>> {
        Value::as_str(self).map(Cow::Borrowed)
    }
    fn entries(&self) -> Vec<(Rc<str>, Self)> {
        let pairs = self.as_object().map(|map| map.iter().map(|(name, value)| (Rc::from(name.as_str()), value)));
        pairs.map(Iterator::collect).unwrap_or_default()
    }
    fn same(&self, other: &Self) -> bool {
        std::ptr::eq(*self, *other)
    }
}

/// Puts named values in the order of their names' UTF-8 bytes.
pub fn sort_by_name<T>(entries: Vec<(Rc<str>, T)>) -> Vec<(Rc<str>, T)> {
    if entries.is_sorted_by(|(a, _), (b, _)| a <= b) {
        return entries;
    }
    let positions = sorted_positions(&mut entries.iter().map(|(name, _)| &**name));
    let mut entries: Vec<_> = entries.into_iter().map(Some).collect();
    positions.into_iter().filter_map(|position| entries.get_mut(position)?.take()).collect()
}

/// The positions of names in the order of the names.
pub fn sorted_positions(names: &mut dyn Iterator<Item = &str>) -> Vec<usize> {
    let mut sorted = BTreeMap::new();
    for (position, name) in names.enumerate() {
        sorted.insert(name, position);
    }
    sorted.into_values().collect()
}

/// How deep a value may nest. Deeper ones, and JavaScript objects that contain themselves, are refused.
pub const MAX_DEPTH: usize = 512;

/// Copies a node into a `serde_json` value. `None` when it nests deeper than [`MAX_DEPTH`].
pub fn to_value<N: Node>(node: &N) -> Option<Value> {
    copy(node, MAX_DEPTH)
}

/// The same, with room for the event that will hold the copy.
pub fn to_recorded_value<N: Node>(node: &N) -> Option<Value> {
    copy(node, MAX_DEPTH - 16)
}

/// The number that is spelled so. `serde_json` can miss a float by its last bit, and its spelling would change.
fn number(text: &str) -> Option<Number> {
    let whole = text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from));
    whole.ok().or_else(|| Number::from_f64(text.parse().ok()?))
}

fn copy<N: Node>(node: &N, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    Some(match node.kind() {
        Kind::Null | Kind::Function => Value::Null,
        Kind::Bool => Value::Bool(node.as_bool().unwrap_or_default()),
        Kind::Number => node.number_text().and_then(|text| number(&text)).map_or(Value::Null, Value::Number),
        Kind::String => Value::String(node.as_str().map(Cow::into_owned).unwrap_or_default()),
        Kind::Array => Value::Array(
            node.items()
                .map(|item| item.map_or(Some(Value::Null), |item| copy(&item, depth)))
                .collect::<Option<_>>()?,
        ),
        Kind::Object => {
            // One by one: collecting a map sorts first, which is a lot of code.
            let mut fields = Map::new();
            for (name, value) in node.entries() {
                fields.insert(name.to_string(), copy(&value, depth)?);
            }
            Value::Object(fields)
        }
    })
}
