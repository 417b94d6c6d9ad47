//! One projection in plain Rust, hash included: `cargo bench`. The same transcript as `benches/projection.mjs`.

#![allow(missing_docs, clippy::expect_used, clippy::indexing_slicing)]

use std::time::Instant;

use serde_json::{Value, json};
use transcript_projection::{Callbacks, Options, Policy, Transcript, project};

const WORDS: &str = "the parser reads a line and keeps what it was told until the next one comes around again";

fn body(seed: usize, size: usize) -> String {
    let words: Vec<&str> = WORDS.split(' ').collect();
    let mut text = String::new();
    for word in seed.. {
        if text.len() >= size {
            break;
        }
        text.push_str(words[(word * 7 + seed) % words.len()]);
        text.push(if word % 12 == 11 { '\n' } else { ' ' });
    }
    text.truncate(size);
    text
}

fn generate(count: usize, size: usize, speaks: bool) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Find out why the build is slow."})];
    for turn in 0.. {
        if messages.len() >= count - 1 {
            break;
        }
        let arguments = json!({"path": format!("src/part{turn}/file{turn}.rs")}).to_string();
        messages.push(json!({
            "role": "assistant",
            "content": if speaks { Value::from(body(turn, size)) } else { Value::Null },
            "tool_calls": [{
                "id": format!("call_{turn}"),
                "type": "function",
                "function": {"name": "read", "arguments": arguments},
            }],
        }));
        let error = if turn % 10 == 3 { "Error: " } else { "" };
        messages.push(json!({
            "role": "tool",
            "tool_call_id": format!("call_{turn}"),
            "content": format!("{error}{}", body(turn + 1, size)),
        }));
    }
    messages.push(json!({"role": "assistant", "content": "The cache was never warm."}));
    Value::Array(messages)
}

fn main() {
    for speaks in [false, true] {
        let messages = generate(2000, 4096, speaks);
        println!("\n2000 messages, 4 KB in {}", if speaks { "every message" } else { "every result" });
        for policy in [Policy::Raw, Policy::CleanToolRepair, Policy::SquashFailedCalls, Policy::ReachabilityGc] {
            let options = Options::of(policy);
            let mut times: Vec<f64> = (0..15)
                .map(|_| {
                    let start = Instant::now();
                    let transcript = Transcript::of(&&messages).expect("a transcript");
                    let view = project(&transcript, &options, Callbacks::default()).expect("a view");
                    assert!(view.report.prefix_hash.is_some());
                    start.elapsed().as_secs_f64() * 1000.0
                })
                .collect();
            times.sort_by(f64::total_cmp);
            println!("{:24} {:6.1} ms", policy.name(), times[7]);
        }
    }
}
