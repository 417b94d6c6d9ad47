//! What a provider would refuse in a list of messages. One file a provider; which call a result answers is asked of
//! [`Exchanges`], as everywhere. Rules that a provider states or that its users report have identifiers in capitals
//! (`ANT-PAIR-1`); mistakes that belong to no provider have names in words (`lone_surrogate`). `docs/validate.md`
//! lists them all.

mod anthropic;
mod bedrock;
mod binding;
mod chat;
mod checks;
mod deepseek;
mod edited_items;
mod gemini;
mod mistral;
mod openai_chat;
mod openai_responses;
mod request;

use crate::error::{ErrorCode, ProjectionError};
use crate::exchange::Exchanges;
use crate::facts::{MessageFacts, Role};
use crate::guard::pairing::Violation;
use crate::node::{Kind, Node};
use crate::provider::Provider;
use crate::shape;

pub use request::Request;

/// What is validated.
struct Scene<'a, N> {
    messages: &'a [N],
    facts: &'a [MessageFacts],
    exchanges: Exchanges<'a>,
    request: &'a Request<N>,
}

/// The violations so far.
#[derive(Default)]
struct Findings(Vec<Violation>);

impl Findings {
    /// Documented or reported: the provider refuses it.
    fn error(&mut self, rule: &'static str, index: usize, block: Option<usize>, message: impl Into<String>) {
        self.add("error", rule, (index, block), message.into());
    }

    /// A loss of quality, or a refusal that is only inferred.
    fn warning(&mut self, rule: &'static str, index: usize, block: Option<usize>, message: impl Into<String>) {
        self.add("warning", rule, (index, block), message.into());
    }

    fn add(
        &mut self,
        severity: &'static str,
        rule: &'static str,
        (index, block): (usize, Option<usize>),
        message: String,
    ) {
        self.0.push(Violation { rule, index, block, message, severity });
    }
}

/// What `provider` would refuse, or take with a loss, in the order of the messages.
///
/// # Errors
/// When a message is no object: there is nothing to say about it.
pub fn validate<N: Node>(
    messages: &[N],
    provider: Provider,
    request: &Request<N>,
) -> Result<Vec<Violation>, ProjectionError> {
    let mut found = Findings::default();
    let facts = read(messages, &mut found)?;
    let scene = Scene { messages, facts: &facts, exchanges: Exchanges::of(&facts), request };
    checks::everywhere(&scene, provider, &mut found);
    match provider {
        Provider::Anthropic => anthropic::check(&scene, &mut found),
        Provider::OpenaiChat => openai_chat::check(&scene, &mut found),
        Provider::Mistral => mistral::check(&scene, &mut found),
        Provider::Deepseek => deepseek::check(&scene, &mut found),
        Provider::OpenaiResponses => openai_responses::check(&scene, &mut found),
        Provider::Gemini => gemini::check(&scene, &mut found),
        Provider::Bedrock => bedrock::check(&scene, &mut found),
    }
    Ok(in_order(found.0, messages.len()))
}

/// The facts of every message. A field of a wrong type is a violation, and the message counts as saying nothing.
fn read<N: Node>(messages: &[N], found: &mut Findings) -> Result<Vec<MessageFacts>, ProjectionError> {
    let mut facts = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        if message.kind() != Kind::Object {
            let path = format!("messages[{index}]");
            return Err(ProjectionError::new(ErrorCode::InvalidMessage, path, "an object", message.kind().in_words()));
        }
        facts.push(shape::read(message, index).unwrap_or_else(|error| {
            found.error("wrong_type", index, None, error.to_string());
            MessageFacts::new(Role::Other)
        }));
    }
    Ok(facts)
}

/// By message; what is wrong with one message stays in the order in which it was found. A sort would be a lot of
/// code for lists that are short as a rule.
fn in_order(found: Vec<Violation>, count: usize) -> Vec<Violation> {
    if found.is_sorted_by_key(|violation| violation.index) {
        return found;
    }
    let mut first = vec![0; count + 2];
    for violation in &found {
        if let Some(after) = first.get_mut(violation.index.min(count) + 1) {
            *after += 1;
        }
    }
    let mut before = 0;
    for start in &mut first {
        before += *start;
        *start = before;
    }
    let mut ordered: Vec<Option<Violation>> = found.iter().map(|_| None).collect();
    for violation in found {
        if let Some(at) = first.get_mut(violation.index.min(count)) {
            let place = ordered.get_mut(*at);
            *at += 1;
            if let Some(place) = place {
                *place = Some(violation);
            }
        }
    }
    ordered.into_iter().flatten().collect()
}
