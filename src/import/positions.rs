//! Where things with names stand. One kind of map for all of them: each other kind would be compiled besides.

use std::collections::HashMap;

/// The positions of each name, in order.
#[derive(Default)]
pub struct Positions(HashMap<String, Vec<usize>>);

impl Positions {
    /// Adds a position of a name.
    pub fn add(&mut self, name: &str, position: usize) {
        self.0.entry(name.to_owned()).or_default().push(position);
    }

    /// All positions of a name.
    pub fn all(&self, name: &str) -> &[usize] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The last position of a name.
    pub fn last(&self, name: &str) -> Option<usize> {
        self.all(name).last().copied()
    }

    /// Whether the name was seen.
    pub fn has(&self, name: &str) -> bool {
        !self.all(name).is_empty()
    }
}
