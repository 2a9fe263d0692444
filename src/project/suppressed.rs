//! What suppressions need to know of a run: which rules ran over which files, and what the configurations let them do.

use super::Judged;
use crate::config::{Config, Configs};
use crate::diagnostic::{Diagnostic, Suppressed};
use crate::graph::{Graph, Resource};
use crate::history::Why;
use crate::judge::Policies;
use crate::rules::{self, Rule};
use crate::selection::{Selection, covers};
use crate::source::{FileId, Sources};
use crate::suppress::{Day, Policy, Suppressions, Written};
use crate::{Options, frontend};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// What suppressions did in a run.
#[derive(Default)]
pub(super) struct Silenced {
    /// What they keep from being findings.
    pub(super) suppressed: Vec<Suppressed>,
    /// What is wrong with them.
    pub(super) complaints: Vec<Diagnostic>,
}

/// Takes out of every environment's findings what suppressions silence.
pub(super) fn take_out(
    judged: &mut [Judged],
    options: &Options,
    configs: &Configs,
    policies: &mut Policies,
    sources: &Sources,
) -> Silenced {
    let written = frontend::suppressions(sources);
    if written.is_empty() {
        return Silenced::default();
    }
    let run = Run::new(&written, judged, options, configs, policies, sources);
    let mut suppressions = Suppressions::new(written, options.today.unwrap_or_else(Day::today));
    let mut silenced = Vec::new();
    for one in judged.iter_mut() {
        let mut kept = Vec::new();
        let mut taken: BTreeMap<Why, Vec<Diagnostic>> = BTreeMap::new();
        for found in std::mem::take(&mut one.findings) {
            match suppressions.judge(found, &run) {
                Ok(one) => taken.entry((one.by, one.reason)).or_default().push(one.finding),
                Err(found) => kept.push(found),
            }
        }
        one.findings = kept;
        silenced.push((one.name.clone(), taken));
    }
    let complaints: Vec<(Diagnostic, Arc<Config>)> = (suppressions.complaints(sources, &run).into_iter())
        .filter_map(|found| run.asked_for(found))
        .collect();
    for (found, config) in &complaints {
        policies.insert_missing(&found.subject.unit, config.clone());
    }
    let mut suppressed = joined(silenced, judged.len(), sources);
    suppressed.retain(|one| one.finding.severity >= options.min_severity);
    Silenced {
        suppressed,
        complaints: complaints.into_iter().map(|(found, _)| found).collect(),
    }
}

/// One entry for what is one finding in several environments or calls and has one suppression.
fn joined(
    silenced: Vec<(Option<String>, BTreeMap<Why, Vec<Diagnostic>>)>,
    environments: usize,
    sources: &Sources,
) -> Vec<Suppressed> {
    let mut by_reason: BTreeMap<Why, Vec<(Option<String>, Vec<Diagnostic>)>> = BTreeMap::new();
    for (name, taken) in silenced {
        for (reason, findings) in taken {
            by_reason.entry(reason).or_default().push((name.clone(), findings));
        }
    }
    let by_reason = by_reason.into_iter();
    let findings = by_reason.map(|(why, found)| (why, super::of_environments(found, environments)));
    super::silenced(findings.collect(), sources)
}

/// Adds the units of which something is declared in a file, or called from it.
fn note_units(graph: &Graph, units: &mut FxHashMap<FileId, BTreeSet<String>>) {
    let mut last = None;
    let mut note = |resource: &Resource| {
        for span in resource.calls.iter().chain([&resource.header]) {
            // Thousands of instances come in a row.
            if last != Some((span.file, resource.unit)) {
                last = Some((span.file, resource.unit));
                let unit = graph.unit(resource.unit).name.clone();
                units.entry(span.file).or_default().insert(unit);
            }
        }
    };
    graph.queues().iter().for_each(|queue| note(&queue.resource));
    graph.functions().iter().for_each(|function| note(&function.resource));
    graph.mappings().iter().for_each(|mapping| note(&mapping.resource));
    graph.alarms().iter().for_each(|alarm| note(&alarm.resource));
}

