//! Findings on a template that was combined from others, or packaged from one, and is committed next to them. A defect
//! that both have is reported once, in the source.
//!
//! ```text
//! infra/queues.yaml     Orders, OrdersDlq           ┐ sources
//! infra/workers.yaml    Worker                      ┘
//! infra/combined.yaml   Orders, OrdersDlq, Worker     has all of their resources, and no others
//! infra/template.yaml   Mails                       ─ source
//! infra/packaged.yaml   Mails                         what `sam package` wrote, perhaps some time ago
//! ```
//!
//! Two templates with the same resources are otherwise two stacks.

use crate::diagnostic::{Diagnostic, RuleId, Subject};
use crate::graph::{Graph, UnitKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of templates near each other that are compared.
const MAX_TEMPLATES: usize = 256;

/// Logical ids of each template.
type Templates<'g> = BTreeMap<&'g str, BTreeSet<&'g str>>;

/// Removes the findings on combined templates that one of their sources has, too. The finding on the source receives a
/// label there, so that a comment in either suppresses it.
pub(super) fn without_copies(findings: Vec<Diagnostic>, graph: &Graph) -> Vec<Diagnostic> {
    let sources = sources(&templates(graph));
    if sources.is_empty() {
        return findings;
    }
    let (copies, mut findings): (Vec<Diagnostic>, Vec<Diagnostic>) =
        (findings.into_iter()).partition(|found| sources.contains_key(found.subject.unit.as_str()));
    let places = findings.iter().enumerate();
    let places: FxHashMap<_, usize> = places
        .map(|(at, found)| (key(found, &found.subject.unit), at))
        .collect();
    let (mut labels, mut rest) = (Vec::new(), Vec::new());
    for copy in copies {
        let mut of = sources[copy.subject.unit.as_str()].iter();
        match of.find_map(|unit| places.get(&key(&copy, unit)).copied()) {
            Some(at) => labels.push((at, copy.primary().span, copy.severity)),
            None => rest.push(copy),
        }
    }
    for (at, span, severity) in labels {
        let found = &mut findings[at];
        found.add_label(span, "the template that is generated from it has the same");
        // The whole may know more than a part, such as that alarms on other queues are declared.
        found.severity = found.severity.max(severity);
    }
    findings.extend(rest);
    findings
}

/// Returns what equal findings on a source and a combined template share, for a finding in the template `unit`.
fn key(found: &Diagnostic, unit: &str) -> (Subject, RuleId, [Option<Arc<str>>; 4]) {
    let subject = Subject {
        unit: unit.to_owned(),
        ..found.subject.clone()
    };
    let text = [
        Some(found.headline.as_str().into()),
        found.calculation.clone(),
        found.when.as_deref().map(Arc::from),
        found.help.clone(),
    ];
    (subject, found.rule.clone(), text)
}

fn templates(graph: &Graph) -> Templates<'_> {
    let mut all = Templates::default();
    let alarms = graph.alarms().iter().map(|alarm| &alarm.resource);
    for resource in graph.resources().chain(alarms) {
        let unit = graph.unit(resource.unit);
        if unit.kind == UnitKind::Template && unit.key.calls().is_none() {
            all.entry(&unit.name).or_default().insert(&resource.address);
        }
    }
    all
}

/// Returns the sources of each combined or packaged template.
fn sources<'g>(templates: &Templates<'g>) -> FxHashMap<&'g str, Vec<&'g str>> {
    let mut near: FxHashMap<PathBuf, BTreeSet<&str>> = FxHashMap::default();
    for name in templates.keys() {
        // Sources may be in directories below the combined template.
        for directory in Path::new(name).ancestors().skip(1) {
            near.entry(directory.to_owned()).or_default().insert(name);
        }
    }
    let mut all = FxHashMap::default();
    for name in templates.keys() {
        let directory = Path::new(name).parent().unwrap_or(Path::new(""));
        let Some(near) = near.get(directory).filter(|near| near.len() <= MAX_TEMPLATES) else {
            continue;
        };
        let others = near.iter().copied().filter(|other| other != name);
        let sources = sources_of(name, others, templates);
        if !sources.is_empty() {
            all.insert(*name, sources);
        }
    }
    all
}

fn sources_of<'g>(name: &str, others: impl Iterator<Item = &'g str>, templates: &Templates<'g>) -> Vec<&'g str> {
    let own = &templates[name];
    if is_packaged(name) {
        let beside = |other: &&str| Path::new(other).parent() == Path::new(name).parent() && !is_packaged(other);
        // The copy may be older than its source.
        let is_source = |other: &&str| templates[other].intersection(own).count() * 2 >= own.len();
        return others.filter(beside).filter(is_source).collect();
    }
    let is_part = |other: &&str| templates[other].len() < own.len() && templates[other].is_subset(own);
    let parts: Vec<&str> = others.filter(is_part).collect();
    let covered: FxHashSet<&str> = parts.iter().flat_map(|part| &templates[part]).copied().collect();
    let is_combined = parts.len() > 1 && covered.len() == own.len();
    if is_combined { parts } else { Vec::new() }
}

/// Returns `true` for the names that `package` commands are usually given: `packaged.yaml`, `orders-packaged.yml`.
fn is_packaged(name: &str) -> bool {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
    stem.is_some_and(|stem| stem == "output" || stem.split(['-', '_', '.']).any(|word| word == "packaged"))
}
