//! A system message inside the list stands between a user turn and an assistant turn where Anthropic takes one
//! (`ANT-ROLE-3`): a call whose turn is such a neighbour is not hidden if nothing else takes its place.

use crate::exchange::{Exchange, Exchanges};
use crate::facts::{MessageFacts, Place, Role, Shape};
use crate::node::Key;
use crate::plan::{Plan, ResolvedPlan};

/// Leaves out of a plan what would take a system message's neighbour away.
pub fn keep(plan: &mut Plan, settled: &mut ResolvedPlan, facts: &[MessageFacts], exchanges: &Exchanges<'_>) {
    if plan.hide.is_empty() {
        return;
    }
    let leading = facts.iter().take_while(|facts| facts.is_prompt()).count();
    let is_inside = |index: &usize| facts.get(*index).is_some_and(MessageFacts::is_prompt);
    let inside: Vec<usize> = (leading..facts.len()).filter(is_inside).collect();
    // Each round leaves out something, so that there is an end.
    while !inside.is_empty() && !plan.hide.is_empty() {
        let gone = settled.gone_with(plan, facts, exchanges);
        let is_lost = |index: usize| gone.get(index) == Some(&true);
        let role = |index: usize| facts.get(index).map(|facts| facts.role);
        let mut wanted = vec![false; facts.len()];
        for index in &inside {
            let before = (0..*index).rev().take_while(|before| is_lost(*before)).count();
            let behind = (index + 1..facts.len()).take_while(|behind| is_lost(*behind)).count();
            let has_before = index.checked_sub(before + 1).and_then(role);
            if before > 0 && !matches!(has_before, Some(Role::User | Role::Tool)) {
                wanted.get_mut(index - before..*index).unwrap_or_default().fill(true);
            }
            let has_behind = role(index + 1 + behind);
            // Nothing yet is no neighbour either: who knows what comes next.
            if behind > 0 && has_behind != Some(Role::Assistant) {
                wanted.get_mut(index + 1..index + 1 + behind).unwrap_or_default().fill(true);
            }
        }
        let count = plan.hide.len();
        let is_wanted = |exchange: &Exchange| exchange.messages().any(|index| wanted.get(index) == Some(&true));
        plan.hide.retain(|(exchange, _)| !is_strict(exchange, facts, exchanges) || !is_wanted(exchange));
        if plan.hide.len() == count {
            return;
        }
    }
}

/// Whether the call is of a shape that may be sent to Anthropic; OpenAI takes system messages anywhere.
fn is_strict(exchange: &Exchange, facts: &[MessageFacts], exchanges: &Exchanges<'_>) -> bool {
    let shape = facts.get(exchange.call.0).map(|facts| facts.shape);
    let is_of_openai = |place| matches!(place, Place::Item(Key::ToolCalls, _) | Place::Field(_));
    match shape {
        Some(Shape::Responses) => false,
        Some(Shape::Chat) => !exchanges.call(exchange).is_some_and(|call| is_of_openai(call.place)),
        _ => true,
    }
}
