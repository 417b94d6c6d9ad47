//! The hashes of a list that grows and of a view of it that mostly grows along: each message is written once, and when
//! the view changes its hash goes on from the last mark before the change.

use crate::canonical::{Sha256, TooDeep, Writer};

/// The hash of a list under way.
#[derive(Clone)]
struct Chain {
    digest: Sha256,
    /// How many items it holds.
    count: usize,
}

impl Chain {
    fn new() -> Self {
        let mut digest = Sha256::new();
        digest.update(b"[");
        Chain { digest, count: 0 }
    }

    fn hash(&self) -> String {
        let mut digest = self.digest.clone();
        digest.update(b"]");
        digest.finish()
    }
}

/// An item, to be written.
pub type WriteItem<'a> = &'a dyn Fn(&mut Writer) -> Result<(), TooDeep>;

/// Both hashes.
pub struct Chains {
    view: Chain,
    /// `None` while the view is the list itself.
    source: Option<Chain>,
    /// Earlier states of the view's hash, in order.
    marks: Vec<Chain>,
    /// Where the last change was: the next one is often right behind it.
    changed_at: usize,
    writer: Writer,
}

/// How far apart marks may be, and how many of the last items each have one.
const SPACING: usize = 64;

impl Chains {
    /// Of nothing yet.
    pub fn new() -> Self {
        Chains { view: Chain::new(), source: None, marks: Vec::new(), changed_at: 0, writer: Writer::default() }
    }

    /// How many items of the view are hashed.
    pub fn shown(&self) -> usize {
        self.view.count
    }

    /// How many items of the list are hashed.
    pub fn sources(&self) -> usize {
        self.source.as_ref().map_or(self.view.count, |source| source.count)
    }

    /// From this item of the view on, it is no longer what was hashed, and it is another list than its source.
    pub fn change_at(&mut self, position: usize) {
        if self.source.is_none() {
            self.source = Some(self.view.clone());
        }
        if position >= self.view.count {
            return;
        }
        while self.marks.last().is_some_and(|mark| mark.count > position) {
            self.marks.pop();
        }
        self.view = self.marks.last().cloned().unwrap_or_else(Chain::new);
        self.changed_at = position;
    }

    /// Adds an item to both lists. Returns whether a string in it holds a lone surrogate.
    pub fn add_to_both(&mut self, write: WriteItem<'_>) -> Result<bool, TooDeep> {
        self.add(write, true, true)
    }

    /// Adds an item to the view alone.
    pub fn add_to_view(&mut self, write: WriteItem<'_>) -> Result<bool, TooDeep> {
        self.add(write, true, false)
    }

    /// Adds an item to the source alone.
    pub fn add_to_source(&mut self, write: WriteItem<'_>) -> Result<bool, TooDeep> {
        self.add(write, false, true)
    }

    fn add(&mut self, write: WriteItem<'_>, to_view: bool, to_source: bool) -> Result<bool, TooDeep> {
        // The comma before it stands in front, for those that need one.
        self.writer.bytes.clear();
        self.writer.bytes.push(b',');
        crate::work::message_read();
        write(&mut self.writer)?;
        let bytes = &self.writer.bytes;
        let add = |chain: &mut Chain| {
            chain.digest.update(bytes.get(usize::from(chain.count == 0)..).unwrap_or_default());
            chain.count += 1;
        };
        if to_view {
            add(&mut self.view);
        }
        if let Some(source) = self.source.as_mut().filter(|_| to_source) {
            add(source);
        }
        if to_view && (self.view.count.is_multiple_of(SPACING) || self.view.count == self.changed_at) {
            self.mark();
        }
        Ok(std::mem::take(&mut self.writer.lone_surrogate))
    }

    /// Remembers the state here: the view may change behind it.
    pub fn mark(&mut self) {
        let count = self.view.count;
        if count == 0 || self.marks.last().is_some_and(|mark| mark.count >= count) {
            return;
        }
        self.marks.push(self.view.clone());
        // Old marks are thinned out.
        let far = self.marks.partition_point(|mark| mark.count + SPACING < count);
        if let Some(index) = far.checked_sub(1).filter(|index| *index > 0) {
            let is_dense = match self.marks.get(index - 1).zip(self.marks.get(index + 1)) {
                Some((before, after)) => after.count - before.count <= SPACING,
                None => false,
            };
            if is_dense {
                self.marks.remove(index);
            }
        }
    }

    /// `sha256:` and 64 hex digits over the view, and the same over the source.
    pub fn hashes(&self) -> (String, String) {
        let view = self.view.hash();
        let source = self.source.as_ref().map_or_else(|| view.clone(), Chain::hash);
        (view, source)
    }
}
