//! Formats a finding as prose: for `NO_GRAPHICS`, for screen readers, and for findings that cannot be drawn.

use super::region::Paths;
use super::{Report, links, printable, timeline};
use crate::diagnostic::Diagnostic;
use std::fmt::Write;

/// Appends `found`: its headline, locations, reasons and advice.
pub(super) fn write(text: &mut String, report: &Report<'_>, found: &Diagnostic, paths: Paths) {
    write_linked(text, report, found, paths, false);
}

/// Appends `found` like `write`, with the rule and the paths as links if `linked`.
pub(super) fn write_linked(text: &mut String, report: &Report<'_>, found: &Diagnostic, paths: Paths, linked: bool) {
    let sources = report.sources;
    let rule = links::to_page(&found.rule, report.published.page(&found.rule).filter(|_| linked));
    let _ = writeln!(text, "{}[{rule}]: {}", found.severity, printable(&found.headline));
    for label in found.labels() {
        let file = sources.file(label.span.file);
        let at = file.position(label.span.start as usize);
        let place = if label.primary { "at" } else { "see" };
        let message = match &*label.message {
            "" => String::new(),
            message => format!(": {}", printable(message)),
        };
        let _ = writeln!(
            text,
            "  {place} {}:{}:{}{message}",
            links::to_file(&printable(paths.file(&file)), &file, linked),
            at.line,
            at.column,
        );
    }
    let shown = timeline(found).map(|line| ("timeline", line));
    for (name, note) in notes(found, 0).into_iter().chain(shown).chain(advice(found)) {
        let _ = writeln!(text, "  {name}: {note}");
    }
}

/// Returns the notes below the locations, with their names: the affected resources, the arithmetic, the condition.
pub(super) fn notes(found: &Diagnostic, left_out: usize) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    if let Some(instances) = instances(found) {
        notes.push(("instances", instances));
    }
    if let Some(root) = found.root() {
        notes.push(("root", format!("`{}`", printable(root))));
    }
    if left_out > 0 {
        notes.push(("places", format!("and {left_out} more")));
    }
    let optional = [
        ("calculation", found.calculation.as_deref()),
        ("only if", found.when.as_deref()),
        ("note", found.remark),
    ];
    notes.extend(
        optional
            .into_iter()
            .filter_map(|(name, note)| Some((name, printable(note?)))),
    );
    notes
}

/// Returns the timeline on one line.
pub(super) fn timeline(found: &Diagnostic) -> Option<String> {
    found.timeline().map(|timeline| timeline::on_a_line(&timeline))
}

/// Returns the help, and the available fix.
pub(super) fn advice(found: &Diagnostic) -> impl Iterator<Item = (&'static str, String)> {
    let help = found.help.as_ref().map(|help| ("help", printable(help)));
    let fix = fix(found).map(|fix| ("fix", printable(&fix)));
    help.into_iter().chain(fix)
}

/// Describes the available fix, and the flags that apply it.
pub(super) fn fix(found: &Diagnostic) -> Option<String> {
    let fix = found.fix.as_deref()?;
    Some(format!("{} (`{}`)", fix.title, fix.safety.flags()))
}

/// Returns the addresses of all instances with this finding; `None` if the headline already names the only one.
pub(super) fn instances(found: &Diagnostic) -> Option<String> {
    match found.calls.as_slice() {
        [] => None,
        [one] if found.headline.contains(&one.address) => None,
        _ => Some(calls(found)),
    }
}

/// Lists the instances that share the finding, by what differs.
pub(super) fn calls(found: &Diagnostic) -> String {
    printable(&found.instances_in_words(|name| format!("`{name}`")))
}
