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

    /// Which messages would go as a whole.
    pub fn gone(&self, facts: &[MessageFacts], exchanges: &Exchanges<'_>) -> Vec<bool> {
        let trial = Plan { hide: self.hide.clone(), drop: self.drop.clone(), ..Plan::default() };
        let resolved = trial.resolve(facts, exchanges);
        (0..facts.len()).map(|index| resolved.drops(index)).collect()
    }

    /// Works out what the plan means for each message.
    pub fn resolve(mut self, facts: &[MessageFacts], exchanges: &Exchanges<'_>) -> ResolvedPlan {
        self.drop.sort_unstable();
        let mut resolved = ResolvedPlan {
            reason: self.reason,
            fates: facts.iter().map(|_| Fate::Kept).collect(),
            insert: self.insert.filter(|_| !self.drop.is_empty()).map(|insert| Summary::of(insert, &self.drop, facts)),
            hidden_calls: Vec::new(),
            roots_consulted: self.roots_consulted,
            strips: false,
            stripped: Vec::new(),
        };
        for (exchange, reason) in self.hide {
            let Some(call) = exchanges.call(&exchange) else { continue };
            let (message, position) = exchange.call;
            if let Some(change) = resolved.change(message) {
                change.hidden.add_call(position, call);
            }
            for (message, position) in &exchange.results {
                if let Some((result, change)) = exchanges.result((*message, *position)).zip(resolved.change(*message)) {
                    change.hidden.add_result(*position, result, call);
                }
            }
            for (message, position) in &exchange.dependants {
                let dependant = facts.get(*message).and_then(|facts| facts.dependants.get(*position));
                if let Some((dependant, change)) = dependant.zip(resolved.change(*message)) {
                    change.hidden.add_dependant(dependant, call);
                }
            }
            resolved.hidden_calls.push(hidden_call(&exchange, call, exchanges, reason));
        }
        for (fate, facts) in resolved.fates.iter_mut().zip(facts) {
            let Fate::Changed(change) = fate else { continue };
            change.hidden.add_idle_reasoning(facts);
            if change.hidden.leaves_nothing(facts) {
                *fate = Fate::Dropped;
            }
        }
        for hidden in 0..resolved.hidden_calls.len() {
            let call = resolved.hidden_calls.get(hidden).map(|call| call.call_index);
            if let Some(turn) = call.map(|index| exchanges.turn(index)) {
                resolved.drop_silent_rest(turn, facts);
            }
        }
        for replacement in self.replace {
            if let Some(change) = resolved.change(replacement.result.0) {
                change.replaced.push(replacement);
            }
        }
        for index in self.drop {
            resolved.drop(index);
        }
        for unit in exchanges.units() {
            resolved.settle_unit(unit, facts);
        }
        resolved
    }
}

/// What happens to a message.
enum Fate {
    /// It is shown as it is.
    Kept,
    /// It is not shown.
    Dropped,
    /// It is shown with parts hidden or replaced.
    Changed(Change),
}

