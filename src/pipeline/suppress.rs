//! Removes suppressed findings, and merges the findings of all environments.
//!
//! Suppressions query the rules that ran over each file, and the configurations' restrictions, through [`View`].

use super::combined::without_copies;
use super::coverage::Instances;
use super::environments::{Counts, keep_judgements, merge_environments};
use super::lint::{Linted, if_selected};
use super::load::Environment;
use super::order::with_reasons;
use super::policies::Policies;
use super::{Outcome, Run};
use crate::config::{Config, Configs};
use crate::diagnostic::{Diagnostic, ENVIRONMENT, RuleId, Subject, Suppressed};
use crate::frontend;
use crate::graph::{Connections, Graph, Resource};
use crate::history::{CheckedPart, FindingInEnvironments, KnownBecause};
use crate::rules::{self, Rule};
use crate::selection::{Selection, covers};
use crate::suppress::{Day, Policy, RawSuppression, Suppressions};
use rustc_hash::{FxHashMap, FxHashSet};
use source::files::{is_directory, named};
use source::{FileId, Sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Findings that are not suppressed, before known ones are removed.
pub(super) struct Unsuppressed {
    pub(super) outcome: Outcome,
    /// Findings with the environments that they occur in.
    pub(super) findings: Vec<FindingInEnvironments>,
    /// Number of environments of each unit.
    pub(super) environments: Counts,
    pub(super) policies: Policies,
}

/// Removes suppressed findings, and merges the environments.
pub(super) fn suppress(run: &Run<'_>, linted: Linted) -> Unsuppressed {
    let Linted {
        mut outcome,
        environments: mut all,
        mut policies,
    } = linted;
    for one in &mut all {
        one.findings = without_copies(std::mem::take(&mut one.findings), &one.graph);
    }
    let mut faults = Vec::new();
    if !run.options.no_ignores {
        faults = apply_suppressions(run, &mut all, &mut policies, &mut outcome);
    }
    let environments = counts_of(&all);
    let units: Option<Vec<FxHashSet<String>>> = all.iter().map(|one| one.units.clone()).collect();
    let is_judged = |unit: &str| (units.as_ref()).is_none_or(|units| units.iter().any(|units| units.contains(unit)));
    let mut instances = (all.len() > 1).then(Instances::default);
    let mut found = Vec::new();
    for (at, one) in all.into_iter().enumerate() {
        if run.options.notes_reach {
            let reach = Connections::of(&one.graph, |unit| !run.session.is_outside(unit));
            outcome.reach.add(reach);
        }
        if let Some(instances) = &mut instances {
            instances.add(&one.graph, &is_judged);
            if at > 0 {
                instances.merge(&mut outcome.coverage, one.coverage);
            } else {
                outcome.coverage = one.coverage;
                if one.units.is_none() {
                    (outcome.coverage.gaps).retain(|gap| !environments.has_own(&gap.subject.unit));
                }
            }
        } else {
            outcome.coverage = one.coverage;
        }
        keep_judgements(&mut outcome.judgements, one.judgements, one.name.as_ref());
        found.push((one.name.clone(), one.findings));
        if at == 0 {
            outcome.environment = one.name;
            outcome.graph = one.graph;
            // A value that is resolved in the environments of a unit is resolved.
            outcome.not_evaluated = one.not_evaluated;
            let is_limited = one.units.is_some();
            let is_open =
                |open: &Subject| open.attribute == ENVIRONMENT || is_limited || !environments.has_own(&open.unit);
            outcome.not_evaluated.retain(|open| is_open(&open.subject));
            continue;
        }
        for open in one.not_evaluated {
            if !outcome.not_evaluated.contains(&open) {
                outcome.not_evaluated.push(open);
            }
        }
        if run.options.keeps_graphs() {
            outcome
                .other_environments
                .extend(one.name.map(|name| (name, one.graph)));
        }
    }
    if let Some(instances) = instances {
        instances.settle(&mut outcome.coverage);
    }
    // Faults of suppressions occur in every environment.
    let everywhere: Vec<String> = found.iter().filter_map(|(name, _)| name.clone()).collect();
    let mut findings = merge_environments(found);
    findings.extend(faults.into_iter().map(|fault| (fault, everywhere.clone())));
    outcome
        .not_evaluated
        .sort_by(|a, b| (&a.subject, &a.rule, &a.reason).cmp(&(&b.subject, &b.rule, &b.reason)));
    Unsuppressed {
        outcome,
        findings,
        environments,
        policies,
    }
}

fn counts_of(environments: &[Environment]) -> Counts {
    Counts::of(environments.iter().map(|one| one.units.as_ref()))
}

impl Unsuppressed {
    /// Calls `ask` with the checked part of the project. Only entries in this part of a baseline can be stale.
    pub(super) fn covering<T>(&self, run: &Run<'_>, ask: impl FnOnce(&CheckedPart<'_>) -> T) -> T {
        let runs = |rule: &str, unit: &str| {
            let selects = |rule: &Rule<'_>| self.policies.of(unit).runs(rule, &run.options.selection);
            run.configs.catalogue().by_id(rule).is_none_or(|rule| selects(&rule))
        };
        let walked = run.options.paths.iter().filter_map(|path| named(path).ok());
        ask(&CheckedPart {
            units: self
                .outcome
                .graph
                .units()
                .iter()
                .map(|unit| unit.name.as_str())
                .collect(),
            walked: walked.filter(|path| is_directory(path)).collect(),
            runs: &runs,
            environments: &run.options.environments,
        })
    }
}

