//! One JSON record a line, each with its kind in `type`: findings, what is suppressed, what could not be judged, errors, and a summary.

use super::Report;
use super::json::{finding, open, silenced, summary, tool};
use serde::Serialize;

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

/// The records, the summary last.
pub fn render(report: &Report<'_>) -> String {
    let mut text = String::new();
    for found in report.findings {
        push(&mut text, "finding", finding(found, report.sources));
    }
    for one in report.suppressed {
        push(&mut text, "suppressed", silenced(one, report.sources));
    }
    for entry in report.not_evaluated {
        push(&mut text, "not_evaluated", open(entry, report.sources));
    }
    for message in report.errors {
        push(&mut text, "error", Failure { message });
    }
    let last = Last {
        version: super::json::VERSION,
        tool: tool(),
        summary: summary(report),
    };
    push(&mut text, "summary", last);
    text
}

fn push<T: Serialize>(text: &mut String, kind: &'static str, content: T) {
    // Strings and numbers alone always serialise.
    let line = serde_json::to_string(&Record { kind, content }).unwrap_or_default();
    text.push_str(&line);
    text.push('\n');
}
