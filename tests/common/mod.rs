//! What the tests share: fixtures, and a view as one JSON value.

#![allow(dead_code)]

pub mod requests;
pub mod talk;

use std::path::Path;

use serde_json::{Value, json};
use transcript_projection::{Callbacks, Options, ProjectionError, Transcript, View, project};

/// A fixture as JSON.
pub fn read_fixture(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Projects and gives the view as a JavaScript caller would see it.
pub fn project_value(transcript: &Value, options: &Value) -> Result<Value, ProjectionError> {
    let transcript = Transcript::of(&transcript)?;
    let options = Options::parse(Some(&options))?;
    project(&transcript, &options, Callbacks::default()).map(|view| view_value(&view))
}

/// A view as one JSON value.
pub fn view_value(view: &View<&Value>) -> Value {
    let mut value = view.report.to_json();
    value["messages"] = view.messages.iter().map(|shown| shown.message().to_value().expect("a message")).collect();
    value["event"] = view.event.clone();
    value
}

/// A transcript of these messages.
pub fn transcript(messages: Value) -> Value {
    json!({"_type": "transcript", "version": 2, "messages": messages, "events": [], "assets": []})
}
