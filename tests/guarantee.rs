//! The guarantee: valid in, valid out. Generated transcripts of every shape, every built-in policy under every option: the
//! validator finds nothing in what is sent that it did not find in the source. What is sent of a framework's messages is
//! what the framework makes of them.
//!
//! `GUARANTEE_CASES` sets the number of cases, `GUARANTEE_SEED` where they start; a failure prints its case as JSON,
//! to be put into `fixtures/guarantee.json`.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

mod common;
mod generated;

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::thread;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use serde_json::{Value, json};
use transcript_projection::{
    Callbacks, Options, Provider, Request, Session, Shown, Transcript, Triggers, TurnOptions, Violation, compact,
    project, provider_messages, validate,
};

use common::read_fixture;
use generated::{SHAPES, Shape, Story, options, story};

/// A shape that providers speak; a case of a framework's names its shape.
const PLAIN: &str = "anthropic";

fn list(messages: &Value) -> &[Value] {
    messages.as_array().expect("a list")
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

/// Runs a property over cases from a seed that is always the same unless asked otherwise.
fn run<S: Strategy>(
    cases: u64,
    strategy: &S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) -> Result<(), TestError<S::Value>> {
    let config = Config { cases: u32::try_from(cases).unwrap(), failure_persistence: None, ..Config::default() };
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number("GUARANTEE_SEED", 1).to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed)).run(strategy, property)
}

/// How many violations of each kind. Those of calls and results count as one kind: what is wrong with a call that was
/// not answered in time gets another name when something else comes to stand behind it.
fn kinds(violations: &[Violation]) -> BTreeMap<(&'static str, &'static str), usize> {
    let mut kinds = BTreeMap::new();
    for violation in violations {
        let rule = match violation.rule {
            rule if rule.starts_with("GEM-SIG") => "GEM-SIG",
            "MIS-1" | "MIS-2" | "BED-1" | "BED-2" | "DSK-3" | "refused" => "pairing",
            rule if rule.contains("-PAIR-") => "pairing",
            rule => rule,
        };
        *kinds.entry((rule, violation.severity)).or_default() += 1;
    }
    kinds
}

/// What is wrong with the messages as the provider gets them.
fn found(shape: &Shape, messages: &[Value], provider: Provider, request: &Value) -> Vec<Violation> {
    let sent = (shape.send)(messages);
    let list: Vec<&Value> = sent.messages.iter().collect();
    let mut found = validate(&list, provider, &Request::parse(Some(&request)).expect("a request")).expect("messages");
    if sent.refused {
        let message = "the framework itself refuses it".to_owned();
        found.push(Violation { rule: "refused", index: 0, block: None, message, severity: "error" });
    }
    found
}

/// What is sent of a transcript under these options.
fn sent(messages: &Value, options: &Value, provider: Provider) -> Vec<Value> {
    let transcript = Transcript::of(&messages).expect("a transcript");
    let options = Options::parse(Some(&options)).expect("options");
    let view = project(&transcript, &options, Callbacks::default()).expect("a view");
    sent_of(&view.messages, provider)
}

fn sent_of(shown: &[Shown<&Value>], provider: Provider) -> Vec<Value> {
    let shown: Vec<Value> = shown.iter().map(|shown| shown.message().to_value().expect("a message")).collect();
    let shown: Vec<&Value> = shown.iter().collect();
    let sent = provider_messages(&shown, Some(provider));
    sent.iter().map(|message| message.to_value().expect("a message")).collect()
}

/// What is wrong with the output that was not wrong with the input.
fn new_violations(
    shape: &Shape,
    messages: &Value,
    output: &[Value],
    provider: Provider,
    request: &Value,
) -> Vec<(&'static str, &'static str)> {
    // What cannot be sent has no output that is sent.
    if (shape.send)(list(messages)).refused {
        return Vec::new();
    }
    let before = kinds(&found(shape, list(messages), provider, request));
    let after = kinds(&found(shape, output, provider, request));
    let is_new = |(kind, count): &(&(&str, &str), &usize)| before.get(*kind).copied().unwrap_or_default() < **count;
    after.iter().filter(is_new).map(|(kind, _)| *kind).collect()
}

/// What was checked: projections, those whose source was refused by nobody, those that changed something.
#[derive(Debug, Default)]
struct Tally {
    checked: Cell<usize>,
    valid: Cell<usize>,
    changed: Cell<usize>,
}

fn count(cell: &Cell<usize>, counts: bool) {
    cell.set(cell.get() + usize::from(counts));
}

