//! Sessions, turn by turn: what a turn decides is what the projection of the same transcript decides, nothing comes
//! back, hashes that go on are those made at once, every turn can be done once more from its event, and none of it
//! costs more the longer the session is.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

mod common;
#[allow(dead_code)]
#[path = "common/session.rs"]
mod session;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use serde_json::{Value, json};
use transcript_projection::{
    Callbacks, CustomView, Options, Patched, ProjectionError, Session, Transcript, Triggers, Turn, TurnOptions, View,
    Work,
};

use common::talk::{Shape, tell};
use common::{project_value, view_value};
use session::sessions;

type Holds = Result<(), TestCaseError>;

fn runner() -> TestRunner {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if !is_set("PROPTEST_CASES") {
        config.cases = 128;
    }
    if !is_set("PROPTEST_RNG_SEED") {
        config.rng_seed = RngSeed::Fixed(6);
    }
    TestRunner::new(config)
}

fn options(value: &Value) -> Options {
    Options::parse(Some(&value)).expect("options")
}

fn turn_options(value: &Value) -> TurnOptions {
    TurnOptions::parse(Some(&value)).expect("options of a turn")
}

/// An empty session.
fn empty<'a>() -> Session<&'a Value> {
    Session::new("s", Transcript { messages: Vec::new(), summary: None, verdicts: Vec::new() }).expect("a session")
}

/// A session with what its caller puts together of what the turns tell.
struct Told<'a> {
    session: Session<&'a Value>,
    /// The messages of the view, by position.
    shown: Vec<Value>,
    views: Vec<(View<&'a Value>, Value)>,
}

impl<'a> Told<'a> {
    fn new() -> Self {
        Told { session: empty(), shown: Vec::new(), views: Vec::new() }
    }

    fn append(&mut self, messages: &'a [Value]) {
        self.session.append(messages.iter().collect()).expect("messages");
    }

    fn turn(&mut self, options: &Options, turn: &TurnOptions) -> Turn<&'a Value> {
        let turn = self.session.project_turn(options, turn, Callbacks::default()).expect("a turn");
        self.shown.truncate(turn.from);
        self.shown.extend(turn.tail.iter().map(|shown| shown.message().to_value().expect("a message")));
        let view = self.session.view(&turn);
        let value = view_value(&view);
        self.views.push((view, value));
        turn
    }

    fn last(&self) -> &Value {
        &self.views.last().expect("a turn").1
    }
}

/// Policies with the options that matter to how they grow.
fn option_sets() -> Vec<Value> {
    let sets = json!([
        {"policy": "raw"},
        {"policy": "clean_tool_repair"},
        {"policy": "clean_tool_repair", "repair_match": "target", "protect_open_turn": false},
        {"policy": "clean_tool_repair", "respect_provider_signatures": false},
        {"policy": "clean_tool_repair", "on_signature_conflict": "skip", "signature_scope": "prefix"},
        {"policy": "clean_tool_repair", "on_signature_conflict": "strip_reasoning"},
        {"policy": "squash_failed_calls"},
        {"policy": "squash_failed_calls", "on_signature_conflict": "skip"},
        {"policy": "squash_failed_calls", "respect_provider_signatures": false, "protect_open_turn": false},
        {"policy": "summary_prefix", "keep_last": 3},
        {"policy": "summary_prefix", "keep_last": 1, "keep_newest_user": true, "respect_provider_signatures": false},
        {"policy": "summary_prefix", "keep_last": 4, "summary": "It went well.", "on_signature_conflict": "skip"},
        {"policy": "reachability_gc", "root_window": 2, "min_chars": 20},
        {"policy": "reachability_gc", "root_window": 0, "min_chars": 1, "protect_open_turn": false},
        {"policy": "reachability_gc", "root_window": 4, "min_chars": 20, "roots": ["src/a.rs"],
         "on_signature_conflict": "skip"},
    ]);
    sets.as_array().expect("a list").clone()
}

/// Looks at a turn: what was told so far, its options, what it told, the messages that it had.
type Check<'c> = dyn FnMut(&Told<'_>, &Value, &Turn<&Value>, &[Value]) -> Holds + 'c;

/// Appends the messages of a session in steps and checks the view of each.
fn each_turn(
    messages: &[Value],
    steps: &[usize],
    options_of_turn: &dyn Fn(usize) -> (Value, Value),
    check: &mut Check<'_>,
) -> Holds {
    let mut told = Told::new();
    let mut at = 0;
    let mut turns = 0;
    let mut steps = steps.iter().cycle();
    loop {
        let to = (at + steps.next().expect("a step")).min(messages.len());
        told.append(&messages[at..to]);
        let (set, turn) = options_of_turn(turns);
        let turn = told.turn(&options(&set), &turn_options(&turn));
        check(&told, &set, &turn, &messages[..to])?;
        turns += 1;
        if to == messages.len() {
            return Ok(());
        }
        at = to;
    }
}

