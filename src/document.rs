//! JSON text with an index of its values, so that every value keeps its exact spelling: integers beyond 2^53, `-0`,
//! `1e-7`, key order, escapes. `serde_json` decides what JSON is; the index only remembers where each value stands.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::json::mend_surrogates;
use crate::node::{Key, Kind, Node};

/// Text that is one JSON value.
#[derive(Clone, Debug)]
pub struct Document {
    text: Box<str>,
    /// Every value and every field name, in the order of the text. The first is the root.
    index: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u32,
    end: u32,
    /// The entry behind everything that this one contains.
    next: u32,
}

impl Document {
    /// Reads JSON text.
    ///
    /// # Errors
    /// When the text is not JSON.
    #[inline(never)]
    pub fn parse(text: impl Into<Box<str>>) -> Result<Document, serde_json::Error> {
        let text = text.into();
        let mut index = index(&text)?;
        index.shrink_to_fit();
        Ok(Document { text, index })
    }

    /// Reads text that is known to be JSON, and nested no deeper than may be; of any other it makes `null`.
    #[cfg(target_arch = "wasm32")]
    pub fn of_json(text: &str) -> Document {
        let (text, index) = scan(text.as_bytes()).map_or_else(|| ("null", Vec::new()), |index| (text, index));
        Document { text: text.into(), index }
    }

    /// The value.
    pub fn root(&self) -> Slice<'_> {
        Slice { text: &self.text, index: &self.index, at: 0 }
    }

    /// The text.
    #[inline(never)]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The index of JSON text that is kept elsewhere, for a look at it.
pub struct Index(Vec<Entry>);

impl Index {
    /// Reads JSON text.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn of(text: &str) -> Result<Index, serde_json::Error> {
        index(text).map(Index)
    }

    /// The value in that text.
    pub fn root<'a>(&'a self, text: &'a str) -> Slice<'a> {
        Slice { text, index: &self.0, at: 0 }
    }
}

/// What `serde_json` allows: values are read by functions that call themselves.
const MOST_DEPTH: usize = 127;

fn index(text: &str) -> Result<Vec<Entry>, serde_json::Error> {
    serde_json::from_str::<IgnoredAny>(text)?;
    if text.len() > u32::MAX as usize {
        return Err(serde::de::Error::custom("a value of more than 4 GB"));
    }
    // `IgnoredAny` goes to any depth.
    scan(text.as_bytes()).ok_or_else(|| serde::de::Error::custom("recursion limit exceeded"))
}

/// Where each value of valid JSON stands; `None` when it is nested too deeply.
#[inline(never)]
fn scan(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut index: Vec<Entry> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'{' | b'[' => {
                if open.len() == MOST_DEPTH {
                    return None;
                }
                open.push(index.len());
                at += 1;
            }
            b'}' | b']' => {
                at += 1;
                let behind = index.len();
                if let Some(entry) = open.pop().and_then(|opened| index.get_mut(opened)) {
                    (entry.end, entry.next) = (at as u32, behind as u32);
                }
                continue;
            }
            b'"' => at = string_end(bytes, at),
            b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => {
                at += 1;
                continue;
            }
            _ => {
                let rest = bytes.get(at..).unwrap_or_default();
                let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
                at += rest.iter().position(ends).unwrap_or(rest.len()).max(1);
            }
        }
        index.push(Entry { start: start as u32, end: at as u32, next: index.len() as u32 + 1 });
    }
    Some(index)
}

