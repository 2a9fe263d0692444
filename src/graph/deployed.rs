//! Links the declared resources to those of a snapshot, and compares the values of both.
//!
//! ```text
//! declared   aws_sqs_queue.orders     name = orders   visibility timeout = 360 s
//! deployed   arn:aws:sqs:…:orders     name = orders   visibility timeout = 30 s      differs
//! ```
//!
//! Queues and functions are linked by their physical names; if a name is not written, a Terraform state of the run has
//! it. Mappings are linked by the two resources that they connect. A name that is not known links to nothing, and a
//! value that is not known differs from nothing. A deployed value that any environment declares differs from nothing
//! either, because no file says which environment a snapshot shows; and neither does the default of an input, which a
//! deployment may replace.

use super::attributes::{Declared, Reader, VisitPair};
use super::{
    AsPlain, Attribute, Case, Condition, EventSourceMapping, Function, Graph, Link, Queue, Resource, State, UnitId,
    UnitKind,
};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::sync::Arc;

/// A finding on a deployed resource, and the values that it is about.
#[derive(Debug)]
pub struct DeployedFinding {
    /// Id of the rule.
    pub rule: String,
    /// Headline of the finding.
    pub headline: String,
    /// Spans of its labels, the primary one first.
    pub spans: Vec<Span>,
    /// `true` if it follows from a calculation with the values at these spans.
    pub is_calculated: bool,
}

/// Deployed resources, and what the declarations of all environments agree with.
#[derive(Debug, Default)]
pub struct Deployed {
    /// The resources of the snapshot.
    pub graph: Graph,
    /// Time at which the snapshot was taken, as written.
    pub taken: Option<Arc<str>>,
    /// `false` if the account did not permit to read some of its resources, so that a missing one may exist.
    pub is_complete: bool,
    /// Findings on these resources.
    pub findings: Vec<DeployedFinding>,
    /// Deployed resources, by address, and attributes that some environment declares with the same value.
    equal: FxHashSet<(Arc<str>, &'static str)>,
    /// Addresses of deployed resources that some environment declares.
    declared: FxHashSet<Arc<str>>,
    /// Names of units, and addresses of resources in them, that are deployed in some environment.
    linked: FxHashSet<(String, Arc<str>)>,
    /// `true` if the name of a declared queue is not known, which may be any of the deployed queues.
    has_unknown_names: bool,
}

/// A declared value and the deployed one.
#[derive(Debug)]
pub struct DeployedValue<'g> {
    /// The declared resource.
    pub declared: &'g Resource,
    /// The deployed resource.
    pub deployed: &'g Resource,
    /// Name of the attribute for the identity of a finding.
    pub attribute: &'static str,
    /// Name of the attribute as declared.
    pub name: &'g str,
    /// Declared value, for a sentence.
    pub value: String,
    /// Span of the declared value.
    pub span: Span,
    /// Condition under which it is declared.
    pub when: Condition,
    /// Deployed value, for a sentence.
    pub deployed_value: String,
    /// Span of the deployed value.
    pub deployed_span: Span,
    /// `true` if both values are equal.
    pub is_equal: bool,
}

/// Pair of a declared and a deployed resource, and the condition under which the declared one has that name.
struct Pair<'g, T> {
    declared: &'g T,
    deployed: &'g T,
    when: Condition,
}

impl<'g, T> Pair<'g, T> {
    fn ends(&self, resource: fn(&T) -> &Resource) -> Ends<'_, 'g> {
        Ends {
            declared: resource(self.declared),
            deployed: resource(self.deployed),
            when: &self.when,
        }
    }
}

/// The resources of a pair.
#[derive(Clone, Copy)]
struct Ends<'p, 'g> {
    declared: &'g Resource,
    deployed: &'g Resource,
    when: &'p Condition,
}

/// Compares the declared attributes of a pair.
struct Compared<'c, 'g> {
    all: &'c mut Comparison<'g>,
    ends: Ends<'c, 'g>,
}

impl<'g> VisitPair<'g> for Compared<'_, 'g> {
    fn pair<T: AsPlain>(&mut self, row: &'static Declared, one: &'g Attribute<T>, other: &'g Attribute<T>) {
        if row.is_for(Reader::Deployed) {
            self.all.value(self.ends, row.name, one, other);
        }
    }
}

