//! Harn transcripts: `{_type: "transcript", messages, summary, events, assets}`. A compaction keeps what it took out
//! in an asset.

use crate::document::Slice;

use super::format::{Format, Scope, Sniff, certain};
use super::look::{self, Look};
use super::output::Output;
use super::wire::{self, Wire};

/// The format.
pub const FORMAT: Format = Format {
    lines: Some((|line| look::of_line(sniff(line)), |scope| wire::reader(&WIRE, scope))),
    document: Some((sniff, read)),
    ..Format::new("harn", "Harn transcript")
};

const WIRE: Wire = Wire::new();

fn is_transcript(value: Slice<'_>) -> bool {
    value.text("_type").is_some_and(|kind| kind == "transcript")
}

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    if is_transcript(root) {
        return certain("_type is transcript");
    }
    look::sniff(root, Look::Harn, "messages with flat tool calls or of role tool_result")
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    if !is_transcript(root) {
        return wire::read(&WIRE, root, scope, out);
    }
    out.summary = root.text("summary").map(|summary| summary.into_owned());
    for (index, asset) in root.get("assets").map(Slice::list).unwrap_or_default().into_iter().enumerate() {
        let kind = asset.text("kind").unwrap_or_default();
        let archive = asset.get("data").filter(|_| kind == "compaction_source_transcript");
        let start = out.messages.len();
        if let Some(archive) = archive {
            wire::read_at(&WIRE, archive, &(wire::index_path("assets", index) + ".data"), scope, out);
        }
        match scope {
            Scope::All => {
                out.messages.iter_mut().skip(start).for_each(|message| message.source.branch = Some("compacted"))
            }
            Scope::Model => {
                (start..out.messages.len()).for_each(|_| out.count("compacted"));
                out.messages.truncate(start);
            }
        }
        out.count(&["asset:", &*kind].concat());
    }
    if root.get("messages").is_none_or(Slice::is_array) {
        if root.get("messages").is_some() {
            wire::read(&WIRE, root, scope, out);
        }
    } else {
        out.warn_path("invalid_messages", "messages", "transcript.messages must be a list: nothing was read");
    }
    for event in root.get("events").map(Slice::list).unwrap_or_default() {
        out.count(&["event:", &*event.text("kind").unwrap_or_default()].concat());
    }
}
