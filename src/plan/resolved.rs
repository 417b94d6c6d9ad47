//! Plans with their consequences: what happens to each message, also to those that a plan does not name.

use std::ops::Range;

use crate::exchange::{Exchange, Exchanges, Spot};
use crate::facts::{Call, MessageFacts};
use crate::node::Node;
use crate::patched::Patched;

use super::fate::{Change, Fate, Reclaimed};
use super::summary::{Summary, is_same};
use super::{HiddenCall, Plan, Pointer, Replacement, Shown};

/// Plans with their consequences: what happens to each message.
#[derive(Default)]
pub struct ResolvedPlan {
    /// A reason other than the policy's own.
    pub reason: Option<&'static str>,
    fates: Vec<Fate>,
    insert: Option<Summary>,
    /// The messages that it stands for.
    summarized: Vec<usize>,
    /// The calls that go.
    pub hidden_calls: Vec<HiddenCall>,
    /// What was looked at to decide.
    pub roots_consulted: Vec<String>,
    /// Whether reasoning goes where signatures stand in the way.
    pub strips: bool,
    /// The messages whose reasoning goes because of what goes before it.
    pub stripped: Vec<usize>,
    /// The policy at work.
    policy: &'static str,
    trial: Trial,
}

/// What was there before the changes that are on trial.
#[derive(Default)]
struct Trial {
    /// What became of each message that they touch.
    fates: Vec<(usize, Fate)>,
    /// Whether a message is among them.
    is_noted: Vec<bool>,
    insert: Option<Summary>,
    inserts: bool,
    summarized: usize,
    hidden_calls: usize,
    stripped: usize,
}

impl ResolvedPlan {
    /// The plan that changes nothing.
    pub fn nothing() -> Self {
        ResolvedPlan::default()
    }

    /// Begins to try changes to `count` messages: they can be taken back until [`ResolvedPlan::keep`].
    pub fn begin(&mut self, count: usize, policy: &'static str) {
        self.keep();
        self.fates.resize(count, Fate::Kept);
        self.trial.is_noted.resize(count, false);
        self.trial.insert.clone_from(&self.insert);
        self.trial.inserts = false;
        self.trial.summarized = self.summarized.len();
        self.trial.hidden_calls = self.hidden_calls.len();
        self.trial.stripped = self.stripped.len();
        self.policy = policy;
        self.strips = false;
    }

    /// Takes the changes that are on trial for good. Returns which messages they touch, with what was there before.
    pub fn keep(&mut self) -> Vec<(usize, Fate)> {
        let fates = std::mem::take(&mut self.trial.fates);
        for (index, _) in &fates {
            if let Some(is_noted) = self.trial.is_noted.get_mut(*index) {
                *is_noted = false;
            }
        }
        fates
    }

    /// Takes the changes that are on trial back.
    pub fn take_back(&mut self) {
        self.insert = self.trial.insert.take();
        self.trial.inserts = false;
        self.summarized.truncate(self.trial.summarized);
        self.hidden_calls.truncate(self.trial.hidden_calls);
        self.stripped.truncate(self.trial.stripped);
        self.strips = false;
        for (index, before) in self.keep() {
            if let Some(fate) = self.fates.get_mut(index) {
                *fate = before;
            }
        }
    }

    /// Which messages would be gone as a whole with what a plan hides and drops.
    pub fn gone_with(&mut self, plan: &Plan, facts: &[MessageFacts], exchanges: &Exchanges<'_>) -> Vec<bool> {
        let trial = Plan { hide: plan.hide.clone(), drop: plan.drop.clone(), ..Plan::default() };
        self.add(&trial, facts, exchanges);
        let gone = (0..facts.len()).map(|index| self.drops(index)).collect();
        self.take_back();
        self.trial.insert.clone_from(&self.insert);
        gone
    }

    /// Works out what a plan means for each message.
    pub fn add(&mut self, plan: &Plan, facts: &[MessageFacts], exchanges: &Exchanges<'_>) {
        self.reason = plan.reason;
        self.roots_consulted.clone_from(&plan.roots_consulted);
        let changes_summary = !plan.drop.is_empty() || self.insert.is_some();
        if let Some(insert) = plan.insert.as_ref().filter(|_| changes_summary) {
            self.summarized.extend(&plan.drop);
            self.insert =
                Some(Summary::of(insert, &plan.drop, facts, self.insert.as_ref(), self.summarized.len(), self.policy));
            self.trial.inserts = !is_same(self.insert.as_ref(), self.trial.insert.as_ref());
        }
        let first_hidden = self.hidden_calls.len();
        for (exchange, reason) in &plan.hide {
            self.hide(exchange, reason.clone(), facts, exchanges);
        }
        self.drop_what_is_empty(facts);
        for hidden in first_hidden..self.hidden_calls.len() {
            let call = self.hidden_calls.get(hidden).map(|call| call.call_index);
            if let Some(turn) = call.map(|index| exchanges.turn(index)) {
                self.drop_silent_rest(turn, facts);
            }
        }
        for replacement in &plan.replace {
            if let Some(change) = self.change(replacement.result.0) {
                change.replaced.push(replacement.clone());
            }
        }
        for index in &plan.drop {
            self.drop(*index);
        }
        for index in self.touched() {
            self.settle_unit_of(index, facts, exchanges);
        }
    }

