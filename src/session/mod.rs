//! A transcript that grows and is projected before each request. Decisions are sticky: what a turn hid or replaced stays
//! so in every later one. A turn costs what is new: facts, pairs, what policies have read and the hashes are kept, and
//! what changes is worked out from the first change on.

mod chains;
mod options;
mod record;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use crate::canonical::TooDeep;
use crate::compaction::{Compaction, Triggers, compact_if};
use crate::error::ProjectionError;
use crate::exchange::{Exchanges, Pairs};
use crate::facts::MessageFacts;
use crate::node::Node;
use crate::options::{Options, RepairMatch};
use crate::patched::Patched;
use crate::plan::{Fate, HiddenCall, Plan, Pointer, Reclaimed, ResolvedPlan, Shown, visible_chars};
use crate::policy::{Policy, Scene, Watch};
use crate::projection::{
    Callbacks, Transcript, View, apply_verdicts, ask_caller, project_facts, projector_missing, read_facts,
    result_infos, too_deep,
};
use crate::report::{Report, Verdict};
use crate::settle::{attempt, invalidated};
use crate::tokens;
use crate::work::Work;

use chains::Chains;
pub use options::{Batch, Cache, CachePrices, Pending, TurnOptions};
use record::Recorded;

/// A session of an agent.
pub struct Session<N> {
    id: String,
    transcript: Transcript<N>,
    facts: Vec<MessageFacts>,
    pairs: Pairs,
    /// How many messages the last turn had seen.
    taken_in: usize,
    settled: ResolvedPlan,
    watch: Option<(Watching, Watch)>,
    /// The messages of the view by their source; [`SUMMARY`] stands for the one without.
    shown: Vec<usize>,
    /// Up to where, in the source, `shown` is good.
    shown_to: usize,
    chains: Chains,
    /// Positions in the view whose strings hold lone surrogates.
    lone_surrogates: Vec<usize>,
    first_changed: Option<usize>,
    reclaimed: Reclaimed,
    redacted_count: usize,
    /// Messages with signatures before which something changed after they were made.
    invalidated: Vec<usize>,
    /// What each message says, in characters, where it was counted.
    chars: Vec<Option<usize>>,
    scratchpad: Option<(Value, String)>,
    turns: usize,
    compactions: usize,
    last_event: Option<String>,
    last_time: Option<f64>,
    /// The turn in which the oldest of the decisions that wait was held back.
    held_since: Option<usize>,
    /// Whether no provider can have the start of the view in its cache.
    is_cold: bool,
    /// Whether the caller knows all that changed up to the last turn.
    is_in_step: bool,
    /// The view of the last turn, if that was a custom one: the source of each message that is the source's own.
    last_custom: Option<Vec<Option<usize>>>,
    work: Work,
}

const SUMMARY: usize = usize::MAX;

/// What a watch depends on: with something else it has to read all from the start.
#[derive(Clone, Copy, PartialEq)]
struct Watching {
    policy: Policy,
    repair_match: RepairMatch,
    root_window: usize,
    min_chars: usize,
}

impl Watching {
    fn of(options: &Options) -> Self {
        let Options { policy, repair_match, root_window, min_chars, .. } = *options;
        Watching { policy, repair_match, root_window, min_chars }
    }
}

/// What a turn came to: what it changed of the view before it, and its record.
pub struct Turn<N> {
    /// The view begins like the one before, with so many messages.
    pub from: usize,
    /// The messages behind those.
    pub tail: Vec<Shown<N>>,
    /// What became of messages since the turn before; when `is_fresh`, of all of them.
    pub news: News,
    /// Whether the caller has to forget what earlier turns told.
    pub is_fresh: bool,
    /// What the view says, its long lists aside: those follow from the news.
    pub report: Report,
    /// What is held back.
    pub pending: Pending,
    /// What of a provider's cache is still good.
    pub cache: Cache,
    /// The event, without the lists that follow from the news.
    pub event: Value,
    /// The view, where the policy is `custom`: such views are not sticky.
    pub custom: Option<View<N>>,
}