/// Requests under which a provider looks closer: strict models, the modes of thinking, what was there before.
fn requests(shape: &Shape, provider: Provider, messages: &Value) -> Vec<Value> {
    let messages = (shape.send)(list(messages)).messages;
    let mut requests = vec![json!({})];
    match provider {
        Provider::Anthropic => {
            requests.push(json!({"model": "claude-opus-4-8", "original_messages": messages}));
            requests.push(json!({"model": "claude-sonnet-4-5", "thinking": {"type": "enabled"}}));
        }
        Provider::OpenaiResponses => {
            requests.push(json!({"store": true, "original_messages": messages}));
            requests.push(json!({"model": "deepseek-chat"}));
        }
        Provider::Gemini => requests.push(json!({"model": "gemini-3-pro-preview", "original_messages": messages})),
        Provider::Bedrock => requests.push(json!({"model": "anthropic.claude-sonnet-4-5"})),
        _ => {}
    }
    requests
}

/// Without respect for signatures a view is a local preview: only calls and results are promised to fit. And the failure
/// policies hide failures of the current turn by design, of which `OAR-RSN-5` warns.
fn is_promised(rule: &str, options: &Value) -> bool {
    if rule == "OAR-RSN-5" {
        return false;
    }
    let is_about_signatures =
        ["GEM-SIG", "ANT-THK", "ANT-BIND", "OAR-RSN", "BED-6", "thinking_last"].iter().any(|of| rule.starts_with(of));
    !is_about_signatures || options["respect_provider_signatures"] != false
}

fn check(shape: &Shape, messages: &Value, options: &Value, tally: &Tally) -> Result<(), TestCaseError> {
    for name in shape.providers {
        let provider = Provider::named(name).expect("a provider");
        let output = sent(messages, options, provider);
        let source = list(messages);
        count(&tally.checked, true);
        // No provider speaks Harn's shape.
        let is_refused = |violation: &Violation| violation.severity == "error" && violation.rule != "foreign_shape";
        count(&tally.valid, !found(shape, source, provider, &json!({})).iter().any(is_refused));
        if output == *source {
            continue;
        }
        count(&tally.changed, true);
        let mut new: Vec<_> = requests(shape, provider, messages)
            .iter()
            .flat_map(|request| new_violations(shape, messages, &output, provider, request))
            .collect();
        new.retain(|(rule, _)| is_promised(rule, options));
        if !new.is_empty() {
            let case = json!({"shape": shape.name, "provider": name, "options": options, "messages": messages});
            return Err(TestCaseError::fail(format!("{new:?}\n{case}\nsent {}", Value::from(output))));
        }
    }
    Ok(())
}

#[test]
fn valid_in_valid_out() {
    let cases = number("GUARANTEE_CASES", 4000) / SHAPES.len() as u64;
    // Two halves, for the long run takes minutes on one core.
    let failures: Vec<String> = thread::scope(|scope| {
        let halves = SHAPES.chunks(SHAPES.len() / 2);
        let halves =
            halves.map(|half| scope.spawn(move || half.iter().flat_map(|shape| failures_of(shape, cases)).collect()));
        let halves: Vec<thread::ScopedJoinHandle<'_, Vec<String>>> = halves.collect();
        halves.into_iter().flat_map(|half| half.join().expect("a half")).collect()
    });
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n\n"));
}

/// The AI SDK knows no developer, and messages without calls do not say that they are its own: who sends such a list
/// may not ask for a summary by one.
fn known_roles(shape: &Shape, messages: &[Value], mut options: Value) -> Value {
    let says_whose = messages.iter().any(|message| message.to_string().contains("tool-call"));
    if shape.name.starts_with("ai_sdk") && !says_whose {
        options["summary_role"] = "system".into();
    }
    options
}

fn failures_of(shape: &Shape, cases: u64) -> Vec<String> {
    let tally = Tally::default();
    let property = |(story, options): (Story, Value)| {
        let messages = shape.render(&story);
        check(shape, &messages, &known_roles(shape, list(&messages), options), &tally)
    };
    let outcome = run(cases, &(story(), options()), property);
    let mut failures: Vec<String> =
        outcome.err().into_iter().map(|error| format!("{}: {}", shape.name, reason(error))).collect();
    println!("{}: {tally:?}", shape.name);
    // Else the test would say little.
    if tally.valid.get() * 2 < tally.checked.get() || tally.changed.get() * 9 < tally.checked.get() {
        failures.push(format!("{}: too few: {tally:?}", shape.name));
    }
    failures
}