    fn hide(&mut self, exchange: &Exchange, reason: String, facts: &[MessageFacts], exchanges: &Exchanges<'_>) {
        let Some(call) = exchanges.call(exchange) else { return };
        let (message, position) = exchange.call;
        if let Some(change) = self.change(message) {
            change.hidden.add_call(position, call);
        }
        for spot in &exchange.results {
            self.hide_result(*spot, call, exchanges);
        }
        for spot in &exchange.dependants {
            self.hide_dependant(*spot, call, facts);
        }
        self.hidden_calls.push(hidden_call(exchange, call, exchanges, reason));
    }

    fn hide_result(&mut self, (message, position): Spot, call: &Call, exchanges: &Exchanges<'_>) {
        if let Some((result, change)) = exchanges.result((message, position)).zip(self.change(message)) {
            change.hidden.add_result(position, result, call);
        }
    }

    fn hide_dependant(&mut self, (message, position): Spot, call: &Call, facts: &[MessageFacts]) {
        let dependant = facts.get(message).and_then(|facts| facts.dependants.get(position));
        if let Some((dependant, change)) = dependant.zip(self.change(message)) {
            change.hidden.add_dependant(dependant, call);
        }
    }

    fn drop_what_is_empty(&mut self, facts: &[MessageFacts]) {
        for index in self.touched() {
            let Some((facts, Fate::Changed(change))) = facts.get(index).zip(self.fates.get_mut(index)) else {
                continue;
            };
            change.hidden.add_idle_reasoning(facts);
            if change.hidden.leaves_nothing(facts) {
                self.drop(index);
            }
        }
    }

    /// Applies what is settled to messages that came after it: what answers or hangs on a hidden call goes as well, and
    /// so does what joins a unit whose reasoning went.
    pub fn follow_up(&mut self, from: usize, facts: &[MessageFacts], exchanges: &Exchanges<'_>) {
        for (index, message) in facts.iter().enumerate().skip(from) {
            for position in 0..message.results.len() {
                let spot = (index, position);
                let hidden = exchanges.answered_by(spot).filter(|exchange| self.hides_call(exchange.call));
                if let Some(call) = hidden.and_then(|exchange| exchanges.call(exchange)) {
                    self.hide_result(spot, call, exchanges);
                }
            }
        }
        for (spot, exchange) in exchanges.hanging_since(from) {
            let hidden = exchanges.get(*exchange).filter(|exchange| self.hides_call(exchange.call));
            if let Some(call) = hidden.and_then(|exchange| exchanges.call(exchange)) {
                self.hide_dependant(*spot, call, facts);
            }
        }
        self.drop_what_is_empty(facts);
        for index in from..facts.len() {
            self.settle_unit_of(index, facts, exchanges);
        }
    }

    fn note(&mut self, index: usize) {
        if let Some((is_noted, fate)) = self.trial.is_noted.get_mut(index).zip(self.fates.get(index))
            && !std::mem::replace(is_noted, true)
        {
            self.trial.fates.push((index, fate.clone()));
        }
    }

    fn change(&mut self, index: usize) -> Option<&mut Change> {
        if self.drops(index) {
            return None;
        }
        self.note(index);
        let policy = self.policy;
        let fate = self.fates.get_mut(index)?;
        if matches!(fate, Fate::Kept) {
            *fate = Fate::Changed(Change::default());
        }
        let Fate::Changed(change) = fate else { return None };
        change.policy = policy;
        Some(change)
    }

    fn drop(&mut self, index: usize) {
        if self.drops(index) {
            return;
        }
        self.note(index);
        if let Some(fate) = self.fates.get_mut(index) {
            *fate = Fate::Dropped;
        }
    }

    /// Whether a message is not shown.
    pub fn drops(&self, index: usize) -> bool {
        matches!(self.fates.get(index), Some(Fate::Dropped))
    }

