//! Selects the inputs of a run, and the configuration of each.

mod settings;

use super::{Options, Outcome, Run};
use crate::config::{Config, Configs};
use crate::diagnostic::Diagnostic;
use crate::discover::{self, DiscoveryRequest, Input};
use crate::frontend;
use settings::Settings;
use source::Sources;
use source::files::Files;
use std::cell::LazyCell;
use std::path::PathBuf;
use std::sync::Arc;

/// Inputs to read, grouped by configuration.
pub(super) struct Selected {
    pub(super) outcome: Outcome,
    pub(super) groups: Vec<Group>,
    /// Findings about files that determine what is read, but could not be read.
    pub(super) refused: Vec<Diagnostic>,
}

/// Inputs with the same configuration.
pub(super) struct Group {
    pub(super) config: Arc<Config>,
    pub(super) inputs: Vec<Input>,
}

/// Selects `inputs` without searching for others.
pub(super) fn only(run: &Run<'_>, inputs: Vec<Input>) -> Result<Selected, Vec<String>> {
    let mut outcome = nothing(run);
    let (groups, excluded) =
        grouped(inputs, run.configs, run.options, &run.context.files).map_err(|error| vec![error])?;
    outcome.excluded = excluded;
    Ok(Selected {
        outcome,
        groups,
        refused: Vec::new(),
    })
}

fn nothing(run: &Run<'_>) -> Outcome {
    let context = run.context;
    Outcome {
        sources: Sources::with_files(context.files.clone(), context.working_directory.clone()).with_cache(
            run.session.cache.clone(),
            run.session.ids.clone(),
            run.session.is_cancelled.clone(),
        ),
        ..Outcome::default()
    }
}

/// Finds the units to check. The errors are those of a configuration, and any found before it.
pub(super) fn select(run: &Run<'_>) -> Result<Selected, Vec<String>> {
    let Run {
        options,
        configs,
        context,
        ..
    } = run;
    let mut outcome = nothing(run);
    let (mut inputs, touched) = inputs_of_options(run, &mut outcome.sources).map_err(|error| vec![error])?;
    let discovery = discover::discover(&DiscoveryRequest {
        files: &context.files,
        paths: &options.paths,
        touched: &touched,
        repository: context.repository.as_deref(),
        no_gitignore: options.no_gitignore,
        lenient: options.allow_empty,
        is_compared: options.since.is_some(),
    });
    inputs.extend(discovery.inputs);
    outcome.skipped = discovery.skipped;
    let dependents = discovery.dependents.iter();
    outcome.dependents = dependents.map(|path| outcome.sources.shown_of(path)).collect();
    outcome.notes = discovery.notes;
    outcome.unread_queues = discovery.unread_queues;
    outcome.errors = discovery.errors;
    for (file, message) in discovery.not_units {
        // The file may be a setting, such as variables of an environment or a baseline; its units are checked instead.
        match Settings::among(&[file], run).units() {
            Ok(units) if units.is_empty() => outcome.errors.push(message),
            Ok(_) => {}
            Err(error) => return Err(with(outcome.errors, error)),
        }
    }
    let sources = &outcome.sources;
    let refused = discovery.refused.iter();
    let refused = refused
        .map(|(file, refusal)| frontend::unread_setting(file, refusal, sources))
        .collect();
    inputs.sort();
    inputs.dedup();
    match grouped(inputs, configs, options, &context.files) {
        Ok((groups, excluded)) => {
            if let Err(unknown) = options.selection.check(&configs.catalogue()) {
                return Err(with(outcome.errors, unknown.to_string()));
            }
            outcome.excluded = excluded;
            Ok(Selected {
                outcome,
                groups,
                refused,
            })
        }
        // Without its configuration, a project is not checked, because findings that it ignores would be reported.
        Err(error) => Err(with(outcome.errors, error)),
    }
}

fn with(mut errors: Vec<String>, error: String) -> Vec<String> {
    errors.push(error);
    errors
}

/// Returns the units of the texts and changed settings that were passed, and the changed files.
fn inputs_of_options(run: &Run<'_>, sources: &mut Sources) -> Result<(Vec<Input>, Vec<PathBuf>), String> {
    let Run {
        options,
        configs,
        context,
        ..
    } = run;
    // Errors in a configuration are reported even if it applies to no unit.
    let all = options.paths.iter().filter_map(|path| context.files.named(path).ok());
    for path in all.chain([context.working_directory.clone()]) {
        configs.for_path(&path).map_err(|error| error.to_string())?;
    }
    let mut touched = run.touched.clone();
    let mut inputs = Vec::new();
    for (path, text) in &options.overlays {
        sources.overlay(path, text);
    }
    if let Some(stdin) = &options.stdin {
        let (path, input) = discover::stdin(&stdin.text, stdin.path.as_deref(), &context.working_directory)?;
        sources.overlay(&path, &stdin.text);
        inputs.push(input);
        // A text without a path cannot have dependents.
        touched.extend(stdin.path.is_some().then_some(path));
    }
    let changed: Vec<PathBuf> = (options.paths.iter())
        .filter_map(|path| context.files.named(path).ok())
        .filter(|path| context.files.is_file(path))
        .chain(touched.iter().cloned())
        .collect();
    inputs.extend(Settings::among(&changed, run).units()?);
    Ok((inputs, touched))
}

/// Groups `inputs` by configuration, without excluded ones, and counts those.
fn grouped(
    inputs: Vec<Input>,
    configs: &Configs,
    options: &Options,
    files: &Files,
) -> Result<(Vec<Group>, usize), String> {
    // Paths are resolved only if an input is excluded, which is rare.
    let named = LazyCell::new(|| -> Vec<PathBuf> {
        let stdin = options.stdin.as_ref().and_then(|stdin| stdin.path.as_ref());
        let named = options.paths.iter().chain(stdin);
        named.filter_map(|path| files.named(path).ok()).collect()
    });
    let mut groups: Vec<Group> = Vec::new();
    let mut excluded = 0;
    for input in inputs {
        let config = configs.for_path(input.path()).map_err(|error| error.to_string())?;
        if let Some(above) = config.excluded(input.path())
            && (options.force_exclude || !named.iter().any(|path| path.starts_with(&above)))
        {
            excluded += 1;
            continue;
        }
        let same = |group: &&mut Group| group.config.environments == config.environments;
        match groups.iter_mut().find(same) {
            Some(group) => group.inputs.push(input),
            None => groups.push(Group {
                config,
                inputs: vec![input],
            }),
        }
    }
    Ok((groups, excluded))
}
