//! Replaces the prefix before the last messages by one synthetic message. Leading prompts stay, the boundary moves
//! back rather than split a step, and the open turn stays.

use super::Scene;
use crate::node::Node;
use crate::plan::{Insert, Plan};

/// The reason when nothing lies before the kept tail.
pub const NOOP: &str = "summary_prefix_noop_short_history";

pub fn plan<N: Node>(scene: &Scene<'_, N>) -> Plan {
    let count = scene.facts.len();
    let prompts = scene.facts.iter().take_while(|facts| facts.is_prompt()).count();
    let tail = count.saturating_sub(scene.options.keep_last).min(scene.open_turn);
    let boundary = scene.exchanges.boundary_before(tail);
    let newest_user = scene.facts.iter().rposition(|facts| facts.is_ordinary_user());
    let kept_user = newest_user.filter(|_| scene.options.keep_newest_user);
    let dropped: Vec<usize> = (prompts..boundary).filter(|index| kept_user != Some(*index)).collect();

    let mut plan = Plan::default();
    if dropped.is_empty() {
        plan.reason = Some(NOOP);
        return plan;
    }
    let text = scene.options.summary_text(scene.summary).map(str::to_owned);
    plan.insert = Some(Insert { before: prompts, text, role: scene.options.summary_role });
    plan.drop.extend(dropped);
    plan
}
