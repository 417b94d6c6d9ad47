//! The last step before sending: the same messages without the marks that are for observers, and the synthetic
//! summary where the provider accepts it.

use serde_json::Value;

use crate::error::{ErrorCode, ProjectionError};
use crate::facts::Place;
use crate::node::{Key, Kind, Node};
use crate::patched::{Edit, Patched, edited};
use crate::shape::as_user;

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

    /// Whether a system message is refused inside the list, or only at its end, so that a summary must speak as the
    /// user.
    fn refuses_system_message(self, is_last: bool) -> bool {
        match self {
            Provider::Anthropic | Provider::Gemini | Provider::Bedrock => true,
            Provider::Mistral => is_last,
            _ => false,
        }
    }
}

/// The messages as a provider may see them; those that need no change are the caller's own.
pub fn provider_messages<N: Node>(messages: &[N], provider: Option<Provider>) -> Vec<Patched<N>> {
    let mut sent: Vec<(N, Patched<N>)> = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        let changed = without_marks(message, provider, index + 1 == messages.len());
        match sent.last_mut().filter(|(before, _)| provider == Some(Provider::Bedrock) && is_same_turn(before, message))
        {
            // Converse wants the roles to alternate, which a message that went may have seen to.
            Some((first, before)) => *before = joined(first, before, &changed),
            None => sent.push((message.clone(), changed)),
        }
    }
    sent.into_iter().map(|(_, message)| message).collect()
}

fn without_marks<N: Node>(message: &N, provider: Option<Provider>, is_last: bool) -> Patched<N> {
    let mark = message.field(Key::HarnProjection);
    let mut edits: Vec<Edit> = mark.iter().map(|_| unmark(Place::Message)).collect();
    for list in LISTS {
        let Some(items) = message.follow(list) else { continue };
        let marked = items.items().enumerate().filter(|(_, item)| {
            item.as_ref().is_some_and(|item| item.kind() == Kind::Object && item.field(Key::HarnProjection).is_some())
        });
        edits.extend(marked.map(|(index, _)| unmark(Place::item(list, index))));
    }
    if edits.is_empty() {
        return Patched::Source(message.clone());
    }
    let synthetic = mark.and_then(|mark| mark.field(Key::Synthetic));
    let is_summary = synthetic.and_then(|synthetic| synthetic.as_bool()) == Some(true);
    if is_summary && let Some(provider) = provider {
        let is_developer = || message.field_str(Key::Role).as_deref() == Some("developer");
        let role = if provider.refuses_system_message(is_last) {
            Some(as_user(message))
        } else if matches!(provider, Provider::Mistral | Provider::Deepseek) && is_developer() {
            // They know only the system.
            Some((Key::Role, "system".into()))
        } else {
            None
        };
        edits.extend(role.map(|(key, value)| Edit { path: Place::Field(key).steps(&[]), value: Some(value) }));
    }
    edited(message, &edits).unwrap_or(Patched::New(Value::Null))
}

fn unmark(place: Place) -> Edit {
    Edit { path: place.steps(&[Key::HarnProjection]), value: None }
}

/// The lists that blocks with marks are in.
const LISTS: [&[Key]; 5] =
    [&[Key::Content], &[Key::Parts], &[Key::ToolInvocations], &[Key::Data, Key::Content], &[Key::Kwargs, Key::Content]];

/// Whether two neighbours are lists of blocks by the same role.
fn is_same_turn<N: Node>(a: &N, b: &N) -> bool {
    let is_list = |message: &N| message.field(Key::Content).is_some_and(|content| content.kind() == Kind::Array);
    let role = a.field_str(Key::Role);
    role.is_some() && role == b.field_str(Key::Role) && is_list(a) && is_list(b)
}

/// The first message with the blocks of both.
fn joined<N: Node>(of: &N, first: &Patched<N>, second: &Patched<N>) -> Patched<N> {
    let mut all = blocks(first);
    all.extend(blocks(second));
    let with = vec![(Key::Content, Patched::List(all))];
    Patched::Object { of: of.clone(), with, without: vec![Key::HarnProjection] }
}

fn blocks<N: Node>(message: &Patched<N>) -> Vec<Patched<N>> {
    let of = match message {
        Patched::Object { of, with, .. } => match with.iter().find(|(key, _)| *key == Key::Content) {
            Some((_, Patched::List(items))) => return items.clone(),
            _ => of,
        },
        Patched::Source(of) => of,
        Patched::New(_) | Patched::List(_) => return Vec::new(),
    };
    let items = of.field(Key::Content).map(|content| content.items().flatten().map(Patched::Source).collect());
    items.unwrap_or_default()
}
