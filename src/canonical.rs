//! Canonical JSON and the SHA-256 over it. Keys are sorted by their UTF-8 bytes at every depth, arrays keep their
//! order, strings are escaped minimally, integers are exact over the 64-bit range, floats are spelled as `serde_json`
//! spells them. A lone surrogate is written as U+FFFD.

use std::cell::Cell;
use std::io::Write;
use std::rc::Rc;

use serde_json::Value;
use sha2::Digest;

use crate::node::{Kind, MAX_DEPTH, Node, sort_by_name, sorted_positions};
use crate::patched::{Field, Patched};

/// A value that nests deeper than [`MAX_DEPTH`], or contains itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooDeep;

/// Canonical JSON under way.
#[derive(Default)]
pub struct Writer {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// Whether a string with a lone surrogate was met.
    pub lone_surrogate: bool,
}

impl Writer {
    /// Writes a node.
    pub fn node<N: Node>(&mut self, node: &N) -> Result<(), TooDeep> {
        self.value(node, MAX_DEPTH)
    }

    /// Writes a value that is partly a source's.
    pub fn patched<N: Node>(&mut self, value: &Patched<N>) -> Result<(), TooDeep> {
        self.patched_value(value, MAX_DEPTH)
    }

    fn value<N: Node>(&mut self, node: &N, depth: usize) -> Result<(), TooDeep> {
        let depth = depth.checked_sub(1).ok_or(TooDeep)?;
        // Most values are strings, and asking for the text says so.
        if self.text(node) {
            return Ok(());
        }
        match node.kind() {
            Kind::Null | Kind::Function => self.bytes.extend_from_slice(b"null"),
            Kind::Bool if node.as_bool() == Some(true) => self.bytes.extend_from_slice(b"true"),
            Kind::Bool => self.bytes.extend_from_slice(b"false"),
            Kind::Number => self.bytes.extend_from_slice(node.number_text().unwrap_or_default().as_bytes()),
            Kind::String => {}
            Kind::Array => {
                self.list(node.items(), |writer, item| match item {
                    Some(item) => writer.value(&item, depth),
                    None => {
                        writer.bytes.extend_from_slice(b"null");
                        Ok(())
                    }
                })?;
            }
            Kind::Object => self.object(node.sorted_entries(), |writer, value| writer.value(&value, depth))?,
        }
        Ok(())
    }

    fn patched_value<N: Node>(&mut self, value: &Patched<N>, depth: usize) -> Result<(), TooDeep> {
        let depth = depth.checked_sub(1).ok_or(TooDeep)?;
        match value {
            Patched::Source(node) => self.value(node, depth),
            Patched::New(value) => self.value(&N::of_value(value), depth),
            Patched::List(items) => self.list(items.iter(), |writer, item| writer.patched_value(item, depth)),
            Patched::Object { of, with, without } => {
                self.object(sort_by_name(Patched::fields(of, with, without)), |writer, field| match field {
                    Field::Kept(node) => writer.value(&node, depth),
                    Field::Changed(value) => writer.patched_value(value, depth),
                })
            }
        }
    }

    /// Writes a value that the engine made. Its names need no copies.
    fn made(&mut self, value: &Value) {
        match value {
            Value::String(text) => drop(self.string(text.as_bytes())),
            Value::Number(number) => drop(write!(self.bytes, "{number}")),
            Value::Array(items) => {
                let mut separator = b'[';
                for item in items {
                    self.bytes.push(std::mem::replace(&mut separator, b','));
                    self.made(item);
                }
                self.bytes.extend_from_slice(if items.is_empty() { b"[]" } else { b"]" });
            }
            Value::Object(fields) => {
                let mut separator = b'{';
                let mut write = |(name, field): (&String, &Value)| {
                    self.bytes.push(std::mem::replace(&mut separator, b','));
                    self.string(name.as_bytes());
                    self.bytes.push(b':');
                    self.made(field);
                };
                if fields.keys().is_sorted() {
                    fields.iter().for_each(&mut write);
                } else {
                    // Another crate of the program has asked `serde_json` for maps in the order of insertion.
                    let positions = sorted_positions(&mut fields.keys().map(String::as_str));
                    positions.into_iter().filter_map(|position| fields.iter().nth(position)).for_each(write);
                }
                self.bytes.extend_from_slice(if fields.is_empty() { b"{}" } else { b"}" });
            }
            Value::Null => self.bytes.extend_from_slice(b"null"),
            Value::Bool(true) => self.bytes.extend_from_slice(b"true"),
            Value::Bool(false) => self.bytes.extend_from_slice(b"false"),
        }
    }

