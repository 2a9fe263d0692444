//! Finishes a run: removes the findings that a baseline or an earlier commit has, then sorts and joins the others and
//! adds their fixes.

mod shared;

use super::order::{self, with_reasons, without_repeats};
use super::outcome::Failing;
use super::policies::Policies;
use super::suppress::Unsuppressed;
use super::{Outcome, Run};
use crate::config::FailLevel;
use crate::diagnostic::{Diagnostic, LIMIT_REACHED, NotEvaluated, PARSE_ERROR, Silencer, Subject};
use crate::frontend;
use crate::graph::Cause;
use crate::history::{Baselines, History, KnownBecause, KnownFindings};
use crate::rules;
use crate::selection;
use shared::{Shared, SharedFiles};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the outcome; `before` contains the findings of an earlier commit.
pub(super) fn finish(run: &Run<'_>, mut unsuppressed: Unsuppressed, before: Option<KnownFindings>) -> Outcome {
    let earlier = before.as_ref().map(|before| before.resources.clone());
    let (known, history) = known(run, &mut unsuppressed, before);
    let Unsuppressed {
        mut outcome,
        findings,
        environments,
        policies,
    } = unsuppressed;
    let shared = Shared::of(&outcome.graph, &findings);
    let mut new = Vec::with_capacity(findings.len());
    let mut old: BTreeMap<KnownBecause, Vec<Diagnostic>> = BTreeMap::new();
    let mut advised = BTreeSet::new();
    for (located, why) in findings.into_iter().zip(known) {
        let mut found = environments.name_environments(located);
        if let Some(severity) = found.if_new {
            let resource = (found.subject.unit.clone(), found.subject.address.clone());
            if earlier.as_ref().is_some_and(|earlier| !earlier.contains(&resource)) {
                found.severity = severity;
            } else if why.is_none() && !advised.insert((found.rule.clone(), resource.0)) {
                continue;
            }
        }
        if found.severity < run.options.min_severity {
            continue;
        }
        match why {
            Some(why) => old.entry(why).or_default().push(found),
            None => new.push(found),
        }
    }
    let sources = &outcome.sources;
    let mut findings = without_repeats(new, sources);
    frontend::add_fixes(&mut findings, sources);
    for found in &mut findings {
        if shared.reaches_others(found, sources) {
            found.fix = None;
        }
    }
    let roots = SharedFiles::of(&outcome.graph);
    for found in &mut findings {
        shared::point_at_argument(found, sources);
        found.names_root = roots.hide_root_of(found, sources);
    }
    order::by_position(&mut findings, sources);
    outcome.history = History {
        known: with_reasons(old, sources),
        ..history
    };
    outcome.findings = findings;
    outcome.failing = failing(run, &policies, &outcome);
    outcome.notes.extend(notes_on_limits(&outcome.not_evaluated));
    outcome.former.append(&mut outcome.history.former);
    outcome.former.extend(run.configs.former_ids());
    outcome.notes.extend(selection::notice(&outcome.former));
    outcome.errors.sort();
    outcome.errors.dedup();
    outcome.rules = run.configs.catalogue();
    outcome
}

