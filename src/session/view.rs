//! The view of a session and what is told of it: worked out from the first change on, hashed from there on.

use serde_json::Value;

use crate::canonical::TooDeep;
use crate::error::ProjectionError;
use crate::node::Node;
use crate::options::Options;
use crate::patched::Patched;
use crate::plan::{Fate, Reclaimed, Shown, visible_chars};
use crate::projection::{View, too_deep};
use crate::report::{Report, Verdict};
use crate::tokens;

use super::{Cache, Decided, News, SUMMARY, Session, Turn, TurnOptions};

impl<N: Node> Session<N> {
    /// Forgets the view from this source message on.
    pub(super) fn forget_view(&mut self, source: usize) {
        self.shown_to = self.shown_to.min(source);
        let summary = self.settled.summary_before().or(self.settled.summary());
        let before = summary.map_or(0, |summary| summary.before);
        while self.shown.last().is_some_and(|last| if *last == SUMMARY { before >= source } else { *last >= source }) {
            self.shown.pop();
        }
        let kept = self.lone_surrogates.partition_point(|position| *position < self.shown.len());
        self.lone_surrogates.truncate(kept);
    }

    /// Lists the messages of the view from the first change on. Returns from which position on it is another.
    pub(super) fn show(&mut self, first_touched: Option<usize>) -> usize {
        let start = first_touched.unwrap_or(self.facts.len()).min(self.shown_to);
        // What was not shown is not shown again: of what was seen before only the rest is looked at once more.
        let before_start = self.shown.iter().rposition(|source| *source < start);
        let mut rest = self.shown.get(before_start.map_or(0, |at| at + 1)..).unwrap_or_default().to_vec();
        rest.extend(self.shown_to..self.facts.len());
        self.forget_view(start);
        let from = self.shown.len();
        let mut before = self.settled.summary().map(|summary| summary.before).filter(|before| *before >= start);
        for source in rest.into_iter().filter(|source| *source != SUMMARY) {
            if before.is_some_and(|before| before <= source) {
                self.shown.push(SUMMARY);
                before = None;
            }
            if !self.settled.drops(source) {
                self.shown.push(source);
            }
        }
        if before.is_some_and(|before| before < self.facts.len()) {
            self.shown.push(SUMMARY);
        }
        self.shown_to = self.facts.len();
        if first_touched.is_some() || self.first_changed.is_some() {
            self.chains.change_at(from);
        }
        from
    }

    /// A message of the view.
    pub(super) fn shown_at(&self, position: usize) -> Option<Shown<N>> {
        let source = *self.shown.get(position)?;
        if source == SUMMARY {
            let message = Patched::New(self.settled.summary()?.message());
            return Some(Shown::Added { message });
        }
        self.settled.fate(source).show(source, self.transcript.messages.get(source)?, self.facts.get(source)?)
    }

    /// Hashes what is new of the view and of its source.
    pub(super) fn hash(&mut self) -> Result<(String, String), ProjectionError> {
        for position in self.chains.shown()..self.shown.len() {
            let Some(shown) = self.shown_at(position) else { continue };
            let index = shown.source().unwrap_or(position);
            let written = match shown {
                Shown::Kept { source, message } => {
                    while self.chains.sources() < source {
                        self.hash_source()?;
                    }
                    if self.chains.sources() == source {
                        self.chains.add_to_both(&|writer| writer.node(&message))
                    } else {
                        self.chains.add_to_view(&|writer| writer.node(&message))
                    }
                }
                Shown::Changed { message, .. } | Shown::Added { message } => {
                    self.chains.add_to_view(&|writer| writer.patched(&message))
                }
            };
            if written.map_err(|TooDeep| too_deep(index))? {
                self.lone_surrogates.push(position);
            }
        }
        while self.chains.sources() < self.facts.len() {
            self.hash_source()?;
        }
        self.chains.mark();
        Ok(self.chains.hashes())
    }

    fn hash_source(&mut self) -> Result<(), ProjectionError> {
        let index = self.chains.sources();
        let Some(message) = self.transcript.messages.get(index) else { return Ok(()) };
        self.chains.add_to_source(&|writer| writer.node(message)).map_err(|TooDeep| too_deep(index))?;
        Ok(())
    }

    /// What the view before sent and this one has to send again, and what it saves.
    pub(super) fn cache(&mut self, turn: &TurnOptions, from: usize, sent: usize, custom: Option<&View<N>>) -> Cache {
        if self.turns == 0 {
            return Cache::default();
        }
        let mut rewritten = 0;
        let mut stable = from;
        if custom.is_some() || self.last_custom.is_some() {
            let sticky = |position: &usize| {
                let is_own = |source: &usize| matches!(self.settled.fate(*source), Fate::Kept);
                Some(*position).filter(|source| *source != SUMMARY && is_own(source))
            };
            let now: Vec<Option<usize>> = match custom {
                Some(view) => view.messages.iter().map(own).collect(),
                None => self.shown.iter().map(sticky).collect(),
            };
            let before = match &self.last_custom {
                Some(before) => before.clone(),
                None => {
                    self.shown.iter().map(sticky).filter(|source| source.is_none_or(|source| source < sent)).collect()
                }
            };
            // The sticky view knows its own changes since, such as those of a compaction.
            let most = if self.last_custom.is_none() { from } else { usize::MAX };
            let same = now.iter().zip(&before).take(most).take_while(|(now, before)| now.is_some() && now == before);
            stable = same.count();
            for source in now.into_iter().skip(stable).flatten().filter(|source| *source < sent) {
                rewritten += self.chars_of(source);
            }
            return Cache::of(stable, tokens::estimate(rewritten), 0, turn.cache_prices);
        }
        for position in from..self.shown.len() {
            match self.shown.get(position) {
                Some(&SUMMARY) => rewritten += self.settled.summary_chars(),
                Some(source) if *source < sent => rewritten += self.chars_of(*source),
                _ => {}
            }
        }
        let gain = if rewritten == 0 { 0 } else { self.gain() };
        Cache::of(stable, tokens::estimate(rewritten), gain, turn.cache_prices)
    }

