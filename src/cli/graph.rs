//! Runs `sqslint graph`, which prints the resolved graph without judging it.

use super::check::tell_nothing;
use super::{Exit, GraphArgs, GraphFormat, Streams, inputs, page};
use sqslint::diagnostic::PARSE_ERROR;
use sqslint::report::graph::topology::{Extent, topologies};
use sqslint::report::graph::{Marks, drawing, json, svg, text};
use sqslint::report::printable;
use sqslint::{Options, Outcome};
use std::io::{self, BufWriter, Write};

pub(super) fn run(arguments: &GraphArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    if arguments.schema {
        streams.out.write_all(sqslint::policy::schema().as_bytes())?;
        return Ok(Exit::Clean);
    }
    let otherwise = arguments.inputs.otherwise();
    let (paths, stdin) = match inputs::chosen(&arguments.paths, &arguments.stdin, otherwise) {
        Ok(chosen) => chosen,
        Err(error) => return streams.refuse(&error),
    };
    let options = Options {
        paths,
        stdin,
        baseline: sqslint::history::BaselineChoice::Without,
        ..arguments.inputs.options(&arguments.config)
    };
    let format = arguments.format;
    let outcome = sqslint::check(&options);
    let nothing = outcome.graph.units().is_empty() && outcome.errors.is_empty() && !arguments.allow_empty;
    if !nothing || format == GraphFormat::Json {
        let mut out = BufWriter::new(&mut *streams.out);
        let extent = if arguments.all { Extent::All } else { Extent::Queues };
        if format == GraphFormat::Text && arguments.color.is_on() {
            let mut plain = Vec::new();
            write(format, extent, &outcome, &mut plain)?;
            out.write_all(page::painted(String::from_utf8_lossy(&plain).into_owned(), true).as_bytes())?;
        } else {
            write(format, extent, &outcome, &mut out)?;
        }
        out.flush()?;
    }
    streams.tell_errors(&outcome.errors)?;
    let unread = outcome.findings.iter().filter(|found| found.rule == PARSE_ERROR);
    for found in unread {
        let file = outcome.sources.file(found.primary().span.file);
        let at = outcome.sources.start(found.primary().span);
        let (path, headline) = (printable(file.shown()), printable(&found.headline));
        writeln!(streams.err, "sqslint: {path}:{}:{}: {headline}", at.line, at.column)?;
    }
    match (outcome.errors.is_empty(), nothing) {
        (false, _) => Ok(Exit::Failed),
        (true, true) => tell_nothing(&options.paths, &outcome, streams),
        (true, false) => Ok(Exit::Clean),
    }
}

fn write(format: GraphFormat, extent: Extent, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let (graph, sources) = (&outcome.graph, &outcome.sources);
    let marks = Marks::new(&outcome.findings);
    let drawings = || topologies(graph, &marks, extent);
    match format {
        GraphFormat::Json => json::write(graph, sources, out),
        GraphFormat::Text => text::write(graph, sources, &marks, out),
        GraphFormat::Mermaid => drawing::write_mermaid(&drawings(), out),
        GraphFormat::Dot => drawing::write_dot(&drawings(), out),
        GraphFormat::Svg => svg::write(&drawings(), out),
    }
}
