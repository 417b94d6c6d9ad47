//! The AI SDK. No provider speaks its messages, so what the SDK sends of them is judged: `convertToModelMessages` of `ai`
//! 6.0, and the conversions of `@ai-sdk/anthropic` and `@ai-sdk/openai` 3.0.

use serde_json::{Value, json};

use super::{Call, Outcome, Reasoning, Sent, Story, Writer, answered, body, items, name, path, text_of};

/// Whose reasoning the messages carry.
#[derive(Clone, Copy, PartialEq)]
enum Maker {
    Anthropic,
    OpenAi,
}

pub fn model_of_anthropic(writer: &mut Writer, story: &Story) {
    model(writer, story, Maker::Anthropic);
}

pub fn model_of_openai(writer: &mut Writer, story: &Story) {
    model(writer, story, Maker::OpenAi);
}

pub fn ui_of_anthropic(writer: &mut Writer, story: &Story) {
    ui(writer, story, Maker::Anthropic);
}

pub fn ui_of_openai(writer: &mut Writer, story: &Story) {
    ui(writer, story, Maker::OpenAi);
}

fn reasoning(writer: &mut Writer, maker: Maker, reasoning: Reasoning) -> Option<Value> {
    let signature = writer.signature();
    match (maker, reasoning) {
        (_, Reasoning::None) => None,
        (Maker::Anthropic, Reasoning::Signed) => Some(json!({"anthropic": {"signature": signature}})),
        (Maker::Anthropic, Reasoning::Redacted) => Some(json!({"anthropic": {"redactedData": signature}})),
        (Maker::OpenAi, _) => {
            let id = format!("rs_{signature}");
            Some(json!({"openai": {"itemId": id, "reasoningEncryptedContent": signature}}))
        }
    }
}

/// What the model says in a step or at the end; what it says behind reasoning of OpenAI's is an item with an id.
fn said(writer: &mut Writer, maker: Maker, thought: Reasoning, text: Option<&str>, options: &str) -> Vec<Value> {
    let reasoning = reasoning(writer, maker, thought);
    let has_id = maker == Maker::OpenAi && reasoning.is_some();
    let mut parts: Vec<Value> =
        reasoning.into_iter().map(|signed| json!({"type": "reasoning", "text": "", options: signed})).collect();
    if let Some(text) = text {
        let mut part = json!({"type": "text", "text": text});
        if has_id {
            part[options] = json!({"openai": {"itemId": format!("msg_{}", writer.signature())}});
        }
        parts.push(part);
    }
    parts
}

fn model(writer: &mut Writer, story: &Story, maker: Maker) {
    let options = "providerOptions";
    if story.system {
        writer.push(json!({"role": "system", "content": "Be brief."}));
    }
    for turn in &story.turns {
        let question = writer.question();
        writer.push(json!({"role": "user", "content": question}));
        for step in &turn.steps {
            let mut parts = said(writer, maker, step.reasoning, step.speaks.then_some("I look."), options);
            let ids = writer.ids(step);
            parts.extend(step.calls.iter().zip(&ids).map(|(call, id)| {
                json!({"type": "tool-call", "toolCallId": id, "toolName": name(call), "input": {"path": path(call.target)}})
            }));
            writer.push(json!({"role": "assistant", "content": parts}));
            if step.late {
                writer.push(json!({"role": "user", "content": "Well?"}));
            }
            let results: Vec<Value> =
                answered(step, &ids).into_iter().map(|(call, id)| model_result_of(call, id)).collect();
            // One message for all results, or one for each: both are found.
            if step.interjects {
                results.into_iter().for_each(|result| writer.push(json!({"role": "tool", "content": [result]})));
                writer.push(json!({"role": "user", "content": [{"type": "text", "text": "Go on."}]}));
            } else if !results.is_empty() {
                writer.push(json!({"role": "tool", "content": results}));
            }
        }
        if let Some(answer) = turn.answer {
            let parts = said(writer, maker, answer, Some("Done."), options);
            writer.push(json!({"role": "assistant", "content": parts}));
        }
    }
}

