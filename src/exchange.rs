//! Tool calls paired with their results, and the open turn. The only place that knows what belongs together:
//! policies, guards, compaction and the validator all ask here.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::facts::{Call, Dependant, MessageFacts, Role, Shape, ToolResult};

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

/// What belongs together in a list of messages that grows: all that [`Exchanges`] knows beside the messages themselves.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pairing: Pairing,
    /// For each message, the exchange that each of its results answers.
    answered: Vec<Vec<Option<usize>>>,
    /// The exchange index of each message's first call.
    first_of_message: Vec<usize>,
    /// For each message, the earliest call that something in it answers, hangs on or was made by; itself without any.
    earliest: Vec<usize>,
    /// For each message, where its turn starts.
    turn_starts: Vec<usize>,
    /// Where the turn ends that starts at the message.
    turn_ends: Vec<usize>,
    /// For each message, the first of the reasoning messages that it was produced with. Empty when there are none.
    heads: Vec<Option<usize>>,
    /// The exchange that each result answers, in the order in which they came.
    log: Vec<usize>,
    /// What hangs on exchanges, in the order in which it came.
    hanging: Vec<(Spot, usize)>,
    /// The messages with signatures.
    signed: Vec<usize>,
    open_turn: usize,
}

impl Pairs {
    /// Takes in the messages that came since the last time; `messages` are all of them.
    pub fn extend(&mut self, messages: &[MessageFacts]) {
        for (index, facts) in messages.iter().enumerate().skip(self.answered.len()) {
            self.add_message(index, facts, messages);
        }
        let open_turn = Exchanges { messages, pairs: Cow::Borrowed(self) }.start_of_open_turn();
        self.open_turn = open_turn.unwrap_or(messages.len());
    }

    fn add_message(&mut self, index: usize, facts: &MessageFacts, messages: &[MessageFacts]) {
        let before = index.checked_sub(1).and_then(|before| messages.get(before));
        self.add_to_turn(index, facts, before);
        self.add_to_unit(index, facts, before);
        self.signed.extend(facts.signed.then_some(index));
        let pairing = &mut self.pairing;
        let own_calls = pairing.list.len();
        self.first_of_message.push(own_calls);
        if facts.role == Role::Assistant {
            pairing.assistant_speaks(before.is_some_and(|before| before.role != Role::Assistant));
        }
        for (position, call) in facts.calls.iter().enumerate() {
            pairing.add_call(call, (index, position));
        }
        let mut earliest = index;
        let mut note = |pairing: &Pairing, exchange: Option<usize>| {
            let call = exchange.and_then(|exchange| pairing.list.get(exchange)).map(|exchange| exchange.call.0);
            earliest = earliest.min(call.unwrap_or(index));
        };
        // Calls that a program made name the program's own.
        for program in facts.calls.iter().filter_map(|call| call.program.as_ref()) {
            note(pairing, pairing.by_id.get(program).and_then(|calls| calls.last()).copied());
        }
        // Requests for approval name calls beside them.
        for (position, dependant) in facts.dependants.iter().enumerate() {
            let exchange = pairing.add_dependant(dependant, (index, position));
            note(pairing, exchange);
            self.hanging.extend(exchange.map(|exchange| ((index, position), exchange)));
        }
        let mut seen = 0;
        let mut answered = Vec::with_capacity(facts.results.len());
        for (position, result) in facts.results.iter().enumerate() {
            // What stands in one place belongs together, whatever the ids say.
            let rest = facts.calls.get(seen..).unwrap_or_default();
            let own = rest.iter().position(|call| call.place == result.place).map(|offset| seen + offset);
            seen = own.map_or(seen, |own| own + 1);
            let exchange = pairing.add_result(result, (index, position), own.map(|own| own_calls + own));
            note(pairing, exchange);
            self.log.extend(exchange);
            answered.push(exchange);
        }
        self.answered.push(answered);
        self.earliest.push(earliest);
    }

