//! What a file is, from its first bytes and its first lines.

use std::borrow::Cow;

use crate::document::{Document, Index, Slice};
use crate::error::{ErrorCode, ProjectionError};
use crate::json::mistake as not_json;

use super::format::{Confidence, FORMATS, Format, Sniff};
use super::line::{each_line, is_blank, line_end, nul_bytes, without_cr};

/// How many lines are looked at: titles and snapshots can stand before the first message.
const MOST_LINES: usize = 256;
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// What a file is, and why.
#[derive(Clone, Copy)]
pub struct Detection {
    /// The format.
    pub format: &'static Format,
    /// How sure that is.
    pub confidence: Confidence,
    /// What was seen, in words.
    pub reason: &'static str,
}

impl Detection {
    fn new(format: &'static Format, sniff: Sniff) -> Self {
        Detection { format, confidence: sniff.confidence, reason: sniff.reason }
    }

    fn told(format: &'static Format) -> Self {
        Detection { format, confidence: Confidence::Certain, reason: "the caller named it" }
    }
}

impl Confidence {
    /// The name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Confidence::Possible => "possible",
            Confidence::Likely => "likely",
            Confidence::Certain => "certain",
        }
    }
}

/// Says what a file is.
///
/// # Errors
/// When it is of no known format, or of none that can be read here.
pub fn detect_format(bytes: &[u8]) -> Result<Detection, ProjectionError> {
    let mut sniffer = Sniffer::new(None);
    if let Verdict::Lines(detection) = sniffer.look(bytes) {
        return Ok(detection);
    }
    Ok(match whole(bytes, None)? {
        Whole::Lines(detection) | Whole::Document(detection, ..) | Whole::Text(detection, ..) => detection,
    })
}

/// What the first bytes decide.
pub enum Verdict {
    /// Nothing yet.
    Undecided,
    /// Lines of this format.
    Lines(Detection),
    /// All of it must be there to decide.
    Whole,
}

/// Looks at the lines of a file as they come.
pub struct Sniffer {
    told: Option<&'static Format>,
    is_started: bool,
    /// Where the line starts that is not complete yet.
    start: usize,
    /// Where to go on: what was searched once is not searched again, however small the pieces are.
    searched: usize,
    lines: usize,
    best: Option<Detection>,
}

impl Sniffer {
    /// A sniffer that has seen nothing; `told` is the format that the caller named.
    pub fn new(told: Option<&'static Format>) -> Self {
        Sniffer { told, is_started: false, start: 0, searched: 0, lines: 0, best: None }
    }

    /// Looks at what is new in the bytes from the start of the file.
    pub fn look(&mut self, bytes: &[u8]) -> Verdict {
        if !self.is_started {
            if BOM.starts_with(bytes) {
                return Verdict::Undecided;
            }
            let bom = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
            self.searched = self.searched.max(bom);
            let rest = bytes.get(self.searched..).unwrap_or_default();
            let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.searched += blank;
            self.start = self.searched;
            match rest.get(blank) {
                Some(b'{') => self.is_started = true,
                Some(_) => return Verdict::Whole,
                None => return Verdict::Undecided,
            }
        }
        while let Some(end) = line_end(bytes.get(self.searched..).unwrap_or_default()) {
            let end = self.searched + end;
            let line = bytes.get(self.start..end).unwrap_or_default();
            self.searched = end + 1;
            self.start = self.searched;
            if let Some(decided) = self.line(without_cr(line)) {
                return decided;
            }
        }
        self.searched = bytes.len();
        Verdict::Undecided
    }

    fn line(&mut self, line: &[u8]) -> Option<Verdict> {
        if is_blank(line) {
            return None;
        }
        self.lines += 1;
        let found = sniff_line(line, self.told);
        if self.lines == 1 && found.is_none() && parsed(line).is_none() {
            // The first line of a document that is written over several, most likely.
            return Some(Verdict::Whole);
        }
        self.best = better(self.best, found);
        match self.best {
            Some(best) if best.confidence == Confidence::Certain => Some(Verdict::Lines(best)),
            Some(best) if self.lines >= MOST_LINES => Some(Verdict::Lines(best)),
            None if self.lines >= MOST_LINES => Some(Verdict::Whole),
            _ => None,
        }
    }
}