    /// Reasoning goes with the first message behind it: providers want that one right there. What else it led to
    /// then has to look as if there had been none.
    fn settle_unit_of(&mut self, index: usize, facts: &[MessageFacts], exchanges: &Exchanges<'_>) {
        let Some(unit) = exchanges.unit(index) else { return };
        let leads = |index: &usize| facts.get(*index).is_some_and(|facts| facts.leads);
        let (leads, led): (Vec<usize>, Vec<usize>) = unit.partition(leads);
        if !led.first().is_some_and(|first| self.drops(*first)) {
            return;
        }
        leads.into_iter().for_each(|index| self.drop(index));
        for index in led {
            if let Some(facts) = facts.get(index).filter(|facts| !facts.opaque.is_empty()) {
                self.strip(index, facts);
            }
        }
    }

    /// Takes all reasoning and every signature out of a message; what then shows nothing goes.
    pub fn strip(&mut self, index: usize, facts: &MessageFacts) {
        let is_stripped = matches!(self.fates.get(index), Some(Fate::Changed(change)) if change.stripped);
        let Some(change) = self.change(index).filter(|_| !is_stripped) else { return };
        change.stripped = true;
        let says_nothing = !facts.speaks
            && facts.calls.len() == change.hidden.calls.len()
            && facts.results.len() == change.hidden.results.len();
        if says_nothing {
            self.drop(index);
        }
        self.stripped.push(index);
    }

    /// The messages that the changes on trial touch, in order.
    pub fn touched(&self) -> Vec<usize> {
        let mut touched: Vec<usize> = self.trial.fates.iter().map(|(index, _)| *index).collect();
        touched.sort_unstable();
        touched
    }

    /// The calls that the changes on trial hide.
    pub fn hidden_on_trial(&self) -> &[HiddenCall] {
        self.hidden_calls.get(self.trial.hidden_calls..).unwrap_or_default()
    }

    /// The messages whose reasoning the changes on trial take.
    pub fn stripped_on_trial(&self) -> &[usize] {
        self.stripped.get(self.trial.stripped..).unwrap_or_default()
    }

    /// Every message that is not shown as it is.
    pub fn changed(&self) -> Vec<usize> {
        self.where_fate(|fate| !matches!(fate, Fate::Kept))
    }

    /// Moves what is settled along when one message comes in place of those in `gone`; `facts` are those afterwards.
    pub fn compact(&mut self, gone: Range<usize>, facts: &[MessageFacts]) {
        let Range { start, end } = gone;
        self.keep();
        self.fates.resize(self.fates.len().max(end), Fate::Kept);
        self.fates.splice(start..end, [Fate::Kept]);
        self.trial.is_noted = vec![false; self.fates.len()];
        let is_left = |index: usize| index < start || index >= end;
        let moved = |index: usize| if index < end { index } else { index + 1 - (end - start) };
        for (index, (fate, facts)) in self.fates.iter_mut().zip(facts).enumerate() {
            if let Fate::Changed(change) = fate {
                for replacement in &mut change.replaced {
                    replacement.clone_from(&crate::policy::moved(replacement.clone(), index, facts));
                }
            }
        }
        self.hidden_calls.retain(|call| is_left(call.call_index));
        for call in &mut self.hidden_calls {
            call.call_index = moved(call.call_index);
            call.result_index = call.result_index.map(moved);
        }
        for list in [&mut self.stripped, &mut self.summarized] {
            list.retain(|index| is_left(*index));
            list.iter_mut().for_each(|index| *index = moved(*index));
        }
        let count = self.summarized.len();
        self.insert = self.insert.take().filter(|_| count > 0).map(|insert| {
            // The message that came in place of others stands before what is left of those that this one stands for.
            let before = if is_left(insert.before) { moved(insert.before) } else { start + 1 };
            insert.moved(before, count)
        });
        self.trial = Trial { is_noted: std::mem::take(&mut self.trial.is_noted), ..Trial::default() };
    }

    /// Where the first message stands that the changes on trial touch, or put something before.
    pub fn first_touched(&self) -> Option<usize> {
        let inserted = self.insert.iter().chain(&self.trial.insert).map(|insert| insert.before);
        let inserted = inserted.min().filter(|_| self.trial.inserts);
        self.trial.fates.iter().map(|(index, _)| *index).chain(inserted).min()
    }

    /// Whether a change on trial puts another message before the one at `index`.
    pub fn inserts_at(&self, index: usize) -> bool {
        self.trial.inserts && self.insert.as_ref().is_some_and(|insert| insert.before == index)
    }

    /// The message that stands for those that were dropped.
    pub fn summary(&self) -> Option<&Summary> {
        self.insert.as_ref()
    }

    /// The summary before the changes on trial.
    pub fn summary_before(&self) -> Option<&Summary> {
        self.trial.insert.as_ref()
    }

    /// What becomes of a message.
    pub fn fate(&self, index: usize) -> &Fate {
        self.fates.get(index).unwrap_or(&Fate::Kept)
    }

