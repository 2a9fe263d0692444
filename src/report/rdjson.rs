//! Reviewdog's diagnostic format. Its columns count bytes.

use super::json_text::{Each, write_pretty};
use super::place::Region;
use super::{Report, place};
use crate::diagnostic::{Diagnostic, Label, Severity};
use serde::Serialize;
use std::io::{self, Write};

/// A suggestion over more lines than this is no longer read.
const MOST_LINES: u32 = 40;

#[derive(Serialize)]
struct Document<D: Serialize> {
    source: Source,
    diagnostics: D,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestions: Option<[Suggestion; 1]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Related<'a>>,
}

#[derive(Serialize)]
struct Code<'a> {
    value: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

#[derive(Serialize)]
struct Suggestion {
    range: Range,
    text: String,
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
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        source: Source {
            name: env!("CARGO_PKG_NAME"),
        },
        diagnostics: Each(|| report.findings.iter().map(|found| entry(report, found))),
    };
    write_pretty(out, &document)
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
        code: Code {
            value: &found.rule,
            url: report.published.page(&found.rule),
        },
        suggestions: suggestion(report, found).map(|one| [one]),
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

/// The fix as one text for one place: of several suggestions reviewdog takes each for a way of its own, and for one
/// in the file of the finding. Edits that lie too far apart for that are left out.
fn suggestion(report: &Report<'_>, found: &Diagnostic) -> Option<Suggestion> {
    let edits = found.fix.as_deref()?.edits.as_slice();
    let (first, last) = (edits.first()?, edits.last()?);
    let file = report.sources.file(found.primary().span.file);
    if edits.iter().any(|edit| edit.span.file != found.primary().span.file) {
        return None;
    }
    let mut text = String::new();
    let mut at = first.span.start as usize;
    for edit in edits {
        text.push_str(file.text().get(at..edit.span.start as usize)?);
        text.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    let region = place::whole(&file, first.span.to(last.span));
    (region.end.line - region.start.line <= MOST_LINES).then(|| Suggestion {
        range: range(&region),
        text,
    })
}

fn range(region: &Region) -> Range {
    Range {
        start: Spot {
            line: region.start.line,
            column: region.byte_columns.0,
        },
        end: Spot {
            line: region.end.line,
            column: region.byte_columns.1,
        },
    }
}

fn location(report: &Report<'_>, label: &Label) -> Location {
    let file = report.sources.file(label.span.file);
    let region = place::region(&file, label.span);
    Location {
        path: file.name().to_owned(),
        range: range(&region),
    }
}
