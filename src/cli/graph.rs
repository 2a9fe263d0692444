//! `sqslint graph`: what was understood, without judging it.

use super::check::nothing_to_check;
use super::{Exit, GraphArgs, GraphFormat, Streams, inputs};
use sqslint::Options;
use sqslint::report::graph::topology::topologies;
use sqslint::report::graph::{Marks, drawing, json, svg, text};
use sqslint::report::{printable, printable_error};
use std::io;

pub(super) fn run(arguments: &GraphArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let otherwise = arguments.inputs.otherwise();
    let (paths, stdin) = match inputs::chosen(&arguments.paths, &arguments.stdin, otherwise) {
        Ok(chosen) => chosen,
        Err(error) => {
            writeln!(streams.err, "sqslint: {}", printable_error(&error))?;
            return Ok(Exit::Failed);
        }
    };
    let options = Options {
        paths,
        stdin,
        given: arguments.inputs.given(),
        staged: arguments.inputs.staged,
        force_exclude: arguments.inputs.force_exclude,
        no_gitignore: arguments.inputs.no_gitignore,
        config: arguments.config.source(),
        baseline: sqslint::history::Choice::Without,
        ..Options::default()
    };
    let format = arguments.format;
    let outcome = sqslint::check(&options);
    let nothing = outcome.graph.units().is_empty() && outcome.errors.is_empty() && !arguments.allow_empty;
    let marks = Marks::new(&outcome.findings);
    let text = match format {
        GraphFormat::Json => json::render(&outcome.graph, &outcome.sources),
        GraphFormat::Text => text::render(&outcome.graph, &outcome.sources, &marks),
        GraphFormat::Mermaid => drawing::mermaid(&topologies(&outcome.graph, &marks)),
        GraphFormat::Dot => drawing::dot(&topologies(&outcome.graph, &marks)),
        GraphFormat::Svg => svg::render(&topologies(&outcome.graph, &marks)),
    };
    if !nothing || format == GraphFormat::Json {
        streams.out.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            streams.out.write_all(b"\n")?;
        }
    }
    for error in &outcome.errors {
        writeln!(streams.err, "sqslint: {}", printable_error(error))?;
    }
    let unread = outcome.findings.iter().filter(|found| found.rule == "parse-error");
    for found in unread {
        writeln!(streams.err, "sqslint: {}", printable(&found.headline))?;
    }
    if nothing {
        let message = nothing_to_check(&options.paths, &outcome);
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