/// Moves suppressed findings from every environment to the outcome. Returns findings about the suppressions.
fn apply_suppressions(
    run: &Run<'_>,
    environments: &mut [Environment],
    policies: &mut Policies,
    outcome: &mut Outcome,
) -> Vec<Diagnostic> {
    let (options, sources) = (run.options, &outcome.sources);
    let written = frontend::suppressions(sources);
    if written.is_empty() {
        return Vec::new();
    }
    let rules = run.configs.catalogue();
    let view = View::new(&written, environments, run, policies, sources);
    let mut suppressions = Suppressions::new(written, options.today.unwrap_or_else(Day::today), &rules);
    let mut suppressed_by_environment = Vec::new();
    for one in environments.iter_mut() {
        let mut kept = Vec::new();
        let mut taken: BTreeMap<KnownBecause, Vec<Diagnostic>> = BTreeMap::new();
        for found in std::mem::take(&mut one.findings) {
            match suppressions.judge(found, &view) {
                Ok(one) => taken.entry((one.by, one.reason)).or_default().push(one.finding),
                Err(found) => kept.push(found),
            }
        }
        one.findings = kept;
        suppressed_by_environment.push((one.name.clone(), taken));
    }
    let faults: Vec<(Diagnostic, Arc<Config>)> = (suppressions.complaints(sources, &view).into_iter())
        .filter_map(|found| view.if_selected(found))
        .collect();
    outcome.former = suppressions.former_ids(sources);
    for (found, config) in &faults {
        policies.insert_missing(&found.subject.unit, config.clone());
    }
    let mut suppressed = joined(suppressed_by_environment, &counts_of(environments), sources);
    suppressed.retain(|one| one.finding.severity >= options.min_severity);
    outcome.suppressed = suppressed;
    faults.into_iter().map(|(found, _)| found).collect()
}

/// Joins suppressed findings that occur in several environments or calls and have the same suppression.
fn joined(
    suppressed_by_environment: Vec<(Option<String>, BTreeMap<KnownBecause, Vec<Diagnostic>>)>,
    environments: &Counts,
    sources: &Sources,
) -> Vec<Suppressed> {
    let mut by_reason: BTreeMap<KnownBecause, Vec<(Option<String>, Vec<Diagnostic>)>> = BTreeMap::new();
    for (name, taken) in suppressed_by_environment {
        for (reason, findings) in taken {
            by_reason.entry(reason).or_default().push((name.clone(), findings));
        }
    }
    let by_reason = by_reason.into_iter();
    let findings = by_reason.map(|(why, found)| (why, environments.merge_and_name(found)));
    with_reasons(findings.collect(), sources)
}

