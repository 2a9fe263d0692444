//! The fourth step: what suppressions keep from being findings, and what is left of all environments as one.
//!
//! Suppressions ask which rules ran over which files, and what the configurations let them do ([`View`]).

use super::environments::{Counts, held_of, keep_judgements};
use super::lint::{Linted, LintedEnvironment};
use super::order::with_reasons;
use super::policies::Policies;
use super::{Gathered, Run};
use crate::config::{Config, Configs};
use crate::diagnostic::{Diagnostic, NotEvaluated, RuleId, Suppressed};
use crate::files::{is_directory, named};
use crate::frontend;
use crate::graph::{Graph, Reach, Resource};
use crate::history::{Coverage, Held, Why};
use crate::rules::{self, Judgement, Rule};
use crate::selection::{Selection, covers};
use crate::source::{FileId, Sources};
use crate::suppress::{Day, Policy, Suppressions, Written};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// What there is to say, before it is asked what was known.
pub(super) struct Silenced {
    pub(super) gathered: Gathered,
    /// Findings with the environments they hold in.
    pub(super) held: Vec<Held>,
    /// How many environments there are.
    pub(super) environments: Counts,
    pub(super) policies: Policies,
    /// The first environment's graph, and its name.
    pub(super) graph: Graph,
    pub(super) environment: Option<String>,
    /// The graphs of the others, in a traced run.
    pub(super) elsewhere: Vec<(String, Graph)>,
    /// What suppressions keep from being findings.
    pub(super) suppressed: Vec<Suppressed>,
    pub(super) not_evaluated: Vec<NotEvaluated>,
    pub(super) judgements: Vec<Judgement>,
}

/// Takes out what suppressions silence, and puts the environments together.
pub(super) fn silence(run: &Run<'_>, linted: Linted) -> Silenced {
    let Linted {
        gathered,
        mut environments,
        mut policies,
    } = linted;
    let taken = if run.options.no_ignores {
        TakenOut::default()
    } else {
        take_out(run, &mut environments, &mut policies, &gathered.sources)
    };
    let mut silenced = Silenced {
        gathered,
        held: Vec::new(),
        environments: counts_of(&environments),
        policies,
        graph: Graph::default(),
        environment: None,
        elsewhere: Vec::new(),
        suppressed: taken.suppressed,
        not_evaluated: Vec::new(),
        judgements: Vec::new(),
    };
    let mut found = Vec::new();
    for (at, one) in environments.into_iter().enumerate() {
        if run.options.notes_reach {
            silenced.gathered.reach.add(Reach::of(&one.graph));
        }
        keep_judgements(&mut silenced.judgements, one.judgements, one.name.as_ref());
        found.push((one.name.clone(), one.findings));
        if at == 0 {
            silenced.environment = one.name;
            silenced.graph = one.graph;
            // What the environments of a unit settle is settled.
            let mut open = one.not_evaluated;
            open.retain(|open| !silenced.environments.has_own(&open.subject.unit));
            silenced.not_evaluated = open;
            continue;
        }
        for open in one.not_evaluated {
            if !silenced.not_evaluated.contains(&open) {
                silenced.not_evaluated.push(open);
            }
        }
        if run.options.trace {
            silenced.elsewhere.extend(one.name.map(|name| (name, one.graph)));
        }
    }
    // What is wrong with a suppression is wrong in every environment.
    let everywhere: Vec<String> = found.iter().filter_map(|(name, _)| name.clone()).collect();
    silenced.held = held_of(found);
    let faults = taken.faults.into_iter();
    silenced.held.extend(faults.map(|fault| (fault, everywhere.clone())));
    silenced
        .not_evaluated
        .sort_by(|a, b| (&a.subject, &a.rule, &a.reason).cmp(&(&b.subject, &b.rule, &b.reason)));
    silenced
}

fn counts_of(environments: &[LintedEnvironment]) -> Counts {
    Counts::of(environments.iter().map(|one| one.units.as_ref()))
}

impl Silenced {
    /// Hands over what of the project was judged: only there can an entry of a baseline be stale.
    pub(super) fn covering<T>(&self, run: &Run<'_>, ask: impl FnOnce(&Coverage<'_>) -> T) -> T {
        let runs = |rule: &str, unit: &str| {
            let selects = |rule: &Rule<'_>| self.policies.of(unit).runs(rule, &run.options.selection);
            run.configs.catalogue().by_id(rule).is_none_or(|rule| selects(&rule))
        };
        let walked = run.options.paths.iter().filter_map(|path| named(path).ok());
        ask(&Coverage {
            units: self.graph.units().iter().map(|unit| unit.name.as_str()).collect(),
            walked: walked.filter(|path| is_directory(path)).collect(),
            runs: &runs,
        })
    }
}