impl Deployed {
    /// Creates it from the linked units of a snapshot.
    pub(crate) fn new(graph: Graph, taken: Option<Arc<str>>, is_complete: bool) -> Self {
        Deployed {
            graph,
            taken,
            is_complete,
            ..Deployed::default()
        }
    }

    /// Records what the declarations of one environment agree with.
    pub(crate) fn learn(&mut self, graph: &Graph) {
        let mut compared = Comparison::new(graph, &self.graph);
        compared.all();
        let Comparison {
            equal,
            pairs,
            has_unknown_names,
            ..
        } = compared;
        self.declared.extend(pairs.values().flatten().cloned());
        self.linked.extend(pairs.into_keys());
        self.equal.extend(equal);
        self.has_unknown_names |= has_unknown_names;
    }

    /// Returns a finding that follows from the value at `span`.
    pub fn finding_at(&self, span: Span) -> Option<&DeployedFinding> {
        let is_of = |finding: &&DeployedFinding| {
            finding.spans.first() == Some(&span) || (finding.is_calculated && finding.spans.contains(&span))
        };
        self.findings.iter().find(is_of)
    }
}

impl Graph {
    /// Adds what is deployed, and its units, which findings on deployed resources name.
    pub(crate) fn attach(&mut self, deployed: Arc<Deployed>) {
        let offset = u32::try_from(self.units().len()).unwrap_or(u32::MAX);
        self.add_units(deployed.graph.units());
        self.deployed = Some((deployed, offset));
    }

    /// Returns what is deployed, if the run has a snapshot.
    pub fn deployed(&self) -> Option<&Deployed> {
        self.deployed.as_ref().map(|(deployed, _)| &**deployed)
    }

    /// Returns the values that are both declared and deployed.
    pub fn deployed_values(&self) -> Vec<DeployedValue<'_>> {
        let Some(deployed) = self.deployed() else {
            return Vec::new();
        };
        let mut compared = Comparison::new(self, &deployed.graph);
        compared.all();
        let mut all = compared.values;
        all.retain(|found| {
            let key = (found.deployed.address.clone(), found.attribute);
            found.is_equal || !deployed.equal.contains(&key)
        });
        all
    }

    /// Returns the deployed queues and mappings that no environment declares, if all names in question are known.
    pub fn undeclared(&self) -> Vec<Resource> {
        let Some((deployed, offset)) = self.deployed.as_ref().filter(|(all, _)| !all.has_unknown_names) else {
            return Vec::new();
        };
        let queues = deployed.graph.queues().iter().map(|queue| &queue.resource);
        let mappings = deployed.graph.mappings().iter().map(|mapping| &mapping.resource);
        let missing = queues.chain(mappings);
        let missing = missing.filter(|resource| !deployed.declared.contains(&resource.address));
        let here = missing.map(|resource| Resource {
            unit: UnitId(resource.unit.0.saturating_add(*offset)),
            ..resource.clone()
        });
        here.collect()
    }

    /// Returns the declared queues whose names are known, and deployed in no environment, each with its name.
    pub fn undeployed(&self) -> Vec<(&Queue, &str)> {
        let Some(deployed) = self.deployed().filter(|deployed| deployed.is_complete) else {
            return Vec::new();
        };
        let queues = self.queues().iter().filter_map(|queue| {
            let resource = &queue.resource;
            let key = (self.unit(resource.unit).name.clone(), resource.address.clone());
            let name = queue.name.known()?.as_deref()?;
            if queue.name.cases.iter().any(is_replaceable) {
                return None;
            }
            let exists = resource.when.is_always() && resource.uncertain.is_none();
            let is_covered = deployed
                .graph
                .queues()
                .iter()
                .any(|other| is_same_place(resource, &other.resource));
            (exists && is_covered && !deployed.linked.contains(&key)).then_some((queue, name))
        });
        queues.collect()
    }
}

/// Returns `false` if the two are known to be in different accounts or Regions.
fn is_same_place(one: &Resource, other: &Resource) -> bool {
    let regions = one.region.as_ref().zip(other.region.as_ref());
    let accounts = one.account.as_ref().zip(other.account.as_ref());
    regions.into_iter().chain(accounts).all(|(one, other)| one == other)
}

/// Resources by physical name. Several may have the same name in different Regions.
type ByName<'g, T> = FxHashMap<&'g str, Vec<&'g T>>;

