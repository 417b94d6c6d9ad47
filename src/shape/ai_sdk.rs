//! The AI SDK. Model messages: `tool-call` parts answered by `tool-result` parts of a tool message, or of the same
//! message when the provider ran the tool. UI messages: call and result are one part, whose `state` says how far it
//! is. An approval that was asked for or given hangs on its call.

use crate::error::ProjectionError;
use crate::facts::{Call, Dependant, MessageFacts, Opaque, Place, Role, Shape, Stub, ToolResult};
use crate::failure::{as_flag, is_failure};
use crate::node::{Key, Kind, Node};

use super::openai_chat::is_redacted;
use super::{approval, has_text, id_field, is_visible, list_field};

const PARTS: &[Key] = &[Key::Parts];
/// Where the SDK keeps what providers want back.
const METADATA: [(Key, &[Key]); 4] = [
    (Key::ProviderOptions, &[Key::ProviderOptions]),
    (Key::ProviderMetadata, &[Key::ProviderMetadata]),
    (Key::CallProviderMetadata, &[Key::CallProviderMetadata]),
    (Key::ResultProviderMetadata, &[Key::ResultProviderMetadata]),
];
const SIGNATURES: [Key; 5] = [
    Key::Signature,
    Key::RedactedData,
    Key::ReasoningEncryptedContent,
    Key::ThoughtSignatureCamel,
    Key::ThoughtSignature,
];

/// Whether the content of a tool message is a list of results rather than one result's body.
pub fn is_tool_content<N: Node>(content: &N) -> bool {
    let kind = content.item(0).filter(|part| part.kind() == Kind::Object).and_then(|part| part.field_str(Key::Type));
    kind.is_some_and(|kind| matches!(kind.as_str(), "tool-result" | "tool-approval-response"))
}

/// Adds what a model message's part of a `tool-` type holds.
pub fn read_part<N: Node>(
    part: &N,
    kind: &str,
    place: Place,
    at: &dyn Fn() -> String,
    facts: &mut MessageFacts,
) -> Result<(), ProjectionError> {
    let id = |key| id_field(part, key, at);
    facts.shape = Shape::AiSdk;
    match kind {
        "tool-call" => {
            // The fourth version said `args`.
            let arguments: &[Key] = if part.field(Key::Input).is_some() { &[Key::Input] } else { &[Key::Args] };
            facts.calls.push(Call::new(place, id(Key::ToolCallIdCamel)?, tool_name(part), arguments));
            note_metadata(part, place, facts);
        }
        "tool-result" => {
            let mut result = result(part, place, id(Key::ToolCallIdCamel)?);
            // Providers take back their own tools' results in their own types only.
            if facts.role == Role::Assistant {
                result.stub = Stub::None;
            }
            facts.results.push(result);
            note_metadata(part, place, facts);
        }
        "tool-approval-request" => {
            let (call_id, alias) = (id(Key::ToolCallIdCamel)?, id(Key::ApprovalId)?);
            facts.dependants.push(Dependant { place, call_id, alias });
        }
        "tool-approval-response" => {
            let approved = part.field(Key::Approved).and_then(|approved| approved.as_bool()) != Some(false);
            approval(place, id(Key::ApprovalId)?, approved, facts);
        }
        _ => facts.speaks = true,
    }
    Ok(())
}

fn tool_name<N: Node>(part: &N) -> String {
    part.field_str(Key::ToolName).unwrap_or_default()
}

fn result<N: Node>(part: &N, place: Place, call_id: Option<String>) -> ToolResult {
    let output = part.field(Key::Output);
    let kind = output.as_ref().and_then(|output| output.field_str(Key::Type)).unwrap_or_default();
    let of_version_4 = output.is_none();
    ToolResult {
        place,
        call_id,
        name: part.field_str(Key::ToolName),
        // What a tool throws becomes an output of these types, so the others are successes.
        failed: matches!(kind.as_str(), "error-text" | "error-json")
            || (of_version_4 && part.field(Key::IsErrorCamel).and_then(|flag| as_flag(&flag)) == Some(true)),
        refused: kind == "execution-denied",
        body: if of_version_4 { &[Key::Result] } else { &[Key::Output, Key::Value] },
        stub: if of_version_4 { Stub::Text } else { Stub::Typed },
        redacted: is_redacted(part),
    }
}

