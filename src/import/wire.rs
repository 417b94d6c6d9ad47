//! Files in a provider's or a framework's own wire shape: lists of messages, lines of messages, requests, responses,
//! and logs of both. Their messages stand as they are. What differs from provider to provider is a [`Wire`].
//!
//! Each request of a log repeats what came before it. Requests that begin alike are one conversation, of which the
//! last state counts; of several conversations the longest one.

use crate::document::{Index, Slice};

use super::format::{ReadLines, Scope};
use super::line::Line;
use super::output::{Message, Output, Source};
use super::positions::Positions;

/// How a provider writes a conversation.
pub struct Wire {
    /// The fields of a request that hold its messages.
    pub lists: &'static [&'static str],
    /// Finds the messages of a response.
    pub answer: for<'a> fn(Slice<'a>) -> Vec<Found<'a>>,
    /// Whether an object can be a message at all.
    pub is_message: fn(Slice<'_>) -> bool,
    /// Whether a message is of a type that is known; the others pass with a warning.
    pub is_known: fn(Slice<'_>) -> bool,
    /// The message in the form that can be sent, where it does not stand as it is.
    pub rewrite: fn(Slice<'_>) -> Option<String>,
    /// Finds the exchanges of a value that holds several.
    pub split: for<'a> fn(Slice<'a>) -> Vec<Exchange<'a>>,
    /// The message of a request that is a text.
    pub prompt: for<'a> fn(Slice<'a>) -> Option<Found<'a>>,
    /// Puts the messages in order once all are there.
    pub settle: fn(Scope, &mut Output),
}

impl Wire {
    /// A wire shape whose messages have roles and stand in `messages`.
    pub const fn new() -> Self {
        Wire {
            lists: &["messages"],
            answer: |_| Vec::new(),
            is_message: |value| value.get("role").is_some_and(Slice::is_string),
            is_known: |_| true,
            rewrite: |_| None,
            split: |_| Vec::new(),
            prompt: |_| None,
            settle: |_, _| {},
        }
    }
}

/// A message and the way to it.
pub struct Found<'a> {
    pub path: String,
    pub value: Slice<'a>,
    /// Its JSON, where it does not stand as it is.
    pub json: Option<String>,
}

impl<'a> Found<'a> {
    pub fn new(path: impl Into<String>, value: Slice<'a>) -> Self {
        Found { path: path.into(), value, json: None }
    }
}

/// A request and what came back.
#[derive(Default)]
pub struct Exchange<'a> {
    pub request: Vec<Found<'a>>,
    pub answer: Vec<Found<'a>>,
    /// The response that the request continues without repeating what came before it.
    pub previous: Option<String>,
    /// The response's own id.
    pub id: Option<String>,
    /// Whether there is a response and no request.
    pub is_answer: bool,
    /// Whether it has nothing to do with the others of its file.
    pub stands_alone: bool,
}

/// Where requests and responses are found in what logs wrap around them.
const REQUESTS: [&[&str]; 9] = [
    &["request", "body"],
    &["request"],
    &["body"],
    &["params"],
    &["input", "inputBodyJson"],
    &["inputs"],
    &["values"],
    &["channel_values"],
    &[],
];
const RESPONSES: [&[&str]; 7] = [
    &["response", "body"],
    &["response"],
    &["result", "message"],
    &["output", "outputBodyJson"],
    &["outputs"],
    &["output"],
    &[],
];
/// What a request tells the model beside its messages. None of them can be sent as a message everywhere, so they are
/// counted and stay where they are.
const SETTINGS: [&str; 6] =
    ["system", "instructions", "system_instruction", "systemInstruction", "tools", "toolConfig"];

/// The requests, or the responses, that a value holds or is.
fn bodies<'a>(root: Slice<'a>, paths: &'static [&'static [&'static str]]) -> impl Iterator<Item = (String, Slice<'a>)> {
    paths.iter().filter_map(move |path| Some((path.join("."), root.at(path)?)))
}

