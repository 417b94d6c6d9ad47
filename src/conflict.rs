//! What to do when signatures stand in the way of a plan, if the caller wants something else than the raw transcript:
//! leave out what touches them, or take them out as well.

use crate::exchange::Exchanges;
use crate::facts::MessageFacts;
use crate::guard::signatures::protector;
use crate::options::SignatureScope;
use crate::plan::{Plan, ResolvedPlan};

/// Leaves out of a plan what would touch signed reasoning, and says which messages that leaves as they are. In
/// [`SignatureScope::Prefix`] that is everything before the last signature.
pub fn skip(plan: &mut Plan, facts: &[MessageFacts], exchanges: &Exchanges<'_>, scope: SignatureScope) -> Vec<usize> {
    let is_prefix = scope == SignatureScope::Prefix;
    let last_signed = is_prefix.then(|| facts.iter().rposition(|facts| facts.signed)).flatten();
    let is_free =
        |index: usize| protector(index, facts, exchanges).is_none() && last_signed.is_none_or(|signed| signed < index);
    let mut skipped = leave_out(plan, &is_free);
    // A summary stands for all that is before it: it ends where it has to.
    if let Some(first) = plan.drop.iter().copied().find(|index| !is_free(*index)) {
        skipped.extend(end_summary(plan, exchanges.boundary_before(first)));
    }
    sorted(skipped)
}

/// The same for what cannot be stripped: reasoning of the current turn, which providers want back as it was. A
/// summary may stand for a part of that turn, for then it begins behind the summary.
pub fn skip_in_current_turn(plan: &mut Plan, facts: &[MessageFacts], exchanges: &Exchanges<'_>) -> Vec<usize> {
    let start = exchanges.current_turn();
    let mut skipped = leave_out(plan, &|index| protector(index, facts, exchanges).is_none_or(|signed| signed < start));
    if let Some(last) = plan.drop.last() {
        let end = exchanges.boundary_before_reasoning(last + 1);
        skipped.extend(end_summary(plan, end));
    }
    sorted(skipped)
}

/// Ends a summary before the message at `end`, and gives the messages that it stands for no longer.
fn end_summary(plan: &mut Plan, end: usize) -> Vec<usize> {
    plan.drop.extract_if(.., |index| *index >= end).collect()
}

fn leave_out(plan: &mut Plan, is_free: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let mut skipped = Vec::new();
    plan.hide.retain(|(exchange, _)| {
        let all_free = exchange.messages().all(is_free);
        if !all_free {
            skipped.extend(exchange.messages());
        }
        all_free
    });
    plan.replace.retain(|replacement| {
        let index = replacement.result.0;
        if !is_free(index) {
            skipped.push(index);
        }
        is_free(index)
    });
    skipped
}

fn sorted(mut indices: Vec<usize>) -> Vec<usize> {
    indices.sort_unstable();
    indices.dedup();
    indices
}

/// Takes the reasoning out of every message from the first change on, up to the current turn.
pub fn strip(plan: &mut ResolvedPlan, facts: &[MessageFacts], exchanges: &Exchanges<'_>) {
    plan.strips = true;
    let Some(first) = plan.first_touched() else { return };
    // A unit that is touched is touched from its reasoning on.
    let first = exchanges.head(first).unwrap_or(first);
    let closed = facts.iter().enumerate().take(exchanges.current_turn()).skip(first);
    for (index, message) in closed {
        let goes =
            protector(index, facts, exchanges).is_some() && !plan.drops(index) && !exchanges.needs_reasoning(index);
        if goes && (message.leads || !message.opaque.is_empty()) {
            plan.strip(index, message);
        }
    }
}
