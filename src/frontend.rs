//! Frontends, one per family of dialects: each turns the files of its units into a [`UnitGraph`] and diagnostics.
//!
//! Syntax trees are private to this module. A frontend never guesses: a value that it does not understand is
//! unresolved, and a file that it cannot read is a `parse-error` while the rest of the unit is still loaded. Frontends
//! do not panic.

mod cloudformation;
mod comments;
mod edits;
mod lower;
mod outline;
mod problems;
mod terraform;

use crate::diagnostic::{Diagnostic, ENVIRONMENT, LIMIT_REACHED, NotEvaluated, Severity, Subject};
use crate::discover::Input;
use crate::graph::{Unit, UnitGraph};
use crate::inputs::{Inputs, UnitInputs};
use cloudformation::Document;
pub use comments::{elements, insertions, suppressions};
pub use edits::add_fixes;
pub use outline::Outline;
use rayon::prelude::*;
use source::files::Refusal;
use source::reading::{Problem, ReadError, refused};
use source::{Sources, Span};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A loaded unit.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The nodes that the unit declares.
    pub graph: UnitGraph,
    /// The `parse-error` and `limit-reached` diagnostics of the unit.
    pub diagnostics: Vec<Diagnostic>,
    /// Local parts that were not read.
    pub not_evaluated: Vec<NotEvaluated>,
    /// Files that could not be opened, with the reason.
    pub errors: Vec<String>,
    /// Environments named by files next to the unit.
    pub environments: Vec<NamedEnvironment>,
    /// Relations to other units, other than the files that it reads.
    pub ties: Ties,
    /// Time at which a snapshot was taken, as written.
    pub taken: Option<Arc<str>>,
}

impl Loaded {
    /// Creates an empty unit.
    fn new(unit: Unit) -> Self {
        Loaded {
            graph: UnitGraph::new(unit),
            diagnostics: Vec::new(),
            not_evaluated: Vec::new(),
            errors: Vec::new(),
            environments: Vec::new(),
            ties: Ties::default(),
            taken: None,
        }
    }

    /// Reports resources that are not read although they belong to a queue, by type.
    fn report_unread_kinds(&mut self) {
        let unit = &self.graph.unit.name;
        let unread = self.graph.unread_kinds.iter().map(|(kind, &(count, span))| {
            let reason = match count {
                1 => format!("a resource of the type `{kind}` is not read"),
                _ => format!("{count} resources of the type `{kind}` are not read"),
            };
            NotEvaluated::unread(Subject::whole(unit, &**kind), reason, span)
        });
        self.not_evaluated.extend(unread);
    }

    /// Relates the unit to others that read what it publishes, or publish what it reads.
    fn tie_published(&mut self) {
        let [written, read] = self.graph.published_names();
        self.ties.exports.extend(written);
        self.ties.imports.extend(read);
    }

    /// Reports that an environment is not judged, because its file cannot be read.
    fn report_environment(&mut self, name: &str, problem: &Problem) {
        let reason = format!("the environment `{name}` cannot be evaluated: {}", problem.message);
        let subject = Subject {
            attribute: ENVIRONMENT,
            ..Subject::whole(&self.graph.unit.name, name)
        };
        self.not_evaluated
            .push(NotEvaluated::unread(subject, reason, problem.span));
    }

    /// Reports problems with the files of the unit.
    fn report(&mut self, problems: impl IntoIterator<Item = Problem>, sources: &Sources) {
        let unit = &self.graph.unit.name;
        self.diagnostics.extend(problems::diagnostics(problems, sources, unit));
    }
}

/// Relations of a unit to others, other than the files that it reads.
#[derive(Debug, Clone, Default)]
pub struct Ties {
    /// Names of exports.
    pub exports: Vec<String>,
    /// Names of imports.
    pub imports: Vec<String>,
    /// Directory whose templates may all be merged with this one.
    pub below: Option<PathBuf>,
}

/// An environment that files name for a unit: a variable file, a table of a SAM configuration.
#[derive(Debug, Clone)]
pub struct NamedEnvironment {
    /// The name in those files.
    pub name: String,
    /// The file or directory of the unit.
    pub path: PathBuf,
    /// The inputs of the environment.
    pub inputs: Inputs,
}