fn holds_for_each_turn(turn: &Value, check: &mut Check<'_>) {
    let sets = option_sets();
    let strategy = (sessions(), 0..sets.len(), prop::collection::vec(1..6_usize, 1..5));
    let check = std::cell::RefCell::new(check);
    let property = |(session, set, steps): (session::Session, usize, Vec<usize>)| {
        let set = &sets[set];
        each_turn(&session.messages, &steps, &|_| (set.clone(), turn.clone()), &mut |told, set, turn, source| {
            (check.borrow_mut())(told, set, turn, source)
                .map_err(|error| TestCaseError::fail(format!("{set} {steps:?}\n{error}")))
        })
    };
    runner().run(&strategy, property).unwrap();
}

fn set(value: &Value) -> BTreeSet<String> {
    value.as_array().expect("a list").iter().map(Value::to_string).collect()
}

fn set_of(value: &Value, fields: &[&str]) -> BTreeSet<String> {
    let key = |item: &Value| fields.iter().map(|field| item[*field].to_string()).collect::<Vec<_>>().join(" ");
    value.as_array().expect("a list").iter().map(key).collect()
}

fn raw_hash(messages: &Value) -> Value {
    project_value(&common::transcript(messages.clone()), &json!("raw")).expect("a view")["prefix_hash"].clone()
}

#[test]
fn a_first_turn_is_the_projection() {
    let sets = option_sets();
    let property = |(session, at): (session::Session, usize)| {
        let mut told = Told::new();
        told.append(&session.messages);
        told.turn(&options(&sets[at]), &TurnOptions::default());
        let transcript = json!(session.messages);
        let mut expected = project_value(&transcript, &sets[at]).expect("a view");
        let mut found = told.last().clone();
        let metadata = found["event"]["metadata"].as_object_mut().expect("metadata");
        metadata.remove("session");
        found["event"]["id"] = Value::Null;
        expected["event"]["id"] = Value::Null;
        prop_assert_eq!(found, expected, "{}", &sets[at]);
        Ok(())
    };
    runner().run(&(sessions(), 0..sets.len()), property).unwrap();
}

#[test]
fn hashes_that_go_on_are_those_made_at_once() {
    holds_for_each_turn(&json!({}), &mut |told, _, turn, source| {
        let view = told.last();
        prop_assert_eq!(&view["messages"], &json!(told.shown), "what the turns tell is the view");
        prop_assert_eq!(&view["prefix_hash"], &raw_hash(&view["messages"]));
        prop_assert_eq!(&view["event"]["metadata"]["source_hash"], &raw_hash(&json!(source)));
        prop_assert_eq!(view["kept_count"].as_u64(), Some(view["kept_indices"].as_array().unwrap().len() as u64));
        prop_assert_eq!(
            view["redacted_count"].as_u64(),
            Some(view["redaction_pointers"].as_array().unwrap().len() as u64)
        );
        prop_assert_eq!(turn.report.dropped_count, view["dropped_indices"].as_array().unwrap().len());
        Ok(())
    });
}

#[test]
fn nothing_comes_back_and_the_start_stays_the_same() {
    for batch in [json!({}), json!({"batch": {"max_turns": 2}}), json!({"batch": {"min_reclaimed_tokens": 150}})] {
        holds_for_each_turn(&batch, &mut |told, set_, turn, _| {
            let [.., (_, before), (_, now)] = told.views.as_slice() else { return Ok(()) };
            prop_assert!(set(&before["dropped_indices"]).is_subset(&set(&now["dropped_indices"])));
            let call = ["call_index", "call_block"];
            prop_assert!(set_of(&before["hidden_calls"], &call).is_subset(&set_of(&now["hidden_calls"], &call)));
            let (old, new) = (before["messages"].as_array().unwrap(), now["messages"].as_array().unwrap());
            let stable = turn.cache.stable_prefix_count;
            prop_assert_eq!(&old[..stable], &new[..stable]);
            let is_changed = !turn.event["metadata"]["session"]["decisions"].as_array().unwrap().is_empty();
            prop_assert!(is_changed || stable == old.len(), "{} of {} in {}", stable, old.len(), set_);
            for (source, pointer) in before["redacted_indices"].as_array().unwrap().iter().map(|at| (at, "redacted")) {
                let is_there = now["redacted_indices"].as_array().unwrap().contains(source);
                let is_gone = now["dropped_indices"].as_array().unwrap().contains(source);
                prop_assert!(is_there || is_gone, "{} {}", pointer, source);
            }
            Ok(())
        });
    }
}

/// The rule of each policy is in one place, and a session sees what is new of it: what is hidden is all that the
/// projections of the transcript at each turn would have hidden.
#[test]
fn a_session_decides_what_projections_decide() {
    let sets: Vec<Value> = option_sets();
    let sets: Vec<&Value> = sets
        .iter()
        .filter(|set| {
            let is_hiding = ["clean_tool_repair", "squash_failed_calls"].iter().any(|policy| set["policy"] == *policy);
            is_hiding && set["on_signature_conflict"].is_null()
        })
        .collect();
    let strategy = (sessions(), 0..sets.len(), prop::collection::vec(1..6_usize, 1..5));
    let property = |(session, at, steps): (session::Session, usize, Vec<usize>)| {
        let mut options = sets[at].clone();
        options["respect_provider_signatures"] = false.into();
        let mut expected = BTreeSet::new();
        let call = ["tool_call_id", "call_index", "call_block"];
        each_turn(&session.messages, &steps, &|_| (options.clone(), json!({})), &mut |told, set, _, source| {
            let projected = project_value(&json!(source), set).expect("a view");
            expected.extend(set_of(&projected["hidden_calls"], &call));
            prop_assert_eq!(&set_of(&told.last()["hidden_calls"], &call), &expected, "{} {:?}", set, steps);
            Ok(())
        })
    };
    runner().run(&strategy, property).unwrap();
}

