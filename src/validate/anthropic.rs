//! Anthropic Messages.

use crate::exchange::{Exchange, Spot};
use crate::facts::Call;
use crate::node::{Key, Kind, Node};

use super::checks::{
    Met, block_of, call_id, calls_in, foreign, is_blank, is_orphan, label, objects, only_objects, required,
    result_label, role_of, shows, tool_input, type_of, unknown_role,
};
use super::{Findings, Scene, binding};

/// Reports what Anthropic would refuse.
pub fn check<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    if scene.messages.first().is_some_and(|first| role_of(first) == "assistant" && !starts_compacted(first)) {
        found.error("ANT-ROLE-1", 0, None, "the first message must be of role user");
    }
    let mut ids = Met::default();
    for (index, message) in scene.messages.iter().enumerate() {
        role(scene, index, message, found);
        content(scene, index, message, found);
        for (call, exchange) in calls_in(scene, index, Key::Content) {
            unique(call, index, &mut ids, found);
            program(call, index, &ids, found);
            answers(scene, call, exchange, found);
        }
        orphans(scene, index, found);
    }
    ending(scene, found);
    manual_thinking(scene, found);
    binding::check(scene, found);
}

fn last_block<N: Node>(message: &N) -> Option<N> {
    objects(message, Key::Content).pop().map(|(_, block)| block)
}

fn starts_compacted<N: Node>(message: &N) -> bool {
    objects(message, Key::Content).first().is_some_and(|(_, block)| type_of(block) == "compaction")
}

fn role<N: Node>(scene: &Scene<'_, N>, index: usize, message: &N, found: &mut Findings) {
    match &*role_of(message) {
        "user" | "assistant" => {}
        "system" => system(scene, index, message, found),
        other => unknown_role(index, other, "user or assistant", found),
    }
    for key in [Key::ToolCalls, Key::FunctionCall] {
        if message.field(key).is_some() {
            foreign(index, None, key.as_str(), found);
        }
    }
    // A response that was put into the list whole, or what a program notes for itself.
    let is_extra =
        |name: &str| !matches!(name, "role" | "content" | "tool_calls" | "function_call" | "_harn_projection");
    if let Some((name, _)) = message.entries().into_iter().find(|(name, _)| is_extra(name)) {
        let text = format!("Anthropic refuses fields beside `role` and `content`, as `{name}`: leave them out");
        found.warning("extra_field", index, None, text);
    }
}

/// A system message inside the list: some models take one, in few places.
fn system<N: Node>(scene: &Scene<'_, N>, index: usize, message: &N, found: &mut Findings) {
    let rule = "ANT-ROLE-3";
    let model = scene.request.claude();
    let takes = model.and_then(|model| model.takes_system_messages());
    if takes == Some(false) {
        found.error(
            rule,
            index,
            None,
            "this model takes no system message inside the list: use the top-level `system`",
        );
        return;
    }
    let Some(before) = index.checked_sub(1).and_then(|before| scene.messages.get(before)) else {
        found.error(rule, index, None, "a system message may not be first: use the top-level `system`");
        return;
    };
    let after_server_result = |message: &N| last_block(message).is_some_and(|block| is_server_result(&type_of(&block)));
    if role_of(before) != "user" && !after_server_result(before) {
        found.error(rule, index, None, "a system message must follow a user turn or the result of a server tool");
    }
    if scene.messages.get(index + 1).is_some_and(|next| role_of(next) != "assistant") {
        found.error(rule, index, None, "a system message must be last or stand before an assistant turn");
    }
    if objects(message, Key::Content).iter().any(|(_, block)| type_of(block) != "text") {
        found.error(rule, index, None, "a system message may hold only text");
    }
    if takes.is_none() {
        found.warning(rule, index, None, "not every model takes system messages inside the list");
    }
}

fn is_server_result(kind: &str) -> bool {
    kind.ends_with("_tool_result")
}