/// The first response in a value that `is` one.
pub fn response<'a>(root: Slice<'a>, is: fn(Slice<'_>) -> bool) -> Option<Slice<'a>> {
    let first = if root.is_array() { root.list().into_iter().next() } else { None };
    let listed = root.get("data").and_then(|data| data.list().into_iter().next());
    let within = first.into_iter().chain(listed).chain([root]);
    within.flat_map(|root| bodies(root, &RESPONSES)).map(|(_, body)| body).find(|body| is(*body))
}

/// What may be the request in a value, with the way to it.
pub fn requests(root: Slice<'_>) -> impl Iterator<Item = (String, Slice<'_>)> {
    bodies(root, &REQUESTS)
}

/// The items of a list in a request; of a batch of lists (LangSmith) those of the first.
pub fn listed<'a>(path: &str, list: Slice<'a>) -> Vec<Found<'a>> {
    let items = list.list();
    match items.first() {
        Some(first) if first.is_array() => listed(&join(path, "[0]"), *first),
        _ => {
            let at = |(index, item): (usize, Slice<'a>)| Found::new(index_path(path, index), item);
            items.into_iter().enumerate().map(at).collect()
        }
    }
}

pub fn index_path(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

fn join(path: &str, rest: &str) -> String {
    let dot = if path.is_empty() || rest.is_empty() || rest.starts_with('[') { "" } else { "." };
    [path, dot, rest].concat()
}

/// Reads a document.
pub fn read(wire: &'static Wire, root: Slice<'_>, scope: Scope, out: &mut Output) {
    read_at(wire, root, "", scope, out);
}

/// Reads the part of a document that stands at `path`.
pub fn read_at(wire: &'static Wire, root: Slice<'_>, path: &str, scope: Scope, out: &mut Output) {
    let mut reader = Reader::new(wire, scope);
    let at = At { line: None, base: out.base, path: path.to_owned() };
    match batch(root) {
        Some((name, items)) => reader.items(items, &At { path: join(path, name), ..at }, out),
        None if root.is_array() && !(wire.answer)(root).is_empty() => reader.value(root, &at, out),
        None if root.is_array() => reader.items(root, &at, out),
        None => reader.value(root, &at, out),
    }
    Box::new(reader).finish(out);
}

/// The list that stands for a document: that of a listing of OpenAI's, or of a batch of Anthropic's.
pub fn batch(root: Slice<'_>) -> Option<(&'static str, Slice<'_>)> {
    let is_list = root.text("object").is_some_and(|object| object == "list");
    let name = if is_list { "data" } else { "requests" };
    let is_request = ["messages", "contents", "input"].iter().any(|list| root.get(list).is_some());
    if is_request && !is_list {
        return None;
    }
    Some((name, root.get(name).filter(|items| items.is_array())?))
}

/// A reader of lines.
pub fn reader(wire: &'static Wire, scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader::new(wire, scope))
}

/// Where a value stands.
#[derive(Clone)]
struct At {
    line: Option<usize>,
    base: usize,
    path: String,
}

struct Reader {
    wire: &'static Wire,
    scope: Scope,
    /// All messages, in the order of the file.
    entries: Vec<Entry>,
    /// The conversations; the first of messages that stand alone, if there are any, at `loose`.
    threads: Vec<Thread>,
    /// The conversations by what they open with, prompts aside.
    openings: Positions,
    loose: Option<usize>,
    /// How many transcripts there are that have nothing to do with each other.
    transcripts: usize,
}

struct Entry {
    message: Message,
    /// What it says, to know it again.
    essence: u64,
    thread: usize,
    is_live: bool,
}

#[derive(Default)]
struct Thread {
    live: Vec<usize>,
    /// How much of it there was behind each response.
    responses: Vec<(String, usize)>,
    /// Where its first message stands that is no prompt.
    opening: Option<usize>,
    /// It has nothing to do with the others, and is one of the file's even if it is empty or not read.
    stands_alone: bool,
}

impl Thread {
    /// Whether it is a conversation of the file.
    fn is_there(&self) -> bool {
        self.stands_alone || !self.live.is_empty()
    }
}

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let at = At { line: Some(line.number), base: line.start, path: String::new() };
        self.value(line.value, &at, out);
    }

    fn finish(self: Box<Self>, out: &mut Output) {
        let Reader { wire, scope, entries, threads, transcripts, .. } = *self;
        let chosen = chosen(&threads, transcripts, out);
        for Entry { mut message, thread, is_live, .. } in entries {
            let branch = if is_live { None } else { Some("abandoned") };
            match scope {
                Scope::Model if chosen != Some(thread) => out.count("other_transcript"),
                Scope::Model if !is_live => out.count("abandoned"),
                _ => {
                    message.source.branch = branch;
                    message.source.sidechain = (chosen != Some(thread)).then(|| format!("transcript {}", thread + 1));
                    out.messages.push(message);
                }
            }
        }
        (wire.settle)(scope, out);
    }
}

