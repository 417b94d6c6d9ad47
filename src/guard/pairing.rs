//! Calls and results stay together: no half of an exchange may go without the other.

use serde_json::Value;

use crate::exchange::{Exchanges, Spot};
use crate::facts::{MessageFacts, Role};
use crate::plan::ResolvedPlan;
use crate::value::object;

/// The first message where the plan would leave half of an exchange.
pub fn split_exchange(plan: &ResolvedPlan, exchanges: &Exchanges<'_>) -> Option<usize> {
    let is_split = |call: Spot, results: &[Spot]| {
        let hides_call = plan.hides_call(call);
        results.iter().any(|result| plan.hides_result(*result) != hides_call)
    };
    exchanges.iter().find(|exchange| is_split(exchange.call, &exchange.results)).map(|exchange| exchange.call.0)
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

/// What every provider refuses in a list of messages: results without calls, calls without results before the next
/// turn is over, messages that are empty.
pub fn violations(facts: &[MessageFacts]) -> Vec<Violation> {
    let exchanges = Exchanges::of(facts);
    let mut found = Vec::new();
    for (index, facts) in facts.iter().enumerate() {
        for exchange in exchanges.of_message(index).iter().filter(|exchange| exchange.results.is_empty()) {
            let Some(call) = exchanges.call(exchange) else { continue };
            let id = call.id.as_deref().unwrap_or("without id");
            let text = format!("tool call {id} ({}) has no result", call.name);
            found.push(violation("unanswered_call", index, call.place.block(), text));
        }
        for (position, result) in facts.results.iter().enumerate() {
            if exchanges.answered_by((index, position)).is_none() {
                let id = result.call_id.as_deref().unwrap_or("without id");
                let text = format!("tool result {id} answers no call before it");
                found.push(violation("orphan_result", index, result.place.block(), text));
            }
        }
        let is_turn = matches!(facts.role, Role::User | Role::Assistant);
        if is_turn && !facts.leads && !facts.speaks && facts.calls.is_empty() && facts.results.is_empty() {
            found.push(violation("empty_message", index, None, "the message shows nothing".to_owned()));
        }
    }
    found
}

fn violation(rule: &'static str, index: usize, block: Option<usize>, message: String) -> Violation {
    Violation { rule, index, block, message, severity: "error" }
}
