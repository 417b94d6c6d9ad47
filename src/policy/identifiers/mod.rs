//! Identifiers in text and JSON: what a recent message can name to keep an old tool result alive.
//!
//! Paths, symbols (`a::b`, snake_case of 6 or more, mixedCase of 4 or more), object ids (git hashes, UUIDs, `#12`)
//! and the values of reference fields. They compare whole, never as substrings; paths match across spellings.
//! The two sides differ on purpose: [`Mentions`] notes anything that could name something, a candidate only
//! looks up what surely does. When in doubt that keeps the result.

mod names;
mod path;
mod tokens;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::node::{Kind, Node};

use names::{is_object_id, is_reference_field, is_symbol, is_url, same_case, symbols};
use path::Path;
use tokens::{Token, Which, visit_tokens};

/// Everything that some root material mentions.
#[derive(Default)]
pub struct Mentions {
    words: HashSet<String>,
    paths: Vec<Path>,
    /// The paths with each last component.
    by_name: HashMap<String, Vec<usize>>,
    filter: Filter,
}

impl Mentions {
    /// Notes every string of a value; JSON inside strings is read as JSON.
    pub fn add<N: Node>(&mut self, value: &N) {
        visit(value, None, &mut |leaf| {
            match leaf {
                Leaf::Value(text, _) | Leaf::Key(text) => self.add_text(text),
            }
            true
        });
    }

    /// Notes every string and every field name of material that the caller gave: its field names are data too.
    pub fn add_with_keys(&mut self, value: &Value) {
        self.add(&value);
        if let Value::Object(fields) = value {
            fields.keys().for_each(|key| self.add_text(key));
        }
        let inner: Box<dyn Iterator<Item = &Value>> = match value {
            Value::Object(fields) => Box::new(fields.values()),
            Value::Array(items) => Box::new(items.iter()),
            _ => Box::new(std::iter::empty()),
        };
        inner.filter(|value| value.is_object() || value.is_array()).for_each(|value| self.add_with_keys(value));
    }

    fn add_text(&mut self, text: &str) {
        if text.len() <= LONGEST_NAME {
            self.add_name(text.trim());
        }
        for quoted in quoted_names(text) {
            self.add_name(quoted);
        }
        visit_tokens(text, Which::All, &mut |token| {
            self.add_name(token.text);
            if Path::sure(token.text).is_none() {
                symbols(token.text).for_each(|symbol| self.add_word(symbol));
            }
            true
        });
    }

    fn add_name(&mut self, name: &str) {
        self.add_word(name);
        if name.contains(['/', '\\', '.'])
            && let Some(path) = Path::parse(name)
        {
            self.filter.add(path.last());
            let of_name = self.by_name.entry(path.last().to_owned()).or_default();
            if of_name.iter().all(|index| self.paths.get(*index) != Some(&path)) {
                of_name.push(self.paths.len());
                self.paths.push(path);
            }
        }
    }

    fn add_word(&mut self, word: &str) {
        if word.len() > 1 {
            self.filter.add(word);
            self.words.insert(same_case(word).into_owned());
        }
    }

    /// Whether any identifier of the value is among what is mentioned.
    pub fn name_any_of<N: Node>(&self, value: &N) -> bool {
        self.name_in(value, None)
    }

    /// Whether the value of this field is among what is mentioned, when the field is a reference field.
    pub fn name_field<N: Node>(&self, key: &str, value: &N) -> bool {
        self.name_in(value, Some(key))
    }

    fn name_in<N: Node>(&self, value: &N, key: Option<&str>) -> bool {
        let is_wanted = |token: &Token<'_>| self.filter.may_hold(token.text);
        !visit(value, key, &mut |leaf| visit_identifiers(&leaf, &is_wanted, &mut |identifier| !self.name(&identifier)))
    }

    fn name(&self, identifier: &Identifier<'_>) -> bool {
        match identifier {
            Identifier::Word(word) => self.words.contains(same_case(word).as_ref()),
            Identifier::Path(path) => {
                let of_name = self.by_name.get(path.last());
                let mut of_name = of_name.into_iter().flatten().filter_map(|index| self.paths.get(*index));
                of_name.any(|mentioned| mentioned.names(path))
            }
        }
    }
}

/// The identifiers of a value in one spelling each, to compare two values.
pub fn identifiers_in<N: Node>(value: &N) -> HashSet<String> {
    let mut found = HashSet::new();
    visit(value, None, &mut |leaf| {
        visit_identifiers(&leaf, &|_| true, &mut |identifier| {
            found.insert(match identifier {
                Identifier::Word(word) => same_case(word).into_owned(),
                Identifier::Path(path) => path.spelled(),
            });
            true
        })
    });
    found
}

enum Identifier<'a> {
    Word(&'a str),
    Path(Path),
}

