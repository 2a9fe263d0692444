//! `sqslint graph`: what was understood, without judging it.

use super::check::nothing_to_check;
use super::{Exit, GraphArgs, GraphFormat, Streams, inputs};
use sqslint::Options;
use sqslint::diagnostic::Diagnostic;
use sqslint::graph::topology::{self, Topology};
use sqslint::graph::{Graph, drawing, json, svg, text};
use sqslint::report::{printable, printable_error};
use std::collections::BTreeSet;
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
    let text = match format {
        GraphFormat::Json => json::render(&outcome.graph, &outcome.sources),
        GraphFormat::Text => text::render_marked(&outcome.graph, &outcome.sources, &|unit, address| {
            marks(&outcome.findings, unit, address)
        }),
        GraphFormat::Mermaid => drawing::mermaid(&topologies(&outcome.graph, &outcome.findings)),
        GraphFormat::Dot => drawing::dot(&topologies(&outcome.graph, &outcome.findings)),
        GraphFormat::Svg => svg::render(&topologies(&outcome.graph, &outcome.findings)),
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

/// The findings about a resource, as reports begin with them, each rule once.
fn marks(findings: &[Diagnostic], unit: &str, address: &str) -> Vec<String> {
    let about = findings.iter().filter(|found| {
        let calls = &found.calls;
        found.subject.unit == unit && (found.subject.address == address || calls.iter().any(|call| call == address))
    });
    let mut marks: Vec<String> = about
        .map(|found| format!("{}[{}]", found.severity, found.rule))
        .collect();
    marks.sort();
    marks.dedup();
    marks
}

/// Each unit as boxes and arrows, with what has findings marked.
pub(super) fn topologies(graph: &Graph, findings: &[Diagnostic]) -> Vec<Topology> {
    let mut marked: BTreeSet<(&str, &str)> = BTreeSet::new();
    for found in findings {
        let unit = found.subject.unit.as_str();
        marked.insert((unit, &found.subject.address));
        marked.extend(found.calls.iter().map(|address| (unit, address.as_str())));
    }
    topology::topologies(graph, &|unit, address| marked.contains(&(unit, address)))
}
