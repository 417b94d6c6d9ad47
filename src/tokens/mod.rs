//! Estimates of what a model reads. They are no tokenizer: a quarter of the characters is right for English prose and
//! wrong elsewhere; the estimate by script is a few percent off for most kinds of text, up to a third for a single one.

pub mod by_script;
mod characters;
pub mod messages;

use crate::canonical::canonical_text;
use crate::node::Node;

/// Estimated tokens of so many characters.
pub const fn estimate(chars: usize) -> usize {
    chars / 4
}

/// The length of a value in characters: of the text itself, or of its canonical JSON when it is no string.
pub fn char_count<N: Node>(node: &N) -> usize {
    node.char_count().unwrap_or_else(|| canonical_text(node).map_or(0, |text| text.chars().count()))
}
