//! Replaces old tool-result bodies that nothing recent refers to by pointers, in place. Every message stays, with its
//! ids, names and roles, so that provider replay stays valid. Error results stay: they are repair evidence.

use std::collections::HashMap;

use serde_json::Value;

use super::Scene;
use super::identifiers::{Identifiers, Mentioned, Mentions};
use crate::canonical::{canonical_text, sha256};
use crate::exchange::Spot;
use crate::facts::{Call, MessageFacts, Place, Stub, ToolResult, arguments, body, printed, text_parts};
use crate::node::{Key, Kind, Node};
use crate::patched::in_words;
use crate::plan::{Plan, Pointer, Replacement, ResolvedPlan};
use crate::tokens;
use crate::work;

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

/// The old bodies that are still shown.
#[derive(Default)]
pub struct Watch {
    /// The messages before it were searched for candidates.
    searched: usize,
    candidates: Vec<Candidate>,
    /// How many results stand before `counted`, those that a projection has replaced among them: projecting a
    /// projection must decide alike.
    old_results: usize,
    counted: usize,
    recent: Recent,
}

/// What the messages of the window mention.
#[derive(Default)]
struct Recent {
    was_asked: bool,
    /// By message, or of all at once.
    parts: Vec<(usize, Mentions)>,
}

/// A look into many parts takes longer than reading their messages again.
const MOST_PARTS: usize = 32;

impl Recent {
    /// Of the messages from `window` on. The first time they are read together, for there may be no other; then each for
    /// itself, so that it need not be read again.
    fn mentions<N: Node>(&mut self, scene: &Scene<'_, N>, window: usize) -> &[(usize, Mentions)] {
        let recent = window..scene.facts.len();
        if recent.len() > MOST_PARTS || !std::mem::replace(&mut self.was_asked, true) {
            let mut all = Mentions::default();
            recent.for_each(|index| mention(scene, index, &mut all));
            self.parts = vec![(usize::MAX, all)];
            return &self.parts;
        }
        self.parts.retain(|(index, _)| recent.contains(index));
        for index in recent {
            if !self.parts.iter().any(|(known, _)| *known == index) {
                let mut mentions = Mentions::default();
                mention(scene, index, &mut mentions);
                self.parts.push((index, mentions));
            }
        }
        &self.parts
    }
}

impl Watch {
    /// Every body that nothing recent refers to and that is still shown.
    pub fn plan<N: Node>(&mut self, scene: &Scene<'_, N>, settled: &ResolvedPlan) -> Plan {
        let mut plan = Plan { roots_consulted: roots_consulted(scene), ..Plan::default() };
        if scene.options.require_write_barrier && scene.options.write_barriers.is_empty() {
            plan.reason = Some(BARRIER_MISSING);
            return plan;
        }
        let window = scene.facts.len().saturating_sub(scene.options.root_window).min(scene.open_turn);
        let is_shown = |spot: Spot| !settled.replaces(spot) && !settled.hides_result(spot);
        self.candidates.retain(|candidate| is_shown(candidate.spot));
        // What was looked at before will be looked at again: its identifiers are kept from now on.
        self.candidates.iter_mut().for_each(|candidate| candidate.collect(scene));
        self.search(scene, window, &is_shown);
        self.count(scene.facts, window);
        let old = self.candidates.partition_point(|candidate| candidate.spot.0 < window);
        let Some(old) = self.candidates.get_mut(..old).filter(|old| !old.is_empty()) else { return plan };
        let window = self.recent.mentions(scene, window);
        let material = material(scene);
        let mentions: Vec<&Mentions> = window.iter().map(|(_, mentions)| mentions).chain([&material]).collect();
        let is_kept = reachable(scene, old, &Mentioned(&mentions), self.old_results);
        let unreachable = old.iter_mut().zip(is_kept).filter(|(_, is_kept)| !is_kept);
        plan.replace = unreachable.filter_map(|(candidate, _)| candidate.replacement(scene)).collect();
        plan
    }

    /// Notes the bodies that left the window. A watch that begins late finds some that are settled.
    fn search<N: Node>(&mut self, scene: &Scene<'_, N>, window: usize, is_shown: &dyn Fn(Spot) -> bool) {
        for message_index in self.searched..window {
            let results = scene.facts.get(message_index).map_or(0, |facts| facts.results.len());
            let spots = (0..results).map(|position| (message_index, position)).filter(|spot| is_shown(*spot));
            self.candidates.extend(spots.filter_map(|spot| Candidate::at(scene, spot)));
        }
        self.searched = self.searched.max(window);
    }

