//! The real-shaped session files, where they are at hand: every one is recognised, and no message is lost.

use std::path::Path;

use serde_json::Value;
use transcript_projection::{ImportOptions, import};

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/samples");

/// The format of each folder, or of a file in it.
const FORMATS: &[(&str, &str)] = &[
    ("anthropic/", "anthropic"),
    ("bedrock/", "bedrock"),
    ("claude-code/", "claude_code"),
    ("gemini-api/", "gemini"),
    ("harn/", "harn"),
    ("langchain/", "langchain"),
    ("openai-chat/", "openai_chat"),
    ("openai-responses/", "openai_responses"),
    // A bare error of the API: nothing to read.
    ("openai-responses/07.json", ""),
    ("vercel-ai/", "ai_sdk"),
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
        _ => return None,
    })
}