/// What suppressions did in a run.
#[derive(Default)]
struct TakenOut {
    /// What they keep from being findings.
    suppressed: Vec<Suppressed>,
    /// What is wrong with them.
    faults: Vec<Diagnostic>,
}

/// Takes out of every environment's findings what suppressions silence.
fn take_out(
    run: &Run<'_>,
    environments: &mut [LintedEnvironment],
    policies: &mut Policies,
    sources: &Sources,
) -> TakenOut {
    let options = run.options;
    let written = frontend::suppressions(sources);
    if written.is_empty() {
        return TakenOut::default();
    }
    let rules = run.configs.catalogue();
    let view = View::new(&written, environments, run, policies, sources);
    let mut suppressions = Suppressions::new(written, options.today.unwrap_or_else(Day::today), &rules);
    let mut silenced = Vec::new();
    for one in environments.iter_mut() {
        let mut kept = Vec::new();
        let mut taken: BTreeMap<Why, Vec<Diagnostic>> = BTreeMap::new();
        for found in std::mem::take(&mut one.findings) {
            match suppressions.judge(found, &view) {
                Ok(one) => taken.entry((one.by, one.reason)).or_default().push(one.finding),
                Err(found) => kept.push(found),
            }
        }
        one.findings = kept;
        silenced.push((one.name.clone(), taken));
    }
    let faults: Vec<(Diagnostic, Arc<Config>)> = (suppressions.complaints(sources, &view).into_iter())
        .filter_map(|found| view.asked_for(found))
        .collect();
    for (found, config) in &faults {
        policies.insert_missing(&found.subject.unit, config.clone());
    }
    let mut suppressed = joined(silenced, &counts_of(environments), sources);
    suppressed.retain(|one| one.finding.severity >= options.min_severity);
    TakenOut {
        suppressed,
        faults: faults.into_iter().map(|(found, _)| found).collect(),
    }
}

/// One entry for what is one finding in several environments or calls and has one suppression.
fn joined(
    silenced: Vec<(Option<String>, BTreeMap<Why, Vec<Diagnostic>>)>,
    environments: &Counts,
    sources: &Sources,
) -> Vec<Suppressed> {
    let mut by_reason: BTreeMap<Why, Vec<(Option<String>, Vec<Diagnostic>)>> = BTreeMap::new();
    for (name, taken) in silenced {
        for (reason, findings) in taken {
            by_reason.entry(reason).or_default().push((name.clone(), findings));
        }
    }
    let by_reason = by_reason.into_iter();
    let findings = by_reason.map(|(why, found)| (why, environments.place_all(found)));
    with_reasons(findings.collect(), sources)
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
    for function in graph.functions() {
        if let Some(handler) = &function.handler {
            let unit = graph.unit(function.resource.unit).name.clone();
            units.entry(handler.place.file).or_default().insert(unit);
        }
    }
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

/// What suppressions need to know of a run.
struct View<'a> {
    selection: &'a Selection,
    policies: Policies,
    sources: &'a Sources,
    files: FxHashMap<FileId, About>,
    broken: FxHashSet<String>,
    /// Rules that could not judge something in a unit.
    open: FxHashSet<(RuleId, String)>,
}

impl<'a> View<'a> {
    fn new(
        written: &[Written],
        environments: &[LintedEnvironment],
        run: &Run<'a>,
        policies: &Policies,
        sources: &'a Sources,
    ) -> Self {
        let mut units = FxHashMap::default();
        let (mut broken, mut open) = (FxHashSet::default(), FxHashSet::default());
        for one in environments {
            note_units(&one.graph, &mut units);
            broken.extend(one.broken.iter().cloned().chain(noted(&one.graph)));
            let entries = one.not_evaluated.iter();
            open.extend(entries.map(|open| (open.rule.clone(), open.subject.unit.clone())));
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
            policies: policies.clone(),
            sources,
            files,
            broken,
            open,
        }
    }

    /// `found` as the configuration of its file wants it, if it does.
    fn asked_for(&self, mut found: Diagnostic) -> Option<(Diagnostic, Arc<Config>)> {
        let rule = rules::by_id(&found.rule)?;
        let file = found.primary().span.file;
        let config = &self.files.get(&file)?.config;
        let path = self.sources.file(file);
        let silenced = config.silences(rule, path.path(), &found.subject.address).is_some();
        if silenced || !config.runs(rule, self.selection) {
            return None;
        }
        if let Some(severity) = config.rule(rule).and_then(|set| set.severity) {
            found.severity = severity;
        }
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
        let mut overrides = about.config.overrides.iter().flat_map(|(_, rules)| &rules.ignore);
        if !about.config.runs(rule, self.selection) || overrides.any(|name| covers(name, rule)) {
            return false;
        }
        let is_whole =
            |unit: &String| !self.broken.contains(unit) && !self.open.contains(&(rule.shared_id(), unit.clone()));
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
