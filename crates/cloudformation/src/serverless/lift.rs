//! Compiles queues of the plugin Lift (`constructs.*.type: queue`): a queue, its dead-letter queue, an optional alarm,
//! and the worker's mapping, with Lift's defaults. Its other constructs contain no queue.
//! <https://github.com/getlift/lift/blob/master/src/constructs/aws/Queue.ts>

use super::functions::{Service, arn_of};
use super::resolve::Resolver;
use super::{
    BATCH_SIZE, Compiled, RESPONSE_TYPE, WINDOW, child, list, mapping, merge, plugins, renamed, resource, set, text,
};
use knowledge::Origin;
use md5::{Digest, Md5};
use rustc_hash::FxHashMap;
use source::Span;
use std::sync::Arc;
use trees::{Entry, Node, Value};

/// Timeout that Lift assumes for a worker that sets none, whatever the provider sets.
const WORKER_TIMEOUT_DEFAULT: i64 = 6;
/// Number of times a message is received before it moves to the dead-letter queue.
const MAX_RETRIES_DEFAULT: i64 = 3;
const BATCH_SIZE_DEFAULT: i64 = 1;
/// Fourteen days, in seconds.
const DLQ_RETENTION: i64 = 1_209_600;

/// Returns the queues among the constructs of a service that uses Lift.
pub(super) fn constructs(resolver: &mut Resolver<'_>, document: &Node) -> Vec<Entry> {
    let uses_lift =
        document.get("constructs").is_some() && plugins(resolver).iter().any(|name| name == "serverless-lift");
    let constructs = resolver.section(&["constructs"]).filter(|_| uses_lift);
    let Some(Value::Mapping(mut queues)) = constructs.map(|all| all.value) else {
        return Vec::new();
    };
    queues.retain(|construct| construct.value.get("type").and_then(Node::as_str) == Some("queue"));
    for queue in &queues {
        let at = queue.key_span;
        for (resource, prefix) in [("Queue", "queue"), ("Dlq", "dlq")] {
            let id = logical_id(&queue.key, resource);
            let url = mapping(at, vec![set("Ref", text(at, id.as_str()))]);
            resolver.give(format!("{}.{prefix}Url", queue.key), url);
            resolver.give(format!("{}.{prefix}Arn", queue.key), arn_of(&id, at));
        }
    }
    queues
}

/// Compiles `queues` and adds their workers to `functions`.
pub(super) fn compile(
    queues: &[Entry],
    service: &Service,
    functions: &mut Vec<Entry>,
    resolver: &mut Resolver<'_>,
    compiled: &mut Compiled,
) {
    // If two functions have the same name, the framework keeps the last.
    let places = functions.iter().enumerate();
    let places: FxHashMap<Arc<str>, usize> = places.map(|(at, entry)| (entry.key.clone(), at)).collect();
    for construct in queues {
        let queue = Queue {
            construct,
            physical: format!("{}-{}", service.stack, construct.key),
            is_fifo: matches!(construct.value.get("fifo"), Some(node) if node.value == Value::Bool(true)),
        };
        if let Some(worker) = construct.value.entry("worker") {
            let key = format!("{}Worker", construct.key);
            let at = if let Some(named) = worker.value.as_str() {
                places.get(named).copied()
            } else {
                let label = format!("the worker of `{}`", construct.key);
                compiled.labels.insert(super::names::function(&key).into(), label);
                functions.push(Entry {
                    key: key.into(),
                    ..worker.clone()
                });
                Some(functions.len() - 1)
            };
            let function = at.and_then(|at| functions.get_mut(at));
            let visibility = queue.visibility(worker, function.as_deref(), resolver);
            queue.resources(visibility, compiled);
            for (resource, mark) in [("Queue", ""), ("Dlq", " (DLQ)")] {
                let label = format!("`{}`{mark}", construct.key);
                compiled.labels.insert(queue.id(resource).into(), label);
            }
            if let Some(function) = function {
                queue.join(function);
            }
        }
    }
}

