//! Gemini contents.

use crate::canonical::canonical_text;
use crate::facts::{Call, MessageFacts, Role};
use crate::node::{Key, Kind, Node};

use super::checks::{
    Met, block_of, foreign, is_orphan, objects, only_objects, required, result_label, role_of, shows, unknown_role,
};
use super::{Findings, Scene};

/// Reports what Gemini would refuse.
pub fn check<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    for (index, content) in scene.messages.iter().enumerate() {
        let role = role_of(content);
        if !matches!(&*role, "user" | "model" | "function" | "") {
            unknown_role(index, &role, "user or model", found);
        }
        for key in [Key::Content, Key::ToolCalls] {
            if content.field(key).is_some() {
                foreign(index, None, key.as_str(), found);
            }
        }
        parts(content, index, found);
        layout(scene, index, found);
    }
    if scene.facts.last().is_some_and(|last| last.role == Role::Assistant && last.calls.is_empty()) {
        let text = "the last content should be of the user or hold function responses";
        found.warning("GEM-ROLE-2", scene.messages.len() - 1, None, text);
    }
    signatures(scene, found);
    if let Some(original) = &scene.request.original_messages {
        interleaved(original, scene, found);
    }
}

fn parts<N: Node>(content: &N, index: usize, found: &mut Findings) {
    let rule = "GEM-ROLE-1";
    let Some(list) = content.field(Key::Parts).filter(|list| list.kind() == Kind::Array && !list.is_empty()) else {
        found.error(rule, index, None, "`parts` is missing or empty");
        return;
    };
    only_objects(&list, index, found);
    for (block, part) in objects(content, Key::Parts) {
        let entries = part.entries();
        if !entries.iter().any(|(name, value)| is_data(name) && value.kind() != Kind::Null) {
            found.error(rule, index, Some(block), "the part holds no data");
        } else if part.field(Key::Type).is_some() {
            foreign(index, Some(block), "type", found);
        } else if part.field(Key::Text).is_some() && !shows(&part, Key::Text) && !is_signed(&part) {
            found.warning(rule, index, Some(block), "an empty text can count as no data");
        }
        for (key, body) in [
            (Key::FunctionCallCamel, Key::Args),
            (Key::FunctionCall, Key::Args),
            (Key::FunctionResponseCamel, Key::Response),
            (Key::FunctionResponse, Key::Response),
        ] {
            let Some(call) = part.field(key) else { continue };
            required(&call, Key::Name, "missing_name", (index, Some(block)), found);
            if call.field(body).is_some_and(|body| body.kind() != Kind::Object) {
                found.error("wrong_type", index, Some(block), "`args` and `response` must be objects");
            }
        }
    }
}

/// Whether a field is one of those of which a part must have one.
fn is_data(name: &str) -> bool {
    !matches!(
        name,
        "thought"
            | "thoughtSignature"
            | "thought_signature"
            | "videoMetadata"
            | "video_metadata"
            | "mediaResolution"
            | "media_resolution"
            | "partMetadata"
            | "_harn_projection"
    )
}

fn is_signed<N: Node>(part: &N) -> bool {
    shows(part, Key::ThoughtSignatureCamel) || shows(part, Key::ThoughtSignature)
}

/// Calls stand after the user's turn or after responses, and as many responses directly after them.
fn layout<N: Node>(scene: &Scene<'_, N>, index: usize, found: &mut Findings) {
    let of = |index: usize| scene.facts.get(index);
    let Some(facts) = of(index) else { return };
    let before = index.checked_sub(1).and_then(of);
    let calls = before.map_or(0, |before| before.calls.len());
    let responses = facts.results.len();
    if responses > 0 && calls == 0 {
        found.error("GEM-PAIR-3", index, None, "function responses must come directly after their calls");
    } else if calls != responses && calls > 0 {
        let text = format!("{responses} function responses to {calls} calls");
        found.error("GEM-PAIR-1", index, None, text);
    } else {
        for spot in (0..responses).map(|position| (index, position)).filter(|spot| is_orphan(scene, *spot)) {
            let text = format!("{} is of another id or name than the calls", result_label(scene, spot));
            found.warning("GEM-PAIR-3", index, block_of(scene, spot), text);
        }
    }
    if facts.calls.is_empty() {
        return;
    }
    // Behind calls it is their missing responses that are wrong.
    if before.is_none_or(|before| before.role == Role::Assistant && before.calls.is_empty()) {
        found.error("GEM-PAIR-2", index, None, "calls must come directly after the user's turn or after responses");
    }
    if index + 1 == scene.messages.len() {
        found.error("GEM-PAIR-1", index, None, "the calls at the end have no responses");
    }
}