    /// The characters of a message as it is shown.
    fn chars_of(&mut self, source: usize) -> usize {
        let Some((message, facts)) = self.transcript.messages.get(source).zip(self.facts.get(source)) else { return 0 };
        self.chars.resize(self.facts.len(), None);
        let Some(known) = self.chars.get_mut(source) else { return 0 };
        let chars = *known.get_or_insert_with(|| visible_chars(message, facts));
        let Reclaimed { removed, saved } = self.settled.fate(source).reclaimed(message, facts);
        chars.saturating_sub(usize::try_from(removed + saved).unwrap_or_default())
    }

    pub(super) fn report(
        &self,
        options: &Options,
        decided: &Decided,
        hashes: Option<(String, String)>,
        verdicts: Vec<Verdict>,
    ) -> Report {
        let count = self.facts.len();
        let kept = self.shown.len() - usize::from(self.settled.summary().is_some());
        let derived = || decided.reason.clone().unwrap_or_else(|| options.policy.reason().to_owned());
        let reason = match &decided.refusal {
            Some(refusal) => refusal.clone(),
            None => options.reason.clone().unwrap_or_else(derived),
        };
        let reclaimed_chars = self.reclaimed.total(self.settled.summary_chars());
        let (prefix_hash, source_hash) = hashes.unzip();
        Report {
            policy: options.policy.name(),
            reason,
            kept_indices: Vec::new(),
            dropped_indices: Vec::new(),
            trimmed_indices: Vec::new(),
            redacted_indices: Vec::new(),
            kept_count: kept,
            dropped_count: count - kept,
            redacted_count: self.redacted_count,
            reclaimed_tokens: tokens::estimate(reclaimed_chars),
            reclaimed_chars,
            roots_consulted: decided.roots_consulted.clone(),
            redaction_pointers: Vec::new(),
            hidden_calls: Vec::new(),
            prefix_hash,
            source_hash,
            source_count: count,
            provider_safety_blocked: decided.refusal.is_some(),
            first_changed_index: self.first_changed,
            invalidated_signature_indices: Vec::new(),
            skipped_indices: decided.skipped.clone(),
            stripped_indices: Vec::new(),
            lone_surrogate_indices: self.lone_surrogates.clone(),
            violations: None,
            is_selection: false,
            is_error_verdicts: verdicts,
        }
    }

    /// The lists of the view as it is now, complete and in order.
    pub(super) fn all_news(&self) -> News {
        let mut news = News {
            dropped: (0..self.facts.len()).filter(|index| self.settled.drops(*index)).collect(),
            trimmed: self.settled.trimmed(),
            redacted: self.settled.redacted(),
            pointers: self.settled.pointers(),
            hidden_calls: self.settled.hidden_calls.clone(),
            stripped: self.settled.stripped.clone(),
            invalidated: self.invalidated.clone(),
        };
        news.invalidated.retain(|index| !self.settled.drops(*index) && !news.stripped.contains(index));
        news.stripped.sort_unstable();
        news
    }

    /// The view of a turn in full; until the next turn.
    pub fn view(&self, turn: &Turn<N>) -> View<N> {
        if let Some(View { messages, report, .. }) = &turn.custom {
            return View { messages: messages.clone(), report: report.clone(), event: turn.event.clone() };
        }
        let news = self.all_news();
        let is_shown = |index: &usize| !self.settled.drops(*index);
        let mut hidden_calls = news.hidden_calls;
        hidden_calls.sort_by_key(|call| (call.call_index, call.call_block));
        let report = Report {
            kept_indices: (0..turn.report.source_count).filter(is_shown).collect(),
            dropped_indices: news.dropped,
            trimmed_indices: news.trimmed,
            redacted_indices: news.redacted,
            redaction_pointers: news.pointers,
            hidden_calls,
            stripped_indices: news.stripped,
            invalidated_signature_indices: news.invalidated,
            ..turn.report.clone()
        };
        let messages = (0..self.shown.len()).filter_map(|position| self.shown_at(position)).collect();
        let mut event = turn.event.clone();
        if let Some(metadata) = event.get_mut("metadata").and_then(Value::as_object_mut) {
            for (name, value) in report.shared_fields() {
                metadata.entry(name).or_insert(value);
            }
        }
        View { messages, report, event }
    }
}

/// The source of a message of a custom view that is the source's own.
pub(super) fn own<N>(shown: &Shown<N>) -> Option<usize> {
    match shown {
        Shown::Kept { source, .. } => Some(*source),
        _ => None,
    }
}
