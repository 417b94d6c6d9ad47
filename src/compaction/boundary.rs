//! Where a list may be split in old and recent: between exchanges.

use crate::error::ProjectionError;
use crate::exchange::Exchanges;
use crate::facts::MessageFacts;
use crate::node::Node;
use crate::projection::read_facts;

/// How many messages of `old` followed by `recent` are old when no call is parted from its results: results that
/// `recent` starts with move to their calls; where results come later than that, the calls move to their results.
///
/// # Errors
/// When a message is malformed.
pub fn balance_tool_call_boundary<N: Node>(old: &[N], recent: &[N]) -> Result<usize, ProjectionError> {
    let mut facts = read_facts(old, 0)?;
    facts.extend(read_facts(recent, old.len())?);
    Ok(balanced(&facts, &Exchanges::of(&facts), old.len()))
}

/// The boundary that parts no exchange, nearest to `boundary` as [`balance_tool_call_boundary`] says.
pub fn balanced(facts: &[MessageFacts], exchanges: &Exchanges<'_>, boundary: usize) -> usize {
    let is_answer = |facts: &&MessageFacts| !facts.results.is_empty() && facts.calls.is_empty();
    let answers = facts.get(boundary..).unwrap_or_default().iter().take_while(is_answer).count();
    exchanges.boundary_before(boundary + answers)
}
