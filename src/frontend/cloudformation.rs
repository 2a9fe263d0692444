//! The frontend of CloudFormation and SAM templates, CDK apps and services of the Serverless Framework: lowers what the
//! library `cloudformation` evaluates to the graph (`resources.rs`), and makes edits.

mod edits;
mod resources;
mod service;
#[cfg(test)]
mod tests;

use super::{Loaded, NamedEnvironment, Ties};
use crate::diagnostic::{NotEvaluated, Subject};
use crate::graph::{Unit, UnitGraph, UnitKind};
use crate::inputs::UnitInputs;
use cloudformation::parameters::Settings;
use cloudformation::template::Template;
pub(super) use cloudformation::{Document, read_app};
pub(super) use edits::{edits, is_only_use, stands_once};
use source::Sources;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Loads every file. Also returns the errors of `--parameters`.
pub(super) fn load_all(
    files: &BTreeMap<PathBuf, Document>,
    unit_inputs: &UnitInputs,
    sources: &Sources,
) -> (Vec<Loaded>, Vec<String>) {
    let own = unit_inputs.own.iter();
    let own = own.map(|(path, inputs)| (path.clone(), inputs.of_cloudformation()));
    let settings = Settings::new(&unit_inputs.all.of_cloudformation(), &own.collect(), sources);
    let units = cloudformation::load_all(files, &settings, sources, &lowered);
    let loaded = units.into_iter().map(|(unit, graph)| loaded(unit, graph, sources));
    (loaded.collect(), settings.into_errors())
}

/// Adds the resources of `template` to the graph of its unit.
fn lowered(unit: &cloudformation::Unit, template: &Template<'_>, graph: Option<UnitGraph>) -> UnitGraph {
    let graph = graph.unwrap_or_else(|| UnitGraph::new(unit_of(unit)));
    let mut graph = resources::lower(template, graph);
    if let Some(service) = template.service {
        service::respell(&mut graph, service, unit.notes.first());
    }
    graph.trim();
    graph
}

/// Returns the unit of the graph without its notes, to which the evaluation may still add.
fn unit_of(unit: &cloudformation::Unit) -> Unit {
    let kind = match unit.kind {
        cloudformation::UnitKind::Template => UnitKind::Template,
        cloudformation::UnitKind::CdkStack => UnitKind::CdkStack,
        cloudformation::UnitKind::ServerlessService => UnitKind::ServerlessService,
        cloudformation::UnitKind::Snapshot => UnitKind::Snapshot,
    };
    Unit {
        key: unit.key.clone(),
        ..Unit::new(unit.name.clone(), kind)
    }
}

/// Combines a unit with its graph, which is missing if its file could not be read.
pub(super) fn loaded(unit: cloudformation::Unit, graph: Option<UnitGraph>, sources: &Sources) -> Loaded {
    let mut loaded = Loaded::new(unit_of(&unit));
    loaded.graph = graph.unwrap_or(loaded.graph);
    loaded.graph.unit.notes = unit.notes;
    loaded.report(unit.problems, sources);
    loaded.errors = unit.errors;
    loaded.taken = unit.taken;
    let part = if unit.kind == cloudformation::UnitKind::Snapshot {
        ""
    } else {
        "the template of "
    };
    let unread = unit.unread.into_iter().map(|stack| {
        let reason = format!("{part}`{}` is not read: {}", stack.id, stack.reason);
        NotEvaluated::unread(Subject::whole(stack.unit, stack.id.to_string()), reason, stack.span)
    });
    loaded.not_evaluated = unread.collect();
    for (name, problem) in &unit.unread_environments {
        loaded.report_environment(name, problem);
    }
    let environments = unit.environments.into_iter().map(|named| NamedEnvironment {
        name: named.name,
        path: named.path,
        inputs: named.inputs.into(),
    });
    loaded.environments = environments.collect();
    loaded.ties = Ties {
        exports: unit.ties.exports,
        imports: unit.ties.imports,
        below: unit.ties.below,
    };
    loaded.graph.forget_inputs(&unit.set);
    loaded
}
