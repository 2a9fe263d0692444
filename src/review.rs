//! Compares the numbers of each link, from a queue to the function that it invokes, with those at an earlier commit.
//!
//! Example: `main.tf:16` raises the timeout of `fulfil` from 30 to 120 s. `orders`, whose visibility timeout of 180 s was
//! six function timeouts, then needs 720 s: its margin goes from 0 to −540 s, which is a changed link.

use crate::graph::limits::ADVISED_FUNCTION_TIMEOUTS;
use crate::graph::{Attribute, Condition, Graph, Resource, Seconds};
use source::{FileId, Sources, Span};
use sqs_model::clock::seconds;
use sqs_model::scenario::{Scenario, Timeline};
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of numbers, each with its unit and `true` if its resource is the function.
pub const KINDS: [(&str, &str, bool); 8] = [
    ("visibility timeout", " s", false),
    ("timeout", " s", true),
    ("batching window", " s", false),
    ("batch size", "", false),
    ("maximum concurrency", "", false),
    ("maxReceiveCount", "", false),
    ("retention period", " s", false),
    ("delivery delay", " s", false),
];

/// A number, and where it is written.
#[derive(Debug, Clone)]
pub struct Number {
    /// The number.
    pub value: i64,
    /// Span of the literal, or of the resource for a default.
    pub span: Span,
    /// File, relative to the repository, and line.
    pub place: (String, u32),
}

/// Numbers of a link by kind; `None` for those that are absent or not known.
pub type Numbers = [Option<Number>; KINDS.len()];

/// Key of a link: unit, address of the queue, address of the mapping.
type Key = (String, String, String);

/// Links of a project under one environment.
#[derive(Debug, Clone)]
struct Link {
    /// Queue and function, as messages show them.
    ends: [String; 2],
    numbers: Numbers,
}

/// Links of a project, each in its environments.
#[derive(Debug, Default)]
pub(crate) struct Links(BTreeMap<(Key, Option<String>), Link>);

/// A link with numbers that differ between two versions.
#[derive(Debug, Clone)]
pub struct ChangedLink {
    /// Environments in which they do; empty if there is only one.
    pub environments: Vec<String>,
    /// Unit of the queue.
    pub unit: String,
    /// Queue, as messages show it.
    pub queue: String,
    /// Function, as messages show it; empty without a mapping.
    pub function: String,
    /// Numbers before the change; `None` for a new link.
    pub before: Option<Numbers>,
    /// Numbers after the change; `None` for one that is gone.
    pub now: Option<Numbers>,
}

/// A changed number, as the cause of what follows for a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// File and line of the new number.
    pub place: (String, u32),
    /// Span of the new number.
    pub span: Span,
    /// Description: "raises the timeout of `fulfil` from 30 to 120 s".
    pub text: String,
}

impl Links {
    /// Adds the links of `graph`.
    pub(crate) fn add(&mut self, environment: Option<&str>, graph: &Graph, sources: &Sources) {
        for queue in graph.queues().iter().filter(|queue| !queue.is_external()) {
            let own = [
                number(&queue.visibility_timeout, &queue.resource, sources, of_seconds),
                number(&queue.retention, &queue.resource, sources, of_seconds),
                number(&queue.delay, &queue.resource, sources, of_seconds),
            ];
            let policies = queue.redrive.cases.iter().filter_map(|case| case.value()?.as_ref());
            let counts: Vec<_> = policies
                .map(|policy| number(&policy.max_receive_count, &queue.resource, sources, Some))
                .collect();
            let count = <[_; 1]>::try_from(counts).ok().and_then(|[count]| count);
            let [visibility, retention, delay] = own;
            let numbers = [visibility, None, None, None, None, count, retention, delay];
            let consumptions = graph.consumptions(queue);
            if consumptions.is_empty() {
                self.insert(
                    environment,
                    graph,
                    [&queue.resource, &queue.resource],
                    String::new(),
                    numbers,
                );
                continue;
            }
            for mapping in consumptions.iter().map(|consumption| consumption.mapping) {
                let links = mapping.function.known_in(&Condition::always());
                let function = match links.as_slice() {
                    [(_, _, link)] => graph.function(mapping.resource.unit, link),
                    _ => None,
                };
                let mut numbers = numbers.clone();
                numbers[1] = function.and_then(|one| number(&one.timeout, &one.resource, sources, of_seconds));
                numbers[2] = number(&mapping.window, &mapping.resource, sources, of_seconds);
                numbers[3] = number(&mapping.batch_size, &mapping.resource, sources, Some);
                numbers[4] = number(&mapping.maximum_concurrency, &mapping.resource, sources, |most| most);
                let shown = function.map_or_else(|| mapping.resource.shown(), |one| one.resource.shown());
                self.insert(environment, graph, [&queue.resource, &mapping.resource], shown, numbers);
            }
        }
    }

