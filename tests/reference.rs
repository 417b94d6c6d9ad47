//! The reference system's results: equal where we follow it, decided where we differ.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use serde_json::Value;

use common::{project_value, read_fixture};

/// What the reference reports otherwise by design: it counts nothing reclaimed for policies that drop messages.
fn is_ours(policy: &Value, field: &str) -> bool {
    matches!(field, "reclaimed_chars" | "reclaimed_tokens") && policy != "reachability_gc"
}

fn compare(id: &str, theirs: &Value, ours: &Value, policy: &Value, differences: &mut Vec<String>) {
    for (field, expected) in theirs.as_object().expect("an object") {
        let found = &ours[field];
        match (field.as_str(), expected) {
            ("event" | "metadata", Value::Object(_)) => compare(id, expected, found, policy, differences),
            _ if is_ours(policy, field) => {}
            _ if expected == found => {}
            _ => differences.push(format!("{id}: {field}\n  expected {expected}\n  found    {found}")),
        }
    }
}

#[test]
fn equals_the_reference_on_every_golden_case() {
    let cases = read_fixture("reference-golden.json");
    let cases = cases.as_array().expect("a list of cases");
    assert_eq!(cases.len(), 269);
    let mut differences = Vec::new();
    for case in cases {
        let id = case["id"].as_str().expect("an id");
        let ours = project_value(&case["transcript"], &case["options"]).expect("a view");
        compare(id, &case["result"], &ours, &case["result"]["policy"], &mut differences);
    }
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn differs_from_the_reference_as_decided() {
    let cases = read_fixture("reference-differs.json");
    let cases = cases.as_array().expect("a list of cases");
    assert_eq!(cases.len(), 39);
    let mut differences = Vec::new();
    for case in cases {
        let id = case["id"].as_str().expect("an id");
        let view = project_value(&case["transcript"], &case["options"]).expect("a view");
        for (field, expected) in case["expect"].as_object().expect("expectations") {
            let is_met = match field.as_str() {
                "hidden_tool_call_ids" => {
                    let hidden = view["hidden_calls"].as_array().expect("a list").iter();
                    &hidden.map(|call| call["tool_call_id"].clone()).collect::<Value>() == expected
                }
                "synthetic_at" => {
                    let at = expected.as_u64().expect("a position") as usize;
                    view["messages"][at]["_harn_projection"]["synthetic"] == true
                }
                "reclaimed_chars_at_least" => view["reclaimed_chars"].as_u64() >= expected.as_u64(),
                "reclaimed_tokens_at_least" => view["reclaimed_tokens"].as_u64() >= expected.as_u64(),
                _ => &view[field] == expected,
            };
            if !is_met {
                differences.push(format!("{id}: {field} should be {expected}\n  {}", without_messages(&view)));
            }
        }
    }
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
}

fn without_messages(view: &Value) -> Value {
    let mut view = view.clone();
    if let Some(fields) = view.as_object_mut() {
        fields.remove("messages");
        fields.remove("event");
    }
    view
}
