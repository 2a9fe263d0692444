//! Runs `sqslint review`, which prints what a change does to the links between queues and functions. It judges nothing:
//! `check --since` does.

use super::check::{tell_nothing, units};
use super::config::ConfigArgs;
use super::inputs::InputArgs;
use super::{Exit, Streams};
use clap::{Args, ValueEnum};
use sqslint::Options;
use sqslint::published::Published;
use sqslint::report::{Report, review};
use std::io;
use std::path::PathBuf;

/// Arguments of `sqslint review`.
#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    /// Files and directories [default: `.`]
    paths: Vec<PathBuf>,
    /// Compare with the commit where HEAD branched off this commit or branch
    #[arg(long, value_name = "REF")]
    since: String,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Exit with 0 if there is nothing to compare
    #[arg(long)]
    allow_empty: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for people
    Text,
    /// A comment on a pull request
    Markdown,
    /// JSON document, version 1
    Json,
}

pub(super) fn run(arguments: &ReviewArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let mut paths = arguments.paths.clone();
    if paths.is_empty() {
        paths.extend(arguments.inputs.otherwise());
    }
    let outcome = sqslint::check(&Options {
        paths: paths.clone(),
        since: Some(arguments.since.clone()),
        ..arguments.inputs.options(&arguments.config)
    });
    streams.tell_errors(&outcome.errors)?;
    if !outcome.errors.is_empty() {
        return Ok(Exit::Failed);
    }
    if outcome.graph.units().is_empty() && !arguments.allow_empty {
        return tell_nothing(&paths, &outcome, streams);
    }
    let report = Report {
        sources: &outcome.sources,
        findings: &outcome.findings,
        suppressed: &outcome.suppressed,
        show_suppressed: false,
        not_evaluated: &outcome.not_evaluated,
        coverage: &outcome.coverage,
        errors: &outcome.errors,
        rules: &outcome.rules,
        units: &units(&outcome),
        review: None,
        published: Published::HERE,
    };
    let review = review::Review {
        since: &arguments.since,
        changed: &outcome.changed,
        history: &outcome.history,
    };
    match arguments.format {
        Format::Text => streams.out.write_all(review::text(&report, &review).as_bytes())?,
        Format::Markdown => streams.out.write_all(review::markdown(&report, &review).as_bytes())?,
        Format::Json => review::json(&report, &review, streams.out)?,
    }
    Ok(Exit::Clean)
}
