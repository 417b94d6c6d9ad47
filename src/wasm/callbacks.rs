//! The caller's own functions. What they throw reaches the caller as it was thrown.

use std::cell::RefCell;

use wasm_bindgen::JsValue;

use crate::error::{ErrorCode, ProjectionError};
use crate::node::{Key, Node};
use crate::patched::Patched;
use crate::policy::custom::CustomView;
use crate::projection::{Callbacks, ResultInfo};

use super::convert::{in_words, is_list, items, js_error, list, node_to_js, object};
use super::host;
use super::node::JsNode;

/// `is_error` and `projector` of an options object.
#[derive(Default)]
pub struct CallerFunctions {
    is_error: Option<JsValue>,
    projector: Option<JsValue>,
}

impl CallerFunctions {
    /// Reads the functions of an options object; a string or nothing has none.
    pub fn of(options: &JsValue) -> Result<Self, JsValue> {
        if !options.is_object() {
            return Ok(CallerFunctions::default());
        }
        let function = |name: &str| {
            let value = host::named_field(options, name)?;
            if value.is_undefined() || value.is_null() {
                return Ok(None);
            }
            if value.is_function() {
                return Ok(Some(value));
            }
            let path = format!("options.{name}");
            Err(js_error(ProjectionError::new(ErrorCode::InvalidOption, path, "a function", in_words(&value))))
        };
        Ok(CallerFunctions { is_error: function("is_error")?, projector: function("projector")? })
    }

    /// Whether there is a projector.
    pub fn has_projector(&self) -> bool {
        self.projector.is_some()
    }

    /// Runs the engine with these functions. A projector sees `messages` as the caller's own objects.
    pub fn run<'a, T>(
        &self,
        messages: &[JsNode<'a>],
        engine: impl FnOnce(Callbacks<'_, JsNode<'a>>) -> Result<T, ProjectionError>,
    ) -> Result<T, JsValue> {
        let live = |count: usize| list(messages.iter().take(count).map(node_to_js));
        self.run_with(live, |object| Patched::Source(JsNode::Live(object)), engine)
    }

    /// The same, where the caller sees other values than the engine: `live` gives the first messages as the caller
    /// knows them, `exact` finds the engine's value of a message that the projector returned.
    pub fn run_with<'a, T>(
        &self,
        live: impl Fn(usize) -> Result<JsValue, JsValue>,
        exact: impl Fn(JsValue) -> Patched<JsNode<'a>>,
        engine: impl FnOnce(Callbacks<'_, JsNode<'a>>) -> Result<T, ProjectionError>,
    ) -> Result<T, JsValue> {
        let caller = Caller::default();
        let mut is_error = self.is_error.as_ref().map(|function| {
            |info: &ResultInfo<JsNode<'a>>| {
                let argument = result_info(info).unwrap_or(JsValue::UNDEFINED);
                verdict(&caller.call(function, &argument, "options.is_error")?)
            }
        });
        let mut projector = self.projector.as_ref().map(|function| {
            |messages: &[JsNode<'a>]| {
                let argument = live(messages.len()).unwrap_or(JsValue::UNDEFINED);
                custom_view(&caller.call(function, &argument, "options.projector")?, &exact)
            }
        });
        let callbacks = Callbacks {
            is_error: is_error.as_mut().map(|function| function as _),
            projector: projector.as_mut().map(|function| function as _),
        };
        engine(callbacks).map_err(|error| caller.thrown.take().unwrap_or_else(|| js_error(error)))
    }
}

/// Calls the caller's functions and keeps what they throw.
#[derive(Default)]
struct Caller {
    thrown: RefCell<Option<JsValue>>,
}

impl Caller {
    fn call(&self, function: &JsValue, argument: &JsValue, path: &str) -> Result<JsValue, ProjectionError> {
        host::call(function, argument).map_err(|error| {
            self.thrown.replace(Some(error));
            ProjectionError::new(ErrorCode::CallbackFailed, path, "a result", "an error that it threw")
        })
    }
}

