//! Files for JavaScript: bytes in, a transcript and what is known of it out.

use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

use crate::error::ProjectionError;
use crate::import::{Detection, FORMATS, Import, ImportOptions, Importer, Source, Stats, Warning, detect_format};
use crate::value::{list, object};

use super::convert::{in_words, js_error, json_to_js, wrong_input};
use super::host;
use super::transcript::TranscriptHandle;

/// A file that comes in pieces.
#[wasm_bindgen]
pub struct ImporterHandle {
    importer: Option<Importer>,
}

#[wasm_bindgen]
impl ImporterHandle {
    /// An importer of a file of this format, of any when there is none, for this view; `transcript` is which of several.
    #[wasm_bindgen(constructor)]
    pub fn new(
        format: Option<String>,
        view: Option<String>,
        transcript: Option<usize>,
    ) -> Result<ImporterHandle, JsValue> {
        let named = ImportOptions::named(format.as_deref(), view.as_deref()).map_err(js_error)?;
        let options = ImportOptions { transcript, ..named };
        Ok(ImporterHandle { importer: Some(Importer::new(options)) })
    }

    /// Adds text or bytes.
    pub fn push(&mut self, chunk: &JsValue) -> Result<(), JsValue> {
        let bytes = bytes_of(chunk).map_err(js_error)?;
        if let Some(importer) = &mut self.importer {
            importer.push(&bytes);
        }
        Ok(())
    }

    /// The transcript, and all that is known of it.
    pub fn finish(&mut self) -> Result<JsValue, JsValue> {
        let importer = self.importer.take().unwrap_or_else(|| Importer::new(ImportOptions::default()));
        let import = importer.finish().map_err(js_error)?;
        let js = json_to_js(&report(&import))?;
        let summary = import.summary.clone();
        let (messages, verdicts, facts) = import.into_parts();
        let transcript = TranscriptHandle::of_documents(messages, summary, verdicts, facts);
        host::define(&js, "transcript", &transcript.into());
        Ok(js)
    }
}

/// What a file is.
#[wasm_bindgen(js_name = detectFormat)]
pub fn detect(input: &JsValue) -> Result<JsValue, JsValue> {
    let detection = bytes_of(input).and_then(|bytes| detect_format(&bytes)).map_err(js_error)?;
    json_to_js(&Value::Object(detected(&detection)))
}

/// Every format that can be read.
#[wasm_bindgen(js_name = importFormats)]
pub fn import_formats() -> Result<JsValue, JsValue> {
    json_to_js(&list(FORMATS, |format| object([("format", format.name.into()), ("title", format.title.into())])))
}

fn bytes_of(input: &JsValue) -> Result<Vec<u8>, ProjectionError> {
    let text = input.as_string().map(String::into_bytes);
    text.or_else(|| host::bytes_of(input)).ok_or_else(|| wrong_input("text or bytes", in_words(input)))
}

fn detected(detection: &Detection) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("format".to_owned(), detection.format.name.into());
    fields.insert("title".to_owned(), detection.format.title.into());
    fields.insert("confidence".to_owned(), detection.confidence.as_str().into());
    fields.insert("reason".to_owned(), detection.reason.into());
    fields
}

fn report(import: &Import) -> Value {
    let mut fields = detected(&import.detection);
    fields.insert("source".to_owned(), list(&import.source, source));
    fields.insert("warnings".to_owned(), list(&import.warnings, warning));
    let outcomes = list(&import.outcomes, |known| {
        object([
            ("message_index", known.message_index.into()),
            ("block_index", known.block_index.into()),
            ("tool_call_id", known.outcome.call_id.clone().into()),
            ("is_error", known.outcome.failed.into()),
            ("refused", known.outcome.refused.into()),
            ("inferred", known.outcome.inferred.into()),
            ("because", known.outcome.because.as_str().into()),
        ])
    });
    fields.insert("outcomes".to_owned(), outcomes);
    fields.insert("stats".to_owned(), stats(&import.stats));
    fields.insert("summary".to_owned(), import.summary.clone().into());
    Value::Object(fields)
}

/// What is not there is left out: there is one for every message.
fn source(source: &Source) -> Value {
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| {
        if !value.is_null() {
            fields.insert(name.to_owned(), value);
        }
    };
    add("line", source.line.into());
    add("path", source.path.clone().into());
    add("start", source.start.into());
    add("end", source.end.into());
    if !source.also_lines.is_empty() {
        add("also_lines", list(&source.also_lines, |line| (*line).into()));
    }
    add("id", source.id.clone().into());
    add("branch", source.branch.into());
    add("sidechain", source.sidechain.clone().into());
    Value::Object(fields)
}

fn warning(warning: &Warning) -> Value {
    object([
        ("code", warning.code.into()),
        ("line", warning.line.into()),
        ("path", warning.path.clone().into()),
        ("message", warning.message.as_str().into()),
    ])
}

fn stats(stats: &Stats) -> Value {
    let mut kinds = Map::new();
    stats.kinds.iter().for_each(|(kind, count)| drop(kinds.insert(kind.clone(), (*count).into())));
    object([
        ("bytes", stats.bytes.into()),
        ("lines", stats.lines.into()),
        ("messages", stats.messages.into()),
        ("calls", stats.calls.into()),
        ("results", stats.results.into()),
        ("unanswered_calls", stats.unanswered_calls.into()),
        ("orphan_results", stats.orphan_results.into()),
        ("failed_results", stats.failed_results.into()),
        ("inferred_failures", stats.inferred_failures.into()),
        ("refused_calls", stats.refused_calls.into()),
        ("kinds", Value::Object(kinds)),
    ])
}
