//! OpenAI Responses: requests, responses, lists and lines of items, and logs of requests and responses, over HTTP or
//! as events of a WebSocket. With `previous_response_id` a request holds only what is new.

use crate::document::Slice;
use crate::shape::is_item_type;

use super::format::{Format, Sniff, certain, likely};
use super::look::{self, Look};
use super::wire::{self, Exchange, Found, Wire, index_path};
use super::write::message;

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((|line| look::of_line(sniff(line)), |scope| wire::reader(&WIRE, scope))),
    document: Some((sniff, |root, scope, out| wire::read(&WIRE, root, scope, out))),
    ..Format::new("openai_responses", "OpenAI Responses")
};

const WIRE: Wire = Wire { lists: &["input"], answer, is_message, is_known, split, prompt, ..Wire::new() };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    if wire::response(root, is_response).is_some() {
        return certain("a response with output");
    }
    if wire::requests(root).any(|(_, body)| is_request(body)) {
        return likely("a request with input");
    }
    look::sniff(root, Look::OpenAiResponses, "items of the Responses API")
}

fn is_response(body: Slice<'_>) -> bool {
    let is_named = body.text("object").is_some_and(|object| object == "response");
    body.get("output").is_some_and(Slice::is_array) && (is_named || body.get("status").is_some())
}

fn is_request(body: Slice<'_>) -> bool {
    let input = body.get("input").filter(|input| input.is_array() || input.is_string());
    input.is_some() && (body.get("model").is_some() || body.get("previous_response_id").is_some())
}

/// Easy messages have a role and no type.
fn is_message(item: Slice<'_>) -> bool {
    item.get("type").is_some_and(Slice::is_string) || item.get("role").is_some_and(Slice::is_string)
}

fn is_known(item: Slice<'_>) -> bool {
    item.text("type").is_none_or(|kind| is_item_type(&kind))
}

/// Input that is a text is a message of the user's.
fn prompt(body: Slice<'_>) -> Option<Found<'_>> {
    let input = body.get("input").filter(|input| input.is_string() && is_request(body))?;
    Some(Found { json: Some(message("user", input.raw())), ..Found::new("input", input) })
}

fn answer(body: Slice<'_>) -> Vec<Found<'_>> {
    if !is_response(body) {
        return Vec::new();
    }
    let items = body.get("output").map(Slice::list).unwrap_or_default();
    items.into_iter().enumerate().map(|(index, item)| Found::new(index_path("output", index), item)).collect()
}

/// The exchanges that went over one WebSocket: the nth request is answered by the nth response that was created.
fn split(value: Slice<'_>) -> Vec<Exchange<'_>> {
    let events = |side: &str| value.at(&[side, "ws_events"]).map(Slice::list).unwrap_or_default();
    let (requests, responses) = (events("request"), events("response"));
    if requests.is_empty() || responses.is_empty() {
        return Vec::new();
    }
    let mut exchanges: Vec<Exchange<'_>> = Vec::new();
    for (index, request) in requests.into_iter().enumerate() {
        let path = index_path("request.ws_events", index) + ".input";
        let items = request.get("input").map(Slice::list).unwrap_or_default();
        let found = |(index, item)| Found::new(index_path(&path, index), item);
        let previous = request.text("previous_response_id").map(|id| id.into_owned());
        exchanges.push(Exchange {
            request: items.into_iter().enumerate().map(found).collect(),
            previous,
            ..Exchange::default()
        });
    }
    let mut turn = 0;
    for (index, event) in responses.into_iter().enumerate() {
        let kind = event.text("type").unwrap_or_default();
        if kind == "response.created" {
            turn += 1;
        }
        let Some(exchange) = exchanges.get_mut(turn.max(1) - 1) else { continue };
        match &*kind {
            "response.created" => {
                exchange.id = event.at(&["response", "id"]).and_then(Slice::str).map(|id| id.into_owned())
            }
            "response.output_item.done" => {
                let path = index_path("response.ws_events", index) + ".item";
                exchange.answer.extend(event.get("item").map(|item| Found::new(path, item)));
            }
            _ => {}
        }
    }
    exchanges
}
