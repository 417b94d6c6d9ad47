//! The JS face: translates values, options, callbacks and errors, and decides nothing.

mod callbacks;
mod compaction;
mod convert;
mod digest;
mod host;
mod node;
mod session;
mod tokens;
mod transcript;

use wasm_bindgen::prelude::*;

use crate::provider::{Provider, provider_messages as without_marks};
use crate::recover::{recover_redacted as recover, replay};
use crate::{acp_update as acp, events_by_kind, project as project_transcript};

use callbacks::CallerFunctions;
use convert::{
    js_error, json_to_js, list, node_to_js, object, options_of, patched_to_js, transcript_of, view_to_js,
    violations_to_js,
};
pub use node::JsNode;

/// Runs once when the module is instantiated.
#[wasm_bindgen(start)]
pub fn start() {
    // A panic would be a bug; it shall at least name its line.
    console_error_panic_hook::set_once();
    node::start();
}

/// Projects a transcript object or an array of messages.
#[wasm_bindgen]
pub fn project(input: JsValue, options: JsValue) -> Result<JsValue, JsValue> {
    let parsed = options_of(&options)?;
    let transcript = transcript_of(input)?;
    let functions = CallerFunctions::of(&options)?;
    let view = functions.run(&transcript.messages, |callbacks| project_transcript(&transcript, &parsed, callbacks))?;
    view_to_js(&view)
}

/// The messages as a provider may see them; unmarked ones are the very same objects.
#[wasm_bindgen(js_name = providerMessages)]
pub fn provider_messages(messages: JsValue, provider: Option<String>) -> Result<JsValue, JsValue> {
    let provider = provider.map(|name| Provider::named(&name)).transpose().map_err(js_error)?;
    let messages = transcript_of(messages)?.messages;
    list(without_marks(&messages, provider).iter().map(patched_to_js))
}

/// What a provider would refuse in a list of messages.
#[wasm_bindgen(js_name = validateMessages)]
pub fn validate_messages(messages: JsValue, provider: &str, request: JsValue) -> Result<JsValue, JsValue> {
    violations_to_js(&transcript_of(messages)?.messages, provider, request)
}

/// The raw body behind a redaction pointer, hashed again.
#[wasm_bindgen(js_name = recoverRedacted)]
pub fn recover_redacted(transcript: JsValue, pointer: JsValue) -> Result<JsValue, JsValue> {
    let recovered = recover(&transcript_of(transcript)?, &JsNode::from(pointer)).map_err(js_error)?;
    Ok(object(&[("content", node_to_js(&recovered.content)?), ("verified", recovered.verified.into())]))
}

/// Applies the options that an event recorded again and compares.
#[wasm_bindgen(js_name = replayProjection)]
pub fn replay_projection(transcript: JsValue, event: JsValue, callbacks: JsValue) -> Result<JsValue, JsValue> {
    let transcript = transcript_of(transcript)?;
    let functions = CallerFunctions::of(&callbacks)?;
    let event = JsNode::from(event);
    let replayed = functions.run(&transcript.messages, |callbacks| replay(&transcript, &event, callbacks.projector))?;
    Ok(object(&[
        ("matches", replayed.matches.map_or(JsValue::NULL, JsValue::from)),
        ("source_matches", replayed.source_matches.map_or(JsValue::NULL, JsValue::from)),
        ("view", view_to_js(&replayed.view)?),
    ]))
}

/// The parameters of an ACP `session/update` that tells of a view.
#[wasm_bindgen(js_name = acpUpdate)]
pub fn acp_update(session_id: &str, view: JsValue) -> Result<JsValue, JsValue> {
    json_to_js(&acp(session_id, &JsNode::from(view)).map_err(js_error)?)
}

/// The events of a transcript that are of this kind, the transcript's own objects.
#[wasm_bindgen(js_name = transcriptEventsByKind)]
pub fn transcript_events_by_kind(transcript: JsValue, kind: &str) -> Result<JsValue, JsValue> {
    let events = events_by_kind(&JsNode::from(transcript), kind).map_err(js_error)?;
    list(events.iter().map(node_to_js))
}
