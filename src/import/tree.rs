//! Lines that name their parents: the conversation is the way from the last line up to the root.

use std::collections::HashMap;

use super::output::Output;

/// A line of a tree.
#[derive(Default)]
pub struct Link {
    /// Its id.
    pub id: Option<String>,
    /// The id of the line that it follows.
    pub parent: Option<String>,
}

/// Whether each line is on the way from the last one up. `None` where no line names a parent, or where the way leads
/// nowhere: then the order in the file counts.
pub fn active_path(links: &[&Link], out: &mut Output) -> Option<Vec<bool>> {
    if links.iter().all(|link| link.parent.is_none()) {
        return None;
    }
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let mut is_tree = true;
    for (index, link) in links.iter().enumerate() {
        is_tree &= link.id.as_deref().is_some_and(|id| by_id.insert(id, index).is_none());
    }
    let mut path = vec![false; links.len()];
    let mut next = links.len().checked_sub(1).filter(|_| is_tree);
    while let Some(index) = next {
        let Some(seen) = path.get_mut(index).filter(|seen| !**seen) else {
            is_tree = false;
            break;
        };
        *seen = true;
        let parent = links.get(index).and_then(|link| link.parent.as_deref());
        next = parent.and_then(|parent| by_id.get(parent).copied());
        is_tree &= parent.is_none() || next.is_some();
    }
    if !is_tree {
        out.warn_line("broken_tree", 1, "the lines' parents make no way back to the start: read in file order");
    }
    is_tree.then_some(path)
}
