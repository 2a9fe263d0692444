//! Writes one JSON record per line, each with its kind in `type`: findings, suppressed findings, unjudged resources,
//! errors, coverage, and a summary.

use super::Report;
use super::html::Origin;
use super::json::{finding, gap, summary, suppressed, tool, unjudged};
use super::json_text::write_line;
use serde::Serialize;
use std::io::{self, Write};

/// Each record names the repository and commit, so that records of many repositories can be loaded into one table.
#[derive(Serialize)]
struct Record<'a, T: Serialize> {
    #[serde(rename = "type")]
    kind: &'static str,
    repository: Option<&'a str>,
    commit: Option<&'a str>,
    #[serde(flatten)]
    content: T,
}

/// Number of resources of one kind, and how many of them are judged.
#[derive(Serialize)]
struct Covered {
    kind: &'static str,
    count: usize,
    judged: usize,
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
pub fn write(report: &Report<'_>, origin: &Origin, out: &mut dyn Write) -> io::Result<()> {
    let mut record = Records { origin, out };
    for found in report.findings {
        record.write("finding", finding(found, report.sources))?;
    }
    for one in report.suppressed {
        record.write("suppressed", suppressed(one, report.sources))?;
    }
    for one in &report.coverage.gaps {
        record.write("unjudged", gap(one, report.sources))?;
    }
    for entry in report.not_evaluated {
        record.write("not_evaluated", unjudged(entry, report.sources))?;
    }
    for message in report.errors {
        record.write("error", Failure { message })?;
    }
    let coverage = report.coverage;
    for (kind, count, judged) in [
        ("queue", coverage.queues, coverage.judged_queues()),
        ("event_source_mapping", coverage.mappings, coverage.judged_mappings()),
        ("handler", coverage.handlers.len(), coverage.read_handlers()),
    ] {
        record.write("coverage", Covered { kind, count, judged })?;
    }
    let last = Last {
        version: super::json::VERSION,
        tool: tool(),
        summary: summary(report),
    };
    record.write("summary", last)
}

/// Writes records of one run.
struct Records<'a> {
    origin: &'a Origin,
    out: &'a mut dyn Write,
}

impl Records<'_> {
    fn write(&mut self, kind: &'static str, content: impl Serialize) -> io::Result<()> {
        let record = Record {
            kind,
            repository: self.origin.repository.as_deref(),
            commit: self.origin.commit.as_deref(),
            content,
        };
        write_line(self.out, &record)
    }
}
