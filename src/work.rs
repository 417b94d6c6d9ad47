//! How much was done, counted where it is done: tests count rather than time.

use std::cell::Cell;

/// Counts of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// How often a message was read, whether for its facts, its characters, what it mentions, or to be hashed.
    pub messages_read: usize,
    /// How many bytes were hashed.
    pub bytes_hashed: usize,
    /// How often the body of a result or the arguments of a call were fetched.
    pub bodies_fetched: usize,
}

thread_local! {
    static DONE: Cell<Work> = const { Cell::new(Work { messages_read: 0, bytes_hashed: 0, bodies_fetched: 0 }) };
}

impl Work {
    /// What was done on this thread so far.
    pub fn done() -> Work {
        DONE.get()
    }

    /// What was done since then.
    #[must_use]
    pub fn since(self, then: Work) -> Work {
        Work {
            messages_read: self.messages_read - then.messages_read,
            bytes_hashed: self.bytes_hashed - then.bytes_hashed,
            bodies_fetched: self.bodies_fetched - then.bodies_fetched,
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Work) -> Work {
        Work {
            messages_read: self.messages_read + other.messages_read,
            bytes_hashed: self.bytes_hashed + other.bytes_hashed,
            bodies_fetched: self.bodies_fetched + other.bodies_fetched,
        }
    }
}

/// Notes that a message is read.
pub fn message_read() {
    DONE.set(DONE.get().and(Work { messages_read: 1, ..Work::default() }));
}

/// Notes that bytes are hashed.
pub fn hashed(bytes: usize) {
    DONE.set(DONE.get().and(Work { bytes_hashed: bytes, ..Work::default() }));
}

/// Notes that a body is fetched.
pub fn body_fetched() {
    DONE.set(DONE.get().and(Work { bodies_fetched: 1, ..Work::default() }));
}
