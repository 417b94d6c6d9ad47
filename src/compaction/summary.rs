//! The message that stands for old ones: their number, then a line for each. It says who spoke and how it began; of
//! tools it says the names and never a word of arguments or results, for those hold secrets and a summary stays.

use std::ops::Range;

use serde_json::Value;

use crate::exchange::Exchanges;
use crate::facts::{MessageFacts, Role, said};
use crate::node::{Key, Node};
use crate::options::SummaryRole;
use crate::shape::{shape_of_summary, summary_message};

use super::cut;

/// The mark's word for it.
const POLICY: &str = "compact";
/// The first line, around the number.
const BEFORE_COUNT: &str = "[Compacted ";
const AFTER_COUNT: &str = " earlier messages]";
/// The line that stands for lines that no longer fit, around their number.
const BEFORE_GAP: &str = "[… ";
const AFTER_GAP: &str = " more …]";

/// About how many characters of a message are shown.
const PREVIEW: usize = 100;
/// How many of a tool's name.
const NAME: usize = 64;
/// White space takes room in what is fetched and none in what is shown.
const FETCHED: usize = 4 * PREVIEW;

/// How many lines a summary has at most, its first one aside: summaries of summaries would grow for ever.
const MOST_LINES: usize = 200;
/// The oldest lines stay, for they say what the talk is about; the gap is behind them.
const OLDEST_LINES: usize = 20;

/// A line before it is written: most lines of a long talk never are.
enum Line {
    /// That of an earlier summary.
    Carried(String),
    /// That of the message at this index.
    Of(usize),
}

/// The summary of a run of messages. A summary among them is not summarized: its lines are carried on.
pub fn summarize<N: Node>(
    messages: &[N],
    facts: &[MessageFacts],
    exchanges: &Exchanges<'_>,
    range: Range<usize>,
) -> Value {
    let mut count = 0;
    let mut lines = Vec::new();
    let shape = shape_of_summary(facts.iter().skip(range.start));
    for index in range {
        let Some((message, facts)) = messages.get(index).zip(facts.get(index)) else { continue };
        if is_summary(message, facts) {
            count += carry_on(&whole_text(message, facts), &mut lines);
        } else {
            count += 1;
            lines.push(Line::Of(index));
        }
    }
    let mut text = format!("{BEFORE_COUNT}{count}{AFTER_COUNT}");
    for line in bounded(lines) {
        let line = match line {
            Line::Carried(line) => line,
            Line::Of(index) => match messages.get(index).zip(facts.get(index)) {
                Some((message, facts)) => written(message, facts, exchanges, index),
                None => continue,
            },
        };
        text.push('\n');
        text.push_str(&line);
    }
    summary_message(shape, SummaryRole::System, &text, POLICY)
}

/// Whether a message is a summary of this kind: by its mark, or, where the mark was lost on the way, a system
/// message that begins like one.
pub fn is_summary<N: Node>(message: &N, facts: &MessageFacts) -> bool {
    let policy = message.follow(&[Key::HarnProjection, Key::Policy]);
    policy.is_some_and(|policy| policy.as_str().as_deref() == Some(POLICY))
        || facts.is_prompt()
            && said(message, facts)
                .first()
                .and_then(|text| text.head(PREVIEW))
                .is_some_and(|head| counted(&head).is_some())
}

/// How many prompts come first. A summary is none of them: it stands for what was inside the list.
pub fn leading_prompts<N: Node>(messages: &[N], facts: &[MessageFacts]) -> usize {
    let is_prompt = |(message, facts): &(&N, &MessageFacts)| facts.is_prompt() && !is_summary(*message, facts);
    messages.iter().zip(facts).take_while(is_prompt).count()
}

/// The same with the summary behind them. What stands behind a summary is inside the list.
pub fn head<N: Node>(messages: &[N], facts: &[MessageFacts]) -> usize {
    let prompts = leading_prompts(messages, facts);
    let behind = messages.get(prompts).zip(facts.get(prompts));
    prompts + usize::from(behind.is_some_and(|(message, facts)| is_summary(message, facts)))
}

/// The number in the first line of a summary.
fn counted(text: &str) -> Option<usize> {
    between(text.split('\n').next()?, BEFORE_COUNT, AFTER_COUNT)
}

fn between(line: &str, before: &str, after: &str) -> Option<usize> {
    line.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
}

/// Adds the lines of an earlier summary and returns how many messages it stood for.
fn carry_on(text: &str, lines: &mut Vec<Line>) -> usize {
    let count = counted(text);
    // Someone may have written a better one in its place: then all of it is kept.
    let has_count = usize::from(count.is_some());
    for line in text.split('\n').skip(has_count).filter(|line| !line.is_empty()) {
        lines.push(Line::Carried(line.to_owned()));
    }
    count.unwrap_or(1)
}

fn bounded(mut lines: Vec<Line>) -> Vec<Line> {
    if lines.len() <= MOST_LINES {
        return lines;
    }
    // One of the lines is the gap itself.
    let behind = lines.len() - (MOST_LINES - OLDEST_LINES - 1);
    let mut gone = 0;
    for line in lines.drain(OLDEST_LINES..behind) {
        gone += match line {
            Line::Carried(line) => between(&line, BEFORE_GAP, AFTER_GAP).unwrap_or(1),
            Line::Of(_) => 1,
        };
    }
    lines.insert(OLDEST_LINES, Line::Carried(format!("{BEFORE_GAP}{gone}{AFTER_GAP}")));
    lines
}

fn written<N: Node>(message: &N, facts: &MessageFacts, exchanges: &Exchanges<'_>, index: usize) -> String {
    let mut line = format!("[{}]", role(facts.role));
    let mut add = |part: &str| {
        line.push(' ');
        line.push_str(part);
    };
    let text = preview(message, facts);
    if !text.is_empty() {
        add(&text);
    }
    for call in &facts.calls {
        add(&format!("(calls {})", name(Some(&call.name))));
    }
    for (position, result) in facts.results.iter().enumerate() {
        let call = exchanges.answered_by((index, position)).and_then(|exchange| exchanges.call(exchange));
        let tool = name(result.name.as_ref().or(call.map(|call| &call.name)));
        add(&if result.failed { format!("(error from {tool})") } else { format!("(result of {tool})") });
    }
    if text.is_empty() && facts.calls.is_empty() && facts.results.is_empty() {
        add("(no text)");
    }
    line
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Other => "other",
    }
}

fn name(name: Option<&String>) -> String {
    let name = one_line(name.map_or("", String::as_str), NAME);
    if name.is_empty() { "a tool".to_owned() } else { name }
}

fn preview<N: Node>(message: &N, facts: &MessageFacts) -> String {
    let mut text = String::new();
    for part in said(message, facts) {
        if text.len() > FETCHED {
            break;
        }
        text.push_str(&part.head(FETCHED).unwrap_or_default());
        text.push(' ');
    }
    one_line(&text, PREVIEW)
}

fn whole_text<N: Node>(message: &N, facts: &MessageFacts) -> String {
    let mut text = String::new();
    for part in said(message, facts) {
        text.push_str(&part.as_str().unwrap_or_default());
        text.push('\n');
    }
    text
}

/// A text on one line, cut between characters as a reader sees them.
fn one_line(text: &str, chars: usize) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let start = cut::head(&line, chars);
    if start.len() == line.len() { line } else { format!("{}…", start.trim_end()) }
}
