//! The last line of a run: what was found in how much, and what could not be judged.

use super::{Report, Units, counted, printable};
use crate::diagnostic::{NotEvaluated, Safety, Severity, Silencer, Suppressed};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io;

/// The number of causes that the line names before it counts the rest.
const CAUSES: usize = 3;

/// One line without a line break: `sqslint: 2 errors, 1 warning in 4 modules and 2 templates; …`.
pub fn render(report: &Report<'_>) -> String {
    let mut line = match units(report.units) {
        None => format!("sqslint: {}: there was nothing to check", findings(report)),
        Some(units) => format!("sqslint: {} in {units}", findings(report)),
    };
    let written = |one: &&Suppressed| matches!(one.by, Silencer::Suppression(_));
    let fixable = |safety: Safety| {
        let fixes = report.findings.iter().filter_map(|found| found.fix.as_ref());
        fixes.filter(|fix| fix.safety == safety).count()
    };
    let counts = [
        (report.suppressed.iter().filter(written).count(), "suppressed"),
        (fixable(Safety::Safe), "fixable"),
        (fixable(Safety::Unsafe), "fixable with `--unsafe-fixes`"),
    ];
    let counts = counts.into_iter().filter(|&(count, _)| count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    if !counts.is_empty() {
        let _ = write!(line, " ({})", counts.join(", "));
    }
    let open = open_resources(report.not_evaluated);
    if open > 0 {
        let causes = causes(report.not_evaluated);
        let _ = write!(line, "; {} not fully judged: {causes}", counted(open, "resource"));
    }
    for note in &report.units.notes {
        let _ = write!(line, "; {}", printable(note));
    }
    line
}

/// Every open question with its place, one line each.
pub fn write_not_evaluated(report: &Report<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    for entry in report.not_evaluated {
        let file = report.sources.file(entry.span.file);
        let at = file.position(entry.span.start as usize);
        writeln!(
            out,
            "{}:{}:{}: not evaluated[{}] `{}`: {}",
            printable(file.shown()),
            at.line,
            at.column,
            entry.rule,
            printable(&entry.subject.address),
            printable(&entry.reason)
        )?;
    }
    Ok(())
}

/// The number of resources that some rule could not judge: resources, not rules, so that a new rule does not move it.
pub(super) fn open_resources(entries: &[NotEvaluated]) -> usize {
    let resources: BTreeSet<_> = entries.iter().map(resource).collect();
    resources.len()
}

fn resource(entry: &NotEvaluated) -> (&str, &str) {
    (&entry.subject.unit, &entry.subject.address)
}

fn findings(report: &Report<'_>) -> String {
    let kinds = [
        (Severity::Error, "error"),
        (Severity::Warning, "warning"),
        (Severity::Info, "info"),
    ];
    let parts: Vec<String> = kinds
        .into_iter()
        .map(|(severity, name)| (report.count(severity), name))
        .filter(|&(count, _)| count > 0)
        .map(|(count, name)| counted(count, name))
        .collect();
    if parts.is_empty() {
        "no findings".to_owned()
    } else {
        parts.join(", ")
    }
}

/// `4 modules and 2 templates`; `None` where nothing was read.
fn units(units: &Units) -> Option<String> {
    let kinds = [
        (units.modules, "module"),
        (units.templates, "template"),
        (units.stacks, "stack"),
        (units.services, "service"),
        (units.plans, "plan"),
        (units.states, "state"),
    ];
    let parts: Vec<String> = kinds
        .into_iter()
        .filter(|&(count, _)| count > 0)
        .map(|(count, name)| counted(count, name))
        .collect();
    match parts.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}

/// The reasons by the number of resources they keep open, the commonest first.
fn causes(entries: &[NotEvaluated]) -> String {
    let mut by_reason: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for entry in entries {
        by_reason.entry(&entry.reason).or_default().insert(resource(entry));
    }
    let mut ranked: Vec<_> = by_reason.into_iter().map(|(reason, of)| (of.len(), reason)).collect();
    ranked.sort_by_key(|&(count, reason)| (std::cmp::Reverse(count), reason));
    let mut named: Vec<String> = ranked
        .iter()
        .take(CAUSES)
        .map(|(_, reason)| printable(reason))
        .collect();
    if ranked.len() > CAUSES {
        named.push(format!("and {} more", ranked.len() - CAUSES));
    }
    named.join("; ")
}
