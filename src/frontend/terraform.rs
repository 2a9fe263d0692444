//! The Terraform frontend: finds the roots among the modules that the library `terraform` reads, and lowers what it
//! evaluates to the graph (`lower.rs`).
//!
//! Nothing here fetches a module, runs a provider or reads the process environment.

mod edits;
mod lower;
#[cfg(test)]
mod tests;

use super::{Loaded, NamedEnvironment};
use crate::graph::{Unit, UnitGraph, UnitKind};
use crate::inputs::UnitInputs;
pub(super) use edits::{edits, is_only_use, realigned};
use rayon::prelude::*;
use source::reading::Problem;
use source::{Dependencies, Sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use terraform::eval::Evaluator;
use terraform::inputs::RootInputs;
use terraform::module::{self, Module, Modules};
pub(super) use terraform::syntax::{Trace, outline};
use terraform::{environments, plan, terragrunt};

/// Loads every root module in `directories`, every Terragrunt unit in `terragrunt`, and all modules that they call. A
/// module in `directories` is a root if no other module and no Terragrunt unit calls it.
pub(super) fn load(
    directories: &[PathBuf],
    terragrunt: &[PathBuf],
    unit_inputs: &UnitInputs,
    sources: &Sources,
) -> Vec<Loaded> {
    if directories.is_empty() && terragrunt.is_empty() {
        return Vec::new();
    }
    let (inputs, mut refused) = RootInputs::read(&unit_inputs.all.of_terraform(), sources);
    // // Read errors in the inputs of a named environment are not reported here.
    let own: BTreeMap<&PathBuf, RootInputs> = (unit_inputs.own.iter())
        .map(|(path, inputs)| (path, RootInputs::read(&inputs.of_terraform(), sources).0))
        .collect();
    let calls = read_terragrunt(terragrunt, sources);
    let targets = calls.iter().filter_map(|(_, root)| root.module.as_ref());
    let directories: Vec<PathBuf> = directories.iter().chain(targets).cloned().collect();
    let (modules, noted) = module::read_all(&directories, &inputs, sources);
    let calls = terragrunt::connect(calls, &modules, &inputs, sources);
    let targets = calls.iter().filter_map(|(_, root)| root.module.as_ref());
    let called = modules.values().flat_map(|module| module.called());
    let called: BTreeSet<&PathBuf> = called.chain(targets).collect();
    let roots: Vec<&Arc<Module>> = modules
        .values()
        .filter(|module| !called.contains(&module.directory))
        .collect();
    let targets: Vec<Option<&Arc<Module>>> = calls
        .iter()
        .map(|(_, call)| call.module.as_ref().and_then(|path| modules.get(path)))
        .collect();
    let (roots, owners) = share_out(roots, &targets, &modules);
    let called = calls
        .par_iter()
        .map(|(_, call)| load_called(call, &modules, &inputs, sources));
    let found = environments::EnvironmentSearch::in_modules(&modules);
    let alone = roots.par_iter().map(|root| {
        let inputs = own.get(&root.directory).unwrap_or(&inputs);
        // A run that checks one named environment does not search for more.
        let named = (own.is_empty()).then(|| named_environments(root, &found, &modules, &noted, sources));
        let unread = named.as_ref().filter(|_| unit_inputs.finds_environments);
        let unread = unread.filter(|named| !named.unread.is_empty());
        // If no environment can be judged, the defaults of what they set are not judged in their place.
        let unset = unread
            .filter(|named| named.inputs.is_empty())
            .map(|named| &named.variables);
        let mut loaded = remembered(root, &modules, &noted, inputs, unset, sources);
        for (name, problem) in unread.iter().flat_map(|named| &named.unread) {
            loaded.report_environment(name, problem);
        }
        if let Some(named) = &named {
            loaded.graph.forget_inputs(&named.variables);
            loaded.graph.note_switches(|name| named.variables.contains(name));
            loaded.graph.unit.is_uncalled &= named.inputs.is_empty();
            let named = named.inputs.iter().map(|(name, inputs)| NamedEnvironment {
                name: name.clone(),
                path: root.directory.clone(),
                inputs: inputs.clone().into(),
            });
            loaded.environments = named.collect();
        }
        loaded
    });
    let mut units: Vec<Loaded> = called.chain(alone).collect();
    refused.extend(inputs.misfits(&roots));
    if let Some(first) = units.first_mut() {
        first.errors.append(&mut refused);
    }
    for (directory, module) in &modules {
        let Some(unit) = owners.get(directory).and_then(|at| units.get_mut(*at)) else {
            continue;
        };
        unit.report(module.problems.iter().cloned(), sources);
        unit.errors.extend(module.errors.iter().cloned());
    }
    units
}

/// Loads the plan or state in `file`.
pub(super) fn load_plan(file: &Path, sources: &Sources) -> Loaded {
    let plan = plan::read(file, sources, lower::is_of_graph);
    let kind = if plan.is_state { UnitKind::State } else { UnitKind::Plan };
    let mut unit = Unit::new(sources.name_of(file), kind);
    if plan.is_partial {
        unit.notes.push("planning failed, so the plan is not whole".to_owned());
    }
    let mut loaded = Loaded::new(unit.clone());
    loaded.errors = plan.errors;
    loaded.report(plan.problems, sources);
    if !plan.instances.is_empty() {
        let none = Modules::new();
        let mut evaluator = Evaluator::of_instances(sources, &none, &unit.name, plan.instances);
        loaded.graph = lower::lower(&mut evaluator, UnitGraph::new(unit));
    }
    loaded
}

/// Returns every root, and for each module the index of the first unit that contains it, so that its diagnostics are
/// reported once. The units of `targets` come before those of the roots.
///
/// Modules that only call each other have no root among them. The first module of such a cycle becomes one, so that the
/// cycle is still checked.
fn share_out<'m>(
    mut roots: Vec<&'m Arc<Module>>,
    targets: &[Option<&'m Arc<Module>>],
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
            let called = module.called().filter_map(|path| modules.get(path));
            next.extend(called);
        }
        owners.len()
    };
    let mut reached = 0;
    let starts = targets.iter().copied().chain(roots.iter().copied().map(Some));
    for (at, root) in starts.enumerate() {
        reached = root.map_or(reached, |root| claim(at, root));
    }
    for module in modules.values() {
        if reached == modules.len() {
            break;
        }
        let with_it = claim(targets.len() + roots.len(), module);
        if with_it > reached {
            roots.push(module);
            reached = with_it;
        }
    }
    (roots, owners)
}

