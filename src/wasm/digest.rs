//! The host's SHA-256, where it has one that is not a promise: Node's `crypto` uses the processor's instructions.

use std::cell::RefCell;

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

use crate::canonical::{HostDigest, use_digest};

use super::host;

#[wasm_bindgen]
extern "C" {
    /// A hash under way, as Node's `crypto.createHash` gives it.
    type Hash;
    #[wasm_bindgen(method, structural)]
    fn update(this: &Hash, bytes: &[u8]);
    #[wasm_bindgen(method, structural)]
    fn copy(this: &Hash) -> Hash;
    #[wasm_bindgen(method, structural)]
    fn digest(this: &Hash, encoding: &str) -> String;
}

thread_local! {
    static FACTORY: RefCell<Option<JsValue>> = const { RefCell::new(None) };
}

/// Hashes with what `factory` makes from now on: objects with `update(bytes)`, `copy()` and `digest("hex")`.
#[wasm_bindgen(js_name = setSha256)]
pub fn set_sha256(factory: JsValue) {
    FACTORY.with(|slot| slot.replace(Some(factory)));
    use_digest(make);
}

fn make() -> Box<dyn HostDigest> {
    let hash =
        FACTORY.with(|slot| slot.borrow().as_ref().and_then(|factory| host::call(factory, &JsValue::UNDEFINED).ok()));
    Box::new(JsDigest(hash.unwrap_or(JsValue::UNDEFINED).unchecked_into()))
}

struct JsDigest(Hash);

impl HostDigest for JsDigest {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn fork(&self) -> Box<dyn HostDigest> {
        Box::new(JsDigest(self.0.copy()))
    }
    fn hex(self: Box<Self>) -> String {
        self.0.digest("hex")
    }
}
