//! Links the consumers that configurations declare to the queues of a graph, and reports declarations that match no
//! queue.

use super::policies::Policies;
use super::{Options, Run};
use crate::config::{ConfigText, Consumer, Duration, Located, NamePattern};
use crate::graph::declared::{self, DeclaredConsumer, Measured};
use crate::graph::{Attribute, EventSourceMapping, Function, Graph, Queue, Resource, ResourceKey, UnitId};
use crate::selection;
use crate::suppress::Day;
use rustc_hash::FxHashSet;
use source::files::{is_directory, named};
use source::{Sources, Span};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Declarations of a run, over all environments.
pub(super) struct Declarations<'s> {
    sources: &'s Sources,
    today: Day,
    /// Declarations by location, each with its missing resource, unless an environment has contained it.
    all: BTreeMap<(PathBuf, usize), Option<UnmatchedDeclaration>>,
}

/// Statements by location, each with its missing resource, unless an environment has contained it.
#[derive(Debug, Default)]
pub(super) struct Missing(BTreeMap<(PathBuf, usize), Option<UnmatchedDeclaration>>);

impl Missing {
    /// Notes that the statement on `name` applies in an environment, or the reason why it does not.
    pub(super) fn note(&mut self, file: Option<&ConfigText>, name: &Located<NamePattern>, unused: Option<String>) {
        let file = file.map(|file| file.path.clone());
        let key = (file.clone().unwrap_or_default(), name.range.start);
        let is_used = unused.is_none();
        let unmatched = unused.map(|why| UnmatchedDeclaration {
            file,
            at: name.range.start,
            message: format!("{why} `{}`", name.value.written),
        });
        let known = self.0.entry(key).or_insert(unmatched);
        if is_used {
            *known = None;
        }
    }

    /// Describes the statements that match nothing, one line each.
    pub(super) fn described(self, run: &Run<'_>, sources: &Sources) -> Vec<String> {
        describe_missing(run, sources, self.0.into_values().flatten())
    }
}

/// Resource that a declaration refers to, but that does not exist.
#[derive(Debug)]
pub(super) struct UnmatchedDeclaration {
    pub(super) file: Option<PathBuf>,
    pub(super) at: usize,
    pub(super) message: String,
}

impl<'s> Declarations<'s> {
    pub(super) fn new(options: &Options, sources: &'s Sources) -> Self {
        Declarations {
            sources,
            today: options.today.unwrap_or_else(Day::today),
            all: BTreeMap::new(),
        }
    }

    /// Adds the consumers that the configurations of the units declare to `graph`.
    pub(super) fn add_to(&mut self, graph: &mut Graph, policies: &Policies) {
        let consumers = |unit: UnitId| policies.of(&graph.unit(unit).name).consumers.as_slice();
        let mut queues: BTreeMap<UnitId, Vec<&Queue>> = BTreeMap::new();
        for (at, _) in graph.units().iter().enumerate() {
            let unit = UnitId(u32::try_from(at).unwrap_or(u32::MAX));
            queues.extend((!consumers(unit).is_empty()).then(|| (unit, Vec::new())));
        }
        for queue in graph.queues() {
            queues
                .get_mut(&queue.resource.unit)
                .into_iter()
                .for_each(|all| all.push(queue));
        }
        if queues.is_empty() {
            return;
        }
        let functions = Names::new(graph.functions(), |function| (&function.resource, &function.name));
        let mut declared = Vec::new();
        for (unit, queues) in queues {
            let queues = Names::new(queues, |queue| (&queue.resource, &queue.name));
            for consumer in consumers(unit) {
                self.add(graph, &queues, &functions, consumer, &mut declared);
            }
        }
        for (queue, consumer) in &declared {
            graph.declare(queue, consumer);
        }
    }

    fn add(
        &mut self,
        graph: &Graph,
        queues: &Names<'_, Queue>,
        functions: &Names<'_, Function>,
        consumer: &Consumer,
        all: &mut Vec<(ResourceKey, Arc<DeclaredConsumer>)>,
    ) {
        let found = matching_queues(graph, queues, &consumer.queue.value);
        let functions = consumer.function.as_ref().map(|names| {
            let all = functions.matching(&names.value).into_iter();
            all.map(|function| function.resource.key())
                .collect::<FxHashSet<ResourceKey>>()
        });
        let missing_function = || missing_function(graph, &found, functions.as_ref(), consumer);
        let file = consumer.file.as_ref().map(|file| file.path.clone());
        match self.all.entry((file.unwrap_or_default(), consumer.queue.range.start)) {
            Entry::Vacant(new) if found.is_empty() => {
                new.insert(Some(missing_queue(queues, consumer)));
            }
            Entry::Vacant(new) => {
                new.insert(missing_function());
            }
            Entry::Occupied(mut known) => {
                if known.get().is_some() && !found.is_empty() && missing_function().is_none() {
                    known.insert(None);
                }
            }
        }
        let declared = Arc::new(self.declared(functions, consumer));
        all.extend(found.iter().map(|queue| (queue.resource.key(), declared.clone())));
    }

