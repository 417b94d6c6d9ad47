//! Identifiers in text and JSON: what a recent message can name to keep an old tool result alive.
//!
//! Paths, symbols (`a::b`, snake_case of 6 or more, mixedCase of 4 or more), object ids (git hashes, UUIDs, `#12`)
//! and the values of reference fields. They compare whole, never as substrings; paths match across spellings.
//! The two sides differ on purpose: [`Mentions`] notes anything that could name something, a candidate only
//! looks up what surely does. When in doubt that keeps the result.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::node::{Kind, Node};

/// Everything that some root material mentions.
#[derive(Default)]
pub struct Mentions {
    words: HashSet<String>,
    paths: Vec<Path>,
    /// The paths with each last component.
    by_name: HashMap<String, Vec<usize>>,
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
        for token in tokens(text) {
            self.add_name(token);
            if Path::sure(token).is_none() {
                symbols(token).for_each(|symbol| self.add_word(symbol));
            }
        }
    }

    fn add_name(&mut self, name: &str) {
        self.add_word(name);
        if name.contains(['/', '\\', '.'])
            && let Some(path) = Path::parse(name)
        {
            let of_name = self.by_name.entry(path.last().to_owned()).or_default();
            if of_name.iter().all(|index| self.paths.get(*index) != Some(&path)) {
                of_name.push(self.paths.len());
                self.paths.push(path);
            }
        }
    }

    fn add_word(&mut self, word: &str) {
        if word.len() > 1 {
            self.words.insert(same_case(word).into_owned());
        }
    }

    /// Whether any identifier of the value is among what is mentioned.
    pub fn name_any_of<N: Node>(&self, value: &N) -> bool {
        let mut found = false;
        visit(value, None, &mut |leaf| {
            found = identifiers(&leaf).any(|identifier| self.name(&identifier));
            !found
        });
        found
    }

    /// Whether the value of this field is among what is mentioned, when the field is a reference field.
    pub fn name_field<N: Node>(&self, key: &str, value: &N) -> bool {
        let mut found = false;
        visit(value, Some(key), &mut |leaf| {
            found = identifiers(&leaf).any(|identifier| self.name(&identifier));
            !found
        });
        found
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
        found.extend(identifiers(&leaf).map(|identifier| match identifier {
            Identifier::Word(word) => same_case(word).into_owned(),
            Identifier::Path(path) => path.components.join("/"),
        }));
        true
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
    /// The name of a field in JSON data: an envelope word, unless it is surely a path or an id.
    Key(&'a str),
}

fn identifiers<'a>(leaf: &Leaf<'a>) -> Box<dyn Iterator<Item = Identifier<'a>> + 'a> {
    match *leaf {
        Leaf::Key(key) => Box::new(Path::sure(key).map(Identifier::Path).into_iter()),
        Leaf::Value(text, false) => Box::new(whole_path(text).into_iter().chain(tokens(text).flat_map(of_token))),
        Leaf::Value(text, true) => {
            let whole = text.trim();
            let is_name = (3..=LONGEST_NAME).contains(&whole.len());
            let name = is_name.then_some(Identifier::Word(whole));
            let path = Some(whole).filter(|name| is_name && name.contains(['/', '\\', '.'])).and_then(Path::parse);
            Box::new(name.into_iter().chain(path.map(Identifier::Path)).chain(tokens(text).flat_map(of_token)))
        }
    }
}

/// A string that is nothing but a path needs no file extension to be one.
fn whole_path<'a>(text: &'a str) -> Option<Identifier<'a>> {
    let is_path = text.len() <= LONGEST_NAME && text.contains(['/', '\\']) && !text.contains(char::is_whitespace);
    is_path.then(|| Path::parse(text).map(Identifier::Path)).flatten()
}

fn of_token(token: &str) -> impl Iterator<Item = Identifier<'_>> {
    let path = Path::sure(token);
    let is_path = path.is_some();
    let is_word = !is_path && (is_object_id(token) || is_url(token));
    let symbols = symbols(token).filter(move |symbol| !is_path && !is_word && is_symbol(symbol));
    path.map(Identifier::Path)
        .into_iter()
        .chain(is_word.then_some(Identifier::Word(token)))
        .chain(symbols.map(Identifier::Word))
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
            let Some(text) = value.as_str() else { return true };
            match embedded_json(&text) {
                Some(json) => visit_to(&&json, key, visitor, depth),
                None => visitor(Leaf::Value(&text, is_reference)),
            }
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

