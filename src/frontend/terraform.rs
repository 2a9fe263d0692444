//! The Terraform frontend: modules are read (`module.rs`, `syntax.rs`), evaluated as Terraform would with what is
//! not known kept apart (`eval.rs`, `functions.rs`), and lowered to the graph (`lower.rs`).
//!
//! Nothing here fetches a module, runs a provider or looks at the environment.

mod eval;
mod functions;
mod inputs;
mod json;
mod lower;
mod module;
mod plan;
mod provider;
mod syntax;
#[cfg(test)]
mod tests;
mod value;

use super::{Loaded, limit_reached};
use crate::given::Given;
use crate::graph::{Unit, UnitGraph, UnitKind};
use crate::source::Sources;
use eval::Evaluator;
use inputs::Inputs;
use module::{Module, Modules, Source};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads every module of `directories` that no other module calls, and those they call.
pub(super) fn load(directories: &[PathBuf], given: &Given, sources: &Sources) -> Vec<Loaded> {
    if directories.is_empty() {
        return Vec::new();
    }
    let (inputs, mut refused) = Inputs::read(given, sources);
    let modules = module::read_all(directories, sources);
    let called: BTreeSet<&PathBuf> = modules
        .values()
        .flat_map(|module| module.calls.values())
        .filter_map(|call| match &call.source {
            Source::Here(path) => Some(path),
            Source::Away(_) => None,
        })
        .collect();
    let roots: Vec<&Arc<Module>> = modules
        .values()
        .filter(|module| !called.contains(&module.directory))
        .collect();
    let (roots, owners) = share_out(roots, &modules);
    let mut units: Vec<Loaded> = roots
        .par_iter()
        .map(|root| load_root(root, &modules, &inputs, sources))
        .collect();
    refused.extend(inputs.misfits(&roots));
    if let Some(first) = units.first_mut() {
        first.errors.append(&mut refused);
    }
    for (directory, module) in &modules {
        let Some(unit) = owners.get(directory).and_then(|at| units.get_mut(*at)) else {
            continue;
        };
        for diagnostic in &module.diagnostics {
            let mut diagnostic = diagnostic.clone();
            diagnostic.subject.unit.clone_from(&unit.graph.unit.name);
            unit.diagnostics.push(diagnostic);
        }
        unit.errors.extend(module.errors.iter().cloned());
    }
    units
}

/// Reads the plan or state in `file`.
pub(super) fn load_plan(file: &Path, sources: &Sources) -> Loaded {
    plan::load(file, sources)
}

/// Every root, and by module the place of the first root that it belongs to: what is read once is told once.
/// Modules that only call each other have none; better judged each than not at all.
fn share_out<'m>(
    mut roots: Vec<&'m Arc<Module>>,
    modules: &'m Modules,
) -> (Vec<&'m Arc<Module>>, BTreeMap<&'m PathBuf, usize>) {
    let mut owners: BTreeMap<&PathBuf, usize> = BTreeMap::new();
    let mut claim = |at: usize, root: &'m Arc<Module>| {
        let mut next = vec![root];
        while let Some(module) = next.pop() {
            if owners.contains_key(&module.directory) {
                continue;
            }
            owners.insert(&module.directory, at);
            let called = module.calls.values().filter_map(|call| match &call.source {
                Source::Here(path) => modules.get(path),
                Source::Away(_) => None,
            });
            next.extend(called);
        }
        owners.len()
    };
    let mut reached = 0;
    for (at, root) in roots.iter().enumerate() {
        reached = claim(at, root);
    }
    for module in modules.values() {
        if reached == modules.len() {
            break;
        }
        let with_it = claim(roots.len(), module);
        if with_it > reached {
            roots.push(module);
            reached = with_it;
        }
    }
    (roots, owners)
}

fn load_root(root: &Arc<Module>, modules: &Modules, inputs: &Inputs, sources: &Sources) -> Loaded {
    let unit = Unit {
        name: sources.name_of(&root.directory),
        kind: UnitKind::TerraformModule,
        notes: root.notes.clone(),
        call: None,
    };
    let name = unit.name.clone();
    let mut evaluator = Evaluator::new(sources, modules, root.clone(), &name);
    evaluator.inputs = Some(inputs);
    let graph = lower::Lowering::new(&mut evaluator, UnitGraph::new(unit)).run();
    let limit = evaluator
        .limit
        .map(|(span, bound)| limit_reached(sources, &name, span, bound));
    Loaded {
        graph,
        diagnostics: limit.into_iter().collect(),
        errors: Vec::new(),
    }
}
