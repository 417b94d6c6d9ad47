//! A transcript that grows and is projected before each request. Decisions are sticky: what a turn hid or replaced stays
//! so in every later one. A turn costs what is new: facts, pairs, what policies have read and the hashes are kept, and
//! what changes is worked out from the first change on.

mod chains;
mod compact;
mod options;
mod record;
mod view;

use std::borrow::Cow;

use serde_json::Value;

use crate::canonical::canonical_value;
use crate::error::ProjectionError;
use crate::exchange::{Exchanges, Pairs};
use crate::facts::MessageFacts;
use crate::node::Node;
use crate::options::{Options, RepairMatch};
use crate::plan::{HiddenCall, Plan, Pointer, Reclaimed, ResolvedPlan, Shown};
use crate::policy::{Policy, Scene, Watch};
use crate::projection::{
    Callbacks, Transcript, View, apply_verdicts, ask_caller, project_facts, projector_missing, read_facts, result_infos,
};
use crate::report::{Report, Verdict};
use crate::settle::{attempt, invalidated};
use crate::tokens;
use crate::work::Work;

use chains::Chains;
pub use options::{Batch, Cache, CachePrices, Pending, TurnOptions};
use record::Recorded;
use view::own;

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
    /// Its canonical JSON.
    pub event_text: String,
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
                Some(project_facts(&self.transcript, facts, &self.pairs, options, callbacks)?)
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
        let (event, event_text) = match step {
            Step::Decide => self.event(&report, options, &decided, cache),
            Step::Repeat(Recorded { event, .. }) => (event.clone(), canonical_value(event)),
        };
        self.last_event = event.get("id").and_then(Value::as_str).map(str::to_owned);
        self.is_in_step = true;
        let from = if is_fresh { 0 } else { from };
        let tail = (from..self.shown.len()).filter_map(|position| self.shown_at(position)).collect();
        Ok(Turn { from, tail, news, is_fresh, report, pending: decided.pending, cache, event, event_text, custom })
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
        let new = self.taken_in..self.facts.len();
        let known = self.transcript.verdicts.iter().filter(|verdict| new.contains(&verdict.message_index));
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
                // A turn of another policy in between is no reason to forget what one knows that reads.
                let reads = !matches!(options.policy, Policy::Raw | Policy::Custom);
                if reads && watch.as_ref().is_none_or(|(before, _)| *before != watching) {
                    *watch = Some((watching, Watch::of(options.policy)));
                }
                let watch = watch.as_mut().filter(|_| reads);
                watch.map(|(_, watch)| watch.plan(&scene, settled)).unwrap_or_default()
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
        let is_refused = decided.refusal.is_some();
        if is_refused && turn.batch.is_none() {
            settled.take_back();
            self.held_since = None;
            return decided;
        }
        // What no provider has seen yet breaks no cache.
        let is_free = self.is_cold || turn.flush || first >= self.taken_in;
        if let Some(batch) = turn.batch.filter(|_| is_refused || !is_free) {
            let tokens = self.gain();
            // What is refused waits like the rest, so that it is due when it may be taken.
            if is_refused || !self.is_due(batch, tokens, turn.now) {
                let since = *self.held_since.get_or_insert(self.turns);
                let count = outcome.plan.hide.len() + outcome.plan.replace.len() + outcome.plan.drop.len();
                // What is refused for ever would make every event longer.
                let indices = if is_refused { Vec::new() } else { self.settled.touched() };
                let turns = self.turns - since + 1;
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
