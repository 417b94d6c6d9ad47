//! The last step before sending: the same messages without the marks that are for observers, and the synthetic
//! summary where the provider accepts it.

use serde_json::Value;

use crate::error::{ErrorCode, ProjectionError};
use crate::node::{Key, Kind, Node};
use crate::patched::Patched;

/// A provider whose rules the engine knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Provider {
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
    Gemini,
    Bedrock,
    Mistral,
    Deepseek,
}

impl Provider {
    /// Every provider with its name.
    pub const ALL: [(&'static str, Provider); 7] = [
        ("anthropic", Provider::Anthropic),
        ("openai_chat", Provider::OpenaiChat),
        ("openai_responses", Provider::OpenaiResponses),
        ("gemini", Provider::Gemini),
        ("bedrock", Provider::Bedrock),
        ("mistral", Provider::Mistral),
        ("deepseek", Provider::Deepseek),
    ];

    /// The provider of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<Self, ProjectionError> {
        let found = Self::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, provider)| provider).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            let expected = format!("one of {}", names.join(", "));
            ProjectionError::new(ErrorCode::UnknownProvider, "provider", expected, format!("\"{name}\""))
        })
    }

    /// Whether a system message inside the list is refused, so that a summary must speak as the user.
    fn refuses_system_messages(self) -> bool {
        matches!(self, Provider::Anthropic | Provider::Gemini | Provider::Bedrock)
    }
}

/// The messages as a provider may see them. `None` stands for a message that is the same as before.
pub fn provider_messages<N: Node>(messages: &[N], provider: Option<Provider>) -> Vec<Option<Patched<N>>> {
    messages.iter().map(|message| without_marks(message, provider)).collect()
}

fn without_marks<N: Node>(message: &N, provider: Option<Provider>) -> Option<Patched<N>> {
    let mark = message.field(Key::HarnProjection);
    let is_marked = |block: &N| block.kind() == Kind::Object && block.field(Key::HarnProjection).is_some();
    let blocks = message.field(Key::Content).filter(|content| content.kind() == Kind::Array);
    let marks_blocks = blocks.as_ref().is_some_and(|blocks| blocks.items().flatten().any(|block| is_marked(&block)));
    if mark.is_none() && !marks_blocks {
        return None;
    }
    let mut with = Vec::new();
    let synthetic = mark.and_then(|mark| mark.field(Key::Synthetic));
    let is_summary = synthetic.and_then(|synthetic| synthetic.as_bool()) == Some(true);
    if is_summary && provider.is_some_and(Provider::refuses_system_messages) {
        with.push((Key::Role, Patched::New("user".into())));
    }
    if let Some(blocks) = blocks.filter(|_| marks_blocks) {
        let blocks = blocks.items().map(|block| match block {
            Some(block) if is_marked(&block) => {
                Patched::Object { of: block, with: Vec::new(), without: vec![Key::HarnProjection] }
            }
            Some(block) => Patched::Source(block),
            None => Patched::New(Value::Null),
        });
        with.push((Key::Content, Patched::List(blocks.collect())));
    }
    Some(Patched::Object { of: message.clone(), with, without: vec![Key::HarnProjection] })
}
