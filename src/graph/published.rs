//! Values that one unit publishes and others read: parameters, secrets, exports, outputs of stacks and states.
//!
//! ```text
//! infra/main.tf     writes the parameter /jobs/arn = aws_sqs_queue.jobs.arn
//! app/serverless.yml  polls ${ssm:/jobs/arn}
//! ```
//!
//! A frontend evaluates one unit. What it reads from another is unresolved there, but it has the name under which a
//! unit may publish it ([`Published`]). `connect` replaces such a link by the published one, if exactly one unit
//! publishes it or all that do agree.

use super::access::{Grant, PolicyDocument, Statement};
use super::{
    Attribute, Case, Cause, Condition, Form, Link, Origin, Origins, Published, Resource, SourcedValue, State, Store,
    Target, UnitGraph, Unresolved,
};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::sync::Arc;

/// Maximum number of values that are read from each other in a chain.
const MAX_CHAIN: usize = 8;
/// Services whose ARNs are links to nodes of the graph.
const SERVICES: [&str; 4] = ["sqs", "lambda", "sns", "iam"];

/// A value that a unit publishes.
#[derive(Debug, Clone)]
pub struct Publication {
    /// Address, location and existence.
    pub resource: Resource,
    /// Place of the value.
    pub store: Store,
    /// Name in that place; `None` if it is generated.
    pub name: Attribute<Option<String>>,
    /// Value as a link.
    pub value: Attribute<Link>,
}

/// An attribute that links to something.
enum LinkedAttribute<'g> {
    Required(&'g mut Attribute<Link>),
    Optional(&'g mut Attribute<Option<Link>>),
}

/// A value of a unit, with its condition and its location.
type Value = (Condition, Result<Link, Unresolved>, Span);

impl UnitGraph {
    /// Passes each link that may be read from another unit to `visit`.
    fn visit_links(&mut self, visit: &mut dyn FnMut(LinkedAttribute<'_>)) {
        self.queue_links()
            .into_iter()
            .for_each(|link| visit(LinkedAttribute::Required(link)));
        for mapping in &mut self.mappings {
            visit(LinkedAttribute::Required(&mut mapping.function));
            visit(LinkedAttribute::Optional(&mut mapping.failure_destination));
        }
        for function in &mut self.functions {
            let targets = function.failure_targets.iter_mut().chain(&mut function.success_targets);
            targets.for_each(|one| visit(LinkedAttribute::Required(&mut one.target)));
            let variables = function.queue_variables.iter_mut();
            variables.for_each(|one| visit(LinkedAttribute::Required(&mut one.value)));
        }
        let variables = self.workers.iter_mut().flat_map(|worker| &mut worker.environment);
        variables.for_each(|one| visit(LinkedAttribute::Required(&mut one.value)));
        let subscriptions = self.deliveries.subscriptions.iter_mut();
        subscriptions.for_each(|one| visit(LinkedAttribute::Required(&mut one.topic)));
        for policy in &mut self.access.queue_policies {
            visit(LinkedAttribute::Required(&mut policy.queue));
        }
        let statements = |document: &mut Attribute<PolicyDocument>, visit: &mut dyn FnMut(LinkedAttribute<'_>)| {
            let cases = document.cases.iter_mut().filter_map(|case| case.value_mut());
            let resources = cases
                .flat_map(|document| &mut document.statements)
                .flat_map(resources_of);
            resources.for_each(|one| visit(LinkedAttribute::Required(one)));
        };
        for policy in &mut self.access.role_policies {
            match &mut policy.grant {
                Grant::Document(document) => statements(document, visit),
                Grant::Managed(_) | Grant::Key => {}
            }
        }
        for policy in &mut self.access.managed_policies {
            statements(&mut policy.document, visit);
        }
    }

    /// Returns the names that the unit publishes, and those that it reads, as texts that are equal for equal names.
    pub(crate) fn published_names(&mut self) -> [Vec<String>; 2] {
        let key = |store: Store, name: &str| format!("{store:?} {name}");
        let written = self.publications.iter().flat_map(|one| {
            let names = one.name.cases.iter().filter_map(|case| case.value()?.as_deref());
            names.map(|name| key(one.store, name))
        });
        let written = written.collect();
        let mut read = Vec::new();
        self.visit_links(&mut |link| {
            link.for_each_read(&mut |published| read.push(key(published.store, &published.name)));
        });
        read.sort();
        read.dedup();
        [written, read]
    }
}

fn resources_of(statement: &mut Statement) -> &mut Vec<Attribute<Link>> {
    &mut statement.resources
}

impl LinkedAttribute<'_> {
    /// Passes each published value that the attribute reads to `take`.
    fn for_each_read(&self, take: &mut dyn FnMut(&Arc<Published>)) {
        match self {
            LinkedAttribute::Required(attribute) => reads(attribute).for_each(take),
            LinkedAttribute::Optional(attribute) => reads(attribute).for_each(take),
        }
    }

    /// Replaces the cases that read a published value by those of `values`.
    fn replace(self, values: &FxHashMap<Arc<Published>, Reading>) {
        match self {
            LinkedAttribute::Required(attribute) => replace(attribute, values, |link| link),
            LinkedAttribute::Optional(attribute) => replace(attribute, values, Some),
        }
    }
}

fn reads<T>(attribute: &Attribute<T>) -> impl Iterator<Item = &Arc<Published>> {
    attribute.cases.iter().filter_map(|case| match &case.state {
        State::Unresolved(unresolved) => unresolved.published(),
        _ => None,
    })
}

fn replace<T>(attribute: &mut Attribute<T>, values: &FxHashMap<Arc<Published>, Reading>, to: impl Fn(Link) -> T) {
    if !reads(attribute).any(|published| values.contains_key(published)) {
        return;
    }
    let cases = std::mem::replace(&mut attribute.cases, Vec::new().into());
    let cases = cases.into_iter().flat_map(|case| {
        let reading = match &case.state {
            State::Unresolved(unresolved) => unresolved.published().and_then(|published| values.get(published)),
            _ => None,
        };
        match reading {
            Some(reading) => reading.cases(&case, &to),
            None => vec![case],
        }
    });
    attribute.cases = cases.collect();
}

/// The published values of a name.
struct Reading {
    /// The value with its name: "parameter `/jobs/arn`".
    what: Arc<str>,
    values: Vec<Value>,
}

impl Reading {
    /// Returns the cases that replace `case`.
    fn cases<T>(&self, case: &Case<T>, to: &impl Fn(Link) -> T) -> Vec<Case<T>> {
        let mut rest = case.when.clone();
        let mut all = Vec::new();
        for (when, value, span) in &self.values {
            rest = rest.and(&when.not());
            let mut origins = case.origins.to_vec();
            origins.push(Origin::new(*span, self.what.clone()));
            let state = match value {
                Ok(link) => State::Set(to(link.clone())),
                Err(unresolved) => State::Unresolved(unresolved.clone()),
            };
            let then = SourcedValue {
                state,
                span: case.span,
                origins: Origins::from(origins),
            };
            all.push(Case::new(case.when.and(when), then));
        }
        let State::Unresolved(reason) = &case.state else {
            return all;
        };
        let then = SourcedValue {
            state: State::Unresolved(reason.clone()),
            span: case.span,
            origins: case.origins.clone(),
        };
        all.push(Case::new(rest, then));
        all.retain(|case| case.when.is_possible());
        all
    }
}

/// Publications of a run, by name.
struct Publications<'g> {
    parts: &'g [UnitGraph],
    /// Unit, publication and condition of each publication of a name.
    by_name: FxHashMap<(Store, &'g str), Vec<(usize, &'g Publication, Condition)>>,
    /// Addresses of the resources that links may point to, with the keys of their units.
    nodes: FxHashSet<(&'g str, &'g str)>,
}

