//! Session files of coding agents and providers: bytes in, a transcript out. Every message keeps the provider's own
//! shape and, wherever it can, its very bytes; what is no message is counted, and what cannot be read is warned of.

mod ai_sdk;
mod amp;
mod anthropic;
mod atif;
mod bedrock;
mod chatgpt;
mod claude_ai;
mod claude_code;
mod cline;
mod codex;
mod copilot_cli;
mod cursor;
mod detect;
mod format;
mod gemini;
mod gemini_cli;
mod goose;
mod gptme;
mod grok;
mod harn;
mod inspect;
mod kiro;
mod langchain;
mod line;
mod look;
mod openai_chat;
mod openai_responses;
mod opencode;
mod openhands;
mod otel;
mod output;
mod parts;
mod pi;
mod positions;
mod qwen;
mod swe_agent;
mod tree;
mod vscode_chat;
mod wire;
mod write;

use crate::document::{Document, Slice, as_node};
use crate::error::{ErrorCode, ProjectionError};
use crate::exchange::Exchanges;
use crate::facts::MessageFacts;
use crate::projection::{Transcript, apply_verdicts};
use crate::report::Verdict;

pub use detect::{Detection, detect_format};
pub use format::{Confidence, FORMATS, Format, Scope};
use format::{ReadLines, named};
use line::{Lines, read_line};
pub use output::{Message, Outcome, Output, Source, Warning};

/// How to read a file.
#[derive(Clone, Copy, Default)]
pub struct ImportOptions {
    /// The format; found out from the file when there is none.
    pub format: Option<&'static Format>,
    /// Which messages are wanted.
    pub scope: Scope,
    /// Which transcript of a file that holds several, counted from 0: the first, with a warning, when it is not said.
    pub transcript: Option<usize>,
}

impl ImportOptions {
    /// The options with these names in them.
    ///
    /// # Errors
    /// When there is no such format or view.
    pub fn named(format: Option<&str>, view: Option<&str>) -> Result<Self, ProjectionError> {
        let unknown = |path: &str, expected: String, found: &str| {
            ProjectionError::new(ErrorCode::InvalidOption, path, expected, format!("\"{found}\""))
        };
        let format = match format {
            None | Some("auto") => None,
            Some(name) => {
                let all = FORMATS.iter().fold("one of auto".to_owned(), |all, format| all + ", " + format.name);
                Some(named(name).ok_or_else(|| unknown("options.format", all, name))?)
            }
        };
        let scope = match view {
            None | Some("model") => Scope::Model,
            Some("all") => Scope::All,
            Some(other) => return Err(unknown("options.view", "\"model\" or \"all\"".to_owned(), other)),
        };
        Ok(ImportOptions { format, scope, transcript: None })
    }
}

/// A file that was read.
pub struct Import {
    /// What it is.
    pub detection: Detection,
    /// The messages, exactly as the file spells them.
    pub messages: Vec<Document>,
    /// Where each message comes from.
    pub source: Vec<Source>,
    /// What the file says of tool results, beside the results themselves.
    pub outcomes: Vec<ResultOutcome>,
    /// What could not be read, or was read with a loss.
    pub warnings: Vec<Warning>,
    /// Counts.
    pub stats: Stats,
    /// The summary that the file carries.
    pub summary: Option<String>,
}

/// What is known of one tool result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultOutcome {
    /// The message that holds it.
    pub message_index: usize,
    /// Its block in the message, if it is one.
    pub block_index: Option<usize>,
    /// What is known.
    pub outcome: Outcome,
}

/// What there is in a file, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes read.
    pub bytes: usize,
    /// Lines, in files of lines.
    pub lines: usize,
    /// Messages.
    pub messages: usize,
    /// Tool calls.
    pub calls: usize,
    /// Tool results.
    pub results: usize,
    /// Calls without a result.
    pub unanswered_calls: usize,
    /// Results that answer no call of these messages.
    pub orphan_results: usize,
    /// Results that report a failure.
    pub failed_results: usize,
    /// Results of which that is a guess.
    pub inferred_failures: usize,
    /// Calls that a person refused.
    pub refused_calls: usize,
    /// Lines or entries that are no messages, by kind.
    pub kinds: Vec<(String, usize)>,
}

