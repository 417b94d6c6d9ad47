//! Claude Code session files (`~/.claude/projects/*/*.jsonl`) and `--output-format stream-json` logs. Messages are in
//! Anthropic's shape. Lines form a tree (`uuid`, `parentUuid`); one answer of the model is written as several lines.

use crate::document::{Index, Slice};

use super::format::{Format, ReadLines, Scope, Sniff, certain, likely, possible};
use super::line::Line;
use super::output::{Message, Outcome, Output, Source};
use super::positions::Positions;
use super::write::{list, text_block, with_room, wrapped};

/// The format.
pub const FORMAT: Format =
    Format { lines: Some((sniff, reader)), ..Format::new("claude_code", "Claude Code session (JSONL)") };

fn sniff(line: Slice<'_>) -> Option<Sniff> {
    let kind = line.text("type")?;
    match &*kind {
        "user" | "assistant" => {
            let message =
                line.get("message").filter(|message| message.is_object() && message.get("parts").is_none())?;
            if ["uuid", "sessionId", "session_id"].iter().any(|name| line.own(name).is_some()) {
                return certain("lines with type, message and uuid or sessionId");
            }
            message.get("content").and_then(|_| likely("lines with type and message.content"))
        }
        "file-history-snapshot" | "queue-operation" => likely("lines of a type that Claude Code writes"),
        "system"
            if line.text("subtype").is_some_and(|subtype| subtype == "init") && line.get("session_id").is_some() =>
        {
            certain("a stream-json log: a system line of subtype init")
        }
        "system" if line.get("uuid").is_some() && line.get("sessionId").is_some() => likely("system lines with uuid"),
        "summary" if line.get("leafUuid").is_some() => likely("a summary line with leafUuid"),
        "attachment" if line.get("attachment").is_some() => possible("attachment lines"),
        _ => None,
    }
}

fn reader(scope: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader { scope, entries: Vec::new() })
}

struct Reader {
    scope: Scope,
    entries: Vec<Entry>,
}

/// A line that is a message, or that others hang on.
struct Entry {
    source: Source,
    parent: Option<String>,
    /// The role and the blocks, when it is a message.
    message: Option<(String, Content)>,
    /// The id that the lines of one answer share.
    message_id: Option<String>,
    outcomes: Vec<Outcome>,
    /// Where the conversation was compacted: what stays as it was, from head to tail.
    boundary: Option<Option<(String, String)>>,
    is_summary: bool,
    /// Whether the host wrote it in the model's name.
    is_synthetic: bool,
    /// The calls made, or answered, in it.
    calls: Vec<String>,
    results: Vec<String>,
}

/// What a message holds, as JSON text.
enum Content {
    Whole(String),
    Blocks(Vec<Block>),
}

