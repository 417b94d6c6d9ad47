//! A plan: messages dropped, calls hidden, bodies replaced, one message inserted. Nothing else can change a view, and
//! only this file builds changed messages.

use serde_json::Value;

use crate::exchange::{Exchange, Exchanges, Spot};
use crate::facts::{Call, MessageFacts, Place, ToolResult, arguments, body, text_parts};
use crate::node::{Key, Kind, Node};
use crate::patched::Patched;
use crate::tokens::char_count;
use crate::value::{object, texts};

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

/// A synthetic message.
pub struct Insert {
    /// The source index that it comes before.
    pub before: usize,
    /// The message.
    pub message: Value,
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

    /// Works out what the plan means for each message.
    pub fn resolve(self, facts: &[MessageFacts], exchanges: &Exchanges<'_>) -> ResolvedPlan {
        let mut resolved = ResolvedPlan {
            reason: self.reason,
            fates: facts.iter().map(|_| Fate::Kept).collect(),
            insert: self.insert,
            hidden_calls: Vec::new(),
            roots_consulted: self.roots_consulted,
        };
        for (exchange, reason) in self.hide {
            let Some(call) = exchanges.call(&exchange) else { continue };
            let (message, position) = exchange.call;
            if let Some(trim) = resolved.trim(message) {
                trim.add_call(position, call);
            }
            for (message, position) in &exchange.results {
                if let Some((result, trim)) = exchanges.result((*message, *position)).zip(resolved.trim(*message)) {
                    trim.add_result(*position, result, call);
                }
            }
            resolved.hidden_calls.push(hidden_call(&exchange, call, exchanges, reason));
        }
        for (fate, facts) in resolved.fates.iter_mut().zip(facts) {
            if matches!(fate, Fate::Trimmed(trim) if trim.leaves_nothing(facts)) {
                *fate = Fate::Dropped;
            }
        }
        resolved.drop_silent_rest(facts, exchanges);
        for replacement in self.replace {
            match resolved.fates.get_mut(replacement.result.0) {
                Some(Fate::Redacted(replacements)) => replacements.push(replacement),
                Some(fate) => *fate = Fate::Redacted(vec![replacement]),
                None => {}
            }
        }
        for index in self.drop {
            if let Some(fate) = resolved.fates.get_mut(index) {
                *fate = Fate::Dropped;
            }
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
    /// Some of its calls or results are not shown.
    Trimmed(Trim),
    /// Some of its results are shown as pointers.
    Redacted(Vec<Replacement>),
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
    call_ids: Vec<String>,
}

impl Trim {
    fn add_call(&mut self, position: usize, call: &Call) {
        self.places.push(call.place);
        self.calls.push(position);
        self.note_id(call);
    }

    fn add_result(&mut self, position: usize, result: &ToolResult, call: &Call) {
        self.places.push(result.place);
        self.results.push(position);
        self.note_id(call);
    }

    fn note_id(&mut self, call: &Call) {
        let new = call.id.iter().find(|id| !self.call_ids.contains(id));
        self.call_ids.extend(new.cloned());
    }

    /// Whether the message goes as a whole. A turn whose every call is hidden goes with its text, which announced
    /// the call; but text behind a server tool's result was written after it, and stays. A message of results goes
    /// when it holds nothing else.
    fn leaves_nothing(&self, facts: &MessageFacts) -> bool {
        let hides_all = self.calls.len() == facts.calls.len() && self.results.len() == facts.results.len();
        let answers_itself = !facts.calls.is_empty() && !facts.results.is_empty();
        let announces = !facts.calls.is_empty() && !answers_itself;
        hides_all && (announces || !facts.speaks)
    }

    /// The message without the hidden parts.
    fn apply<N: Node>(&self, message: &N, policy: &str) -> Patched<N> {
        let mut with = Vec::new();
        let mut without = Vec::new();
        for place in &self.places {
            match place {
                Place::Field(key) => without.push(*key),
                Place::Item(list, _) if with.iter().all(|(key, _)| key != list) && !without.contains(list) => {
                    let left = self.left_in(message, *list);
                    // An empty list of calls is refused where a missing one is not.
                    if left.is_empty() {
                        without.push(*list);
                    } else {
                        with.push((*list, Patched::List(left)));
                    }
                }
                Place::Item(..) | Place::Message => {}
            }
        }
        with.push(mark("trimmed", policy, ("hidden_tool_call_ids", texts(&self.call_ids))));
        Patched::Object { of: message.clone(), with, without }
    }

    fn left_in<N: Node>(&self, message: &N, list: Key) -> Vec<Patched<N>> {
        let Some(items) = message.field(list) else { return Vec::new() };
        let shown = (0..items.len()).filter(|index| !self.places.contains(&Place::Item(list, *index)));
        shown.map(|index| items.item(index).map_or(Patched::New(Value::Null), Patched::Source)).collect()
    }
}

/// A plan with its consequences: what happens to each message.
pub struct ResolvedPlan {
    /// A reason other than the policy's own.
    pub reason: Option<&'static str>,
    fates: Vec<Fate>,
    insert: Option<Insert>,
    /// The calls that go.
    pub hidden_calls: Vec<HiddenCall>,
    /// What was looked at to decide.
    pub roots_consulted: Vec<String>,
}

impl ResolvedPlan {
    /// The plan that changes nothing.
    pub fn nothing() -> Self {
        Plan::default().resolve(&[], &Exchanges::of(&[]))
    }

    fn trim(&mut self, index: usize) -> Option<&mut Trim> {
        let fate = self.fates.get_mut(index)?;
        if !matches!(fate, Fate::Trimmed(_)) {
            *fate = Fate::Trimmed(Trim::default());
        }
        if let Fate::Trimmed(trim) = fate { Some(trim) } else { None }
    }

    /// Where no call of a turn is left, its messages that show nothing go too: reasoning alone is no message.
    fn drop_silent_rest(&mut self, facts: &[MessageFacts], exchanges: &Exchanges<'_>) {
        for hidden in 0..self.hidden_calls.len() {
            let Some(turn) = self.hidden_calls.get(hidden).map(|call| exchanges.turn(call.call_index)) else {
                continue;
            };
            let is_left = |index: &usize| !matches!(self.fates.get(*index), Some(Fate::Dropped));
            let has_calls = |index: &usize| facts.get(*index).is_some_and(|facts| !facts.calls.is_empty());
            if turn.clone().filter(is_left).any(|index| has_calls(&index)) {
                continue;
            }
            for index in turn {
                if facts.get(index).is_some_and(|facts| !facts.speaks)
                    && let Some(fate) = self.fates.get_mut(index)
                {
                    *fate = Fate::Dropped;
                }
            }
        }
    }

    fn where_fate(&self, holds: impl Fn(&Fate) -> bool) -> Vec<usize> {
        let found = self.fates.iter().enumerate().filter(|(_, fate)| holds(fate));
        found.map(|(index, _)| index).collect()
    }

    /// Messages that stay with parts hidden.
    pub fn trimmed(&self) -> Vec<usize> {
        self.where_fate(|fate| matches!(fate, Fate::Trimmed(_)))
    }

    /// Messages that stay with bodies replaced.
    pub fn redacted(&self) -> Vec<usize> {
        self.where_fate(|fate| matches!(fate, Fate::Redacted(_)))
    }

    /// Every message that the view does not show as it is.
    pub fn touched(&self) -> Vec<usize> {
        self.where_fate(|fate| !matches!(fate, Fate::Kept))
    }

    /// Whether a call is hidden.
    pub fn hides_call(&self, (message, position): Spot) -> bool {
        match self.fates.get(message) {
            Some(Fate::Dropped) => true,
            Some(Fate::Trimmed(trim)) => trim.calls.contains(&position),
            _ => false,
        }
    }

    /// Whether a result is hidden.
    pub fn hides_result(&self, (message, position): Spot) -> bool {
        match self.fates.get(message) {
            Some(Fate::Dropped) => true,
            Some(Fate::Trimmed(trim)) => trim.results.contains(&position),
            _ => false,
        }
    }

    fn replacements(&self) -> impl Iterator<Item = &Replacement> {
        self.fates.iter().flat_map(|fate| match fate {
            Fate::Redacted(replacements) => replacements.as_slice(),
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
                shown.push(Shown::Added { message: Patched::New(insert.message.clone()) });
            }
            let changed = match fate {
                Fate::Kept => {
                    shown.push(Shown::Kept { source, message: message.clone() });
                    continue;
                }
                Fate::Dropped => continue,
                Fate::Trimmed(trim) => trim.apply(message, policy),
                Fate::Redacted(replacements) => redact(message, facts, replacements, policy),
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
                Fate::Trimmed(trim) => removed += trim.chars(message, facts),
                // As the reference counts: a line longer than the body that it replaces reclaims nothing.
                Fate::Redacted(replacements) => {
                    for Replacement { pointer, text, .. } in replacements {
                        reclaimed += pointer.content_chars.saturating_sub(text.chars().count());
                    }
                }
            }
        }
        let summary = self.insert.as_ref().and_then(|insert| insert.message.get("content")?.as_str());
        let inserted = summary.map_or(0, |text| text.chars().count());
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

/// The characters that a model reads of a message: text, call arguments and result bodies.
pub fn visible_chars<N: Node>(message: &N, facts: &MessageFacts) -> usize {
    let answers_as_message = facts.results.iter().any(|result| result.place == Place::Message);
    let text = message
        .field(Key::Content)
        .filter(|_| !answers_as_message)
        .map_or(0, |content| text_parts(&content).iter().filter_map(Node::char_count).sum());
    text + facts.calls.iter().map(|call| argument_chars(message, call)).sum::<usize>()
        + facts.results.iter().map(|result| body_chars(message, result)).sum::<usize>()
}

fn argument_chars<N: Node>(message: &N, call: &Call) -> usize {
    arguments(message, call).map_or(0, |arguments| char_count(&arguments))
}

fn body_chars<N: Node>(message: &N, result: &ToolResult) -> usize {
    body(message, result).map_or(0, |body| char_count(&body))
}

/// The mark that a changed part carries for observers.
fn mark<N>(what: &str, policy: &str, details: (&str, Value)) -> (Key, Patched<N>) {
    let fields = object([(what, true.into()), ("policy", policy.into()), details]);
    (Key::HarnProjection, Patched::New(fields))
}

/// The message with bodies replaced, in the reference system's form: a mark on each replaced block, and one on the
/// message that lists the pointers.
fn redact<N: Node>(message: &N, facts: &MessageFacts, replaced: &[Replacement], policy: &str) -> Patched<N> {
    let mut pointers = Vec::new();
    let mut carriers = Vec::new();
    for Replacement { result: (_, position), text, pointer } in replaced {
        pointers.push(pointer.to_json());
        let mark = mark("redacted", policy, ("redaction_pointer", pointer.to_json()));
        carriers.push((*position, vec![(Key::Content, Patched::New(text.as_str().into())), mark]));
    }
    let mark = mark("redacted", policy, ("redaction_pointers", Value::Array(pointers)));
    with_carriers(message, facts, carriers, vec![mark])
}

/// The message with other bodies for some of its results and nothing else changed.
pub fn with_bodies<N: Node>(message: &N, facts: &MessageFacts, bodies: Vec<(usize, String)>) -> Patched<N> {
    let mut carriers = Vec::new();
    for (position, text) in bodies {
        let Some(result) = facts.results.get(position) else { continue };
        let carrier = result.place.resolve(message);
        let mut patch = Patched::New(text.into());
        let mut way = result.body;
        while let Some((last, before)) = way.split_last() {
            // What stands around the body is built from the inside out.
            match carrier.as_ref().and_then(|carrier| carrier.follow(before)).filter(|_| !before.is_empty()) {
                Some(of) => patch = Patched::Object { of, with: vec![(*last, patch)], without: Vec::new() },
                None => {
                    carriers.push((position, vec![(*last, patch)]));
                    break;
                }
            }
            way = before;
        }
    }
    with_carriers(message, facts, carriers, Vec::new())
}

/// Fields of an object that are replaced or added.
type Fields<N> = Vec<(Key, Patched<N>)>;

/// The message with fields of its results' carriers replaced: of the message itself where it is the result, else of
/// blocks; then with `with` as well.
fn with_carriers<N: Node>(
    message: &N,
    facts: &MessageFacts,
    carriers: Vec<(usize, Fields<N>)>,
    mut with: Fields<N>,
) -> Patched<N> {
    let mut list = Key::Content;
    let mut blocks = Vec::new();
    for (position, fields) in carriers {
        match facts.results.get(position).map(|result| result.place) {
            Some(Place::Item(key, index)) => {
                list = key;
                blocks.push((index, Some(fields)));
            }
            _ => return Patched::Object { of: message.clone(), with: fields, without: Vec::new() },
        }
    }
    if let Some(items) = message.field(list) {
        let items = (0..items.len()).map(|index| {
            let fields = blocks.iter_mut().find(|(changed, _)| *changed == index).and_then(|(_, fields)| fields.take());
            match (items.item(index), fields) {
                (Some(block), Some(with)) if block.kind() == Kind::Object => {
                    Patched::Object { of: block, with, without: Vec::new() }
                }
                (Some(block), _) => Patched::Source(block),
                (None, _) => Patched::New(Value::Null),
            }
        });
        with.insert(0, (list, Patched::List(items.collect())));
    }
    Patched::Object { of: message.clone(), with, without: Vec::new() }
}
