//! gptme conversations: lines of `role`, `content` and `timestamp`, with marks such as `pinned` and `hide`. Calls stand
//! in the model's text, so results have no call to name.

use crate::document::Slice;

use super::format::{Format, ReadLines, Scope, Sniff, likely};
use super::line::Line;
use super::output::{Message, Output, Source};
use super::parts::only;

/// The format.
pub const FORMAT: Format =
    Format { lines: Some((sniff, reader)), ..Format::new("gptme", "gptme conversation (JSONL)") };

fn sniff(line: Slice<'_>) -> Option<Sniff> {
    line.text("role")?;
    line.text("content")?;
    line.text("timestamp")?;
    let is_marked = line.get("pinned").or(line.get("hide")).is_some();
    is_marked.then(|| likely("lines with role, content, timestamp and pinned or hide")).flatten()
}

fn reader(_: Scope) -> Box<dyn ReadLines> {
    Box::new(Reader)
}

struct Reader;

impl ReadLines for Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Output) {
        if line.value.get("role").is_none() {
            out.count("unknown");
            return out.warn_line("unknown_type", line.number, "a line without a role: left out");
        }
        let json = only(line.value, &["role", "content", "tool_calls", "tool_call_id", "name"]);
        out.messages.push(Message::new(json, Source::of_line(line)));
    }

    fn finish(self: Box<Self>, _: &mut Output) {}
}
