//! The findings of each resource, for the formats that mark them.

use crate::diagnostic::{Diagnostic, Severity};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The findings of each resource.
#[derive(Debug, Default)]
pub struct Marks<'a>(FxHashMap<(&'a str, &'a str), BTreeSet<(Severity, &'a str)>>);

impl<'a> Marks<'a> {
    /// Those of `findings`, under every resource that a finding is about.
    pub fn new(findings: &'a [Diagnostic]) -> Self {
        let mut marks = Marks::default();
        for found in findings {
            let unit = found.subject.unit.as_str();
            for address in std::iter::once(&found.subject.address).chain(&found.calls) {
                let mark = (found.severity, &*found.rule);
                marks.0.entry((unit, address)).or_default().insert(mark);
            }
        }
        marks
    }

    /// The findings about a resource as reports begin with them, `error[rule-id]`, each once, the worst first.
    pub(super) fn of<'s>(&'s self, unit: &'s str, address: &'s str) -> impl Iterator<Item = String> {
        let all = self.0.get(&(unit, address)).into_iter().flatten().rev();
        all.map(|(severity, rule)| format!("{severity}[{rule}]"))
    }

    /// The severity of the worst finding about the resource.
    pub(super) fn worst(&self, unit: &str, address: &str) -> Option<Severity> {
        Some(self.0.get(&(unit, address))?.last()?.0)
    }
}
