//! A finding in words alone: for `NO_GRAPHICS`, screen readers and whatever cannot be drawn.

use super::{links, printable};
use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use std::fmt::Write;

/// How far the second line of a note is indented.
pub(super) const INDENT: usize = 8;

/// Appends `found`: what, where, why, and what to do.
pub(super) fn write(text: &mut String, sources: &Sources, found: &Diagnostic) {
    write_linked(text, sources, found, false);
}

/// Likewise, with paths as links where they are `linked`.
pub(super) fn write_linked(text: &mut String, sources: &Sources, found: &Diagnostic, linked: bool) {
    let _ = writeln!(
        text,
        "{}[{}]: {}",
        found.severity,
        found.rule,
        printable(&found.headline)
    );
    for label in found.labels() {
        let file = sources.file(label.span.file);
        let at = file.position(label.span.start as usize);
        let place = if label.primary { "at" } else { "see" };
        let message = match label.message.as_str() {
            "" => String::new(),
            message => format!(": {}", printable(message)),
        };
        let _ = writeln!(
            text,
            "  {place} {}:{}:{}{message}",
            links::to_file(&printable(file.shown()), &file, linked),
            at.line,
            at.column,
        );
    }
    for (name, note) in notes(found, 0) {
        let _ = writeln!(text, "  {name}: {note}");
    }
}

/// What stands below the places, by name.
pub(super) fn notes(found: &Diagnostic, left_out: usize) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    if left_out > 0 {
        notes.push(("places", format!("and {left_out} more")));
    }
    let optional = [
        ("calculation", &found.calculation),
        ("when", &found.when),
        ("help", &found.help),
    ];
    for (name, note) in optional {
        notes.extend(note.as_ref().map(|note| (name, printable(note))));
    }
    if !found.calls.is_empty() {
        notes.insert(0, ("for", calls(&found.calls)));
    }
    notes.push(("explain", format!("sqslint explain {}", found.rule)));
    notes
}

/// The resources that share the finding; the first few by name.
fn calls(addresses: &[String]) -> String {
    const NAMED: usize = 5;
    let mut named: Vec<String> = addresses
        .iter()
        .take(NAMED)
        .map(|address| format!("`{}`", printable(address)))
        .collect();
    if addresses.len() > NAMED {
        named.push(format!("and {} more", addresses.len() - NAMED));
    }
    named.join(", ")
}