    /// Converts `consumer` for the graph, with its locations.
    fn declared(&self, functions: Option<FxHashSet<ResourceKey>>, consumer: &Consumer) -> DeclaredConsumer {
        // Adding a file compares its text with the known one, and a file may declare thousands of consumers.
        let file = consumer.file.as_ref().map(|file| {
            let known = self.sources.find_read(&file.path);
            known.unwrap_or_else(|| self.sources.add(&file.path, &*file.text))
        });
        let span = |range: &std::ops::Range<usize>| Some(Span::new(file?, range.clone()));
        let time = |time: &Located<Duration>| declared::Duration {
            milliseconds: i64::try_from(time.value.milliseconds()).unwrap_or(i64::MAX),
            span: span(&time.range),
        };
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
            call: None,
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

/// Nodes by their names, sorted: the address, with or without the key of the instance, the construct that generated it,
/// and the physical name, if known.
struct Names<'g, N> {
    nodes: Vec<&'g N>,
    sorted: Vec<(&'g str, usize)>,
    /// Names sorted from the last byte to the first, for patterns that begin with a wildcard.
    reversed: Vec<(&'g str, usize)>,
}

impl<'g, N> Names<'g, N> {
    fn new(
        nodes: impl IntoIterator<Item = &'g N>,
        name_of: fn(&'g N) -> (&'g Resource, &'g Attribute<Option<String>>),
    ) -> Self {
        let nodes: Vec<&N> = nodes.into_iter().collect();
        let names = nodes.iter().enumerate().flat_map(|(at, node)| {
            let (resource, name) = name_of(node);
            names_of(resource, name).map(move |name| (name, at))
        });
        let mut sorted: Vec<_> = names.collect();
        sorted.sort_unstable();
        let mut reversed = sorted.clone();
        reversed.sort_unstable_by(|(one, _), (other, _)| one.bytes().rev().cmp(other.bytes().rev()));
        Names {
            nodes,
            sorted,
            reversed,
        }
    }

    /// Returns the nodes that `pattern` matches, in their order.
    fn matching(&self, pattern: &NamePattern) -> Vec<&'g N> {
        let [start, end] = pattern.ends();
        let is_by_end = start.is_empty();
        let (names, first) = if is_by_end {
            let before = |name: &str| name.bytes().rev().lt(end.bytes().rev());
            (&self.reversed, self.reversed.partition_point(|(name, _)| before(name)))
        } else {
            (&self.sorted, self.sorted.partition_point(|(name, _)| *name < start))
        };
        let is_likely = |name: &str| {
            if is_by_end {
                name.ends_with(end)
            } else {
                name.starts_with(start)
            }
        };
        let likely = names.iter().skip(first).take_while(|(name, _)| is_likely(name));
        let found = likely.filter(|(name, _)| pattern.matches(name)).map(|(_, at)| *at);
        let found: BTreeSet<usize> = found.collect();
        found.iter().filter_map(|at| self.nodes.get(*at).copied()).collect()
    }
}

/// Returns the queues that `pattern` matches. A pattern that matches a source queue does not apply to dead-letter
/// queues: `orders*` means the worker of `orders`, and nothing that reads `orders-dlq`.
fn matching_queues<'g>(graph: &'g Graph, queues: &Names<'g, Queue>, pattern: &NamePattern) -> Vec<&'g Queue> {
    let mut all = queues.matching(pattern);
    let is_for_dead_letters = |queue: &Queue| graph.is_dead_letter_queue(queue) && !graph.is_read(queue);
    if all.iter().any(|queue| !is_for_dead_letters(queue)) {
        all.retain(|queue| !is_for_dead_letters(queue) || has_name(queue, &pattern.written));
    }
    all
}

/// Returns `true` if `written` is the address or the name of `queue`, and not a pattern.
fn has_name(queue: &Queue, written: &str) -> bool {
    names_of(&queue.resource, &queue.name).any(|name| name == written)
}

pub(super) fn names_of<'r>(
    resource: &'r Resource,
    name: &'r Attribute<Option<String>>,
) -> impl Iterator<Item = &'r str> {
    let address = &*resource.address;
    let all = address.strip_suffix(']').and_then(|address| address.rsplit_once('['));
    let physical = name.cases.iter().filter_map(|case| case.value()?.as_deref());
    std::iter::once(address)
        .chain(all.map(|(all, _)| all))
        .chain(resource.construct.as_deref())
        .chain(physical)
}

fn missing_queue(queues: &Names<'_, Queue>, consumer: &Consumer) -> UnmatchedDeclaration {
    let written = &consumer.queue.value.written;
    let names = queues.sorted.iter().map(|(name, _)| *name);
    let message = format!(
        "no queue matches the consumer `{written}`{}",
        suggestion(written, names)
    );
    UnmatchedDeclaration::of(consumer, consumer.queue.range.start, message)
}

/// Returns the missing function, if no mapping of `queues` invokes the function that `consumer` names.
fn missing_function(
    graph: &Graph,
    queues: &[&Queue],
    wanted: Option<&FxHashSet<ResourceKey>>,
    consumer: &Consumer,
) -> Option<UnmatchedDeclaration> {
    let (names, wanted) = (consumer.function.as_ref()?, wanted?);
    let mappings: Vec<&EventSourceMapping> = (queues.iter())
        .flat_map(|queue| graph.consumptions(queue))
        .map(|consumption| consumption.mapping)
        .collect();
    let may_invoke = |mapping: &&EventSourceMapping| {
        let mut invoked = graph.functions_of(mapping, &mapping.resource.when).into_iter();
        mapping.function.unresolved_reason().is_some()
            || invoked.any(|(_, function)| wanted.contains(&function.resource.key()))
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
