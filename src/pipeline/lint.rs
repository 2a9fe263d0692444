//! Runs the rules over the graph of each environment, and keeps the findings that the configurations and the command
//! line select.

use super::clusters::Relations;
use super::coverage::coverage;
use super::declarations::Declarations;
use super::handlers::Handlers;
use super::load::{self, Environment, EnvironmentInputs, FoundEnvironments, Loaded};
use super::overrides;
use super::policies::Policies;
use super::select::Group;
use super::{Gathered, Run, SharedNode};
use crate::config::RuleSettings;
use crate::diagnostic::{Coverage, DEFAULT_ENVIRONMENT, Diagnostic, NotEvaluated, RuleId, Subject};
use crate::frontend::Ties;
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
    pub(super) gathered: Gathered,
    /// Environments; never empty.
    pub(super) environments: Vec<LintedEnvironment>,
    pub(super) policies: Policies,
}

/// Results for one environment.
pub(super) struct LintedEnvironment {
    pub(super) name: Option<String>,
    /// Units that the environment applies to; `None` for all.
    pub(super) units: Option<FxHashSet<String>>,
    pub(super) graph: Graph,
    pub(super) findings: Vec<Diagnostic>,
    pub(super) not_evaluated: Vec<NotEvaluated>,
    pub(super) coverage: Coverage,
    /// Judgements of the rules, in a traced run.
    pub(super) judgements: Vec<Judgement>,
    /// Units that could not be read completely.
    pub(super) broken: FxHashSet<String>,
    /// Relations to other units, by name.
    pub(super) ties: Vec<(String, Ties)>,
}

