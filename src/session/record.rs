//! What the event of a turn records, and how a turn is done once more from it.

use serde_json::{Map, Value};

use crate::error::{ErrorCode, ProjectionError};
use crate::event::{COMPACTION, PROJECTION, event_of, projection_metadata};
use crate::exchange::Spot;
use crate::facts::MessageFacts;
use crate::node::{Key, Kind, Node, to_value};
use crate::options::{Options, SummaryRole};
use crate::plan::{Insert, Plan};
use crate::policy::{Policy, Scene, replacement_at};
use crate::projection::apply_verdicts;
use crate::report::{Report, Verdict};
use crate::value::{extend, indices, list, object};

use super::{Cache, Decided, Pending, Session};

impl<N: Node> Session<N> {
    /// The event of the turn that was just done, and its canonical JSON.
    pub(super) fn event(&self, report: &Report, options: &Options, decided: &Decided, cache: Cache) -> (Value, String) {
        let is_sticky = options.policy != Policy::Custom;
        let fields = if is_sticky { report.settled_fields() } else { report.shared_fields() };
        let mut metadata = projection_metadata(fields, report, options, self.transcript.summary.as_deref());
        let session = object([
            ("session_id", self.id.as_str().into()),
            ("turn", self.turns.into()),
            ("compactions", self.compactions.into()),
            ("previous_event_id", self.last_event.clone().into()),
            ("decisions", decisions(decided)),
            ("pending", decided.pending.to_json()),
            ("cache", cache.to_json()),
        ]);
        metadata.insert("session".to_owned(), session);
        event_of(PROJECTION, &report.reason, metadata)
    }

    /// The event of a compaction that was just done.
    pub fn compaction_event(&mut self, facts: Map<String, Value>, archived: usize) -> Value {
        let mut metadata = facts;
        extend(
            &mut metadata,
            [
                ("session_id", self.id.as_str().into()),
                ("previous_event_id", self.last_event.clone().into()),
                ("archived_messages", archived.into()),
            ],
        );
        let (event, _) = event_of(COMPACTION, &format!("compacted {archived} messages"), metadata);
        self.last_event = event.get("id").and_then(Value::as_str).map(str::to_owned);
        event
    }

    /// Goes on behind an event that was made before: the next one names it.
    pub fn set_last_event(&mut self, id: Option<String>) {
        self.last_event = id;
    }
}

fn decisions(decided: &Decided) -> Value {
    let spot = |(message, position): Spot| Value::Array(vec![message.into(), position.into()]);
    let Plan { hide, replace, drop, insert, .. } = &decided.plan;
    let mut decisions = Vec::new();
    for (exchange, reason) in hide {
        decisions.push(object([("hide", spot(exchange.call)), ("reason", reason.as_str().into())]));
    }
    for replacement in replace {
        decisions.push(object([("replace", spot(replacement.result))]));
    }
    if let Some(insert) = insert {
        let ranges = ranges(drop);
        decisions.push(object([
            ("drop", list(&ranges, |(first, last)| indices(&[*first, *last]))),
            ("before", insert.before.into()),
            ("text", insert.text.clone().into()),
            ("role", insert.role.as_str().into()),
        ]));
    }
    if !decided.stripped.is_empty() {
        decisions.push(object([("strip", indices(&decided.stripped))]));
    }
    Value::Array(decisions)
}

/// Indices, in order, as first and last of each run.
fn ranges(indices: &[usize]) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for index in indices {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => ranges.push((*index, *index)),
        }
    }
    ranges
}

/// An event of a session.
pub struct Recorded {
    /// The event as it was recorded.
    pub event: Value,
    /// The options of its turn.
    pub options: Options,
}

impl Recorded {
    pub fn read<E: Node>(event: &E) -> Result<Self, ProjectionError> {
        let wrong = |path: &str, expected: &str, found: &str| {
            ProjectionError::new(ErrorCode::EventInvalid, path, expected, found)
        };
        if event.kind() != Kind::Object || event.field_str(Key::Kind).as_deref() != Some(PROJECTION) {
            return Err(wrong("event", "a transcript.projection event", "something else"));
        }
        let options = event.field(Key::Metadata).and_then(|metadata| metadata.field(Key::Options));
        let options = options.ok_or_else(|| wrong("event.metadata.options", "the recorded options", "nothing"))?;
        let options = Options::parse(Some(&options)).map_err(|error| error.below("event.metadata"))?;
        let event = to_value(event).ok_or_else(|| wrong("event", "JSON", "a deeper value"))?;
        let recorded = Recorded { event, options };
        match recorded.session("decisions") {
            Some(Value::Array(_)) => Ok(recorded),
            _ => Err(wrong("event.metadata.session.decisions", "the decisions of a session's turn", "nothing")),
        }
    }

