//! OpenAI Responses items: calls and outputs are messages of their own, paired by `call_id`; hosted calls hold their
//! result themselves; reasoning items belong to the assistant's items that follow them. Plain `message` items have
//! `role` and `content` and are read as such.

use crate::error::ProjectionError;
use crate::facts::{Call, MessageFacts, Opaque, Place, Role, Shape, Stub, ToolResult};
use crate::failure::{is_failure, is_failure_but_status};
use crate::node::{Key, Kind, Node};

use super::openai_chat::is_redacted;
use super::{has_text, id_field};

/// Calls that the client answers: the item's type, the tool's name where the item has none, the arguments.
const CALLS: [(&str, &str, &[Key]); 8] = [
    ("function_call", "", &[Key::Arguments]),
    ("custom_tool_call", "", &[Key::Input]),
    ("local_shell_call", "local_shell", &[Key::Action]),
    ("shell_call", "shell", &[Key::Action]),
    ("apply_patch_call", "apply_patch", &[Key::Operation]),
    ("computer_call", "computer", &[Key::Action]),
    ("tool_search_call", "tool_search", &[Key::Arguments]),
    ("program", "program", &[Key::Code]),
];

/// Their outputs: the item's type, the tool's name, the body, and whether text may stand for it.
const OUTPUTS: [(&str, &str, Key, Stub); 8] = [
    ("function_call_output", "", Key::Output, Stub::Text),
    ("custom_tool_call_output", "", Key::Output, Stub::Text),
    ("local_shell_call_output", "local_shell", Key::Output, Stub::Text),
    ("shell_call_output", "shell", Key::Output, Stub::Shell),
    ("apply_patch_call_output", "apply_patch", Key::Output, Stub::Text),
    ("computer_call_output", "computer", Key::Output, Stub::None),
    ("tool_search_output", "tool_search", Key::Tools, Stub::None),
    ("program_output", "program", Key::Result, Stub::None),
];

/// Calls that the provider answers in the same item: the item's type, the arguments, the body.
const HOSTED: [(&str, &[Key], &[Key]); 5] = [
    ("mcp_call", &[Key::Arguments], &[Key::Output]),
    ("web_search_call", &[Key::Action], &[Key::Results]),
    ("file_search_call", &[Key::Queries], &[Key::Results]),
    ("code_interpreter_call", &[Key::Code], &[Key::Outputs]),
    ("image_generation_call", &[Key::RevisedPrompt], &[Key::Result]),
];

/// Items of other types that a list without roles may hold; they stay as they are.
const OTHERS: [&str; 8] = [
    "item_reference",
    "agent_message",
    "mcp_list_tools",
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
    "configuration_update",
];

/// The facts of an item of this type; `None` when it is none of the types that need no role.
pub fn read<N: Node>(item: &N, kind: &str, index: usize) -> Result<Option<MessageFacts>, ProjectionError> {
    let at = || format!("messages[{index}]");
    let id = |key| id_field(item, key, &at);
    let facts = |role| MessageFacts { shape: Shape::Responses, text: &[], ..MessageFacts::new(role) };
    let mut facts = if kind == "reasoning" {
        reasoning(item)
    } else if let Some((_, name, arguments)) = CALLS.iter().find(|(known, ..)| *known == kind) {
        // Older local shell calls are answered by their id.
        let call_id = match id(Key::CallId)? {
            None if kind == "local_shell_call" => id(Key::Id)?,
            call_id => call_id,
        };
        let mut facts = facts(Role::Assistant);
        facts.calls.push(Call::new(Place::Message, call_id, name_of(item, name), arguments));
        facts.named = kind == "local_shell_call" && item.field(Key::CallId).is_none();
        // A program is signed, and calls that it made are part of what it replays.
        facts.signed = has_text(item, Key::Fingerprint) || is_of_program(item);
        facts
    } else if let Some((_, name, body, stub)) = OUTPUTS.iter().find(|(known, ..)| *known == kind) {
        let mut facts = facts(Role::Tool);
        facts.results.push(output(item, kind, id(Key::CallId)?, name, *body, *stub));
        facts
    } else if let Some((_, arguments, body)) = HOSTED.iter().find(|(known, ..)| *known == kind) {
        let mut facts = facts(Role::Assistant);
        hosted(item, kind, id(Key::Id)?, id(Key::ApprovalRequestId)?, arguments, body, &mut facts);
        facts
    } else if kind == "mcp_approval_request" {
        let mut facts = facts(Role::Assistant);
        let call = Call::new(Place::Message, id(Key::Id)?, name_of(item, ""), &[Key::Arguments]);
        facts.calls.push(call);
        facts.named = true;
        facts
    } else if kind == "mcp_approval_response" {
        let mut facts = facts(Role::Tool);
        let approved = item.field(Key::Approve).and_then(|approve| approve.as_bool()) != Some(false);
        super::approval(Place::Message, id(Key::ApprovalRequestId)?, approved, &mut facts);
        facts
    } else if OTHERS.contains(&kind) {
        // What one agent writes to another is encrypted part by part.
        let content = item.field(Key::Content);
        let is_signed_part = |part: N| has_text(&part, Key::EncryptedContent);
        let signed = content.is_some_and(|content| content.items().flatten().any(is_signed_part));
        let signed = signed || has_text(item, Key::EncryptedContent);
        MessageFacts { speaks: true, signed, ..facts(Role::Other) }
    } else {
        return Ok(None);
    };
    note_id(item, &mut facts);
    Ok(Some(facts))
}

