//! Tool calls paired with their results, and the open turn. The only place that knows what belongs together:
//! policies, guards, compaction and the validator all ask here.

use std::collections::HashMap;
use std::ops::Range;

use crate::facts::{Call, Dependant, MessageFacts, Role, ToolResult};

/// The position of a call or of a result: message index, then index among the message's calls or results.
pub type Spot = (usize, usize);

/// A call and what answered it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The call.
    pub call: Spot,
    /// Its results: none while it runs or after an interruption, one as a rule, more when a host repeats itself.
    pub results: Vec<Spot>,
    /// What hangs on it: message index, then index among the message's dependants.
    pub dependants: Vec<Spot>,
}

impl Exchange {
    /// The messages that it touches.
    pub fn messages(&self) -> impl Iterator<Item = usize> + '_ {
        let spots = [self.call].into_iter().chain(self.results.iter().copied()).chain(self.dependants.iter().copied());
        spots.map(|(message, _)| message)
    }
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
    /// For each message, the first of the reasoning messages that it was produced with. Empty when there are none.
    heads: Vec<Option<usize>>,
    open_turn: usize,
}

impl<'a> Exchanges<'a> {
    /// Pairs the calls and results of `messages`.
    pub fn of(messages: &'a [MessageFacts]) -> Self {
        let mut pairing = Pairing::default();
        let mut behind_others = false;
        let mut first_of_message = Vec::with_capacity(messages.len());
        let mut answered = Vec::with_capacity(messages.len());
        for (index, facts) in messages.iter().enumerate() {
            first_of_message.push(pairing.list.len());
            if facts.role == Role::Assistant {
                pairing.assistant_speaks(behind_others);
            }
            behind_others = facts.role != Role::Assistant;
            for (position, call) in facts.calls.iter().enumerate() {
                pairing.add_call(call, (index, position));
            }
            // Requests for approval name calls beside them.
            for (position, dependant) in facts.dependants.iter().enumerate() {
                pairing.add_dependant(dependant, (index, position));
            }
            let own_calls = first_of_message.last().copied().unwrap_or_default();
            let mut seen = 0;
            let results = facts.results.iter().enumerate().map(|(position, result)| {
                // What stands in one place belongs together, whatever the ids say.
                let rest = facts.calls.get(seen..).unwrap_or_default();
                let own = rest.iter().position(|call| call.place == result.place).map(|offset| seen + offset);
                seen = own.map_or(seen, |own| own + 1);
                pairing.add_result(result, (index, position), own.map(|own| own_calls + own))
            });
            answered.push(results.collect());
        }
        let (list, heads, turns) = (pairing.list, heads(messages), turns(messages));
        let open_turn = messages.len();
        let mut exchanges = Exchanges { messages, list, answered, first_of_message, turns, heads, open_turn };
        exchanges.open_turn = exchanges.start_of_open_turn().unwrap_or(open_turn);
        exchanges
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
        self.all_results(exchange, |result| result.failed && !result.refused) && self.is_certain(exchange)
    }

    /// Whether it is known which call was answered. Without ids it is not while another call of that tool in the same
    /// turn has no answer.
    fn is_certain(&self, exchange: &Exchange) -> bool {
        let Some(call) = self.call(exchange) else { return false };
        let has_ids = call.id.is_some() && self.all_results(exchange, |result| result.call_id.is_some());
        let may_be_meant = |other: &Exchange| {
            other.results.is_empty()
                && self.call(other).is_some_and(|other| other.id.is_none() && other.name == call.name)
        };
        has_ids || !self.turn(exchange.call.0).flat_map(|index| self.of_message(index)).any(may_be_meant)
    }

    /// Whether the call was answered, and every answer is a success.
    pub fn has_succeeded(&self, exchange: &Exchange) -> bool {
        self.all_results(exchange, |result| !result.failed && !result.refused)
    }

    fn all_results(&self, exchange: &Exchange, holds: impl Fn(&ToolResult) -> bool) -> bool {
        !exchange.results.is_empty() && exchange.results.iter().all(|spot| self.result(*spot).is_some_and(&holds))
    }

    /// Where the open turn starts: the last assistant turn when it has calls, with everything after it, unless it
    /// answered them itself and the user has spoken since. The number of messages when there is none.
    pub fn open_turn(&self) -> usize {
        self.open_turn
    }

    fn start_of_open_turn(&self) -> Option<usize> {
        let turn = self.turn(self.messages.iter().rposition(|facts| facts.role == Role::Assistant)?);
        let mut calls = turn.clone().flat_map(|index| self.of_message(index)).peekable();
        calls.peek()?;
        // Answered in the turn itself, and then the user spoke: the model has seen those results.
        let answers_itself = calls.all(|exchange| !exchange.results.is_empty() && self.span(exchange).1 < turn.end);
        let is_seen = answers_itself && self.messages.iter().skip(turn.end).any(MessageFacts::is_ordinary_user);
        (!is_seen).then_some(turn.start)
    }

    /// Where the turn starts that the newest message of a person began. What the user says right behind results is one
    /// message with them (ANT-ROLE-2), and begins no turn.
    pub fn newest_turn(&self) -> usize {
        let mut start = 0;
        let mut behind_results = false;
        for (index, facts) in self.messages.iter().enumerate() {
            behind_results = match facts.role {
                Role::User | Role::Tool => behind_results || !facts.results.is_empty(),
                _ => facts.ends_in_results,
            };
            if facts.role == Role::User && !behind_results {
                start = index + 1;
            }
        }
        start
    }

