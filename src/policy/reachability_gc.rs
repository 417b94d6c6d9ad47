//! Replaces old tool-result bodies that nothing recent refers to by pointers, in place. Every message stays, with its
//! ids, names and roles, so that provider replay stays valid. Error results stay: they are repair evidence.

use std::collections::HashMap;

use serde_json::Value;

use super::Scene;
use super::identifiers::Mentions;
use crate::canonical::{canonical_text, sha256};
use crate::facts::{Call, MessageFacts, Place, Stub, ToolResult, arguments, body, printed, text_parts};
use crate::node::{Key, Kind, Node};
use crate::patched::in_words;
use crate::plan::{Plan, Pointer, Replacement};
use crate::tokens;

/// Fields of a root that carry it: they name nothing.
const ROOT_ENVELOPE: [&str; 23] = [
    "role",
    "type",
    "name",
    "id",
    "tool_call_id",
    "tool_use_id",
    "tool_calls",
    "invalid_tool_calls",
    "toolInvocations",
    "additional_kwargs",
    "function_call",
    "signature",
    "data",
    "inlineData",
    "inline_data",
    "encrypted_content",
    "thinking_signature",
    "thoughtSignature",
    "thought_signature",
    "providerOptions",
    "providerMetadata",
    "cache_control",
    "_harn_projection",
];
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
    let is_kept = reachable(&candidates, &mentions, old_results(scene, window));
    plan.replace = candidates
        .iter()
        .zip(is_kept)
        .filter(|(_, is_kept)| !is_kept)
        .map(|(candidate, _)| candidate.replacement(scene.options.policy.name()))
        .collect();
    plan
}

/// Which candidates recent material refers to.
fn reachable<N: Node>(candidates: &[Candidate<'_, N>], mentions: &Mentions, old_results: usize) -> Vec<bool> {
    let mut holders: HashMap<String, Vec<usize>> = HashMap::new();
    let mut is_kept = Vec::with_capacity(candidates.len());
    for (index, candidate) in candidates.iter().enumerate() {
        let mut symbols = Vec::new();
        is_kept.push(candidate.is_named(mentions) || candidate.is_named_in_body(mentions, &mut symbols));
        symbols.into_iter().for_each(|symbol| holders.entry(symbol).or_default().push(index));
    }
    // A symbol that many old results share is vocabulary and names none of them: code always shares `is_some` with code.
    let most = (old_results / 10).max(2);
    for index in holders.values().filter(|holders| holders.len() <= most).flatten() {
        if let Some(is_kept) = is_kept.get_mut(*index) {
            *is_kept = true;
        }
    }
    is_kept
}

/// How many results stand before the window, those that a projection has replaced among them: projecting a projection
/// must decide alike.
fn old_results<N: Node>(scene: &Scene<'_, N>, window: usize) -> usize {
    scene.facts.iter().take(window).map(|facts| facts.results.len()).sum()
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
    /// Whether recent material names what the call was about, or what the result says of itself.
    fn is_named(&self, mentions: &Mentions) -> bool {
        let in_arguments = || {
            let arguments = self.call.and_then(|(call, message)| arguments(message, call));
            arguments.is_some_and(|arguments| mentions.name_any_of(&arguments))
        };
        let in_metadata = || {
            // What stands beside the body, and beside what the body is in.
            self.result.body.iter().enumerate().any(|(depth, key)| {
                let holder = self.carrier.follow(self.result.body.get(..depth).unwrap_or_default());
                let entries = holder.map(|holder| holder.entries()).unwrap_or_default();
                let is_metadata = |name: &str| name != key.as_str() && !ENVELOPE.contains(&name);
                let mut metadata = entries.iter().filter(|(name, _)| is_metadata(name));
                metadata.any(|(name, value)| mentions.name_field(name, value))
            })
        };
        in_arguments() || in_metadata()
    }

    /// Whether recent material names a path, an object id or a reference in the body. Symbols that it mentions are
    /// added to `symbols`.
    fn is_named_in_body(&self, mentions: &Mentions, symbols: &mut Vec<String>) -> bool {
        self.texts().iter().any(|text| mentions.name_surely(text, symbols))
    }

    /// What of the body can name something: its text parts, or all of it when it is an object.
    fn texts(&self) -> Vec<N> {
        match self.body.kind() {
            Kind::Object => vec![self.body.clone()],
            _ => {
                let mut texts = text_parts(&self.body);
                texts.extend(printed(&self.body));
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
        let arguments = facts.calls.iter().filter_map(|call| arguments(message, call));
        arguments.for_each(|arguments| mentions.add(&arguments));
        let bodies = facts.results.iter().filter_map(|result| body(message, result));
        bodies.for_each(|body| mentions.add(&body));
        if !facts.stands_at(Place::Message) {
            add_rest(&mut mentions, message, facts);
        }
    }
    for (_, material) in &scene.options.root_material {
        mentions.add(&N::of_value(material));
        // Its field names are data too.
        mentions.add(&N::of_value(&keys_of(material)));
    }
    mentions
}

/// Notes what a message holds beside its calls and results: text, reasoning, documents.
fn add_rest<N: Node>(mentions: &mut Mentions, message: &N, facts: &MessageFacts) {
    // Some shapes keep all of it in a field of the message.
    let (text, base) = facts.text.split_last().unzip();
    let Some(base) = message.follow(base.unwrap_or_default()) else { return };
    for (name, value) in base.entries().iter().filter(|(name, _)| !ROOT_ENVELOPE.contains(&&**name)) {
        if text.is_none_or(|text| **name != *text.as_str()) || value.kind() != Kind::Array {
            mentions.add(value);
            continue;
        }
        let blocks = value.items().enumerate().filter(|(index, _)| !facts.stands_at(Place::item(facts.text, *index)));
        for block in blocks.filter_map(|(_, block)| block) {
            if block.kind() == Kind::Object {
                let is_image = block.field_str(Key::Type).is_some_and(|kind| kind.starts_with("image"));
                let fields = block.entries();
                let fields = fields.iter().filter(|(name, _)| !is_image && !ROOT_ENVELOPE.contains(&&**name));
                fields.for_each(|(_, value)| mentions.add(value));
            } else {
                mentions.add(&block);
            }
        }
    }
}

/// Every field name of a value.
fn keys_of(value: &Value) -> Value {
    let mut keys = Vec::new();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Object(fields) => {
                keys.extend(fields.keys().map(|key| Value::from(key.as_str())));
                left.extend(fields.values());
            }
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    Value::Array(keys)
}