/// A stale body goes when the projection of what was shown before, and of what is new, would let it go.
#[test]
fn a_session_reclaims_what_projections_of_its_views_reclaim() {
    let sets: Vec<Value> = option_sets().into_iter().filter(|set| set["policy"] == "reachability_gc").collect();
    let strategy = (sessions(), 0..sets.len(), prop::collection::vec(1..6_usize, 1..5));
    let property = |(session, at, steps): (session::Session, usize, Vec<usize>)| {
        let mut options = sets[at].clone();
        options["respect_provider_signatures"] = false.into();
        let (mut shown, mut expected): (Vec<Value>, BTreeSet<String>) = (Vec::new(), BTreeSet::new());
        let body = ["source_index", "source_block_index"];
        each_turn(&session.messages, &steps, &|_| (options.clone(), json!({})), &mut |told, set, _, source| {
            shown.extend_from_slice(&source[shown.len()..]);
            let projected = project_value(&json!(shown), set).expect("a view");
            expected.extend(set_of(&projected["redaction_pointers"], &body));
            prop_assert_eq!(&set_of(&told.last()["redaction_pointers"], &body), &expected, "{} {:?}", set, steps);
            shown = told.last()["messages"].as_array().expect("a list").clone();
            Ok(())
        })
    };
    runner().run(&strategy, property).unwrap();
}

/// A policy that comes back, or comes with other options, reads all from the start: what is settled it leaves.
#[test]
fn nothing_is_decided_twice_whatever_the_options_become() {
    let sets = option_sets();
    let strategy = (sessions(), prop::collection::vec(0..sets.len(), 2..5), prop::collection::vec(1..6_usize, 1..5));
    let property = |(session, at, steps): (session::Session, Vec<usize>, Vec<usize>)| {
        let options_of = |turns: usize| (sets[at[turns % at.len()]].clone(), json!({}));
        each_turn(&session.messages, &steps, &options_of, &mut |told, set, _, _| {
            let view = told.last();
            for (list, fields) in [
                ("redaction_pointers", ["source_index", "source_block_index"]),
                ("hidden_calls", ["call_index", "call_block"]),
            ] {
                let count = view[list].as_array().unwrap().len();
                prop_assert_eq!(set_of(&view[list], &fields).len(), count, "{} {}", list, set);
            }
            Ok(())
        })
    };
    runner().run(&strategy, property).unwrap();
}

#[test]
fn a_body_that_is_replaced_is_not_replaced_again() {
    let messages = long_session(40);
    let gc = |min_chars: usize| json!({"policy": "reachability_gc", "root_window": 4, "min_chars": min_chars});
    for between in [json!("raw"), json!("clean_tool_repair"), gc(21), gc(20)] {
        let mut told = Told::new();
        told.append(&messages);
        let first = told.turn(&options(&gc(20)), &TurnOptions::default());
        assert!(first.report.redacted_count > 0);
        told.turn(&options(&between), &TurnOptions::default());
        let last = told.turn(&options(&gc(20)), &TurnOptions::default());
        assert_eq!(last.event["metadata"]["session"]["decisions"], json!([]), "{between}");
        assert_eq!(last.report.redacted_count, first.report.redacted_count, "{between}");
        assert_eq!(last.cache.rewritten_tokens, 0, "{between}");
        // A session that goes on from its events begins late as well.
        let mut resumed = Told::new();
        resumed.append(&messages);
        resumed.session.resume(&&first.event, Callbacks::default()).expect("a turn");
        let turn = resumed.turn(&options(&gc(20)), &TurnOptions::default());
        assert_eq!(turn.event["metadata"]["session"]["decisions"], json!([]), "{between}");
    }
}

/// Does all turns of a session once more in another one.
fn redo(messages: &[Value], events: &[Value]) -> Vec<Value> {
    let mut told = Told::new();
    let mut at = 0;
    for event in events {
        let to = event["metadata"]["source_count"].as_u64().expect("a count") as usize;
        told.append(&messages[at..to]);
        at = to;
        let turn = told.session.resume(&event, Callbacks::default()).expect("a turn");
        let view = told.session.view(&turn);
        told.views.push((view.clone(), view_value(&view)));
    }
    told.views.into_iter().map(|(_, value)| value).collect()
}

