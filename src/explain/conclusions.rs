//! Collects the conclusions of every rule at a location, including those without a finding.

use super::range::ExplainedRange;
use crate::diagnostic::{Diagnostic, Severity, Suppressed};
use crate::graph::Resource;
use crate::pipeline::Outcome;
use crate::rules::{Judgement, Rule, Verdict};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;

/// Conclusions of one rule.
#[derive(Debug)]
pub struct Concluded<'o> {
    /// The rule.
    pub rule: Rule<'o>,
    /// Distinct conclusions; empty if the rule read a value but had nothing to compare it with.
    pub all: Vec<Conclusion<'o>>,
}

/// Conclusion of a rule.
#[derive(Debug)]
pub enum Conclusion<'o> {
    /// A finding.
    Found(&'o Diagnostic),
    /// A finding that is hidden by a suppression or a baseline.
    Suppressed(&'o Suppressed),
    /// A judgement without a finding, with its reason.
    Judged(&'o Judgement),
}

/// Elements at the location, by the names that rules use for them.
struct LocationScope<'p> {
    place: &'p ExplainedRange,
    /// Units and addresses of resources that are explained completely.
    headed: FxHashSet<(String, String)>,
}

/// Returns all findings of a run, including those that are suppressed or known.
pub(super) fn findings(outcome: &Outcome) -> impl Iterator<Item = &Diagnostic> {
    let hidden = outcome.suppressed.iter().chain(&outcome.history.known);
    outcome.findings.iter().chain(hidden.map(|one| &one.finding))
}

/// Returns the conclusions of rules at `place`, with those of the worst findings first.
pub(super) fn at<'o>(outcome: &'o Outcome, place: &ExplainedRange) -> Vec<Concluded<'o>> {
    let here = LocationScope::new(outcome, place);
    let mut all = Vec::new();
    for rule in outcome.rules.rules() {
        let of_rule: Vec<&Judgement> = (outcome.judgements.iter())
            .filter(|judged| judged.rule == rule.id)
            .collect();
        let judged = of_rule.iter().filter(|judged| here.rests_on(judged));
        let (read, judged): (Vec<&Judgement>, Vec<&Judgement>) = judged.partition(|judged| is_unconcerned(judged));
        let (following, judged): (Vec<&Judgement>, Vec<&Judgement>) =
            judged.into_iter().partition(|judged| judged.verdict == Verdict::Found);
        let has = |found: &Diagnostic| found.rule == rule.id && (here.has(found) || rests_on(found, &following));
        let found = outcome.findings.iter().filter(|found| has(found));
        let mut conclusions: Vec<Conclusion<'o>> = found.map(Conclusion::Found).collect();
        let silenced = outcome.suppressed.iter().chain(&outcome.history.known);
        conclusions.extend(silenced.filter(|one| has(&one.finding)).map(Conclusion::Suppressed));
        conclusions.extend(judged.into_iter().map(Conclusion::Judged));
        if conclusions.is_empty() {
            // The rule read the value, but an unresolved one prevented the comparison.
            let kept_from = |judged: &&&Judgement| {
                let is_open = matches!(judged.verdict, Verdict::NotEvaluated { .. });
                is_open && read.iter().any(|read| read.subject == judged.subject)
            };
            conclusions.extend(
                of_rule
                    .iter()
                    .filter(kept_from)
                    .map(|judged| Conclusion::Judged(judged)),
            );
        }
        conclusions.sort_by_key(|conclusion| (rank(conclusion), Reverse(severity(conclusion))));
        if !(conclusions.is_empty() && read.is_empty()) {
            all.push(Concluded { rule, all: conclusions });
        }
    }
    all.sort_by_key(|one| Reverse(one.all.iter().filter_map(severity).max()));
    all
}

/// Returns the severity of a finding.
fn severity(conclusion: &Conclusion<'_>) -> Option<Severity> {
    match conclusion {
        Conclusion::Found(found) => Some(found.severity),
        Conclusion::Suppressed(_) | Conclusion::Judged(_) => None,
    }
}

fn is_unconcerned(judged: &Judgement) -> bool {
    judged.verdict == Verdict::NotConcerned
}

/// Returns `true` if one of the judgements in `following` led to `found`. A finding in several calls lists all of them.
fn rests_on(found: &Diagnostic, following: &[&Judgement]) -> bool {
    following.iter().any(|judged| {
        let subject = &judged.subject;
        let is_own = (&found.subject.unit, &found.subject.address) == (&subject.unit, &subject.address);
        let mut others = found.calls.iter();
        is_own || others.any(|one| (&one.unit, &one.address) == (&subject.unit, &subject.address))
    })
}

/// Rank by which conclusions of one kind are grouped, findings first.
fn rank(conclusion: &Conclusion<'_>) -> u8 {
    match conclusion {
        Conclusion::Found(_) => 0,
        Conclusion::Suppressed(_) => 1,
        Conclusion::Judged(judged) => match judged.verdict {
            Verdict::Found | Verdict::Ignored { .. } => 2,
            Verdict::NotEvaluated { .. } => 3,
            Verdict::Yields(_) => 4,
            Verdict::Holds(_) | Verdict::NotConcerned => 5,
        },
    }
}

impl<'p> LocationScope<'p> {
    fn new(outcome: &Outcome, place: &'p ExplainedRange) -> Self {
        let mut headed = FxHashSet::default();
        let other_environments = outcome.other_environments.iter().map(|(_, graph)| graph);
        for graph in std::iter::once(&outcome.graph).chain(other_environments) {
            let mut note = |resource: &Resource| {
                if place.heads(resource) {
                    headed.insert((graph.unit(resource.unit).name.clone(), resource.address.to_string()));
                }
            };
            graph.queues().iter().for_each(|node| note(&node.resource));
            graph.functions().iter().for_each(|node| note(&node.resource));
            graph.mappings().iter().for_each(|node| note(&node.resource));
            let deliveries = graph.deliveries();
            deliveries.pipes.iter().for_each(|node| note(&node.resource));
            deliveries.subscriptions.iter().for_each(|node| note(&node.resource));
            deliveries.targets.iter().for_each(|node| note(&node.resource));
            deliveries.machines.iter().for_each(|node| note(&node.resource));
        }
        LocationScope { place, headed }
    }

    fn is_headed(&self, unit: &str, address: &str) -> bool {
        !self.headed.is_empty() && self.headed.contains(&(unit.to_owned(), address.to_owned()))
    }

    fn has(&self, found: &Diagnostic) -> bool {
        let subject = &found.subject;
        self.is_headed(&subject.unit, &subject.address)
            || found.labels().iter().any(|label| self.place.covers(label.span))
    }

    fn rests_on(&self, judged: &Judgement) -> bool {
        let subject = &judged.subject;
        self.is_headed(&subject.unit, &subject.address) || judged.read.iter().any(|span| self.place.covers(*span))
    }
}