impl Import {
    /// The transcript, with what is known of its results.
    pub fn transcript(&self) -> Transcript<Slice<'_>> {
        Transcript {
            messages: self.messages.iter().map(Document::root).collect(),
            summary: self.summary.clone(),
            verdicts: self.verdicts(),
        }
    }

    /// What is known of results, as a projection records it.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let verdict = |known: &ResultOutcome| Verdict {
            message_index: known.message_index,
            block_index: known.block_index,
            is_error: known.outcome.failed,
            refused: known.outcome.refused,
        };
        self.outcomes.iter().map(verdict).collect()
    }
}

/// Reads a file that is all there.
///
/// # Errors
/// When it is of no known format, or of none that can be read here.
pub fn import(bytes: &[u8], options: ImportOptions) -> Result<Import, ProjectionError> {
    let mut importer = Importer::new(options);
    importer.push(bytes);
    importer.finish()
}

/// Reads a file in pieces. Files of lines are read as they come: what is kept is the messages.
pub struct Importer {
    options: ImportOptions,
    lines: Lines,
    stage: Stage,
    out: Output,
    bytes: usize,
}

enum Stage {
    /// Nothing but what was seen decides yet.
    Open(detect::Sniffer),
    /// One JSON document, or a text: it is read when all of it is there.
    Whole,
    /// Lines of a known format.
    Lines(Detection, Box<dyn ReadLines>),
}

impl Importer {
    /// An importer that has seen nothing.
    pub fn new(options: ImportOptions) -> Self {
        let stage = Stage::Open(detect::Sniffer::new(options.format));
        let out = Output { wanted: options.transcript, ..Output::default() };
        Importer { options, lines: Lines::default(), stage, out, bytes: 0 }
    }

    /// Adds bytes.
    pub fn push(&mut self, chunk: &[u8]) {
        self.bytes += chunk.len();
        self.lines.push(chunk);
        if let Stage::Open(sniffer) = &mut self.stage {
            match sniffer.look(&self.lines.rest) {
                detect::Verdict::Undecided => return,
                detect::Verdict::Whole => self.stage = Stage::Whole,
                detect::Verdict::Lines(detection) => self.start_lines(detection),
            }
        }
        self.read_lines(false);
    }

    fn start_lines(&mut self, detection: Detection) {
        let bom = b"\xEF\xBB\xBF";
        if self.lines.rest.starts_with(bom) {
            self.lines.rest.drain(..bom.len());
            self.lines.start = bom.len();
        }
        if let Some((_, make)) = detection.format.lines {
            self.stage = Stage::Lines(detection, make(self.options.scope));
        }
    }

    /// Warns of what was wrong with the bytes of a document; those of lines are looked at line by line.
    fn warn_of_bytes(&mut self) {
        if std::str::from_utf8(&self.lines.rest).is_err() {
            self.out.warn("invalid_utf8", "bytes that are not UTF-8: read as U+FFFD, which shifts the byte ranges");
        }
        if line::nul_bytes(&self.lines.rest) != (0, 0) {
            self.out.warn("nul_bytes", "NUL bytes around the text, which was read");
        }
    }

    fn read_lines(&mut self, is_last: bool) {
        let Stage::Lines(_, reader) = &mut self.stage else { return };
        let out = &mut self.out;
        let mut each = |raw: line::RawLine<'_>| read_line(raw, out, &mut |line, out| reader.line(line, out));
        if is_last {
            self.lines.finish(&mut each);
        } else {
            self.lines.drain(&mut each);
        }
    }

