//! The record of a view: what was hidden, why, and the hashes that prove it.

use serde_json::{Map, Value};

use crate::guard::pairing::Violation;
use crate::plan::{HiddenCall, Pointer};
use crate::value::{extend, indices, list, texts};

/// Everything that a view says beside its messages.
#[derive(Clone, Debug)]
pub struct Report {
    /// The policy.
    pub policy: &'static str,
    /// Why the view is what it is.
    pub reason: String,
    /// Source indices that the view still shows, wholly or in part.
    pub kept_indices: Vec<usize>,
    /// Source indices that it does not show.
    pub dropped_indices: Vec<usize>,
    /// Kept messages with calls or results hidden.
    pub trimmed_indices: Vec<usize>,
    /// Kept messages with bodies replaced by pointers.
    pub redacted_indices: Vec<usize>,
    /// How many are kept.
    pub kept_count: usize,
    /// How many are not.
    pub dropped_count: usize,
    /// How many bodies were replaced: the number of pointers.
    pub redacted_count: usize,
    /// A quarter of `reclaimed_chars`.
    pub reclaimed_tokens: usize,
    /// Characters that the model no longer reads, less what was put in their place.
    pub reclaimed_chars: usize,
    /// `reachability_gc`: what was searched for references.
    pub roots_consulted: Vec<String>,
    /// Where the replaced bodies are.
    pub redaction_pointers: Vec<Pointer>,
    /// The calls that are not shown.
    pub hidden_calls: Vec<HiddenCall>,
    /// SHA-256 over the canonical JSON of the view's messages; `null` when switched off.
    pub prefix_hash: Option<String>,
    /// The same over the source's messages. In the event, not in the view.
    pub source_hash: Option<String>,
    /// How many messages the source has. In the event, not in the view.
    pub source_count: usize,
    /// Whether a guard refused the policy's view and the source is shown instead.
    pub provider_safety_blocked: bool,
    /// The position in the view where it first differs from the source.
    pub first_changed_index: Option<usize>,
    /// Source indices of kept messages whose signatures come after the first change.
    pub invalidated_signature_indices: Vec<usize>,
    /// Messages that were to change and stay as they are, because that would touch signed reasoning.
    pub skipped_indices: Vec<usize>,
    /// Messages whose reasoning went because of what went before it; those that were nothing else are dropped.
    pub stripped_indices: Vec<usize>,
    /// Positions in the view whose strings hold lone surrogates; they hash as U+FFFD.
    pub lone_surrogate_indices: Vec<usize>,
    /// What providers would refuse in a custom view.
    pub violations: Option<Vec<Violation>>,
    /// `custom`: whether the view only chose among the source's messages. In the event, for replay.
    pub is_selection: bool,
    /// What the caller's `is_error` decided. In the event, so that a replay needs no callback.
    pub is_error_verdicts: Vec<Verdict>,
}

impl Report {
    /// The fields that a view and its event share.
    pub fn shared_fields(&self) -> Map<String, Value> {
        let mut fields = self.settled_fields();
        extend(
            &mut fields,
            [
                ("kept_indices", indices(&self.kept_indices)),
                ("dropped_indices", indices(&self.dropped_indices)),
                ("trimmed_indices", indices(&self.trimmed_indices)),
                ("redacted_indices", indices(&self.redacted_indices)),
                ("redaction_pointers", list(&self.redaction_pointers, Pointer::to_json)),
                ("hidden_calls", list(&self.hidden_calls, HiddenCall::to_json)),
                ("invalidated_signature_indices", indices(&self.invalidated_signature_indices)),
                ("stripped_indices", indices(&self.stripped_indices)),
            ],
        );
        fields
    }

    /// The same without the lists that follow from the decisions of a session: its events would hold the same indices
    /// turn after turn.
    pub fn settled_fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        extend(
            &mut fields,
            [
                ("policy", self.policy.into()),
                ("reason", self.reason.as_str().into()),
                ("kept_count", self.kept_count.into()),
                ("dropped_count", self.dropped_count.into()),
                ("redacted_count", self.redacted_count.into()),
                ("reclaimed_tokens", self.reclaimed_tokens.into()),
                ("reclaimed_chars", self.reclaimed_chars.into()),
                ("roots_consulted", texts(&self.roots_consulted)),
                ("prefix_hash", self.prefix_hash.clone().into()),
                ("provider_safety_blocked", self.provider_safety_blocked.into()),
                ("first_changed_index", self.first_changed_index.into()),
                ("skipped_indices", indices(&self.skipped_indices)),
            ],
        );
        fields
    }

    /// The fields of a view, beside its messages and its event.
    pub fn to_json(&self) -> Value {
        let mut fields = self.shared_fields();
        fields.insert("lone_surrogate_indices".to_owned(), indices(&self.lone_surrogate_indices));
        if let Some(violations) = &self.violations {
            fields.insert("violations".to_owned(), list(violations, Violation::to_json));
        }
        Value::Object(fields)
    }
}

impl Verdict {
    /// The decision as it is recorded.
    pub fn to_json(&self) -> Value {
        let mut fields = Map::new();
        extend(
            &mut fields,
            [
                ("message_index", self.message_index.into()),
                ("block_index", self.block_index.into()),
                ("is_error", self.is_error.into()),
            ],
        );
        if self.refused {
            fields.insert("refused".to_owned(), true.into());
        }
        Value::Object(fields)
    }

    /// The decision that was recorded so.
    pub fn of_json(value: &Value) -> Option<Verdict> {
        let index = |name: &str| value.get(name).and_then(Value::as_f64).map(|n| n as usize);
        Some(Verdict {
            message_index: index("message_index")?,
            block_index: index("block_index"),
            is_error: value.get("is_error")?.as_bool()?,
            refused: value.get("refused").and_then(Value::as_bool).unwrap_or_default(),
        })
    }

    /// The decisions in the text of a JSON array.
    pub fn list_of_json(text: &str) -> Vec<Verdict> {
        let list: Value = serde_json::from_str(text).unwrap_or_default();
        list.as_array().into_iter().flatten().filter_map(Verdict::of_json).collect()
    }

    /// Whether both are about the same result.
    pub fn is_of_same_result(&self, other: &Verdict) -> bool {
        (self.message_index, self.block_index) == (other.message_index, other.block_index)
    }
}

/// What was decided of a result from outside: by the caller's `is_error`, or by the file that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The message.
    pub message_index: usize,
    /// The block in it.
    pub block_index: Option<usize>,
    /// Whether it reports a failure.
    pub is_error: bool,
    /// Whether a person refused the call.
    pub refused: bool,
}
