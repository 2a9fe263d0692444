//! Relates the units of a run to each other: which of them must be checked together, because one reads files of another
//! or because one refers to a name that another declares ([`Connections`]). Nodes that concern all units of the project
//! ([`CommonNode`]) relate none: they are added to the graphs of the others.
//!
//! ```text
//! svc/orders   calls modules/queue ┐
//! svc/billing  calls modules/queue ┴─ one group with modules/queue
//! stacks/mail  queue "mail"        ┐
//! stacks/alarm alarm on "mail"     ┴─ one group
//! stacks/web                          a group by itself
//! ```
//!
//! An environment that files name for some units is judged with the units related to those ([`Around`]). Their relations
//! are those of the run with the default values, and then those that they have in the environment.

use super::Run;
use super::load::{Environment, FoundEnvironments, unit_path};
use super::select::Group;
use crate::discover::{Input, is_terraform};
use crate::frontend::Ties;
use crate::graph::{CommonNode, Connections, Graph, UnitGraph, UnitKind, join_watching_parts};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Sources;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

/// Some units of a project.
pub(crate) struct Part<'p> {
    pub(crate) inputs: &'p [Input],
    pub(crate) reach: &'p Connections,
    /// Paths that its check depends on.
    pub(crate) dependencies: Vec<&'p Path>,
}

/// The relations of all units of a run, judged with their default values.
pub(super) struct Relations<'r> {
    groups: &'r [Group],
    sources: &'r Sources,
    inputs: Vec<&'r Input>,
    /// Index of the input of each unit.
    units: FxHashMap<String, usize>,
    /// Connections of the units of each input; `None` if it has none, because others call it.
    reach: Vec<Option<Connections>>,
    /// First input of the group of each input; `None` if the input of some unit is unknown.
    related: Option<Vec<usize>>,
    /// Nodes that concern all units.
    common: Vec<CommonNode>,
}

impl<'r> Relations<'r> {
    /// Collects the relations of the units in `judged`, which were loaded from `groups`.
    pub(super) fn of(run: &Run<'_>, groups: &'r [Group], judged: &Environment, sources: &'r Sources) -> Self {
        let graph = &judged.graph;
        let inputs: Vec<&Input> = groups.iter().flat_map(|group| &group.inputs).collect();
        let places = places(&inputs, sources);
        let mut all = Relations {
            groups,
            sources,
            units: FxHashMap::default(),
            reach: vec![None; inputs.len()],
            related: None,
            common: CommonNode::all(graph),
            inputs,
        };
        let outermost: FxHashMap<&str, UnitKind> = graph
            .units()
            .iter()
            .map(|unit| (unit.key.as_str(), unit.kind))
            .collect();
        let mut is_complete = true;
        for (unit, reach) in graph.units().iter().zip(Connections::by_unit(graph)) {
            if run.session.is_outside(&unit.name) {
                continue;
            }
            let name = unit.key.root();
            let is_stack = outermost.get(name) == Some(&UnitKind::CdkStack);
            let place = if is_stack {
                all.app_of(name)
            } else {
                places.get(name).copied()
            };
            match place.and_then(|at| Some((at, all.reach.get_mut(at)?))) {
                Some((at, known)) => {
                    known.get_or_insert_default().add(reach);
                    all.units.insert(name.to_owned(), at);
                }
                None => is_complete = false,
            }
        }
        for (unit, ties) in &judged.ties {
            let at = all.units.get(unit);
            let reach = at.and_then(|at| all.reach.get_mut(*at)?.as_mut());
            if let Some(reach) = reach {
                ties.add_to(reach);
            }
        }
        all.related = is_complete.then(|| {
            let (mut groups, count) = all.related_with(&Connections::default());
            (0..count).map(|at| groups.least(at)).collect()
        });
        all
    }

    /// Returns the CDK app that contains the stack `unit`.
    fn app_of(&self, unit: &str) -> Option<usize> {
        let path = unit_path(unit, self.sources);
        let contains = |input: &Input| matches!(input, Input::CdkApp(directory) if path.starts_with(directory));
        let apps = (0..self.inputs.len()).filter(|at| contains(self.inputs[*at]));
        apps.max_by_key(|at| self.inputs[*at].path().as_os_str().len())
    }