/// A block, with what tells whether another one is the same with more of it: one answer can have thousands.
struct Block {
    json: String,
    /// The id, of a call.
    call: Option<String>,
    /// Whether it is text or thinking.
    is_said: bool,
}

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        let value = line.value;
        let kind = value.text("type").unwrap_or_default();
        let mut entry = Entry::of(line);
        match &*kind {
            "user" | "assistant" if value.get("message").is_some_and(Slice::is_object) => {
                entry.read_message(&kind, value)
            }
            "system" if value.text("subtype").is_some_and(|subtype| subtype == "compact_boundary") => {
                let segment = value.at(&["compactMetadata", "preservedSegment"]);
                let ends = segment.and_then(|segment| segment.text("headUuid").zip(segment.text("tailUuid")));
                entry.boundary = Some(ends.map(|(head, tail)| (head.into_owned(), tail.into_owned())));
                out.count("compact_boundary");
            }
            "attachment" if value.at(&["attachment", "prompt"]).is_some() => {
                // A prompt that was queued while the model worked: a person wrote it, the model read it.
                let prompt = value.at(&["attachment", "prompt"]).map(Slice::raw).unwrap_or_default();
                entry.message = Some(("user".to_owned(), Content::Whole(prompt.to_owned())));
            }
            "" => {
                out.count("unknown");
                out.warn_line("unknown_type", line.number, "a line without a type: left out");
            }
            "user" | "assistant" => {
                out.count("unknown");
                out.warn_line("unknown_type", line.number, format!("a {kind} line without a message: left out"));
            }
            _ => {
                let subtype = value.text("subtype");
                out.count(&subtype.map_or_else(|| kind.clone().into_owned(), |subtype| format!("{kind}:{subtype}")));
            }
        }
        // Lines that are no messages can be the parents of some.
        if entry.source.id.is_some() || entry.message.is_some() || entry.boundary.is_some() {
            // By a quarter, not to twice as much: there may be very many.
            if self.entries.len() == self.entries.capacity() {
                self.entries.reserve_exact(64 + self.entries.len() / 4);
            }
            self.entries.push(entry);
        }
    }

    fn finish(self: Box<Self>, out: &mut Output) {
        let Reader { scope, mut entries } = *self;
        // A sub-agent's own file is all sidechain: then that is the conversation.
        let has_main = entries.iter().any(|entry| entry.message.is_some() && entry.source.sidechain.is_none());
        if !has_main {
            entries.iter_mut().for_each(|entry| entry.source.sidechain = None);
        }
        let order = select(&mut entries, out);
        let mut merged = Merged { entries: Vec::with_capacity(order.len()), ..Merged::default() };
        match scope {
            Scope::All => entries.into_iter().for_each(|entry| merged.add(entry)),
            Scope::Model => {
                let mut entries: Vec<_> = entries.into_iter().map(Some).collect();
                for index in order {
                    let entry = entries.get_mut(index).and_then(Option::take);
                    entry.into_iter().for_each(|entry| merged.add(entry));
                }
                for entry in entries.into_iter().flatten().filter(|entry| entry.message.is_some()) {
                    match (&entry.source.sidechain, entry.source.branch) {
                        (Some(id), _) => out.count(&format!("sidechain:{id}")),
                        (None, branch) => out.count(branch.unwrap_or("hidden")),
                    }
                }
            }
        }
        out.messages.reserve(merged.entries.len());
        out.messages.extend(merged.messages());
    }
}

impl Entry {
    fn of(line: &Line<'_>) -> Self {
        let value = line.value;
        let text = |name: &str| value.text(name).map(|text| text.into_owned());
        let parent_tool = text("parent_tool_use_id");
        let is_side = value.flag("isSidechain") || parent_tool.is_some();
        let thread = text("agentId").or(parent_tool).unwrap_or_else(|| "sidechain".to_owned());
        let source = Source { id: text("uuid"), sidechain: is_side.then_some(thread), ..Source::of_line(line) };
        Entry {
            source,
            parent: text("parentUuid"),
            message: None,
            message_id: None,
            outcomes: Vec::new(),
            boundary: None,
            is_summary: value.flag("isCompactSummary"),
            is_synthetic: value.flag("isApiErrorMessage"),
            calls: Vec::new(),
            results: Vec::new(),
        }
    }

    /// Whether it starts with a result.
    fn answers(&self) -> bool {
        matches!(&self.message, Some((role, Content::Blocks(_))) if role == "user") && !self.results.is_empty()
    }

    /// Whether it holds results and nothing else.
    fn only_answers(&self) -> bool {
        let blocks = |message: &(String, Content)| match &message.1 {
            Content::Blocks(blocks) => blocks.len(),
            Content::Whole(_) => 0,
        };
        self.answers() && self.message.as_ref().map(blocks) == Some(self.results.len())
    }

    fn read_message(&mut self, kind: &str, line: Slice<'_>) {
        let Some(message) = line.get("message") else { return };
        let role = message.text("role").map_or_else(|| kind.to_owned(), |role| role.into_owned());
        let content = message.get("content");
        self.message_id = message.text("id").filter(|_| kind == "assistant").map(|id| id.into_owned());
        self.is_synthetic |= message.text("model").is_some_and(|model| model == "<synthetic>");
        let blocks = content.map(Slice::list).unwrap_or_default();
        for block in &blocks {
            let id = |name: &str| block.text(name).map(|id| id.into_owned());
            match block.text("type").as_deref() {
                Some("tool_use") => self.calls.extend(id("id")),
                Some("tool_result") => {
                    self.results.extend(id("tool_use_id"));
                    self.outcomes.extend(outcome(line, *block));
                }
                _ => {}
            }
        }
        self.message = Some((
            role,
            match content {
                Some(content) if content.is_array() => {
                    Content::Blocks(blocks.iter().map(|block| Block::of(*block)).collect())
                }
                content => Content::Whole(with_room(content.map_or("\"\"", Slice::raw))),
            },
        ));
    }
}

