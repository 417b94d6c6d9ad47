//! Rust values as JavaScript values. Kept parts are handed back as they came.

use serde_json::Value;
use wasm_bindgen::JsValue;

use crate::canonical::canonical_value;
use crate::error::{ErrorCode, ProjectionError};
use crate::node::{Kind, Node};
use crate::options::Options;
use crate::patched::{Field, Patched};
use crate::plan::Shown;
use crate::projection::{Transcript, View};
use crate::provider::Provider;
use crate::validate::{Request, validate};
use crate::value::list as json_list;

use super::host;
use super::node::JsNode;

/// An error as the plain object that the package wraps.
#[allow(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
pub fn js_error(error: ProjectionError) -> JsValue {
    let fields = [
        ("code", error.code().as_str()),
        ("path", error.path()),
        ("expected", error.expected()),
        ("message", &error.to_string()),
    ];
    object(&fields.map(|(name, text)| (name, JsValue::from(text))))
}

/// A JSON value as a JavaScript value.
pub fn json_to_js(value: &Value) -> Result<JsValue, JsValue> {
    host::parse_json(&canonical_value(value))
}

/// A plain object of these fields.
pub fn object(fields: &[(&str, JsValue)]) -> JsValue {
    let object = host::new_object();
    fields.iter().for_each(|(name, value)| host::define(&object, name, value));
    object
}

/// A list of these values.
pub fn list(values: impl IntoIterator<Item = Result<JsValue, JsValue>>) -> Result<JsValue, JsValue> {
    let list = host::new_list();
    for value in values {
        host::push(&list, &value?);
    }
    Ok(list)
}

/// Messages, some of them changed; the others are the caller's own.
pub fn changed_list<'a>(
    messages: &[JsNode<'a>],
    changes: Vec<Option<Patched<JsNode<'a>>>>,
) -> Result<JsValue, JsValue> {
    let shown = messages.iter().zip(changes);
    list(shown.map(|(message, changed)| changed.map_or_else(|| node_to_js(message), |changed| patched_to_js(&changed))))
}

/// A view as a plain object; its kept messages are the caller's own.
pub fn view_to_js(view: &View<JsNode<'_>>) -> Result<JsValue, JsValue> {
    record_to_js(view, list(view.messages.iter().map(shown_to_js))?)
}

/// A message of a view.
pub fn shown_to_js(shown: &Shown<JsNode<'_>>) -> Result<JsValue, JsValue> {
    match shown {
        Shown::Kept { message, .. } => node_to_js(message),
        Shown::Changed { message, .. } | Shown::Added { message } => patched_to_js(message),
    }
}

/// A view as a plain object with these messages.
pub fn record_to_js(view: &View<JsNode<'_>>, messages: JsValue) -> Result<JsValue, JsValue> {
    let js = json_to_js(&view.report.to_json())?;
    host::define(&js, "messages", &messages);
    host::define(&js, "event", &json_to_js(&view.event)?);
    Ok(js)
}

/// The caller's own value, or a copy of what only the engine has.
pub fn node_to_js(node: &JsNode<'_>) -> Result<JsValue, JsValue> {
    match node {
        JsNode::Live(value) | JsNode::Opened(value, _) => Ok(value.clone()),
        JsNode::Parsed(value) => json_to_js(value),
        JsNode::Exact(value) => host::parse_json(value.raw()),
    }
}

/// A changed message; its untouched parts are the source's own values.
pub fn patched_to_js(value: &Patched<JsNode<'_>>) -> Result<JsValue, JsValue> {
    match value {
        Patched::Source(node) => node_to_js(node),
        Patched::New(value) => json_to_js(value),
        Patched::List(items) => list(items.iter().map(patched_to_js)),
        Patched::Object { of, with, without } => {
            let object = host::new_object();
            for (name, field) in Patched::fields(of, with, without) {
                let value = match field {
                    Field::Kept(node) => node_to_js(&node)?,
                    Field::Changed(value) => patched_to_js(value)?,
                };
                host::define(&object, &name, &value);
            }
            Ok(object)
        }
    }
}

/// What a provider would refuse, as plain objects.
pub fn violations_to_js(messages: &[JsNode<'_>], provider: &str, request: JsValue) -> Result<JsValue, JsValue> {
    let given = (!request.is_undefined()).then_some(JsNode::Live(request));
    let found = Provider::named(provider)
        .and_then(|provider| validate(messages, provider, &Request::parse(given.as_ref())?))
        .map_err(js_error)?;
    json_to_js(&json_list(&found, |violation| violation.to_json()))
}

/// Options as the caller gave them; nothing is no options.
pub fn options_of(options: &JsValue) -> Result<Options, JsValue> {
    if options.is_undefined() {
        return Ok(Options::default());
    }
    if !host::is_plain(options) {
        let expected = "a plain object or the name of a policy";
        let error = ProjectionError::new(ErrorCode::InvalidOption, "options", expected, "another kind of value");
        return Err(js_error(error));
    }
    // JSON has no functions, so the table below does not show them.
    for name in items(&host::function_names(options)) {
        if let Some(error) = name.as_string().and_then(|name| Options::mistake_of_function(&name)) {
            return Err(js_error(error));
        }
    }
    Options::parse(Some(&JsNode::Live(options.clone()))).map_err(js_error)
}

/// A transcript object or an array of messages.
pub fn transcript_of<'a>(input: JsValue) -> Result<Transcript<JsNode<'a>>, JsValue> {
    Transcript::of(&JsNode::Live(input)).map_err(js_error)
}

/// The messages of a list that are to be added to others.
pub fn added_messages(messages: &JsValue) -> Result<Vec<JsNode<'static>>, JsValue> {
    if is_list(messages) {
        return Ok(items(messages).into_iter().map(JsNode::Live).collect());
    }
    let found = in_words(messages);
    Err(js_error(ProjectionError::new(ErrorCode::InvalidTranscript, "messages", "an array of messages", found)))
}

/// The items of a list; `undefined` for missing ones.
pub fn items(list: &JsValue) -> Vec<JsValue> {
    (0..host::length_of(list)).map(|index| host::own_item(list, index).unwrap_or(JsValue::UNDEFINED)).collect()
}

/// The error of an input that is neither text nor bytes.
pub fn wrong_input(expected: &str, found: &str) -> ProjectionError {
    ProjectionError::new(ErrorCode::InvalidJson, "input", expected, found)
}

/// Whether a value is a list.
pub fn is_list(value: &JsValue) -> bool {
    JsNode::Live(value.clone()).kind() == Kind::Array
}

/// The value's kind in words.
pub fn in_words(value: &JsValue) -> &'static str {
    if value.is_undefined() { "nothing" } else { JsNode::Live(value.clone()).kind().in_words() }
}