    /// Reads what is left and says what there was.
    ///
    /// # Errors
    /// When the file is of no known format, or of none that can be read here.
    pub fn finish(mut self) -> Result<Import, ProjectionError> {
        if !matches!(self.stage, Stage::Lines(..)) {
            match detect::whole(&self.lines.rest, self.options.format)? {
                detect::Whole::Lines(detection) => self.start_lines(detection),
                detect::Whole::Document(detection, document, base) => {
                    self.out.base = base;
                    self.warn_of_bytes();
                    if document.root().has_lone_surrogates() {
                        self.out.warn_path("lone_surrogate", "", "half of an escaped surrogate pair: hashed as U+FFFD");
                    }
                    if let Some((_, read)) = detection.format.document {
                        read(document.root(), self.options.scope, &mut self.out);
                    }
                    drop(document);
                    self.lines = Lines::default();
                    return done(detection, self.out, self.bytes, 0);
                }
                detect::Whole::Text(detection, text, base) => {
                    self.warn_of_bytes();
                    self.out.base = base;
                    if let Some((_, read)) = detection.format.text {
                        read(&text, self.options.scope, &mut self.out);
                    }
                    let mut lines = 0;
                    line::each_line(text.as_bytes(), &mut |line| lines = line.number);
                    return done(detection, self.out, self.bytes, lines);
                }
            }
        }
        self.read_lines(true);
        let Stage::Lines(detection, reader) = self.stage else {
            return Err(detect::unknown("no lines that can be read"));
        };
        reader.finish(&mut self.out);
        done(detection, self.out, self.bytes, self.lines.taken)
    }
}

/// Checks what a reader made and counts it.
fn done(detection: Detection, out: Output, bytes: usize, lines: usize) -> Result<Import, ProjectionError> {
    let mut import = Import {
        detection,
        messages: Vec::with_capacity(out.messages.len()),
        source: Vec::with_capacity(out.messages.len()),
        outcomes: Vec::new(),
        warnings: out.warnings,
        stats: Stats { bytes, lines, kinds: out.kinds, ..Stats::default() },
        summary: out.summary,
    };
    let mut facts: Vec<MessageFacts> = Vec::with_capacity(out.messages.len());
    for Message { json, source, outcomes } in out.messages {
        let index = import.messages.len();
        let document = Document::parse(json);
        let read = document.as_ref().ok().map(|document| crate::shape::read(&as_node(document.root()), index));
        let (Ok(document), Some(Ok(of_message))) = (document, read) else {
            // A message that no request can hold: its place in the file is told, so nothing is lost without a word.
            let Source { line, path, .. } = source;
            let message = "a message that no provider's shape can hold: left out".to_owned();
            output::add_warning(&mut import.warnings, Warning { code: "invalid_message", line, path, message });
            continue;
        };
        import.outcomes.extend(outcomes.into_iter().filter_map(|outcome| {
            let is_meant = |id: &Option<String>| outcome.call_id.is_none() || *id == outcome.call_id;
            let result = of_message.results.iter().find(|result| is_meant(&result.call_id))?;
            Some(ResultOutcome { message_index: index, block_index: result.place.block(), outcome })
        }));
        import.messages.push(document);
        import.source.push(source);
        facts.push(of_message);
    }
    let verdicts = import.verdicts();
    apply_verdicts(&mut facts, &verdicts);
    import.stats.count(&facts, &import.outcomes);
    Ok(import)
}

impl Stats {
    fn count(&mut self, facts: &[MessageFacts], outcomes: &[ResultOutcome]) {
        let exchanges = Exchanges::of(facts);
        let results = || facts.iter().flat_map(|facts| &facts.results);
        self.messages = facts.len();
        self.calls = exchanges.iter().count();
        self.results = results().count();
        self.unanswered_calls = exchanges.iter().filter(|exchange| exchange.results.is_empty()).count();
        let answering: usize = exchanges.iter().map(|exchange| exchange.results.len()).sum();
        self.orphan_results = self.results - answering;
        self.failed_results = results().filter(|result| result.failed && !result.refused).count();
        self.refused_calls = results().filter(|result| result.refused).count();
        let is_guess = |known: &&ResultOutcome| known.outcome.failed && known.outcome.inferred;
        self.inferred_failures = outcomes.iter().filter(is_guess).count();
    }
}
