//! Writes GitLab's Code Quality report: a list of issues with unique fingerprints.

use super::json_text::{Each, write_pretty};
use super::{Report, printable};
use crate::diagnostic::{Diagnostic, Severity};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
    end: u32,
}

/// Writes the findings as a list of issues.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let issues = || {
        let mut seen: FxHashMap<String, usize> = FxHashMap::default();
        report.findings.iter().map(move |found| {
            let fingerprint = found.fingerprint();
            let count = seen.entry(fingerprint.clone()).or_insert(0);
            *count += 1;
            // Of several issues with the same fingerprint, GitLab keeps only one.
            let fingerprint = match *count {
                1 => fingerprint,
                again => format!("{fingerprint}-{again}"),
            };
            issue(report, found, fingerprint)
        })
    };
    write_pretty(out, &Each(issues))
}

fn issue<'a>(report: &Report<'_>, found: &'a Diagnostic, fingerprint: String) -> Issue<'a> {
    let span = found.annotated();
    let file = report.sources.file(span.file);
    let (begin, end) = (file.position(span.start as usize), file.position(span.end as usize));
    Issue {
        description: format!("{}: {}", found.rule, printable(&found.headline)),
        check_name: &found.rule,
        fingerprint,
        severity: match found.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Info => "info",
        },
        location: Location {
            path: file.name().to_owned(),
            lines: Lines {
                begin: begin.line,
                end: end.line,
            },
        },
    }
}
