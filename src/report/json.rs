//! Writes a JSON object, version 1, whose shape does not depend on the outcome. Fields may be added, but are never
//! removed.

use super::Report;
use super::json_text::{Each, write_pretty};
use super::timeline::ShownTimeline;
use crate::diagnostic::{Diagnostic, Edit, Gap, Harm, Label, NotEvaluated, Severity, Silencer, Suppressed};
use serde::Serialize;
use source::{Sources, Span};
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<'a, F: Serialize, S: Serialize, U: Serialize, N: Serialize> {
    version: u32,
    tool: Tool,
    summary: Summary,
    findings: F,
    suppressed: S,
    unjudged: U,
    not_evaluated: N,
    errors: &'a [String],
}

#[derive(Serialize)]
pub(super) struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
pub(super) struct Summary {
    errors: usize,
    warnings: usize,
    infos: usize,
    modules: usize,
    templates: usize,
    stacks: usize,
    services: usize,
    plans: usize,
    states: usize,
    snapshots: usize,
    queues: JudgedCount,
    mappings: JudgedCount,
    handlers: JudgedCount,
    not_fully_judged: usize,
}

/// Lines and columns are counted from 1, ends are exclusive, columns are in Unicode scalar values, offsets in bytes.
#[derive(Serialize)]
struct JsonSpan {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    offset: u32,
    end_offset: u32,
}

#[derive(Serialize)]
pub(super) struct Finding<'a> {
    rule: &'a str,
    severity: &'static str,
    message: &'a str,
    #[serde(flatten)]
    place: JsonSpan,
    unit: &'a str,
    address: &'a str,
    attribute: Option<&'a str>,
    labels: Vec<ShownLabel<'a>>,
    calculation: Option<&'a str>,
    help: Option<&'a str>,
    when: Option<&'a str>,
    calls: Vec<String>,
    fix: Option<ShownFix<'a>>,
    edits: Vec<ShownEdit<'a>>,
    timeline: Option<ShownTimeline>,
    harm: Option<&'static str>,
    fingerprint: String,
}

/// Combined effect of the edits.
#[derive(Serialize)]
struct ShownFix<'a> {
    title: &'a str,
    safety: &'static str,
}

#[derive(Serialize)]
struct ShownEdit<'a> {
    #[serde(flatten)]
    place: JsonSpan,
    text: &'a str,
}

/// Suppressed or known finding. Exactly one of the last three fields gives the cause.
#[derive(Serialize)]
pub(super) struct SuppressedFinding<'a> {
    #[serde(flatten)]
    finding: Finding<'a>,
    reason: Option<&'a str>,
    suppression: Option<JsonSpan>,
    baseline: Option<String>,
    since: Option<&'a str>,
}

#[derive(Serialize)]
struct ShownLabel<'a> {
    #[serde(flatten)]
    place: JsonSpan,
    message: &'a str,
    primary: bool,
}

#[derive(Serialize)]
pub(super) struct UnjudgedResource<'a> {
    rule: &'a str,
    unit: &'a str,
    address: &'a str,
    reason: &'a str,
    cause: &'static str,
    #[serde(flatten)]
    place: JsonSpan,
}

/// A queue or mapping that is not judged.
#[derive(Serialize)]
pub(super) struct ShownGap<'a> {
    kind: &'static str,
    unit: &'a str,
    address: &'a str,
    reason: &'a str,
    cause: &'static str,
    #[serde(flatten)]
    place: JsonSpan,
}

pub(super) fn gap<'a>(gap: &'a Gap, sources: &Sources) -> ShownGap<'a> {
    ShownGap {
        kind: if gap.is_mapping {
            "event_source_mapping"
        } else {
            "queue"
        },
        unit: &gap.subject.unit,
        address: &gap.subject.address,
        reason: &gap.reason,
        cause: gap.cause,
        place: place(gap.span, sources),
    }
}

/// Number of resources of one kind, and how many of them are judged.
#[derive(Serialize)]
pub(super) struct JudgedCount {
    count: usize,
    judged: usize,
}

/// Version of the document and of the records of `json-lines`.
pub(super) const VERSION: u32 = 1;

