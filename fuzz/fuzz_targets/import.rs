//! Any bytes in any pieces, under any format: no panic, the same as in one piece, and what was read can be projected.
//!
//! The first three bytes are the options: the format (none for most), the view, and the length of the pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use transcript_projection::{
    Callbacks, FORMATS, Import, ImportOptions, Importer, Options, Policy, ProjectionError, import, project,
};

fuzz_target!(|data: &[u8]| {
    let [format, view, length, bytes @ ..] = data else { return };
    let format = FORMATS.get(*format as usize).map(|format| format.name);
    let view = (view % 2 == 1).then_some("all");
    let options = ImportOptions::named(format, view).expect("known names");
    let whole = import(bytes, options);
    let mut importer = Importer::new(options);
    bytes.chunks(usize::from(*length).max(1)).for_each(|piece| importer.push(piece));
    let in_pieces = importer.finish();
    assert_eq!(described(&whole), described(&in_pieces));
    if let Ok(import) = whole {
        assert_eq!(import.stats.bytes, bytes.len());
        assert_eq!(import.messages.len(), import.source.len());
        for policy in [Policy::CleanToolRepair, Policy::ReachabilityGc] {
            project(&import.transcript(), &Options::of(policy), Callbacks::default()).expect("a view");
        }
    }
});

fn described(read: &Result<Import, ProjectionError>) -> String {
    match read {
        Err(error) => error.to_string(),
        Ok(import) => {
            let texts: Vec<&str> = import.messages.iter().map(|message| message.text()).collect();
            let Import { source, outcomes, warnings, stats, summary, detection, .. } = import;
            format!("{} {texts:?} {source:?} {outcomes:?} {warnings:?} {stats:?} {summary:?}", detection.format.name)
        }
    }
}
