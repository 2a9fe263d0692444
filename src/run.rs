//! One run from its options to its outcome: what is looked for, found, and left out because it was known before.

mod settings;

use crate::config::{Config, Configs};
use crate::diagnostic::Silencer;
use crate::discover::{self, Wanted};
use crate::files::{self, Files, named, real, repository_root};
use crate::history::{self, Baselines, Coverage, Judged};
use crate::project::{Found, Project};
use crate::{Options, Outcome, frontend, rules};
use settings::Settings;
use std::path::{Path, PathBuf};

/// Parsers and evaluators recurse within bounds that need more than the 2 MiB of a default thread.
const STACK_SIZE: usize = 8 << 20;

/// The configurations of a run that takes place there.
pub(crate) fn configs(options: &Options, files: &Files, working_directory: &Path) -> Configs {
    let roots = roots(options, files.repository(), working_directory);
    Configs::new(options.config.clone(), roots, files)
}

/// The directories above which no configuration is looked for.
fn roots(options: &Options, repository: Option<&Path>, working_directory: &Path) -> Vec<PathBuf> {
    if let Some(repository) = repository {
        return vec![repository.to_owned()];
    }
    let named = options.paths.iter().filter_map(|path| named(path).ok());
    let outside = named.filter(|path| !path.starts_with(working_directory));
    std::iter::once(working_directory.to_owned()).chain(outside).collect()
}

/// Where a run takes place. Paths are absolute and without symbolic links.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) working_directory: PathBuf,
    /// Its root, where there is one.
    pub(crate) repository: Option<PathBuf>,
    /// The files that may be read.
    pub(crate) files: Files,
}

impl Place {
    pub(crate) fn of(options: &Options) -> Self {
        let working_directory = std::env::current_dir().and_then(|path| real(&path));
        let working_directory = working_directory.unwrap_or_default();
        let stdin = options.stdin.as_ref().and_then(|stdin| stdin.path.as_deref()?.parent());
        let all = options.paths.iter().map(PathBuf::as_path).chain(stdin);
        let all: Vec<Option<PathBuf>> = all.map(|path| named(path).ok()).collect();
        let start = all.first().and_then(Option::as_deref);
        let repository = repository_root(start.unwrap_or(&working_directory));
        let roots = all
            .iter()
            .flatten()
            .filter_map(|path| bound(path, repository.as_deref()));
        let files = Files::new(repository.clone(), roots.collect());
        let configuration = options.config.file.as_deref();
        Place {
            repository,
            working_directory,
            files: files.trusting(options.given.files().chain(configuration)),
        }
    }

    /// The repository's root, or the working directory.
    pub(crate) fn root(&self) -> &Path {
        self.repository.as_deref().unwrap_or(&self.working_directory)
    }
}

/// The directory below which files may be read because `path` was named, where it lies outside of `repository`.
fn bound(path: &Path, repository: Option<&Path>) -> Option<PathBuf> {
    if repository.is_some_and(|repository| path.starts_with(repository)) {
        return None;
    }
    let directory = if files::is_directory(path) {
        path
    } else {
        path.parent()?
    };
    Some(repository_root(directory).unwrap_or_else(|| directory.to_owned()))
}

/// Checks everything under the paths of `options`.
pub(crate) fn check(options: &Options) -> Outcome {
    on_own_threads(|| check_here(options))
}

/// The same on the threads of the caller, which have to be [`on_own_threads`].
pub(crate) fn check_here(options: &Options) -> Outcome {
    judged(options, |_| Ok(())).0
}

/// Runs `run` on threads with enough stack, a thread a processor. Where the system allows fewer (a limit on processes,
/// a container with little memory), on one; where it allows none, on the caller's, whose stack has to do: that of a
/// main thread is as large on Linux and macOS.
pub(crate) fn on_own_threads<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let threads = |count| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .stack_size(STACK_SIZE)
    };
    let all_processors = 0;
    match threads(all_processors).build().or_else(|_| threads(1).build()) {
        Ok(pool) => pool.install(run),
        // Rayon has to be told: with no pool around it, it would make one of its own, and panic where it cannot.
        Err(_) => match threads(1).use_current_thread().build() {
            Ok(pool) => pool.install(run),
            // An earlier run has told it: a thread that is part of a pool stays part of it.
            Err(_) => run(),
        },
    }
}

