//! Generated sessions of agents: prompts, people, tool calls with results that come late, in another order, in one
//! message or two, or never; ids used again, signed reasoning, long bodies that later text may name.
//!
//! Each call and each of its results carries the same number, `n`, in fields that the engine does not know. So a test
//! knows what belongs together without pairing anything.

use std::collections::BTreeMap;
use std::fmt;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::talk::{Shape, tell};

/// A session, and what is true of it.
#[derive(Clone)]
pub struct Session {
    pub messages: Vec<Value>,
    /// The shape of all messages, if they have one.
    pub shape: Option<Shape>,
    /// Whether each call failed, by its number.
    pub failed: BTreeMap<u64, bool>,
    /// Each call's tool, by its number.
    pub tools: BTreeMap<u64, String>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "[")?;
        self.messages.iter().try_for_each(|message| writeln!(f, "  {message},"))?;
        write!(f, "]")
    }
}

/// The numbers of the calls in a message, in order.
pub fn calls_in(message: &Value) -> Vec<u64> {
    let in_list = list(message, "tool_calls").iter().map(|call| match &call["arguments"] {
        Value::Null => &call["function"]["arguments"],
        arguments => arguments,
    });
    let in_blocks = list(message, "content").iter().filter(|block| is_call(block)).map(|block| &block["input"]);
    let legacy = message.get("function_call").map(|call| &call["arguments"]);
    let number = |arguments: &Value| match arguments.as_str() {
        Some(text) => serde_json::from_str::<Value>(text).expect("arguments")["n"].as_u64().expect("a number"),
        None => arguments["n"].as_u64().expect("a number"),
    };
    in_list.chain(legacy).chain(in_blocks).map(number).collect()
}

/// The numbers of the calls that a message's results answer, in order, with the block of each.
pub fn results_in(message: &Value) -> Vec<(u64, Option<usize>)> {
    let is_result = |block: &Value| block["type"].as_str().is_some_and(|kind| kind.ends_with("tool_result"));
    let number = |carrier: &Value| carrier["n"].as_u64().expect("a number");
    let blocks = list(message, "content").iter().enumerate().filter(|(_, block)| is_result(block));
    let in_blocks = blocks.map(|(index, block)| (number(block), Some(index)));
    let whole = matches!(message["role"].as_str(), Some("tool" | "tool_result" | "function"));
    whole.then(|| (number(message), None)).into_iter().chain(in_blocks).collect()
}

/// Whether a message holds signed reasoning.
pub fn is_signed(message: &Value) -> bool {
    let signature = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let google = |value: &Value| signature(&value["extra_content"]["google"]["thought_signature"]);
    signature(&message["thinking_signature"])
        || google(message)
        || list(message, "tool_calls").iter().any(google)
        || list(message, "content").iter().any(|block| signature(&block["signature"]) || signature(&block["data"]))
}

/// Whether a message shows text of its own.
pub fn has_text(message: &Value) -> bool {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    is_text(&message["content"]) || list(message, "content").iter().any(|block| is_text(&block["text"]))
}

/// Whether a message is anything but empty or bare reasoning.
pub fn shows_something(message: &Value) -> bool {
    has_text(message) || !calls_in(message).is_empty() || !results_in(message).is_empty()
}

fn list<'a>(message: &'a Value, name: &str) -> &'a [Value] {
    message[name].as_array().map_or(&[], Vec::as_slice)
}

fn is_call(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("tool_use" | "server_tool_use" | "mcp_tool_use"))
}

