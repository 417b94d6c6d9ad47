//! The options of a projection: the seed's table, its defaults, and every mistake that a caller can make in it.

use serde_json::{Map, Value};

use crate::error::{ErrorCode, ProjectionError};
use crate::node::{Kind, Node, to_recorded_value};
use crate::policy::Policy;
use crate::value::extend;

/// What a signature protects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignatureScope {
    /// The message that carries it (the seed's rule).
    #[default]
    Message,
    /// Everything before it as well, as newer Claude models check (provider rule ANT-BIND-1).
    Prefix,
}

/// What happens when signed reasoning stands in the way of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnSignatureConflict {
    /// The whole transcript is shown as it is (the seed's rule).
    #[default]
    Raw,
    /// What touches signed reasoning is left as it is, the rest is applied.
    Skip,
    /// The policy is applied, and all reasoning from the first change on goes with it.
    StripReasoning,
}

/// Which later success repairs a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepairMatch {
    /// Any success of the same tool (the seed's rule).
    #[default]
    Tool,
    /// A success of the same tool on the same thing: equal arguments, or a shared identifier in them.
    Target,
}

/// The role of a synthetic summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryRole {
    /// `system` (the seed's).
    #[default]
    System,
    /// `developer`.
    Developer,
    /// `user`.
    User,
}

impl SummaryRole {
    /// The role of this name; `system` for any other.
    pub fn named(name: &str) -> Self {
        SUMMARY_ROLES.iter().find(|(known, _)| *known == name).map_or(SummaryRole::System, |(_, role)| *role)
    }

    /// The role as it stands in a message.
    pub const fn as_str(self) -> &'static str {
        match self {
            SummaryRole::System => "system",
            SummaryRole::Developer => "developer",
            SummaryRole::User => "user",
        }
    }
}

