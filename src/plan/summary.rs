//! The message that stands for those that a plan drops.

use serde_json::Value;

use crate::facts::{MessageFacts, Shape};
use crate::options::SummaryRole;
use crate::shape::{shape_of_summary, summary_message};

use super::Insert;

/// The message that stands for those that go.
#[derive(Clone)]
pub struct Summary {
    /// The source index that it comes before.
    pub before: usize,
    /// The text that was given; without one it counts.
    pub text: Option<String>,
    /// Who says it.
    pub role: SummaryRole,
    shape: Shape,
    /// How many messages it stands for.
    count: usize,
    policy: &'static str,
}

impl Summary {
    /// In the shape of the messages that it stands for, as the one that it replaces had.
    pub(super) fn of(
        insert: &Insert,
        drop: &[usize],
        facts: &[MessageFacts],
        old: Option<&Summary>,
        count: usize,
        policy: &'static str,
    ) -> Self {
        let gone = drop.iter().filter_map(|index| facts.get(*index));
        Summary {
            before: old.map_or(insert.before, |old| old.before),
            text: insert.text.clone(),
            role: insert.role,
            shape: old.map_or_else(|| shape_of_summary(gone.chain(facts)), |old| old.shape),
            count,
            policy,
        }
    }

    /// The same before another message, for another number of messages.
    pub(super) fn moved(self, before: usize, count: usize) -> Self {
        Summary { before, count, ..self }
    }

    /// What it says.
    pub fn says(&self) -> String {
        self.text.clone().unwrap_or_else(|| format!("[{} earlier messages summarized]", self.count))
    }

    /// The message.
    pub fn message(&self) -> Value {
        summary_message(self.shape, self.role, &self.says(), self.policy)
    }

    pub(super) fn chars(&self) -> usize {
        self.says().chars().count()
    }

    /// What the message depends on. How many it stands for shows only where it counts them.
    fn shows(&self) -> (usize, Shape, SummaryRole, Option<&str>, Option<usize>, &'static str) {
        let counts = self.text.is_none().then_some(self.count);
        (self.before, self.shape, self.role, self.text.as_deref(), counts, self.policy)
    }
}

/// Whether two summaries are the same message in the same place.
pub(super) fn is_same(one: Option<&Summary>, other: Option<&Summary>) -> bool {
    one.map(Summary::shows) == other.map(Summary::shows)
}
