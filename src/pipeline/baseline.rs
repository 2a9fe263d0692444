//! Implements `sqslint baseline`: runs the pipeline, and writes the findings before the last step.

use super::{Options, Outcome, Run, RunContext, finish, on_own_threads, run_until_suppression};
use crate::history::{self, Action, BaselineChoice, BaselineSummary, CurrentFindings};

/// Applies `action` to the baselines for everything under the paths of `options`. If the outcome has errors, no file
/// has been written.
pub fn write_baseline(options: &Options, action: Action) -> (Outcome, Vec<BaselineSummary>) {
    on_own_threads(|| {
        let context = RunContext::of(options);
        let configs = context.configs(options);
        context
            .missing(&Options {
                // It may be written.
                baseline: BaselineChoice::Configured,
                ..options.clone()
            })
            .and_then(|()| Run::new(options, &configs, &context))
            .and_then(|run| written(&run, action))
            .unwrap_or_else(|errors| (Outcome::failed(&context, errors), Vec::new()))
    })
}

fn written(run: &Run<'_>, action: Action) -> Result<(Outcome, Vec<BaselineSummary>), Vec<String>> {
    let mut unsuppressed = run_until_suppression(run, None)?;
    let (policies, named) = (&unsuppressed.policies, &unsuppressed.outcome.named);
    let units = unsuppressed.outcome.graph.units().iter();
    let written = unsuppressed.covering(run, |coverage| {
        let current = CurrentFindings {
            found: &unsuppressed.findings,
            environments: &|unit| {
                let has_own = named.contains(unit) || !policies.of(unit).environments.is_empty();
                let is_limited = has_own && !run.options.environments.is_empty();
                let count = unsuppressed.environments.get(unit);
                if is_limited { usize::MAX } else { count }
            },
            coverage,
            configs: units.map(|unit| policies.of(&unit.name)).collect(),
            config_of: &|unit| policies.of(unit),
            sources: &unsuppressed.outcome.sources,
            root: run.context.root(),
        };
        history::rewrite(&run.options.baseline, action, &current)
    });
    let written = written.unwrap_or_else(|errors| {
        unsuppressed.outcome.errors.extend(errors);
        Vec::new()
    });
    Ok((finish::finish(run, unsuppressed, None), written))
}
