//! What a turn of a session takes beside the options of its policy.

use serde_json::Value;

use crate::error::ProjectionError;
use crate::node::{Kind, Node};
use crate::options::{boolean, unknown, whole_number, wrong};

/// What a turn takes beside the options of its policy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TurnOptions {
    /// Holds new decisions back until they are worth a break of the provider's cache.
    pub batch: Option<Batch>,
    /// What tokens cost.
    pub cache_prices: CachePrices,
    /// Takes all that is held back.
    pub flush: bool,
    /// The time in milliseconds: the engine has no clock.
    pub now: Option<f64>,
}

/// When new decisions are worth a break of the provider's cache. Any one of these is enough.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Batch {
    /// When all that is held back would reclaim so many tokens.
    pub min_reclaimed_tokens: Option<usize>,
    /// When something was held back for so many turns.
    pub max_turns: Option<usize>,
    /// When the last turn is so many milliseconds ago.
    pub when_idle_ms: Option<usize>,
}

/// What a token costs, relative to one that is not cached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CachePrices {
    /// Read from the cache.
    pub read: f64,
    /// Written to it.
    pub write: f64,
}

impl Default for CachePrices {
    fn default() -> Self {
        CachePrices { read: 0.1, write: 1.25 }
    }
}

impl TurnOptions {
    /// Reads a table of options.
    ///
    /// # Errors
    /// When an option is unknown or of the wrong type.
    pub fn parse<N: Node>(options: Option<&N>) -> Result<Self, ProjectionError> {
        let mut parsed = TurnOptions::default();
        let Some(options) = options else { return Ok(parsed) };
        each(options, "options", &["batch", "cache_prices", "flush", "now"], &mut |at, path, value| {
            match at {
                0 => parsed.batch = Some(Batch::parse(path, value)?),
                1 => parsed.cache_prices = CachePrices::parse(path, value)?,
                2 => parsed.flush = boolean(path, value)?,
                _ => parsed.now = Some(number(path, value)?),
            }
            Ok(())
        })?;
        Ok(parsed)
    }
}

impl Batch {
    fn parse<N: Node>(path: &str, options: &N) -> Result<Self, ProjectionError> {
        let mut batch = Batch::default();
        let known = ["min_reclaimed_tokens", "max_turns", "when_idle_ms"];
        each(options, path, &known, &mut |at, path, value| {
            let number = Some(whole_number(path, value)?);
            match at {
                0 => batch.min_reclaimed_tokens = number,
                1 => batch.max_turns = number,
                _ => batch.when_idle_ms = number,
            }
            Ok(())
        })?;
        Ok(batch)
    }
}

impl CachePrices {
    fn parse<N: Node>(path: &str, options: &N) -> Result<Self, ProjectionError> {
        let mut prices = CachePrices::default();
        each(options, path, &["read", "write"], &mut |at, path, value| {
            let price = number(path, value)?;
            if at == 0 {
                prices.read = price;
            } else {
                prices.write = price;
            }
            Ok(())
        })?;
        Ok(prices)
    }
}

/// Visits the fields of a table that are given, by their position among the known ones.
fn each<N: Node>(
    table: &N,
    path: &str,
    known: &[&str],
    visitor: &mut dyn FnMut(usize, &str, &N) -> Result<(), ProjectionError>,
) -> Result<(), ProjectionError> {
    if table.kind() != Kind::Object {
        return Err(wrong(path, "an object", table.kind().in_words()));
    }
    for (name, value) in table.entries() {
        let path = format!("{path}.{name}");
        let at = known.iter().position(|known| **known == *name).ok_or_else(|| unknown(&path, &name, known))?;
        if value.kind() != Kind::Null {
            visitor(at, &path, &value)?;
        }
    }
    Ok(())
}

fn number<N: Node>(path: &str, value: &N) -> Result<f64, ProjectionError> {
    let number = value.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| wrong(path, "a number, zero or more", value.kind().in_words()))
}

/// Decisions that are held back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// How many.
    pub count: usize,
    /// The messages that they would change.
    pub indices: Vec<usize>,
    /// What they would reclaim.
    pub reclaimed_tokens: usize,
    /// For how many turns the oldest of them was held back.
    pub turns: usize,
}

impl Pending {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        crate::value::object([
            ("count", self.count.into()),
            ("indices", crate::value::indices(&self.indices)),
            ("reclaimed_tokens", self.reclaimed_tokens.into()),
            ("turns", self.turns.into()),
        ])
    }
}

/// A view against the session's view before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cache {
    /// How many messages at the start are the same.
    pub stable_prefix_count: usize,
    /// Tokens that were sent before and have to be written again.
    pub rewritten_tokens: usize,
    /// What the turn's decisions reclaim of what was sent before.
    pub reclaimed_tokens: usize,
    /// After how many further requests that has paid.
    pub break_even_requests: Option<usize>,
}

impl Cache {
    /// With R tokens rewritten and S reclaimed, a request costs `R * write` instead of `(R + S) * read`, and each
    /// further one `S * read` less.
    pub fn of(stable_prefix_count: usize, rewritten: usize, reclaimed: usize, prices: CachePrices) -> Self {
        let (r, s) = (rewritten as f64, reclaimed as f64);
        let extra = r * prices.write - (r + s) * prices.read;
        let saved = s * prices.read;
        let requests = (extra / saved).ceil().max(0.0);
        let is_known = rewritten > 0 && reclaimed > 0 && requests.is_finite();
        Cache {
            stable_prefix_count,
            rewritten_tokens: rewritten,
            reclaimed_tokens: reclaimed,
            break_even_requests: is_known.then_some(requests as usize),
        }
    }

    /// As JSON.
    pub fn to_json(self) -> Value {
        crate::value::object([
            ("stable_prefix_count", self.stable_prefix_count.into()),
            ("rewritten_tokens", self.rewritten_tokens.into()),
            ("reclaimed_tokens", self.reclaimed_tokens.into()),
            ("break_even_requests", self.break_even_requests.into()),
        ])
    }
}