    fn add_to_turn(&mut self, index: usize, facts: &MessageFacts, before: Option<&MessageFacts>) {
        let goes_on = facts.role == Role::Assistant && before.is_some_and(|before| before.role == Role::Assistant);
        let start = self.turn_starts.last().copied().filter(|_| goes_on).unwrap_or(index);
        self.turn_starts.push(start);
        self.turn_ends.push(index + 1);
        if let Some(end) = self.turn_ends.get_mut(start) {
            *end = index + 1;
        }
    }

    fn add_to_unit(&mut self, index: usize, facts: &MessageFacts, before: Option<&MessageFacts>) {
        let head = self.heads.last().copied().flatten();
        let head = if facts.leads {
            // Several in a row belong together.
            head.filter(|_| before.is_some_and(|before| before.leads)).or(Some(index))
        } else {
            head.filter(|_| facts.role == Role::Assistant)
        };
        if head.is_some() || !self.heads.is_empty() {
            self.heads.resize(index, None);
            self.heads.push(head);
        }
    }
}

/// All exchanges of a transcript, in the order of their calls.
#[derive(Clone, Debug)]
pub struct Exchanges<'a> {
    messages: &'a [MessageFacts],
    pairs: Cow<'a, Pairs>,
}

impl<'a> Exchanges<'a> {
    /// Pairs the calls and results of `messages`.
    pub fn of(messages: &'a [MessageFacts]) -> Self {
        let mut pairs = Pairs::default();
        pairs.extend(messages);
        Exchanges { messages, pairs: Cow::Owned(pairs) }
    }

    /// Of messages that are paired already.
    pub fn over(messages: &'a [MessageFacts], pairs: &'a Pairs) -> Self {
        Exchanges { messages, pairs: Cow::Borrowed(pairs) }
    }

    /// Every exchange.
    pub fn iter(&self) -> impl Iterator<Item = &Exchange> {
        self.pairs.pairing.list.iter()
    }

    /// The exchange at this position among all of them.
    pub fn get(&self, index: usize) -> Option<&Exchange> {
        self.pairs.pairing.list.get(index)
    }

    /// The exchange that each result answers, in the order in which they came, from the `from`th on.
    pub fn answered_since(&self, from: usize) -> &[usize] {
        self.pairs.log.get(from..).unwrap_or_default()
    }

    /// The exchanges whose calls stand in the message at `index`.
    pub fn of_message(&self, index: usize) -> &[Exchange] {
        let list = &self.pairs.pairing.list;
        let first_of = |index: usize| self.pairs.first_of_message.get(index).copied().unwrap_or(list.len());
        list.get(first_of(index)..first_of(index + 1)).unwrap_or_default()
    }

    /// The exchange that a result belongs to; `None` when it answers no call.
    pub fn answered_by(&self, (message, position): Spot) -> Option<&Exchange> {
        let exchange = self.pairs.answered.get(message)?.get(position)?.as_ref()?;
        self.get(*exchange)
    }

    /// What hangs on exchanges in the messages from `from` on.
    pub fn hanging_since(&self, from: usize) -> &[(Spot, usize)] {
        let hanging = &self.pairs.hanging;
        hanging.get(hanging.partition_point(|((message, _), _)| *message < from)..).unwrap_or_default()
    }

