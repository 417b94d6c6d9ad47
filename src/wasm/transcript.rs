//! A transcript that is read once and projected often.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::Value;
use wasm_bindgen::prelude::*;

use crate::canonical::Writer;
use crate::error::{ErrorCode, ProjectionError};
use crate::exchange::Pairs;
use crate::facts::MessageFacts;
use crate::json::parse;
use crate::node::{Node, to_value};
use crate::patched::Patched;
use crate::plan::Shown;
use crate::projection::{LISTS, Transcript, View, project_facts, read_facts, too_deep};

use super::callbacks::CallerFunctions;
use super::convert::{
    added_messages, in_words, js_error, list, options_of, record_to_js, shown_to_js, transcript_of, view_to_js,
    violations_to_js,
};
use super::host;
use super::node::JsNode;

/// A transcript in the engine: its messages and what is known of them.
#[wasm_bindgen]
pub struct TranscriptHandle {
    /// The messages as JavaScript has them: what views hand out.
    live: Transcript<JsNode<'static>>,
    /// The same messages as their JSON text has them, with every digit of their numbers.
    exact: Option<Exact>,
    facts: Vec<MessageFacts>,
    pairs: Pairs,
}

struct Exact {
    messages: Vec<Value>,
    lone_surrogates: bool,
}

#[wasm_bindgen]
impl TranscriptHandle {
    /// Keeps a transcript object or an array of messages; nothing is copied.
    #[wasm_bindgen(js_name = fromObject)]
    pub fn from_object(input: JsValue) -> Result<TranscriptHandle, JsValue> {
        let live = transcript_of(input)?;
        let facts = live.facts().map_err(js_error)?;
        let mut pairs = Pairs::default();
        pairs.extend(&facts);
        Ok(TranscriptHandle { live, exact: None, facts, pairs })
    }

    /// Reads a transcript from JSON text or its UTF-8 bytes. Hashes see numbers as the text has them.
    #[wasm_bindgen(js_name = fromJSON)]
    pub fn from_json(input: JsValue) -> Result<TranscriptHandle, JsValue> {
        let text = text_of(&input).map_err(js_error)?;
        let parsed = parse(&text).map_err(js_error)?;
        let mut handle = Self::from_object(host::parse_json(text.strip_prefix('\u{FEFF}').unwrap_or(&text))?)?;
        let list = match parsed.value {
            Value::Object(mut fields) => {
                LISTS.into_iter().find_map(|key| fields.remove(key.as_str()).filter(|list| !list.is_null()))
            }
            list => Some(list),
        };
        let messages = match list {
            Some(Value::Array(messages)) => messages,
            _ => Vec::new(),
        };
        handle.exact = Some(Exact { messages, lone_surrogates: parsed.lone_surrogates });
        Ok(handle)
    }

    /// Adds messages at the end.
    pub fn append(&mut self, messages: JsValue) -> Result<(), JsValue> {
        let added = added_messages(&messages)?;
        let facts = read_facts(&added, self.facts.len()).map_err(js_error)?;
        if let Some(exact) = &mut self.exact {
            let values = added.iter().enumerate().map(|(index, message)| {
                let error = || too_deep(exact.messages.len() + index);
                to_value(message).ok_or_else(error)
            });
            let values: Vec<Value> = values.collect::<Result<_, _>>().map_err(js_error)?;
            exact.messages.extend(values);
        }
        self.live.messages.extend(added);
        self.facts.extend(facts);
        self.pairs.extend(&self.facts);
        Ok(())
    }

    /// Projects the transcript as it is now.
    pub fn project(&self, options: JsValue) -> Result<JsValue, JsValue> {
        let parsed = options_of(&options)?;
        let functions = CallerFunctions::of(&options)?;
        let Some(exact) = &self.exact else {
            let view = functions.run(&self.live.messages, |callbacks| {
                project_facts(&self.live, Cow::Borrowed(&self.facts), &self.pairs, &parsed, callbacks)
            })?;
            return view_to_js(&view);
        };
        let transcript = Transcript {
            messages: exact.messages.iter().map(JsNode::Parsed).collect(),
            summary: self.live.summary.clone(),
        };
        // Projectors mostly filter: the search goes on where the last message was found.
        let next = Cell::new(0);
        let mut view = functions.run_with(
            |count| list(self.live.messages.iter().take(count).map(|message| Ok(own(message)))),
            |object| self.exact_of(exact, object, &next),
            |callbacks| project_facts(&transcript, Cow::Borrowed(&self.facts), &self.pairs, &parsed, callbacks),
        )?;
        if exact.lone_surrogates {
            view.report.lone_surrogate_indices = self.lone_surrogates(&view);
        }
        let messages = view.messages.iter().map(|shown| match shown {
            Shown::Kept { source, .. } => Ok(self.message(*source)),
            _ => shown_to_js(shown),
        });
        record_to_js(&view, list(messages)?)
    }

    /// What a provider would refuse in the transcript as it is now.
    pub fn validate(&self, provider: &str, request: JsValue) -> Result<JsValue, JsValue> {
        violations_to_js(&self.live.messages, provider, request)
    }

    /// The message at `index`, or `undefined`.
    pub fn message(&self, index: usize) -> JsValue {
        self.live.messages.get(index).map_or(JsValue::UNDEFINED, own)
    }

    /// How many messages there are.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.live.messages.len()
    }
}

impl TranscriptHandle {
    /// The exact value of a message that a projector returned, if it is one of the transcript's own objects.
    fn exact_of<'a>(&self, exact: &'a Exact, object: JsValue, next: &Cell<usize>) -> Patched<JsNode<'a>> {
        let returned = JsNode::Live(object.clone());
        let all = &self.live.messages;
        let order = (next.get()..all.len()).chain(0..next.get());
        let index = order.into_iter().find(|index| all.get(*index).is_some_and(|message| message.same(&returned)));
        next.set(index.map_or(next.get(), |index| index + 1));
        let value = index.and_then(|index| exact.messages.get(index));
        Patched::Source(value.map_or(JsNode::Live(object), JsNode::Parsed))
    }

    /// The text was mended for parsing, so the JavaScript strings are asked.
    fn lone_surrogates(&self, view: &View<JsNode<'_>>) -> Vec<usize> {
        let has_one = |shown: &Shown<JsNode<'_>>| {
            let mut writer = Writer::default();
            let object = shown.source().and_then(|source| self.live.messages.get(source));
            object.is_some_and(|object| writer.node(object).is_ok() && writer.lone_surrogate)
        };
        let positions = view.messages.iter().enumerate().filter(|(_, shown)| has_one(shown));
        positions.map(|(position, _)| position).collect()
    }
}

/// The JavaScript value of a live message.
fn own(message: &JsNode<'static>) -> JsValue {
    match message {
        JsNode::Live(object) => object.clone(),
        JsNode::Parsed(_) => JsValue::UNDEFINED,
    }
}

fn text_of(input: &JsValue) -> Result<String, ProjectionError> {
    let wrong =
        |found: &str| ProjectionError::new(ErrorCode::InvalidJson, "input", "JSON text or its UTF-8 bytes", found);
    match (input.as_string(), host::bytes_of(input)) {
        (Some(text), _) => Ok(text),
        (None, Some(bytes)) => String::from_utf8(bytes)
            .map_err(|error| wrong(&format!("a byte that is not UTF-8 at {}", error.utf8_error().valid_up_to()))),
        (None, None) => Err(wrong(in_words(input))),
    }
}
