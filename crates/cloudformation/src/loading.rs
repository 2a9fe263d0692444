//! Loads one file: prepares its documents stage by stage, evaluates them, and shows each evaluated template to a
//! visitor.
//!
//! A nested stack is evaluated when the visitor, or an expression, first asks for one of its outputs. It is then shown
//! to the same visitor, while the visit of its caller goes on.

use crate::document::is_frame;
use crate::parameters::{Settings, Supplied, Values};
use crate::project::Document;
use crate::sections::{Dialect, Sections};
use crate::stacks::{Call, Collected, Context, Nested, Outputs, Show, takes};
use crate::surroundings::{Export, Project, UsedName};
use crate::template::Template;
use crate::unit::{Unit, UnitKind};
use crate::{definitions, includes, loops, sam, serverless, snapshot};
use conditions::Condition;
use knowledge::UnitKey;
use rustc_hash::FxHashMap;
use source::Sources;
use source::reading::{Problem, ProblemKind, ReadError, read};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::{Node, Parsed, parsed};

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
    pub(crate) undeclared: BTreeSet<UsedName>,
    /// `true` if it is a template into which fragments are merged.
    pub(crate) is_frame: bool,
}

impl<T> LoadedFile<T> {
    /// Combines the units with the results of their visits.
    pub(crate) fn new(collected: Collected, mut unit: Unit, mut results: FxHashMap<UnitKey, T>) -> Self {
        unit.unread.append(&mut collected.unread.take());
        let units = std::iter::once(unit).chain(collected.called.into_inner());
        let mut with_result = |unit: Unit| {
            let result = results.remove(&unit.key);
            (unit, result)
        };
        LoadedFile {
            units: units.map(&mut with_result).collect(),
            called: collected.files.into_inner(),
            exports: collected.exports.into_inner(),
            imports: collected.imports.into_inner(),
            undeclared: collected.undeclared.into_inner(),
            is_frame: collected.is_frame.get(),
        }
    }
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
        let collected = Collected::default();
        let template = |environment, kind| {
            let around = Context {
                sources: self.sources,
                project,
                path,
                callers: Vec::new(),
                arguments: None,
                environment,
                assumed: Condition::always(),
                collected: &collected,
                show: &show,
                load: load_nested,
            };
            load_template(self.settings.of(path), &around, kind)
        };
        let unit = match document {
            Document::Template => template(None, UnitKind::Template),
            Document::Stack(environment) => template(Some(environment), UnitKind::CdkStack),
            Document::Service => load_service(path, self.settings, self.sources, &collected, &show),
            Document::Snapshot => load_snapshot(path, self.sources, &collected, &show),
        };
        LoadedFile::new(collected, unit, results.into_inner())
    }
}

/// Loads a service of the Serverless Framework, which receives no parameters.
fn load_service(path: &Path, settings: &Settings, sources: &Sources, collected: &Collected, show: &Show<'_>) -> Unit {
    let (mut unit, parsed) = open(path, sources, UnitKind::ServerlessService, None);
    for document in &parsed.documents {
        let settings = settings.of(path);
        unit.environments
            .extend(settings.stages(path, || serverless::stages(document, path, sources)));
        let mut compiled = serverless::compile(document, settings.stage.as_deref(), path, sources);
        unit.notes.append(&mut compiled.notes);
        unit.problems.append(&mut compiled.problems);
        collected.files.borrow_mut().append(&mut compiled.files);
        let values = Values {
            stack: compiled.stack.take(),
            ..settings.place()
        };
        let mut sections = Sections::new(&unit.key, Dialect::Serverless, &[&compiled.root], values);
        sections.origins = Some(&compiled.origins);
        sections.service = Some(&compiled.service);
        sections.directory = path.parent().map(Path::to_owned);
        sections.is_closed &= compiled.is_closed;
        evaluate(&sections.into(), &mut unit, show);
    }
    unit
}

/// Loads a snapshot: one unit per Region.
fn load_snapshot(path: &Path, sources: &Sources, collected: &Collected, show: &Show<'_>) -> Unit {
    let (mut unit, parsed) = open(path, sources, UnitKind::Snapshot, None);
    let Some(document) = parsed.documents.first() else {
        return unit;
    };
    let regions = snapshot::regions(document, &mut unit);
    for (at, region) in regions.into_iter().enumerate() {
        let mut part = None;
        if at > 0 {
            let key = format!("{}@{}", unit.name, region.values.region.as_deref().unwrap_or_default());
            let other = Unit::new(unit.name.clone(), UnitKind::Snapshot, Some(UnitKey::new(key)));
            let taken = unit.taken.clone();
            part = Some(Unit { taken, ..other });
        }
        let of_region = part.as_mut().unwrap_or(&mut unit);
        let sections = Sections::new(&of_region.key, Dialect::Template, &[&region.root], region.values);
        evaluate(&sections.into(), of_region, show);
        collected.called.borrow_mut().extend(part);
    }
    unit
}

