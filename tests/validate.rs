//! The validator: the verdicts that were collected from providers, then a table of mistakes with a valid twin for
//! each, then rubbish.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

mod common;
#[path = "common/counted.rs"]
mod counted;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use transcript_projection::{ErrorCode, Provider, Request, Violation, validate};

use common::read_fixture;
use counted::{Counted, reads};

fn check(messages: &Value, provider: &str, request: &Value) -> Vec<Violation> {
    let list: Vec<&Value> = messages.as_array().expect("a list").iter().collect();
    let provider = Provider::named(provider).expect("a provider");
    let request = Request::parse(Some(&request)).expect("a request");
    validate(&list, provider, &request).expect("objects")
}

fn rules(violations: &[Violation]) -> Vec<&str> {
    violations.iter().map(|violation| violation.rule).collect()
}

/// The fixture names two providers in its own way.
fn named(provider: &str, request: &mut Value) -> String {
    match provider {
        "bedrock_converse" => "bedrock".to_owned(),
        "openai_compat_strict_template" => {
            request["strict_template"] = true.into();
            "openai_chat".to_owned()
        }
        provider => provider.to_owned(),
    }
}

#[test]
fn agrees_with_every_collected_verdict() {
    let vectors = read_fixture("provider-rules.json");
    let vectors = vectors.as_array().expect("a list");
    assert_eq!(vectors.len(), 102);
    let mut differences = Vec::new();
    for vector in vectors {
        let mut request = vector.get("params").cloned().unwrap_or_else(|| json!({}));
        if let Some(original) = vector.get("original_messages") {
            request["original_messages"] = original.clone();
        }
        let provider = named(vector["provider"].as_str().expect("a provider"), &mut request);
        let found = check(&vector["messages"], &provider, &request);
        let rule = vector["rule"].as_str().expect("a rule");
        let agrees = match vector["valid"].as_bool().expect("a verdict") {
            true => found.is_empty(),
            false => found.iter().any(|violation| violation.rule == rule && violation.severity == "error"),
        };
        if !agrees {
            differences.push(format!("{} ({}): {} but found {found:#?}", vector["id"], vector["why"], vector["valid"]));
        }
    }
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
}

/// A mistake, and the same list without it.
struct Mistake {
    rule: &'static str,
    severity: &'static str,
    provider: &'static str,
    request: Value,
    bad: Value,
    good: Value,
}

fn error(rule: &'static str, provider: &'static str, bad: Value, good: Value) -> Mistake {
    Mistake { rule, severity: "error", provider, request: json!({}), bad, good }
}

fn warning(rule: &'static str, provider: &'static str, bad: Value, good: Value) -> Mistake {
    Mistake { severity: "warning", ..error(rule, provider, bad, good) }
}

fn with(request: Value, mistake: Mistake) -> Mistake {
    Mistake { request, ..mistake }
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

// Anthropic.
fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
fn tool_use(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {"path": "a"}})
}
fn tool_result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}
fn compaction() -> Value {
    json!({"type": "compaction", "content": "s"})
}
fn thinking(signature: &str) -> Value {
    json!({"type": "thinking", "thinking": "", "signature": signature})
}
fn called_by_program() -> Value {
    json!({"type": "tool_use", "id": "t1", "name": "read", "input": {},
        "caller": {"type": "code_execution_20250825", "tool_id": "s1"}})
}

fn image() -> Value {
    json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}])
}

fn server_tool_use(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "a"}})
}
fn server_result(id: &str) -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []})
}

// OpenAI Chat.
fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}})
}
fn calls(list: Value) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": list})
}
fn tool(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "ok"})
}

// Responses.
fn item_call(kind: &str, id: &str) -> Value {
    json!({"type": kind, "call_id": id, "name": "read", "arguments": "{}", "input": "x"})
}
fn item_output(kind: &str, id: &str) -> Value {
    json!({"type": kind, "call_id": id, "output": "ok"})
}
fn reasoning(fields: Value) -> Value {
    let mut item = json!({"type": "reasoning", "summary": []});
    item.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    item
}
fn said(fields: Value) -> Value {
    let mut item = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]});
    item.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    item
}

// Gemini.
fn content(role: &str, parts: Value) -> Value {
    json!({"role": role, "parts": parts})
}
fn function_call(name: &str) -> Value {
    json!({"functionCall": {"name": name, "args": {}}, "thoughtSignature": "A"})
}
fn unsigned_call(name: &str) -> Value {
    json!({"functionCall": {"name": name, "args": {}}})
}
fn response(name: &str) -> Value {
    json!({"functionResponse": {"name": name, "response": {"output": "ok"}}})
}

// Bedrock.
fn use_block(id: &str) -> Value {
    json!({"toolUse": {"toolUseId": id, "name": "read", "input": {}}})
}
fn result_block(id: &str) -> Value {
    json!({"toolResult": {"toolUseId": id, "content": [{"text": "ok"}]}})
}

/// The list with one field of one message, or of a block in it, set to something else; `null` takes it out.
fn set(mut list: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = list.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}"));
    match (parent, value) {
        (Value::Object(fields), Value::Null) => _ = fields.remove(key),
        (Value::Object(fields), value) => _ = fields.insert(key.to_owned(), value),
        (Value::Array(items), value) => items[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer}"),
    }
    list
}

fn anthropic_step() -> Value {
    json!([user("go"), assistant(json!([text("ok"), tool_use("t1")])), user(json!([tool_result("t1")]))])
}