/// Additions to the lists of a view, in no order.
#[derive(Clone, Debug, Default)]
pub struct News {
    /// Messages that are not shown any more.
    pub dropped: Vec<usize>,
    /// Messages with parts hidden.
    pub trimmed: Vec<usize>,
    /// Messages with bodies replaced.
    pub redacted: Vec<usize>,
    /// Where those bodies are.
    pub pointers: Vec<Pointer>,
    /// The calls that went.
    pub hidden_calls: Vec<HiddenCall>,
    /// Messages that lost their reasoning.
    pub stripped: Vec<usize>,
    /// Messages whose signatures something before them broke.
    pub invalidated: Vec<usize>,
}

/// What a turn is to do.
enum Step<'r> {
    /// What the policy says.
    Decide,
    /// What was recorded.
    Repeat(&'r Recorded),
}

/// What a turn decided.
#[derive(Default)]
struct Decided {
    reason: Option<String>,
    refusal: Option<String>,
    skipped: Vec<usize>,
    plan: Plan,
    /// Messages whose reasoning went with the plan.
    stripped: Vec<usize>,
    pending: Pending,
    roots_consulted: Vec<String>,
}

impl<N: Node> Session<N> {
    /// A session with the messages that are there already.
    ///
    /// # Errors
    /// When a message is malformed.
    pub fn new(id: impl Into<String>, mut transcript: Transcript<N>) -> Result<Self, ProjectionError> {
        let messages = std::mem::take(&mut transcript.messages);
        let mut session = Session {
            id: id.into(),
            transcript,
            facts: Vec::new(),
            pairs: Pairs::default(),
            taken_in: 0,
            settled: ResolvedPlan::nothing(),
            watch: None,
            shown: Vec::new(),
            shown_to: 0,
            chains: Chains::new(),
            lone_surrogates: Vec::new(),
            first_changed: None,
            reclaimed: Reclaimed::default(),
            redacted_count: 0,
            invalidated: Vec::new(),
            chars: Vec::new(),
            scratchpad: None,
            turns: 0,
            compactions: 0,
            last_event: None,
            last_time: None,
            held_since: None,
            is_cold: true,
            is_in_step: true,
            last_custom: None,
            work: Work::default(),
        };
        session.append(messages)?;
        Ok(session)
    }

    /// Adds messages at the end.
    ///
    /// # Errors
    /// When a message is malformed; then none is added.
    pub fn append(&mut self, messages: Vec<N>) -> Result<(), ProjectionError> {
        let then = Work::done();
        let facts = read_facts(&messages, self.facts.len())?;
        self.transcript.messages.extend(messages);
        self.facts.extend(facts);
        self.work = self.work.and(Work::done().since(then));
        Ok(())
    }

    /// The messages.
    pub fn messages(&self) -> &[N] {
        &self.transcript.messages
    }

    /// How much the session has worked so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// The working memory of the agent, with a name for its state: root and write barrier of `reachability_gc`.
    pub fn set_scratchpad(&mut self, scratchpad: Option<(Value, String)>) {
        self.scratchpad = scratchpad;
    }

    /// When the last turn was: what `when_idle_ms` counts from.
    pub fn set_last_time(&mut self, time: Option<f64>) {
        self.last_time = time;
    }

    /// Projects the transcript as it is now.
    ///
    /// # Errors
    /// When a callback fails, `custom` has no projector, or a message nests too deep; then nothing is decided.
    pub fn project_turn(
        &mut self,
        options: &Options,
        turn: &TurnOptions,
        callbacks: Callbacks<'_, N>,
    ) -> Result<Turn<N>, ProjectionError> {
        let mut options = options.clone();
        if let Some((value, version)) = self.scratchpad.as_ref().filter(|_| options.policy == Policy::ReachabilityGc) {
            options.add_scratchpad(value, version);
        }
        self.counted(|session| session.step(&options, turn, callbacks, &Step::Decide))
    }

    /// Does once more what an event of this session recorded. The messages must be those that its turn had. A custom
    /// view is made with its projector; without one only what is sticky is done.
    ///
    /// # Errors
    /// When the event is malformed.
    pub fn resume<E: Node>(&mut self, event: &E, callbacks: Callbacks<'_, N>) -> Result<Turn<N>, ProjectionError> {
        let recorded = Recorded::read(event)?;
        let turn = TurnOptions::default();
        self.counted(|session| session.step(&recorded.options, &turn, callbacks, &Step::Repeat(&recorded)))
    }

