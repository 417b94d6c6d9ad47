//! What other tools got wrong, as small cases. Each row of a fixture is one: a talk (see `common/talk.rs`) told in
//! every wire shape, options, and what must be true of the view. `source` names the public report that the facts are
//! from; rows without one are their neighbours.
//!
//! A row is `{id, source?, why, shapes?, loose?, talk, transcript?, options, is_error?, expect, expect_in?, again?}`:
//! - `shapes`: those that the talk is told in, all by default; `loose`: no provider takes the talk as a request
//! - `transcript`: further fields of the transcript; `is_error`: what the caller says of a call's result, by id
//! - `expect_in`: what is otherwise in a shape; `again`: further projections, of `append`ed or `reproject`ed messages
//!
//! Beside what a row says, every view must partition its source, and be a request where its source was one.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

mod common;

use serde_json::{Map, Value, json};
use transcript_projection::{
    Callbacks, CustomView, IsError, Options, Patched, ProjectionError, Projector, Provider, ResultInfo, Shown,
    Transcript, View, acp_update, project, provider_messages, recover_redacted,
};

use common::requests::refusals;
use common::talk::{Shape, tell};
use common::{read_fixture, view_value};

#[test]
fn calls_stay_with_their_results() {
    check_all("cases/pairing.json", 69);
}

#[test]
fn signed_reasoning_is_not_touched() {
    check_all("cases/signatures.json", 22);
}

#[test]
fn failures_are_told_from_successes() {
    check_all("cases/failures.json", 12);
}

#[test]
fn summaries_replace_the_prefix() {
    check_all("cases/summaries.json", 22);
}

#[test]
fn only_unreachable_bodies_are_reclaimed() {
    check_all("cases/reachability.json", 35);
}

#[test]
fn odd_transcripts_do_no_harm() {
    check_all("cases/edges.json", 13);
}

