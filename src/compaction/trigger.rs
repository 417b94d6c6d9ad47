//! When to compact, and the numbers that callers give.

use crate::error::ProjectionError;
use crate::facts::MessageFacts;
use crate::node::{Kind, Node};
use crate::options::{POSITIVE, positive_number, unknown, wrong};
use crate::projection::read_facts;

use super::estimate::estimate;
use super::{Compaction, compact_facts};

const KNOWN: [&str; 5] = ["every", "token_budget", "threshold", "keep_last", "count_tokens"];

/// When to compact, and to what. Either trigger is enough; without any, nothing happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triggers {
    /// Compact a list of more messages than this.
    pub every: Option<usize>,
    /// Compact a list whose tokens exceed `threshold` of this.
    pub token_budget: Option<usize>,
    /// The fraction of the budget.
    pub threshold: f64,
    /// How many messages at the end stay.
    pub keep_last: usize,
}

impl Triggers {
    /// No trigger yet, the seed's threshold.
    pub const fn keeping(keep_last: usize) -> Self {
        Triggers { every: None, token_budget: None, threshold: 0.8, keep_last }
    }

    /// Reads a table of options.
    ///
    /// # Errors
    /// When an option is unknown, of the wrong type or not positive, or `keep_last` is missing.
    pub fn parse<N: Node>(options: Option<&N>) -> Result<Self, ProjectionError> {
        let expected = "an object with `keep_last`";
        let options = options.ok_or_else(|| wrong("options", expected, "nothing"))?;
        if options.kind() != Kind::Object {
            return Err(wrong("options", expected, options.kind().in_words()));
        }
        let mut triggers = Triggers::keeping(0);
        for (name, value) in options.entries() {
            let path = format!("options.{name}");
            if !KNOWN.contains(&&*name) {
                return Err(unknown(&path, &name, &KNOWN));
            }
            if value.kind() != Kind::Null {
                triggers.set(&name, &path, &value)?;
            }
        }
        if triggers.keep_last == 0 {
            return Err(wrong("options.keep_last", POSITIVE, "nothing"));
        }
        Ok(triggers)
    }

    fn set<N: Node>(&mut self, name: &str, path: &str, value: &N) -> Result<(), ProjectionError> {
        match name {
            "every" => self.every = Some(positive_number(path, value)?),
            "token_budget" => self.token_budget = Some(positive_number(path, value)?),
            "keep_last" => self.keep_last = positive_number(path, value)?,
            "threshold" => self.threshold = fraction(path, value)?,
            // `count_tokens` is the caller's: the engine gets what it counted.
            _ if value.kind() != Kind::Function => return Err(wrong(path, "a function", value.kind().in_words())),
            _ => {}
        }
        Ok(())
    }

    /// Whether the tokens of a list of so many messages decide.
    pub fn needs_tokens(&self, count: usize) -> bool {
        self.token_budget.is_some() && self.every.is_none_or(|every| !should_compact(count, every))
    }

    fn fires(&self, count: usize, tokens: impl FnOnce() -> usize) -> bool {
        self.every.is_some_and(|every| should_compact(count, every))
            || self.token_budget.is_some_and(|budget| tokens() as f64 > budget as f64 * self.threshold)
    }
}

/// Compacts when a trigger fires; `None` when none does or there is nothing to replace. `tokens` is what a tokenizer
/// counted in `messages`; without it they are estimated.
///
/// # Errors
/// When a message is malformed.
pub fn maybe_compact<N: Node>(
    messages: &[N],
    triggers: &Triggers,
    tokens: Option<usize>,
) -> Result<Option<Compaction>, ProjectionError> {
    Ok(compact_if(messages, &read_facts(messages, 0)?, triggers, false, tokens))
}

/// The same, of messages whose facts are known; `always` does not wait for a trigger.
pub fn compact_if<N: Node>(
    messages: &[N],
    facts: &[MessageFacts],
    triggers: &Triggers,
    always: bool,
    tokens: Option<usize>,
) -> Option<Compaction> {
    let fires = always || triggers.fires(messages.len(), || tokens.unwrap_or_else(|| estimate(messages, facts)));
    if fires { compact_facts(messages, facts, triggers.keep_last) } else { None }
}

/// Whether a list of `count` messages is longer than `threshold`.
pub const fn should_compact(count: usize, threshold: usize) -> bool {
    count > threshold
}

fn fraction<N: Node>(path: &str, value: &N) -> Result<f64, ProjectionError> {
    let found = || value.number_text().unwrap_or_else(|| value.kind().in_words().to_owned());
    let number = value.as_f64().filter(|number| *number > 0.0 && *number <= 1.0);
    number.ok_or_else(|| wrong(path, "a number above 0, at most 1", found()))
}