/// `id`, `path`, `file_path`, `sourceRef`: fields whose whole value names something.
fn is_reference_field(name: &str) -> bool {
    const WORDS: [&str; 14] = [
        "id", "ids", "path", "paths", "file", "files", "filename", "symbol", "sha", "ref", "uri", "url", "uuid", "hash",
    ];
    let last = name.rsplit(['_', '-']).next().unwrap_or(name);
    // camelCase: the last hump.
    let hump = last.rfind(|c: char| c.is_ascii_uppercase()).and_then(|at| last.get(at..)).unwrap_or(last);
    [last, hump].iter().any(|word| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_-./\\:#@~+$%".contains(&byte)
}

/// The tokens of a text, without the punctuation around them. Words without any mark of an identifier come too.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    // Splitting at ASCII bytes only cuts at character boundaries.
    text.split(|c: char| c.is_ascii() && !is_token_byte(c as u8)).flat_map(split_colons).filter(|token| token.len() > 1)
}

/// `key:value` is two tokens; `a::b`, `src/a.rs:42`, `C:\repo` and `https://` are one.
fn split_colons(raw: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(raw);
    std::iter::from_fn(move || {
        let text = rest?;
        let cut = text.match_indices(':').map(|(at, _)| at).find(|at| !is_inner_colon(text, *at));
        let (token, after) = match cut {
            Some(at) => (text.get(..at)?, text.get(at + 1..)),
            None => (text, None),
        };
        rest = after;
        Some(trim_punctuation(token))
    })
}

fn is_inner_colon(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let byte = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied();
    let (before, after) = (byte(at.checked_sub(1)), byte(Some(at + 1)));
    let starts_name = at == 1 || byte(at.checked_sub(2)) == Some(b'/');
    let is_drive = starts_name && before.is_some_and(|byte| byte.is_ascii_alphabetic());
    before == Some(b':')
        || after == Some(b':')
        || after.is_some_and(|byte| byte.is_ascii_digit())
        || (is_drive && matches!(after, Some(b'/' | b'\\')))
        || text.get(at + 1..at + 3) == Some("//")
}

fn trim_punctuation(token: &str) -> &str {
    token.trim_end_matches(['.', ':', '-', '+', '$', '%', '~', '@']).trim_start_matches([':', '-', '+', '$', '%', '@'])
}

/// Names in double quotes or backticks may hold blanks.
fn quoted_names(text: &str) -> impl Iterator<Item = &str> {
    ['"', '`'].into_iter().flat_map(move |quote| {
        let inside = text.split(quote).skip(1).step_by(2);
        inside.filter(|name| name.len() <= LONGEST_NAME && name.contains(' ') && !name.contains('\n'))
    })
}

/// The runs of a token that could be symbols.
fn symbols(token: &str) -> impl Iterator<Item = &str> {
    let runs = token.split(|c: char| c.is_ascii() && !(c.is_ascii_alphanumeric() || c == '_' || c == ':'));
    runs.map(|run| run.trim_matches(':')).filter(|run| run.len() > 1)
}

fn is_symbol(run: &str) -> bool {
    let is_path = run.contains("::");
    let is_snake =
        run.len() >= 6 && run.trim_matches('_').contains('_') && run.contains(|c: char| c.is_ascii_alphabetic());
    let bytes = run.as_bytes();
    let has_hump =
        || bytes.windows(2).any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    is_path || is_snake || (run.len() >= 4 && has_hump())
}

fn is_object_id(token: &str) -> bool {
    if let Some(number) = token.strip_prefix('#') {
        return !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    }
    is_git_hash(token) || is_uuid(token)
}

/// Seven or more hex digits, with both letters and digits: neither a word nor a number.
fn is_git_hash(token: &str) -> bool {
    (7..=64).contains(&token.len())
        && token.bytes().all(|byte| byte.is_ascii_hexdigit())
        && token.bytes().any(|byte| byte.is_ascii_digit())
        && token.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_uuid(token: &str) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    let mut groups = token.split('-');
    token.len() == 36
        && lengths.iter().all(|length| {
            groups
                .next()
                .is_some_and(|group| group.len() == *length && group.bytes().all(|byte| byte.is_ascii_hexdigit()))
        })
}

fn is_url(token: &str) -> bool {
    token.contains("://") && !token.starts_with("file:")
}

/// Hashes and UUIDs compare without case; everything else with it.
fn same_case(word: &str) -> std::borrow::Cow<'_, str> {
    if is_git_hash(word) || is_uuid(word) { word.to_ascii_lowercase().into() } else { word.into() }
}

/// A file path in one spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Path {
    is_absolute: bool,
    components: Vec<String>,
}