/// Comparison of two graphs.
struct Comparison<'g> {
    graph: &'g Graph,
    deployed: &'g Graph,
    values: Vec<DeployedValue<'g>>,
    equal: FxHashSet<(Arc<str>, &'static str)>,
    /// Linked resources: the unit and address of the declared one, and the addresses of those that it may be.
    pairs: FxHashMap<(String, Arc<str>), Vec<Arc<str>>>,
    has_unknown_names: bool,
    /// `true` if the run has code, so that states only give names to it.
    has_code: bool,
}

/// A kind of resources that are linked by their names.
type Named<'g, T> = fn(&'g T) -> (&'g Resource, &'g Attribute<Option<String>>);

impl<'g> Comparison<'g> {
    fn new(graph: &'g Graph, deployed: &'g Graph) -> Self {
        Comparison {
            graph,
            deployed,
            values: Vec::new(),
            equal: FxHashSet::default(),
            pairs: FxHashMap::default(),
            // Code that is not read may declare anything.
            has_unknown_names: graph.units().iter().any(|unit| !unit.unread_modules.is_empty()),
            has_code: graph.units().iter().any(|unit| is_code(unit.kind)),
        }
    }

    /// Returns `true` if `resource` is compared.
    fn is_declared(&self, resource: &Resource) -> bool {
        !self.has_code || is_code(self.graph.unit(resource.unit).kind)
    }

    fn all(&mut self) {
        let (graph, deployed) = (self.graph, self.deployed);
        let queues = (graph.queues().iter(), deployed.queues().iter());
        let are_known = self.named(queues, |queue| (&queue.resource, &queue.name), Self::queue);
        self.has_unknown_names |= !are_known;
        let functions = (graph.functions().iter(), deployed.functions().iter());
        self.named(
            functions,
            |function| (&function.resource, &function.name),
            Self::function,
        );
        self.mappings();
    }

    /// Links the resources of one kind, and calls `compare` for each pair. Returns `true` if all names are known.
    fn named<T>(
        &mut self,
        (declared, deployed): (impl Iterator<Item = &'g T> + Clone, impl Iterator<Item = &'g T>),
        name: Named<'g, T>,
        compare: fn(&mut Self, &Pair<'g, T>),
    ) -> bool {
        let by_name = by_name(deployed, name);
        let in_state = in_states(self.graph, declared.clone().map(name));
        let mut are_known = true;
        let declared: Vec<&'g T> = declared.filter(|one| self.is_declared(name(one).0)).collect();
        for declared in declared {
            let resource = name(declared).0;
            let names = names(name(declared), &in_state);
            are_known &= names.are_all;
            for (when, name_here) in names.known {
                let candidates = by_name.get(&*name_here).into_iter().flatten();
                let candidates = candidates.filter(|other| is_same_place(resource, name(other).0));
                let candidates: Vec<&'g T> = candidates.copied().collect();
                for deployed in &candidates {
                    self.link(resource, name(deployed).0);
                }
                // In several Regions, any of them may be the declared one.
                if let [deployed] = candidates.as_slice() {
                    compare(
                        self,
                        &Pair {
                            declared,
                            deployed,
                            when,
                        },
                    );
                }
            }
        }
        are_known
    }

    fn link(&mut self, declared: &Resource, deployed: &Resource) {
        let declared = (self.graph.unit(declared.unit).name.clone(), declared.address.clone());
        self.pairs.entry(declared).or_default().push(deployed.address.clone());
    }

    fn queue(&mut self, pair: &Pair<'g, Queue>) {
        let (one, other) = (pair.declared, pair.deployed);
        let ends = pair.ends(|node| &node.resource);
        one.attributes
            .visit_pair(&other.attributes, &mut Compared { all: self, ends });
        let has = |present: bool| if present { "a redrive policy" } else { "none" };
        self.compared(
            ends,
            ("redrive", &one.redrive, &other.redrive),
            |one, other| one.is_some() == other.is_some(),
            |policy| has(policy.is_some()).to_owned(),
        );
        let policies = |queue: &'g Queue| {
            let cases = queue.redrive.cases.iter();
            let all: Vec<_> = cases.filter_map(|case| case.value()?.as_deref()).collect();
            all
        };
        if let ([policy], [other]) = (policies(one).as_slice(), policies(other).as_slice())
            && !ignores(&one.resource, &one.redrive.name)
        {
            let counts = (&policy.max_receive_count, &other.max_receive_count);
            self.value(ends, "max_receive_count", counts.0, counts.1);
        }
    }

