//! The importers for JavaScript: bytes in, JSON text out. It knows nothing of the engine's objects, so that it is a wasm
//! file of its own.

use std::vec::IntoIter;

use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

use crate::document::Document;
use crate::error::ProjectionError;
use crate::import::{Detection, FORMATS, Import, ImportOptions, Importer, Source, Stats, Warning, detect_format};
use crate::room::Room;
use crate::value::{list, object};

/// Runs once when the module is instantiated.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}

/// A file that comes in pieces.
#[wasm_bindgen]
pub struct ImporterHandle {
    importer: Option<Importer>,
    messages: IntoIter<Document>,
    room: Room,
}

#[wasm_bindgen]
impl ImporterHandle {
    /// An importer of a file of this format, of any when there is none, for this view; `transcript` is which of several.
    #[wasm_bindgen(constructor)]
    pub fn new(
        format: Option<String>,
        view: Option<String>,
        transcript: Option<usize>,
    ) -> Result<ImporterHandle, String> {
        let options = ImportOptions::named(format.as_deref(), view.as_deref()).map_err(thrown)?;
        let importer = Some(Importer::new(ImportOptions { transcript, ..options }));
        Ok(ImporterHandle { importer, messages: Vec::new().into_iter(), room: Room::default() })
    }

    /// Adds bytes.
    pub fn push(&mut self, chunk: &[u8]) {
        if let Some(importer) = &mut self.importer {
            self.room.make(chunk.len());
            importer.push(chunk);
        }
    }

    /// All that is known of the file, as JSON, but the messages.
    pub fn finish(&mut self) -> Result<String, String> {
        let importer = self.importer.take().unwrap_or_else(|| Importer::new(ImportOptions::default()));
        self.room.make_half();
        let import = importer.finish().map_err(thrown)?;
        let report = report(&import);
        self.messages = import.messages.into_iter();
        Ok(report)
    }

    /// Gives the messages away, in JSON arrays of about `least` bytes: at no time are all of them there twice. A batch is
    /// gone when `take` returns.
    #[wasm_bindgen(js_name = giveMessages)]
    pub fn give_messages(&mut self, least: usize, to: &Taker) -> Result<(), JsValue> {
        let mut batch = Vec::new();
        while self.messages.len() > 0 {
            while batch.len() < least
                && let Some(message) = self.messages.next()
            {
                batch.push(if batch.is_empty() { b'[' } else { b',' });
                batch.extend_from_slice(message.text().as_bytes());
            }
            batch.push(b']');
            to.take(&batch)?;
            batch.clear();
        }
        Ok(())
    }
}

#[wasm_bindgen]
extern "C" {
    /// Who takes messages.
    pub type Taker;
    #[wasm_bindgen(method, structural, catch)]
    fn take(this: &Taker, batch: &[u8]) -> Result<(), JsValue>;
}

/// What a file is, as JSON.
#[wasm_bindgen(js_name = detectFormat)]
pub fn detect(bytes: &[u8]) -> Result<String, String> {
    let detection = detect_format(bytes).map_err(thrown)?;
    Ok(Value::Object(detected(&detection)).to_string())
}

/// Every format that can be read, as JSON.
#[wasm_bindgen(js_name = importFormats)]
pub fn import_formats() -> String {
    list(FORMATS, |format| object([("format", format.name.into()), ("title", format.title.into())])).to_string()
}

/// An error as the package wraps it.
#[allow(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
fn thrown(error: ProjectionError) -> String {
    let fields = object([
        ("code", error.code().as_str().into()),
        ("path", error.path().into()),
        ("expected", error.expected().into()),
        ("message", error.to_string().into()),
    ]);
    fields.to_string()
}

fn detected(detection: &Detection) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("format".to_owned(), detection.format.name.into());
    fields.insert("title".to_owned(), detection.format.title.into());
    fields.insert("confidence".to_owned(), detection.confidence.as_str().into());
    fields.insert("reason".to_owned(), detection.reason.into());
    fields
}

fn report(import: &Import) -> String {
    let mut fields = detected(&import.detection);
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
    let mut text = Value::Object(fields).to_string();
    text.pop();
    text.push_str(",\"source\":[");
    // There is one for every message: written one by one, they are never all there as values.
    for (index, place) in import.source.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&source(place).to_string());
    }
    text.push_str("]}");
    text
}

/// What is not there is left out.
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
