//! A view as JSON text, ready to send: what the source spelled stays spelled so, integers beyond 2^53 and key order
//! included.

use crate::canonical::canonical_text;
use crate::document::{Document, as_node};
use crate::error::{ErrorCode, ProjectionError};
use crate::json::mistake;
use crate::node::Node;
use crate::patched::{Field, Patched};
use crate::plan::Shown;
use crate::projection::{Transcript, too_deep};
use crate::provider::{Provider, provider_messages};
use crate::recover::replay;

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// One message a line.
    Lines,
    /// A JSON array.
    List,
}

/// Writes the messages that a projection event says were sent, without marks.
///
/// # Errors
/// When the event is malformed or of another transcript, or its view was made by a projector.
pub fn export_view<N: Node, E: Node>(
    transcript: &Transcript<N>,
    event: &E,
    provider: Option<Provider>,
    format: ExportFormat,
) -> Result<String, ProjectionError> {
    let replayed = replay(transcript, event, None)?;
    if replayed.matches == Some(false) {
        let expected = "an event of this transcript";
        return Err(ProjectionError::new(ErrorCode::EventInvalid, "view.event", expected, "that of another"));
    }
    let mut shown = Vec::with_capacity(replayed.view.messages.len());
    for (position, message) in replayed.view.messages.iter().map(Shown::message).enumerate() {
        let mut text = String::new();
        write(&message, &mut text).ok_or_else(|| too_deep(position))?;
        shown.push(Document::parse(text).map_err(|error| mistake(&error))?);
    }
    let messages: Vec<_> = shown.iter().map(|document| as_node(document.root())).collect();
    let (open, between, close) = match format {
        ExportFormat::Lines => ("", "\n", "\n"),
        ExportFormat::List => ("[", ",", "]"),
    };
    let mut text = open.to_owned();
    for (position, message) in provider_messages(&messages, provider).iter().enumerate() {
        if position > 0 {
            text.push_str(between);
        }
        let start = text.len();
        write(message, &mut text).ok_or_else(|| too_deep(position))?;
        // A line holds one message: white space of the source goes where it would break that.
        if format == ExportFormat::Lines && text.as_bytes().iter().skip(start).any(|byte| *byte == b'\n') {
            let broken = text.split_off(start);
            // Inside strings a line end is always escaped.
            text.extend(broken.split(['\n', '\r']).map(str::trim_start));
        }
    }
    if !shown.is_empty() || format == ExportFormat::List {
        text.push_str(close);
    }
    Ok(text)
}

/// Writes a value as its source spells it; `None` when it nests too deep.
fn write<N: Node>(value: &Patched<N>, text: &mut String) -> Option<()> {
    match value {
        Patched::Source(node) => write_node(node, text)?,
        Patched::New(value) => text.push_str(&canonical_text(&N::of_value(value)).ok()?),
        Patched::List(items) => {
            text.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                write(item, text)?;
            }
            text.push(']');
        }
        Patched::Object { of, with, without } => {
            text.push('{');
            for (position, (name, field)) in Patched::fields(of, with, without).iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                text.push_str(&serde_json::to_string(&**name).ok()?);
                text.push(':');
                match field {
                    Field::Kept(node) => write_node(node, text)?,
                    Field::Changed(value) => write(value, text)?,
                }
            }
            text.push('}');
        }
    }
    Some(())
}

fn write_node<N: Node>(node: &N, text: &mut String) -> Option<()> {
    match node.source_text() {
        Some(source) => text.push_str(source),
        None => text.push_str(&canonical_text(node).ok()?),
    }
    Some(())
}