/// Determines what fails the run: the findings at or above their unit's level, and the unjudged resources if its
/// configuration demands that all are judged.
fn failing(run: &Run<'_>, policies: &Policies, outcome: &Outcome) -> Failing {
    let mut failing = Failing::default();
    for found in &outcome.findings {
        let config = policies.of(&found.subject.unit);
        let own = config.fail_on.as_deref().filter(|_| run.options.fail_level.is_none());
        let harms = Some(&*run.options.fail_on).filter(|harms| !harms.is_empty()).or(own);
        if let Some(harms) = harms.filter(|_| ![PARSE_ERROR, LIMIT_REACHED].contains(&&*found.rule)) {
            if let Some(harm) = found.harm().filter(|harm| harms.contains(harm)) {
                *failing.harms.entry(harm).or_default() += 1;
            }
            continue;
        }
        let level = run.options.fail_level.or(config.fail_level);
        let level = level.unwrap_or_default();
        if let (FailLevel::At(least), true) = (level, level.fails(found.severity)) {
            *failing.findings.entry(found.severity).or_default() += 1;
            failing.levels.insert(least);
        }
    }
    let gaps = outcome.coverage.gaps.iter();
    let gaps = gaps.map(|gap| (("resource", "not judged"), &*gap.subject.unit, 1));
    let parts = outcome.not_evaluated.iter().filter(|open| open.is_unread());
    let parts = parts.map(|open| (("part", "not read"), &*open.subject.unit, 1));
    let is_queue_seen = outcome.coverage.queues > 0;
    let calls = outcome.graph.units().iter().map(|unit| {
        let calls = unit.unread_modules.values();
        let calls = calls.map(|calls| if is_queue_seen { calls.of_queues } else { calls.all });
        (("module call", "not read"), &*unit.name, calls.sum())
    });
    let directory = outcome.sources.name_of(run.context.root());
    let queues = std::iter::once((("queue", "not read"), &*directory, outcome.unread_queues));
    let handlers = outcome.coverage.handlers.iter().filter(|handler| handler.gap.is_some());
    let handlers = handlers.map(|handler| (("handler", "not read"), &*handler.function.unit, 1));
    let all = gaps.chain(parts).chain(calls).chain(queues).chain(handlers);
    for (kind, unit, count) in all {
        if count > 0 && (run.options.fail_on_unjudged || policies.of(unit).fail_on_unjudged) {
            *failing.unjudged.entry(kind).or_default() += count;
        }
    }
    failing
}

/// Returns a note for each policy that did not judge some resources because of a limit.
fn notes_on_limits(not_evaluated: &[NotEvaluated]) -> Vec<String> {
    let mut resources: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    let is_limit = |open: &&NotEvaluated| open.cause == Cause::Limit.name() && rules::by_id(&open.rule).is_none();
    for open in not_evaluated.iter().filter(is_limit) {
        let resource = (&*open.subject.unit, &*open.subject.address);
        resources.entry(&open.rule).or_default().insert(resource);
    }
    let notes = resources.into_iter().map(|(policy, resources)| {
        let plural = if resources.len() == 1 { "" } else { "s" };
        format!(
            "a limit kept the policy `{policy}` from judging {} resource{plural}",
            resources.len()
        )
    });
    notes.collect()
}

/// Determines which findings are known, and why.
fn known(
    run: &Run<'_>,
    unsuppressed: &mut Unsuppressed,
    before: Option<KnownFindings>,
) -> (Vec<Option<KnownBecause>>, History) {
    let mut history = History::default();
    let mut baselines = Baselines::new(run.options.baseline.clone(), run.context.root(), &run.context.files);
    let policies = &unsuppressed.policies;
    for unit in unsuppressed.outcome.graph.units() {
        baselines.use_for(policies.of(&unit.name));
    }
    let mut known = baselines.covers(&unsuppressed.findings, |unit| policies.of(unit));
    if let (Some(mut before), Some(name)) = (before, &run.options.since) {
        let covering = before.covers(&unsuppressed.findings.iter().collect::<Vec<_>>());
        for (known, covering) in known.iter_mut().zip(covering) {
            let why = covering.map(|_| (Silencer::Since(name.clone()), None));
            *known = known.take().or(why);
        }
        let new = unsuppressed
            .findings
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none());
        let new: Vec<&Diagnostic> = new.map(|((found, _), _)| found).collect();
        let prints: BTreeSet<String> = new.iter().map(|found| found.fingerprint()).collect();
        let subjects: BTreeSet<&Subject> = new.iter().map(|found| &found.subject).collect();
        for (fingerprint, left) in before.left() {
            // What another rule now reports about the same attribute is not resolved.
            let is_replaced = !left.subject.attribute.is_empty() && subjects.contains(&left.subject);
            if prints.contains(&fingerprint) {
                history.worse.insert(fingerprint);
            } else if !is_replaced {
                history.resolved.push(left);
            }
        }
    }
    let errors = unsuppressed.covering(run, |coverage| {
        baselines.record_stale(coverage, &unsuppressed.outcome.sources, &mut history)
    });
    unsuppressed.outcome.errors.extend(errors);
    (known, history)
}
