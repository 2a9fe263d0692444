//! The findings of each resource, for the formats that mark them.

use crate::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The findings of each resource.
#[derive(Debug, Default)]
pub struct Marks<'a>(FxHashMap<(&'a str, &'a str), BTreeSet<String>>);

impl<'a> Marks<'a> {
    /// Those of `findings`, under every resource that a finding is about.
    pub fn new(findings: &'a [Diagnostic]) -> Self {
        let mut marks = Marks::default();
        for found in findings {
            let unit = found.subject.unit.as_str();
            for address in std::iter::once(&found.subject.address).chain(&found.calls) {
                let mark = format!("{}[{}]", found.severity, found.rule);
                marks.0.entry((unit, address)).or_default().insert(mark);
            }
        }
        marks
    }

    /// The findings about a resource as reports begin with them, `error[rule-id]`, each once.
    pub(super) fn of<'s>(&'s self, unit: &'s str, address: &'s str) -> impl Iterator<Item = &'s str> {
        self.0.get(&(unit, address)).into_iter().flatten().map(String::as_str)
    }

    /// Returns true if there is a finding about the resource.
    pub(super) fn has(&self, unit: &str, address: &str) -> bool {
        self.0.contains_key(&(unit, address))
    }
}
