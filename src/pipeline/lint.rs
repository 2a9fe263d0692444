//! Runs the rules over the graph of each environment, and keeps the findings that the configurations and the command
//! line select.

use super::clusters::{Around, Relations};
use super::coverage::coverage;
use super::declarations::Declarations;
use super::handlers::Handlers;
use super::load::{self, Environment, EnvironmentInputs, FoundEnvironments, Loaded};
use super::overrides;
use super::policies::Policies;
use super::select::Group;
use super::{Outcome, Run, SharedNode};
use crate::config::Config;
use crate::diagnostic::{DEFAULT_ENVIRONMENT, Diagnostic, RuleId, Subject};
use crate::graph::deployed::{Deployed, DeployedFinding};
use crate::graph::{Graph, UnitId};
use crate::policy::Policy;
use crate::rules::{self, Findings, Judge, Judgement, RULES, Rule, RuleOutcome, Settings, Verdict};
use crate::selection::Selection;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Sources, Span};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Results of the rules.
pub(super) struct Linted {
    pub(super) outcome: Outcome,
    /// Environments; never empty.
    pub(super) environments: Vec<Environment>,
    pub(super) policies: Policies,
}

/// Runs the rules in every environment.
pub(super) fn lint(run: &Run<'_>, loaded: Loaded) -> Linted {
    let Loaded {
        mut outcome,
        mut environments,
        found,
        groups,
        unknown: _,
        everywhere,
        mut policies,
        deployed,
    } = loaded;
    let sources = std::mem::take(&mut outcome.sources);
    let mut handlers = Handlers::new(environments.iter().map(|one| &one.graph), &sources);
    let mut declarations = Declarations::new(run.options, &sources);
    let mut add_code = |environment: &mut Environment, policies: &Policies| {
        handlers.add_to(&mut environment.graph);
        declarations.add_to(&mut environment.graph, policies);
        environment.findings.extend(everywhere.iter().cloned());
    };
    for environment in &mut environments {
        add_code(environment, &policies);
    }
    if let Some((deployed, problems)) = deployed {
        if let Some(first) = environments.first_mut() {
            first.findings.extend(problems);
        }
        attach(deployed, &mut environments);
    }
    let linter = Linter {
        run,
        sources: &sources,
        steps: AtomicU64::new(Policy::STEPS),
    };
    let mut linted = linter.lint_all(environments, &policies);
    if let Some(first) = linted.first().filter(|_| !found.is_empty()) {
        let further = linter.lint_found(found, &groups, first, (&mut policies, &mut outcome), &mut add_code);
        linted.extend(further);
    }
    // What matches nothing here may match a resource of another environment.
    if run.options.environments.is_empty() {
        outcome.unmatched = declarations.unmatched(run);
        let graphs: Vec<&Graph> = linted.iter().map(|one| &one.graph).collect();
        let overrides = overrides::unmatched(run, &graphs, &policies, &sources);
        outcome.unmatched.extend(overrides);
        let missing = std::mem::take(&mut outcome.unstated);
        outcome.unmatched.extend(missing.described(run, &sources));
    }
    if run.options.notes_reach {
        let is_whole = |one: &&Environment| one.units.is_none() || !run.options.environments.is_empty();
        let whole = linted.iter().filter(is_whole);
        let graphs = whole.map(|one| (&one.name, &one.graph));
        outcome.shared = SharedNode::all(graphs, &run.session, &sources);
    }
    run.session.add_texts(&sources);
    outcome.sources = sources;
    Linted {
        environments: linted,
        outcome,
        policies,
    }
}

/// State of all environments.
struct Linter<'l> {
    run: &'l Run<'l>,
    sources: &'l Sources,
    /// Remaining steps that policies share.
    steps: AtomicU64,
}

