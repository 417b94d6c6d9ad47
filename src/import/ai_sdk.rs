//! The AI SDK: UI messages and model messages, as lists, lines, request bodies and results. Version 4's calls beside
//! the content (`toolInvocations`) become the parts that its later versions made of them.

use crate::document::Slice;

use super::format::{Format, Sniff};
use super::look::{self, Look};
use super::wire::{self, Found, Wire, index_path};
use super::write::{Object, list, text_block};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((|line| look::of_line(sniff(line)), |scope| wire::reader(&WIRE, scope))),
    document: Some((sniff, |root, scope, out| wire::read(&WIRE, root, scope, out))),
    ..Format::new("ai_sdk", "AI SDK messages")
};

const WIRE: Wire = Wire { answer, rewrite, ..Wire::new() };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    let look = look::sniff(root, Look::AiSdk, "messages with typed parts, or with tool-call and tool-result parts");
    look.or_else(|| {
        let first = wire::response(root, |body| body.get("messages").is_some())?.get("messages")?;
        look::sniff(first, Look::AiSdk, "a result with messages of tool-call and tool-result parts")
    })
}

/// A result's `response.messages`.
fn answer(body: Slice<'_>) -> Vec<Found<'_>> {
    let messages = body.get("messages").filter(|_| body.get("modelId").is_some()).map(Slice::list).unwrap_or_default();
    let found = |(index, message)| Found::new(index_path("messages", index), message);
    messages.into_iter().enumerate().map(found).collect()
}

fn rewrite(message: Slice<'_>) -> Option<String> {
    let calls = message.get("toolInvocations").filter(|_| message.get("parts").is_none())?.list();
    if calls.is_empty() {
        return None;
    }
    let part =
        |call: &Slice<'_>| Object::new().text("type", "tool-invocation").raw("toolInvocation", call.raw()).build();
    let mut parts: Vec<String> = calls.iter().map(part).collect();
    // The text is the answer that came after them.
    parts.extend(message.text("content").filter(|text| !text.is_empty()).map(|text| text_block(&text)));
    let others = message.fields().into_iter().filter(|(name, _)| name != "toolInvocations" && name != "content");
    let fields = others.fold(Object::new(), |object, (name, value)| object.raw(&name, value.raw()));
    Some(fields.raw("parts", &list(&parts)).build())
}
