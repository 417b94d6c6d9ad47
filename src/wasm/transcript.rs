//! A transcript that is read once and projected often.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use wasm_bindgen::prelude::*;

use crate::canonical::canonical_text;
use crate::document::{Document, as_node};
use crate::error::ProjectionError;
use crate::exchange::Pairs;
use crate::export::{ExportFormat, export_view};
use crate::facts::MessageFacts;
use crate::json;
use crate::patched::Patched;
use crate::plan::Shown;
use crate::projection::{Transcript, apply_verdicts, project_facts, read_facts, too_deep};
use crate::provider::Provider;
use crate::report::Verdict;
use crate::room::Room;
use crate::value::list as json_list;

use super::callbacks::CallerFunctions;
use super::convert::{
    added_messages, in_words, js_error, list, options_of, record_to_js, shown_to_js, transcript_of, violations_to_js,
    wrong_input,
};
use super::host;
use super::node::JsNode;

/// A transcript in the engine: its messages and what is known of them.
#[wasm_bindgen]
pub struct TranscriptHandle {
    messages: Messages,
    summary: Option<String>,
    verdicts: Vec<Verdict>,
    facts: Vec<MessageFacts>,
    pairs: Pairs,
}

enum Messages {
    /// Objects of the caller's.
    Live(Vec<JsNode<'static>>),
    /// JSON text, and the object of each that was asked for: it is made once, so that it stays the same.
    Exact(Vec<Document>, RefCell<Vec<JsValue>>),
}

#[wasm_bindgen]
impl TranscriptHandle {
    /// Keeps a transcript object or an array of messages; nothing is copied.
    #[wasm_bindgen(js_name = fromObject)]
    pub fn from_object(input: JsValue) -> Result<TranscriptHandle, JsValue> {
        let transcript = transcript_of(input)?;
        let facts = transcript.facts().map_err(js_error)?;
        let Transcript { messages, summary, verdicts } = transcript;
        Ok(Self::new(Messages::Live(messages), summary, verdicts, facts))
    }

    /// Reads a transcript from JSON text or its UTF-8 bytes. Every number keeps its digits.
    #[wasm_bindgen(js_name = fromJSON)]
    pub fn from_json(input: JsValue) -> Result<TranscriptHandle, JsValue> {
        let document = parse_document(&text_of(&input).map_err(js_error)?).map_err(js_error)?;
        let transcript = Transcript::of(&as_node(document.root())).map_err(js_error)?;
        let facts = transcript.facts().map_err(js_error)?;
        let documents = transcript.messages.iter().filter_map(document_of).collect();
        let messages = Messages::Exact(documents, RefCell::default());
        Ok(Self::new(messages, transcript.summary, Vec::new(), facts))
    }

    /// An empty transcript for what an importer read: its summary, and what it knows of results, as JSON. So many
    /// messages will follow, of about so many bytes.
    #[wasm_bindgen(js_name = forImport)]
    pub fn for_import(summary: Option<String>, outcomes: &str, count: usize, bytes: usize) -> TranscriptHandle {
        let verdicts = Verdict::list_of_json(outcomes);
        let messages = Messages::Exact(Vec::with_capacity(count), RefCell::default());
        // And what will be known of them.
        Room::default().make(bytes + bytes / 2);
        Self::new(messages, summary, verdicts, Vec::with_capacity(count))
    }

    /// Adds the messages of a JSON array at the end, as they are spelled.
    #[wasm_bindgen(js_name = appendJSON)]
    pub fn append_json(&mut self, bytes: &[u8]) -> Result<(), JsValue> {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        // The importers have checked it.
        let document = Document::of_json(text);
        let transcript = Transcript::of(&as_node(document.root())).map_err(js_error)?;
        let facts = read_facts(&transcript.messages, self.facts.len()).map_err(js_error)?;
        if let Messages::Exact(documents, _) = &mut self.messages {
            documents.extend(transcript.messages.iter().filter_map(document_of));
        }
        self.facts.extend(facts);
        self.pairs.extend(&self.facts);
        apply_verdicts(&mut self.facts, &self.verdicts);
        Ok(())
    }

    /// Adds messages at the end.
    pub fn append(&mut self, messages: JsValue) -> Result<(), JsValue> {
        let added = added_messages(&messages)?;
        let facts = read_facts(&added, self.facts.len()).map_err(js_error)?;
        match &mut self.messages {
            Messages::Live(live) => live.extend(added),
            Messages::Exact(documents, live) => {
                let texts = added.iter().enumerate().map(|(index, message)| {
                    let canonical = || canonical_text(message).map_err(|_| too_deep(documents.len() + index));
                    // The object's own order of keys, where JSON can hold it: it has no big integers.
                    let text = host::stringify(&own(message)).map_or_else(canonical, Ok)?;
                    parse_document(&text)
                });
                let texts: Vec<Document> = texts.collect::<Result<_, _>>().map_err(js_error)?;
                let live = live.get_mut();
                live.resize(documents.len(), JsValue::UNDEFINED);
                live.extend(added.iter().map(own));
                documents.extend(texts);
            }
        }
        self.facts.extend(facts);
        self.pairs.extend(&self.facts);
        Ok(())
    }