impl Linter<'_> {
    /// Runs the rules in the environments `found` by name, each with the inputs that differ from those of `first`.
    fn lint_found(
        &self,
        found: BTreeMap<String, FoundEnvironments>,
        groups: &[Group],
        first: &Environment,
        (policies, outcome): (&mut Policies, &mut Outcome),
        add_code: &mut dyn FnMut(&mut Environment, &Policies),
    ) -> Vec<Environment> {
        let relations = Relations::of(self.run, groups, first, self.sources);
        let reported = Reported::of(&first.findings);
        let mut linted = BTreeMap::new();
        let mut waiting: Vec<_> = (found.iter())
            .map(|(name, own)| (name, own, relations.around(own)))
            .collect();
        while !waiting.is_empty() {
            let mut load = |(name, own, around): &(&String, &FoundEnvironments, Around<'_, '_>)| {
                let (groups, context) = around.units();
                let inputs = EnvironmentInputs {
                    name: Some((*name).clone()),
                    groups: &groups,
                    own,
                    others: load::NONE,
                    context,
                };
                let (mut one, _) = load::environment(self.run, inputs, self.sources, policies, outcome);
                one.findings.retain(|found| !reported.has_elsewhere(found));
                add_code(&mut one, policies);
                one
            };
            let loaded = waiting.iter().map(&mut load).collect();
            let judged = self.lint_all(loaded, policies);
            let mut growing = Vec::new();
            for ((name, own, mut around), one) in waiting.into_iter().zip(judged) {
                if around.grow(&one.graph, &one.ties) {
                    self.steps.fetch_add(one.steps, Ordering::Relaxed);
                    growing.push((name, own, around));
                } else {
                    linted.insert(name, one);
                }
            }
            waiting = growing;
        }
        linted.into_values().collect()
    }

    /// Judges environments.
    fn lint_all(&self, mut environments: Vec<Environment>, policies: &Policies) -> Vec<Environment> {
        let settings = environments.iter().map(|one| policies.settings(&one.graph));
        let settings: Vec<Settings> = settings.collect();
        let graphs = environments.iter().map(|one| &one.graph).zip(&settings);
        let graphs: Vec<(&Graph, &Settings)> = graphs.collect();
        let runs = |rule: &Rule<'_>| graphs.iter().any(|(graph, _)| self.runs(rule, graph, policies));
        let built_in = RULES.iter().filter(|rule| runs(rule)).map(|rule| Judge::of(rule));
        let built_in: Vec<Judge<'_>> = built_in.collect();
        let judge = || rules::run(&built_in, &graphs, self.run.options.trace);
        // Policies share their steps, so that they run one after the other: the result must not depend on timing.
        let judge_policies = || {
            let all = environments.iter().zip(&settings);
            all.map(|(one, settings)| self.judge_policies(one, settings, policies))
                .collect::<Vec<_>>()
        };
        let cover = || {
            let is_judged = |unit: &str| (environments.iter()).any(|one| self.is_judged(one.units.as_ref(), unit));
            graphs
                .iter()
                .map(|(graph, _)| coverage(graph, &is_judged))
                .collect::<Vec<_>>()
        };
        let (outcomes, (of_policies, coverage)) = rayon::join(judge, || rayon::join(judge_policies, cover));
        for (one, (coverage, (_, steps))) in environments.iter_mut().zip(coverage.into_iter().zip(&of_policies)) {
            one.coverage = coverage;
            one.steps = *steps;
        }
        for (judge, outcomes) in built_in.iter().zip(outcomes) {
            for (one, outcome) in environments.iter_mut().zip(outcomes) {
                self.keep(&judge.rule, outcome, one, policies);
            }
        }
        for (one, (outcomes, _)) in environments.iter_mut().zip(of_policies) {
            for (rule, outcome) in outcomes {
                self.keep(&rule, outcome, one, policies);
            }
            let units = one.units.as_ref();
            (one.coverage.gaps).retain(|gap| self.is_judged(units, &gap.subject.unit));
        }
        environments
    }

    /// Returns `true` if the configuration of a unit of `graph` selects `rule`.
    fn runs(&self, rule: &Rule<'_>, graph: &Graph, policies: &Policies) -> bool {
        let mut units = graph.units().iter();
        units.any(|unit| policies.of(&unit.name).runs(rule, &self.run.options.selection))
    }

    /// Returns `true` if an environment of `units` judges `unit`.
    fn is_judged(&self, units: Option<&FxHashSet<String>>, unit: &str) -> bool {
        units.map_or_else(|| !self.run.session.is_outside(unit), |units| units.contains(unit))
    }

    /// Judges an environment by the policies. Also returns the number of steps that this took.
    fn judge_policies<'p>(
        &self,
        environment: &Environment,
        settings: &Settings,
        policies: &'p Policies,
    ) -> (Vec<(Rule<'p>, RuleOutcome)>, u64) {
        let before = self.steps.load(Ordering::Relaxed);
        let graph = &environment.graph;
        let name = environment.name.as_deref().filter(|name| *name != DEFAULT_ENVIRONMENT);
        let mut outcomes = Vec::new();
        for (policy, units) in own_policies(graph, policies) {
            let rule = policy.rule();
            if self.runs(&rule, graph, policies) {
                let check = |findings: &mut Findings<'_>| {
                    policy.judge(name, &|unit| units.contains(&unit), &self.steps, findings);
                };
                let judge = Judge::new(rule, &check);
                let outcome = rules::run(&[judge], &[(graph, settings)], self.run.options.trace);
                outcomes.extend(outcome.into_iter().flatten().map(|outcome| (rule, outcome)));
            }
        }
        (outcomes, before.saturating_sub(self.steps.load(Ordering::Relaxed)))
    }

    /// Adds what `rule` says about the units of an environment, and what the configurations select.
    fn keep(&self, rule: &Rule<'_>, outcome: RuleOutcome, to: &mut Environment, policies: &Policies) {
        let (sources, selection) = (self.sources, &self.run.options.selection);
        let RuleOutcome {
            findings,
            not_evaluated,
            judgements,
            ..
        } = outcome;
        if self.run.options.trace {
            let ignored = findings
                .iter()
                .filter_map(|found| ignored(rule, found, sources, policies));
            to.judgements.extend(ignored);
        }
        let units = to.units.as_ref();
        let findings = findings
            .into_iter()
            .filter(|found| self.is_judged(units, &found.subject.unit));
        let wanted = findings.filter_map(|found| {
            let config = policies.of(&found.subject.unit);
            if_selected(rule, found, config, selection, sources)
        });
        to.findings.extend(wanted);
        let is_requested = |subject: &Subject| {
            self.is_judged(units, &subject.unit) && policies.of(&subject.unit).runs(rule, selection)
        };
        let not_evaluated = not_evaluated.into_iter().filter(|one| is_requested(&one.subject));
        to.not_evaluated.extend(not_evaluated);
        to.judgements
            .extend(judgements.into_iter().filter(|one| is_requested(&one.subject)));
    }
}

