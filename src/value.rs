//! JSON values from plain parts.

use serde_json::{Map, Value};

/// An object of these fields.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let mut map = Map::new();
    insert_all(&mut map, &mut fields.into_iter());
    Value::Object(map)
}

/// Adds fields to an object.
pub fn extend<const N: usize>(map: &mut Map<String, Value>, fields: [(&str, Value); N]) {
    insert_all(map, &mut fields.into_iter());
}

/// One by one: collecting a map sorts first, which is a lot of code. And once for every number of fields.
pub fn insert_all(map: &mut Map<String, Value>, fields: &mut dyn Iterator<Item = (&str, Value)>) {
    for (name, value) in fields {
        map.insert(name.to_owned(), value);
    }
}

/// A list of what each item becomes.
pub fn list<T>(items: &[T], item: impl Fn(&T) -> Value) -> Value {
    Value::Array(items.iter().map(item).collect())
}

/// A list of indices.
pub fn indices(items: &[usize]) -> Value {
    list(items, |index| Value::from(*index))
}

/// A list of texts.
pub fn texts(items: &[String]) -> Value {
    list(items, |text| Value::from(text.as_str()))
}