/// Units of which not everything is read.
fn noted(graph: &Graph) -> impl Iterator<Item = String> {
    let units = graph.units().iter().filter(|unit| !unit.notes.is_empty());
    units.map(|unit| unit.name.clone())
}

/// What matters of a file that has suppressions.
struct About {
    config: Arc<Config>,
    /// The units that may have findings in it.
    units: BTreeSet<String>,
    /// The unit that findings about the file itself belong to.
    unit: String,
}

impl About {
    fn new(
        file: FileId,
        units: Option<&BTreeSet<String>>,
        configs: &Configs,
        policies: &Policies,
        sources: &Sources,
    ) -> Self {
        let file = sources.file(file);
        let directory = sources.name_of(file.path().parent().unwrap_or(Path::new("")));
        let known = [file.name().to_owned(), directory.clone()].into_iter();
        let mut units = units.cloned().unwrap_or_default();
        units.extend(known.filter(|unit| policies.knows(unit)));
        About {
            config: configs.of(file.path()).unwrap_or_default(),
            unit: units.first().cloned().unwrap_or(directory),
            units,
        }
    }
}

struct Run<'a> {
    selection: &'a Selection,
    policies: Policies,
    sources: &'a Sources,
    files: FxHashMap<FileId, About>,
    broken: FxHashSet<String>,
    /// Rules that could not judge something in a unit.
    open: FxHashSet<(&'static str, String)>,
}

impl<'a> Run<'a> {
    fn new(
        written: &[Written],
        judged: &[Judged],
        options: &'a Options,
        configs: &Configs,
        policies: &Policies,
        sources: &'a Sources,
    ) -> Self {
        let mut units = FxHashMap::default();
        let (mut broken, mut open) = (FxHashSet::default(), FxHashSet::default());
        for one in judged {
            note_units(&one.graph, &mut units);
            broken.extend(one.broken.iter().cloned().chain(noted(&one.graph)));
            let entries = one.not_evaluated.iter();
            open.extend(entries.map(|open| (open.rule, open.subject.unit.clone())));
        }
        let mut files: FxHashMap<FileId, About> = FxHashMap::default();
        for one in written {
            let file = one.span.file;
            files
                .entry(file)
                .or_insert_with(|| About::new(file, units.get(&file), configs, policies, sources));
        }
        Run {
            selection: &options.selection,
            policies: policies.clone(),
            sources,
            files,
            broken,
            open,
        }
    }

    /// `found` as the configuration of its file wants it, if it does.
    fn asked_for(&self, mut found: Diagnostic) -> Option<(Diagnostic, Arc<Config>)> {
        let rule = rules::by_id(found.rule)?;
        let file = found.primary().span.file;
        let config = &self.files.get(&file)?.config;
        let path = self.sources.file(file);
        let silenced = config.silences(rule, path.path(), &found.subject.address).is_some();
        if silenced || !self.selection.selects(rule, config) {
            return None;
        }
        if let Some(severity) = config.rule(rule).and_then(|set| set.severity) {
            found.severity = severity;
        }
        Some((found, config.clone()))
    }
}

impl Policy for Run<'_> {
    fn may_suppress(&self, finding: &Diagnostic) -> bool {
        self.policies.of(&finding.subject.unit).may_suppress(finding.rule)
    }

    fn is_judged(&self, rule: &Rule, file: FileId) -> bool {
        let Some(about) = self.files.get(&file) else {
            return false;
        };
        let mut overrides = about.config.overrides.iter().flat_map(|(_, rules)| &rules.ignore);
        if !self.selection.selects(rule, &about.config) || overrides.any(|name| covers(name, rule)) {
            return false;
        }
        let is_whole = |unit: &String| !self.broken.contains(unit) && !self.open.contains(&(rule.id, unit.clone()));
        !about.units.is_empty() && about.units.iter().all(is_whole)
    }

    fn wants_reason(&self, file: FileId) -> bool {
        self.files.get(&file).is_some_and(|about| about.config.require_reason)
    }

    fn unit_of(&self, file: FileId) -> String {
        self.files
            .get(&file)
            .map_or_else(String::new, |about| about.unit.clone())
    }
}