fn result_info(info: &ResultInfo<JsNode<'_>>) -> Result<JsValue, JsValue> {
    let text = |text: &Option<String>| text.as_ref().map_or(JsValue::NULL, |text| JsValue::from_str(text));
    let node = |node: &Option<JsNode<'_>>| node.as_ref().map_or(Ok(JsValue::NULL), node_to_js);
    Ok(object(&[
        ("tool_call_id", text(&info.tool_call_id)),
        ("tool_name", text(&info.tool_name)),
        ("arguments", node(&info.arguments)?),
        ("content", node(&info.content)?),
        ("text", JsValue::from_str(&info.text)),
        ("message", node_to_js(&info.message)?),
        ("message_index", info.message_index.into()),
        ("block_index", info.block_index.map_or(JsValue::NULL, JsValue::from)),
        ("is_error", info.is_error.into()),
    ]))
}

fn is_promise(value: &JsValue) -> bool {
    host::is_promise(value) == Ok(true)
}

fn verdict(value: &JsValue) -> Result<Option<bool>, ProjectionError> {
    if value.is_undefined() {
        return Ok(None);
    }
    let found = if is_promise(value) { "a promise" } else { in_words(value) };
    let wrong = || ProjectionError::new(ErrorCode::InvalidOption, "options.is_error", "a boolean or undefined", found);
    JsValue::as_bool(value).map(Some).ok_or_else(wrong)
}

fn custom_view<'a>(
    returned: &JsValue,
    exact: &impl Fn(JsValue) -> Patched<JsNode<'a>>,
) -> Result<CustomView<JsNode<'a>>, ProjectionError> {
    let wrong = |path: &str, expected: &str, found: &JsValue| {
        Err(ProjectionError::new(ErrorCode::ProjectorResult, path, expected, in_words(found)))
    };
    if is_promise(returned) {
        let expected = "messages at once (a projector that returns a promise goes with transcriptProjectAsync)";
        return Err(ProjectionError::new(ErrorCode::ProjectorAsync, "options.projector", expected, "a promise"));
    }
    if is_list(returned) {
        return Ok(CustomView::of(messages(returned, "projector()", exact)?));
    }
    if !returned.is_object() {
        return wrong("projector()", "an array of messages, or {messages, reason?, ...}", returned);
    }
    let field =
        |key| JsNode::Live(returned.clone()).field(key).map_or(Ok(JsValue::UNDEFINED), |node| node_to_js(&node));
    let field = |key| field(key).unwrap_or(JsValue::UNDEFINED);
    let shown = field(Key::Messages);
    if !is_list(&shown) {
        return wrong("projector().messages", "an array of messages", &shown);
    }
    let reason = field(Key::Reason);
    if !reason.is_undefined() && !reason.is_string() {
        return wrong("projector().reason", "a string", &reason);
    }
    Ok(CustomView {
        messages: messages(&shown, "projector().messages", exact)?,
        reason: reason.as_string(),
        kept_indices: indices(&field(Key::KeptIndices)),
        dropped_indices: indices(&field(Key::DroppedIndices)),
    })
}

fn messages<'a>(
    list: &JsValue,
    path: &str,
    exact: &impl Fn(JsValue) -> Patched<JsNode<'a>>,
) -> Result<Vec<Patched<JsNode<'a>>>, ProjectionError> {
    let message = |(index, message): (usize, JsValue)| {
        if message.is_object() && !is_list(&message) {
            Ok(exact(message))
        } else {
            let path = format!("{path}[{index}]");
            Err(ProjectionError::new(ErrorCode::ProjectorResult, path, "a message object", in_words(&message)))
        }
    };
    items(list).into_iter().enumerate().map(message).collect()
}

/// A list of whole numbers; anything else is as good as none, and the mapping is found by identity.
fn indices(list: &JsValue) -> Option<Vec<usize>> {
    let whole = |value: JsValue| {
        value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0).map(|number| number as usize)
    };
    is_list(list).then(|| items(list).into_iter().map(whole).collect()).flatten()
}
