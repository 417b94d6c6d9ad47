//! Canonical JSON and the SHA-256 over it. Keys are sorted by their UTF-8 bytes at every depth, arrays keep their
//! order, strings are escaped minimally, integers are exact over the 64-bit range, floats are spelled as `serde_json`
//! spells them. A lone surrogate is written as U+FFFD.

use std::cell::Cell;
use std::rc::Rc;

use sha2::Digest;

use crate::node::{Kind, MAX_DEPTH, Node};
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
        match node.kind() {
            Kind::Null | Kind::Function => self.bytes.extend_from_slice(b"null"),
            Kind::Bool if node.as_bool() == Some(true) => self.bytes.extend_from_slice(b"true"),
            Kind::Bool => self.bytes.extend_from_slice(b"false"),
            Kind::Number => self.bytes.extend_from_slice(node.number_text().unwrap_or_default().as_bytes()),
            Kind::String => self.text(node),
            Kind::Array => {
                self.list(node.items(), |writer, item| match item {
                    Some(item) => writer.value(&item, depth),
                    None => {
                        writer.bytes.extend_from_slice(b"null");
                        Ok(())
                    }
                })?;
            }
            Kind::Object => self.object(node.entries(), |writer, value| writer.value(&value, depth))?,
        }
        Ok(())
    }

    fn patched_value<N: Node>(&mut self, value: &Patched<N>, depth: usize) -> Result<(), TooDeep> {
        let depth = depth.checked_sub(1).ok_or(TooDeep)?;
        match value {
            Patched::Source(node) => self.value(node, depth),
            Patched::New(value) => self.value(&value, depth),
            Patched::List(items) => self.list(items.iter(), |writer, item| writer.patched_value(item, depth)),
            Patched::Object { of, with, without } => {
                self.object(Patched::fields(of, with, without), |writer, field| match field {
                    Field::Kept(node) => writer.value(&node, depth),
                    Field::Changed(value) => writer.patched_value(value, depth),
                })
            }
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
        let (names, mut values): (Vec<_>, Vec<_>) = fields.into_iter().map(|(name, value)| (name, Some(value))).unzip();
        self.bytes.push(b'{');
        for (index, position) in sorted(&names).into_iter().enumerate() {
            if index > 0 {
                self.bytes.push(b',');
            }
            let Some((name, value)) = names.get(position).zip(values.get_mut(position).and_then(Option::take)) else {
                continue;
            };
            self.string(name);
            self.bytes.push(b':');
            write(self, value)?;
        }
        self.bytes.push(b'}');
        Ok(())
    }

    fn text<N: Node>(&mut self, node: &N) {
        let may_be_lone = node.with_str(|text| {
            self.string(text);
            text.contains('\u{FFFD}')
        });
        self.lone_surrogate |= may_be_lone == Some(true) && !node.is_well_formed();
    }

    fn string(&mut self, text: &str) {
        self.bytes.reserve(text.len() + 2);
        self.bytes.push(b'"');
        let mut rest = text.as_bytes();
        // Whole runs without escapes are copied at once: bodies are long and escapes are few.
        while let Some(at) = next_escape(rest) {
            let (run, from) = rest.split_at(at);
            self.bytes.extend_from_slice(run);
            let Some((byte, after)) = from.split_first() else { break };
            self.escape(*byte);
            rest = after;
        }
        self.bytes.extend_from_slice(rest);
        self.bytes.push(b'"');
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

/// The positions of the names in the order of their UTF-8 bytes.
fn sorted(names: &[Rc<str>]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..names.len()).collect();
    positions.sort_unstable_by_key(|position| names.get(*position).map(|name| name.as_bytes()));
    positions
}

/// Where the next byte stands that JSON escapes. Eight bytes are tested at a time: this loop sees every byte of a
/// transcript.
fn next_escape(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // Zero bytes of `word ^ pattern` set their high bit; a borrow can only set one above a byte that is set already.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let is_escaped = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let mut at = 0;
    for chunk in bytes.chunks_exact(8) {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        if controls | zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\'))) != 0 {
            return chunk.iter().position(is_escaped).map(|offset| at + offset);
        }
        at += 8;
    }
    bytes.get(at..)?.iter().position(is_escaped).map(|offset| at + offset)
}

/// The canonical JSON of a node as text.
pub fn canonical_text<N: Node>(node: &N) -> Result<String, TooDeep> {
    let mut writer = Writer::default();
    writer.node(node)?;
    Ok(String::from_utf8(writer.bytes).unwrap_or_default())
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

/// The hash of a list whose items come one by one.
#[derive(Clone)]
pub struct ListHash {
    digest: Sha256,
    pending: Vec<u8>,
    is_first: bool,
}

/// Large enough that a call to the host's digest costs nothing beside the hashing.
const CHUNK: usize = 1 << 16;

impl ListHash {
    /// The hash of a list without items yet.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        ListHash { digest: Sha256::new(), pending: vec![b'['], is_first: true }
    }

    /// Adds an item by its canonical JSON.
    pub fn push(&mut self, canonical: &[u8]) {
        if !std::mem::take(&mut self.is_first) {
            self.pending.push(b',');
        }
        self.pending.extend_from_slice(canonical);
        if self.pending.len() >= CHUNK {
            self.digest.update(&self.pending);
            self.pending.clear();
        }
    }

    /// `sha256:` and 64 hex digits over the whole list.
    pub fn finish(mut self) -> String {
        self.pending.push(b']');
        self.digest.update(&self.pending);
        self.digest.finish()
    }
}
