//! What a character is to a tokenizer, and what part of a token it costs. Measured on the samples of `benches/corpus`
//! that are for fitting, against o200k; scripts that have no sample there are scaled from names of countries.

/// A token, in the thousandths that are counted here.
pub const TOKEN: u64 = 1000;

/// What an ASCII sign costs in a run of signs.
pub const SIGN: u64 = 330;

/// What characters have in common that stand in one piece. Tokens never reach from one piece into the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Before the first character, and after the last one.
    #[default]
    Nothing,
    /// White space within a line.
    Space,
    /// The end of a line.
    Break,
    /// Punctuation, symbols, pictures.
    Sign,
    /// `0` to `9`.
    Digit,
    /// `a` to `z`.
    Lower,
    /// `A` to `Z`.
    Upper,
    /// Any other letter, and what combines with it.
    Letter,
}

impl Class {
    pub fn is_letter(self) -> bool {
        matches!(self, Class::Lower | Class::Upper | Class::Letter)
    }
}

/// The class of a character and its cost in thousandths of a token. A letter that only some languages of its script use
/// costs more: vocabularies know their words less well, the plain letters of these words included.
#[inline(never)]
pub fn classify(character: char) -> (Class, u64) {
    match character {
        'a'..='z' => (Class::Lower, 165),
        'A'..='Z' => (Class::Upper, 165),
        '0'..='9' => (Class::Digit, 0),
        '\n' | '\r' => (Class::Break, 0),
        ' ' | '\t' | '\u{B}' | '\u{C}' | '\u{A0}' | '\u{3000}' => (Class::Space, 0),
        '\0'..='\u{7F}' => (Class::Sign, SIGN),
        // Latin: Western, Central European and Turkish, Vietnamese with accents that stand alone.
        '\u{C0}'..='\u{FF}' => (Class::Letter, 1000),
        '\u{100}'..='\u{24F}' => (Class::Letter, 2000),
        '\u{300}'..='\u{36F}' | '\u{1E00}'..='\u{1EFF}' => (Class::Letter, 500),
        // Cyrillic: the Russian alphabet, then the rest.
        '\u{410}'..='\u{44F}' => (Class::Letter, 270),
        '\u{400}'..='\u{52F}' => (Class::Letter, 900),
        // Greek; Armenian, Hebrew, Arabic and their neighbours; Georgian.
        '\u{370}'..='\u{3FF}' | '\u{530}'..='\u{7FF}' | '\u{10A0}'..='\u{10FF}' => (Class::Letter, 410),
        // Devanagari, Bengali; the other scripts of India, Thai; Burmese, Khmer.
        '\u{900}'..='\u{9FF}' => (Class::Letter, 335),
        '\u{A00}'..='\u{E7F}' => (Class::Letter, 460),
        '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' => (Class::Letter, 570),
        // Kana, Han, Hangul, full-width punctuation.
        '\u{3040}'..='\u{30FF}' => (Class::Letter, 680),
        '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}' => (Class::Letter, 820),
        '\u{3130}'..='\u{318F}' | '\u{AC00}'..='\u{D7A3}' => (Class::Letter, 700),
        '\u{3001}'..='\u{303F}' | '\u{FF00}'..='\u{FF65}' => (Class::Sign, 900),
        // What joins pictures, and chooses how they look.
        '\u{200D}' => (Class::Sign, 1200),
        '\u{FE00}'..='\u{FE0F}' => (Class::Sign, 800),
        '\u{1F3FB}'..='\u{1F3FF}' => (Class::Sign, 1400),
        '\u{E0000}'..='\u{E007F}' => (Class::Sign, 4000),
        // Punctuation and symbols beyond ASCII, pictures.
        '\u{80}'..='\u{BF}' | '\u{2000}'..='\u{2BFF}' => (Class::Sign, 1000),
        '\u{1F000}'..='\u{1FAFF}' => (Class::Sign, 2200),
        // Scripts that vocabularies hardly know: two or three bytes of four are a token.
        _ => (Class::Letter, 1800),
    }
}
