//! What becomes of a plan: the guards look at it, and what stands in the way of signatures goes the way that the
//! caller chose. The same for a plan for a whole transcript and for what one more turn adds to what is settled.

use crate::conflict;
use crate::guard::{pairing, signatures};
use crate::neighbours;
use crate::node::Node;
use crate::options::{OnSignatureConflict, Options, SignatureScope};
use crate::plan::{Plan, ResolvedPlan};
use crate::policy::Scene;

/// What was found while a plan was tried.
#[derive(Default)]
pub struct Outcome {
    /// A reason other than the policy's own.
    pub reason: Option<String>,
    /// Why the changes may not be shown, if they may not. They are for the caller to take back.
    pub refusal: Option<String>,
    /// Messages that were to change and stay because of signatures.
    pub skipped: Vec<usize>,
    /// What of the plan was tried.
    pub plan: Plan,
}

/// Tries a plan on top of what is settled.
pub fn attempt<N: Node>(settled: &mut ResolvedPlan, mut plan: Plan, scene: &Scene<'_, N>) -> Outcome {
    let Scene { facts, exchanges, options, .. } = scene;
    if plan.is_empty() {
        settled.add(&plan, facts, exchanges);
        return Outcome { reason: settled.reason.map(str::to_owned), plan, ..Outcome::default() };
    }
    plan.drop.sort_unstable();
    neighbours::keep(&mut plan, settled, scene);
    let skipped = match options.on_signature_conflict {
        _ if !options.respect_provider_signatures => Vec::new(),
        OnSignatureConflict::Raw => Vec::new(),
        OnSignatureConflict::Skip => conflict::skip(&mut plan, facts, exchanges, options.signature_scope),
        OnSignatureConflict::StripReasoning => conflict::skip_in_current_turn(&mut plan, facts, exchanges),
    };
    let mut resolution = None;
    if !skipped.is_empty() {
        let protected = skipped.iter().find_map(|index| signatures::protector(*index, facts, exchanges));
        let signed = protected.or_else(|| facts.iter().position(|facts| facts.signed));
        resolution = signed.map(|index| ("skipped", index));
    }
    settled.add(&plan, facts, exchanges);
    if options.on_signature_conflict == OnSignatureConflict::StripReasoning
        && let Some(index) = signature_conflict(settled, scene)
    {
        conflict::strip(settled, facts, exchanges);
        resolution = Some(("stripped", index));
    }
    let mut reason = settled.reason.map(str::to_owned);
    if let Some((word, index)) = resolution {
        let before = reason.unwrap_or_else(|| options.policy.reason().to_owned());
        reason = Some(format!("{before} ({word}: signed reasoning at index {index})"));
    }
    Outcome { reason, refusal: refusal(settled, scene), skipped, plan }
}

/// Why the changes on trial may not be shown, if they may not.
fn refusal<N: Node>(settled: &ResolvedPlan, scene: &Scene<'_, N>) -> Option<String> {
    if let Some(index) = pairing::split_exchange(settled, scene.facts, scene.exchanges) {
        return Some(format!("{} (blocked: split tool call at index {index})", scene.options.policy.reason()));
    }
    if settled.summary().is_none() && (0..scene.facts.len()).rev().all(|index| settled.drops(index)) {
        return Some(format!("{} (blocked: nothing would be left)", scene.options.policy.reason()));
    }
    signature_conflict(settled, scene).map(|index| blocked_by(scene.options, index))
}

/// The reason of a view that a signature forbids.
pub fn blocked_by(options: &Options, index: usize) -> String {
    format!("{} (blocked: signed reasoning at index {index})", options.policy.reason())
}

/// The first signed message that the changes on trial would break.
fn signature_conflict<N: Node>(settled: &ResolvedPlan, scene: &Scene<'_, N>) -> Option<usize> {
    let Scene { facts, exchanges, options, .. } = scene;
    if !options.respect_provider_signatures {
        return None;
    }
    // Once reasoning goes, what goes as a whole takes its own along.
    let is_gone = |index: &usize| settled.strips && (settled.stripped.contains(index) || settled.drops(*index));
    let touched = settled.touched();
    let broken = touched.iter().filter_map(|index| signatures::protector(*index, facts, exchanges));
    let broken = broken.filter(|index| !is_gone(index)).min();
    broken.or_else(|| neighbours::needed_reasoning(settled, scene)).or_else(|| {
        let is_asked = options.signature_scope == SignatureScope::Prefix;
        invalidated(settled, scene, settled.first_touched().filter(|_| is_asked)).next()
    })
}

/// The messages that are shown and whose signatures come after the first change on trial. They vouch for what was
/// before them when they were made; those that come later vouch for what is shown now.
pub fn invalidated<'a, N: Node>(
    settled: &'a ResolvedPlan,
    scene: &Scene<'a, N>,
    first: Option<usize>,
) -> impl Iterator<Item = usize> + 'a {
    let first = first.unwrap_or(scene.facts.len());
    // A changed message is itself the change: what it signs stands before what it lost.
    let comes_after = move |index: usize| index > first || settled.inserts_at(index);
    let signed = scene.exchanges.signed_since(first).iter().copied();
    signed.filter(move |index| comes_after(*index) && !settled.drops(*index) && !settled.stripped.contains(index))
}
