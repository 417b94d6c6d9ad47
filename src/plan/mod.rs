//! A plan: messages dropped, calls hidden, bodies replaced, one message inserted. Nothing else can change a view, and
//! only this folder builds changed messages.

mod fate;
mod resolved;
mod summary;

use serde_json::Value;

use crate::exchange::{Exchange, Spot};
use crate::node::Node;
use crate::options::SummaryRole;
use crate::patched::Patched;
use crate::value::object;

pub use fate::{Fate, Reclaimed, visible_chars, with_bodies};
pub use resolved::ResolvedPlan;
pub use summary::Summary;

/// What a policy wants to change. Policies fill it; [`Plan::resolve`] works out what that means for each message.
#[derive(Default)]
pub struct Plan {
    /// A reason other than the policy's own.
    pub reason: Option<&'static str>,
    /// Messages that go as a whole.
    pub drop: Vec<usize>,
    /// Calls that go, each with its results.
    pub hide: Vec<(Exchange, String)>,
    /// Result bodies that become one line of text.
    pub replace: Vec<Replacement>,
    /// A message that the source does not have.
    pub insert: Option<Insert>,
    /// What was looked at to decide, for the record.
    pub roots_consulted: Vec<String>,
}

/// A body that becomes a line of text and a pointer.
#[derive(Clone)]
pub struct Replacement {
    /// The result.
    pub result: Spot,
    /// The line.
    pub text: String,
    /// Where the raw body is.
    pub pointer: Pointer,
}

/// A summary of the messages that go.
pub struct Insert {
    /// The source index that it comes before.
    pub before: usize,
    /// Its text; without one it counts the messages.
    pub text: Option<String>,
    /// Who says it, in shapes that leave a choice.
    pub role: SummaryRole,
}

/// Says where a replaced body is in the raw transcript, and how to know that it is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The policy that replaced the body.
    pub policy: String,
    /// The place in words: `transcript.messages[2].content[1].content`.
    pub source: String,
    /// The message.
    pub source_index: usize,
    /// The block in the message, `null` when the message itself is the result.
    pub source_block_index: Option<usize>,
    /// SHA-256 over the body: over the text itself, or over canonical JSON when it is no string.
    pub content_hash: String,
    /// The body's length in characters.
    pub content_chars: usize,
    /// A quarter of `content_chars`.
    pub estimated_tokens_reclaimed: usize,
    /// The id of the call.
    pub tool_call_id: Option<String>,
    /// The tool's name as the result carries it; a result that is a whole message falls back to the call's.
    pub tool_name: Option<String>,
    /// Why.
    pub reason: String,
}

impl Pointer {
    /// The pointer as JSON.
    pub fn to_json(&self) -> Value {
        object([
            ("policy", self.policy.as_str().into()),
            ("source", self.source.as_str().into()),
            ("source_index", self.source_index.into()),
            ("source_block_index", self.source_block_index.into()),
            ("content_hash", self.content_hash.as_str().into()),
            ("content_chars", self.content_chars.into()),
            ("estimated_tokens_reclaimed", self.estimated_tokens_reclaimed.into()),
            ("tool_call_id", self.tool_call_id.clone().into()),
            ("tool_name", self.tool_name.clone().into()),
            ("reason", self.reason.as_str().into()),
        ])
    }
}

/// A call that the view does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenCall {
    /// The call's id.
    pub tool_call_id: Option<String>,
    /// The tool's name.
    pub tool_name: String,
    /// The message that made the call.
    pub call_index: usize,
    /// Its position in the message's list of calls or blocks.
    pub call_block: Option<usize>,
    /// The message that answered it.
    pub result_index: Option<usize>,
    /// The block that answered it, `null` when the message is the result.
    pub result_block: Option<usize>,
    /// Why.
    pub reason: String,
}

impl HiddenCall {
    /// The hidden call as JSON.
    pub fn to_json(&self) -> Value {
        object([
            ("tool_call_id", self.tool_call_id.clone().into()),
            ("tool_name", self.tool_name.as_str().into()),
            ("call_index", self.call_index.into()),
            ("call_block", self.call_block.into()),
            ("result_index", self.result_index.into()),
            ("result_block", self.result_block.into()),
            ("reason", self.reason.as_str().into()),
        ])
    }
}

/// A message of the view.
#[derive(Clone, Debug)]
pub enum Shown<N> {
    /// A message of the source, the caller's own.
    Kept {
        /// Its index in the source.
        source: usize,
        /// The message.
        message: N,
    },
    /// A message of the source with parts hidden or replaced.
    Changed {
        /// Its index in the source.
        source: usize,
        /// The message as it is shown.
        message: Patched<N>,
    },
    /// A message that the source does not have.
    Added {
        /// The message.
        message: Patched<N>,
    },
}

impl<N: Node> Shown<N> {
    /// The source index of the message, if it has one.
    pub fn source(&self) -> Option<usize> {
        match self {
            Shown::Kept { source, .. } | Shown::Changed { source, .. } => Some(*source),
            Shown::Added { .. } => None,
        }
    }

    /// The message as it is shown.
    pub fn message(&self) -> Patched<N> {
        match self {
            Shown::Kept { message, .. } => Patched::Source(message.clone()),
            Shown::Changed { message, .. } | Shown::Added { message } => message.clone(),
        }
    }
}

impl Plan {
    /// Hides a call with its results.
    pub fn hide(&mut self, exchange: &Exchange, reason: String) {
        self.hide.push((exchange.clone(), reason));
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.drop.is_empty() && self.hide.is_empty() && self.replace.is_empty() && self.insert.is_none()
    }
}
