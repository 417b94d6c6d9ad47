//! Compaction without a model: old messages become one summary, deterministic and never between a call and its
//! results; oversized tool results lose their middle. The rules know facts and exchanges, so a wire shape that is
//! added to the engine has all of this for nothing.

mod boundary;
mod cut;
pub mod estimate;
mod prune;
mod summary;
mod trigger;

use std::ops::Range;

use serde_json::Value;

use crate::error::ProjectionError;
use crate::exchange::Exchanges;
use crate::facts::MessageFacts;
use crate::node::Node;
use crate::patched::Patched;
use crate::plan::Shown;
use crate::projection::read_facts;

pub use boundary::balance_tool_call_boundary;
pub use estimate::{estimate_messages_tokens, estimate_tokens, message_texts};
pub use prune::{MAX_RESULT_CHARS, prune_tool_results};
pub use summary::head;
pub use trigger::{Triggers, compact_if, maybe_compact, should_compact};

/// What a compaction does: a run of messages becomes one.
#[derive(Clone, Debug, PartialEq)]
pub struct Compaction {
    /// The messages that go.
    pub replaced: Range<usize>,
    /// The system message that comes instead.
    pub summary: Value,
}

impl Compaction {
    /// The compacted list of the `messages` that it was made for.
    pub fn apply<N: Node>(&self, messages: &[N]) -> Vec<Shown<N>> {
        let mut shown = Vec::new();
        for (source, message) in messages.iter().enumerate() {
            if source == self.replaced.start {
                shown.push(Shown::Added { message: Patched::New(self.summary.clone()) });
            }
            if !self.replaced.contains(&source) {
                shown.push(Shown::Kept { source, message: message.clone() });
            }
        }
        shown
    }
}

/// Replaces all but the leading prompts and the last `keep_last` messages, one at least, by a summary. `None` when
/// there is nothing to replace.
///
/// # Errors
/// When a message is malformed.
pub fn compact<N: Node>(messages: &[N], keep_last: usize) -> Result<Option<Compaction>, ProjectionError> {
    Ok(compact_facts(messages, &read_facts(messages, 0)?, keep_last))
}

fn compact_facts<N: Node>(messages: &[N], facts: &[MessageFacts], keep_last: usize) -> Option<Compaction> {
    let prompts = summary::leading_prompts(messages, facts);
    let tail = messages.len().checked_sub(keep_last.max(1)).filter(|tail| *tail > prompts)?;

    let exchanges = Exchanges::of(facts);
    let mut end = boundary::balanced(facts, &exchanges, tail);
    // Nothing recent would be left: the step stays instead.
    if end == messages.len() {
        end = exchanges.boundary_before(tail);
    }
    let end = exchanges.boundary_before_reasoning(end);
    let old = messages.get(prompts..end)?.iter().zip(facts.get(prompts..end)?);
    // A summary alone is as short as it gets.
    if old.clone().all(|(message, facts)| summary::is_summary(message, facts)) && old.len() <= 1 {
        return None;
    }
    let summary = summary::summarize(messages, facts, &exchanges, prompts..end);
    Some(Compaction { replaced: prompts..end, summary })
}
