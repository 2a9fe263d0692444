//! Writes the last lines of a run: the unjudged resources with reasons, and the number of findings.

use super::{JudgedCount, Report, Units, counted, printable};
use crate::diagnostic::{NotEvaluated, Safety, Severity, Silencer, Suppressed};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io;

/// Maximum number of reasons that a line lists.
const REASONS: usize = 3;

/// Returns the lines that end a run: the judged share, unless it is complete, and the number of findings.
pub fn lines(report: &Report<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(judged) = judged(report) {
        lines.push(format!("sqslint: {judged}"));
        lines.extend(unjudged(report).into_iter().map(|line| format!("  {line}")));
    }
    lines.push(format!("sqslint: {}", found(report)));
    lines
}

/// Formats the number of findings: `2 errors, 1 warning in 4 modules and 2 templates`.
pub(super) fn found(report: &Report<'_>) -> String {
    let mut line = match units(report.units) {
        None => format!("{}: there was nothing to check", findings(report)),
        Some(units) => format!("{} in {units}", findings(report)),
    };
    let written = |one: &&Suppressed| matches!(one.by, Silencer::Suppression(_));
    let fixable = |safety: Safety| {
        let fixes = report.findings.iter().filter_map(|found| found.fix.as_deref());
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
    for note in &report.units.notes {
        let _ = write!(line, "; {}", printable(note));
    }
    line
}

/// Formats the judged share: `judged 5 of 7 queues and 3 of 4 mappings`. Returns `None` if it is complete.
pub(super) fn judged(report: &Report<'_>) -> Option<String> {
    if report.not_evaluated.is_empty() {
        return None;
    }
    let kinds = [(report.units.queues, "queue"), (report.units.mappings, "mapping")];
    let kinds = kinds.into_iter().filter(|(judged, _)| judged.all > 0);
    let parts: Vec<String> = kinds
        .map(|(JudgedCount { all, judged }, kind)| format!("{judged} of {}", counted(all, kind)))
        .collect();
    Some(if parts.is_empty() {
        format!(
            "{} not fully judged",
            counted(open_resources(report.not_evaluated), "resource")
        )
    } else {
        format!("judged {}", parts.join(" and "))
    })
}

/// Formats one line per cause of unjudged resources with advice, most frequent first.
pub(super) fn unjudged(report: &Report<'_>) -> Vec<String> {
    let causes = by_cause(report).into_iter();
    let lines = causes.map(|(count, cause, entries)| {
        let advice = advice(cause, report.units);
        format!("{}: {}{advice}", counted(count, "resource"), reasons(&entries))
    });
    lines.collect()
}

/// Returns the causes, most frequent first, each with the number of resources that it leaves unjudged.
fn by_cause<'e>(report: &Report<'e>) -> Vec<(usize, &'e str, Vec<&'e NotEvaluated>)> {
    let mut by_cause: BTreeMap<&str, Vec<&NotEvaluated>> = BTreeMap::new();
    for entry in report.not_evaluated {
        by_cause.entry(entry.cause).or_default().push(entry);
    }
    let mut ranked: Vec<_> = by_cause
        .into_iter()
        .map(|(cause, entries)| (open_resources(entries.iter().copied()), cause, entries))
        .collect();
    ranked.sort_by_key(|(count, cause, _)| (std::cmp::Reverse(*count), *cause));
    ranked
}

/// Formats the advice on a cause, in parentheses, if there is any.
fn advice(cause: &str, units: &Units) -> String {
    let advice = ADVICE.iter().find(|(of, _)| *of == cause);
    // Only Terraform has plans and fetches modules. Templates have these causes because of custom resources and nested
    // stacks.
    let is_of_terraform = matches!(cause, "known-after-apply" | "module-not-here");
    let advice = advice.filter(|_| !is_of_terraform || units.modules > 0);
    advice.map_or_else(String::new, |(_, advice)| format!(" ({advice})"))
}

/// Advice on causes.
const ADVICE: [(&str, &str); 4] = [
    (
        "input-without-value",
        "`--var`, `--var-file` or `--parameters` gives a value",
    ),
    (
        "known-after-apply",
        "a plan may know: check the output of `terraform show -json`",
    ),
    ("module-not-here", "`terraform init` fetches modules"),
    ("not-read", "fix what cannot be read"),
];

/// Writes all unjudged resources by cause and by reason, one per line with the rules that could not judge it.
pub fn write_not_evaluated(report: &Report<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    for (count, cause, entries) in by_cause(report) {
        writeln!(
            out,
            "not judged: {}, {cause}{}",
            counted(count, "resource"),
            advice(cause, report.units)
        )?;
        let mut by_reason: BTreeMap<&str, BTreeMap<(String, u32, u32, &str), BTreeSet<&str>>> = BTreeMap::new();
        for entry in entries {
            let file = report.sources.file(entry.span.file);
            let at = file.position(entry.span.start as usize);
            let place = (printable(file.shown()), at.line, at.column, &*entry.subject.address);
            let places = by_reason.entry(&entry.reason).or_default();
            places.entry(place).or_default().insert(&entry.rule);
        }
        for (reason, places) in by_reason {
            writeln!(out, "  {}", printable(reason))?;
            for ((file, line, column, address), rules) in places {
                let rules: Vec<&str> = rules.into_iter().collect();
                let rules = rules.join(", ");
                writeln!(out, "    {file}:{line}:{column}: `{}`: {rules}", printable(address))?;
            }
        }
    }
    Ok(())
}

/// Counts the resources that some rule could not judge. It counts resources rather than rules, so that a new rule does
/// not change the result.
pub(super) fn open_resources<'e>(entries: impl IntoIterator<Item = &'e NotEvaluated>) -> usize {
    let resources: BTreeSet<_> = entries.into_iter().map(resource).collect();
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

/// Formats the numbers of units: `4 modules and 2 templates`. Returns `None` if there are no units.
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

/// Lists the reasons, sorted by the number of resources that they leave unjudged, most frequent first.
fn reasons(entries: &[&NotEvaluated]) -> String {
    let mut by_reason: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for entry in entries {
        by_reason.entry(&entry.reason).or_default().insert(resource(entry));
    }
    let mut ranked: Vec<_> = by_reason.into_iter().map(|(reason, of)| (of.len(), reason)).collect();
    ranked.sort_by_key(|&(count, reason)| (std::cmp::Reverse(count), reason));
    let mut named: Vec<String> = ranked
        .iter()
        .take(REASONS)
        .map(|(_, reason)| printable(reason))
        .collect();
    if ranked.len() > REASONS {
        named.push(format!("and {} more", ranked.len() - REASONS));
    }
    named.join("; ")
}
