//! The CloudFormation and SAM frontend: reads templates as their authors wrote them, before any transform runs.
//!
//! `sam` performs the SAM transform. `template` has the sections and names, `eval` and `intrinsics` evaluate
//! expressions, `conditions` and `comparisons` build conditions, `links` resolves references, `resources` lowers
//! resource types, and `project`, `stacks` and `handover` connect templates. The frontend knows no rule.

mod cdk;
mod comparisons;
mod conditions;
mod definitions;
mod edits;
mod eval;
mod handover;
mod includes;
mod incomplete;
mod intrinsics;
mod links;
mod local;
mod loops;
mod parameters;
mod project;
mod questions;
mod resources;
mod sam;
mod sections;
mod serverless;
mod stacks;
mod template;
#[cfg(test)]
mod tests;
mod value;

use super::Loaded;
use crate::graph::{Unit, UnitGraph, UnitKind};
use ::conditions::Condition;
pub(super) use cdk::{Environment, read_app};
pub(super) use edits::{edits, is_only_use, stands_once};
pub(super) use parameters::Settings;
use project::Project;
pub(super) use project::{Document, load_all};
use sections::{Dialect, Sections};
use source::reading::{Problem, ReadError, read};
use source::{Sources, Span};
use stacks::{Collected, Context};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use template::Template;
use trees::parsed;
use trees::{Node, Parsed};

/// A loaded file and its relations to other files.
#[derive(Clone)]
struct LoadedFile {
    /// Its unit, and one for each call of a nested stack.
    loaded: Vec<Loaded>,
    /// Files of those stacks.
    called: BTreeSet<PathBuf>,
    exports: Vec<handover::Export>,
    /// Names of its imports.
    imports: BTreeSet<String>,
    /// Names that it uses and does not declare.
    undeclared: BTreeSet<incomplete::UsedName>,
    /// `true` if it is a template into which fragments are merged.
    is_frame: bool,
}

/// Loads a template.
fn load_template(path: &Path, settings: &Settings, project: &Project, sources: &Sources) -> LoadedFile {
    load(path, None, settings, project, sources, UnitKind::Template)
}

/// Loads a stack of a CDK app, whose target environment is known.
fn load_stack(
    path: &Path,
    environment: &Environment,
    settings: &Settings,
    project: &Project,
    sources: &Sources,
) -> LoadedFile {
    load(path, Some(environment), settings, project, sources, UnitKind::CdkStack)
}

/// Loads a service of the Serverless Framework, which receives no parameters.
fn load_serverless(path: &Path, settings: &Settings, sources: &Sources) -> LoadedFile {
    let met = Collected::default();
    let (mut loaded, parsed) = open(path, sources, UnitKind::ServerlessService, None);
    for document in &parsed.documents {
        let settings = settings.of(path);
        loaded
            .environments
            .extend(settings.stages(path, || serverless::stages(document, path, sources)));
        let (values, stage) = (settings.place(), settings.stage.as_deref());
        let (found, files) = serverless::fill(&mut loaded.graph, document, values, stage, path, sources);
        loaded.report(found, sources);
        met.files.borrow_mut().extend(files);
    }
    met.into_read(loaded)
}

fn load(
    path: &Path,
    environment: Option<&Environment>,
    settings: &Settings,
    project: &Project,
    sources: &Sources,
    kind: UnitKind,
) -> LoadedFile {
    let met = Collected::default();
    let around = Context {
        sources,
        project,
        path,
        callers: Vec::new(),
        arguments: None,
        environment,
        assumed: Condition::always(),
        met: &met,
    };
    let loaded = load_unit(settings.of(path), &around, kind);
    met.into_read(loaded)
}

fn load_unit(settings: &Settings, around: &Context<'_>, kind: UnitKind) -> Loaded {
    let (path, sources) = (around.path, around.sources);
    let (mut loaded, parsed) = open(path, sources, kind, None);
    let name = loaded.graph.unit.name.clone();
    for document in &parsed.documents {
        if stacks::is_frame(document) {
            around.met.is_frame.set(true);
        }
        let (document, problems) = includes::included(document, path, sources);
        let document = definitions::placed(document, path, sources);
        loaded.report(problems, sources);
        let parameters = document.get("Parameters").and_then(Node::entries).unwrap_or_default();
        let names: Vec<&str> = parameters.iter().map(|entry| &*entry.key).collect();
        let (mut values, faults) = settings.values(path, names.iter().copied(), sources);
        loaded.report(faults, sources);
        if kind == UnitKind::Template && around.arguments.is_none() {
            loaded.environments = settings.environments(path, &names, sources);
        }
        if let Some(environment) = around.environment {
            environment.settle(&mut values);
        }
        let (document, problems) = loops::written_out(document, &name, &values);
        loaded.report(problems, sources);
        let document = if around.arguments.is_none() {
            around.project.with_globals(document, path)
        } else {
            document
        };
        let document = sam::transform(&document, &values).map_or(document, Cow::Owned);
        let sections = Sections::new(&name, Dialect::Template, &[&document], values)
            .read_in_full(loaded.diagnostics.is_empty())
            .within(around, &name);
        let template = Template::from(sections);
        let found = lower(&template, &mut loaded.graph);
        loaded.report(found, sources);
        if loaded
            .environments
            .iter()
            .any(|named| !named.inputs.parameters.is_empty())
        {
            loaded.graph.forget_required_inputs();
        }
    }
    loaded
}

/// Parses a file and creates an empty graph for it.
fn open(path: &Path, sources: &Sources, kind: UnitKind, call: Option<Arc<str>>) -> (Loaded, Arc<Parsed>) {
    let unit = Unit {
        name: sources.name_of(path),
        kind,
        notes: Vec::new(),
        unread_modules: std::collections::BTreeMap::new(),
        call,
    };
    let mut loaded = Loaded::new(unit);
    let file = match read(path, sources) {
        Ok(file) => file,
        Err(ReadError::Io(error)) => {
            loaded.errors.push(error);
            return (loaded, Arc::default());
        }
        Err(ReadError::Unfit(problem)) => {
            loaded.report([problem], sources);
            return (loaded, Arc::default());
        }
    };
    let parsed = parsed::tree(file, &sources.file(file));
    loaded.report(parsed.problems(), sources);
    loaded
        .graph
        .unit
        .notes
        .extend(repeated_keys(&parsed.duplicates, sources));
    (loaded, parsed)
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

/// Lowers `template` into `graph` and returns the exceeded bounds.
fn lower(template: &Template<'_>, graph: &mut UnitGraph) -> Vec<Problem> {
    let empty = UnitGraph::new(graph.unit.clone());
    *graph = resources::lower(template, std::mem::replace(graph, empty));
    let macros = template.unknown_macros();
    let note = |name| format!("the macro `{name}` is not run: values that it may add are unresolved");
    graph.unit.notes.extend(macros.map(note));
    graph.trim();
    let limits = template.limits().into_iter();
    limits.map(|(span, bound)| Problem::limit(span, bound)).collect()
}
