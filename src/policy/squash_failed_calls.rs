//! Hides assistant turns whose only outcome was failed calls, with their results. A turn that said something, or in
//! which one call did not fail, stays whole: hiding half of it would leave an unanswered call.

use super::Scene;
use crate::node::Node;
use crate::plan::Plan;

pub fn plan<N: Node>(scene: &Scene<'_, N>) -> Plan {
    let mut plan = Plan::default();
    for (index, facts) in scene.facts.iter().enumerate() {
        let turn = scene.exchanges.of_message(index);
        let only_failed = !turn.is_empty() && turn.iter().all(|exchange| scene.exchanges.has_failed(exchange));
        let is_closed = turn.iter().all(|exchange| scene.exchanges.span(exchange).1 < scene.open_turn);
        if only_failed && is_closed && !facts.speaks {
            turn.iter().for_each(|exchange| plan.hide(exchange, "turn_only_failed_calls".to_owned()));
        }
    }
    plan
}
