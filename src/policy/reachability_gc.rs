//! Replaces old tool-result bodies that nothing recent refers to by pointers, in place. Every message stays, with its
//! ids, names and roles, so that provider replay stays valid. Error results stay: they are repair evidence.

use super::Scene;
use super::identifiers::Mentions;
use crate::canonical::{canonical_text, sha256};
use crate::facts::{Call, Stub, ToolResult, arguments, body, said, text_parts, thought};
use crate::node::{Key, Kind, Node};
use crate::patched::in_words;
use crate::plan::{Plan, Pointer, Replacement};
use crate::tokens;

/// Why a body was replaced.
const STALE: &str = "stale_tool_result_unreachable";
const BARRIER_MISSING: &str = "reachability_gc_write_barrier_missing";
/// Fields of a result that carry it rather than say something about it.
const ENVELOPE: [&str; 9] =
    ["role", "type", "name", "content", "is_error", "error", "status", "cache_control", "_harn_projection"];

pub fn plan<N: Node>(scene: &Scene<'_, N>) -> Plan {
    let mut plan = Plan { roots_consulted: roots_consulted(scene), ..Plan::default() };
    if scene.options.require_write_barrier && scene.options.write_barriers.is_empty() {
        plan.reason = Some(BARRIER_MISSING);
        return plan;
    }
    let window = scene.facts.len().saturating_sub(scene.options.root_window).min(scene.open_turn);
    let candidates = candidates(scene, window);
    if candidates.is_empty() {
        return plan;
    }
    let mentions = mentions(scene, window);
    plan.replace = candidates
        .into_iter()
        .filter(|candidate| !candidate.is_reachable(&mentions))
        .map(|candidate| candidate.replacement(scene.options.policy.name()))
        .collect();
    plan
}

fn roots_consulted<N: Node>(scene: &Scene<'_, N>) -> Vec<String> {
    let options = scene.options;
    let mut consulted = vec![format!("last_{}_messages", options.root_window)];
    consulted.extend(options.root_material.iter().map(|(name, _)| (*name).to_owned()));
    if !options.write_barriers.is_empty() {
        consulted.push("write_barrier".to_owned());
    }
    if options.require_write_barrier {
        consulted.push("write_barrier_required".to_owned());
    }
    consulted
}

/// An old body that may go.
struct Candidate<'a, N> {
    message_index: usize,
    result_position: usize,
    carrier: N,
    body: N,
    chars: usize,
    result: &'a ToolResult,
    call: Option<(&'a Call, &'a N)>,
}

fn candidates<'a, N: Node>(scene: &Scene<'a, N>, window: usize) -> Vec<Candidate<'a, N>> {
    let mut candidates = Vec::new();
    for (message_index, (message, facts)) in scene.messages.iter().zip(scene.facts).enumerate().take(window) {
        for (result_position, result) in facts.results.iter().enumerate() {
            if result.failed || result.refused || result.redacted || result.stub == Stub::None {
                continue;
            }
            let Some((carrier, body)) = result.place.resolve(message).zip(body(message, result)) else { continue };
            let chars = if body.kind() == Kind::Null { 0 } else { tokens::char_count(&body) };
            if chars == 0 || chars < scene.options.min_chars {
                continue;
            }
            let exchange = scene.exchanges.answered_by((message_index, result_position));
            let call =
                exchange.and_then(|exchange| scene.exchanges.call(exchange).zip(scene.messages.get(exchange.call.0)));
            candidates.push(Candidate { message_index, result_position, carrier, body, chars, result, call });
        }
    }
    candidates
}

impl<N: Node> Candidate<'_, N> {
    /// Whether recent material names this result's path, symbol, object id or call metadata.
    fn is_reachable(&self, mentions: &Mentions) -> bool {
        let in_arguments = || {
            let arguments = self.call.and_then(|(call, message)| arguments(message, call));
            arguments.is_some_and(|arguments| mentions.name_any_of(&arguments))
        };
        let in_metadata = || {
            let entries = self.carrier.entries();
            let mut metadata = entries.iter().filter(|(name, _)| !ENVELOPE.contains(&&**name));
            metadata.any(|(name, value)| mentions.name_field(name, value))
        };
        in_arguments() || in_metadata() || self.texts().iter().any(|text| mentions.name_any_of(text))
    }

    /// What of the body can name something: its text parts, or all of it when it is an object.
    fn texts(&self) -> Vec<N> {
        match self.body.kind() {
            Kind::Object => vec![self.body.clone()],
            _ => {
                let mut texts = text_parts(&self.body);
                texts.extend(self.body.items().flatten().filter_map(|part| part.field(Key::Json)));
                texts
            }
        }
    }

    fn replacement(&self, policy: &str) -> Replacement {
        let index = self.message_index;
        let block = self.result.place.block();
        let source = format!("transcript.messages[{index}]{}", in_words(&self.result.place.steps(self.result.body)));
        let content_hash = content_hash(&self.body);
        let estimate = tokens::estimate(self.chars);
        let text = format!(
            "[tool result reclaimed by {policy}; source_index={index}; content_hash={content_hash}; \
             estimated_tokens_reclaimed={estimate}. Raw content remains in the transcript audit trail.]"
        );
        // The reference system names no tool in a block's pointer: a block carries no name, and the call is in reach.
        let name_of_call = self.call.filter(|_| block.is_none()).map(|(call, _)| call.name.clone());
        let pointer = Pointer {
            policy: policy.to_owned(),
            source,
            source_index: index,
            source_block_index: block,
            content_hash,
            content_chars: self.chars,
            estimated_tokens_reclaimed: estimate,
            tool_call_id: self.result.call_id.clone(),
            tool_name: self.result.name.clone().or(name_of_call),
            reason: STALE.to_owned(),
        };
        Replacement { result: (index, self.result_position), text, pointer }
    }
}

/// The hash in a pointer: over the text itself, or over canonical JSON when the body is no string.
pub fn content_hash<N: Node>(body: &N) -> String {
    match body.as_str() {
        Some(text) => sha256(text.as_bytes()),
        None => sha256(canonical_text(body).unwrap_or_default().as_bytes()),
    }
}

/// What the recent messages and the caller's material mention. Roles, tool names and call ids are the envelope: they
/// name nothing, else any recent call of `read` would keep every old `read` alive.
fn mentions<N: Node>(scene: &Scene<'_, N>, window: usize) -> Mentions {
    let mut mentions = Mentions::default();
    for (message, facts) in scene.messages.iter().zip(scene.facts).skip(window) {
        if let Some(content) = said(message, facts) {
            text_parts(&content).iter().for_each(|text| mentions.add(text));
            content.items().flatten().filter_map(|block| thought(&block)).for_each(|text| mentions.add(&text));
        }
        let arguments = facts.calls.iter().filter_map(|call| arguments(message, call));
        arguments.for_each(|arguments| mentions.add(&arguments));
        let bodies = facts.results.iter().filter_map(|result| body(message, result));
        bodies.for_each(|body| mentions.add(&body));
    }
    scene.options.root_material.iter().for_each(|(_, value)| mentions.add_with_keys(value));
    mentions
}
