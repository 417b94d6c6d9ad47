//! Every wire shape under every policy: one story, told in each shape, and what each policy makes of it.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use serde_json::{Value, json};
use transcript_projection::{Callbacks, CustomView, Options, Patched, Policy, ProjectionError, Provider, Request};
use transcript_projection::{
    ResultInfo, Transcript, compact, estimate_messages_tokens, estimate_messages_tokens_by_script, message_texts,
    project, provider_messages, prune_tool_results, recover_redacted,
};

use common::{project_value, read_fixture, view_value};

const SHAPES: [&str; 9] = [
    "openai_responses",
    "gemini",
    "gemini_snake",
    "ai_sdk",
    "ai_sdk_ui",
    "bedrock",
    "langchain",
    "langchain_stored",
    "langchain_serialized",
];

fn story(shape: &str) -> Value {
    read_fixture(&format!("shapes/{shape}.json"))
}

fn list_of(transcript: &Value) -> &Vec<Value> {
    let list = ["messages", "contents", "input"].into_iter().find_map(|name| transcript.get(name));
    list.or(Some(transcript)).and_then(Value::as_array).expect("a list")
}

fn view(transcript: &Value, options: Value) -> Value {
    project_value(transcript, &options).expect("a view")
}

/// Compares the fields of a view that `expected` names.
fn check(id: &str, view: &Value, expected: Value) {
    for (field, value) in expected.as_object().expect("fields") {
        assert_eq!(&view[field], value, "{id}: {field}; the view says {}", view["reason"]);
    }
}

/// The message of the view that shows the source message at `index`.
fn shown(view: &Value, index: u64) -> Value {
    let kept = view["kept_indices"].as_array().unwrap();
    let at = kept.iter().position(|kept| kept.as_u64() == Some(index)).expect("a kept message");
    let added = view["messages"].as_array().unwrap().len() - kept.len();
    view["messages"][at + added].clone()
}

fn without_mark(mut message: Value) -> Value {
    message.as_object_mut().unwrap().remove("_harn_projection").expect("a mark");
    message
}

fn to_provider(messages: &[Value], provider: Provider) -> Vec<Value> {
    let nodes: Vec<&Value> = messages.iter().collect();
    provider_messages(&nodes, Some(provider)).iter().map(|message| message.to_value().unwrap()).collect()
}

#[test]
fn clean_tool_repair_hides_repaired_failures_in_every_shape() {
    for (shape, dropped, trimmed) in [
        ("openai_responses", json!([1, 2, 3, 6, 9]), json!([])),
        ("gemini", json!([1, 2]), json!([5, 6])),
        ("gemini_snake", json!([1, 2]), json!([5, 6])),
        ("ai_sdk", json!([1, 2]), json!([5, 6])),
        ("ai_sdk_ui", json!([1]), json!([3])),
        ("bedrock", json!([1, 2]), json!([5, 6])),
        ("langchain", json!([1, 2, 6]), json!([5])),
        ("langchain_stored", json!([1, 2, 6]), json!([5])),
        ("langchain_serialized", json!([1, 2, 6]), json!([5])),
    ] {
        let view = view(&story(shape), json!("clean_tool_repair"));
        check(shape, &view, json!({"dropped_indices": dropped, "trimmed_indices": trimmed}));
        assert_eq!(view["hidden_calls"].as_array().unwrap().len(), 2, "{shape}");
    }
}

