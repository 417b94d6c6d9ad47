//! JavaScript values as [`Node`]s: live objects are read in place, and text comes over only when a rule must read it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use serde_json::Value;
use wasm_bindgen::JsValue;

use crate::node::{Key, Kind, Node};

use super::host;

/// Tells the host where the engine's memory is and which names it will ask for.
pub fn start() {
    let names = host::new_list();
    Key::ALL.iter().for_each(|key| host::push(&names, &JsValue::from_str(key.as_str())));
    host::connect(wasm_bindgen::memory(), names);
}

/// A value that the caller gave: a live object, or JSON that the engine parsed with every digit.
#[derive(Clone)]
pub enum JsNode<'a> {
    /// A JavaScript value.
    Live(JsValue),
    /// A parsed value.
    Parsed(&'a Value),
}

impl From<JsValue> for JsNode<'_> {
    fn from(value: JsValue) -> Self {
        JsNode::Live(value)
    }
}

thread_local! {
    /// Where strings are written; taken out while one is read.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The field names of each layout that was met.
    static LAYOUTS: RefCell<Vec<Rc<[Rc<str>]>>> = const { RefCell::new(Vec::new()) };
}

/// Reads a string through the scratch buffer.
fn with_text<R>(text: &JsValue, read: impl FnOnce(&str) -> R) -> R {
    let scratch = write_to_scratch(text);
    let result = read(scratch.text());
    SCRATCH.replace(scratch.buffer);
    result
}

/// The scratch buffer with a string in it.
struct Scratch {
    buffer: Vec<u8>,
    written: usize,
}

impl Scratch {
    fn text(&self) -> &str {
        std::str::from_utf8(self.buffer.get(..self.written).unwrap_or_default()).unwrap_or_default()
    }
}

fn write_to_scratch(text: &JsValue) -> Scratch {
    let mut scratch = SCRATCH.take();
    let mut written = host::write_text(text, scratch.as_mut_ptr(), scratch.len());
    if written < 0 {
        scratch.resize(written.unsigned_abs().next_power_of_two(), 0);
        written = host::write_text(text, scratch.as_mut_ptr(), scratch.len());
    }
    Scratch { buffer: scratch, written: written.unsigned_abs() }
}

fn names(layout: usize) -> Rc<[Rc<str>]> {
    let ask = |layout| -> Rc<[Rc<str>]> {
        let names = host::names_of(layout);
        let count = host::length_of(&names);
        (0..count).filter_map(|at| host::item(&names, at)).map(|name| with_text(&name, |name| Rc::from(name))).collect()
    };
    if layout == 0 {
        return ask(layout);
    }
    LAYOUTS.with_borrow_mut(|layouts| {
        while layouts.len() <= layout {
            layouts.push(ask(layouts.len()));
        }
        layouts.get(layout).cloned().unwrap_or_default()
    })
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
    fn kind(&self) -> Kind {
        match self {
            JsNode::Live(value) => live_kind(value).unwrap_or(Kind::Null),
            JsNode::Parsed(value) => value.kind(),
        }
    }

    fn field(&self, key: Key) -> Option<Self> {
        match self {
            JsNode::Live(value) => host::field(value, key as usize).map(JsNode::Live),
            JsNode::Parsed(value) => value.field(key).map(JsNode::Parsed),
        }
    }

    fn item(&self, index: usize) -> Option<Self> {
        match self {
            JsNode::Live(value) => host::item(value, index).map(JsNode::Live),
            JsNode::Parsed(value) => value.item(index).map(JsNode::Parsed),
        }
    }

    fn len(&self) -> usize {
        match self {
            JsNode::Live(value) if live_kind(value) == Some(Kind::Array) => host::length_of(value),
            JsNode::Live(_) => 0,
            JsNode::Parsed(value) => value.len(),
        }
    }

    fn as_bool(&self) -> Option<bool> {
        match self {
            JsNode::Live(value) => value.as_bool(),
            JsNode::Parsed(value) => value.as_bool(),
        }
    }

    fn as_f64(&self) -> Option<f64> {
        match self {
            JsNode::Live(value) => value.as_f64(),
            JsNode::Parsed(value) => value.as_f64(),
        }
    }

    fn number_text(&self) -> Option<String> {
        match self {
            JsNode::Live(value) if live_kind(value) == Some(Kind::Number) => {
                Some(with_text(&host::digits_of(value), |digits| spell(digits, value.as_f64())))
            }
            JsNode::Live(_) => None,
            JsNode::Parsed(value) => value.number_text(),
        }
    }

    fn as_str(&self) -> Option<Cow<'_, str>> {
        match self {
            JsNode::Live(value) => value.is_string().then(|| with_text(value, |text| Cow::Owned(text.to_owned()))),
            JsNode::Parsed(value) => Node::as_str(value),
        }
    }

    fn with_str<R>(&self, read: impl FnOnce(&str) -> R) -> Option<R> {
        match self {
            JsNode::Live(value) => value.is_string().then(|| with_text(value, read)),
            JsNode::Parsed(value) => value.with_str(read),
        }
    }

    fn entries(&self) -> Vec<(Rc<str>, Self)> {
        let value = match self {
            JsNode::Live(value) => value,
            JsNode::Parsed(value) => {
                return value.entries().into_iter().map(|(name, value)| (name, JsNode::Parsed(value))).collect();
            }
        };
        if live_kind(value) != Some(Kind::Object) {
            return Vec::new();
        }
        let layout = host::layout_of(value);
        let in_json = |value: &JsValue| live_kind(value).is_some_and(|kind| kind != Kind::Function);
        let names = names(layout);
        let fields = names.iter().enumerate().map(|(at, name)| (name.clone(), host::field_at(value, layout, at)));
        fields.filter(|(_, value)| in_json(value)).map(|(name, value)| (name, JsNode::Live(value))).collect()
    }

    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (JsNode::Live(a), JsNode::Live(b)) => host::is_same(a, b),
            (JsNode::Parsed(a), JsNode::Parsed(b)) => a.same(b),
            _ => false,
        }
    }

    fn is_well_formed(&self) -> bool {
        match self {
            JsNode::Live(value) => host::is_well_formed(value),
            JsNode::Parsed(_) => true,
        }
    }

    fn head(&self, chars: usize) -> Option<String> {
        match self {
            // Twice as many UTF-16 units hold as many characters.
            JsNode::Live(value) if value.is_string() => {
                Some(with_text(&host::head_of(value, 2 * chars), |head| head.chars().take(chars).collect()))
            }
            JsNode::Live(_) => None,
            JsNode::Parsed(value) => value.head(chars),
        }
    }
}

/// A number as its JSON text would hash: whole numbers by their digits, floats as `serde_json` spells them.
fn spell(digits: &str, float: Option<f64>) -> String {
    let is_whole = digits.parse::<i64>().is_ok() || digits.parse::<u64>().is_ok();
    match float {
        // JSON has no NaN and no infinity: `JSON.stringify` writes null.
        Some(float) if !is_whole => {
            serde_json::Number::from_f64(float).map_or_else(|| "null".to_owned(), |n| n.to_string())
        }
        _ => digits.to_owned(),
    }
}