/// Replaces the links in `parts` that are read from other units.
pub(super) fn connect(parts: &mut [UnitGraph]) {
    if parts.iter().all(|part| part.publications.is_empty()) {
        return;
    }
    let mut read: Vec<Vec<Arc<Published>>> = vec![Vec::new(); parts.len()];
    for (part, read) in parts.iter_mut().zip(&mut read) {
        part.visit_links(&mut |link| link.for_each_read(&mut |published| read.push(published.clone())));
    }
    if read.iter().all(Vec::is_empty) {
        return;
    }
    let publications = Publications::of(parts);
    let values: Vec<FxHashMap<Arc<Published>, Reading>> = read
        .into_iter()
        .enumerate()
        .map(|(at, read)| {
            let readings = read.into_iter().filter_map(|published| {
                let mut values = publications.values(at, &published, 0);
                for (_, value, _) in &mut values {
                    localize(value, parts[at].unit.key.as_str());
                }
                let what = format!("{} `{}`", published.store.entry(), published.name).into();
                (!values.is_empty()).then_some((published, Reading { what, values }))
            });
            readings.collect()
        })
        .collect();
    for (part, values) in parts.iter_mut().zip(&values).filter(|(_, values)| !values.is_empty()) {
        part.visit_links(&mut |link| link.replace(values));
    }
}

impl<'g> Publications<'g> {
    fn of(parts: &'g [UnitGraph]) -> Self {
        let mut by_name: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (at, part) in parts.iter().enumerate() {
            for one in &part.publications {
                for case in &one.name.cases {
                    if let Some(Some(name)) = case.value() {
                        let when = one.resource.when.and(&case.when);
                        let known = by_name.entry((one.store, name.as_str())).or_default();
                        known.push((at, one, when));
                    }
                }
            }
        }
        let nodes = parts.iter().flat_map(|part| {
            let key = part.unit.key.as_str();
            let queues = part.queues.iter().map(|queue| &queue.resource);
            let functions = part.functions.iter().map(|function| &function.resource);
            let topics = part.deliveries.topics.iter().map(|topic| &topic.resource);
            let all = queues.chain(functions).chain(topics);
            all.map(move |resource| (key, &*resource.address))
        });
        let nodes = nodes.collect();
        Publications { parts, by_name, nodes }
    }