impl Path {
    /// Reads anything as a path: `./src/a.rs`, `/repo/src/a.rs`, `src\a.rs`, `src/a.rs:42`, `file:///repo/a.rs#L10`.
    fn parse(text: &str) -> Option<Path> {
        if is_url(text) {
            return None;
        }
        let text = text.replace('\\', "/");
        let local =
            text.strip_prefix("file://").map(|rest| rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(rest));
        let text = without_position(local.unwrap_or(&text));
        let text = text.strip_prefix("~/").unwrap_or(text);
        // `/C:/repo` comes from a file URL.
        let text = text.strip_prefix('/').filter(|rest| has_drive(rest)).unwrap_or(text);
        let mut components: Vec<String> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." if components.last().is_some_and(|last| last != "..") => {
                    components.pop();
                }
                _ => components.push(part.to_owned()),
            }
        }
        let is_absolute = text.starts_with('/') || has_drive(text);
        if has_drive(text)
            && let Some(drive) = components.first_mut()
        {
            drive.make_ascii_lowercase();
        }
        (!components.is_empty()).then_some(Path { is_absolute, components })
    }

    /// Reads a token that is surely a path, so that `and/or`, `e.g.` and `console.log` are none.
    fn sure(token: &str) -> Option<Path> {
        let separators = token.bytes().filter(|byte| matches!(byte, b'/' | b'\\')).count();
        let is_file_url = token.starts_with("file://");
        if (separators == 0 && !token.contains('.')) || (token.starts_with("//")) || (is_url(token) && !is_file_url) {
            return None;
        }
        let path = Path::parse(token)?;
        let (stem, extension) = path.last().rsplit_once('.').unwrap_or((path.last(), ""));
        let starts = extension.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        let has_extension =
            starts && extension.len() <= 10 && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_rooted =
            path.is_absolute || token.starts_with("./") || token.starts_with("../") || token.starts_with("~/");
        let is_sure = if separators == 0 {
            has_extension && !stem.is_empty() && FILE_EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str())
        } else {
            has_extension || (is_rooted && path.components.len() >= 2) || separators >= 2
        };
        is_sure.then_some(path)
    }

    fn last(&self) -> &str {
        self.components.last().map_or("", String::as_str)
    }

    /// Whether both name one file: a relative path is the end of a longer one; two absolute ones must be equal.
    fn names(&self, other: &Path) -> bool {
        let is_end_of = |short: &Path, long: &Path| !short.is_absolute && long.components.ends_with(&short.components);
        if self.is_absolute && other.is_absolute {
            self.components == other.components
        } else {
            is_end_of(self, other) || is_end_of(other, self)
        }
    }
}

fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

/// The path without `:42`, `:42:7`, `:10-20` or `#L10-L20` behind it.
fn without_position(text: &str) -> &str {
    let is_position = |c: char| c.is_ascii_digit() || matches!(c, ':' | '-' | 'L' | '#');
    let start = text.trim_end_matches(is_position).len();
    let marks = [":", "#L"].iter().filter_map(|mark| text.get(start..)?.find(mark).map(|at| start + at));
    marks.min().and_then(|at| text.get(..at)).filter(|path| !path.is_empty()).unwrap_or(text)
}

/// Extensions that make a bare name a file's.
const FILE_EXTENSIONS: [&str; 87] = [
    "bash",
    "bat",
    "c",
    "cc",
    "cfg",
    "cjs",
    "conf",
    "cpp",
    "cs",
    "css",
    "csv",
    "db",
    "diff",
    "env",
    "erl",
    "ex",
    "exs",
    "gif",
    "go",
    "gradle",
    "graphql",
    "gz",
    "h",
    "hpp",
    "hs",
    "htm",
    "html",
    "ini",
    "ipynb",
    "java",
    "jl",
    "jpeg",
    "jpg",
    "js",
    "json",
    "jsonl",
    "jsx",
    "kt",
    "less",
    "lock",
    "log",
    "lua",
    "md",
    "mdx",
    "mjs",
    "ml",
    "nix",
    "parquet",
    "patch",
    "pdf",
    "php",
    "png",
    "properties",
    "proto",
    "ps1",
    "py",
    "r",
    "rb",
    "rs",
    "rst",
    "scala",
    "scss",
    "sh",
    "sql",
    "sqlite",
    "svelte",
    "svg",
    "swift",
    "tar",
    "tf",
    "tgz",
    "tmpl",
    "toml",
    "ts",
    "tsv",
    "tsx",
    "txt",
    "vue",
    "wasm",
    "webp",
    "xml",
    "yaml",
    "yml",
    "zig",
    "zip",
    "zsh",
    "svn",
];