fn content<N: Node>(scene: &Scene<'_, N>, index: usize, message: &N, found: &mut Findings) {
    let rule = "ANT-ROLE-4";
    let is_final = role_of(message) == "assistant" && index + 1 == scene.messages.len();
    let Some(content) = message.field(Key::Content) else {
        found.error(rule, index, None, "the content is missing or null");
        return;
    };
    match content.kind() {
        Kind::String => {
            let is_empty = content.with_str(str::is_empty) == Some(true);
            if is_blank(&content) && !(is_final && is_empty) {
                found.error(rule, index, None, "the content is empty or only white space");
            }
        }
        Kind::Array => {
            if content.is_empty() && !is_final {
                found.error(rule, index, None, "the content is empty");
            }
            only_objects(&content, index, found);
            blocks(index, message, found);
        }
        kind => {
            let text = format!("`content` must be a string or an array, not {}", kind.in_words());
            found.error("wrong_type", index, None, text);
        }
    }
}

fn blocks<N: Node>(index: usize, message: &N, found: &mut Findings) {
    let role = role_of(message);
    let mut has_other = false;
    for (position, block) in objects(message, Key::Content) {
        let kind = type_of(&block);
        let at = (index, Some(position));
        if let Some(owner) = owner_of(&kind)
            && owner != role
        {
            let text = format!("a `{kind}` block belongs in a message of role {owner}, not {role}");
            found.error("ANT-ROLE-7", at.0, at.1, text);
        }
        match &*kind {
            "" => found.error("wrong_type", at.0, at.1, "the block has no `type`"),
            "text" => text(&block, at, found),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => call(&block, at, found),
            "tool_result" => result(&block, at, has_other, found),
            "thinking" if !shows(&block, Key::Signature) => {
                found.error("ANT-THK-2", at.0, at.1, "a thinking block without a signature");
            }
            "redacted_thinking" if !shows(&block, Key::Data) => {
                found.error("ANT-THK-2", at.0, at.1, "a redacted_thinking block without data");
            }
            "image_url"
            | "input_text"
            | "output_text"
            | "input_image"
            | "input_file"
            | "reasoning"
            | "function_call"
            | "function_call_output" => {
                foreign(index, at.1, &kind, found);
            }
            _ => {}
        }
        has_other |= kind != "tool_result";
    }
    let last = last_block(message).map(|block| type_of(&block));
    if role == "assistant" && last.is_some_and(|kind| matches!(&*kind, "thinking" | "redacted_thinking")) {
        found.error("thinking_last", index, None, "the last block of an assistant message may not be thinking");
    }
}

/// The role whose messages such a block belongs in.
fn owner_of(kind: &str) -> Option<&'static str> {
    match kind {
        "tool_result" => Some("user"),
        "tool_use" | "server_tool_use" | "mcp_tool_use" | "thinking" | "redacted_thinking" => Some("assistant"),
        kind => is_server_result(kind).then_some("assistant"),
    }
}

fn text<N: Node>(block: &N, (index, block_index): (usize, Option<usize>), found: &mut Findings) {
    if !shows(block, Key::Text) {
        found.error("ANT-ROLE-4", index, block_index, "the text block is empty or only white space");
    }
}

fn call<N: Node>(block: &N, at: (usize, Option<usize>), found: &mut Findings) {
    call_id(block, Key::Id, at, found);
    required(block, Key::Name, "missing_name", at, found);
    tool_input(block.field(Key::Input).as_ref(), at, found);
}

fn result<N: Node>(block: &N, at: (usize, Option<usize>), after_other: bool, found: &mut Findings) {
    if after_other {
        found.error("ANT-PAIR-4", at.0, at.1, "tool_result blocks must come before all others");
    }
    required(block, Key::ToolUseId, "missing_id", at, found);
    let body = block.field(Key::Content);
    let is_error = block.field(Key::IsError).and_then(|flag| flag.as_bool()) == Some(true);
    let is_empty = match &body {
        Some(body) if body.kind() == Kind::String => is_blank(body),
        Some(body) => body.is_empty(),
        None => true,
    };
    if is_error && is_empty {
        found.warning("ANT-PAIR-9", at.0, at.1, "a tool_result with `is_error` should say what went wrong");
    }
    for (_, part) in objects(block, Key::Content) {
        match &*type_of(&part) {
            "text" => text(&part, at, found),
            "image" | "document" | "search_result" | "tool_reference" => {}
            kind => {
                found.warning("ANT-PAIR-9", at.0, at.1, format!("a `{kind}` block inside a tool_result"));
            }
        }
    }
}