/// The conversation that counts: the wanted one, else the longest, and then it warns of the others.
fn chosen(threads: &[Thread], alone: usize, out: &mut Output) -> Option<usize> {
    let mut conversations = threads.iter().enumerate().filter(|(_, thread)| thread.is_there());
    let count = conversations.clone().count();
    if alone > 0 && alone == count {
        // Only one of them was read.
        out.choose(count, "");
        return out.wanted.or(Some(0));
    }
    if let Some(wanted) = out.wanted {
        let found = conversations.nth(wanted).map(|(index, _)| index);
        if found.is_none() {
            out.warn("no_such_transcript", format!("there are {count} conversations: none was read"));
        }
        return found;
    }
    if count > 1 {
        out.warn("several_transcripts", format!("{count} conversations in one file: the longest counts"));
    }
    let longest = threads.iter().enumerate().max_by_key(|(_, thread)| thread.live.len());
    longest.map(|(index, _)| index)
}

impl Reader {
    fn new(wire: &'static Wire, scope: Scope) -> Self {
        Reader {
            wire,
            scope,
            entries: Vec::new(),
            threads: Vec::new(),
            openings: Positions::default(),
            loose: None,
            transcripts: 0,
        }
    }

    fn items(&mut self, list: Slice<'_>, at: &At, out: &mut Output) {
        for (index, item) in list.list().into_iter().enumerate() {
            self.value(item, &At { path: index_path(&at.path, index), ..at.clone() }, out);
        }
    }

    /// Reads a message, a request, a response, or a request with its response.
    fn value(&mut self, value: Slice<'_>, at: &At, out: &mut Output) {
        let exchanges = (self.wire.split)(value);
        if !exchanges.is_empty() {
            exchanges.into_iter().for_each(|exchange| self.exchange(exchange, at, out));
            return;
        }
        let mut others: Vec<Slice<'_>> = Vec::new();
        let request = requests(value).find_map(|(path, body)| {
            let mut lists = self.wire.lists.iter().filter_map(|name| Some((*name, body.get(name)?)));
            let mut found = match lists.find(|(_, list)| list.is_array()) {
                Some((name, list)) => {
                    others = list.list().into_iter().skip(1).filter(|list| list.is_array()).collect();
                    listed(name, list)
                }
                None => vec![(self.wire.prompt)(body)?],
            };
            found.iter_mut().for_each(|found| found.path = join(&path, &found.path));
            Some((body, found))
        });
        let answer = bodies(value, &RESPONSES).find_map(|(path, body)| {
            let mut found = (self.wire.answer)(body);
            found.iter_mut().for_each(|found| found.path = join(&path, &found.path));
            (!found.is_empty()).then_some((body, found))
        });
        if request.is_none() && answer.is_none() {
            let (thread, _) = self.loose();
            self.add(Found::new("", value), 0, thread, at, out);
            return;
        }
        let body = request.as_ref().map(|(body, _)| *body);
        for name in SETTINGS {
            if body.is_some_and(|body| body.get(name).is_some()) {
                out.count(name);
            }
        }
        if !others.is_empty() {
            let message = format!("{} lists of messages in one request: the first was read", others.len() + 1);
            out.warn_at("several_transcripts", at.line, &at.path, message);
            others.iter().flat_map(|list| list.list()).for_each(|_| out.count("other_transcript"));
        }
        for name in ["choices", "candidates"] {
            let all = answer.as_ref().and_then(|(body, _)| body.get(name)).map_or(0, |list| list.list().len());
            (1..all).for_each(|_| out.count("alternative"));
        }
        // Lines of training data and of batches have nothing to do with each other; those of a log have.
        let stands_alone = value.get("custom_id").is_some()
            || (answer.is_none() && body.is_some_and(|body| body.get("model").is_none()));
        if stands_alone {
            self.transcripts += 1;
            let is_wanted = out.wanted.map_or(self.transcripts == 1, |wanted| wanted == self.count());
            if !is_wanted {
                // It is counted, and not read.
                self.threads.push(Thread { stands_alone, ..Thread::default() });
                return;
            }
        }
        let text =
            |name: &str, body: Option<Slice<'_>>| body.and_then(|body| body.text(name)).map(|text| text.into_owned());
        let answered = answer.as_ref().map(|(body, _)| *body);
        let exchange = Exchange {
            previous: text("previous_response_id", body.or(answered)),
            id: text("id", answered),
            is_answer: request.is_none() && !stands_alone,
            stands_alone,
            request: request.map(|(_, found)| found).unwrap_or_default(),
            answer: answer.map(|(_, found)| found).unwrap_or_default(),
        };
        self.exchange(exchange, at, out);
    }