/// Units that report a problem, by rule, span and headline.
struct Reported<'f>(FxHashMap<(&'f RuleId, Span, &'f str), FxHashSet<&'f str>>);

impl<'f> Reported<'f> {
    fn of(findings: &'f [Diagnostic]) -> Self {
        let mut units: FxHashMap<_, FxHashSet<&str>> = FxHashMap::default();
        for found in findings {
            units.entry(Self::key(found)).or_default().insert(&found.subject.unit);
        }
        Reported(units)
    }

    fn key(found: &Diagnostic) -> (&RuleId, Span, &str) {
        (&found.rule, found.primary().span, &found.headline)
    }

    /// Returns `true` if another unit already reports the problem that `found` is about. A run with all units attributes
    /// a file that several units read to the first of them.
    fn has_elsewhere(&self, found: &Diagnostic) -> bool {
        let units = self.0.get(&Self::key(found));
        units.is_some_and(|units| units.iter().any(|unit| *unit != &*found.subject.unit))
    }
}

/// Judges what is deployed, and adds it to the graph of every environment.
fn attach(mut deployed: Deployed, environments: &mut [Environment]) {
    let judges: Vec<Judge<'_>> = RULES.iter().map(|rule| Judge::of(rule)).collect();
    let results = rules::run(&judges, &[(&deployed.graph, &Settings::default())], false);
    let findings = results.into_iter().flatten().flat_map(|result| result.findings);
    let findings = findings.map(|found| DeployedFinding {
        rule: found.rule.to_string(),
        spans: found.labels().iter().map(|label| label.span).collect(),
        is_calculated: found.calculation.is_some(),
        headline: found.headline,
    });
    deployed.findings = findings.collect();
    for environment in &*environments {
        deployed.learn(&environment.graph);
    }
    let deployed = Arc::new(deployed);
    for environment in environments {
        environment.graph.attach(deployed.clone());
    }
}

/// Returns the policies that apply to the units of `graph`, each with its units. Several configurations may share a
/// policy.
fn own_policies<'p>(graph: &Graph, policies: &'p Policies) -> Vec<(&'p Policy, FxHashSet<UnitId>)> {
    let mut all: Vec<(&Policy, FxHashSet<UnitId>)> = Vec::new();
    // Policies with an id: almost always a single one.
    let mut known: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, unit) in graph.units().iter().enumerate() {
        let id = UnitId(u32::try_from(at).unwrap_or(u32::MAX));
        for policy in &policies.of(&unit.name).policies {
            let known = known.entry(policy.rule().id).or_default();
            let is_same = |at: &&usize| all[**at].0.definition() == policy.definition();
            if let Some(at) = known.iter().find(is_same) {
                all[*at].1.insert(id);
            } else {
                known.push(all.len());
                all.push((policy, FxHashSet::from_iter([id])));
            }
        }
    }
    all
}

/// Returns a judgement if the configuration ignores `found` at its location.
fn ignored(rule: &Rule<'_>, found: &Diagnostic, sources: &Sources, policies: &Policies) -> Option<Judgement> {
    let file = sources.file(found.primary().span.file);
    let config = policies.of(&found.subject.unit);
    let by = config.ignoring_override(rule, file.path(), &found.subject.address)?;
    Some(Judgement {
        rule: found.rule.clone(),
        subject: found.subject.clone(),
        shown: format!("`{}`", found.subject.address),
        verdict: Verdict::Ignored {
            headline: found.headline.clone(),
            reason: by.reason.clone(),
        },
        when: found.when.clone(),
        read: found.labels().iter().map(|label| label.span).collect(),
        environments: Vec::new(),
    })
}

/// Applies the severity that `config` sets; returns `None` if it excludes the finding.
pub(super) fn if_selected(
    rule: &Rule<'_>,
    mut found: Diagnostic,
    config: &Config,
    selection: &Selection,
    sources: &Sources,
) -> Option<Diagnostic> {
    let rule = &rule.for_finding(found.is_pedantic);
    let file = sources.file(found.primary().span.file);
    let ignoring = config.ignoring_override(rule, file.path(), &found.subject.address);
    if ignoring.is_some() || !config.runs(rule, selection) {
        return None;
    }
    if let Some(severity) = config.rule(rule).and_then(|set| set.severity) {
        found.severity = severity;
    }
    Some(found)
}