/// Whether items of this type are known.
pub fn is_item_type(kind: &str) -> bool {
    matches!(kind, "message" | "reasoning" | "mcp_approval_request" | "mcp_approval_response")
        || CALLS.iter().any(|(known, ..)| *known == kind)
        || OUTPUTS.iter().any(|(known, ..)| *known == kind)
        || HOSTED.iter().any(|(known, ..)| *known == kind)
        || OTHERS.contains(&kind)
}

/// Whether a message's content is that of an item: Anthropic's responses are of type `message` as well.
pub fn is_content<N: Node>(content: &N) -> bool {
    let kind = content.item(0).filter(|part| part.kind() == Kind::Object).and_then(|part| part.field_str(Key::Type));
    kind.is_some_and(|kind| {
        matches!(kind.as_str(), "input_text" | "output_text" | "input_image" | "input_file" | "refusal")
    })
}

/// An item that has an id needs the reasoning that it was produced with, unless the id goes as well.
pub fn note_id<N: Node>(item: &N, facts: &mut MessageFacts) {
    if facts.role == Role::Assistant && !facts.leads && !facts.named && item.field(Key::Id).is_some() {
        facts.opaque.push(Opaque { place: Place::Message, field: &[Key::Id], step: None });
    }
}

fn reasoning<N: Node>(item: &N) -> MessageFacts {
    MessageFacts {
        shape: Shape::Responses,
        text: &[Key::Summary],
        signed: has_text(item, Key::EncryptedContent),
        leads: true,
        ..MessageFacts::new(Role::Assistant)
    }
}

fn name_of<N: Node>(item: &N, of_type: &str) -> String {
    if of_type.is_empty() { item.field_str(Key::Name).unwrap_or_default() } else { of_type.to_owned() }
}

fn is_of_program<N: Node>(item: &N) -> bool {
    let caller = item.field(Key::Caller).and_then(|caller| caller.field_str(Key::Type));
    caller.is_some_and(|caller| caller != "direct")
}

fn output<N: Node>(item: &N, kind: &str, call_id: Option<String>, name: &str, body: Key, stub: Stub) -> ToolResult {
    let content = item.field(body);
    // `status` says whether the item was generated to its end; a patch's says whether it could be applied.
    let failed = match kind {
        "apply_patch_call_output" => is_failure(item, content.as_ref()),
        "shell_call_output" => content.as_ref().is_some_and(has_timed_out),
        _ => is_failure_but_status(item, content.as_ref()),
    };
    let name = Some(name_of(item, name)).filter(|name| !name.is_empty());
    // What a shell printed has a place for a line only if it is a list of commands.
    let is_command = |part: Option<N>| part.is_some_and(|part| part.kind() == Kind::Object);
    let has_place = content.as_ref().is_some_and(|list| !list.is_empty() && list.items().all(is_command));
    let stub = if stub == Stub::Shell && !has_place { Stub::None } else { stub };
    let body = match body {
        Key::Tools => &[Key::Tools],
        Key::Result => &[Key::Result],
        _ => &[Key::Output],
    };
    ToolResult { place: Place::Message, call_id, name, failed, refused: false, body, stub, redacted: is_redacted(item) }
}

/// Exit codes are left to the caller: a search without a match exits with 1.
fn has_timed_out<N: Node>(output: &N) -> bool {
    let outcomes = output.items().flatten().filter_map(|part| part.field(Key::Outcome));
    outcomes.filter_map(|outcome| outcome.field_str(Key::Type)).any(|outcome| outcome == "timeout")
}

fn hosted<N: Node>(
    item: &N,
    kind: &str,
    id: Option<String>,
    approval: Option<String>,
    arguments: &'static [Key],
    body: &'static [Key],
    facts: &mut MessageFacts,
) {
    let name = name_of(item, if kind == "mcp_call" { "" } else { kind });
    let status = item.field_str(Key::Status).unwrap_or_default();
    let is_done = matches!(status.as_str(), "" | "completed" | "failed");
    // A call that was approved answers the request for approval, which is the call.
    let call_id = match &approval {
        Some(request) => Some(request.clone()),
        None => {
            facts.calls.push(Call::new(Place::Message, id.clone(), name.clone(), arguments));
            id
        }
    };
    if is_done || approval.is_some() {
        let failed = is_failure(item, item.follow(body).filter(|body| body.kind() == Kind::String).as_ref());
        let name = Some(name);
        let (place, stub) = (Place::Message, Stub::None);
        facts.results.push(ToolResult { place, call_id, name, failed, refused: false, body, stub, redacted: false });
    }
}