    /// How many conversations there are so far.
    fn count(&self) -> usize {
        // Where all of them stand alone, lines of training data, nothing needs to be looked at.
        if self.threads.len() < self.transcripts {
            return self.threads.len();
        }
        self.threads.iter().filter(|thread| thread.is_there()).count()
    }

    /// The conversation of what stands alone, and its length.
    fn loose(&mut self) -> (usize, usize) {
        let thread = *self.loose.get_or_insert_with(|| {
            self.threads.push(Thread::default());
            self.threads.len() - 1
        });
        (thread, self.threads.get(thread).map_or(0, |thread| thread.live.len()))
    }

    fn exchange(&mut self, exchange: Exchange<'_>, at: &At, out: &mut Output) {
        let Exchange { request, answer, previous, id, is_answer, stands_alone } = exchange;
        let keys: Vec<u64> = request.iter().map(essence_of).collect();
        let behind = previous.as_ref().filter(|_| !stands_alone).and_then(|previous| self.behind(previous));
        if previous.is_some() && behind.is_none() {
            let message = "the response that this one continues is not in the file: what came before is missing";
            out.warn_at("missing_context", at.line, &at.path, message);
        }
        let (thread, kept, known) = match behind {
            Some((thread, length)) => (thread, length, 0),
            None if is_answer => {
                let (thread, length) = self.loose();
                (thread, length, 0)
            }
            None if previous.is_some() || stands_alone => (self.threads.len(), 0, 0),
            None => {
                let prompts = request.iter().take_while(|found| is_prompt(found.value)).count();
                let (thread, known) = self.alike(&keys, prompts);
                (thread, known, known)
            }
        };
        if thread == self.threads.len() {
            self.threads.push(Thread { stands_alone, ..Thread::default() });
        }
        if let Some(thread) = self.threads.get_mut(thread) {
            for index in thread.live.drain(kept..) {
                if let Some(entry) = self.entries.get_mut(index) {
                    entry.is_live = false;
                    if self.scope == Scope::Model {
                        entry.message.json = String::new();
                    }
                }
            }
            while thread.responses.last().is_some_and(|(_, length)| *length > kept) {
                thread.responses.pop();
            }
        }
        for (found, key) in request.into_iter().zip(keys).skip(known) {
            self.add(found, key, thread, at, out);
        }
        for found in answer {
            let key = essence_of(&found);
            self.add(found, key, thread, at, out);
        }
        if let (Some(thread), Some(id)) = (self.threads.get_mut(thread), id) {
            thread.responses.push((id, thread.live.len()));
        }
    }

    /// The conversation that has this response, and its length behind it.
    fn behind(&self, response: &str) -> Option<(usize, usize)> {
        self.threads.iter().enumerate().find_map(|(index, thread)| {
            let (_, length) = thread.responses.iter().rfind(|(id, _)| id == response)?;
            Some((index, *length))
        })
    }

