//! Hides assistant turns whose only outcome was failed calls, with their results. A turn that said something, or in
//! which one call did not fail, stays whole: hiding half of it would leave an unanswered call.

use super::Scene;
use crate::node::Node;
use crate::plan::Plan;

pub fn plan<N: Node>(scene: &Scene<'_, N>) -> Plan {
    let mut plan = Plan::default();
    let mut next = 0;
    while next < scene.facts.len() {
        let turn = scene.exchanges.turn(next);
        next = turn.end;
        let speaks = scene.facts.get(turn.clone()).is_some_and(|turn| turn.iter().any(|facts| facts.speaks));
        let exchanges = || turn.clone().flat_map(|index| scene.exchanges.of_message(index));
        let only_failed = exchanges().all(|exchange| scene.exchanges.has_failed(exchange));
        let is_closed = exchanges().all(|exchange| scene.exchanges.span(exchange).1 < scene.open_turn);
        if only_failed && is_closed && !speaks {
            exchanges().for_each(|exchange| plan.hide(exchange, "turn_only_failed_calls".to_owned()));
        }
    }
    plan
}