    /// The messages that an exchange touches, from the call to its last result or dependant.
    pub fn span(&self, exchange: &Exchange) -> (usize, usize) {
        (exchange.call.0, exchange.messages().max().unwrap_or(exchange.call.0))
    }

    /// The moment of the call: its message, and the step in it.
    pub fn made(&self, exchange: &Exchange) -> (usize, usize) {
        (exchange.call.0, self.call(exchange).map_or(0, |call| call.step))
    }

    /// The moment from which on the model has seen how the call went.
    pub fn seen(&self, exchange: &Exchange) -> (usize, usize) {
        let (message, step) = self.made(exchange);
        let (_, last) = self.span(exchange);
        if last == message { (message, step) } else { (last, usize::MAX) }
    }

    /// The turn that a message belongs to: itself, or the run of neighbouring assistant messages that it stands in,
    /// reasoning included. Providers read such a run as one message (ANT-ROLE-2), and some hosts, and Responses items,
    /// write one block a message.
    pub fn turn(&self, index: usize) -> Range<usize> {
        self.turns.get(index).cloned().unwrap_or(index..index + 1)
    }

    /// The first of the reasoning messages that the message at `index` was produced with: reasoning and the
    /// assistant's messages behind it are one unit.
    pub fn head(&self, index: usize) -> Option<usize> {
        self.heads.get(index).copied().flatten()
    }

    /// The units of reasoning messages with the messages behind them, as ranges of messages.
    pub fn units(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let starts = (0..self.heads.len()).filter(|index| self.head(*index) == Some(*index));
        starts.map(|start| {
            let rest = self.heads.iter().skip(start);
            start..start + rest.take_while(|head| **head == Some(start)).count()
        })
    }

    /// Moves a boundary back until it stands between exchanges and units: no call before it has a result at or after
    /// it, no reasoning before it belongs to what comes after it, no turn with signatures is cut, and no stray result
    /// stands first behind it.
    pub fn boundary_before(&self, boundary: usize) -> usize {
        let mut boundary = boundary;
        loop {
            let before = boundary;
            boundary = self.head(boundary).unwrap_or(boundary);
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
            while boundary > 0 && self.messages.get(boundary).is_some_and(is_result) {
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

fn heads(messages: &[MessageFacts]) -> Vec<Option<usize>> {
    if messages.iter().all(|facts| !facts.leads) {
        return Vec::new();
    }
    let mut head = None;
    let mut behind_leads = false;
    let of_message = |(index, facts): (usize, &MessageFacts)| {
        if facts.leads {
            // Several in a row belong together.
            head = head.filter(|_| behind_leads).or(Some(index));
        } else if facts.role != Role::Assistant {
            head = None;
        }
        behind_leads = facts.leads;
        head
    };
    messages.iter().enumerate().map(of_message).collect()
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
    /// Neighbouring assistant messages without a result between them are one turn; anything else starts a new one.
    fn assistant_speaks(&mut self, behind_others: bool) {
        if std::mem::take(&mut self.saw_result) || behind_others {
            self.of_turn.clear();
        }
    }

    fn add_call(&mut self, call: &Call, spot: Spot) {
        let index = self.list.len();
        self.has_id.push(call.id.is_some());
        self.list.push(Exchange { call: spot, results: Vec::new(), dependants: Vec::new() });
        if let Some(id) = &call.id {
            let calls = self.by_id.entry(id.clone()).or_default();
            if calls.last().is_some_and(|last| is_answered(&self.list, *last)) {
                calls.pop();
            }
            calls.push(index);
        }
        self.of_turn.entry(call.name.clone()).or_default().push(index);
    }

    fn add_dependant(&mut self, dependant: &Dependant, spot: Spot) {
        let calls = dependant.call_id.as_ref().and_then(|id| self.by_id.get(id));
        let Some(index) = calls.and_then(|calls| calls.last()).copied() else { return };
        if let Some(exchange) = self.list.get_mut(index) {
            exchange.dependants.push(spot);
        }
        if let Some(alias) = &dependant.alias {
            let calls = self.by_id.entry(alias.clone()).or_default();
            if !calls.contains(&index) {
                calls.push(index);
            }
        }
    }

    /// Adds a result and says which exchange it answers; `own` is the one in the same place.
    fn add_result(&mut self, result: &ToolResult, spot: Spot, own: Option<usize>) -> Option<usize> {
        self.saw_result = true;
        let found = match (own, &result.call_id) {
            (Some(_), _) => own,
            (None, Some(id)) => self.answer_id(id).or_else(|| self.earliest_unanswered(result)),
            (None, None) => self.earliest_unanswered(result),
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

    /// Without an id on either side the order of a parallel batch decides. A call that has an id waits for its own
    /// result as long as one without is there, and never takes that of another id.
    fn earliest_unanswered(&self, result: &ToolResult) -> Option<usize> {
        let of_name = self.of_turn.get(result.name.as_ref()?)?;
        let unanswered = || of_name.iter().copied().filter(|index| !is_answered(&self.list, *index));
        let without_id = unanswered().find(|index| self.has_id.get(*index) == Some(&false));
        without_id.or_else(|| unanswered().next().filter(|_| result.call_id.is_none()))
    }
}

fn is_answered(list: &[Exchange], index: usize) -> bool {
    list.get(index).is_some_and(|exchange| !exchange.results.is_empty())
}
