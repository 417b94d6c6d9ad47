//! The estimate by script of whole messages. Media count by their kind, whatever their data: a model reads no base64.

use crate::canonical::canonical_text;
use crate::error::ProjectionError;
use crate::facts::{MessageFacts, Place, arguments, body, said, text_parts};
use crate::node::{Key, Kind, Node};
use crate::projection::read_facts;

use super::by_script::{rounded, thousandths};
use super::characters::TOKEN;

/// OpenAI's count for an image of 1024 by 1024 pixels in high detail.
const IMAGE: u64 = 765 * TOKEN;
/// A minute at OpenAI's rate of a token for every 100 ms.
const AUDIO: u64 = 600 * TOKEN;
/// One page, in the middle of the 1,500 to 3,000 tokens that Anthropic names.
const DOCUMENT: u64 = 2250 * TOKEN;

/// Estimated tokens of messages: what they say, names and arguments of their calls, bodies of their results, and a
/// fixed count for each image, audio and document. Neither reasoning nor what a provider puts around messages counts.
///
/// # Errors
/// When a message is malformed.
pub fn estimate_messages_tokens_by_script<N: Node>(messages: &[N]) -> Result<usize, ProjectionError> {
    let facts = read_facts(messages, 0)?;
    Ok(rounded(messages.iter().zip(&facts).map(|(message, facts)| message_cost(message, facts)).sum()))
}

fn message_cost<N: Node>(message: &N, facts: &MessageFacts) -> u64 {
    let mut cost = 0;
    for text in said(message, facts) {
        cost += json_cost(&text);
    }
    if let Some(content) = message.follow(facts.text).filter(|_| !facts.stands_at(Place::Message)) {
        let is_said = |index: &usize| !facts.stands_at(Place::item(facts.text, *index));
        for part in (0..content.len()).filter(is_said).filter_map(|index| content.item(index)) {
            cost += part_cost(&part);
        }
    }
    // An answer that was spoken stands beside the content.
    if message.field(Key::Audio).is_some_and(|audio| audio.kind() == Kind::Object) {
        cost += AUDIO;
    }
    for call in &facts.calls {
        cost += thousandths(&call.name);
        cost += arguments(message, call).map_or(0, |arguments| json_cost(&arguments));
    }
    for result in &facts.results {
        cost += body(message, result).map_or(0, |body| body_cost(&body));
    }
    cost
}

/// The cost of a result's body: of text, of parts, or of anything else as JSON.
fn body_cost<N: Node>(body: &N) -> u64 {
    if body.kind() != Kind::Array {
        return media_cost(body).unwrap_or_else(|| json_cost(body));
    }
    let mut cost = 0;
    for text in text_parts(body) {
        cost += json_cost(&text);
    }
    for part in body.items().flatten() {
        cost += part_cost(&part);
    }
    cost
}

/// What a part of a list costs beside its text.
fn part_cost<N: Node>(part: &N) -> u64 {
    if part.kind() != Kind::Object || part.field(Key::Type).is_some() {
        return media_cost(part).unwrap_or_default();
    }
    // Gemini and Bedrock name a part by its one field.
    match part.entries().as_slice() {
        [(name, value)] => match &**name {
            "image" | "inlineData" | "inline_data" | "fileData" | "file_data" => IMAGE,
            "audio" => AUDIO,
            "document" => DOCUMENT,
            "json" => json_cost(value),
            _ => 0,
        },
        _ => 0,
    }
}

/// What a part costs that is not text; `None` when it is none of the kinds.
fn media_cost<N: Node>(part: &N) -> Option<u64> {
    match part.field_str(Key::Type)?.as_str() {
        "image" | "image_url" | "input_image" => Some(IMAGE),
        "audio" | "input_audio" => Some(AUDIO),
        "file" | "input_file" => Some(DOCUMENT),
        // Anthropic's documents may be text after all.
        "document" => Some(part.field(Key::Source).map_or(DOCUMENT, |source| document_cost(&source))),
        _ => None,
    }
}

fn document_cost<N: Node>(source: &N) -> u64 {
    let text = match source.field_str(Key::Type).as_deref() {
        Some("text") => source.field(Key::Data),
        Some("content") => source.field(Key::Content),
        _ => None,
    };
    text.map_or(DOCUMENT, |text| body_cost(&text))
}

/// The cost of a value as JSON; a string is JSON already.
fn json_cost<N: Node>(value: &N) -> u64 {
    value.with_str(thousandths).unwrap_or_else(|| canonical_text(value).map_or(0, |text| thousandths(&text)))
}
