//! Reviewdog's diagnostic format. Its columns count bytes.

use super::{Report, place};
use crate::diagnostic::{Diagnostic, Label, Severity};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    source: Source,
    diagnostics: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Source {
    name: &'static str,
}

#[derive(Serialize)]
struct Entry<'a> {
    message: String,
    location: Location,
    severity: &'static str,
    code: Code<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Related<'a>>,
}

#[derive(Serialize)]
struct Code<'a> {
    value: &'a str,
}

#[derive(Serialize)]
struct Related<'a> {
    message: &'a str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    range: Range,
}

#[derive(Serialize)]
struct Range {
    start: Spot,
    end: Spot,
}

#[derive(Serialize)]
struct Spot {
    line: u32,
    column: usize,
}

/// The findings as one object.
pub fn render(report: &Report<'_>) -> String {
    let document = Document {
        source: Source {
            name: env!("CARGO_PKG_NAME"),
        },
        diagnostics: report.findings.iter().map(|found| entry(report, found)).collect(),
    };
    // Strings and numbers alone always serialise.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn entry<'a>(report: &Report<'_>, found: &'a Diagnostic) -> Entry<'a> {
    let parts = [Some(&found.headline), found.calculation.as_ref(), found.help.as_ref()];
    let message: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    Entry {
        message: message.join("\n"),
        location: location(report, found.primary()),
        severity: match found.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Info => "INFO",
        },
        code: Code { value: found.rule },
        related_locations: found
            .labels()
            .iter()
            .filter(|label| !label.primary)
            .map(|label| Related {
                message: &label.message,
                location: location(report, label),
            })
            .collect(),
    }
}

fn location(report: &Report<'_>, label: &Label) -> Location {
    let file = report.sources.file(label.span.file);
    let region = place::region(&file, label.span);
    Location {
        path: file.name().to_owned(),
        range: Range {
            start: Spot {
                line: region.start.line,
                column: region.byte_columns.0,
            },
            end: Spot {
                line: region.end.line,
                column: region.byte_columns.1,
            },
        },
    }
}
