//! JSON text as a value. Transcripts hold strings that were cut inside an emoji, whose escape is half a surrogate
//! pair; that is no reason to refuse the document.

use serde_json::Value;

use crate::error::{ErrorCode, ProjectionError};

/// A parsed document.
pub struct Parsed {
    /// The document.
    pub value: Value,
    /// Whether an escaped lone surrogate was read as U+FFFD.
    pub lone_surrogates: bool,
}

/// Parses JSON text.
///
/// # Errors
/// When the text is not JSON, with line and column.
pub fn parse(text: &str) -> Result<Parsed, ProjectionError> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mended = mend_surrogates(text);
    let value = serde_json::from_str(mended.as_deref().unwrap_or(text)).map_err(|error| mistake(&error))?;
    Ok(Parsed { value, lone_surrogates: mended.is_some() })
}

/// The error of text that is not JSON.
pub fn mistake(error: &serde_json::Error) -> ProjectionError {
    let path = format!("line {} column {}", error.line(), error.column());
    // serde_json repeats the position behind its message.
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let what = message.strip_suffix(&place).unwrap_or(&message);
    ProjectionError::new(ErrorCode::InvalidJson, path, "JSON", format!("text that is not ({what})"))
}

/// The text with each escaped lone surrogate replaced by the escape of U+FFFD; `None` when there is none.
pub fn mend_surrogates(text: &str) -> Option<String> {
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(step) = text.as_bytes().get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += step;
        let unit = escaped_unit(text, at);
        let is_pair = unit.is_some_and(is_high) && escaped_unit(text, at + 6).is_some_and(is_low);
        match unit {
            _ if is_pair => at += 12,
            Some(unit) if is_high(unit) || is_low(unit) => {
                let mended = mended.get_or_insert_with(|| text.as_bytes().to_vec());
                if let Some(escape) = mended.get_mut(at..at + 6) {
                    escape.copy_from_slice(b"\\ufffd");
                }
                at += 6;
            }
            // An escape of any other kind is two bytes at least, and its second byte starts none.
            _ => at += 2,
        }
    }
    mended.and_then(|mended| String::from_utf8(mended).ok())
}

/// The UTF-16 unit of the `\uXXXX` escape at `at`.
fn escaped_unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn reads_lone_surrogates_as_replacement_characters() {
        for (text, expected, is_mended) in [
            (r#""a\ud83c""#, "a\u{FFFD}", true),
            (r#""\ud83cx\udf89""#, "\u{FFFD}x\u{FFFD}", true),
            (r#""\udf89""#, "\u{FFFD}", true),
            (r#""\ud83c\ud83c\udf89""#, "\u{FFFD}\u{1F389}", true),
            (r#""\ud83c\udf89""#, "\u{1F389}", false),
            (r#""\\ud83c""#, "\\ud83c", false),
            ("\u{FEFF}\"x\"", "x", false),
        ] {
            let parsed = parse(text).unwrap();
            assert_eq!((parsed.value.as_str(), parsed.lone_surrogates), (Some(expected), is_mended), "{text}");
        }
    }

    #[test]
    fn names_the_place_of_a_mistake() {
        let error = parse("{\n  \"a\": }").err().unwrap();
        assert_eq!((error.code(), error.path()), (ErrorCode::InvalidJson, "line 2 column 8"));
    }
}
