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
    /// Last components of paths; those of paths that are nothing else; and paths by their last two components.
    names: HashSet<String>,
    bare_names: HashSet<String>,
    by_end: HashMap<String, Vec<usize>>,
    paths: Vec<Path>,
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

    fn add_text(&mut self, text: &str) {
        if text.len() <= LONGEST_NAME {
            self.add_name(text.trim());
        }
        for quoted in quoted_names(text) {
            self.add_name(quoted);
        }
        self.add_tokens(text);
        // JSON inside a log or a shell argument has its line breaks escaped.
        if text.as_bytes().contains(&b'\\') {
            self.add_tokens(&without_escapes(text));
        }
    }

    fn add_tokens(&mut self, text: &str) {
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
        let path = Path::sure(name).or_else(|| Path::parse(name).filter(|_| name.contains(['/', '\\', '.'])));
        if let Some(path) = path {
            // `git diff` writes `a/src/x.rs` and `b/src/x.rs`.
            if let Some(path) = path.without_diff_side() {
                self.add_path(path);
            }
            self.add_path(path);
        }
    }

    fn add_path(&mut self, path: Path) {
        self.filter.add(path.last());
        self.names.insert(path.last().to_owned());
        match path.end() {
            None => {
                self.bare_names.insert(path.last().to_owned());
            }
            Some(end) => {
                let same_end = self.by_end.entry(end).or_default();
                if same_end.iter().all(|index| self.paths.get(*index) != Some(&path)) {
                    same_end.push(self.paths.len());
                    self.paths.push(path);
                }
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
        self.name_field("", value)
    }

    /// The same of a value that a field holds: all of it is an identifier when that is a reference field.
    pub fn name_field<N: Node>(&self, field: &str, value: &N) -> bool {
        !self.visit_mentioned(value, field, &mut |_| false)
    }

    /// Whether a path, an object id or a reference of the value is among what is mentioned. Mentioned symbols, which
    /// say less, are added to `symbols`.
    pub fn name_surely<N: Node>(&self, value: &N, symbols: &mut Vec<String>) -> bool {
        !self.visit_mentioned(value, "", &mut |identifier| {
            if let Identifier::Symbol(symbol) = identifier
                && !symbols.iter().any(|known| known == symbol)
            {
                symbols.push((*symbol).to_owned());
            }
            matches!(identifier, Identifier::Symbol(_))
        })
    }

    /// Visits the identifiers of a value that are mentioned until `visitor` says stop.
    fn visit_mentioned<N: Node>(
        &self,
        value: &N,
        field: &str,
        visitor: &mut dyn FnMut(&Identifier<'_>) -> bool,
    ) -> bool {
        let is_wanted = |token: &Token<'_>| self.filter.may_hold(token.text);
        visit(value, Some(field), &mut |leaf| {
            visit_identifiers(&leaf, &is_wanted, &mut |identifier| !self.name(&identifier) || visitor(&identifier))
        })
    }

    /// As [`Mentions::name_any_of`], of identifiers that were collected.
    pub fn name_any_collected(&self, identifiers: &Identifiers) -> bool {
        identifiers.list.iter().any(|identifier| self.name(&identifier.borrowed()))
    }

    /// As [`Mentions::name_surely`], of identifiers that were collected.
    pub fn name_surely_collected(&self, identifiers: &Identifiers, symbols: &mut Vec<String>) -> bool {
        identifiers.list.iter().any(|identifier| {
            let is_named = self.name(&identifier.borrowed());
            if is_named && let OwnedIdentifier::Symbol(symbol) = identifier {
                symbols.push(symbol.clone());
                return false;
            }
            is_named
        })
    }

    fn name(&self, identifier: &Identifier<'_>) -> bool {
        match identifier {
            Identifier::Word(word) | Identifier::Symbol(word) => self.words.contains(same_case(word).as_ref()),
            Identifier::Path(path) => match path.end() {
                None => self.names.contains(path.last()),
                Some(end) => {
                    let same_end = self.by_end.get(&end).into_iter().flatten();
                    self.bare_names.contains(path.last())
                        || same_end.filter_map(|at| self.paths.get(*at)).any(|mentioned| mentioned.names(path))
                }
            },
        }
    }
}

/// The text with blanks for `\n`, `\r` and `\t`.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_escape = c == '\\' && chars.next_if(|next| matches!(next, 'n' | 'r' | 't')).is_some();
        plain.push(if is_escape { ' ' } else { c });
    }
    plain
}

/// The identifiers of some values, each once, so that a body is not read again for every look.
#[derive(Default)]
pub struct Identifiers {
    list: Vec<OwnedIdentifier>,
    known: HashSet<String>,
}

enum OwnedIdentifier {
    Word(String),
    Symbol(String),
    Path(Path),
}

impl OwnedIdentifier {
    fn borrowed(&self) -> Identifier<'_> {
        match self {
            OwnedIdentifier::Word(word) => Identifier::Word(word),
            OwnedIdentifier::Symbol(symbol) => Identifier::Symbol(symbol),
            OwnedIdentifier::Path(path) => Identifier::Path(path.clone()),
        }
    }
}

impl Identifiers {
    /// Adds those of a value.
    pub fn add<N: Node>(&mut self, value: &N) {
        self.add_field("", value);
    }

    /// Adds those of a value that a field holds.
    pub fn add_field<N: Node>(&mut self, field: &str, value: &N) {
        visit(value, Some(field), &mut |leaf| {
            visit_identifiers(&leaf, &|_| true, &mut |identifier| {
                self.note(identifier);
                true
            })
        });
    }

    fn note(&mut self, identifier: Identifier<'_>) {
        let (name, owned) = match identifier {
            Identifier::Word(word) => (format!("word {word}"), OwnedIdentifier::Word(word.to_owned())),
            Identifier::Symbol(symbol) => (format!("symbol {symbol}"), OwnedIdentifier::Symbol(symbol.to_owned())),
            Identifier::Path(path) => (path.in_full(), OwnedIdentifier::Path(path)),
        };
        if self.known.insert(name) {
            self.list.push(owned);
        }
    }

    /// What is needed to look at them.
    #[must_use]
    pub fn closed(self) -> Self {
        Identifiers { list: self.list, known: HashSet::new() }
    }
}

enum Identifier<'a> {
    /// An object id, a URL, the value of a reference field.
    Word(&'a str),
    Symbol(&'a str),
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
            || symbols(token.text).filter(|run| is_symbol(run)).all(|symbol| visitor(Identifier::Symbol(symbol)))
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
                Some(json) => visit_to(&N::of_value(&json), key, visitor, depth),
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