/// The facts of a UI message with these parts.
pub fn read_ui<N: Node>(
    message: &N,
    parts: &N,
    role_name: &str,
    index: usize,
) -> Result<MessageFacts, ProjectionError> {
    let role = super::role(role_name);
    let mut facts = MessageFacts { shape: Shape::AiSdkUi, text: PARTS, ..MessageFacts::new(role) };
    let mut step = 0;
    let mut speaking = Vec::new();
    for (position, part) in parts.items().enumerate() {
        let Some(part) = part else { continue };
        let at = || format!("messages[{index}].parts[{position}]");
        let (calls, opaque) = (facts.calls.len(), facts.opaque.len());
        let spoke = std::mem::take(&mut facts.speaks);
        let is_start = read_ui_part(&part, Place::Item(Key::Parts, position), &at, &mut facts)?;
        step += usize::from(is_start);
        facts.calls.iter_mut().skip(calls).for_each(|call| call.step = step);
        facts.opaque.iter_mut().skip(opaque).for_each(|opaque| opaque.step = Some(step));
        facts.reasons_late |= spoke && opaque == 0 && facts.opaque.first().is_some_and(|first| first.field.is_empty());
        speaking.extend(facts.speaks.then_some(step));
        facts.speaks |= spoke;
    }
    for opaque in &mut facts.opaque {
        let calls = |step: &usize| facts.calls.binary_search_by_key(step, |call| call.step).is_ok();
        let only_calls = |step: &usize| speaking.binary_search(step).is_err() && calls(step);
        opaque.step = opaque.step.filter(only_calls).filter(|_| opaque.field.is_empty());
    }
    let mut ends = facts.calls.iter().filter(|call| call.step == step).map(|call| call.place);
    let is_answer = |place| facts.results.iter().any(|result| result.place == place && result.stub != Stub::None);
    facts.ends_in_results = ends.any(is_answer);
    read_invocations(message, index, &mut facts)?;
    Ok(facts)
}

/// Adds what the fourth version holds beside the parts: its calls a second time, or, before there were parts, its calls
/// with their results.
pub fn read_invocations<N: Node>(message: &N, index: usize, facts: &mut MessageFacts) -> Result<(), ProjectionError> {
    let Some(list) = list_field(message, Key::ToolInvocations, index)? else { return Ok(()) };
    let is_copy = facts.shape == Shape::AiSdkUi;
    for (position, call) in list.items().enumerate() {
        let Some(call) = call.filter(|call| call.kind() == Kind::Object) else { continue };
        let place = Place::Item(Key::ToolInvocations, position);
        if is_copy {
            let id = call.field_str(Key::ToolCallIdCamel);
            if let Some(call) = facts.calls.iter_mut().find(|call| id.is_some() && call.id == id) {
                call.copies.push(place);
            }
            continue;
        }
        let at = || format!("messages[{index}].toolInvocations[{position}]");
        let ui = UiTool { name: tool_name(&call), arguments: &[Key::Args], output: &[Key::Result] };
        ui.read(&call, &call, place, &at, facts)?;
        facts.shape = Shape::AiSdk;
        facts.ends_in_results = !facts.results.is_empty();
    }
    Ok(())
}

