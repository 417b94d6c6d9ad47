//! Hides assistant turns whose only outcome was failed calls, with their results. A turn that said something, or in
//! which one call did not fail, stays whole: hiding half of it would leave an unanswered call.

use super::Scene;
use crate::node::Node;
use crate::plan::Plan;

pub fn plan<N: Node>(scene: &Scene<'_, N>) -> Plan {
    let mut plan = Plan::default();
    let mut start = 0;
    while start < scene.facts.len() {
        let end = scene.exchanges.turn_end(start).max(start + 1);
        let messages = scene.facts.get(start..end).unwrap_or_default();
        let turn: Vec<_> = (start..end).flat_map(|index| scene.exchanges.of_message(index)).collect();
        let only_failed = !turn.is_empty() && turn.iter().all(|exchange| scene.exchanges.has_failed(exchange));
        let is_closed = turn.iter().all(|exchange| scene.exchanges.span(exchange).1 < scene.open_turn);
        if only_failed && is_closed && messages.iter().all(|facts| !facts.speaks) {
            turn.into_iter().for_each(|exchange| plan.hide(exchange, "turn_only_failed_calls".to_owned()));
        }
        start = end;
    }
    plan
}