    fn function(&mut self, pair: &Pair<'g, Function>) {
        let (one, other) = (pair.declared, pair.deployed);
        let ends = pair.ends(|node| &node.resource);
        one.attributes
            .visit_pair(&other.attributes, &mut Compared { all: self, ends });
    }

    /// Links the mappings whose queue and function are linked.
    fn mappings(&mut self) {
        let deployed = self.deployed;
        let ends = |mapping: &EventSourceMapping| {
            let unit = mapping.resource.unit;
            let queue = deployed.queue(unit, mapping.queue.known()?)?;
            let function = deployed.function(unit, mapping.function.known()?)?;
            Some((queue.resource.address.clone(), function.resource.address.clone()))
        };
        let mappings = deployed.mappings().iter();
        let by_ends: FxHashMap<_, _> = mappings.filter_map(|mapping| Some((ends(mapping)?, mapping))).collect();
        let declared = self
            .graph
            .mappings()
            .iter()
            .filter(|mapping| self.is_declared(&mapping.resource));
        for mapping in declared.collect::<Vec<_>>() {
            let Some(ends) = self.ends(mapping) else {
                // It may be any mapping of a deployed queue.
                self.has_unknown_names = true;
                continue;
            };
            if let Some(deployed) = by_ends.get(&ends).copied() {
                self.link(&mapping.resource, &deployed.resource);
                let (when, declared) = (mapping.resource.when.clone(), mapping);
                self.mapping(&Pair {
                    declared,
                    deployed,
                    when,
                });
            }
        }
    }

    /// Returns the addresses of the deployed queue and function that a declared mapping connects.
    fn ends(&self, mapping: &EventSourceMapping) -> Option<(Arc<str>, Arc<str>)> {
        let unit = mapping.resource.unit;
        let (queue, function) = (mapping.queue.known()?, mapping.function.known()?);
        // A name without a Region may be that of several.
        let is_unique = |link: &Link| link.region().is_some() || self.deployed.units().len() == 1;
        let queue = match self.graph.queue(unit, queue) {
            Some(declared) => self.deployed_of(&declared.resource)?,
            None if is_unique(queue) => self.deployed.queue(UnitId(0), queue)?.resource.address.clone(),
            None => return None,
        };
        let function = match self.graph.function(unit, function) {
            Some(declared) => self.deployed_of(&declared.resource)?,
            None if is_unique(function) => self.deployed.function(UnitId(0), function)?.resource.address.clone(),
            None => return None,
        };
        Some((queue, function))
    }

    /// Returns the deployed resource that `declared` is linked to, if it is the only one.
    fn deployed_of(&self, declared: &Resource) -> Option<Arc<str>> {
        let unit = self.graph.unit(declared.unit).name.clone();
        match self.pairs.get(&(unit, declared.address.clone()))?.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        }
    }

    fn mapping(&mut self, pair: &Pair<'g, EventSourceMapping>) {
        let (one, other) = (pair.declared, pair.deployed);
        let ends = pair.ends(|node| &node.resource);
        one.attributes
            .visit_pair(&other.attributes, &mut Compared { all: self, ends });
        let reports = (
            "report_batch_item_failures",
            &one.report_batch_item_failures,
            &other.report_batch_item_failures,
        );
        self.compared(ends, reports, PartialEq::eq, |reports| {
            if *reports { "`ReportBatchItemFailures`" } else { "none" }.to_owned()
        });
    }

    fn value<T: AsPlain>(
        &mut self,
        ends: Ends<'_, 'g>,
        attribute: &'static str,
        one: &'g Attribute<T>,
        other: &'g Attribute<T>,
    ) {
        let is_equal = |one: &T, other: &T| one.plain() == other.plain();
        self.compared(ends, (attribute, one, other), is_equal, |value| {
            value.plain().to_string()
        });
    }

    /// Compares one attribute of a pair.
    fn compared<T>(
        &mut self,
        ends: Ends<'_, 'g>,
        (attribute, one, other): (&'static str, &'g Attribute<T>, &'g Attribute<T>),
        is_equal: impl Fn(&T, &T) -> bool,
        show: impl Fn(&T) -> String,
    ) {
        let Ends {
            declared,
            deployed,
            when,
        } = ends;
        if ignores(declared, &one.name) {
            return;
        }
        let [running] = &*other.cases else { return };
        let Some(value) = running.value() else { return };
        let possible: Vec<&Case<T>> = one
            .cases
            .iter()
            .filter(|case| when.is_possible_with(&case.when))
            .collect();
        // A deployment may replace the default of an input.
        let is_unknown = |case: &&Case<T>| matches!(case.state, State::Unresolved(_)) || is_replaceable(case);
        let is_deployed = |case: &&Case<T>| case.value().is_some_and(|own| is_equal(own, value));
        let is_equal = possible.iter().any(is_deployed);
        if is_equal {
            self.equal.insert((deployed.address.clone(), attribute));
        } else if possible.iter().any(is_unknown) {
            return;
        }
        for case in possible.into_iter().filter(|case| !is_equal || is_deployed(case)) {
            let Some(own) = case.value() else { continue };
            self.values.push(DeployedValue {
                declared,
                deployed,
                attribute,
                name: &one.name,
                value: show(own),
                span: case.source_span(),
                when: when.and(&case.when),
                deployed_value: show(value),
                deployed_span: running.span,
                is_equal,
            });
        }
    }
}