fn model_result_of(call: &Call, id: &str) -> Value {
    let kind = if call.outcome == Outcome::Failure { "error-text" } else { "text" };
    json!({"type": "tool-result", "toolCallId": id, "toolName": name(call),
        "output": {"type": kind, "value": body(call)}})
}

/// A turn is one message, with a part that starts each step; one that the user interrupts goes on in another.
fn ui(writer: &mut Writer, story: &Story, maker: Maker) {
    let options = "providerMetadata";
    let say = |writer: &mut Writer, role: &str, parts: Vec<Value>| {
        let id = format!("m{}", writer.messages.len());
        writer.push(json!({"id": id, "role": role, "parts": parts}));
    };
    let text = |text: &str| vec![json!({"type": "text", "text": text})];
    if story.system {
        say(writer, "system", text("Be brief."));
    }
    for turn in &story.turns {
        let question = writer.question();
        say(writer, "user", text(&question));
        let mut parts = Vec::new();
        for step in &turn.steps {
            parts.push(json!({"type": "step-start"}));
            parts.extend(said(writer, maker, step.reasoning, step.speaks.then_some("I look."), options));
            let ids = writer.ids(step);
            parts.extend(step.calls.iter().zip(&ids).map(|(call, id)| ui_part(call, id)));
            if step.interjects {
                say(writer, "assistant", std::mem::take(&mut parts));
                say(writer, "user", text("Go on."));
            }
        }
        if let Some(answer) = turn.answer {
            parts.push(json!({"type": "step-start"}));
            parts.extend(said(writer, maker, answer, Some("Done."), options));
        }
        if !parts.is_empty() {
            say(writer, "assistant", parts);
        }
    }
}

fn ui_part(call: &Call, id: &str) -> Value {
    let mut part =
        json!({"type": format!("tool-{}", name(call)), "toolCallId": id, "input": {"path": path(call.target)}});
    let (state, field) = match call.outcome {
        Outcome::Missing => ("input-available", None),
        Outcome::Failure => ("output-error", Some("errorText")),
        _ => ("output-available", Some("output")),
    };
    part["state"] = state.into();
    if let Some(field) = field {
        part[field] = body(call).into();
    }
    part
}

/// What `@ai-sdk/anthropic` sends of model messages.
pub fn to_anthropic(messages: &[Value]) -> Sent {
    let (prompt, refused) = prompt(messages);
    let role = |message: &Value| match text_of(&message["role"]) {
        "tool" => "user".to_owned(),
        role => role.to_owned(),
    };
    let mut sent: Vec<Value> = Vec::new();
    let mut has_system = false;
    for run in prompt.chunk_by(|a, b| role(a) == role(b)) {
        let role = role(&run[0]);
        let blocks = || run.iter().flat_map(|message| items(&message["content"])).filter_map(anthropic_block);
        match &*role {
            "system" if has_system => sent.extend(
                run.iter()
                    .map(|message| json!({"role": role, "content": [{"type": "text", "text": message["content"]}]})),
            ),
            // The first becomes the request's own.
            "system" => has_system = true,
            "assistant" => sent.push(json!({"role": role, "content": calls_last(&blocks().collect::<Vec<_>>())})),
            _ => sent.push(json!({"role": role, "content": blocks().collect::<Vec<_>>()})),
        }
    }
    if let Some(text) = sent.last_mut().filter(|last| last["role"] == "assistant").and_then(last_text) {
        *text = text_of(text).trim().into();
    }
    Sent { messages: sent, refused }
}

fn last_text(message: &mut Value) -> Option<&mut Value> {
    message["content"].as_array_mut()?.last_mut()?.get_mut("text")
}

