//! What must be true of every view of every session, under every policy and every set of options. Nothing here pairs
//! calls or writes JSON through the engine: see `common/session.rs` for how the tests know better.
//!
//! `PROPTEST_CASES` raises the number of sessions that each test sees, `PROPTEST_RNG_SEED` changes them.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

mod common;
#[path = "common/session.rs"]
mod session;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use transcript_projection::{
    Callbacks, CustomView, IsError, Options, Patched, Projector, Provider, ResultInfo, Shown, Transcript, View,
    project, provider_messages, replay,
};

use common::requests::refusals;
use common::talk::Shape;
use session::{Session, calls_in, has_text, is_signed, results_in, sessions, shows_something};

const CASES: u32 = 192;

fn runner() -> TestRunner {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if !is_set("PROPTEST_CASES") {
        config.cases = CASES;
    }
    if !is_set("PROPTEST_RNG_SEED") {
        config.rng_seed = RngSeed::Fixed(2);
    }
    TestRunner::new(config)
}

type Holds = Result<(), TestCaseError>;

/// A session projected.
struct Run<'a> {
    session: &'a Session,
    options: &'a Value,
    view: View<&'a Value>,
    /// The messages of the view.
    shown: Vec<Value>,
}

impl<'a> Run<'a> {
    fn of(session: &'a Session, options: &'a Value) -> Self {
        let view = view_of(&session.messages, options);
        let shown = view.messages.iter().map(|shown| shown.message().to_value().expect("a message")).collect();
        Run { session, options, view, shown }
    }

    fn source(&self) -> &'a [Value] {
        &self.session.messages
    }

    fn policy(&self) -> &str {
        self.view.report.policy
    }

    fn is(&self, option: &str, default: bool) -> bool {
        self.options[option].as_bool().unwrap_or(default)
    }

    /// The source indices of the messages that are shown as they are.
    fn untouched(&self) -> Vec<usize> {
        let untouched = self.view.messages.iter().filter_map(|shown| match shown {
            Shown::Kept { source, .. } => Some(*source),
            _ => None,
        });
        untouched.collect()
    }
}

fn view_of<'a>(messages: &'a [Value], options: &Value) -> View<&'a Value> {
    let transcript = Transcript { messages: messages.iter().collect(), summary: None, verdicts: Vec::new() };
    let options = Options::parse(Some(&options)).expect("options");
    project(&transcript, &options, Callbacks::default()).expect("a view")
}

fn is_untouched(shown: &Shown<&Value>) -> bool {
    matches!(shown, Shown::Kept { .. })
}

/// Checks a property of many sessions under many options.
fn for_all(holds: impl Fn(&Run<'_>) -> Holds) {
    for_all_with(any_options(), holds);
}

/// The same, under the options of one policy.
fn for_policy(policy: &'static str, holds: impl Fn(&Run<'_>) -> Holds) {
    let options = any_options().prop_map(move |mut options| {
        options["policy"] = policy.into();
        options
    });
    for_all_with(options, holds);
}