    fn insert(
        &mut self,
        environment: Option<&str>,
        graph: &Graph,
        [queue, mapping]: [&Resource; 2],
        function: String,
        numbers: Numbers,
    ) {
        let unit = graph.unit(queue.unit).name.clone();
        let key = (unit, queue.address.to_string(), mapping.address.to_string());
        let ends = [queue.shown(), function];
        self.0
            .insert((key, environment.map(str::to_owned)), Link { ends, numbers });
    }

    /// Returns the links that differ from those of `before`, each with the environments in which it does. Environments
    /// that one version lacks are not compared.
    pub(crate) fn changed_since(&self, before: &Links) -> Vec<ChangedLink> {
        let environments = |links: &'_ Links| links.0.keys().map(|(_, name)| name.clone()).collect::<BTreeSet<_>>();
        let (new, old) = (environments(self), environments(before));
        let lacks = |all: &BTreeSet<Option<String>>, name| !all.is_empty() && !all.contains(name);
        let mut all: Vec<ChangedLink> = Vec::new();
        let keys: BTreeSet<_> = self.0.keys().chain(before.0.keys()).collect();
        for key in keys
            .into_iter()
            .filter(|(_, name)| !lacks(&new, name) && !lacks(&old, name))
        {
            let (now, before) = (self.0.get(key), before.0.get(key));
            let [now_values, values_before] = [now, before].map(|link| link.map(|link| values(&link.numbers)));
            if now_values == values_before {
                continue;
            }
            let Some([queue, function]) = now.or(before).map(|link| link.ends.clone()) else {
                continue;
            };
            let is_of_link = |known: &&mut ChangedLink| {
                (&known.unit, &known.queue, &known.function) == (&key.0.0, &queue, &function)
            };
            let same = all.iter_mut().rev().take_while(is_of_link).find(|known| {
                let values = [&known.now, &known.before].map(|numbers| numbers.as_ref().map(values));
                values == [now_values, values_before]
            });
            match same {
                Some(known) => known.environments.extend(key.1.clone()),
                None => all.push(ChangedLink {
                    environments: key.1.clone().into_iter().collect(),
                    unit: key.0.0.clone(),
                    queue,
                    function,
                    before: before.map(|link| link.numbers.clone()),
                    now: now.map(|link| link.numbers.clone()),
                }),
            }
        }
        all
    }
}

impl ChangedLink {
    /// Returns the changed numbers, except those of a link that is new or gone.
    pub fn changes(&self) -> Vec<Change> {
        let (Some(before), Some(now)) = (&self.before, &self.now) else {
            return Vec::new();
        };
        let all = KINDS.iter().zip(before.iter().zip(now));
        let changes = all.filter_map(|((name, unit, is_of_function), (was, is))| {
            let is = is.as_ref()?;
            let was = was.as_ref().map(|was| was.value);
            let verb = match was {
                Some(was) if was == is.value => return None,
                Some(was) if was > is.value => "lowers",
                Some(_) => "raises",
                None => "sets",
            };
            let of = if *is_of_function { &self.function } else { &self.queue };
            let from = was.map_or_else(String::new, |was| format!(" from {was}"));
            Some(Change {
                place: is.place.clone(),
                span: is.span,
                text: format!("{verb} the {name} of {of}{from} to {}{unit}", is.value),
            })
        });
        changes.collect()
    }