    /// The conversation that begins most like this one, and how much they share; else a new one. The prompts that a
    /// program gives in all its conversations say nothing.
    fn alike(&self, keys: &[u64], prompts: usize) -> (usize, usize) {
        let mut best = (self.threads.len(), 0);
        let Some(opening) = keys.get(prompts) else { return best };
        let open = self.openings.all(&opening.to_string()).iter().copied();
        for index in open.filter(|index| Some(*index) != self.loose) {
            let Some(thread) = self.threads.get(index) else { continue };
            let known = thread.live.iter().filter_map(|index| self.entries.get(*index)).map(|entry| entry.essence);
            let shared = known.zip(keys).take_while(|(known, key)| known == *key).count();
            if shared > best.1.max(prompts) {
                best = (index, shared);
            }
        }
        best
    }

    fn add(&mut self, found: Found<'_>, essence: u64, thread: usize, at: &At, out: &mut Output) {
        let Found { path, value, json } = found;
        let path = join(&at.path, &path);
        if !value.is_object() && json.is_none() {
            out.count("not_an_object");
            out.warn_at("not_an_object", at.line, &path, value.kind_in_words().to_owned() + ", no message: left out");
            return;
        }
        if json.is_none() && !(self.wire.is_message)(value) {
            out.count("unknown");
            out.warn_at("unknown_type", at.line, &path, "an entry that is no message of this format: left out");
            return;
        }
        if json.is_none() && !(self.wire.is_known)(value) {
            out.warn_at("unknown_type", at.line, &path, "a message of a type that is not known: taken as it stands");
        }
        let source = Source {
            line: at.line,
            path: Some(path).filter(|path| at.line.is_none() || !path.is_empty()),
            start: at.base + value.start(),
            end: at.base + value.end(),
            id: value.text("id").map(|id| id.into_owned()),
            ..Source::default()
        };
        let json = json.or_else(|| (self.wire.rewrite)(value)).unwrap_or_else(|| value.raw().to_owned());
        if let Some(live) = self.threads.get_mut(thread) {
            let position = live.live.len();
            if live.opening.is_none_or(|opening| opening >= position) && !is_prompt(value) {
                live.opening = Some(position);
                self.openings.add(&essence.to_string(), thread);
            }
            live.live.push(self.entries.len());
        }
        self.entries.push(Entry { message: Message::new(json, source), essence, thread, is_live: true });
    }
}

fn is_prompt(value: Slice<'_>) -> bool {
    matches!(value.text("role").as_deref(), Some("system" | "developer"))
}

/// What providers add to an answer, and clients take away when they send it again.
const PASSING: [&str; 12] = [
    "id",
    "status",
    "type",
    "index",
    "annotations",
    "logprobs",
    "cache_control",
    "usage",
    "model",
    "stop_reason",
    "created_at",
    "phase",
];

fn essence_of(found: &Found<'_>) -> u64 {
    match &found.json {
        None => essence(found.value, 0),
        Some(json) => Index::of(json).map_or(0, |index| essence(index.root(json), 0)),
    }
}

/// A number for what a message says, whatever its ids and the order of its fields. `depth` counts objects: what stands
/// deeper than a message's blocks is data, of which everything counts.
fn essence(value: Slice<'_>, depth: usize) -> u64 {
    let is_data = depth > 1;
    if value.is_object() {
        let fields = value.fields().into_iter().filter(|(name, _)| is_data || !PASSING.contains(&&**name));
        return fields.fold(0, |sum: u64, (name, value)| {
            let said = essence(value, depth + 1);
            sum.wrapping_add(if is_data { hash(&name).wrapping_mul(said | 1) } else { said })
        });
    }
    if value.is_array() {
        let items = value.list().into_iter();
        return items.fold(0, |sum: u64, item| sum.wrapping_mul(31).wrapping_add(essence(item, depth)));
    }
    match value.raw() {
        "null" => 0,
        "true" | "false" if !is_data => 0,
        raw => hash(value.str().as_deref().unwrap_or(raw)),
    }
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}