#[test]
fn a_trimmed_message_is_the_source_without_the_hidden_parts() {
    for (shape, index, gone) in [
        ("gemini", 5, vec!["/parts/0"]),
        ("gemini", 6, vec!["/parts/0"]),
        ("gemini_snake", 5, vec!["/parts/0"]),
        ("ai_sdk", 5, vec!["/content/0"]),
        ("ai_sdk", 6, vec!["/content/0"]),
        ("ai_sdk_ui", 3, vec!["/parts/3"]),
        ("bedrock", 5, vec!["/content/1"]),
        ("bedrock", 6, vec!["/content/1"]),
        ("langchain", 5, vec!["/content/0", "/tool_calls/0", "/additional_kwargs/tool_calls/0"]),
        ("langchain_stored", 5, vec!["/data/content/0", "/data/tool_calls/0", "/data/additional_kwargs/tool_calls/0"]),
        (
            "langchain_serialized",
            5,
            vec!["/kwargs/content/0", "/kwargs/tool_calls/0", "/kwargs/additional_kwargs/tool_calls/0"],
        ),
    ] {
        let transcript = story(shape);
        let view = view(&transcript, json!("clean_tool_repair"));
        let mut expected = list_of(&transcript)[index].clone();
        for path in gone {
            let (list, at) = path.rsplit_once('/').unwrap();
            expected.pointer_mut(list).and_then(Value::as_array_mut).unwrap().remove(at.parse().unwrap());
        }
        assert_eq!(without_mark(shown(&view, index as u64)), expected, "{shape} {index}");
    }
}

#[test]
fn squash_failed_calls_hides_turns_of_nothing_else_in_every_shape() {
    for shape in SHAPES {
        let dropped = match shape {
            "openai_responses" => json!([1, 2, 3]),
            "ai_sdk_ui" => json!([1]),
            _ => json!([1, 2]),
        };
        let view = view(&story(shape), json!("squash_failed_calls"));
        check(shape, &view, json!({"dropped_indices": dropped, "trimmed_indices": []}));
    }
}

#[test]
fn the_summary_takes_the_form_of_the_shape() {
    let text = "What went before.";
    for (shape, expected) in [
        (
            "openai_responses",
            json!({"type": "message", "role": "system", "content": [{"type": "input_text", "text": text}]}),
        ),
        ("gemini", json!({"role": "user", "parts": [{"text": text}]})),
        ("ai_sdk", json!({"role": "system", "content": text})),
        ("ai_sdk_ui", json!({"id": "summary_prefix", "role": "system", "parts": [{"type": "text", "text": text}]})),
        ("bedrock", json!({"role": "user", "content": [{"text": text}]})),
        ("langchain", json!({"type": "system", "content": text})),
        ("langchain_stored", json!({"type": "system", "data": {"content": text}})),
        (
            "langchain_serialized",
            json!({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "SystemMessage"], "kwargs": {"content": text}}),
        ),
    ] {
        let transcript = story(shape);
        let count = list_of(&transcript).len();
        let view = view(&transcript, json!({"policy": "summary_prefix", "keep_last": 4, "summary": text}));
        check(shape, &view, json!({"dropped_count": count - 4, "kept_count": 4}));
        assert_eq!(without_mark(view["messages"][0].clone()), expected, "{shape}");
        assert_eq!(view["messages"][0]["_harn_projection"]["synthetic"], true);
    }
}

#[test]
fn the_summary_speaks_as_the_user_where_a_provider_wants_it() {
    for (shape, provider, expected) in [
        ("ai_sdk", Provider::Anthropic, json!({"role": "user"})),
        ("langchain", Provider::Anthropic, json!({"type": "human"})),
        ("langchain_stored", Provider::Gemini, json!({"type": "human"})),
        ("langchain_serialized", Provider::Anthropic, json!({"id": ["langchain_core", "messages", "HumanMessage"]})),
        ("gemini", Provider::Gemini, json!({"role": "user"})),
        ("openai_responses", Provider::OpenaiResponses, json!({"role": "system"})),
    ] {
        let view = view(&story(shape), json!({"policy": "summary_prefix", "keep_last": 4}));
        let sent = to_provider(view["messages"].as_array().unwrap(), provider);
        check(shape, &sent[0], expected);
        assert!(!json!(sent).to_string().contains("_harn_projection"), "{shape}");
    }
}

