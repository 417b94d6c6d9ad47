//! Every mistake a caller can make: what it is called, where it is, and what was expected there.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use serde_json::{Value, json};
use transcript_projection::{
    ErrorCode, Options, ProjectionError, Provider, Transcript, acp_update, events_by_kind, parse, recover_redacted,
    replay,
};

use common::project_value;

fn turn(call: Value) -> Value {
    json!([{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [call]}])
}

/// Checks code and path, that `expected` says the given words, and that the whole fits on one line.
fn check(what: &str, error: &ProjectionError, code: ErrorCode, path: &str, expected: &str) {
    assert_eq!((error.code(), error.path()), (code, path), "{what}: {error}");
    assert!(error.expected().contains(expected), "{what}: expected {:?} should say {expected:?}", error.expected());
    assert!(!error.found().is_empty(), "{what}: says what was found");
    assert!(!error.to_string().contains('\n'), "{what}: {error}");
}

#[test]
fn transcripts_that_are_none() {
    use ErrorCode::{InvalidMessage, InvalidTranscript};
    let table = [
        (json!(null), InvalidTranscript, "transcript", "an array of messages"),
        (json!(7), InvalidTranscript, "transcript", "a transcript object"),
        (json!("[]"), InvalidTranscript, "transcript", "a transcript object"),
        (json!(true), InvalidTranscript, "transcript", "a transcript object"),
        (json!({}), InvalidTranscript, "messages", "`messages`"),
        (json!({"messages": null}), InvalidTranscript, "messages", "`messages`"),
        (json!({"message": []}), InvalidTranscript, "messages", "`messages`"),
        (json!({"messages": {}}), InvalidTranscript, "messages", "an array of messages"),
        (json!({"messages": [], "summary": 7}), InvalidTranscript, "summary", "a string or null"),
        (json!({"messages": "[]"}), InvalidTranscript, "messages", "an array of messages"),
        (json!([null]), InvalidMessage, "messages[0]", "an object"),
        (json!([{}, 7]), InvalidMessage, "messages[1]", "an object"),
        (json!([{}, {}, "text"]), InvalidMessage, "messages[2]", "an object"),
        (json!([[]]), InvalidMessage, "messages[0]", "an object"),
        (json!([true]), InvalidMessage, "messages[0]", "an object"),
        (json!([{"role": 7}]), InvalidMessage, "messages[0].role", "a string"),
        (json!([{"role": ["user"]}]), InvalidMessage, "messages[0].role", "a string"),
        (json!([{"role": "assistant", "tool_calls": "none"}]), InvalidMessage, "messages[0].tool_calls", "an array"),
        (json!([{"role": "assistant", "tool_calls": {}}]), InvalidMessage, "messages[0].tool_calls", "an array"),
        (turn(json!(7)), InvalidMessage, "messages[1].tool_calls[0]", "a tool call object"),
        (turn(json!(null)), InvalidMessage, "messages[1].tool_calls[0]", "a tool call object"),
        (turn(json!([])), InvalidMessage, "messages[1].tool_calls[0]", "a tool call object"),
        (turn(json!({"id": 7, "name": "run"})), InvalidMessage, "messages[1].tool_calls[0].id", "a string or null"),
        (turn(json!({"id": {}, "name": "run"})), InvalidMessage, "messages[1].tool_calls[0].id", "a string or null"),
        (json!([{"role": "tool", "tool_call_id": 7}]), InvalidMessage, "messages[0].tool_call_id", "a string or null"),
        (json!([{"role": "tool_result", "tool_use_id": false}]), InvalidMessage, "messages[0].tool_use_id", "a string"),
        (
            json!([{"role": "assistant", "content": ["x", {"type": "tool_use", "id": 7, "name": "run"}]}]),
            InvalidMessage,
            "messages[0].content[1].id",
            "a string or null",
        ),
        (
            json!([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": 7}]}]),
            InvalidMessage,
            "messages[0].content[0].tool_use_id",
            "a string or null",
        ),
    ];
    for (input, code, path, expected) in table {
        for policy in ["raw", "clean_tool_repair", "squash_failed_calls", "summary_prefix", "reachability_gc"] {
            let error = project_value(&input, &json!(policy)).expect_err(&input.to_string());
            check(&input.to_string(), &error, code, path, expected);
        }
    }
}

#[test]
fn odd_but_harmless_transcripts() {
    for input in [
        json!([]),
        json!({"messages": [], "summary": null, "events": "none"}),
        json!([{}]),
        json!([{"role": "assistant", "content": 7, "tool_calls": null, "function_call": "run"}]),
        json!([{"role": "assistant", "content": {"type": "tool_use"}, "function_call": {"name": 7, "arguments": 8}}]),
        json!([{"role": "assistant", "tool_calls": [{}, {"function": 7}, {"function": {"name": null}}]}]),
        json!([{"role": "user", "content": [7, null, [], {}, {"type": 7}, {"type": "text", "text": 7}]}]),
        json!([{"role": "tool"}, {"role": "function", "name": 7}, {"role": "tool", "content": [null, 7]}]),
    ] {
        for policy in ["raw", "clean_tool_repair", "squash_failed_calls", "summary_prefix", "reachability_gc"] {
            let options = json!({"policy": policy, "min_chars": 0, "root_window": 0});
            project_value(&input, &options).unwrap_or_else(|error| panic!("{input}: {error}"));
        }
    }
}

#[test]
fn options_of_a_wrong_type() {
    use ErrorCode::{InvalidOption, UnknownOption, UnknownPolicy};
    let mut table = vec![
        (json!(7), InvalidOption, "options", "the name of a policy"),
        (json!([]), InvalidOption, "options", "an object"),
        (json!(true), InvalidOption, "options", "an object"),
        (json!("clean"), UnknownPolicy, "options", "\"clean_tool_repair\""),
        (json!(""), UnknownPolicy, "options", "\"raw\""),
        (json!("RAW"), UnknownPolicy, "options", "\"raw\""),
        (json!({"policy": "gc"}), UnknownPolicy, "options.policy", "\"reachability_gc\""),
        (json!({"policy": 7}), InvalidOption, "options.policy", "the name of a policy"),
        (json!({"policy": ["raw"]}), InvalidOption, "options.policy", "the name of a policy"),
        (json!({"signature_scope": "turn"}), InvalidOption, "options.signature_scope", "\"message\", \"prefix\""),
        (json!({"signature_scope": 7}), InvalidOption, "options.signature_scope", "\"message\", \"prefix\""),
        (json!({"repair_match": "file"}), InvalidOption, "options.repair_match", "\"tool\", \"target\""),
        (json!({"repair_match": true}), InvalidOption, "options.repair_match", "\"tool\", \"target\""),
        (json!({"summary_role": "assistant"}), InvalidOption, "options.summary_role", "\"developer\""),
        (json!({"summary_role": {}}), InvalidOption, "options.summary_role", "\"developer\""),
        (json!({"keepLast": 1}), UnknownOption, "options.keepLast", "\"keep_last\""),
        (json!({"keep_lst": 1}), UnknownOption, "options.keep_lst", "\"keep_last\""),
        (json!({"polcy": "raw"}), UnknownOption, "options.polcy", "\"policy\""),
        (json!({"rootWindow": 1}), UnknownOption, "options.rootWindow", "\"root_window\""),
        (json!({"min_char": 1}), UnknownOption, "options.min_char", "\"min_chars\""),
        (json!({"isError": null}), UnknownOption, "options.isError", "\"is_error\""),
        (json!({"unresolvedFindings": []}), UnknownOption, "options.unresolvedFindings", "\"unresolved_findings\""),
        (json!({"__proto__": {}}), UnknownOption, "options.__proto__", "a known option"),
        (json!({"": {}}), UnknownOption, "options.", "a known option"),
    ];
    let of = |name: &str, value: Value| Value::Object([(name.to_owned(), value)].into_iter().collect());
    let paths = |names: &[&'static str]| -> Vec<(&'static str, &'static str)> {
        names.iter().map(|name| (*name, &*Box::leak(format!("options.{name}").into_boxed_str()))).collect()
    };
    let booleans = [
        "respect_provider_signatures",
        "prefix_hash",
        "protect_open_turn",
        "keep_newest_user",
        "require_write_barrier",
    ];
    for (name, path) in paths(&booleans) {
        for wrong in [json!(0), json!("true"), json!([]), json!({})] {
            table.push((of(name, wrong), InvalidOption, path, "a boolean"));
        }
    }
    for (name, path) in paths(&["keep_last", "root_window", "recent_messages", "min_chars"]) {
        let wrongs = [json!(-1), json!(1.5), json!(-0.5), json!(1e-9), json!("3"), json!(true), json!([3]), json!({})];
        for wrong in wrongs.into_iter().chain([json!(i64::MIN), json!(-1e300)]) {
            table.push((of(name, wrong), InvalidOption, path, "a whole number, zero or more"));
        }
    }
    for (name, path) in paths(&["reason", "summary"]) {
        for wrong in [json!(7), json!(false), json!(["text"]), json!({})] {
            table.push((of(name, wrong), InvalidOption, path, "a string"));
        }
    }
    for (options, code, path, expected) in table {
        let error = project_value(&json!([]), &options).expect_err(&options.to_string());
        check(&options.to_string(), &error, code, path, expected);
    }
}

#[test]
fn odd_but_harmless_options() {
    for options in [
        json!(null),
        json!({}),
        json!({"policy": null, "reason": null, "keep_last": null, "summary": null, "prefix_hash": null}),
        json!({"keep_last": 3, "min_chars": 0, "summary": "s", "repair_match": "target", "roots": 7}),
        json!({"policy": "summary_prefix", "keep_last": 2.0, "root_window": 1e300}),
        json!({"policy": "reachability_gc", "root_window": -0.0, "min_chars": u64::MAX}),
        json!({"policy": "reachability_gc", "roots": {"a": [1, null, "x"]}, "write_barrier": false}),
    ] {
        project_value(&json!([]), &options).unwrap_or_else(|error| panic!("{options}: {error}"));
    }
}

#[test]
fn custom_without_a_projector() {
    for options in [json!("custom"), json!({"policy": "custom"}), json!({"policy": "custom", "projector": null})] {
        let error = project_value(&json!([]), &options).expect_err("no projector");
        check("custom", &error, ErrorCode::ProjectorRequired, "options.projector", "a function");
    }
}

/// A list in a list in a list.
fn nested(levels: usize) -> Value {
    (1..levels).fold(json!([]), |inner, _| json!([inner]))
}

#[test]
fn values_that_nest_too_deep() {
    let message = |levels| json!([{"role": "user", "content": "a"}, {"role": "user", "content": nested(levels)}]);
    project_value(&message(511), &json!("raw")).expect("a message of 512 levels");
    let error = project_value(&message(512), &json!("raw")).expect_err("a message of 513 levels");
    check("a message", &error, ErrorCode::InvalidMessage, "messages[1]", "512 deep");

    let options = |levels| json!({"policy": "reachability_gc", "roots": nested(levels)});
    project_value(&json!([]), &options(496)).expect("roots of 496 levels");
    let error = project_value(&json!([]), &options(497)).expect_err("roots of 497 levels");
    // The event that records them nests deeper.
    check("roots", &error, ErrorCode::InvalidOption, "options.roots", "496 deep");

    // Deep arguments and bodies are read by policies before anything is hashed.
    let turn = json!([
        {"role": "assistant", "tool_calls": [{"id": "a", "name": "run", "arguments": nested(600)}]},
        {"role": "tool", "tool_call_id": "a", "content": nested(600)},
        {"role": "assistant", "tool_calls": [{"id": "b", "name": "run", "arguments": nested(600)}]},
        {"role": "tool", "tool_call_id": "b", "content": nested(600), "is_error": true},
        {"role": "user", "content": nested(600)},
    ]);
    for policy in ["clean_tool_repair", "squash_failed_calls", "summary_prefix", "reachability_gc"] {
        let options = json!({"policy": policy, "repair_match": "target", "root_window": 1, "min_chars": 0});
        let error = project_value(&turn, &options).expect_err("too deep");
        check(policy, &error, ErrorCode::InvalidMessage, error.path(), "512 deep");
    }
}

#[test]
fn pointers_that_lead_nowhere() {
    use ErrorCode::{PointerInvalid, PointerNotFound};
    let transcript = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [{"id": "a", "name": "run", "arguments": {}}]},
        {"role": "tool", "tool_call_id": "a", "content": "body"},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "b"}]},
    ]);
    let hash = "sha256:230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5";
    let table = [
        (json!(null), PointerInvalid, "pointer", "a redaction pointer object"),
        (json!("transcript.messages[2].content"), PointerInvalid, "pointer", "a redaction pointer object"),
        (json!([2]), PointerInvalid, "pointer", "a redaction pointer object"),
        (json!({}), PointerInvalid, "pointer.source_index", "a message index"),
        (json!({"source_index": "2"}), PointerInvalid, "pointer.source_index", "a message index"),
        (json!({"source_index": -1}), PointerInvalid, "pointer.source_index", "a message index"),
        (json!({"source_index": 2.5}), PointerInvalid, "pointer.source_index", "a message index"),
        (
            json!({"source_index": 2, "source_block_index": "0"}),
            PointerInvalid,
            "pointer.source_block_index",
            "a block index",
        ),
        (json!({"source_index": 2}), PointerInvalid, "pointer.content_hash", "64 hex digits"),
        (json!({"source_index": 2, "content_hash": 7}), PointerInvalid, "pointer.content_hash", "64 hex digits"),
        (json!({"source_index": 4, "content_hash": hash}), PointerNotFound, "pointer.source_index", "4 messages"),
        (json!({"source_index": 1e300, "content_hash": hash}), PointerNotFound, "pointer.source_index", "4 messages"),
        (json!({"source_index": 0, "content_hash": hash}), PointerNotFound, "pointer.source_block_index", "message 0"),
        (json!({"source_index": 1, "content_hash": hash}), PointerNotFound, "pointer.source_block_index", "message 1"),
        (
            json!({"source_index": 2, "source_block_index": 0, "content_hash": hash}),
            PointerNotFound,
            "pointer.source_block_index",
            "message 2",
        ),
        (
            json!({"source_index": 3, "source_block_index": 0, "content_hash": hash}),
            PointerNotFound,
            "pointer.source_block_index",
            "message 3",
        ),
        (
            json!({"source_index": 3, "source_block_index": 1, "content_hash": hash}),
            PointerNotFound,
            "pointer.source_block_index",
            "message 3",
        ),
    ];
    let input = &transcript;
    let transcript = Transcript::of(&input).expect("a transcript");
    for (pointer, code, path, expected) in table {
        let error = recover_redacted(&transcript, &&pointer).err().expect("an error");
        check(&pointer.to_string(), &error, code, path, expected);
    }
    let right = json!({"source_index": 2, "source_block_index": null, "content_hash": hash});
    assert!(recover_redacted(&transcript, &&right).is_ok_and(|recovered| recovered.verified));
    let tampered = json!({"source_index": 2, "content_hash": hash.replace('2', "3")});
    assert!(recover_redacted(&transcript, &&tampered).is_ok_and(|recovered| !recovered.verified));
}

