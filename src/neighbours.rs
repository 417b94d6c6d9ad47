//! Messages that matter for where they stand: a call that would leave such a place empty is not hidden.
//!
//! - A system message inside the list stands between a user turn, or the result of a server's tool, and an assistant
//!   turn where Anthropic takes one (`ANT-ROLE-3`).
//! - What the assistant says between results and a question makes the question the start of a turn (`ANT-ROLE-2`), and a
//!   turn has to begin with its reasoning (`ANT-THK-3`).
//! - A call that a program made names the program: the program stays as long as the call (`ANT-PAIR-8`).
//! - A request for approval is named by its id, and cannot be shown without the reasoning that it was made with
//!   (`OAR-RSN-2`).

use crate::compaction::head;
use crate::exchange::{Exchange, Exchanges};
use crate::facts::{MessageFacts, Place, Role, Shape};
use crate::node::{Key, Node};
use crate::plan::{Plan, ResolvedPlan};
use crate::policy::Scene;

/// Leaves out of a plan what would take away a message that is needed where it stands.
pub fn keep<N: Node>(plan: &mut Plan, settled: &mut ResolvedPlan, scene: &Scene<'_, N>) {
    let Scene { messages, facts, exchanges, options, .. } = scene;
    if plan.hide.is_empty() {
        return;
    }
    let is_strict = |exchange: &Exchange| is_strict(exchange, facts, exchanges);
    let inside = prompts_inside(messages, facts);
    if !inside.is_empty() {
        // What the assistant answered itself there is what the system message follows.
        let before = inside.iter().filter_map(|index| index.checked_sub(1));
        let answers: Vec<usize> = before.filter(|index| answers_itself(*index, facts)).collect();
        leave_out(plan, settled, facts, exchanges, &is_strict, &|gone| {
            let mut wanted = beside_prompts(&inside, gone, facts);
            wanted.extend(&answers);
            wanted
        });
    }
    let is_bound = |index: usize| exchanges.needs_reasoning(index);
    if plan.hide.iter().any(|(exchange, _)| is_bound(exchange.call.0)) {
        leave_out(plan, settled, facts, exchanges, &|_| true, &|gone| halved_units(gone, exchanges));
    }
    if let Some(question) = newest_question(exchanges).filter(|_| options.respect_provider_signatures)
        && is_near(question, plan, settled, facts, exchanges)
    {
        leave_out(plan, settled, facts, exchanges, &is_strict, &|gone| {
            before_question(question, gone, facts, exchanges)
        });
    }
    keep_programs(plan, settled, exchanges);
}

/// Leaves out the programs of which a call is left.
fn keep_programs(plan: &mut Plan, settled: &ResolvedPlan, exchanges: &Exchanges<'_>) {
    let is_left = |exchange: &Exchange| {
        !settled.hides_call(exchange.call) && !plan.hide.iter().any(|(hidden, _)| hidden.call == exchange.call)
    };
    let left = exchanges.iter().filter_map(|exchange| {
        let program = exchanges.call(exchange)?.program.as_ref()?;
        is_left(exchange).then_some(program)
    });
    let left: Vec<&String> = left.collect();
    let is_program = |exchange: &Exchange| {
        let id = exchanges.call(exchange).and_then(|call| call.id.as_ref());
        id.is_some_and(|id| left.contains(&id))
    };
    plan.hide.retain(|(exchange, _)| !is_program(exchange));
}

/// The reasoning without which such a place is empty, if the changes on trial take it.
pub fn needed_reasoning<N: Node>(settled: &ResolvedPlan, scene: &Scene<'_, N>) -> Option<usize> {
    let Scene { messages, facts, exchanges, .. } = scene;
    lost_turn(settled, facts, exchanges).or_else(|| {
        let stripped = settled.stripped_on_trial();
        let inside = if stripped.is_empty() { Vec::new() } else { prompts_inside(messages, facts) };
        if inside.is_empty() {
            return None;
        }
        let gone: Vec<bool> = (0..facts.len()).map(|index| settled.drops(index)).collect();
        let is_strict = |index: &usize| facts.get(*index).is_some_and(|facts| facts.shape != Shape::Responses);
        beside_prompts(&inside, &gone, facts).into_iter().find(|index| is_strict(index) && stripped.contains(index))
    })
}

/// The system messages that stand between others.
fn prompts_inside<N: Node>(messages: &[N], facts: &[MessageFacts]) -> Vec<usize> {
    let is_inside = |index: &usize| facts.get(*index).is_some_and(MessageFacts::is_prompt);
    (head(messages, facts)..facts.len()).filter(is_inside).collect()
}

fn answers_itself(index: usize, facts: &[MessageFacts]) -> bool {
    facts.get(index).is_some_and(|facts| facts.role == Role::Assistant && !facts.results.is_empty())
}