/// Returns resources by their known names.
fn by_name<'g, T>(
    all: impl Iterator<Item = &'g T>,
    name: impl Fn(&'g T) -> (&'g Resource, &'g Attribute<Option<String>>),
) -> ByName<'g, T> {
    let mut by_name = ByName::default();
    for one in all {
        if let Some(Some(name)) = name(one).1.known() {
            by_name.entry(name.as_str()).or_default().push(one);
        }
    }
    by_name
}

/// Returns the names of the resources in Terraform states, by address; `None` if several states have the address, or
/// several units of code, of which any may be that of the state.
fn in_states<'g>(
    graph: &Graph,
    all: impl Iterator<Item = (&'g Resource, &'g Attribute<Option<String>>)> + Clone,
) -> FxHashMap<&'g str, Option<&'g str>> {
    let is_state = |resource: &Resource| graph.unit(resource.unit).kind == UnitKind::State;
    let (mut names, mut declared) = (FxHashMap::default(), FxHashSet::default());
    for (resource, name) in all.clone().filter(|(resource, _)| is_state(resource)) {
        let known = names.entry(&*resource.address);
        known
            .and_modify(|name| *name = None)
            .or_insert_with(|| name.known().and_then(Option::as_deref));
    }
    for (resource, _) in all.filter(|(resource, _)| is_code(graph.unit(resource.unit).kind)) {
        if !declared.insert(&*resource.address)
            && let Some(name) = names.get_mut(&*resource.address)
        {
            *name = None;
        }
    }
    names
}

/// The physical names of a resource.
struct Names {
    /// Names, each with its condition.
    known: Vec<(Condition, String)>,
    /// `true` if it has no other name.
    are_all: bool,
}

/// Returns the physical names of a resource: those that its files state, or the one that a state in the same run has
/// for its address.
fn names(
    (resource, name): (&Resource, &Attribute<Option<String>>),
    in_states: &FxHashMap<&str, Option<&str>>,
) -> Names {
    let written = name.known_in(&resource.when).into_iter();
    let written = written.filter_map(|(when, case, name)| Some((when, case, name.clone()?)));
    let written: Vec<_> = written.collect();
    if !written.is_empty() {
        let possible = name
            .cases
            .iter()
            .filter(|case| resource.when.is_possible_with(&case.when));
        let are_all = possible.count() == written.len() && !written.iter().any(|(_, case, _)| is_replaceable(case));
        let known = written.into_iter().map(|(when, _, name)| (when, name)).collect();
        return Names { known, are_all };
    }
    let stored = in_states.get(&*resource.address).copied().flatten();
    Names {
        known: stored
            .map(|name| (resource.when.clone(), name.to_owned()))
            .into_iter()
            .collect(),
        are_all: stored.is_some(),
    }
}

/// Returns `true` if units of this kind declare resources, which states and snapshots list.
fn is_code(kind: UnitKind) -> bool {
    !matches!(kind, UnitKind::State | UnitKind::Snapshot)
}

/// Returns `true` if the value is, or follows from, the default of an input that a deployment may set.
fn is_replaceable<T>(case: &Case<T>) -> bool {
    case.origins.deciding().is_some() || case.origins.iter().any(|origin| origin.is_input_default)
}

/// Returns `true` if the code leaves changes of the argument `name` to others.
fn ignores(declared: &Resource, name: &str) -> bool {
    let is_part = |ignored: &Arc<str>| &**ignored == "all" || name.split('.').any(|part| part == &**ignored);
    declared.ignored.iter().any(is_part)
}