/// Loads every unit, in the order of `inputs`; Terraform modules that others call are not separate units. Recursion is
/// bounded, but deep: run it on threads with 8 MiB of stack.
pub fn load(inputs: &[Input], unit_inputs: &UnitInputs, sources: &Sources) -> Vec<Loaded> {
    let mut modules: Vec<PathBuf> = Vec::new();
    let mut terragrunt: Vec<PathBuf> = Vec::new();
    let mut files: BTreeMap<PathBuf, Document> = BTreeMap::new();
    let mut plans: Vec<&PathBuf> = Vec::new();
    let mut broken = Vec::new();
    for input in inputs {
        match input {
            Input::TerraformModule(directory) => modules.push(directory.clone()),
            Input::Terragrunt(file) => terragrunt.push(file.clone()),
            Input::Template(path) => {
                files.entry(path.clone()).or_insert(Document::Template);
            }
            Input::ServerlessService(path) => {
                files.insert(path.clone(), Document::Service);
            }
            Input::Snapshot(path) => {
                files.insert(path.clone(), Document::Snapshot);
            }
            Input::Plan(path) => plans.push(path),
            Input::CdkApp(directory) => {
                let app = cloudformation::read_app(directory, sources);
                let faulty = app.broken.into_iter();
                broken.extend(faulty.map(|unit| cloudformation::loaded(unit, None, sources)));
                let stacks = app.stacks.into_iter();
                files.extend(stacks.map(|(path, environment)| (path, Document::Stack(environment))));
            }
        }
    }
    // One frontend after the other, each on all threads: the syntax trees of Terraform modules, which are all in memory
    // at once because modules call each other, are freed before the next frontend starts.
    let mut all = terraform::load(&modules, &terragrunt, unit_inputs, sources);
    sources.drop_derived_if_large();
    let (templates, errors) = cloudformation::load_all(&files, unit_inputs, sources);
    all.extend(templates);
    let plans = plans.par_iter().map(|path| {
        let (plan, _) = sources.cached(path, (), |sources| terraform::load_plan(path, sources));
        Arc::unwrap_or_clone(plan)
    });
    all.par_extend(plans);
    sources.drop_derived_if_large();
    all.extend(broken);
    all.iter_mut().for_each(Loaded::report_unread_kinds);
    all.iter_mut().for_each(Loaded::tie_published);
    all.sort_by(|a, b| a.graph.unit.name.cmp(&b.graph.unit.name));
    if let Some(first) = all.first_mut() {
        first.errors.extend(errors);
    }
    all
}

/// Returns the diagnostic for an unreadable file that would affect which files are read, such as a `.gitignore`.
pub(crate) fn unread_setting(path: &Path, refusal: &Refusal, sources: &Sources) -> Diagnostic {
    let problem = match refused(path, refusal, sources) {
        ReadError::Unfit(problem) => problem,
        ReadError::Io(message) => Problem::invalid(Span::new(sources.add_unread(path, ""), 0..0), message),
    };
    problems::diagnostic(&problem, sources, &sources.name_of(path))
}

/// Returns the diagnostic that the environments `names` of the unit at `path` were not judged. It points to `file`, the
/// variable file of one of them, or to the first file of the unit.
pub(crate) fn unjudged_environments(path: &Path, file: Option<&Path>, names: &[&str], sources: &Sources) -> Diagnostic {
    const NAMED: usize = 50;
    let own = || sources.all().into_iter().map(|(_, file)| file.path().to_owned());
    let own = || own().filter(|own| own.parent() == Some(path)).min();
    let place = file.map(Path::to_owned).or_else(own);
    let place = place.as_deref().unwrap_or(path);
    let id = sources.find(place).unwrap_or_else(|| sources.add_unread(place, ""));
    let listed: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (count, verb) = match names.len() {
        1 => ("1 environment".to_owned(), "was"),
        several => (format!("{several} environments"), "were"),
    };
    let unit = sources.name_of(path);
    let subject = Subject::whole(unit.clone(), unit);
    let headline = format!(
        "{count} of `{}` {verb} not judged: {}{more}",
        sources.shown_of(path),
        listed.join(", ")
    );
    let label = "there are more environments than one run judges";
    let span = Span::new(id, 0..0);
    Diagnostic::new(LIMIT_REACHED, Severity::Error, subject, headline, span, label).help(
        "judge them with `--environment NAME,…`, or choose environments in `sqslint.toml`: `[[environment]]` declares \
         them, and `environments = \"default\"` judges only the default values",
    )
}
