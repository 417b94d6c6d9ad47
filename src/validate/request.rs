//! What rules depend on beside the messages: fields of the request that will hold them, and the messages as they
//! were before an edit.

use crate::error::{ErrorCode, ProjectionError};
use crate::node::{Key, Kind, Node};

/// The rest of the request. Every field is optional: a rule that needs to know more than is given only warns, or
/// says nothing.
#[derive(Clone, Debug)]
pub struct Request<N> {
    /// The model that the request names.
    pub model: Option<String>,
    /// `thinking.type`.
    pub thinking: Option<String>,
    /// Whether the request asks the provider to drop reasoning whose prefix was changed.
    pub drops_unbound_thinking: bool,
    /// Whether the provider binds reasoning to everything before it; else the model decides.
    pub preserved_thinking: Option<bool>,
    /// Whether the provider stores items, so that an id can stand for one.
    pub store: Option<bool>,
    /// Whether the provider holds what went before (`previous_response_id`, `conversation`).
    pub continues: bool,
    /// `reasoning_effort`.
    pub reasoning_effort: Option<String>,
    /// Whether a chat template renders the messages, as in vLLM and llama.cpp: most want strict alternation.
    pub strict_template: bool,
    /// Bedrock: whether the request has a `toolConfig`; `None` when this is not a whole request.
    pub has_tool_config: Option<bool>,
    /// The messages before an edit.
    pub original_messages: Option<Vec<N>>,
}

impl<N> Default for Request<N> {
    fn default() -> Self {
        Request {
            model: None,
            thinking: None,
            drops_unbound_thinking: false,
            preserved_thinking: None,
            store: None,
            continues: false,
            reasoning_effort: None,
            strict_template: false,
            has_tool_config: None,
            original_messages: None,
        }
    }
}

/// The beta that makes `prefix_mismatch_behavior` count.
const BINDING_CONTROLS: &str = "thinking-binding-controls-2026-08-01";

impl<N: Node> Request<N> {
    /// Reads the fields that rules ask for; those of a whole request body that no rule asks for do no harm.
    ///
    /// # Errors
    /// When one of them has a wrong type.
    pub fn parse(fields: Option<&N>) -> Result<Self, ProjectionError> {
        let mut request = Request::default();
        let Some(fields) = fields.filter(|fields| fields.kind() != Kind::Null) else { return Ok(request) };
        if fields.kind() != Kind::Object {
            return Err(wrong("", "an object", fields));
        }
        let (mut asks_to_drop, mut has_beta) = (false, false);
        for (name, value) in fields.entries() {
            if value.kind() == Kind::Null {
                continue;
            }
            match &*name {
                "model" | "modelId" => {
                    request.model = Some(text(&name, &value)?.to_ascii_lowercase());
                    // Only a whole request to Bedrock names its model so, and it would have its tools too.
                    if &*name == "modelId" {
                        request.has_tool_config = request.has_tool_config.or(Some(false));
                    }
                }
                "previous_response_id" | "conversation" => {
                    request.continues |= value.as_str().is_none_or(|id| !id.is_empty());
                }
                "reasoning_effort" => request.reasoning_effort = Some(text(&name, &value)?),
                "thinking" => {
                    if value.kind() != Kind::Object {
                        return Err(wrong(&name, "an object", &value));
                    }
                    let behavior =
                        named(&value, "block_binding").and_then(|binding| named(&binding, "prefix_mismatch_behavior"));
                    asks_to_drop =
                        behavior.and_then(|behavior| behavior.with_str(|text| text == "drop_block")) == Some(true);
                    request.thinking = value.field_str(Key::Type);
                }
                "betas" => {
                    let betas = list(&name, &value, "an array of strings")?;
                    has_beta = betas.iter().any(|beta| beta.as_str().as_deref() == Some(BINDING_CONTROLS));
                }
                "preserved_thinking" => request.preserved_thinking = Some(flag(&name, &value)?),
                "store" => request.store = Some(flag(&name, &value)?),
                "strict_template" => request.strict_template = flag(&name, &value)?,
                "toolConfig" => request.has_tool_config = Some(true),
                "original_messages" => {
                    request.original_messages = Some(list(&name, &value, "an array of messages")?);
                }
                _ => {}
            }
        }
        request.drops_unbound_thinking = asks_to_drop && has_beta;
        Ok(request)
    }

