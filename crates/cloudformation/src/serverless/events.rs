//! Compiles the `events` of a function: a mapping for a queue, and for other events the resources that matter here:
//! permissions to invoke the function, subscriptions, and rules with their dead-letter queues.
//! <https://github.com/serverless/serverless/tree/v3/lib/plugins/aws/package/compile/events>

use super::functions::{arn_of, is_truthy};
use super::names::{BATCH_SIZE, FILTERS, MAXIMUM_CONCURRENCY, POLLERS, RESPONSE_TYPE, WINDOW};
use super::{Compiled, list, mapping, names, renamed, resource, set, text};
use serde_json::Value as Json;
use source::Span;
use std::sync::Arc;
use trees::{Entry, Node, Value};

/// Keys of an `sqs` event. The last ones are those of version 4.
/// <https://www.serverless.com/framework/docs/providers/aws/events/sqs>
pub const EVENT_KEYS: [&str; 9] = [
    ARN,
    BATCH_SIZE,
    "enabled",
    FILTERS,
    RESPONSE_TYPE,
    WINDOW,
    MAXIMUM_CONCURRENCY,
    POLLERS,
    "provisionedPollerConfig",
];
const ARN: &str = "arn";

/// A key of an `sqs` event that the framework does not know.
#[derive(Debug, Clone)]
pub struct UnknownKey {
    /// Id of the event's mapping.
    pub mapping: Arc<str>,
    /// Key as written.
    pub key: Arc<str>,
    /// Span of the key.
    pub span: Span,
}

/// An `sqs` event that names no queue.
#[derive(Debug, Clone)]
pub struct EventWithoutArn {
    /// Id of the function.
    pub function: Arc<str>,
    /// Span of the key `sqs`.
    pub span: Span,
    /// `true` if the framework skips it because it has no value; otherwise the framework fails.
    pub is_skipped: bool,
    /// Keys that belong into the event and are next to it, with their spans.
    pub misplaced: Vec<(Arc<str>, Span)>,
}

/// Events that become event source mappings of something other than a queue.
const STREAMS: [&str; 5] = ["stream", "kafka", "msk", "activemq", "rabbitmq"];

/// Compiles the events of the function `entry`, whose id is `id`, and adds the resources.
pub(super) fn compile(entry: &Entry, id: &Arc<str>, name: &str, compiled: &mut Compiled) {
    let function = Consumer {
        key: &entry.key,
        id,
        name,
    };
    if let Some(url) = entry.value.entry("url").filter(|url| is_truthy(&url.value)) {
        compiled.put(function.permission("Url", url.key_span));
    }
    let Some(events) = entry.value.get("events") else {
        return;
    };
    // The framework numbers schedules separately, and all other events by their index.
    let mut schedules = 0;
    for (at, event) in events
        .items()
        .unwrap_or(std::slice::from_ref(events))
        .iter()
        .enumerate()
    {
        match event.entries() {
            Some(entries) => {
                let empty = entries
                    .iter()
                    .find(|entry| &*entry.key == "sqs" && !is_truthy(&entry.value));
                let is_misplaced = |entry: &Entry| empty.is_some() && EVENT_KEYS.contains(&&*entry.key);
                if let Some(empty) = empty {
                    let misplaced = entries.iter().filter(|entry| is_misplaced(entry));
                    compiled.events_without_arn.push(EventWithoutArn {
                        function: id.clone(),
                        span: empty.key_span,
                        is_skipped: true,
                        misplaced: misplaced.map(|entry| (entry.key.clone(), entry.key_span)).collect(),
                    });
                }
                for event in entries.iter().filter(|entry| !is_misplaced(entry)) {
                    let is_schedule = &*event.key == "schedule";
                    schedules += usize::from(is_schedule);
                    function.event(event, if is_schedule { schedules } else { at + 1 }, compiled);
                }
            }
            // An unresolved event may invoke the function.
            None => compiled.put(function.permission(&format!("Event{}", at + 1), event.span)),
        }
    }
}

/// A function with events, and its names.
struct Consumer<'a> {
    key: &'a str,
    id: &'a Arc<str>,
    /// The physical name of the function, with variables if it is unresolved.
    name: &'a str,
}