#[test]
fn every_turn_can_be_done_once_more_from_its_event() {
    for turn in [json!({}), json!({"batch": {"max_turns": 1}})] {
        let sets = option_sets();
        let strategy =
            (sessions(), prop::collection::vec(0..sets.len(), 1..3), prop::collection::vec(1..6_usize, 1..5));
        // Policies may change between turns: what is settled stays.
        let property = |(session, at, steps): (session::Session, Vec<usize>, Vec<usize>)| {
            let mut views = Vec::new();
            let mut events = Vec::new();
            let options_of = |turns: usize| (sets[at[turns % at.len()]].clone(), turn.clone());
            each_turn(&session.messages, &steps, &options_of, &mut |told, _, turn, _| {
                views.push(told.last().clone());
                events.push(turn.event.clone());
                prop_assert_eq!(&told.last()["prefix_hash"], &raw_hash(&told.last()["messages"]));
                Ok(())
            })?;
            prop_assert_eq!(redo(&session.messages, &events), views);
            Ok(())
        };
        runner().run(&strategy, property).unwrap();
    }
}

/// Compactions between turns: what is settled of the messages that stay moves along, and all of it can be done once more.
#[test]
fn compactions_leave_what_is_settled() {
    let sets = option_sets();
    let steps = || prop::collection::vec(1..6_usize, 1..5);
    let compactions = prop::collection::vec(prop::option::weighted(0.4, 1..9_usize), 1..5);
    let strategy = (sessions(), prop::collection::vec(0..sets.len(), 1..3), steps(), compactions);
    let property =
        |(session, at, steps, compactions): (session::Session, Vec<usize>, Vec<usize>, Vec<Option<usize>>)| {
            let (mut told, mut redone) = (Told::new(), Told::new());
            let mut next = 0;
            for turns in 0.. {
                let to = (next + steps[turns % steps.len()]).min(session.messages.len());
                told.append(&session.messages[next..to]);
                redone.append(&session.messages[next..to]);
                next = to;
                let turn = told.turn(&options(&sets[at[turns % at.len()]]), &TurnOptions::default());
                let again = redone.session.resume(&&turn.event, Callbacks::default()).expect("a turn");
                let view = told.last().clone();
                prop_assert_eq!(&view_value(&redone.session.view(&again)), &view);
                prop_assert_eq!(&view["messages"], &json!(told.shown));
                prop_assert_eq!(&view["prefix_hash"], &raw_hash(&view["messages"]));
                let list: Vec<&Value> = told.session.messages().to_vec();
                prop_assert_eq!(&view["event"]["metadata"]["source_hash"], &raw_hash(&json!(list)));
                if next == session.messages.len() {
                    break;
                }
                let Some(keep_last) = compactions[turns % compactions.len()] else { continue };
                let planned = told.session.plan_compaction(&Triggers::keeping(keep_last), true, None);
                let Some(compaction) = planned else { continue };
                let (start, end) = (compaction.replaced.start, compaction.replaced.end);
                let summary: &'static Value = Box::leak(Box::new(compaction.summary));
                let left = |view: &Value, field: &str| -> BTreeSet<u64> {
                    let indices = view[field].as_array().unwrap().iter().filter_map(Value::as_u64);
                    let left = indices.filter(|index| *index < start as u64 || *index >= end as u64);
                    left.map(|index| if index < start as u64 { index } else { index + 1 - (end - start) as u64 })
                        .collect()
                };
                let (dropped, redacted) = (left(&view, "dropped_indices"), left(&view, "redacted_indices"));
                told.session.compact(start..end, summary).expect("a summary");
                redone.session.compact(start..end, summary).expect("a summary");
                let turn = told.turn(&options(&json!("raw")), &TurnOptions::default());
                redone.session.resume(&&turn.event, Callbacks::default()).expect("a turn");
                let after = told.last();
                let indices = |field: &str| -> BTreeSet<u64> {
                    after[field].as_array().unwrap().iter().filter_map(Value::as_u64).collect()
                };
                prop_assert_eq!(&indices("dropped_indices"), &dropped);
                prop_assert_eq!(&indices("redacted_indices"), &redacted);
                prop_assert_eq!(&after["prefix_hash"], &raw_hash(&after["messages"]));
                prop_assert_eq!(&after["messages"], &json!(told.shown));
            }
            Ok(())
        };
    runner().run(&strategy, property).unwrap();
}

/// A long session: a call and its result a step, every tenth call fails and is repaired at once.
fn long_session(steps: usize) -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": "go on until it is done"})];
    for step in 0..steps {
        let id = format!("c{step}");
        let arguments = json!({"path": format!("src/file_{step}.rs")}).to_string();
        let function = json!({"name": "read", "arguments": arguments});
        messages.push(json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        let body = if step % 10 == 3 { "Error: busy".to_owned() } else { format!("line {step} of text\n").repeat(40) };
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": body}));
    }
    messages
}

/// The work of appending two messages to a session of so many steps and projecting, turn for turn.
fn work_of_turns(steps: usize, set: &Value, turns: usize) -> Vec<(Work, bool)> {
    let messages = long_session(steps + turns);
    let (old, new) = messages.split_at(2 * steps + 1);
    let mut told = empty();
    let set = options(set);
    let run = |told: &mut Session<_>| told.project_turn(&set, &TurnOptions::default(), Callbacks::default()).unwrap();
    // As a session comes to that length: turn by turn.
    for chunk in old.chunks(100) {
        told.append(chunk.iter().collect()).expect("messages");
        run(&mut told);
    }
    let mut works = Vec::new();
    for pair in new.chunks(2) {
        let before = told.work();
        told.append(pair.iter().collect()).expect("messages");
        let turn = run(&mut told);
        let decides = !turn.event["metadata"]["session"]["decisions"].as_array().unwrap().is_empty();
        works.push((told.work().since(before), decides));
    }
    works
}