fn better(best: Option<Detection>, found: Option<Detection>) -> Option<Detection> {
    match (best, found) {
        (Some(best), Some(found)) if found.confidence > best.confidence => Some(found),
        (best, found) => best.or(found),
    }
}

fn parsed(bytes: &[u8]) -> Option<(Cow<'_, str>, Index)> {
    let (before, behind) = nul_bytes(bytes);
    let bytes = bytes.get(before..bytes.len() - behind).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    let index = Index::of(&text).ok()?;
    Some((text, index))
}

fn sniff_line(bytes: &[u8], told: Option<&'static Format>) -> Option<Detection> {
    let (text, index) = parsed(bytes)?;
    let value = index.root(&text);
    if !value.is_object() {
        return None;
    }
    best_of(told, value, |format, value| format.lines.and_then(|(sniff, _)| sniff(value)))
}

/// The surest of the formats; the first of equally sure ones.
fn best_of(
    told: Option<&'static Format>,
    value: Slice<'_>,
    sniff: fn(&Format, Slice<'_>) -> Option<Sniff>,
) -> Option<Detection> {
    let mut best = None;
    for format in FORMATS.iter().copied().filter(|format| told.is_none_or(|told| std::ptr::eq(told, *format))) {
        best = better(best, sniff(format, value).map(|found| Detection::new(format, found)));
    }
    best
}

/// What a file is of which all is there.
pub enum Whole {
    /// Lines.
    Lines(Detection),
    /// A JSON document, and where its text starts in the file.
    Document(Detection, Document, usize),
    /// A text that is not JSON, and where it starts in the file.
    Text(Detection, String, usize),
}

/// Decides about a file of which all is there.
pub fn whole(bytes: &[u8], told: Option<&'static Format>) -> Result<Whole, ProjectionError> {
    if bytes.strip_prefix(BOM).unwrap_or(bytes).iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0) {
        return Err(ProjectionError::new(ErrorCode::EmptyFile, "file", "a session file", "an empty file"));
    }
    if let Some(kind) = packed(bytes) {
        let expected = "a session file of text or JSON";
        return Err(ProjectionError::new(ErrorCode::UnsupportedFile, "file", expected, kind));
    }
    let bom = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let bytes = bytes.get(bom..).unwrap_or_default();
    let (before, behind) = nul_bytes(bytes);
    let base = bom + before;
    let text = String::from_utf8_lossy(bytes.get(before..bytes.len() - behind).unwrap_or_default());
    let mistake = match Document::parse(&*text) {
        Ok(document) => match of_document(document.root(), &text, told) {
            Some((detection, true)) => return Ok(Whole::Document(detection, document, base)),
            Some((detection, false)) => return Ok(Whole::Lines(detection)),
            None => return Err(unknown(&in_words(document.root()))),
        },
        Err(mistake) => mistake,
    };
    let mut best = None;
    let mut lines = 0;
    let mut first = None;
    each_line(text.as_bytes(), &mut |line| {
        if lines < MOST_LINES && !is_blank(line.bytes) {
            lines += 1;
            if lines == 1 {
                first = parsed(line.bytes).map(|(text, index)| "lines of ".to_owned() + &in_words(index.root(&text)));
            }
            best = better(best, sniff_line(line.bytes, told));
        }
    });
    if let Some(best) = best {
        return Ok(Whole::Lines(best));
    }
    if let Some(format) = told.filter(|format| format.lines.is_some()) {
        return Ok(Whole::Lines(Detection::told(format)));
    }
    let texts = FORMATS.iter().copied().filter(|format| told.is_none_or(|told| std::ptr::eq(told, *format)));
    for format in texts {
        if let Some(found) = format.text.and_then(|(sniff, _)| sniff(&text)) {
            return Ok(Whole::Text(Detection::new(format, found), text.into_owned(), base));
        }
    }
    if let Some(first) = first {
        return Err(unknown(&first));
    }
    if text.trim_start().starts_with(['{', '[']) {
        return Err(not_json(&mistake));
    }
    Err(unknown("text that is no JSON"))
}

