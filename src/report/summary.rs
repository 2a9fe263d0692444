//! Writes the last lines of a run: the unjudged resources with reasons, and the number of findings.

use super::{Report, Units, counted, few, printable};
use crate::diagnostic::{Gap, NotEvaluated, Safety, Severity, Silencer, Step, Suppressed};
use source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io;

/// Maximum number of causes that are listed.
const CAUSES: usize = 5;
/// Maximum number of reasons that a line lists.
const REASONS: usize = 3;
/// Length in bytes up to which a line lists further reasons.
const REASONS_LENGTH: usize = 120;

/// Returns the lines that end a run: the judged share, unless it is complete, and the number of findings.
pub fn lines(report: &Report<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(judged) = judged(report) {
        lines.push(format!("sqslint: {judged}"));
        lines.extend(unjudged(report).into_iter().map(|line| format!("  {line}")));
    }
    lines.extend(unread_handlers(report));
    lines.extend(unread(report).into_iter().map(|line| format!("sqslint: {line}")));
    lines.push(format!("sqslint: {}", found(report)));
    lines
}

/// Formats the number of findings: `2 errors, 1 warning in 4 modules and 2 templates`. Without findings, states what was
/// judged.
pub(super) fn found(report: &Report<'_>) -> String {
    let findings = findings(report);
    let mut line = match units(report.units) {
        None => "no findings: there was nothing to check".to_owned(),
        Some(units) if findings.is_empty() => checked(report, &units),
        Some(units) => format!("{findings} in {units}"),
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
    let notes = &report.units.notes;
    for note in notes.iter().take(REASONS) {
        let _ = write!(line, "; {}", printable(note));
    }
    if notes.len() > REASONS {
        let _ = write!(
            line,
            "; and {} more notes: `--verbose` lists all",
            notes.len() - REASONS
        );
    }
    line
}

/// Formats what was judged without a finding: `9 queues, 7 mappings and 5 handlers judged, no findings`; or why nothing
/// was: `no queues found in 8 modules; 381 module calls were not read, so nothing was checked`.
fn checked(report: &Report<'_>, units: &str) -> String {
    let coverage = report.coverage;
    let judged = [
        (coverage.judged_queues(), "queue"),
        (coverage.judged_mappings(), "mapping"),
        (coverage.read_handlers(), "handler"),
    ];
    let judged = present(judged);
    if !judged.is_empty() {
        return format!("{} judged, no findings", listed(&judged));
    }
    let start = match coverage.queues {
        0 => format!("no queues found in {units}"),
        queues => format!("0 of {} in {units} judged", counted(queues, "queue")),
    };
    let mappings = [(coverage.mappings, "mapping")];
    let unread = [
        (report.units.unread_modules.values().sum(), "module call"),
        (unread_parts(report).len(), "part"),
    ];
    let (unread, mappings) = (present(unread), present(mappings));
    let of = |counts: &[String], verb: &str| {
        let was = match counts {
            [one] if one.starts_with("1 ") => "was",
            _ => "were",
        };
        (!counts.is_empty()).then(|| format!("{} {was} not {verb}", listed(counts)))
    };
    match [of(&unread, "read"), of(&mappings, "judged")]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
    {
        causes if causes.is_empty() => start,
        causes => format!("{start}; {}, so nothing was checked", causes.join(" and ")),
    }
}

/// Formats the counts that are not zero.
fn present<const N: usize>(counts: [(usize, &str); N]) -> Vec<String> {
    let counts = counts.into_iter().filter(|&(count, _)| count > 0);
    counts.map(|(count, what)| counted(count, what)).collect()
}

/// Formats a list: `a, b and c`.
fn listed(all: &[String]) -> String {
    match all {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => all.concat(),
    }
}

/// Formats the judged share: `judged 5 of 7 queues and 2 of 4 mappings, 1 in part`. Returns `None` if it is complete.
pub(super) fn judged(report: &Report<'_>) -> Option<String> {
    let coverage = report.coverage;
    let (in_part, _) = coverage.in_part(report.findings);
    let partly = |is_mapping: bool| in_part.iter().filter(|gap| gap.is_mapping == is_mapping).count();
    let kinds = [
        (coverage.judged_queues(), coverage.queues, "queue", partly(false)),
        (coverage.judged_mappings(), coverage.mappings, "mapping", partly(true)),
    ];
    let kinds = kinds.into_iter().filter(|&(_, all, ..)| all > 0);
    let parts: Vec<String> = kinds
        .map(|(judged, all, kind, partly)| {
            let partly = if partly > 0 {
                format!(", {partly} in part")
            } else {
                String::new()
            };
            format!("{judged} of {}{partly}", counted(all, kind))
        })
        .collect();
    (!coverage.gaps.is_empty()).then(|| format!("judged {}", parts.join(" and ")))
}

/// Formats one line per cause of unjudged queues and mappings with advice, most frequent first.
pub(super) fn unjudged(report: &Report<'_>) -> Vec<String> {
    let mut by_cause: BTreeMap<(&str, Option<Step>), Vec<&Gap>> = BTreeMap::new();
    for gap in &report.coverage.gaps {
        by_cause.entry((gap.cause, gap.step)).or_default().push(gap);
    }
    let mut ranked: Vec<_> = by_cause.into_iter().collect();
    ranked.sort_by_key(|(cause, gaps)| (std::cmp::Reverse(gaps.len()), *cause));
    let further: usize = ranked.iter().skip(CAUSES).map(|(_, gaps)| gaps.len()).sum();
    let mut lines: Vec<String> = ranked
        .iter()
        .take(CAUSES)
        .map(|((_, step), gaps)| unjudged_for(*step, gaps))
        .collect();
    if further > 0 {
        lines.push(format!("and {further} more for other reasons: `--verbose` lists them"));
    }
    lines
}

/// Formats the resources that lack values for one cause, and the change after which the values may be known.
fn unjudged_for(step: Option<Step>, gaps: &[&Gap]) -> String {
    let resources = resources(gaps);
    let advice = match step {
        None => "",
        Some(Step::SetInput) => " (set it with `--var`, `--var-file` or `--parameters`)",
        Some(Step::CheckPlan) => " (a plan may know it: check the output of `terraform show -json`)",
        Some(Step::AddFiles) => " (check its files in the same run)",
        Some(Step::CorrectFile) => " (correct the file)",
        Some(Step::FetchModules) => {
            let modules: BTreeSet<&str> = gaps.iter().map(|gap| &*gap.reason).collect();
            let need = if gaps.len() == 1 { "needs" } else { "need" };
            let (are, them) = if modules.len() == 1 {
                ("is", "it")
            } else {
                ("are", "them")
            };
            let modules = counted(modules.len(), "module");
            return format!(
                "{resources} {need} values of {modules} that {are} not on disk; `terraform init` fetches {them}"
            );
        }
    };
    format!("{resources}: {}{advice}", reasons(gaps))
}

/// Formats the numbers of queues and mappings among `gaps`: `2 queues and 1 mapping`.
fn resources(gaps: &[&Gap]) -> String {
    let mappings = gaps.iter().filter(|gap| gap.is_mapping).count();
    listed(&present([(gaps.len() - mappings, "queue"), (mappings, "mapping")]))
}

/// Lists the reasons, most frequent first, as far as they fit on a line.
fn reasons(gaps: &[&Gap]) -> String {
    let mut by_reason: BTreeMap<&str, usize> = BTreeMap::new();
    for gap in gaps {
        *by_reason.entry(&gap.reason).or_default() += 1;
    }
    let mut ranked: Vec<_> = by_reason.into_iter().collect();
    ranked.sort_by_key(|&(reason, count)| (std::cmp::Reverse(count), reason));
    let mut text = String::new();
    let mut named = 0;
    for (reason, _) in &ranked {
        let reason = printable(reason);
        if named > 0 && (named == REASONS || text.len() + reason.len() > REASONS_LENGTH) {
            break;
        }
        let separator = if named > 0 { "; " } else { "" };
        let _ = write!(text, "{separator}{reason}");
        named += 1;
    }
    if named < ranked.len() {
        let _ = write!(text, "; and {} more", ranked.len() - named);
    }
    text
}

/// Formats the share of handlers that all rules can judge, and the reasons for the others, most frequent first: `read 12
/// of 30 handlers (15: source not found; 3: source not judged)`. Returns `None` if it is complete.
fn unread_handlers(report: &Report<'_>) -> Option<String> {
    let mut by_reason: BTreeMap<&str, usize> = BTreeMap::new();
    for gap in report.coverage.handlers.iter().filter_map(|handler| handler.gap) {
        *by_reason.entry(gap).or_default() += 1;
    }
    let mut ranked: Vec<_> = by_reason.into_iter().collect();
    ranked.sort_by_key(|&(reason, count)| (std::cmp::Reverse(count), reason));
    let reasons: Vec<String> = ranked
        .iter()
        .map(|(reason, count)| format!("{count}: {reason}"))
        .collect();
    (!reasons.is_empty()).then(|| format!("sqslint: {} ({})", handlers_title(report), reasons.join("; ")))
}

/// Formats the share of handlers: `read 12 of 30 handlers`.
fn handlers_title(report: &Report<'_>) -> String {
    let all = counted(report.coverage.handlers.len(), "handler");
    format!("read {} of {all}", report.coverage.read_handlers())
}

/// Lists what was not looked at apart from values: queues without a known consumer, and parts that were not read.
pub(super) fn unread(report: &Report<'_>) -> Vec<String> {
    let calls = |is_local: bool, what: &str, why: &str| {
        let modules = report.units.unread_modules.iter();
        let modules: Vec<_> = modules
            .filter(|(source, _)| source.starts_with('.') == is_local)
            .collect();
        let calls: usize = modules.iter().map(|(_, calls)| *calls).sum();
        let verb = if calls == 1 { "is" } else { "are" };
        let (of, modules) = (counted(calls, "call"), counted(modules.len(), what));
        (calls > 0).then(|| format!("{of} of {modules} {verb} not read ({why})"))
    };
    let away = calls(false, "remote module", "run `terraform init`");
    let missing = calls(true, "local module", "no such directory");
    let parts = unread_parts(report);
    let further = parts.len().saturating_sub(REASONS);
    let further = (further > 0).then(|| {
        let verb = if further == 1 { "is" } else { "are" };
        format!("{further} more {verb} not read: `--verbose` lists all")
    });
    let parts = parts.iter().take(REASONS).map(|part| printable(part));
    let alone = report.coverage.unconsumed.len();
    let alone = (alone > 0).then(|| format!("no consumer known: {}", counted(alone, "queue")));
    let lines = alone.into_iter().chain(away).chain(missing).chain(parts);
    lines.chain(further).collect()
}

/// Returns the other parts that were not read, each with its unit and the reason.
fn unread_parts(report: &Report<'_>) -> BTreeSet<String> {
    let parts = report.not_evaluated.iter().filter(|open| open.is_unread());
    parts
        .map(|open| format!("{}: {}", open.subject.unit, open.reason))
        .collect()
}

/// Writes the notes that the last line leaves out, the queues and mappings that are not judged, the handlers, and what
/// the rules lack, by reason and location.
pub fn write_not_evaluated(report: &Report<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let notes = &report.units.notes;
    if notes.len() > REASONS {
        writeln!(out, "{}", counted(notes.len(), "note"))?;
        notes
            .iter()
            .try_for_each(|note| writeln!(out, "  {}", printable(note)))?;
    }
    let gaps = report.coverage.gaps.iter();
    let gaps = gaps.map(|gap| (&*gap.reason, gap.span, &*gap.subject.address, None));
    write_by_reason("not judged", gaps, report, out)?;
    let alone = report.coverage.unconsumed.iter();
    let alone = alone.map(|one| ("queue", one.header, &*one.address, None));
    write_by_reason("no consumer known", alone, report, out)?;
    let handlers = &report.coverage.handlers;
    let shown = |span: Span| {
        let file = report.sources.file(span.file);
        format!("{}:{}", file.shown(), file.position(span.start as usize).line)
    };
    let texts = handlers.iter().map(|one| match &one.read {
        Ok((name, span)) => {
            let gap = one.gap.map(|gap| format!(": {gap}")).unwrap_or_default();
            format!("`{name}` at {}{gap}", shown(*span))
        }
        Err(reason) => reason.clone(),
    });
    let texts: Vec<String> = texts.collect();
    let entries = texts.iter().zip(handlers);
    let entries = entries.map(|(text, one)| (text.as_str(), one.span, &*one.function.address, None));
    write_by_reason(&handlers_title(report), entries, report, out)?;
    let lacks = report.not_evaluated.iter();
    let lacks = lacks.map(|open| (&*open.reason, open.span, &*open.subject.address, Some(&*open.rule)));
    let rules: BTreeSet<&str> = report.not_evaluated.iter().map(|open| &*open.rule).collect();
    let verb = if rules.len() == 1 { "lacks" } else { "lack" };
    let resources = counted(open_resources(report.not_evaluated), "resource");
    let title = format!("{} {verb} values of {resources}", counted(rules.len(), "rule"));
    write_by_reason(&title, lacks, report, out)
}

/// Writes `title`, and below it each reason with its locations, addresses and rules. Writes nothing without entries.
fn write_by_reason<'e>(
    title: &str,
    entries: impl Iterator<Item = (&'e str, Span, &'e str, Option<&'e str>)>,
    report: &Report<'_>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut by_reason: BTreeMap<&str, BTreeMap<(String, u32, u32, &str), BTreeSet<&str>>> = BTreeMap::new();
    for (reason, span, address, rule) in entries {
        let file = report.sources.file(span.file);
        let at = file.position(span.start as usize);
        let place = (printable(file.shown()), at.line, at.column, address);
        by_reason
            .entry(reason)
            .or_default()
            .entry(place)
            .or_default()
            .extend(rule);
    }
    if !by_reason.is_empty() {
        writeln!(out, "{title}")?;
    }
    for (reason, places) in by_reason {
        writeln!(out, "  {}", printable(reason))?;
        for ((file, line, column, address), rules) in places {
            let rules: Vec<String> = rules.into_iter().map(str::to_owned).collect();
            let rules = if rules.is_empty() {
                String::new()
            } else {
                format!(": {}", few(&rules))
            };
            writeln!(out, "    {file}:{line}:{column}: `{}`{rules}", printable(address))?;
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

/// Formats the numbers of findings by severity; empty without findings.
fn findings(report: &Report<'_>) -> String {
    let kinds = [
        (Severity::Error, "error"),
        (Severity::Warning, "warning"),
        (Severity::Info, "info"),
    ];
    present(kinds.map(|(severity, name)| (report.count(severity), name))).join(", ")
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
        (units.snapshots, "snapshot"),
    ];
    let parts = present(kinds);
    (!parts.is_empty()).then(|| listed(&parts))
}
