//! The estimates by script at their edges. How far they are off for real text is measured by `benches/tokens.mjs`.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use transcript_projection::{
    ErrorCode, estimate_messages_tokens_by_script as of_messages, estimate_tokens_by_script as of_text,
};

fn of_list(messages: &Value) -> usize {
    let messages: Vec<&Value> = messages.as_array().expect("a list").iter().collect();
    of_messages(&messages).expect("messages")
}

#[test]
fn the_empty_text_has_none_and_any_other_has_one() {
    assert_eq!(of_text(""), 0);
    for text in
        [" ", "    ", "\n", "\n\n\n", "\t", "a", "7", ".", "…", "\u{301}", "\u{200D}", "\u{FE0F}", "\u{FFFD}", "\0"]
    {
        assert!((1..=2).contains(&of_text(text)), "{text:?}: {}", of_text(text));
    }
}

#[test]
fn pieces_are_those_of_the_tokenizer() {
    for (text, tokens) in [
        ("Hello world", 2),
        ("I don't know", 3),
        ("123", 1),
        ("1234567", 3),
        ("a 1", 3),
        ("a  1", 4),
        ("x = y;", 4),
        ("{\n        }", 3),
        ("===================", 1),
    ] {
        assert_eq!(of_text(text), tokens, "{text:?}");
    }
}

#[test]
fn marks_and_joiners_do_not_run_away() {
    // A family of four is four pictures and three joiners, 11 tokens.
    assert!((8..=14).contains(&of_text("👨‍👩‍👧‍👦")));
    assert!((2..=5).contains(&of_text("❤️")));
    assert!((3..=6).contains(&of_text("👍🏽")));
    // An accent that stands alone, and one on each letter of a word.
    assert!(of_text("e\u{301}") <= 2);
    assert!(of_text(&"z\u{335}\u{336}\u{337}".repeat(10)) <= 70);
}

#[test]
fn scripts_that_mix_cost_what_they_cost_apart() {
    let parts =
        ["The harbour is closed.", "Гавань закрыта.", "港口已经关闭。", "항구는 닫혔습니다.", "बंदरगाह बंद है।", "🚢⚓"];
    let apart: usize = parts.iter().map(|part| of_text(part)).sum();
    let together = of_text(&parts.join(" "));
    assert!(together.abs_diff(apart) <= parts.len(), "{together} against {apart}");
}

#[test]
fn random_letters_cost_more_than_words_and_names() {
    let base64 = "qgSzLGOP1anDT5YhUqjTZ0DQzLevGfkxOeiDhNbkKEipH3qFYyGq";
    let name = "estimateMessagesTokensByScriptAndNothingElseWhatsoever";
    assert!(of_text(base64) > 30, "{}", of_text(base64));
    assert!(of_text(name) < 14, "{}", of_text(name));
    // In the midst of prose, and in lines.
    let within = of_text(&format!("The key is {base64}, keep it."));
    assert!(within.abs_diff(of_text(base64) + 8) <= 1, "{within}");
    assert!(of_text(&format!("{base64}\n{base64}")).abs_diff(2 * of_text(base64)) <= 1);
}

#[test]
fn a_megabyte_is_no_trouble() {
    for unit in ["word ", "語", "a", "=", " ", "\n", "7", "🙂", "\u{301}", "aB3", "{\"a\": 1}, "] {
        let count = (1 << 20) / unit.len();
        let start = Instant::now();
        let tokens = of_text(&unit.repeat(count));
        // Optimised it is some milliseconds. What is not linear takes minutes.
        assert!(start.elapsed() < Duration::from_secs(3), "{unit:?} took {:?}", start.elapsed());
        assert!(tokens <= 1 << 20);
        let tenth = of_text(&unit.repeat(count / 10));
        assert!((10 * tenth).abs_diff(tokens) <= 10 + tokens / 1000, "{unit:?}: {tokens}, a tenth {tenth}");
    }
}

proptest! {
    #[test]
    fn no_text_has_more_tokens_than_bytes(text in any::<String>()) {
        prop_assert!(of_text(&text) <= text.len());
        prop_assert_eq!(of_text(&text) == 0, text.is_empty());
    }

    #[test]
    fn lines_add_up(lines in prop::collection::vec("[a-zA-Z0-9 .,;(){}=Жяж漢かな한🙂]{0,30}", 1..20)) {
        let apart: usize = lines.iter().map(|line| of_text(line)).sum();
        prop_assert!(of_text(&lines.join("\n")).abs_diff(apart) <= 2 * lines.len());
    }

    #[test]
    fn a_message_of_text_is_that_text(text in any::<String>()) {
        prop_assert_eq!(of_list(&json!([{"role": "user", "content": text}])), of_text(&text));
    }
}

