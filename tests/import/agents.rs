//! Session files of coding agents that keep lines or events of their own.

use crate::check_all;

#[test]
fn codex() {
    check_all("import/codex.json", 17);
}

#[test]
fn gemini_cli() {
    check_all("import/gemini_cli.json", 15);
}

#[test]
fn qwen() {
    check_all("import/qwen.json", 9);
}

#[test]
fn pi() {
    check_all("import/pi.json", 14);
}

#[test]
fn cursor() {
    check_all("import/cursor.json", 4);
}

#[test]
fn copilot_cli() {
    check_all("import/copilot_cli.json", 9);
}
