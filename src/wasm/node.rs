//! JavaScript values as [`Node`]s: live objects are read in place, and text comes over only when a rule must read it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use serde_json::Value;
use wasm_bindgen::JsValue;

use crate::document::Slice;
use crate::node::{Key, Kind, Node, sort_by_name, sorted_positions};

use super::host;

/// Tells the host where the engine's memory is and which names it will ask for.
pub fn start() {
    let names = host::new_list();
    Key::ALL.iter().for_each(|key| host::push(&names, &JsValue::from_str(key.as_str())));
    host::connect(wasm_bindgen::memory(), names);
}

/// A value that the caller gave, or that the engine made.
#[derive(Clone)]
pub enum JsNode<'a> {
    /// A JavaScript value.
    Live(JsValue),
    /// A plain JavaScript object whose field names are known.
    Opened(JsValue, &'static Layout),
    /// A value that the engine made.
    Parsed(&'a Value),
    /// A value of JSON text, with every digit.
    Exact(Slice<'a>),
}

impl From<JsValue> for JsNode<'_> {
    fn from(value: JsValue) -> Self {
        JsNode::Live(value)
    }
}

thread_local! {
    /// Where strings are written; taken out while one is read.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The field names of each layout that was met. There are not many, and they are never given back.
    static LAYOUTS: RefCell<Vec<&'static Layout>> = const { RefCell::new(Vec::new()) };
}

/// Field names in the objects' own order, and their positions in sorted order.
pub struct Layout {
    names: Vec<Rc<str>>,
    sorted: Vec<usize>,
    /// For each key, whether it is among the names.
    keys: Vec<bool>,
}

impl Layout {
    fn ask(layout: usize) -> Layout {
        let list = host::names_of(layout);
        let names = (0..host::length_of(&list)).filter_map(|at| host::item(&list, at));
        let names: Vec<Rc<str>> = names.filter_map(|name| with_bytes(&name, owned)).map(Rc::from).collect();
        let keys = Key::ALL.iter().map(|key| names.iter().any(|name| **name == *key.as_str())).collect();
        Layout { sorted: sorted_positions(&mut names.iter().map(|name| &**name)), names, keys }
    }

    /// One that the host remembers: not number 0.
    fn known(layout: usize) -> Option<&'static Layout> {
        let at = layout.checked_sub(1)?;
        LAYOUTS.with_borrow_mut(|layouts| {
            while layouts.len() <= at {
                layouts.push(Box::leak(Box::new(Layout::ask(layouts.len() + 1))));
            }
            layouts.get(at).copied()
        })
    }

    fn has(&self, key: Key) -> bool {
        self.keys.get(key as usize) == Some(&true)
    }
}

/// What the host's `write*` functions return for what is no text.
const NO_TEXT: isize = isize::MIN;

/// Has the host write UTF-8 to the scratch buffer and reads it there; `None` when the host has no text. `write` gets
/// address and capacity and returns the bytes written, or less than zero for the capacity that it needs.
fn with_scratch<R>(write: &dyn Fn(*mut u8, usize) -> isize, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
    let (scratch, written) = write_scratch(write)?;
    let result = read(scratch.get(..written).unwrap_or_default());
    SCRATCH.replace(scratch);
    Some(result)
}

fn write_scratch(write: &dyn Fn(*mut u8, usize) -> isize) -> Option<(Vec<u8>, usize)> {
    let mut scratch = SCRATCH.take();
    let mut written = write(scratch.as_mut_ptr(), scratch.len());
    if written < 0 && written != NO_TEXT {
        scratch.resize(written.unsigned_abs().next_power_of_two(), 0);
        written = write(scratch.as_mut_ptr(), scratch.len());
    }
    if written < 0 {
        SCRATCH.replace(scratch);
        return None;
    }
    Some((scratch, written.unsigned_abs()))
}

fn with_bytes<R>(value: &JsValue, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
    with_scratch(&|at, capacity| host::write_text(value, at, capacity), read)
}

fn owned(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap_or_default()
}

fn live_kind(value: &JsValue) -> Option<Kind> {
    match host::kind_of(value) {
        0 => Some(Kind::Null),
        1 => Some(Kind::Bool),
        2 => Some(Kind::Number),
        3 => Some(Kind::String),
        4 => Some(Kind::Array),
        5 => Some(Kind::Object),
        6 => Some(Kind::Function),
        _ => None,
    }
}