#[test]
fn events_that_record_no_projection() {
    use ErrorCode::{EventInvalid, InvalidOption, ReplayNeedsProjector, UnknownOption, UnknownPolicy};
    let event = |metadata: Value| json!({"kind": "transcript.projection", "metadata": metadata});
    let table = [
        (json!(null), EventInvalid, "event", "a transcript.projection event"),
        (json!([]), EventInvalid, "event", "a transcript.projection event"),
        (json!({}), EventInvalid, "event.kind", "\"transcript.projection\""),
        (json!({"kind": "message", "metadata": {}}), EventInvalid, "event.kind", "\"transcript.projection\""),
        (json!({"kind": 7}), EventInvalid, "event.kind", "\"transcript.projection\""),
        (json!({"kind": "transcript.projection"}), EventInvalid, "event.metadata", "an object"),
        (event(json!([])), EventInvalid, "event.metadata", "an object"),
        (event(json!({})), EventInvalid, "event.metadata.options", "the recorded options"),
        (event(json!({"options": 7})), InvalidOption, "event.metadata.options", "an object"),
        (event(json!({"options": "gc"})), UnknownPolicy, "event.metadata.options", "\"raw\""),
        (
            event(json!({"options": {"keep_last": -1}})),
            InvalidOption,
            "event.metadata.options.keep_last",
            "a whole number",
        ),
        (event(json!({"options": {"keepLast": 1}})), UnknownOption, "event.metadata.options.keepLast", "\"keep_last\""),
        (event(json!({"options": "raw"})), EventInvalid, "event.metadata.source_count", "a number"),
        (
            event(json!({"options": "raw", "source_count": "2"})),
            EventInvalid,
            "event.metadata.source_count",
            "a number",
        ),
        (event(json!({"options": "custom", "source_count": 0})), ReplayNeedsProjector, "projector", "the projector"),
    ];
    let input = json!([]);
    let input = &input;
    let transcript = Transcript::of(&input).expect("a transcript");
    for (event, code, path, expected) in table {
        let error = replay(&transcript, &&event, None).err().expect("an error");
        check(&event.to_string(), &error, code, path, expected);
    }
}