/// What tells a failure from a success: in each shape, the flags of a result and its body.
#[test]
fn flags_decide_before_texts() {
    let mut problems = Vec::new();
    for row in list(&read_fixture("cases/flags.json")) {
        for shape in Shape::ALL {
            let fields = row.get("fields").cloned().unwrap_or_else(|| json!({}));
            let talk = json!([
                ["user", "go"],
                ["call", "c1", "run", {}],
                ["result", "c1", row["body"], fields],
                ["assistant", "Hm."],
                ["user", "more"]
            ]);
            let source = json!({"messages": tell(&talk, shape)});
            let view = project_case(&source, &json!("squash_failed_calls"), &Value::Null).expect("a view");
            let has_failed = view.report.dropped_indices == [1, 2];
            if row["failed"] != has_failed {
                problems.push(format!("{} in {}: {fields} {}", row["why"], shape.name(), row["body"]));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

/// Whether a result is kept because of what the last message says of it.
fn is_kept(arguments: &Value, body: &str, root: &str, shape: Shape) -> bool {
    let talk = json!([
        ["user", "start"],
        ["call", "r1", "tool", arguments],
        ["result", "r1", body],
        ["assistant", "Done."],
        ["user", root]
    ]);
    let source = json!({"messages": tell(&talk, shape)});
    let options = json!({"policy": "reachability_gc", "root_window": 1, "min_chars": 1});
    project_case(&source, &options, &Value::Null).expect("a view").report.redacted_indices.is_empty()
}

#[test]
fn identifiers_compare_whole() {
    let mut problems = Vec::new();
    for row in list(&read_fixture("cases/identifiers.json")) {
        for shape in Shape::ALL {
            let body = row["body"].as_str().unwrap_or("plain words");
            if row["kept"] != is_kept(&row["arguments"], body, row["root"].as_str().expect("a root"), shape) {
                problems.push(format!("{row} in {}", shape.name()));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn every_spelling_names_the_same_file() {
    let unix = [
        "src/a.rs",
        "./src/a.rs",
        r"src\a.rs",
        "src/a.rs:42",
        "src/a.rs:42:7",
        "src//a.rs",
        "src/x/../a.rs",
        "/repo/src/a.rs",
        "/repo/src/a.rs:10-20",
        "file:///repo/src/a.rs",
        "file:///repo/src/a.rs#L10",
    ];
    let windows = [
        "src/a.rs",
        r"src\a.rs",
        r"C:\repo\src\a.rs",
        "c:/repo/src/a.rs",
        r"c:\repo\src\a.rs:42",
        "file:///C:/repo/src/a.rs",
    ];
    let wrappings = [("", ""), ("see ", " today"), ("(`", "`)"), ("\"", "\"."), ("in ", ", then stop"), ("-> ", ";")];
    let mut problems = Vec::new();
    for spellings in [&unix[..], &windows[..]] {
        for spelled in spellings {
            for named in spellings {
                for (before, behind) in wrappings {
                    let root = format!("{before}{named}{behind}");
                    if !is_kept(&json!({"path": spelled}), "plain words", &root, Shape::Openai) {
                        problems.push(format!("{root} does not name {spelled}"));
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

/// Checks every row of a fixture that holds at least so many.
fn check_all(fixture: &str, at_least: usize) {
    let cases = read_fixture(fixture);
    let cases = cases.as_array().expect("a list of cases");
    assert!(cases.len() >= at_least, "{fixture} holds {} cases only", cases.len());
    let mut problems = Vec::new();
    for case in cases {
        for shape in shapes_of(case) {
            let label = format!("{} in {}", case["id"].as_str().expect("an id"), shape.name());
            problems.extend(check_case(case, shape).into_iter().map(|problem| format!("{label}: {problem}")));
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

fn shapes_of(case: &Value) -> Vec<Shape> {
    let Some(names) = case["shapes"].as_array() else { return Shape::ALL.to_vec() };
    let named = |name: &Value| Shape::ALL.into_iter().find(|shape| name == shape.name()).expect("a shape");
    names.iter().map(named).collect()
}

fn check_case(case: &Value, shape: Shape) -> Vec<String> {
    let mut source = json!({"_type": "transcript", "messages": tell(&case["talk"], shape), "events": []});
    for (name, value) in case["transcript"].as_object().into_iter().flatten() {
        source[name] = value.clone();
    }
    let mut problems = Vec::new();
    let told = source["messages"].as_array().expect("messages");
    let refused = refusals(told, shape);
    if case["loose"] != true && !refused.is_empty() {
        problems.push(format!("the talk is no request: {refused:?}"));
    }
    let mut view = check_view(&source, case, case, shape, &mut problems);
    for (round, again) in case["again"].as_array().into_iter().flatten().enumerate() {
        let mut problems_again = Vec::new();
        if again["reproject"] == true {
            source["messages"] = view["messages"].clone();
        }
        let messages = source["messages"].as_array_mut().expect("messages");
        messages.extend(again.get("append").map(|talk| tell(talk, shape)).iter().flat_map(list));
        let first = view;
        view = check_view(&source, again, case, shape, &mut problems_again);
        if let Some(count) = again["stable_prefix"].as_u64() {
            let prefix = |view: &Value| list(&view["messages"]).take(count as usize).collect::<Vec<_>>();
            if prefix(&first) != prefix(&view) {
                problems_again.push(format!("the first {count} messages of the view changed"));
            }
        }
        problems.extend(problems_again.into_iter().map(|problem| format!("again {}: {problem}", round + 1)));
    }
    problems
}

fn list(value: &Value) -> impl Iterator<Item = Value> + use<> {
    value.as_array().cloned().unwrap_or_default().into_iter()
}

/// Projects with the step's options, else with the case's, and gives the view.
fn check_view(source: &Value, step: &Value, case: &Value, shape: Shape, problems: &mut Vec<String>) -> Value {
    let mut expect = step["expect"].as_object().cloned().unwrap_or_default();
    expect.extend(step["expect_in"][shape.name()].as_object().cloned().unwrap_or_default());
    let options = step.get("options").unwrap_or(&case["options"]);
    let verdicts = step.get("is_error").unwrap_or(&case["is_error"]);
    match project_case(source, options, verdicts) {
        Ok(view) => {
            let value = view_value(&view);
            problems.extend(always_true(source, &view, &value, shape));
            problems.extend(differences(&expect, &value));
            value
        }
        Err(error) => {
            let found = json!({"code": error.code().as_str(), "path": error.path()});
            if expect.get("error") != Some(&found) {
                problems.push(format!("{error} ({found})"));
            }
            Value::Null
        }
    }
}

fn project_case<'a>(source: &'a Value, options: &Value, verdicts: &Value) -> Result<View<&'a Value>, ProjectionError> {
    let transcript = Transcript::of(&source)?;
    let options = Options::parse(Some(&options))?;
    let mut by_id =
        |info: &ResultInfo<&Value>| Ok(verdicts[info.tool_call_id.as_deref().unwrap_or_default()].as_bool());
    let is_error: IsError<'_, &Value> = &mut by_id;
    let is_error = verdicts.is_object().then_some(is_error);
    project(&transcript, &options, Callbacks { is_error, projector: None })
}

/// What must be true of every view of a built-in policy.
fn always_true(original: &Value, view: &View<&Value>, value: &Value, shape: Shape) -> Vec<String> {
    let mut problems = Vec::new();
    let source = original["messages"].as_array().expect("messages");
    let report = &view.report;
    let mut indices = [report.kept_indices.clone(), report.dropped_indices.clone()].concat();
    indices.sort_unstable();
    if indices != (0..source.len()).collect::<Vec<_>>() {
        problems.push("kept and dropped do not partition the source".to_owned());
    }
    let same = view.messages.iter().filter(|shown| matches!(shown, Shown::Kept { .. })).count();
    if same + report.trimmed_indices.len() + report.redacted_indices.len() != report.kept_count {
        problems.push("a kept message is a copy".to_owned());
    }
    for pointer in &report.redaction_pointers {
        let message = &source[pointer.source_index];
        let carrier = pointer.source_block_index.map_or(message, |block| &message["content"][block]);
        let recovered = recover_redacted(&Transcript::of(&original).expect("a transcript"), &&pointer.to_json());
        if !recovered.is_ok_and(|recovered| recovered.verified && *recovered.content == carrier["content"]) {
            problems.push(format!("{} does not lead back to the body", pointer.source));
        }
    }
    if refusals(source, shape).is_empty() {
        problems.extend(refusals(&sent(value, shape), shape).iter().map(|refusal| format!("refused: {refusal}")));
    }
    problems
}

/// The messages of a view as a request holds them.
fn sent(view: &Value, shape: Shape) -> Vec<Value> {
    let messages: Vec<&Value> = view["messages"].as_array().expect("messages").iter().collect();
    let provider = (shape == Shape::Anthropic).then_some(Provider::Anthropic);
    provider_messages(&messages, provider).iter().map(|message| message.to_value().unwrap()).collect()
}

fn differences(expect: &Map<String, Value>, view: &Value) -> Vec<String> {
    let differs = |(field, expected): (&String, &Value)| {
        let found = match field.as_str() {
            "at" => fields_at(expected, &view["messages"]),
            "pointers" => partly(expected, &view["redaction_pointers"]),
            "roles" => list(&view["messages"]).map(|message| message["role"].clone()).collect(),
            "hidden_ids" => list(&view["hidden_calls"]).map(|call| call["tool_call_id"].clone()).collect(),
            "must_not_contain" => absent(expected, view),
            "violations" => list(&view["violations"]).map(|found| json!([found["rule"], found["index"]])).collect(),
            name => view.get(name).unwrap_or_else(|| panic!("a view has no {name}")).clone(),
        };
        (*expected != found).then(|| format!("{field} should be {expected}, is {found}"))
    };
    expect.iter().filter_map(differs).collect()
}

/// Of each object in a list, the fields that are expected of it.
fn partly(expected: &Value, found: &Value) -> Value {
    let some_fields = |(index, object): (usize, Value)| match expected[index].as_object() {
        Some(fields) => fields.keys().map(|name| (name.clone(), object[name].clone())).collect::<Map<_, _>>().into(),
        None => object,
    };
    list(found).enumerate().map(some_fields).collect()
}

/// Of the messages at the expected positions, the fields that are expected of them.
fn fields_at(expected: &Value, messages: &Value) -> Value {
    let at = |(position, fields): (&String, &Value)| {
        let message = &messages[position.parse::<usize>().expect("a position")];
        (position.clone(), partly(&json!([fields]), &json!([message]))[0].clone())
    };
    expected.as_object().expect("positions").iter().map(at).collect::<Map<_, _>>().into()
}

/// Those of the texts that are found neither in the view nor in what is told of it.
fn absent(texts: &Value, view: &Value) -> Value {
    let told = format!("{view}{}", acp_update("s", &view).expect("an update"));
    list(texts).filter(|text| !told.contains(text.as_str().expect("a text"))).collect()
}

type Custom = for<'a> fn(&[&'a Value]) -> CustomView<&'a Value>;

fn chosen<'a>(messages: &[&'a Value], indices: &[usize]) -> CustomView<&'a Value> {
    CustomView::of(indices.iter().map(|index| Patched::Source(messages[*index])).collect())
}

/// A message of its own with the same content.
fn copy(message: &Value) -> &'static Value {
    Box::leak(Box::new(message.clone()))
}

#[test]
fn custom_views_are_mapped_to_their_source() {
    let table: &[(&str, Custom, Value)] = &[
        (
            "everything is nothing changed",
            |m| chosen(m, &[0, 1, 2, 3, 4]),
            json!({"kept_indices": [0, 1, 2, 3, 4], "dropped_indices": [], "first_changed_index": null, "violations": [],
                "reason": "custom", "reclaimed_chars": 0}),
        ),
        (
            "what is left out is dropped",
            |m| chosen(m, &[0, 3]),
            json!({"kept_indices": [0, 3], "dropped_indices": [1, 2, 4], "first_changed_index": 1, "violations": []}),
        ),
        (
            "nothing at all",
            |_| CustomView::of(Vec::new()),
            json!({"kept_indices": [], "dropped_indices": [0, 1, 2, 3, 4], "first_changed_index": 0, "violations": [["empty_list", 0]]}),
        ),
        (
            "equal messages are told apart by identity",
            |m| chosen(m, &[4]),
            json!({"kept_indices": [4], "dropped_indices": [0, 1, 2, 3]}),
        ),
        (
            "a copy is the first equal message",
            |m| CustomView::of(vec![Patched::Source(copy(m[4]))]),
            json!({"kept_indices": [0], "dropped_indices": [1, 2, 3, 4], "first_changed_index": 1}),
        ),
        (
            "two copies are the first two",
            |m| CustomView::of(vec![Patched::Source(copy(m[4])), Patched::Source(copy(m[4]))]),
            json!({"kept_indices": [0, 4], "dropped_indices": [1, 2, 3]}),
        ),
        (
            "a copy does not claim what identity has claimed",
            |m| CustomView::of(vec![Patched::Source(copy(m[4])), Patched::Source(m[0])]),
            json!({"kept_indices": [0, 4], "dropped_indices": [1, 2, 3]}),
        ),
        (
            "a message that is there twice is new the second time",
            |m| chosen(m, &[0, 3, 3]),
            json!({"kept_indices": [0, 3], "kept_count": 2, "dropped_indices": [1, 2, 4], "first_changed_index": 1}),
        ),
        (
            "in another order",
            |m| chosen(m, &[3, 0]),
            json!({"kept_indices": [0, 3], "dropped_indices": [1, 2, 4], "first_changed_index": 0}),
        ),
        (
            "a new message is nobody's",
            |m| {
                let mut view = chosen(m, &[0, 3]);
                view.messages.insert(1, Patched::New(json!({"role": "user", "content": "new"})));
                view
            },
            json!({"kept_indices": [0, 3], "dropped_indices": [1, 2, 4], "at": {"1": {"content": "new"}}}),
        ),
        (
            "explicit indices are believed",
            |m| CustomView { kept_indices: Some(vec![1, 4]), ..chosen(m, &[0, 3]) },
            json!({"kept_indices": [1, 4], "dropped_indices": [0, 2, 3]}),
        ),
        (
            "a changed message under an explicit index is kept",
            |m| {
                let changed = Patched::New(json!({"role": "user", "content": "shorter"}));
                let messages = vec![changed, Patched::Source(m[3])];
                CustomView { kept_indices: Some(vec![0, 3]), ..CustomView::of(messages) }
            },
            json!({"kept_indices": [0, 3], "dropped_indices": [1, 2, 4], "first_changed_index": 0}),
        ),
        (
            "dropped indices alone say the rest",
            |m| CustomView { dropped_indices: Some(vec![0, 2, 3]), ..chosen(m, &[0, 3]) },
            json!({"kept_indices": [1, 4], "dropped_indices": [0, 2, 3]}),
        ),
        (
            "explicit indices that are one too many are not believed",
            |m| CustomView { kept_indices: Some(vec![0, 1, 3]), ..chosen(m, &[0, 3]) },
            json!({"kept_indices": [0, 3]}),
        ),
        (
            "explicit indices in no order are not believed",
            |m| CustomView { kept_indices: Some(vec![4, 1]), ..chosen(m, &[0, 3]) },
            json!({"kept_indices": [0, 3]}),
        ),
        (
            "explicit indices that repeat are not believed",
            |m| CustomView { kept_indices: Some(vec![1, 1]), ..chosen(m, &[0, 3]) },
            json!({"kept_indices": [0, 3]}),
        ),
        (
            "explicit indices beyond the end are not believed",
            |m| CustomView { kept_indices: Some(vec![1, 5]), ..chosen(m, &[0, 3]) },
            json!({"kept_indices": [0, 3]}),
        ),
        (
            "dropped indices beyond the end are not believed",
            |m| CustomView { dropped_indices: Some(vec![0, 2, 7]), ..chosen(m, &[0, 3]) },
            json!({"kept_indices": [0, 3]}),
        ),
        (
            "the projector's reason is recorded",
            |m| CustomView { reason: Some("traceback_squashed".to_owned()), ..chosen(m, &[0]) },
            json!({"reason": "traceback_squashed"}),
        ),
        (
            "a call without its result is a violation",
            |m| chosen(m, &[0, 1, 3]),
            json!({"dropped_indices": [2, 4], "violations": [["unanswered_call", 1]]}),
        ),
        (
            "a result without its call is a violation",
            |m| chosen(m, &[0, 2, 3]),
            json!({"dropped_indices": [1, 4], "violations": [["orphan_result", 1]]}),
        ),
        (
            "a message that shows nothing is a violation",
            |m| {
                let mut view = chosen(m, &[0]);
                view.messages.push(Patched::New(json!({"role": "assistant", "content": " "})));
                view
            },
            json!({"violations": [["empty_message", 1]]}),
        ),
    ];
    let talk = json!([
        ["user", "go"],
        ["call", "c1", "run", {}],
        ["result", "c1", "ok"],
        ["assistant", "Ran."],
        ["user", "go"]
    ]);
    let mut problems = Vec::new();
    for shape in Shape::ALL {
        let source = json!({"messages": tell(&talk, shape)});
        for (name, projector, expect) in table {
            let value = custom(&source, &json!("custom"), *projector);
            let found = differences(expect.as_object().expect("expectations"), &value);
            problems.extend(found.iter().map(|problem| format!("{name} in {}: {problem}", shape.name())));
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

fn custom<'a>(source: &'a Value, options: &Value, projector: Custom) -> Value {
    let transcript = Transcript::of(&source).expect("a transcript");
    let options = Options::parse(Some(&options)).expect("options");
    let mut projector = |messages: &[&'a Value]| Ok(projector(messages));
    let projector: Projector<'_, &'a Value> = &mut projector;
    let view = project(&transcript, &options, Callbacks { is_error: None, projector: Some(projector) });
    view_value(&view.expect("a view"))
}

#[test]
fn custom_views_obey_the_options() {
    let talk = json!([["user", "q1"], ["assistant", "a1", {"signed": "s"}], ["user", "q2"]]);
    for shape in Shape::ALL {
        let source = json!({"messages": tell(&talk, shape)});
        let view = |options: Value, projector| custom(&source, &options, projector);
        let without_signed: Custom = |m| CustomView { reason: Some("its own".to_owned()), ..chosen(m, &[0, 2]) };
        let blocked = view(json!("custom"), without_signed);
        assert_eq!(blocked["reason"], "custom (blocked: signed reasoning at index 1)");
        assert_eq!((&blocked["provider_safety_blocked"], &blocked["dropped_indices"]), (&json!(true), &json!([])));
        let unguarded = view(json!({"policy": "custom", "respect_provider_signatures": false}), without_signed);
        assert_eq!((&unguarded["reason"], &unguarded["dropped_indices"]), (&json!("its own"), &json!([1])));
        let named =
            view(json!({"policy": "custom", "respect_provider_signatures": false, "reason": "mine"}), without_signed);
        assert_eq!(named["reason"], "mine", "the option comes before the projector");

        let without_first: Custom = |m| chosen(m, &[1, 2]);
        let reported = view(json!("custom"), without_first);
        assert_eq!(reported["invalidated_signature_indices"], json!([1]));
        let refused = view(json!({"policy": "custom", "signature_scope": "prefix"}), without_first);
        assert_eq!(refused["provider_safety_blocked"], true);
    }
}

/// An interrupted call that comes again under its old id.
#[test]
fn unanswered_calls_are_counted_one_by_one() {
    // NousResearch/hermes-agent#11722: the ids of calls and of results are equal sets, yet one call has no answer.
    let talk = json!([["user", "run it"], ["call", "b9", "run", {"c": "x"}], ["result", "b9", "ok"],
        ["call", "b9", "run", {"c": "x"}], ["user", "hello?"]]);
    for shape in Shape::ALL {
        let source = json!({"messages": tell(&talk, shape)});
        let view = custom(&source, &json!("custom"), |m| chosen(m, &[0, 1, 2, 3, 4]));
        let found = differences(json!({"violations": [["unanswered_call", 3]]}).as_object().expect("one"), &view);
        assert!(found.is_empty(), "{found:?}");
    }
}