    /// Groups the inputs and, as an additional last part, one with the connections `reach`. Also returns its index.
    fn related_with(&self, reach: &Connections) -> (Groups, usize) {
        let none = Connections::default();
        let parts = self.inputs.iter().zip(&self.reach).map(|(input, reach)| Part {
            inputs: std::slice::from_ref(*input),
            reach: reach.as_ref().unwrap_or(&none),
            dependencies: Vec::new(),
        });
        let last = Part {
            inputs: &[],
            reach,
            dependencies: Vec::new(),
        };
        let parts: Vec<Part<'_>> = parts.chain([last]).collect();
        let mut groups = Groups::of(&parts);
        // A Terragrunt file is not a unit if another one includes it, nor is a module that such a file calls.
        let terragrunt = self.inputs.iter().filter(|input| matches!(input, Input::Terragrunt(_)));
        let directories: FxHashSet<&Path> = terragrunt.filter_map(|file| file.path().parent()).collect();
        let is_of_terragrunt = |at: &usize| match self.inputs[*at] {
            Input::Terragrunt(_) => true,
            Input::TerraformModule(directory) => directories.contains(&**directory),
            _ => false,
        };
        let mut terragrunt = (0..self.inputs.len()).filter(is_of_terragrunt);
        if let Some(first) = terragrunt.next() {
            terragrunt.for_each(|at| groups.join(first, at));
        }
        (groups, self.inputs.len())
    }

    /// Returns the units to be judged together with those of `own`.
    pub(super) fn around(&self, own: &FoundEnvironments) -> Around<'_, 'r> {
        let own = own.iter().map(|one| self.units.get(&self.sources.name_of(&one.path)));
        let own: Option<FxHashSet<usize>> = own.map(Option::<&usize>::copied).collect();
        let all = 0..self.inputs.len();
        let members = match (&self.related, own) {
            (Some(related), Some(own)) => {
                let wanted: FxHashSet<usize> = own.iter().map(|at| related[*at]).collect();
                all.filter(|at| wanted.contains(&related[*at])).collect()
            }
            _ => all.collect(),
        };
        Around { all: self, members }
    }
}

/// Returns the indexes of inputs by the names of their units, except for stacks of CDK apps.
fn places(inputs: &[&Input], sources: &Sources) -> FxHashMap<String, usize> {
    let mut places = FxHashMap::default();
    for (at, input) in inputs.iter().enumerate() {
        if !matches!(input, Input::CdkApp(_) | Input::Terragrunt(_)) {
            places.insert(sources.name_of(input.path()), at);
        }
    }
    for (at, input) in inputs.iter().enumerate() {
        if let (Input::Terragrunt(_), Some(directory)) = (input, input.path().parent()) {
            places.entry(sources.name_of(directory)).or_insert(at);
        }
    }
    places
}

/// Units that are judged together in an environment.
pub(super) struct Around<'a, 'r> {
    all: &'a Relations<'r>,
    /// Indexes of their inputs.
    members: BTreeSet<usize>,
}

impl Around<'_, '_> {
    /// Returns the inputs to load, grouped by configuration, and parts of the other units that concern all units. The
    /// reverse does not hold, so nothing that relates to those is needed.
    pub(super) fn units(&self) -> (Vec<Group>, Vec<UnitGraph>) {
        let all = self.all;
        let is_whole = self.members.len() == all.inputs.len();
        let is_wanted = |at: usize| {
            let is_unit = matches!(all.inputs[at], Input::Terragrunt(_)) || all.reach[at].is_some();
            is_whole || (is_unit && self.members.contains(&at))
        };
        let mut places = 0..all.inputs.len();
        let groups = all.groups.iter().map(|group| Group {
            config: group.config.clone(),
            inputs: (group.inputs.iter())
                .filter(|_| places.next().is_some_and(is_wanted))
                .cloned()
                .collect(),
        });
        let is_of_other = |node: &&CommonNode| {
            let at = all.units.get(node.unit.key.root());
            !is_whole && at.is_some_and(|at| !self.members.contains(at))
        };
        let context = CommonNode::units(all.common.iter().filter(is_of_other));
        (groups.collect(), context)
    }

    fn reach_of_members(&self) -> Connections {
        let mut all = Connections::default();
        let members = self.members.iter().filter_map(|at| self.all.reach.get(*at)?.clone());
        members.for_each(|reach| all.add(reach));
        all
    }