/// Adds the units that declare a resource in a file, or call one from it.
fn note_units(graph: &Graph, units: &mut FxHashMap<FileId, BTreeSet<String>>) {
    let mut last = None;
    let mut note = |resource: &Resource| {
        for span in resource.calls.iter().chain([&resource.header]) {
            // Thousands of instances may be adjacent.
            if last != Some((span.file, resource.unit)) {
                last = Some((span.file, resource.unit));
                let unit = graph.unit(resource.unit).name.clone();
                units.entry(span.file).or_default().insert(unit);
            }
        }
    };
    graph.resources().for_each(&mut note);
    graph.alarms().iter().for_each(|alarm| note(&alarm.resource));
    for function in graph.functions() {
        if let Ok(handler) = &function.handler {
            let unit = graph.unit(function.resource.unit).name.clone();
            units.entry(handler.place.file).or_default().insert(unit);
        }
    }
}

/// Returns the units that are not read completely.
fn noted(graph: &Graph) -> impl Iterator<Item = String> {
    let units = graph.units().iter().filter(|unit| !unit.notes.is_empty());
    units.map(|unit| unit.name.clone())
}

/// Context of a file with suppressions.
struct About {
    config: Arc<Config>,
    /// Units that may have findings in the file.
    units: BTreeSet<String>,
    /// Unit that findings about the file itself belong to.
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
            config: configs.for_path(file.path()).unwrap_or_default(),
            unit: units.first().cloned().unwrap_or(directory),
            units,
        }
    }
}

/// Context of a run for suppressions.
struct View<'a> {
    selection: &'a Selection,
    /// `true` if only some environments are judged, of which others may need a suppression.
    is_partial: bool,
    policies: Policies,
    sources: &'a Sources,
    files: FxHashMap<FileId, About>,
    broken: FxHashSet<String>,
    /// Rules that left a resource of a unit unjudged.
    open: FxHashSet<(RuleId, String)>,
}

impl<'a> View<'a> {
    fn new(
        written: &[RawSuppression],
        environments: &[Environment],
        run: &Run<'a>,
        policies: &Policies,
        sources: &'a Sources,
    ) -> Self {
        let mut units = FxHashMap::default();
        let (mut broken, mut open) = (FxHashSet::default(), FxHashSet::default());
        for one in environments {
            note_units(&one.graph, &mut units);
            broken.extend(one.broken.iter().cloned().chain(noted(&one.graph)));
            for entry in &one.not_evaluated {
                open.insert((entry.rule.clone(), entry.subject.unit.clone()));
                broken.extend(entry.is_unread().then(|| entry.subject.unit.clone()));
            }
        }
        let mut files: FxHashMap<FileId, About> = FxHashMap::default();
        for one in written {
            let file = one.span.file;
            files
                .entry(file)
                .or_insert_with(|| About::new(file, units.get(&file), run.configs, policies, sources));
        }
        View {
            selection: &run.options.selection,
            is_partial: !run.options.environments.is_empty(),
            policies: policies.clone(),
            sources,
            files,
            broken,
            open,
        }
    }

    /// Applies the configuration of the file to `found`, and returns `None` if it excludes the finding.
    fn if_selected(&self, found: Diagnostic) -> Option<(Diagnostic, Arc<Config>)> {
        let rule = rules::by_id(&found.rule)?;
        let config = &self.files.get(&found.primary().span.file)?.config;
        let found = if_selected(rule, found, config, self.selection, self.sources)?;
        Some((found, config.clone()))
    }
}

impl Policy for View<'_> {
    fn may_suppress(&self, finding: &Diagnostic) -> bool {
        self.policies.of(&finding.subject.unit).may_suppress(&finding.rule)
    }

    fn is_judged(&self, rule: &Rule<'_>, file: FileId) -> bool {
        let Some(about) = self.files.get(&file) else {
            return false;
        };
        // A suppression may be for a finding that this run does not report.
        let rule = &rule.for_finding(true);
        let mut overrides = about.config.overrides.iter().flat_map(|(_, rules)| &rules.ignore);
        if !about.config.runs(rule, self.selection) || overrides.any(|name| covers(name, rule)) {
            return false;
        }
        let is_whole =
            |unit: &String| !self.broken.contains(unit) && !self.open.contains(&(rule.shared_id(), unit.clone()));
        !self.is_partial && !about.units.is_empty() && about.units.iter().all(is_whole)
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
