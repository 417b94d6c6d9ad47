//! OpenAI Chat Completions: request bodies, bare lists, lines of messages, responses, stored completions (the last
//! answer is in `choices` only), logs of requests and responses, and training data (a transcript a line).

use crate::document::Slice;

use super::format::{Format, Sniff, certain, possible};
use super::look::{self, Look};
use super::wire::{self, Found, Wire};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((|line| look::of_line(sniff(line)), |scope| wire::reader(&WIRE, scope))),
    document: Some((sniff, |root, scope, out| wire::read(&WIRE, root, scope, out))),
    ..Format::new("openai_chat", "OpenAI Chat Completions")
};

const WIRE: Wire = Wire { answer, ..Wire::new() };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    if wire::response(root, |body| !answer(body).is_empty()).is_some() {
        return certain("choices with a message");
    }
    let list = root.get("messages").unwrap_or(root);
    if list.is_array() && list.list().is_empty() {
        return possible("an empty list of messages");
    }
    look::sniff(root, Look::OpenAiChat, "messages with tool_calls or tool_call_id")
}

fn answer(body: Slice<'_>) -> Vec<Found<'_>> {
    let first = body.get("choices").and_then(|choices| choices.list().into_iter().next());
    let message = first.and_then(|choice| choice.get("message"));
    message.map(|message| Found::new("choices[0].message", message)).into_iter().collect()
}