/// Adds what a UI message's part holds, and says whether it starts a step.
fn read_ui_part<N: Node>(
    part: &N,
    place: Place,
    at: &dyn Fn() -> String,
    facts: &mut MessageFacts,
) -> Result<bool, ProjectionError> {
    let kind = part.field_str(Key::Type).unwrap_or_default();
    match kind.as_str() {
        "text" => {
            facts.speaks |= part.field(Key::Text).is_some_and(|text| is_visible(&text));
            note_metadata(part, place, facts);
        }
        "reasoning" | "reasoning-file" => note_reasoning(part, place, facts),
        "tool-invocation" => {
            if let Some(call) = part.field(Key::ToolInvocation) {
                let ui = UiTool {
                    name: tool_name(&call),
                    arguments: &[Key::ToolInvocation, Key::Args],
                    output: &[Key::ToolInvocation, Key::Result],
                };
                ui.read(part, &call, place, at, facts)?;
            }
        }
        "step-start" => return Ok(true),
        // The SDK does not send these.
        kind if kind.starts_with("data-") || kind.starts_with("source") => {}
        kind => match kind.strip_prefix("tool-").map(str::to_owned) {
            None if kind != "dynamic-tool" => facts.speaks = true,
            of_type => {
                let name = of_type.unwrap_or_else(|| tool_name(part));
                let ui = UiTool { name, arguments: &[Key::Input], output: &[Key::Output] };
                ui.read(part, part, place, at, facts)?;
                note_metadata(part, place, facts);
            }
        },
    }
    Ok(false)
}

/// A part that is call and result.
struct UiTool {
    name: String,
    arguments: &'static [Key],
    output: &'static [Key],
}

impl UiTool {
    fn read<N: Node>(
        self,
        part: &N,
        call: &N,
        place: Place,
        at: &dyn Fn() -> String,
        facts: &mut MessageFacts,
    ) -> Result<(), ProjectionError> {
        let id = id_field(call, Key::ToolCallIdCamel, at)?;
        let state = call.field_str(Key::State).unwrap_or_default();
        let approved = part.follow(&[Key::Approval, Key::Approved]).and_then(|approved| approved.as_bool());
        let (failed, refused) = match state.as_str() {
            "output-available" => (false, false),
            // The fourth version had no flag.
            "result" => (is_failure(call, call.field(Key::Result).as_ref()), false),
            "output-error" => (true, false),
            "output-denied" => (false, true),
            _ if approved == Some(false) => (false, true),
            // Not answered yet.
            _ => {
                facts.calls.push(Call::new(place, id, self.name, self.arguments));
                return Ok(());
            }
        };
        let by_provider = part.field(Key::ProviderExecuted).and_then(|by| by.as_bool()) == Some(true);
        facts.calls.push(Call::new(place, id.clone(), self.name.clone(), self.arguments));
        facts.results.push(ToolResult {
            place,
            call_id: id,
            name: Some(self.name),
            failed,
            refused,
            body: if failed { &[Key::ErrorText] } else { self.output },
            stub: if by_provider { Stub::None } else { Stub::Text },
            redacted: is_redacted(part),
        });
        Ok(())
    }
}

/// Adds a part of reasoning, signed or not.
pub fn note_reasoning<N: Node>(part: &N, place: Place, facts: &mut MessageFacts) {
    facts.add_reasoning(place);
    facts.signed |= METADATA.iter().any(|(key, _)| part.field(*key).is_some_and(|metadata| is_signed(&metadata)));
}

/// Adds the signatures of a part that is no reasoning. An item id counts as one when reasoning goes: the provider
/// looks for the reasoning of an item that it knows.
pub fn note_metadata<N: Node>(part: &N, place: Place, facts: &mut MessageFacts) {
    for (key, field) in METADATA {
        let Some(metadata) = part.field(key) else { continue };
        let signed = is_signed(&metadata);
        facts.signed |= signed;
        if signed || of_providers(&metadata, &|provider| has_text(provider, Key::ItemId)) {
            facts.opaque.push(Opaque { place, field, step: None });
        }
    }
}

fn is_signed<N: Node>(metadata: &N) -> bool {
    of_providers(metadata, &|provider| SIGNATURES.iter().any(|key| has_text(provider, *key)))
}

fn of_providers<N: Node>(metadata: &N, holds: &dyn Fn(&N) -> bool) -> bool {
    metadata.entries().iter().any(|(_, provider)| provider.kind() == Kind::Object && holds(provider))
}