impl Node for JsNode<'_> {
    type Made<'v> = JsNode<'v>;

    fn of_value(value: &Value) -> JsNode<'_> {
        JsNode::Parsed(value)
    }

    fn kind(&self) -> Kind {
        match self {
            JsNode::Live(value) => live_kind(value).unwrap_or(Kind::Null),
            JsNode::Opened(..) => Kind::Object,
            JsNode::Parsed(value) => value.kind(),
            JsNode::Exact(value) => value.kind(),
        }
    }

    fn opened(&self) -> Self {
        match self {
            JsNode::Live(value) => match Layout::known(host::plain_layout(value)) {
                Some(layout) => JsNode::Opened(value.clone(), layout),
                None => self.clone(),
            },
            _ => self.clone(),
        }
    }

    fn field(&self, key: Key) -> Option<Self> {
        match self {
            JsNode::Opened(_, layout) if !layout.has(key) => None,
            JsNode::Live(value) | JsNode::Opened(value, _) => host::field(value, key as usize).map(JsNode::Live),
            JsNode::Parsed(value) => value.field(key).map(JsNode::Parsed),
            JsNode::Exact(value) => value.field(key).map(JsNode::Exact),
        }
    }

    fn item(&self, index: usize) -> Option<Self> {
        match self {
            JsNode::Live(value) | JsNode::Opened(value, _) => host::item(value, index).map(JsNode::Live),
            JsNode::Parsed(value) => value.item(index).map(JsNode::Parsed),
            JsNode::Exact(value) => value.item(index).map(JsNode::Exact),
        }
    }

    fn own_item(&self, index: usize) -> Option<Self> {
        match self {
            JsNode::Live(value) | JsNode::Opened(value, _) => host::own_item(value, index).map(JsNode::Live),
            JsNode::Parsed(_) => self.item(index),
            JsNode::Exact(_) => self.item(index),
        }
    }

    fn items(&self) -> impl Iterator<Item = Option<Self>> + '_ {
        let exact = match self {
            JsNode::Exact(value) => Some(value.list()),
            _ => None,
        };
        let count = exact.as_ref().map_or_else(|| self.len(), Vec::len);
        // One by one, each would be looked for from the start.
        (0..count).map(move |index| match &exact {
            Some(items) => items.get(index).filter(|item| item.kind() != Kind::Null).map(|item| JsNode::Exact(*item)),
            None => self.item(index),
        })
    }

    fn own_items(&self) -> Vec<Option<Self>> {
        match self {
            JsNode::Exact(_) => self.items().collect(),
            _ => (0..self.len()).map(|index| self.own_item(index)).collect(),
        }
    }

    fn len(&self) -> usize {
        match self {
            JsNode::Live(value) if live_kind(value) == Some(Kind::Array) => host::length_of(value),
            JsNode::Live(_) | JsNode::Opened(..) => 0,
            JsNode::Parsed(value) => value.len(),
            JsNode::Exact(value) => value.len(),
        }
    }

    fn as_bool(&self) -> Option<bool> {
        match self {
            JsNode::Live(value) | JsNode::Opened(value, _) => value.as_bool(),
            JsNode::Parsed(value) => value.as_bool(),
            JsNode::Exact(value) => value.as_bool(),
        }
    }

    fn as_f64(&self) -> Option<f64> {
        match self {
            JsNode::Live(value) | JsNode::Opened(value, _) => value.as_f64(),
            JsNode::Parsed(value) => value.as_f64(),
            JsNode::Exact(value) => value.as_f64(),
        }
    }

    fn number_text(&self) -> Option<String> {
        match self {
            JsNode::Live(value) | JsNode::Opened(value, _) => {
                let write = |at, capacity| host::write_number(value, at, capacity);
                with_scratch(&write, owned).map(|digits| spell(digits, value.as_f64()))
            }
            JsNode::Parsed(value) => value.number_text(),
            JsNode::Exact(value) => value.number_text(),
        }
    }

    fn as_str(&self) -> Option<Cow<'_, str>> {
        match self {
            JsNode::Live(value) | JsNode::Opened(value, _) => with_bytes(value, owned).map(Cow::Owned),
            JsNode::Parsed(value) => Node::as_str(value),
            JsNode::Exact(value) => value.str(),
        }
    }

    fn with_str<R>(&self, read: impl FnOnce(&str) -> R) -> Option<R> {
        self.with_utf8(|bytes| read(std::str::from_utf8(bytes).unwrap_or_default()))
    }

    fn with_utf8<R>(&self, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        match self {
            JsNode::Live(value) | JsNode::Opened(value, _) => with_bytes(value, read),
            JsNode::Parsed(value) => value.as_str().map(|text| read(text.as_bytes())),
            JsNode::Exact(value) => value.str().map(|text| read(text.as_bytes())),
        }
    }

    fn field_str(&self, key: Key) -> Option<String> {
        match self {
            JsNode::Opened(_, layout) if !layout.has(key) => None,
            JsNode::Live(value) | JsNode::Opened(value, _) => {
                with_scratch(&|at, capacity| host::write_field(value, key as usize, at, capacity), owned)
            }
            JsNode::Parsed(value) => value.field_str(key),
            JsNode::Exact(value) => value.field_str(key),
        }
    }

    fn entries(&self) -> Vec<(Rc<str>, Self)> {
        match self {
            JsNode::Live(value) | JsNode::Opened(value, _) => live_entries(value, false),
            JsNode::Parsed(value) => parsed_entries(value),
            JsNode::Exact(value) => exact_entries(*value),
        }
    }

    fn sorted_entries(&self) -> Vec<(Rc<str>, Self)> {
        match self {
            JsNode::Live(value) | JsNode::Opened(value, _) => live_entries(value, true),
            JsNode::Parsed(value) => sort_by_name(parsed_entries(value)),
            JsNode::Exact(value) => sort_by_name(exact_entries(*value)),
        }
    }

    fn source_text(&self) -> Option<&str> {
        match self {
            JsNode::Live(_) | JsNode::Opened(..) | JsNode::Parsed(_) => None,
            JsNode::Exact(value) => Some(value.raw()),
        }
    }

    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (JsNode::Live(a) | JsNode::Opened(a, _), JsNode::Live(b) | JsNode::Opened(b, _)) => host::is_same(a, b),
            (JsNode::Parsed(a), JsNode::Parsed(b)) => a.same(b),
            (JsNode::Exact(a), JsNode::Exact(b)) => a.same(b),
            _ => false,
        }
    }

    fn is_well_formed(&self) -> bool {
        match self {
            JsNode::Live(value) | JsNode::Opened(value, _) => host::is_well_formed(value),
            JsNode::Parsed(_) => true,
            JsNode::Exact(value) => value.is_well_formed(),
        }
    }

    fn head(&self, chars: usize) -> Option<String> {
        match self {
            // Twice as many UTF-16 units hold as many characters.
            JsNode::Live(value) | JsNode::Opened(value, _) => {
                let write = |at, capacity| host::write_head(value, 2 * chars, at, capacity);
                with_scratch(&write, |head| owned(head).chars().take(chars).collect())
            }
            JsNode::Parsed(value) => value.head(chars),
            JsNode::Exact(value) => value.head(chars),
        }
    }
}

