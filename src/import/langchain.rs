//! LangChain and LangGraph: messages plain, stored (`messages_to_dict`) and serialized (`lc: 1`), as lists, states,
//! lines, and runs of LangSmith (`inputs.messages`, `outputs.generations`).

use std::collections::HashMap;

use crate::document::{Index, Slice};

use super::format::{Format, Scope, Sniff, certain};
use super::look::{self, Look};
use super::output::{Message, Output};
use super::wire::{self, Found, Wire};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((|line| look::of_line(sniff(line)), |scope| wire::reader(&WIRE, scope))),
    document: Some((sniff, |root, scope, out| wire::read(&WIRE, root, scope, out))),
    ..Format::new("langchain", "LangChain messages")
};

const WIRE: Wire = Wire { answer, is_message, settle, ..Wire::new() };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    if wire::response(root, |body| generation(body).is_some()).is_some() {
        return certain("a run with generations");
    }
    look::sniff(root, Look::LangChain, "messages of LangChain's types")
}

fn is_message(value: Slice<'_>) -> bool {
    value.get("type").is_some_and(Slice::is_string)
}

fn generation(body: Slice<'_>) -> Option<Slice<'_>> {
    let first = body.get("generations")?.list().into_iter().next()?;
    let first = if first.is_array() { first.list().into_iter().next()? } else { first };
    first.get("message").filter(|message| message.is_object())
}

fn answer(body: Slice<'_>) -> Vec<Found<'_>> {
    generation(body).map(|message| Found::new("generations[0][0].message", message)).into_iter().collect()
}

/// What LangGraph does with a list of updates: a message of an id that is there already takes its place, and a message
/// of type `remove` takes one away, or all.
fn settle(scope: Scope, out: &mut Output) {
    let identities: Vec<_> = out.messages.iter().map(|message| identity(&message.json)).collect();
    // Places in the list that results, each with the message that stands there.
    let mut places: Vec<Option<usize>> = Vec::new();
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (index, identity) in identities.iter().enumerate() {
        let (id, is_removal) =
            identity.as_ref().map_or((None, false), |(id, is_removal)| (Some(id.as_str()), *is_removal));
        if is_removal && id == Some("__remove_all__") {
            places.clear();
            by_id.clear();
        } else if is_removal {
            let place = id.and_then(|id| by_id.remove(id)).and_then(|place| places.get_mut(place));
            place.into_iter().for_each(|place| *place = None);
        } else if let Some(place) = id.and_then(|id| by_id.get(id)).and_then(|place| places.get_mut(*place)) {
            *place = Some(index);
        } else {
            if let Some(id) = id {
                by_id.insert(id, places.len());
            }
            places.push(Some(index));
        }
    }
    let mut kept = vec![false; identities.len()];
    for index in places.iter().flatten() {
        kept.get_mut(*index).into_iter().for_each(|kept| *kept = true);
    }
    for ((message, identity), kept) in out.messages.iter_mut().zip(&identities).zip(&kept) {
        message.source.id = identity.as_ref().map(|(id, _)| id.clone());
        if !kept {
            let is_removal = identity.as_ref().is_some_and(|(_, is_removal)| *is_removal);
            message.source.branch = Some(if is_removal { "hidden" } else { "abandoned" });
        }
    }
    if scope == Scope::All {
        return;
    }
    let mut messages: Vec<Option<Message>> = std::mem::take(&mut out.messages).into_iter().map(Some).collect();
    let in_order = places.into_iter().flatten().filter_map(|index| messages.get_mut(index).and_then(Option::take));
    out.messages = in_order.collect();
    for message in messages.into_iter().flatten() {
        out.count(if message.source.branch == Some("hidden") { "remove" } else { "replaced" });
    }
}

/// The id of a message, whatever its form, and whether it stands for a removal.
fn identity(json: &str) -> Option<(String, bool)> {
    let index = Index::of(json).ok()?;
    let message = index.root(json);
    let kind = message.text("type")?;
    let class = message.get("id").and_then(|id| id.list().last().and_then(|name| name.str()));
    let is_removal = kind == "remove" || class.is_some_and(|class| class == "RemoveMessage");
    let base = message.get("data").or_else(|| message.get("kwargs")).unwrap_or(message);
    Some((base.text("id")?.into_owned(), is_removal))
}