/// Behind the string that starts at `start`. Eight bytes are looked at together: bodies are long.
fn string_end(bytes: &[u8], start: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let has = |word: u64, byte: u8| {
        let word = word ^ (ONES * u64::from(byte));
        word.wrapping_sub(ONES) & !word & HIGH != 0
    };
    let mut at = start + 1;
    loop {
        while let Some(chunk) = bytes.get(at..at + 8) {
            let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
            if has(word, b'"') || has(word, b'\\') {
                break;
            }
            at += 8;
        }
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

/// A string or a number. Read as any value is: a reader for each type would be compiled besides.
fn value_of(raw: &str) -> Option<Value> {
    serde_json::from_str(raw).ok()
}

/// The node for a value of a document. In the engine's wasm all values have one type of node: what reads them is compiled once.
#[cfg(not(all(target_arch = "wasm32", feature = "engine")))]
pub fn as_node(slice: Slice<'_>) -> Slice<'_> {
    slice
}
/// The node for a value of a document. In the engine's wasm all values have one type of node: what reads them is compiled once.
#[cfg(all(target_arch = "wasm32", feature = "engine"))]
pub fn as_node(slice: Slice<'_>) -> crate::wasm::JsNode<'_> {
    crate::wasm::JsNode::Exact(slice)
}

/// Up to so many fields are looked through by hand.
const FEW_FIELDS: usize = 32;

/// A value in a [`Document`].
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    text: &'a str,
    index: &'a [Entry],
    at: u32,
}

impl<'a> Slice<'a> {
    fn entry(self) -> Entry {
        self.index.get(self.at as usize).copied().unwrap_or(Entry { start: 0, end: 0, next: self.at + 1 })
    }

    /// The value as the text has it.
    pub fn raw(self) -> &'a str {
        self.text.get(self.start()..self.end()).unwrap_or_default()
    }

    /// Where it starts in the text, in bytes.
    pub fn start(self) -> usize {
        self.entry().start as usize
    }

    /// Where it ends.
    pub fn end(self) -> usize {
        self.entry().end as usize
    }

    fn first_byte(self) -> u8 {
        self.text.as_bytes().get(self.start()).copied().unwrap_or(b'n')
    }

    /// What stands directly in it: items, or field names and values by turns.
    fn children(self) -> impl Iterator<Item = Slice<'a>> {
        let mut at = self.at + 1;
        let end = self.entry().next;
        std::iter::from_fn(move || {
            let child = Slice { at, ..self };
            (at < end).then(|| {
                at = child.entry().next;
                child
            })
        })
    }

    fn pairs(self) -> impl Iterator<Item = (Slice<'a>, Slice<'a>)> {
        let mut children = if self.first_byte() == b'{' { Some(self.children()) } else { None };
        std::iter::from_fn(move || {
            let children = children.as_mut()?;
            Some((children.next()?, children.next()?))
        })
    }

    /// The string, if it is one. Escaped lone surrogates are read as U+FFFD.
    #[inline(never)]
    pub fn str(self) -> Option<Cow<'a, str>> {
        let inner = self.raw().strip_prefix('"')?.strip_suffix('"')?;
        if !inner.as_bytes().contains(&b'\\') {
            return Some(Cow::Borrowed(inner));
        }
        let raw = self.raw();
        match value_of(raw).or_else(|| value_of(&mend_surrogates(raw)?)) {
            Some(Value::String(text)) => Some(Cow::Owned(text)),
            _ => None,
        }
    }

    /// Whether it is exactly this string.
    #[inline(never)]
    pub fn is(self, text: &str) -> bool {
        let raw = self.raw().as_bytes();
        // An escape takes six bytes at most: long bodies need no look.
        if raw.len() > 6 * text.len() + 2 {
            return false;
        }
        // A spelling with escapes says something else than the same characters.
        if raw.contains(&b'\\') {
            return self.str().is_some_and(|own| own == text);
        }
        raw.len() == text.len() + 2 && raw.first() == Some(&b'"') && raw.get(1..=text.len()) == Some(text.as_bytes())
    }

    /// The field of this name, `null` included; the last one when the name is there twice, as in JavaScript.
    #[inline(never)]
    pub fn own(self, name: &str) -> Option<Slice<'a>> {
        if self.first_byte() != b'{' {
            return None;
        }
        let mut found = None;
        let mut at = self.at as usize + 1;
        let behind = self.entry().next as usize;
        while at < behind
            && let (Some(key), Some(value)) = (self.index.get(at), self.index.get(at + 1))
        {
            // Whatever its spelling, a name has no fewer bytes than what it stands for.
            if (key.end - key.start) as usize >= name.len() + 2 && (Slice { at: at as u32, ..self }).is(name) {
                found = Some(Slice { at: at as u32 + 1, ..self });
            }
            at = value.next as usize;
        }
        found
    }

    /// The field of this name; `None` when it is missing or `null`.
    #[inline(never)]
    pub fn get(self, name: &str) -> Option<Slice<'a>> {
        self.own(name).filter(|value| value.kind() != Kind::Null)
    }

    /// The string in the field of this name.
    pub fn text(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.str()
    }

    /// The same, to keep.
    pub fn string(self, name: &str) -> Option<String> {
        self.text(name).map(Cow::into_owned)
    }

    /// Whether the field of this name is exactly this string.
    pub fn says(self, name: &str, text: &str) -> bool {
        self.get(name).is_some_and(|value| value.is(text))
    }

    /// The value reached through fields of these names.
    pub fn at(self, names: &[&str]) -> Option<Slice<'a>> {
        names.iter().try_fold(self, |value, name| value.get(name))
    }

    /// The boolean in the field of this name; `false` without one.
    pub fn flag(self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.raw() == "true")
    }

    /// The items of an array, `null` ones too; none of anything else.
    #[inline(never)]
    pub fn list(self) -> Vec<Slice<'a>> {
        if self.first_byte() == b'[' { self.children().collect() } else { Vec::new() }
    }

    /// The fields of an object in their own order, the last of each name; none of anything else.
    #[inline(never)]
    pub fn fields(self) -> Vec<(Cow<'a, str>, Slice<'a>)> {
        let mut fields: Vec<(Cow<'a, str>, Slice<'a>)> = Vec::new();
        // Of many, where each name stands: looking through them for each one would take for ever.
        let mut positions: HashMap<String, Vec<usize>> = HashMap::new();
        for (key, value) in self.pairs() {
            let Some(name) = key.str() else { continue };
            let known = if fields.len() < FEW_FIELDS {
                fields.iter().position(|(known, _)| *known == name)
            } else {
                if positions.is_empty() {
                    fields.iter().enumerate().for_each(|(at, (name, _))| {
                        positions.insert(name.to_string(), vec![at]);
                    });
                }
                positions.get(&*name).and_then(|at| at.first()).copied()
            };
            match known.and_then(|at| fields.get_mut(at)) {
                Some(field) => field.1 = value,
                None => {
                    if !positions.is_empty() {
                        positions.insert(name.to_string(), vec![fields.len()]);
                    }
                    fields.push((name, value));
                }
            }
        }
        fields
    }

    /// The value as a document of its own.
    #[inline(never)]
    pub fn to_document(self) -> Document {
        let entry = self.entry();
        let range = self.at as usize..entry.next as usize;
        let part = self.index.get(range).unwrap_or_default().iter();
        let moved =
            |of: &Entry| Entry { start: of.start - entry.start, end: of.end - entry.start, next: of.next - self.at };
        Document { text: self.raw().into(), index: part.map(moved).collect() }
    }

    /// What kind of value it is, in words.
    pub fn kind_in_words(self) -> &'static str {
        self.kind().in_words()
    }

    /// Whether a string in it holds half of an escaped surrogate pair.
    pub fn has_lone_surrogates(self) -> bool {
        mend_surrogates(self.raw()).is_some()
    }

    /// Whether it is an object.
    pub fn is_object(self) -> bool {
        self.first_byte() == b'{'
    }

    /// Whether it is an array.
    pub fn is_array(self) -> bool {
        self.first_byte() == b'['
    }

    /// Whether it is a string.
    pub fn is_string(self) -> bool {
        self.first_byte() == b'"'
    }

    /// The whole number, if it is one.
    pub fn int(self) -> Option<i64> {
        self.raw().parse().ok()
    }
}

