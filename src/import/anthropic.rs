//! Anthropic Messages: request bodies, bare lists, lines of messages, responses, batches, and logs of requests and
//! responses. A request's `system` stays beside its messages: no message of this API can hold it.

use crate::document::Slice;

use super::format::{Format, Sniff, certain};
use super::look::{self, Look};
use super::wire::{self, Found, Wire};
use super::write::message;

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((|line| look::of_line(sniff(line)), |scope| wire::reader(&WIRE, scope))),
    document: Some((sniff, |root, scope, out| wire::read(&WIRE, root, scope, out))),
    ..Format::new("anthropic", "Anthropic Messages")
};

const WIRE: Wire = Wire { answer, ..Wire::new() };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    if wire::response(root, |body| !answer(body).is_empty()).is_some() {
        return certain("a response of type message with stop_reason");
    }
    look::sniff(root, Look::Anthropic, "messages with tool_use, tool_result or thinking blocks")
}

/// A response is a message with more fields than a request may hold.
fn answer(body: Slice<'_>) -> Vec<Found<'_>> {
    let is_answer = body.text("type").is_some_and(|kind| kind == "message") && body.own("stop_reason").is_some();
    let content = body.get("content").filter(|_| is_answer);
    content
        .map(|content| Found { json: Some(message("assistant", content.raw())), ..Found::new("", body) })
        .into_iter()
        .collect()
}