/// Writes the whole report as one object.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let sources = report.sources;
    let document = Document {
        version: VERSION,
        tool: tool(),
        summary: summary(report),
        findings: Each(|| report.findings.iter().map(|found| finding(found, sources))),
        suppressed: Each(|| report.suppressed.iter().map(|one| suppressed(one, sources))),
        unjudged: Each(|| report.coverage.gaps.iter().map(|one| gap(one, sources))),
        not_evaluated: Each(|| report.not_evaluated.iter().map(|entry| unjudged(entry, sources))),
        errors: report.errors,
    };
    write_pretty(out, &document)
}

pub(super) fn tool() -> Tool {
    Tool {
        name: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
    }
}

pub(super) fn summary(report: &Report<'_>) -> Summary {
    Summary {
        errors: report.count(Severity::Error),
        warnings: report.count(Severity::Warning),
        infos: report.count(Severity::Info),
        modules: report.units.modules,
        templates: report.units.templates,
        stacks: report.units.stacks,
        services: report.units.services,
        plans: report.units.plans,
        states: report.units.states,
        snapshots: report.units.snapshots,
        queues: JudgedCount {
            count: report.coverage.queues,
            judged: report.coverage.judged_queues(),
        },
        mappings: JudgedCount {
            count: report.coverage.mappings,
            judged: report.coverage.judged_mappings(),
        },
        handlers: JudgedCount {
            count: report.coverage.handlers.len(),
            judged: report.coverage.read_handlers(),
        },
        not_fully_judged: super::summary::open_resources(report.not_evaluated),
    }
}

pub(super) fn finding<'a>(found: &'a Diagnostic, sources: &Sources) -> Finding<'a> {
    Finding {
        rule: &found.rule,
        severity: found.severity.name(),
        message: &found.headline,
        place: place(found.primary().span, sources),
        unit: &found.subject.unit,
        address: &found.subject.address,
        attribute: Some(found.subject.attribute).filter(|name| !name.is_empty()),
        labels: found.labels().iter().map(|label| shown(label, sources)).collect(),
        calculation: found.calculation.as_deref(),
        help: found.help.as_deref(),
        when: found.when.as_deref(),
        calls: found.instances(str::to_owned),
        fix: found.fix.as_deref().map(|fix| ShownFix {
            title: &fix.title,
            safety: fix.safety.name(),
        }),
        edits: found
            .fix
            .iter()
            .flat_map(|fix| &fix.edits)
            .map(|edit| shown_edit(edit, sources))
            .collect(),
        timeline: found.timeline().map(ShownTimeline::from),
        harm: found.harm().map(Harm::name),
        fingerprint: found.fingerprint(),
    }
}

pub(super) fn suppressed<'a>(one: &'a Suppressed, sources: &Sources) -> SuppressedFinding<'a> {
    let mut silenced = SuppressedFinding {
        finding: finding(&one.finding, sources),
        reason: one.reason.as_deref(),
        suppression: None,
        baseline: None,
        since: None,
    };
    match &one.by {
        Silencer::Suppression(span) => silenced.suppression = Some(place(*span, sources)),
        Silencer::Baseline(file) => silenced.baseline = Some(sources.name_of(file)),
        Silencer::Since(name) => silenced.since = Some(name),
    }
    silenced
}

fn shown_edit<'a>(edit: &'a Edit, sources: &Sources) -> ShownEdit<'a> {
    ShownEdit {
        place: place(edit.span, sources),
        text: &edit.text,
    }
}

fn shown<'a>(label: &'a Label, sources: &Sources) -> ShownLabel<'a> {
    ShownLabel {
        place: place(label.span, sources),
        message: &label.message,
        primary: label.primary,
    }
}

pub(super) fn unjudged<'a>(entry: &'a NotEvaluated, sources: &Sources) -> UnjudgedResource<'a> {
    UnjudgedResource {
        rule: &entry.rule,
        unit: &entry.subject.unit,
        address: &entry.subject.address,
        reason: &entry.reason,
        cause: entry.cause,
        place: place(entry.span, sources),
    }
}

fn place(span: Span, sources: &Sources) -> JsonSpan {
    let file = sources.file(span.file);
    let (start, end) = (file.position(span.start as usize), file.position(span.end as usize));
    JsonSpan {
        file: file.name().to_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        offset: span.start,
        end_offset: span.end,
    }
}