/// What a line says of the result in it, beside the result's own flag.
fn outcome(line: Slice<'_>, result: Slice<'_>) -> Option<Outcome> {
    let id = || result.text("tool_use_id").map(|id| id.into_owned());
    if let Some(kind) = line.text("toolDenialKind") {
        return Some(Outcome::refusal(id(), format!("toolDenialKind: {kind}")));
    }
    let content = result.get("content");
    let first = content.and_then(|content| content.list().first().and_then(|block| block.text("text")));
    let text = content.and_then(Slice::str).or(first).unwrap_or_default();
    let refusals = ["The user doesn't want to proceed with this tool use", "The user doesn't want to take this action"];
    if refusals.iter().any(|start| text.starts_with(start)) || text == "[Request interrupted by user for tool use]" {
        return Some(Outcome::refusal(id(), "the text of a refusal").inferred());
    }
    let is_flagged = result.get("is_error").is_some();
    let sidecar = line.get("toolUseResult").and_then(Slice::str);
    if !is_flagged && text.starts_with("<tool_use_error>") {
        return Some(Outcome::failure(id(), "<tool_use_error> in the text").inferred());
    }
    if !is_flagged && sidecar.is_some_and(|text| text.starts_with("Error")) {
        return Some(Outcome::failure(id(), "toolUseResult is an error text").inferred());
    }
    None
}

/// Marks what the model does not see, and lists what it does see in its order.
fn select(entries: &mut [Entry], out: &mut Output) -> Vec<usize> {
    let is_main = |entry: &Entry| entry.source.sidechain.is_none();
    let boundary = entries.iter().rposition(|entry| entry.boundary.is_some() && is_main(entry));
    let path = active_path(entries, out);
    let preserved = boundary.map(|boundary| preserved(entries, boundary, out)).unwrap_or_default();
    for (index, entry) in entries.iter_mut().enumerate() {
        let is_old = boundary.is_some_and(|boundary| index < boundary);
        entry.source.branch = match () {
            () if entry.message.is_none() || entry.source.sidechain.is_some() => None,
            () if preserved.contains(&index) => None,
            () if entry.is_synthetic => Some("hidden"),
            () if is_old => Some("compacted"),
            () if path.as_ref().is_some_and(|path| path.get(index) == Some(&false)) => Some("abandoned"),
            () => None,
        };
    }
    let is_seen = |entry: &Entry| entry.message.is_some() && is_main(entry) && entry.source.branch.is_none();
    let seen = entries.iter().enumerate().filter(|(index, entry)| is_seen(entry) && !preserved.contains(index));
    let mut order: Vec<usize> = seen.map(|(index, _)| index).collect();
    // What a compaction left as it was comes behind its summary.
    let is_summary = |index: &usize| entries.get(*index).is_some_and(|entry| entry.is_summary);
    let at = order.iter().rposition(is_summary).map_or(0, |summary| summary + 1);
    order.splice(at..at, preserved);
    order
}

