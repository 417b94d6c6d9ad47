//! File paths across their spellings.

use super::names::is_url;

/// A file path in one spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    is_absolute: bool,
    components: Vec<String>,
}

impl Path {
    /// Reads anything as a path: `./src/a.rs`, `/repo/src/a.rs`, `src\a.rs`, `src/a.rs:42`, `file:///repo/a.rs#L10`.
    pub fn parse(text: &str) -> Option<Path> {
        if is_url(text) {
            return None;
        }
        let text = text.replace('\\', "/");
        let text = if text.starts_with("file://") { with_blanks(&text) } else { text };
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
    pub fn sure(token: &str) -> Option<Path> {
        let separators = token.bytes().filter(|byte| matches!(byte, b'/' | b'\\')).count();
        let is_file_url = token.starts_with("file://");
        if separators == 0 && BARE_NAMES.contains(&token) {
            return Path::parse(token);
        }
        if (separators == 0 && !token.contains('.')) || (token.starts_with("//")) || (is_url(token) && !is_file_url) {
            return None;
        }
        let path = Path::parse(token)?;
        if !path.last().contains(|c: char| c.is_ascii_alphabetic() || !c.is_ascii()) {
            return None;
        }
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

    /// The last two components of a path that has more than a bare name: what other spellings share with it.
    pub fn end(&self) -> Option<String> {
        match self.components.as_slice() {
            [.., parent, name] => Some(format!("{parent}/{name}")),
            [name] if self.is_absolute => Some(format!("/{name}")),
            _ => None,
        }
    }

    /// The path without the side that `git diff` puts in front.
    pub fn without_diff_side(&self) -> Option<Path> {
        match self.components.split_first() {
            Some((side, rest)) if !self.is_absolute && !rest.is_empty() && (side == "a" || side == "b") => {
                Some(Path { is_absolute: false, components: rest.to_vec() })
            }
            _ => None,
        }
    }

    /// The path in one spelling.
    pub fn in_full(&self) -> String {
        let start = if self.is_absolute { "/" } else { "./" };
        format!("{start}{}", self.components.join("/"))
    }

    /// The last component.
    pub fn last(&self) -> &str {
        self.components.last().map_or("", String::as_str)
    }

    /// Whether both name one file: a relative path is the end of a longer one; two absolute ones must be equal.
    pub fn names(&self, other: &Path) -> bool {
        let is_end_of = |short: &Path, long: &Path| !short.is_absolute && long.components.ends_with(&short.components);
        if self.is_absolute && other.is_absolute {
            self.components == other.components
        } else {
            is_end_of(self, other) || is_end_of(other, self)
        }
    }
}

/// A file URL's `%20` as blanks.
fn with_blanks(url: &str) -> String {
    let mut parts = url.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.strip_prefix("20") {
            Some(rest) => {
                text.push(' ');
                text.push_str(rest);
            }
            None => {
                text.push('%');
                text.push_str(part);
            }
        }
    }
    text
}

fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

/// The path without `:42`, `:42:7`, `:10-20` or `#L10-L20` behind it.
fn without_position(text: &str) -> &str {
    let is_position = |c: char| c.is_ascii_digit() || matches!(c, ':' | '-' | 'L' | '#');
    let start = text.trim_end_matches(is_position).len();
    let is_mark = |at: &usize| matches!(text.as_bytes().get(*at..), Some([b':', ..] | [b'#', b'L', ..]));
    (start..text.len()).find(is_mark).filter(|at| *at > 0).and_then(|at| text.get(..at)).unwrap_or(text)
}

/// Files that have no extension.
const BARE_NAMES: [&str; 10] = [
    "Brewfile",
    "CODEOWNERS",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "Procfile",
    "Rakefile",
];

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