#[test]
fn messages_are_summed_before_they_are_rounded() {
    let message = json!({"role": "user", "content": "a1"});
    let many = Value::Array(vec![message; 1000]);
    assert_eq!(of_list(&many).div_ceil(1000), of_text("a1"));
    assert_eq!(of_list(&json!([])), 0);
}

#[test]
fn media_that_have_no_type_count_by_their_name() {
    for (message, tokens) in [
        (json!({"role": "user", "parts": [{"text": "Look here"}, {"inlineData": {"data": "aaaa"}}]}), 767),
        (json!({"role": "user", "content": [{"text": "Look here"}, {"image": {"format": "png"}}]}), 767),
        (json!({"role": "user", "content": [{"text": "Look here"}, {"document": {"name": "a"}}]}), 2252),
        (
            json!({"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"json": "two words"}]}}]}),
            2,
        ),
    ] {
        assert_eq!(of_list(&json!([message])), tokens, "{message}");
    }
}

#[test]
fn media_count_by_their_kind_whatever_their_data() {
    let data = "iVBORw0KGgo".repeat(5000);
    let url = format!("data:image/png;base64,{data}");
    let source = json!({"type": "base64", "media_type": "image/png", "data": data});
    for (part, tokens) in [
        (json!({"type": "image_url", "image_url": {"url": url}}), 765),
        (json!({"type": "input_image", "image_url": url}), 765),
        (json!({"type": "image", "source": source}), 765),
        (json!({"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}), 600),
        (json!({"type": "file", "file": {"file_data": data}}), 2250),
        (json!({"type": "document", "source": source}), 2250),
        (json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "two words"}}), 2),
        (
            json!({"type": "document", "source": {"type": "content", "content": [
            {"type": "text", "text": "two words"}, {"type": "image", "source": source}]}}),
            767,
        ),
        (json!({"type": "something_new", "data": data}), 0),
    ] {
        let said = json!([{"role": "user", "content": [{"type": "text", "text": "Look here"}, part]}]);
        assert_eq!(of_list(&said), 2 + tokens, "said: {}", part["type"]);
        let tool = json!([{"role": "tool", "tool_call_id": "c", "content": [part]}]);
        assert_eq!(of_list(&tool), tokens, "tool message: {}", part["type"]);
        let block =
            json!({"type": "tool_result", "tool_use_id": "c", "content": [part, {"type": "text", "text": "done"}]});
        assert_eq!(of_list(&json!([{"role": "user", "content": [block]}])), tokens + 1, "block: {}", part["type"]);
    }
    let spoken = json!([{"role": "assistant", "content": null, "audio": {"id": "audio_1", "data": data}}]);
    assert_eq!(of_list(&spoken), 600);
}

#[test]
fn calls_and_results_count_and_reasoning_does_not() {
    let arguments = r#"{"path":"src/main.rs"}"#;
    let tokens = of_text("read_file") + of_text(arguments);
    let openai = json!([{"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": arguments}}]}]);
    assert_eq!(of_list(&openai), tokens);
    let anthropic = json!([{"role": "assistant", "content": [
        {"type": "thinking", "thinking": "long thoughts about files", "signature": "c2lnbmF0dXJl"},
        {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "src/main.rs"}}]}]);
    assert_eq!(of_list(&anthropic), tokens);
    let body = "fn main() {}\n";
    for content in [json!(body), json!([{"type": "text", "text": body}])] {
        let result = json!([{"role": "tool", "tool_call_id": "c1", "content": content}]);
        assert_eq!(of_list(&result), of_text(body));
    }
    let structured = json!([{"role": "tool", "tool_call_id": "c1", "content": {"ok": true, "lines": 3}}]);
    assert_eq!(of_list(&structured), of_text(r#"{"lines":3,"ok":true}"#));
}

#[test]
fn a_malformed_message_is_named() {
    let message = json!("no object");
    let error = of_messages(&[&message]).expect_err("a malformed message");
    assert_eq!((error.code(), error.path()), (ErrorCode::InvalidMessage, "messages[0]"));
}
