//! What is found in several environments is one finding that says in which it holds, unless that is all of them.

use crate::diagnostic::{Diagnostic, RuleId, Subject};
use crate::history::Held;
use crate::rules::{Judgement, Verdict};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether two environments say the same of one subject.
fn says_the_same(one: &Diagnostic, other: &Diagnostic) -> bool {
    fn said(found: &Diagnostic) -> impl PartialEq + '_ {
        let text = (&found.headline, &found.calculation, &found.help, &found.when);
        (&found.rule, &found.subject, found.severity, found.primary().span, text)
    }
    said(one) == said(other)
}

/// The findings of environments, each with the names of those that it holds in.
pub(super) fn held_of(found: Vec<(Option<String>, Vec<Diagnostic>)>) -> Vec<Held> {
    let mut found = found.into_iter();
    let Some((first, findings)) = found.next() else {
        return Vec::new();
    };
    let mut held = named(findings, first.as_ref());
    if found.len() == 0 {
        return held;
    }
    let place = |found: &Diagnostic| (found.rule.clone(), found.subject.clone(), found.primary().span);
    let mut places: FxHashMap<(RuleId, Subject, Span), Vec<usize>> = FxHashMap::default();
    for (at, (found, _)) in held.iter().enumerate() {
        places.entry(place(found)).or_default().push(at);
    }
    for (name, next) in found {
        for (found, names) in named(next, name.as_ref()) {
            let there = places.entry(place(&found)).or_default();
            let same = |at: &&usize| held.get(**at).is_some_and(|(known, _)| says_the_same(known, &found));
            let same = there.iter().find(same).copied();
            if let Some((known, environments)) = same.and_then(|at| held.get_mut(at)) {
                environments.extend(names);
                // The same number may come from another file there.
                known.add_labels(found.labels());
                known.keep_remedy_of(&found);
            } else {
                there.push(held.len());
                held.push((found, names));
            }
        }
    }
    held
}

/// Adds the judgements of one environment; what is judged alike in several is one that names them.
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

/// How many environments a unit is judged in.
#[derive(Debug)]
pub(super) struct Counts {
    /// Those of every unit.
    common: usize,
    /// Those of single ones besides.
    own: FxHashMap<String, usize>,
}

impl Counts {
    /// Of environments with the units that have them; all have one where that is not said.
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

    /// Of `unit`.
    pub(super) fn get(&self, unit: &str) -> usize {
        self.common + self.own.get(unit).copied().unwrap_or_default()
    }

    /// Whether `unit` has environments of its own.
    pub(super) fn has_own(&self, unit: &str) -> bool {
        self.own.contains_key(unit)
    }

    /// `found`, which says in which environments it holds, unless that is all of them.
    pub(super) fn place(&self, (found, names): Held) -> Diagnostic {
        let count = self.get(&found.subject.unit);
        if count > 1 && names.len() < count {
            found.in_environments(&names)
        } else {
            found
        }
    }

    /// The findings of environments: one that does not hold in all says in which.
    pub(super) fn place_all(&self, found: Vec<(Option<String>, Vec<Diagnostic>)>) -> Vec<Diagnostic> {
        held_of(found).into_iter().map(|held| self.place(held)).collect()
    }
}

fn named(findings: Vec<Diagnostic>, environment: Option<&String>) -> Vec<Held> {
    let names: Vec<String> = environment.into_iter().cloned().collect();
    findings.into_iter().map(|found| (found, names.clone())).collect()
}
