//! A plan: messages dropped, calls hidden, bodies replaced, one message inserted. Nothing else can change a view, and
//! only this file builds changed messages.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::exchange::{Exchange, Exchanges, Spot};
use crate::facts::{Call, Dependant, MessageFacts, Place, Shape, Stub, ToolResult, arguments, body, said};
use crate::node::{Key, Node};
use crate::options::SummaryRole;
use crate::patched::{Edit, Patched, Step, edited};
use crate::shape::{shape_of_summary, summary_message};
use crate::tokens::char_count;
use crate::value::{insert_all, object, texts};

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

/// What happens to a message.
#[derive(Clone)]
pub enum Fate {
    /// It is shown as it is.
    Kept,
    /// It is not shown.
    Dropped,
    /// It is shown with parts hidden or replaced.
    Changed(Change),
}

/// The parts of one message that are not shown as they are.
#[derive(Clone, Default)]
pub struct Change {
    /// The policy that changed it, the last one if several did.
    policy: &'static str,
    /// Calls and results that are not shown.
    hidden: Trim,
    /// Results that are shown as pointers.
    replaced: Vec<Replacement>,
    /// Whether its reasoning is not shown.
    stripped: bool,
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

/// The parts of one message that are hidden.
#[derive(Clone, Default)]
struct Trim {
    places: Vec<Place>,
    calls: Vec<usize>,
    results: Vec<usize>,
    dependants: usize,
    call_ids: Vec<String>,
}

impl Trim {
    fn add_call(&mut self, position: usize, call: &Call) {
        self.places.push(call.place);
        self.places.extend(&call.copies);
        self.calls.push(position);
        self.note_id(call);
    }

    fn add_result(&mut self, position: usize, result: &ToolResult, call: &Call) {
        self.places.push(result.place);
        self.results.push(position);
        self.note_id(call);
    }

    fn add_dependant(&mut self, dependant: &Dependant, call: &Call) {
        self.places.push(dependant.place);
        self.dependants += 1;
        self.note_id(call);
    }

    /// Reasoning of a step that shows nothing else goes with the last of the step's calls: alone it is no message.
    fn add_idle_reasoning(&mut self, facts: &MessageFacts) {
        for opaque in &facts.opaque {
            let Some(step) = opaque.step else { continue };
            let first = facts.calls.partition_point(|call| call.step < step);
            let of_step = facts.calls.iter().enumerate().skip(first).take_while(|(_, call)| call.step == step);
            let goes = of_step.map(|(position, _)| position).all(|position| self.calls.contains(&position));
            // What is settled was asked before.
            if goes && !self.places.contains(&opaque.place) {
                self.places.push(opaque.place);
            }
        }
    }

    fn note_id(&mut self, call: &Call) {
        let new = call.id.iter().find(|id| !self.call_ids.contains(id));
        self.call_ids.extend(new.cloned());
    }

    /// Whether the message goes as a whole. A turn whose every call is hidden goes with its text, which announced
    /// the call; but text behind a server tool's result was written after it, and stays. A message of results goes
    /// when it holds nothing else.
    fn leaves_nothing(&self, facts: &MessageFacts) -> bool {
        let hides_all = self.calls.len() == facts.calls.len()
            && self.results.len() == facts.results.len()
            && self.dependants == facts.dependants.len();
        let answers_itself = !facts.calls.is_empty() && !facts.results.is_empty();
        let announces = !facts.calls.is_empty() && !answers_itself;
        hides_all && (announces || !facts.speaks)
    }
}

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
    fn of(
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
            shape: old.map_or_else(|| shape_of_summary(gone.chain(facts.iter().skip(insert.before))), |old| old.shape),
            count,
            policy,
        }
    }

    /// What it says.
    pub fn says(&self) -> String {
        self.text.clone().unwrap_or_else(|| format!("[{} earlier messages summarized]", self.count))
    }

    /// The message.
    pub fn message(&self) -> Value {
        summary_message(self.shape, self.role, &self.says(), self.policy)
    }

    fn chars(&self) -> usize {
        self.says().chars().count()
    }

    /// What the message depends on. How many it stands for shows only where it counts them.
    fn shows(&self) -> (usize, Shape, SummaryRole, Option<&str>, Option<usize>, &'static str) {
        let counts = self.text.is_none().then_some(self.count);
        (self.before, self.shape, self.role, self.text.as_deref(), counts, self.policy)
    }
}

