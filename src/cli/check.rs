//! Runs `sqslint check`: turns arguments into options, and the outcome into output and an exit code.

use super::fixing::{self, NextStep};
use super::output::{self, WriteResult};
use super::{CheckArgs, Exit, FailLevel, HarmName, Level, Streams, baseline, inputs};
use source::{Sources, files};
use sqslint::diagnostic::Coverage;
use sqslint::graph::{Graph, UnitKind};
use sqslint::published::Published;
use sqslint::report::review::Review;
use sqslint::report::{Report, Units, counted, human, printable, summary};
use sqslint::rules::Catalogue;
use sqslint::selection::Selection;
use sqslint::{Added, Options, Outcome};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

pub(super) fn run(arguments: &CheckArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let selection = Selection::new(arguments.select.clone(), arguments.ignore.clone(), arguments.pedantic);
    if let Some(path) = output::written_twice(&arguments.output) {
        // Neither report is written, since one would overwrite the other.
        let message = format!("two reports would go to `{}`", path.display());
        return streams.refuse(&message);
    }
    if let Some(message) = output::refused(&arguments.output) {
        return streams.refuse(&message);
    }
    if let Some(flag) = edits_files(arguments).filter(|_| inputs::asks_for_stdin(&arguments.paths, &arguments.stdin)) {
        let message = format!("`{flag}` edits files, and standard input is not a file; name the file instead");
        return refuse(arguments, message, streams);
    }
    let otherwise = arguments.inputs.otherwise();
    let (paths, stdin) = match inputs::chosen(&arguments.paths, &arguments.stdin, otherwise) {
        Ok(inputs) => inputs,
        Err(error) => return refuse(arguments, error, streams),
    };
    let options = Options {
        paths,
        selection,
        stdin,
        ..options(arguments)
    };
    let mut outcome = if arguments.fixing.flag().is_some() {
        match fixing::run(arguments, &options, streams)? {
            NextStep::Report(outcome) => *outcome,
            NextStep::End(exit) => return Ok(exit),
        }
    } else {
        sqslint::check(&options)
    };
    if let Some(reason) = &arguments.add_ignore {
        let added = sqslint::add_ignores(&options, &outcome, reason);
        // The remaining findings are those of the files as they are now.
        outcome = sqslint::check(&options);
        outcome.errors.extend(added.errors.iter().cloned());
        tell_added(&added, streams)?;
    }
    tell_outcome(arguments, &options, outcome, streams)
}

/// Returns the options that the arguments set, except those that need validation.
fn options(arguments: &CheckArgs) -> Options {
    Options {
        fail_level: arguments.fail_level.map(FailLevel::level),
        fail_on: arguments.fail_on.iter().copied().map(HarmName::harm).collect(),
        fail_on_unjudged: arguments.fail_on_unjudged,
        edit_severity: output::least_printed(arguments),
        min_severity: arguments.min_severity.unwrap_or(Level::Info).severity(),
        allow_empty: arguments.allow_empty,
        baseline: arguments.baseline.choice(),
        since: arguments.since.clone(),
        no_ignores: arguments.no_ignores,
        deployed: arguments.deployed.clone(),
        ..arguments.inputs.options(&arguments.config)
    }
}

