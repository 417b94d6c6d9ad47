//! Sessions for JavaScript: a turn goes back as what changed, so that it costs what is new. The lists are put together
//! on the other side.

use std::rc::Rc;

use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

use crate::canonical::{canonical_text, canonical_value, sha256};
use crate::compaction::Triggers;
use crate::node::{Kind, Node, to_value};
use crate::options::{Options, material, positive_number};
use crate::plan::{HiddenCall, Pointer, Shown};
use crate::projection::{Transcript, too_deep};
use crate::report::Verdict;
use crate::session::{News, Session, Turn, TurnOptions};
use crate::value::{indices, list as json_list, object as json_object};

use super::callbacks::CallerFunctions;
use super::convert::{
    added_messages, js_error, json_to_js, list, object, options_of, record_to_js, shown_to_js, transcript_of,
};
use super::host;
use super::node::JsNode;

/// A session in the engine.
#[wasm_bindgen]
pub struct SessionHandle {
    session: Session<JsNode<'static>>,
    /// The options that were last given to be kept.
    kept: Rc<Prepared>,
}

/// Options, read.
#[derive(Default)]
struct Prepared {
    options: Options,
    functions: CallerFunctions,
}

#[wasm_bindgen]
impl SessionHandle {
    /// A session without messages yet; `outcomes`: what is known of the results of those that come first.
    pub fn open(id: &str, summary: Option<String>, outcomes: Option<String>) -> Result<SessionHandle, JsValue> {
        let verdicts = outcomes.map(|outcomes| Verdict::list_of_json(&outcomes)).unwrap_or_default();
        let session = Session::new(id, Transcript { messages: Vec::new(), summary, verdicts }).map_err(js_error)?;
        Ok(SessionHandle { session, kept: Rc::default() })
    }

    /// Adds messages at the end.
    pub fn append(&mut self, messages: JsValue) -> Result<(), JsValue> {
        self.session.append(added_messages(&messages)?).map_err(js_error)
    }

    /// Projects. Without options it takes those that were last given to be kept. `turn` are the options beside those of
    /// the policy, `clock` is the time unless they name another.
    pub fn turn(&mut self, options: JsValue, keeps: bool, turn: JsValue, clock: f64) -> Result<JsValue, JsValue> {
        let prepared = if options.is_undefined() {
            self.kept.clone()
        } else {
            Rc::new(Prepared { options: options_of(&options)?, functions: CallerFunctions::of(&options)? })
        };
        let turn = (!turn.is_undefined()).then_some(JsNode::Live(turn));
        let mut turn = TurnOptions::parse(turn.as_ref()).map_err(js_error)?;
        turn.now = turn.now.or(Some(clock));
        if keeps {
            self.kept = prepared.clone();
        }
        let Prepared { options, functions } = &*prepared;
        // A projector sees the messages while the session is at work, so it gets a list of its own.
        let needed = if functions.has_projector() { self.session.messages() } else { &[] };
        let messages = needed.to_vec();
        let done = functions.run(&messages, |callbacks| self.session.project_turn(options, &turn, callbacks))?;
        turn_to_js(done)
    }

    /// Does a turn once more that an event recorded.
    pub fn resume(&mut self, event: JsValue) -> Result<JsValue, JsValue> {
        let functions = CallerFunctions::default();
        let done = functions.run(&[], |callbacks| self.session.resume(&JsNode::Live(event), callbacks))?;
        turn_to_js(done)
    }

    /// The working memory, with a name for its state; without one there is none.
    #[wasm_bindgen(js_name = setScratchpad)]
    pub fn set_scratchpad(&mut self, value: JsValue, version: Option<String>) -> Result<(), JsValue> {
        let value = material("value", &JsNode::Live(value)).map_err(js_error)?;
        self.session.set_scratchpad(version.map(|version| (value, version)));
        Ok(())
    }

    /// When the last turn was.
    #[wasm_bindgen(js_name = setLastTime)]
    pub fn set_last_time(&mut self, time: Option<f64>) {
        self.session.set_last_time(time);
    }

