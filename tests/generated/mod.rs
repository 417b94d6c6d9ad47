//! Generated transcripts: one story, told in the shape of each provider.

mod ai_sdk;
mod langchain;

use proptest::prelude::*;
use serde_json::{Value, json};

/// What happened. A shape tells it in its own way.
#[derive(Clone, Debug)]
pub struct Story {
    /// Whether a system message comes first, where the shape has one.
    pub system: bool,
    pub turns: Vec<Turn>,
    /// How many messages at the end were never written.
    pub cut: usize,
}

#[derive(Clone, Debug)]
pub struct Turn {
    pub steps: Vec<Step>,
    /// What the model says at the end; nothing when the user interrupted.
    pub answer: Option<Reasoning>,
    /// Whether the user interrupted while the model reasoned, in shapes that keep such reasoning.
    pub breaks_off: bool,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub reasoning: Reasoning,
    /// Whether the model speaks beside its calls.
    pub speaks: bool,
    pub calls: Vec<Call>,
    /// Whether the results come in the opposite order.
    pub reordered: bool,
    /// Whether the user speaks beside the results.
    pub interjects: bool,
    /// Whether the user speaks before the results are in.
    pub late: bool,
    /// Whether a system message stands before it, where the shape takes one in the list.
    pub noted: bool,
    /// How a tool of the provider went in it, where the shape has such tools.
    pub served: Option<Outcome>,
}

#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub tool: usize,
    pub target: usize,
    pub outcome: Outcome,
    /// Whether it has the id of the first call, as some models do.
    pub reuses_id: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Success,
    LongSuccess,
    Failure,
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reasoning {
    None,
    Signed,
    Redacted,
}

pub fn story() -> impl Strategy<Value = Story> {
    let turns = prop::collection::vec(turn(), 1..4);
    let cut = prop_oneof![4 => Just(0_usize), 1 => 1..4_usize];
    let told = (any::<bool>(), turns, cut).prop_map(|(system, turns, cut)| Story { system, turns, cut });
    // Most transcripts are in order, and many models reason in the open.
    (told, prop::bool::weighted(0.8), prop::bool::weighted(0.4)).prop_map(|(mut story, in_order, reasons)| {
        for step in story.turns.iter_mut().flat_map(|turn| &mut turn.steps) {
            step.late &= !in_order;
            for call in step.calls.iter_mut().filter(|_| in_order) {
                call.reuses_id = false;
                if call.outcome == Outcome::Missing {
                    call.outcome = Outcome::Failure;
                }
            }
            if !reasons {
                step.reasoning = Reasoning::None;
            }
        }
        for turn in &mut story.turns {
            turn.breaks_off &= reasons && turn.answer.is_none();
        }
        for answer in story.turns.iter_mut().filter_map(|turn| turn.answer.as_mut()).filter(|_| !reasons) {
            *answer = Reasoning::None;
        }
        if in_order {
            story.cut = 0;
        }
        story
    })
}