    /// Describes what follows for the visibility timeout, if the needed value or the margin changed: "`orders` must go
    /// from 180 to 720 s".
    pub fn consequence(&self) -> Option<String> {
        let now = self.now.as_ref()?;
        let (visibility, is) = (now[0].as_ref()?.value, margin(now)?);
        let was = self.before.as_ref().and_then(margin);
        let queue = &self.queue;
        Some(match was {
            Some(was) if was == is => return None,
            _ if is < 0 => format!("{queue} must go from {visibility} to {} s", needed(now)?),
            Some(was) if was < 0 => format!("{queue} now has the {} s that it needs", needed(now)?),
            Some(was) => format!("{queue} keeps {is} s of the {was} s that it had to spare"),
            None => format!("{queue} has {is} s to spare"),
        })
    }

    /// Returns the runs that show how batches fare before and after the change if the function is throttled, unless both
    /// fare alike.
    pub fn timelines(&self) -> Option<[Timeline; 2]> {
        let run = |numbers: &Numbers| {
            let time = |at: usize| numbers[at].as_ref().map(|number| seconds(number.value));
            let (visibility, timeout, window) = (time(0)?, time(1)?, time(2)?);
            let batches = u32::try_from(ADVISED_FUNCTION_TIMEOUTS).ok()?;
            let scenario = Scenario::Throttled {
                visibility,
                timeout,
                window,
                batches,
            };
            Some(scenario.timeline())
        };
        let both = [run(self.before.as_ref()?)?, run(self.now.as_ref()?)?];
        (both[0].harm != both[1].harm || both[0].summary != both[1].summary).then_some(both)
    }
}

/// Returns the visibility timeout that a link needs: six function timeouts and the batching window.
pub fn needed(numbers: &Numbers) -> Option<i64> {
    let (timeout, window) = (numbers[1].as_ref()?, numbers[2].as_ref()?);
    let timeouts = timeout.value.checked_mul(ADVISED_FUNCTION_TIMEOUTS)?;
    timeouts.checked_add(window.value)
}

/// Returns the margin of the visibility timeout over the needed one.
pub fn margin(numbers: &Numbers) -> Option<i64> {
    numbers[0].as_ref()?.value.checked_sub(needed(numbers)?)
}

fn values(numbers: &Numbers) -> [Option<i64>; KINDS.len()] {
    numbers
        .each_ref()
        .map(|number| number.as_ref().map(|number| number.value))
}

// `number` also reads values that may be absent.
#[allow(clippy::unnecessary_wraps)]
fn of_seconds(value: Seconds) -> Option<i64> {
    Some(value.0)
}

/// Returns the only value of `attribute`, with the place where it is written.
fn number<T: Copy>(
    attribute: &Attribute<T>,
    resource: &Resource,
    sources: &Sources,
    value: impl Fn(T) -> Option<i64>,
) -> Option<Number> {
    let [case] = &*attribute.cases else { return None };
    let span = case.origins.last().map_or(case.span, |origin| origin.span);
    let span = if case.is_default() { resource.header } else { span };
    let file = sources.file(span.file);
    Some(Number {
        value: value(*case.value()?)?,
        span,
        place: (file.name().to_owned(), file.position(span.start as usize).line),
    })
}

/// Returns the line of a span, to compare it with those of changes.
pub(crate) fn line_of(span: Span, sources: &Sources) -> (FileId, u32) {
    (span.file, sources.start(span).line)
}