fn unique(call: &Call, index: usize, ids: &mut Met, found: &mut Findings) {
    let Some(id) = &call.id else { return };
    if let Some(first) = ids.note(id, index) {
        let text = format!("the id {id} stands at message {first} already");
        found.error("ANT-PAIR-6", index, call.place.block(), text);
    }
}

/// A call that a program made names the program's own call.
fn program(call: &Call, index: usize, ids: &Met, found: &mut Findings) {
    if let Some(program) = call.program.as_ref().filter(|program| ids.at(program).is_empty()) {
        let text = format!("{} was made by {program}, which is no call before it", label(call));
        found.warning("ANT-PAIR-8", index, call.place.block(), text);
    }
}

fn kind_of<N: Node>(scene: &Scene<'_, N>, call: &Call, index: usize) -> String {
    let block = scene.messages.get(index).and_then(|message| call.place.resolve(message));
    block.map(|block| type_of(&block)).unwrap_or_default()
}

/// A call of the client is answered in the next message, and there once.
fn answers<N: Node>(scene: &Scene<'_, N>, call: &Call, exchange: &Exchange, found: &mut Findings) {
    let (index, _) = exchange.call;
    let block = call.place.block();
    if kind_of(scene, call, index) != "tool_use" {
        server_answers(scene, call, exchange, found);
        return;
    }
    let next = index + 1;
    let mut in_next = exchange.results.iter().filter(|(message, _)| *message == next);
    let answered = in_next.next().is_some();
    for spot in in_next {
        let text = format!("{} has more than one result", label(call));
        found.error("ANT-PAIR-5", next, block_of(scene, *spot), text);
    }
    let later = exchange.results.iter().filter(|(message, _)| *message > next);
    for spot in later.skip(usize::from(!answered)) {
        misplaced(scene, *spot, found);
    }
    if answered {
        return;
    }
    let late = exchange.results.iter().find(|(message, _)| *message > next);
    if let Some(spot) = late
        && holds_only_results(scene, next, spot.0)
    {
        let text = format!("{} is answered in a message of its own: all results belong in one", label(call));
        found.error("ANT-PAIR-3", spot.0, block_of(scene, *spot), text);
    } else if next >= scene.messages.len() {
        found.error("ANT-PAIR-7", index, block, format!("{} is not answered", label(call)));
    } else {
        found.error("ANT-PAIR-1", index, block, format!("{} is not answered in the next message", label(call)));
    }
}

/// Whether the messages from `first` to `last` are results in the user's name.
fn holds_only_results<N: Node>(scene: &Scene<'_, N>, first: usize, last: usize) -> bool {
    let holds_results = |index: usize| scene.facts.get(index).is_some_and(|facts| !facts.results.is_empty());
    let is_user = |index: usize| scene.messages.get(index).is_some_and(|message| role_of(message) == "user");
    (first..=last).all(|index| is_user(index) && holds_results(index))
}

fn misplaced<N: Node>(scene: &Scene<'_, N>, spot: Spot, found: &mut Findings) {
    let text = format!("{} answers no call of the previous message", result_label(scene, spot));
    found.error("ANT-PAIR-2", spot.0, block_of(scene, spot), text);
}

