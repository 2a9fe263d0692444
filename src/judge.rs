//! Runs the rules over a graph and keeps what each unit's configuration and the command line ask for.

use crate::config::{Config, RuleSettings};
use crate::diagnostic::{Diagnostic, NotEvaluated, Subject};
use crate::graph::{Graph, UnitId};
use crate::rules::{self, Judgement, Rule, Settings, Settled, Verdict};
use crate::selection::Selection;
use crate::source::Sources;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Which configuration holds for which unit.
#[derive(Debug, Default, Clone)]
pub(crate) struct Policies {
    by_name: FxHashMap<String, Arc<Config>>,
    built_in: Arc<Config>,
}

impl Policies {
    pub(crate) fn insert(&mut self, unit: &str, config: Arc<Config>) {
        self.by_name.insert(unit.to_owned(), config);
    }

    /// What holds for findings about a file that belongs to no unit.
    pub(crate) fn insert_missing(&mut self, unit: &str, config: Arc<Config>) {
        self.by_name.entry(unit.to_owned()).or_insert(config);
    }

    /// Whether there is a unit called `unit`.
    pub(crate) fn knows(&self, unit: &str) -> bool {
        self.by_name.contains_key(unit)
    }

    /// The configuration of the unit called `unit`.
    pub(crate) fn of(&self, unit: &str) -> &Config {
        self.by_name.get(unit).unwrap_or(&self.built_in)
    }

    fn settings(&self, graph: &Graph) -> Settings {
        let mut settings = Settings::default();
        for (at, unit) in graph.units().iter().enumerate() {
            let config = self.of(&unit.name);
            let id = UnitId(u32::try_from(at).unwrap_or(u32::MAX));
            for rule in rules::RULES {
                let values = config.rule(rule).map(|set| &set.values);
                for setting in rule.settings {
                    if let Some(value) = values.and_then(|values| values.get(setting.name)) {
                        settings.set(id, rule.id, setting.name, *value);
                    }
                }
            }
        }
        settings
    }
}

/// What the rules say of one graph.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) not_evaluated: Vec<NotEvaluated>,
    /// What they conclude besides, where that was asked for.
    pub(crate) judgements: Vec<Judgement>,
}

/// What the rules say of `graph`, as far as it is asked for.
pub(crate) fn judge(
    graph: &Graph,
    sources: &Sources,
    selection: &Selection,
    policies: &Policies,
    trace: bool,
) -> Judged {
    let settings = policies.settings(graph);
    let runs = |rule: &Rule| {
        let mut units = graph.units().iter();
        units.any(|unit| selection.selects(rule, policies.of(&unit.name)))
    };
    let chosen: Vec<&'static Rule> = rules::RULES.iter().copied().filter(|rule| runs(rule)).collect();
    let mut all = Judged::default();
    for Settled {
        rule,
        findings,
        not_evaluated,
        judgements,
    } in rules::run(&chosen, graph, &settings, trace)
    {
        if trace {
            let ignored = findings
                .iter()
                .filter_map(|found| ignored(rule, found, sources, policies));
            all.judgements.extend(ignored);
        }
        let findings = findings.into_iter();
        all.findings
            .extend(findings.filter_map(|found| asked_for(rule, found, sources, selection, policies)));
        let is_asked = |subject: &Subject| selection.selects(rule, policies.of(&subject.unit));
        let not_evaluated = not_evaluated.into_iter();
        all.not_evaluated
            .extend(not_evaluated.filter(|one| is_asked(&one.subject)));
        let judgements = judgements.into_iter();
        all.judgements.extend(judgements.filter(|one| is_asked(&one.subject)));
    }
    all
}

/// That the configuration ignores `found` where it stands, if it does.
fn ignored(rule: &Rule, found: &Diagnostic, sources: &Sources, policies: &Policies) -> Option<Judgement> {
    let file = sources.file(found.primary().span.file);
    let config = policies.of(&found.subject.unit);
    let by = config.silences(rule, file.path(), &found.subject.address)?;
    Some(Judgement {
        rule: found.rule,
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

/// `found`, with the severity that its unit gives it; `None` where its unit does not want to hear of it.
fn asked_for(
    rule: &Rule,
    mut found: Diagnostic,
    sources: &Sources,
    selection: &Selection,
    policies: &Policies,
) -> Option<Diagnostic> {
    let config = policies.of(&found.subject.unit);
    let file = sources.file(found.primary().span.file);
    if !selection.selects(rule, config) || config.silences(rule, file.path(), &found.subject.address).is_some() {
        return None;
    }
    if let Some(severity) = config.rule(rule).and_then(|set: &RuleSettings| set.severity) {
        found.severity = severity;
    }
    Some(found)
}
