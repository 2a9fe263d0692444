//! What every rule concluded at a place, whether or not that is a finding.

use super::place::Place;
use crate::Outcome;
use crate::diagnostic::{Diagnostic, Suppressed};
use crate::graph::Resource;
use crate::rules::{Judgement, RULES, Rule, Verdict};
use rustc_hash::FxHashSet;

/// What one rule concluded.
#[derive(Debug)]
pub struct Concluded<'o> {
    /// The rule.
    pub rule: &'static Rule,
    /// Each conclusion once; none where the rule read something and had nothing to compare it with.
    pub all: Vec<Conclusion<'o>>,
}

/// How a rule judged.
#[derive(Debug)]
pub enum Conclusion<'o> {
    /// A finding.
    Found(&'o Diagnostic),
    /// A finding that a suppression or a baseline silences.
    Silenced(&'o Suppressed),
    /// No finding, and why.
    Judged(&'o Judgement),
}

/// What is at the place, by the names that rules give to it.
struct Here<'p> {
    place: &'p Place,
    /// Units and addresses of resources that are explained whole.
    headed: FxHashSet<(String, String)>,
}

/// What rules concluded there.
pub(super) fn at<'o>(outcome: &'o Outcome, place: &Place) -> Vec<Concluded<'o>> {
    let here = Here::new(outcome, place);
    let mut all = Vec::new();
    for rule in RULES {
        let found = outcome.findings.iter().filter(|found| here.has(rule, found));
        let mut conclusions: Vec<Conclusion<'o>> = found.map(Conclusion::Found).collect();
        let silenced = outcome.suppressed.iter().chain(&outcome.history.known);
        let silenced = silenced.filter(|one| here.has(rule, &one.finding));
        conclusions.extend(silenced.map(Conclusion::Silenced));
        let judged = outcome.judgements.iter().filter(|judged| here.rests_on(rule, judged));
        let judged: Vec<&Judgement> = judged.collect();
        let told = judged.iter().filter(|judged| judged.verdict != Verdict::NotConcerned);
        conclusions.extend(told.map(|judged| Conclusion::Judged(judged)));
        if !(conclusions.is_empty() && judged.is_empty()) {
            all.push(Concluded { rule, all: conclusions });
        }
    }
    all
}

impl<'p> Here<'p> {
    fn new(outcome: &Outcome, place: &'p Place) -> Self {
        let mut headed = FxHashSet::default();
        let elsewhere = outcome.elsewhere.iter().map(|(_, graph)| graph);
        for graph in std::iter::once(&outcome.graph).chain(elsewhere) {
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
        }
        Here { place, headed }
    }

    fn is_headed(&self, unit: &str, address: &str) -> bool {
        !self.headed.is_empty() && self.headed.contains(&(unit.to_owned(), address.to_owned()))
    }

    fn has(&self, rule: &Rule, found: &Diagnostic) -> bool {
        let subject = &found.subject;
        found.rule == rule.id
            && (self.is_headed(&subject.unit, &subject.address)
                || found.labels().iter().any(|label| self.place.covers(label.span)))
    }

    fn rests_on(&self, rule: &Rule, judged: &Judgement) -> bool {
        let subject = &judged.subject;
        judged.rule == rule.id
            && (self.is_headed(&subject.unit, &subject.address)
                || judged.read.iter().any(|span| self.place.covers(*span)))
    }
}
