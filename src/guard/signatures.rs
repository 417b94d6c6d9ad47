//! Signed and opaque reasoning. Changing a message that holds it makes the provider refuse it; newer Claude models
//! bind each signature to everything before it as well (provider rules ANT-THK-2, ANT-BIND-1).

use crate::exchange::Exchanges;
use crate::facts::MessageFacts;
use crate::node::Node;
use crate::plan::Shown;

/// The signed message that a change of the message at `index` would break: itself or another of its turn, which is one
/// message to the provider and holds the reasoning that the others were produced with.
pub fn protector(index: usize, facts: &[MessageFacts], exchanges: &Exchanges<'_>) -> Option<usize> {
    exchanges.turn(index).find(|index| facts.get(*index).is_some_and(|facts| facts.signed))
}

/// Where in `shown` the view first differs from its source; `None` when it shows the whole source unchanged.
pub fn first_change<N: Node>(shown: &[Shown<N>], source_count: usize) -> Option<usize> {
    let is_same =
        |(position, shown): (usize, &Shown<N>)| matches!(shown, Shown::Kept { source, .. } if *source == position);
    let same = shown.iter().enumerate().take_while(|pair| is_same(*pair)).count();
    (same < shown.len() || same < source_count).then_some(same)
}

/// The source indices of kept messages whose signatures come after the first change. Those that were taken out are gone.
pub fn invalidated<N: Node>(
    shown: &[Shown<N>],
    first_change: Option<usize>,
    facts: &[MessageFacts],
    stripped: &[usize],
) -> Vec<usize> {
    let Some(first_change) = first_change else { return Vec::new() };
    let is_signed = |source: &usize| facts.get(*source).is_some_and(|facts| facts.signed) && !stripped.contains(source);
    let after = shown.iter().enumerate().skip(first_change).filter_map(|(position, shown)| match shown {
        Shown::Kept { source, .. } => Some(*source),
        // A changed message is itself the change: what it signs stands before what it lost.
        Shown::Changed { source, .. } => (position > first_change).then_some(*source),
        Shown::Added { .. } => None,
    });
    after.filter(is_signed).collect()
}
