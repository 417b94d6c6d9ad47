//! What a reader finds in a file: messages in a provider's own shape, where each stands in the file, and what else is
//! known of it.

use crate::document::Slice;

use super::format::Scope;
use super::line::Line;
use super::write::joined;

/// Everything that was read from a file.
#[derive(Default)]
pub struct Output {
    /// The messages, in the order in which the model sees them.
    pub messages: Vec<Message>,
    /// What could not be read, or was read with a loss.
    pub warnings: Vec<Warning>,
    /// How many lines or entries of each kind are no messages.
    pub kinds: Vec<(String, usize)>,
    /// The summary that the file itself carries for its transcript.
    pub summary: Option<String>,
    /// Offset of the text that is being read, in the file.
    pub(super) base: usize,
    /// Which of several transcripts is wanted.
    pub(super) wanted: Option<usize>,
}

/// A message and where it comes from.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its JSON. A part of the file wherever possible, byte for byte.
    pub json: String,
    /// Where it comes from.
    pub source: Source,
    /// What the file says of the tool results in it, beside the message.
    pub outcomes: Vec<Outcome>,
}

/// Where a message stands in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The line, counted from 1, in files of lines.
    pub line: Option<usize>,
    /// The way to it in a JSON document, such as `messages[3]`.
    pub path: Option<String>,
    /// The first byte of the line or the value.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
    /// The lines of the other parts, where one message was written as several.
    pub also_lines: Vec<usize>,
    /// The message's own id in the file.
    pub id: Option<String>,
    /// `abandoned` when a rewind or a retry left it, `compacted` when a summary stands for it, `hidden` when the host
    /// does not send it. Only where every message is listed.
    pub branch: Option<&'static str>,
    /// The sub-agent that it belongs to.
    pub sidechain: Option<String>,
}

/// What a file says of a tool result, beside the result itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The call that the result answers; `None` for the only result of its message.
    pub call_id: Option<String>,
    /// Whether it reports a failure.
    pub failed: bool,
    /// Whether a person refused the call. That is no failure.
    pub refused: bool,
    /// Whether that is a guess from a text or an exit code, rather than a flag of the host's.
    pub inferred: bool,
    /// What says so, in words.
    pub because: String,
}

/// Something that was not read as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What kind of thing, a stable name.
    pub code: &'static str,
    /// The line, counted from 1, in files of lines.
    pub line: Option<usize>,
    /// The way to it in a JSON document.
    pub path: Option<String>,
    /// What happened, in words.
    pub message: String,
}

impl Output {
    /// Counts a line or an entry that is no message.
    pub fn count(&mut self, kind: &str) {
        match self.kinds.iter_mut().find(|(known, _)| known == kind) {
            Some((_, count)) => *count += 1,
            None => self.kinds.push((kind.to_owned(), 1)),
        }
    }

    /// Warns of something in a line.
    pub fn warn_line(&mut self, code: &'static str, line: usize, message: impl Into<String>) {
        add_warning(&mut self.warnings, Warning { code, line: Some(line), path: None, message: message.into() });
    }

    /// Warns of something in a document.
    pub fn warn_path(&mut self, code: &'static str, path: impl Into<String>, message: impl Into<String>) {
        self.warn_at(code, None, &path.into(), message);
    }

    /// Warns of something in a line, or at a path of a document.
    pub fn warn_at(&mut self, code: &'static str, line: Option<usize>, path: &str, message: impl Into<String>) {
        let path = Some(path.to_owned()).filter(|path| !path.is_empty());
        add_warning(&mut self.warnings, Warning { code, line, path, message: message.into() });
    }