    fn count(&mut self, facts: &[MessageFacts], window: usize) {
        let results = |from: usize, to: usize| -> usize {
            facts.get(from..to).unwrap_or_default().iter().map(|facts| facts.results.len()).sum()
        };
        self.old_results = self.old_results + results(self.counted, window) - results(window, self.counted);
        self.counted = window;
    }
}

/// Which candidates recent material refers to.
fn reachable<N: Node>(
    scene: &Scene<'_, N>,
    candidates: &[Candidate],
    mentions: &Mentioned<'_>,
    old_results: usize,
) -> Vec<bool> {
    let mut holders: HashMap<String, Vec<usize>> = HashMap::new();
    let mut is_kept = Vec::with_capacity(candidates.len());
    for (index, candidate) in candidates.iter().enumerate() {
        let mut symbols = Vec::new();
        is_kept.push(candidate.is_named(scene, mentions, &mut symbols));
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
struct Candidate {
    spot: Spot,
    chars: usize,
    /// What names it, once it was looked at before.
    identifiers: Option<Collected>,
    /// What comes in its place, once it was found unreachable.
    replacement: Option<Replacement>,
}

struct Collected {
    /// Of what the call was about and what the result says of itself.
    about: Identifiers,
    body: Identifiers,
}

/// A candidate with all that belongs to it.
struct Found<'a, N> {
    spot: Spot,
    carrier: N,
    body: N,
    result: &'a ToolResult,
    call: Option<(&'a Call, &'a N)>,
}

impl<'a, N: Node> Found<'a, N> {
    fn at(scene: &Scene<'a, N>, spot: Spot) -> Option<Self> {
        let message = scene.messages.get(spot.0)?;
        let result = scene.exchanges.result(spot)?;
        let (carrier, body) = result.place.resolve(message).zip(body(message, result))?;
        let exchange = scene.exchanges.answered_by(spot);
        let call =
            exchange.and_then(|exchange| scene.exchanges.call(exchange).zip(scene.messages.get(exchange.call.0)));
        Some(Found { spot, carrier, body, result, call })
    }

    /// The arguments of the call, and what stands beside the body and beside what the body is in: each with the name
    /// of its field, until `visitor` says stop.
    fn about(&self, visitor: &mut dyn FnMut(&str, &N) -> bool) -> bool {
        let arguments = self.call.and_then(|(call, message)| arguments(message, call));
        if arguments.is_some_and(|arguments| !visitor("", &arguments)) {
            return false;
        }
        self.result.body.iter().enumerate().all(|(depth, key)| {
            let holder = self.carrier.follow(self.result.body.get(..depth).unwrap_or_default());
            let entries = holder.map(|holder| holder.entries()).unwrap_or_default();
            let is_metadata = |name: &str| name != key.as_str() && !ENVELOPE.contains(&name);
            entries.iter().filter(|(name, _)| is_metadata(name)).all(|(name, value)| visitor(name, value))
        })
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

    fn replacement(&self, chars: usize, policy: &str) -> Replacement {
        let index = self.spot.0;
        let block = self.result.place.block();
        // The reference system names no tool in a block's pointer: a block carries no name, and the call is in reach.
        let name_of_call = self.call.filter(|_| block.is_none()).map(|(call, _)| call.name.clone());
        let pointer = Pointer {
            policy: policy.to_owned(),
            source: source(index, self.result),
            source_index: index,
            source_block_index: block,
            content_hash: content_hash(&self.body),
            content_chars: chars,
            estimated_tokens_reclaimed: tokens::estimate(chars),
            tool_call_id: self.result.call_id.clone(),
            tool_name: self.result.name.clone().or(name_of_call),
            reason: STALE.to_owned(),
        };
        Replacement { result: self.spot, text: line(&pointer), pointer }
    }
}

/// The place of a body in words.
fn source(index: usize, result: &ToolResult) -> String {
    format!("transcript.messages[{index}]{}", in_words(&result.place.steps(result.body)))
}

/// What stands in place of the body.
fn line(pointer: &Pointer) -> String {
    format!(
        "[tool result reclaimed by {}; source_index={}; content_hash={}; estimated_tokens_reclaimed={}. \
         Raw content remains in the transcript audit trail.]",
        pointer.policy, pointer.source_index, pointer.content_hash, pointer.estimated_tokens_reclaimed
    )
}

/// The replacement of a body that was decided on before.
pub fn replacement_at<N: Node>(scene: &Scene<'_, N>, spot: Spot) -> Option<Replacement> {
    let found = Found::at(scene, spot)?;
    Some(found.replacement(tokens::char_count(&found.body), scene.options.policy.name()))
}

/// A replacement whose message stands at another place now.
pub fn moved(mut replacement: Replacement, index: usize, facts: &MessageFacts) -> Replacement {
    replacement.result.0 = index;
    replacement.pointer.source_index = index;
    if let Some(result) = facts.results.get(replacement.result.1) {
        replacement.pointer.source = source(index, result);
    }
    replacement.text = line(&replacement.pointer);
    replacement
}

impl Candidate {
    fn at<N: Node>(scene: &Scene<'_, N>, spot: Spot) -> Option<Self> {
        let result = scene.exchanges.result(spot)?;
        if result.failed || result.refused || result.redacted || result.stub == Stub::None {
            return None;
        }
        let body = body(scene.messages.get(spot.0)?, result)?;
        let chars = if body.kind() == Kind::Null { 0 } else { tokens::char_count(&body) };
        let is_large = chars > 0 && chars >= scene.options.min_chars;
        is_large.then_some(Candidate { spot, chars, identifiers: None, replacement: None })
    }

    /// Reads what names it, once.
    fn collect<N: Node>(&mut self, scene: &Scene<'_, N>) {
        if self.identifiers.is_some() {
            return;
        }
        let Some(found) = Found::at(scene, self.spot) else { return };
        let (mut about, mut body) = (Identifiers::default(), Identifiers::default());
        found.about(&mut |field, value| {
            about.add_field(field, value);
            true
        });
        found.texts().iter().for_each(|text| body.add(text));
        self.identifiers = Some(Collected { about: about.closed(), body: body.closed() });
    }

    /// Whether recent material names what the call was about, what the result says of itself, or a path, an object id
    /// or a reference in the body. Symbols of the body that it mentions are added to `symbols`.
    fn is_named<N: Node>(&self, scene: &Scene<'_, N>, mentions: &Mentioned<'_>, symbols: &mut Vec<String>) -> bool {
        if let Some(Collected { about, body }) = &self.identifiers {
            return mentions.name_any_collected(about) || mentions.name_surely_collected(body, symbols);
        }
        let Some(found) = Found::at(scene, self.spot) else { return true };
        !found.about(&mut |field, value| !mentions.name_field(field, value))
            || found.texts().iter().any(|text| mentions.name_surely(text, symbols))
    }

    fn replacement<N: Node>(&mut self, scene: &Scene<'_, N>) -> Option<Replacement> {
        if self.replacement.is_none() {
            let found = Found::at(scene, self.spot)?;
            self.replacement = Some(found.replacement(self.chars, scene.options.policy.name()));
        }
        self.replacement.clone()
    }
}

/// The hash in a pointer: over the text itself, or over canonical JSON when the body is no string.
pub fn content_hash<N: Node>(body: &N) -> String {
    match body.as_str() {
        Some(text) => sha256(text.as_bytes()),
        None => sha256(canonical_text(body).unwrap_or_default().as_bytes()),
    }
}

/// Notes what a message mentions. Roles, tool names and call ids are the envelope: they name nothing, else any recent call
/// of `read` would keep every old `read` alive.
fn mention<N: Node>(scene: &Scene<'_, N>, index: usize, mentions: &mut Mentions) {
    let Some((message, facts)) = scene.messages.get(index).zip(scene.facts.get(index)) else { return };
    work::message_read();
    let arguments = facts.calls.iter().filter_map(|call| arguments(message, call));
    arguments.for_each(|arguments| mentions.add(&arguments));
    let bodies = facts.results.iter().filter_map(|result| body(message, result));
    bodies.for_each(|body| mentions.add(&body));
    if !facts.stands_at(Place::Message) {
        add_rest(mentions, message, facts);
    }
}

/// What the caller's material mentions.
fn material<N: Node>(scene: &Scene<'_, N>) -> Mentions {
    let mut mentions = Mentions::default();
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