/// Writes the report and the summary, and returns the exit code.
fn tell_outcome(
    arguments: &CheckArgs,
    options: &Options,
    mut outcome: Outcome,
    streams: &mut Streams<'_>,
) -> io::Result<Exit> {
    // The summary counts the available fixes, and `--fix` does not apply those of hidden findings.
    let hidden = outcome.findings.iter_mut();
    for found in hidden.filter(|found| found.severity < options.edit_severity) {
        found.fix = None;
    }
    let mut units = units(&outcome);
    units
        .notes
        .extend(baseline::known(&outcome, arguments.since.as_deref()));
    let is_any_checked = units != Units::default();
    let paths = options.paths.iter().map(|path| files::absolute(path));
    units.paths = paths.map(|path| outcome.sources.name_of(&path)).collect();
    let nothing = outcome.graph.units().is_empty() && !arguments.allow_empty && outcome.errors.is_empty();
    let mut errors = outcome.errors.clone();
    if nothing {
        errors.push(nothing_to_check(&options.paths, &outcome));
    }
    let all_suppressed = arguments.show_suppressed.then(|| outcome.suppressed_and_known());
    let report = Report {
        sources: &outcome.sources,
        findings: &outcome.findings,
        suppressed: all_suppressed.as_deref().unwrap_or(&outcome.suppressed),
        show_suppressed: arguments.show_suppressed,
        not_evaluated: &outcome.not_evaluated,
        coverage: &outcome.coverage,
        errors: &errors,
        rules: &outcome.rules,
        units: &units,
        review: arguments.since.as_deref().map(|since| Review {
            since,
            changed: &outcome.changed,
            history: &outcome.history,
        }),
        published: Published::HERE,
    };
    let written = output::write(&report, &outcome.graph, arguments, streams)?;
    for environment in outcome.environments.iter().filter(|_| arguments.verbose) {
        writeln!(streams.err, "{}", printable(environment))?;
    }
    for line in outcome.unmatched.iter().filter(|_| !arguments.quiet) {
        writeln!(streams.err, "sqslint: {}", printable(line))?;
    }
    baseline::stale(&outcome, streams)?;
    let exit = if !outcome.errors.is_empty() || written == WriteResult::Incomplete {
        Exit::Failed
    } else if nothing {
        Exit::Nothing
    } else if outcome.fails() && !arguments.exit_zero {
        Exit::Findings
    } else {
        Exit::Clean
    };
    if !nothing && !arguments.quiet && (errors.is_empty() || is_any_checked) {
        // A terminal would break lines within words. Anything else that receives the summary gets unbroken lines.
        let width = output::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
        let lines = summary::lines(&report).into_iter();
        for line in lines.chain(ending(&outcome, exit, arguments)) {
            let line = width.map_or_else(|| line.clone(), |width| human::wrapped(&line, width));
            writeln!(streams.err, "{line}")?;
        }
    }
    // The process is about to exit, which frees all memory at once instead of node by node.
    std::mem::forget(outcome);
    Ok(exit)
}

/// Returns closing advice: why the run fails, and how to introduce sqslint into a project with many existing findings.
fn ending(outcome: &Outcome, exit: Exit, arguments: &CheckArgs) -> Vec<String> {
    /// Number of findings from which on a project is unlikely to fix them all at once.
    const MANY: usize = 20;
    if exit != Exit::Findings {
        return Vec::new();
    }
    let is_compared = arguments.since.is_some() || !outcome.history.known.is_empty();
    let adopt = (outcome.findings.len() >= MANY && !is_compared)
        .then_some("`sqslint baseline create` accepts these findings, and from then on only new ones are reported");
    let why = format!("sqslint: exit code 1: {}", reasons_to_fail(outcome));
    let adopt = adopt.map(|line| format!("sqslint: {line}"));
    std::iter::once(why).chain(adopt).collect()
}

