//! Lines of a file, read one by one as bytes come in. A line ends at LF or CRLF and nowhere else: U+2028 and its like
//! are text. What is wrong with a line costs that line at most, never the ones behind it.

use std::borrow::Cow;

use crate::document::{Index, Slice};

use super::output::Output;

/// A line that holds a JSON object.
pub struct Line<'a> {
    /// Its number, counted from 1.
    pub number: usize,
    /// Where it starts in the file, in bytes.
    pub start: usize,
    /// Where it ends, without its line end.
    pub end: usize,
    /// The object.
    pub value: Slice<'a>,
}

/// The bytes of a line.
#[derive(Clone, Copy)]
pub struct RawLine<'a> {
    /// Its number, counted from 1.
    pub number: usize,
    /// Where it starts in the file.
    pub start: usize,
    /// What it holds, without its line end.
    pub bytes: &'a [u8],
    /// Whether the file ended without a line end behind it.
    pub is_cut: bool,
}

/// Takes complete lines out of bytes that come in pieces.
#[derive(Default)]
pub struct Lines {
    /// What is left of the pieces.
    pub rest: Vec<u8>,
    /// Where `rest` starts in the file.
    pub start: usize,
    /// How many lines were taken.
    pub taken: usize,
    /// How much of `rest` holds no line end.
    searched: usize,
}

impl Lines {
    /// Adds a piece.
    pub fn push(&mut self, chunk: &[u8]) {
        self.rest.extend_from_slice(chunk);
    }

    /// Hands out every complete line and forgets it.
    pub fn drain(&mut self, each: &mut dyn FnMut(RawLine<'_>)) {
        let mut at = 0;
        while let Some(end) = line_end(self.rest.get(at + self.searched..).unwrap_or_default()) {
            let end = at + self.searched + end;
            self.searched = 0;
            let bytes = self.rest.get(at..end).unwrap_or_default();
            self.taken += 1;
            each(RawLine { number: self.taken, start: self.start + at, bytes: without_cr(bytes), is_cut: false });
            at = end + 1;
        }
        self.rest.drain(..at);
        self.start += at;
        self.searched = self.rest.len();
    }

    /// Hands out what is left as the last line.
    pub fn finish(&mut self, each: &mut dyn FnMut(RawLine<'_>)) {
        self.drain(each);
        if !self.rest.is_empty() {
            self.taken += 1;
            each(RawLine { number: self.taken, start: self.start, bytes: without_cr(&self.rest), is_cut: true });
            self.start += self.rest.len();
            self.rest.clear();
        }
    }
}

/// The lines of bytes that are all there.
pub fn each_line(bytes: &[u8], each: &mut dyn FnMut(RawLine<'_>)) {
    let mut at = 0;
    let mut number = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let end = line_end(rest);
        let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        number += 1;
        each(RawLine { number, start: at, bytes: without_cr(line), is_cut: end.is_none() });
        at += line.len() + 1;
    }
}

pub fn line_end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}

pub fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether a line holds nothing but white space.
pub fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_whitespace)
}

/// How many NUL bytes stand before and behind the rest: what is left of blocks that were never written.
pub fn nul_bytes(bytes: &[u8]) -> (usize, usize) {
    let is_nul = |byte: &&u8| **byte == 0;
    let before = bytes.iter().take_while(is_nul).count();
    let behind = bytes.iter().skip(before).rev().take_while(is_nul).count();
    (before, behind)
}

/// Reads a line, and hands it on if it holds an object; else warns of what it holds.
pub fn read_line(raw: RawLine<'_>, out: &mut Output, each: &mut dyn FnMut(&Line<'_>, &mut Output)) {
    let bytes = raw.bytes;
    if is_blank(bytes) {
        return;
    }
    let (start, behind) = nul_bytes(bytes);
    let bytes = bytes.get(start..bytes.len() - behind).unwrap_or_default();
    if start > 0 || bytes.len() < raw.bytes.len() {
        let what = if is_blank(bytes) { "nothing but NUL bytes" } else { "NUL bytes around its JSON, which was read" };
        out.warn_line("nul_bytes", raw.number, what);
    }
    if is_blank(bytes) {
        return;
    }
    let text = String::from_utf8_lossy(bytes);
    let is_lossy = matches!(text, Cow::Owned(_));
    let index = match Index::of(&text) {
        Ok(index) => index,
        Err(error) => {
            let encoding = if is_lossy { "bytes that are not UTF-8, and " } else { "" };
            let (code, what) = match (raw.is_cut, error.is_eof()) {
                (true, true) => ("truncated", "a line that was cut off".to_owned()),
                _ => ("invalid_json", format!("text that is not JSON ({})", short(&error))),
            };
            out.warn_line(code, raw.number, format!("{encoding}{what}: left out"));
            return;
        }
    };
    let value = index.root(&text);
    if is_lossy {
        out.warn_line(
            "invalid_utf8",
            raw.number,
            "bytes that are not UTF-8: read as U+FFFD, which shifts byte ranges within the line",
        );
    }
    if !value.is_object() {
        out.count("not_an_object");
        out.warn_line("not_an_object", raw.number, format!("{}, no object: left out", value.kind_in_words()));
        return;
    }
    if value.has_lone_surrogates() {
        out.warn_line("lone_surrogate", raw.number, "half of an escaped surrogate pair: hashed as U+FFFD");
    }
    let start = raw.start + start;
    each(&Line { number: raw.number, start, end: start + bytes.len(), value }, out);
}

/// The error without its place: a line has one of its own.
fn short(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    format!("{} at column {}", message.strip_suffix(&place).unwrap_or(&message), error.column())
}
