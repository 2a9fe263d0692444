//! Provides hovers: the output of `sqslint explain FILE:LINE`, or the page of the rule named at the position.

use super::position::Lines;
use super::worker::Worker;
use crate::diagnostic::{Diagnostic, Silencer};
use crate::explain::{ExplainedLocation, explain_outcome};
use crate::pipeline::Outcome;
use crate::rules::{self, Rule};
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind, Position, Range, Uri};
use source::SourceFile;
use std::path::Path;

/// Returns the hover at a position.
pub(super) fn at(worker: &mut Worker, params: &HoverParams) -> Option<Hover> {
    let place = &params.text_document_position_params;
    let (uri, position) = (&place.text_document.uri, place.position);
    let path = worker.path(uri)?;
    if let Some((rule, range)) = rule_at(worker, &path, position) {
        return Some(markdown(beginning(rule), Some(range)));
    }
    let text = explained(worker, &path, position)?;
    Some(markdown(format!("```text\n{}```\n", text.replace("```", "'''")), None))
}

/// Returns the output of `sqslint explain FILE:LINE` as plain text.
pub(super) fn text(worker: &mut Worker, uri: &Uri, position: Position) -> Option<String> {
    let path = worker.path(uri)?;
    explained(worker, &path, position)
}

fn markdown(value: String, range: Option<Range>) -> Hover {
    Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value,
        }),
        range,
    }
}

fn explained(worker: &mut Worker, path: &Path, position: Position) -> Option<String> {
    let encoding = worker.settings.encoding;
    let project = worker.projects.iter_mut().find(|project| project.holds(path))?;
    let outcome = project.take_look(path)?;
    let file = outcome.sources.file(outcome.sources.find(path)?);
    let lines = Lines::of(&file, encoding);
    let offset = lines.offset(position);
    let requested = ExplainedLocation {
        file: path,
        line: file.line_index(offset) + 1,
        column: usize::try_from(file.position(offset).column).ok(),
    };
    let explained = explain_outcome(outcome, requested);
    let has_any = !(explained.resources().is_empty() && explained.conclusions().is_empty());
    let subject = format!("{}:{}", file.shown(), requested.line);
    let suppressed = suppressed(&explained.outcome, &file, requested.line);
    let text = suppressed.or_else(|| has_any.then(|| explained.text(&subject, false)));
    project.give_back(path, explained.outcome);
    text
}

/// Describes the findings that the suppressions on a line hide.
fn suppressed(outcome: &Outcome, file: &SourceFile, line: usize) -> Option<String> {
    let sources = &outcome.sources;
    let stands_here = |by: &Silencer| match by {
        Silencer::Suppression(span) => {
            sources.file(span.file).path() == file.path() && file.line_index(span.start as usize) + 1 == line
        }
        Silencer::Baseline(_) | Silencer::Since(_) => false,
    };
    let here = outcome.suppressed.iter().filter(|one| stands_here(&one.by));
    let reported = here.map(|one| {
        let place = sources.start(one.finding.primary().span).line;
        let reason = one.reason.as_deref().map(|reason| format!("  reason: {reason}\n"));
        let Diagnostic { rule, headline, .. } = &one.finding;
        format!(
            "suppressed[{rule}] on line {place}\n  {headline}\n{}",
            reason.unwrap_or_default()
        )
    });
    let reported: Vec<String> = reported.collect();
    (!reported.is_empty()).then(|| reported.join("\n"))
}

/// Returns the rule named at a position in a suppression or a configuration.
fn rule_at(worker: &Worker, path: &Path, position: Position) -> Option<(&'static Rule<'static>, Range)> {
    let text = &worker.documents.get(path)?.text;
    let lines = Lines::new(text, worker.settings.encoding);
    let offset = lines.offset(position);
    let is_of_name = |c: char| c.is_ascii_lowercase() || c == '-';
    let (before, following) = (text.get(..offset)?, text.get(offset..)?);
    let start = before.trim_end_matches(is_of_name).len();
    let end = offset + (following.len() - following.trim_start_matches(is_of_name).len());
    let rule = rules::by_id(text.get(start..end)?)?;
    Some((rule, lines.range(start..end)))
}

/// Returns the page up to its examples.
fn beginning(rule: &Rule<'_>) -> String {
    let page = rule.page.split("\n## Flagged").next().unwrap_or(rule.page);
    page.trim_end().to_owned() + "\n"
}
