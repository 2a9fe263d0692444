//! Merges the statements about one attribute into one finding. Statements with the same words apply if any of their
//! conditions holds, and the worst of the remaining ones is kept.
//!
//! Example: on one attribute a rule states "a" when `dev`, "b" (the worst) when `prod`, and "a" when `test`. The result
//! is "b" when `prod`, with a label "only if `dev` or `test`: " and that of "a".

use super::Statement;
use crate::diagnostic::{Diagnostic, Label, Severity, Subject};
use crate::graph::{Condition, UnitId};
use crate::rules::shared::trace::JudgedResource;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::cmp::Reverse;
use std::sync::Arc;

/// Index of a statement, and the part of its condition that no other rule has taken over.
pub(super) type RemainingStatement = (usize, Condition);

/// Returns the findings for the statements in `kept`, in the order in which their attributes first occur.
pub(super) fn findings(statements: Vec<Statement>, kept: Vec<RemainingStatement>) -> Vec<Diagnostic> {
    let attributes = by_attribute(&statements, kept);
    let mut statements: Vec<Option<Statement>> = statements.into_iter().map(Some).collect();
    let mut take = |at: usize| statements.get_mut(at).and_then(Option::take);
    let findings = attributes.into_iter().filter_map(|groups| {
        let groups = groups
            .into_iter()
            .filter_map(|group| StatementGroup::of(group, &mut take));
        worst(groups.collect())
    });
    findings.collect()
}

/// Returns the indexes of statements in `kept` whose finding needs two entangled variables, with the names of those.
///
/// A resource's own guard may consist of such variables (`var.names != null && length(var.names) > 0`). Its author
/// expects the resource to exist, so a finding that applies whenever it exists is made.
pub(super) fn entangled(statements: &[Statement], kept: &[RemainingStatement]) -> FxHashMap<usize, [Arc<str>; 2]> {
    let mut all = FxHashMap::default();
    if kept.iter().all(|(_, when)| when.entangled().is_none()) {
        return all;
    }
    for group in by_attribute(statements, kept.to_vec()).into_iter().flatten() {
        let needs_guard_only = |(at, when): &RemainingStatement| {
            let statement = statements.get(*at);
            statement.is_some_and(|statement| statement.is_guard_only && statement.when == *when)
        };
        if group.iter().any(needs_guard_only) {
            continue;
        }
        // Statements with equal text are one finding, which may need neither variable.
        let when = group.iter().fold(Condition::never(), |all, (_, when)| all.or(when));
        if let Some(questions) = when.entangled() {
            all.extend(group.iter().map(|(at, _)| (*at, questions.clone())));
        }
    }
    all
}

/// Groups the statements by attribute, and within an attribute by severity and headline.
fn by_attribute(statements: &[Statement], kept: Vec<RemainingStatement>) -> Vec<Vec<Vec<RemainingStatement>>> {
    let mut all: Vec<Vec<Vec<RemainingStatement>>> = Vec::new();
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

/// Statements about one attribute with the same words.
struct StatementGroup {
    about: JudgedResource,
    when: Condition,
    joined: MergedFinding,
    weight: i64,
}

impl StatementGroup {
    fn of(kept: Vec<RemainingStatement>, take: &mut impl FnMut(usize) -> Option<Statement>) -> Option<Self> {
        let mut kept = kept.into_iter().filter_map(|(at, when)| Some((take(at)?, when)));
        let (first, when) = kept.next()?;
        let mut group = StatementGroup {
            about: first.about,
            when,
            joined: MergedFinding::new(first.diagnostic),
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

/// Finding into which others are merged. A thousand mappings of one queue have a thousand labels, so a set of those
/// already shown avoids comparing each with all others.
struct MergedFinding {
    diagnostic: Diagnostic,
    /// Labels already shown; empty until another finding is merged.
    shown: FxHashSet<(Span, Arc<str>)>,
}

impl MergedFinding {
    fn new(diagnostic: Diagnostic) -> Self {
        MergedFinding {
            diagnostic,
            shown: FxHashSet::default(),
        }
    }

    /// Adds the labels of `other` except the primary one.
    fn join(&mut self, other: &Diagnostic) {
        for label in other.labels().get(1..).unwrap_or_default() {
            self.show(label.span, label.message.clone());
        }
    }

    fn show(&mut self, span: Span, message: Arc<str>) {
        if self.shown.is_empty() {
            let labels = self.diagnostic.labels().iter();
            self.shown = labels.map(|label| (label.span, label.message.clone())).collect();
        }
        if self.shown.insert((span, message.clone())) {
            self.diagnostic.add_label(span, message);
        }
    }
}

/// Returns the worst group's finding, the first among equals, with the labels of the others. A finding that applies
/// under a different condition also gets a label at its own span.
fn worst(mut groups: Vec<StatementGroup>) -> Option<Diagnostic> {
    groups.sort_by_key(|group| {
        let found = &group.joined.diagnostic;
        // A finding of the default set must not be lost in one that only pedantic rules show.
        Reverse((found.severity, !found.is_pedantic, group.weight))
    });
    let mut said = groups.into_iter().map(|group| {
        let mut joined = group.joined;
        joined.diagnostic.when = group.about.when(&group.when);
        joined
    });
    let mut worst = said.next()?;
    for MergedFinding { diagnostic: other, .. } in said {
        if let Some(when) = other.when.as_ref().filter(|_| other.when != worst.diagnostic.when) {
            // The same words at the same line need no second condition.
            let Label { span, message, .. } = other.primary();
            if !worst
                .diagnostic
                .labels()
                .iter()
                .any(|known| (known.span, &known.message) == (*span, message))
            {
                worst.show(*span, format!("only if {when}: {message}").into());
            }
        }
        worst.join(&other);
    }
    Some(worst.diagnostic)
}