fn anthropic_block(part: &Value) -> Option<Value> {
    let options = &part["providerOptions"]["anthropic"];
    Some(match text_of(&part["type"]) {
        "text" => json!({"type": "text", "text": part["text"]}),
        "reasoning" if options["signature"].is_string() => {
            json!({"type": "thinking", "thinking": part["text"], "signature": options["signature"]})
        }
        "reasoning" if options["redactedData"].is_string() => {
            json!({"type": "redacted_thinking", "data": options["redactedData"]})
        }
        "tool-call" => {
            json!({"type": "tool_use", "id": part["toolCallId"], "name": part["toolName"], "input": part["input"]})
        }
        "tool-result" => {
            let mut block =
                json!({"type": "tool_result", "tool_use_id": part["toolCallId"], "content": output_text(part)});
            if text_of(&part["output"]["type"]).starts_with("error-") {
                block["is_error"] = true.into();
            }
            block
        }
        _ => return None,
    })
}

/// Between thinking blocks, calls move behind everything else.
fn calls_last(blocks: &[Value]) -> Vec<Value> {
    let is_thinking = |block: &Value| text_of(&block["type"]).ends_with("thinking");
    let mut sorted = Vec::new();
    for run in blocks.chunk_by(|a, b| !is_thinking(a) && !is_thinking(b)) {
        let (calls, others): (Vec<_>, Vec<_>) = run.iter().cloned().partition(|block| block["type"] == "tool_use");
        sorted.extend(others.into_iter().chain(calls));
    }
    sorted
}

fn output_text(part: &Value) -> Value {
    let output = &part["output"];
    match text_of(&output["type"]) {
        "text" | "error-text" => output["value"].clone(),
        "execution-denied" => output["reason"].as_str().unwrap_or("Tool call execution denied.").into(),
        _ => output["value"].to_string().into(),
    }
}

/// What `@ai-sdk/openai` sends of model messages where nothing is stored.
pub fn to_openai(messages: &[Value]) -> Sent {
    let (prompt, refused) = prompt(messages);
    let mut sent: Vec<Value> = Vec::new();
    for message in &prompt {
        let parts = items(&message["content"]);
        match text_of(&message["role"]) {
            "user" => {
                let texts = parts.iter().map(|part| json!({"type": "input_text", "text": part["text"]}));
                sent.push(json!({"role": "user", "content": texts.collect::<Vec<_>>()}));
            }
            "assistant" => responses_items(parts, &mut sent),
            "tool" => sent.extend(parts.iter().filter(|part| part["type"] == "tool-result").map(
                |part| json!({"type": "function_call_output", "call_id": part["toolCallId"], "output": output_text(part)}),
            )),
            _ => sent.push(json!({"role": "developer", "content": message["content"]})),
        }
    }
    Sent { messages: sent, refused }
}

fn responses_items(parts: &[Value], sent: &mut Vec<Value>) {
    let mut behind_reasoning = false;
    for part in parts {
        let options = &part["providerOptions"]["openai"];
        match text_of(&part["type"]) {
            "text" => {
                let content = json!([{"type": "output_text", "text": part["text"]}]);
                let mut item = json!({"role": "assistant", "content": content});
                if behind_reasoning && options["itemId"].is_string() {
                    item["id"] = options["itemId"].clone();
                }
                sent.push(item);
            }
            "tool-call" => sent.push(json!({"type": "function_call", "call_id": part["toolCallId"],
                "name": part["toolName"], "arguments": part["input"].to_string()})),
            "reasoning" => {
                behind_reasoning = true;
                let item = json!({"type": "reasoning", "id": options["itemId"],
                    "encrypted_content": options["reasoningEncryptedContent"], "summary": []});
                if item["id"].is_string() {
                    sent.push(item);
                }
            }
            _ => {}
        }
    }
}

