//! An estimate that knows scripts. Text is cut into pieces as the tokenizers of OpenAI cut it: words with the space
//! before them, up to three digits, runs of punctuation. What tokens a piece becomes is guessed from its characters.

use super::characters::{Class, SIGN, TOKEN, classify};

/// A sign that the word behind it takes in, as in `.name`, seldom costs a token of its own.
const TAKEN_IN: u64 = 200;
/// A word without a space before it is a little less likely to be one token.
const NO_SPACE: u64 = 60;
/// How much less a sign costs that repeats the one before it.
const REPEATED: u64 = 16;

/// What a letter costs among random ones, as in base64 and hashes.
const RANDOM_LETTER: u64 = 600;
/// The shortest run of letters and digits that can be random.
const RANDOM_LENGTH: usize = 16;
/// Of a hundred neighbours in a random run at least so many are of different kinds. Names in camel case have fewer.
const RANDOM_CHANGES: usize = 30;

/// Estimated tokens of a text: by script, and in the manner of code, prose, numbers and base64. Empty text has none.
pub fn estimate_tokens_by_script(text: &str) -> usize {
    rounded(thousandths(text))
}

/// Tokens, of the thousandths that are summed up.
pub fn rounded(thousandths: u64) -> usize {
    usize::try_from((thousandths + TOKEN / 2) / TOKEN).unwrap_or(usize::MAX)
}

/// The estimate in thousandths of a token, to be summed.
pub fn thousandths(text: &str) -> u64 {
    let mut scan = Scan::default();
    for (at, character) in text.char_indices() {
        // `don't` is one piece.
        let is_within_word = character == '\''
            && scan.piece.class.is_letter()
            && text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_alphabetic);
        if !is_within_word {
            scan.add(character);
        }
    }
    scan.end_piece(Class::Nothing);
    scan.end_run();
    // No token is less than a byte.
    scan.total.min(text.len() as u64 * TOKEN)
}

#[derive(Default)]
struct Scan {
    total: u64,
    piece: Piece,
    /// The class of the piece before.
    before: Class,
    last: Option<char>,
    run: Run,
}

/// A piece that is being read.
#[derive(Default)]
struct Piece {
    class: Class,
    length: usize,
    cost: u64,
    /// What it costs to begin it.
    lead: u64,
    ascii_letters: u64,
}

/// Letters, digits and what else stands in base64, without a gap. Pieces end within it.
#[derive(Default)]
struct Run {
    length: usize,
    changes: usize,
    last: Class,
    /// What it costs more if it is random.
    surplus: u64,
}

impl Scan {
    fn add(&mut self, character: char) {
        let (class, mut cost) = classify(character);
        if !self.piece.takes(class) {
            self.end_piece(class);
        }
        if class == Class::Sign && cost <= TOKEN && self.last == Some(character) {
            cost /= REPEATED;
        }
        self.last = Some(character);
        self.piece.class = class;
        self.piece.length += 1;
        self.piece.cost += cost;
        match class {
            Class::Lower | Class::Upper => {
                self.piece.ascii_letters += 1;
                self.run.add(class);
            }
            Class::Digit => self.run.add(class),
            Class::Sign if matches!(character, '+' | '/' | '=' | '-' | '_') => self.run.add(class),
            _ => {
                self.piece.ascii_letters = 0;
                self.end_run();
            }
        }
    }

    #[inline(never)]
    fn end_piece(&mut self, next: Class) {
        let piece = std::mem::take(&mut self.piece);
        let lone = piece.length == 1;
        let is_taken_in = lone && piece.cost == SIGN && next.is_letter() && self.before != Class::Space;
        self.total += match piece.class {
            Class::Nothing => 0,
            // The last space belongs to what follows, unless that is a number.
            Class::Space => match next {
                Class::Break => 0,
                Class::Digit => TOKEN * if lone { 1 } else { 2 },
                Class::Nothing => TOKEN,
                _ if lone => 0,
                _ => TOKEN,
            },
            // It belongs to the punctuation before it.
            Class::Break if self.before == Class::Sign => 0,
            Class::Break => TOKEN,
            Class::Sign if is_taken_in => 0,
            _ => {
                let cost = piece.cost.max(TOKEN);
                self.run.surplus += (piece.ascii_letters * RANDOM_LETTER).saturating_sub(cost);
                cost + piece.lead
            }
        };
        self.before = piece.class;
        self.piece.class = next;
        self.piece.lead = match next {
            _ if !next.is_letter() || piece.class == Class::Space => 0,
            _ if is_taken_in => TAKEN_IN,
            _ => NO_SPACE,
        };
    }

    #[inline(never)]
    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.length >= RANDOM_LENGTH && run.changes * 100 >= run.length * RANDOM_CHANGES {
            self.total += run.surplus;
        }
    }
}

impl Piece {
    fn takes(&self, class: Class) -> bool {
        match (self.class, class) {
            (Class::Digit, Class::Digit) => self.length < 3,
            // `camelCase` is two pieces.
            (Class::Lower, Class::Upper) => false,
            (mine, other) => mine == other || mine.is_letter() && other.is_letter(),
        }
    }
}

impl Run {
    fn add(&mut self, class: Class) {
        let is_alphanumeric = |class| matches!(class, Class::Lower | Class::Upper | Class::Digit);
        self.changes += usize::from(self.last != class && is_alphanumeric(self.last) && is_alphanumeric(class));
        self.length += 1;
        self.last = class;
    }
}
