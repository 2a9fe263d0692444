//! Merges equal findings of several environments into one, which names its environments unless it occurs in all.

use crate::diagnostic::{Diagnostic, RuleId, Subject};
use crate::history::FindingInEnvironments;
use crate::rules::{Judgement, Verdict};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

/// Returns `true` if two environments have the same finding.
fn is_same_finding(one: &Diagnostic, other: &Diagnostic) -> bool {
    fn comparable(found: &Diagnostic) -> impl PartialEq + '_ {
        let text = (&found.headline, &found.calculation, &found.help, &found.when);
        (&found.rule, &found.subject, found.severity, found.primary().span, text)
    }
    comparable(one) == comparable(other)
}

/// Merges the findings of environments, each with the names of the environments that it occurs in.
pub(super) fn merge_environments(found: Vec<(Option<String>, Vec<Diagnostic>)>) -> Vec<FindingInEnvironments> {
    let mut found = found.into_iter();
    let Some((first, findings)) = found.next() else {
        return Vec::new();
    };
    let mut located = named(findings, first.as_ref());
    if found.len() == 0 {
        return located;
    }
    let place = |found: &Diagnostic| (found.rule.clone(), found.subject.clone(), found.primary().span);
    let mut places: FxHashMap<(RuleId, Subject, Span), Vec<usize>> = FxHashMap::default();
    for (at, (found, _)) in located.iter().enumerate() {
        places.entry(place(found)).or_default().push(at);
    }
    for (name, next) in found {
        for (found, names) in named(next, name.as_ref()) {
            let there = places.entry(place(&found)).or_default();
            let same = |at: &&usize| {
                located
                    .get(**at)
                    .is_some_and(|(known, _)| is_same_finding(known, &found))
            };
            let same = there.iter().find(same).copied();
            if let Some((known, environments)) = same.and_then(|at| located.get_mut(at)) {
                environments.extend(names);
                // The same number may come from another file in that environment.
                known.add_labels(found.labels());
                known.keep_remedy_of(&found);
            } else {
                there.push(located.len());
                located.push((found, names));
            }
        }
    }
    located
}

/// Adds the judgements of one environment. Equal judgements are merged into one that names the environments.
pub(super) fn keep_judgements(known: &mut Vec<Judgement>, judgements: Vec<Judgement>, environment: Option<&String>) {
    let mut places: FxHashMap<(RuleId, Subject, Verdict, Option<String>), usize> = FxHashMap::default();
    let key = |one: &Judgement| {
        (
            one.rule.clone(),
            one.subject.clone(),
            one.verdict.clone(),
            one.when.clone(),
        )
    };
    places.extend(known.iter().enumerate().map(|(at, one)| (key(one), at)));
    for mut judgement in judgements {
        let before = places.get(&key(&judgement)).and_then(|&at| known.get_mut(at));
        if let Some(before) = before {
            before.read.extend(judgement.read);
            before.environments.extend(environment.cloned());
        } else {
            judgement.environments.extend(environment.cloned());
            known.push(judgement);
        }
    }
}

/// Number of environments in which each unit is checked.
#[derive(Debug)]
pub(super) struct Counts {
    /// Number of environments shared by all units.
    common: usize,
    /// Number of additional environments of individual units.
    own: FxHashMap<String, usize>,
}

impl Counts {
    /// Counts environments by the units that they apply to; `None` for all units.
    pub(super) fn of<'e>(environments: impl Iterator<Item = Option<&'e FxHashSet<String>>>) -> Self {
        let mut counts = Counts {
            common: 0,
            own: FxHashMap::default(),
        };
        for units in environments {
            match units {
                None => counts.common += 1,
                Some(units) => units
                    .iter()
                    .for_each(|unit| *counts.own.entry(unit.clone()).or_default() += 1),
            }
        }
        counts
    }

    /// Returns the number of environments of `unit`.
    pub(super) fn get(&self, unit: &str) -> usize {
        self.common + self.own.get(unit).copied().unwrap_or_default()
    }

    /// Returns `true` if `unit` has environments of its own.
    pub(super) fn has_own(&self, unit: &str) -> bool {
        self.own.contains_key(unit)
    }

    /// Adds the names of its environments to a finding, unless it occurs in all of them.
    pub(super) fn name_environments(&self, (found, names): FindingInEnvironments) -> Diagnostic {
        let count = self.get(&found.subject.unit);
        if count > 1 && names.len() < count {
            found.in_environments(&names)
        } else {
            found
        }
    }

    /// Merges the findings of environments, and names the environments of those that do not occur in all.
    pub(super) fn merge_and_name(&self, found: Vec<(Option<String>, Vec<Diagnostic>)>) -> Vec<Diagnostic> {
        merge_environments(found)
            .into_iter()
            .map(|located| self.name_environments(located))
            .collect()
    }
}

fn named(findings: Vec<Diagnostic>, environment: Option<&String>) -> Vec<FindingInEnvironments> {
    let names: Vec<String> = environment.into_iter().cloned().collect();
    findings.into_iter().map(|found| (found, names.clone())).collect()
}
