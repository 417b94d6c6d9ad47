//! Hides each failed call, with its result, whose tool succeeded later: in a call that the model made after it had
//! seen the failure. A failure after the last success is the current state of affairs and stays.

use std::collections::HashMap;

use serde_json::Value;

use super::Scene;
use super::identifiers::Mentions;
use crate::exchange::Exchange;
use crate::facts::arguments;
use crate::node::{Node, to_value};
use crate::options::RepairMatch;
use crate::plan::Plan;

pub fn plan<N: Node>(scene: &Scene<'_, N>) -> Plan {
    let successes = Successes::of(scene);
    let mut plan = Plan::default();
    for exchange in scene.exchanges.iter() {
        if let Some(repair) = repair_of(scene, exchange, &successes) {
            plan.hide(exchange, format!("later_success_at_index_{}", repair.exchange.call.0));
        }
    }
    plan
}

/// A success, with what it was about when that matters.
struct Success<'a> {
    exchange: &'a Exchange,
    target: Option<Target>,
}

/// The first success that repairs the exchange, if it is a closed failure.
fn repair_of<'a, N: Node>(
    scene: &Scene<'_, N>,
    exchange: &Exchange,
    successes: &'a Successes<'a>,
) -> Option<&'a Success<'a>> {
    let seen = scene.exchanges.seen(exchange);
    if seen.0 >= scene.open_turn || !scene.exchanges.has_failed(exchange) {
        return None;
    }
    let tool = &scene.exchanges.call(exchange)?.name;
    let of_tool = successes.by_tool.get(tool).filter(|_| !tool.is_empty())?;
    let target = target_if_asked(scene, exchange);
    let success = |index: &usize| successes.list.get(*index);
    let is_seen = |index: &usize| success(index).is_some_and(|success| scene.exchanges.made(success.exchange) <= seen);
    let later = of_tool.get(of_tool.partition_point(is_seen)..)?;
    later.iter().filter_map(success).find(|success| match (&target, &success.target) {
        (Some(failed), Some(repaired)) => failed.is_same_as::<N>(repaired),
        _ => true,
    })
}

/// Every success, in order, and the successes of each tool.
#[derive(Default)]
struct Successes<'a> {
    list: Vec<Success<'a>>,
    by_tool: HashMap<String, Vec<usize>>,
}

impl<'a> Successes<'a> {
    fn of<N: Node>(scene: &Scene<'a, N>) -> Self {
        let mut successes = Successes::default();
        for exchange in scene.exchanges.iter().filter(|exchange| scene.exchanges.has_succeeded(exchange)) {
            if let Some(call) = scene.exchanges.call(exchange) {
                successes.by_tool.entry(call.name.clone()).or_default().push(successes.list.len());
                successes.list.push(Success { exchange, target: target_if_asked(scene, exchange) });
            }
        }
        successes
    }
}

fn target_if_asked<N: Node>(scene: &Scene<'_, N>, exchange: &Exchange) -> Option<Target> {
    (scene.options.repair_match == RepairMatch::Target).then(|| Target::of(scene, exchange))
}

/// Where a call ran is not what it was about: every call of a shell shares it.
const PLACES: [&str; 4] = ["cwd", "workdir", "working_directory", "root"];

/// What a call was about.
struct Target {
    arguments: Value,
    mentions: Mentions,
}

impl Target {
    fn of<N: Node>(scene: &Scene<'_, N>, exchange: &Exchange) -> Self {
        let message = scene.messages.get(exchange.call.0);
        let node = message.zip(scene.exchanges.call(exchange)).and_then(|(message, call)| arguments(message, call));
        let text = node.as_ref().and_then(|node| serde_json::from_str(&node.as_str()?).ok());
        let mut arguments = text.or_else(|| node.as_ref().and_then(to_value)).unwrap_or_default();
        if let Value::Object(fields) = &mut arguments {
            PLACES.iter().for_each(|place| drop(fields.remove(*place)));
        }
        let mut mentions = Mentions::default();
        mentions.add(&N::of_value(&arguments));
        Target { arguments, mentions }
    }

    /// Equal arguments, or an identifier of these among those.
    fn is_same_as<N: Node>(&self, other: &Target) -> bool {
        self.arguments == other.arguments || other.mentions.name_any_of(&N::of_value(&self.arguments))
    }
}
