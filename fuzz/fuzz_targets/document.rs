//! Any text: slices are the values that `serde_json` reads, and each stands where it says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use transcript_projection::{Document, Slice, parse, to_value};

fuzz_target!(|text: &str| {
    let Ok(document) = Document::parse(text) else {
        assert!(serde_json::from_str::<serde_json::Value>(text).is_err());
        return;
    };
    // A byte order mark is no JSON to a document, and is stripped before it becomes one.
    match parse(text) {
        Ok(parsed) => assert_eq!(to_value(&document.root()), Some(parsed.value)),
        Err(error) => assert!(error.to_string().contains("out of range"), "{error}"),
    }
    check(document.root(), text);
});

fn check(value: Slice<'_>, text: &str) {
    assert_eq!(&text[value.start()..value.end()], value.raw());
    let children = value.list().into_iter().chain(value.fields().into_iter().map(|(_, field)| field));
    for child in children {
        assert!(value.start() < child.start() && child.end() < value.end());
        check(child, text);
    }
    for (name, field) in value.fields() {
        assert_eq!(value.own(&name).map(Slice::start), Some(field.start()));
    }
    if let Some(string) = value.str() {
        assert!(value.is(&string));
    }
}
