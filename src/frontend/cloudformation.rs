//! The CloudFormation and SAM frontend: reads templates as their authors wrote them, before any transform runs.
//!
//! Sections and names are told in `template`, what expressions come to in `eval` and `intrinsics`, formulas in
//! `conditions` and `comparisons`, what texts point to in `links`, and resource types in `resources`; what leads from
//! one template to another in `project`, `stacks` and `handover`. It knows no rule.

mod cdk;
mod comparisons;
mod conditions;
mod eval;
mod handover;
mod includes;
mod intrinsics;
mod links;
mod local;
mod loops;
mod parameters;
mod project;
mod resources;
mod stacks;
mod template;
#[cfg(test)]
mod tests;
mod value;

use super::tree::{Entry, Node, Parsed, SyntaxError, Value};
use super::{Loaded, ReadError, json, limit_reached, parse_error, read, yaml};
use crate::diagnostic::Diagnostic;
use crate::graph::{Condition, Unit, UnitGraph, UnitKind};
use crate::source::{FileId, Sources, Span};
pub(super) use cdk::{Environment, read_app};
pub(super) use parameters::Settings;
use parameters::Values;
use project::Project;
pub(super) use project::{Document, load_all};
use resources::Lowering;
use stacks::{Met, Surroundings};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use template::{Dialect, Template};

/// One file as read, and what of it concerns other files.
struct Read {
    /// Its unit, and one for each nested stack that it calls.
    loaded: Vec<Loaded>,
    /// The files of those stacks.
    called: BTreeSet<PathBuf>,
    exports: Vec<handover::Export>,
    /// Names that it imports.
    imports: BTreeSet<String>,
    /// Whether it uses names that it does not declare, or holds nothing but `Globals`.
    is_fragment: bool,
}

/// Reads one template.
fn load_template(path: &Path, settings: &Settings, project: &Project, sources: &Sources) -> Read {
    load(path, None, settings, project, sources, UnitKind::Template)
}

/// Reads one stack of a CDK app, which knows where it deploys to.
fn load_stack(
    path: &Path,
    environment: &Environment,
    settings: &Settings,
    project: &Project,
    sources: &Sources,
) -> Read {
    load(path, Some(environment), settings, project, sources, UnitKind::CdkStack)
}

/// Reads the `resources` of one `serverless.yml`.
fn load_serverless(path: &Path, settings: &Settings, project: &Project, sources: &Sources) -> Read {
    load(path, None, settings, project, sources, UnitKind::ServerlessService)
}

fn load(
    path: &Path,
    environment: Option<&Environment>,
    settings: &Settings,
    project: &Project,
    sources: &Sources,
    kind: UnitKind,
) -> Read {
    let met = Met::default();
    let around = Surroundings {
        sources,
        project,
        path,
        callers: Vec::new(),
        arguments: None,
        world: Condition::always(),
        met: &met,
    };
    let loaded = load_unit(environment, settings, &around, kind);
    met.into_read(loaded)
}

fn load_unit(
    environment: Option<&Environment>,
    settings: &Settings,
    around: &Surroundings<'_>,
    kind: UnitKind,
) -> Loaded {
    let (path, sources) = (around.path, around.sources);
    let notes = match kind {
        UnitKind::ServerlessService => vec!["its functions and events are not read yet".to_owned()],
        _ => Vec::new(),
    };
    let unit = Unit {
        name: sources.name_of(path),
        kind,
        notes,
        call: None,
    };
    let name = unit.name.clone();
    let mut loaded = Loaded {
        graph: UnitGraph::new(unit),
        diagnostics: Vec::new(),
        errors: Vec::new(),
    };
    let file = match read(path, sources, &name) {
        Ok(file) => file,
        Err(ReadError::Io(error)) => {
            loaded.errors.push(error);
            return loaded;
        }
        Err(ReadError::Encoding(diagnostic)) => {
            loaded.diagnostics.push(*diagnostic);
            return loaded;
        }
    };
    let parsed = parse(sources.file(file).text(), file);
    loaded.diagnostics = complaints(&parsed, sources, &name);
    for document in parsed.documents {
        let (document, problems) = includes::included(document, path, sources, &name);
        loaded
            .diagnostics
            .extend(faults_of(&problems.refused, &problems.limits, sources, &name));
        let (dialect, parts) = match kind {
            UnitKind::ServerlessService => (Dialect::Serverless, service_resources(&document)),
            _ => (Dialect::Template, vec![document]),
        };
        if parts
            .iter()
            .all(|part| part.get("Resources").is_none() && part.get("Globals").is_some())
        {
            around.met.holds_only_globals.set(true);
        }
        let parameters = parts.iter().filter_map(|part| part.get("Parameters")?.entries());
        let names = parameters.flatten().map(|entry| &*entry.key);
        let (mut values, faults) = settings.values(path, names, sources, &name);
        if let Some(environment) = environment {
            environment.settle(&mut values);
        }
        loaded.diagnostics.extend(faults);
        let parts: Vec<Node> = parts
            .into_iter()
            .map(|part| {
                let (part, problems) = loops::written_out(part, &name, &values);
                loaded
                    .diagnostics
                    .extend(faults_of(&problems.refused, &problems.limits, sources, &name));
                part
            })
            .collect();
        let parts: Vec<&Node> = parts.iter().collect();
        let around = (dialect == Dialect::Template).then_some(around);
        let limits = fill(&mut loaded.graph, dialect, &parts, values, around);
        let limits = limits
            .iter()
            .map(|(span, bound)| limit_reached(sources, &name, *span, bound));
        loaded.diagnostics.extend(limits);
    }
    loaded
}