    fn list<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> Result<(), TooDeep>,
    ) -> Result<(), TooDeep> {
        self.bytes.push(b'[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.bytes.push(b',');
            }
            write(self, item)?;
        }
        self.bytes.push(b']');
        Ok(())
    }

    fn object<T>(
        &mut self,
        fields: Vec<(Rc<str>, T)>,
        mut write: impl FnMut(&mut Self, T) -> Result<(), TooDeep>,
    ) -> Result<(), TooDeep> {
        self.bytes.push(b'{');
        for (index, (name, value)) in fields.into_iter().enumerate() {
            if index > 0 {
                self.bytes.push(b',');
            }
            self.string(name.as_bytes());
            self.bytes.push(b':');
            write(self, value)?;
        }
        self.bytes.push(b'}');
        Ok(())
    }

    /// Writes a string; says no when the node is none.
    fn text<N: Node>(&mut self, node: &N) -> bool {
        let replacement = "\u{FFFD}".as_bytes();
        let may_be_lone = node.with_utf8(|text| {
            let is_ascii = self.string(text);
            !is_ascii && text.windows(replacement.len()).any(|window| window == replacement)
        });
        self.lone_surrogate |= may_be_lone == Some(true) && !node.is_well_formed();
        may_be_lone.is_some()
    }

    /// Writes a string. Returns whether it is plain ASCII.
    fn string(&mut self, text: &[u8]) -> bool {
        self.bytes.reserve(text.len() + 2);
        self.bytes.push(b'"');
        let mut rest = text;
        let mut is_ascii = true;
        // Whole runs without escapes are copied at once: bodies are long and escapes are few.
        while let Some(at) = next_escape(rest, &mut is_ascii) {
            let (run, from) = rest.split_at(at);
            self.bytes.extend_from_slice(run);
            let Some((byte, after)) = from.split_first() else { break };
            self.escape(*byte);
            rest = after;
        }
        self.bytes.extend_from_slice(rest);
        self.bytes.push(b'"');
        is_ascii
    }

    fn escape(&mut self, byte: u8) {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            0x09 => b't',
            0x0A => b'n',
            0x0C => b'f',
            0x0D => b'r',
            _ => {
                self.bytes.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                return;
            }
        };
        self.bytes.extend_from_slice(&[b'\\', short]);
    }
}

/// Where the next byte stands that JSON escapes; `is_ascii` becomes false when a byte before it is not ASCII. Eight
/// bytes are tested at a time: this loop sees every byte of a transcript.
fn next_escape(bytes: &[u8], is_ascii: &mut bool) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // Bytes less than `least` set their high bit; a borrow can only set one above a byte that is set already.
    let below = |word: u64, least: u64| word.wrapping_sub(ONES * least) & !word & HIGH;
    let equal = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let mut at = 0;
    for chunk in bytes.chunks_exact(8) {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        if below(word, 0x20) | equal(word, b'"') | equal(word, b'\\') != 0 {
            break;
        }
        *is_ascii &= word & HIGH == 0;
        at += 8;
    }
    for byte in bytes.get(at..)? {
        if *byte < 0x20 || *byte == b'"' || *byte == b'\\' {
            return Some(at);
        }
        *is_ascii &= byte.is_ascii();
        at += 1;
    }
    None
}

/// The canonical JSON of a node as text.
pub fn canonical_text<N: Node>(node: &N) -> Result<String, TooDeep> {
    let mut writer = Writer::default();
    writer.node(node)?;
    Ok(String::from_utf8(writer.bytes).unwrap_or_default())
}

/// The canonical JSON of a value that the engine made.
pub fn canonical_value(value: &Value) -> String {
    let mut writer = Writer::default();
    writer.made(value);
    String::from_utf8(writer.bytes).unwrap_or_default()
}

/// `sha256:` and 64 hex digits over some bytes.
pub fn sha256(bytes: &[u8]) -> String {
    let mut digest = Sha256::new();
    digest.update(bytes);
    digest.finish()
}

/// A SHA-256 under way; cloning it forks the state.
pub struct Sha256(Box<dyn HostDigest>);

/// SHA-256 as a host provides it: some have hardware for it.
pub trait HostDigest {
    /// Adds bytes.
    fn update(&mut self, bytes: &[u8]);
    /// A copy of the state so far.
    fn fork(&self) -> Box<dyn HostDigest>;
    /// The digest in hexadecimal.
    fn hex(self: Box<Self>) -> String;
}

/// Makes a fresh digest.
pub type DigestMaker = fn() -> Box<dyn HostDigest>;

thread_local! {
    static MAKER: Cell<DigestMaker> = const { Cell::new(|| Box::new(SoftDigest(sha2::Sha256::new()))) };
}

/// Uses the host's SHA-256 from now on, on this thread.
pub fn use_digest(maker: DigestMaker) {
    MAKER.set(maker);
}