    /// Where no call of a turn is left, its messages that show nothing go too: reasoning alone is no message. Reasoning
    /// that belongs to something that is left stays with it.
    fn drop_silent_rest(&mut self, turn: Range<usize>, facts: &[MessageFacts]) {
        let facts_at = |index: &usize| facts.get(*index);
        let left = self.left_of(turn.clone());
        if left.iter().filter_map(facts_at).any(|facts| !facts.calls.is_empty()) {
            return;
        }
        let is_silent = |facts: &MessageFacts| !facts.speaks && !facts.leads && facts.results.is_empty();
        left.into_iter().filter(|index| facts_at(index).is_some_and(is_silent)).for_each(|index| self.drop(index));
        let left = self.left_of(turn);
        if left.iter().filter_map(facts_at).all(|facts| facts.leads) {
            left.into_iter().for_each(|index| self.drop(index));
        }
    }

    fn left_of(&self, turn: Range<usize>) -> Vec<usize> {
        turn.filter(|index| !self.drops(*index)).collect()
    }

    fn where_fate(&self, holds: impl Fn(&Fate) -> bool) -> Vec<usize> {
        let found = self.fates.iter().enumerate().filter(|(_, fate)| holds(fate));
        found.map(|(index, _)| index).collect()
    }

    /// Messages that stay with parts hidden.
    pub fn trimmed(&self) -> Vec<usize> {
        self.where_fate(Fate::is_trimmed)
    }

    /// Messages that stay with bodies replaced.
    pub fn redacted(&self) -> Vec<usize> {
        self.where_fate(|fate| !fate.replacements().is_empty())
    }

    /// Whether a call is hidden.
    pub fn hides_call(&self, (message, position): Spot) -> bool {
        match self.fates.get(message) {
            Some(Fate::Dropped) => true,
            Some(Fate::Changed(change)) => change.hidden.calls.contains(&position),
            _ => false,
        }
    }

    /// Whether a result is hidden.
    pub fn hides_result(&self, (message, position): Spot) -> bool {
        match self.fates.get(message) {
            Some(Fate::Dropped) => true,
            Some(Fate::Changed(change)) => change.hidden.results.contains(&position),
            _ => false,
        }
    }

    /// The pointers, in the order of what they point to.
    pub fn pointers(&self) -> Vec<Pointer> {
        let replacements = self.fates.iter().flat_map(Fate::replacements);
        replacements.map(|replacement| replacement.pointer.clone()).collect()
    }

    /// Whether a body is replaced.
    pub fn replaces(&self, (message, position): Spot) -> bool {
        let is_it = |replacement: &Replacement| replacement.result == (message, position);
        matches!(self.fates.get(message), Some(Fate::Changed(change)) if change.replaced.iter().any(is_it))
    }

    /// The messages of the view.
    pub fn apply<N: Node>(&self, messages: &[N], facts: &[MessageFacts]) -> Vec<Shown<N>> {
        let mut shown = Vec::with_capacity(messages.len());
        for (source, (message, facts)) in messages.iter().zip(facts).enumerate() {
            if let Some(insert) = self.insert.as_ref().filter(|insert| insert.before == source) {
                shown.push(Shown::Added { message: Patched::New(insert.message()) });
            }
            shown.extend(self.fate(source).show(source, message, facts));
        }
        shown
    }

    /// The characters that the model no longer reads because of the changes on trial: text, call arguments and result
    /// bodies that were removed, less what was put in their place. In two parts: what dropped and trimmed messages had,
    /// and what pointers save.
    pub fn reclaimed<N: Node>(&self, messages: &[N], facts: &[MessageFacts]) -> Reclaimed {
        let mut reclaimed = Reclaimed::default();
        for (index, before) in &self.trial.fates {
            let Some((message, facts)) = messages.get(*index).zip(facts.get(*index)) else { continue };
            reclaimed = reclaimed.plus(self.fate(*index).reclaimed(message, facts), 1);
            reclaimed = reclaimed.plus(before.reclaimed(message, facts), -1);
        }
        reclaimed
    }

    /// The characters of the summary.
    pub fn summary_chars(&self) -> usize {
        self.insert.as_ref().map_or(0, Summary::chars)
    }
}

fn hidden_call(exchange: &Exchange, call: &Call, exchanges: &Exchanges<'_>, reason: String) -> HiddenCall {
    let answer = exchange.results.first().copied();
    HiddenCall {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        call_index: exchange.call.0,
        call_block: call.place.block(),
        result_index: answer.map(|(message, _)| message),
        result_block: answer.and_then(|spot| exchanges.result(spot)).and_then(|result| result.place.block()),
        reason,
    }
}
