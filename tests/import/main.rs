//! Session files, format by format. A row of `fixtures/import/FORMAT.json` is one small file and what must come out:
//!
//! `{id, source?, why, file, format?, view?, transcript?, expect}`:
//! - `file`: the text, or its lines (an object is written as JSON, a string stands as it is), or `{base64}`
//! - `format`: what the caller says that it is; `view`: `model` by default; `transcript`: which of several
//! - `expect`: any of `format`, `confidence`, `roles`, `messages` (as JSON values), `texts` (exact JSON texts), `lines` (of each
//!   message), `also_lines`, `paths`, `starts` (in bytes), `ids`, `branches`, `sidechains`, `warnings` (`[code, line]`), `kinds`, `outcomes`, `stats`, `error` (a code)
//!
//! `source` names the public report that the facts are from.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

mod agents;
#[path = "../common/mod.rs"]
mod common;
mod documents;
mod files;
mod providers;
mod samples;

use serde_json::{Map, Value, json};
use transcript_projection::{Import, ImportOptions, Importer, ProjectionError, import, parse};

use common::read_fixture;

/// Checks every row of a fixture, and that the file read in small pieces gives the same.
fn check_all(fixture: &str, count: usize) {
    let rows = read_fixture(fixture);
    let rows = rows.as_array().expect("a list of rows");
    let problems: Vec<String> = rows.iter().flat_map(check).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert_eq!(rows.len(), count, "{fixture}: rows");
}

fn check(row: &Value) -> Vec<String> {
    let id = row["id"].as_str().expect("an id");
    let bytes = file_of(&row["file"]);
    let mut options = ImportOptions::named(row["format"].as_str(), row["view"].as_str()).expect("known names");
    options.transcript = row["transcript"].as_u64().map(|index| index as usize);
    let found = outcome(import(&bytes, options));
    let mut problems = Vec::new();
    let expected = row["expect"].as_object().expect("expectations");
    for (name, expected) in expected {
        let found = &found[name];
        let is_met = match (expected, found) {
            // Only the named ones of these.
            (Value::Object(expected), Value::Object(found)) => {
                expected.iter().all(|(name, value)| found.get(name) == Some(value))
            }
            _ => expected == found,
        };
        if !is_met {
            problems.push(format!("{id}: {name}\n  expected {expected}\n  found    {found}"));
        }
    }
    let mut pieces = Importer::new(options);
    bytes.chunks(7).for_each(|piece| pieces.push(piece));
    let in_pieces = outcome(pieces.finish());
    if in_pieces != found {
        problems.push(format!("{id}: in pieces\n  {in_pieces}\n  {found}"));
    }
    problems
}

fn outcome(read: Result<Import, ProjectionError>) -> Value {
    match read {
        Ok(import) => described(&import),
        Err(error) => json!({"error": error.code().as_str(), "path": error.path()}),
    }
}

fn file_of(file: &Value) -> Vec<u8> {
    match file {
        Value::String(text) => text.clone().into_bytes(),
        Value::Array(lines) => {
            let lines = lines.iter().map(|line| line.as_str().map_or_else(|| line.to_string(), str::to_owned));
            lines.map(|line| line + "\n").collect::<String>().into_bytes()
        }
        Value::Object(_) if file["base64"].is_string() => base64(file["base64"].as_str().unwrap()),
        document => document.to_string().into_bytes(),
    }
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> =
        text.bytes().filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte)).map(|at| at as u32).collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let word = group.iter().fold(0, |word, digit| word << 6 | digit) << (6 * (4 - group.len()));
        bytes.extend((0..group.len().saturating_sub(1)).map(|at| (word >> (16 - 8 * at)) as u8));
    }
    bytes
}

/// An import as the fixtures write it.
fn described(import: &Import) -> Value {
    let each =
        |read: &dyn Fn(&transcript_projection::Source) -> Value| import.source.iter().map(read).collect::<Value>();
    // A number that no float holds is JSON as well, but no value of `serde_json`'s.
    let value = |text: &str| parse(text).map_or(Value::Null, |parsed| parsed.value);
    let values = import.messages.iter().map(|message| value(message.text()));
    let values: Vec<Value> = values.collect();
    let kinds: Map<String, Value> =
        import.stats.kinds.iter().map(|(kind, count)| (kind.clone(), (*count).into())).collect();
    let stats = &import.stats;
    json!({
        "format": import.detection.format.name,
        "confidence": import.detection.confidence.as_str(),
        "roles": values.iter().map(|value| value["role"].clone()).collect::<Value>(),
        "messages": values,
        "texts": import.messages.iter().map(|message| message.text()).collect::<Value>(),
        "lines": each(&|source| source.line.into()),
        "also_lines": each(&|source| source.also_lines.clone().into()),
        "paths": each(&|source| source.path.clone().into()),
        "starts": each(&|source| source.start.into()),
        "ids": each(&|source| source.id.clone().into()),
        "branches": each(&|source| source.branch.into()),
        "sidechains": each(&|source| source.sidechain.clone().into()),
        "warnings": import.warnings.iter().map(|warning| json!([warning.code, warning.line])).collect::<Value>(),
        "kinds": kinds,
        "summary": import.summary,
        "outcomes": import.outcomes.iter().map(|known| json!({
            "message": known.message_index,
            "call": known.outcome.call_id,
            "failed": known.outcome.failed,
            "refused": known.outcome.refused,
            "inferred": known.outcome.inferred,
        })).collect::<Value>(),
        "stats": {
            "messages": stats.messages,
            "calls": stats.calls,
            "results": stats.results,
            "unanswered_calls": stats.unanswered_calls,
            "orphan_results": stats.orphan_results,
            "failed_results": stats.failed_results,
            "inferred_failures": stats.inferred_failures,
            "refused_calls": stats.refused_calls,
        },
    })
}

#[test]
fn claude_code_sessions() {
    check_all("import/claude_code.json", 33);
}