fn anthropic_mistakes() -> Vec<Mistake> {
    let step = anthropic_step;
    let manual = json!({"thinking": {"type": "enabled"}});
    let old = || json!({"model": "claude-sonnet-4-5-20250929"});
    let new = || json!({"model": "us.anthropic.claude-opus-4-8-v1:0"});
    let e = |rule, bad, good| error(rule, "anthropic", bad, good);
    let w = |rule, bad, good| warning(rule, "anthropic", bad, good);
    let two = json!([tool_use("t1"), tool_use("t2")]);
    let prefill = json!([user("a"), assistant("x")]);
    let searched =
        json!([user("a"), assistant(json!([server_tool_use("s1"), server_result("s1"), text("x")])), user("b")]);
    let late_system = json!([user("a"), {"role": "system", "content": "s"}, assistant("x"), user("b")]);
    let signed = json!([user("a"), assistant(json!([thinking("S1"), text("x")])), user("b")]);
    let redacted = json!({"type": "redacted_thinking", "data": "R"});
    vec![
        e("ANT-PAIR-1", set(step(), "/2/content", json!("no")), step()),
        // Each occurrence counts, not each id.
        e(
            "ANT-PAIR-1",
            json!([user("a"), assistant(json!([tool_use("t1")])), user(json!([text("b")])), assistant("x"), user("c")]),
            json!([
                user("a"),
                assistant(json!([tool_use("t1")])),
                user(json!([tool_result("t1"), text("b")])),
                assistant("x"),
                user("c")
            ]),
        ),
        e("ANT-PAIR-2", set(step(), "/2/content/0/tool_use_id", json!("t2")), step()),
        e(
            "ANT-PAIR-2",
            json!([
                user("a"),
                assistant(json!([tool_use("t1")])),
                user(json!([tool_result("t1")])),
                assistant("x"),
                user(json!([tool_result("t1")]))
            ]),
            json!([
                user("a"),
                assistant(json!([tool_use("t1")])),
                user(json!([tool_result("t1")])),
                assistant("x"),
                user("b")
            ]),
        ),
        e(
            "ANT-PAIR-3",
            json!([
                user("a"),
                assistant(two.clone()),
                user(json!([tool_result("t2")])),
                user(json!([tool_result("t1")]))
            ]),
            json!([user("a"), assistant(two.clone()), user(json!([tool_result("t2"), tool_result("t1")]))]),
        ),
        e(
            "ANT-PAIR-4",
            json!([user("a"), assistant(two.clone()), user(json!([tool_result("t1"), text("b"), tool_result("t2")]))]),
            json!([user("a"), assistant(two.clone()), user(json!([tool_result("t1"), tool_result("t2"), text("b")]))]),
        ),
        e("ANT-PAIR-5", set(step(), "/2/content", json!([tool_result("t1"), tool_result("t1")])), step()),
        e(
            "ANT-PAIR-6",
            json!([
                user("a"),
                assistant(json!([tool_use("t1"), tool_use("t1")])),
                user(json!([tool_result("t1"), tool_result("t1")]))
            ]),
            json!([user("a"), assistant(two), user(json!([tool_result("t1"), tool_result("t2")]))]),
        ),
        e("ANT-PAIR-7", json!([user("a"), assistant(json!([tool_use("t1")]))]), step()),
        e("ANT-PAIR-8", set(searched.clone(), "/1/content", json!([server_result("s1"), text("x")])), searched.clone()),
        w(
            "ANT-PAIR-8",
            json!([
                user("a"),
                assistant(json!([called_by_program()])),
                user(json!([tool_result("t1")])),
                assistant("x"),
                user("b")
            ]),
            json!([
                user("a"),
                assistant(json!([server_tool_use("s1"), called_by_program()])),
                user(json!([tool_result("t1")])),
                assistant(json!([server_result("s1"), text("x")])),
                user("b")
            ]),
        ),
        e(
            "ANT-PAIR-8",
            set(searched.clone(), "/1/content", json!([server_result("s1"), server_tool_use("s1"), text("x")])),
            searched.clone(),
        ),
        e(
            "ANT-PAIR-8",
            json!([
                user("a"),
                assistant(json!([server_tool_use("s1"), tool_use("t1")])),
                user(json!([tool_result("t1"), text("b")]))
            ]),
            json!([
                user("a"),
                assistant(json!([server_tool_use("s1"), tool_use("t1")])),
                user(json!([tool_result("t1")]))
            ]),
        ),
        w(
            "ANT-PAIR-9",
            set(set(step(), "/2/content/0/is_error", json!(true)), "/2/content/0/content", json!("")),
            set(step(), "/2/content/0/is_error", json!(true)),
        ),
        w(
            "ANT-PAIR-9",
            set(step(), "/2/content/0/content", json!([{"type": "thinking", "signature": "x"}])),
            set(step(), "/2/content/0/content", json!([text("x")])),
        ),
        e("ANT-ROLE-1", json!([assistant("x"), user("a")]), json!([user("a"), assistant("x"), user("b")])),
        e(
            "ANT-ROLE-1",
            json!([assistant(json!([text("x")])), user("a")]),
            json!([assistant(json!([{"type": "compaction", "content": "s"}, text("x")])), user("a")]),
        ),
        with(new(), e("ANT-ROLE-3", json!([{"role": "system", "content": "s"}, user("a")]), late_system.clone())),
        with(
            new(),
            e("ANT-ROLE-3", set(late_system.clone(), "/1/content", json!([{"type": "image"}])), late_system.clone()),
        ),
        with(
            new(),
            e("ANT-ROLE-3", json!([user("a"), {"role": "system", "content": "s"}, user("b")]), late_system.clone()),
        ),
        with(old(), e("ANT-ROLE-3", late_system.clone(), json!([user("a"), assistant("x"), user("b")]))),
        w("ANT-ROLE-3", late_system, json!([user("a"), assistant("x"), user("b")])),
        e("ANT-ROLE-4", json!([user(" \n")]), json!([user("a")])),
        e("ANT-ROLE-4", json!([user(json!([]))]), json!([user("a")])),
        e("ANT-ROLE-4", json!([{"role": "user"}]), json!([user("a")])),
        e(
            "ANT-ROLE-4",
            set(step(), "/2/content/0/content", json!([text("")])),
            set(step(), "/2/content/0/content", json!([text("x")])),
        ),
        with(old(), e("ANT-ROLE-4", json!([user("a"), assistant(""), user("b")]), json!([user("a"), assistant("")]))),
        with(
            old(),
            e(
                "ANT-ROLE-5",
                json!([user("a"), assistant(json!([text("x\n")]))]),
                json!([user("a"), assistant(json!([text("x")]))]),
            ),
        ),
        with(new(), e("ANT-ROLE-6", prefill.clone(), json!([user("a")]))),
        w("ANT-ROLE-6", prefill, json!([user("a")])),
        e("ANT-ROLE-7", json!([user(json!([text("a"), tool_use("t1")])), user(json!([tool_result("t1")]))]), step()),
        e("ANT-ROLE-7", json!([user(json!([text("a"), thinking("S")]))]), json!([user(json!([text("a")]))])),
        e("ANT-ROLE-7", json!([user("a"), assistant(json!([tool_use("t1"), tool_result("t1")])), user("b")]), step()),
        e("ANT-THK-2", set(signed.clone(), "/1/content/0/signature", Value::Null), signed.clone()),
        e(
            "ANT-THK-2",
            json!([user("a"), assistant(json!([{"type": "redacted_thinking"}, text("x")])), user("b")]),
            json!([user("a"), assistant(json!([redacted, text("x")])), user("b")]),
        ),
        with(
            manual.clone(),
            e(
                "ANT-THK-3",
                step(),
                json!([user("a"), assistant(json!([thinking("S"), tool_use("t1")])), user(json!([tool_result("t1")]))]),
            ),
        ),
        // Only the first message of the turn must begin with thinking.
        with(
            manual,
            e(
                "ANT-THK-3",
                json!([
                    user("a"),
                    assistant(json!([tool_use("t1")])),
                    user(json!([tool_result("t1")])),
                    assistant(json!([thinking("S"), tool_use("t2")])),
                    user(json!([tool_result("t2")]))
                ]),
                json!([
                    user("a"),
                    assistant(json!([thinking("S"), tool_use("t1")])),
                    user(json!([tool_result("t1")])),
                    assistant(json!([tool_use("t2")])),
                    user(json!([tool_result("t2")]))
                ]),
            ),
        ),
        with(
            json!({"original_messages": signed, "model": "claude-opus-5-5"}),
            w("ANT-BIND-1", set(signed.clone(), "/0/content", json!("other")), signed.clone()),
        ),
        with(
            json!({"original_messages": signed}),
            w("ANT-BIND-1", set(signed.clone(), "/0/content", json!("other")), signed.clone()),
        ),
        e("thinking_last", json!([user("a"), assistant(json!([text("x"), thinking("S")])), user("b")]), signed),
        e(
            "tool_id_format",
            json!([user("a"), assistant(json!([tool_use("call:1")])), user(json!([tool_result("call:1")]))]),
            step(),
        ),
        e("tool_input", set(step(), "/1/content/1/input", json!("{\"path\": \"a\"}")), step()),
        e("missing_name", set(step(), "/1/content/1/name", Value::Null), step()),
        e(
            "missing_id",
            set(set(step(), "/1/content/1/id", Value::Null), "/2/content/0/tool_use_id", Value::Null),
            step(),
        ),
        e("unknown_role", json!([user("a"), {"role": "tool", "content": "x"}]), json!([user("a")])),
        e(
            "foreign_shape",
            json!([user("a"), {"role": "assistant", "content": "x", "tool_calls": [call("c1")]}, user("b")]),
            json!([user("a"), assistant("x"), user("b")]),
        ),
        e(
            "foreign_shape",
            json!([user(json!([{"type": "image_url", "image_url": {"url": "x"}}]))]),
            json!([user(json!([{"type": "image"}]))]),
        ),
        // The whole response instead of its content.
        w("extra_field", set(set(step(), "/1/id", json!("msg_1")), "/1/stop_reason", json!("tool_use")), step()),
        // The server answers its own calls.
        e(
            "ANT-PAIR-2",
            json!([user("a"), assistant(json!([server_tool_use("s1")])), user(json!([tool_result("s1")]))]),
            step(),
        ),
        // A turn that the server paused goes on; an answer that is done does not.
        with(
            new(),
            e(
                "ANT-ROLE-6",
                json!([user("a"), assistant(json!([server_tool_use("s1"), server_result("s1"), text("x")]))]),
                json!([user("a"), assistant(json!([server_tool_use("s1"), server_result("s1")]))]),
            ),
        ),
        with(
            new(),
            e(
                "ANT-ROLE-6",
                json!([user("a"), assistant(json!([compaction(), text("x")]))]),
                json!([user("a"), assistant(json!([compaction()]))]),
            ),
        ),
        e("wrong_type", json!([user(json!(["a"]))]), json!([user("a")])),
        e("wrong_type", json!([user(7)]), json!([user("a")])),
        e("wrong_type", set(step(), "/2/content/0/tool_use_id", json!(7)), step()),
        e("wrong_type", json!([user(json!([{"text": "a"}]))]), json!([user(json!([text("a")]))])),
    ]
}

