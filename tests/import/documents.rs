//! Sessions that are JSON documents, and the formats of agents that keep theirs in databases or exports.

use crate::check_all;

#[test]
fn opencode_exports() {
    check_all("import/opencode.json", 20);
}

#[test]
fn cline_tasks() {
    check_all("import/cline.json", 9);
}

#[test]
fn vscode_chats() {
    check_all("import/vscode_chat.json", 8);
}

#[test]
fn goose_sessions() {
    check_all("import/goose.json", 8);
}

#[test]
fn amp_threads() {
    check_all("import/amp.json", 9);
}

#[test]
fn openhands_events() {
    check_all("import/openhands.json", 11);
}

#[test]
fn swe_agent_trajectories() {
    check_all("import/swe_agent.json", 6);
}

#[test]
fn inspect_logs() {
    check_all("import/inspect.json", 9);
}

#[test]
fn atif_trajectories() {
    check_all("import/atif.json", 5);
}

#[test]
fn otel_spans() {
    check_all("import/otel.json", 12);
}

#[test]
fn chatgpt_exports() {
    check_all("import/chatgpt.json", 8);
}

#[test]
fn claude_ai_exports() {
    check_all("import/claude_ai.json", 5);
}

#[test]
fn grok_sessions() {
    check_all("import/grok.json", 2);
}

#[test]
fn kiro_conversations() {
    check_all("import/kiro.json", 2);
}

#[test]
fn gptme_conversations() {
    check_all("import/gptme.json", 1);
}
