//! `sqslint explain FILE:LINE`.

use super::config::ConfigArgs;
use super::inputs::InputArgs;
use super::{Exit, Streams, rules};
use clap::Args;
use sqslint::Options;
use sqslint::explain::{Explained, explain};
use sqslint::graph::values::ListedCase;
use sqslint::report::printable;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// A rule, as in `error[rule-id]`, or a place, as in `queues.tf:12`
    #[arg(value_name = "RULE|FILE:LINE")]
    subject: String,
    /// For a place: what else to read [default: the file's own unit]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

pub(super) fn run(arguments: &ExplainArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let Some((path, line)) = place(&arguments.subject) else {
        return rules::explain(&arguments.subject, streams);
    };
    let absolute = match path.canonicalize() {
        Ok(absolute) => absolute,
        Err(error) => {
            let message = format!("`{}`: {error}", path.display());
            writeln!(streams.err, "sqslint: {}", printable(&message))?;
            return Ok(Exit::Failed);
        }
    };
    let paths = if arguments.paths.is_empty() {
        vec![path.clone()]
    } else {
        arguments.paths.clone()
    };
    let explained = explain(
        &Options {
            paths,
            given: arguments.inputs.given(),
            config: arguments.config.source(),
            ..Options::default()
        },
        &absolute,
        line,
    );
    for error in &explained.outcome.errors {
        writeln!(streams.err, "sqslint: {}", printable(error))?;
    }
    if !explained.outcome.errors.is_empty() {
        return Ok(Exit::Failed);
    }
    if !explained.is_read() {
        writeln!(
            streams.err,
            "sqslint: no unit that was read has the file `{}`",
            path.display()
        )?;
        return Ok(Exit::Nothing);
    }
    streams.out.write_all(text(&explained, &arguments.subject).as_bytes())?;
    Ok(Exit::Clean)
}

/// `file:12`, or `file:12:3` as reports print it.
fn place(subject: &str) -> Option<(PathBuf, usize)> {
    let (rest, last) = subject.rsplit_once(':')?;
    let last: usize = last.parse().ok()?;
    match rest.rsplit_once(':') {
        Some((path, line)) if !PathBuf::from(rest).exists() => Some((path.into(), line.parse().ok()?)),
        _ => Some((rest.into(), last)),
    }
}

// Writing to a string cannot fail.
fn text(explained: &Explained, subject: &str) -> String {
    let mut text = format!("{subject}\n");
    let values = explained.values();
    let mut owner = "";
    for listed in &values {
        if &*listed.resource.address != owner {
            owner = &listed.resource.address;
            let _ = writeln!(text, "\n{}", printable(owner));
        }
        for case in &listed.cases {
            let _ = writeln!(text, "  {} {}", printable(listed.name), described(case));
            for origin in case.origins {
                let at = explained.outcome.sources.start(origin.span);
                let file = explained.outcome.sources.file(origin.span.file);
                let place = printable(&format!("{} ({}:{})", origin.what, file.shown(), at.line));
                let _ = writeln!(text, "    from {place}");
            }
        }
    }
    if values.is_empty() {
        text += "\nno value or link of a queue, a function or what connects them stands on this line\n";
    }
    let (findings, satisfied) = (explained.findings(), explained.satisfied());
    if !(findings.is_empty() && satisfied.is_empty()) {
        text += "\njudged by\n";
    }
    for found in findings {
        let _ = writeln!(
            text,
            "  {}[{}] {}",
            found.severity,
            found.rule,
            printable(&found.headline)
        );
        if let Some(calculation) = &found.calculation {
            let _ = writeln!(text, "    {}", printable(calculation));
        }
    }
    for rule in satisfied {
        let _ = writeln!(text, "  ok {rule}");
    }
    text
}

fn described(case: &ListedCase<'_>) -> String {
    let value = match &case.value {
        Ok(value) if value.starts_with('→') => printable(value),
        Ok(value) => format!("= {}", printable(value)),
        Err(reason) => format!("is unresolved: {}", printable(reason)),
    };
    let default = if case.is_default { " (the default)" } else { "" };
    let when = case
        .when
        .as_ref()
        .map_or_else(String::new, |when| format!(", when {}", printable(when)));
    value + default + &when
}
