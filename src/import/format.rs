//! The table of formats. Adding one is one new file and one line here.

use crate::document::Slice;

use super::line::Line;
use super::output::Output;

/// Which messages of a file are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// What the model saw last: behind the last compaction, on the active branch, without sub-agents.
    #[default]
    Model,
    /// Every message in file order; those that the model does not see are marked in their source.
    All,
}

/// How sure a format is that a file is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Another format may look like it.
    Possible,
    /// Few others look like it.
    Likely,
    /// Its own marks are there.
    Certain,
}

/// What a format recognises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sniff {
    /// How sure it is.
    pub confidence: Confidence,
    /// What it saw, in words.
    pub reason: &'static str,
}

/// Recognised for certain.
pub const fn certain(reason: &'static str) -> Option<Sniff> {
    Some(Sniff { confidence: Confidence::Certain, reason })
}

/// Recognised, most likely.
pub const fn likely(reason: &'static str) -> Option<Sniff> {
    Some(Sniff { confidence: Confidence::Likely, reason })
}

/// Recognised, unless another format is surer.
pub const fn possible(reason: &'static str) -> Option<Sniff> {
    Some(Sniff { confidence: Confidence::Possible, reason })
}

/// Reads a file line by line.
pub trait ReadLines {
    /// Reads a line.
    fn line(&mut self, line: &Line<'_>, out: &mut Output);
    /// Puts out what was read, when the file ends.
    fn finish(self: Box<Self>, out: &mut Output);
}

/// Looks at a line, or at a document.
pub type SniffValue = fn(Slice<'_>) -> Option<Sniff>;
/// Looks at a text that is not JSON.
pub type SniffText = fn(&str) -> Option<Sniff>;
/// Makes a reader of lines.
pub type MakeReader = fn(Scope) -> Box<dyn ReadLines>;
/// Reads a whole JSON document.
pub type ReadDocument = fn(Slice<'_>, Scope, &mut Output);
/// Reads a text that is not JSON.
pub type ReadText = fn(&str, Scope, &mut Output);

/// A format of session files.
pub struct Format {
    /// Its name in the API.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Files of lines: what one line tells, and the reader.
    pub lines: Option<(SniffValue, MakeReader)>,
    /// JSON documents: what the document tells, and the reader.
    pub document: Option<(SniffValue, ReadDocument)>,
    /// Texts that are not JSON.
    pub text: Option<(SniffText, ReadText)>,
}

impl Format {
    /// A format that reads nothing yet: the base of the others.
    pub const fn new(name: &'static str, title: &'static str) -> Self {
        Format { name, title, lines: None, document: None, text: None }
    }
}

/// Every format, the most specific first: among equally sure ones the first counts.
pub const FORMATS: &[&Format] = &[
    &super::claude_code::FORMAT,
    &super::codex::FORMAT,
    &super::gemini_cli::FORMAT,
    &super::qwen::FORMAT,
    &super::pi::FORMAT,
    &super::copilot_cli::FORMAT,
    &super::cursor::FORMAT,
    &super::opencode::FORMAT,
    &super::cline::FORMAT,
    &super::vscode_chat::FORMAT,
    &super::goose::FORMAT,
    &super::amp::FORMAT,
    &super::grok::FORMAT,
    &super::kiro::FORMAT,
    &super::gptme::FORMAT,
    &super::openhands::FORMAT,
    &super::swe_agent::FORMAT,
    &super::inspect::FORMAT,
    &super::atif::FORMAT,
    &super::otel::FORMAT,
    &super::chatgpt::FORMAT,
    &super::claude_ai::FORMAT,
    // Wire shapes: what looks like them to one of the above is that format's.
    &super::harn::FORMAT,
    &super::langchain::FORMAT,
    &super::ai_sdk::FORMAT,
    &super::gemini::FORMAT,
    &super::bedrock::FORMAT,
    &super::openai_responses::FORMAT,
    &super::anthropic::FORMAT,
    &super::openai_chat::FORMAT,
];

/// The format of this name.
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name)
}
