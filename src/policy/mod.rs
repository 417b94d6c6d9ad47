//! The policies: what each hides. A policy reads facts and options and returns a plan; adding one is a new file
//! and a line in each `match` here. It remembers what it has read, so that one more turn costs what is new.
//!
//! Which should I use? `clean_tool_repair` for agents that correct themselves: it hides only what a later success
//! has made obsolete. `squash_failed_calls` when failures are not worth a line. `reachability_gc` when old file
//! reads fill the window: every message stays, stale bodies become pointers. `summary_prefix` when a summary
//! exists. `custom` when you know better. `raw` to bind a hash to a turn.

mod clean_tool_repair;
pub mod custom;
mod identifiers;
mod reachability_gc;
mod squash_failed_calls;
mod summary_prefix;

use crate::exchange::Exchanges;
use crate::facts::MessageFacts;
use crate::node::Node;
use crate::options::Options;
use crate::plan::{Plan, ResolvedPlan};

pub use reachability_gc::{content_hash, moved, replacement_at};

/// What a projection hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// Nothing.
    Raw,
    /// Failed calls whose tool succeeded later.
    CleanToolRepair,
    /// Turns that were nothing but failed calls.
    SquashFailedCalls,
    /// Everything before the last messages, behind a summary.
    SummaryPrefix,
    /// Bodies of old tool results that nothing recent refers to.
    ReachabilityGc,
    /// What the caller's projector decides.
    Custom,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Policy; 6] = [
        Policy::Raw,
        Policy::CleanToolRepair,
        Policy::SquashFailedCalls,
        Policy::SummaryPrefix,
        Policy::ReachabilityGc,
        Policy::Custom,
    ];

    /// The name in options and events.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Raw => "raw",
            Policy::CleanToolRepair => "clean_tool_repair",
            Policy::SquashFailedCalls => "squash_failed_calls",
            Policy::SummaryPrefix => "summary_prefix",
            Policy::ReachabilityGc => "reachability_gc",
            Policy::Custom => "custom",
        }
    }

    /// The reason that is recorded when the caller gives none.
    pub const fn reason(self) -> &'static str {
        match self {
            Policy::Raw => "raw_passthrough",
            policy => policy.name(),
        }
    }
}

/// What a policy may look at.
pub struct Scene<'a, N> {
    /// The messages, for the policies that must read a body or an argument.
    pub messages: &'a [N],
    /// Their facts.
    pub facts: &'a [MessageFacts],
    /// Calls with their results.
    pub exchanges: &'a Exchanges<'a>,
    /// The transcript's own summary.
    pub summary: Option<&'a str>,
    /// The options.
    pub options: &'a Options,
    /// The first message that no policy may touch: the open turn, or the end when that is not protected.
    pub open_turn: usize,
}

/// What a policy knows of a transcript that grows, so that it looks only at what is new.
pub enum Watch {
    /// `raw` has nothing to know, and `custom` has no plan of its own: its projector decides.
    Nothing,
    /// `clean_tool_repair`.
    Repairs(clean_tool_repair::Watch),
    /// `squash_failed_calls`.
    Failures(squash_failed_calls::Watch),
    /// `summary_prefix`.
    Prefix(summary_prefix::Watch),
    /// `reachability_gc`.
    Bodies(reachability_gc::Watch),
}

impl Watch {
    /// Knows nothing yet.
    pub fn of(policy: Policy) -> Self {
        match policy {
            Policy::Raw | Policy::Custom => Watch::Nothing,
            Policy::CleanToolRepair => Watch::Repairs(clean_tool_repair::Watch::default()),
            Policy::SquashFailedCalls => Watch::Failures(squash_failed_calls::Watch::default()),
            Policy::SummaryPrefix => Watch::Prefix(summary_prefix::Watch::default()),
            Policy::ReachabilityGc => Watch::Bodies(reachability_gc::Watch::default()),
        }
    }

    /// All that the policy wants to change beyond what is settled. Between two calls the transcript may only grow, and
    /// what the policy matches by and how large its window is may not change.
    pub fn plan<N: Node>(&mut self, scene: &Scene<'_, N>, settled: &ResolvedPlan) -> Plan {
        match self {
            Watch::Nothing => Plan::default(),
            Watch::Repairs(watch) => watch.plan(scene, settled),
            Watch::Failures(watch) => watch.plan(scene, settled),
            Watch::Prefix(watch) => watch.plan(scene, settled),
            Watch::Bodies(watch) => watch.plan(scene, settled),
        }
    }
}

/// Runs a built-in policy over a whole transcript.
pub fn plan<N: Node>(scene: &Scene<'_, N>) -> Plan {
    Watch::of(scene.options.policy).plan(scene, &ResolvedPlan::nothing())
}
