//! Transcript projection: chooses what a model sees next from an unchanged transcript, under a policy, and records
//! exactly what it hid and why.
//!
//! Data goes one way: messages, facts, policy, plan, guards, view.
//!
//! ```
//! use serde_json::json;
//! use transcript_projection::{Callbacks, Options, Policy, Transcript, project};
//!
//! let messages = json!([
//!     {"role": "user", "content": "run the tests"},
//!     {"role": "assistant", "content": null, "tool_calls":
//!         [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{\"cmd\":\"tset\"}"}}]},
//!     {"role": "tool", "tool_call_id": "c1", "content": "Error: no such command"},
//!     {"role": "assistant", "content": null, "tool_calls":
//!         [{"id": "c2", "type": "function", "function": {"name": "run", "arguments": "{\"cmd\":\"test\"}"}}]},
//!     {"role": "tool", "tool_call_id": "c2", "content": "12 passed"},
//!     {"role": "assistant", "content": "All tests pass."},
//! ]);
//! let transcript = Transcript::of(&&messages)?;
//! let view = project(&transcript, &Options::of(Policy::CleanToolRepair), Callbacks::default())?;
//! assert_eq!(view.report.dropped_indices, [1, 2]);
//! # Ok::<(), transcript_projection::ProjectionError>(())
//! ```

mod canonical;
mod compaction;
mod conflict;
mod document;
mod error;
mod event;
mod exchange;
mod export;
mod facts;
mod failure;
mod guard;
mod import;
mod json;
mod neighbours;
mod node;
mod options;
mod patched;
mod plan;
mod policy;
mod projection;
mod provider;
mod recover;
mod report;
#[cfg(target_arch = "wasm32")]
mod room;
mod session;
mod settle;
mod shape;
mod tokens;
mod validate;
mod value;
#[cfg(all(target_arch = "wasm32", feature = "engine"))]
mod wasm;
#[cfg(all(target_arch = "wasm32", feature = "importers"))]
mod wasm_importers;
mod work;

pub use canonical::{DigestMaker, HostDigest, use_digest};
pub use compaction::{
    Compaction, MAX_RESULT_CHARS, Triggers, balance_tool_call_boundary, compact, estimate_messages_tokens,
    estimate_tokens, maybe_compact, message_texts, prune_tool_results, should_compact,
};
pub use document::{Document, Slice};
pub use error::{ErrorCode, ProjectionError};
pub use event::{acp_update, events_by_kind};
pub use export::{ExportFormat, export_view};
pub use guard::pairing::Violation;
pub use import::{
    Confidence, Detection, FORMATS, Format, Import, ImportOptions, Importer, Message, Outcome, ResultOutcome, Scope,
    Source, Stats, Warning, detect_format, import,
};
pub use json::{Parsed, parse};
pub use node::{Key, Kind, MAX_DEPTH, Node, to_value};
pub use options::{OnSignatureConflict, Options, RepairMatch, SignatureScope, SummaryRole};
pub use patched::{Field, Patched};
pub use plan::{HiddenCall, Pointer, Shown};
pub use policy::Policy;
pub use policy::custom::CustomView;
pub use projection::{Callbacks, IsError, Projector, ResultInfo, Transcript, View, project};
pub use provider::{Provider, provider_messages};
pub use recover::{Recovered, Replay, canonical_json, recover_redacted, replay};
pub use report::{Report, Verdict};
pub use session::{Batch, Cache, CachePrices, Pending, Session, Turn, TurnOptions};
pub use tokens::by_script::estimate_tokens_by_script;
pub use tokens::messages::estimate_messages_tokens_by_script;
pub use validate::{Request, validate};
pub use work::Work;
