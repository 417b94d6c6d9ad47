//! ATIF, Harbor's trajectory format: steps in which calls stand beside their results. Messages become OpenAI Chat's;
//! steps with Anthropic's blocks (`tool_use`, `tool_result`), as some writers have them, become Anthropic's.

use crate::document::Slice;

use super::format::{Format, Scope, Sniff, certain, likely};
use super::output::{Message, Outcome, Output};
use super::parts::{as_string, blocks, chat_answer, chat_call_of, chat_result, failed_exit, tool_result, tool_use_of};
use super::write::{list, message};

/// The format.
pub const FORMAT: Format = Format { document: Some((sniff, read)), ..Format::new("atif", "ATIF trajectory (JSON)") };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    let steps = root.get("steps")?.list();
    if root.text("schema_version").is_some_and(|version| version.starts_with("ATIF-")) {
        return certain("schema_version ATIF-…");
    }
    let first = steps.first()?;
    (first.get("step_id").is_some() && first.get("source").is_some())
        .then(|| likely("steps with step_id and source"))
        .flatten()
}

fn read(root: Slice<'_>, _: Scope, out: &mut Output) {
    for (index, step) in root.get("steps").map(Slice::list).unwrap_or_default().into_iter().enumerate() {
        let path = format!("steps[{index}]");
        if step.flag("is_copied_context") {
            out.count("copied_context");
        }
        let role = match step.text("source").as_deref() {
            Some("system") => "system",
            Some("user") => "user",
            _ => "assistant",
        };
        let said = step.get("message");
        let said_blocks = said.map(Slice::list).unwrap_or_default();
        let is_call = |block: &Slice<'_>| block.get("type").is_some_and(|kind| kind.is("tool_use"));
        if step.get("tool_use").or(step.get("tool_result")).is_some() || said_blocks.iter().any(is_call) {
            read_blocks(step, role, path, out);
        } else {
            read_step(step, said, role, path, out);
        }
    }
    if root.get("continued_trajectory_ref").is_some() {
        out.warn_path("continued", "continued_trajectory_ref", "the trajectory goes on in another file");
    }
}

fn read_step(step: Slice<'_>, said: Option<Slice<'_>>, role: &str, path: String, out: &mut Output) {
    let source = out.place(&*path, step);
    let calls = step.get("tool_calls").map(Slice::list).unwrap_or_default();
    let id = |call: &Slice<'_>| call.text("tool_call_id").map(|id| id.into_owned());
    let written: Vec<String> =
        calls.iter().map(|call| chat_call_of(*call, ["tool_call_id", "function_name", "arguments"])).collect();
    let said = said.map_or("\"\"", Slice::raw);
    let results = step.at(&["observation", "results"]).map(Slice::list).unwrap_or_default();
    let thoughts = step.get("reasoning_content");
    if role != "assistant" {
        out.messages.push(Message::new(message(role, said), source));
    } else if !written.is_empty() || said != "\"\"" || thoughts.is_some() {
        let answer = chat_answer(said, &written);
        let answer = if let Some(it) = thoughts { answer.raw("reasoning_content", it.raw()) } else { answer };
        out.messages.push(Message::new(answer.build(), source));
    } else {
        out.count("empty");
    }
    for (index, result) in results.into_iter().enumerate() {
        let path = format!("{path}.observation.results[{index}]");
        // Without an id it can only be told where there is a single call.
        let only_call = calls.first().filter(|_| calls.len() == 1).and_then(id);
        let call_id = result.text("source_call_id").map(|id| id.into_owned()).or(only_call);
        let content = match result.get("content") {
            Some(content) if content.is_string() || content.is_array() => content.raw().to_owned(),
            content => content.or(result.get("subagent_trajectory_ref")).map_or_else(|| "\"\"".to_owned(), as_string),
        };
        let extra = result.get("extra");
        let flag = result.get("is_error").or(extra.and_then(|extra| extra.get("is_error")));
        let exit = failed_exit(extra.and_then(|extra| extra.get("exit_code").or(extra.get("returncode"))));
        let outcome = match flag.map(Slice::raw) {
            Some("true") => Some(Outcome::failure(call_id.clone(), "is_error")),
            Some("false") => Some(Outcome::success(call_id.clone(), "is_error: false")),
            _ => exit.map(|because| Outcome::failure(call_id.clone(), because).inferred()),
        };
        // What was seen without a call is said to the model in words.
        let json = match &call_id {
            None if calls.is_empty() => message("user", &content),
            id => chat_result(id.as_deref(), &content),
        };
        let source = out.place(path, result);
        out.messages.push(Message { json, source, outcomes: outcome.into_iter().collect() });
    }
}

/// Results first: they answer calls of earlier steps.
fn read_blocks(step: Slice<'_>, role: &str, path: String, out: &mut Output) {
    let mut said = step.get("message").map(blocks).unwrap_or_default();
    let results = step.get("tool_result").map(Slice::list).unwrap_or_default();
    let result = |result: Slice<'_>| {
        let is_error = result.get("is_error").map(|flag| flag.raw() == "true");
        let id = result.text("tool_use_id").unwrap_or_default();
        tool_result(&id, result.get("content").map(Slice::raw), is_error)
    };
    let mut results: Vec<String> = results.into_iter().map(result).collect();
    for call in step.get("tool_use").map(Slice::list).unwrap_or_default() {
        said.push(tool_use_of(call, ["id", "name", "input"]));
    }
    if role == "user" {
        results.append(&mut said);
    }
    for (role, blocks) in [("user", results), (role, said)] {
        if !blocks.is_empty() {
            let source = out.place(&*path, step);
            out.messages.push(Message::new(message(role, &list(&blocks)), source));
        }
    }
}