    /// The messages with signatures from `from` on.
    pub fn signed_since(&self, from: usize) -> &[usize] {
        let signed = &self.pairs.signed;
        signed.get(signed.partition_point(|index| *index < from)..).unwrap_or_default()
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
        self.pairs.open_turn
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

    /// Where the turn starts that the newest message of a person began, of the messages that `is_shown` lets through.
    /// What the user says right behind results is one message with them (ANT-ROLE-2), and begins no turn.
    pub fn newest_turn(&self, is_shown: impl Fn(usize) -> bool) -> usize {
        // The message that begins it, unless results before it say otherwise.
        let mut begins = None;
        for (index, facts) in self.messages.iter().enumerate().rev().filter(|(index, _)| is_shown(*index)) {
            match facts.role {
                Role::User | Role::Tool if !facts.results.is_empty() => begins = None,
                Role::User => begins = begins.or(Some(index)),
                Role::Tool => {}
                _ if facts.ends_in_results => begins = None,
                _ if begins.is_some() => break,
                _ => {}
            }
        }
        begins.map_or(0, |index| index + 1)
    }

    /// Where the turn starts that the newest message of a person began, or the open turn where that is earlier.
    pub fn current_turn(&self) -> usize {
        self.newest_turn(|_| true).min(self.open_turn())
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
        let start = self.pairs.turn_starts.get(index).copied().unwrap_or(index);
        start..self.pairs.turn_ends.get(start).copied().unwrap_or(index + 1)
    }

    /// The first of the reasoning messages that the message at `index` was produced with: reasoning and the
    /// assistant's messages behind it are one unit.
    pub fn head(&self, index: usize) -> Option<usize> {
        self.pairs.heads.get(index).copied().flatten()
    }

    /// The unit of reasoning messages, with the messages behind them, that the message at `index` belongs to.
    pub fn unit(&self, index: usize) -> Option<Range<usize>> {
        let start = self.head(index)?;
        let rest = self.pairs.heads.iter().skip(start);
        Some(start..start + rest.take_while(|head| **head == Some(start)).count())
    }

    /// Whether reasoning that the message at `index` was produced with has to stay: an item of the unit would have to lose
    /// its id with it, by which others name that item.
    pub fn needs_reasoning(&self, index: usize) -> bool {
        let is_named = |index: usize| self.messages.get(index).is_some_and(|facts| facts.named);
        self.unit(index).is_some_and(|mut unit| unit.any(is_named))
    }

    /// Moves a boundary back until it stands between exchanges and units: no call before it has a result at or after
    /// it, no reasoning before it belongs to what comes after it, no turn with signatures is cut, and no stray result
    /// stands first behind it.
    pub fn boundary_before(&self, boundary: usize) -> usize {
        let mut boundary = boundary;
        // The earliest call that something from here on answers or hangs on.
        let (mut from, mut earliest) = (self.messages.len(), usize::MAX);
        loop {
            let before = boundary;
            boundary = self.head(boundary).unwrap_or(boundary);
            let behind = self.pairs.earliest.get(boundary..from).unwrap_or_default();
            earliest = behind.iter().copied().fold(earliest, usize::min);
            from = from.min(boundary);
            boundary = boundary.min(earliest);
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

    /// Moves a boundary inside the current turn back until what is left of the turn begins with reasoning, if the turn
    /// does (`ANT-THK-3`), also where the assistant is yet to go on.
    pub fn boundary_before_reasoning(&self, boundary: usize) -> usize {
        let begins_signed = |from: usize| {
            let answer = self.messages.iter().skip(from).find(|facts| facts.role == Role::Assistant);
            answer.is_some_and(MessageFacts::begins_signed)
        };
        let start = self.current_turn();
        // OpenAI wants reasoning with its items and Gemini signatures with its calls, wherever a turn begins.
        let is_free = |facts: &MessageFacts| matches!(facts.shape, Shape::Responses | Shape::Gemini);
        let must_begin = begins_signed(start) && !self.messages.get(start).is_some_and(is_free);
        let mut boundary = boundary;
        while must_begin && boundary > start && !begins_signed(boundary) {
            let signed = self.pairs.signed.iter().rfind(|index| (start..boundary).contains(index));
            boundary = self.boundary_before(signed.copied().unwrap_or(start));
        }
        boundary
    }
}

#[derive(Clone, Debug, Default)]
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

    /// Adds what hangs on a call and says on which.
    fn add_dependant(&mut self, dependant: &Dependant, spot: Spot) -> Option<usize> {
        let calls = dependant.call_id.as_ref().and_then(|id| self.by_id.get(id));
        let index = calls.and_then(|calls| calls.last()).copied()?;
        if let Some(exchange) = self.list.get_mut(index) {
            exchange.dependants.push(spot);
        }
        if let Some(alias) = &dependant.alias {
            let calls = self.by_id.entry(alias.clone()).or_default();
            if !calls.contains(&index) {
                calls.push(index);
            }
        }
        Some(index)
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
