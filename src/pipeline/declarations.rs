//! Links the consumers that configurations declare to the queues of a graph, and reports declarations that match no
//! queue.

use super::policies::Policies;
use super::{Options, Run};
use crate::config::{Consumer, Duration, Located, NamePattern};
use crate::graph::declared::{self, DeclaredConsumer, Measured};
use crate::graph::{Attribute, EventSourceMapping, Graph, Queue, Resource, UnitId};
use crate::selection;
use crate::suppress::Day;
use rustc_hash::FxHashSet;
use source::files::{is_directory, named};
use source::{Sources, Span};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Declarations of a run, over all environments.
pub(super) struct Declarations<'a> {
    policies: &'a Policies,
    sources: &'a Sources,
    today: Day,
    /// Declarations by location, each with its missing resource, unless an environment has contained it.
    all: BTreeMap<(PathBuf, usize), Option<UnmatchedDeclaration>>,
}

/// Resource that a declaration refers to, but that does not exist.
pub(super) struct UnmatchedDeclaration {
    pub(super) file: Option<PathBuf>,
    pub(super) at: usize,
    pub(super) message: String,
}

type Key = (UnitId, Arc<str>);

impl<'a> Declarations<'a> {
    pub(super) fn new(options: &Options, policies: &'a Policies, sources: &'a Sources) -> Self {
        Declarations {
            policies,
            sources,
            today: options.today.unwrap_or_else(Day::today),
            all: BTreeMap::new(),
        }
    }

    /// Adds the consumers that the configurations of the units declare to `graph`.
    pub(super) fn add_to(&mut self, graph: &mut Graph) {
        let mut units: Vec<(UnitId, &[Consumer])> = Vec::new();
        for (at, unit) in graph.units().iter().enumerate() {
            let id = UnitId(u32::try_from(at).unwrap_or(u32::MAX));
            units.push((id, &self.policies.of(&unit.name).consumers));
        }
        for (unit, consumers) in units {
            for consumer in consumers {
                self.add(graph, unit, consumer);
            }
        }
    }

    fn add(&mut self, graph: &mut Graph, unit: UnitId, consumer: &Consumer) {
        let queues = queues(graph, unit, &consumer.queue.value);
        let missing = if queues.is_empty() {
            Some(missing_queue(graph, unit, consumer))
        } else {
            missing_function(graph, &queues, consumer)
        };
        let keys: Vec<Key> = queues.iter().map(|queue| key(&queue.resource)).collect();
        let declared = Arc::new(self.declared(graph, consumer));
        for key in &keys {
            graph.declare(key, &declared);
        }
        let file = consumer.file.as_ref().map(|file| file.path.clone());
        let place = (file.unwrap_or_default(), consumer.queue.range.start);
        match (missing, self.all.get_mut(&place)) {
            (None, Some(known)) => *known = None,
            (missing, None) => {
                self.all.insert(place, missing);
            }
            (Some(_), Some(_)) => {}
        }
    }

    /// Converts `consumer` for the graph, with its locations.
    fn declared(&self, graph: &Graph, consumer: &Consumer) -> DeclaredConsumer {
        let file = consumer
            .file
            .as_ref()
            .map(|file| self.sources.add(&file.path, &*file.text));
        let span = |range: &std::ops::Range<usize>| Some(Span::new(file?, range.clone()));
        let time = |time: &Located<Duration>| declared::Duration {
            milliseconds: i64::try_from(time.value.milliseconds()).unwrap_or(i64::MAX),
            span: span(&time.range),
        };
        let functions = consumer
            .function
            .as_ref()
            .map(|names| functions(graph, &names.value).collect());
        let measured = consumer.measured.as_ref().and_then(|measured| {
            let day = Day::parse(&measured.value)?;
            Some(Measured {
                day: measured.value.clone(),
                age: self.today.days_since(day),
                span: span(&measured.range),
            })
        });
        DeclaredConsumer {
            queue: consumer.queue.value.written.clone(),
            span: span(&consumer.queue.range),
            functions,
            p50: consumer.p50.as_ref().map(time),
            p99: consumer.p99.as_ref().map(time),
            max: consumer.max.as_ref().map(time),
            heartbeat: consumer.heartbeat.as_ref().map(|heartbeat| declared::Heartbeat {
                every: time(&heartbeat.every),
                extend_to: time(&heartbeat.extend_to),
            }),
            parallelism: consumer.parallelism.map_or(1, i64::from),
            measured,
            code: None,
        }
    }

    /// Describes declarations that match no checked resource, one line each. Only configurations whose whole directory
    /// was checked are considered.
    pub(super) fn unmatched(self, run: &Run<'_>) -> Vec<String> {
        describe_missing(run, self.sources, self.all.into_values().flatten())
    }
}

/// Describes the missing resources, one line each, for configurations whose whole directory was checked.
pub(super) fn describe_missing(
    run: &Run<'_>,
    sources: &Sources,
    missing: impl Iterator<Item = UnmatchedDeclaration>,
) -> Vec<String> {
    let options = run.options;
    if options.staged || options.stdin.is_some() {
        return Vec::new();
    }
    let walked: Vec<PathBuf> = (options.paths.iter())
        .filter_map(|path| named(path).ok())
        .filter(|path| is_directory(path))
        .collect();
    let is_whole = |file: Option<&Path>| match file.and_then(Path::parent) {
        Some(directory) if run.configs.are_searched() => walked.iter().any(|path| directory.starts_with(path)),
        _ => !walked.is_empty(),
    };
    let missing = missing.filter(|one| is_whole(one.file.as_deref()));
    missing.map(|one| one.described(sources)).collect()
}