/// Leaves out the calls of messages that are wanted, as long as there are such and the rule applies to them. `wanted`
/// gets which messages are gone with the plan as it is.
fn leave_out(
    plan: &mut Plan,
    settled: &mut ResolvedPlan,
    facts: &[MessageFacts],
    exchanges: &Exchanges<'_>,
    applies: &dyn Fn(&Exchange) -> bool,
    wanted: &dyn Fn(&[bool]) -> Vec<usize>,
) {
    // Each round leaves out something, so that there is an end.
    while !plan.hide.is_empty() {
        let mut is_needed = vec![false; facts.len()];
        for index in wanted(&settled.gone_with(plan, facts, exchanges)) {
            is_needed.get_mut(index).into_iter().for_each(|needed| *needed = true);
        }
        let is_wanted = |exchange: &Exchange| exchange.messages().any(|index| is_needed.get(index) == Some(&true));
        let count = plan.hide.len();
        plan.hide.retain(|(exchange, _)| !applies(exchange) || !is_wanted(exchange));
        if plan.hide.len() == count {
            return;
        }
    }
}

/// The messages that are gone beside a system message without another of their kind in their place.
fn beside_prompts(inside: &[usize], gone: &[bool], facts: &[MessageFacts]) -> Vec<usize> {
    let is_gone = |index: usize| gone.get(index) == Some(&true);
    let role = |index: usize| facts.get(index).map(|facts| facts.role);
    let mut wanted = Vec::new();
    for index in inside {
        let before = (0..*index).rev().take_while(|before| is_gone(*before)).count();
        let behind = (index + 1..facts.len()).take_while(|behind| is_gone(*behind)).count();
        let has_before = index.checked_sub(before + 1).and_then(role);
        if before > 0 && !matches!(has_before, Some(Role::User | Role::Tool)) {
            wanted.extend(index - before..*index);
        }
        let has_behind = role(index + 1 + behind);
        // Nothing yet is no neighbour either: who knows what comes next.
        if behind > 0 && has_behind != Some(Role::Assistant) {
            wanted.extend(index + 1..index + 1 + behind);
        }
    }
    wanted
}

/// The message of a person that began the newest turn, if one did.
fn newest_question(exchanges: &Exchanges<'_>) -> Option<usize> {
    exchanges.newest_turn(|_| true).checked_sub(1)
}

/// The reasoning that the newest turn begins with, or is to begin with, if the changes on trial make the turn begin
/// earlier: then it begins without.
fn lost_turn(settled: &ResolvedPlan, facts: &[MessageFacts], exchanges: &Exchanges<'_>) -> Option<usize> {
    let question = newest_question(exchanges)?;
    if still_begins(question, exchanges, |index| !settled.drops(index)) {
        return None;
    }
    let signed = |index: &usize| facts.get(*index).is_some_and(|facts| facts.signed);
    let answer =
        (question..facts.len()).find(|index| facts.get(*index).is_some_and(|facts| facts.role == Role::Assistant));
    match answer {
        Some(answer) => exchanges.turn(answer).find(signed),
        // Not answered yet: as the turns before it.
        None => (0..question).rev().find(signed),
    }
}

/// Whether the message still begins a turn, of the messages that are shown. One that is not shown begins none.
fn still_begins(question: usize, exchanges: &Exchanges<'_>, is_shown: impl Fn(usize) -> bool) -> bool {
    !is_shown(question) || exchanges.newest_turn(is_shown) > question
}

/// Whether a call of the plan is of the last turn before the message that is not hidden yet.
fn is_near(
    question: usize,
    plan: &Plan,
    settled: &ResolvedPlan,
    facts: &[MessageFacts],
    exchanges: &Exchanges<'_>,
) -> bool {
    let speaks = |index: &usize| facts.get(*index).is_some_and(|facts| !facts.is_of_user()) && !settled.drops(*index);
    let turn = (0..question).rev().find(speaks).map(|index| exchanges.turn(index)).unwrap_or_default();
    plan.hide.iter().any(|(exchange, _)| turn.contains(&exchange.call.0))
}

/// What is gone of units whose reasoning has to stay as long as anything of them does.
fn halved_units(gone: &[bool], exchanges: &Exchanges<'_>) -> Vec<usize> {
    let is_gone = |index: usize| gone.get(index) == Some(&true);
    let is_left = |index: usize| exchanges.unit(index).is_some_and(|mut unit| unit.any(|index| !is_gone(index)));
    (0..gone.len()).filter(|index| is_gone(*index) && exchanges.needs_reasoning(*index) && is_left(*index)).collect()
}

/// What is gone of the assistant's between results and the message, if it now stands right behind those results.
fn before_question(question: usize, gone: &[bool], facts: &[MessageFacts], exchanges: &Exchanges<'_>) -> Vec<usize> {
    let is_gone = |index: usize| gone.get(index) == Some(&true);
    if still_begins(question, exchanges, |index| !is_gone(index)) {
        return Vec::new();
    }
    let is_of_user = |index: usize| facts.get(index).is_some_and(MessageFacts::is_of_user);
    let run = (0..question).rev().take_while(|index| is_gone(*index) || is_of_user(*index));
    run.filter(|index| !is_of_user(*index)).collect()
}

/// Whether the call is of a shape that may be sent to Anthropic; OpenAI takes system messages anywhere.
fn is_strict(exchange: &Exchange, facts: &[MessageFacts], exchanges: &Exchanges<'_>) -> bool {
    let shape = facts.get(exchange.call.0).map(|facts| facts.shape);
    let is_of_openai = |place| matches!(place, Place::Item(Key::ToolCalls, _) | Place::Field(_));
    match shape {
        Some(Shape::Responses) => false,
        Some(Shape::Chat) => !exchanges.call(exchange).is_some_and(|call| is_of_openai(call.place)),
        _ => true,
    }
}
