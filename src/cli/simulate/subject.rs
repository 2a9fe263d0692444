//! Chooses the queue of a project to simulate, and reads its settings and those of its consumer from the files.

use super::settings::Settings;
use sqs_model::clock;
use sqslint::graph::declared::DeclaredConsumer;
use sqslint::graph::{Attribute, EventSourceMapping, Function, Graph, Queue, Seconds};

/// Maximum number of queues that an error lists as candidates.
const NAMED: usize = 10;

/// Returns the queue with this address or name or, if none is requested, the only queue with a consumer.
pub(super) fn chosen<'g>(graph: &'g Graph, requested: Option<&str>) -> Result<&'g Queue, String> {
    let Some(requested) = requested else {
        let read: Vec<&Queue> = graph
            .queues()
            .iter()
            .filter(|queue| has_consumer(graph, queue))
            .collect();
        return match read.as_slice() {
            [only] => Ok(only),
            [] if graph.queues().is_empty() => Err("there is no queue in these files".to_owned()),
            [] => Err(format!(
                "which queue? Name one with `--queue`: {}",
                named(graph.queues().iter())
            )),
            many => Err(format!(
                "which queue? Name one with `--queue`: {}",
                named(many.iter().copied())
            )),
        };
    };
    let is_it = |queue: &&Queue| {
        let name = queue.name.known().and_then(Option::as_deref);
        *queue.resource.address == *requested || name == Some(requested)
    };
    let found: Vec<&Queue> = graph.queues().iter().filter(is_it).collect();
    match found.as_slice() {
        [] => Err(format!(
            "there is no queue `{requested}`; there are {}",
            named(graph.queues().iter())
        )),
        // If several units declare the address, the first unit wins.
        [first, ..] => Ok(first),
    }
}

fn has_consumer(graph: &Graph, queue: &Queue) -> bool {
    !graph.consumptions(queue).is_empty() || !graph.declared(queue).is_empty()
}

fn named<'g>(queues: impl Iterator<Item = &'g Queue>) -> String {
    let mut names: Vec<String> = queues.map(|queue| format!("`{}`", queue.resource.address)).collect();
    names.dedup();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

impl Settings {
    /// Fills the gaps of these settings with those that the files determine.
    pub(super) fn or_of(mut self, graph: &Graph, queue: &Queue) -> Self {
        let mut read = AttributeReader { unresolved: Vec::new() };
        let visibility = read.time("visibility timeout", &queue.visibility_timeout);
        self.visibility = self.visibility.or(visibility);
        self.retention = self.retention.or(read.time("retention", &queue.retention));
        self.delay = self.delay.or(read.time("delay", &queue.delay));
        self.fifo |= read.known("queue type", &queue.fifo) == Some(&true);
        let mut max_receives = Some(0);
        if let Some(Some(policy)) = read.known("redrive policy", &queue.redrive) {
            max_receives = read
                .known("max receive count", &policy.max_receive_count)
                .and_then(|count| u32::try_from(*count).ok());
            let link = policy.target.known();
            let aside = link.and_then(|link| graph.queue(queue.resource.unit, link));
            let kept = aside.and_then(|aside| read.time("dead-letter queue's retention", &aside.retention));
            self.dead_letter_retention = self.dead_letter_retention.or(kept);
        }
        self.max_receives = self.max_receives.or(max_receives);
        let mapping = graph.consumptions(queue).first().map(|consumption| consumption.mapping);
        let function = mapping.and_then(|mapping| {
            let link = mapping.function.known()?;
            Some(graph.invoked(mapping, link, &mapping.resource.when)?.0)
        });
        let reader = match (mapping, function) {
            (Some(mapping), Some(function)) => {
                self.read_by(mapping, function, &mut read);
                format!(", read by {function}")
            }
            (Some(mapping), None) => format!(", read through {mapping}"),
            (None, _) => ", read by workers".to_owned(),
        };
        let declared = graph.declared(queue).iter();
        let declared = declared.map(|one| &**one).find(|one| match function {
            Some(function) => one.is_of(function),
            None => one.is_worker(),
        });
        if let Some(declared) = declared {
            self.declared(declared);
        }
        self.subject = Some(format!("{queue}{reader}"));
        self.unresolved = read.unresolved;
        self
    }

    fn read_by(&mut self, mapping: &EventSourceMapping, function: &Function, read: &mut AttributeReader) {
        // Workers on the command line replace the function.
        let timeout = read.time("function timeout", &function.timeout);
        self.timeout = self.timeout.or(timeout.filter(|_| self.workers.is_none()));
        self.batch = self.batch.or(read.count("batch size", &mapping.batch_size));
        self.window = self.window.or(read.time("batching window", &mapping.window));
        self.partial_responses |= read.known("response types", &mapping.report_batch_item_failures) == Some(&true);
        let reserved = read.known("reserved concurrency", &function.reserved_concurrency);
        let reserved = reserved.and_then(|count| u32::try_from((*count)?).ok());
        self.concurrency = self.concurrency.or(reserved);
        let maximum = read.known("maximum concurrency", &mapping.maximum_concurrency);
        self.maximum_concurrency = maximum.and_then(|count| u32::try_from((*count)?).ok());
    }

    fn declared(&mut self, declared: &DeclaredConsumer) {
        let time = |time: Option<sqslint::graph::declared::Duration>| u64::try_from(time?.milliseconds).ok();
        self.p50 = self.p50.or(time(declared.p50));
        self.p99 = self.p99.or(time(declared.p99));
        self.max = self.max.or(time(declared.max));
        self.parallelism = u32::try_from(declared.parallelism).ok();
        self.heartbeat = self.heartbeat.or(declared.heartbeat.and_then(|heartbeat| {
            let times = (time(Some(heartbeat.every)), time(Some(heartbeat.extend_to)));
            times.0.zip(times.1)
        }));
    }
}

/// Reads attributes, and records those that the files leave unresolved.
struct AttributeReader {
    unresolved: Vec<String>,
}

impl AttributeReader {
    fn known<'g, T>(&mut self, what: &str, attribute: &'g Attribute<T>) -> Option<&'g T> {
        let known = attribute.known();
        if known.is_none() {
            self.unresolved
                .push(format!("AWS's default for the {what}, which the files leave open"));
        }
        known
    }

    fn time(&mut self, what: &str, attribute: &Attribute<Seconds>) -> Option<u64> {
        self.known(what, attribute).map(|time| clock::seconds(time.0))
    }

    fn count(&mut self, what: &str, attribute: &Attribute<i64>) -> Option<u32> {
        self.known(what, attribute).and_then(|count| u32::try_from(*count).ok())
    }
}