fn reason<T>(error: TestError<T>) -> String {
    match error {
        TestError::Abort(reason) | TestError::Fail(reason, _) => reason.message().to_owned(),
    }
}

/// The same for a list that was compacted.
#[test]
fn a_compacted_list_stays_valid() {
    let cases = number("GUARANTEE_CASES", 4000) / 2 / SHAPES.len() as u64;
    let mut failures = Vec::new();
    for shape in &SHAPES {
        let changed = Cell::new(0);
        let property = |(story, keep_last): (Story, usize)| {
            let is_changed = check_compaction(shape, &shape.render(&story), keep_last)?;
            count(&changed, is_changed);
            Ok(())
        };
        if let Err(error) = run(cases, &(story(), 1..8usize), property) {
            failures.push(format!("{}: {}", shape.name, reason(error)));
        }
        assert!(changed.get() as u64 * 4 > cases || !failures.is_empty(), "{}: only {}", shape.name, changed.get());
    }
    assert!(failures.is_empty(), "{} of {} shapes\n{}", failures.len(), SHAPES.len(), failures.join("\n\n"));
}

/// Whether there was something to compact. A signature that binds to what was before it is lost by a compaction.
fn check_compaction(shape: &Shape, messages: &Value, keep_last: usize) -> Result<bool, TestCaseError> {
    let list: Vec<&Value> = list(messages).iter().collect();
    let Some(compaction) = compact(&list, keep_last).expect("messages") else { return Ok(false) };
    for name in shape.providers {
        let provider = Provider::named(name).expect("a provider");
        let output = sent_of(&compaction.apply(&list), provider);
        let alone = requests(shape, provider, messages);
        for request in alone.iter().filter(|of| of["original_messages"].is_null()) {
            let new = new_violations(shape, messages, &output, provider, request);
            let case = || json!({"shape": shape.name, "provider": name, "compact": keep_last, "messages": messages});
            prop_assert!(new.is_empty(), "{new:?}\n{}\nsent {}", case(), Value::from(output));
        }
    }
    Ok(true)
}

/// Signatures bind to everything before them: with the scope `prefix` none that is sent is ever invalid.
#[test]
fn no_signature_is_invalidated_in_scope_prefix() {
    let shape = SHAPES.iter().find(|shape| shape.name == "anthropic").expect("the shape");
    let property = |(story, mut options): (Story, Value)| {
        options["signature_scope"] = "prefix".into();
        options["respect_provider_signatures"] = true.into();
        let messages = shape.render(&story);
        let output = sent(&messages, &options, Provider::Anthropic);
        let request = json!({"original_messages": messages, "preserved_thinking": true});
        let new = new_violations(shape, &messages, &output, Provider::Anthropic, &request);
        prop_assert!(new.is_empty(), "{new:?}\n{}", json!({"options": options, "messages": messages}));
        Ok(())
    };
    if let Err(error) = run(number("GUARANTEE_CASES", 4000) / 4, &(story(), options()), property) {
        panic!("{}", reason(error));
    }
}

/// The same for each turn of a session. What a signature in a later turn binds to is what was shown before it, so what
/// was there without the session says nothing about it.
#[test]
fn every_turn_of_a_session_is_valid() {
    let cases = number("GUARANTEE_CASES", 4000) / 4 / SHAPES.len() as u64;
    let mut failures = Vec::new();
    for shape in &SHAPES {
        let property = |(story, options, steps, compacts): (Story, Value, Vec<usize>, _)| {
            let messages = shape.render(&story);
            let first = messages.as_array().map_or(0, Vec::len).min(steps[0]);
            check_session(shape, &messages, &known_roles(shape, &list(&messages)[..first], options), &steps, compacts)
        };
        let compacts = prop::option::weighted(0.3, (1..6_usize, 1..8_usize));
        let strategy = (story(), options(), prop::collection::vec(1..5_usize, 1..4), compacts);
        if let Err(error) = run(cases, &strategy, property) {
            failures.push(format!("{}: {}", shape.name, reason(error)));
        }
    }
    assert!(failures.is_empty(), "{} of {} shapes\n{}", failures.len(), SHAPES.len(), failures.join("\n\n"));
}