/// A construct of type `queue`.
struct Queue<'a> {
    construct: &'a Entry,
    /// The queue's name, without the suffix of FIFO queues.
    physical: String,
    is_fifo: bool,
}

impl Queue<'_> {
    fn id(&self, resource: &str) -> String {
        logical_id(&self.construct.key, resource)
    }

    fn at(&self) -> Span {
        self.construct.key_span
    }

    fn own(&self, key: &str) -> Option<&Entry> {
        self.construct.value.entry(key)
    }

    fn name(&self, suffix: &str) -> Entry {
        let ending = if self.is_fifo { ".fifo" } else { "" };
        set(
            "QueueName",
            text(self.at(), format!("{}{suffix}{ending}", self.physical)),
        )
    }

    /// Returns the visibility timeout: six times the timeout that Lift assumes for the worker, plus the batching
    /// window.
    fn visibility(&self, worker: &Entry, function: Option<&Entry>, resolver: &mut Resolver<'_>) -> Node {
        let timeout = function.and_then(|function| function.value.entry("timeout"));
        let window = self.own("maxBatchingWindow").map(|window| &window.value);
        let open = [timeout.map(|timeout| &timeout.value), window].into_iter().flatten();
        if let Some(open) = open.into_iter().find(|node| !matches!(node.value, Value::Integer(_))) {
            return open.clone();
        }
        let whole = |node: Option<&Node>| match node.map(|node| &node.value) {
            Some(Value::Integer(value)) => Some(*value),
            _ => None,
        };
        let seconds = whole(timeout.map(|timeout| &timeout.value)).unwrap_or(WORKER_TIMEOUT_DEFAULT);
        let window = whole(window).unwrap_or(0);
        let why = match timeout {
            Some(_) => format!("Lift: 6 × {seconds} s + {window} s"),
            None => format!("Lift: 6 × {seconds} s + {window} s, as the worker has no `timeout` of its own"),
        };
        let origin = Origin::new(timeout.map_or(worker.key_span, Entry::span), why);
        resolver.origins.entry(worker.key_span).or_default().push(origin);
        number(worker.key_span, seconds.saturating_mul(6).saturating_add(window))
    }

    fn resources(&self, visibility: Node, compiled: &mut Compiled) {
        let at = self.at();
        let fifo = || {
            self.own("fifo")
                .filter(|_| self.is_fifo)
                .map(|entry| renamed("FifoQueue", entry))
        };
        let key = || {
            let encryption = self.own("encryption")?;
            match encryption.value.as_str()? {
                "kmsManaged" => Some(set("KmsMasterKeyId", text(encryption.value.span, "alias/aws/sqs"))),
                // A key that Lift generates.
                "kms" => Some(set("KmsMasterKeyId", text(encryption.value.span, "${construct:key}"))),
                _ => None,
            }
        };
        let retention = set("MessageRetentionPeriod", number(at, DLQ_RETENTION));
        let mut dlq = vec![self.name("-dlq"), retention];
        dlq.extend(fifo());
        dlq.extend(key());
        let retries = self.own("maxRetries").map(|entry| renamed("maxReceiveCount", entry));
        let policy = vec![
            set("deadLetterTargetArn", arn_of(&self.id("Dlq"), at)),
            retries.unwrap_or_else(|| set("maxReceiveCount", number(at, MAX_RETRIES_DEFAULT))),
        ];
        let mut queue = vec![
            self.name(""),
            set("VisibilityTimeout", visibility),
            set("RedrivePolicy", mapping(at, policy)),
        ];
        queue.extend(self.own("delay").map(|entry| renamed("DelaySeconds", entry)));
        queue.extend(fifo());
        queue.extend(fifo().map(|entry| renamed("ContentBasedDeduplication", &entry)));
        queue.extend(key());
        self.put("dlq", resource(self.id("Dlq"), "AWS::SQS::Queue", at, dlq), compiled);
        self.put(
            "queue",
            resource(self.id("Queue"), "AWS::SQS::Queue", at, queue),
            compiled,
        );
        if let Some(address) = self.own("alarm") {
            self.alarm(address, compiled);
        }
    }

    /// Compiles the alarm on the dead-letter queue, with its topic and subscription.
    fn alarm(&self, address: &Entry, compiled: &mut Compiled) {
        let at = address.key_span;
        let topic = self.id("AlarmTopic");
        let reference = || mapping(at, vec![set("Ref", text(at, topic.as_str()))]);
        let name = vec![text(at, self.id("Dlq")), text(at, "QueueName")];
        let name = mapping(at, vec![set("Fn::GetAtt", list(at, name))]);
        let dimension = mapping(at, vec![set("Name", text(at, "QueueName")), set("Value", name)]);
        let alarm = vec![
            set("Namespace", text(at, "AWS/SQS")),
            set("MetricName", text(at, "ApproximateNumberOfMessagesVisible")),
            set("Dimensions", list(at, vec![dimension])),
            set("Statistic", text(at, "Sum")),
            set("Period", number(at, 60)),
            set("EvaluationPeriods", number(at, 1)),
            set("Threshold", number(at, 0)),
            set("ComparisonOperator", text(at, "GreaterThanThreshold")),
            set("TreatMissingData", text(at, "notBreaching")),
            set("AlarmActions", list(at, vec![reference()])),
        ];
        self.put(
            "alarm",
            resource(self.id("Alarm"), "AWS::CloudWatch::Alarm", at, alarm),
            compiled,
        );
        let topic_name = set("TopicName", text(at, format!("{}-dlq-alarm-topic", self.physical)));
        compiled.put(resource(topic.as_str(), "AWS::SNS::Topic", at, vec![topic_name]));
        let subscription = vec![
            set("TopicArn", reference()),
            set("Protocol", text(at, "email")),
            renamed("Endpoint", address),
        ];
        let id = self.id("AlarmTopicSubscription");
        compiled.put(resource(id, "AWS::SNS::Subscription", at, subscription));
    }

    /// Adds a resource, modified by the `extensions` of the construct.
    fn put(&self, part: &str, mut made: Entry, compiled: &mut Compiled) {
        let extension = self.own("extensions").and_then(|all| all.value.get(part));
        if let Some(extension) = extension.filter(|extension| extension.entries().is_some()) {
            merge(&mut made.value, extension.clone(), 0);
        }
        compiled.put(made);
    }

    /// Adds the queue's event to those of the worker.
    fn join(&self, function: &mut Entry) {
        let at = self.at();
        let or_number = |key: &str, own: &str, default: i64| {
            let written = self.own(own).map(|entry| renamed(key, entry));
            written.unwrap_or_else(|| set(key, number(at, default)))
        };
        let mut event = vec![
            set("arn", arn_of(&self.id("Queue"), at)),
            or_number(BATCH_SIZE, "batchSize", BATCH_SIZE_DEFAULT),
            or_number(WINDOW, "maxBatchingWindow", 0),
            set(RESPONSE_TYPE, text(at, "ReportBatchItemFailures")),
        ];
        event.extend(
            self.own("maxConcurrency")
                .map(|entry| renamed("maximumConcurrency", entry)),
        );
        let event = Entry::new("sqs", at, mapping(at, event));
        let event = mapping(at, vec![event]);
        if let Some(Value::Sequence(events)) = child(&mut function.value, "events").map(|events| &mut events.value) {
            events.push(event);
        } else if let Value::Mapping(settings) = &mut function.value.value {
            settings.retain(|entry| &*entry.key != "events");
            settings.push(set("events", list(at, vec![event])));
        }
    }
}

fn number(at: Span, value: i64) -> Node {
    Node::new(at, Value::Integer(value))
}

/// Returns the logical id that CDK, on which Lift is built, derives from a construct's path.
/// <https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/core/lib/private/uniqueid.ts>
fn logical_id(construct: &str, resource: &str) -> String {
    let digest = Md5::digest(format!("{construct}/{resource}/Resource"));
    let digest: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    let mut id: String = construct.chars().filter(char::is_ascii_alphanumeric).collect();
    if !construct.ends_with(resource) {
        id.push_str(resource);
    }
    id.push_str(digest.get(..8).unwrap_or_default());
    id
}
