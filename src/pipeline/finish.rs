//! The last step: what a baseline or an earlier commit had before goes, the rest is put in order, joined, and given
//! its fixes.

mod shared;

use super::order::{with_reasons, without_repeats};
use super::silence::Silenced;
use super::{Outcome, Run};
use crate::config::Config;
use crate::diagnostic::{Diagnostic, NotEvaluated, Silencer};
use crate::frontend;
use crate::history::{Baselines, History, Known, Why};
use shared::Shared;
use std::collections::BTreeMap;

/// What there is to say; `before` are the findings of an earlier commit.
pub(super) fn finish(run: &Run<'_>, mut silenced: Silenced, before: Option<Known>) -> Outcome {
    let (known, history) = known(run, &mut silenced, before);
    let Silenced {
        gathered,
        held,
        environments,
        policies,
        graph,
        environment,
        elsewhere,
        suppressed,
        not_evaluated,
        judgements,
    } = silenced;
    let shared = Shared::of(&graph, &held);
    let (mut new, mut old) = (Vec::with_capacity(held.len()), BTreeMap::<Why, Vec<Diagnostic>>::new());
    for (held, why) in held.into_iter().zip(known) {
        let found = environments.place(held);
        if found.severity < run.options.min_severity {
            continue;
        }
        match why {
            Some(why) => old.entry(why).or_default().push(found),
            None => new.push(found),
        }
    }
    let sources = gathered.sources;
    let mut findings = without_repeats(new, &sources);
    frontend::add_fixes(&mut findings, &sources);
    for found in &mut findings {
        if shared.reaches_others(found, &sources) {
            found.fix = None;
        }
    }
    let fails = findings.iter().any(|found| {
        let level = run.options.fail_level.or(policies.of(&found.subject.unit).fail_level);
        level.unwrap_or_default().fails(found.severity)
    });
    let fails = fails || {
        let is_counted = |open: &NotEvaluated| policies.of(&open.subject.unit).fail_on_unjudged;
        not_evaluated
            .iter()
            .any(|open| run.options.fail_on_unjudged || is_counted(open))
    };
    let mut errors = gathered.errors;
    errors.sort();
    errors.dedup();
    Outcome {
        graph,
        findings,
        suppressed,
        not_evaluated,
        errors,
        skipped: gathered.skipped,
        taken_in: gathered.taken_in,
        environments: gathered.environments,
        excluded: gathered.excluded,
        unmatched: gathered.unmatched,
        reach: gathered.reach,
        judgements,
        environment,
        elsewhere,
        rules: run.configs.catalogue(),
        fails,
        history: History {
            known: with_reasons(old, &sources),
            ..history
        },
        sources,
    }
}

/// Which findings were known before, and why that is so.
fn known(run: &Run<'_>, silenced: &mut Silenced, before: Option<Known>) -> (Vec<Option<Why>>, History) {
    let mut history = History::default();
    let mut baselines = Baselines::new(run.options.baseline.clone(), run.place.root(), &run.place.files);
    let policies = &silenced.policies;
    let units: Vec<&Config> = silenced
        .graph
        .units()
        .iter()
        .map(|unit| policies.of(&unit.name))
        .collect();
    for config in units {
        baselines.use_for(config);
    }
    let mut known = baselines.covers(&silenced.held, |unit| policies.of(unit));
    if let (Some(mut before), Some(name)) = (before, &run.options.since) {
        let covering = before.covers(&silenced.held.iter().collect::<Vec<_>>());
        for (known, covering) in known.iter_mut().zip(covering) {
            let why = covering.map(|_| (Silencer::Since(name.clone()), None));
            *known = known.take().or(why);
        }
    }
    let errors = silenced.covering(run, |coverage| {
        baselines.conclude(coverage, &silenced.gathered.sources, &mut history)
    });
    silenced.gathered.errors.extend(errors);
    (known, history)
}