/// While a server tool runs, the user may only hand in results.
fn server_answers<N: Node>(scene: &Scene<'_, N>, call: &Call, exchange: &Exchange, found: &mut Findings) {
    for spot in exchange.results.iter().filter(|spot| result_kind(scene, **spot) == "tool_result") {
        misplaced(scene, *spot, found);
    }
    for spot in exchange.results.iter().filter(|spot| spot.0 == exchange.call.0) {
        let block = block_of(scene, *spot);
        if block < call.place.block() {
            let text = format!("{} stands before its call", result_label(scene, *spot));
            found.error("ANT-PAIR-8", spot.0, block, text);
        }
    }
    let next = exchange.call.0 + 1;
    let Some(message) = scene.messages.get(next).filter(|_| exchange.results.is_empty()) else { return };
    let blocks = objects(message, Key::Content);
    let only_results = !blocks.is_empty() && blocks.iter().all(|(_, block)| type_of(block) == "tool_result");
    if role_of(message) == "user" && !only_results {
        let text = format!("the server's {} has no result yet: the user may only send tool results", label(call));
        found.error("ANT-PAIR-8", next, None, text);
    }
}

/// The type of the block of a result.
fn result_kind<N: Node>(scene: &Scene<'_, N>, spot: Spot) -> String {
    let block = scene.messages.get(spot.0).zip(scene.exchanges.result(spot));
    let block = block.and_then(|(message, result)| result.place.resolve(message));
    block.map(|block| type_of(&block)).unwrap_or_default()
}

fn orphans<N: Node>(scene: &Scene<'_, N>, index: usize, found: &mut Findings) {
    let results = scene.facts.get(index).map_or(0, |facts| facts.results.len());
    for spot in (0..results).map(|position| (index, position)).filter(|spot| is_orphan(scene, *spot)) {
        match &*result_kind(scene, spot) {
            "tool_result" => misplaced(scene, spot, found),
            kind if is_server_result(kind) => {
                let text = format!("{} has no call of a server tool before it", result_label(scene, spot));
                found.error("ANT-PAIR-8", index, block_of(scene, spot), text);
            }
            _ => {}
        }
    }
}

/// An assistant message at the end is the beginning of the answer.
fn ending<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    let Some(last) = scene.messages.last().filter(|last| role_of(*last) == "assistant") else { return };
    let index = scene.messages.len() - 1;
    let block = last_block(last);
    // Of calls at the end the missing answers are what is wrong. A turn that the server paused goes on.
    let is_paused = |kind: &str| kind.ends_with("tool_use") || kind == "compaction" || is_server_result(kind);
    if block.as_ref().is_some_and(|block| is_paused(&type_of(block))) {
        return;
    }
    let text = block.and_then(|block| block.field(Key::Text)).or_else(|| last.field(Key::Content));
    let ends_blank = |text: &str| text.ends_with(char::is_whitespace);
    if text.and_then(|text| text.with_str(ends_blank)) == Some(true) {
        found.error("ANT-ROLE-5", index, None, "the final assistant text ends in white space");
    }
    match scene.request.claude().map(|model| model.refuses_prefill()) {
        Some(true) => found.error("ANT-ROLE-6", index, None, "this model refuses an assistant message at the end"),
        Some(false) => {}
        None => found.warning("ANT-ROLE-6", index, None, "newer models refuse an assistant message at the end"),
    }
}

/// With manual thinking the assistant's turn in an open tool loop begins with thinking.
fn manual_thinking<N: Node>(scene: &Scene<'_, N>, found: &mut Findings) {
    if scene.request.thinking.as_deref() != Some("enabled") {
        return;
    }
    let turn = scene.exchanges.newest_turn(|_| true);
    let is_open = scene.facts.get(turn..).unwrap_or_default().last().is_some_and(|facts| !facts.results.is_empty());
    let is_assistant =
        |index: &usize| scene.messages.get(*index).is_some_and(|message| role_of(message) == "assistant");
    let Some(first) = (turn..scene.messages.len()).find(is_assistant).filter(|_| is_open) else { return };
    let blocks = scene.messages.get(first).map(|message| objects(message, Key::Content)).unwrap_or_default();
    let kind = blocks.first().map(|(_, block)| type_of(block)).unwrap_or_default();
    if !matches!(&*kind, "thinking" | "redacted_thinking") {
        let text = "with thinking enabled an open tool loop must begin with a thinking block";
        found.error("ANT-THK-3", first, Some(0), text);
    }
}
