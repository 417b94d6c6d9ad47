//! The validator: the verdicts that were collected from providers, then a table of mistakes with a valid twin for
//! each, then rubbish.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use serde_json::{Value, json};
use transcript_projection::{ErrorCode, Provider, Request, Violation, validate};

use common::read_fixture;

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