#[derive(Clone, Debug)]
enum Step {
    User { named: Option<usize> },
    Assistant { named: Option<usize>, signature: Option<&'static str> },
    System,
    Turn(Turn),
}

#[derive(Clone, Debug)]
struct Turn {
    kind: Kind,
    calls: Vec<Call>,
    text: Option<&'static str>,
    /// An empty one stands for reasoning that nobody signed.
    signature: Option<&'static str>,
    /// How far the results are rotated against the calls.
    rotation: usize,
    arrival: Arrival,
    in_two_messages: bool,
    words_behind: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Plain,
    /// Parallel calls as neighbouring messages.
    Split,
    /// OpenAI's `function_call`; other shapes write a plain turn.
    Legacy,
    /// Anthropic's server tools; other shapes write a plain turn.
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Arrival {
    AtOnce,
    AfterUser,
    AfterNextTurn,
}

#[derive(Clone, Debug)]
struct Call {
    tool: usize,
    target: usize,
    reuses_id: bool,
    outcome: Outcome,
    named: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Outcome {
    Success,
    LongSuccess,
    PartsSuccess,
    SuccessThatReadsLikeAnError,
    FlaggedFailure,
    WordedFailure,
    StatusFailure,
    Interrupted,
    Repeated,
}

const TOOLS: [&str; 3] = ["run", "read", "grep"];
const TARGETS: [&str; 5] = ["src/a.rs", "src/b.rs", "docs/notes.md", "/repo/src/c.rs", "lib/deep/d.py"];
const FILLER: &str = "plain words of a long body that nobody may need again; ";

fn named_text(named: Option<usize>) -> String {
    named.map_or_else(|| "go on".to_owned(), |target| format!("now look at {} again", TARGETS[target]))
}

/// Any session. Most are as a provider would have it, some are not.
pub fn sessions() -> impl Strategy<Value = Session> {
    let shape = prop_oneof![3 => (0..3_usize).prop_map(|at| Some(Shape::ALL[at])), 1 => Just(None)];
    let orderly = prop_oneof![2 => Just(true), 1 => Just(false)];
    (shape, orderly, 0..3_usize, prop::collection::vec((steps(), 0..3_usize), 0..14)).prop_map(
        |(shape, orderly, prompts, steps)| {
            let mut teller = Teller::default();
            let prompts = ["system", "developer"].into_iter().take(prompts).map(|role| json!([role, "be brief"]));
            teller.say(prompts.collect(), shape.unwrap_or(Shape::Openai));
            teller.say(json!([["user", "the task"]]), shape.unwrap_or(Shape::Harn));
            for (step, own_shape) in steps {
                teller.step(step, shape.unwrap_or(Shape::ALL[own_shape]), orderly);
            }
            teller.deliver();
            let Teller { messages, failed, tools, .. } = teller;
            Session { messages, shape, failed, tools }
        },
    )
}

fn steps() -> impl Strategy<Value = Step> {
    let named = || prop::option::weighted(0.4, 0..TARGETS.len());
    prop_oneof![
        4 => named().prop_map(|named| Step::User { named }),
        3 => (named(), signatures()).prop_map(|(named, signature)| Step::Assistant { named, signature }),
        1 => Just(Step::System),
        12 => turns().prop_map(Step::Turn),
    ]
}

fn signatures() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![12 => Just(None), 2 => Just(Some("")), 1 => Just(Some("c2ln"))]
}

fn turns() -> impl Strategy<Value = Turn> {
    let kind =
        prop_oneof![8 => Just(Kind::Plain), 1 => Just(Kind::Split), 1 => Just(Kind::Legacy), 2 => Just(Kind::Server)];
    let text = prop_oneof![4 => Just(None), 1 => Just(Some("Let me try.")), 1 => Just(Some(" \n"))];
    let arrival =
        prop_oneof![10 => Just(Arrival::AtOnce), 1 => Just(Arrival::AfterUser), 1 => Just(Arrival::AfterNextTurn)];
    let calls = prop::collection::vec(calls(), 1..4);
    let flags = (prop::bool::weighted(0.1), prop::bool::weighted(0.15));
    (kind, calls, text, signatures(), 0..3_usize, arrival, flags).prop_map(
        |(kind, calls, text, signature, rotation, arrival, (in_two_messages, words_behind))| Turn {
            kind,
            calls,
            text,
            signature,
            rotation,
            arrival,
            in_two_messages,
            words_behind,
        },
    )
}

fn calls() -> impl Strategy<Value = Call> {
    use Outcome::*;
    let outcome = prop_oneof![
        3 => Just(Success), 3 => Just(LongSuccess), 1 => Just(PartsSuccess), 1 => Just(SuccessThatReadsLikeAnError),
        4 => Just(FlaggedFailure), 2 => Just(WordedFailure), 1 => Just(StatusFailure),
        1 => Just(Interrupted), 1 => Just(Repeated),
    ];
    let named = prop::option::weighted(0.2, 0..TARGETS.len());
    (0..TOOLS.len(), 0..TARGETS.len(), prop::bool::weighted(0.2), outcome, named)
        .prop_map(|(tool, target, reuses_id, outcome, named)| Call { tool, target, reuses_id, outcome, named })
}

/// Tells the steps, one after the other.
#[derive(Default)]
struct Teller {
    messages: Vec<Value>,
    failed: BTreeMap<u64, bool>,
    tools: BTreeMap<u64, String>,
    /// Results under way.
    pending: Vec<(Value, Shape)>,
}

impl Teller {
    fn say(&mut self, talk: Value, shape: Shape) {
        let Value::Array(told) = tell(&talk, shape) else { panic!("a talk is a list") };
        self.messages.extend(told);
    }