fn chat_mistakes() -> Vec<Mistake> {
    let e = |rule, bad, good| error(rule, "openai_chat", bad, good);
    let w = |rule, bad, good| warning(rule, "openai_chat", bad, good);
    let step = || json!([user("a"), calls(json!([call("c1")])), tool("c1")]);
    let old = json!([user("a"), {"role": "assistant", "content": null, "function_call": {"name": "read", "arguments": "{}"}},
        {"role": "function", "name": "read", "content": "ok"}]);
    let template = || json!({"strict_template": true});
    vec![
        // A model that repeats an id, and an interruption: one call is unanswered, the second.
        e(
            "OAC-PAIR-1",
            json!([user("a"), calls(json!([call("c1")])), tool("c1"), calls(json!([call("c1")])), user("b")]),
            json!([
                user("a"),
                calls(json!([call("c1")])),
                tool("c1"),
                calls(json!([call("c1")])),
                tool("c1"),
                user("b")
            ]),
        ),
        e("OAC-PAIR-2", json!([user("a"), tool("c1")]), step()),
        e(
            "OAC-PAIR-2",
            json!([user("a"), calls(json!([call("c1")])), tool("c1"), user("b"), tool("c1")]),
            json!([user("a"), calls(json!([call("c1")])), tool("c1"), user("b")]),
        ),
        e(
            "OAC-PAIR-3",
            json!([user("a"), calls(json!([call("c1"), call("c2")])), tool("c2")]),
            json!([user("a"), calls(json!([call("c1"), call("c2")])), tool("c2"), tool("c1")]),
        ),
        e("OAC-PAIR-4", json!([user(json!([]))]), json!([user("a")])),
        e("OAC-PAIR-5", json!([user("a"), calls(json!([call("c1")])), tool("c1"), tool("c1")]), step()),
        w("OAC-PAIR-1", json!([old[0], old[1]]), old.clone()),
        e("OAC-ROLE-2", json!([{"role": "user", "content": null}]), json!([user("a")])),
        e(
            "OAC-ROLE-2",
            json!([user("a"), {"role": "assistant"}]),
            json!([user("a"), {"role": "assistant", "refusal": "no"}]),
        ),
        e("OAC-ROLE-2", set(step(), "/2/content", Value::Null), set(step(), "/2/content", json!(""))),
        with(json!({"model": "gpt-6-astra"}), e("OAC-ROLE-3", step(), json!([user("a")]))),
        with(json!({"model": "gpt-6-sol", "reasoning_effort": "low"}), e("OAC-ROLE-3", step(), json!([user("a")]))),
        with(
            json!({"model": "gemini-3-pro-preview"}),
            e(
                "OAC-RSN-1",
                step(),
                set(step(), "/1/tool_calls/0/extra_content", json!({"google": {"thought_signature": "A"}})),
            ),
        ),
        // Google's own route; other gateways keep the signatures elsewhere.
        with(
            json!({"model": "google/gemini-3-pro-preview"}),
            e("OAC-RSN-1", step(), set(step(), "/1/reasoning_details", json!([]))),
        ),
        with(template(), e("CMP-1", json!([assistant("x"), user("a")]), json!([user("a"), assistant("x"), user("a")]))),
        with(
            template(),
            e(
                "CMP-1",
                json!([user("a"), {"role": "system", "content": "s"}]),
                json!([{"role": "system", "content": "s"}, user("a")]),
            ),
        ),
        with(
            template(),
            e(
                "CMP-1",
                json!([user("a"), assistant("x"), assistant("y")]),
                json!([user("a"), assistant("x"), user("b")]),
            ),
        ),
        with(template(), e("CMP-2", json!([user("a"), tool("c1")]), set(step(), "/1/content", json!("")))),
        with(template(), w("CMP-3", step(), set(step(), "/1/content", json!("")))),
        w("arguments_not_json", set(step(), "/1/tool_calls/0/function/arguments", json!("{\"path\":")), step()),
        e("arguments_not_text", set(step(), "/1/tool_calls/0/function/arguments", json!({})), step()),
        e("missing_id", set(step(), "/2/tool_call_id", Value::Null), step()),
        e("missing_id", set(step(), "/1/tool_calls/0/id", Value::Null), step()),
        e("missing_name", set(step(), "/1/tool_calls/0/function/name", json!("")), step()),
        w("empty_message", json!([user("")]), json!([user("a")])),
        w("empty_text", json!([user(json!([text("")]))]), json!([user(json!([text("a")]))])),
        e("unknown_role", json!([user("a"), {"role": "model", "content": "x"}]), json!([user("a"), assistant("x")])),
        e("wrong_role", json!([{"role": "user", "content": "a", "tool_calls": [call("c1")]}]), json!([user("a")])),
        e("wrong_role", json!([user("a"), assistant(image()), user("b")]), json!([user(image())])),
        w("wrong_role", set(step(), "/2/content", image()), set(step(), "/2/content", json!([text("ok")]))),
        e(
            "foreign_shape",
            json!([user("a"), calls(json!([{"id": "c1", "name": "read", "arguments": {}}])), tool("c1")]),
            step(),
        ),
        e(
            "foreign_shape",
            json!([user("a"), assistant(json!([tool_use("t1")])), user(json!([tool_result("t1")]))]),
            step(),
        ),
        e(
            "wrong_type",
            json!([user("a"), {"role": "assistant", "content": "x", "tool_calls": {}}]),
            json!([user("a"), assistant("x")]),
        ),
        e("wrong_type", json!([user(json!({"text": "a"}))]), json!([user("a")])),
        e("empty_list", json!([]), json!([user("a")])),
        e(
            "projection_mark",
            json!([{"role": "user", "content": "a", "_harn_projection": {"synthetic": true}}]),
            json!([user("a")]),
        ),
        e(
            "projection_mark",
            json!([user(json!([{"type": "text", "text": "a", "_harn_projection": {}}]))]),
            json!([user(json!([text("a")]))]),
        ),
        e("too_deep", json!([user(nested(600))]), json!([user("a")])),
    ]
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!("x"), |inner, _| json!([{"type": "text", "text": "x", "of": inner}]))
}

