//! Implements `--fix` and `--diff`, and reports their changes.

use super::check::tell_nothing;
use super::{CheckArgs, Exit, Streams};
use clap::Args;
use sqslint::diagnostic::Safety;
use sqslint::report::{counted, printable};
use sqslint::{Fixed, Options, Outcome};
use std::io;

/// Flags that request fixes.
#[derive(Debug, Args)]
pub(super) struct FixArgs {
    /// Apply safe fixes: they remove a defect and change nothing else that is deployed
    #[arg(long, conflicts_with = "add_ignore", help_heading = "Fixing")]
    pub(super) fix: bool,
    /// Also apply fixes that change how deployed resources behave, with --fix or --diff
    #[arg(long, requires = "fixing", help_heading = "Fixing")]
    unsafe_fixes: bool,
    /// Print what --fix would change as a diff, and write nothing
    #[arg(long, conflicts_with_all = ["add_ignore", "reports"], help_heading = "Fixing")]
    diff: bool,
}

impl FixArgs {
    /// Returns the flag that was passed: to edit files, or to print a diff.
    pub(super) fn flag(&self) -> Option<&'static str> {
        let flags = [(self.diff, "--diff"), (self.fix, "--fix")];
        flags
            .into_iter()
            .find_map(|(is_requested, flag)| is_requested.then_some(flag))
    }

    fn most(&self) -> Safety {
        if self.unsafe_fixes {
            Safety::Unsafe
        } else {
            Safety::Safe
        }
    }
}

/// Next step of a run with fixes.
pub(super) enum NextStep {
    /// Report the remaining findings.
    Report(Box<Outcome>),
    /// Exit without a report: only the diff was requested.
    End(Exit),
}

/// Fixes the findings of a run with `options`.
pub(super) fn run(arguments: &CheckArgs, options: &Options, streams: &mut Streams<'_>) -> io::Result<NextStep> {
    let requested = &arguments.fixing;
    let mut fixed = sqslint::fix(options, requested.most());
    let more = more(&fixed, requested, options);
    if requested.diff {
        return diff(&fixed, &more, options, arguments, streams).map(NextStep::End);
    }
    list(&fixed, streams)?;
    let failures = fixed.write();
    if failures.is_empty() {
        report_fixes(&fixed, &more, "fixed", streams)?;
    } else {
        // The outcome describes files that were not all written, so check the files on disk.
        fixed.outcome = sqslint::check(options);
    }
    fixed.outcome.errors.extend(failures);
    fixed.outcome.errors.extend(fixed.broken.iter().cloned());
    Ok(NextStep::Report(Box::new(fixed.outcome)))
}

fn diff(
    fixed: &Fixed,
    more: &str,
    options: &Options,
    arguments: &CheckArgs,
    streams: &mut Streams<'_>,
) -> io::Result<Exit> {
    let text = fixed.diff();
    let shown = if arguments.output.color.is_on() {
        coloured(&text)
    } else {
        text.clone()
    };
    streams.out.write_all(shown.as_bytes())?;
    streams.out.flush()?;
    list(fixed, streams)?;
    report_fixes(fixed, more, "would fix", streams)?;
    streams.tell_errors(fixed.outcome.errors.iter().chain(&fixed.broken))?;
    let nothing = fixed.outcome.graph.units().is_empty() && !arguments.allow_empty;
    Ok(if !fixed.outcome.errors.is_empty() || !fixed.broken.is_empty() {
        Exit::Failed
    } else if nothing {
        tell_nothing(&options.paths, &fixed.outcome, streams)?
    } else if text.is_empty() || arguments.exit_zero {
        Exit::Clean
    } else {
        Exit::Findings
    })
}

/// Lists the fixes, each with the further fixes that it requires.
fn list(fixed: &Fixed, streams: &mut Streams<'_>) -> io::Result<()> {
    for fix in &fixed.made {
        writeln!(streams.err, "sqslint: fix: {}", printable(&fix.first))?;
        for other in &fix.others {
            writeln!(streams.err, "  which requires: {}", printable(other))?;
        }
    }
    Ok(())
}

/// Reports how much changed, and which fixes failed.
fn report_fixes(fixed: &Fixed, more: &str, verb: &str, streams: &mut Streams<'_>) -> io::Result<()> {
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

/// Returns a note on printed findings that only `--unsafe-fixes` would fix.
fn more(fixed: &Fixed, requested: &FixArgs, options: &Options) -> String {
    let findings = fixed.outcome.findings.iter();
    let printed = findings.filter(|found| found.severity >= options.edit_severity);
    let left = printed.filter_map(|found| found.fix.as_deref());
    match left.filter(|fix| fix.safety > requested.most()).count() {
        0 => String::new(),
        count => format!("; {count} more with `--unsafe-fixes`, which changes how deployed resources behave"),
    }
}

/// Colours added lines green and removed lines red. Control characters are escaped, so that a line cannot manipulate
/// the terminal.
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