/// A string inside a value.
enum Leaf<'a> {
    /// A string or a number, with whether a reference field holds it.
    Value(&'a str, bool),
    /// The name of a field in JSON data: an envelope word, unless it is surely a path.
    Key(&'a str),
}

/// Visits the identifiers of a leaf until `visitor` says stop; of its tokens only those that are wanted.
fn visit_identifiers(
    leaf: &Leaf<'_>,
    is_wanted: &dyn Fn(&Token<'_>) -> bool,
    visitor: &mut dyn FnMut(Identifier<'_>) -> bool,
) -> bool {
    let text = match *leaf {
        Leaf::Key(key) => return Path::sure(key).is_none_or(|path| visitor(Identifier::Path(path))),
        Leaf::Value(text, _) => text,
    };
    let is_reference = matches!(leaf, Leaf::Value(_, true));
    let whole = text.trim();
    if is_reference && (3..=LONGEST_NAME).contains(&whole.len()) && !visitor(Identifier::Word(whole)) {
        return false;
    }
    // A string that is nothing but a path needs no file extension to be one; in a reference field, no separator.
    let is_path = whole.len() <= LONGEST_NAME
        && (whole.contains(['/', '\\']) && !whole.contains(char::is_whitespace) || is_reference && whole.contains('.'));
    if is_path
        && let Some(path) = Path::parse(whole)
        && !visitor(Identifier::Path(path))
    {
        return false;
    }
    visit_tokens(text, Which::Marked, &mut |token| !is_wanted(&token) || visit_token(token, visitor))
}

fn visit_token(token: Token<'_>, visitor: &mut dyn FnMut(Identifier<'_>) -> bool) -> bool {
    if let Some(path) = Path::sure(token.text) {
        visitor(Identifier::Path(path))
    } else if is_object_id(token.text) || is_url(token.text) {
        visitor(Identifier::Word(token.text))
    } else {
        token.is_field_name
            || symbols(token.text).filter(|run| is_symbol(run)).all(|symbol| visitor(Identifier::Word(symbol)))
    }
}

/// Names longer than this are text.
const LONGEST_NAME: usize = 256;

/// Visits the strings and numbers of a value until `visitor` says stop. Text that is JSON is read as JSON, so that
/// its field names do not pass for identifiers.
fn visit<N: Node>(value: &N, key: Option<&str>, visitor: &mut dyn FnMut(Leaf<'_>) -> bool) -> bool {
    visit_to(value, key, visitor, crate::node::MAX_DEPTH)
}

fn visit_to<N: Node>(value: &N, key: Option<&str>, visitor: &mut dyn FnMut(Leaf<'_>) -> bool, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    let is_reference = key.is_some_and(is_reference_field);
    match value.kind() {
        Kind::String => {
            let goes_on = value.with_str(|text| match embedded_json(text) {
                Some(json) => visit_to(&&json, key, visitor, depth),
                None => visitor(Leaf::Value(text, is_reference)),
            });
            goes_on.unwrap_or(true)
        }
        Kind::Number if is_reference => {
            value.number_text().is_none_or(|number| visitor(Leaf::Value(&number, is_reference)))
        }
        Kind::Array => value.items().flatten().all(|item| visit_to(&item, key, visitor, depth)),
        Kind::Object => value
            .entries()
            .iter()
            .all(|(name, value)| visitor(Leaf::Key(name)) && visit_to(value, Some(name), visitor, depth)),
        _ => true,
    }
}

fn embedded_json(text: &str) -> Option<Value> {
    let text = text.trim();
    let looks_like_json =
        (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'));
    looks_like_json.then(|| serde_json::from_str(text).ok()).flatten()
}

/// Names in double quotes or backticks may hold blanks.
fn quoted_names(text: &str) -> impl Iterator<Item = &str> {
    ['"', '`'].into_iter().flat_map(move |quote| {
        let inside = text.split(quote).skip(1).step_by(2);
        inside.filter(|name| name.len() <= LONGEST_NAME && name.contains(' ') && !name.contains('\n'))
    })
}

/// Says at once of most tokens that nothing mentions them. It may only err on the other side: a token whose
/// identifiers are mentioned always passes.
#[derive(Default)]
struct Filter {
    /// One bit a hash.
    bits: Vec<u64>,
}

impl Filter {
    const BITS: usize = 1 << 16;

    /// Notes a mentioned word or the last component of a mentioned path.
    fn add(&mut self, name: &str) {
        self.bits.resize(Self::BITS / 64, 0);
        for key in std::iter::once(start_of(name)).chain(symbols(name)) {
            let (word, bit) = Self::place(key);
            if let Some(word) = self.bits.get_mut(word) {
                *word |= bit;
            }
        }
    }

    fn may_hold(&self, token: &str) -> bool {
        let has = |key: &str| {
            let (word, bit) = Self::place(key);
            self.bits.get(word).is_some_and(|word| word & bit != 0)
        };
        has(start_of(last_component(token))) || symbols(token).any(has)
    }

    /// FNV-1a without case: ids compare without it.
    fn place(key: &str) -> (usize, u64) {
        let step = |hash: u32, byte: u8| (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193);
        let hash = key.bytes().fold(0x811C_9DC5, step);
        let at = (hash ^ (hash >> 16)) as usize % Self::BITS;
        (at / 64, 1 << (at % 64))
    }
}

fn last_component(token: &str) -> &str {
    token.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(token)
}

/// A name without the position that may stand behind it.
fn start_of(name: &str) -> &str {
    let end = name.find([':', '#']).filter(|at| *at > 0).unwrap_or(name.len());
    name.get(..end).unwrap_or(name)
}
