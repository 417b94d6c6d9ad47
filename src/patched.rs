//! A value made of untouched parts of a source and of new values. Every changed message is one, so that unchanged
//! parts stay the caller's own and only what changed is built.

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::node::{Key, Kind, MAX_DEPTH, Node, to_value};

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

/// A step on the way from a value to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To a field of an object.
    Field(Key),
    /// To an item of a list.
    Item(usize),
}

/// A way in words: `.content[2].content`.
pub fn in_words(path: &[Step]) -> String {
    let mut words = String::new();
    for step in path {
        match step {
            Step::Field(key) => words.extend([".", key.as_str()]),
            Step::Item(index) => words.extend(["[", &index.to_string(), "]"]),
        }
    }
    words
}

/// A change of one part of a value.
pub struct Edit {
    /// The way to the part.
    pub path: Vec<Step>,
    /// What it becomes; `None` takes it out.
    pub value: Option<Value>,
}

/// The value with its parts changed; `None` when it is taken out itself. A list that loses its last item goes with
/// it: an empty list of calls is refused where a missing one is not.
pub fn edited<N: Node>(of: &N, edits: &[Edit]) -> Option<Patched<N>> {
    let edits: Vec<_> = edits.iter().map(|edit| (edit.path.as_slice(), &edit.value)).collect();
    edit(of, &edits)
}

type Below<'a> = (&'a [Step], &'a Option<Value>);

fn edit<N: Node>(of: &N, edits: &[Below<'_>]) -> Option<Patched<N>> {
    if let Some((_, value)) = edits.iter().find(|(path, _)| path.is_empty()) {
        return (*value).clone().map(Patched::New);
    }
    match of.kind() {
        Kind::Array => {
            let mut left = Vec::new();
            for (index, item) in of.items().enumerate() {
                let below = below(edits, Step::Item(index));
                match item {
                    Some(item) if !below.is_empty() => left.extend(edit(&item, &below)),
                    Some(item) => left.push(Patched::Source(item)),
                    None if below.iter().any(|(path, value)| path.is_empty() && value.is_none()) => {}
                    None => left.push(Patched::New(Value::Null)),
                }
            }
            (!left.is_empty()).then_some(Patched::List(left))
        }
        Kind::Object => {
            let (mut with, mut without) = (Vec::new(), Vec::new());
            for (path, _) in edits {
                let Some(Step::Field(key)) = path.first() else { continue };
                if without.contains(key) || with.iter().any(|(known, _)| known == key) {
                    continue;
                }
                let below = below(edits, Step::Field(*key));
                let changed = match of.field(*key) {
                    Some(field) => edit(&field, &below),
                    None => below
                        .iter()
                        .find(|(path, _)| path.is_empty())
                        .and_then(|(_, value)| (*value).clone())
                        .map(Patched::New),
                };
                match changed {
                    Some(changed) => with.push((*key, changed)),
                    None => without.push(*key),
                }
            }
            Some(Patched::Object { of: of.clone(), with, without })
        }
        _ => Some(Patched::Source(of.clone())),
    }
}

fn below<'a>(edits: &[Below<'a>], step: Step) -> Vec<Below<'a>> {
    let rest = |(path, value): &Below<'a>| {
        let (first, rest) = path.split_first()?;
        (*first == step).then_some((rest, *value))
    };
    edits.iter().filter_map(rest).collect()
}

/// A field of a patched object.
pub enum Field<'a, N> {
    /// The source's own.
    Kept(N),
    /// Replaced or added.
    Changed(&'a Patched<N>),
}