fn parsed_entries<'a>(value: &&'a Value) -> Vec<(Rc<str>, JsNode<'a>)> {
    value.entries().into_iter().map(|(name, value)| (name, JsNode::Parsed(value))).collect()
}

fn exact_entries(value: Slice<'_>) -> Vec<(Rc<str>, JsNode<'_>)> {
    value.entries().into_iter().map(|(name, value)| (name, JsNode::Exact(value))).collect()
}

fn live_entries<'a>(value: &JsValue, sorted: bool) -> Vec<(Rc<str>, JsNode<'a>)> {
    if live_kind(value) != Some(Kind::Object) {
        return Vec::new();
    }
    let number = host::layout_of(value);
    let asked;
    let layout = match Layout::known(number) {
        Some(layout) => layout,
        None => {
            asked = Layout::ask(number);
            &asked
        }
    };
    let mut entries = Vec::with_capacity(layout.names.len());
    for position in 0..layout.names.len() {
        let position = if sorted { layout.sorted.get(position).copied().unwrap_or_default() } else { position };
        let field = host::field_at(number, position);
        // `undefined` stands for all that JSON cannot hold.
        if let Some(name) = layout.names.get(position).filter(|_| !field.is_undefined()) {
            entries.push((name.clone(), JsNode::Live(field)));
        }
    }
    entries
}

/// A number as its JSON text would hash: whole numbers by their digits, floats as `serde_json` spells them.
fn spell(digits: String, float: Option<f64>) -> String {
    let is_whole = digits.parse::<i64>().is_ok() || digits.parse::<u64>().is_ok();
    match float {
        // JSON has no NaN and no infinity: `JSON.stringify` writes null.
        Some(float) if !is_whole => {
            serde_json::Number::from_f64(float).map_or_else(|| "null".to_owned(), |n| n.to_string())
        }
        _ => digits,
    }
}
