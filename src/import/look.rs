//! Whose message it is, by its look: formats share `role` and `content`, and blocks tell them apart.

use crate::document::Slice;
use crate::shape::is_item_type;

use super::format::{Confidence, Sniff, likely, possible};
use super::wire::{batch, listed, requests};

/// What a message looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    OpenAiChat,
    OpenAiResponses,
    Anthropic,
    Gemini,
    Bedrock,
    AiSdk,
    LangChain,
    Harn,
    /// Role and content, as nearly everyone writes them.
    Plain,
}

/// Recognises files by the look of their messages.
pub fn sniff(root: Slice<'_>, look: Look, reason: &'static str) -> Option<Sniff> {
    match look_in(root) {
        Some(found) if found == look => likely(reason),
        Some(Look::Plain) if look == Look::Anthropic && is_of_anthropic(root) => {
            likely("a request with Anthropic's fields")
        }
        Some(Look::Plain) if look == Look::OpenAiChat => possible("messages of role and content"),
        _ => None,
    }
}

/// One line must not decide: a file of one line is a document.
pub fn of_line(sniff: Option<Sniff>) -> Option<Sniff> {
    sniff.map(|sniff| Sniff { confidence: sniff.confidence.min(Confidence::Likely), ..sniff })
}

fn is_of_anthropic(root: Slice<'_>) -> bool {
    let items = batch(root).map_or(root, |(_, items)| items);
    let first = if items.is_array() { items.list().into_iter().next() } else { None };
    requests(first.unwrap_or(root)).any(|(_, body)| {
        let model = body.text("model").unwrap_or_default();
        body.get("messages").is_some()
            && (body.get("system").is_some() || body.get("anthropic_version").is_some() || model.starts_with("claude"))
    })
}

/// The look of the first messages that look like something.
pub fn look_in(root: Slice<'_>) -> Option<Look> {
    let own = look(root);
    if own.is_some() {
        return own;
    }
    if root.is_array() {
        let items = root.list();
        return look_of(&items).or_else(|| items.first().and_then(|first| look_in(*first)));
    }
    if let Some((_, items)) = batch(root) {
        return look_in(items);
    }
    requests(root).find_map(|(path, body)| {
        let lists = ["messages", "input", "contents"].into_iter().filter_map(|name| body.get(name));
        lists.map(|list| listed(&path, list)).find_map(|found| {
            let items: Vec<_> = found.iter().map(|found| found.value).collect();
            look_of(&items)
        })
    })
}

fn look_of(items: &[Slice<'_>]) -> Option<Look> {
    let mut looks = items.iter().take(256).filter_map(|item| look(*item));
    let is_plain = looks.clone().next().is_some();
    looks.find(|look| *look != Look::Plain).or(is_plain.then_some(Look::Plain))
}

fn look(message: Slice<'_>) -> Option<Look> {
    if !message.is_object() {
        return None;
    }
    let kind = message.text("type");
    let role = message.text("role");
    if let Some(kind) = kind.as_deref() {
        if is_of_langchain(message, kind) {
            return Some(Look::LangChain);
        }
        let has_marks = || {
            message.own("call_id").is_some()
                || message.own("encrypted_content").is_some()
                || message.get("summary").is_some_and(Slice::is_array)
        };
        if is_item_type(kind) && kind != "message" && (kind.contains('_') || has_marks()) {
            return Some(Look::OpenAiResponses);
        }
        if kind == "message" && role.is_some() && message.own("stop_reason").is_none() {
            let content = message.get("content");
            return match content.map(|content| content.list()).and_then(|blocks| look_of_blocks(&blocks)) {
                None if content.is_some() => Some(Look::OpenAiResponses),
                look => look,
            };
        }
    }
    if let Some(parts) = message.get("parts").filter(|parts| parts.is_array()) {
        return look_of_parts(&parts.list()).filter(|look| role.is_some() || *look == Look::Gemini);
    }
    let role = role?;
    if role == "tool_result" {
        return Some(Look::Harn);
    }
    if message.get("toolInvocations").is_some_and(Slice::is_array) {
        return Some(Look::AiSdk);
    }
    if let Some(call) = message.get("tool_calls").and_then(|calls| calls.list().into_iter().next()) {
        return match call.get("function").or_else(|| call.get("custom")) {
            Some(function) if function.is_object() => Some(Look::OpenAiChat),
            None if call.get("args").is_none() && call.get("name").is_some() => Some(Look::Harn),
            // Other systems' own.
            _ => None,
        };
    }
    let has = |name: &str| message.own(name).is_some();
    if has("tool_call_id") || role == "function" || message.get("function_call").is_some_and(Slice::is_object) {
        return has("content").then_some(Look::OpenAiChat);
    }
    let content = message.own("content")?;
    let plain = if has("refusal") || has("reasoning_content") { Look::OpenAiChat } else { Look::Plain };
    look_of_blocks(&content.list()).or(Some(plain)).filter(|_| content.raw() != "{}")
}

fn is_of_langchain(message: Slice<'_>, kind: &str) -> bool {
    let is_of_class =
        |name: &str| matches!(name, "human" | "ai") || name.ends_with("Message") || name.ends_with("MessageChunk");
    match kind {
        "constructor" => message.get("lc").is_some(),
        "tool" => message.own("tool_call_id").is_some() || message.at(&["data", "tool_call_id"]).is_some(),
        _ if message.get("role").is_some() => false,
        kind => is_of_class(kind) && (message.own("content").is_some() || message.at(&["data", "content"]).is_some()),
    }
}

fn look_of_parts(parts: &[Slice<'_>]) -> Option<Look> {
    let is_ui = |part: &Slice<'_>| part.get("type").is_some() && part.own("content").is_none();
    let has = |names: &[&str]| parts.iter().any(|part| names.iter().any(|name| part.own(name).is_some()));
    if parts.iter().any(is_ui) {
        return Some(Look::AiSdk);
    }
    has(&[
        "text",
        "functionCall",
        "functionResponse",
        "function_call",
        "function_response",
        "inlineData",
        "inline_data",
    ])
    .then_some(Look::Gemini)
}

fn look_of_blocks(blocks: &[Slice<'_>]) -> Option<Look> {
    blocks.iter().find_map(|block| {
        let has = |name: &str| block.get(name).is_some();
        let Some(kind) = block.text("type") else {
            let names = ["toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent", "text", "image"];
            let is_named = block.fields().len() == 1 && names.iter().any(|name| has(name));
            return is_named.then_some(Look::Bedrock);
        };
        match &*kind {
            "tool-call" | "tool-result" | "tool-approval-request" | "tool-approval-response" => Some(Look::AiSdk),
            "reasoning" if has("text") => Some(Look::AiSdk),
            "file" if has("mediaType") || has("mimeType") => Some(Look::AiSdk),
            "tool_use" | "thinking" | "redacted_thinking" | "server_tool_use" | "mcp_tool_use" | "compaction" => {
                Some(Look::Anthropic)
            }
            "tool_result" if has("tool_use_id") => Some(Look::Anthropic),
            "image" | "document" if has("source") => Some(Look::Anthropic),
            "image_url" | "input_audio" | "refusal" => Some(Look::OpenAiChat),
            "file" if has("file") => Some(Look::OpenAiChat),
            "input_text" | "output_text" | "input_image" | "input_file" => Some(Look::OpenAiResponses),
            _ => None,
        }
    })
}
