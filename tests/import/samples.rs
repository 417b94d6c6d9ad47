//! The real-shaped session files, where they are at hand: every one is recognised, and no message is lost.

use std::path::Path;

use serde_json::Value;
use transcript_projection::{ImportOptions, import};

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/samples");

/// The format of each folder, or of a file in it.
const FORMATS: &[(&str, &str)] = &[
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