    /// Projects the transcript as it is now.
    pub fn project(&self, options: JsValue) -> Result<JsValue, JsValue> {
        let parsed = options_of(&options)?;
        let functions = CallerFunctions::of(&options)?;
        let transcript = self.transcript();
        // Projectors mostly filter: the search goes on where the last message was found.
        let next = Cell::new(0);
        let view = functions.run_with(
            |count| list((0..count).map(|index| Ok(self.message(index)))),
            |object| self.node_of(object, &next),
            |callbacks| project_facts(&transcript, Cow::Borrowed(&self.facts), &self.pairs, &parsed, callbacks),
        )?;
        let messages = view.messages.iter().map(|shown| match shown {
            Shown::Kept { source, .. } => Ok(self.message(*source)),
            _ => shown_to_js(shown),
        });
        record_to_js(&view, list(messages)?)
    }

    /// What a provider would refuse in the transcript as it is now.
    pub fn validate(&self, provider: &str, request: JsValue) -> Result<JsValue, JsValue> {
        violations_to_js(&self.transcript().messages, provider, request)
    }

    /// The JSON text of what a projection's event says was sent, without marks. Untouched messages are the text that
    /// they were read from.
    #[wasm_bindgen(js_name = exportView)]
    pub fn export_view(&self, event: JsValue, provider: Option<String>, is_lines: bool) -> Result<String, JsValue> {
        let provider = provider.map(|name| Provider::named(&name)).transpose().map_err(js_error)?;
        let format = if is_lines { ExportFormat::Lines } else { ExportFormat::List };
        export_view(&self.transcript(), &JsNode::from(event), provider, format).map_err(js_error)
    }

    /// The message at `index`, or `undefined`.
    pub fn message(&self, index: usize) -> JsValue {
        match &self.messages {
            Messages::Live(live) => live.get(index).map_or(JsValue::UNDEFINED, own),
            Messages::Exact(documents, live) => {
                let mut live = live.borrow_mut();
                live.resize(documents.len(), JsValue::UNDEFINED);
                let (Some(document), Some(object)) = (documents.get(index), live.get_mut(index)) else {
                    return JsValue::UNDEFINED;
                };
                if object.is_undefined() {
                    // What was parsed once is parsed again.
                    *object = host::parse_json(document.text()).unwrap_or_default();
                }
                object.clone()
            }
        }
    }

    /// Whether it was read from text and keeps it.
    #[wasm_bindgen(getter, js_name = isExact)]
    pub fn is_exact(&self) -> bool {
        matches!(self.messages, Messages::Exact(..))
    }

    /// What is known of results beyond what they say themselves, as a JSON array.
    #[wasm_bindgen(getter)]
    pub fn outcomes(&self) -> String {
        let outcomes = json_list(&self.verdicts, Verdict::to_json);
        canonical_text(&JsNode::Parsed(&outcomes)).unwrap_or_default()
    }

    /// The summary that the transcript carries.
    #[wasm_bindgen(getter)]
    pub fn summary(&self) -> Option<String> {
        self.summary.clone()
    }

    /// How many messages there are.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.facts.len()
    }
}

impl TranscriptHandle {
    fn new(messages: Messages, summary: Option<String>, verdicts: Vec<Verdict>, facts: Vec<MessageFacts>) -> Self {
        let mut pairs = Pairs::default();
        pairs.extend(&facts);
        TranscriptHandle { messages, summary, verdicts, facts, pairs }
    }

    fn transcript(&self) -> Transcript<JsNode<'_>> {
        let messages = match &self.messages {
            Messages::Live(live) => live.clone(),
            Messages::Exact(documents, _) => documents.iter().map(|message| JsNode::Exact(message.root())).collect(),
        };
        Transcript { messages, summary: self.summary.clone(), verdicts: self.verdicts.clone() }
    }

    /// The engine's value of a message that a projector returned, if it is one of the transcript's own objects.
    fn node_of(&self, object: JsValue, next: &Cell<usize>) -> Patched<JsNode<'_>> {
        let Messages::Exact(documents, live) = &self.messages else { return Patched::Source(JsNode::Live(object)) };
        let live = live.borrow();
        let order = (next.get()..live.len()).chain(0..next.get());
        let mut order = order.filter(|index| live.get(*index).is_some_and(|message| host::is_same(message, &object)));
        let index = order.next();
        next.set(index.map_or(next.get(), |index| index + 1));
        let document = index.and_then(|index| documents.get(index));
        Patched::Source(document.map_or(JsNode::Live(object), |document| JsNode::Exact(document.root())))
    }
}

/// The JavaScript value of a live message.
fn own(message: &JsNode<'static>) -> JsValue {
    match message {
        JsNode::Live(object) | JsNode::Opened(object, _) => object.clone(),
        JsNode::Parsed(_) | JsNode::Exact(_) => JsValue::UNDEFINED,
    }
}

fn document_of(message: &JsNode<'_>) -> Option<Document> {
    match message {
        JsNode::Exact(message) => Some(message.to_document()),
        JsNode::Live(_) | JsNode::Opened(..) | JsNode::Parsed(_) => None,
    }
}

fn parse_document(text: &str) -> Result<Document, ProjectionError> {
    Document::parse(text.strip_prefix('\u{FEFF}').unwrap_or(text)).map_err(|error| json::mistake(&error))
}

fn text_of(input: &JsValue) -> Result<String, ProjectionError> {
    let expected = "JSON text or its UTF-8 bytes";
    let bytes = input.as_string().map(String::into_bytes).or_else(|| host::bytes_of(input));
    let bytes = bytes.ok_or_else(|| wrong_input(expected, in_words(input)))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        wrong_input(expected, &format!("a byte that is not UTF-8 at {at}"))
    })
}
