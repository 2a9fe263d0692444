//! Who watches the dead-letter queues: where a queue is one, and where somebody notices what arrives.
//!
//! What may watch a queue counts as watching it: an unresolved dimension, metric or namespace, an alarm that
//! cannot be read whole, a mapping whose source or state is not settled. What another unit leaves open says
//! nothing about the queues of this one.

use super::{Alarm, AlarmMetric, Attribute, Graph, Link, Queue, Resource, UnitId};
use crate::conditions::Condition;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The namespace of SQS's metrics.
const NAMESPACE: &str = "AWS/SQS";
/// Metrics that tell that a message lies in a queue.
const TELLING: [&str; 2] = ["ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage"];
/// Metrics that look as if they did, and do not count what a redrive policy moves. An alarm on one of them is
/// `dead-letter-queue-alarm-metric-blind`, unless something sends to the queue itself: then they do count.
const BLIND: [&str; 3] = [
    "NumberOfMessagesSent",
    "NumberOfMessagesReceived",
    "ApproximateNumberOfMessagesNotVisible",
];

type Key = (UnitId, Arc<str>);

/// What is known about the watching of dead-letter queues. Made once a project, since it goes over every alarm.
#[derive(Debug, Default)]
pub struct Watch {
    /// By queue: where it takes the failures of something.
    dead_letter: FxHashMap<Key, Condition>,
    /// By queue: where an alarm or a mapping notices its messages.
    watched: FxHashMap<Key, Condition>,
    /// By unit: where something may watch any of its queues.
    open: FxHashMap<UnitId, Condition>,
    /// Units that declare an alarm on a metric of SQS, or one that may be on such a metric.
    alarming: FxHashSet<UnitId>,
}

impl Watch {
    /// The worlds in which `queue` is a dead-letter queue and nobody notices what arrives there.
    pub fn unwatched_worlds(&self, queue: &Queue) -> Condition {
        let world = self.dead_letter_worlds(queue);
        if !world.is_possible() {
            return world;
        }
        let watched = [self.watched.get(&key(queue)), self.open.get(&queue.resource.unit)];
        watched
            .into_iter()
            .flatten()
            .fold(world, |world, watched| world.and(&watched.not()))
    }

    /// The worlds in which `queue` is a dead-letter queue.
    pub fn dead_letter_worlds(&self, queue: &Queue) -> Condition {
        let world = self.dead_letter.get(&key(queue));
        world.map_or_else(Condition::never, |world| world.and(&queue.resource.when))
    }

    /// Whether `unit` declares an alarm on any queue.
    pub fn has_alarms(&self, unit: UnitId) -> bool {
        self.alarming.contains(&unit)
    }

    fn add(worlds: &mut FxHashMap<Key, Condition>, queue: &Queue, world: &Condition) {
        let entry = worlds.entry(key(queue)).or_insert_with(Condition::never);
        *entry = entry.or(world);
    }

    fn open(&mut self, unit: UnitId, world: &Condition) {
        let entry = self.open.entry(unit).or_insert_with(Condition::never);
        *entry = entry.or(world);
    }
}

impl Graph {
    /// Finds the dead-letter queues and who watches them.
    pub fn dead_letter_watch(&self) -> Watch {
        let mut watch = Watch::default();
        self.find_dead_letter_queues(&mut watch);
        for alarm in self.alarms() {
            let Resource { unit, when, .. } = &alarm.resource;
            if alarm.opaque {
                watch.alarming.insert(*unit);
                watch.open(*unit, when);
            }
            for metric in &alarm.metrics {
                self.find_watched_queue(&mut watch, alarm, metric);
            }
        }
        self.find_consumed_queues(&mut watch);
        watch
    }

