//! `custom`: the caller's projector decides, and this file works out which source messages its list shows.

use std::collections::HashMap;

use crate::canonical::Writer;
use crate::node::Node;
use crate::patched::Patched;
use crate::plan::Shown;

/// What a projector returns.
pub struct CustomView<N> {
    /// The messages of the view.
    pub messages: Vec<Patched<N>>,
    /// A reason for the record.
    pub reason: Option<String>,
    /// The source index of each message, where the caller says so.
    pub kept_indices: Option<Vec<usize>>,
    /// The source indices that the view does not show, where the caller says so.
    pub dropped_indices: Option<Vec<usize>>,
}

impl<N> CustomView<N> {
    /// A view of these messages.
    pub fn of(messages: Vec<Patched<N>>) -> Self {
        CustomView { messages, reason: None, kept_indices: None, dropped_indices: None }
    }
}

/// The view's messages with their source: the explicit mapping where it is possible, else by identity, else by deep
/// equality with the first source message that nothing claimed.
pub fn shown<N: Node>(view: &CustomView<N>, sources: &[N]) -> Vec<Shown<N>> {
    let explicit = explicit_indices(view, sources.len());
    let indices = explicit.unwrap_or_else(|| matched_indices(&view.messages, sources));
    let pairs = view.messages.iter().zip(indices);
    pairs
        .map(|(message, source)| match source {
            None => Shown::Added { message: message.clone() },
            Some(source) => match (message, sources.get(source)) {
                (Patched::Source(node), Some(original)) if is_unchanged(node, original) => {
                    Shown::Kept { source, message: node.clone() }
                }
                _ => Shown::Changed { source, message: message.clone() },
            },
        })
        .collect()
}

fn is_unchanged<N: Node>(node: &N, original: &N) -> bool {
    node.same(original) || canonical(&Patched::Source(node.clone())) == canonical(&Patched::Source(original.clone()))
}

fn explicit_indices<N>(view: &CustomView<N>, source_count: usize) -> Option<Vec<Option<usize>>> {
    let is_possible =
        |indices: &Vec<usize>| indices.iter().all(|index| *index < source_count) && indices.is_sorted_by(|a, b| a < b);
    let kept = match (&view.kept_indices, &view.dropped_indices) {
        (Some(kept), _) => kept.clone(),
        (None, Some(dropped)) if is_possible(dropped) => {
            (0..source_count).filter(|index| !dropped.contains(index)).collect()
        }
        _ => return None,
    };
    (is_possible(&kept) && kept.len() == view.messages.len()).then(|| kept.into_iter().map(Some).collect())
}

fn matched_indices<N: Node>(messages: &[Patched<N>], sources: &[N]) -> Vec<Option<usize>> {
    let mut indices = same_in_order(messages, sources);
    if indices.contains(&None) {
        match_equals(messages, sources, &mut indices);
    }
    indices
}

/// Projectors mostly filter, so each message is looked for behind the one before it.
fn same_in_order<N: Node>(messages: &[Patched<N>], sources: &[N]) -> Vec<Option<usize>> {
    let mut next = 0;
    // A list of copies would compare everything with everything; those are matched by content anyway.
    let mut comparisons = 4 * sources.len();
    let find = |message: &Patched<N>| {
        let Patched::Source(node) = message else { return None };
        let rest = sources.get(next..)?.get(..comparisons.min(sources.len() - next))?;
        let found = rest.iter().position(|source| source.same(node));
        comparisons -= found.map_or(rest.len(), |offset| offset + 1);
        let index = next + found?;
        next = index + 1;
        Some(index)
    };
    messages.iter().map(find).collect()
}

/// Matches the rest by content: the very object first, else the first equal one that nothing claimed.
fn match_equals<N: Node>(messages: &[Patched<N>], sources: &[N], indices: &mut [Option<usize>]) {
    let mut claimed = vec![false; sources.len()];
    for index in indices.iter().flatten() {
        if let Some(claimed) = claimed.get_mut(*index) {
            *claimed = true;
        }
    }
    let mut unclaimed: HashMap<String, Vec<usize>> = HashMap::new();
    // Last first, so that the first is taken first from the end of each list.
    for ((index, source), _) in sources.iter().enumerate().zip(claimed).rev().filter(|(_, is_claimed)| !is_claimed) {
        if let Some(bytes) = canonical(&Patched::Source(source.clone())) {
            unclaimed.entry(bytes).or_default().push(index);
        }
    }
    for (message, index) in messages.iter().zip(indices).filter(|(_, index)| index.is_none()) {
        let Some(equal) = canonical(message).and_then(|bytes| unclaimed.get_mut(&bytes)) else { continue };
        let is_same = |index: &usize| matches!((message, sources.get(*index)), (Patched::Source(node), Some(source)) if node.same(source));
        // Equal messages are as good as each other: the very object is preferred where it is near.
        let near = equal.len().saturating_sub(NEAR);
        let at = equal.get(near..).and_then(|last| last.iter().rposition(is_same));
        *index = match at {
            Some(at) => Some(equal.remove(near + at)),
            None => equal.pop(),
        };
    }
}

/// How many equal messages are searched for the very object.
const NEAR: usize = 32;

fn canonical<N: Node>(message: &Patched<N>) -> Option<String> {
    let mut writer = Writer::default();
    writer.patched(message).ok()?;
    String::from_utf8(writer.bytes).ok()
}
