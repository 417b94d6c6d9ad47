//! Estimates by script for JavaScript.

use wasm_bindgen::prelude::*;

use crate::node::Node;
use crate::tokens::by_script::estimate_tokens_by_script;
use crate::tokens::messages::estimate_messages_tokens_by_script;

use super::convert::{js_error, transcript_of};
use super::node::JsNode;

/// The estimate of a string.
#[wasm_bindgen(js_name = estimateTokensByScript)]
pub fn estimate_tokens(text: JsValue) -> usize {
    JsNode::Live(text).with_str(estimate_tokens_by_script).unwrap_or_default()
}

/// The estimate of a list of messages, or of a transcript's.
#[wasm_bindgen(js_name = estimateMessagesTokensByScript)]
pub fn estimate_messages(messages: JsValue) -> Result<usize, JsValue> {
    estimate_messages_tokens_by_script(&transcript_of(messages)?.messages).map_err(js_error)
}