impl Consumer<'_> {
    /// Compiles `event`, the `at`th of the function, counting from 1.
    fn event(&self, event: &Entry, at: usize, compiled: &mut Compiled) {
        let key = names::normalized(self.key);
        match &*event.key {
            "sqs" if !is_truthy(&event.value) => {}
            "sqs" => {
                let mapping = self.mapping(event);
                let entries = event.value.entries().unwrap_or_default();
                let is_intrinsic = |entry: &Entry| entry.key.starts_with("Fn::") || &*entry.key == "Ref";
                let has_no_arn = match event.value.get(ARN) {
                    Some(arn) => !is_truthy(arn),
                    None => !entries.is_empty(),
                };
                if has_no_arn {
                    // The framework does not read an intrinsic function in place of the object either.
                    compiled.events_without_arn.push(EventWithoutArn {
                        function: self.id.clone(),
                        span: event.key_span,
                        is_skipped: false,
                        misplaced: Vec::new(),
                    });
                    if !entries.iter().any(is_intrinsic) {
                        return;
                    }
                }
                let unknown = entries.iter().filter(|entry| !EVENT_KEYS.contains(&&*entry.key));
                compiled.unknown_keys.extend(unknown.map(|entry| UnknownKey {
                    mapping: mapping.key.clone(),
                    key: entry.key.clone(),
                    span: entry.key_span,
                }));
                let arn = event.value.entry(ARN).unwrap_or(event);
                let label = names::event(self.key, &arn.value);
                compiled.labels.insert(mapping.key.clone(), label);
                compiled.put(mapping);
            }
            kind if STREAMS.contains(&kind) => {
                let id = format!("{key}EventSourceMapping{}{at}", names::normalized(kind));
                if let Some(mapping) = self.stream(id, event) {
                    compiled.put(mapping);
                }
            }
            "sns" => self.notification(event, compiled),
            "eventBridge" => {
                let id = names::alphanumeric(&format!("{}-rule-{at}", self.name));
                compiled.put(self.rule(format!("{id}EventBridgeRule"), event));
            }
            "schedule" => compiled.put(self.rule(format!("{key}EventsRuleSchedule{at}"), event)),
            kind => compiled.put(self.permission(&format!("{}{at}", names::normalized(kind)), event.key_span)),
        }
    }

    fn arn(&self, at: Span) -> Node {
        arn_of(self.id, at)
    }

    /// Returns the mapping of an `sqs` event, which is an ARN or an object with an ARN.
    fn mapping(&self, event: &Entry) -> Entry {
        let header = event.key_span;
        let arn = event.value.entry(ARN);
        let own = |name: &str| event.value.entry(name).filter(|_| arn.is_some());
        let truthy = |name: &str| own(name).filter(|entry| is_truthy(&entry.value));
        let arn = arn.unwrap_or(event);
        let mut properties = vec![renamed("EventSourceArn", arn), set("FunctionName", self.arn(header))];
        properties.extend(truthy(BATCH_SIZE).map(|entry| renamed("BatchSize", entry)));
        let window = own(WINDOW);
        properties.extend(window.map(|entry| renamed("MaximumBatchingWindowInSeconds", entry)));
        properties.extend(own("enabled").map(|entry| renamed("Enabled", entry)));
        if let Some(kind) = own(RESPONSE_TYPE) {
            let all = list(kind.value.span, vec![kind.value.clone()]);
            properties.push(Entry::new("FunctionResponseTypes", kind.key_span, all));
        }
        if let Some(patterns) = own(FILTERS) {
            let all = list(patterns.value.span, filters(&patterns.value));
            properties.push(within("FilterCriteria", Entry::new("Filters", patterns.key_span, all)));
        }
        if let Some(most) = truthy(MAXIMUM_CONCURRENCY) {
            properties.push(within("ScalingConfig", renamed("MaximumConcurrency", most)));
        }
        if let Some(pollers) = own(POLLERS) {
            let bounds = [("min", "MinimumPollers"), ("max", "MaximumPollers")].into_iter();
            let bounds = bounds.filter_map(|(key, name)| Some(renamed(name, pollers.value.entry(key)?)));
            let config = mapping(pollers.value.span, bounds.collect());
            properties.push(Entry::new("ProvisionedPollerConfig", pollers.key_span, config));
        }
        let id = names::mapping(self.key, &arn.value);
        resource(id, "AWS::Lambda::EventSourceMapping", header, properties)
    }

    /// Returns the mapping of another event source, if its failure destination is set. The source itself does not
    /// matter here.
    fn stream(&self, id: String, event: &Entry) -> Option<Entry> {
        let failure = event.value.get("destinations")?.entry("onFailure")?;
        let target = failure.value.entry("arn").unwrap_or(failure);
        let destination = mapping(failure.span(), vec![renamed("Destination", target)]);
        let config = mapping(
            failure.span(),
            vec![Entry::new("OnFailure", failure.key_span, destination)],
        );
        let config = Entry::new("DestinationConfig", failure.key_span, config);
        let properties = vec![set("FunctionName", self.arn(event.key_span)), config];
        Some(resource(
            id,
            "AWS::Lambda::EventSourceMapping",
            event.key_span,
            properties,
        ))
    }

    /// Compiles an `sns` event: a subscription to an existing topic, or a new topic with a subscription.
    fn notification(&self, event: &Entry, compiled: &mut Compiled) {
        let (header, written) = (event.key_span, &event.value);
        let arn = match written.as_str() {
            Some(text) => text.starts_with("arn:").then_some(event),
            None => written.entry("arn"),
        };
        let name = written
            .get("topicName")
            .or(arn.map(|arn| &arn.value))
            .unwrap_or(written);
        let name = name.as_str().unwrap_or_default();
        let topic = names::alphanumeric(name.rsplit(':').next().unwrap_or_default());
        let permission = self.permission(&format!("{topic}SNS"), header);
        compiled.put(permission);
        let mut subscription = vec![
            set("Protocol", text(header, "lambda")),
            set("Endpoint", self.arn(header)),
        ];
        if let Some(policy) = written.get("redrivePolicy").and_then(dead_letter_queue) {
            subscription.push(within("RedrivePolicy", set("deadLetterTargetArn", policy)));
        }
        if let Some(arn) = arn {
            subscription.push(renamed("TopicArn", arn));
            let id = format!("{}SnsSubscription{topic}", names::normalized(self.key));
            compiled.put(resource(id, "AWS::SNS::Subscription", header, subscription));
            return;
        }
        let all = list(header, vec![mapping(header, subscription)]);
        let properties = vec![set("TopicName", text(header, name)), set("Subscription", all)];
        let made = resource(format!("SNSTopic{topic}"), "AWS::SNS::Topic", header, properties);
        // Several functions may subscribe to one topic.
        if !compiled.places.contains_key(&made.key) {
            compiled.put(made);
        }
    }

    /// Returns the rule of an `eventBridge` or `schedule` event.
    fn rule(&self, id: String, event: &Entry) -> Entry {
        let header = event.key_span;
        let mut target = vec![set("Id", text(header, "function")), set("Arn", self.arn(header))];
        let queue = event.value.entry("deadLetterQueueArn");
        target.extend(queue.map(|queue| within("DeadLetterConfig", renamed("Arn", queue))));
        let targets = list(header, vec![mapping(header, target)]);
        resource(id, "AWS::Events::Rule", header, vec![set("Targets", targets)])
    }

    /// Returns a permission to invoke the function.
    fn permission(&self, what: &str, header: Span) -> Entry {
        let id = format!("{}LambdaPermission{what}", names::normalized(self.key));
        let properties = vec![
            set("FunctionName", self.arn(header)),
            set("Action", text(header, "lambda:InvokeFunction")),
        ];
        resource(id, "AWS::Lambda::Permission", header, properties)
    }
}