/// `developer` is OpenAI's: its relatives refuse it.
#[test]
fn a_developers_summary_is_the_systems_where_there_is_no_developer() {
    let messages = json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]);
    let view = view(&messages, json!({"policy": "summary_prefix", "keep_last": 1, "summary_role": "developer"}));
    for (provider, role) in [
        (Provider::OpenaiChat, "developer"),
        (Provider::OpenaiResponses, "developer"),
        (Provider::Deepseek, "system"),
        (Provider::Mistral, "system"),
        (Provider::Anthropic, "user"),
    ] {
        let sent = to_provider(view["messages"].as_array().unwrap(), provider);
        assert_eq!(sent[0]["role"], role, "{provider:?}");
    }
}

/// Converse wants the roles to alternate: a summary goes in front of the user message that follows it.
#[test]
fn bedrock_roles_alternate() {
    let view = view(&story("bedrock"), json!({"policy": "summary_prefix", "keep_last": 3, "summary": "Before."}));
    let sent = to_provider(view["messages"].as_array().unwrap(), Provider::Bedrock);
    assert_eq!(sent[0], json!({"role": "user", "content": [{"text": "Before."}, {"text": "and now"}]}));
    assert_eq!(sent.len(), 3);
}

#[test]
fn reachability_gc_replaces_the_body_as_the_shape_takes_it() {
    for (shape, index, window, body, wrapped) in [
        ("openai_responses", 8, 4, "/output", ""),
        ("gemini", 6, 4, "/parts/1/functionResponse/response", "/output"),
        ("gemini_snake", 6, 4, "/parts/1/function_response/response", "/output"),
        ("ai_sdk", 6, 4, "/content/1/output/value", ""),
        ("ai_sdk_ui", 3, 3, "/parts/4/output", ""),
        ("bedrock", 6, 4, "/content/0/toolResult/content", "/0/text"),
        ("langchain", 7, 4, "/content", ""),
        ("langchain_stored", 7, 4, "/data/content", ""),
        ("langchain_serialized", 7, 4, "/kwargs/content", ""),
    ] {
        let transcript = story(shape);
        let options = json!({"policy": "reachability_gc", "root_window": window, "min_chars": 100});
        let first = view(&transcript, options.clone());
        check(shape, &first, json!({"redacted_indices": [index], "dropped_indices": [], "redacted_count": 1}));
        assert!(first["reclaimed_chars"].as_u64() > Some(0), "{shape}");
        let source = &list_of(&transcript)[index];
        let redacted = shown(&first, index as u64);
        let line = redacted.pointer(&format!("{body}{wrapped}")).and_then(Value::as_str).unwrap_or_default();
        assert!(line.starts_with("[tool result reclaimed"), "{shape}: {redacted}");

        let pointer = &first["redaction_pointers"][0];
        let words = pointer["source"].as_str().unwrap();
        let spelled = words.replace('[', ".").replace(']', "").replace('.', "/");
        assert_eq!(spelled, format!("transcript/messages/{index}{body}"), "{shape}");
        let recovered = recover_redacted(&Transcript::of(&&transcript).unwrap(), &pointer).expect("a body");
        assert!(recovered.verified, "{shape}");
        assert_eq!(Some(recovered.content), source.pointer(body), "{shape}");

        // Projecting a projection changes nothing.
        let again = view(&json!({"messages": first["messages"]}), options);
        check(shape, &again, json!({"redacted_indices": []}));
        assert_eq!(again["messages"], first["messages"], "{shape}");
        let sent = to_provider(first["messages"].as_array().unwrap(), Provider::OpenaiChat);
        assert!(!json!(sent).to_string().contains("_harn_projection"), "{shape}");
    }
}

