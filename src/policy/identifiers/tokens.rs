//! Text cut into the runs of characters that names can have.

/// A run of characters that names can have.
#[derive(Clone, Copy)]
pub struct Token<'a> {
    /// The token, without the punctuation around it.
    pub text: &'a str,
    /// Whether JSON that could not be parsed has it as a field name: an envelope word.
    pub is_field_name: bool,
}

// What a byte can be in a token. The loop over these sees every byte of every old result.
const SEPARATOR: u8 = 0;
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const MARK: u8 = 8;
const FOREIGN: u8 = 16;
/// A lower-case letter before an upper-case one.
const HUMP: u8 = 32;

#[allow(clippy::indexing_slicing, reason = "the compiler checks it: the table is a constant")]
const CLASSES: [u8; 256] = {
    let mut classes = [SEPARATOR; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' | b'-' | b'.' | b'/' | b'\\' | b':' | b'#' | b'@' | b'~' | b'+' | b'$' | b'%' => MARK,
            128.. => FOREIGN,
            _ => SEPARATOR,
        };
        byte += 1;
    }
    classes
};

/// Arrows, quotes, dashes, boxes and the punctuation of scripts that are not ASCII.
fn is_foreign_punctuation(c: char) -> bool {
    matches!(c, '\u{A0}'..='\u{BF}' | '\u{2000}'..='\u{2BFF}' | '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FF0F}')
}

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(SEPARATOR)
}

/// Which tokens to visit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// All of them.
    All,
    /// Those with a mark of an identifier. A plain word, a number and `The` have none; they are most of a text.
    Marked,
}

/// Visits the tokens of a text until `visitor` says stop. Returns whether it never did.
pub fn visit_tokens<'a>(text: &'a str, which: Which, visitor: &mut dyn FnMut(Token<'a>) -> bool) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    // Plain loops: this is where the time of reachability_gc goes.
    while let Some(byte) = bytes.get(at) {
        if class(*byte) == SEPARATOR {
            at += 1;
            continue;
        }
        let (start, mut seen, mut before) = (at, 0, SEPARATOR);
        while let Some(byte) = bytes.get(at) {
            let now = class(*byte);
            if now == SEPARATOR {
                break;
            }
            seen |= now;
            if before == LOWER && now == UPPER {
                seen |= HUMP;
            }
            before = now;
            at += 1;
        }
        let is_mixed = seen & DIGIT != 0 && seen & (LOWER | UPPER) != 0;
        let is_marked = seen & (MARK | FOREIGN | HUMP) != 0 || is_mixed;
        if which == Which::Marked && !is_marked {
            continue;
        }
        let is_field_name = bytes.get(at..at + 2) == Some(b"\":");
        let token = Token { text: text.get(start..at).unwrap_or_default(), is_field_name };
        let goes_on = if is_marked { visit_parts(token, seen, visitor) } else { visit_long(token, visitor) };
        if !goes_on {
            return false;
        }
    }
    true
}

fn visit_long<'a>(token: Token<'a>, visitor: &mut dyn FnMut(Token<'a>) -> bool) -> bool {
    token.text.len() < 2 || visitor(token)
}

/// `key:value` is two tokens; `a::b`, `src/a.rs:42`, `C:\repo` and `https://` are one. Scripts without spaces stand
/// close to a name: the ASCII parts of such a token are tokens too.
fn visit_parts<'a>(run: Token<'a>, seen: u8, visitor: &mut dyn FnMut(Token<'a>) -> bool) -> bool {
    let mut rest = Some(run.text);
    while let Some(text) = rest {
        let cut = (0..text.len()).find(|at| text.as_bytes().get(*at) == Some(&b':') && !is_inner_colon(text, *at));
        rest = cut.and_then(|at| text.get(at + 1..));
        let part = trim_punctuation(cut.map_or(text, |at| text.get(..at).unwrap_or_default()));
        let is_one = seen & FOREIGN == 0 || !part.contains(is_foreign_punctuation);
        if is_one && !visit_long(Token { text: part, ..run }, visitor) {
            return false;
        }
        if seen & FOREIGN != 0 {
            for piece in part.split(|c: char| !c.is_ascii()).chain(part.split(is_foreign_punctuation)) {
                if piece.len() < part.len() && !visit_long(Token { text: trim_punctuation(piece), ..run }, visitor) {
                    return false;
                }
            }
        }
    }
    true
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