    /// What is under way arrives.
    fn deliver(&mut self) {
        for (results, shape) in std::mem::take(&mut self.pending) {
            self.say(json!([results]), shape);
        }
    }

    fn step(&mut self, step: Step, shape: Shape, orderly: bool) {
        match step {
            Step::User { named } => self.say(json!([["user", named_text(named)]]), shape),
            Step::Assistant { named, signature } => {
                let with = signature.map(|signature| json!({"signed": signature}));
                let step = [json!("assistant"), named_text(named).into()].into_iter().chain(with).collect();
                self.say(Value::Array(vec![step]), shape);
            }
            Step::System if orderly => {}
            Step::System => self.say(json!([["system", "the user is idle"]]), shape),
            Step::Turn(turn) => {
                let turn = if orderly { orderly_turn(turn) } else { turn };
                let under_way = std::mem::take(&mut self.pending);
                self.turn(&turn, shape);
                let new = std::mem::replace(&mut self.pending, under_way);
                self.deliver();
                self.pending = new;
            }
        }
    }

    /// The number of a new call.
    fn number(&mut self, call: &Call) -> u64 {
        let n = self.failed.len() as u64 + 1;
        let failed = matches!(
            call.outcome,
            Outcome::FlaggedFailure | Outcome::WordedFailure | Outcome::StatusFailure | Outcome::Repeated
        );
        self.failed.insert(n, failed);
        self.tools.insert(n, TOOLS[call.tool].to_owned());
        n
    }

    fn turn(&mut self, turn: &Turn, shape: Shape) {
        match (turn.kind, shape) {
            (Kind::Legacy, Shape::Openai) => return self.legacy_turn(turn),
            (Kind::Server, Shape::Anthropic) => return self.server_turn(turn),
            _ => {}
        }
        let mut told = Vec::new();
        let mut results = Vec::new();
        let mut reused = false;
        for call in &turn.calls {
            let n = self.number(call);
            // One call of a batch, and none while another of the id is under way, may have an id that was there before.
            let reuses = call.reuses_id && !reused && self.pending.is_empty() && turn.arrival == Arrival::AtOnce;
            reused |= reuses;
            let id = if reuses { "again".to_owned() } else { format!("call_{n}") };
            told.push(json!([id, TOOLS[call.tool], {"path": TARGETS[call.target], "n": n}]));
            results.extend(result(&id, n, call, reuses));
        }
        let mut with = json!({"text": turn.text, "signed": turn.signature});
        if turn.kind == Kind::Split {
            if let (Shape::Anthropic, Some(signature)) = (shape, turn.signature) {
                let thinking = json!({"type": "thinking", "thinking": "hm", "signature": signature});
                self.messages.push(json!({"role": "assistant", "content": [thinking]}));
                with["signed"] = Value::Null;
            }
            told.into_iter().for_each(|call| self.say(json!([["calls", with, call]]), shape));
        } else {
            let step = [json!("calls"), with].into_iter().chain(told);
            self.say(json!([step.collect::<Value>()]), shape);
        }
        let middle = turn.rotation.min(results.len());
        results.rotate_left(middle);
        self.arrive(turn, results, shape);
    }