/// Whether two summaries are the same message in the same place.
fn is_same(one: Option<&Summary>, other: Option<&Summary>) -> bool {
    one.map(Summary::shows) == other.map(Summary::shows)
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
            Summary { before, count, ..insert }
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

/// Characters that a model no longer reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reclaimed {
    /// Of dropped and trimmed messages.
    pub removed: isize,
    /// By pointers.
    pub saved: isize,
}

impl Reclaimed {
    /// Both together, the second one `times`.
    #[must_use]
    pub fn plus(self, other: Reclaimed, times: isize) -> Self {
        Reclaimed { removed: self.removed + times * other.removed, saved: self.saved + times * other.saved }
    }

    /// All of it, where a summary of so many characters was put in.
    pub fn total(self, summary_chars: usize) -> usize {
        let removed = usize::try_from(self.removed).unwrap_or_default();
        usize::try_from(self.saved).unwrap_or_default() + removed.saturating_sub(summary_chars)
    }
}

impl Fate {
    /// The message as it is shown, if it is.
    pub fn show<N: Node>(&self, source: usize, message: &N, facts: &MessageFacts) -> Option<Shown<N>> {
        match self {
            Fate::Kept => Some(Shown::Kept { source, message: message.clone() }),
            Fate::Dropped => None,
            Fate::Changed(change) => Some(Shown::Changed { source, message: change.apply(message, facts) }),
        }
    }

    /// The characters that a model does not read of the message.
    pub fn reclaimed<N: Node>(&self, message: &N, facts: &MessageFacts) -> Reclaimed {
        let (removed, saved) = match self {
            Fate::Kept => (0, 0),
            Fate::Dropped => (visible_chars(message, facts), 0),
            Fate::Changed(change) => {
                // As the reference counts: a line longer than the body that it replaces reclaims nothing.
                let saves = |Replacement { pointer, text, .. }: &Replacement| {
                    pointer.content_chars.saturating_sub(text.chars().count())
                };
                (change.hidden.chars(message, facts), change.replaced.iter().map(saves).sum())
            }
        };
        let signed = |chars: usize| isize::try_from(chars).unwrap_or_default();
        Reclaimed { removed: signed(removed), saved: signed(saved) }
    }

    /// Whether it is shown with parts hidden.
    pub fn is_trimmed(&self) -> bool {
        matches!(self, Fate::Changed(change) if !change.hidden.places.is_empty())
    }

    /// The bodies that are replaced.
    pub fn replacements(&self) -> &[Replacement] {
        match self {
            Fate::Changed(change) => &change.replaced,
            _ => &[],
        }
    }
}

impl Trim {
    fn chars<N: Node>(&self, message: &N, facts: &MessageFacts) -> usize {
        let calls = self.calls.iter().filter_map(|position| facts.calls.get(*position));
        let results = self.results.iter().filter_map(|position| facts.results.get(*position));
        calls.map(|call| argument_chars(message, call)).sum::<usize>()
            + results.map(|result| body_chars(message, result)).sum::<usize>()
    }
}

/// The characters that a model reads of a message: text, call arguments and result bodies. Reasoning is not counted.
pub fn visible_chars<N: Node>(message: &N, facts: &MessageFacts) -> usize {
    crate::work::message_read();
    said(message, facts).iter().filter_map(Node::char_count).sum::<usize>()
        + facts.calls.iter().map(|call| argument_chars(message, call)).sum::<usize>()
        + facts.results.iter().map(|result| body_chars(message, result)).sum::<usize>()
}