#[test]
fn a_turn_costs_what_is_new_however_long_the_session_is() {
    for policy in ["raw", "clean_tool_repair", "squash_failed_calls", "reachability_gc", "summary_prefix"] {
        let set = json!({"policy": policy, "keep_last": 20, "root_window": 8});
        let (short, long) = (work_of_turns(1_000, &set, 24), work_of_turns(10_000, &set, 24));
        for (turn, ((short, decides), (long, _))) in short.iter().zip(&long).enumerate() {
            assert_eq!(short.bodies_fetched, long.bodies_fetched, "{policy}, turn {turn}");
            // Indices of five digits are a few bytes more; marks of the hash stand at other places.
            let spare = if *decides { 64 * 1024 } else { 256 };
            assert!(long.bytes_hashed <= short.bytes_hashed + spare, "{policy}, turn {turn}: {short:?} {long:?}");
            let spare = if *decides { 64 } else { 0 };
            assert!(long.messages_read <= short.messages_read + spare, "{policy}, turn {turn}: {short:?} {long:?}");
            if !decides {
                assert!(long.messages_read <= 16 && long.bytes_hashed < 8 * 1024, "{policy}, turn {turn}: {long:?}");
            }
        }
    }
}

#[test]
fn held_back_decisions_are_told_and_taken_when_they_are_due() {
    struct Case {
        name: &'static str,
        batch: Value,
        /// Options of single turns.
        turns: Value,
        /// In which turns something is decided.
        decides: &'static [usize],
        held: &'static [usize],
    }
    let messages = long_session(60);
    for case in [
        Case {
            name: "without",
            batch: json!(null),
            turns: json!({}),
            decides: &[1, 2, 3, 4, 5],
            held: &[0, 0, 0, 0, 0, 0],
        },
        Case { name: "nothing is due", batch: json!({}), turns: json!({}), decides: &[], held: &[0, 1, 2, 3, 4, 5] },
        Case {
            name: "flush",
            batch: json!({}),
            turns: json!({"3": {"flush": true}}),
            decides: &[3],
            held: &[0, 1, 2, 0, 1, 2],
        },
        Case {
            name: "turns",
            batch: json!({"max_turns": 2}),
            turns: json!({}),
            decides: &[3],
            held: &[0, 1, 2, 0, 1, 2],
        },
        Case {
            name: "no turn",
            batch: json!({"max_turns": 0}),
            turns: json!({}),
            decides: &[1, 2, 3, 4, 5],
            held: &[0; 6],
        },
        Case {
            name: "tokens",
            batch: json!({"min_reclaimed_tokens": 24}),
            turns: json!({}),
            decides: &[3],
            held: &[0, 1, 2, 0, 1, 2],
        },
        Case {
            name: "idle",
            batch: json!({"when_idle_ms": 1000}),
            turns: json!({"0": {"now": 0}, "1": {"now": 10}, "2": {"now": 900}, "3": {"now": 1900}, "4": {"now": 2000}}),
            decides: &[3],
            held: &[0, 1, 2, 0, 1, 2],
        },
    ] {
        let mut told = Told::new();
        let mut found = (Vec::new(), Vec::new());
        for turn in 0..6_usize {
            // Ten steps: the repair of what failed at the end of the turn before, and another failure at the end.
            told.append(&messages[(20 * turn).saturating_sub(11)..20 * turn + 9]);
            let mut fields = case.turns.get(turn.to_string()).cloned().unwrap_or(json!({}));
            fields["batch"] = case.batch.clone();
            let turn_ = told.turn(&options(&json!("clean_tool_repair")), &turn_options(&fields));
            if !turn_.event["metadata"]["session"]["decisions"].as_array().unwrap().is_empty() {
                found.0.push(turn);
            }
            assert_eq!(turn_.pending.indices.len(), 2 * turn_.pending.count, "{}", case.name);
            assert_eq!(turn_.pending.reclaimed_tokens > 0, turn_.pending.count > 0, "{}", case.name);
            found.1.push(turn_.pending.count);
        }
        assert_eq!(found, (case.decides.to_vec(), case.held.to_vec()), "{}", case.name);
    }
}