/// Where the body is no text: the pointer stands where the shape has a place for a line, and all else is as it was.
#[test]
fn a_pointer_stands_inside_bodies_of_other_forms() {
    let long = "line of text\n".repeat(60);
    let shell = |outcome: &str, stdout: &str, stderr: &str| json!({"stdout": stdout, "stderr": stderr, "outcome": {"type": outcome}});
    let user = |text: &str| json!({"role": "user", "content": text});
    for (name, message, body, line, cleared) in [
        (
            "shell_call_output",
            vec![
                json!({"type": "shell_call", "call_id": "s", "action": {"commands": ["a", "b"]}}),
                json!({"type": "shell_call_output", "call_id": "s", "output": [shell("exit", &long, ""), shell("exit", "b", "c")]}),
            ],
            "/output",
            "/output/0/stdout",
            vec!["/output/1/stdout", "/output/1/stderr"],
        ),
        (
            "AI SDK 4",
            vec![json!({"role": "assistant", "content": "", "toolInvocations":
                [{"state": "result", "toolCallId": "a", "toolName": "read", "args": {}, "result": long}]})],
            "/toolInvocations/0/result",
            "/toolInvocations/0/result",
            vec![],
        ),
    ] {
        let mut messages = vec![user("go")];
        messages.extend(message);
        messages.extend([user("more"), json!({"role": "assistant", "content": "Fine."}), user("ok")]);
        let index = messages.len() - 4;
        let source = messages[index].clone();
        let transcript = Value::from(messages);
        let first = view(&transcript, json!({"policy": "reachability_gc", "root_window": 1, "min_chars": 100}));
        check(name, &first, json!({"redacted_indices": [index], "redacted_count": 1}));
        let pointer = &first["redaction_pointers"][0];
        let recovered = recover_redacted(&Transcript::of(&&transcript).unwrap(), &pointer).expect("a body");
        assert!(recovered.verified && Some(recovered.content) == source.pointer(body), "{name}");

        let mut sent = to_provider(first["messages"].as_array().unwrap(), Provider::OpenaiResponses)[index].clone();
        let pointed = sent.pointer_mut(line).unwrap();
        assert!(pointed.as_str().unwrap().starts_with("[tool result reclaimed"), "{name}: {pointed}");
        *pointed = long.clone().into();
        let mut expected = source;
        cleared.iter().for_each(|path| *expected.pointer_mut(path).unwrap() = "".into());
        assert_eq!(sent, expected, "{name}");
    }
}

/// What no shape's story tells: the cases that people reported, restated.
#[test]
fn reported_cases() {
    let cases = read_fixture("shapes/cases.json");
    for case in cases.as_array().expect("a list") {
        let id = case["id"].as_str().expect("an id");
        let view = view(&case["transcript"], case["options"].clone());
        check(id, &view, case["expect"].clone());
        for (index, expected) in case["shown"].as_object().into_iter().flatten() {
            assert_eq!(&without_mark(shown(&view, index.parse().unwrap())), expected, "{id}: message {index}");
        }
    }
}

/// An exit code is no failure, unless the caller says so.
#[test]
fn the_caller_reads_exit_codes() {
    let transcript = json!({"input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look for it"}]},
        {"type": "function_call", "call_id": "s1", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "s1", "output": "{\"metadata\":{\"exit_code\":1},\"output\":\"\"}"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Nothing there."}]},
    ]});
    check("default", &view(&transcript, json!("squash_failed_calls")), json!({"dropped_indices": []}));
    let options = Options::parse(Some(&&json!("squash_failed_calls"))).unwrap();
    let mut is_error = |info: &ResultInfo<&Value>| Ok(Some(info.text.contains("\"exit_code\":1")));
    let callbacks = Callbacks { is_error: Some(&mut is_error), projector: None };
    let seen = project(&Transcript::of(&&transcript).unwrap(), &options, callbacks).unwrap();
    check("detector", &view_value(&seen), json!({"dropped_indices": [1, 2]}));
}