#[test]
fn mistakes_beside_projections() {
    use ErrorCode::{InvalidJson, InvalidTranscript, UnknownProvider};
    for name in ["", "openai", "Anthropic"] {
        let error = Provider::named(name).expect_err("unknown");
        check(name, &error, UnknownProvider, "provider", "\"openai_chat\"");
    }
    for transcript in [json!(null), json!([]), json!("x")] {
        let error = events_by_kind(&&transcript, "x").expect_err("no transcript");
        check("events", &error, InvalidTranscript, "transcript", "`events`");
    }
    let error = events_by_kind(&&json!({"events": {}}), "x").expect_err("no events");
    check("events", &error, InvalidTranscript, "transcript.events", "an array");
    for view in [json!(null), json!([]), json!(7)] {
        let error = acp_update("s", &&view).expect_err("no view");
        check("a view", &error, InvalidTranscript, "view", "a view");
    }
    let error = acp_update("s", &&json!({"policy": "raw"})).expect_err("half a view");
    check("half a view", &error, InvalidTranscript, "view.reason", "the field of a view");
    for (text, path) in [
        ("", "line 1 column 0"),
        ("{", "line 1 column 1"),
        ("[\n  {\"a\": }\n]", "line 2 column 9"),
        ("[] []", "line 1 column 4"),
        ("nul", "line 1 column 3"),
        ("[1e999]", "line 1 column 6"),
    ] {
        let error = parse(text).err().expect("no JSON");
        check(text, &error, InvalidJson, path, "JSON");
    }
}

#[test]
fn an_error_reads_as_one_sentence() {
    let options = json!({"polcy": "raw"});
    let error = Options::parse(Some(&&options)).expect_err("a mistake");
    assert_eq!(error.to_string(), "options.polcy: expected a known option (nearest: \"policy\"), found an unknown one");
}
