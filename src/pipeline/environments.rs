//! What is found in several environments is one finding that says in which it holds, unless that is all of them.

use crate::diagnostic::{Diagnostic, Subject};
use crate::history::Held;
use crate::rules::{Judgement, Verdict};
use rustc_hash::FxHashMap;

/// Whether two environments say the same of one subject.
fn says_the_same(one: &Diagnostic, other: &Diagnostic) -> bool {
    fn said(found: &Diagnostic) -> impl PartialEq + '_ {
        let text = (&found.headline, &found.calculation, &found.help, &found.when);
        (found.rule, &found.subject, found.severity, found.primary().span, text)
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
    for (name, next) in found {
        for (found, names) in named(next, name.as_ref()) {
            match held.iter_mut().find(|(known, _)| says_the_same(known, &found)) {
                Some((known, environments)) => {
                    environments.extend(names);
                    // The same number may come from another file there.
                    known.add_labels(found.labels());
                    known.keep_remedy_of(&found);
                }
                None => held.push((found, names)),
            }
        }
    }
    held
}

/// Adds the judgements of one environment; what is judged alike in several is one that names them.
pub(super) fn keep_judgements(known: &mut Vec<Judgement>, judgements: Vec<Judgement>, environment: Option<&String>) {
    let mut places: FxHashMap<(&'static str, Subject, Verdict, Option<String>), usize> = FxHashMap::default();
    let key = |one: &Judgement| (one.rule, one.subject.clone(), one.verdict.clone(), one.when.clone());
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

/// `found`, which says in which of `count` environments it holds, unless that is all of them.
pub(super) fn placed((found, names): Held, count: usize) -> Diagnostic {
    if count > 1 && names.len() < count {
        found.in_environments(&names)
    } else {
        found
    }
}

/// The findings of environments, of which there are `count`: one that does not hold in all says in which.
pub(super) fn of_environments(found: Vec<(Option<String>, Vec<Diagnostic>)>, count: usize) -> Vec<Diagnostic> {
    held_of(found).into_iter().map(|held| placed(held, count)).collect()
}

fn named(findings: Vec<Diagnostic>, environment: Option<&String>) -> Vec<Held> {
    let names: Vec<String> = environment.into_iter().cloned().collect();
    findings.into_iter().map(|found| (found, names.clone())).collect()
}