impl Sha256 {
    /// A digest of nothing yet.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Sha256(MAKER.get()())
    }
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        crate::work::hashed(bytes.len());
        self.0.update(bytes);
    }
    /// `sha256:` and 64 hex digits.
    pub fn finish(self) -> String {
        format!("sha256:{}", self.0.hex())
    }
}

impl Clone for Sha256 {
    fn clone(&self) -> Self {
        Sha256(self.0.fork())
    }
}

struct SoftDigest(sha2::Sha256);

impl HostDigest for SoftDigest {
    fn update(&mut self, bytes: &[u8]) {
        Digest::update(&mut self.0, bytes);
    }
    fn fork(&self) -> Box<dyn HostDigest> {
        Box::new(SoftDigest(self.0.clone()))
    }
    fn hex(self: Box<Self>) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The hashes of two lists that begin alike and mostly stay alike: the messages of a view and those of its source.
/// What both hold is written once.
pub struct TwinHash {
    writer: Writer,
    view: ListHash,
    /// `None` while both lists are the same.
    source: Option<ListHash>,
}

#[derive(Clone)]
struct ListHash {
    digest: Sha256,
    is_empty: bool,
}

/// Large enough that a call to the host's digest costs nothing beside the hashing.
const CHUNK: usize = 1 << 16;

impl ListHash {
    fn add(&mut self, item: &[u8]) {
        if !std::mem::take(&mut self.is_empty) {
            self.digest.update(b",");
        }
        self.digest.update(item);
    }

    fn finish(mut self) -> String {
        self.digest.update(b"]");
        self.digest.finish()
    }
}

/// Writes one item.
pub type WriteItem<'a> = &'a dyn Fn(&mut Writer) -> Result<(), TooDeep>;

impl TwinHash {
    /// The hash of two lists without items yet.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let mut digest = Sha256::new();
        digest.update(b"[");
        TwinHash { writer: Writer::default(), view: ListHash { digest, is_empty: true }, source: None }
    }

    /// From here on the lists differ.
    pub fn fork(&mut self) {
        self.flush();
        self.source = Some(self.view.clone());
    }

    /// Adds an item to both lists. Returns whether a string in it holds a lone surrogate.
    pub fn add_to_both(&mut self, write: WriteItem<'_>) -> Result<bool, TooDeep> {
        let is_first_of_one = self.source.as_ref().is_some_and(|source| source.is_empty != self.view.is_empty);
        if is_first_of_one {
            return self.add_alone(write, true, true);
        }
        if !self.view.is_empty {
            self.writer.bytes.push(b',');
        }
        self.view.is_empty = false;
        if let Some(source) = &mut self.source {
            source.is_empty = false;
        }
        write(&mut self.writer)?;
        if self.writer.bytes.len() >= CHUNK {
            self.flush();
        }
        Ok(std::mem::take(&mut self.writer.lone_surrogate))
    }

    /// Adds an item to the view alone.
    pub fn add_to_view(&mut self, write: WriteItem<'_>) -> Result<bool, TooDeep> {
        self.add_alone(write, true, false)
    }

    /// Adds an item to the source alone.
    pub fn add_to_source(&mut self, write: WriteItem<'_>) -> Result<bool, TooDeep> {
        self.add_alone(write, false, true)
    }

    fn add_alone(&mut self, write: WriteItem<'_>, to_view: bool, to_source: bool) -> Result<bool, TooDeep> {
        self.flush();
        write(&mut self.writer)?;
        if to_view {
            self.view.add(&self.writer.bytes);
        }
        if let Some(source) = self.source.as_mut().filter(|_| to_source) {
            source.add(&self.writer.bytes);
        }
        self.writer.bytes.clear();
        Ok(std::mem::take(&mut self.writer.lone_surrogate))
    }

    /// Gives what was written for both to both.
    fn flush(&mut self) {
        if self.writer.bytes.is_empty() {
            return;
        }
        self.view.digest.update(&self.writer.bytes);
        if let Some(source) = &mut self.source {
            source.digest.update(&self.writer.bytes);
        }
        self.writer.bytes.clear();
    }

    /// `sha256:` and 64 hex digits over the view's list, and the same over the source's.
    pub fn finish(mut self) -> (String, String) {
        self.flush();
        let view = self.view.finish();
        let source = self.source.map_or_else(|| view.clone(), ListHash::finish);
        (view, source)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_made_value_is_written_as_any_other_is() {
        for value in [
            json!(null),
            json!([]),
            json!({}),
            json!([[], {}, [{}], true, false, null]),
            json!({"b": {"y": [1, -1, u64::MAX, 1.5, 1e300, -0.0], "x": "\"\\\n\u{1}\u{7f}é\u{2028}🎉"}, "a": "", "é": 0, "Z": 1}),
        ] {
            assert_eq!(Ok(canonical_value(&value)), canonical_text(&&value), "{value}");
        }
    }
}
