//! What happens to one message: kept, dropped, or shown with parts hidden or replaced.

use serde_json::{Map, Value};

use crate::facts::{Call, Dependant, MessageFacts, Place, Stub, ToolResult, arguments, body, said};
use crate::node::{Key, Node};
use crate::patched::{Edit, Patched, Step, edited};
use crate::tokens::char_count;
use crate::value::{insert_all, object, texts};

use super::{Replacement, Shown};

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
    pub(super) policy: &'static str,
    /// Calls and results that are not shown.
    pub(super) hidden: Trim,
    /// Results that are shown as pointers.
    pub(super) replaced: Vec<Replacement>,
    /// Whether its reasoning is not shown.
    pub(super) stripped: bool,
}

/// The parts of one message that are hidden.
#[derive(Clone, Default)]
pub struct Trim {
    places: Vec<Place>,
    pub(super) calls: Vec<usize>,
    pub(super) results: Vec<usize>,
    dependants: usize,
    call_ids: Vec<String>,
}

impl Trim {
    pub(super) fn add_call(&mut self, position: usize, call: &Call) {
        self.places.push(call.place);
        self.places.extend(&call.copies);
        self.calls.push(position);
        self.note_id(call);
    }

    pub(super) fn add_result(&mut self, position: usize, result: &ToolResult, call: &Call) {
        self.places.push(result.place);
        self.results.push(position);
        self.note_id(call);
    }

    pub(super) fn add_dependant(&mut self, dependant: &Dependant, call: &Call) {
        self.places.push(dependant.place);
        self.dependants += 1;
        self.note_id(call);
    }

    /// Reasoning of a step that shows nothing else goes with the last of the step's calls: alone it is no message.
    pub(super) fn add_idle_reasoning(&mut self, facts: &MessageFacts) {
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
    /// the call; but text behind a server tool's result was written after it, and stays, and so does a provider's
    /// summary. A message of results goes when it holds nothing else.
    pub(super) fn leaves_nothing(&self, facts: &MessageFacts) -> bool {
        let hides_all = self.calls.len() == facts.calls.len()
            && self.results.len() == facts.results.len()
            && self.dependants == facts.dependants.len();
        let answers_itself = !facts.calls.is_empty() && !facts.results.is_empty();
        let announces = !facts.calls.is_empty() && !answers_itself && !facts.compacts;
        hides_all && (announces || !facts.speaks)
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