    /// Warns of something about the whole file.
    pub fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        self.warn_at(code, None, "", message);
    }

    /// Warns of something that stands at this place.
    pub fn warn_of(&mut self, code: &'static str, place: &Source, message: impl Into<String>) {
        let Source { line, path, .. } = place.clone();
        add_warning(&mut self.warnings, Warning { code, line, path, message: message.into() });
    }

    /// Counts something of a type that no reader knows, and warns of it.
    pub fn unknown(&mut self, place: &Source, what: &str, kind: &str) {
        self.count(if kind.is_empty() { "unknown" } else { kind });
        self.warn_of("unknown_type", place, format!("{what} of type \"{kind}\": left out"));
    }

    /// Adds messages, each with whether it is a result. Results in a row become one message: hosts write them one by
    /// one, and providers want those of a turn together. `list` is the field that holds them.
    pub fn put_joined(&mut self, messages: Vec<(Message, bool)>, list: &str, scope: Scope) {
        let mut run: Vec<Message> = Vec::new();
        for (message, is_result) in messages {
            if scope == Scope::Model && message.source.branch.is_some() {
                self.put(message, scope);
                continue;
            }
            let goes_on = run.last().is_some_and(|last| is_result && last.source.branch == message.source.branch);
            if !goes_on {
                self.put_run(&mut run, list);
            }
            if is_result {
                run.push(message);
            } else {
                self.put(message, scope);
            }
        }
        self.put_run(&mut run, list);
    }

    fn put_run(&mut self, run: &mut Vec<Message>, list: &str) {
        let texts: Vec<&str> = run.iter().map(|message| message.json.as_str()).collect();
        let json = if texts.len() > 1 { joined(&texts, list) } else { None };
        let mut run = run.drain(..);
        if let Some(json) = json
            && let Some(mut first) = run.next()
        {
            first.json = json;
            for message in run.by_ref() {
                first.source.also_lines.extend(message.source.line);
                first.outcomes.extend(message.outcomes);
            }
            self.messages.push(first);
        }
        // One alone, or what is in no list: as it stands.
        self.messages.extend(run);
    }

    /// Warns of a part of a message, which is passed on.
    pub fn warn_unknown(&mut self, source: &Source, kind: &str) {
        self.warn_of("unknown_type", source, ["a part of the unknown type ", kind, ": passed on"].concat());
    }

    /// The place of a value of the document that is being read.
    pub fn place(&self, path: impl Into<String>, value: Slice<'_>) -> Source {
        Source {
            path: Some(path.into()),
            start: self.base + value.start(),
            end: self.base + value.end(),
            ..Source::default()
        }
    }

    /// Adds a message; where only what the model sees is wanted, counts one that it does not see.
    pub fn put(&mut self, message: Message, scope: Scope) {
        match (scope, &message.source.sidechain, message.source.branch) {
            (Scope::Model, Some(id), _) => self.count(&["sidechain:", id].concat()),
            (Scope::Model, None, Some(branch)) => self.count(branch),
            _ => self.messages.push(message),
        }
    }

    /// Which of `count` transcripts is to be read: the wanted one, else the first, and then it warns of the others.
    pub fn choose(&mut self, count: usize, path: &str) -> usize {
        match self.wanted {
            Some(wanted) if wanted < count => wanted,
            Some(_) => {
                self.warn_path("no_such_transcript", path, format!("there are {count} transcripts: none was read"));
                usize::MAX
            }
            None => {
                if count > 1 {
                    self.warn_path("several_transcripts", path, format!("{count} transcripts: the first was read"));
                }
                0
            }
        }
    }

    /// Adds a value of the document that is a message as it stands.
    pub fn take(&mut self, path: impl Into<String>, value: Slice<'_>) {
        let source = self.place(path, value);
        self.messages.push(Message::new(value.raw().to_owned(), source));
    }
}

/// Adds a warning in the order of the lines.
pub fn add_warning(warnings: &mut Vec<Warning>, warning: Warning) {
    let at = warnings.partition_point(|known| known.line <= warning.line);
    warnings.insert(at, warning);
}

impl Message {
    /// A message of which nothing further is known.
    pub fn new(json: String, source: Source) -> Self {
        Message { json, source, outcomes: Vec::new() }
    }
}

impl Source {
    /// The place of a whole line.
    pub fn of_line(line: &Line<'_>) -> Self {
        Source { line: Some(line.number), start: line.start, end: line.end, ..Source::default() }
    }

    /// The place of a value in a line.
    pub fn in_line(line: &Line<'_>, value: Slice<'_>) -> Self {
        let (start, end) = (line.start + value.start(), line.start + value.end());
        Source { line: Some(line.number), start, end, ..Source::default() }
    }

    /// Says why the model does not see it, unless that is said already.
    pub fn leave(&mut self, branch: &'static str) {
        self.branch.get_or_insert(branch);
    }
}

impl Outcome {
    /// A failure that a flag of the host's reports.
    pub fn failure(call_id: Option<String>, because: impl Into<String>) -> Self {
        Outcome { call_id, failed: true, refused: false, inferred: false, because: because.into() }
    }

    /// A success that a flag of the host's reports.
    pub fn success(call_id: Option<String>, because: impl Into<String>) -> Self {
        Outcome { failed: false, ..Outcome::failure(call_id, because) }
    }

    /// A refusal by the user.
    pub fn refusal(call_id: Option<String>, because: impl Into<String>) -> Self {
        Outcome { failed: false, refused: true, ..Outcome::failure(call_id, because) }
    }

    /// The same, as a guess.
    #[must_use]
    pub fn inferred(self) -> Self {
        Outcome { inferred: true, ..self }
    }
}
