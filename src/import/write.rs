//! JSON text from parts of JSON text: what a reader builds keeps the spelling of what it is built from.

use crate::document::{Index, Slice};

/// An object under way.
pub struct Object(String);

impl Object {
    /// An object without fields.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Object("{".to_owned())
    }

    /// Adds a field whose value is JSON text already.
    #[must_use]
    pub fn raw(mut self, name: &str, json: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quoted(name));
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    /// Adds a value of the file, if there is one.
    #[must_use]
    pub fn value(self, name: &str, value: Option<Slice<'_>>) -> Self {
        match value {
            Some(value) => self.raw(name, value.raw()),
            None => self,
        }
    }

    /// Adds a string.
    #[must_use]
    pub fn text(self, name: &str, text: &str) -> Self {
        self.raw(name, &quoted(text))
    }

    /// The object.
    pub fn build(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A list of JSON texts.
pub fn list<S: AsRef<str>>(items: &[S]) -> String {
    let mut list = "[".to_owned();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            list.push(',');
        }
        list.push_str(item.as_ref());
    }
    list.push(']');
    list
}

/// A string as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// A message of `role` and `content`; the content is JSON text.
pub fn message(role: &str, content: &str) -> String {
    Object::new().text("role", role).raw("content", content).build()
}

/// Messages of one role as one: their lists of this name behind each other.
pub fn joined(messages: &[&str], name: &str) -> Option<String> {
    let mut role = String::new();
    let mut items = Vec::new();
    for message in messages {
        let index = Index::of(message).ok()?;
        let message = index.root(message);
        role = message.get("role")?.raw().to_owned();
        items.extend(message.get(name)?.list().into_iter().map(|item| item.raw().to_owned()));
    }
    Some(Object::new().raw("role", &role).raw(name, &list(&items)).build())
}

/// What a role and the punctuation around a message take.
const ENVELOPE: usize = 64;

/// A copy of JSON text with room for the envelope of a message.
pub fn with_room(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + ENVELOPE);
    text.push_str(json);
    text
}

/// [`message`] around its content, in place: nothing else is allocated, and no hole left that is too small for the next.
pub fn wrapped(role: &str, open: &str, mut content: String, close: &str) -> String {
    content.insert_str(0, &["{\"role\":", &quoted(role), ",\"content\":", open].concat());
    content.push_str(close);
    content.push('}');
    content
}

/// A block of text, as most providers write it.
pub fn text_block(text: &str) -> String {
    Object::new().text("type", "text").text("text", text).build()
}

/// An object of this type.
pub fn of_type(kind: &str) -> Object {
    Object::new().text("type", kind)
}

/// A string of the file as it stands; any other value as a string of its JSON.
pub fn as_text(value: Option<Slice<'_>>) -> String {
    value.map_or_else(
        || "\"\"".to_owned(),
        |value| {
            if value.is_string() { value.raw().to_owned() } else { quoted(value.raw()) }
        },
    )
}
