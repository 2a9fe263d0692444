//! Dialects: each frontend turns the files of its units into a [`UnitGraph`] and diagnostics.
//!
//! Syntax trees stay private in here. What a frontend does not understand is unresolved, never guessed;
//! a file it cannot read is a `parse-error`, and the rest of the unit is still understood. Nothing panics.

mod cloudformation;
mod comments;
mod edits;
mod json;
mod lower;
mod outline;
mod parsed;
mod terraform;
mod toml;
mod tree;
mod yaml;

use crate::diagnostic::{Diagnostic, Severity, Subject};
use crate::discover::Input;
use crate::files::Refusal;
use crate::given::{Given, Givens};
use crate::graph::{Unit, UnitGraph};
use crate::source::{FileId, Sources, Span};
use cloudformation::Document;
pub use comments::{elements, insertions, suppressions};
pub use edits::add_fixes;
pub use outline::Outline;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One unit as read.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What was understood.
    pub graph: UnitGraph,
    /// `parse-error` and `limit-reached`.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that could not be opened, with the reason.
    pub errors: Vec<String>,
    /// The environments that files beside it name.
    pub environments: Vec<NamedEnvironment>,
    /// What ties it to other units besides the files that it reads.
    pub ties: Ties,
}

impl Loaded {
    /// A unit of which nothing was read yet.
    fn new(unit: Unit) -> Self {
        Loaded {
            graph: UnitGraph::new(unit),
            diagnostics: Vec::new(),
            errors: Vec::new(),
            environments: Vec::new(),
            ties: Ties::default(),
        }
    }
}

/// What ties a unit to others besides the files that it reads.
#[derive(Debug, Clone, Default)]
pub struct Ties {
    /// Names that it exports or imports.
    pub names: Vec<String>,
    /// The directory of which every template may be put together with it.
    pub below: Option<PathBuf>,
}

/// An environment that files name for a unit: a variable file, a table of a SAM configuration.
#[derive(Debug, Clone)]
pub struct NamedEnvironment {
    /// What the files call it.
    pub name: String,
    /// The file or directory of the unit.
    pub path: PathBuf,
    /// What it gives.
    pub given: Given,
}

/// Reads every unit, in the order of `inputs`; Terraform modules that others call give no unit of their own.
/// Recursion is bounded, but deep: run it on threads with 8 MiB of stack.
pub fn load(inputs: &[Input], given: &Givens, sources: &Sources) -> Vec<Loaded> {
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
    let settings = cloudformation::Settings::new(given, sources);
    // One after the other, each on all threads: the syntax trees of modules, which live together because modules call
    // each other, make room for what follows.
    let mut all = terraform::load(&modules, &terragrunt, given, sources);
    sources.let_go();
    all.extend(cloudformation::load_all(&files, &settings, sources));
    let plans = plans.par_iter().map(|path| {
        let (plan, _) = sources.remember(path, (), |sources| terraform::load_plan(path, sources));
        Arc::unwrap_or_clone(plan)
    });
    all.par_extend(plans);
    sources.let_go();
    all.extend(broken);
    all.sort_by(|a, b| a.graph.unit.name.cmp(&b.graph.unit.name));
    if let Some(first) = all.first_mut() {
        first.errors.extend(settings.into_errors());
    }
    all
}

/// Why a file gave no text.
#[derive(Debug)]
enum ReadError {
    /// It could not be opened.
    Io(String),
    /// It is not UTF-8, or not to be read; the diagnostic says where and why.
    Unfit(Box<Diagnostic>),
}

/// A file that is larger is not read; a plan is.
const LARGEST: u64 = 16 << 20;
/// A plan that is larger is not read.
const LARGEST_PLAN: u64 = 512 << 20;

/// Reads a file as UTF-8. A byte order mark stays in the text, so that offsets are those of the file.
fn read(path: &Path, sources: &Sources, unit: &str) -> Result<FileId, ReadError> {
    read_up_to(LARGEST, path, sources, unit)
}

/// The same for a file of at most `most` bytes.
fn read_up_to(most: u64, path: &Path, sources: &Sources, unit: &str) -> Result<FileId, ReadError> {
    decoded(most, path, sources, unit, |_| false)
}

/// As [`read`]. Bytes that are not UTF-8 become U+FFFD each, where `may_be` says so of that text.
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
    if let Some(known) = sources.read_before(path) {
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

/// What is said of a file that is not read. Of one that is not ours to show nothing is quoted.
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

/// What is said of a file that settles what is read, a `.gitignore`, and is not read itself.
pub(crate) fn unread_setting(path: &Path, refusal: &Refusal, sources: &Sources) -> Diagnostic {
    match unread(path, refusal, sources, &sources.name_of(path)) {
        ReadError::Unfit(found) => *found,
        ReadError::Io(message) => {
            let span = Span::new(sources.add_unread(path, ""), 0..0);
            parse_error(sources, &sources.name_of(path), span, &message)
        }
    }
}

/// The diagnostic for text that is not what its file ought to hold.
fn parse_error(sources: &Sources, unit: &str, span: Span, message: &str) -> Diagnostic {
    tool_diagnostic("parse-error", sources, unit, span, message, "cannot be read")
        .help("the rest of the project was checked; fix this to have this part checked, too")
}

/// The diagnostic for a bound that was reached; `bound` names it.
fn limit_reached(sources: &Sources, unit: &str, span: Span, bound: &str) -> Diagnostic {
    tool_diagnostic("limit-reached", sources, unit, span, bound, "is only partly read")
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