/// The parts of one message that are not shown as they are.
#[derive(Default)]
struct Change {
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
#[derive(Default)]
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
            if of_step.map(|(position, _)| position).all(|position| self.calls.contains(&position)) {
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

/// A plan with its consequences: what happens to each message.
pub struct ResolvedPlan {
    /// A reason other than the policy's own.
    pub reason: Option<&'static str>,
    fates: Vec<Fate>,
    insert: Option<Summary>,
    /// The calls that go.
    pub hidden_calls: Vec<HiddenCall>,
    /// What was looked at to decide.
    pub roots_consulted: Vec<String>,
    /// Whether reasoning goes where signatures stand in the way.
    pub strips: bool,
    /// The messages whose reasoning goes because of what goes before it.
    pub stripped: Vec<usize>,
}

/// The message that stands for those that go.
struct Summary {
    before: usize,
    text: String,
    role: SummaryRole,
    shape: Shape,
}

impl Summary {
    /// In the shape of the messages that it stands for.
    fn of(insert: Insert, drop: &[usize], facts: &[MessageFacts]) -> Self {
        let gone = drop.iter().filter_map(|index| facts.get(*index));
        Summary {
            before: insert.before,
            text: insert.text.unwrap_or_else(|| format!("[{} earlier messages summarized]", drop.len())),
            role: insert.role,
            shape: shape_of_summary(gone.chain(facts.iter().skip(insert.before))),
        }
    }
}

impl ResolvedPlan {
    /// The plan that changes nothing.
    pub fn nothing() -> Self {
        Plan::default().resolve(&[], &Exchanges::of(&[]))
    }

    fn change(&mut self, index: usize) -> Option<&mut Change> {
        let fate = self.fates.get_mut(index)?;
        if matches!(fate, Fate::Kept) {
            *fate = Fate::Changed(Change::default());
        }
        if let Fate::Changed(change) = fate { Some(change) } else { None }
    }

    fn drop(&mut self, index: usize) {
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
    fn settle_unit(&mut self, unit: Range<usize>, facts: &[MessageFacts]) {
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
        let Some(change) = self.change(index).filter(|change| !change.stripped) else { return };
        change.stripped = true;
        let says_nothing = !facts.speaks
            && facts.calls.len() == change.hidden.calls.len()
            && facts.results.len() == change.hidden.results.len();
        if says_nothing {
            self.drop(index);
        }
        self.stripped.push(index);
    }

    /// Where the first message stands that the plan changes, or puts something before.
    pub fn first_touched(&self) -> Option<usize> {
        let inserted = self.insert.as_ref().map(|insert| insert.before);
        self.touched().first().copied().into_iter().chain(inserted).min()
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
        self.where_fate(|fate| matches!(fate, Fate::Changed(change) if !change.hidden.places.is_empty()))
    }

    /// Messages that stay with bodies replaced.
    pub fn redacted(&self) -> Vec<usize> {
        self.where_fate(|fate| matches!(fate, Fate::Changed(change) if !change.replaced.is_empty()))
    }

    /// Every message that the view does not show as it is.
    pub fn touched(&self) -> Vec<usize> {
        self.where_fate(|fate| !matches!(fate, Fate::Kept))
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

    fn replacements(&self) -> impl Iterator<Item = &Replacement> {
        self.fates.iter().flat_map(|fate| match fate {
            Fate::Changed(change) => change.replaced.as_slice(),
            _ => &[],
        })
    }

    /// The pointers, in the order of what they point to.
    pub fn pointers(&self) -> Vec<Pointer> {
        self.replacements().map(|replacement| replacement.pointer.clone()).collect()
    }

    /// The messages of the view.
    pub fn apply<N: Node>(&self, messages: &[N], facts: &[MessageFacts], policy: &str) -> Vec<Shown<N>> {
        let mut shown = Vec::with_capacity(messages.len());
        for (source, ((message, facts), fate)) in messages.iter().zip(facts).zip(&self.fates).enumerate() {
            if let Some(insert) = self.insert.as_ref().filter(|insert| insert.before == source) {
                let message = summary_message(insert.shape, insert.role, &insert.text, policy);
                shown.push(Shown::Added { message: Patched::New(message) });
            }
            let changed = match fate {
                Fate::Kept => {
                    shown.push(Shown::Kept { source, message: message.clone() });
                    continue;
                }
                Fate::Dropped => continue,
                Fate::Changed(change) => change.apply(message, facts, policy),
            };
            shown.push(Shown::Changed { source, message: changed });
        }
        shown
    }

    /// The characters that the model no longer reads: text, call arguments and result bodies that were removed, less
    /// what was put in their place.
    pub fn reclaimed_chars<N: Node>(&self, messages: &[N], facts: &[MessageFacts]) -> usize {
        let mut removed = 0;
        let mut reclaimed = 0;
        for ((message, facts), fate) in messages.iter().zip(facts).zip(&self.fates) {
            match fate {
                Fate::Kept => {}
                Fate::Dropped => removed += visible_chars(message, facts),
                Fate::Changed(change) => {
                    removed += change.hidden.chars(message, facts);
                    // As the reference counts: a line longer than the body that it replaces reclaims nothing.
                    for Replacement { pointer, text, .. } in &change.replaced {
                        reclaimed += pointer.content_chars.saturating_sub(text.chars().count());
                    }
                }
            }
        }
        let inserted = self.insert.as_ref().map_or(0, |insert| insert.text.chars().count());
        reclaimed + removed.saturating_sub(inserted)
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
    fn apply<N: Node>(&self, message: &N, facts: &MessageFacts, policy: &str) -> Patched<N> {
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
