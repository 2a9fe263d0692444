//! Loads one file: prepares its documents stage by stage, evaluates them, and shows each evaluated template to a
//! visitor.
//!
//! A nested stack is evaluated when the visitor, or an expression, first asks for one of its outputs. It is then shown
//! to the same visitor, while the visit of its caller goes on.

use crate::handover::Export;
use crate::parameters::{Settings, Supplied, Values};
use crate::project::{Document, Project};
use crate::sections::{Dialect, Sections};
use crate::stacks::{Collected, Context, is_frame};
use crate::template::Template;
use crate::unit::{Unit, UnitKind};
use crate::{definitions, includes, incomplete, loops, sam, serverless, snapshot};
use conditions::Condition;
use knowledge::UnitKey;
use rustc_hash::FxHashMap;
use source::reading::{Problem, ReadError, read};
use source::{Sources, Span};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::{Node, Parsed, parsed};

/// Receives a unit and an evaluated template of it.
pub(crate) type Show<'v> = dyn Fn(&Unit, &Template<'_>) + 'v;

/// Makes a result of type `T` from an evaluated template and the result for the earlier documents of its unit.
pub(crate) type Visit<'v, T> = dyn Fn(&Unit, &Template<'_>, Option<T>) -> T + Sync + 'v;

/// A loaded file and its relations to other files.
#[derive(Clone)]
pub(crate) struct LoadedFile<T> {
    /// Its unit, and one for each call of a nested stack, with the visitor's results.
    pub(crate) units: Vec<(Unit, Option<T>)>,
    /// Files of those stacks.
    pub(crate) called: BTreeSet<PathBuf>,
    pub(crate) exports: Vec<Export>,
    /// Names of its imports.
    pub(crate) imports: BTreeSet<String>,
    /// Names that it uses and does not declare.
    pub(crate) undeclared: BTreeSet<incomplete::UsedName>,
    /// `true` if it is a template into which fragments are merged.
    pub(crate) is_frame: bool,
}

/// Inputs of the loading of every file.
pub(crate) struct Loader<'l, T> {
    pub(crate) settings: &'l Settings,
    pub(crate) sources: &'l Sources,
    pub(crate) visit: &'l Visit<'l, T>,
}

impl<T> Loader<'_, T> {
    /// Loads the file at `path` with what is known about the other templates.
    pub(crate) fn load(&self, path: &Path, document: &Document, project: &Project) -> LoadedFile<T> {
        let results: RefCell<FxHashMap<UnitKey, T>> = RefCell::default();
        let show = |unit: &Unit, template: &Template<'_>| {
            // The map is not borrowed during a visit, in which nested stacks are visited, too.
            let earlier = results.borrow_mut().remove(&unit.key);
            let result = (self.visit)(unit, template, earlier);
            results.borrow_mut().insert(unit.key.clone(), result);
        };
        let met = Collected::default();
        let template = |environment, kind| {
            let around = Context {
                sources: self.sources,
                project,
                path,
                callers: Vec::new(),
                arguments: None,
                environment,
                assumed: Condition::always(),
                met: &met,
                show: &show,
            };
            load_template(self.settings.of(path), &around, kind)
        };
        let unit = match document {
            Document::Template => template(None, UnitKind::Template),
            Document::Stack(environment) => template(Some(environment), UnitKind::CdkStack),
            Document::Service => load_service(path, self.settings, self.sources, &met, &show),
            Document::Snapshot => snapshot::load(path, self.sources, &met, &show),
        };
        met.into_read(unit, results.into_inner())
    }
}

/// Loads a service of the Serverless Framework, which receives no parameters.
fn load_service(path: &Path, settings: &Settings, sources: &Sources, met: &Collected, show: &Show<'_>) -> Unit {
    let (mut unit, parsed) = open(path, sources, UnitKind::ServerlessService, None);
    for document in &parsed.documents {
        let settings = settings.of(path);
        unit.environments
            .extend(settings.stages(path, || serverless::stages(document, path, sources)));
        let (values, stage) = (settings.place(), settings.stage.as_deref());
        let files = serverless::evaluate(&mut unit, document, values, stage, path, sources, show);
        met.files.borrow_mut().extend(files);
    }
    unit
}

