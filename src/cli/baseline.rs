//! Defines the baseline flags of `check` and the command `sqslint baseline`, and words the summary's notes on known
//! findings.

use super::check::tell_nothing;
use super::config::ConfigArgs;
use super::inputs::InputArgs;
use super::{Exit, Streams};
use clap::{Args, Subcommand};
use sqslint::diagnostic::Silencer;
use sqslint::history::{Action, BaselineChoice, BaselineSummary};
use sqslint::report::printable;
use sqslint::write_baseline;
use sqslint::{Options, Outcome};
use std::io;
use std::path::PathBuf;

/// Flags that choose the baseline.
#[derive(Debug, Clone, Args)]
pub(super) struct BaselineArgs {
    /// Leave out the findings in this file [default: the configured file, else .sqslint-baseline.json]
    #[arg(long, value_name = "FILE", conflicts_with = "no_baseline", help_heading = "History")]
    baseline: Option<PathBuf>,
    /// Use no baseline
    #[arg(long, help_heading = "History")]
    no_baseline: bool,
}

impl BaselineArgs {
    /// Converts the flags into the library's type.
    pub(super) fn choice(&self) -> BaselineChoice {
        match &self.baseline {
            Some(file) => BaselineChoice::File(file.clone()),
            None if self.no_baseline => BaselineChoice::Without,
            None => BaselineChoice::Configured,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum BaselineCommand {
    /// Write a baseline of all findings
    Create(Arguments),
    /// Add new findings to the baseline and remove those that no longer occur; reasons are kept
    Update(Arguments),
    /// Remove findings that no longer occur from the baseline
    Prune(Arguments),
}

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files and directories [default: `.`]
    paths: Vec<PathBuf>,
    /// The file to write [default: the configured file, else .sqslint-baseline.json at the repository's root]
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Exit with 0 if there is nothing to check
    #[arg(long)]
    allow_empty: bool,
}

pub(super) fn run(command: &BaselineCommand, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let (action, arguments) = match command {
        BaselineCommand::Create(arguments) => (Action::Create, arguments),
        BaselineCommand::Update(arguments) => (Action::Update, arguments),
        BaselineCommand::Prune(arguments) => (Action::Prune, arguments),
    };
    let mut paths = arguments.paths.clone();
    if paths.is_empty() {
        paths.extend(arguments.inputs.otherwise());
    }
    let (outcome, written) = write_baseline(
        &Options {
            paths: paths.clone(),
            baseline: arguments
                .baseline
                .clone()
                .map_or(BaselineChoice::Configured, BaselineChoice::File),
            ..arguments.inputs.options(&arguments.config)
        },
        action,
    );
    for one in &written {
        writeln!(streams.out, "{}", printable(&summary_line(one)))?;
    }
    streams.tell_errors(&outcome.errors)?;
    if !outcome.errors.is_empty() {
        return Ok(Exit::Failed);
    }
    if outcome.graph.units().is_empty() && !arguments.allow_empty {
        return tell_nothing(&paths, &outcome, streams);
    }
    Ok(Exit::Clean)
}

fn summary_line(written: &BaselineSummary) -> String {
    let entries = if written.entries == 1 { "entry" } else { "entries" };
    format!(
        "{}: {} {entries}, {} added, {} removed",
        written.file, written.entries, written.added, written.removed
    )
}

/// Returns notes on how many findings were left out, and why.
pub(super) fn known(outcome: &Outcome, since: Option<&str>) -> Vec<String> {
    let mut notes = Vec::new();
    let known = &outcome.history.known;
    let before = known.iter().filter(|one| matches!(one.by, Silencer::Since(_))).count();
    let baselined = known.len() - before;
    if baselined > 0 {
        notes.push(format!("{baselined} more in the baseline"));
    }
    if let Some(name) = since.filter(|_| before > 0) {
        notes.push(format!("{before} more not new since `{name}`"));
    }
    notes
}

/// Reports baselines with stale entries.
pub(super) fn stale(outcome: &Outcome, streams: &mut Streams<'_>) -> io::Result<()> {
    for (file, count) in &outcome.history.stale {
        let entries = if *count == 1 { "entry is" } else { "entries are" };
        let text =
            format!("{count} {entries} stale in `{file}`; `sqslint baseline prune` removes what is no longer found");
        writeln!(streams.err, "sqslint: {}", printable(&text))?;
    }
    Ok(())
}