    fn metadata(&self, name: &str) -> Option<&Value> {
        self.event.get("metadata")?.get(name)
    }

    fn session(&self, name: &str) -> Option<&Value> {
        self.metadata("session")?.get(name)
    }

    fn decisions(&self) -> impl Iterator<Item = &Value> {
        self.session("decisions").and_then(Value::as_array).into_iter().flatten()
    }

    /// The plan that its turn took.
    pub fn plan<N: Node>(&self, scene: &Scene<'_, N>) -> Plan {
        let mut plan = Plan::default();
        for decision in self.decisions() {
            let spot = |name: &str| Some((whole(decision.get(name)?.get(0))?, whole(decision.get(name)?.get(1))?));
            let text = |name: &str| decision.get(name).and_then(Value::as_str);
            if let Some((message, position)) = spot("hide") {
                let exchange = scene.exchanges.of_message(message).get(position);
                plan.hide
                    .extend(exchange.map(|exchange| (exchange.clone(), text("reason").unwrap_or_default().into())));
            }
            plan.replace.extend(spot("replace").and_then(|spot| replacement_at(scene, spot)));
            if let Some(ranges) = decision.get("drop").and_then(Value::as_array) {
                for range in ranges {
                    let (first, last) = whole(range.get(0)).zip(whole(range.get(1))).unwrap_or((1, 0));
                    plan.drop.extend((first..=last).take(scene.facts.len()));
                }
                let before = whole(decision.get("before")).unwrap_or_default();
                let role = SummaryRole::named(text("role").unwrap_or_default());
                plan.insert = Some(Insert { before, text: text("text").map(str::to_owned), role });
            }
        }
        plan
    }

    /// The messages whose reasoning its turn took.
    pub fn strips(&self) -> impl Iterator<Item = usize> {
        let lists = self.decisions().filter_map(|decision| decision.get("strip")?.as_array());
        lists.flatten().filter_map(|index| whole(Some(index)))
    }

    /// What its turn came to with this plan.
    pub fn decided(&self, plan: Plan) -> Decided {
        let is_blocked = self.metadata("provider_safety_blocked").and_then(Value::as_bool) == Some(true);
        let reason = self.metadata("reason").and_then(Value::as_str).map(str::to_owned);
        let list = |value: Option<&Value>| -> Vec<usize> {
            value.and_then(Value::as_array).into_iter().flatten().filter_map(|index| whole(Some(index))).collect()
        };
        let texts = self.metadata("roots_consulted").and_then(Value::as_array).into_iter().flatten();
        let pending = self.session("pending");
        let number = |name: &str| whole(pending.and_then(|pending| pending.get(name))).unwrap_or_default();
        Decided {
            refusal: reason.clone().filter(|_| is_blocked),
            reason,
            skipped: list(self.metadata("skipped_indices")),
            stripped: self.strips().collect(),
            plan,
            pending: Pending {
                count: number("count"),
                indices: list(pending.and_then(|pending| pending.get("indices"))),
                reclaimed_tokens: number("reclaimed_tokens"),
                turns: number("turns"),
            },
            roots_consulted: texts.filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }

    /// How many turns its oldest held-back decision had waited for.
    pub fn held_for(&self) -> usize {
        whole(self.session("pending").and_then(|pending| pending.get("turns"))).unwrap_or_default()
    }

    /// Applies once more what the caller said about results.
    pub fn apply_verdicts(&self, facts: &mut [MessageFacts]) -> Vec<Verdict> {
        let recorded = self.metadata("is_error_verdicts").and_then(Value::as_array);
        let verdicts: Vec<Verdict> = recorded.into_iter().flatten().filter_map(Verdict::of_json).collect();
        apply_verdicts(facts, &verdicts);
        verdicts
    }
}

fn whole(value: Option<&Value>) -> Option<usize> {
    value?.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0).map(|number| number as usize)
}