/// Checks the turns of a session whose messages come in steps of these numbers, over and over, and that is compacted
/// before a turn, to so many messages at the end. What is compacted is then its source.
fn check_session(
    shape: &Shape,
    messages: &Value,
    options: &Value,
    steps: &[usize],
    compacts: Option<(usize, usize)>,
) -> Result<(), TestCaseError> {
    let list: Vec<&Value> = list(messages).iter().collect();
    let parsed = Options::parse(Some(&options)).expect("options");
    let empty = Transcript { messages: Vec::new(), summary: None, verdicts: Vec::new() };
    let summary = OnceCell::new();
    let mut session: Session<&Value> = Session::new("s", empty).expect("a session");
    let (mut at, mut next, mut turns) = (0, steps.iter().cycle(), 0);
    while at < list.len() {
        let to = (at + next.next().expect("a step")).min(list.len());
        session.append(list[at..to].to_vec()).expect("messages");
        at = to;
        turns += 1;
        if let Some((_, keep_last)) = compacts.filter(|(turn, _)| *turn == turns)
            && let Some(compaction) = session.plan_compaction(&Triggers::keeping(keep_last), true, None)
        {
            session.compact(compaction.replaced, summary.get_or_init(|| compaction.summary)).expect("a compaction");
        }
        let turn = session.project_turn(&parsed, &TurnOptions::default(), Callbacks::default()).expect("a turn");
        let whole = session.messages().iter().enumerate();
        let whole: Vec<Shown<&Value>> =
            whole.map(|(source, message)| Shown::Kept { source, message: *message }).collect();
        for name in shape.providers {
            let provider = Provider::named(name).expect("a provider");
            let source = Value::from(sent_of(&whole, provider));
            let output = sent_of(&session.view(&turn).messages, provider);
            let alone = requests(shape, provider, &source);
            for request in alone.iter().filter(|of| of["original_messages"].is_null()) {
                let mut new = new_violations(shape, &source, &output, provider, request);
                new.retain(|(rule, _)| is_promised(rule, options));
                let case = || {
                    json!({"shape": shape.name, "provider": name, "options": options, "steps": steps,
                        "compacts": compacts, "messages": messages})
                };
                prop_assert!(new.is_empty(), "{new:?} at {to}\n{}\nsent {}", case(), Value::from(output));
            }
        }
    }
    Ok(())
}

/// A projector that drops whole messages and never looks for the other half: it must fail, or the test above could
/// not.
#[test]
fn dropping_whole_messages_is_caught() {
    // In a UI message call and result are one part: what drops the one drops the other.
    for shape in SHAPES.iter().filter(|shape| !shape.name.contains("_ui")) {
        let provider = Provider::named(shape.providers[0]).expect("a provider");
        let property = |story: Story| {
            let messages = shape.render(&story);
            let output = without_failures(&messages);
            let new = new_violations(shape, &messages, &output, provider, &json!({}));
            prop_assert!(new.is_empty(), "{new:?}");
            Ok(())
        };
        let error = run(2000, &story(), property).expect_err(shape.name);
        assert!(matches!(error, TestError::Fail(..)), "{}: {}", shape.name, reason(error));
    }
}

/// Every message that reports a failure goes, and nothing else.
fn without_failures(messages: &Value) -> Vec<Value> {
    let failed = |message: &&Value| !message.to_string().contains("Error: no such file");
    list(messages).iter().filter(failed).cloned().collect()
}

/// Cases that failed once; those with `steps` in a session that got its messages in steps of these numbers, compacted
/// as `compacts` says, those with `compact` in a compaction that kept so many.
#[test]
fn what_failed_once_holds() {
    for case in list(&read_fixture("guarantee.json")) {
        let shape = case["shape"].as_str().unwrap_or(PLAIN);
        let shape = SHAPES.iter().find(|known| known.name == shape).expect("a shape");
        if let Some(steps) = case["steps"].as_array() {
            let steps: Vec<usize> = steps.iter().map(|step| step.as_u64().expect("a number") as usize).collect();
            let compacts = serde_json::from_value(case["compacts"].clone()).expect("a turn and a number");
            let checked = check_session(shape, &case["messages"], &case["options"], &steps, compacts);
            checked.unwrap_or_else(|error| panic!("{}: {error}", case["why"]));
            continue;
        }
        if let Some(keep_last) = case["compact"].as_u64() {
            let checked = check_compaction(shape, &case["messages"], keep_last as usize);
            checked.unwrap_or_else(|error| panic!("{}: {error}", case["why"]));
            continue;
        }
        let provider = Provider::named(case["provider"].as_str().expect("a provider")).expect("a provider");
        let output = sent(&case["messages"], &case["options"], provider);
        for request in requests(shape, provider, &case["messages"]) {
            let mut new = new_violations(shape, &case["messages"], &output, provider, &request);
            new.retain(|(rule, _)| is_promised(rule, &case["options"]));
            assert!(new.is_empty(), "{}: {new:?}\nsent {}", case["why"], Value::from(output));
        }
    }
}