    fn arrive(&mut self, turn: &Turn, mut results: Vec<Value>, shape: Shape) {
        if results.is_empty() {
            return;
        }
        let rest = if turn.in_two_messages { results.split_off(results.len() / 2) } else { Vec::new() };
        for mut results in [results, rest].into_iter().filter(|results| !results.is_empty()) {
            results.insert(0, json!("results"));
            results.extend(turn.words_behind.then(|| json!("and mind the header")));
            self.pending.push((results.into(), shape));
        }
        if turn.arrival == Arrival::AfterUser {
            self.say(json!([["user", "are you there?"]]), shape);
        }
        if turn.arrival != Arrival::AfterNextTurn {
            self.deliver();
        }
    }

    fn legacy_turn(&mut self, turn: &Turn) {
        let call = &turn.calls[0];
        let n = self.number(call);
        let arguments = json!({"path": TARGETS[call.target], "n": n}).to_string();
        let function_call = json!({"name": TOOLS[call.tool], "arguments": arguments});
        self.messages.push(json!({"role": "assistant", "content": turn.text, "function_call": function_call}));
        // Without ids a result that comes behind another turn would be nobody's.
        for result in result("", n, call, true) {
            let mut message = json!({"role": "function", "name": TOOLS[call.tool], "content": result[1]});
            for (name, value) in result[2].as_object().expect("fields") {
                message[name] = value.clone();
            }
            self.messages.push(message);
        }
    }

    fn server_turn(&mut self, turn: &Turn) {
        let mut blocks = Vec::new();
        for call in turn.calls.iter().filter(|call| !matches!(call.outcome, Outcome::Interrupted)) {
            let n = self.number(call);
            let id = format!("srv_{n}");
            let body = match self.failed[&n] {
                true => json!({"type": "web_search_tool_result_error", "error_code": "unavailable"}),
                false => {
                    json!([{"type": "web_search_result", "title": FILLER.repeat(12), "url": "https://example.org"}])
                }
            };
            blocks.push(json!({"type": "server_tool_use", "id": id, "name": TOOLS[call.tool], "input": {"n": n}}));
            blocks.push(json!({"type": "web_search_tool_result", "tool_use_id": id, "content": body, "n": n}));
        }
        let text = turn.text.filter(|text| !text.trim().is_empty());
        blocks.extend(text.map(|text| json!({"type": "text", "text": text})));
        if !blocks.is_empty() {
            self.messages.push(json!({"role": "assistant", "content": blocks}));
            self.messages.push(json!({"role": "user", "content": [{"type": "text", "text": "thanks"}]}));
        }
    }
}

/// A turn as providers want it: one message of results right behind it, nothing missing, nothing twice.
fn orderly_turn(mut turn: Turn) -> Turn {
    turn.arrival = Arrival::AtOnce;
    turn.in_two_messages = false;
    turn.text = turn.text.filter(|text| !text.trim().is_empty());
    if turn.kind == Kind::Split {
        turn.kind = Kind::Plain;
    }
    for call in &mut turn.calls {
        if matches!(call.outcome, Outcome::Interrupted | Outcome::Repeated) {
            call.outcome = Outcome::FlaggedFailure;
        }
    }
    turn
}

/// The results of a call, as parts of a step.
fn result(id: &str, n: u64, call: &Call, only_one: bool) -> Vec<Value> {
    let words = named_text(call.named);
    let (body, flags) = match call.outcome {
        Outcome::Success => (json!(format!("fine; {words}")), json!({})),
        Outcome::LongSuccess => (json!(format!("{}{words}", FILLER.repeat(12))), json!({})),
        Outcome::PartsSuccess => (json!([{"type": "text", "text": FILLER.repeat(12)}]), json!({})),
        Outcome::SuccessThatReadsLikeAnError => {
            (json!(format!("Error: in the log; {words}")), json!({"is_error": false}))
        }
        Outcome::FlaggedFailure => (json!(FILLER.repeat(12)), json!({"is_error": true})),
        Outcome::WordedFailure => (json!(format!(" Error: {}", FILLER.repeat(12))), json!({})),
        Outcome::StatusFailure => (json!("no"), json!({"status": "failed"})),
        Outcome::Repeated => (json!("no"), json!({"is_error": "true"})),
        Outcome::Interrupted => return Vec::new(),
    };
    let mut fields = flags;
    fields["n"] = n.into();
    let result = json!([id, body, fields]);
    let count = if matches!(call.outcome, Outcome::Repeated) && !only_one { 2 } else { 1 };
    vec![result; count]
}
