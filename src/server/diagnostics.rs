//! Converts findings for the editor.

use super::names::Names;
use super::position::{Encoding, range_of};
use super::settings::Settings;
use crate::config::ConfigError;
use crate::diagnostic::{Diagnostic as Finding, Edit, Severity};
use crate::pipeline::Outcome;
use crate::published::Published;
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location,
    NumberOrString, TextEdit, Uri,
};
use serde_json::json;
use source::{Sources, Span};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

/// Source of diagnostics that editors display.
pub(super) const SOURCE: &str = "sqslint";

/// Diagnostics by file.
pub(super) type ByFile = BTreeMap<PathBuf, Vec<Diagnostic>>;

/// Converts the findings of `outcome`, grouped by file.
pub(super) fn of(outcome: &Outcome, names: &Names, settings: &Settings) -> ByFile {
    let mut all = ByFile::new();
    for found in &outcome.findings {
        let file = outcome.sources.file(found.primary().span.file);
        let shown = shown(found, &outcome.sources, names, settings);
        all.entry(file.path().to_owned()).or_default().push(shown);
    }
    all
}

/// Converts a finding.
pub(super) fn shown(found: &Finding, sources: &Sources, names: &Names, settings: &Settings) -> Diagnostic {
    let location = |span: Span| {
        let file = sources.file(span.file);
        let range = range_of(&file, span, settings.encoding);
        Some(Location::new(names.uri(file.path())?, range))
    };
    let primary = found.primary();
    let others = found.labels().iter().filter(|label| !label.primary);
    let mut message = vec![found.headline.clone()];
    message.extend(found.calculation.as_deref().map(str::to_owned));
    message.extend(found.when.as_ref().map(|when| format!("only if {when}")));
    if !settings.related {
        message.extend(others.clone().map(|label| {
            let (file, at) = (sources.file(label.span.file), sources.start(label.span));
            format!("{}:{}: {}", file.shown(), at.line, label.message)
        }));
    }
    message.extend(found.help.as_ref().map(|help| format!("help: {help}")));
    let related = others.filter_map(|label| {
        Some(DiagnosticRelatedInformation {
            location: location(label.span)?,
            message: label.message.to_string(),
        })
    });
    let related: Vec<_> = related.collect();
    let file = sources.file(primary.span.file);
    Diagnostic {
        range: range_of(&file, primary.span, settings.encoding),
        severity: Some(severity(found.severity)),
        code: Some(NumberOrString::String(found.rule.to_string())),
        code_description: page(&found.rule, settings).map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message: message.join("\n"),
        related_information: (settings.related && !related.is_empty()).then_some(related),
        tags: (found.rule == "unused-suppression").then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: Some(data(found, sources, names, settings.encoding)),
    }
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Info => DiagnosticSeverity::INFORMATION,
    }
}

/// Returns the URI of a rule's page, if it has one.
pub(super) fn page(rule: &str, settings: &Settings) -> Option<Uri> {
    let page = match &settings.rule_pages {
        Some(base) => format!("{base}{rule}.md"),
        None => Published::HERE.page(rule)?,
    };
    Uri::from_str(&page).ok()
}

/// Returns data for clients with their own fix commands: the finding's fingerprint, and its fix.
fn data(found: &Finding, sources: &Sources, names: &Names, encoding: Encoding) -> serde_json::Value {
    let fix = found.fix.as_deref().map(|fix| {
        let edits = text_edits(&fix.edits, sources, encoding).into_iter();
        let edits: BTreeMap<String, Vec<TextEdit>> = edits
            .filter_map(|(path, edits)| Some((names.uri(&path)?.as_str().to_owned(), edits)))
            .collect();
        json!({"title": fix.title, "safety": fix.safety.name(), "changes": edits})
    });
    json!({"fingerprint": found.fingerprint(), "unit": found.subject.unit, "address": found.subject.address, "fix": fix})
}

/// Converts edits, grouped by file.
pub(super) fn text_edits(edits: &[Edit], sources: &Sources, encoding: Encoding) -> BTreeMap<PathBuf, Vec<TextEdit>> {
    let mut all: BTreeMap<PathBuf, Vec<TextEdit>> = BTreeMap::new();
    for edit in edits {
        let file = sources.file(edit.span.file);
        let edit = TextEdit::new(range_of(&file, edit.span, encoding), edit.text.clone());
        all.entry(file.path().to_owned()).or_default().push(edit);
    }
    all
}

/// Converts an error in a configuration to a diagnostic in its file.
pub(super) fn of_configuration(error: &ConfigError, encoding: Encoding) -> Option<(PathBuf, Diagnostic)> {
    let lines = super::position::Lines::new(&error.text, encoding);
    let diagnostic = Diagnostic {
        range: lines.range(error.span.clone().unwrap_or(0..0)),
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some(SOURCE.to_owned()),
        message: format!("{}; nothing is checked until this is put right", error.message),
        ..Diagnostic::default()
    };
    Some((error.path.clone()?, diagnostic))
}