fn relatives_mistakes() -> Vec<Mistake> {
    let mis = |rule, bad, good| error(rule, "mistral", bad, good);
    let step = json!([user("a"), calls(json!([call("abcdefgh1")])), tool("abcdefgh1")]);
    let thought = json!([user("a"), {"role": "assistant", "content": "", "reasoning_content": "", "tool_calls": [call("c1")]}, tool("c1")]);
    let unthought = set(thought.clone(), "/1/reasoning_content", Value::Null);
    let then = |first: &Value, message: Value| {
        let mut list = first.clone();
        list.as_array_mut().unwrap().push(message);
        list
    };
    vec![
        mis("MIS-1", then(&step, user("b")), step.clone()),
        mis("MIS-2", then(&step, tool("abcdefgh1")), step.clone()),
        mis(
            "MIS-3",
            set(set(step.clone(), "/1/tool_calls/0/id", json!("abcdefg-1")), "/2/tool_call_id", json!("abcdefg-1")),
            step.clone(),
        ),
        mis(
            "MIS-4",
            then(&step, assistant("x")),
            then(&step, json!({"role": "assistant", "content": "x", "prefix": true})),
        ),
        mis("empty_message", json!([user("a"), {"role": "assistant", "content": null}, user("b")]), step),
        // Only OpenAI has developers.
        mis(
            "unknown_role",
            json!([{"role": "developer", "content": "d"}, user("a")]),
            json!([{"role": "system", "content": "s"}, user("a")]),
        ),
        error(
            "unknown_role",
            "deepseek",
            json!([{"role": "developer", "content": "d"}, user("a")]),
            json!([{"role": "system", "content": "s"}, user("a")]),
        ),
        // Mistral's thinking is a part; in the other servers' messages it is Anthropic's.
        mis(
            "foreign_shape",
            json!([user("a"), assistant(json!([{"type": "redacted_thinking", "data": "D"}, text("x")])), user("b")]),
            json!([user("a"), assistant(json!([{"type": "thinking", "thinking": [text("h")]}, text("x")])), user("b")]),
        ),
        with(json!({"thinking": {"type": "enabled"}}), error("DSK-1", "deepseek", unthought.clone(), thought.clone())),
        warning(
            "DSK-1",
            "deepseek",
            then(&thought, calls(json!([call("c2")])))
                .as_array()
                .map(|list| {
                    let mut list = list.clone();
                    list.push(tool("c2"));
                    Value::Array(list)
                })
                .unwrap(),
            thought.clone(),
        ),
        with(
            json!({"model": "deepseek-v4", "thinking": {"type": "enabled"}}),
            warning("DSK-2", "deepseek", then(&thought, assistant("x")), thought.clone()),
        ),
        error("DSK-3", "deepseek", json!([thought[0], thought[1], user("b")]), thought),
        with(
            json!({"thinking": {"type": "disabled"}}),
            error("DSK-3", "deepseek", json!([user("a"), tool("c1")]), unthought),
        ),
    ]
}

