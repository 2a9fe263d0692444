//! `sqslint check`: from arguments to options, from the outcome to output and exit code.

use super::{CheckArgs, Color, Exit, FailLevel, Format, Streams};
use sqslint::graph::UnitKind;
use sqslint::report::{Report, Units, concise, human, json, printable, summary};
use sqslint::selection::Selection;
use sqslint::source::Sources;
use sqslint::{Added, Options, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal};
use std::path::PathBuf;

/// The width of a report that goes to no terminal.
const WIDTH: usize = 100;

pub(super) fn run(arguments: &CheckArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let selection = Selection::new(arguments.select.clone(), arguments.ignore.clone(), arguments.pedantic);
    let selection = match selection {
        Ok(selection) => selection,
        Err(unknown) => return refuse(arguments, unknown.to_string(), streams),
    };
    let options = Options {
        paths: arguments.paths.clone(),
        selection,
        given: arguments.inputs.given(),
        config: arguments.config.source(),
        fail_level: arguments.fail_level.map(FailLevel::level),
        min_severity: arguments.min_severity.severity(),
        force_exclude: arguments.force_exclude,
        no_ignores: arguments.no_ignores,
        ..Options::default()
    };
    let mut outcome = sqslint::check(&options);
    if let Some(reason) = &arguments.add_ignore {
        let added = sqslint::add_ignores(&options, &outcome, reason);
        // What is left is what the files say now.
        outcome = sqslint::check(&options);
        outcome.errors.extend(added.errors.iter().cloned());
        tell(&added, streams)?;
    }
    let units = units(&outcome);
    let nothing = outcome.graph.units().is_empty() && !arguments.allow_empty && outcome.errors.is_empty();
    let mut errors = outcome.errors.clone();
    if nothing {
        errors.push(nothing_to_check(&arguments.paths, &outcome.skipped));
    }
    let report = Report {
        sources: &outcome.sources,
        findings: &outcome.findings,
        suppressed: &outcome.suppressed,
        show_suppressed: arguments.show_suppressed,
        not_evaluated: &outcome.not_evaluated,
        errors: &errors,
        units: &units,
    };
    write(&report, arguments, streams)?;
    if !nothing && !arguments.quiet && (errors.is_empty() || units != Units::default()) {
        writeln!(streams.err, "{}", summary::render(&report))?;
    }
    Ok(if !outcome.errors.is_empty() {
        Exit::Failed
    } else if nothing {
        Exit::Nothing
    } else if outcome.fails && !arguments.exit_zero {
        Exit::Findings
    } else {
        Exit::Clean
    })
}

/// Says what `--add-ignore` did.
fn tell(added: &Added, streams: &mut Streams<'_>) -> io::Result<()> {
    for place in &added.refused {
        writeln!(
            streams.err,
            "sqslint: no suppression can be written for {}",
            printable(place)
        )?;
    }
    let plural = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let (findings, files) = (plural(added.findings, "finding"), plural(added.files, "file"));
    writeln!(streams.err, "sqslint: suppressed {findings} in {files}")
}

/// Ends a run that cannot start, in the format that was asked for.
fn refuse(arguments: &CheckArgs, error: String, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let report = Report {
        sources: &Sources::default(),
        findings: &[],
        suppressed: &[],
        show_suppressed: false,
        not_evaluated: &[],
        errors: &[error],
        units: &Units::default(),
    };
    write(&report, arguments, streams)?;
    Ok(Exit::Failed)
}

/// Findings go out first, then what is to be said about the run.
fn write(report: &Report<'_>, arguments: &CheckArgs, streams: &mut Streams<'_>) -> io::Result<()> {
    let text = match arguments.format {
        Format::Full => human::render(report, style(arguments.color)),
        Format::Concise => concise::render(report),
        Format::Json => json::render(report),
    };
    streams.out.write_all(text.as_bytes())?;
    streams.out.flush()?;
    for error in report.errors {
        writeln!(streams.err, "sqslint: {}", printable(error))?;
    }
    if arguments.verbose {
        streams.err.write_all(summary::not_evaluated(report).as_bytes())?;
    }
    Ok(())
}

fn units(outcome: &Outcome) -> Units {
    let mut units = Units::default();
    let mut notes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    // A template is one, however often it is called.
    for unit in outcome.graph.units().iter().filter(|unit| seen.insert(&unit.name)) {
        match unit.kind {
            UnitKind::TerraformModule => units.modules += 1,
            UnitKind::Template => units.templates += 1,
            UnitKind::CdkStack => units.stacks += 1,
            UnitKind::ServerlessService => units.services += 1,
            UnitKind::Plan => units.plans += 1,
            UnitKind::State => units.states += 1,
        }
        for note in &unit.notes {
            notes.entry(note).or_default().push(&unit.name);
        }
    }
    units.notes = notes.iter().map(|(note, names)| noted(note, names)).collect();
    units
}

/// A note with the unit it is about, or with their number: a line of forty names is read by nobody.
fn noted(note: &str, names: &[&str]) -> String {
    match names {
        [name] => format!("{name}: {note}"),
        [first, rest @ ..] => format!("{first} and {} more: {note}", rest.len()),
        [] => note.to_owned(),
    }
}

/// Says where was looked and what was passed over: the wrong directory, or files that need to be named.
pub(super) fn nothing_to_check(paths: &[PathBuf], skipped: &[String]) -> String {
    const NAMED: usize = 5;
    let paths: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    let mut text = format!(
        "nothing to check under {}: no Terraform files and no CloudFormation or SAM template",
        paths.join(", ")
    );
    if !skipped.is_empty() {
        let mut named: Vec<String> = skipped.iter().take(NAMED).map(|path| format!("`{path}`")).collect();
        if skipped.len() > NAMED {
            named.push(format!("{} more", skipped.len() - NAMED));
        }
        text.push_str("; skipped ");
        text.push_str(&named.join(", "));
        text.push_str(" (name it to have it checked)");
    }
    text
}

/// What the terminal, or what stands in its place, can show.
fn style(color: Color) -> human::Style {
    let width = terminal_size::terminal_size_of(io::stdout()).map_or(WIDTH, |(width, _)| usize::from(width.0));
    human::Style {
        width,
        color: match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let stdout = io::stdout();
                anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never && forced_or_terminal(&stdout)
            }
        },
        unicode: shows_unicode(),
        graphics: std::env::var_os("NO_GRAPHICS").is_none_or(|value| value.is_empty() || value == "0"),
    }
}

/// `CLICOLOR_FORCE` colours pipes too.
fn forced_or_terminal(stdout: &io::Stdout) -> bool {
    let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    forced || stdout.is_terminal()
}

/// Whether the locale is one of UTF-8; Windows terminals have been for long.
fn shows_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    cfg!(windows)
        || locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
}
