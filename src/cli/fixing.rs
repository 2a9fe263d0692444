//! `--fix` and `--diff`: what was changed, or would be.

use super::check::nothing_to_check;
use super::output::When;
use super::{CheckArgs, Exit, Streams};
use anstream::ColorChoice;
use clap::Args;
use sqslint::diagnostic::Safety;
use sqslint::report::{counted, printable, printable_error};
use sqslint::{Fixed, Options, Outcome};
use std::io::{self, IsTerminal};

/// The flags that ask for fixes.
#[derive(Debug, Args)]
pub(super) struct FixArgs {
    /// Apply safe fixes: they remove a defect and change nothing else that is deployed
    #[arg(long, conflicts_with = "add_ignore", help_heading = "Fixing")]
    pub(super) fix: bool,
    /// With --fix or --diff: also fixes that change how deployed resources behave
    #[arg(long, requires = "fixing", help_heading = "Fixing")]
    unsafe_fixes: bool,
    /// Print what --fix would change as a diff, and write nothing
    #[arg(long, conflicts_with_all = ["add_ignore", "reports"], help_heading = "Fixing")]
    diff: bool,
}

impl FixArgs {
    /// The flag that was given: for new texts of files, or for the difference.
    pub(super) fn flag(&self) -> Option<&'static str> {
        let flags = [(self.diff, "--diff"), (self.fix, "--fix")];
        flags.into_iter().find_map(|(is_asked, flag)| is_asked.then_some(flag))
    }

    fn most(&self) -> Safety {
        if self.unsafe_fixes {
            Safety::Unsafe
        } else {
            Safety::Safe
        }
    }
}

/// The next step of a run with fixes.
pub(super) enum Next {
    /// With the report of what is left.
    Report(Box<Outcome>),
    /// Not at all: the diff was what was asked for.
    End(Exit),
}

/// Fixes what `options` find.
pub(super) fn run(arguments: &CheckArgs, options: &Options, streams: &mut Streams<'_>) -> io::Result<Next> {
    let asked = &arguments.fixing;
    let mut fixed = sqslint::fix(options, asked.most());
    if asked.diff {
        return diff(&fixed, options, arguments, streams).map(Next::End);
    }
    name_chains(&fixed, streams)?;
    let failures = fixed.write();
    if failures.is_empty() {
        tell(&fixed, asked, "fixed", streams)?;
    } else {
        // What is on disk is not what was judged.
        fixed.outcome = sqslint::check(options);
    }
    fixed.outcome.errors.extend(failures);
    fixed.outcome.errors.extend(fixed.broken.iter().cloned());
    Ok(Next::Report(Box::new(fixed.outcome)))
}

fn diff(fixed: &Fixed, options: &Options, arguments: &CheckArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let text = fixed.diff();
    let stdout = io::stdout();
    let shown = match arguments.output.color {
        When::Always => coloured(&text),
        When::Auto if anstream::AutoStream::choice(&stdout) != ColorChoice::Never && stdout.is_terminal() => {
            coloured(&text)
        }
        When::Auto | When::Never => text.clone(),
    };
    streams.out.write_all(shown.as_bytes())?;
    streams.out.flush()?;
    name_chains(fixed, streams)?;
    tell(fixed, &arguments.fixing, "would fix", streams)?;
    for error in fixed.outcome.errors.iter().chain(&fixed.broken) {
        writeln!(streams.err, "sqslint: {}", printable_error(error))?;
    }
    let nothing = fixed.outcome.graph.units().is_empty() && !arguments.allow_empty;
    Ok(if !fixed.outcome.errors.is_empty() || !fixed.broken.is_empty() {
        Exit::Failed
    } else if nothing {
        let message = nothing_to_check(&options.paths, &fixed.outcome);
        writeln!(streams.err, "sqslint: {}", printable(&message))?;
        Exit::Nothing
    } else if text.is_empty() || arguments.exit_zero {
        Exit::Clean
    } else {
        Exit::Findings
    })
}

/// Names the fixes of several parts, whose other parts no finding has announced.
fn name_chains(fixed: &Fixed, streams: &mut Streams<'_>) -> io::Result<()> {
    for chain in &fixed.chains {
        writeln!(streams.err, "sqslint: one fix, since the first part takes the others:")?;
        for part in std::iter::once(&chain.first).chain(&chain.others) {
            writeln!(streams.err, "  {}", printable(part))?;
        }
    }
    Ok(())
}

/// Says how much changed, and which fixes did not do.
fn tell(fixed: &Fixed, asked: &FixArgs, verb: &str, streams: &mut Streams<'_>) -> io::Result<()> {
    let more = more(fixed, asked);
    for left in &fixed.left {
        writeln!(streams.err, "sqslint: not fixed: {}", printable(left))?;
    }
    if fixed.findings > 0 {
        let (findings, files) = (counted(fixed.findings, "finding"), counted(fixed.files(), "file"));
        return writeln!(streams.err, "sqslint: {verb} {findings} in {files}{more}");
    }
    if fixed.outcome.graph.units().is_empty() {
        return Ok(());
    }
    writeln!(streams.err, "sqslint: nothing to fix{more}")
}

/// A note on findings that could be fixed if more were asked for.
fn more(fixed: &Fixed, asked: &FixArgs) -> String {
    let left = fixed.outcome.findings.iter().filter_map(|found| found.fix.as_deref());
    match left.filter(|fix| fix.safety > asked.most()).count() {
        0 => String::new(),
        count => format!("; {count} more with `--unsafe-fixes`, which changes how deployed resources behave"),
    }
}

/// Lines that come in green, those that go in red. On a terminal a line says no more than it shows.
fn coloured(diff: &str) -> String {
    let line = |line: &str| {
        let shown = printable(line);
        match line.as_bytes().first() {
            Some(b'+') => format!("\u{1b}[38;5;28m{shown}\u{1b}[0m\n"),
            Some(b'-') => format!("\u{1b}[38;5;196m{shown}\u{1b}[0m\n"),
            _ => format!("{shown}\n"),
        }
    };
    diff.lines().map(line).collect()
}
