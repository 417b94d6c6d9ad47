//! What the engine asks of JavaScript: the functions of `src/js/host.js`.

use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "./host.js")]
extern "C" {
    pub fn connect(memory: JsValue, field_names: JsValue);
    #[wasm_bindgen(js_name = kindOf)]
    pub fn kind_of(value: &JsValue) -> u8;
    pub fn field(object: &JsValue, key: usize) -> Option<JsValue>;
    pub fn item(list: &JsValue, index: usize) -> Option<JsValue>;
    #[wasm_bindgen(js_name = ownItem)]
    pub fn own_item(list: &JsValue, index: usize) -> Option<JsValue>;
    #[wasm_bindgen(js_name = lengthOf)]
    pub fn length_of(list: &JsValue) -> usize;
    #[wasm_bindgen(js_name = layoutOf)]
    pub fn layout_of(object: &JsValue) -> usize;
    #[wasm_bindgen(js_name = plainLayout)]
    pub fn plain_layout(object: &JsValue) -> usize;
    #[wasm_bindgen(js_name = namesOf)]
    pub fn names_of(layout: usize) -> JsValue;
    #[wasm_bindgen(js_name = fieldAt)]
    pub fn field_at(layout: usize, position: usize) -> JsValue;
    #[wasm_bindgen(js_name = writeText)]
    pub fn write_text(text: &JsValue, at: *mut u8, capacity: usize) -> isize;
    #[wasm_bindgen(js_name = writeField)]
    pub fn write_field(object: &JsValue, key: usize, at: *mut u8, capacity: usize) -> isize;
    #[wasm_bindgen(js_name = writeHead)]
    pub fn write_head(text: &JsValue, units: usize, at: *mut u8, capacity: usize) -> isize;
    #[wasm_bindgen(js_name = writeNumber)]
    pub fn write_number(number: &JsValue, at: *mut u8, capacity: usize) -> isize;
    #[wasm_bindgen(js_name = isWellFormed)]
    pub fn is_well_formed(text: &JsValue) -> bool;
    #[wasm_bindgen(js_name = isSame)]
    pub fn is_same(a: &JsValue, b: &JsValue) -> bool;

    #[wasm_bindgen(js_name = newList)]
    pub fn new_list() -> JsValue;
    pub fn push(list: &JsValue, value: &JsValue);
    #[wasm_bindgen(js_name = newObject)]
    pub fn new_object() -> JsValue;
    pub fn define(object: &JsValue, name: &str, value: &JsValue);
    #[wasm_bindgen(js_name = parseJson, catch)]
    pub fn parse_json(text: &str) -> Result<JsValue, JsValue>;
    pub fn stringify(value: &JsValue) -> Option<String>;

    #[wasm_bindgen(catch)]
    pub fn call(callback: &JsValue, argument: &JsValue) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(js_name = functionNames)]
    pub fn function_names(object: &JsValue) -> JsValue;
    #[wasm_bindgen(js_name = isPlain)]
    pub fn is_plain(value: &JsValue) -> bool;
    #[wasm_bindgen(js_name = isPromise, catch)]
    pub fn is_promise(value: &JsValue) -> Result<bool, JsValue>;
    #[wasm_bindgen(js_name = namedField, catch)]
    pub fn named_field(object: &JsValue, name: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(js_name = bytesOf)]
    pub fn bytes_of(value: &JsValue) -> Option<Vec<u8>>;
}
