//! Compaction of a session: a summary comes in place of old messages, and what is settled of the others moves along.

use std::ops::Range;

use crate::compaction::{Compaction, Triggers, compact_if};
use crate::error::{ErrorCode, ProjectionError};
use crate::exchange::Pairs;
use crate::facts::Shape;
use crate::node::Node;
use crate::plan::Reclaimed;
use crate::shape::shape_of_summary;

use super::Session;
use super::chains::Chains;

impl<N: Node> Session<N> {
    /// What a compaction would put in place of which messages; `None` when no trigger fires or there is nothing to do.
    pub fn plan_compaction(&self, triggers: &Triggers, always: bool, tokens: Option<usize>) -> Option<Compaction> {
        compact_if(&self.transcript.messages, &self.facts, triggers, always, tokens)
    }

    /// Puts `summary` in place of the messages in `range`. What is settled of the others stays.
    ///
    /// # Errors
    /// When the summary is malformed, or there are no such messages.
    pub fn compact(&mut self, range: Range<usize>, summary: N) -> Result<(), ProjectionError> {
        let Range { start, end } = range;
        if start > end || end > self.facts.len() {
            let found = format!("{start}..{end} of {}", self.facts.len());
            return Err(ProjectionError::new(ErrorCode::InvalidOption, "range", "messages of this session", found));
        }
        let mut facts = crate::shape::read(&summary, start)?;
        // When nothing but summaries is left, this one still tells whose messages they are.
        if facts.shape == Shape::Chat {
            facts.shape = shape_of_summary(self.facts.iter().skip(start).take(end - start));
        }
        self.transcript.messages.splice(start..end, [summary]);
        self.facts.splice(start..end, [facts]);
        self.pairs = Pairs::default();
        self.pairs.extend(&self.facts);
        let moved = |index: usize| if index < end { index.min(start) } else { index + 1 - (end - start) };
        let is_left = |index: &usize| *index < start || *index >= end;
        self.transcript.verdicts.retain(|verdict| is_left(&verdict.message_index));
        self.transcript.verdicts.iter_mut().for_each(|verdict| verdict.message_index = moved(verdict.message_index));
        self.taken_in = if self.taken_in > start { moved(self.taken_in.max(end)) } else { self.taken_in };
        self.forget_view(start);
        self.settled.compact(start..end, &self.facts);
        self.chains = Chains::new();
        self.lone_surrogates.clear();
        self.invalidated.retain(is_left);
        self.invalidated.iter_mut().for_each(|index| *index = moved(*index));
        self.chars = Vec::new();
        self.watch = None;
        self.compactions += 1;
        self.is_cold = true;
        self.is_in_step = false;
        for own in self.last_custom.iter_mut().flatten() {
            // From the summary on nothing is where it was.
            *own = own.filter(|source| *source < start);
        }
        let changed = self.settled.changed();
        let inserted = self.settled.summary().map(|summary| summary.before);
        self.first_changed = changed.first().copied().into_iter().chain(inserted).min();
        self.reclaimed = Reclaimed::default();
        self.redacted_count = self.settled.pointers().len();
        for index in changed {
            if let Some((message, facts)) = self.transcript.messages.get(index).zip(self.facts.get(index)) {
                self.reclaimed = self.reclaimed.plus(self.settled.fate(index).reclaimed(message, facts), 1);
            }
        }
        Ok(())
    }
}
