//! Compaction for JavaScript: results go back as positions and the few new messages, so that the lists are put together
//! of the caller's own objects.

use wasm_bindgen::prelude::*;

use crate::compaction::estimate::bytes_of;
use crate::compaction::{
    self, Compaction, MAX_RESULT_CHARS, Triggers, balance_tool_call_boundary, estimate_messages_tokens,
};
use crate::error::ProjectionError;
use crate::options::{POSITIVE, positive_number, wrong};
use crate::tokens;

use super::convert::{changed_list, js_error, json_to_js, list, node_to_js, object, transcript_of};
use super::node::JsNode;

/// `{start, end, summary}`: the messages from `start` to `end` become `summary`; `undefined` when nothing does.
#[wasm_bindgen]
pub fn compact(messages: JsValue, keep_last: JsValue) -> Result<JsValue, JsValue> {
    let keep_last = positive("keep_last", &keep_last).map_err(js_error)?;
    compaction_to_js(compaction::compact(&transcript_of(messages)?.messages, keep_last))
}

/// The same when a trigger fires. `tokens` is what the caller counted; without it they are estimated.
#[wasm_bindgen(js_name = maybeCompact)]
pub fn maybe_compact(messages: JsValue, options: JsValue, tokens: Option<f64>) -> Result<JsValue, JsValue> {
    let triggers = triggers_of(options)?;
    let messages = transcript_of(messages)?.messages;
    compaction_to_js(compaction::maybe_compact(&messages, &triggers, tokens.map(|tokens| tokens as usize)))
}

/// Whether these triggers depend on the tokens of a list of so many messages.
#[wasm_bindgen(js_name = needsTokens)]
pub fn needs_tokens(count: usize, options: JsValue) -> Result<bool, JsValue> {
    Ok(triggers_of(options)?.needs_tokens(count))
}

/// Every text of the messages, the caller's own strings.
#[wasm_bindgen(js_name = messageTexts)]
pub fn message_texts(messages: JsValue) -> Result<JsValue, JsValue> {
    let texts = compaction::message_texts(&transcript_of(messages)?.messages).map_err(js_error)?;
    list(texts.iter().map(node_to_js))
}

/// Whether there are more messages than `threshold`.
#[wasm_bindgen(js_name = shouldCompact)]
pub fn should_compact(messages: JsValue, threshold: JsValue) -> Result<bool, JsValue> {
    let threshold = positive("threshold", &threshold).map_err(js_error)?;
    Ok(compaction::should_compact(transcript_of(messages)?.messages.len(), threshold))
}

/// The messages with oversized results shortened; `undefined` when there is none.
#[wasm_bindgen(js_name = pruneToolResults)]
pub fn prune_tool_results(messages: JsValue, max: JsValue) -> Result<JsValue, JsValue> {
    let max = if max.is_undefined() { Ok(MAX_RESULT_CHARS) } else { positive("max_result_chars", &max) };
    let max = max.map_err(js_error)?;
    let messages = transcript_of(messages)?.messages;
    let pruned = compaction::prune_tool_results(&messages, max).map_err(js_error)?;
    if pruned.iter().all(Option::is_none) { Ok(JsValue::UNDEFINED) } else { changed_list(&messages, pruned) }
}

/// How many of the messages, `old` first, are old when the boundary parts no call from its results.
#[wasm_bindgen(js_name = balanceToolCallBoundary)]
pub fn balance(old: JsValue, recent: JsValue) -> Result<usize, JsValue> {
    let (old, recent) = (transcript_of(old)?, transcript_of(recent)?);
    balance_tool_call_boundary(&old.messages, &recent.messages).map_err(js_error)
}

/// A quarter of the text's UTF-8 bytes.
#[wasm_bindgen(js_name = estimateTokens)]
pub fn estimate_tokens(text: JsValue) -> usize {
    tokens::estimate(bytes_of(&JsNode::Live(text)))
}

/// A quarter of the bytes of all texts of the messages.
#[wasm_bindgen(js_name = estimateMessagesTokens)]
pub fn estimate_messages(messages: JsValue) -> Result<usize, JsValue> {
    estimate_messages_tokens(&transcript_of(messages)?.messages).map_err(js_error)
}

fn triggers_of(options: JsValue) -> Result<Triggers, JsValue> {
    let given = (!options.is_undefined()).then(|| JsNode::Live(options));
    Triggers::parse(given.as_ref()).map_err(js_error)
}

fn positive(path: &str, value: &JsValue) -> Result<usize, ProjectionError> {
    if value.is_undefined() {
        return Err(wrong(path, POSITIVE, "nothing"));
    }
    positive_number(path, &JsNode::Live(value.clone()))
}

fn compaction_to_js(compaction: Result<Option<Compaction>, ProjectionError>) -> Result<JsValue, JsValue> {
    let Some(Compaction { replaced, summary }) = compaction.map_err(js_error)? else { return Ok(JsValue::UNDEFINED) };
    Ok(object(&[("start", replaced.start.into()), ("end", replaced.end.into()), ("summary", json_to_js(&summary)?)]))
}