fn turn() -> impl Strategy<Value = Turn> {
    let answer = prop_oneof![1 => Just(None), 4 => reasoning().prop_map(Some)];
    (prop::collection::vec(step(), 0..4), answer, any::<bool>()).prop_map(|(steps, answer, breaks_off)| Turn {
        steps,
        answer,
        breaks_off,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let calls = prop::collection::vec(call(), 1..4);
    let served = prop::option::weighted(0.15, prop_oneof![Just(Outcome::Success), Just(Outcome::Failure)]);
    let rare = (prop::bool::weighted(0.1), prop::bool::weighted(0.2), prop::bool::weighted(0.1), served);
    (reasoning(), any::<bool>(), calls, any::<bool>(), rare).prop_map(
        |(reasoning, speaks, calls, reordered, (interjects, late, noted, served))| Step {
            reasoning,
            speaks,
            calls,
            reordered,
            interjects,
            late,
            noted,
            served,
        },
    )
}

fn call() -> impl Strategy<Value = Call> {
    let outcome = prop_oneof![
        6 => Just(Outcome::Success),
        3 => Just(Outcome::LongSuccess),
        6 => Just(Outcome::Failure),
        2 => Just(Outcome::Missing),
    ];
    (0..3_usize, 0..3_usize, outcome, prop::bool::weighted(0.1)).prop_map(|(tool, target, outcome, reuses_id)| Call {
        tool,
        target,
        outcome,
        reuses_id,
    })
}

fn reasoning() -> impl Strategy<Value = Reasoning> {
    prop_oneof![8 => Just(Reasoning::None), 2 => Just(Reasoning::Signed), 1 => Just(Reasoning::Redacted)]
}

/// Every built-in policy under its options, and those of every policy.
pub fn options() -> impl Strategy<Value = Value> {
    let common = (
        prop::bool::weighted(0.8),
        prop_oneof![Just("message"), Just("prefix")],
        prop::bool::weighted(0.7),
        prop_oneof![3 => Just("raw"), 1 => Just("skip"), 1 => Just("strip_reasoning")],
    );
    let policy = prop_oneof![
        1 => Just(json!({"policy": "raw"})),
        4 => prop_oneof![Just("tool"), Just("target")]
            .prop_map(|repair_match| json!({"policy": "clean_tool_repair", "repair_match": repair_match})),
        3 => Just(json!({"policy": "squash_failed_calls"})),
        3 => (0..9_usize, prop_oneof![Just("system"), Just("developer"), Just("user")], any::<bool>()).prop_map(
            |(keep_last, summary_role, keep_newest_user)| json!({"policy": "summary_prefix", "keep_last": keep_last,
                "summary_role": summary_role, "keep_newest_user": keep_newest_user})
        ),
        3 => (0..9_usize, prop_oneof![Just(1_usize), Just(100), Just(500)], prop::option::of(0..3_usize)).prop_map(
            |(root_window, min_chars, root)| {
                let roots = root.map(path);
                json!({"policy": "reachability_gc", "root_window": root_window, "min_chars": min_chars, "roots": roots})
            }
        ),
    ];
    (common, policy).prop_map(|((respect, scope, protect, conflict), mut options)| {
        options["respect_provider_signatures"] = respect.into();
        options["signature_scope"] = scope.into();
        options["protect_open_turn"] = protect.into();
        options["on_signature_conflict"] = conflict.into();
        options
    })
}

/// A way to write messages, and the providers that take them.
pub struct Shape {
    pub name: &'static str,
    pub providers: &'static [&'static str],
    write: fn(&mut Writer, &Story),
    /// What those providers get of the messages, where they do not speak the shape.
    pub send: fn(&[Value]) -> Sent,
}

/// What a provider gets.
pub struct Sent {
    pub messages: Vec<Value>,
    /// Whether the framework itself refuses to send it.
    pub refused: bool,
}

fn as_it_is(messages: &[Value]) -> Sent {
    Sent { messages: messages.to_vec(), refused: false }
}

pub const SHAPES: [Shape; 12] = [
    Shape { name: "anthropic", providers: &["anthropic"], write: anthropic, send: as_it_is },
    Shape {
        name: "openai_chat",
        providers: &["openai_chat", "mistral", "deepseek"],
        write: openai_chat,
        send: as_it_is,
    },
    Shape { name: "harn", providers: &["openai_chat"], write: harn, send: as_it_is },
    Shape { name: "openai_responses", providers: &["openai_responses"], write: openai_responses, send: as_it_is },
    Shape { name: "gemini", providers: &["gemini"], write: gemini, send: as_it_is },
    Shape { name: "bedrock", providers: &["bedrock"], write: bedrock, send: as_it_is },
    Shape {
        name: "ai_sdk_anthropic",
        providers: &["anthropic"],
        write: ai_sdk::model_of_anthropic,
        send: ai_sdk::to_anthropic,
    },
    Shape {
        name: "ai_sdk_openai",
        providers: &["openai_responses"],
        write: ai_sdk::model_of_openai,
        send: ai_sdk::to_openai,
    },
    Shape {
        name: "ai_sdk_ui_anthropic",
        providers: &["anthropic"],
        write: ai_sdk::ui_of_anthropic,
        send: ai_sdk::ui_to_anthropic,
    },
    Shape {
        name: "ai_sdk_ui_openai",
        providers: &["openai_responses"],
        write: ai_sdk::ui_of_openai,
        send: ai_sdk::ui_to_openai,
    },
    Shape {
        name: "langchain_anthropic",
        providers: &["anthropic"],
        write: langchain::of_anthropic,
        send: langchain::to_anthropic,
    },
    Shape {
        name: "langchain_openai",
        providers: &["openai_chat"],
        write: langchain::of_openai,
        send: langchain::to_openai,
    },
];

impl Shape {
    /// The story in this shape.
    pub fn render(&self, story: &Story) -> Value {
        let mut writer = Writer::default();
        (self.write)(&mut writer, story);
        let left = writer.messages.len().saturating_sub(story.cut).max(1);
        writer.messages.truncate(left);
        Value::from(writer.messages)
    }
}

#[derive(Default)]
struct Writer {
    messages: Vec<Value>,
    ids: usize,
    signatures: usize,
}

impl Writer {
    fn push(&mut self, message: Value) {
        self.messages.push(message);
    }

    /// Nine letters and digits, which every provider takes.
    fn id(&mut self, call: &Call) -> String {
        self.ids += 1;
        format!("call{:05}", if call.reuses_id { 1 } else { self.ids })
    }

    fn ids(&mut self, step: &Step) -> Vec<String> {
        step.calls.iter().map(|call| self.id(call)).collect()
    }

    fn signature(&mut self) -> String {
        self.signatures += 1;
        format!("signature{}", self.signatures)
    }

    fn question(&self) -> String {
        format!("Question {} about src/file0.rs", self.messages.len())
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn name(call: &Call) -> String {
    format!("tool{}", call.tool)
}

fn path(target: usize) -> String {
    format!("src/file{target}.rs")
}

fn body(call: &Call) -> String {
    match call.outcome {
        Outcome::LongSuccess => format!("{} holds\n{}", path(call.target), "a line of text\n".repeat(50)),
        Outcome::Failure => "Error: no such file".to_owned(),
        _ => format!("{} is fine", path(call.target)),
    }
}

/// The calls that were answered, with their ids, in the order of the results.
fn answered<'a>(step: &'a Step, ids: &'a [String]) -> Vec<(&'a Call, &'a String)> {
    let mut results: Vec<_> = step.calls.iter().zip(ids).filter(|(call, _)| call.outcome != Outcome::Missing).collect();
    if step.reordered {
        results.reverse();
    }
    results
}

fn anthropic(writer: &mut Writer, story: &Story) {
    let reasoning = |writer: &mut Writer, reasoning: Reasoning| match reasoning {
        Reasoning::None => None,
        Reasoning::Signed => Some(json!({"type": "thinking", "thinking": "", "signature": writer.signature()})),
        Reasoning::Redacted => Some(json!({"type": "redacted_thinking", "data": writer.signature()})),
    };
    for turn in &story.turns {
        let question = writer.question();
        writer.push(json!({"role": "user", "content": question}));
        for step in &turn.steps {
            // The server's tool and the rest are one message, or a system message stands between them.
            let mut blocks = step.served.map_or_else(Vec::new, |outcome| served(writer, step, outcome));
            if step.noted {
                if step.served.is_some() {
                    writer.push(json!({"role": "assistant", "content": std::mem::take(&mut blocks)}));
                }
                writer.push(json!({"role": "system", "content": "Mind the budget."}));
            }
            let ids = writer.ids(step);
            blocks.extend(reasoning(writer, step.reasoning));
            if step.speaks {
                blocks.push(json!({"type": "text", "text": "I look."}));
            }
            let uses = step.calls.iter().zip(&ids);
            blocks.extend(uses.map(|(call, id)| {
                json!({"type": "tool_use", "id": id, "name": name(call), "input": {"path": path(call.target)}})
            }));
            writer.push(json!({"role": "assistant", "content": blocks}));
            if step.late {
                writer.push(json!({"role": "user", "content": "Well?"}));
            }
            let results = answered(step, &ids).into_iter();
            let mut blocks: Vec<Value> = results
                .map(|(call, id)| {
                    json!({"type": "tool_result", "tool_use_id": id, "content": body(call),
                        "is_error": call.outcome == Outcome::Failure})
                })
                .collect();
            if step.interjects {
                blocks.push(json!({"type": "text", "text": "Go on."}));
            }
            if !blocks.is_empty() {
                writer.push(json!({"role": "user", "content": blocks}));
            }
        }
        if turn.breaks_off {
            let blocks: Vec<Value> = reasoning(writer, Reasoning::Signed).into_iter().collect();
            writer.push(json!({"role": "assistant", "content": blocks}));
        }
        if let Some(answer) = turn.answer {
            let mut blocks: Vec<Value> = reasoning(writer, answer).into_iter().collect();
            blocks.push(json!({"type": "text", "text": "Done."}));
            writer.push(json!({"role": "assistant", "content": blocks}));
        }
    }
}

/// What a server's tool did, behind the provider's summary of what was before, or behind text.
fn served(writer: &mut Writer, step: &Step, outcome: Outcome) -> Vec<Value> {
    let said = match step.reordered {
        true => json!({"type": "compaction", "content": "So far."}),
        false => json!({"type": "text", "text": "I search."}),
    };
    let content = match outcome {
        Outcome::Failure => json!({"type": "web_search_tool_result_error", "error_code": "unavailable"}),
        _ => json!([]),
    };
    let id = format!("srvtoolu_{}", writer.signature());
    vec![
        said,
        json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "a"}}),
        json!({"type": "web_search_tool_result", "tool_use_id": id, "content": content}),
    ]
}

