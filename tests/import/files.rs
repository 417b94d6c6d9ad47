//! What is wrong with files, whatever their format.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value, json};
use transcript_projection::{Callbacks, FORMATS, Import, ImportOptions, Importer, Options, Policy, import, project};

use crate::common::read_fixture;
use crate::{check_all, file_of, outcome};

#[test]
fn broken_files_are_read_as_far_as_they_go() {
    check_all("import/files.json", 47);
}

/// Quadratic work would take minutes here.
#[test]
fn one_line_of_megabytes_in_small_pieces() {
    let text = "wave ".repeat(800_000);
    let message = json!({"role": "user", "content": text});
    let line = json!({"type": "user", "uuid": "1", "sessionId": "s", "message": message});
    for (file, format) in [
        (format!("{line}\n"), "claude_code"),
        (format!("{message}\n{message}"), "openai_chat"),
        (json!({"messages": [message]}).to_string(), "openai_chat"),
        (" ".repeat(4_000_000) + &line.to_string(), "claude_code"),
    ] {
        let mut importer = Importer::new(ImportOptions::default());
        file.as_bytes().chunks(64).for_each(|piece| importer.push(piece));
        let import = importer.finish().unwrap();
        assert_eq!(import.detection.format.name, format);
        let read: Value = serde_json::from_str(import.messages[0].text()).unwrap();
        assert!(read == message, "{format}");
    }
}

/// What happens to files: on disks, in editors, and in programs that write something else than last year.
#[derive(Clone, Debug)]
enum Damage {
    Cut(Place),
    Flip(Place, u8),
    Insert(Place, Vec<u8>),
    Delete(Place, usize),
    /// A line is there twice.
    Repeat(Place),
    /// Another value stands in the place of one.
    Replace(Place, usize),
}

type Place = prop::sample::Index;

const VALUES: [&str; 16] = [
    "null",
    "true",
    "-1",
    "1e-7",
    "18446744073709551616",
    r#""""#,
    r#""x""#,
    r#""\ud83d""#,
    "[]",
    "{}",
    "[null]",
    "[[]]",
    r#"[{}]"#,
    r#"{"":0}"#,
    r#"[{"type":"text","text":"x"}]"#,
    r#"{"type":"tool_use","role":"user","content":[]}"#,
];

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len() + 1;
        match self {
            Damage::Cut(at) => bytes.truncate(at.index(length)),
            Damage::Flip(at, bits) => {
                let at = at.index(length);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= bits);
            }
            Damage::Insert(at, added) => {
                let at = at.index(length);
                bytes.splice(at..at, added.iter().copied());
            }
            Damage::Delete(at, count) => {
                let at = at.index(length);
                bytes.drain(at..(at + count).min(bytes.len()));
            }
            Damage::Repeat(at) => {
                let lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                if !lines.is_empty() {
                    bytes.extend_from_slice(&lines[at.index(lines.len())]);
                }
            }
            Damage::Replace(at, value) => {
                let Ok(text) = std::str::from_utf8(bytes) else { return };
                let starts: Vec<usize> = text.match_indices([':', '[', ',']).map(|(start, _)| start + 1).collect();
                if starts.is_empty() {
                    return;
                }
                let start = starts[at.index(starts.len())];
                let mut values = Deserializer::from_str(&text[start..]).into_iter::<IgnoredAny>();
                if values.next().is_some_and(|value| value.is_ok()) {
                    let end = start + values.byte_offset();
                    bytes.splice(start..end, VALUES[*value].bytes());
                }
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<Place>;
    let bytes = prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'"'), Just(0), Just(0xEF)], 1..4);
    prop_oneof![
        1 => place().prop_map(Damage::Cut),
        1 => (place(), 1..=255u8).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        1 => (place(), bytes).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => (place(), 1..40usize).prop_map(|(at, count)| Damage::Delete(at, count)),
        1 => place().prop_map(Damage::Repeat),
        6 => (place(), 0..VALUES.len()).prop_map(|(at, value)| Damage::Replace(at, value)),
    ]
}

