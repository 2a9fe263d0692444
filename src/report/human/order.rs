//! Sorts and groups findings, and counts them by rule.

use crate::diagnostic::{Diagnostic, Harm, Safety, Severity};
use crate::report::printable;
use crate::rules::RULES;
use std::fmt::Write;

/// Findings of one rule with the same cause.
pub(super) struct Group<'f> {
    /// Finding to draw.
    pub(super) first: &'f Diagnostic,
    /// Findings to list.
    pub(super) others: Vec<&'f Diagnostic>,
}

impl<'f> Group<'f> {
    pub(super) fn all(&self) -> impl Iterator<Item = &'f Diagnostic> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }
}

/// Groups findings with the same cause, sorted by severity, by rule in the order of the catalogue, which starts with
/// the most costly, by the harm that their timelines show, and by position.
pub(super) fn groups<'f>(shown: &[&'f Diagnostic]) -> Vec<Group<'f>> {
    let mut sorted = shown.to_vec();
    sorted.sort_by_cached_key(|found| {
        let severity = std::cmp::Reverse(found.severity);
        let harm = found.harm().map_or(usize::MAX, |harm| harm as usize);
        (severity, rank(&found.rule), found.rule.clone(), harm)
    });
    let mut groups: Vec<Group<'f>> = Vec::new();
    for found in sorted {
        let same = groups.iter_mut().rev();
        let mut same = same.take_while(|group| is_alike(group.first, found));
        match same.find(|group| has_same_cause(group.first, found)) {
            Some(group) => group.others.push(found),
            None => groups.push(Group {
                first: found,
                others: Vec::new(),
            }),
        }
    }
    groups
}

fn rank(rule: &str) -> usize {
    RULES.iter().position(|one| one.id == rule).unwrap_or(usize::MAX)
}

fn is_alike(one: &Diagnostic, other: &Diagnostic) -> bool {
    (&one.rule, one.severity) == (&other.rule, other.severity)
}

/// Returns `true` if both depend on the same location, such as a shared default or an argument of a call, or if they
/// have the same wording and are in one file.
fn has_same_cause(one: &Diagnostic, other: &Diagnostic) -> bool {
    let is_of_one_file = one.primary().span.file == other.primary().span.file;
    let is_equal = one.calculation == other.calculation && one.when == other.when;
    if is_of_one_file && is_equal && has_same_wording(one, other) {
        return true;
    }
    let causes = |found: &'_ Diagnostic| {
        let further = found.labels().iter().filter(|label| !label.primary);
        further.map(|label| label.span).collect::<Vec<_>>()
    };
    let known = causes(one);
    one.calculation == other.calculation && causes(other).iter().any(|cause| known.contains(cause))
}

/// Splits a text into the parts outside of backticks, and those within.
fn parts(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut said, mut names) = (Vec::new(), Vec::new());
    for (at, part) in text.split('`').enumerate() {
        if at.is_multiple_of(2) { &mut said } else { &mut names }.push(part);
    }
    (said, names)
}

/// Returns the text outside of names.
pub(super) fn wording(text: &str) -> Vec<&str> {
    parts(text).0
}

/// Returns `true` if the headlines differ in names only.
fn has_same_wording(one: &Diagnostic, other: &Diagnostic) -> bool {
    wording(&one.headline) == wording(&other.headline)
}

/// Returns the part of `other` that is not in `first`: only the names, if nothing else differs.
pub(super) fn difference(first: &Diagnostic, other: &Diagnostic) -> String {
    let headline = printable(&other.headline);
    if !has_same_wording(first, other) {
        return headline;
    }
    let (known, names) = (parts(&first.headline).1, parts(&other.headline).1);
    let mut differing: Vec<String> = Vec::new();
    for (name, known) in names.into_iter().zip(known) {
        let shown = format!("`{}`", printable(name));
        if name != known && !differing.contains(&shown) {
            differing.push(shown);
        }
    }
    if differing.is_empty() {
        headline
    } else {
        differing.join(", ")
    }
}

/// Formats one line per rule with the number of findings, and how many of them can be fixed.
pub(super) fn table(shown: &[&Diagnostic]) -> String {
    let mut rows: Vec<(&Diagnostic, usize, usize, usize)> = Vec::new();
    let mut sorted = shown.to_vec();
    sorted.sort_by_cached_key(|found| (std::cmp::Reverse(found.severity), rank(&found.rule), found.rule.clone()));
    for found in sorted {
        let is_of = |safety| usize::from(found.fix.as_deref().is_some_and(|fix| fix.safety == safety));
        let (safe, not) = (is_of(Safety::Safe), is_of(Safety::Unsafe));
        match rows.last_mut().filter(|row| is_alike(row.0, found)) {
            Some(row) => *row = (row.0, row.1 + 1, row.2 + safe, row.3 + not),
            None => rows.push((found, 1, safe, not)),
        }
    }
    let longest = rows.iter().map(|row| row.0.rule.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (found, count, safe, not) in rows {
        let fixes: Vec<String> = [(safe, "safe"), (not, "unsafe")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, kind)| format!("{count} {kind}"))
            .collect();
        let fixes = match fixes.as_slice() {
            [] => String::new(),
            all => format!("  fixes: {}", all.join(", ")),
        };
        let severity = match (found.severity, count) {
            (Severity::Error, 1) => "error",
            (Severity::Error, _) => "errors",
            (Severity::Warning, 1) => "warning",
            (Severity::Warning, _) => "warnings",
            (Severity::Info, 1) => "info",
            (Severity::Info, _) => "infos",
        };
        let harm = found.harm().map_or("", Harm::name);
        let row = format!("{count:>5} {severity:<8}  {:<longest$}  {harm:<10}{fixes}", found.rule);
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text + "\n"
}
