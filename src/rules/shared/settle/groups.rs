//! Statements about one attribute become one finding: those in the same words hold where any of them does, and of
//! several the worst speaks.

use super::Statement;
use crate::diagnostic::{Diagnostic, Severity, Subject};
use crate::graph::{Condition, UnitId};
use crate::rules::shared::trace::About;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// The place of a statement, and the condition that is left of its own.
pub(super) type Kept = (usize, Condition);

/// The findings that those of `statements` make that are `kept`, in the order in which attributes were first stated.
pub(super) fn findings(statements: Vec<Statement>, kept: Vec<Kept>) -> Vec<Diagnostic> {
    let attributes = by_attribute(&statements, kept);
    let mut statements: Vec<Option<Statement>> = statements.into_iter().map(Some).collect();
    let mut take = |at: usize| statements.get_mut(at).and_then(Option::take);
    let findings = attributes.into_iter().filter_map(|groups| {
        let groups = groups.into_iter().filter_map(|group| Group::of(group, &mut take));
        worst(groups.collect())
    });
    findings.collect()
}

/// For each attribute what is said of it, put together where it is said in the same words.
fn by_attribute(statements: &[Statement], kept: Vec<Kept>) -> Vec<Vec<Vec<Kept>>> {
    let mut all: Vec<Vec<Vec<Kept>>> = Vec::new();
    let mut attributes: FxHashMap<(UnitId, &Subject), usize> = FxHashMap::default();
    let mut same: FxHashMap<(usize, Severity, &str), usize> = FxHashMap::default();
    for (at, when) in kept {
        let Some(Statement { unit, diagnostic, .. }) = statements.get(at) else {
            continue;
        };
        let attribute = *attributes.entry((*unit, &diagnostic.subject)).or_insert(all.len());
        if attribute == all.len() {
            all.push(Vec::with_capacity(1));
        }
        let Some(groups) = all.get_mut(attribute) else { continue };
        let words = (attribute, diagnostic.severity, diagnostic.headline.as_str());
        let group = *same.entry(words).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.push((at, when)),
            None => groups.push(vec![(at, when)]),
        }
    }
    all
}

/// What is said of one attribute in the same words.
struct Group {
    about: About,
    when: Condition,
    joined: Joined,
    weight: i64,
}

impl Group {
    fn of(kept: Vec<Kept>, take: &mut impl FnMut(usize) -> Option<Statement>) -> Option<Self> {
        let mut kept = kept.into_iter().filter_map(|(at, when)| Some((take(at)?, when)));
        let (first, when) = kept.next()?;
        let mut group = Group {
            about: first.about,
            when,
            joined: Joined::new(first.diagnostic),
            weight: first.weight,
        };
        for (statement, when) in kept {
            group.when = group.when.or(&when);
            group.weight = group.weight.max(statement.weight);
            group.joined.diagnostic.keep_remedy_of(&statement.diagnostic);
            group.joined.join(&statement.diagnostic);
        }
        Some(group)
    }
}

/// A finding that others join, with what it shows by then: a thousand mappings of one queue show a thousand places, and
/// each is looked for once.
struct Joined {
    diagnostic: Diagnostic,
    /// Empty until another one joins.
    shown: FxHashSet<(Span, String)>,
}

impl Joined {
    fn new(diagnostic: Diagnostic) -> Self {
        Joined {
            diagnostic,
            shown: FxHashSet::default(),
        }
    }

    /// Adds what `other` shows besides its primary place.
    fn join(&mut self, other: &Diagnostic) {
        for label in other.labels().get(1..).unwrap_or_default() {
            self.show(label.span, &label.message);
        }
    }

    fn show(&mut self, span: Span, message: &str) {
        if self.shown.is_empty() {
            let labels = self.diagnostic.labels().iter();
            self.shown = labels.map(|label| (label.span, label.message.clone())).collect();
        }
        if self.shown.insert((span, message.to_owned())) {
            self.diagnostic.add_label(span, message);
        }
    }
}

/// The worst of what is said of one attribute, the first said among equals, with the labels of the others; one that
/// holds under another condition is said at its own place.
fn worst(mut groups: Vec<Group>) -> Option<Diagnostic> {
    groups.sort_by_key(|group| Reverse((group.joined.diagnostic.severity, group.weight)));
    let mut said = groups.into_iter().map(|group| {
        let mut joined = group.joined;
        joined.diagnostic.when = group.about.when(&group.when);
        joined
    });
    let mut worst = said.next()?;
    for Joined { diagnostic: other, .. } in said {
        if let Some(when) = other.when.as_ref().filter(|_| other.when != worst.diagnostic.when) {
            let message = format!("when {when}: {}", other.headline);
            worst.show(other.primary().span, &message);
        }
        worst.join(&other);
    }
    Some(worst.diagnostic)
}
