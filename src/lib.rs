//! Lints SQS queues together with what reads them, in Terraform, CloudFormation and SAM.
//!
//! [`check`] is the whole pipeline: discover → load → link → judge → sort. It prints nothing, never exits and
//! does not panic on any input; `main.rs` prints and chooses the exit code.

pub mod config;
pub mod diagnostic;
pub mod discover;
pub mod explain;
pub mod frontend;
pub mod given;
pub mod graph;
pub mod history;
mod judge;
mod project;
pub mod report;
pub mod rules;
pub mod selection;
pub mod source;
#[doc(hidden)]
pub mod testing;

use config::{Config, Configs, FailLevel};
use diagnostic::{Diagnostic, NotEvaluated, Severity};
use discover::Wanted;
use given::Given;
use graph::Graph;
use history::{Baselines, Coverage, History, Judged};
use project::{Found, Project};
use selection::Selection;
use source::{Sources, Span};
use std::path::{Path, PathBuf};

/// Parsers and evaluators recurse within bounds that need more than the 2 MiB of a default thread.
const STACK_SIZE: usize = 8 << 20;

/// The directories above which no configuration is looked for.
fn roots(options: &Options, repository: Option<&PathBuf>, working_directory: &Path) -> Vec<PathBuf> {
    if let Some(repository) = repository {
        return vec![repository.clone()];
    }
    let named = options.paths.iter().filter_map(|path| path.canonicalize().ok());
    let outside = named.filter(|path| !path.starts_with(working_directory));
    std::iter::once(working_directory.to_owned()).chain(outside).collect()
}

/// What to check, and with which rules.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Files and directories.
    pub paths: Vec<PathBuf>,
    /// Which rules run.
    pub selection: Selection,
    /// Values for variables and parameters.
    pub given: Given,
    /// Where the configuration comes from.
    pub config: config::Source,
    /// From which severity on a finding fails the run, in place of what the configurations say.
    pub fail_level: Option<FailLevel>,
    /// Findings below it are left out.
    pub min_severity: Severity,
    /// Whether to keep which rule looked at which value.
    pub trace: bool,
    /// Whether `exclude` holds for paths that are named, too.
    pub force_exclude: bool,
    /// Files that git ignores are walked, too.
    pub no_gitignore: bool,
    /// A named file that is no unit is passed over.
    pub allow_empty: bool,
    /// Also what a commit, or a push, touches.
    pub staged: bool,
    /// A text in place of a file's.
    pub stdin: Option<Stdin>,
    /// Findings of this baseline are left out.
    pub baseline: history::Choice,
    /// Findings are left out that the tree had at the merge base of this commit and `HEAD`.
    pub since: Option<String>,
}

/// A text that comes from elsewhere than from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stdin {
    /// The text.
    pub text: String,
    /// The file that it stands for, which need not be there.
    pub path: Option<PathBuf>,
}

/// What a run found.
#[derive(Debug)]
pub struct Outcome {
    /// Every unit, linked. Without units there was nothing to check.
    pub graph: Graph,
    /// The texts that spans point into.
    pub sources: Sources,
    /// Sorted by path, line, column, rule.
    pub findings: Vec<Diagnostic>,
    /// What could not be judged, by unit, address and rule.
    pub not_evaluated: Vec<NotEvaluated>,
    /// What kept sqslint from doing its job: paths that do not exist, files that cannot be opened.
    pub errors: Vec<String>,
    /// What was passed over on the way: `cdk.out`, `.terraform`…
    pub skipped: Vec<String>,
    /// Which rule looked at which value, where that was asked for.
    pub looked: Vec<(&'static str, Span)>,
    /// Whether a finding reaches the level that fails the run.
    pub fails: bool,
    /// What was left out because it was known before.
    pub history: History,
}

impl Outcome {
    fn empty(place: &Place) -> Self {
        Outcome {
            graph: Graph::default(),
            sources: Sources::new(place.repository.clone(), place.working_directory.clone()),
            findings: Vec::new(),
            not_evaluated: Vec::new(),
            errors: Vec::new(),
            skipped: Vec::new(),
            looked: Vec::new(),
            fails: false,
            history: History::default(),
        }
    }
}

/// Where a run takes place. Paths are absolute and without symbolic links.
#[derive(Debug, Clone)]
struct Place {
    working_directory: PathBuf,
    repository: Option<PathBuf>,
}

impl Place {
    fn of(options: &Options) -> Self {
        let working_directory = std::env::current_dir().and_then(|path| path.canonicalize());
        let working_directory = working_directory.unwrap_or_default();
        let stdin = options.stdin.as_ref().and_then(|stdin| stdin.path.as_deref()?.parent());
        let start = options.paths.iter().map(PathBuf::as_path).chain(stdin).next();
        let start = start.and_then(|path| path.canonicalize().ok());
        Place {
            repository: discover::repository_root(start.as_deref().unwrap_or(&working_directory)),
            working_directory,
        }
    }