    fn counted<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let then = Work::done();
        let result = run(self);
        self.work = self.work.and(Work::done().since(then));
        result
    }

    fn step(
        &mut self,
        options: &Options,
        turn: &TurnOptions,
        callbacks: Callbacks<'_, N>,
        step: &Step<'_>,
    ) -> Result<Turn<N>, ProjectionError> {
        let is_custom = options.policy == Policy::Custom;
        let is_repeated = matches!(step, Step::Repeat(_));
        if is_custom && callbacks.projector.is_none() && !is_repeated {
            return Err(projector_missing());
        }
        self.pairs.extend(&self.facts);
        let verdicts = self.verdicts(callbacks.is_error, step)?;
        let is_fresh = !std::mem::replace(&mut self.is_in_step, false);
        let sent = self.taken_in;
        let mut news = News::default();
        self.follow_up(options, &mut news);
        let decided = self.decide(options, turn, step);
        let from = self.show(self.settled.first_touched());
        let hashes = match options.prefix_hash.then(|| self.hash()).transpose() {
            Ok(hashes) => hashes,
            Err(error) => {
                self.settled.take_back();
                self.forget_view(0);
                self.chains = Chains::new();
                return Err(error);
            }
        };
        let custom = match callbacks.projector.filter(|_| is_custom) {
            Some(projector) => {
                let callbacks = Callbacks { is_error: None, projector: Some(projector) };
                let facts = Cow::Borrowed(self.facts.as_slice());
                Some(project_facts(&self.transcript, facts, options, callbacks)?)
            }
            None => None,
        };
        let cache = self.cache(turn, from, sent, custom.as_ref());
        self.take(&mut news);
        if is_fresh {
            news = self.all_news();
        }
        self.turns += 1;
        self.last_time = turn.now.or(self.last_time);
        self.is_cold = false;
        self.taken_in = self.facts.len();
        let mut report = self.report(options, &decided, hashes, verdicts);
        if let Some(custom) = &custom {
            report = Report { is_error_verdicts: report.is_error_verdicts, ..custom.report.clone() };
        }
        // Of a custom view that is not made once more nothing is known.
        let unknown = is_custom.then(Vec::new);
        self.last_custom = custom.as_ref().map(|view| view.messages.iter().map(own).collect()).or(unknown);
        let event = match step {
            Step::Decide => self.event(&report, options, &decided, cache),
            Step::Repeat(recorded) => recorded.event.clone(),
        };
        self.last_event = event.get("id").and_then(Value::as_str).map(str::to_owned);
        self.is_in_step = true;
        let from = if is_fresh { 0 } else { from };
        let tail = (from..self.shown.len()).filter_map(|position| self.shown_at(position)).collect();
        Ok(Turn { from, tail, news, is_fresh, report, pending: decided.pending, cache, event, custom })
    }

    /// What the caller, or the file that they come from, says about results that are new.
    fn verdicts(
        &mut self,
        is_error: Option<crate::projection::IsError<'_, N>>,
        step: &Step<'_>,
    ) -> Result<Vec<Verdict>, ProjectionError> {
        if let Step::Repeat(recorded) = step {
            return Ok(recorded.apply_verdicts(&mut self.facts));
        }
        let known = self.transcript.verdicts.iter().filter(|verdict| verdict.message_index >= self.taken_in);
        let mut verdicts: Vec<Verdict> = known.copied().collect();
        apply_verdicts(&mut self.facts, &verdicts);
        let Some(is_error) = is_error else { return Ok(verdicts) };
        let exchanges = Exchanges::over(&self.facts, &self.pairs);
        let infos = result_infos(&self.transcript.messages, &exchanges, &self.facts, self.taken_in);
        let asked = ask_caller(infos, &mut self.facts, is_error)?;
        verdicts.retain(|known| asked.iter().all(|asked| !asked.is_of_same_result(known)));
        verdicts.extend(asked);
        Ok(verdicts)
    }

    /// Applies what is settled to the messages that are new.
    fn follow_up(&mut self, options: &Options, news: &mut News) {
        let exchanges = Exchanges::over(&self.facts, &self.pairs);
        self.settled.begin(self.facts.len(), options.policy.name());
        self.settled.follow_up(self.taken_in, &self.facts, &exchanges);
        self.take(news);
    }

    /// Takes what is on trial for good.
    fn take(&mut self, news: &mut News) {
        let Some(first) = self.settled.first_touched() else {
            self.settled.keep();
            return;
        };
        let exchanges = Exchanges::over(&self.facts, &self.pairs);
        let options = Options::default();
        let scene = scene(&self.transcript, &self.facts, &exchanges, &options);
        for index in invalidated(&self.settled, &scene, Some(first)) {
            if let Err(at) = self.invalidated.binary_search(&index) {
                self.invalidated.insert(at, index);
                news.invalidated.push(index);
            }
        }
        let reclaimed = self.settled.reclaimed(&self.transcript.messages, &self.facts);
        self.reclaimed = self.reclaimed.plus(reclaimed, 1);
        self.first_changed = Some(self.first_changed.map_or(first, |changed| changed.min(first)));
        news.hidden_calls.extend(self.settled.hidden_on_trial().iter().cloned());
        news.stripped.extend(self.settled.stripped_on_trial());
        for (index, before) in self.settled.keep() {
            let fate = self.settled.fate(index);
            if self.settled.drops(index) {
                news.dropped.push(index);
            }
            if fate.is_trimmed() && !before.is_trimmed() {
                news.trimmed.push(index);
            }
            let (now, then) = (fate.replacements(), before.replacements());
            if !now.is_empty() && then.is_empty() {
                news.redacted.push(index);
            }
            self.redacted_count = self.redacted_count + now.len() - then.len();
            let new = now.get(then.len()..).unwrap_or_default();
            news.pointers.extend(new.iter().map(|replacement| replacement.pointer.clone()));
        }
    }

    /// Tries what the policy wants, or what was recorded, and leaves on trial what is taken.
    fn decide(&mut self, options: &Options, turn: &TurnOptions, step: &Step<'_>) -> Decided {
        let Session { transcript, facts, pairs, settled, watch, .. } = self;
        let exchanges = Exchanges::over(facts, pairs);
        let scene = scene(transcript, facts, &exchanges, options);
        settled.begin(facts.len(), options.policy.name());
        let plan = match step {
            Step::Repeat(recorded) => {
                let plan = recorded.plan(&scene);
                settled.add(&plan, facts, &exchanges);
                recorded.strips().for_each(|index| {
                    if let Some(facts) = facts.get(index) {
                        settled.strip(index, facts);
                    }
                });
                self.held_since =
                    (recorded.held_for() > 0).then(|| (self.turns + 1).saturating_sub(recorded.held_for()));
                return recorded.decided(plan);
            }
            Step::Decide => {
                let watching = Watching::of(options);
                if watch.as_ref().is_none_or(|(before, _)| *before != watching) {
                    *watch = Some((watching, Watch::of(options.policy)));
                }
                watch.as_mut().map(|(_, watch)| watch.plan(&scene, settled)).unwrap_or_default()
            }
        };
        let outcome = attempt(settled, plan, &scene);
        let mut decided = Decided {
            reason: outcome.reason,
            refusal: outcome.refusal,
            skipped: outcome.skipped,
            roots_consulted: std::mem::take(&mut settled.roots_consulted),
            ..Decided::default()
        };
        let Some(first) = settled.first_touched() else {
            self.held_since = None;
            return decided;
        };
        if decided.refusal.is_some() {
            settled.take_back();
            self.held_since = None;
            return decided;
        }
        // What no provider has seen yet breaks no cache.
        let is_free = self.is_cold || turn.flush || first >= self.taken_in;
        if let Some(batch) = turn.batch.filter(|_| !is_free) {
            let tokens = self.gain();
            if !self.is_due(batch, tokens, turn.now) {
                let since = *self.held_since.get_or_insert(self.turns);
                let count = outcome.plan.hide.len() + outcome.plan.replace.len() + outcome.plan.drop.len();
                let (indices, turns) = (self.settled.touched(), self.turns - since + 1);
                decided.pending = Pending { count, indices, reclaimed_tokens: tokens, turns };
                decided.reason = None;
                self.settled.take_back();
                return decided;
            }
        }
        self.held_since = None;
        decided.stripped = self.settled.stripped_on_trial().to_vec();
        decided.plan = outcome.plan;
        decided
    }

    /// The tokens that the changes on trial reclaim.
    fn gain(&self) -> usize {
        let before = self.settled.summary_before().map_or(0, |summary| summary.says().chars().count());
        let reclaimed = self.settled.reclaimed(&self.transcript.messages, &self.facts);
        let grown = self.settled.summary_chars().saturating_sub(before);
        tokens::estimate(reclaimed.total(grown))
    }

    fn is_due(&self, batch: Batch, tokens: usize, now: Option<f64>) -> bool {
        let turns = self.held_since.map_or(0, |since| self.turns - since);
        let idle = now.zip(self.last_time).map(|(now, then)| now - then);
        batch.min_reclaimed_tokens.is_some_and(|min| tokens >= min)
            || batch.max_turns.is_some_and(|max| turns >= max)
            || batch.when_idle_ms.zip(idle).is_some_and(|(min, idle)| idle >= min as f64)
    }

    /// Forgets the view from this source message on.
    fn forget_view(&mut self, source: usize) {
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
    fn show(&mut self, first_touched: Option<usize>) -> usize {
        let start = first_touched.unwrap_or(self.facts.len()).min(self.shown_to);
        self.forget_view(start);
        let from = self.shown.len();
        let before = self.settled.summary().map(|summary| summary.before);
        for source in start..self.facts.len() {
            if before == Some(source) {
                self.shown.push(SUMMARY);
            }
            if !self.settled.drops(source) {
                self.shown.push(source);
            }
        }
        self.shown_to = self.facts.len();
        if first_touched.is_some() || self.first_changed.is_some() {
            self.chains.change_at(from);
        }
        from
    }

    /// A message of the view.
    fn shown_at(&self, position: usize) -> Option<Shown<N>> {
        let source = *self.shown.get(position)?;
        if source == SUMMARY {
            let message = Patched::New(self.settled.summary()?.message());
            return Some(Shown::Added { message });
        }
        self.settled.fate(source).show(source, self.transcript.messages.get(source)?, self.facts.get(source)?)
    }

    /// Hashes what is new of the view and of its source.
    fn hash(&mut self) -> Result<(String, String), ProjectionError> {
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
    fn cache(&mut self, turn: &TurnOptions, from: usize, sent: usize, custom: Option<&View<N>>) -> Cache {
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
            stable = now.iter().zip(&before).take_while(|(now, before)| now.is_some() && now == before).count();
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

    fn report(
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
    fn all_news(&self) -> News {
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

    /// What a compaction would put in place of which messages; `None` when no trigger fires or there is nothing to do.
    pub fn plan_compaction(&self, triggers: &Triggers, always: bool, tokens: Option<usize>) -> Option<Compaction> {
        compact_if(&self.transcript.messages, &self.facts, triggers, always, tokens)
    }

    /// Puts `summary` in place of the messages in `range`. What is settled of the others stays.
    ///
    /// # Errors
    /// When the summary is malformed.
    pub fn compact(&mut self, range: Range<usize>, summary: N) -> Result<(), ProjectionError> {
        let Range { start, end } = range;
        let facts = crate::shape::read(&summary, start)?;
        self.transcript.messages.splice(start..end, [summary]);
        self.facts.splice(start..end, [facts]);
        self.pairs = Pairs::default();
        self.pairs.extend(&self.facts);
        let moved = |index: usize| if index < end { index.min(start) } else { index + 1 - (end - start) };
        let is_left = |index: &usize| *index < start || *index >= end;
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
        self.last_custom = None;
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

/// The source of a message of a custom view that is the source's own.
fn own<N>(shown: &Shown<N>) -> Option<usize> {
    match shown {
        Shown::Kept { source, .. } => Some(*source),
        _ => None,
    }
}

fn scene<'a, N: Node>(
    transcript: &'a Transcript<N>,
    facts: &'a [MessageFacts],
    exchanges: &'a Exchanges<'a>,
    options: &'a Options,
) -> Scene<'a, N> {
    Scene {
        messages: &transcript.messages,
        facts,
        exchanges,
        summary: transcript.summary.as_deref(),
        options,
        open_turn: if options.protect_open_turn { exchanges.open_turn() } else { facts.len() },
    }
}
