//! Talks: short scripts of a session that can be told in each wire shape, so that one case covers all three.
//!
//! A step is a list; a step that is an object stands for itself, a message as it is.
//!
//! | step | message |
//! |---|---|
//! | `["user", "text"]`, also `system`, `developer`, `assistant` | a message of this role |
//! | `["assistant", "text", {"signed": "s1"}]` | the same with signed reasoning in front |
//! | `["calls", ["k1", "read", {"path": "a"}], ...]` | an assistant turn with parallel calls |
//! | `["calls", {"text": "Trying.", "signed": "s1"}, [...]]` | the same with text or signed reasoning in front |
//! | `["results", ["k1", "body", {"is_error": true}], ...]` | results, with further fields of each |
//! | `["results", [...], "text behind"]` | the same with text of the user behind |
//!
//! `call` and `result` are short for a single one: `["call", "k1", "read", {}]`, `["result", "k1", "body"]`.
//! Anthropic puts all results of a step in one user message, the others write a message for each.

use serde_json::{Value, json};

/// A wire shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Harn,
    Openai,
    Anthropic,
}

impl Shape {
    pub const ALL: [Shape; 3] = [Shape::Harn, Shape::Openai, Shape::Anthropic];

    pub fn name(self) -> &'static str {
        match self {
            Shape::Harn => "harn",
            Shape::Openai => "openai",
            Shape::Anthropic => "anthropic",
        }
    }
}

/// The messages of a talk.
pub fn tell(talk: &Value, shape: Shape) -> Value {
    let steps = talk.as_array().expect("a list of steps");
    steps.iter().flat_map(|step| messages_of(step, shape)).collect()
}

fn messages_of(step: &Value, shape: Shape) -> Vec<Value> {
    let Some(parts) = step.as_array() else { return vec![step.clone()] };
    let kind = parts[0].as_str().expect("the kind of a step");
    let rest = &parts[1..];
    match kind {
        "call" => vec![calls(&Value::Null, &[rest.into()], shape)],
        "calls" if rest[0].is_object() => vec![calls(&rest[0], &rest[1..], shape)],
        "calls" => vec![calls(&Value::Null, rest, shape)],
        "result" => results(&[rest.into()], shape),
        "results" => results(rest, shape),
        role => vec![said(role, &rest[0], rest.get(1), shape)],
    }
}

fn said(role: &str, content: &Value, with: Option<&Value>, shape: Shape) -> Value {
    let mut message = json!({"role": role, "content": content});
    let signature = with.map(|with| &with["signed"]);
    match (shape, signature) {
        (Shape::Anthropic, signature) if role == "user" || role == "assistant" => {
            let mut blocks: Vec<Value> = signature.map(thinking).into_iter().collect();
            blocks.push(json!({"type": "text", "text": content}));
            message["content"] = blocks.into();
        }
        (Shape::Harn, Some(signature)) => message["thinking_signature"] = signature.clone(),
        (_, Some(signature)) => message["extra_content"] = json!({"google": {"thought_signature": signature}}),
        _ => {}
    }
    message
}

fn thinking(signature: &Value) -> Value {
    json!({"type": "thinking", "thinking": "let me see", "signature": signature})
}

fn calls(with: &Value, calls: &[Value], shape: Shape) -> Value {
    let (text, signature) = (&with["text"], &with["signed"]);
    if shape == Shape::Anthropic {
        let mut blocks: Vec<Value> = Vec::new();
        blocks.extend((!signature.is_null()).then(|| thinking(signature)));
        blocks.extend((!text.is_null()).then(|| json!({"type": "text", "text": text})));
        blocks.extend(
            calls.iter().map(|call| json!({"type": "tool_use", "id": call[0], "name": call[1], "input": call[2]})),
        );
        return json!({"role": "assistant", "content": blocks});
    }
    let call = |call: &Value| match shape {
        Shape::Harn => json!({"id": call[0], "name": call[1], "arguments": call[2]}),
        _ => {
            let function = json!({"name": call[1], "arguments": call[2].to_string()});
            json!({"id": call[0], "type": "function", "function": function})
        }
    };
    let mut message = json!({"role": "assistant", "content": text});
    message["tool_calls"] = calls.iter().map(call).collect();
    match (shape, signature) {
        (_, Value::Null) => {}
        (Shape::Harn, _) => message["thinking_signature"] = signature.clone(),
        (_, _) => message["tool_calls"][0]["extra_content"] = json!({"google": {"thought_signature": signature}}),
    }
    message
}

fn results(parts: &[Value], shape: Shape) -> Vec<Value> {
    let carrier = |part: &Value| {
        let mut carrier = match shape {
            Shape::Anthropic => json!({"type": "tool_result", "tool_use_id": part[0], "content": part[1]}),
            Shape::Openai => json!({"role": "tool", "tool_call_id": part[0], "content": part[1]}),
            Shape::Harn => json!({"role": "tool_result", "tool_use_id": part[0], "content": part[1]}),
        };
        for (name, value) in part.get(2).and_then(Value::as_object).into_iter().flatten() {
            carrier[name] = value.clone();
        }
        carrier
    };
    let (answers, texts): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.is_array());
    let mut told: Vec<Value> = answers.into_iter().map(carrier).collect();
    if shape == Shape::Anthropic {
        told.extend(texts.into_iter().map(|text| json!({"type": "text", "text": text})));
        return vec![json!({"role": "user", "content": told})];
    }
    told.extend(texts.into_iter().map(|text| json!({"role": "user", "content": text})));
    told
}
