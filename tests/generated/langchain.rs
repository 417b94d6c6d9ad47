//! LangChain. No provider speaks its messages, so what `@langchain/anthropic` and `@langchain/openai` 1.5 send of them is
//! judged.

use serde_json::{Value, json};

use super::{Outcome, Reasoning, Sent, Story, Writer, answered, body, items, name, path, text_of};

/// As Anthropic's models answer: plain messages, with blocks where there is more than text.
pub fn of_anthropic(writer: &mut Writer, story: &Story) {
    tell(writer, story, &|writer, reasoning, text, calls| {
        let signature = writer.signature();
        let thinking = match reasoning {
            Reasoning::None => None,
            Reasoning::Signed => Some(json!({"type": "thinking", "thinking": "", "signature": signature})),
            Reasoning::Redacted => Some(json!({"type": "redacted_thinking", "data": signature})),
        };
        if thinking.is_none() && calls.is_empty() {
            return json!({"type": "ai", "content": text});
        }
        let mut blocks: Vec<Value> = thinking.into_iter().collect();
        if !text.is_empty() {
            blocks.push(json!({"type": "text", "text": text}));
        }
        let uses = calls.iter();
        blocks.extend(
            uses.map(|call| json!({"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["args"]})),
        );
        json!({"type": "ai", "content": blocks, "tool_calls": calls})
    });
}

/// As OpenAI's models answer, in the form in which chat histories are stored.
pub fn of_openai(writer: &mut Writer, story: &Story) {
    tell(writer, story, &|_, _, text, calls| {
        let raw = calls.iter().map(|call| {
            json!({"id": call["id"], "type": "function",
                "function": {"name": call["name"], "arguments": call["args"].to_string()}})
        });
        let raw: Vec<Value> = raw.collect();
        let kwargs = if raw.is_empty() { json!({}) } else { json!({"tool_calls": raw}) };
        json!({"type": "ai", "content": text, "tool_calls": calls, "additional_kwargs": kwargs})
    });
    for message in &mut writer.messages {
        let kind = message.as_object_mut().expect("a message").remove("type");
        *message = json!({"type": kind, "data": message});
    }
}

/// Writes a message of the model: its reasoning, its text and its calls.
type Answer = dyn Fn(&mut Writer, Reasoning, &str, Vec<Value>) -> Value;

fn tell(writer: &mut Writer, story: &Story, answer: &Answer) {
    if story.system {
        writer.push(json!({"type": "system", "content": "Be brief."}));
    }
    for turn in &story.turns {
        let question = writer.question();
        writer.push(json!({"type": "human", "content": question}));
        for step in &turn.steps {
            if step.noted {
                writer.push(json!({"type": "system", "content": "Mind the budget."}));
            }
            let ids = writer.ids(step);
            let calls = step.calls.iter().zip(&ids);
            let calls = calls.map(|(call, id)| {
                json!({"id": id, "name": name(call), "args": {"path": path(call.target)}, "type": "tool_call"})
            });
            let calls = calls.collect();
            let message = answer(writer, step.reasoning, if step.speaks { "I look." } else { "" }, calls);
            writer.push(message);
            if step.late {
                writer.push(json!({"type": "human", "content": "Well?"}));
            }
            for (call, id) in answered(step, &ids) {
                let status = if call.outcome == Outcome::Failure { "error" } else { "success" };
                writer.push(json!({"type": "tool", "tool_call_id": id, "name": name(call), "status": status,
                    "content": body(call)}));
            }
            if step.interjects {
                writer.push(json!({"type": "human", "content": "Go on."}));
            }
        }
        if let Some(reasoning) = turn.answer {
            let message = answer(writer, reasoning, "Done.", Vec::new());
            writer.push(message);
        }
    }
}

/// A message and its type, in LangChain's plain or stored form.
fn plain(message: &Value) -> (&str, &Value) {
    (text_of(&message["type"]), message.get("data").unwrap_or(message))
}

/// What `@langchain/anthropic` sends.
pub fn to_anthropic(messages: &[Value]) -> Sent {
    let mut sent: Vec<Value> = Vec::new();
    let leading = messages.iter().take_while(|message| plain(message).0 == "system").count();
    for message in messages.iter().skip(leading) {
        let (kind, message) = plain(message);
        let content = &message["content"];
        match kind {
            "tool" => {
                let block = json!({"type": "tool_result", "content": content, "tool_use_id": message["tool_call_id"]});
                let holds_results =
                    |last: &&mut Value| last["role"] == "user" && last["content"][0]["type"] == "tool_result";
                match sent.last_mut().filter(holds_results) {
                    Some(last) => last["content"].as_array_mut().expect("blocks").push(block),
                    None => sent.push(json!({"role": "user", "content": [block]})),
                }
            }
            "ai" if !items(&message["tool_calls"]).is_empty() => {
                let mut blocks = match content {
                    Value::String(text) if text.is_empty() => Vec::new(),
                    Value::String(text) => vec![json!({"type": "text", "text": text})],
                    blocks => items(blocks).to_vec(),
                };
                for call in items(&message["tool_calls"]) {
                    if !blocks.iter().any(|block| block["type"] == "tool_use" && block["id"] == call["id"]) {
                        blocks.push(json!({"type": "tool_use", "id": call["id"], "name": call["name"],
                            "input": call["args"]}));
                    }
                }
                sent.push(json!({"role": "assistant", "content": blocks}));
            }
            _ => {
                let role = match kind {
                    "human" => "user",
                    "ai" => "assistant",
                    kind => kind,
                };
                sent.push(json!({"role": role, "content": content}));
            }
        }
    }
    Sent { messages: sent, refused: false }
}

/// What `@langchain/openai` sends to Chat Completions.
pub fn to_openai(messages: &[Value]) -> Sent {
    let converted = messages.iter().map(|message| {
        let (kind, message) = plain(message);
        let role = match kind {
            "human" => "user",
            "ai" => "assistant",
            kind => kind,
        };
        let content = match &message["content"] {
            Value::Array(blocks) => {
                let is_sent = |block: &&Value| !matches!(text_of(&block["type"]), "tool_use" | "thinking");
                blocks.iter().filter(is_sent).cloned().collect::<Vec<_>>().into()
            }
            content => content.clone(),
        };
        let mut sent = json!({"role": role, "content": content});
        let raw = &message["additional_kwargs"]["tool_calls"];
        let calls = items(&message["tool_calls"]).iter().map(|call| {
            json!({"id": call["id"], "type": "function",
                "function": {"name": call["name"], "arguments": call["args"].to_string()}})
        });
        let calls: Vec<Value> = calls.collect();
        if !calls.is_empty() {
            sent["tool_calls"] = calls.into();
        } else if raw.is_array() {
            sent["tool_calls"] = raw.clone();
        }
        if message["name"].is_string() {
            sent["name"] = message["name"].clone();
        }
        if kind == "tool" {
            sent["tool_call_id"] = message["tool_call_id"].clone();
        }
        sent
    });
    Sent { messages: converted.collect(), refused: false }
}