fn responses_mistakes() -> Vec<Mistake> {
    let e = |rule, bad, good| error(rule, "openai_responses", bad, good);
    let w = |rule, bad, good| warning(rule, "openai_responses", bad, good);
    let step = || json!([user("a"), item_call("function_call", "c1"), item_output("function_call_output", "c1")]);
    let custom =
        || json!([user("a"), item_call("custom_tool_call", "c1"), item_output("custom_tool_call_output", "c1")]);
    let thought = || json!([user("a"), reasoning(json!({"id": "rs_1"})), said(json!({"id": "msg_1"})), user("b")]);
    vec![
        e("OAR-PAIR-1", json!([user("a"), item_output("function_call_output", "c1")]), step()),
        e("OAR-PAIR-2", json!([user("a"), item_call("function_call", "c1")]), step()),
        e(
            "OAR-PAIR-3",
            json!([
                user("a"),
                item_call("function_call", "c1"),
                item_output("function_call_output", "c1"),
                item_call("function_call", "c1"),
                item_output("function_call_output", "c1")
            ]),
            step(),
        ),
        e("OAR-PAIR-4", json!([user("a"), item_output("custom_tool_call_output", "c1")]), custom()),
        e(
            "OAR-PAIR-4",
            json!([user("a"), {"type": "mcp_approval_request"}, {"type": "mcp_approval_response", "approval_request_id": "r1"}]),
            json!([user("a"), {"type": "mcp_approval_request", "id": "r1"}, {"type": "mcp_approval_response", "approval_request_id": "r1"}]),
        ),
        e(
            "OAR-PAIR-4",
            json!([user("a"), item_call("local_shell_call", "c1")]),
            json!([user("a"), item_call("local_shell_call", "c1"), item_output("local_shell_call_output", "c1")]),
        ),
        e(
            "OAR-PAIR-5",
            json!([said(json!({"id": "m"})), said(json!({"id": "m"}))]),
            json!([said(json!({"id": "m"})), said(json!({"id": "n"}))]),
        ),
        e("OAR-RSN-1", json!([user("a"), reasoning(json!({"id": "rs_1"}))]), thought()),
        w(
            "OAR-RSN-1",
            json!([user("a"), reasoning(json!({"id": "rs_1"})), reasoning(json!({"id": "rs_2"})), said(json!({}))]),
            thought(),
        ),
        with(
            json!({"original_messages": thought()}),
            e("OAR-RSN-2", json!([user("a"), said(json!({"id": "msg_1"})), user("b")]), thought()),
        ),
        with(json!({"store": false}), e("OAR-RSN-3", thought(), set(thought(), "/1/encrypted_content", json!("E")))),
        e("OAR-RSN-4", set(thought(), "/1/summary", Value::Null), thought()),
        with(json!({"original_messages": step()}), w("OAR-RSN-5", json!([user("a")]), step())),
        with(json!({"original_messages": step()}), w("OAR-RSN-5", set(step(), "/2/output", json!("less")), step())),
        with(
            json!({"original_messages": [said(json!({"phase": "commentary"})), user("b")]}),
            w(
                "OAR-RSN-7",
                json!([said(json!({})), user("b")]),
                json!([said(json!({"phase": "commentary"})), user("b")]),
            ),
        ),
        with(
            json!({"original_messages": [user("a"), said(json!({})), user("b")], "previous_response_id": "resp_1"}),
            w("OAR-STATE-1", json!([user("a"), user("b")]), json!([user("a"), said(json!({})), user("b"), user("c")])),
        ),
        with(
            json!({"original_messages": [user("a"), user("b")], "conversation": {"id": "conv_1"}}),
            w("OAR-STATE-1", json!([user("b")]), json!([user("a"), user("b")])),
        ),
        with(
            json!({"model": "deepseek-chat"}),
            e(
                "OAR-DS-1",
                json!([
                    user("a"),
                    item_call("function_call", "c1"),
                    user("b"),
                    item_output("function_call_output", "c1")
                ]),
                step(),
            ),
        ),
        with(
            json!({"model": "deepseek-chat"}),
            e(
                "OAR-DS-1",
                json!([
                    user("a"),
                    item_call("function_call", "c1"),
                    item_call("function_call", "c2"),
                    item_output("function_call_output", "c2"),
                    item_output("function_call_output", "c1")
                ]),
                step(),
            ),
        ),
        e("OAR-RSN-4", set(thought(), "/1/content", json!([{"type": "reasoning_text", "text": "x"}])), thought()),
        e(
            "OAR-CMP-1",
            json!([{"type": "compaction", "id": "cmp_1"}, user("a")]),
            json!([{"type": "compaction", "id": "cmp_1", "encrypted_content": "E"}, user("a")]),
        ),
        e(
            "OAR-PAIR-4",
            json!([user("a"), item_call("function_call", "c1"), item_output("custom_tool_call_output", "c1")]),
            step(),
        ),
        // A reference may stand for the call, if it can be looked up.
        e(
            "OAR-PAIR-1",
            json!([user("a"), item_output("function_call_output", "c1"), {"type": "item_reference", "id": "fc_1"}]),
            json!([user("a"), {"type": "item_reference", "id": "fc_1"}, item_output("function_call_output", "c1")]),
        ),
        with(
            json!({"store": false}),
            e("OAR-RSN-3", json!([{"type": "item_reference", "id": "msg_1"}, user("a")]), json!([user("a")])),
        ),
        with(json!({"store": false}), e("OAR-RSN-3", json!([{"id": "msg_1"}, user("a")]), json!([user("a")]))),
        // What is searched on the client, the client answers.
        e(
            "OAR-PAIR-4",
            json!([user("a"), {"type": "tool_search_call", "call_id": "c1", "execution": "client"}, user("b")]),
            json!([user("a"), {"type": "tool_search_call", "call_id": null, "execution": "server"}, user("b")]),
        ),
        with(
            json!({"model": "openai/gpt-oss-120b"}),
            e(
                "OAR-RSN-4",
                set(thought(), "/1/summary", Value::Null),
                set(thought(), "/1/content", json!([{"type": "reasoning_text", "text": "x"}])),
            ),
        ),
        e("wrong_role", set(thought(), "/2/content/0/type", json!("input_text")), thought()),
        e("wrong_type", json!([user(json!(5))]), json!([user("a")])),
        e("wrong_role", json!([user(json!([{"type": "output_text", "text": "a"}]))]), json!([user("a")])),
        e("wrong_type", set(step(), "/2/output", Value::Null), step()),
        e("wrong_type", set(step(), "/2/output", json!({"text": "ok"})), set(step(), "/2/output", json!([]))),
        e("unknown_role", json!([user("a"), tool("c1")]), step()),
        e(
            "foreign_shape",
            json!([user(json!([text("a")]))]),
            json!([user(json!([{"type": "input_text", "text": "a"}]))]),
        ),
        e("empty_message", json!([{"role": "user"}]), json!([user("a")])),
        w("empty_text", json!([user(json!([{"type": "input_text", "text": " "}]))]), json!([user("a")])),
        e("missing_id", set(step(), "/1/call_id", Value::Null), step()),
        e("missing_name", set(step(), "/1/name", Value::Null), step()),
        e("arguments_not_text", set(step(), "/1/arguments", json!({})), step()),
        w("arguments_not_json", set(step(), "/1/arguments", json!("{")), step()),
        e("wrong_type", json!([user(json!([{"text": "a"}]))]), json!([user("a")])),
    ]
}

