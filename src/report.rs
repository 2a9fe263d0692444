//! Formats: each turns one [`Report`] into text, and none of them knows a rule, a dialect or the graph.
//!
//! What comes out of the inputs (names, paths, values) may hold anything: everything that is meant for a
//! terminal passes through [`printable`] or, in snippets, through a replacement of the same length.

pub mod concise;
mod excerpt;
pub mod human;
pub mod json;
mod prose;
pub mod summary;
mod suppressed;

use crate::diagnostic::{Diagnostic, NotEvaluated, Suppressed};
use crate::source::Sources;

/// What a format may show.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The texts that spans point into.
    pub sources: &'a Sources,
    /// Sorted.
    pub findings: &'a [Diagnostic],
    /// What suppressions silence, sorted.
    pub suppressed: &'a [Suppressed],
    /// Whether formats for people show that, too.
    pub show_suppressed: bool,
    /// What could not be judged.
    pub not_evaluated: &'a [NotEvaluated],
    /// What kept sqslint from doing its job.
    pub errors: &'a [String],
    /// What was read.
    pub units: &'a Units,
}

/// How many units were read, and what in them was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Units {
    /// Terraform root modules.
    pub modules: usize,
    /// Templates, whichever tool deploys them.
    pub templates: usize,
    /// Stacks of CDK apps.
    pub stacks: usize,
    /// Serverless Framework services.
    pub services: usize,
    /// Terraform plans.
    pub plans: usize,
    /// Terraform states.
    pub states: usize,
    /// By unit: what in it is not read.
    pub notes: Vec<String>,
}

/// `text` on one line, with nothing in it that a terminal would obey or that reorders what is seen.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' | '\r' => shown.push(' '),
            _ if is_deceptive(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}

/// Control characters, line separators and bidirectional controls.
fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// `1 error`, `2 errors`.
fn counted(count: usize, singular: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {singular}{plural}")
}

#[cfg(test)]
mod samples;
