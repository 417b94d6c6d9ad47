//! A JSON value that counts how often its fields are read.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use serde_json::Value;
use transcript_projection::{Key, Kind, Node};

thread_local! {
    static READS: Cell<usize> = const { Cell::new(0) };
}

/// A value that counts.
#[derive(Clone, Debug)]
pub struct Counted<'a>(pub &'a Value);

/// How often fields were read while `work` was done.
pub fn reads(work: impl FnOnce()) -> usize {
    let before = READS.get();
    work();
    READS.get() - before
}

impl<'a> Node for Counted<'a> {
    type Made<'v> = Counted<'v>;

    fn of_value(value: &Value) -> Counted<'_> {
        Counted(value)
    }
    fn kind(&self) -> Kind {
        self.0.kind()
    }
    fn field(&self, key: Key) -> Option<Self> {
        READS.set(READS.get() + 1);
        self.0.field(key).map(Counted)
    }
    fn item(&self, index: usize) -> Option<Self> {
        self.0.item(index).map(Counted)
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn as_bool(&self) -> Option<bool> {
        Node::as_bool(&self.0)
    }
    fn as_f64(&self) -> Option<f64> {
        Node::as_f64(&self.0)
    }
    fn number_text(&self) -> Option<String> {
        self.0.number_text()
    }
    fn as_str(&self) -> Option<Cow<'_, str>> {
        Node::as_str(&self.0)
    }
    fn entries(&self) -> Vec<(Rc<str>, Self)> {
        self.0.entries().into_iter().map(|(name, value)| (name, Counted(value))).collect()
    }
    fn same(&self, other: &Self) -> bool {
        self.0.same(&other.0)
    }
}