/// The entries from the last message up to the start of the conversation. `None` where the lines make no single tree:
/// then their order in the file counts.
fn active_path(entries: &[Entry], out: &mut Output) -> Option<Vec<bool>> {
    let mut by_id = Positions::default();
    let mut is_tree = true;
    let mut roots = 0;
    let main = || entries.iter().enumerate().filter(|(_, entry)| entry.source.sidechain.is_none());
    for (index, entry) in main() {
        match &entry.source.id {
            Some(id) => {
                is_tree &= !by_id.has(id);
                by_id.add(id, index);
            }
            None => is_tree &= entry.message.is_none(),
        }
    }
    for (_, entry) in main() {
        match &entry.parent {
            Some(parent) => is_tree &= by_id.has(parent),
            None => roots += usize::from(entry.boundary.is_none()),
        }
    }
    if !is_tree || roots > 1 {
        let has_parents = main().any(|(_, entry)| entry.parent.is_some());
        if has_parents {
            let first = entries.first().and_then(|entry| entry.source.line).unwrap_or(1);
            out.warn_line("broken_tree", first, "the lines' parents make no single tree: read in file order");
        }
        return None;
    }
    let mut path = vec![false; entries.len()];
    let mut next = main().rfind(|(_, entry)| entry.message.is_some()).map(|(index, _)| index);
    while let Some((index, on_path)) = next.and_then(|index| Some((index, path.get_mut(index)?)))
        && !*on_path
    {
        *on_path = true;
        let parent = entries.get(index).and_then(|entry| entry.parent.as_deref());
        next = parent.and_then(|parent| by_id.last(parent));
    }
    // Results of parallel calls hang on their own calls, and parts of one answer beside each other: what belongs to the
    // path is on it.
    let mut answers = Positions::default();
    let mut answered = Positions::default();
    for (index, entry) in on(&path, entries) {
        entry.message_id.iter().for_each(|id| answers.add(id, index));
        entry.results.iter().for_each(|id| answered.add(id, index));
    }
    let is_part = |entry: &Entry| entry.message_id.as_ref().is_some_and(|id| answers.has(id));
    mark(&mut path, main().filter(|(_, entry)| is_part(entry)));
    let mut calls = Positions::default();
    on(&path, entries).for_each(|(index, entry)| entry.calls.iter().for_each(|id| calls.add(id, index)));
    let is_missing = |id: &String| calls.has(id) && !answered.has(id);
    mark(&mut path, main().filter(|(_, entry)| entry.results.iter().any(is_missing)));
    Some(path)
}

/// The entries on a path.
fn on<'a>(path: &[bool], entries: &'a [Entry]) -> impl Iterator<Item = (usize, &'a Entry)> {
    entries.iter().enumerate().zip(path).filter(|(_, on_path)| **on_path).map(|(entry, _)| entry)
}

/// Puts entries on a path.
fn mark<'a>(path: &mut [bool], entries: impl Iterator<Item = (usize, &'a Entry)>) {
    entries.for_each(|(index, _)| path.get_mut(index).into_iter().for_each(|on_path| *on_path = true));
}

/// What the compaction at `boundary` left as it was, in order.
fn preserved(entries: &[Entry], boundary: usize, out: &mut Output) -> Vec<usize> {
    let Some(entry) = entries.get(boundary) else { return Vec::new() };
    let Some(Some((head, tail))) = &entry.boundary else { return Vec::new() };
    let mut ids = Positions::default();
    for (index, entry) in entries.iter().enumerate() {
        entry.source.id.iter().for_each(|id| ids.add(id, index));
    }
    let by_id = |id: &str| ids.all(id).first().copied();
    let mut segment = Vec::new();
    let mut next = by_id(tail);
    // A way longer than the file goes round in a circle.
    while let Some(index) = next.filter(|_| segment.len() < entries.len()) {
        segment.push(index);
        let entry = entries.get(index);
        if entry.is_some_and(|entry| entry.source.id.as_ref() == Some(head)) {
            segment.reverse();
            segment.retain(|index| entries.get(*index).is_some_and(|entry| entry.message.is_some()));
            return segment;
        }
        next = entry.and_then(|entry| entry.parent.as_deref()).and_then(by_id);
    }
    let line = entry.source.line.unwrap_or_default();
    out.warn_line("broken_tree", line, "the compaction preserved messages that are not in this file");
    Vec::new()
}

/// Messages under way: the lines of one answer become one message, at the place of the first, and so do results in a row.
#[derive(Default)]
struct Merged {
    entries: Vec<Entry>,
    by_message: Positions,
}