/// Wraps `entry` in an object with the same span.
fn within(key: &str, entry: Entry) -> Entry {
    let at = entry.span();
    set(key, mapping(at, vec![entry]))
}

/// Returns the queue in the `redrivePolicy` of an `sns` event, in any of its three spellings.
fn dead_letter_queue(policy: &Node) -> Option<Node> {
    if let Some(arn) = policy.get("deadLetterTargetArn") {
        return Some(arn.clone());
    }
    if let Some(id) = policy.get("deadLetterTargetRef") {
        return Some(arn_of(id.as_str()?, id.span));
    }
    let import = policy.get("deadLetterTargetImport")?.get("arn")?;
    Some(mapping(import.span, vec![set("Fn::ImportValue", import.clone())]))
}

/// Converts patterns to texts with JSON, as the framework does.
fn filters(patterns: &Node) -> Vec<Node> {
    let patterns = patterns.items().unwrap_or_default().iter();
    let filters = patterns.map(|pattern| {
        let json = text(pattern.span, to_json(pattern).to_string());
        mapping(pattern.span, vec![set("Pattern", json)])
    });
    filters.collect()
}

fn to_json(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::from(*value),
        Value::Integer(value) => Json::from(*value),
        Value::Float(value) => Json::from(*value),
        Value::String(text) => Json::from(&**text),
        Value::Sequence(items) => items.iter().map(to_json).collect(),
        Value::Mapping(entries) => entries
            .iter()
            .map(|entry| (entry.key.to_string(), to_json(&entry.value)))
            .collect(),
    }
}
