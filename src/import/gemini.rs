//! Gemini: request bodies, bare lists of contents, lines of them, responses whole and in chunks, logs of both, and the
//! Interactions API, whose steps become the contents that they stand for.

use crate::document::Slice;

use super::format::{Format, Sniff, certain};
use super::look::{self, Look};
use super::wire::{self, Found, Wire, index_path};
use super::write::{Object, list};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((|line| look::of_line(sniff(line)), |scope| wire::reader(&WIRE, scope))),
    document: Some((sniff, |root, scope, out| wire::read(&WIRE, root, scope, out))),
    ..Format::new("gemini", "Gemini contents")
};

const WIRE: Wire = Wire {
    lists: &["contents", "history"],
    answer,
    is_message: |value| value.get("parts").is_some_and(Slice::is_array),
    ..Wire::new()
};

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    if wire::response(root, is_response).is_some() {
        return certain("a response with candidates");
    }
    if is_interaction(root) {
        return certain("an interaction with steps");
    }
    let root = root.get("history").unwrap_or(root);
    look::sniff(root, Look::Gemini, "contents with parts that are named by their fields")
}

fn is_response(body: Slice<'_>) -> bool {
    let first = if body.is_array() { body.list().into_iter().next() } else { Some(body) };
    first.and_then(|chunk| chunk.get("candidates")).is_some_and(Slice::is_array)
}

fn is_interaction(body: Slice<'_>) -> bool {
    let is_named = body.text("object").is_some_and(|object| object == "interaction");
    is_named && ["steps", "outputs"].iter().any(|name| body.get(name).is_some_and(Slice::is_array))
}

fn answer(body: Slice<'_>) -> Vec<Found<'_>> {
    if is_interaction(body) {
        return interaction(body);
    }
    if !is_response(body) {
        return Vec::new();
    }
    if !body.is_array() {
        return content_of(body).map(|content| Found::new("candidates[0].content", content)).into_iter().collect();
    }
    let contents: Vec<_> =
        body.list().into_iter().enumerate().filter_map(|(at, chunk)| Some((at, content_of(chunk)?))).collect();
    if let [(at, content)] = contents.as_slice() {
        return vec![Found::new(index_path("", *at) + ".candidates[0].content", *content)];
    }
    // What a stream ends with is an empty text, unless it carries a signature.
    let is_empty = |part: &Slice<'_>| part.fields().len() == 1 && part.get("text").is_some_and(|text| text.is(""));
    let parts = contents.iter().filter_map(|(_, content)| content.get("parts")).flat_map(Slice::list);
    let parts: Vec<&str> = parts.filter(|part| !is_empty(part)).map(Slice::raw).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Found { json: Some(model(&parts)), ..Found::new("", body) }]
}

fn content_of(chunk: Slice<'_>) -> Option<Slice<'_>> {
    let content = chunk.get("candidates")?.list().first()?.get("content")?;
    content.get("parts").is_some_and(Slice::is_array).then_some(content)
}

fn model(parts: &[&str]) -> String {
    Object::new().text("role", "model").raw("parts", &list(parts)).build()
}

/// The steps of an interaction as contents: those of one side that follow each other are one.
fn interaction(body: Slice<'_>) -> Vec<Found<'_>> {
    let name = if body.get("steps").is_some() { "steps" } else { "outputs" };
    let steps = body.get(name).map(Slice::list).unwrap_or_default();
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut turn: Vec<String> = Vec::new();
    let mut is_user = false;
    let mut start = 0;
    for (index, step) in steps.iter().enumerate() {
        let kind = step.text("type").unwrap_or_default();
        let of_user = matches!(&*kind, "user_input" | "function_result");
        if of_user != is_user && !turn.is_empty() {
            found.extend(steps.get(start).map(|first| content(index_path(name, start), *first, is_user, &turn)));
            turn.clear();
        }
        if turn.is_empty() {
            (is_user, start) = (of_user, index);
        }
        parts_of(*step, &kind, &mut turn);
    }
    if !turn.is_empty() {
        found.extend(steps.get(start).map(|first| content(index_path(name, start), *first, is_user, &turn)));
    }
    found
}

fn content<'a>(path: String, first: Slice<'a>, is_user: bool, parts: &[String]) -> Found<'a> {
    let role = if is_user { "user" } else { "model" };
    Found { json: Some(Object::new().text("role", role).raw("parts", &list(parts)).build()), ..Found::new(path, first) }
}

fn parts_of(step: Slice<'_>, kind: &str, parts: &mut Vec<String>) {
    let copied = |from: &[(&str, &str)]| {
        from.iter().fold(Object::new(), |object, (name, of_step)| match step.get(of_step) {
            Some(value) => object.raw(name, value.raw()),
            None => object,
        })
    };
    let signed = |object: Object| match step.get("signature") {
        Some(signature) => object.raw("thoughtSignature", signature.raw()).build(),
        None => object.build(),
    };
    match kind {
        "thought" => {
            let summary = step.get("summary").map(Slice::list).unwrap_or_default();
            let text: Vec<_> = summary.iter().filter_map(|part| part.text("text")).collect();
            parts.push(signed(Object::new().text("text", &text.join("\n")).raw("thought", "true")));
        }
        "function_call" => {
            let call = copied(&[("id", "id"), ("name", "name"), ("args", "arguments")]).build();
            parts.push(signed(Object::new().raw("functionCall", &call)));
        }
        "function_result" => {
            let result = step.get("result");
            // A response is an object, whose field says whether it is an error.
            let name = if step.flag("is_error") { "error" } else { "output" };
            let wrapped = || Object::new().raw(name, result.map_or("null", Slice::raw)).build();
            let is_response = |result: &Slice<'_>| result.is_object() && name == "output";
            let response = result.filter(is_response).map_or_else(wrapped, |result| result.raw().to_owned());
            let answer = copied(&[("id", "call_id"), ("name", "name")]).raw("response", &response).build();
            parts.push(Object::new().raw("functionResponse", &answer).build());
        }
        _ => {
            let content = step.get("content").or_else(|| step.get("text"));
            match content {
                Some(content) if content.is_array() => {
                    let part = |part: Slice<'_>| match part.text("text") {
                        Some(text) => Object::new().text("text", &text).build(),
                        None => part.raw().to_owned(),
                    };
                    parts.extend(content.list().into_iter().map(part));
                }
                Some(content) if content.is_string() => parts.push(Object::new().raw("text", content.raw()).build()),
                // What is not known yet passes as it stands.
                _ => parts.push(step.raw().to_owned()),
            }
        }
    }
}
