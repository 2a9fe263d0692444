//! Runs `sqslint explain FILE:LINE`.

use super::config::ConfigArgs;
use super::inputs::{InputArgs, StdinArgs};
use super::output::ColorArgs;
use super::{Exit, Streams, inputs, page, rules};
use clap::Args;
use source::files;
use sqslint::Options;
use sqslint::discover::unreadable;
use sqslint::explain::{ExplainedLocation, explain};
use sqslint::report::counted;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// A rule, as in `error[rule-id]`, or a location, as in `queues.tf:12` or `queues.tf:12:3`
    #[arg(value_name = "RULE|FILE:LINE", value_parser = super::RuleName, hide_possible_values = true)]
    subject: String,
    /// Further paths to read, for a location [default: the file's own unit]
    paths: Vec<PathBuf>,
    /// Also print why rules have no finding at a location
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    color: ColorArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    stdin: StdinArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

pub(super) fn run(arguments: &ExplainArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let Some(place) = parse_location(&arguments.subject) else {
        let file = arguments.subject.trim_end_matches(':');
        if files::is_file(Path::new(file)) {
            return streams.refuse(&format!("which line of `{file}`? Add it, as in `{file}:12`"));
        }
        return rules::explain(&arguments.subject, &arguments.config, arguments.color.is_on(), streams);
    };
    let shown = place.path.display();
    let absolute = match files::named(&place.path) {
        Ok(absolute) if files::is_directory(&absolute) => return streams.refuse(&format!("`{shown}` is a directory")),
        Ok(absolute) => absolute,
        Err(refusal) => return streams.refuse(&unreadable(&place.path, &refusal)),
    };
    let otherwise = Some(place.path.clone());
    let (paths, stdin) = match inputs::chosen(&arguments.paths, &arguments.stdin, otherwise) {
        Ok(chosen) => chosen,
        Err(error) => return streams.refuse(&error),
    };
    let mut options = Options {
        paths,
        stdin,
        ..arguments.inputs.options(&arguments.config)
    };
    let location = ExplainedLocation {
        file: &absolute,
        line: place.line,
        column: place.column,
    };
    let mut explained = explain(&options, location);
    // A finding may depend on a unit that calls this one, or that links to it.
    let is_below = || files::named(Path::new(".")).is_ok_and(|here| absolute.starts_with(here));
    if arguments.paths.is_empty() && options.stdin.is_none() && !explained.has_findings() && is_below() {
        options.paths = vec![PathBuf::from(".")];
        let whole = explain(&options, location);
        if whole.has_findings() {
            explained = whole;
        }
    }
    streams.tell_errors(&explained.outcome.errors)?;
    if !explained.outcome.errors.is_empty() {
        return Ok(Exit::Failed);
    }
    match explained.lines() {
        None => streams.refuse(&format!("`{shown}` is not part of anything that was read")),
        Some(lines) if lines < place.line || place.line == 0 => {
            let has = counted(lines, "line");
            streams.refuse(&format!("`{shown}` has {has}; there is no line {}", place.line))
        }
        Some(_) => {
            let text = explained.text(&arguments.subject, arguments.verbose);
            streams
                .out
                .write_all(page::painted(text, arguments.color.is_on()).as_bytes())?;
            Ok(Exit::Clean)
        }
    }
}

/// Line of a file, with an optional column.
#[derive(Debug, PartialEq, Eq)]
struct SourceLocation {
    path: PathBuf,
    line: usize,
    column: Option<usize>,
}

/// Parses `file:12`, or `file:12:3` as reports print it.
fn parse_location(subject: &str) -> Option<SourceLocation> {
    let (rest, last) = subject.rsplit_once(':')?;
    let last: usize = last.parse().ok()?;
    let whole = SourceLocation {
        path: rest.into(),
        line: last,
        column: None,
    };
    let with_column = || {
        let (path, line) = rest.rsplit_once(':')?;
        Some(SourceLocation {
            path: path.into(),
            line: line.parse().ok()?,
            column: Some(last),
        })
    };
    if files::exists(&whole.path) {
        return Some(whole);
    }
    Some(with_column().unwrap_or(whole))
}
