//! Hides assistant turns whose only outcome was failed calls, with their results. A turn that said something, or in
//! which one call did not fail, stays whole: hiding half of it would leave an unanswered call.

use super::Scene;
use crate::exchange::Exchange;
use crate::node::Node;
use crate::plan::{Plan, ResolvedPlan};

/// The turns that may go.
#[derive(Default)]
pub struct Watch {
    /// How many answers were taken in.
    taken_in: usize,
    /// Where turns start that were answered and may be nothing but failures, in order.
    turns: Vec<usize>,
}

impl Watch {
    /// All turns that go and are not settled yet.
    pub fn plan<N: Node>(&mut self, scene: &Scene<'_, N>, settled: &ResolvedPlan) -> Plan {
        let answered = scene.exchanges.answered_since(self.taken_in);
        self.taken_in += answered.len();
        for exchange in answered.iter().filter_map(|index| scene.exchanges.get(*index)) {
            let start = scene.exchanges.turn(exchange.call.0).start;
            if let Err(at) = self.turns.binary_search(&start) {
                self.turns.insert(at, start);
            }
        }
        // The answer that another turn still waits for brings it back here.
        self.turns.retain(|start| {
            let mut exchanges = exchanges_of(scene, *start);
            !speaks(scene, *start)
                && exchanges.clone().all(|exchange| scene.exchanges.has_failed(exchange))
                && !exchanges.all(|exchange| settled.hides_call(exchange.call))
        });
        let mut plan = Plan::default();
        for start in &self.turns {
            let exchanges = exchanges_of(scene, *start);
            if exchanges.clone().all(|exchange| scene.exchanges.span(exchange).1 < scene.open_turn) {
                exchanges.for_each(|exchange| {
                    if !settled.hides_call(exchange.call) {
                        plan.hide(exchange, "turn_only_failed_calls".to_owned());
                    }
                });
            }
        }
        plan
    }
}

fn exchanges_of<'s, N: Node>(scene: &'s Scene<'_, N>, turn: usize) -> impl Iterator<Item = &'s Exchange> + Clone {
    scene.exchanges.turn(turn).flat_map(|index| scene.exchanges.of_message(index))
}

fn speaks<N: Node>(scene: &Scene<'_, N>, turn: usize) -> bool {
    let turn = scene.facts.get(scene.exchanges.turn(turn));
    turn.is_some_and(|turn| turn.iter().any(|facts| facts.speaks))
}
