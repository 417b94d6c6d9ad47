//! Tool calls paired with their results, and the open turn. The only place that knows what belongs together:
//! policies, guards, compaction and the validator all ask here.

use std::collections::HashMap;
use std::ops::Range;

use crate::facts::{Call, MessageFacts, Role, ToolResult};

/// The position of a call or of a result: message index, then index among the message's calls or results.
pub type Spot = (usize, usize);

/// A call and what answered it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The call.
    pub call: Spot,
    /// Its results: none while it runs or after an interruption, one as a rule, more when a host repeats itself.
    pub results: Vec<Spot>,
}

/// All exchanges of a transcript, in the order of their calls.
#[derive(Clone, Debug)]
pub struct Exchanges<'a> {
    messages: &'a [MessageFacts],
    list: Vec<Exchange>,
    /// For each message, the exchange that each of its results answers.
    answered: Vec<Vec<Option<usize>>>,
    /// The exchange index of each message's first call.
    first_of_message: Vec<usize>,
    turns: Vec<Range<usize>>,
    open_turn: usize,
}

impl<'a> Exchanges<'a> {
    /// Pairs the calls and results of `messages`.
    pub fn of(messages: &'a [MessageFacts]) -> Self {
        let mut pairing = Pairing::default();
        let mut first_of_message = Vec::with_capacity(messages.len());
        let mut answered = Vec::with_capacity(messages.len());
        for (index, facts) in messages.iter().enumerate() {
            first_of_message.push(pairing.list.len());
            if facts.role == Role::Assistant {
                pairing.start_turn();
            }
            for (position, call) in facts.calls.iter().enumerate() {
                pairing.add_call(call, (index, position));
            }
            let results = facts.results.iter().enumerate();
            answered.push(results.map(|(position, result)| pairing.add_result(result, (index, position))).collect());
        }
        let turns = turns(messages);
        Exchanges {
            messages,
            list: pairing.list,
            answered,
            first_of_message,
            open_turn: open_turn(messages, &turns),
            turns,
        }
    }

    /// Every exchange.
    pub fn iter(&self) -> impl Iterator<Item = &Exchange> {
        self.list.iter()
    }

    /// The exchanges whose calls stand in the message at `index`.
    pub fn of_message(&self, index: usize) -> &[Exchange] {
        let start = self.first_of_message.get(index).copied().unwrap_or(self.list.len());
        let end = self.first_of_message.get(index + 1).copied().unwrap_or(self.list.len());
        self.list.get(start..end).unwrap_or_default()
    }

    /// The exchange that a result belongs to; `None` when it answers no call.
    pub fn answered_by(&self, (message, position): Spot) -> Option<&Exchange> {
        let exchange = self.answered.get(message)?.get(position)?.as_ref()?;
        self.list.get(*exchange)
    }

    /// The call of an exchange.
    pub fn call(&self, exchange: &Exchange) -> Option<&'a Call> {
        let (message, position) = exchange.call;
        self.messages.get(message)?.calls.get(position)
    }

    /// The result at `spot`.
    pub fn result(&self, spot: Spot) -> Option<&'a ToolResult> {
        let (message, position) = spot;
        self.messages.get(message)?.results.get(position)
    }

    /// Whether the call was answered, and every answer reports a failure that no person caused.
    pub fn has_failed(&self, exchange: &Exchange) -> bool {
        self.all_results(exchange, |result| result.failed && !result.refused)
    }

    /// Whether the call was answered, and every answer is a success.
    pub fn has_succeeded(&self, exchange: &Exchange) -> bool {
        self.all_results(exchange, |result| !result.failed && !result.refused)
    }

    fn all_results(&self, exchange: &Exchange, holds: impl Fn(&ToolResult) -> bool) -> bool {
        !exchange.results.is_empty() && exchange.results.iter().all(|spot| self.result(*spot).is_some_and(&holds))
    }

    /// Where the open turn starts: the last assistant turn when it has calls, with everything after it. The number
    /// of messages when there is none.
    pub fn open_turn(&self) -> usize {
        self.open_turn
    }

    /// The messages that an exchange touches, from the call to its last result.
    pub fn span(&self, exchange: &Exchange) -> (usize, usize) {
        let last = exchange.results.iter().map(|(message, _)| *message).max();
        (exchange.call.0, last.unwrap_or(exchange.call.0))
    }

    /// The turn that a message belongs to: itself, or the run of neighbouring assistant messages that it stands in.
    /// Providers read such a run as one message (ANT-ROLE-2), and some hosts write one block a message.
    pub fn turn(&self, index: usize) -> Range<usize> {
        self.turns.get(index).cloned().unwrap_or(index..index + 1)
    }

    /// Moves a boundary back until it stands between steps: no call before it has a result at or after it, no turn
    /// with signatures is cut, and no stray result stands first behind it.
    pub fn boundary_before(&self, boundary: usize) -> usize {
        let mut boundary = boundary;
        loop {
            let before = boundary;
            // Newest call first: each step back can only bring earlier calls into question.
            for exchange in self.list.iter().rev() {
                let (first, last) = self.span(exchange);
                if first < boundary && boundary <= last {
                    boundary = first;
                }
            }
            let turn = self.turn(boundary);
            if self.messages.get(turn.clone()).is_some_and(|turn| turn.iter().any(|facts| facts.signed)) {
                boundary = turn.start;
            }
            let is_result = |facts: &MessageFacts| facts.role == Role::Tool;
            if boundary > 0 && self.messages.get(boundary).is_some_and(is_result) {
                boundary -= 1;
            }
            if boundary == before {
                return boundary;
            }
        }
    }
}