    /// Adds the units that are related to those of `graph`, the members as judged in an environment. Returns `true` if
    /// there are more than before.
    pub(super) fn grow(&mut self, graph: &Graph, ties: &[(String, Ties)]) -> bool {
        let (before, all) = (self.members.len(), self.all.inputs.len());
        let mut reach = Connections::default();
        for (unit, own) in graph.units().iter().zip(Connections::by_unit(graph)) {
            let at = self.all.units.get(unit.key.root());
            if at.is_none_or(|at| self.members.contains(at)) {
                reach.add(own);
            }
        }
        for (_, ties) in ties {
            ties.add_to(&mut reach);
        }
        if before == all || self.reach_of_members().covers(&reach) {
            return false;
        }
        let (mut groups, own) = self.all.related_with(&reach);
        self.members.iter().for_each(|at| groups.join(own, *at));
        let least = groups.least(own);
        self.members = (0..all).filter(|at| groups.least(*at) == least).collect();
        self.members.len() > before
    }
}

/// Joins units that refer to a name with those that declare it. Units that only declare the same name, or only refer to
/// it, do not affect each other.
fn by_names(parts: &[Part<'_>], groups: &mut Groups) {
    let mut owners: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    #[allow(clippy::iter_over_hash_type)] // the groups are the same in every order
    for (at, part) in parts.iter().enumerate() {
        for name in &part.reach.declared {
            owners.entry(*name).or_insert_with(|| Vec::with_capacity(1)).push(at);
        }
    }
    #[allow(clippy::iter_over_hash_type)] // as above
    for (at, part) in parts.iter().enumerate() {
        for name in &part.reach.sought {
            if let Some(owners) = owners.get_mut(name) {
                for owner in owners.iter() {
                    groups.join(*owner, at);
                }
                // These parts are connected now, so one of them suffices from here on.
                owners.truncate(1);
            }
        }
    }
}

/// Joins units with those whose files they read, and templates with those that may be deployed together with them.
fn by_files(parts: &[Part<'_>], groups: &mut Groups) {
    let mut owners: FxHashMap<(&Path, bool), usize> = FxHashMap::default();
    for (at, part) in parts.iter().enumerate() {
        for input in part.inputs {
            let is_directory = matches!(input, Input::TerraformModule(_) | Input::CdkApp(_));
            groups.join(*owners.entry((input.path(), is_directory)).or_insert(at), at);
        }
    }
    for (at, part) in parts.iter().enumerate() {
        for dependency in &part.dependencies {
            // A part that only lists the directory of a module, in search of the source of a function, does not read it.
            let directory = dependency.parent().filter(|_| is_of_module(dependency));
            let units = [(directory, true), (Some(*dependency), false)];
            for (path, is_directory) in units {
                if let Some(owner) = path.and_then(|path| owners.get(&(path, is_directory))) {
                    groups.join(*owner, at);
                }
            }
        }
        for directory in &part.reach.below {
            for (other, part) in parts.iter().enumerate() {
                let is_below = |input: &Input| matches!(input, Input::Template(path) if path.starts_with(directory));
                if part.inputs.iter().any(is_below) {
                    groups.join(at, other);
                }
            }
        }
    }
}

/// Returns `true` if the file is part of the unit that is its directory: a Terraform module, or a CDK app.
fn is_of_module(file: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name == "manifest.json" || is_terraform(name)
}

/// Disjoint sets of parts: each element refers to a smaller one of its set, and finally to the smallest.
pub(crate) struct Groups(Vec<usize>);

impl Groups {
    /// Groups the parts that must be checked together.
    pub(crate) fn of(parts: &[Part<'_>]) -> Self {
        let mut groups = Groups((0..parts.len()).collect());
        by_names(parts, &mut groups);
        by_files(parts, &mut groups);
        let reaches = parts.iter().map(|part| part.reach);
        join_watching_parts(reaches, &mut |one, other| groups.join(one, other));
        groups
    }

    /// Returns the first part of the group of `at`.
    pub(crate) fn least(&mut self, mut at: usize) -> usize {
        while let Some(&above) = self.0.get(at)
            && above != at
        {
            let next = self.0.get(above).copied().unwrap_or(above);
            if let Some(slot) = self.0.get_mut(at) {
                *slot = next;
            }
            at = above;
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.least(one), self.least(other));
        if let Some(slot) = self.0.get_mut(one.max(other)) {
            *slot = one.min(other);
        }
    }

    /// Joins all parts whose connections `belongs` accepts.
    pub(crate) fn join_all(&mut self, parts: &[Part<'_>], belongs: impl Fn(&Connections) -> bool) {
        let mut all = (0..parts.len()).filter(|at| parts.get(*at).is_some_and(|one| belongs(one.reach)));
        if let Some(first) = all.next() {
            all.for_each(|at| self.join(first, at));
        }
    }
}