fn for_all_with(options: impl Strategy<Value = Value>, holds: impl Fn(&Run<'_>) -> Holds) {
    let mut runner = runner();
    let result = runner.run(&(sessions(), options), |(session, options)| holds(&Run::of(&session, &options)));
    if let Err(TestError::Fail(why, (session, options))) = result {
        panic!("{why}\noptions: {options}\n{session:?}");
    }
    result.expect("no case was rejected");
}

fn any_options() -> impl Strategy<Value = Value> {
    let policy = prop::sample::select(vec![
        "raw",
        "clean_tool_repair",
        "squash_failed_calls",
        "summary_prefix",
        "reachability_gc",
        "reachability_gc",
    ]);
    let counts = (0..8_usize, 0..8_usize, prop::sample::select(vec![0, 20, 500]));
    let flags = prop::array::uniform4(any::<bool>());
    let scope = prop::sample::select(vec!["message", "message", "prefix"]);
    let role = prop::sample::select(vec!["system", "developer", "user"]);
    let roots = prop::option::weighted(0.3, Just("docs/notes.md"));
    (policy, counts, flags, scope, role, roots).prop_map(
        |(policy, (keep_last, root_window, min_chars), [respect, protect, newest, barrier], scope, role, roots)| {
            json!({
                "policy": policy, "keep_last": keep_last, "root_window": root_window, "min_chars": min_chars,
                "respect_provider_signatures": respect, "protect_open_turn": protect, "keep_newest_user": newest,
                "require_write_barrier": barrier, "write_barrier": barrier, "signature_scope": scope,
                "summary_role": role, "roots": roots,
            })
        },
    )
}

#[test]
fn kept_and_dropped_partition_the_source_in_order() {
    for_all(|run| {
        let report = &run.view.report;
        let count = run.source().len();
        let both = [&report.kept_indices[..], &report.dropped_indices].concat();
        prop_assert_eq!(both.iter().collect::<BTreeSet<_>>().len(), count);
        prop_assert_eq!(both.len(), count);
        prop_assert!(both.iter().all(|index| *index < count));
        prop_assert!(report.kept_indices.is_sorted() && report.dropped_indices.is_sorted());
        prop_assert_eq!(
            (report.kept_count, report.dropped_count),
            (report.kept_indices.len(), report.dropped_indices.len())
        );
        let shown: Vec<_> = run.view.messages.iter().filter_map(Shown::source).collect();
        prop_assert_eq!(&shown, &report.kept_indices);
        let is_kept = |index: &usize| report.kept_indices.contains(index);
        prop_assert!(report.trimmed_indices.iter().all(is_kept) && report.redacted_indices.iter().all(is_kept));
        Ok(())
    });
}

#[test]
fn kept_messages_are_the_sources_own() {
    for_all(|run| {
        let mut changed = Vec::new();
        for shown in &run.view.messages {
            match shown {
                Shown::Kept { source, message } => prop_assert!(std::ptr::eq(*message, &run.source()[*source])),
                Shown::Changed { source, .. } => changed.push(*source),
                Shown::Added { .. } => prop_assert_eq!(run.policy(), "summary_prefix"),
            }
        }
        let report = &run.view.report;
        let mut said = [&report.trimmed_indices[..], &report.redacted_indices].concat();
        said.sort_unstable();
        prop_assert_eq!(changed, said);
        Ok(())
    });
}

/// Whether `shown` holds of each call of the source either nothing or all, results behind their calls.
fn pairs_are_whole(source: &[Value], shown: &[Value]) -> Holds {
    let count = |messages: &[Value]| {
        let mut results = BTreeMap::new();
        messages.iter().flat_map(results_in).for_each(|(n, _)| *results.entry(n).or_insert(0) += 1);
        results
    };
    let calls: BTreeSet<u64> = shown.iter().flat_map(calls_in).collect();
    let (before, after) = (count(source), count(shown));
    for (n, results) in &before {
        let expected = if calls.contains(n) { *results } else { 0 };
        prop_assert_eq!(after.get(n).copied().unwrap_or(0), expected, "results of call {}", n);
    }
    let mut called = BTreeSet::new();
    for message in shown {
        called.extend(calls_in(message));
        prop_assert!(results_in(message).iter().all(|(n, _)| called.contains(n)), "a result before its call");
    }
    Ok(())
}

#[test]
fn pairs_stay_whole() {
    for_all(|run| pairs_are_whole(run.source(), &run.shown));
}

/// Drops the failed results of turns that stay, as the reference system's squash_failed_calls does.
fn drops_failed_results(session: &Session) -> Vec<Value> {
    let is_failure = |message: &Value| results_in(message).iter().any(|(n, _)| session.failed[n]);
    session.messages.iter().filter(|message| !is_failure(message)).cloned().collect()
}

#[test]
fn pairs_do_not_stay_whole_in_a_broken_variant() {
    let mut runner = runner();
    let mut sessions_seen = || sessions().new_tree(&mut runner).expect("a session").current();
    let broken = (0..100).filter(|_| {
        let session = sessions_seen();
        pairs_are_whole(&session.messages, &drops_failed_results(&session)).is_err()
    });
    assert!(broken.count() > 50, "the property cannot fail");
}

#[test]
fn no_message_is_left_empty_or_with_bare_reasoning() {
    for_all(|run| {
        for (message, shown) in run.shown.iter().zip(&run.view.messages) {
            let was_something = shown.source().is_none_or(|source| shows_something(&run.source()[source]));
            prop_assert!(shows_something(message) || !was_something, "{message}");
            // Reasoning in a message of its own belongs to a call behind it.
            if let (false, Some(source), "clean_tool_repair" | "squash_failed_calls") =
                (was_something, shown.source(), run.policy())
            {
                let turn = turn(run.source(), source);
                let is_left = |n: u64| run.shown.iter().any(|message| calls_in(message).contains(&n));
                let mut calls = run.source()[turn].iter().flat_map(calls_in).peekable();
                prop_assert!(calls.peek().is_none() || calls.any(is_left), "{message}");
            }
            for list in ["content", "tool_calls"] {
                prop_assert!(message[list] != json!([]), "{message}");
            }
        }
        Ok(())
    });
}

#[test]
fn requests_stay_requests() {
    let seen = std::cell::Cell::new(0);
    for_all(|run| {
        let Some(shape) = run.session.shape.filter(|shape| refusals(run.source(), *shape).is_empty()) else {
            return Ok(());
        };
        seen.set(seen.get() + 1);
        let refused = refusals(&sent(&run.shown, shape), shape);
        prop_assert!(refused.is_empty(), "{:?}", refused);
        Ok(())
    });
    assert!(seen.get() > CASES / 4, "only {} sessions were requests", seen.get());
}

/// The messages as a request holds them.
fn sent(shown: &[Value], shape: Shape) -> Vec<Value> {
    let messages: Vec<&Value> = shown.iter().collect();
    let provider = (shape == Shape::Anthropic).then_some(Provider::Anthropic);
    provider_messages(&messages, provider).iter().map(|message| message.to_value().expect("a message")).collect()
}

#[test]
fn marks_are_for_observers_only() {
    for_all(|run| {
        let sent = sent(&run.shown, Shape::Openai);
        prop_assert!(!Value::from(sent.clone()).to_string().contains("_harn_projection"));
        for (message, shown) in sent.iter().zip(&run.view.messages) {
            if let Shown::Kept { source, .. } = shown {
                prop_assert_eq!(message, &run.source()[*source]);
            }
        }
        Ok(())
    });
}

/// The turn that an assistant message belongs to: it and its neighbours, which providers read as one.
fn turn(messages: &[Value], index: usize) -> std::ops::Range<usize> {
    let is_assistant = |message: &&Value| message["role"] == "assistant";
    let before = messages[..index].iter().rev().take_while(is_assistant).count();
    let from_here = messages[index..].iter().take_while(is_assistant).count();
    if from_here == 0 { index..index + 1 } else { index - before..index + from_here }
}

/// Where the turn starts that the model has not seen the results of.
fn open_turn(messages: &[Value]) -> usize {
    let Some(last) = messages.iter().rposition(|message| message["role"] == "assistant") else { return messages.len() };
    let turn = turn(messages, last);
    let calls: Vec<u64> = messages[turn.clone()].iter().flat_map(calls_in).collect();
    let answers: Vec<u64> = messages[turn.clone()].iter().flat_map(results_in).map(|(n, _)| n).collect();
    let is_ordinary = |message: &Value| message["role"] == "user" && results_in(message).is_empty();
    // What a turn answered itself has been seen once the user speaks again.
    let is_seen = calls.iter().all(|n| answers.contains(n)) && messages[turn.end..].iter().any(is_ordinary);
    if calls.is_empty() || is_seen { messages.len() } else { turn.start }
}

#[test]
fn the_open_turn_is_not_touched() {
    for_all(|run| {
        if run.is("protect_open_turn", true) {
            let open: Vec<usize> = (open_turn(run.source())..run.source().len()).collect();
            let untouched = run.untouched();
            prop_assert!(untouched.ends_with(&open), "{untouched:?} should end with {open:?}");
        }
        Ok(())
    });
}

#[test]
fn the_first_words_of_the_user_go_only_to_a_summary() {
    for_all(|run| {
        let is_ordinary = |message: &Value| message["role"] == "user" && results_in(message).is_empty();
        let first = run.source().iter().position(is_ordinary).expect("the task");
        prop_assert!(run.policy() == "summary_prefix" || run.untouched().contains(&first));
        Ok(())
    });
}

/// How many prompts stand at the start.
fn leading_prompts(messages: &[Value]) -> usize {
    let is_prompt = |message: &&Value| matches!(message["role"].as_str(), Some("system" | "developer"));
    messages.iter().take_while(is_prompt).count()
}

#[test]
fn leading_prompts_stay_in_front() {
    for_all(|run| {
        let prompts: Vec<usize> = (0..leading_prompts(run.source())).collect();
        prop_assert!(run.untouched().starts_with(&prompts));
        prop_assert!(run.view.messages.iter().take(prompts.len()).all(is_untouched));
        Ok(())
    });
}

#[test]
fn a_summary_stands_for_what_it_replaces() {
    for_policy("summary_prefix", |run| {
        let report = &run.view.report;
        let count = run.source().len();
        let keep_last = run.options["keep_last"].as_u64().expect("a number") as usize;
        let tail: Vec<usize> = (count.saturating_sub(keep_last)..count).collect();
        prop_assert!(run.untouched().ends_with(&tail), "the last {keep_last} stay verbatim");
        let summaries: Vec<_> = run.view.messages.iter().map(|shown| shown.source().is_none()).collect();
        let prompts = leading_prompts(run.source());
        if report.dropped_indices.is_empty() {
            prop_assert!(!summaries.contains(&true));
            let is_noop = report.reason == "summary_prefix_noop_short_history";
            prop_assert!(is_noop || report.provider_safety_blocked);
        } else {
            prop_assert_eq!(summaries.iter().filter(|is_summary| **is_summary).count(), 1);
            let summary = &run.shown[prompts];
            prop_assert_eq!(&summary["role"], &run.options["summary_role"]);
            let text = format!("[{} earlier messages summarized]", report.dropped_count);
            prop_assert_eq!(summary["content"].as_str(), Some(&*text));
            prop_assert_eq!(&summary["_harn_projection"], &json!({"synthetic": true, "policy": "summary_prefix"}));
        }
        if run.is("keep_newest_user", false) {
            let is_ordinary = |message: &Value| message["role"] == "user" && results_in(message).is_empty();
            let newest = run.source().iter().rposition(is_ordinary).expect("the task");
            prop_assert!(run.untouched().contains(&newest));
        }
        Ok(())
    });
}

/// The messages of the calls and of the last results, by the calls' numbers.
fn places(messages: &[Value]) -> BTreeMap<u64, (usize, Option<usize>)> {
    let mut places = BTreeMap::new();
    for (index, message) in messages.iter().enumerate() {
        places.extend(calls_in(message).into_iter().map(|n| (n, (index, None))));
        for (n, _) in results_in(message) {
            places.entry(n).and_modify(|place: &mut (usize, Option<usize>)| place.1 = Some(index));
        }
    }
    places
}

/// The numbers of the calls that the view does not show.
fn hidden(run: &Run<'_>) -> BTreeSet<u64> {
    let shown: BTreeSet<u64> = run.shown.iter().flat_map(calls_in).collect();
    run.source().iter().flat_map(calls_in).filter(|n| !shown.contains(n)).collect()
}

/// The first message that may not be touched.
fn protected(run: &Run<'_>) -> usize {
    if run.is("protect_open_turn", true) { open_turn(run.source()) } else { run.source().len() }
}

#[test]
fn exactly_the_repaired_failures_are_hidden() {
    for_policy("clean_tool_repair", |run| {
        if run.view.report.provider_safety_blocked {
            return Ok(());
        }
        let places = places(run.source());
        let session = run.session;
        let is_repaired = |n: &u64| {
            let Some(seen) = places[n].1.filter(|seen| session.failed[n] && *seen < protected(run)) else {
                return false;
            };
            places.iter().any(|(other, (called, answered))| {
                let is_success = answered.is_some() && !session.failed[other];
                is_success && session.tools[other] == session.tools[n] && *called > seen
            })
        };
        let expected: BTreeSet<u64> = places.keys().copied().filter(is_repaired).collect();
        prop_assert_eq!(run.view.report.hidden_calls.len(), hidden(run).len());
        hides(run, &expected)
    });
}

#[test]
fn exactly_the_turns_of_nothing_but_failures_are_squashed() {
    for_policy("squash_failed_calls", |run| {
        if run.view.report.provider_safety_blocked {
            return Ok(());
        }
        let places = places(run.source());
        let is_failure = |n: &u64| run.session.failed[n] && places[n].1.is_some_and(|seen| seen < protected(run));
        // Neighbouring assistant messages are one turn.
        let turns = run.source().chunk_by(|a, b| a["role"] == "assistant" && b["role"] == "assistant");
        let is_squashed =
            |turn: &&[Value]| turn.iter().all(|message| !has_text(message) && calls_in(message).iter().all(is_failure));
        let expected: BTreeSet<u64> = turns.filter(is_squashed).flatten().flat_map(calls_in).collect();
        hides(run, &expected)
    });
}

/// All of them, unless a system message inside the list needs a neighbour: then at most them.
fn hides(run: &Run<'_>, expected: &BTreeSet<u64>) -> Holds {
    let mut roles = run.source().iter().map(|message| &message["role"]);
    let is_prompt = |role: &&Value| *role == "system" || *role == "developer";
    if roles.by_ref().skip_while(is_prompt).any(|role| is_prompt(&role)) {
        prop_assert!(hidden(run).is_subset(expected), "{:?} of {:?}", hidden(run), expected);
    } else {
        prop_assert_eq!(&hidden(run), expected);
    }
    Ok(())
}

#[test]
fn only_old_successful_results_become_pointers() {
    for_policy("reachability_gc", |run| {
        let report = &run.view.report;
        let root_window = run.options["root_window"].as_u64().expect("a number") as usize;
        let min_chars = run.options["min_chars"].as_u64().expect("a number") as usize;
        prop_assert!(report.dropped_indices.is_empty() && report.trimmed_indices.is_empty());
        prop_assert_eq!(report.redacted_count, report.redaction_pointers.len());
        for pointer in &report.redaction_pointers {
            let message = &run.source()[pointer.source_index];
            let results = results_in(message);
            let result = results.iter().find(|(_, block)| *block == pointer.source_block_index);
            let (n, block) = result.expect("a result");
            prop_assert!(!run.session.failed[n], "an error is evidence");
            prop_assert!(
                pointer.source_index + root_window < run.source().len() && pointer.source_index < protected(run)
            );
            let carrier = block.map_or(message, |block| &message["content"][block]);
            let is_plain = block.is_none() || carrier["type"] == "tool_result";
            prop_assert!(is_plain, "a server's result is not for text: {}", carrier);
            let body = &carrier["content"];
            let (text, hash) = match body.as_str() {
                Some(text) => (text.to_owned(), sha256(text)),
                None => (canonical(body), sha256(&canonical(body))),
            };
            let chars = text.chars().count();
            prop_assert_eq!((&pointer.content_hash, pointer.content_chars), (&hash, chars));
            prop_assert!(chars >= min_chars && chars > 0);
            let view_index = pointer.source_index;
            let shown = block.map_or(&run.shown[view_index], |block| &run.shown[view_index]["content"][block]);
            let line = shown["content"].as_str().expect("a line");
            prop_assert!(line.contains(&hash) && !line.contains('\n'), "{}", line);
            let mark = &shown["_harn_projection"]["redaction_pointer"];
            prop_assert_eq!(mark, &pointer.to_json());
        }
        Ok(())
    });
}

#[test]
fn a_projected_view_has_nothing_more_to_hide() {
    for_all(|run| {
        if run.policy() == "summary_prefix" {
            return Ok(());
        }
        let again = view_of(&run.shown, run.options);
        prop_assert_eq!(again.report.first_changed_index, None, "{}", again.event);
        prop_assert!(again.messages.iter().all(is_untouched));
        Ok(())
    });
}

#[test]
fn reclaimed_tokens_are_a_quarter_of_the_characters() {
    for_all(|run| {
        let report = &run.view.report;
        prop_assert_eq!(report.reclaimed_tokens, report.reclaimed_chars / 4);
        let whole: usize = run.source().iter().map(|message| message.to_string().chars().count()).sum();
        prop_assert!(report.reclaimed_chars <= whole);
        let is_changed = report.first_changed_index.is_some();
        prop_assert!(is_changed || report.reclaimed_chars == 0);
        if run.policy() == "clean_tool_repair" || run.policy() == "squash_failed_calls" {
            prop_assert_eq!(is_changed, report.reclaimed_chars > 0, "what was hidden had characters");
        }
        Ok(())
    });
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for_all(|run| {
        let copy = run.session.clone();
        let again = Run::of(&copy, run.options);
        prop_assert_eq!(&run.shown, &again.shown);
        prop_assert_eq!(run.view.report.to_json().to_string(), again.view.report.to_json().to_string());
        prop_assert_eq!(run.view.event.to_string(), again.view.event.to_string());
        Ok(())
    });
}

/// Canonical JSON, written from its definition: keys by their bytes, no white space, minimal escapes.
fn canonical(value: &Value) -> String {
    let string = |text: &str| {
        let mut written = String::from('"');
        for c in text.chars() {
            match c {
                '"' => written += "\\\"",
                '\\' => written += "\\\\",
                '\n' => written += "\\n",
                '\r' => written += "\\r",
                '\t' => written += "\\t",
                '\u{8}' => written += "\\b",
                '\u{c}' => written += "\\f",
                c if c < ' ' => written += &format!("\\u{:04x}", c as u32),
                c => written.push(c),
            }
        }
        written + "\""
    };
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
            let fields = fields.iter().map(|(name, value)| format!("{}:{}", string(name), canonical(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
    }
}

fn sha256(text: &str) -> String {
    let hex: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

#[test]
fn hashes_are_those_of_the_canonical_messages() {
    for_all(|run| {
        let report = &run.view.report;
        let hash = |messages: &[Value]| Some(sha256(&canonical(&messages.to_vec().into())));
        prop_assert_eq!(&report.prefix_hash, &hash(&run.shown));
        prop_assert_eq!(&report.source_hash, &hash(run.source()));
        let mut without = run.options.clone();
        without["prefix_hash"] = false.into();
        let without = view_of(run.source(), &without);
        prop_assert_eq!((&without.report.prefix_hash, &without.report.source_hash), (&None, &None));
        prop_assert_eq!(&without.report.kept_indices, &report.kept_indices);
        Ok(())
    });
}

#[test]
fn hashes_hold_for_any_json() {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|float| if float.is_finite() { float.into() } else { json!(-0.0) }),
        any::<String>().prop_map(Value::from),
        "[\\x00-\\x20\"\\\\\u{7f}\u{2028}\u{fffd}\u{10ffff}]{0,12}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 24, 5, |inner| {
        let object = prop::collection::btree_map(any::<String>(), inner.clone(), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(Value::from),
            object.prop_map(|fields| fields.into_iter().collect()),
        ]
    });
    let messages = prop::collection::vec(prop::collection::btree_map("[a-z\u{e000}\u{1f389}]{1,3}", value, 0..4), 0..4);
    let result = runner().run(&messages, |messages| {
        let messages: Vec<Value> = messages.into_iter().map(|fields| fields.into_iter().collect()).collect();
        let view = view_of(&messages, &json!("raw"));
        prop_assert_eq!(view.report.prefix_hash, Some(sha256(&canonical(&messages.into()))));
        Ok(())
    });
    result.expect("hashes are equal");
}

/// Where the view first differs from its source.
fn first_change(run: &Run<'_>) -> Option<usize> {
    let same = run.shown.iter().zip(run.source()).take_while(|(shown, source)| shown == source).count();
    (same < run.shown.len().max(run.source().len())).then_some(same)
}

/// Whether a message holds signed reasoning, or another of its turn.
fn signs(messages: &[Value], index: usize) -> bool {
    turn(messages, index).any(|index| is_signed(&messages[index]))
}

#[test]
fn signed_reasoning_is_not_touched() {
    for_all(|run| {
        let report = &run.view.report;
        let untouched = run.untouched();
        let touched = (0..run.source().len()).filter(|index| !untouched.contains(index));
        let signed: Vec<usize> = touched.filter(|index| signs(run.source(), *index)).collect();
        if run.is("respect_provider_signatures", true) {
            prop_assert!(signed.is_empty(), "{signed:?} are touched");
        }
        if report.provider_safety_blocked {
            prop_assert_eq!(&run.shown[..], run.source());
            prop_assert!(report.reason.contains(" (blocked: signed reasoning at index "), "{}", report.reason);
        }
        Ok(())
    });
}

#[test]
fn what_a_change_invalidates_is_reported_or_refused() {
    for_all(|run| {
        let report = &run.view.report;
        prop_assert_eq!(report.first_changed_index, first_change(run));
        let after = report.first_changed_index.map_or(run.view.messages.len(), |index| index);
        // A message that is itself the change signs what stands before what it lost.
        let is_after = |(position, shown): &(usize, &Shown<&Value>)| {
            *position > after || (*position == after && matches!(shown, Shown::Kept { .. }))
        };
        let later = run.view.messages.iter().enumerate().filter(is_after).filter_map(|(_, shown)| shown.source());
        let expected: Vec<usize> = later.filter(|source| is_signed(&run.source()[*source])).collect();
        prop_assert_eq!(&report.invalidated_signature_indices, &expected);
        if run.is("respect_provider_signatures", true) && run.options["signature_scope"] == "prefix" {
            prop_assert!(expected.is_empty());
        }
        Ok(())
    });
}

#[test]
fn nothing_is_refused_without_a_signature_in_the_way() {
    for_all(|run| {
        if !run.view.report.provider_safety_blocked {
            return Ok(());
        }
        let mut unguarded = run.options.clone();
        unguarded["respect_provider_signatures"] = false.into();
        let free = Run::of(run.session, &unguarded);
        let untouched = free.untouched();
        let mut touched = (0..run.source().len()).filter(|index| !untouched.contains(index));
        let is_broken = touched.any(|index| signs(run.source(), index));
        let is_bound = run.options["signature_scope"] == "prefix";
        prop_assert!(is_broken || (is_bound && !free.view.report.invalidated_signature_indices.is_empty()));
        Ok(())
    });
}

#[test]
fn replays_match_and_notice_every_change() {
    let at = any::<prop::sample::Index>();
    let mut runner = runner();
    let result = runner.run(&(sessions(), any_options(), at), |(session, options, at)| {
        let run = Run::of(&session, &options);
        let replayed = |messages: &[Value], event: &Value| {
            let transcript = Transcript { messages: messages.iter().collect(), summary: None, verdicts: Vec::new() };
            let replayed = replay(&transcript, &event, None).expect("a replay");
            (replayed.matches, replayed.source_matches)
        };
        prop_assert_eq!(replayed(&session.messages, &run.view.event), (Some(true), Some(true)));
        // What came later is no part of the recorded prefix.
        let mut longer = session.messages.clone();
        longer.push(json!({"role": "user", "content": "more"}));
        prop_assert_eq!(replayed(&longer, &run.view.event), (Some(true), Some(true)));
        let mut tampered = session.messages.clone();
        tampered[at.index(session.messages.len())]["tampered"] = true.into();
        prop_assert_eq!(replayed(&tampered, &run.view.event), (Some(false), Some(false)));
        tampered.pop();
        prop_assert_eq!(replayed(&tampered, &run.view.event).0, Some(false));
        let mut forged = run.view.event.clone();
        forged["metadata"]["prefix_hash"] = sha256("something else").into();
        prop_assert_eq!(replayed(&session.messages, &forged), (Some(false), Some(true)));
        Ok(())
    });
    if let Err(TestError::Fail(why, (session, options, _))) = result {
        panic!("{why}\noptions: {options}\n{session:?}");
    }
}

#[test]
fn replays_need_not_ask_the_caller() {
    for_all(|run| {
        let transcript = Transcript { messages: run.source().iter().collect(), summary: None, verdicts: Vec::new() };
        let options = Options::parse(Some(&run.options)).expect("options");
        let mut by_number = |info: &ResultInfo<&Value>| {
            let results = results_in(info.message);
            let n = results.iter().find(|(_, block)| *block == info.block_index).expect("a result").0;
            Ok([None, Some(true), Some(false)][n as usize % 3])
        };
        let is_error: IsError<'_, &Value> = &mut by_number;
        let view = project(&transcript, &options, Callbacks { is_error: Some(is_error), projector: None });
        let view = view.expect("a view");
        let replayed = replay(&transcript, &&view.event, None).expect("a replay");
        prop_assert_eq!(replayed.matches, Some(true));
        prop_assert_eq!(&replayed.view.event, &view.event);
        Ok(())
    });
}

#[test]
fn the_event_records_the_view() {
    for_all(|run| {
        let (event, report) = (&run.view.event, &run.view.report);
        prop_assert_eq!(&event["kind"], "transcript.projection");
        prop_assert_eq!(&event["text"], &*report.reason);
        prop_assert_eq!(&event["metadata"]["source_count"], &json!(run.source().len()));
        for (name, value) in report.shared_fields() {
            prop_assert_eq!(&event["metadata"][&name], &value, "{}", name);
        }
        let id = event["id"].as_str().expect("an id");
        let hex = sha256(&canonical(&event["metadata"])).replace("sha256:", "");
        let is_uuid = id.len() == 36 && id.as_bytes()[14] == b'8' && "89ab".contains(&id[19..20]);
        prop_assert!(is_uuid && id.starts_with(&hex[..8]), "{}", id);
        Ok(())
    });
}

/// Whether a call lost all its results, or a result its call. Halves with the same id may make a new pair, so sessions
/// that use ids again are not looked at.
fn leaves_halves(source: &[Value], shown: &[Value]) -> bool {
    let uses_ids_again = source.iter().any(|message| message.to_string().contains("\"again\""));
    let calls: BTreeSet<u64> = shown.iter().flat_map(calls_in).collect();
    let numbers = |messages: &[Value]| messages.iter().flat_map(results_in).map(|(n, _)| n).collect::<BTreeSet<u64>>();
    let (answered, answers) = (numbers(source), numbers(shown));
    let lost = calls.iter().any(|n| answered.contains(n) && !answers.contains(n));
    !uses_ids_again && (lost || answers.iter().any(|n| !calls.contains(n)))
}

#[test]
fn custom_selections_are_mapped_and_replayed() {
    let choice = prop::collection::vec(any::<bool>(), 64);
    let mut runner = runner();
    let result = runner.run(&(sessions(), choice), |(session, choice)| {
        let transcript =
            Transcript { messages: session.messages.iter().collect(), summary: None, verdicts: Vec::new() };
        let chosen: Vec<usize> = (0..session.messages.len()).filter(|index| choice[index % choice.len()]).collect();
        let mut projector = |messages: &[&'_ Value]| {
            let chosen = chosen.iter().map(|index| Patched::Source(transcript.messages[*index]));
            assert_eq!(messages.len(), transcript.messages.len());
            Ok(CustomView::of(chosen.collect()))
        };
        let projector: Projector<'_, &Value> = &mut projector;
        let options = json!({"policy": "custom", "respect_provider_signatures": false});
        let options = Options::parse(Some(&&options)).expect("options");
        let view = project(&transcript, &options, Callbacks { is_error: None, projector: Some(projector) });
        let view = view.expect("a view");
        prop_assert_eq!(&view.report.kept_indices, &chosen);
        prop_assert!(view.messages.iter().all(is_untouched));
        let replayed = replay(&transcript, &&view.event, None).expect("a replay");
        prop_assert!(replayed.matches == Some(true));
        let shown: Vec<Value> = chosen.iter().map(|index| session.messages[*index].clone()).collect();
        if leaves_halves(&session.messages, &shown) {
            prop_assert!(!view.report.violations.expect("violations").is_empty());
        }
        Ok(())
    });
    if let Err(TestError::Fail(why, (session, choice))) = result {
        panic!("{why}\nchoice: {choice:?}\n{session:?}");
    }
}