/// Loads a template that no other template calls.
fn load_template(settings: &Settings, around: &Context<'_>, kind: UnitKind) -> Unit {
    let (path, sources) = (around.path, around.sources);
    let (mut unit, parsed) = open(path, sources, kind, None);
    for document in &parsed.documents {
        if is_frame(document) {
            around.met.is_frame.set(true);
        }
        let (document, problems) = assembled(document, path, sources);
        unit.problems.extend(problems);
        let values = values(&document, settings, around, &mut unit);
        let (document, problems) = written_out(document, &values, &unit.key, around);
        unit.problems.extend(problems);
        let sections = Sections::new(&unit.key, Dialect::Template, &[&document], values)
            .read_in_full(unit.problems.is_empty())
            .within(around);
        evaluate(&Template::from(sections), &mut unit, around.show);
    }
    unit
}

/// First stage: puts into `document` what other files and other places contribute to it.
pub(crate) fn assembled<'d>(document: &'d Node, path: &Path, sources: &Sources) -> (Cow<'d, Node>, Vec<Problem>) {
    let (document, problems) = includes::included(document, path, sources);
    (definitions::placed(document, path, sources), problems)
}

/// Second stage: reads the arguments of the parameters that `document` declares.
fn values(document: &Node, settings: &Settings, around: &Context<'_>, unit: &mut Unit) -> Values {
    let (path, sources) = (around.path, around.sources);
    let parameters = document.get("Parameters").and_then(Node::entries).unwrap_or_default();
    let names: Vec<&str> = parameters.iter().map(|entry| &*entry.key).collect();
    let (mut values, problems) = settings.values(path, names.iter().copied(), sources);
    unit.problems.extend(problems);
    if unit.kind == UnitKind::Template {
        let found = settings.environments(path, &names, sources);
        (unit.environments, unit.set, unit.unread_environments) = (found.inputs, found.set, found.unread);
        for name in found.always.into_iter().filter(|_| !settings.takes_arguments()) {
            let supplied = values.parameters.entry(name);
            supplied.or_insert_with(Supplied::by_each_configuration);
        }
    }
    if let Some(environment) = around.environment {
        environment.settle(&mut values);
    }
    values
}

/// Third stage: writes out loops, the `Globals` of other fragments, and what the SAM transform generates.
pub(crate) fn written_out<'d>(
    document: Cow<'d, Node>,
    values: &Values,
    unit: &UnitKey,
    around: &Context<'_>,
) -> (Cow<'d, Node>, Vec<Problem>) {
    let (document, problems) = loops::written_out(document, unit, values);
    let document = match &around.arguments {
        None => around.project.with_globals(document, around.path),
        Some(_) => document,
    };
    let document = sam::transform(&document, values).map_or(document, Cow::Owned);
    (document, problems)
}

/// Last stage: evaluates `template` as far as all visitors need, shows it, and follows its calls and exports. `unit`
/// receives its notes and the exceeded bounds.
pub fn evaluate(template: &Template<'_>, unit: &mut Unit, show: &dyn Fn(&Unit, &Template<'_>)) {
    template.settle_conditions();
    template.learn_names();
    let macros = template.unknown_macros();
    let note = |name| format!("the macro `{name}` is not run: values that it may add are unresolved");
    unit.notes.extend(macros.map(note));
    show(unit, template);
    template.cross();
    let limits = template.limits().into_iter();
    unit.problems
        .extend(limits.map(|(span, bound)| Problem::limit(span, bound)));
}

/// Parses a file and creates its unit.
pub(crate) fn open(path: &Path, sources: &Sources, kind: UnitKind, call: Option<UnitKey>) -> (Unit, Arc<Parsed>) {
    let mut unit = Unit::new(sources.name_of(path), kind, call);
    let file = match read(path, sources) {
        Ok(file) => file,
        Err(ReadError::Io(error)) => {
            unit.errors.push(error);
            return (unit, Arc::default());
        }
        Err(ReadError::Unfit(problem)) => {
            unit.problems.push(problem);
            return (unit, Arc::default());
        }
    };
    let parsed = parsed::tree(file, &sources.file(file));
    unit.problems.extend(parsed.problems());
    unit.notes.extend(repeated_keys(&parsed.duplicates, sources));
    (unit, parsed)
}

/// Returns a note about repeated keys: CloudFormation accepts them and silently drops all but the last.
fn repeated_keys(places: &[Span], sources: &Sources) -> Option<String> {
    let first = places.iter().min_by_key(|span| span.start)?;
    let line = sources.start(*first).line;
    let others = match places.len() {
        1 => String::new(),
        several => format!(", and {} more", several - 1),
    };
    Some(format!(
        "a key is repeated further down, and only the last one counts (line {line}{others})"
    ))
}