/// The options of a projection, resolved: every default is filled in.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is hidden.
    pub policy: Policy,
    /// Refuse a view that touches signed reasoning.
    pub respect_provider_signatures: bool,
    /// How far a signature reaches.
    pub signature_scope: SignatureScope,
    /// What to do when a view touches signed reasoning.
    pub on_signature_conflict: OnSignatureConflict,
    /// Replaces the derived reason.
    pub reason: Option<String>,
    /// Compute `prefix_hash` and `source_hash`.
    pub prefix_hash: bool,
    /// Never touch the turn that the model has not seen the results of.
    pub protect_open_turn: bool,
    /// `clean_tool_repair`: which success counts.
    pub repair_match: RepairMatch,
    /// `summary_prefix`: how many trailing messages stay verbatim.
    pub keep_last: usize,
    /// `summary_prefix`: the summary's text.
    pub summary: Option<String>,
    /// `summary_prefix`: the summary's role.
    pub summary_role: SummaryRole,
    /// `summary_prefix`: keep the newest ordinary user message verbatim too.
    pub keep_newest_user: bool,
    /// `reachability_gc`: how many trailing messages are roots.
    pub root_window: usize,
    /// `reachability_gc`: the shortest body that is worth reclaiming, in characters.
    pub min_chars: usize,
    /// `reachability_gc`: further root material, by option name, in the order of [`ROOT_MATERIAL`].
    pub root_material: Vec<(&'static str, Value)>,
    /// `reachability_gc`: reclaim only behind a write barrier.
    pub require_write_barrier: bool,
    /// `reachability_gc`: the write barriers that were given, by option name.
    pub write_barriers: Vec<(&'static str, Value)>,
}

const SIGNATURE_SCOPES: [(&str, SignatureScope); 2] =
    [("message", SignatureScope::Message), ("prefix", SignatureScope::Prefix)];
const ON_SIGNATURE_CONFLICT: [(&str, OnSignatureConflict); 3] = [
    ("raw", OnSignatureConflict::Raw),
    ("skip", OnSignatureConflict::Skip),
    ("strip_reasoning", OnSignatureConflict::StripReasoning),
];
const REPAIR_MATCHES: [(&str, RepairMatch); 2] = [("tool", RepairMatch::Tool), ("target", RepairMatch::Target)];
const SUMMARY_ROLES: [(&str, SummaryRole); 3] =
    [("system", SummaryRole::System), ("developer", SummaryRole::Developer), ("user", SummaryRole::User)];

/// The options that name root material.
pub const ROOT_MATERIAL: [&str; 5] = ["roots", "active_plan", "scratchpad", "pending_tool_args", "unresolved_findings"];
const WRITE_BARRIERS: [&str; 3] = ["write_barrier", "write_barrier_refs", "barrier_refs"];
/// Functions are the caller's: the engine gets them beside the options.
const CALLBACKS: [&str; 2] = ["is_error", "projector"];

const KNOWN: [&str; 26] = [
    "policy",
    "respect_provider_signatures",
    "signature_scope",
    "on_signature_conflict",
    "reason",
    "prefix_hash",
    "protect_open_turn",
    "is_error",
    "repair_match",
    "keep_last",
    "summary",
    "summary_role",
    "keep_newest_user",
    "root_window",
    "recent_messages",
    "min_chars",
    "roots",
    "active_plan",
    "scratchpad",
    "pending_tool_args",
    "unresolved_findings",
    "require_write_barrier",
    "write_barrier",
    "write_barrier_refs",
    "barrier_refs",
    "projector",
];

impl Default for Options {
    fn default() -> Self {
        Options {
            policy: Policy::Raw,
            respect_provider_signatures: true,
            signature_scope: SignatureScope::default(),
            on_signature_conflict: OnSignatureConflict::default(),
            reason: None,
            prefix_hash: true,
            protect_open_turn: true,
            repair_match: RepairMatch::default(),
            keep_last: 0,
            summary: None,
            summary_role: SummaryRole::default(),
            keep_newest_user: false,
            root_window: 8,
            min_chars: 500,
            root_material: Vec::new(),
            require_write_barrier: false,
            write_barriers: Vec::new(),
        }
    }
}

impl Options {
    /// Options with this policy and every default.
    pub fn of(policy: Policy) -> Self {
        Options { policy, ..Options::default() }
    }

    /// Reads options: nothing or `null` is `raw`, a string is shorthand for `{policy}`, an object is the table.
    pub fn parse<N: Node>(options: Option<&N>) -> Result<Self, ProjectionError> {
        let Some(options) = options else { return Ok(Options::default()) };
        match options.kind() {
            Kind::Null => Ok(Options::default()),
            Kind::String => Ok(Options::of(policy("options", options)?)),
            Kind::Object => Self::from_table(options),
            kind => Err(wrong("options", "an object or the name of a policy", kind.in_words())),
        }
    }

    fn from_table<N: Node>(table: &N) -> Result<Self, ProjectionError> {
        let mut options = Options::default();
        let mut window = Window::default();
        for (name, value) in table.entries() {
            let path = format!("options.{name}");
            let Some(known) = KNOWN.into_iter().find(|known| **known == *name) else {
                return Err(unknown(&path, &name, &KNOWN));
            };
            if value.kind() == Kind::Null || CALLBACKS.contains(&known) {
                continue;
            }
            options.set(known, &path, &value, &mut window)?;
        }
        options.root_window = window.roots.or(window.recent).or(window.keep_last).unwrap_or(options.root_window);
        in_order_of(&ROOT_MATERIAL, &mut options.root_material);
        in_order_of(&WRITE_BARRIERS, &mut options.write_barriers);
        Ok(options)
    }

    fn set<N: Node>(
        &mut self,
        name: &'static str,
        path: &str,
        value: &N,
        window: &mut Window,
    ) -> Result<(), ProjectionError> {
        match name {
            "policy" => self.policy = policy(path, value)?,
            "respect_provider_signatures" => self.respect_provider_signatures = boolean(path, value)?,
            "signature_scope" => self.signature_scope = one_of(path, value, &SIGNATURE_SCOPES)?,
            "on_signature_conflict" => self.on_signature_conflict = one_of(path, value, &ON_SIGNATURE_CONFLICT)?,
            "reason" => self.reason = Some(text(path, value)?),
            "prefix_hash" => self.prefix_hash = boolean(path, value)?,
            "protect_open_turn" => self.protect_open_turn = boolean(path, value)?,
            "repair_match" => self.repair_match = one_of(path, value, &REPAIR_MATCHES)?,
            "keep_last" => {
                self.keep_last = whole_number(path, value)?;
                window.keep_last = Some(self.keep_last);
            }
            "summary" => self.summary = Some(text(path, value)?),
            "summary_role" => self.summary_role = one_of(path, value, &SUMMARY_ROLES)?,
            "keep_newest_user" => self.keep_newest_user = boolean(path, value)?,
            "root_window" => window.roots = Some(whole_number(path, value)?),
            "recent_messages" => window.recent = Some(whole_number(path, value)?),
            "min_chars" => self.min_chars = whole_number(path, value)?,
            "require_write_barrier" => self.require_write_barrier = boolean(path, value)?,
            _ if ROOT_MATERIAL.contains(&name) => self.root_material.push((name, material(path, value)?)),
            _ if WRITE_BARRIERS.contains(&name) => {
                let barrier = material(path, value)?;
                if !is_nothing(&barrier) {
                    self.write_barriers.push((name, barrier));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds the working memory of a session as root material, and the state of it as write barrier, unless the caller
    /// gave others.
    pub fn add_scratchpad(&mut self, value: &Value, version: &str) {
        if !self.root_material.iter().any(|(name, _)| *name == "scratchpad") {
            self.root_material.push(("scratchpad", value.clone()));
            in_order_of(&ROOT_MATERIAL, &mut self.root_material);
        }
        if self.write_barriers.is_empty() {
            let reference = Value::from(format!("scratchpad:{version}"));
            self.write_barriers.push(("write_barrier_refs", Value::Array(vec![reference])));
        }
    }

    /// The mistake of giving a function where none is taken; `None` where one is.
    pub fn mistake_of_function(name: &str) -> Option<ProjectionError> {
        let path = format!("options.{name}");
        match KNOWN.into_iter().find(|known| *known == name) {
            None => Some(unknown(&path, name, &KNOWN)),
            Some(known) if CALLBACKS.contains(&known) => None,
            Some(_) => Some(wrong(&path, "a JSON value", "a function")),
        }
    }

    /// The summary's text: the option, else the transcript's own. An empty one says nothing and counts as none.
    pub fn summary_text<'a>(&'a self, of_transcript: Option<&'a str>) -> Option<&'a str> {
        [self.summary.as_deref(), of_transcript].into_iter().flatten().find(|text| !text.is_empty())
    }

    /// The options as a replay needs them: what the policy reads, defaults filled in, and the transcript's summary
    /// as it was.
    pub fn recorded(&self, summary_of_transcript: Option<&str>) -> Value {
        let mut table = Map::new();
        extend(
            &mut table,
            [
                ("policy", self.policy.name().into()),
                ("respect_provider_signatures", self.respect_provider_signatures.into()),
                ("signature_scope", name_of(&SIGNATURE_SCOPES, self.signature_scope)),
                ("on_signature_conflict", name_of(&ON_SIGNATURE_CONFLICT, self.on_signature_conflict)),
                ("reason", self.reason.clone().into()),
                ("prefix_hash", self.prefix_hash.into()),
                ("protect_open_turn", self.protect_open_turn.into()),
            ],
        );
        match self.policy {
            Policy::CleanToolRepair => {
                extend(&mut table, [("repair_match", name_of(&REPAIR_MATCHES, self.repair_match))]);
            }
            Policy::SummaryPrefix => extend(
                &mut table,
                [
                    ("keep_last", self.keep_last.into()),
                    ("summary", self.summary_text(summary_of_transcript).into()),
                    ("summary_role", name_of(&SUMMARY_ROLES, self.summary_role)),
                    ("keep_newest_user", self.keep_newest_user.into()),
                ],
            ),
            Policy::ReachabilityGc => {
                extend(
                    &mut table,
                    [
                        ("root_window", self.root_window.into()),
                        ("min_chars", self.min_chars.into()),
                        ("require_write_barrier", self.require_write_barrier.into()),
                    ],
                );
                for (name, value) in self.root_material.iter().chain(&self.write_barriers) {
                    extend(&mut table, [(*name, value.clone())]);
                }
            }
            Policy::Raw | Policy::SquashFailedCalls | Policy::Custom => {}
        }
        Value::Object(table)
    }
}

fn name_of<T: PartialEq>(choices: &[(&str, T)], choice: T) -> Value {
    choices.iter().find(|(_, other)| *other == choice).map(|(name, _)| *name).into()
}

/// Puts named values in the order of the names.
fn in_order_of(names: &[&str], values: &mut Vec<(&'static str, Value)>) {
    let mut given = std::mem::take(values);
    for name in names {
        if let Some(at) = given.iter().position(|(given, _)| given == name) {
            values.push(given.swap_remove(at));
        }
    }
}

/// `root_window` and its aliases; the first that is given wins.
#[derive(Default)]
struct Window {
    roots: Option<usize>,
    recent: Option<usize>,
    keep_last: Option<usize>,
}

/// A mistake in the value of an option.
pub fn wrong(path: &str, expected: impl Into<String>, found: impl Into<String>) -> ProjectionError {
    ProjectionError::new(ErrorCode::InvalidOption, path, expected, found)
}

/// An option that is none of the known ones.
pub fn unknown(path: &str, name: &str, known: &[&str]) -> ProjectionError {
    let nearest = known.iter().copied().min_by_key(|known| distance(known, name)).unwrap_or_default();
    let expected = format!("a known option (nearest: \"{nearest}\")");
    ProjectionError::new(ErrorCode::UnknownOption, path, expected, "an unknown one")
}

fn policy<N: Node>(path: &str, value: &N) -> Result<Policy, ProjectionError> {
    let Some(name) = value.as_str() else {
        return Err(wrong(path, "the name of a policy", value.kind().in_words()));
    };
    Policy::ALL.into_iter().find(|policy| policy.name() == name).ok_or_else(|| {
        let names = Policy::ALL.map(|policy| format!("\"{}\"", policy.name())).join(", ");
        ProjectionError::new(ErrorCode::UnknownPolicy, path, format!("one of {names}"), format!("\"{name}\""))
    })
}

/// A boolean option.
pub fn boolean<N: Node>(path: &str, value: &N) -> Result<bool, ProjectionError> {
    value.as_bool().ok_or_else(|| wrong(path, "a boolean", value.kind().in_words()))
}

fn text<N: Node>(path: &str, value: &N) -> Result<String, ProjectionError> {
    value.as_str().map(|text| text.into_owned()).ok_or_else(|| wrong(path, "a string", value.kind().in_words()))
}

/// A whole number, zero or more.
pub fn whole_number<N: Node>(path: &str, value: &N) -> Result<usize, ProjectionError> {
    number_from(path, value, 0.0, "a whole number, zero or more")
}

/// What [`positive_number`] expects.
pub const POSITIVE: &str = "a whole number, one or more";

/// A whole number that is not zero.
pub fn positive_number<N: Node>(path: &str, value: &N) -> Result<usize, ProjectionError> {
    number_from(path, value, 1.0, POSITIVE)
}

fn number_from<N: Node>(path: &str, value: &N, least: f64, expected: &str) -> Result<usize, ProjectionError> {
    let number = value.as_f64().ok_or_else(|| wrong(path, expected, value.kind().in_words()))?;
    if !number.is_finite() {
        return Err(wrong(path, expected, "a number that is not finite"));
    }
    // No transcript has 2^32 messages: more than that is "all of them".
    if number >= least && number.fract() == 0.0 {
        Ok(number.min(f64::from(u32::MAX)) as usize)
    } else {
        Err(wrong(path, expected, value.number_text().unwrap_or_default()))
    }
}

fn one_of<N: Node, T: Copy>(path: &str, value: &N, choices: &[(&str, T)]) -> Result<T, ProjectionError> {
    let name = value.as_str();
    let found = choices.iter().find(|(choice, _)| name.as_deref() == Some(*choice));
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let found = name.as_ref().map_or_else(|| value.kind().in_words().to_owned(), |name| format!("\"{name}\""));
        wrong(path, format!("one of {}", names.join(", ")), found)
    })
}

/// Any JSON.
pub fn material<N: Node>(path: &str, value: &N) -> Result<Value, ProjectionError> {
    to_recorded_value(value).ok_or_else(|| wrong(path, "a JSON value nested at most 496 deep", "a deeper one"))
}

/// Whether a barrier was given in name only.
fn is_nothing(barrier: &Value) -> bool {
    match barrier {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// Levenshtein distance that does not count case or underscores, so that `keepLast` is near `keep_last`.
fn distance(a: &str, b: &str) -> usize {
    let plain = |text: &str| text.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect::<Vec<_>>();
    let (a, b) = (plain(a), plain(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            let replaced = diagonal + usize::from(x != y);
            left = replaced.min(above + 1).min(left + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