/// Every name that signed material goes by, and what only looks like it.
#[test]
fn signed_material_is_known_under_all_its_names() {
    let part = |part: Value| json!({"role": "assistant", "content": [part, {"type": "text", "text": "So."}]});
    let call = json!({"id": "a", "function": {"name": "b"}, "extra_content": {"google": {"thought_signature": "x"}}});
    let signed = [
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"type": "function_call", "call_id": "a", "name": "b", "caller": {"type": "program", "caller_id": "p"}}),
        json!({"type": "reasoning", "summary": [], "encrypted_content": "x"}),
        json!({"type": "compaction", "encrypted_content": "x"}),
        json!({"type": "program", "call_id": "p", "code": "", "fingerprint": "x"}),
        json!({"role": "model", "parts": [{"text": "", "thoughtSignature": "x"}]}),
        json!({"role": "model", "parts": [{"function_call": {"name": "a"}, "thought_signature": "x"}]}),
        part(json!({"type": "thinking", "thinking": "", "signature": "x"})),
        part(json!({"type": "redacted_thinking", "data": "x"})),
        part(json!({"type": "thinking", "thinking": "a", "thinkingSignature": "x"})),
        part(json!({"type": "text", "text": "a", "textSignature": "x"})),
        part(json!({"type": "reasoning", "text": "a", "providerOptions": {"anthropic": {"signature": "x"}}})),
        part(json!({"type": "reasoning", "text": "", "providerOptions": {"anthropic": {"redactedData": "x"}}})),
        part(
            json!({"type": "reasoning", "text": "", "providerMetadata": {"openai": {"reasoningEncryptedContent": "x"}}}),
        ),
        part(
            json!({"type": "tool-call", "toolCallId": "a", "toolName": "b", "input": {}, "providerOptions": {"google": {"thoughtSignature": "x"}}}),
        ),
        json!({"role": "assistant", "parts": [{"type": "tool-a", "toolCallId": "a", "state": "input-available", "callProviderMetadata": {"vertex": {"thoughtSignature": "x"}}}]}),
        json!({"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "", "signature": "x"}}}]}),
        json!({"role": "assistant", "content": [{"reasoningContent": {"redactedContent": "x"}}]}),
        json!({"role": "assistant", "content": "a", "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}),
        json!({"role": "assistant", "content": "a", "thinking_blocks": [{"type": "thinking", "thinking": "a", "signature": "x"}]}),
        json!({"role": "assistant", "content": "a", "thinking_signature": "x"}),
        json!({"type": "ai", "content": [{"type": "thinking", "thinking": "a", "signature": "x"}]}),
        json!({"type": "ai", "data": {"content": "", "additional_kwargs": {"__gemini_function_call_thought_signatures__": {"a": "x"}}}}),
    ];
    let unsigned = [
        json!({"type": "reasoning", "summary": [], "encrypted_content": ""}),
        json!({"type": "compaction", "encrypted_content": ""}),
        json!({"type": "function_call", "call_id": "a", "name": "b", "caller": {"type": "direct"}}),
        json!({"type": "reasoning", "summary": [], "encrypted_content": null}),
        part(json!({"type": "thinking", "thinking": "a", "signature": ""})),
        json!({"role": "model", "parts": [{"text": "a", "thought": true}]}),
        part(
            json!({"type": "reasoning", "text": "a", "providerOptions": {"openai": {"reasoningEncryptedContent": null}}}),
        ),
        json!({"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "a"}}}]}),
    ];
    let options = json!({"policy": "summary_prefix", "keep_last": 1, "protect_open_turn": false});
    let blocks = |message: &Value| {
        let messages = json!([{"role": "user", "content": "a"}, message, {"role": "user", "content": "b"}]);
        view(&messages, options.clone())["provider_safety_blocked"] == true
    };
    signed.iter().for_each(|message| assert!(blocks(message), "{message}"));
    unsigned.iter().for_each(|message| assert!(!blocks(message), "{message}"));
}

/// Declining answers: what was declined is no unanswered call.
#[test]
fn a_declined_approval_is_an_answer() {
    let call = json!({"type": "tool-call", "toolCallId": "a", "toolName": "b", "input": {}});
    let request = json!({"type": "tool-approval-request", "approvalId": "c", "toolCallId": "a"});
    let declined = json!({"type": "tool-approval-response", "approvalId": "c", "approved": false});
    for messages in [
        json!([{"role": "assistant", "content": [call, request]}, {"role": "tool", "content": [declined]}]),
        json!([
            {"type": "mcp_approval_request", "id": "a", "name": "b", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "a", "approve": false},
        ]),
        json!([{"role": "assistant", "parts":
            [{"type": "tool-b", "toolCallId": "a", "state": "approval-responded", "approval": {"approved": false}}]}]),
    ] {
        assert_eq!(violations(&messages), Some(vec![]), "{messages}");
    }
}

/// The provider ran the call and wrote the result into it: no request has to be there.
#[test]
fn an_approved_call_stands_without_its_request() {
    let messages = json!([
        {"role": "user", "content": "go"},
        {"type": "mcp_call", "id": "m1", "approval_request_id": "r1", "name": "x", "arguments": "{}", "output": "ok"},
    ]);
    assert_eq!(violations(&messages), Some(vec![]));
}

fn violations(messages: &Value) -> Option<Vec<transcript_projection::Violation>> {
    let mut all = everything;
    let callbacks = Callbacks { is_error: None, projector: Some(&mut all) };
    let view = project(&Transcript::of(&messages).unwrap(), &Options::of(Policy::Custom), callbacks).unwrap();
    view.report.violations
}

fn everything<'a>(messages: &[&'a Value]) -> Result<CustomView<&'a Value>, ProjectionError> {
    Ok(CustomView::of(messages.iter().map(|message| Patched::Source(*message)).collect()))
}

/// A custom view is checked in every shape: the pairs are found.
#[test]
fn a_custom_view_of_everything_violates_nothing() {
    for shape in SHAPES {
        assert_eq!(violations(&story(shape)), Some(vec![]), "{shape}");
    }
}

/// What a provider accepts before, it accepts after: every fixture, under every policy and way out of a conflict.
#[test]
fn projections_add_no_violation() {
    let mut transcripts: Vec<Value> = SHAPES.iter().map(|shape| story(shape)).collect();
    let cases = read_fixture("shapes/cases.json");
    transcripts.extend(cases.as_array().unwrap().iter().map(|case| case["transcript"].clone()));
    let mut checked = 0;
    for transcript in &transcripts {
        for provider in Provider::ALL.map(|(_, provider)| provider) {
            let before = rules(list_of(transcript), list_of(transcript), provider);
            // A list in another shape is refused from the start; ids that answer nothing are not always.
            if !before.is_empty() || violations(transcript) != Some(vec![]) {
                continue;
            }
            for options in options_of_all_policies() {
                let view = view(transcript, options.clone());
                let sent = to_provider(view["messages"].as_array().unwrap(), provider);
                let after = rules(&sent, list_of(transcript), provider);
                assert!(after.is_empty(), "{provider:?} {options}\n{transcript}\n{sent:?}\n{after:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "only {checked} views were checked");
}

fn rules(messages: &[Value], source: &[Value], provider: Provider) -> Vec<String> {
    let nodes: Vec<&Value> = messages.iter().collect();
    let request = Request { original_messages: Some(source.iter().collect()), ..Request::default() };
    let found = transcript_projection::validate(&nodes, provider, &request).expect("a verdict");
    let errors = found.iter().filter(|violation| violation.severity == "error");
    errors.map(|violation| format!("{} at {}: {}", violation.rule, violation.index, violation.message)).collect()
}

fn options_of_all_policies() -> Vec<Value> {
    let mut all = Vec::new();
    for (on_conflict, respect) in [("raw", true), ("skip", true), ("strip_reasoning", true), ("raw", false)] {
        for scope in ["message", "prefix"] {
            let policies = ["clean_tool_repair", "squash_failed_calls"].map(|policy| json!({"policy": policy}));
            let summaries = (0..8).map(|keep_last| json!({"policy": "summary_prefix", "keep_last": keep_last}));
            let gc = [json!({"policy": "reachability_gc", "root_window": 2, "min_chars": 20})];
            for mut options in policies.into_iter().chain(summaries).chain(gc) {
                options["on_signature_conflict"] = on_conflict.into();
                options["respect_provider_signatures"] = respect.into();
                options["signature_scope"] = scope.into();
                all.push(options);
            }
        }
    }
    all
}

#[test]
fn compaction_and_estimates_read_every_shape() {
    for shape in SHAPES {
        let story = story(shape);
        let list: Vec<&Value> = list_of(&story).iter().collect();
        let texts: Vec<String> =
            message_texts(&list).unwrap().iter().map(|text| text.as_str().unwrap().into()).collect();
        for said in ["start", "and now", "Fine."] {
            assert!(texts.iter().any(|text| text == said), "{shape}: {said} in {texts:?}");
        }
        let of_ui = shape == "ai_sdk_ui";
        assert!(texts.iter().any(|text| text.starts_with("line of an old")), "{shape}: {texts:?}");
        assert!(estimate_messages_tokens(&list).unwrap() > 50, "{shape}");
        assert!(estimate_messages_tokens_by_script(&list).unwrap() > 50, "{shape}");

        // Bodies that are objects or lists stay as they are.
        let pruned = prune_tool_results(&list, 64).unwrap();
        let shorter = usize::from(!matches!(shape, "gemini" | "gemini_snake" | "bedrock"));
        assert_eq!(pruned.iter().flatten().count(), shorter, "{shape}");
        for pruned in pruned.iter().flatten().map(|message| message.to_value().unwrap()) {
            assert!(pruned.to_string().contains(" bytes elided]"), "{shape}: {pruned}");
        }

        let compacted = compact(&list, 3).unwrap().expect("old messages");
        let summary = compacted.summary.clone();
        let form = view(&story, json!({"policy": "summary_prefix", "keep_last": 3}))["messages"][0].clone();
        let names = |message: &Value| message.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&summary), names(&form), "{shape}");
        assert_eq!(summary["role"], form["role"], "{shape}");
        let text = summary.to_string();
        let lines = ["[user] start", "(calls edit)", "(error from edit)", if of_ui { "edit" } else { "All done." }];
        assert!(lines.iter().all(|line| text.contains(line)), "{shape}: {text}");
        assert!(!text.contains("line of an old"), "{shape}: {text}");

        let shown: Vec<Value> =
            compacted.apply(&list).iter().map(|shown| shown.message().to_value().unwrap()).collect();
        let again = compact(&shown.iter().collect::<Vec<_>>(), 1).unwrap().expect("old messages");
        let all = format!("[Compacted {} earlier messages]", list.len() - 1);
        assert!(again.summary.to_string().contains(&all), "{shape}: {}", again.summary);
    }
}

/// What a result says of itself stands beside its body, however deep the body is.
#[test]
fn words_that_all_old_bodies_share_name_none_of_them() {
    let body = format!("fn shared_helper() {}", "plain words; ".repeat(60));
    let call_and_result: [(&str, [Value; 2]); 3] = [
        (
            "openai_responses",
            [
                json!({"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}),
                json!({"type": "function_call_output", "call_id": "c", "output": body}),
            ],
        ),
        (
            "gemini",
            [
                json!({"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]}),
                json!({"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": body}}}]}),
            ],
        ),
        (
            "bedrock",
            [
                json!({"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "read", "input": {}}}]}),
                json!({"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": body}]}}]}),
            ],
        ),
    ];
    for (shape, pair) in call_and_result {
        let mut messages: Vec<Value> = (0..12).flat_map(|_| pair.clone()).collect();
        messages.push(match shape {
            "gemini" => json!({"role": "user", "parts": [{"text": "what is shared_helper?"}]}),
            "bedrock" => json!({"role": "user", "content": [{"text": "what is shared_helper?"}]}),
            _ => json!({"role": "user", "content": "what is shared_helper?"}),
        });
        let options = json!({"policy": "reachability_gc", "root_window": 1, "protect_open_turn": false});
        let view = view(&json!({"messages": messages}), options);
        check(shape, &view, json!({"redacted_count": 12}));
    }
}