    /// `{start, end, summary}`: what a compaction would put in place of which messages; `undefined` for nothing.
    #[wasm_bindgen(js_name = planCompaction)]
    pub fn plan_compaction(&self, options: JsValue, tokens: Option<f64>) -> Result<JsValue, JsValue> {
        let options = JsNode::Live(options);
        let (triggers, always) = if options.kind() == Kind::Number {
            (Triggers::keeping(positive_number("keep_last", &options).map_err(js_error)?), true)
        } else {
            let triggers = Triggers::parse(Some(&options)).map_err(js_error)?;
            (triggers, triggers.every.is_none() && triggers.token_budget.is_none())
        };
        let compaction = self.session.plan_compaction(&triggers, always, tokens.map(|tokens| tokens as usize));
        let Some(compaction) = compaction else { return Ok(JsValue::UNDEFINED) };
        Ok(object(&[
            ("start", compaction.replaced.start.into()),
            ("end", compaction.replaced.end.into()),
            ("summary", json_to_js(&compaction.summary)?),
        ]))
    }

    /// Puts `summary` in place of the messages from `start` to `end`.
    pub fn compact(&mut self, start: usize, end: usize, summary: JsValue) -> Result<(), JsValue> {
        self.session.compact(start..end, JsNode::Live(summary)).map_err(js_error)
    }

    /// The event of the compaction that was just done.
    #[wasm_bindgen(js_name = compactionEvent)]
    pub fn compaction_event(&mut self, facts: JsValue, archived: usize) -> Result<JsValue, JsValue> {
        let facts = match to_value(&JsNode::Live(facts)) {
            Some(Value::Object(facts)) => facts,
            _ => Map::new(),
        };
        json_to_js(&self.session.compaction_event(facts, archived))
    }

    /// Goes on behind an event that was made before.
    #[wasm_bindgen(js_name = setLastEvent)]
    pub fn set_last_event(&mut self, id: Option<String>) {
        self.session.set_last_event(id);
    }

    /// How much the session has worked so far.
    pub fn work(&self) -> JsValue {
        let work = self.session.work();
        object(&[
            ("messages_read", work.messages_read.into()),
            ("bytes_hashed", work.bytes_hashed.into()),
            ("bodies_fetched", work.bodies_fetched.into()),
        ])
    }
}

/// The SHA-256 of each message's canonical JSON.
#[wasm_bindgen(js_name = messageHashes)]
pub fn message_hashes(messages: JsValue) -> Result<JsValue, JsValue> {
    let messages = transcript_of(messages)?.messages;
    list(messages.iter().enumerate().map(|(index, message)| {
        let text = canonical_text(message).map_err(|_| js_error(too_deep(index)))?;
        Ok(JsValue::from_str(&sha256(text.as_bytes())))
    }))
}

/// Where the view begins to differ from the one before, the messages from there on (a number is a message of the
/// source), what became of messages, the event, and what was found anew of what an event records.
fn turn_to_js(turn: Turn<JsNode<'static>>) -> Result<JsValue, JsValue> {
    let tail = host::new_list();
    for shown in &turn.tail {
        let item = match shown {
            Shown::Kept { source, .. } => JsValue::from(*source),
            shown => shown_to_js(shown)?,
        };
        host::push(&tail, &item);
    }
    let News { dropped, trimmed, redacted, pointers, hidden_calls, stripped, invalidated } = &turn.news;
    let lists = [
        ("dropped", indices(dropped)),
        ("trimmed", indices(trimmed)),
        ("redacted", indices(redacted)),
        ("pointers", json_list(pointers, Pointer::to_json)),
        ("hidden_calls", json_list(hidden_calls, HiddenCall::to_json)),
        ("stripped", indices(stripped)),
        ("invalidated", indices(invalidated)),
    ];
    // In most turns there is no news.
    let mut news = Map::new();
    for (name, list) in lists {
        if list.as_array().is_some_and(|list| !list.is_empty()) {
            news.insert(name.to_owned(), list);
        }
    }
    let news = Value::Object(news);
    let told = json_object([
        ("from", turn.from.into()),
        ("is_fresh", turn.is_fresh.into()),
        ("news", news),
        ("lone_surrogates", indices(&turn.report.lone_surrogate_indices)),
        ("prefix_hash", turn.report.prefix_hash.into()),
        ("source_hash", turn.report.source_hash.into()),
        ("kept_count", turn.report.kept_count.into()),
    ]);
    // The event is written already.
    let mut text = canonical_value(&told);
    text.pop();
    text.push_str(",\"event\":");
    text.push_str(&turn.event_text);
    text.push('}');
    let js = host::parse_json(&text)?;
    host::define(&js, "tail", &tail);
    if let Some(custom) = &turn.custom {
        let messages = list(custom.messages.iter().map(shown_to_js))?;
        host::define(&js, "custom", &record_to_js(custom, messages)?);
    }
    Ok(js)
}