/// The turn of each message.
fn turns(messages: &[MessageFacts]) -> Vec<Range<usize>> {
    let mut turns = Vec::with_capacity(messages.len());
    let mut start = 0;
    while let Some(facts) = messages.get(start) {
        let rest = messages.get(start..).unwrap_or_default();
        let run = rest.iter().take_while(|facts| facts.role == Role::Assistant).count();
        let end = if facts.role == Role::Assistant { start + run } else { start + 1 };
        turns.resize(end, start..end);
        start = end;
    }
    turns
}

/// The start of the last assistant turn when it has calls.
fn open_turn(messages: &[MessageFacts], turns: &[Range<usize>]) -> usize {
    let last = messages.iter().rposition(|facts| facts.role == Role::Assistant);
    let turn = last.and_then(|last| turns.get(last).cloned()).unwrap_or_default();
    let has_calls = messages.get(turn.clone()).is_some_and(|turn| turn.iter().any(|facts| !facts.calls.is_empty()));
    if has_calls { turn.start } else { messages.len() }
}

#[derive(Default)]
struct Pairing {
    list: Vec<Exchange>,
    /// The exchanges of each id that still matter, for real files reuse ids: the unanswered ones, oldest first, and
    /// behind them the one that was answered last.
    by_id: HashMap<String, Vec<usize>>,
    /// The calls since the last assistant turn, by tool name.
    of_turn: HashMap<String, Vec<usize>>,
    /// For each exchange, whether its call has an id.
    has_id: Vec<bool>,
    saw_result: bool,
}

impl Pairing {
    fn start_turn(&mut self) {
        // Neighbouring assistant messages without a result between them are one turn.
        if std::mem::take(&mut self.saw_result) {
            self.of_turn.clear();
        }
    }

    fn add_call(&mut self, call: &Call, spot: Spot) {
        let index = self.list.len();
        self.list.push(Exchange { call: spot, results: Vec::new() });
        self.has_id.push(call.id.is_some());
        if let Some(id) = &call.id {
            let calls = self.by_id.entry(id.clone()).or_default();
            if calls.last().is_some_and(|last| is_answered(&self.list, *last)) {
                calls.pop();
            }
            calls.push(index);
        }
        self.of_turn.entry(call.name.clone()).or_default().push(index);
    }

    fn add_result(&mut self, result: &ToolResult, spot: Spot) -> Option<usize> {
        self.saw_result = true;
        let by_id = result.call_id.as_ref().and_then(|id| self.answer_id(id));
        let found = match (by_id, &result.name) {
            (None, Some(name)) if result.call_id.is_none() => self.earliest_unanswered(name),
            _ => by_id,
        };
        if let Some(exchange) = found.and_then(|index| self.list.get_mut(index)) {
            exchange.results.push(spot);
        }
        found
    }

    /// The nearest earlier call with that id that has no result yet; when all have one, the last is answered again.
    fn answer_id(&mut self, id: &str) -> Option<usize> {
        let calls = self.by_id.get_mut(id)?;
        if calls.len() > 1 && calls.last().is_some_and(|last| is_answered(&self.list, *last)) {
            calls.pop();
        }
        calls.last().copied()
    }

    /// Without an id the order of a parallel batch decides. A call that has an id waits for its own result as long
    /// as one without is there.
    fn earliest_unanswered(&self, name: &str) -> Option<usize> {
        let of_name = self.of_turn.get(name)?;
        let mut unanswered = of_name.iter().copied().filter(|index| !is_answered(&self.list, *index));
        let first = unanswered.next()?;
        let has_id = |index: usize| self.has_id.get(index) == Some(&true);
        std::iter::once(first).chain(unanswered).find(|index| !has_id(*index)).or(Some(first))
    }
}

fn is_answered(list: &[Exchange], index: usize) -> bool {
    list.get(index).is_some_and(|exchange| !exchange.results.is_empty())
}
