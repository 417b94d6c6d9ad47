//! The real-shaped session files, where they are at hand: every one is recognised, and no message is lost.

use std::path::Path;

use serde_json::Value;
use transcript_projection::{ImportOptions, import};

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/samples");

/// The format of each folder, or of a file in it.
const FORMATS: &[(&str, &str)] = &[
    ("anthropic/", "anthropic"),
    ("bedrock/", "bedrock"),
    ("gemini-api/", "gemini"),
    ("harn/", "harn"),
    ("langchain/", "langchain"),
    ("openai-chat/", "openai_chat"),
    ("openai-responses/", "openai_responses"),
    // A bare error of the API: nothing to read.
    ("openai-responses/07.json", ""),
    ("vercel-ai/", "ai_sdk"),
    ("opencode/", "opencode"),
    ("copilot/03", "vscode_chat"),
    ("goose/", "goose"),
    ("amp/", "amp"),
    ("openhands/", "openhands"),
    ("swe-agent/", "swe_agent"),
    ("atif/", "atif"),
    ("otel/", "otel"),
    ("misc/01", "chatgpt"),
    ("misc/02", "chatgpt"),
    ("misc/03", "claude_ai"),
    ("misc/04", "atif"),
    ("misc/05", "gptme"),
    ("misc/06", "grok"),
    ("misc/07", "kiro"),
    ("claude-code/", "claude_code"),
    ("codex/", "codex"),
    ("gemini-cli/", "gemini_cli"),
    ("qwen/", "qwen"),
    ("pi/", "pi"),
    ("openclaw/", "pi"),
    ("cursor/", "cursor"),
    ("copilot/01", "copilot_cli"),
    ("copilot/02", "copilot_cli"),
];

#[test]
fn every_sample_is_read() {
    if !Path::new(SAMPLES).exists() {
        println!("skipped: the samples are not at hand");
        return;
    }
    let mut problems = Vec::new();
    let mut read = 0;
    for (path, bytes) in samples() {
        let Some((_, format)) = FORMATS.iter().rev().find(|(start, _)| path.starts_with(start)) else { continue };
        let bytes = if *format == "otel" { with_plain_names(bytes) } else { bytes };
        read += 1;
        match import(&bytes, ImportOptions::named(None, Some("all")).unwrap()) {
            Ok(import) => {
                let found = import.detection.format.name;
                println!("{path}: {found}, {:?}", import.stats);
                import.warnings.iter().for_each(|warning| println!("    {warning:?}"));
                if found != *format {
                    problems.push(format!("{path}: {found}, not {format}"));
                }
                if let Some(expected) = count(format, &bytes).filter(|expected| *expected != import.stats.messages) {
                    problems.push(format!("{path}: {} messages, counted {expected}", import.stats.messages));
                }
                if import.messages.is_empty() {
                    problems.push(format!("{path}: no message"));
                }
            }
            Err(error) if format.is_empty() => assert_eq!(error.code().as_str(), "unknown_format", "{path}"),
            Err(error) => problems.push(format!("{path}: {error}")),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    println!("{read} samples");
}

fn samples() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(SAMPLES).unwrap().flatten() {
        for file in std::fs::read_dir(folder.path()).unwrap().flatten() {
            let name = format!("{}/{}", folder.file_name().display(), file.file_name().display());
            found.push((name, std::fs::read(file.path()).unwrap()));
        }
    }
    found.sort();
    found
}

/// Attribute names were replaced like all words, and the digits in them: here those that tell a message get theirs
/// back. Numbers elsewhere do not matter.
fn with_plain_names(bytes: Vec<u8>) -> Vec<u8> {
    const DIGITS: [(&str, &str); 9] =
        [("3", "0"), ("0", "1"), ("7", "2"), ("4", "3"), ("1", "4"), ("8", "5"), ("5", "6"), ("2", "7"), ("9", "8")];
    const WORDS: [(&str, &str); 10] = [
        ("udb.xmevk_jewqxjco", "llm.input_messages"),
        ("udb.output_jewqxjco", "llm.output_messages"),
        ("tool_xhugb", "tool_calls"),
        ("tool_kldk.on", "tool_call.id"),
        ("tool_kldk.bdggoawa.ziae", "tool_call.function.name"),
        ("tool_kldk.bdggoawa.mgiforrdc", "tool_call.function.arguments"),
        ("sbwyhkg_jfigatg.dbda", "message_content.text"),
        ("otsvudvs", "contents"),
        ("sbwyhkg.jfigatg", "message.content"),
        ("sbwyhkg.qtwq", "message.role"),
    ];
    let mut value: Value = serde_json::from_slice(&bytes).unwrap();
    for span in spans_mut(&mut value) {
        for attribute in span["attributes"].as_array_mut().unwrap() {
            let name = attribute["key"].as_str().unwrap();
            let name = WORDS.iter().fold(name.to_owned(), |name, (word, plain)| name.replace(word, plain));
            let plain =
                |part: &str| DIGITS.iter().find(|(digit, _)| *digit == part).map(|(_, plain)| (*plain).to_owned());
            let parts: Vec<String> = name.split('.').map(|part| plain(part).unwrap_or(part.to_owned())).collect();
            attribute["key"] = parts.join(".").replace("sbwyhkg.", "message.").into();
        }
    }
    value.to_string().into_bytes()
}

fn spans_mut(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Array(items) => items.iter_mut().flat_map(spans_mut).collect(),
        Value::Object(fields) if fields.contains_key("attributes") && fields.contains_key("traceId") => vec![value],
        Value::Object(fields) => fields.values_mut().flat_map(spans_mut).collect(),
        _ => Vec::new(),
    }
}