/// Checks, and hands all findings to `then`, those that are known before as well.
pub(crate) fn judged<T: Default>(
    options: &Options,
    then: impl FnOnce(&Judged<'_>) -> Result<T, Vec<String>>,
) -> (Outcome, T) {
    let place = Place::of(options);
    let configs = configs(options, &place.files, &place.working_directory);
    let mut outcome = Outcome::empty(&place);
    let mut result = T::default();
    match judge(options, &configs, &place, &mut outcome, then) {
        Ok(given) => result = given,
        Err(errors) => outcome.errors.extend(errors),
    }
    outcome.errors.sort();
    outcome.errors.dedup();
    (outcome, result)
}

fn judge<T>(
    options: &Options,
    configs: &Configs,
    place: &Place,
    outcome: &mut Outcome,
    then: impl FnOnce(&Judged<'_>) -> Result<T, Vec<String>>,
) -> Result<T, Vec<String>> {
    let before = options.since.as_ref();
    let before = before
        .map(|name| history::before(name, options, configs, place))
        .transpose();
    let before = before.map_err(|error| vec![error])?;
    let mut touched = Vec::new();
    if options.staged {
        touched = history::touched(place.repository.as_deref()).map_err(|error| vec![error])?;
    }
    let found = find(options, configs, &touched, place, outcome).map_err(|error| vec![error])?;
    let (graph, policies) = (&outcome.graph, &found.policies);
    let config_of = |unit: &str| policies.of(unit);
    let runs = |rule: &str, unit: &str| {
        rules::by_id(rule).is_none_or(|rule| options.selection.selects(rule, policies.of(unit)))
    };
    let coverage = || Coverage {
        units: graph.units().iter().map(|unit| unit.name.as_str()).collect(),
        walked: options
            .paths
            .iter()
            .filter_map(|path| named(path).ok())
            .filter(|path| files::is_directory(path))
            .collect(),
        runs: &runs,
    };
    let units: Vec<&Config> = graph.units().iter().map(|unit| policies.of(&unit.name)).collect();
    let result = then(&Judged {
        found: &found.held,
        environments: found.environments,
        coverage: coverage(),
        configs: units.clone(),
        config_of: &config_of,
        sources: &outcome.sources,
        root: place.root(),
    })?;
    let mut baselines = Baselines::new(options.baseline.clone(), place.root(), &place.files);
    for config in &units {
        baselines.use_for(config);
    }
    let mut known = baselines.covers(&found.held, config_of);
    if let (Some(mut before), Some(name)) = (before, &options.since) {
        let covering = before.covers(&found.held.iter().collect::<Vec<_>>());
        for (known, covering) in known.iter_mut().zip(covering) {
            let why = covering.map(|_| (Silencer::Since(name.clone()), None));
            *known = known.take().or(why);
        }
    }
    let errors = baselines.conclude(&coverage(), &outcome.sources, &mut outcome.history);
    outcome.errors.extend(errors);
    found.conclude(known, options, outcome);
    Ok(result)
}

/// Finds and judges what is asked for; the error is one of the configuration.
pub(crate) fn find(
    options: &Options,
    configs: &Configs,
    touched: &[PathBuf],
    place: &Place,
    outcome: &mut Outcome,
) -> Result<Found, String> {
    let repository = place.repository.as_deref();
    // What is wrong with it is said even where there is nothing that it could hold for.
    let all = options.paths.iter().filter_map(|path| place.files.named(path).ok());
    for path in all.chain([place.working_directory.clone()]) {
        configs.of(&path).map_err(|error| error.to_string())?;
    }
    let mut touched = touched.to_vec();
    let mut inputs = Vec::new();
    for (path, text) in &options.overlays {
        outcome.sources.overlay(path, text);
    }
    if let Some(stdin) = &options.stdin {
        let (path, input) = discover::stdin(&stdin.text, stdin.path.as_deref(), &place.working_directory)?;
        outcome.sources.overlay(&path, &stdin.text);
        inputs.push(input);
        // What has no place has no neighbours.
        touched.extend(stdin.path.is_some().then_some(path));
    }
    let changed: Vec<PathBuf> = (options.paths.iter())
        .filter_map(|path| place.files.named(path).ok())
        .filter(|path| place.files.is_file(path))
        .chain(touched.iter().cloned())
        .collect();
    inputs.extend(Settings::among(&changed, options, configs, place).units()?);
    let discovery = discover::discover(&Wanted {
        files: &place.files,
        paths: &options.paths,
        touched: &touched,
        repository,
        no_gitignore: options.no_gitignore,
        lenient: options.allow_empty,
    });
    outcome.errors.extend(discovery.errors);
    for (file, message) in discovery.unfit {
        // Variables that an environment takes, a baseline: their units are judged.
        if Settings::among(&[file], options, configs, place).units()?.is_empty() {
            outcome.errors.push(message);
        }
    }
    outcome.skipped = discovery.skipped;
    let refused = discovery.refused.iter();
    let refused = refused
        .map(|(file, refusal)| frontend::unread_setting(file, refusal, &outcome.sources))
        .collect();
    inputs.extend(discovery.inputs);
    inputs.sort();
    inputs.dedup();
    // Without its decisions a project is not judged: what it ignores would be said.
    let project = Project::new(inputs, configs, options, &place.files).map_err(|error| error.to_string())?;
    outcome.excluded = project.excluded;
    Ok(project.judge(options, configs, refused, outcome))
}