fn gemini_mistakes() -> Vec<Mistake> {
    let e = |rule, bad, good| error(rule, "gemini", bad, good);
    let w = |rule, bad, good| warning(rule, "gemini", bad, good);
    let asked = || content("user", json!([{"text": "a"}]));
    let called = || content("model", json!([function_call("read")]));
    let answered = || content("user", json!([response("read")]));
    let step = || json!([asked(), called(), answered()]);
    vec![
        e("GEM-PAIR-1", json!([asked(), called()]), step()),
        e("GEM-PAIR-1", json!([asked(), called(), asked()]), step()),
        e("GEM-PAIR-2", json!([called(), answered()]), step()),
        e("GEM-PAIR-2", json!([asked(), content("model", json!([{"text": "x"}])), called(), answered()]), step()),
        e("GEM-PAIR-3", json!([asked(), answered()]), step()),
        w("GEM-PAIR-3", json!([asked(), called(), content("user", json!([response("write")]))]), step()),
        e("GEM-ROLE-1", json!([{"role": "user"}]), json!([asked()])),
        e(
            "GEM-ROLE-1",
            json!([content("user", json!([{"thoughtSignature": "A"}]))]),
            json!([content("user", json!([{"thoughtSignature": "A", "text": ""}]))]),
        ),
        w("GEM-ROLE-1", json!([content("user", json!([{"text": ""}]))]), json!([asked()])),
        w("GEM-ROLE-2", json!([asked(), content("model", json!([{"text": "x"}]))]), json!([asked()])),
        w("GEM-SIG-1", json!([asked(), content("model", json!([unsigned_call("read")])), answered()]), step()),
        with(
            json!({"model": "models/gemini-3-pro-preview"}),
            e(
                "GEM-SIG-1",
                json!([asked(), content("model", json!([unsigned_call("read")])), answered()]),
                // Only the current turn is looked at.
                json!([
                    asked(),
                    content("model", json!([unsigned_call("read")])),
                    answered(),
                    content("model", json!([{"text": "x"}])),
                    asked()
                ]),
            ),
        ),
        e(
            "unknown_role",
            json!([asked(), content("assistant", json!([{"text": "x"}])), asked()]),
            json!([asked(), content("model", json!([{"text": "x"}])), asked()]),
        ),
        e("foreign_shape", json!([{"role": "user", "content": "a", "parts": [{"text": "a"}]}]), json!([asked()])),
        e("foreign_shape", json!([content("user", json!([text("a")]))]), json!([asked()])),
        e("wrong_type", set(step(), "/1/parts/0/functionCall/args", json!("{}")), step()),
        e("wrong_type", set(step(), "/2/parts/0/functionResponse/response", json!("ok")), step()),
        e(
            "missing_name",
            json!([asked(), called(), content("user", json!([{"functionResponse": {"response": {}}}]))]),
            step(),
        ),
    ]
}

