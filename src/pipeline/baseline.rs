//! `sqslint baseline`: the steps of a run, and between the last two its findings are written down.

use super::{Options, Outcome, Place, Run, finish, on_own_threads, silenced};
use crate::history::{self, Action, Current, Written};

/// Does `action` for the baselines of everything under the paths of `options`. The errors of the outcome are what kept
/// it from doing so; nothing is written then.
pub fn write_baseline(options: &Options, action: Action) -> (Outcome, Vec<Written>) {
    on_own_threads(|| {
        let place = Place::of(options);
        let configs = place.configs(options);
        Run::new(options, &configs, &place)
            .and_then(|run| written(&run, action))
            .unwrap_or_else(|errors| (Outcome::failed(&place, errors), Vec::new()))
    })
}

fn written(run: &Run<'_>, action: Action) -> Result<(Outcome, Vec<Written>), Vec<String>> {
    let mut silenced = silenced(run)?;
    let policies = &silenced.policies;
    let units = silenced.graph.units().iter();
    let written = silenced.covering(run, |coverage| {
        let current = Current {
            found: &silenced.held,
            environments: &|unit| silenced.environments.get(unit),
            coverage,
            configs: units.map(|unit| policies.of(&unit.name)).collect(),
            config_of: &|unit| policies.of(unit),
            sources: &silenced.gathered.sources,
            root: run.place.root(),
        };
        history::rewrite(&run.options.baseline, action, &current)
    });
    let written = written.unwrap_or_else(|errors| {
        silenced.gathered.errors.extend(errors);
        Vec::new()
    });
    Ok((finish::finish(run, silenced, None), written))
}