impl UnmatchedDeclaration {
    fn of(consumer: &Consumer, at: usize, message: String) -> Self {
        UnmatchedDeclaration {
            file: consumer.file.as_ref().map(|file| file.path.clone()),
            at,
            message,
        }
    }

    /// Prefixes the message with its location.
    fn described(self, sources: &Sources) -> String {
        let Some(file) = self.file.as_ref().and_then(|path| sources.find(path)) else {
            return self.message;
        };
        let file = sources.file(file);
        let start = file.position(self.at);
        format!("{}:{}:{}: {}", file.shown(), start.line, start.column, self.message)
    }
}

fn key(resource: &Resource) -> Key {
    (resource.unit, resource.address.clone())
}

/// Returns the queues of `unit` that `names` match. A pattern that matches a source queue does not apply to dead-letter
/// queues: `orders*` means the worker of `orders`, and nothing that reads `orders-dlq`.
fn queues<'g>(graph: &'g Graph, unit: UnitId, names: &NamePattern) -> Vec<&'g Queue> {
    let here = graph.queues().iter().filter(|queue| queue.resource.unit == unit);
    let matching = here.filter(|queue| is_named(names, &queue.resource, &queue.name));
    let mut all: Vec<&Queue> = matching.collect();
    let is_for_dead_letters = |queue: &Queue| graph.is_dead_letter_queue(queue) && !graph.is_read(queue);
    if all.iter().any(|queue| !is_for_dead_letters(queue)) {
        all.retain(|queue| !is_for_dead_letters(queue) || has_name(queue, &names.written));
    }
    all
}

/// Returns `true` if `written` is the address or the name of `queue`, and not a pattern.
fn has_name(queue: &Queue, written: &str) -> bool {
    names_of(&queue.resource, &queue.name).any(|name| name == written)
}

/// Returns `true` if `names` match `resource`: its address, with or without the key of its instance, the construct that
/// generated it, or its physical name, if known.
fn is_named(names: &NamePattern, resource: &Resource, name: &Attribute<Option<String>>) -> bool {
    names_of(resource, name).any(|name| names.matches(name))
}

fn names_of<'r>(resource: &'r Resource, name: &'r Attribute<Option<String>>) -> impl Iterator<Item = &'r str> {
    let address = &*resource.address;
    let all = address.strip_suffix(']').and_then(|address| address.rsplit_once('['));
    let physical = name.cases.iter().filter_map(|case| case.value()?.as_deref());
    std::iter::once(address)
        .chain(all.map(|(all, _)| all))
        .chain(resource.construct.as_deref())
        .chain(physical)
}

fn functions<'g>(graph: &'g Graph, names: &'g NamePattern) -> impl Iterator<Item = Key> + 'g {
    let all = graph.functions().iter();
    all.filter(|function| is_named(names, &function.resource, &function.name))
        .map(|function| key(&function.resource))
}

fn missing_queue(graph: &Graph, unit: UnitId, consumer: &Consumer) -> UnmatchedDeclaration {
    let written = &consumer.queue.value.written;
    let here = graph.queues().iter().filter(|queue| queue.resource.unit == unit);
    let names = here.flat_map(|queue| {
        let physical = queue.name.cases.iter().filter_map(|case| case.value()?.as_deref());
        std::iter::once(&*queue.resource.address).chain(physical)
    });
    let message = format!(
        "no queue matches the consumer `{written}`{}",
        suggestion(written, names)
    );
    UnmatchedDeclaration::of(consumer, consumer.queue.range.start, message)
}

/// Returns the missing function, if no mapping of `queues` invokes the function that `consumer` names.
fn missing_function(graph: &Graph, queues: &[&Queue], consumer: &Consumer) -> Option<UnmatchedDeclaration> {
    let names = consumer.function.as_ref()?;
    let wanted: FxHashSet<Key> = functions(graph, &names.value).collect();
    let mappings: Vec<&EventSourceMapping> = (queues.iter())
        .flat_map(|queue| graph.consumptions(queue))
        .map(|consumption| consumption.mapping)
        .collect();
    let may_invoke = |mapping: &&EventSourceMapping| {
        let mut invoked = graph.functions_of(mapping, &mapping.resource.when).into_iter();
        mapping.function.unresolved_reason().is_some()
            || invoked.any(|(_, function)| wanted.contains(&key(&function.resource)))
    };
    if mappings.iter().any(may_invoke) {
        return None;
    }
    let (queue, function) = (&consumer.queue.value.written, &names.value.written);
    let invoked = mappings.iter().flat_map(|mapping| {
        let all = graph.functions_of(mapping, &mapping.resource.when).into_iter();
        all.map(|(_, function)| &*function.resource.address)
    });
    let suggestion = suggestion(function, invoked);
    let message = format!("no function that reads `{queue}` matches the consumer's `{function}`{suggestion}");
    Some(UnmatchedDeclaration::of(consumer, names.range.start, message))
}

fn suggestion<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> String {
    selection::nearest(written, names).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}
