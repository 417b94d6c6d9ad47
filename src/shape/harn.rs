//! Harn: `tool_calls[{id, name, arguments}]`, results of role `tool_result` or `tool`, blocks as Anthropic's.

use crate::facts::{Call, Place};
use crate::node::{Key, Node};

use super::has_text;

/// A call with its name beside its id.
pub fn call<N: Node>(element: &N, place: Place, id: Option<String>) -> Call {
    Call { place, id, name: element.field_str(Key::Name).unwrap_or_default(), arguments: &[Key::Arguments] }
}

/// Whether the message carries a signature over its thinking beside the content.
pub fn is_signed<N: Node>(message: &N) -> bool {
    has_text(message, Key::ThinkingSignature)
}