fn bedrock_mistakes() -> Vec<Mistake> {
    let e = |rule, bad, good| error(rule, "bedrock", bad, good);
    let asked = || user(json!([{"text": "a"}]));
    let step = || json!([asked(), assistant(json!([use_block("x1")])), user(json!([result_block("x1")]))]);
    let thought = |text: Value| {
        json!([asked(), assistant(json!([{"reasoningContent": {"reasoningText": text}}, {"text": "x"}])), asked()])
    };
    vec![
        e(
            "BED-1",
            json!([assistant(json!([{"text": "x"}])), asked()]),
            json!([asked(), assistant(json!([{"text": "x"}])), asked()]),
        ),
        e("BED-1", json!([asked(), asked()]), json!([asked()])),
        e("BED-2", json!([asked(), assistant(json!([use_block("x1")])), asked()]), step()),
        e("BED-2", set(step(), "/2/content", json!([result_block("x1"), result_block("x2")])), step()),
        e("BED-2", set(step(), "/2/content", json!([result_block("x1"), result_block("x1")])), step()),
        with(
            json!({"model": "meta.llama3-1-70b-instruct-v1:0"}),
            e("BED-3", set(step(), "/2/content", json!([result_block("x1"), {"text": "b"}])), step()),
        ),
        e(
            "BED-4",
            set(
                set(step(), "/2/content/0/toolResult/status", json!("error")),
                "/2/content/0/toolResult/content",
                json!([]),
            ),
            set(step(), "/2/content/0/toolResult/status", json!("error")),
        ),
        with(json!({"modelId": "anthropic.claude-sonnet-4-5"}), e("BED-5", step(), json!([asked()]))),
        warning("BED-6", "bedrock", thought(json!({"text": "x"})), thought(json!({"text": "x", "signature": "S"}))),
        with(
            json!({"model": "anthropic.claude-sonnet-4-5"}),
            e("BED-6", thought(json!({"text": "x"})), thought(json!({"text": "x", "signature": "S"}))),
        ),
        e("empty_text", json!([user(json!([{"text": " "}]))]), json!([asked()])),
        e("empty_message", json!([user(json!([]))]), json!([asked()])),
        e("wrong_role", json!([user(json!([use_block("x1")]))]), json!([asked()])),
        e("unknown_role", json!([{"role": "system", "content": [{"text": "s"}]}, asked()]), json!([asked()])),
        e("foreign_shape", json!([user(json!([text("a")]))]), json!([asked()])),
        e("wrong_type", json!([user("a")]), json!([asked()])),
        e(
            "missing_id",
            set(
                set(step(), "/1/content/0/toolUse/toolUseId", Value::Null),
                "/2/content/0/toolResult/toolUseId",
                Value::Null,
            ),
            step(),
        ),
        e("missing_name", set(step(), "/1/content/0/toolUse/name", Value::Null), step()),
        e("tool_input", set(step(), "/1/content/0/toolUse/input", json!("{}")), step()),
        e(
            "tool_id_format",
            json!([asked(), assistant(json!([use_block("x:1")])), user(json!([result_block("x:1")]))]),
            step(),
        ),
        e("wrong_type", set(step(), "/2/content/0/toolResult/content", json!("ok")), step()),
        with(
            json!({"modelId": "us.anthropic.claude-opus-4-7-v1:0"}),
            e("ANT-ROLE-6", json!([asked(), assistant(json!([{"text": "x"}]))]), json!([asked()])),
        ),
        // Nova writes text before its calls; other models refuse it.
        with(
            json!({"model": "meta.llama3-1-70b-instruct-v1:0"}),
            e("BED-3", set(step(), "/1/content", json!([{"text": "b"}, use_block("x1")])), step()),
        ),
    ]
}