impl Merged {
    fn add(&mut self, entry: Entry) {
        if entry.message.is_none() {
            return;
        }
        let known = entry.message_id.as_ref().and_then(|id| self.by_message.last(id));
        let known = known.or_else(|| entry.answers().then(|| self.entries.len().checked_sub(1)).flatten());
        let first = known.and_then(|at| self.entries.get_mut(at)).filter(|first| {
            let is_beside =
                (&first.source.branch, &first.source.sidechain) == (&entry.source.branch, &entry.source.sidechain);
            // Providers want the results of a turn in one message (ANT-PAIR-3); Claude Code writes a line for each.
            is_beside && (entry.message_id.is_some() || first.only_answers())
        });
        let Some(first) = first else {
            entry.message_id.iter().for_each(|id| self.by_message.add(id, self.entries.len()));
            self.entries.push(entry);
            return;
        };
        first.source.also_lines.extend(entry.source.line);
        first.results.extend(entry.results);
        first.outcomes.extend(entry.outcomes);
        if let (Some((_, content)), Some((_, added))) = (&mut first.message, entry.message) {
            content.append(added);
        }
    }

    fn messages(self) -> impl Iterator<Item = Message> {
        self.entries.into_iter().filter_map(|entry| {
            let (role, content) = entry.message?;
            let json = match content {
                Content::Whole(text) => wrapped(&role, "", text, ""),
                Content::Blocks(mut blocks) if blocks.len() == 1 => {
                    wrapped(&role, "[", blocks.pop().map(|block| block.json).unwrap_or_default(), "]")
                }
                Content::Blocks(blocks) => {
                    let blocks: Vec<&str> = blocks.iter().map(|block| block.json.as_str()).collect();
                    wrapped(&role, "", list(&blocks), "")
                }
            };
            Some(Message { json, source: entry.source, outcomes: entry.outcomes })
        })
    }
}

impl Content {
    /// Adds the blocks of a further line. A line can repeat a block that has grown since: then it takes its place.
    fn append(&mut self, added: Content) {
        let mut blocks = std::mem::replace(self, Content::Blocks(Vec::new())).into_blocks();
        for block in added.into_blocks() {
            let last = blocks.len().saturating_sub(1);
            let known = blocks.iter().enumerate().position(|(at, known)| known.is_in(&block, at == last));
            match known.and_then(|at| blocks.get_mut(at)) {
                Some(known) => *known = block,
                None => blocks.push(block),
            }
        }
        *self = Content::Blocks(blocks);
    }

    fn into_blocks(self) -> Vec<Block> {
        match self {
            Content::Blocks(blocks) => blocks,
            Content::Whole(text) if text == "\"\"" => Vec::new(),
            Content::Whole(text) => {
                let said = Index::of(&text).ok().and_then(|index| Some(index.root(&text).str()?.into_owned()));
                vec![Block { json: text_block(&said.unwrap_or(text)), call: None, is_said: true }]
            }
        }
    }
}

impl Block {
    fn of(block: Slice<'_>) -> Self {
        let kind = block.text("type");
        let call = kind.as_ref().filter(|kind| *kind == "tool_use").and_then(|_| block.string("id"));
        let is_said = matches!(kind.as_deref(), Some("text" | "thinking"));
        Block { json: with_room(block.raw()), call, is_said }
    }

    /// Whether `new` is this once more. Only the last block can have grown: the model writes them one after another.
    fn is_in(&self, new: &Block, is_last: bool) -> bool {
        match (&self.call, &new.call) {
            (Some(call), Some(new)) => call == new,
            _ => self.is_said && new.is_said && says_that(&self.json, &new.json, is_last),
        }
    }
}

/// Whether `new` says what the text or the thinking in `old` says, or goes on from it. What is signed is complete.
fn says_that(old: &str, new: &str, can_grow: bool) -> bool {
    let (Ok(old_index), Ok(new_index)) = (Index::of(old), Index::of(new)) else { return false };
    let (old, new) = (old_index.root(old), new_index.root(new));
    let kind = old.text("type");
    if kind != new.text("type") {
        return false;
    }
    let starts = |name: &str| {
        let (old, new) = (old.text(name).unwrap_or_default(), new.text(name).unwrap_or_default());
        !old.is_empty() && if can_grow { new.starts_with(&*old) } else { new == old }
    };
    match kind.as_deref() {
        Some("text") => starts("text"),
        Some("thinking") => match old.text("signature").filter(|signature| !signature.is_empty()) {
            Some(signature) => new.says("signature", &signature),
            None => starts("thinking"),
        },
        _ => false,
    }
}