    /// Whether the model's name has this word.
    pub fn names(&self, word: &str) -> bool {
        self.model.as_deref().is_some_and(|model| place_of(model, word).is_some())
    }

    /// The Claude model, when the request names one.
    pub fn claude(&self) -> Option<Claude> {
        let name = self.model.as_deref()?;
        let name = name.get(place_of(name, "claude")?..)?;
        let words = || name.split(|letter: char| !letter.is_ascii_alphanumeric());
        // A longer number is a date.
        let mut numbers = words().filter(|word| word.len() <= 2).filter_map(|word| word.parse().ok());
        Some(Claude {
            family: words().find_map(Family::named)?,
            version: (numbers.next()?, numbers.next().unwrap_or_default()),
        })
    }

    /// The major version of a Gemini model, when the request names one.
    pub fn gemini(&self) -> Option<u32> {
        let name = self.model.as_deref()?;
        let version = name.get(place_of(name, "gemini-")? + "gemini-".len()..)?;
        version.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    }
}

/// A line of Claude models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Family {
    Opus,
    Sonnet,
    Haiku,
    Fable,
    Mythos,
}

impl Family {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "opus" => Family::Opus,
            "sonnet" => Family::Sonnet,
            "haiku" => Family::Haiku,
            "fable" => Family::Fable,
            "mythos" => Family::Mythos,
            _ => return None,
        })
    }
}

/// A Claude model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claude {
    family: Family,
    version: (u32, u32),
}

impl Claude {
    fn is_of_new_family(self) -> bool {
        matches!(self.family, Family::Fable | Family::Mythos)
    }

    /// Whether it refuses an assistant message at the end.
    pub fn refuses_prefill(self) -> bool {
        self.is_of_new_family() || self.version >= (4, 6)
    }

    /// Whether it takes system messages inside the list; `None` for models of which that is not known.
    pub fn takes_system_messages(self) -> Option<bool> {
        match self.family {
            Family::Fable | Family::Mythos => Some(true),
            Family::Opus => Some(self.version >= (4, 8)),
            Family::Sonnet | Family::Haiku => (self.version < (5, 0)).then_some(false),
        }
    }

    /// Whether reasoning is bound to everything before it: for every account, for some, or for none.
    pub fn binds_thinking(self) -> Binding {
        match self.version {
            version if self.family == Family::Fable && version >= (5, 2) => Binding::Always,
            version if self.is_of_new_family() && version >= (5, 1) => Binding::Perhaps,
            version if version >= (5, 5) => Binding::Perhaps,
            _ => Binding::Never,
        }
    }
}

/// Whether a provider refuses reasoning whose prefix was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// It does.
    Always,
    /// It depends on the account, or the model is not known.
    Perhaps,
    /// It does not.
    Never,
}

/// Where a name has a word. The standard search is a lot of code for texts as short as names.
pub fn place_of(name: &str, word: &str) -> Option<usize> {
    name.as_bytes().windows(word.len()).position(|window| window == word.as_bytes())
}

/// An error of the request, or of one of its fields.
fn wrong<N: Node>(name: &str, expected: &str, found: &N) -> ProjectionError {
    let path = if name.is_empty() { "request".to_owned() } else { format!("request.{name}") };
    ProjectionError::new(ErrorCode::InvalidOption, path, expected, found.kind().in_words())
}

/// A field that no shape has.
fn named<N: Node>(node: &N, name: &str) -> Option<N> {
    node.entries().into_iter().find_map(|(known, value)| (&*known == name).then_some(value))
}

fn text<N: Node>(name: &str, value: &N) -> Result<String, ProjectionError> {
    let text = value.as_str().map(|text| text.into_owned());
    text.ok_or_else(|| wrong(name, "a string", value))
}

fn flag<N: Node>(name: &str, value: &N) -> Result<bool, ProjectionError> {
    value.as_bool().ok_or_else(|| wrong(name, "a boolean", value))
}

fn list<N: Node>(name: &str, value: &N, expected: &str) -> Result<Vec<N>, ProjectionError> {
    if value.kind() != Kind::Array {
        return Err(wrong(name, expected, value));
    }
    Ok(value.items().flatten().collect())
}