/// The format of a document, and whether it is one rather than a file of a single line.
fn of_document(root: Slice<'_>, text: &str, told: Option<&'static Format>) -> Option<(Detection, bool)> {
    let whole = best_of(told, root, |format, root| format.document.and_then(|(sniff, _)| sniff(root)));
    let is_one_line = root.is_object() && !text.trim().contains('\n');
    let line = if is_one_line {
        best_of(told, root, |format, root| format.lines.and_then(|(sniff, _)| sniff(root)))
    } else {
        None
    };
    // A format of lines is told in vain about a document of several.
    let told = || {
        let is_told = |format: &&Format| format.document.is_some() || (is_one_line && format.lines.is_some());
        told.filter(is_told).map(|format| (Detection::told(format), format.document.is_some()))
    };
    match (whole, line) {
        (Some(whole), Some(line)) if line.confidence > whole.confidence => Some((line, false)),
        (Some(whole), _) => Some((whole, true)),
        (None, Some(line)) => Some((line, false)),
        (None, None) => told(),
    }
}

/// The error of a file that no format knows.
pub fn unknown(found: &str) -> ProjectionError {
    let names = FORMATS.iter().fold(String::new(), |names, format| names + ", " + format.name);
    let expected = format!("a session file of a known format{names}").replacen(',', ":", 1);
    ProjectionError::new(ErrorCode::UnknownFormat, "file", expected, found)
}

fn in_words(root: Slice<'_>) -> String {
    if !root.is_object() {
        return format!("JSON that is {}", root.kind_in_words());
    }
    let mut words = "a JSON object with the fields".to_owned();
    for (at, (name, _)) in root.fields().iter().take(8).enumerate() {
        words.push_str(if at == 0 { " " } else { ", " });
        words.push_str(&name.chars().take(40).collect::<String>());
    }
    words
}

/// What a file of bytes is, if it is one.
fn packed(bytes: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 8] = [
        (b"PK\x03\x04", "a ZIP archive (Inspect AI writes .eval files so): unpack it and give the JSON in it"),
        (b"\x1F\x8B", "a file packed with gzip: unpack it first"),
        (b"\x28\xB5\x2F\xFD", "a file packed with zstd: unpack it first"),
        (b"SQLite format 3\0", "an SQLite database: export the session as JSON first"),
        (b"\xFF\xFE", "text in UTF-16: save it as UTF-8 first"),
        (b"\xFE\xFF", "text in UTF-16: save it as UTF-8 first"),
        (b"%PDF", "a PDF file"),
        (b"\x89PNG", "a picture"),
    ];
    let known = kinds.into_iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| kind);
    known.or_else(|| {
        let first = bytes.get(..bytes.len().min(4096)).unwrap_or_default();
        let control =
            first.iter().filter(|byte| **byte < 0x20 && !byte.is_ascii_whitespace() && **byte != 0x1B).count();
        (control * 10 > first.len()).then_some("a binary file")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_at_no_byte_twice() {
        let line = [b"\xEF\xBB\xBF  {\"text\":\"".as_slice(), &[b'x'; 10_000], b"\"}"].concat();
        let mut sniffer = Sniffer::new(None);
        for end in (0..line.len()).step_by(7) {
            assert!(matches!(sniffer.look(line.get(..end).unwrap_or_default()), Verdict::Undecided));
            assert_eq!(sniffer.searched, if end <= BOM.len() { 0 } else { end });
        }
        let blank = [b' '; 100];
        let mut sniffer = Sniffer::new(None);
        assert!(matches!(sniffer.look(&blank), Verdict::Undecided));
        assert_eq!(sniffer.searched, blank.len());
    }
}
