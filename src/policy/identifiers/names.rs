//! What makes a token a symbol, an object id or a URL, and a field a reference.

use std::borrow::Cow;

/// `id`, `path`, `file_path`, `sourceRef`: fields whose whole value names something.
pub fn is_reference_field(name: &str) -> bool {
    const WORDS: [&str; 14] = [
        "id", "ids", "path", "paths", "file", "files", "filename", "symbol", "sha", "ref", "uri", "url", "uuid", "hash",
    ];
    let last = name.rsplit(['_', '-']).next().unwrap_or(name);
    // camelCase: the last hump.
    let hump = last.rfind(|c: char| c.is_ascii_uppercase()).and_then(|at| last.get(at..)).unwrap_or(last);
    [last, hump].iter().any(|word| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// The runs of a token that could be symbols.
pub fn symbols(token: &str) -> impl Iterator<Item = &str> {
    let runs = token.split(|c: char| c.is_ascii() && !(c.is_ascii_alphanumeric() || c == '_' || c == ':'));
    runs.map(|run| run.trim_matches(':')).filter(|run| run.len() > 1)
}

/// `a::b`, snake_case of 6 or more, mixedCase of 4 or more.
pub fn is_symbol(run: &str) -> bool {
    let is_path = has_bytes(run, b"::");
    let is_snake =
        run.len() >= 6 && run.trim_matches('_').contains('_') && run.contains(|c: char| c.is_ascii_alphabetic());
    let bytes = run.as_bytes();
    let has_hump =
        || bytes.windows(2).any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    is_path || is_snake || (run.len() >= 4 && has_hump())
}

/// A git hash, a UUID, `#12`.
pub fn is_object_id(token: &str) -> bool {
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

/// Whether a token is a URL; a file's is a path.
pub fn is_url(token: &str) -> bool {
    has_bytes(token, b"://") && !token.starts_with("file:")
}

/// Hashes and UUIDs compare without case; everything else with it.
pub fn same_case(word: &str) -> Cow<'_, str> {
    if is_git_hash(word) || is_uuid(word) { word.to_ascii_lowercase().into() } else { word.into() }
}

/// For a needle this short a plain search is as good as the searcher of `str::contains`, and much less code.
fn has_bytes(text: &str, needle: &[u8]) -> bool {
    text.as_bytes().windows(needle.len()).any(|window| window == needle)
}
