//! Runs the steps from the options to the outcome, each exactly once and in this order:
//!
//! ```text
//! select ──► load ──► lint ──► suppress ──► finish
//! Selected   Loaded   Linted   Unsuppressed Outcome
//! inputs by  graphs   results  findings     sorted, one finding for
//! configu-   by       of the   without      several calls, with fixes,
//! ration     environ- rules    suppressed   without those of a baseline
//!            ment              ones         or an earlier commit
//! ```
//!
//! Environments that files name are loaded by the third step, because what they concern depends on the names that rules
//! look up.
//!
//! Each step is a function from one type to the next, and adds what it knows to the outcome. All of them share a
//! [`Run`]: the options, the configurations and the directories. This module prints nothing, and knows neither dialects
//! nor rules.

mod baseline;
mod clusters;
mod combined;
mod context;
mod coverage;
mod declarations;
mod environments;
mod externals;
mod finish;
mod handlers;
mod lint;
mod load;
mod options;
mod order;
mod outcome;
mod overrides;
mod policies;
mod select;
mod session;
mod since;
mod suppress;
#[cfg(test)]
mod tests;
mod threads;

pub use baseline::write_baseline;
pub(crate) use clusters::{Groups, Part};
pub(crate) use context::RunContext;
pub(crate) use load::most_environments;
pub use options::{Options, Stdin};
pub use outcome::Outcome;
pub(crate) use session::{Outside, Session, SharedNode};
pub(crate) use threads::on_own_threads;

use crate::config::Configs;
use crate::discover::Input;
use crate::graph::{Connections, EarlierQueues};
use crate::history;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use suppress::Unsuppressed;

/// Context of all steps, unchanged during a run.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) options: &'a Options,
    pub(crate) configs: &'a Configs,
    pub(crate) context: &'a RunContext,
    /// Changed files, absolute, including deleted ones. Their units are checked, too.
    touched: Vec<PathBuf>,
    session: Session,
}

impl<'a> Run<'a> {
    /// Creates the context of a run. Any error comes from git.
    fn new(options: &'a Options, configs: &'a Configs, context: &'a RunContext) -> Result<Self, Vec<String>> {
        let touched = options.staged.then(|| history::touched(context.repository.as_deref()));
        Ok(Run {
            options,
            configs,
            context,
            touched: touched.transpose().map_err(|error| vec![error])?.unwrap_or_default(),
            session: Session::default(),
        })
    }
}

impl Run<'_> {
    /// Returns the result of a step, unless the run has been cancelled.
    fn unless_cancelled<T>(&self, step: T) -> Option<T> {
        let flag = self.session.is_cancelled.as_ref();
        let is_cancelled = flag.is_some_and(|flag| flag.load(Ordering::Relaxed));
        (!is_cancelled).then_some(step)
    }
}

/// Checks everything under the paths of `options`.
pub(crate) fn check(options: &Options) -> Outcome {
    on_own_threads(|| check_here(options))
}

/// Like `check`, on the threads of the caller, which must come from [`on_own_threads`].
pub(crate) fn check_here(options: &Options) -> Outcome {
    let context = RunContext::of(options);
    let configs = context.configs(options);
    context
        .missing(options)
        .and_then(|()| Run::new(options, &configs, &context))
        .and_then(|run| {
            let Some(before) = since::before(&run)? else {
                return Ok(finish::finish(&run, run_until_suppression(&run, None)?, None));
            };
            let unsuppressed = run_until_suppression(&run, Some(&before.queues))?;
            let mut outcome = finish::finish(&run, unsuppressed, Some(before.findings));
            outcome.changed = since::links(&outcome).changed_since(&before.links);
            outcome.mark_changes();
            Ok(outcome)
        })
        .unwrap_or_else(|errors| Outcome::failed(&context, errors))
}

/// Returns all units under the paths of `options`, except excluded ones.
pub(crate) fn inputs(options: &Options, context: &RunContext, configs: &Configs) -> Result<Vec<Input>, Vec<String>> {
    let run = Run::new(options, configs, context)?;
    let selected = select::select(&run)?;
    context.files.drop_read_ahead();
    Ok(selected.groups.into_iter().flat_map(|group| group.inputs).collect())
}

/// Some units of a project, to be checked without the others on the threads of the caller, which must come from
/// [`on_own_threads`].
pub(crate) struct ProjectPart<'a> {
    pub(crate) options: &'a Options,
    pub(crate) context: &'a RunContext,
    pub(crate) configs: &'a Configs,
    pub(crate) inputs: Vec<Input>,
    pub(crate) session: Session,
}

impl<'a> ProjectPart<'a> {
    fn run(&self) -> Run<'a> {
        Run {
            options: self.options,
            configs: self.configs,
            context: self.context,
            touched: Vec::new(),
            session: self.session.clone(),
        }
    }
}

/// Returns what relates `part` to the rest of its project, without running any rule.
pub(crate) fn survey(part: ProjectPart<'_>) -> Option<(Connections, Vec<SharedNode>)> {
    let run = part.run();
    // Errors are reported by the check.
    let Ok(selected) = select::only(&run, part.inputs) else {
        return Some(Default::default());
    };
    let loaded = run.unless_cancelled(load::load(&run, selected))?;
    let mut reach = loaded.outcome.reach;
    for one in &loaded.environments {
        reach.add(Connections::of(&one.graph, |_| true));
    }
    let graphs = loaded.environments.iter().map(|one| (&one.name, &one.graph));
    let shared = SharedNode::all(graphs, &run.session, &loaded.outcome.sources);
    Some((reach, shared))
}

/// Checks `part` only.
pub(crate) fn check_part(part: ProjectPart<'_>) -> Option<Outcome> {
    let run = part.run();
    let selected = match select::only(&run, part.inputs) {
        Ok(selected) => selected,
        Err(errors) => return Some(Outcome::failed(run.context, errors)),
    };
    let loaded = run.unless_cancelled(load::load(&run, selected))?;
    let linted = run.unless_cancelled(lint::lint(&run, loaded))?;
    let outcome = finish::finish(&run, suppress::suppress(&run, linted), None);
    if let Some(cache) = &run.session.cache {
        cache.finish_run(&outcome.sources);
    }
    Some(outcome)
}

/// Runs all steps but the last. Errors come from the configuration or from git.
fn run_until_suppression(run: &Run<'_>, earlier: Option<&EarlierQueues>) -> Result<Unsuppressed, Vec<String>> {
    let mut loaded = load::load(run, select::select(run)?);
    // A requested environment does not exist.
    if let Some(error) = loaded.unknown {
        return Err(vec![error]);
    }
    if let Some(earlier) = earlier {
        for environment in &mut loaded.environments {
            environment.graph.find_replaced(earlier);
        }
    }
    Ok(suppress::suppress(run, lint::lint(run, loaded)))
}
