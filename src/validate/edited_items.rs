//! OpenAI Responses items after an edit: what the provider misses of the list as it was before.

use crate::canonical::canonical_text;
use crate::node::{Key, Node};

use super::checks::{Met, role_of, type_of};
use super::openai_responses::kind_of;
use super::{Findings, Scene};

/// Reports what an edit of the original items broke.
pub fn check<N: Node>(scene: &Scene<'_, N>, original: &Known<'_, N>, found: &mut Findings) {
    lost_reasoning(original, scene.messages, found);
    let original = original.items;
    lost_phase(original, scene.messages, found);
    touched_turn(original, scene.messages, found);
    if scene.request.continues
        && let Some(index) = first_lost(original, scene.messages)
    {
        let text = "what was left out or changed is still in the provider's state: send a projection without it";
        found.warning("OAR-STATE-1", index, None, text);
    }
}

/// Whether the model made the item.
pub fn is_of_model<N: Node>(item: &N) -> bool {
    match &*kind_of(item) {
        "message" => role_of(item) == "assistant",
        "compaction" | "mcp_approval_response" => false,
        kind => !kind.ends_with("_output"),
    }
}

/// By id where both have one, else by what they say.
pub fn is_same_item<N: Node>(a: &N, b: &N) -> bool {
    match (id_of(a), id_of(b)) {
        (Some(a), Some(b)) => a == b,
        // An id may have been stripped.
        _ => content_of(a) == content_of(b),
    }
}

fn id_of<N: Node>(item: &N) -> Option<String> {
    item.field_str(Key::CallId).or_else(|| item.field_str(Key::Id))
}

fn content_of<N: Node>(item: &N) -> String {
    let content = item.field(Key::Content).and_then(|content| canonical_text(&content).ok());
    format!("{}{}", type_of(item), content.unwrap_or_default())
}

/// Items that can be found again in another list, each as [`is_same_item`] has it.
pub struct Known<'a, N> {
    /// The items themselves.
    pub items: &'a [N],
    by_id: Met,
    by_content: Met,
    by_content_without_id: Met,
}

impl<'a, N: Node> Known<'a, N> {
    /// Of a list.
    pub fn of(items: &'a [N]) -> Self {
        let [mut by_id, mut by_content, mut by_content_without_id] = [Met::default(), Met::default(), Met::default()];
        for (index, item) in items.iter().enumerate() {
            let content = content_of(item);
            match id_of(item) {
                Some(id) => by_id.note(&id, index),
                None => by_content_without_id.note(&content, index),
            };
            by_content.note(&content, index);
        }
        Known { items, by_id, by_content, by_content_without_id }
    }

    /// Where the item stands: by its id, or else where the first stands that is like it.
    pub fn position(&self, item: &N) -> Option<usize> {
        let content = content_of(item);
        let places = match id_of(item) {
            Some(id) => Some(self.by_id.at(&id)).filter(|places| !places.is_empty()),
            None => Some(self.by_content.at(&content)),
        };
        places.unwrap_or_else(|| self.by_content_without_id.at(&content)).first().copied()
    }
}

/// Items that kept their id and lost the reasoning that stood before them.
fn lost_reasoning<N: Node>(original: &Known<'_, N>, current: &[N], found: &mut Findings) {
    for (index, item) in current.iter().enumerate() {
        if item.field(Key::Id).is_none() || type_of(item) == "reasoning" || !is_of_model(item) {
            continue;
        }
        let Some(at) = original.position(item) else { continue };
        let before = |list: &[N], at: usize| at.checked_sub(1).and_then(|at| list.get(at).cloned());
        let is_reasoning = |item: &N| type_of(item) == "reasoning" && item.field(Key::Id).is_some();
        let Some(reasoning) = before(original.items, at).filter(is_reasoning) else { continue };
        if before(current, index).is_none_or(|before| !is_same_item(&before, &reasoning)) {
            let text = "the reasoning before this item is gone: strip the item's id as well";
            found.error("OAR-RSN-2", index, None, text);
        }
    }
}

/// Messages that lost the `phase` that newer models give them.
fn lost_phase<N: Node>(original: &[N], current: &[N], found: &mut Findings) {
    let is_message = |item: &N| kind_of(item) == "message" && role_of(item) == "assistant";
    let had_phase = |item: &&N| item.field(Key::Phase).is_some() && is_message(item);
    let phased: Vec<N> = original.iter().filter(had_phase).cloned().collect();
    let phased = Known::of(&phased);
    let never_had: Vec<N> = original.iter().filter(|item| !had_phase(item) && is_message(item)).cloned().collect();
    let never_had = Known::of(&never_had);
    let bare = current.iter().enumerate().filter(|(_, item)| item.field(Key::Phase).is_none() && is_message(item));
    for (index, item) in bare {
        if phased.position(item).is_some() && never_had.position(item).is_none() {
            found.warning("OAR-RSN-7", index, None, "the message lost its `phase`: the model may stop early");
        }
    }
}

/// In an open tool loop, all from the newest user message on should stay as it was.
fn touched_turn<N: Node>(original: &[N], current: &[N], found: &mut Findings) {
    if !original.last().is_some_and(|last| type_of(last).ends_with("_output")) {
        return;
    }
    let is_user = |item: &N| kind_of(item) == "message" && role_of(item) == "user";
    let start = original.iter().rposition(is_user).map_or(0, |newest| newest + 1);
    if let Some(index) = original.get(start..).and_then(|turn| first_lost(turn, current)) {
        let text = "the open tool loop was changed: what stands behind the newest user message should stay";
        found.warning("OAR-RSN-5", index, None, text);
    }
}

/// Where the first item would stand that is not among the current ones as it was, in order.
fn first_lost<N: Node>(original: &[N], current: &[N]) -> Option<usize> {
    let mut left = current.iter().map(|item| canonical_text(item).ok());
    let mut passed = 0;
    let lost = original.iter().any(|item| {
        let text = canonical_text(item).ok();
        match left.position(|other| other == text) {
            Some(between) => {
                passed += between + 1;
                false
            }
            None => true,
        }
    });
    lost.then(|| passed.min(current.len().saturating_sub(1)))
}