/// Formats what fails the run: `2 errors, 24 warnings (fail level: warning)`.
fn reasons_to_fail(outcome: &Outcome) -> String {
    let failing = &outcome.failing;
    let findings = failing.findings.iter().rev();
    let findings: Vec<String> = findings
        .map(|(severity, &count)| counted(count, severity.name()))
        .collect();
    let levels: Vec<&str> = failing.levels.iter().map(|level| level.name()).collect();
    let findings = format!("{} (fail level: {})", findings.join(", "), levels.join(", "));
    let harms = failing.harms.iter();
    let harms: Vec<String> = harms
        .map(|(harm, count)| format!("{count} × {}", harm.name()))
        .collect();
    let unjudged = failing.unjudged.iter();
    let unjudged: Vec<String> = unjudged
        .map(|((kind, what), &count)| format!("{} {what}", counted(count, kind)))
        .collect();
    let parts = [
        (!failing.findings.is_empty()).then_some(findings),
        (!harms.is_empty()).then(|| format!("{} (`--fail-on`)", harms.join(", "))),
        (!unjudged.is_empty()).then(|| format!("{} (`--fail-on-unjudged`)", unjudged.join(", "))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns the flag that requests changes of the files, if any.
fn edits_files(arguments: &CheckArgs) -> Option<&'static str> {
    let flag = arguments.add_ignore.as_ref().map(|_| "--add-ignore");
    flag.or_else(|| arguments.fixing.flag())
}

/// Reports the effect of `--add-ignore`.
fn tell_added(added: &Added, streams: &mut Streams<'_>) -> io::Result<()> {
    for place in &added.refused {
        writeln!(
            streams.err,
            "sqslint: no suppression can be written for {}",
            printable(place)
        )?;
    }
    let (findings, files) = (counted(added.findings, "finding"), counted(added.files, "file"));
    writeln!(streams.err, "sqslint: suppressed {findings} in {files}")
}

/// Reports, in the requested formats, an error that prevents the run.
fn refuse(arguments: &CheckArgs, error: String, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let report = Report {
        sources: &Sources::default(),
        findings: &[],
        suppressed: &[],
        show_suppressed: false,
        not_evaluated: &[],
        coverage: Coverage::EMPTY,
        errors: &[error],
        rules: Catalogue::BUILT_IN,
        units: &Units::default(),
        review: None,
        published: Published::HERE,
    };
    output::write(&report, &Graph::default(), arguments, streams)?;
    Ok(Exit::Failed)
}

pub(super) fn units(outcome: &Outcome) -> Units {
    let mut units = Units::default();
    let mut notes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    // A template counts once, however often it is called.
    for unit in outcome.graph.units().iter().filter(|unit| seen.insert(&unit.name)) {
        match unit.kind {
            UnitKind::TerraformModule => units.modules += 1,
            UnitKind::Template => units.templates += 1,
            UnitKind::CdkStack => units.stacks += 1,
            UnitKind::ServerlessService => units.services += 1,
            UnitKind::Plan => units.plans += 1,
            UnitKind::State => units.states += 1,
            UnitKind::Snapshot => units.snapshots += 1,
        }
        for (source, calls) in &unit.unread_modules {
            *units.unread_modules.entry(source.clone()).or_default() += calls.all;
        }
        for note in &unit.notes {
            notes.entry(note).or_default().push(&unit.name);
        }
    }
    let mut notes: Vec<_> = notes.into_iter().collect();
    notes.sort_by_key(|(_, names)| Reverse(names.len()));
    units.notes = notes.iter().map(|(note, names)| note_with_units(note, names)).collect();
    units.notes.extend(note_on_dependents(&outcome.dependents));
    units.notes.extend(outcome.notes.iter().cloned());
    units
}

/// Returns a note on units that were checked without being named.
fn note_on_dependents(names: &[String]) -> Option<String> {
    let (first, rest) = names.split_first()?;
    Some(match rest.len() {
        0 => format!("`{first}` was checked, too: it depends on what was named"),
        more => format!("`{first}` and {more} more were checked, too: they depend on what was named"),
    })
}

/// Prefixes a note with the unit it concerns or, since long lists are unreadable, with one unit and the number of
/// others.
fn note_with_units(note: &str, names: &[&str]) -> String {
    match names {
        [name] => format!("{name}: {note}"),
        [first, rest @ ..] => format!("{first} and {} more: {note}", rest.len()),
        [] => note.to_owned(),
    }
}

/// Reports that there was nothing to check.
pub(super) fn tell_nothing(paths: &[PathBuf], outcome: &Outcome, streams: &mut Streams<'_>) -> io::Result<Exit> {
    writeln!(streams.err, "sqslint: {}", printable(&nothing_to_check(paths, outcome)))?;
    Ok(Exit::Nothing)
}

/// Describes where the search took place and what it skipped, which hints at a wrong directory or at files that must be
/// named.
fn nothing_to_check(paths: &[PathBuf], outcome: &Outcome) -> String {
    const NAMED: usize = 5;
    let skipped = &outcome.skipped;
    let paths: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    if paths.is_empty() {
        return "nothing to check: what is staged touches no Terraform module, template or `serverless.yml`".to_owned();
    }
    let why = match outcome.excluded {
        0 => "no Terraform module, CloudFormation or SAM template, or `serverless.yml`".to_owned(),
        1 => "the only unit there is excluded".to_owned(),
        count => format!("all {count} units there are excluded"),
    };
    let mut text = format!("nothing to check under {}: {why}", paths.join(", "));
    if !skipped.is_empty() {
        let mut named: Vec<String> = skipped.iter().take(NAMED).map(|path| format!("`{path}`")).collect();
        if skipped.len() > NAMED {
            named.push(format!("{} more", skipped.len() - NAMED));
        }
        let them = if skipped.len() == 1 { "it" } else { "them" };
        text = format!(
            "{text}; skipped {} (name {them} to have {them} checked)",
            named.join(", ")
        );
    }
    for note in &outcome.notes {
        text = format!("{text}; {note}");
    }
    text
}
