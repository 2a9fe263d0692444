//! The Terraform frontend: modules are read (`module.rs`, `syntax.rs`), evaluated as Terraform would with what is
//! not known kept apart (`eval.rs`, `functions.rs`), and lowered to the graph (`lower.rs`).
//!
//! Nothing here fetches a module, runs a provider or looks at the environment.

mod eval;
mod functions;
mod json;
mod lower;
mod module;
mod provider;
mod registry;
mod syntax;
#[cfg(test)]
mod tests;
mod value;

use super::{Loaded, limit_reached};
use crate::given::Given;
use crate::graph::{Unit, UnitGraph, UnitKind};
use crate::source::Sources;
use eval::Evaluator;
use module::{Module, Modules};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Reads every module of `directories` that no other module calls, and those they call.
pub(super) fn load(directories: &[PathBuf], _given: &Given, sources: &Sources) -> Vec<Loaded> {
    let modules = module::read_all(directories, sources);
    let called: BTreeSet<&PathBuf> = modules.values().flat_map(|module| module.called()).collect();
    let mut roots: Vec<&Arc<Module>> = modules
        .values()
        .filter(|module| !called.contains(&module.directory))
        .collect();
    if roots.is_empty() {
        // Modules that only call each other: better judged each than not at all.
        roots = modules.values().collect();
    }
    let mut units: Vec<Loaded> = roots
        .par_iter()
        .map(|root| load_root(root, &modules, sources))
        .collect();
    // What was read once is told once, with the first unit.
    if let Some(first) = units.first_mut() {
        for module in modules.values() {
            first.diagnostics.extend(module.diagnostics.iter().cloned());
            first.errors.extend(module.errors.iter().cloned());
        }
    }
    units
}

fn load_root(root: &Arc<Module>, modules: &Modules, sources: &Sources) -> Loaded {
    let unit = Unit {
        name: sources.name_of(&root.directory),
        kind: UnitKind::TerraformModule,
        notes: root.notes.clone(),
    };
    let name = unit.name.clone();
    let mut evaluator = Evaluator::new(sources, modules, root.clone(), &name);
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