/// Loads the `terragrunt.hcl` files, without those that another one includes.
fn read_terragrunt(files: &[PathBuf], sources: &Sources) -> Vec<(PathBuf, terragrunt::Root)> {
    let mut roots: Vec<(PathBuf, terragrunt::Root)> = files
        .par_iter()
        .filter_map(|file| Some((file.clone(), terragrunt::load(file, sources)?)))
        .collect();
    let included: BTreeSet<PathBuf> = roots.iter().flat_map(|(_, root)| root.included.clone()).collect();
    roots.retain(|(file, _)| !included.contains(file));
    roots
}

/// Loads the module that a `terragrunt.hcl` calls as a unit of its own.
fn load_called(call: &terragrunt::Root, modules: &Modules, inputs: &RootInputs, sources: &Sources) -> Loaded {
    let module = call.module.as_ref().and_then(|path| modules.get(path)).cloned();
    let mut loaded = load_root(&module.unwrap_or_default(), Some(call), modules, inputs, None, sources);
    loaded.report(call.problems.iter().cloned(), sources);
    loaded.errors.extend(call.errors.iter().cloned());
    loaded
}

/// Loads a root that no module calls. The defaults of the variables `unset` do not apply. Returns the cached result if no
/// file that the root or the modules it calls depend on has changed.
fn remembered(
    root: &Arc<Module>,
    modules: &Modules,
    noted: &BTreeMap<PathBuf, Arc<Dependencies>>,
    inputs: &RootInputs,
    unset: Option<&BTreeSet<Arc<str>>>,
    sources: &Sources,
) -> Loaded {
    if sources.is_cancelled() {
        return Loaded::new(Unit::new(sources.name_of(&root.directory), UnitKind::TerraformModule));
    }
    let (loaded, _) = sources.cached(&root.directory, (inputs.fingerprint, unset), |sources| {
        sources.add_dependencies(&inputs.noted);
        let reached = module::reached(root, modules).into_iter();
        let noted = reached.filter_map(|module| noted.get(&module.directory));
        noted.for_each(|noted| sources.add_dependencies(noted));
        load_root(root, None, modules, inputs, unset, sources)
    });
    Arc::unwrap_or_clone(loaded)
}

/// Returns the result of [`environments::of_root`], from the cache if its files have not changed.
fn named_environments<'m>(
    root: &'m Module,
    found: &environments::EnvironmentSearch<'m>,
    modules: &'m Modules,
    noted: &BTreeMap<PathBuf, Arc<Dependencies>>,
    sources: &Sources,
) -> Arc<environments::Environments> {
    let (named, _) = sources.cached(&root.directory, found.fingerprint, |sources| {
        let reached = module::reached(root, modules).into_iter();
        let noted = reached.filter_map(|module| noted.get(&module.directory));
        noted.for_each(|noted| sources.add_dependencies(noted));
        environments::of_root(root, found, sources)
    });
    named
}

fn load_root(
    root: &Arc<Module>,
    call: Option<&terragrunt::Root>,
    modules: &Modules,
    inputs: &RootInputs,
    unset: Option<&BTreeSet<Arc<str>>>,
    sources: &Sources,
) -> Loaded {
    let directory = call.map_or(&root.directory, |call| &call.directory);
    let mut unit = Unit::new(sources.name_of(directory), UnitKind::TerraformModule);
    unit.notes.clone_from(&root.notes);
    unit.is_uncalled = call.is_none() && root.expects_call();
    unit.notes.extend(call.iter().flat_map(|call| call.notes.clone()));
    if let Some(source) = call.and_then(|call| call.unread.as_ref()) {
        let is_of_queue = [&**source, &unit.name].into_iter().any(lower::names_queue);
        unit.note_unread(source, is_of_queue);
    }
    let name = unit.name.clone();
    let mut evaluator = Evaluator::new(sources, modules, root.clone(), &name);
    evaluator.inputs = Some(inputs);
    evaluator.outside.unset = unset;
    if let Some(call) = call {
        evaluator.outside.inputs = Some(&call.inputs);
        evaluator.instances[0].calls.extend(call.call);
    }
    let mut loaded = Loaded::new(unit.clone());
    loaded.graph = lower::lower(&mut evaluator, UnitGraph::new(unit));
    loaded.graph.trim();
    let cycles = evaluator.cycles.iter().map(|(span, what)| (*span, &**what));
    let limits = cycles.chain(evaluator.limit.iter().map(|(span, reason)| (*span, &**reason)));
    loaded.report(limits.map(|(span, what)| Problem::limit(span, what)), sources);
    loaded
}