fn openai_chat(writer: &mut Writer, story: &Story) {
    chat(writer, story, |call, id| {
        let arguments = json!({"path": path(call.target)}).to_string();
        json!({"id": id, "type": "function", "function": {"name": name(call), "arguments": arguments}})
    });
}

fn harn(writer: &mut Writer, story: &Story) {
    chat(writer, story, |call, id| json!({"id": id, "name": name(call), "arguments": {"path": path(call.target)}}));
}

fn chat(writer: &mut Writer, story: &Story, write_call: impl Fn(&Call, &String) -> Value) {
    if story.system {
        writer.push(json!({"role": "system", "content": "Be brief."}));
    }
    for turn in &story.turns {
        let question = writer.question();
        writer.push(json!({"role": "user", "content": question}));
        for step in &turn.steps {
            let ids = writer.ids(step);
            let calls: Vec<Value> = step.calls.iter().zip(&ids).map(|(call, id)| write_call(call, id)).collect();
            let content = step.speaks.then_some("I look.");
            let mut message = json!({"role": "assistant", "content": content, "tool_calls": calls});
            if step.reasoning != Reasoning::None {
                let data = writer.signature();
                message["reasoning_details"] = json!([{"type": "reasoning.encrypted", "data": data}]);
            }
            writer.push(message);
            if step.late {
                writer.push(json!({"role": "user", "content": "Well?"}));
            }
            for (call, id) in answered(step, &ids) {
                writer.push(json!({"role": "tool", "tool_call_id": id, "content": body(call)}));
            }
            if step.interjects {
                writer.push(json!({"role": "user", "content": "Go on."}));
            }
        }
        if turn.answer.is_some() {
            writer.push(json!({"role": "assistant", "content": "Done."}));
        }
    }
}