fn argument_chars<N: Node>(message: &N, call: &Call) -> usize {
    arguments(message, call).map_or(0, |arguments| char_count(&arguments))
}

fn body_chars<N: Node>(message: &N, result: &ToolResult) -> usize {
    body(message, result).map_or(0, |body| char_count(&body))
}

impl Change {
    /// The message as it is shown. What changed is marked in the reference system's form: a mark on each replaced
    /// block, and one on the message that lists what happened to it.
    fn apply<N: Node>(&self, message: &N, facts: &MessageFacts) -> Patched<N> {
        let policy = self.policy;
        let remove = |path| Edit { path, value: None };
        let mut edits: Vec<Edit> = self.hidden.places.iter().map(|place| remove(place.steps(&[]))).collect();
        let mut mark = vec![("policy", policy.into())];
        if self.stripped {
            mark.push(("stripped", true.into()));
            edits.extend(facts.opaque.iter().map(|opaque| remove(opaque.place.steps(opaque.field))));
        }
        if !self.hidden.places.is_empty() {
            mark.push(("trimmed", true.into()));
            mark.push(("hidden_tool_call_ids", texts(&self.hidden.call_ids)));
        }
        let mut pointers = Vec::new();
        for replacement in &self.replaced {
            let Some(result) = facts.results.get(replacement.result.1) else { continue };
            put_stub(message, result, &replacement.text, &mut edits);
            let pointer = replacement.pointer.to_json();
            if result.place == Place::Message {
                mark.push(("redaction_pointer", pointer));
                continue;
            }
            let marks = [("redacted", true.into()), ("policy", policy.into()), ("redaction_pointer", pointer.clone())];
            edits.push(Edit { path: result.place.steps(&[Key::HarnProjection]), value: Some(object(marks)) });
            pointers.push(pointer);
        }
        if !self.replaced.is_empty() {
            mark.push(("redacted", true.into()));
        }
        if !pointers.is_empty() {
            mark.push(("redaction_pointers", Value::Array(pointers)));
        }
        let mut fields = Map::new();
        insert_all(&mut fields, &mut mark.into_iter());
        edits.push(Edit { path: Place::Message.steps(&[Key::HarnProjection]), value: Some(Value::Object(fields)) });
        edited(message, &edits).unwrap_or(Patched::New(Value::Null))
    }
}

/// The message with other texts for some of its results, whose bodies are text, and nothing else changed.
pub fn with_bodies<N: Node>(message: &N, bodies: Vec<(&ToolResult, String)>) -> Patched<N> {
    let edit = |(result, text): (&ToolResult, String)| Edit {
        path: result.place.steps(result.body),
        value: Some(text.into()),
    };
    let edits: Vec<Edit> = bodies.into_iter().map(edit).collect();
    edited(message, &edits).unwrap_or(Patched::New(Value::Null))
}

/// The body replaced by a line of text, as the shape takes it.
fn put_stub<N: Node>(message: &N, result: &ToolResult, text: &str, edits: &mut Vec<Edit>) {
    if result.stub == Stub::Shell {
        let commands = body(message, result).map_or(0, |body| body.len());
        for (command, line) in (0..commands).zip([text].into_iter().chain(std::iter::repeat(""))) {
            for (stream, printed) in [(Key::Stdout, line), (Key::Stderr, "")] {
                let mut path = result.place.steps(result.body);
                path.extend([Step::Item(command), Step::Field(stream)]);
                edits.push(Edit { path, value: Some(printed.into()) });
            }
        }
        return;
    }
    let text = Value::from(text);
    let (at, value) = match (result.stub, result.body) {
        (Stub::Object, body) => (body, object([("output", text)])),
        (Stub::Blocks, body) => (body, Value::Array(vec![object([("text", text)])])),
        // The type beside the body has to change with it.
        (Stub::Typed, [parent @ .., _]) => (parent, object([("type", "text".into()), ("value", text)])),
        (_, body) => (body, text),
    };
    edits.push(Edit { path: result.place.steps(at), value: Some(value) });
}