    /// Returns the values of `published` as the unit `reader` reads them; none if no unit publishes it.
    fn values(&self, reader: usize, published: &Published, depth: usize) -> Vec<Value> {
        let named = self.by_name.get(&(published.store, &*published.name));
        let is_near = |one: &Publication| {
            let regions = published.region.as_ref().zip(one.resource.region.as_ref());
            regions.is_none_or(|(here, there)| here == there)
        };
        let all = named.into_iter().flatten().filter(|(_, one, _)| is_near(one));
        let mut all: Vec<_> = all.collect();
        if all.iter().any(|(at, ..)| *at == reader) {
            all.retain(|(at, ..)| *at == reader);
        }
        let mut values: Vec<Value> = Vec::new();
        for (at, one, when) in &all {
            let found = self.of_one(*at, one, when, published, depth);
            let agrees = |(when, value, _): &Value| {
                let mut others = values.iter().filter(|(other, ..)| other.is_possible_with(when));
                others.all(|(_, other, _)| matches!((value, other), (Ok(value), Ok(other)) if value == other))
            };
            if !found.iter().all(agrees) {
                let what = published.store.entry();
                let reason = Cause::Elsewhere.because(format!(
                    "the {what} `{}` is written in several places with different values",
                    published.name
                ));
                return vec![(Condition::always(), Err(reason.into()), one.resource.header)];
            }
            for (when, value, span) in found {
                let rest = values.iter().fold(when, |rest, (other, ..)| rest.and(&other.not()));
                if rest.is_possible() {
                    values.push((rest, value, span));
                }
            }
        }
        values
    }

    /// Returns the values of one publication, which exists under `exists` in the unit `at`.
    fn of_one(
        &self,
        at: usize,
        one: &Publication,
        exists: &Condition,
        published: &Published,
        depth: usize,
    ) -> Vec<Value> {
        let mut values = Vec::new();
        for case in &one.value.cases {
            let when = exists.and(&case.when);
            if !when.is_possible() {
                continue;
            }
            match &case.state {
                State::Set(link) | State::Default(link) => {
                    values.push((when, self.seen(at, link, published), case.source_span()));
                }
                State::Unresolved(unresolved) => {
                    let next = unresolved.published().filter(|_| depth < MAX_CHAIN);
                    let further = next.map_or_else(Vec::new, |next| self.values(at, next, depth + 1));
                    if further.is_empty() {
                        values.push((when.clone(), Err(unresolved.reason().clone().into()), case.span));
                    }
                    let further = further.into_iter().map(|(also, value, span)| {
                        let value = value.and_then(|link| self.seen(at, &link, published));
                        (when.and(&also), value, span)
                    });
                    values.extend(further.filter(|(when, ..)| when.is_possible()));
                }
            }
        }
        values
    }

    /// Returns `link` of the unit `at` as others see it.
    fn seen(&self, at: usize, link: &Link, published: &Published) -> Result<Link, Unresolved> {
        let is_other = |service: &str| !SERVICES.contains(&service);
        let target = match &link.target {
            Target::Resource(address) => Target::OtherUnit {
                unit: self.parts[at].unit.key.text(),
                address: address.clone(),
            },
            Target::Dangling(_) => return Err(unknown(published)),
            Target::External(_) if link.service().is_some_and(is_other) => return Err(unknown(published)),
            other => other.clone(),
        };
        if let Target::OtherUnit { unit, address } = &target
            && !self.nodes.contains(&(&**unit, &**address))
        {
            return Err(unknown(published));
        }
        let (form, target) = match (published.within, target) {
            (None, target) => (link.form, target),
            // A name within an ARN or URL, which may be that of anything.
            (Some(_), Target::External(_)) => return Err(unknown(published)),
            (Some(within), target) if link.form == Form::Name => (within, target),
            (Some(_), _) => return Err(unknown(published)),
        };
        Ok(Link { target, form })
    }
}

/// Turns a link to a resource of the unit `own` into one within it.
fn localize(value: &mut Result<Link, Unresolved>, own: &str) {
    if let Ok(link) = value
        && let Target::OtherUnit { unit, address } = &link.target
        && **unit == *own
    {
        link.target = Target::Resource(address.clone());
    }
}

fn unknown(published: &Published) -> Unresolved {
    let (what, name) = (published.store.entry(), &published.name);
    Cause::Elsewhere
        .because(format!(
            "the {what} `{name}` is not a link to a queue, a function or a topic"
        ))
        .into()
}
