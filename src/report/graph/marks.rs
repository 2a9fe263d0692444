//! Collects the findings of each resource, for formats that mark them in the graph.

use crate::diagnostic::{Diagnostic, Severity};
use std::collections::{BTreeMap, BTreeSet};

/// Findings of each resource.
#[derive(Debug, Default)]
pub struct Marks<'a>(BTreeMap<(&'a str, &'a str), BTreeSet<(Severity, &'a str)>>);

impl<'a> Marks<'a> {
    /// Collects `findings` by every resource that they concern.
    pub fn new(findings: &'a [Diagnostic]) -> Self {
        let mut marks = Marks::default();
        for found in findings {
            let first = (found.subject.unit.as_str(), found.subject.address.as_str());
            let others = found.calls.iter().map(|one| (one.unit.as_str(), one.address.as_str()));
            for concerned in std::iter::once(first).chain(others) {
                let mark = (found.severity, &*found.rule);
                marks.0.entry(concerned).or_default().insert(mark);
            }
        }
        marks
    }

    /// Returns the findings of a resource in the notation of reports, `error[rule-id]`, without duplicates and most
    /// severe first.
    pub(super) fn of<'s>(&'s self, unit: &'s str, address: &'s str) -> impl Iterator<Item = String> {
        let all = self.0.get(&(unit, address)).into_iter().flatten().rev();
        all.map(|(severity, rule)| format!("{severity}[{rule}]"))
    }

    /// Returns the severity and the rule of the resource's most severe finding, and the number of its other rules.
    pub(super) fn worst(&self, unit: &str, address: &str) -> Option<(Severity, &'a str, usize)> {
        let all = self.0.get(&(unit, address))?;
        let &(severity, rule) = all.last()?;
        Some((severity, rule, all.len() - 1))
    }

    /// Returns the addresses of the resources of `unit` with findings, sorted.
    pub(super) fn addresses<'s>(&'s self, unit: &'s str) -> impl Iterator<Item = &'s str> {
        let all = self.0.range((unit, "")..).map(|(key, _)| *key);
        all.take_while(move |(of, _)| *of == unit).map(|(_, address)| address)
    }

    /// Returns the units and addresses of all resources with findings, sorted.
    pub(super) fn resources(&self) -> impl Iterator<Item = (&'a str, &'a str)> + '_ {
        self.0.keys().copied()
    }
}
