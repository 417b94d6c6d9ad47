//! What providers refuse in a list of messages, from their documentation and error texts. Written without the engine,
//! to judge it.

use serde_json::Value;

use super::talk::Shape;

/// What the provider of this shape would refuse. Harn's messages obey the rules of OpenAI's.
pub fn refusals(messages: &[Value], shape: Shape) -> Vec<String> {
    match shape {
        Shape::Anthropic => anthropic(messages),
        Shape::Openai | Shape::Harn => openai(messages),
    }
}

fn list<'a>(message: &'a Value, name: &str) -> &'a [Value] {
    message[name].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn openai(messages: &[Value]) -> Vec<String> {
    let mut refused = Vec::new();
    // The calls that the next messages must answer.
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        let answers = ["tool_call_id", "tool_use_id", "name"].into_iter().map(|name| text(message, name));
        let answers = answers.clone().find(|id| !id.is_empty()).unwrap_or_default();
        if matches!(role, "tool" | "tool_result" | "function") {
            match open.iter().position(|id| *id == answers) {
                Some(at) => drop(open.swap_remove(at)),
                None => refused.push(format!("message {index} must be a response to a preceding call: {answers}")),
            }
            continue;
        }
        if !open.is_empty() {
            refused.push(format!("message {index}: {open:?} did not have response messages"));
        }
        open = list(message, "tool_calls").iter().map(|call| text(call, "id")).collect();
        open.extend(message["function_call"]["name"].as_str());
        if !open.is_empty() && role != "assistant" {
            refused.push(format!("message {index}: calls of {role}"));
        }
        if message["tool_calls"].as_array().is_some_and(Vec::is_empty) {
            refused.push(format!("message {index}: tool_calls is an empty array"));
        }
        if message["content"].as_array().is_some_and(Vec::is_empty) {
            refused.push(format!("message {index}: content is an empty array"));
        }
        if message["content"].is_null() && open.is_empty() {
            refused.push(format!("message {index}: content is null"));
        }
    }
    if !open.is_empty() {
        refused.push(format!("at the end, {open:?} did not have response messages"));
    }
    refused
}

fn anthropic(messages: &[Value]) -> Vec<String> {
    let mut refused = Vec::new();
    // Leading prompts are the request's own `system`.
    let prompts = messages.iter().take_while(|message| matches!(text(message, "role"), "system" | "developer")).count();
    let mut open: Vec<&str> = Vec::new();
    let mut running: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate().skip(prompts) {
        let role = text(message, "role");
        let blocks = list(message, "content");
        if index == prompts && role != "user" {
            refused.push("first message must use the user role".to_owned());
        }
        if !matches!(role, "user" | "assistant") {
            refused.push(format!("message {index}: unexpected role {role}"));
        }
        let is_empty = message["content"].as_str().map_or(blocks.is_empty(), |text| text.trim().is_empty());
        if is_empty {
            refused.push(format!("message {index} must have non-empty content"));
        }
        let is_result = |block: &&Value| text(block, "type") == "tool_result";
        let first_results = blocks.iter().take_while(is_result).count();
        if blocks.iter().filter(is_result).count() != first_results {
            refused.push(format!("message {index}: tool_result blocks must come first"));
        }
        for block in blocks.iter().filter(is_result) {
            let id = text(block, "tool_use_id");
            match open.iter().position(|open| *open == id) {
                Some(at) if role == "user" => drop(open.swap_remove(at)),
                _ => refused.push(format!("message {index}: unexpected tool_use_id {id} in tool_result blocks")),
            }
        }
        if !open.is_empty() {
            refused.push(format!("message {index}: {open:?} without tool_result blocks in the message behind"));
        }
        open = blocks.iter().filter(|block| text(block, "type") == "tool_use").map(|block| text(block, "id")).collect();
        let is_call = |block: &Value| text(block, "type").ends_with("tool_use");
        if role != "assistant" && blocks.iter().any(is_call) {
            refused.push(format!("message {index}: tool_use blocks of {role}"));
        }
        refused.extend(server_calls(role, blocks, index, &mut running));
        if blocks.iter().any(|block| text(block, "type") == "text" && text(block, "text").trim().is_empty()) {
            refused.push(format!("message {index}: text content blocks must be non-empty"));
        }
        let is_reasoning = |block: &Value| text(block, "type").contains("thinking");
        if !blocks.is_empty() && blocks.iter().all(is_reasoning) {
            refused.push(format!("message {index} is nothing but reasoning"));
        }
    }
    if !open.is_empty() {
        refused.push(format!("at the end, {open:?} without tool_result blocks"));
    }
    refused
}

/// Server tools are answered behind the call, before the user says more than results of what they called.
fn server_calls<'a>(role: &str, blocks: &'a [Value], index: usize, open: &mut Vec<&'a str>) -> Vec<String> {
    let mut refused = Vec::new();
    for block in blocks {
        match text(block, "type") {
            "server_tool_use" | "mcp_tool_use" => open.push(text(block, "id")),
            kind if kind != "tool_result" && kind.ends_with("_tool_result") => {
                let id = text(block, "tool_use_id");
                match open.iter().position(|open| *open == id) {
                    Some(at) => drop(open.swap_remove(at)),
                    None => refused.push(format!("message {index}: {kind} without its call {id} before it")),
                }
            }
            _ => {}
        }
    }
    if role == "user" && (blocks.is_empty() || blocks.iter().any(|block| text(block, "type") != "tool_result")) {
        refused.extend(open.drain(..).map(|id| format!("message {index}: server call {id} without a result")));
    }
    refused
}