fn all_mistakes() -> Vec<Mistake> {
    [
        anthropic_mistakes(),
        chat_mistakes(),
        relatives_mistakes(),
        responses_mistakes(),
        gemini_mistakes(),
        bedrock_mistakes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn tells_each_mistake_from_its_valid_twin() {
    let mut wrong = Vec::new();
    for (number, Mistake { rule, severity, provider, request, bad, good }) in all_mistakes().into_iter().enumerate() {
        let name = format!("{number} {provider} {rule} {bad}");
        let found = check(&bad, provider, &request);
        if !found.iter().any(|violation| violation.rule == rule && violation.severity == severity) {
            wrong.push(format!("{name}: only {:?}", rules(&found)));
        }
        let found = check(&good, provider, &request);
        if !found.is_empty() {
            wrong.push(format!("the twin of {name}: {good}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// A list of each shape that shares more than `role` and `content` with no provider's, given to each other provider.
#[test]
fn tells_whose_shape_a_message_has() {
    let all = ["anthropic", "openai_chat", "openai_responses", "gemini", "bedrock", "mistral", "deepseek"];
    for (owner, provider, message) in [
        ("LangChain", None, json!({"type": "human", "content": "a"})),
        ("LangChain", None, json!({"type": "human", "data": {"content": "a"}})),
        (
            "LangChain",
            None,
            json!({"lc": 1, "type": "constructor", "id": ["HumanMessage"], "kwargs": {"content": "a"}}),
        ),
        ("the AI SDK", None, json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "a"}]})),
        (
            "the AI SDK",
            None,
            assistant(json!([{"type": "tool-call", "toolCallId": "c1", "toolName": "read", "input": {}}])),
        ),
        ("OpenAI Responses", Some("openai_responses"), item_call("function_call", "c1")),
        ("Gemini", Some("gemini"), content("user", json!([{"text": "a"}]))),
        ("Bedrock Converse", Some("bedrock"), assistant(json!([use_block("x1")]))),
    ] {
        for name in all {
            let found = check(&json!([user("a"), message]), name, &json!({}));
            let is_told = found
                .iter()
                .any(|found| found.rule == "foreign_shape" && found.index == 1 && found.message.contains(owner));
            assert_eq!(is_told, provider != Some(name), "{name}: {message}: {found:?}");
        }
    }
}

#[test]
fn says_nothing_of_what_providers_document() {
    let cases = read_fixture("valid-requests.json");
    let mut wrong = Vec::new();
    for case in cases.as_array().expect("a list") {
        let provider = case["provider"].as_str().expect("a provider");
        let found = check(&case["messages"], provider, &case["request"]);
        if !found.is_empty() {
            wrong.push(format!("{provider}, {}: {found:?}", case["name"]));
        }
        // What is as it was is not edited.
        let mut request = case["request"].clone();
        if request.get("original_messages").is_none() {
            request["original_messages"] = case["messages"].clone();
            let found = check(&case["messages"], provider, &request);
            if !found.is_empty() {
                wrong.push(format!("{provider}, {} unchanged: {found:?}", case["name"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn counts_each_occurrence_of_an_id() {
    let messages =
        json!([user("a"), calls(json!([call("b9")])), tool("b9"), calls(json!([call("b9")])), user("hello?")]);
    let found = check(&messages, "openai_chat", &json!({}));
    assert_eq!(
        found.iter().map(|found| (found.rule, found.index, found.block)).collect::<Vec<_>>(),
        [("OAC-PAIR-1", 3, Some(0))]
    );
}

#[test]
fn reports_in_the_order_of_the_messages() {
    let messages =
        json!([assistant(json!([tool_use("t1")])), user(""), assistant(json!([text(""), tool_use("t1")])), user("")]);
    let found = check(&messages, "anthropic", &json!({}));
    assert!(found.is_sorted_by_key(|violation| violation.index), "{found:?}");
    assert!(found.len() > 5);
}

#[test]
fn refuses_what_is_no_message_and_what_is_no_request() {
    for rubbish in [json!("x"), json!(7), json!([]), json!(true)] {
        let list = [&rubbish];
        let error = validate(&list, Provider::Anthropic, &Request::default()).unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::InvalidMessage, "messages[0]"));
    }
    for (request, path) in [
        (json!("x"), "request"),
        (json!({"model": 7}), "request.model"),
        (json!({"thinking": "enabled"}), "request.thinking"),
        (json!({"store": "yes"}), "request.store"),
        (json!({"original_messages": {}}), "request.original_messages"),
        (json!({"betas": "thinking"}), "request.betas"),
    ] {
        let error = Request::parse(Some(&&request)).unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::InvalidOption, path));
    }
    assert!(Request::parse(Some(&&json!({"model": null, "max_tokens": 7, "messages": []}))).is_ok());
}

/// Every field of every valid list replaced by every kind of value: a verdict, never a panic.
#[test]
fn takes_any_value_in_any_place() {
    let kinds = [
        json!(null),
        json!(7),
        json!(""),
        json!("x"),
        json!(true),
        json!([]),
        json!([null, 7, "x", []]),
        json!({}),
        json!({"type": "text"}),
    ];
    let mut checked = 0;
    for Mistake { good, request, .. } in all_mistakes() {
        let mut pointers = Vec::new();
        collect_pointers(&good, String::new(), &mut pointers);
        for pointer in pointers.iter().filter(|pointer| pointer.matches('/').count() > 1) {
            for kind in &kinds {
                let mut messages = good.clone();
                *messages.pointer_mut(pointer).unwrap() = kind.clone();
                for (_, provider) in Provider::ALL {
                    let list: Vec<&Value> = messages.as_array().unwrap().iter().collect();
                    let request = Request::parse(Some(&&request)).unwrap();
                    validate(&list, provider, &request).expect("a verdict");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 50_000, "{checked}");
}

fn collect_pointers(value: &Value, at: String, pointers: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| collect_pointers(item, format!("{at}/{index}"), pointers));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| collect_pointers(field, format!("{at}/{name}"), pointers));
        }
        _ => {}
    }
    pointers.push(at);
}

#[test]
fn documents_every_rule_and_tests_it() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/validate.md")).expect("the page");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let documented: BTreeSet<String> = rows.map(|(rule, _)| rule.to_owned()).collect();
    let mut tested: BTreeSet<String> = all_mistakes().iter().map(|mistake| mistake.rule.to_owned()).collect();
    for vector in read_fixture("provider-rules.json").as_array().expect("a list") {
        if vector["valid"] == false {
            tested.insert(vector["rule"].as_str().expect("a rule").to_owned());
        }
    }
    // Only a JavaScript string can have one.
    tested.insert("lone_surrogate".to_owned());
    assert_eq!(documented, tested);
}

/// Twice the messages are twice the work, whatever is wrong with them. A list is there over and over, or each of its
/// messages is, and so are the originals that it is compared with.
#[test]
fn costs_no_more_for_a_message_in_a_long_list() {
    type Repeat<'a> = &'a dyn Fn(&[Value], usize) -> Vec<Value>;
    let list_over_and_over =
        |list: &[Value], times: usize| list.iter().cycle().take(list.len() * times).cloned().collect::<Vec<Value>>();
    let each_over_and_over = |list: &[Value], times: usize| {
        list.iter().flat_map(|message| vec![message.clone(); times]).collect::<Vec<Value>>()
    };
    let cost = |mistake: &Mistake, repeated: Repeat, times: usize| {
        let list_of = |value: &Value| repeated(value.as_array().expect("a list"), times);
        let mut request = mistake.request.clone();
        request["strict_template"] = true.into();
        request["original_messages"] = list_of(request.get("original_messages").unwrap_or(&mistake.good)).into();
        let request = Counted(&request);
        let request = Request::parse(Some(&request)).expect("a request");
        let list = list_of(&mistake.bad);
        let list: Vec<Counted<'_>> = list.iter().map(Counted).collect();
        let provider = Provider::named(mistake.provider).expect("a provider");
        reads(|| drop(validate(&list, provider, &request).expect("objects")))
    };
    let mut slow = Vec::new();
    let ways: [Repeat<'_>; 2] = [&list_over_and_over, &each_over_and_over];
    for (mistake, repeated) in all_mistakes().iter().flat_map(|mistake| ways.map(|way| (mistake, way))) {
        let (once, twice) = (cost(mistake, repeated, 50), cost(mistake, repeated, 100));
        if twice > once * 2 + once / 10 {
            slow.push(format!("{} {} {}: {once}, then {twice}", mistake.provider, mistake.rule, mistake.bad));
        }
    }
    assert!(slow.is_empty(), "{} grow too fast\n{}", slow.len(), slow.join("\n"));
}
