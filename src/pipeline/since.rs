//! Determines the findings at the commit where a branch started. The commit is checked like the working tree: with the
//! same steps, rules and configuration, and with the same inputs, except that files with values are read at that
//! commit.

use super::{Options, Outcome, Run, RunContext, Session, lint, load, select, suppress};
use crate::graph::{EarlierQueues, Resource};
use crate::history::{self, KnownFindings};
use crate::review::Links;
use source::files::{absolute, named, real};

/// Results of the earlier commit.
#[derive(Default)]
pub(super) struct Before {
    pub(super) findings: KnownFindings,
    pub(super) queues: EarlierQueues,
    pub(super) links: Links,
}

/// Returns the findings, queues and links at the merge base of `HEAD` and the commit of `--since`, or the reason why
/// they are unknown.
pub(super) fn before(run: &Run<'_>) -> Result<Option<Before>, Vec<String>> {
    let Some(name) = &run.options.since else {
        return Ok(None);
    };
    let known = findings_of(name, run);
    known
        .map(Some)
        .map_err(|reason| vec![format!("`--since {name}`: {reason}")])
}

/// Returns the links of all environments.
pub(super) fn links(outcome: &Outcome) -> Links {
    let mut links = Links::default();
    links.add(outcome.environment.as_deref(), &outcome.graph, &outcome.sources);
    for (name, graph) in &outcome.other_environments {
        links.add(Some(name), graph, &outcome.sources);
    }
    links
}

fn findings_of(name: &str, run: &Run<'_>) -> Result<Before, String> {
    let root = run
        .context
        .repository
        .as_deref()
        .ok_or("this is not a git repository")?;
    for path in &run.options.paths {
        if named(path).is_ok_and(|path| !path.starts_with(root)) {
            return Err(format!("`{}` lies outside of the repository", path.display()));
        }
    }
    let snapshot = history::snapshot(name, root)?;
    let context = RunContext {
        files: run.context.files.clone().from_store(snapshot.clone()),
        ..run.context.clone()
    };
    let (mut paths, mut touched) = (Vec::new(), Vec::new());
    for path in &run.options.paths {
        if context.files.named(path).is_ok() {
            paths.push(path.clone());
        } else {
            // A file that was added later may belong to a unit that existed already.
            touched.push(real(path).unwrap_or_else(|_| absolute(path)));
        }
    }
    let options = Options {
        paths,
        stdin: None,
        overlays: Vec::new(),
        // Files that could not be checked at that commit are not reported now.
        allow_empty: true,
        ..run.options.clone()
    };
    let earlier = Run {
        options: &options,
        configs: run.configs,
        context: &context,
        touched,
        session: Session::default(),
    };
    // Files that could not be read at that commit are not reported now; their findings count as new.
    let known = select::select(&earlier).map_or_else(
        |_| Before::default(),
        |selected| {
            let loaded = load::load(&earlier, selected);
            let queues = loaded.environments.first().map(|one| EarlierQueues::of(&one.graph));
            let unsuppressed = suppress::suppress(&earlier, lint::lint(&earlier, loaded));
            let graph = &unsuppressed.outcome.graph;
            let mappings = graph.mappings().iter().map(|mapping| &mapping.resource);
            let pipes = graph.deliveries().pipes.iter().map(|pipe| &pipe.resource);
            let name = |resource: &Resource| (graph.unit(resource.unit).name.clone(), resource.address.to_string());
            let mut known = KnownFindings::of(&unsuppressed.findings);
            known.resources = mappings.chain(pipes).map(name).collect();
            Before {
                findings: known,
                queues: queues.unwrap_or_default(),
                links: links(&unsuppressed.outcome),
            }
        },
    );
    snapshot.incomplete().map_or(Ok(known), Err)
}
