//! `sqslint graph`: what was understood, without judging it.

use super::check::nothing_to_check;
use super::{Exit, GraphArgs, GraphFormat, Streams};
use sqslint::Options;
use sqslint::graph::{json, text};
use sqslint::report::printable;
use std::io;

pub(super) fn run(arguments: &GraphArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let options = Options {
        paths: arguments.paths.clone(),
        given: arguments.inputs.given(),
        config: arguments.config.source(),
        baseline: sqslint::history::Choice::Without,
        ..Options::default()
    };
    let format = arguments.format;
    let outcome = sqslint::check(&options);
    let nothing = outcome.graph.units().is_empty() && outcome.errors.is_empty() && !arguments.allow_empty;
    let text = match format {
        GraphFormat::Json => json::render(&outcome.graph, &outcome.sources),
        GraphFormat::Text => text::render(&outcome.graph, &outcome.sources),
    };
    if !nothing || format == GraphFormat::Json {
        streams.out.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            streams.out.write_all(b"\n")?;
        }
    }
    for error in &outcome.errors {
        writeln!(streams.err, "sqslint: {}", printable(error))?;
    }
    let unread = outcome.findings.iter().filter(|found| found.rule == "parse-error");
    for found in unread {
        writeln!(streams.err, "sqslint: {}", printable(&found.headline))?;
    }
    if nothing {
        let message = nothing_to_check(&options.paths, &outcome.skipped);
        writeln!(streams.err, "sqslint: {}", printable(&message))?;
    }
    Ok(if !outcome.errors.is_empty() {
        Exit::Failed
    } else if nothing {
        Exit::Nothing
    } else {
        Exit::Clean
    })
}