/// Loads a template that no other template calls.
fn load_template(settings: &Settings, around: &Context<'_>, kind: UnitKind) -> Unit {
    let (path, sources) = (around.path, around.sources);
    let (mut unit, parsed) = open(path, sources, kind, None);
    for document in &parsed.documents {
        if is_frame(document) {
            around.collected.is_frame.set(true);
        }
        let (document, problems) = assembled(document, path, sources);
        unit.problems.extend(problems);
        let values = values(&document, settings, around, &mut unit);
        let (document, problems) = written_out(document, &values, &unit.key, around);
        unit.problems.extend(problems);
        let sections = Sections::new(&unit.key, Dialect::Template, &[&document], values)
            .read_in_full(is_read_in_full(&unit.problems))
            .within(around);
        evaluate(&Template::from(sections), &mut unit, around.show);
    }
    unit
}

/// Loads the template of a nested stack, once for each call.
fn load_nested(call: Call<'_, '_>) -> Result<Outputs, Option<String>> {
    let Call {
        caller,
        declared,
        nested,
        assumed,
        around,
    } = call;
    let (Nested::Named(path) | Nested::Above(path) | Nested::Uploaded(path)) = &nested;
    let sources = around.sources;
    let (mut unit, parsed) = open(
        path,
        sources,
        UnitKind::Template,
        Some(caller.key.of_call(&declared.id)),
    );
    let is_template = |names: &[&str]| parsed.documents.first().is_some_and(|found| takes(found, names));
    match nested {
        Nested::Above(_) if !is_template(&[]) => return Err(Some("the file is not a template".to_owned())),
        Nested::Uploaded(_) if !is_template(&caller.argument_names(declared)) => {
            let file = sources.name_of(path);
            return Err(Some(format!(
                "`{file}` has the name of its URL, but not its parameters"
            )));
        }
        _ => {}
    }
    let is_new = around.collected.files.borrow_mut().insert(path.clone());
    let mut is_whole = is_read_in_full(&unit.problems);
    if !is_new {
        unit.problems.clear();
    }
    let outputs = parsed.documents.first().map(|document| {
        let values = caller.inherited_values();
        let callers = around.callers.iter().cloned().chain([around.path.to_owned()]);
        let (document, of_files) = assembled(document, path, sources);
        let mut inside = Context {
            path,
            callers: callers.collect(),
            arguments: Some(FxHashMap::default()),
            environment: None,
            assumed: assumed.clone(),
            ..*around
        };
        let (document, of_loops) = written_out(document, &values, &unit.key, &inside);
        is_whole &= of_files.is_empty() && of_loops.is_empty();
        if is_new {
            unit.problems.extend(of_files.into_iter().chain(of_loops));
        }
        inside.arguments = Some(caller.arguments(declared, &document, &assumed));
        let sections = Sections::new(&unit.key, Dialect::Template, &[&document], values);
        let template = Template::from(sections.read_in_full(is_whole).within(&inside));
        evaluate(&template, &mut unit, around.show);
        template.output_values()
    });
    around.collected.called.borrow_mut().push(unit);
    outputs.ok_or(None)
}

/// Returns `true` if nothing of a document is missing: of repeated keys, the last one counts.
fn is_read_in_full(problems: &[Problem]) -> bool {
    problems
        .iter()
        .all(|problem| matches!(problem.kind, ProblemKind::Repeated(_)))
}

/// First stage: puts into `document` what other files and other places contribute to it.
fn assembled<'d>(document: &'d Node, path: &Path, sources: &Sources) -> (Cow<'d, Node>, Vec<Problem>) {
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
fn written_out<'d>(
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
fn open(path: &Path, sources: &Sources, kind: UnitKind, call: Option<UnitKey>) -> (Unit, Arc<Parsed>) {
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
    let repeated = parsed
        .duplicates
        .iter()
        .map(|[first, last]| Problem::repeated(*first, *last));
    unit.problems.extend(repeated);
    (unit, parsed)
}
