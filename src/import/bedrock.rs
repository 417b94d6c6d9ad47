//! Bedrock Converse: request bodies, bare lists, lines of messages, responses, and invocation logs.

use crate::document::Slice;

use super::format::{Format, Sniff, certain};
use super::look::{self, Look};
use super::wire::{self, Found, Wire};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((|line| look::of_line(sniff(line)), |scope| wire::reader(&WIRE, scope))),
    document: Some((sniff, |root, scope, out| wire::read(&WIRE, root, scope, out))),
    ..Format::new("bedrock", "Bedrock Converse")
};

const WIRE: Wire = Wire { answer, ..Wire::new() };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    if wire::response(root, |body| !answer(body).is_empty()).is_some() {
        return certain("a response with output.message and stopReason");
    }
    look::sniff(root, Look::Bedrock, "messages with blocks named by their one field")
}

fn answer(body: Slice<'_>) -> Vec<Found<'_>> {
    let message = body.at(&["output", "message"]).filter(|_| body.get("stopReason").is_some());
    message.map(|message| Found::new("output.message", message)).into_iter().collect()
}