/// An independent count of the messages in a file; `None` for formats that nobody has counted yet.
fn count(format: &str, bytes: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(bytes);
    let document = serde_json::from_str::<Value>(&text).unwrap_or_default();
    let length = |list: &Value| list.as_array().map_or(0, Vec::len);
    let lines = || text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Some(match format {
        "claude_code" => {
            let mut answers = std::collections::HashSet::new();
            lines()
                .filter(|line| {
                    let message = &line["message"];
                    let is_prompt = line["type"] == "attachment" && !line["attachment"]["prompt"].is_null();
                    let is_message = matches!(line["type"].as_str(), Some("user" | "assistant")) && message.is_object();
                    let is_new = match message["id"].as_str() {
                        Some(id) if line["type"] == "assistant" => answers.insert(id.to_owned()),
                        _ => true,
                    };
                    is_prompt || is_message && is_new
                })
                .count()
        }
        "harn" => length(&document["messages"]) + length(&document["assets"][0]["data"]["messages"]),
        "ai_sdk" => length(&document),
        "langchain" => length(&document).max(length(&document["messages"])),
        "anthropic" => usize::from(document["content"].is_array()),
        "bedrock" => usize::from(document["output"]["message"].is_object()),
        "openai_chat" => length(&document["choices"]),
        "openai_responses" => {
            // A WebSocket's events hold each input once, and each item of output when it was done.
            let of_line = |line: Value| {
                let inputs = line["request"]["ws_events"].as_array().into_iter().flatten();
                let outputs = line["response"]["ws_events"].as_array().into_iter().flatten();
                inputs.map(|event| length(&event["input"])).sum::<usize>()
                    + outputs.filter(|event| event["type"] == "response.output_item.done").count()
            };
            length(&document["output"]) + length(&document["data"]) + lines().map(of_line).sum::<usize>()
        }
        "gemini" => {
            // Steps of the model are one content; so are the chunks of one response, unless they say nothing.
            let says = |chunk: &Value| {
                let parts = chunk["candidates"][0]["content"]["parts"].as_array().into_iter().flatten();
                parts.filter(|part| part["text"] != "").count() > 0
            };
            let of_line =
                |line: Value| usize::from(line["response"].as_array().is_some_and(|chunks| chunks.iter().any(says)));
            length(&document["contents"])
                + length(&document["candidates"])
                + usize::from(document["steps"].is_array())
                + lines().map(of_line).sum::<usize>()
        }
        "opencode" => {
            // Messages that have parts in front of the next one.
            let rows: Vec<Value> = lines().filter(|row| row["role"].is_string() || row["type"].is_string()).collect();
            rows.windows(2).filter(|pair| pair[0]["role"].is_string() && pair[1]["type"].is_string()).count()
        }
        "vscode_chat" => {
            let requests = document["v"].as_array().unwrap().clone();
            let each = requests.iter().map(|request| {
                let kinds = request["response"].as_array().unwrap().iter().map(|item| {
                    let is_call = item["kind"] == "toolInvocationSerialized";
                    (is_call, usize::from(is_call))
                });
                let kinds: Vec<(bool, usize)> = kinds.collect();
                let turns = 1 + kinds.windows(2).filter(|pair| pair[0].0 && !pair[1].0).count();
                1 + turns + kinds.iter().map(|(_, call)| call).sum::<usize>()
            });
            each.sum()
        }
        "goose" => lines().filter(|line| line["type"].is_string() && line["type"] != "actionRequired").count(),
        "amp" => document["messages"].as_array().unwrap().len(),
        "openhands" => document.as_array().unwrap().len(),
        "swe_agent" => document["history"].as_array().unwrap().len(),
        "atif" => {
            let count = |value: &Value| value.as_array().map_or(0, Vec::len);
            let each = document["steps"].as_array().unwrap().clone().into_iter().map(|step| {
                // Results that stand as blocks are one message, before what the step says.
                let is_both = step["source"] != "user" && count(&step["tool_result"]) > 0;
                1 + count(&step["observation"]["results"]) + usize::from(is_both)
            });
            each.sum()
        }
        "otel" => {
            // Every message of every span, each once: what a span says twice counts twice.
            let mut value = document;
            let mut seen: Vec<Value> = Vec::new();
            for span in spans_mut(&mut value) {
                seen.extend(flat_messages(span));
            }
            seen.sort_by_key(Value::to_string);
            seen.dedup();
            seen.len()
        }
        "chatgpt" => {
            let nodes = document[0]["mapping"].as_object().unwrap().clone();
            nodes.values().filter(|node| node["message"].is_object()).count()
        }
        "claude_ai" => document[0]["chat_messages"].as_array().unwrap().len(),
        "grok" => {
            let items = |line: Value| line["tool_calls"].as_array().map_or(0, Vec::len) + 1;
            lines().map(items).sum()
        }
        "kiro" => document["history"].as_array().unwrap().len() * 2,
        "gptme" => lines().count(),
        "codex" => {
            let item =
                |line: &Value| line["type"] == "response_item" || line["payload"].is_null() && !line["type"].is_null();
            let items = lines().filter(item).count();
            let events = lines()
                .filter(|line| matches!(line["payload"]["type"].as_str(), Some("user_message" | "agent_message")));
            if items > 0 { items } else { events.count() }
        }
        "gemini_cli" => {
            let mut records: Vec<Value> = lines().collect();
            if let Ok(whole) = serde_json::from_str::<Value>(&text) {
                records = whole["messages"].as_array().unwrap().clone();
            }
            let mut last = std::collections::HashMap::new();
            for record in records.iter().filter(|record| matches!(record["type"].as_str(), Some("user" | "gemini"))) {
                last.insert(record["id"].to_string(), record);
            }
            let speaks = |record: &&Value| record["content"] != "" || record["toolCalls"].is_array();
            let answers = |record: &&Value| {
                record["toolCalls"].as_array().is_some_and(|calls| calls.iter().any(|call| !call["result"].is_null()))
            };
            last.values().filter(|record| speaks(record)).count()
                + last.values().filter(|record| answers(record)).count()
        }
        "qwen" => lines().filter(|line| line["message"]["parts"].is_array()).count(),
        "pi" => match serde_json::from_str::<Value>(&text) {
            Ok(_) => 1,
            Err(_) => lines().filter(|line| matches!(line["type"].as_str(), Some("message" | "compaction"))).count(),
        },
        "cursor" => lines().filter(|line| !line["message"]["content"].is_null()).count(),
        "copilot_cli" => {
            let messages = ["user.message", "assistant.message", "tool.execution_complete"];
            lines().filter(|line| messages.iter().any(|kind| line["type"] == *kind)).count()
        }
        _ => return None,
    })
}

/// The fields of each message of a span, by side and index.
fn flat_messages(span: &Value) -> Vec<Value> {
    let mut found = std::collections::BTreeMap::<String, Value>::new();
    for attribute in span["attributes"].as_array().unwrap() {
        let key = attribute["key"].as_str().unwrap();
        let mut steps = key.splitn(4, '.');
        if let (Some("llm"), Some(side), Some(index), Some(field)) =
            (steps.next(), steps.next(), steps.next(), steps.next())
            && side.ends_with("put_messages")
            && !field.ends_with("hrum")
        {
            // The place does not tell messages apart, and a text is the same as a block and as a content.
            let field = if field.ends_with("_content.text") { "message.content" } else { field };
            found.entry(format!("{side}.{index}")).or_insert_with(|| Value::Object(Default::default()))[field] =
                attribute["value"]["stringValue"].clone();
        }
    }
    found.into_values().collect()
}