/// Runs the rules in every environment.
pub(super) fn lint(run: &Run<'_>, loaded: Loaded) -> Linted {
    let Loaded {
        mut gathered,
        mut environments,
        found,
        groups,
        everywhere,
        mut policies,
        deployed,
    } = loaded;
    let sources = std::mem::take(&mut gathered.sources);
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
    let mut linted: Vec<LintedEnvironment> = (environments.into_iter())
        .map(|environment| linter.lint_one(environment, &policies))
        .collect();
    if let Some(first) = linted.first().filter(|_| !found.is_empty()) {
        let further = linter.lint_found(found, &groups, first, (&mut policies, &mut gathered), &mut add_code);
        linted.extend(further);
    }
    gathered.unmatched = declarations.unmatched(run);
    let graphs: Vec<&Graph> = linted.iter().map(|one| &one.graph).collect();
    let overrides = overrides::unmatched(run, &graphs, &policies, &sources);
    gathered.unmatched.extend(overrides);
    if run.options.notes_reach {
        let whole = linted.iter().filter(|one| one.units.is_none());
        let graphs = whole.map(|one| (&one.name, &one.graph));
        gathered.shared = SharedNode::all(graphs, &run.session, &sources);
    }
    run.session.add_texts(&sources);
    gathered.sources = sources;
    Linted {
        environments: linted,
        gathered,
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
        first: &LintedEnvironment,
        (policies, gathered): (&mut Policies, &mut Gathered),
        add_code: &mut dyn FnMut(&mut Environment, &Policies),
    ) -> Vec<LintedEnvironment> {
        let mut relations = Relations::of(self.run, groups, first, self.sources);
        let reported = Reported::of(&first.findings);
        let mut linted = Vec::with_capacity(found.len());
        for (name, own) in found {
            let mut around = relations.around(&own);
            let steps = self.steps.load(Ordering::Relaxed);
            loop {
                let (groups, context) = around.units();
                let inputs = EnvironmentInputs {
                    name: Some(name.clone()),
                    groups: &groups,
                    own: &own,
                    context,
                };
                let (mut one, _) = load::environment(self.run, inputs, self.sources, policies, gathered);
                one.findings.retain(|found| !reported.has_elsewhere(found));
                add_code(&mut one, policies);
                let one = self.lint_one(one, policies);
                if !around.grow(&one.graph, &one.ties) {
                    linted.push(one);
                    break;
                }
                self.steps.store(steps, Ordering::Relaxed);
            }
        }
        linted
    }

    /// Judges one environment.
    fn lint_one(&self, environment: Environment, policies: &Policies) -> LintedEnvironment {
        let (run, sources) = (self.run, self.sources);
        let (selection, trace) = (&run.options.selection, run.options.trace);
        let Environment {
            name,
            graph,
            units,
            findings,
            not_evaluated,
            broken,
            ties,
        } = environment;
        let has_it = |unit: &str| match &units {
            Some(units) => units.contains(unit),
            None => !run.session.is_outside(unit),
        };
        let settings = policies.settings(&graph);
        let runs = |rule: &Rule<'_>| {
            let mut units = graph.units().iter();
            units.any(|unit| policies.of(&unit.name).runs(rule, selection))
        };
        let built_in = RULES.iter().filter(|rule| runs(rule)).map(|rule| Judge::of(rule));
        let mut chosen: Vec<Judge<'_>> = built_in.collect();
        let mut own = own_policies(&graph, policies);
        own.retain(|(policy, _)| runs(&policy.rule()));
        let checks: Vec<_> = (own.iter())
            .map(|(policy, units)| {
                let environment = name.as_deref().filter(|name| *name != DEFAULT_ENVIRONMENT);
                move |graph: &Graph, findings: &mut Findings<'_>| {
                    policy.judge(graph, environment, &|unit| units.contains(&unit), &self.steps, findings);
                }
            })
            .collect();
        let with_rules = own.iter().map(|(policy, _)| policy.rule()).zip(&checks);
        let own: Vec<Judge<'_>> = with_rules.map(|(rule, check)| Judge::new(rule, check)).collect();
        let judge = |judges: &[Judge<'_>]| rules::run(judges, &graph, &settings, trace);
        // Policies share their steps, so that they run one after the other: the result must not depend on timing.
        let of_policies = || own.chunks(1).flat_map(judge).collect::<Vec<_>>();
        let (mut said, (of_policies, coverage)) =
            rayon::join(|| judge(&chosen), || rayon::join(of_policies, || coverage(&graph)));
        chosen.extend(&own);
        said.extend(of_policies);
        let mut linted = LintedEnvironment {
            name: name.clone(),
            units: units.clone(),
            findings,
            not_evaluated,
            coverage,
            judgements: Vec::new(),
            broken,
            ties,
            graph: Graph::default(),
        };
        for (Judge { rule, .. }, settled) in chosen.iter().zip(said) {
            let RuleOutcome {
                findings,
                not_evaluated,
                judgements,
                ..
            } = settled;
            if trace {
                let ignored = findings
                    .iter()
                    .filter_map(|found| ignored(rule, found, sources, policies));
                linted.judgements.extend(ignored);
            }
            let findings = findings.into_iter();
            let findings = findings.filter(|found| has_it(&found.subject.unit));
            let wanted = findings.filter_map(|found| asked_for(rule, found, sources, selection, policies));
            linted.findings.extend(wanted);
            let is_asked =
                |subject: &Subject| has_it(&subject.unit) && policies.of(&subject.unit).runs(rule, selection);
            let not_evaluated = not_evaluated.into_iter();
            linted
                .not_evaluated
                .extend(not_evaluated.filter(|one| is_asked(&one.subject)));
            let judgements = judgements.into_iter();
            linted
                .judgements
                .extend(judgements.filter(|one| is_asked(&one.subject)));
        }
        linted.coverage.gaps.retain(|gap| has_it(&gap.subject.unit));
        linted.graph = graph;
        linted
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
    let results = rules::run(&judges, &deployed.graph, &Settings::default(), false);
    let findings = results.into_iter().flat_map(|result| result.findings);
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

/// Applies the severity that the unit's configuration sets; returns `None` if the configuration excludes the finding.
fn asked_for(
    rule: &Rule<'_>,
    mut found: Diagnostic,
    sources: &Sources,
    selection: &Selection,
    policies: &Policies,
) -> Option<Diagnostic> {
    let config = policies.of(&found.subject.unit);
    let file = sources.file(found.primary().span.file);
    if !config.runs(rule, selection)
        || config
            .ignoring_override(rule, file.path(), &found.subject.address)
            .is_some()
    {
        return None;
    }
    if let Some(severity) = config.rule(rule).and_then(|set: &RuleSettings| set.severity) {
        found.severity = severity;
    }
    Some(found)
}
