//! Replaces the prefix before the last messages by one synthetic message. Leading prompts and the summary of a compaction
//! stay, the boundary moves back rather than split a step, and the open turn stays.

use super::Scene;
use crate::compaction::head;
use crate::node::Node;
use crate::plan::{Insert, Plan, ResolvedPlan};

/// The reason when nothing lies before the kept tail.
pub const NOOP: &str = "summary_prefix_noop_short_history";

/// How far the prefix went.
#[derive(Default)]
pub struct Watch {
    /// Everything before it is settled, but for the holes.
    from: usize,
    /// Messages before it that were kept because a person wrote them last.
    holes: Vec<usize>,
    /// How many messages were searched for the newest of a person.
    searched: usize,
    newest_user: Option<usize>,
}

impl Watch {
    /// What of the prefix is not settled yet.
    pub fn plan<N: Node>(&mut self, scene: &Scene<'_, N>, settled: &ResolvedPlan) -> Plan {
        let count = scene.facts.len();
        let prompts = head(scene.messages, scene.facts);
        let tail = count.saturating_sub(scene.options.keep_last).min(scene.open_turn);
        let boundary = scene.exchanges.boundary_before(tail);
        let new = scene.facts.get(self.searched..).unwrap_or_default();
        let newest = new.iter().rposition(|facts| facts.is_ordinary_user()).map(|at| self.searched + at);
        self.newest_user = newest.or(self.newest_user);
        self.searched = count;
        let kept_user = self.newest_user.filter(|_| scene.options.keep_newest_user);

        self.from = self.from.max(prompts);
        while self.from < boundary && (settled.drops(self.from) || kept_user == Some(self.from)) {
            if !settled.drops(self.from) {
                self.holes.push(self.from);
            }
            self.from += 1;
        }
        self.holes.retain(|hole| !settled.drops(*hole));
        let goes = |index: &usize| kept_user != Some(*index) && !settled.drops(*index);
        let rest = (self.from..boundary).filter(goes);
        let dropped: Vec<usize> = self.holes.iter().copied().filter(goes).chain(rest).collect();

        let mut plan = Plan::default();
        let text = scene.options.summary_text(scene.summary).map(str::to_owned);
        let says_else = |insert: &&crate::plan::Summary| text.is_some() && insert.text != text;
        if dropped.is_empty() && settled.summary().filter(says_else).is_none() {
            plan.reason = settled.summary().is_none().then_some(NOOP);
            return plan;
        }
        plan.insert = Some(Insert { before: prompts, text, role: scene.options.summary_role });
        plan.drop = dropped;
        plan
    }
}