fn openai_responses(writer: &mut Writer, story: &Story) {
    let reason = |writer: &mut Writer, reasoning: Reasoning| {
        let id = format!("rs_{}", writer.messages.len());
        let data = writer.signature();
        match reasoning {
            Reasoning::None => {}
            Reasoning::Signed => {
                writer.push(json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": data}));
            }
            Reasoning::Redacted => writer.push(json!({"type": "reasoning", "id": id, "summary": []})),
        }
    };
    let say = |text: &str| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    if story.system {
        writer.push(json!({"role": "developer", "content": "Be brief."}));
    }
    for turn in &story.turns {
        let question = writer.question();
        writer.push(json!({"role": "user", "content": [{"type": "input_text", "text": question}]}));
        for step in &turn.steps {
            reason(writer, step.reasoning);
            if step.speaks {
                writer.push(say("I look."));
            }
            let ids = writer.ids(step);
            for (call, id) in step.calls.iter().zip(&ids) {
                let arguments = json!({"path": path(call.target)}).to_string();
                writer.push(match call.tool {
                    0 => json!({"type": "custom_tool_call", "call_id": id, "name": name(call), "input": arguments}),
                    _ => json!({"type": "function_call", "call_id": id, "name": name(call), "arguments": arguments}),
                });
            }
            let asked = format!("mcpr_{}", writer.messages.len());
            if step.served.is_some() {
                let request = json!({"type": "mcp_approval_request", "id": asked, "server_label": "s",
                    "name": "tool3", "arguments": "{}"});
                writer.push(request);
            }
            if step.late {
                writer.push(json!({"role": "user", "content": "Well?"}));
            }
            if let Some(outcome) = step.served {
                approved(writer, step, &asked, outcome);
            }
            for (call, id) in answered(step, &ids) {
                let kind = if call.tool == 0 { "custom_tool_call_output" } else { "function_call_output" };
                writer.push(json!({"type": kind, "call_id": id, "output": body(call)}));
            }
            if step.interjects {
                writer.push(json!({"role": "user", "content": "Go on."}));
            }
        }
        if let Some(answer) = turn.answer {
            reason(writer, answer);
            writer.push(say("Done."));
        }
    }
}

/// What a person says to a request for approval, and how the call went where they agreed.
fn approved(writer: &mut Writer, step: &Step, request: &str, outcome: Outcome) {
    let agrees = !step.reordered;
    writer.push(json!({"type": "mcp_approval_response", "approval_request_id": request, "approve": agrees}));
    if agrees {
        let error = if outcome == Outcome::Failure { json!("no such page") } else { Value::Null };
        let output = if outcome == Outcome::Failure { Value::Null } else { json!("found") };
        let id = format!("mcp_{}", writer.messages.len());
        writer.push(json!({"type": "mcp_call", "id": id, "approval_request_id": request, "server_label": "s",
            "name": "tool3", "arguments": "{}", "output": output, "error": error}));
    }
}

fn gemini(writer: &mut Writer, story: &Story) {
    for turn in &story.turns {
        let question = writer.question();
        writer.push(json!({"role": "user", "parts": [{"text": question}]}));
        for step in &turn.steps {
            let mut parts = Vec::new();
            if step.speaks {
                parts.push(json!({"text": "I look."}));
            }
            for (position, call) in step.calls.iter().enumerate() {
                let mut part = json!({"functionCall": {"name": name(call), "args": {"path": path(call.target)}}});
                if position == 0 && step.reasoning != Reasoning::None {
                    part["thoughtSignature"] = writer.signature().into();
                }
                parts.push(part);
            }
            writer.push(json!({"role": "model", "parts": parts}));
            // Without ids the order of the calls is that of the responses.
            let results = step.calls.iter().filter(|call| call.outcome != Outcome::Missing);
            let mut parts: Vec<Value> = results
                .map(|call| {
                    let key = if call.outcome == Outcome::Failure { "error" } else { "output" };
                    json!({"functionResponse": {"name": name(call), "response": {key: body(call)}}})
                })
                .collect();
            if step.interjects {
                parts.push(json!({"text": "Go on."}));
            }
            if !parts.is_empty() {
                writer.push(json!({"role": "user", "parts": parts}));
            }
        }
        if turn.answer.is_some() {
            writer.push(json!({"role": "model", "parts": [{"text": "Done."}]}));
        }
    }
}

fn bedrock(writer: &mut Writer, story: &Story) {
    let reasoning = |writer: &mut Writer, reasoning: Reasoning| match reasoning {
        Reasoning::None => None,
        Reasoning::Signed => {
            let signature = writer.signature();
            Some(json!({"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": signature}}}))
        }
        Reasoning::Redacted => Some(json!({"reasoningContent": {"redactedContent": writer.signature()}})),
    };
    // The roles alternate: what the user says after results stands in their message.
    let mut open: Vec<Value> = Vec::new();
    for turn in &story.turns {
        open.push(json!({"text": writer.question()}));
        for step in &turn.steps {
            writer.push(json!({"role": "user", "content": std::mem::take(&mut open)}));
            let ids = writer.ids(step);
            let mut blocks: Vec<Value> = reasoning(writer, step.reasoning).into_iter().collect();
            if step.speaks {
                blocks.push(json!({"text": "I look."}));
            }
            let uses = step.calls.iter().zip(&ids);
            blocks.extend(uses.map(|(call, id)| {
                json!({"toolUse": {"toolUseId": id, "name": name(call), "input": {"path": path(call.target)}}})
            }));
            writer.push(json!({"role": "assistant", "content": blocks}));
            open.extend(answered(step, &ids).into_iter().map(|(call, id)| {
                let status = if call.outcome == Outcome::Failure { "error" } else { "success" };
                json!({"toolResult": {"toolUseId": id, "content": [{"text": body(call)}], "status": status}})
            }));
            if step.interjects || open.is_empty() {
                open.push(json!({"text": "Go on."}));
            }
        }
        if let Some(answer) = turn.answer {
            writer.push(json!({"role": "user", "content": std::mem::take(&mut open)}));
            let mut blocks: Vec<Value> = reasoning(writer, answer).into_iter().collect();
            blocks.push(json!({"text": "Done."}));
            writer.push(json!({"role": "assistant", "content": blocks}));
        }
    }
    if !open.is_empty() {
        writer.push(json!({"role": "user", "content": open}));
    }
}