#[test]
fn the_cache_report_says_what_a_change_costs() {
    let text = |length: usize| "x".repeat(length);
    let call = |id: &str| {
        json!({"role": "assistant", "content": null, "tool_calls":
        [{"id": id, "type": "function", "function": {"name": "run", "arguments": "{}"}}]})
    };
    let messages = [
        json!({"role": "user", "content": text(4000)}),
        call("a"),
        json!({"role": "tool", "tool_call_id": "a", "content": text(1998), "is_error": true}),
        json!({"role": "assistant", "content": text(8000)}),
        json!({"role": "user", "content": "go on"}),
        call("b"),
        json!({"role": "tool", "tool_call_id": "b", "content": "fine"}),
        json!({"role": "assistant", "content": "done"}),
    ];
    let mut told = Told::new();
    let clean = options(&json!("clean_tool_repair"));
    told.append(&messages[..4]);
    let first = told.turn(&clean, &TurnOptions::default());
    assert_eq!(
        first.cache.to_json(),
        json!({"stable_prefix_count": 0, "rewritten_tokens": 0, "reclaimed_tokens": 0, "break_even_requests": null})
    );
    let again = told.turn(&clean, &TurnOptions::default());
    assert_eq!(again.cache.stable_prefix_count, 4);
    assert_eq!(again.cache.break_even_requests, None);
    told.append(&messages[4..]);
    // 2,000 tokens written again instead of 2,500 read: 2,500 - 250; each further request reads 500 less.
    let third = told.turn(&clean, &TurnOptions::default());
    assert_eq!(
        third.cache.to_json(),
        json!({"stable_prefix_count": 1, "rewritten_tokens": 2000, "reclaimed_tokens": 500, "break_even_requests": 45})
    );
}

/// One that counts its messages is another with each that it takes.
#[test]
fn a_summary_that_says_the_same_stays_in_the_cache() {
    let messages: Vec<Value> =
        (0..8).map(|index| json!({"role": "user", "content": format!("message {index}")})).collect();
    for (summary, stable) in [(Some("All went well."), 1), (None, 0)] {
        let options = options(&json!({"policy": "summary_prefix", "keep_last": 2, "summary": summary}));
        let mut told = Told::new();
        told.append(&messages[..5]);
        told.turn(&options, &TurnOptions::default());
        told.append(&messages[5..]);
        let turn = told.turn(&options, &TurnOptions::default());
        assert_eq!((turn.cache.stable_prefix_count, turn.from), (stable, stable), "{summary:?}");
        assert_eq!(told.shown, *told.last()["messages"].as_array().expect("a list"), "{summary:?}");
    }
}

#[test]
fn what_answers_a_hidden_call_goes_with_it() {
    let call = |id: &str| {
        json!({"role": "assistant", "content": null, "tool_calls":
        [{"id": id, "type": "function", "function": {"name": "run", "arguments": "{}"}}]})
    };
    let result = |id: &str, content: &str| json!({"role": "tool", "tool_call_id": id, "content": content});
    let messages = [
        json!({"role": "user", "content": "go"}),
        call("a"),
        result("a", "Error: no"),
        call("b"),
        result("b", "fine"),
        json!({"role": "assistant", "content": "done"}),
        result("a", "late, and fine"),
        json!({"role": "user", "content": "thanks"}),
    ];
    let mut told = Told::new();
    told.append(&messages[..6]);
    told.turn(&options(&json!("clean_tool_repair")), &TurnOptions::default());
    assert_eq!(told.last()["dropped_indices"], json!([1, 2]));
    told.append(&messages[6..]);
    told.turn(&options(&json!("clean_tool_repair")), &TurnOptions::default());
    assert_eq!(told.last()["dropped_indices"], json!([1, 2, 6]));
}

#[test]
fn signatures_hold_new_decisions_up_and_leave_settled_ones() {
    let talk = json!([
        ["user", "go"],
        ["calls", {}, ["a", "run", {}]], ["results", ["a", "Error: no"]],
        ["calls", {}, ["b", "run", {}]], ["results", ["b", "fine"]],
        ["calls", {"signed": "c2ln"}, ["c", "run", {}]], ["results", ["c", "Error: no"]],
        ["calls", {}, ["d", "run", {}]], ["results", ["d", "fine"]],
        ["assistant", "done"], ["user", "thanks"],
    ]);
    let messages = tell(&talk, Shape::Anthropic);
    let messages = messages.as_array().expect("a list");
    let mut told = Told::new();
    let clean = options(&json!("clean_tool_repair"));
    told.append(&messages[..6]);
    told.turn(&clean, &TurnOptions::default());
    assert_eq!(told.last()["dropped_indices"], json!([1, 2]));
    told.append(&messages[6..]);
    told.turn(&clean, &TurnOptions::default());
    assert_eq!(told.last()["dropped_indices"], json!([1, 2]));
    assert_eq!(told.last()["provider_safety_blocked"], true);
    assert_eq!(told.last()["reason"], "clean_tool_repair (blocked: signed reasoning at index 5)");
    told.turn(
        &options(&json!({"policy": "clean_tool_repair", "respect_provider_signatures": false})),
        &TurnOptions::default(),
    );
    assert_eq!(told.last()["dropped_indices"], json!([1, 2, 5, 6]));
}

