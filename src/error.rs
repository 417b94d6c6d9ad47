//! The one error type: what was wrong, where, and what was expected there.

use std::fmt;

/// What kind of mistake an error is about. The text form is stable and part of the public API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The input is neither a transcript nor a list of messages.
    InvalidTranscript,
    /// A message, or a field of one, has the wrong type.
    InvalidMessage,
    /// An option has the wrong type or an impossible value.
    InvalidOption,
    /// An option that does not exist.
    UnknownOption,
    /// A policy that does not exist.
    UnknownPolicy,
    /// Policy `custom` without a projector.
    ProjectorRequired,
    /// The projector returned something that is not a projection.
    ProjectorResult,
    /// The projector returned a promise to the synchronous call.
    ProjectorAsync,
    /// A redaction pointer that is not one.
    PointerInvalid,
    /// A redaction pointer that names nothing in this transcript.
    PointerNotFound,
    /// An event that is no `transcript.projection` event.
    EventInvalid,
    /// A custom projection made new messages and can only be replayed with its projector.
    ReplayNeedsProjector,
    /// The turn of a session depends on the turns before it and can only be replayed with them.
    ReplayNeedsSession,
    /// Text that is not JSON.
    InvalidJson,
    /// A provider that the engine does not know.
    UnknownProvider,
    /// A file without content.
    EmptyFile,
    /// A file of a kind that cannot be read here: packed, a database, binary.
    UnsupportedFile,
    /// A file that no importer recognises.
    UnknownFormat,
    /// The caller's own callback failed; its error is with the caller.
    CallbackFailed,
}

impl ErrorCode {
    /// The stable text form.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorCode::InvalidTranscript => "invalid_transcript",
            ErrorCode::InvalidMessage => "invalid_message",
            ErrorCode::InvalidOption => "invalid_option",
            ErrorCode::UnknownOption => "unknown_option",
            ErrorCode::UnknownPolicy => "unknown_policy",
            ErrorCode::ProjectorRequired => "projector_required",
            ErrorCode::ProjectorResult => "projector_result",
            ErrorCode::ProjectorAsync => "projector_async",
            ErrorCode::PointerInvalid => "pointer_invalid",
            ErrorCode::PointerNotFound => "pointer_not_found",
            ErrorCode::EventInvalid => "event_invalid",
            ErrorCode::ReplayNeedsProjector => "replay_needs_projector",
            ErrorCode::ReplayNeedsSession => "replay_needs_session",
            ErrorCode::InvalidJson => "invalid_json",
            ErrorCode::UnknownProvider => "unknown_provider",
            ErrorCode::EmptyFile => "empty_file",
            ErrorCode::UnsupportedFile => "unsupported_file",
            ErrorCode::UnknownFormat => "unknown_format",
            ErrorCode::CallbackFailed => "callback_failed",
        }
    }
}

/// A mistake in what the caller gave, named precisely enough to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectionError(Box<Mistake>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Mistake {
    code: ErrorCode,
    path: String,
    expected: String,
    found: String,
}

impl ProjectionError {
    /// An error of kind `code` at `path`.
    pub fn new(
        code: ErrorCode,
        path: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let mistake = Mistake { code, path: path.into(), expected: expected.into(), found: found.into() };
        ProjectionError(Box::new(mistake))
    }

    /// The kind of mistake.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Where it is, as a path into the input: `options.root_window`, `messages[3].tool_calls[0].id`.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What was expected there.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// What was found instead, in words.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// The same mistake in a message that a projector returned.
    #[must_use]
    pub fn of_projector(mut self) -> Self {
        self.0.code = ErrorCode::ProjectorResult;
        self.0.path =
            self.0.path.strip_prefix("messages").map_or("projector()".to_owned(), |at| format!("projector(){at}"));
        self
    }

    /// The same mistake with its path below `parent`.
    #[must_use]
    pub fn below(mut self, parent: &str) -> Self {
        self.0.path = format!("{parent}.{}", self.0.path);
        self
    }
}

impl fmt::Display for ProjectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.path(), self.expected(), self.found())
    }
}

impl std::error::Error for ProjectionError {}
