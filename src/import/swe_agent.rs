//! SWE-agent trajectories (`.traj`) and those of mini-swe-agent. Messages become OpenAI Chat's.

use crate::document::Slice;

use super::format::{Format, Scope, Sniff, certain, likely};
use super::output::{Message, Outcome, Output};
use super::parts::failed_exit;
use super::write::Object;

/// The format.
pub const FORMAT: Format =
    Format { document: Some((sniff, read)), ..Format::new("swe_agent", "SWE-agent trajectory (.traj)") };

fn sniff(root: Slice<'_>) -> Option<Sniff> {
    if root.text("trajectory_format").is_some_and(|name| name.starts_with("mini-swe-agent")) {
        return certain("trajectory_format mini-swe-agent");
    }
    if root.get("messages").is_some() && root.at(&["info", "model_stats"]).is_some() {
        return certain("messages and info.model_stats");
    }
    let history = root.get("history")?.list();
    let first = history.first()?;
    first.text("role")?;
    if root.get("trajectory").is_some_and(Slice::is_array) {
        return certain("trajectory and history");
    }
    (first.get("agent").is_some() || first.get("message_type").is_some())
        .then(|| likely("history with agent"))
        .flatten()
}

fn read(root: Slice<'_>, scope: Scope, out: &mut Output) {
    let name = if root.get("history").is_some() { "history" } else { "messages" };
    let history = root.get(name).map(Slice::list).unwrap_or_default();
    let trajectory = root.get("trajectory").map(Slice::list).unwrap_or_default();
    let mut start = 0;
    // The exact prompt of the last step, where it was kept: old observations may be shortened in it.
    let last = trajectory.len().saturating_sub(1);
    let prompt = trajectory.last().and_then(|step| {
        let named = ["query", "messages"].into_iter().map(|name| Some((name, step.get(name)?)));
        named.flatten().find(|(_, list)| list.list().first().is_some_and(|first| first.get("role").is_some()))
    });
    if let Some((field, query)) = prompt.filter(|_| scope == Scope::Model) {
        for (index, item) in query.list().into_iter().enumerate() {
            read_item(item, format!("trajectory[{last}].{field}[{index}]"), out);
        }
        let is_answer = |item: &Slice<'_>| item.get("role").is_some_and(|role| role.is("assistant"));
        start = history.iter().rposition(is_answer).unwrap_or(history.len());
        (0..start).for_each(|_| out.count("history"));
    }
    for (index, item) in history.into_iter().enumerate().skip(start) {
        read_item(item, format!("{name}[{index}]"), out);
    }
}

fn read_item(item: Slice<'_>, path: String, out: &mut Output) {
    let role = item.text("role").unwrap_or_default();
    if role == "exit" {
        return out.count("exit");
    }
    if item.flag("is_demo") {
        out.count("is_demo");
    }
    let mut message = Object::new().text("role", &role).raw("content", item.own("content").map_or("\"\"", Slice::raw));
    for name in ["tool_calls", "thinking_blocks", "reasoning_content"] {
        if let Some(value) = item.get(name).filter(|value| value.raw() != "[]") {
            message = message.raw(name, value.raw());
        }
    }
    let listed = item.get("tool_call_ids").map(Slice::list).unwrap_or_default();
    let call_id = item.get("tool_call_id").or(listed.first().copied()).filter(|id| id.is_string());
    if let Some(id) = call_id {
        message = message.raw("tool_call_id", id.raw());
    }
    if listed.len() > 1 {
        out.warn_path("shared_result", &*path, format!("one result of {} calls: it answers the first", listed.len()));
    }
    let exit = failed_exit(item.at(&["extra", "returncode"])).filter(|_| call_id.is_some());
    let id = call_id.and_then(Slice::str).map(|id| id.into_owned());
    let outcomes = exit.map(|because| Outcome::failure(id, because).inferred()).into_iter().collect();
    let source = out.place(path, item);
    out.messages.push(Message { json: message.build(), source, outcomes });
}