impl Node for Slice<'_> {
    type Made<'v> = &'v Value;

    fn of_value(value: &Value) -> &Value {
        value
    }
    #[inline(never)]
    fn kind(&self) -> Kind {
        match self.first_byte() {
            b'n' => Kind::Null,
            b't' | b'f' => Kind::Bool,
            b'"' => Kind::String,
            b'[' => Kind::Array,
            b'{' => Kind::Object,
            _ => Kind::Number,
        }
    }
    #[inline(never)]
    fn field(&self, key: Key) -> Option<Self> {
        self.get(key.as_str())
    }
    #[inline(never)]
    fn item(&self, index: usize) -> Option<Self> {
        let is_list = self.first_byte() == b'[';
        self.children().nth(index).filter(|item| is_list && item.kind() != Kind::Null)
    }
    #[inline(never)]
    fn len(&self) -> usize {
        if self.first_byte() == b'[' { self.children().count() } else { 0 }
    }
    #[inline(never)]
    fn items(&self) -> impl Iterator<Item = Option<Self>> + '_ {
        self.list().into_iter().map(|item| Some(item).filter(|item| item.kind() != Kind::Null))
    }
    #[inline(never)]
    fn own_items(&self) -> Vec<Option<Self>> {
        self.items().collect()
    }
    #[inline(never)]
    fn as_bool(&self) -> Option<bool> {
        match self.raw() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
    #[inline(never)]
    fn as_f64(&self) -> Option<f64> {
        if self.kind() == Kind::Number { value_of(self.raw())?.as_f64() } else { None }
    }
    #[inline(never)]
    fn number_text(&self) -> Option<String> {
        match value_of(self.raw()) {
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        }
    }
    #[inline(never)]
    fn as_str(&self) -> Option<Cow<'_, str>> {
        self.str()
    }
    #[inline(never)]
    fn entries(&self) -> Vec<(Rc<str>, Self)> {
        self.fields().into_iter().map(|(name, value)| (Rc::from(&*name), value)).collect()
    }
    fn source_text(&self) -> Option<&str> {
        Some(self.raw())
    }
    fn same(&self, other: &Self) -> bool {
        std::ptr::eq(self.text, other.text) && self.at == other.at
    }
    #[inline(never)]
    fn is_well_formed(&self) -> bool {
        !self.has_lone_surrogates()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::canonical::canonical_text;
    use crate::node::to_value;

    #[test]
    fn finds_every_value_where_it_stands() {
        let text = r#" {"a" : [1, -0, "x\"]", {"b":null}], "c\u0064":true ,"e":{}, "a2":[ ]} "#;
        let document = Document::parse(text).unwrap();
        let root = document.root();
        assert_eq!(root.raw(), text.trim());
        assert_eq!(root.get("a").unwrap().raw(), r#"[1, -0, "x\"]", {"b":null}]"#);
        let items: Vec<_> = root.get("a").unwrap().list().iter().map(|item| item.raw()).collect();
        assert_eq!(items, ["1", "-0", r#""x\"]""#, r#"{"b":null}"#]);
        assert_eq!(root.get("a").unwrap().list()[2].str().unwrap(), "x\"]");
        assert!(root.flag("cd"));
        assert!(root.get("e").unwrap().fields().is_empty());
        assert!(root.get("a2").unwrap().list().is_empty());
        let part = root.get("a").unwrap().to_document();
        assert_eq!(part.root().list()[3].get("b").map(Slice::raw), None);
        assert_eq!(part.root().list()[3].own("b").map(Slice::raw), Some("null"));
        let names: Vec<_> = root.fields().into_iter().map(|(name, _)| name.into_owned()).collect();
        assert_eq!(names, ["a", "cd", "e", "a2"]);
    }

    #[test]
    fn is_the_same_value_as_serde_json_reads() {
        for text in [
            "null",
            "[]",
            r#"{"b":[true,false,{"c":{"d":[[]]}}],"a":"\u00e9\n"}"#,
            r#"[0,-1,1.5,1e-7,18446744073709551615,100.0,1E400]"#,
            r#"{"a":1,"a":2}"#,
            r#""text""#,
            // Found by fuzzing: the copy was off by the last bit.
            "123456789012345638204179567890",
            "-0",
        ] {
            let document = Document::parse(text);
            let value: Result<Value, _> = serde_json::from_str(text);
            let Ok(value) = value else { continue };
            let document = document.unwrap();
            assert_eq!(canonical_text(&document.root()).unwrap(), canonical_text(&&value).unwrap(), "{text}");
            assert_eq!(to_value(&document.root()).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn tells_an_escape_from_its_spelling() {
        // A line break, and a backslash before an n.
        let document = Document::parse(r#"{"a\\n":1,"a\n":2}"#).unwrap();
        let number = |name: &str| document.root().own(name).and_then(Slice::int);
        assert_eq!((number("a\\n"), number("a\n")), (Some(1), Some(2)));
    }

    #[test]
    fn goes_as_deep_as_serde_json() {
        for depth in [127, 128, 100_000] {
            let text = "[".repeat(depth) + &"]".repeat(depth);
            let refused = serde_json::from_str::<Value>(&text).is_err();
            assert_eq!(Document::parse(text).is_err(), refused, "{depth}");
        }
    }

    #[test]
    fn the_last_of_a_name_counts_among_few_and_among_many() {
        for count in [2, 31, 32, 33, 100] {
            let fields: Vec<String> = (0..2 * count).map(|at| format!("\"k{}\":{at}", at % count)).collect();
            let document = Document::parse(format!("{{{}}}", fields.join(","))).unwrap();
            let read = document.root().fields();
            assert_eq!(read.len(), count);
            assert!(
                read.iter().enumerate().all(|(at, (name, value))| {
                    *name == format!("k{at}") && value.int() == Some((at + count) as i64)
                })
            );
        }
    }

    #[test]
    fn reads_lone_surrogates_as_replacement_characters() {
        let document = Document::parse(r#"["a\ud83c", "\ud83c\udf89"]"#).unwrap();
        let items = document.root().list();
        assert_eq!((items[0].str().unwrap().as_ref(), items[0].is_well_formed()), ("a\u{FFFD}", false));
        assert_eq!((items[1].str().unwrap().as_ref(), items[1].is_well_formed()), ("\u{1F389}", true));
    }
}
