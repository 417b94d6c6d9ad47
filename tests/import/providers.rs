//! Files in the wire shapes of providers and frameworks.

use crate::check_all;

#[test]
fn openai_chat() {
    check_all("import/openai_chat.json", 29);
}

#[test]
fn openai_responses() {
    check_all("import/openai_responses.json", 14);
}

#[test]
fn anthropic() {
    check_all("import/anthropic.json", 13);
}

#[test]
fn gemini() {
    check_all("import/gemini.json", 10);
}

#[test]
fn bedrock() {
    check_all("import/bedrock.json", 5);
}

#[test]
fn ai_sdk() {
    check_all("import/ai_sdk.json", 8);
}

#[test]
fn langchain() {
    check_all("import/langchain.json", 10);
}

#[test]
fn harn() {
    check_all("import/harn.json", 6);
}
