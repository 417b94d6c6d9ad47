//! Where a text may be cut: never inside what a reader sees as one character (a grapheme cluster). The rules here
//! are those of Unicode made simpler on the safe side: some boundaries are missed, none is invented, and the large
//! tables are not needed.

/// The longest start of at most `chars` characters that ends between clusters.
pub fn head(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let ends = text.get(..end).unwrap_or_default().char_indices().rev().map(|(at, _)| at);
    let end = std::iter::once(end).chain(ends).find(|at| is_boundary(text, *at)).unwrap_or_default();
    text.get(..end).unwrap_or_default()
}

/// The longest end of at most `chars` characters that starts between clusters.
pub fn tail(text: &str, chars: usize) -> &str {
    if chars == 0 {
        return "";
    }
    let start = text.char_indices().rev().nth(chars - 1).map_or(0, |(at, _)| at);
    let starts = text.get(start..).unwrap_or_default().char_indices().map(|(at, _)| start + at);
    let start = starts.chain([text.len()]).find(|at| is_boundary(text, *at)).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}

fn is_boundary(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or_default();
    let (Some(last), Some(next)) = (before.chars().next_back(), after.chars().next()) else { return true };
    // By far the most of all text.
    if last.is_ascii() && next.is_ascii() {
        return (last, next) != ('\r', '\n');
    }
    if last.is_control() || next.is_control() {
        return true;
    }
    if is_flag_letter(last) && is_flag_letter(next) {
        return before.chars().rev().take_while(|c| is_flag_letter(*c)).count() % 2 == 0;
    }
    !(extends(next) || prepends(last) || is_joined_syllable(last, next) || is_conjunct(last, next))
}

fn is_in(c: char, ranges: &[(u32, u32)]) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(c)))
}

/// Two of them make a flag.
fn is_flag_letter(c: char) -> bool {
    is_in(c, &[(0x1F1E6, 0x1F1FF)])
}

/// Whether the character may belong to the one before it: all that is written above, below or around another, and
/// all that is not seen.
fn extends(c: char) -> bool {
    // Indic blocks are laid out alike, 128 characters each.
    let in_block = u32::from(c) % 0x80;
    let is_indic_mark = is_in(c, &[(0x0900, 0x0D7F)])
        && (matches!(in_block, 0..=3 | 0x3A..=0x3C | 0x3E..=0x4F | 0x55..=0x57 | 0x62..=0x63 | 0x73));
    is_indic_mark || is_in(c, EXTENDING) || is_unseen(c)
}

/// Combining marks, and characters that print as nothing: the standard library escapes both. And skin tones.
fn is_unseen(c: char) -> bool {
    !c.is_ascii() && c.escape_debug().nth(1).is_some() || is_in(c, &[(0x1F3FB, 0x1F3FF)])
}

const EXTENDING: &[(u32, u32)] = &[
    (0x0D81, 0x0D83), // Sinhala
    (0x0DCA, 0x0DDF),
    (0x0DF2, 0x0DF3),
    (0x0E30, 0x0E3A), // Thai, Lao
    (0x0EB0, 0x0EBC),
    (0x0F3E, 0x0F3F), // Tibetan
    (0x0F7F, 0x0F7F),
    (0x102B, 0x103E), // Myanmar
    (0x1056, 0x1059),
    (0x105E, 0x1064),
    (0x1067, 0x106D),
    (0x1071, 0x1074),
    (0x1082, 0x109D),
    (0x1160, 0x11FF), // Hangul vowels and ends of syllables
    (0xD7B0, 0xD7FF),
    (0x1715, 0x1734),   // Tagalog, Hanunoo
    (0x17B4, 0x17D3),   // Khmer
    (0x1D165, 0x1D16D), // stems and flags of notes
    // Scripts too rare for rules of their own: they are cut where they end.
    (0x1900, 0x1CFF),
    (0xA800, 0xABFF),
    (0x10A00, 0x10A5F),
    (0x11000, 0x11FFF),
    (0x16100, 0x16FFF),
];

/// Whether the character may belong to the one behind it.
fn prepends(c: char) -> bool {
    is_in(
        c,
        &[
            (0x200D, 0x200D), // the joiner of emoji
            (0x0600, 0x0605),
            (0x06DD, 0x06DD),
            (0x070F, 0x070F),
            (0x0890, 0x0891),
            (0x08E2, 0x08E2),
            (0x0D4E, 0x0D4E),
            (0x110BD, 0x110CD),
            (0x111C2, 0x111C3),
            (0x113D1, 0x113D1),
            (0x1193F, 0x11941),
            (0x11A3A, 0x11A89),
            (0x11D46, 0x11D46),
            (0x11F02, 0x11F02),
        ],
    )
}

/// Hangul written letter by letter.
fn is_joined_syllable(last: char, next: char) -> bool {
    let starts = &[(0x1100, 0x115F), (0xA960, 0xA97C)];
    is_in(last, starts) && (is_in(next, starts) || is_in(next, &[(0xAC00, 0xD7A3)]))
}

/// Consonants that a mark between them makes one.
fn is_conjunct(last: char, next: char) -> bool {
    is_unseen(last) && is_in(next, &[(0x0900, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x17FF)])
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    /// Whether the first character of a text may be cut off.
    fn may_cut(text: &str) -> bool {
        !head(text, 1).is_empty()
    }

    #[test]
    fn every_character_stays_with_its_neighbours() {
        for c in ('\0'..='\u{1FFFF}').chain('\u{E0000}'..='\u{E0FFF}') {
            for text in [format!("a{c}"), format!("{c}a"), format!("中{c}"), format!("{c}中"), format!("{c}{c}")] {
                let is_cluster = text.graphemes(true).count() == 1;
                assert!(!(is_cluster && may_cut(&text)), "{text:?} {:x}", u32::from(c));
            }
        }
    }

    #[test]
    fn letters_and_signs_of_the_common_scripts_may_be_parted() {
        let letters = [
            ('ぁ', 'ヿ'),
            ('一', '鿋'),
            ('가', '힣'),
            ('Α', 'ϡ'),
            ('А', 'ѯ'),
            ('א', 'ת'),
            ('ف', 'ي'),
            ('ก', 'ะ'),
            ('अ', 'ह'),
        ];
        for c in letters.iter().flat_map(|(first, last)| *first..=*last) {
            assert!(is_unseen(c) || extends(c) || may_cut(&format!("{c}{c}")), "{c} {:x}", u32::from(c));
        }
        for text in ["👍👍", "❤️❤️", "🇩🇪🇫🇷", "👩🏽👩🏽", "©®", "→←", "…—", "éé"]
        {
            let first = text.graphemes(true).next().map_or(0, |cluster| cluster.chars().count());
            assert!(!head(text, first).is_empty(), "{text}");
        }
    }
}
