//! Writes `NAME.js` (the glue) and `NAME_bg.wasm` for a wasm file of the crate.
//!
//! `xtask WASM OUT_DIR NAME`, called by `scripts/build.mjs`. It stands in for the `wasm-bindgen` program, so that one
//! Cargo.lock fixes both sides of the glue and nothing has to be installed by hand.

use std::{env, error::Error};
use wasm_bindgen_cli_support::{Bindgen, EncodeInto};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [wasm, out_dir, name] = args.as_slice() else {
        return Err("usage: xtask WASM OUT_DIR NAME".into());
    };
    Bindgen::new()
        .input_path(wasm)
        .out_name(name)
        // One glue for every host: the entries bring the wasm, so the glue must not look for it itself. A `new URL`
        // in it would make bundlers ship the file twice.
        .web(true)?
        .omit_default_module_path(true)
        // The types are written by hand: src/js/index.d.ts.
        .typescript(false)
        // Every supported host has `encodeInto`. This only leaves out a polyfill; long strings cost the same.
        .encode_into(EncodeInto::Always)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(out_dir)?;
    Ok(())
}