    /// The repository's root, or the working directory.
    fn root(&self) -> &Path {
        self.repository.as_deref().unwrap_or(&self.working_directory)
    }
}

/// Checks everything under the paths of `options`.
pub fn check(options: &Options) -> Outcome {
    on_own_threads(|| judged(options, |_| Ok(())).0)
}

fn on_own_threads<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().stack_size(STACK_SIZE).build() {
        Ok(pool) => pool.install(run),
        // Without threads of our own the caller's must do.
        Err(_) => run(),
    }
}

/// Checks, and hands all findings to `then`, those that are known before as well.
fn judged<T: Default>(options: &Options, then: impl FnOnce(&Judged<'_>) -> Result<T, Vec<String>>) -> (Outcome, T) {
    let place = Place::of(options);
    let configs = Configs::new(
        options.config.clone(),
        roots(options, place.repository.as_ref(), &place.working_directory),
    );
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
    let touched = match options.staged {
        true => history::touched(place.repository.as_deref()).map_err(|error| vec![error])?,
        false => Vec::new(),
    };
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
            .filter_map(|path| path.canonicalize().ok())
            .filter(|path| path.is_dir())
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
    let mut known: Vec<bool> = vec![false; found.held.len()];
    if let Some(mut before) = before {
        known = before.covers(&found.held.iter().collect::<Vec<_>>());
    }
    let mut baselines = Baselines::new(options.baseline.clone(), place.root());
    units.iter().for_each(|config| baselines.use_for(config));
    let baselined = baselines.covers(&found.held, config_of);
    let errors = baselines.conclude(&coverage(), &outcome.sources, &mut outcome.history);
    outcome.errors.extend(errors);
    found.conclude(&known, &baselined, options, outcome);
    Ok(result)
}

/// Finds and judges what is asked for; the error is one of the configuration.
fn find(
    options: &Options,
    configs: &Configs,
    touched: &[PathBuf],
    place: &Place,
    outcome: &mut Outcome,
) -> Result<Found, String> {
    let repository = place.repository.as_deref();
    let mut touched = touched.to_vec();
    let mut inputs = Vec::new();
    let mut paths = options.paths.clone();
    if let Some(stdin) = &options.stdin {
        let (path, input) = discover::stdin(&stdin.text, stdin.path.as_deref(), &place.working_directory)?;
        outcome.sources.overlay(&path, &stdin.text);
        inputs.push(input);
        // What has no place has no neighbours.
        touched.extend(stdin.path.is_some().then_some(path));
    }
    // Files that an environment reads matter to everything that it holds for.
    let files = paths
        .iter()
        .filter(|path| path.is_file())
        .filter_map(|path| path.canonicalize().ok());
    for file in files.chain(touched.iter().cloned()).collect::<Vec<_>>() {
        let config = configs.of(&file).map_err(|error| error.to_string())?;
        let is_read = config
            .environments
            .iter()
            .any(|environment| environment.given.reads(&file));
        let above = config.files.first().and_then(|file| file.parent());
        if let Some(above) = above.filter(|above| is_read && above.starts_with(place.root())) {
            paths.push(above.to_owned());
        }
    }
    let discovery = discover::discover(&Wanted {
        paths: &paths,
        touched: &touched,
        repository,
        no_gitignore: options.no_gitignore,
        lenient: options.allow_empty,
    });
    outcome.errors.extend(discovery.errors);
    outcome.skipped = discovery.skipped;
    inputs.extend(discovery.inputs);
    inputs.sort();
    inputs.dedup();
    // Without its decisions a project is not judged: what it ignores would be said.
    let project = Project::new(inputs, configs, options).map_err(|error| error.to_string())?;
    Ok(project.judge(options, configs, outcome))
}
