//! Calls and results stay together: no half of an exchange may go without the other.

use serde_json::Value;

use crate::exchange::{Exchange, Exchanges};
use crate::facts::{MessageFacts, Place, Role};
use crate::plan::ResolvedPlan;
use crate::value::object;

/// The first message where the changes on trial would leave half of an exchange.
pub fn split_exchange(plan: &ResolvedPlan, facts: &[MessageFacts], exchanges: &Exchanges<'_>) -> Option<usize> {
    let is_split = |exchange: &&Exchange| {
        let hides_call = plan.hides_call(exchange.call);
        exchange.results.iter().any(|result| plan.hides_result(*result) != hides_call)
    };
    let mut split = None;
    for index in plan.touched() {
        let results = 0..facts.get(index).map_or(0, |facts| facts.results.len());
        let answered = results.filter_map(|position| exchanges.answered_by((index, position)));
        let found = exchanges.of_message(index).iter().chain(answered).filter(is_split);
        split = found.map(|exchange: &Exchange| exchange.call.0).chain(split).min();
    }
    split
}

/// Something that providers refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule, in words that do not change.
    pub rule: &'static str,
    /// The message.
    pub index: usize,
    /// The block in the message, where there is one.
    pub block: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// `error`: a request with it is refused.
    pub severity: &'static str,
}

impl Violation {
    /// The violation as JSON.
    pub fn to_json(&self) -> Value {
        object([
            ("rule", self.rule.into()),
            ("index", self.index.into()),
            ("block", self.block.into()),
            ("message", self.message.as_str().into()),
            ("severity", self.severity.into()),
        ])
    }
}

/// What every provider refuses in a list of messages: an empty list, empty messages, calls without results, results
/// without calls, results that come twice or not right behind their turn.
pub fn violations(all: &[MessageFacts]) -> Vec<Violation> {
    let exchanges = Exchanges::of(all);
    let mut found = Vec::new();
    if all.is_empty() {
        found.push(violation("empty_list", 0, None, "there is no message".to_owned()));
    }
    for (index, facts) in all.iter().enumerate() {
        for exchange in exchanges.of_message(index).iter().filter(|exchange| exchange.results.is_empty()) {
            let Some(call) = exchanges.call(exchange) else { continue };
            let id = call.id.as_deref().unwrap_or("without id");
            let text = format!("tool call {id} ({}) has no result", call.name);
            found.push(violation("unanswered_call", index, call.place.block(), text));
        }
        for (position, result) in facts.results.iter().enumerate() {
            let id = result.call_id.as_deref().unwrap_or("without id");
            let (rule, text) = match exchanges.answered_by((index, position)) {
                // A hosted call holds its own result, also where the request that it was approved by is gone.
                None if facts.role == Role::Assistant && result.place == Place::Message => continue,
                None => ("orphan_result", "answers no call before it"),
                Some(exchange) if exchange.results.first() != Some(&(index, position)) => {
                    ("repeated_result", "answers a call that has a result")
                }
                Some(exchange) if !stands_behind(exchange.call.0, index, &exchanges, all) => {
                    ("late_result", "does not stand right behind the turn that it answers")
                }
                Some(_) => continue,
            };
            found.push(violation(rule, index, result.place.block(), format!("tool result {id} {text}")));
        }
        let is_turn = matches!(facts.role, Role::User | Role::Assistant);
        if is_turn && !facts.leads && !facts.speaks && facts.calls.is_empty() && facts.results.is_empty() {
            found.push(violation("empty_message", index, None, "the message shows nothing".to_owned()));
        }
    }
    found
}

/// Whether only results stand between the turn of a call and the message that answers it.
fn stands_behind(call: usize, result: usize, exchanges: &Exchanges<'_>, facts: &[MessageFacts]) -> bool {
    let between = facts.get(exchanges.turn(call).end..result).unwrap_or_default();
    between.iter().all(|facts| !facts.results.is_empty())
}

fn violation(rule: &'static str, index: usize, block: Option<usize>, message: String) -> Violation {
    Violation { rule, index, block, message, severity: "error" }
}