/// Else what is due would be as new when the turn comes that may take it.
#[test]
fn decisions_that_signatures_hold_up_wait_with_the_batch() {
    let talk = json!([
        ["user", "go"],
        ["calls", {}, ["a", "run", {}]], ["results", ["a", "Error: no"]],
        ["calls", {}, ["b", "run", {}]], ["results", ["b", "fine"]],
        ["calls", {"signed": "c2ln"}, ["c", "run", {}]], ["results", ["c", "fine"]],
        ["calls", {"signed": "c2ln"}, ["d", "run", {}]], ["results", ["d", "fine"]],
        ["assistant", "done"], ["user", "thanks"],
    ]);
    let messages = tell(&talk, Shape::Anthropic);
    let messages = messages.as_array().expect("a list");
    let strip = options(&json!({"policy": "clean_tool_repair", "on_signature_conflict": "strip_reasoning",
        "signature_scope": "prefix"}));
    let batch = turn_options(&json!({"batch": {"max_turns": 2}}));
    let mut told = Told::new();
    let mut seen = Vec::new();
    for range in [0..3, 3..7, 7..9, 9..11] {
        told.append(&messages[range]);
        let turn = told.turn(&strip, &batch);
        seen.push((turn.report.provider_safety_blocked, turn.pending.count, turn.pending.turns));
    }
    assert_eq!(seen, [(false, 0, 0), (true, 1, 1), (true, 1, 2), (false, 0, 0)]);
    assert_eq!(told.last()["dropped_indices"], json!([1, 2]));
}

/// A projector sees all messages each time and decides for one turn; what was settled stays for the others.
#[test]
fn custom_turns_are_not_sticky() {
    let messages = long_session(10);
    let mut told = Told::new();
    told.append(&messages);
    told.turn(&options(&json!("clean_tool_repair")), &TurnOptions::default());
    let before = told.last()["messages"].clone();
    fn first_three<'a>(all: &[&'a Value]) -> Result<CustomView<&'a Value>, ProjectionError> {
        Ok(CustomView::of(all.iter().take(3).map(|message| Patched::Source(*message)).collect()))
    }
    let mut projector = first_three;
    let callbacks = Callbacks { is_error: None, projector: Some(&mut projector) };
    let options_ = options(&json!({"policy": "custom", "projector": null}));
    let turn = told.session.project_turn(&options_, &TurnOptions::default(), callbacks).expect("a turn");
    let view = view_value(&told.session.view(&turn));
    assert_eq!(view["kept_indices"], json!([0, 1, 2]));
    assert_eq!(turn.cache.stable_prefix_count, 3);
    assert_eq!(turn.event["metadata"]["session"]["turn"], 2);
    told.turn(&options(&json!("clean_tool_repair")), &TurnOptions::default());
    assert_eq!(told.last()["messages"], before);
    assert_eq!(told.last()["event"]["metadata"]["session"]["cache"]["stable_prefix_count"], 3);
}