/// Adds what `roots` declare to `graph`, and returns the bounds that were reached.
fn fill(
    graph: &mut UnitGraph,
    dialect: Dialect,
    roots: &[&Node],
    values: Values,
    around: Option<&Surroundings<'_>>,
) -> Vec<(Span, String)> {
    let empty = UnitGraph::new(graph.unit.clone());
    let mut template = Template::new(&graph.unit.name, dialect, roots, values);
    if let Some(around) = around {
        template = template.within(around, &graph.unit.name);
    }
    let lowering = Lowering {
        template: &template,
        graph: std::mem::replace(graph, empty),
    };
    *graph = lowering.run();
    template.limits()
}

/// JSON where it looks like JSON; flow YAML that begins like it is read by the other parser.
fn parse(text: &str, file: FileId) -> Parsed {
    if !text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        return yaml::parse(text, file);
    }
    let parsed = json::parse(text, file);
    if parsed.errors.is_empty() {
        return parsed;
    }
    let other = yaml::parse(text, file);
    if other.errors.is_empty() { other } else { parsed }
}

fn complaints(parsed: &Parsed, sources: &Sources, unit: &str) -> Vec<Diagnostic> {
    faults_of(&parsed.errors, &parsed.limits, sources, unit)
}

fn faults_of(errors: &[SyntaxError], limits: &[SyntaxError], sources: &Sources, unit: &str) -> Vec<Diagnostic> {
    let errors = errors.iter();
    let errors = errors.map(|error| parse_error(sources, unit, error.span, &error.message));
    let limits = limits.iter();
    errors
        .chain(limits.map(|limit| limit_reached(sources, unit, limit.span, &limit.message)))
        .collect()
}

/// The templates in `resources`: one, or a list of them, with `extensions` laid over their resources.
fn service_resources(document: &Node) -> Vec<Node> {
    let Some(resources) = document.get("resources") else {
        return Vec::new();
    };
    let parts = resources.items().unwrap_or(std::slice::from_ref(resources));
    let extensions: Vec<&Entry> = parts
        .iter()
        .filter_map(|part| part.get("extensions")?.entries())
        .flatten()
        .collect();
    parts.iter().map(|part| extended(part, &extensions)).collect()
}

/// `part` with its resources changed by `extensions`: properties are added and replaced, as the framework does.
fn extended(part: &Node, extensions: &[&Entry]) -> Node {
    let mut part = part.clone();
    if let Some(Value::Mapping(resources)) = child(&mut part, "Resources").map(|node| &mut node.value) {
        for resource in resources {
            for extension in extensions.iter().filter(|extension| extension.key == resource.key) {
                overlay(&mut resource.value, &extension.value, 0);
            }
        }
    }
    part
}

fn child<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    match &mut node.value {
        Value::Mapping(entries) => {
            let key: Arc<str> = key.into();
            entries
                .iter_mut()
                .find(|entry| entry.key == key)
                .map(|entry| &mut entry.value)
        }
        _ => None,
    }
}

/// Lays `over` on `node`, at most as deep as a resource's attributes and their properties.
fn overlay(node: &mut Node, over: &Node, depth: usize) {
    let (Value::Mapping(entries), Value::Mapping(new)) = (&mut node.value, &over.value) else {
        *node = over.clone();
        return;
    };
    for entry in new {
        match entries.iter_mut().find(|known| known.key == entry.key) {
            Some(known) if depth < 1 => overlay(&mut known.value, &entry.value, depth + 1),
            Some(known) => *known = entry.clone(),
            None => entries.push(entry.clone()),
        }
    }
}