    /// The alarms with a metric that names `queue`.
    pub fn alarms_on<'g>(&'g self, queue: &'g Queue) -> impl Iterator<Item = &'g Alarm> {
        let names = |alarm: &&Alarm| {
            let cases = alarm.metrics.iter().flat_map(|metric| &metric.queue.cases);
            cases.filter_map(|case| case.value()).any(|link| {
                let mut candidates = self.queue_candidates(alarm.resource.unit, link);
                candidates.any(|found| std::ptr::eq(found, queue))
            })
        };
        self.alarms().iter().filter(names)
    }

    fn find_dead_letter_queues(&self, watch: &mut Watch) {
        let mut add = |unit: UnitId, link: &Link, world: &Condition| {
            if let Some(queue) = self.queue(unit, link) {
                Watch::add(&mut watch.dead_letter, queue, world);
            }
        };
        for source in self.queues() {
            for (world, link) in source.redrive_targets(&source.resource.when) {
                add(source.resource.unit, link, &world);
            }
        }
        for (unit, used) in self.dead_letter_uses() {
            for (world, _, link) in used.target.known_in(&used.when) {
                add(*unit, link, &world);
            }
        }
    }

    fn find_watched_queue(&self, watch: &mut Watch, alarm: &Alarm, metric: &AlarmMetric) {
        let Resource { unit, when, .. } = &alarm.resource;
        let on_queues = when.and(&worlds_where(&metric.namespace, |value| value == NAMESPACE));
        if !on_queues.is_possible() {
            return;
        }
        watch.alarming.insert(*unit);
        let counts = |name: &String| TELLING.contains(&name.as_str()) || BLIND.contains(&name.as_str());
        let noticed = on_queues.and(&worlds_where(&metric.metric, counts));
        for case in &metric.queue.cases {
            let world = noticed.and(&case.when);
            match case.value() {
                None => watch.open(*unit, &world),
                Some(link) => {
                    // Queues that share a name (one a Region, say): each of them may be the one.
                    for queue in self.queue_candidates(*unit, link) {
                        Watch::add(&mut watch.watched, queue, &world);
                    }
                }
            }
        }
    }

    fn find_consumed_queues(&self, watch: &mut Watch) {
        for mapping in self.mappings() {
            self.find_consumed_queue(watch, &mapping.resource, &mapping.enabled, &mapping.queue);
        }
        for pipe in &self.deliveries().pipes {
            self.find_consumed_queue(watch, &pipe.resource, &pipe.running, &pipe.source);
        }
    }

    fn find_consumed_queue(
        &self,
        watch: &mut Watch,
        reader: &Resource,
        active: &Attribute<bool>,
        source: &Attribute<Link>,
    ) {
        let polls = reader.when.and(&worlds_where(active, |active| *active));
        for case in &source.cases {
            let world = polls.and(&case.when);
            match case.value() {
                None => watch.open(reader.unit, &world),
                Some(link) => {
                    if let Some(queue) = self.queue(reader.unit, link) {
                        Watch::add(&mut watch.watched, queue, &world);
                    }
                }
            }
        }
    }
}

fn key(queue: &Queue) -> Key {
    (queue.resource.unit, queue.resource.address.clone())
}

/// The worlds in which `attribute` has a value that `wanted` accepts, or one that is not known.
fn worlds_where<T>(attribute: &Attribute<T>, wanted: impl Fn(&T) -> bool) -> Condition {
    let cases = attribute.cases.iter().filter(|case| case.value().is_none_or(&wanted));
    cases.fold(Condition::never(), |all, case| all.or(&case.when))
}

impl Resource {
    /// How this resource's ARN is referred to where it is declared.
    pub fn arn_reference(&self) -> String {
        if self.kind.contains("::") {
            return format!("!GetAtt {}.Arn", self.address);
        }
        let mut local = &*self.address;
        // Inside its module the resource goes by the last part of its address: `module.a["x.y"].aws_sqs_queue.b`.
        if let Some(at) = local.rfind(&format!("{}.", self.kind)) {
            local = local.get(at..).unwrap_or(local);
        }
        format!("{local}.arn")
    }
}