#[test]
fn the_scratchpad_is_root_and_write_barrier() {
    let mut messages = vec![json!({"role": "user", "content": "read them"})];
    for (id, path) in [("a", "src/a.rs"), ("b", "src/b.rs")] {
        messages.push(json!({"role": "assistant", "content": null, "tool_calls":
            [{"id": id, "type": "function", "function": {"name": "read", "arguments": json!({"path": path}).to_string()}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": "plain words ".repeat(60)}));
    }
    messages.push(json!({"role": "assistant", "content": "read"}));
    messages.push(json!({"role": "user", "content": "well?"}));
    let set = options(&json!({"policy": "reachability_gc", "root_window": 1, "require_write_barrier": true}));
    let mut told = Told::new();
    told.append(&messages);
    told.turn(&set, &TurnOptions::default());
    assert_eq!(told.last()["reason"], "reachability_gc_write_barrier_missing");
    assert_eq!(told.last()["redacted_indices"], json!([]));
    told.session.set_scratchpad(Some((json!({"open": ["src/b.rs"]}), "7".to_owned())));
    told.turn(&set, &TurnOptions::default());
    assert_eq!(told.last()["redacted_indices"], json!([2]));
    let recorded = &told.last()["event"]["metadata"]["options"];
    assert_eq!(recorded["scratchpad"], json!({"open": ["src/b.rs"]}));
    assert_eq!(recorded["write_barrier_refs"], json!(["scratchpad:7"]));
    told.session.set_scratchpad(Some((json!({"open": []}), "8".to_owned())));
    told.turn(&set, &TurnOptions::default());
    assert_eq!(told.last()["redacted_indices"], json!([2, 4]));
}

#[test]
fn decisions_on_what_a_compaction_leaves_stay() {
    let messages = long_session(40);
    for policy in ["clean_tool_repair", "reachability_gc", "summary_prefix"] {
        let set = options(&json!({"policy": policy, "keep_last": 10, "root_window": 4}));
        let mut told = Told::new();
        told.append(&messages[..61]);
        told.turn(&set, &TurnOptions::default());
        let before = told.last().clone();
        let compaction = told.session.plan_compaction(&Triggers::keeping(40), true, None).expect("a compaction");
        let (start, end) = (compaction.replaced.start, compaction.replaced.end);
        let summary: &'static Value = Box::leak(Box::new(compaction.summary));
        told.session.compact(start..end, summary).expect("a summary");
        let turn = told.turn(&set, &TurnOptions::default());
        let after = told.last();
        assert_eq!(turn.cache.stable_prefix_count, start, "{policy}");
        let list: Vec<&Value> = told.session.messages().to_vec();
        assert_eq!(list.len(), 61 - (end - start) + 1);
        for field in ["dropped_indices", "redacted_indices"] {
            let left =
                before[field].as_array().unwrap().iter().filter_map(Value::as_u64).filter(|at| *at >= end as u64);
            let moved: BTreeSet<String> = left.map(|at| (at + 1 - (end - start) as u64).to_string()).collect();
            assert!(moved.is_subset(&self::set(&after[field])), "{policy} {field} {moved:?} {}", after[field]);
        }
        assert_eq!(after["prefix_hash"], raw_hash(&after["messages"]), "{policy}");
        assert_eq!(after["messages"], json!(told.shown), "{policy}");
        if policy == "summary_prefix" {
            // In the order of what they stand for.
            let policies = [0, 1].map(|at| &after["messages"][start + at]["_harn_projection"]["policy"]);
            assert_eq!(policies, ["compact", "summary_prefix"]);
        }
        for pointer in after["redaction_pointers"].as_array().unwrap() {
            let transcript = Transcript { messages: list.clone(), summary: None, verdicts: Vec::new() };
            assert!(transcript_projection::recover_redacted(&transcript, &pointer).unwrap().verified, "{pointer}");
        }
        told.append(&messages[61..]);
        told.turn(&set, &TurnOptions::default());
        assert_eq!(told.last()["prefix_hash"], raw_hash(&told.last()["messages"]), "{policy}");
    }
}

#[test]
fn a_compaction_changes_a_custom_view_from_its_summary_on() {
    let messages = long_session(8);
    fn everything<'a>(all: &[&'a Value]) -> Result<CustomView<&'a Value>, ProjectionError> {
        Ok(CustomView::of(all.iter().map(|message| Patched::Source(*message)).collect()))
    }
    let mut all = everything;
    let custom = json!({"policy": "custom", "projector": null});
    for before in ["custom", "raw"] {
        let mut session = empty();
        session.append(messages.iter().collect()).unwrap();
        let callbacks = Callbacks { is_error: None, projector: Some(&mut all) };
        session
            .project_turn(&options(&json!({"policy": before, "projector": null})), &TurnOptions::default(), callbacks)
            .unwrap();
        let compaction = session.plan_compaction(&Triggers::keeping(4), true, None).expect("a compaction");
        let summary: &'static Value = Box::leak(Box::new(compaction.summary));
        let start = compaction.replaced.start;
        session.compact(compaction.replaced, summary).unwrap();
        let callbacks = Callbacks { is_error: None, projector: Some(&mut all) };
        let turn = session.project_turn(&options(&custom), &TurnOptions::default(), callbacks).unwrap();
        assert_eq!(turn.cache.stable_prefix_count, start, "{before}");
    }
}

#[test]
fn a_compaction_of_messages_that_are_not_there_is_an_error() {
    let messages = long_session(2);
    for (start, end) in [(0, usize::MAX), (3, 2), (usize::MAX, usize::MAX), (0, messages.len() + 1)] {
        let mut session = empty();
        session.append(messages.iter().collect()).unwrap();
        let error = session.compact(start..end, &messages[0]).unwrap_err();
        assert_eq!(error.code().as_str(), "invalid_option", "{start}..{end}");
        assert_eq!(session.messages().len(), messages.len());
    }
}

/// Case 100 of the bug reports: a window that slides rewrites nothing that it has rewritten before.
#[test]
fn case_100_a_pointer_stays_byte_for_byte() {
    let case = common::read_fixture("session-cases.json");
    let messages = case["case-100"]["messages"].as_array().expect("messages");
    let set = options(&json!({"policy": "reachability_gc", "root_window": 1, "min_chars": 20}));
    let more = [json!({"role": "assistant", "content": "ok"}), json!({"role": "user", "content": "still unrelated"})];
    let mut told = Told::new();
    told.append(messages);
    for turn in 0..3 {
        if turn > 0 {
            told.append(&more);
        }
        told.turn(&set, &TurnOptions::default());
        assert_eq!(told.last()["redacted_indices"], json!([2]));
        let messages = |view: usize| told.views[view].1["messages"].as_array().unwrap()[..4].to_vec();
        assert_eq!(messages(turn), messages(0));
    }
}

/// Case 102: what stays of a message keeps its arguments byte for byte, and messages that stay are the caller's own.
#[test]
fn case_102_arguments_stay_byte_for_byte() {
    let case = common::read_fixture("session-cases.json");
    let messages = case["case-102"]["messages"].as_array().expect("messages");
    let mut told = Told::new();
    for message in messages.chunks(1) {
        told.append(message);
        told.turn(&options(&json!("clean_tool_repair")), &TurnOptions::default());
    }
    let view = told.last();
    assert_eq!(view["trimmed_indices"], json!([1]));
    assert_eq!(view["dropped_indices"], json!([3]));
    let arguments = &view["messages"][1]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(arguments, &messages[1]["tool_calls"][0]["function"]["arguments"]);
    for shown in &told.views.last().unwrap().0.messages {
        if let transcript_projection::Shown::Kept { source, message } = shown {
            assert!(std::ptr::eq(*message, &messages[*source]));
        }
    }
}