/// In the current turn the first call of each step carries its signature.
fn signatures<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    let version = scene.request.gemini();
    let is_image_model = scene.request.names("image");
    if version.is_some_and(|version| version < 3) || is_image_model {
        return;
    }
    let newest = scene.facts.iter().rposition(speaks_as_user);
    let mut edit = None;
    for (index, facts) in scene.facts.iter().enumerate().skip(newest.map_or(0, |newest| newest + 1)) {
        let Some(first) = facts.calls.first() else { continue };
        let part = scene.messages.get(index).and_then(|content| first.place.resolve(content));
        let Some(part) = part.filter(|part| !is_signed(part)) else { continue };
        let edit = edit.get_or_insert_with(|| Edit::of(scene, newest));
        let (rule, text) = edit.why_unsigned(first, &part);
        let block = first.place.block();
        match version {
            Some(_) => found.error(rule, index, block, text),
            None => found.warning(rule, index, block, format!("{text} (from Gemini 3 on)")),
        }
    }
}

/// Ordinary content begins a turn; responses alone do not.
fn speaks_as_user(facts: &MessageFacts) -> bool {
    facts.role == Role::User && facts.speaks
}

/// What an edit did that leaves calls of the current turn without signatures.
#[derive(Default)]
struct Edit {
    /// The turn began elsewhere before.
    moved_turn: bool,
    /// The calls that a signed one of the same batch spoke for.
    spoken_for: Met,
}

impl Edit {
    fn of<N: Node>(scene: &Scene<'_, N>, newest: Option<usize>) -> Self {
        let Some(original) = &scene.request.original_messages else { return Edit::default() };
        let text = |content: &N| canonical_text(content).ok();
        let begins_turn = |content: &&N| {
            let is_user = matches!(&*role_of(*content), "user" | "");
            is_user && objects(*content, Key::Parts).iter().any(|(_, part)| !is_response(part))
        };
        let last_turn = original.iter().rev().find(begins_turn).map(text);
        let this_turn = newest.and_then(|newest| scene.messages.get(newest)).map(text);
        let mut spoken_for = Met::default();
        for (index, content) in original.iter().enumerate() {
            let calls = call_parts(content);
            let later = calls.iter().skip(1).filter(|_| calls.first().is_some_and(is_signed));
            later.filter_map(text).for_each(|call| {
                spoken_for.note(&call, index);
            });
        }
        Edit { moved_turn: last_turn != this_turn, spoken_for }
    }

    fn why_unsigned<N: Node>(&self, call: &Call, part: &N) -> (&'static str, &'static str) {
        let is_spoken_for = || canonical_text(part).is_ok_and(|text| !self.spoken_for.at(&text).is_empty());
        if self.moved_turn {
            ("GEM-SIG-7", "the newest user text is gone: this older call, unsigned, is in the current turn now")
        } else if !call.name.is_empty() && is_spoken_for() {
            ("GEM-SIG-2", "the signed first call of a parallel batch is gone, and this one is unsigned")
        } else {
            ("GEM-SIG-1", "the first call of a step in the current turn needs its thought signature")
        }
    }
}

fn is_response<N: Node>(part: &N) -> bool {
    [Key::FunctionResponseCamel, Key::FunctionResponse].into_iter().any(|key| part.field(key).is_some())
}

fn call_parts<N: Node>(content: &N) -> Vec<N> {
    let parts = objects(content, Key::Parts).into_iter().map(|(_, part)| part);
    let is_call =
        |part: &N| [Key::FunctionCallCamel, Key::FunctionCall].into_iter().any(|key| part.field(key).is_some());
    parts.filter(is_call).collect()
}

/// A parallel batch that came back one call at a time.
fn interleaved<N: Node>(original: &[N], scene: &Scene<'_, N>, found: &mut Findings) {
    let batch = |content: &N| -> Vec<String> {
        call_parts(content).iter().filter_map(|part| canonical_text(part).ok()).collect()
    };
    let mut steps = Met::default();
    let mut calls: Vec<(usize, String)> = Vec::new();
    let mut starts = Met::default();
    for (index, content) in scene.messages.iter().enumerate() {
        let step = batch(content);
        steps.note(&step.join("\n"), index);
        for call in step {
            starts.note(&call, calls.len());
            calls.push((index, call));
        }
    }
    // When calls went, those that are left may only look like a batch.
    if calls.len() < original.iter().map(|content| call_parts(content).len()).sum() {
        return;
    }
    for (index, whole) in original.iter().map(batch).enumerate().filter(|(_, whole)| whole.len() > 1) {
        // One that is there, or was looked for already.
        if steps.note(&whole.join("\n"), index).is_some() {
            continue;
        }
        let windows = whole
            .first()
            .map_or(&[][..], |first| starts.at(first))
            .iter()
            .filter_map(|start| calls.get(*start..*start + whole.len()));
        let is_it = |window: &&[(usize, String)]| window.iter().map(|(_, call)| call).eq(whole.iter());
        if let Some((index, _)) = windows.filter(is_it).find_map(|window| window.last()) {
            let text = "calls that were made together must come back together, their responses after them";
            found.error("GEM-PAIR-4", *index, None, text);
        }
    }
}