/// The small files of every format's cases.
fn files() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/import");
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    let fixtures = names.iter().map(|name| read_fixture(&format!("import/{}", name.to_str().unwrap())));
    let files =
        fixtures.flat_map(|rows| rows.as_array().unwrap().iter().map(|row| file_of(&row["file"])).collect::<Vec<_>>());
    files.filter(|file| file.len() < 20_000).collect()
}

#[test]
fn damaged_files_read_the_same_in_pieces() {
    let files = files();
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if !is_set("PROPTEST_CASES") {
        config.cases = 1_000;
    }
    if !is_set("PROPTEST_RNG_SEED") {
        config.rng_seed = RngSeed::Fixed(5);
    }
    let told = prop::option::weighted(0.1, 0..FORMATS.len());
    let strategy = (
        any::<Place>(),
        prop::collection::vec(damage(), 0..4),
        prop::collection::vec(any::<Place>(), 0..6),
        (any::<bool>(), told),
    );
    let result = TestRunner::new(config).run(&strategy, |(file, damage, pieces, (is_all, told))| {
        let mut bytes = files[file.index(files.len())].clone();
        damage.iter().for_each(|damage| damage.apply(&mut bytes));
        let format = told.map(|format| FORMATS[format].name);
        let options = ImportOptions::named(format, is_all.then_some("all")).unwrap();
        let mut ends: Vec<usize> = pieces.iter().map(|piece| piece.index(bytes.len() + 1)).collect();
        ends.sort_unstable();
        let mut importer = Importer::new(options);
        let mut start = 0;
        for end in ends.into_iter().chain([bytes.len()]) {
            importer.push(&bytes[start..end]);
            start = end;
        }
        let whole = import(&bytes, options);
        if let Ok(import) = &whole {
            holds_together(import, &bytes)?;
        }
        let (whole, in_pieces) = (outcome(whole), outcome(importer.finish()));
        prop_assert!(
            whole == in_pieces,
            "{}\nwhole     {whole}\nin pieces {in_pieces}",
            String::from_utf8_lossy(&bytes)
        );
        Ok(())
    });
    if let Err(TestError::Fail(reason, (file, damage, ..))) = result {
        let mut bytes = files[file.index(files.len())].clone();
        damage.iter().for_each(|damage| damage.apply(&mut bytes));
        panic!("{reason}\n{}\n{damage:?}", String::from_utf8_lossy(&bytes));
    }
}

/// Whatever was read can be projected, and each message says where it stands.
fn holds_together(import: &Import, bytes: &[u8]) -> Result<(), TestCaseError> {
    let stats = &import.stats;
    prop_assert_eq!(import.source.len(), import.messages.len());
    prop_assert_eq!(stats.bytes, bytes.len());
    // Bytes that are read as U+FFFD shift what is behind them.
    let is_exact = std::str::from_utf8(bytes).is_ok();
    for (source, message) in import.source.iter().zip(&import.messages) {
        prop_assert!(source.line.is_some() || source.path.is_some(), "{source:?}");
        prop_assert!(source.line.is_none_or(|line| (1..=stats.lines).contains(&line)), "{source:?}");
        prop_assert!(source.start <= source.end && (source.end <= bytes.len() || !is_exact), "{source:?}");
        prop_assert!(message.root().is_object());
    }
    for outcome in &import.outcomes {
        prop_assert!(outcome.message_index < import.messages.len());
    }
    prop_assert!(stats.orphan_results <= stats.results && stats.unanswered_calls <= stats.calls);
    for policy in [Policy::CleanToolRepair, Policy::ReachabilityGc] {
        let transcript = import.transcript();
        let view = project(&transcript, &Options::of(policy), Callbacks::default());
        prop_assert!(view.is_ok(), "{:?}", view.err());
    }
    Ok(())
}
