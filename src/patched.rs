//! A value made of untouched parts of a source and of new values. Every changed message is one, so that unchanged
//! parts stay the caller's own and only what changed is built.

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::node::{Key, MAX_DEPTH, Node, to_value};

/// A JSON value, some parts of which are the source's own.
#[derive(Clone, Debug)]
pub enum Patched<N> {
    /// A part of the source, untouched.
    Source(N),
    /// A value that the source does not have.
    New(Value),
    /// An object of the source with fields replaced in place, added at the end, or left out.
    Object {
        /// The object that is changed.
        of: N,
        /// Fields that are replaced, or added when the object has none of that name.
        with: Vec<(Key, Patched<N>)>,
        /// Fields that are left out.
        without: Vec<Key>,
    },
    /// A list.
    List(Vec<Patched<N>>),
}

impl<N: Node> Patched<N> {
    /// The fields of an [`Patched::Object`] as they come out: the source's order, added fields last.
    pub fn fields<'a>(of: &N, with: &'a [(Key, Patched<N>)], without: &[Key]) -> Vec<(Rc<str>, Field<'a, N>)> {
        let replacement = |name: &str| with.iter().find(|(key, _)| key.as_str() == name).map(|(_, value)| value);
        let entries = of.entries();
        let added = with.iter().filter(|(key, _)| entries.iter().all(|(name, _)| **name != *key.as_str()));
        let added: Vec<_> = added.map(|(key, value)| (Rc::from(key.as_str()), Field::Changed(value))).collect();
        let kept = entries.into_iter().filter(|(name, _)| without.iter().all(|key| *key.as_str() != **name));
        kept.map(|(name, value)| {
            let field = replacement(&name).map_or(Field::Kept(value), Field::Changed);
            (name, field)
        })
        .chain(added)
        .collect()
    }

    /// Copies the value into a `serde_json` value. `None` when it nests deeper than [`MAX_DEPTH`].
    pub fn to_value(&self) -> Option<Value> {
        self.copy(MAX_DEPTH)
    }

    fn copy(&self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        match self {
            Patched::Source(node) => to_value(node),
            Patched::New(value) => Some(value.clone()),
            Patched::List(items) => items.iter().map(|item| item.copy(depth)).collect::<Option<_>>().map(Value::Array),
            Patched::Object { of, with, without } => {
                let mut copied = Map::new();
                for (name, field) in Self::fields(of, with, without) {
                    let value = match field {
                        Field::Kept(node) => to_value(&node)?,
                        Field::Changed(value) => value.copy(depth)?,
                    };
                    copied.insert(name.to_string(), value);
                }
                Some(Value::Object(copied))
            }
        }
    }
}

/// A field of a patched object.
pub enum Field<'a, N> {
    /// The source's own.
    Kept(N),
    /// Replaced or added.
    Changed(&'a Patched<N>),
}
