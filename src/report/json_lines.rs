//! Writes one JSON record per line, each with its kind in `type`: findings, suppressed findings, unjudged resources,
//! errors, and a summary.

use super::Report;
use super::json::{finding, gap, summary, suppressed, tool, unjudged};
use super::json_text::write_line;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Record<T: Serialize> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    content: T,
}

#[derive(Serialize)]
struct Failure<'a> {
    message: &'a str,
}

#[derive(Serialize)]
struct Last<S: Serialize, T: Serialize> {
    version: u32,
    tool: T,
    #[serde(flatten)]
    summary: S,
}

/// Writes the records, the summary last.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for found in report.findings {
        record(out, "finding", finding(found, report.sources))?;
    }
    for one in report.suppressed {
        record(out, "suppressed", suppressed(one, report.sources))?;
    }
    for one in &report.coverage.gaps {
        record(out, "unjudged", gap(one, report.sources))?;
    }
    for entry in report.not_evaluated {
        record(out, "not_evaluated", unjudged(entry, report.sources))?;
    }
    for message in report.errors {
        record(out, "error", Failure { message })?;
    }
    let last = Last {
        version: super::json::VERSION,
        tool: tool(),
        summary: summary(report),
    };
    record(out, "summary", last)
}

fn record(out: &mut dyn Write, kind: &'static str, content: impl Serialize) -> io::Result<()> {
    write_line(out, &Record { kind, content })
}
