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
mod terraform;

use crate::diagnostic::{Diagnostic, LIMIT_REACHED, NotEvaluated, PARSE_ERROR, Severity, Subject};
use crate::discover::Input;
use crate::graph::{Unit, UnitGraph};
use crate::inputs::{Inputs, UnitInputs};
use cloudformation::Document;
pub use comments::{elements, insertions, suppressions};
pub use edits::add_fixes;
pub use outline::Outline;
use rayon::prelude::*;
use source::files::Refusal;
use source::{FileId, Sources, Span};
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
        }
    }
}

/// Relations of a unit to others, other than the files that it reads.
#[derive(Debug, Clone, Default)]
pub struct Ties {
    /// Names of exports and imports.
    pub names: Vec<String>,
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
            Input::Plan(path) => plans.push(path),
            Input::CdkApp(directory) => {
                let app = cloudformation::read_app(directory, sources);
                broken.extend(app.broken);
                let stacks = app.stacks.into_iter();
                files.extend(stacks.map(|(path, environment)| (path, Document::Stack(environment))));
            }
        }
    }
    let settings = cloudformation::Settings::new(unit_inputs, sources);
    // One frontend after the other, each on all threads: the syntax trees of Terraform modules, which are all in memory
    // at once because modules call each other, are freed before the next frontend starts.
    let mut all = terraform::load(&modules, &terragrunt, unit_inputs, sources);
    sources.drop_derived_if_large();
    all.extend(cloudformation::load_all(&files, &settings, sources));
    let plans = plans.par_iter().map(|path| {
        let (plan, _) = sources.cached(path, (), |sources| terraform::load_plan(path, sources));
        Arc::unwrap_or_clone(plan)
    });
    all.par_extend(plans);
    sources.drop_derived_if_large();
    all.extend(broken);
    all.sort_by(|a, b| a.graph.unit.name.cmp(&b.graph.unit.name));
    if let Some(first) = all.first_mut() {
        first.errors.extend(settings.into_errors());
    }
    all
}

/// Reason why a file has no text.
#[derive(Debug)]
enum ReadError {
    /// The file could not be opened.
    Io(String),
    /// The file is not UTF-8, or must not be read; the diagnostic states the location and the reason.
    Unfit(Box<Diagnostic>),
}

/// Maximum size in bytes of a file other than a plan.
const LARGEST: u64 = 16 << 20;
/// Maximum size in bytes of a plan.
const LARGEST_PLAN: u64 = 512 << 20;

/// Reads a file as UTF-8. A byte order mark stays in the text, so that offsets are those of the file.
fn read(path: &Path, sources: &Sources, unit: &str) -> Result<FileId, ReadError> {
    read_up_to(LARGEST, path, sources, unit)
}

/// Like [`read`], for a file of at most `most` bytes.
fn read_up_to(most: u64, path: &Path, sources: &Sources, unit: &str) -> Result<FileId, ReadError> {
    decoded(most, path, sources, unit, |_| false)
}

/// Like [`read`], but replaces each invalid byte by U+FFFD if `may_be` accepts the resulting text.
fn read_where(
    path: &Path,
    sources: &Sources,
    unit: &str,
    may_be: impl FnOnce(&str) -> bool,
) -> Result<FileId, ReadError> {
    decoded(LARGEST, path, sources, unit, may_be)
}

fn decoded(
    most: u64,
    path: &Path,
    sources: &Sources,
    unit: &str,
    may_be: impl FnOnce(&str) -> bool,
) -> Result<FileId, ReadError> {
    if let Some(known) = sources.find_read(path) {
        return Ok(known);
    }
    let bytes = sources
        .files()
        .read(path, most)
        .map_err(|refusal| unread(path, &refusal, sources, unit))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(sources.add(path, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let lossy = String::from_utf8_lossy(&bytes);
            if may_be(&lossy) {
                return Ok(sources.add_unread(path, lossy));
            }
            let message = match bytes.as_slice() {
                [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it is UTF-16; save it as UTF-8",
                _ => "it is not UTF-8 from here on",
            };
            let file = sources.add_unread(path, lossy);
            let span = Span::new(file, at..at + 1);
            Err(ReadError::Unfit(Box::new(parse_error(sources, unit, span, message))))
        }
    }
}

/// Returns the error for a file that is not read. Files outside the permitted directories are not quoted.
fn unread(path: &Path, refusal: &Refusal, sources: &Sources, unit: &str) -> ReadError {
    let shown = sources.shown_of(path);
    let report = match refusal {
        Refusal::Missing => return ReadError::Io(format!("`{shown}`: no such file")),
        Refusal::Io(error) => return ReadError::Io(format!("cannot read `{shown}`: {error}")),
        Refusal::TooLarge(_) => limit_reached,
        Refusal::Outside | Refusal::LeadsOut | Refusal::Git | Refusal::NotAFile => parse_error,
    };
    let file = sources.add_unread(path, "");
    let found = report(sources, unit, Span::new(file, 0..0), &refusal.to_string());
    ReadError::Unfit(Box::new(found))
}

/// Returns the diagnostic for an unreadable file that would affect which files are read, such as a `.gitignore`.
pub(crate) fn unread_setting(path: &Path, refusal: &Refusal, sources: &Sources) -> Diagnostic {
    match unread(path, refusal, sources, &sources.name_of(path)) {
        ReadError::Unfit(found) => *found,
        ReadError::Io(message) => {
            let span = Span::new(sources.add_unread(path, ""), 0..0);
            parse_error(sources, &sources.name_of(path), span, &message)
        }
    }
}

/// Returns the diagnostic for text that is not valid in its file.
fn parse_error(sources: &Sources, unit: &str, span: Span, message: &str) -> Diagnostic {
    tool_diagnostic(PARSE_ERROR, sources, unit, span, message, "cannot be read")
        .help("the rest of the project was checked; fix this line to check the rest of the file")
}

/// Returns the diagnostic for an exceeded bound; `bound` names it.
fn limit_reached(sources: &Sources, unit: &str, span: Span, bound: &str) -> Diagnostic {
    tool_diagnostic(LIMIT_REACHED, sources, unit, span, bound, "is only partly read")
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
    let subject = Subject {
        unit: unit.clone(),
        address: unit,
        attribute: "",
    };
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

fn tool_diagnostic(
    rule: &'static str,
    sources: &Sources,
    unit: &str,
    span: Span,
    message: &str,
    verb: &str,
) -> Diagnostic {
    let file = sources.file(span.file);
    let subject = Subject {
        unit: unit.to_owned(),
        address: file.name().to_owned(),
        attribute: "",
    };
    let headline = format!("`{}` {verb}: {message}", file.base_name());
    Diagnostic::new(rule, Severity::Error, subject, headline, span, message)
}
