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
use crate::plan::{Plan, ResolvedPlan};

/// What is known of calls and their outcomes, by tool.
#[derive(Default)]
pub struct Watch {
    /// How many answers were taken in.
    taken_in: usize,
    by_tool: HashMap<String, Tool>,
    /// The failures whose repair is known, in order. Some may be in the open turn.
    repairs: Vec<Repair>,
}

#[derive(Default)]
struct Tool {
    /// In order.
    successes: Vec<Known>,
    /// Failures without a repair so far.
    waiting: Vec<Known>,
}

/// An exchange, with what it was about when that matters.
struct Known {
    exchange: usize,
    target: Option<Target>,
}

struct Repair {
    failure: Known,
    tool: String,
    by: usize,
}

impl Watch {
    /// All repairs that are not settled yet.
    pub fn plan<N: Node>(&mut self, scene: &Scene<'_, N>, settled: &ResolvedPlan) -> Plan {
        self.take_in(scene);
        let exchange = |index: usize| scene.exchanges.get(index);
        self.repairs
            .retain(|repair| exchange(repair.failure.exchange).is_some_and(|failed| !settled.hides_call(failed.call)));
        let mut plan = Plan::default();
        for repair in &self.repairs {
            let Some((failed, by)) = exchange(repair.failure.exchange).zip(exchange(repair.by)) else { continue };
            if scene.exchanges.seen(failed).0 < scene.open_turn {
                plan.hide(failed, format!("later_success_at_index_{}", by.call.0));
            }
        }
        plan
    }

    fn take_in<N: Node>(&mut self, scene: &Scene<'_, N>) {
        let answered = scene.exchanges.answered_since(self.taken_in);
        self.taken_in += answered.len();
        let mut successes = Vec::new();
        let mut failures = Vec::new();
        for index in answered {
            let Some(exchange) = scene.exchanges.get(*index) else { continue };
            let Some(tool) = tool_of(scene, exchange) else { continue };
            if exchange.results.len() > 1 {
                // A second answer may have turned it round.
                failures.append(&mut self.forget(*index, tool));
                failures.retain(|(_, failure): &(String, Known)| failure.exchange != *index);
            }
            let known = || Known { exchange: *index, target: target_if_asked(scene, exchange) };
            if scene.exchanges.has_succeeded(exchange) {
                let of_tool = self.by_tool.entry(tool.to_owned()).or_default();
                let at = of_tool.successes.partition_point(|success| success.exchange < *index);
                of_tool.successes.insert(at, known());
                successes.push((tool, *index));
            } else if scene.exchanges.has_failed(exchange) {
                failures.push((tool.to_owned(), known()));
            }
        }
        for (tool, success) in successes {
            self.repair_waiting(scene, tool, success);
        }
        for (tool, failure) in failures {
            self.find_repair(scene, tool, failure);
        }
    }

    /// Forgets what was known of an exchange. Returns the failures that it had repaired.
    fn forget(&mut self, exchange: usize, tool: &str) -> Vec<(String, Known)> {
        if let Some(tool) = self.by_tool.get_mut(tool) {
            tool.successes.retain(|known| known.exchange != exchange);
            tool.waiting.retain(|known| known.exchange != exchange);
        }
        self.repairs.retain(|repair| repair.failure.exchange != exchange);
        let (unsure, sure) = std::mem::take(&mut self.repairs).into_iter().partition(|repair| repair.by == exchange);
        self.repairs = sure;
        let unsure: Vec<Repair> = unsure;
        unsure.into_iter().map(|repair| (repair.tool, repair.failure)).collect()
    }

    /// Tries a success that is new on the failures that wait for one.
    fn repair_waiting<N: Node>(&mut self, scene: &Scene<'_, N>, name: &str, success: usize) {
        let Some(tool) = self.by_tool.get_mut(name) else { return };
        let Some(by) = tool.successes.iter().rfind(|known| known.exchange == success) else { return };
        let mut at = 0;
        while let Some(failure) = tool.waiting.get(at) {
            if is_later(scene, by, failure) && is_same_target::<N>(failure, by) {
                let repair = Repair { failure: tool.waiting.swap_remove(at), tool: name.to_owned(), by: success };
                insert(&mut self.repairs, repair);
            } else {
                at += 1;
            }
        }
    }

    /// Finds the first success that repairs a failure that is new, or lets it wait.
    fn find_repair<N: Node>(&mut self, scene: &Scene<'_, N>, name: String, failure: Known) {
        let tool = self.by_tool.entry(name.clone()).or_default();
        let first = tool.successes.partition_point(|success| !is_later(scene, success, &failure));
        let mut later = tool.successes.get(first..).unwrap_or_default().iter();
        match later.find(|success| is_same_target::<N>(&failure, success)).map(|success| success.exchange) {
            Some(by) => insert(&mut self.repairs, Repair { failure, tool: name, by }),
            None => tool.waiting.push(failure),
        }
    }
}

fn insert(repairs: &mut Vec<Repair>, repair: Repair) {
    let at = repairs.partition_point(|known| known.failure.exchange < repair.failure.exchange);
    repairs.insert(at, repair);
}

fn tool_of<'a, N: Node>(scene: &Scene<'a, N>, exchange: &Exchange) -> Option<&'a str> {
    scene.exchanges.call(exchange).map(|call| call.name.as_str()).filter(|tool| !tool.is_empty())
}

/// Whether the model made the one call after it had seen how the other went.
fn is_later<N: Node>(scene: &Scene<'_, N>, success: &Known, failure: &Known) -> bool {
    let pair = scene.exchanges.get(success.exchange).zip(scene.exchanges.get(failure.exchange));
    pair.is_some_and(|(success, failure)| scene.exchanges.made(success) > scene.exchanges.seen(failure))
}

fn is_same_target<N: Node>(failure: &Known, success: &Known) -> bool {
    match (&failure.target, &success.target) {
        (Some(failed), Some(repaired)) => failed.is_same_as::<N>(repaired),
        _ => true,
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
