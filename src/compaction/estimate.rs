//! Token estimates of the seed: UTF-8 bytes by four. Only text counts: neither media nor signatures nor arguments.

use crate::error::ProjectionError;
use crate::facts::{MessageFacts, texts};
use crate::node::Node;
use crate::projection::read_facts;
use crate::tokens;

/// A quarter of the text's bytes.
pub const fn estimate_tokens(text: &str) -> usize {
    tokens::estimate(text.len())
}

/// A quarter of the bytes of all text: summed first, divided once.
///
/// # Errors
/// When a message is malformed.
pub fn estimate_messages_tokens<N: Node>(messages: &[N]) -> Result<usize, ProjectionError> {
    Ok(estimate(messages, &read_facts(messages, 0)?))
}

/// Every text of some messages, for those who count with a tokenizer.
///
/// # Errors
/// When a message is malformed.
pub fn message_texts<N: Node>(messages: &[N]) -> Result<Vec<N>, ProjectionError> {
    let facts = read_facts(messages, 0)?;
    let mut all = Vec::new();
    for (message, facts) in messages.iter().zip(&facts) {
        all.append(&mut texts(message, facts));
    }
    Ok(all)
}

pub fn estimate<N: Node>(messages: &[N], facts: &[MessageFacts]) -> usize {
    let mut bytes = 0;
    for (message, facts) in messages.iter().zip(facts) {
        bytes += texts(message, facts).iter().map(bytes_of).sum::<usize>();
    }
    tokens::estimate(bytes)
}

/// The length of a text in UTF-8.
pub fn bytes_of<N: Node>(text: &N) -> usize {
    text.with_utf8(<[u8]>::len).unwrap_or_default()
}