/// What every provider package of the SDK gets, and whether the SDK finds results missing.
fn prompt(messages: &[Value]) -> (Vec<Value>, bool) {
    let mut prompt: Vec<Value> = Vec::new();
    for message in messages {
        let role = text_of(&message["role"]);
        let is_sent = |part: &&Value| match text_of(&part["type"]) {
            "text" => part["text"] != "" || part["providerOptions"].is_object(),
            kind => !kind.starts_with("tool-approval-"),
        };
        match &message["content"] {
            Value::String(text) if role != "system" => {
                prompt.push(json!({"role": role, "content": [{"type": "text", "text": text}]}));
            }
            Value::Array(parts) => {
                let parts: Vec<Value> = parts.iter().filter(is_sent).cloned().collect();
                match prompt.last_mut().filter(|last| role == "tool" && last["role"] == role) {
                    Some(last) => last["content"].as_array_mut().expect("parts").extend(parts),
                    None => prompt.push(json!({"role": role, "content": parts})),
                }
            }
            _ => prompt.push(message.clone()),
        }
    }
    let mut open: Vec<&Value> = Vec::new();
    let mut refused = false;
    for message in &prompt {
        let of_type = |kind: &'static str| items(&message["content"]).iter().filter(move |part| part["type"] == kind);
        open.extend(of_type("tool-call").map(|part| &part["toolCallId"]));
        match text_of(&message["role"]) {
            "tool" => open.retain(|id| !of_type("tool-result").any(|part| part["toolCallId"] == **id)),
            "user" | "system" => refused |= !open.is_empty(),
            _ => {}
        }
    }
    refused |= !open.is_empty();
    prompt.retain(|message| message["role"] != "tool" || !items(&message["content"]).is_empty());
    (prompt, refused)
}

/// The same of UI messages.
pub fn ui_to_anthropic(messages: &[Value]) -> Sent {
    to_anthropic(&model_messages(messages))
}

/// The same of UI messages.
pub fn ui_to_openai(messages: &[Value]) -> Sent {
    to_openai(&model_messages(messages))
}

/// `convertToModelMessages`.
fn model_messages(messages: &[Value]) -> Vec<Value> {
    let mut model = Vec::new();
    for message in messages {
        let parts = items(&message["parts"]);
        let texts = parts.iter().filter(|part| part["type"] == "text");
        match text_of(&message["role"]) {
            "system" => {
                let text: String = texts.map(|part| text_of(&part["text"])).collect();
                model.push(json!({"role": "system", "content": text}));
            }
            "user" => model.push(json!({"role": "user", "content": texts.collect::<Vec<_>>()})),
            _ => {
                for step in parts.split(|part| part["type"] == "step-start") {
                    let content: Vec<Value> = step.iter().filter_map(model_part).collect();
                    let results: Vec<Value> = step.iter().filter_map(model_result).collect();
                    let messages = [("assistant", content), ("tool", results)].into_iter();
                    let said = messages.filter(|(_, content)| !content.is_empty());
                    model.extend(said.map(|(role, content)| json!({"role": role, "content": content})));
                }
            }
        }
    }
    model
}

fn with_options(mut part: Value, metadata: &Value) -> Value {
    if metadata.is_object() {
        part["providerOptions"] = metadata.clone();
    }
    part
}

fn model_part(part: &Value) -> Option<Value> {
    let kind = text_of(&part["type"]);
    if let Some(name) = kind.strip_prefix("tool-") {
        let call = json!({"type": "tool-call", "toolCallId": part["toolCallId"], "toolName": name,
            "input": part["input"]});
        return (part["state"] != "input-streaming").then(|| with_options(call, &part["callProviderMetadata"]));
    }
    let said = || json!({"type": kind, "text": part["text"]});
    matches!(kind, "text" | "reasoning").then(|| with_options(said(), &part["providerMetadata"]))
}

fn model_result(part: &Value) -> Option<Value> {
    let name = text_of(&part["type"]).strip_prefix("tool-")?;
    let output = match text_of(&part["state"]) {
        "output-available" => json!({"type": "text", "value": part["output"]}),
        "output-error" => json!({"type": "error-text", "value": part["errorText"]}),
        _ => return None,
    };
    Some(json!({"type": "tool-result", "toolCallId": part["toolCallId"], "toolName": name, "output": output}))
}
