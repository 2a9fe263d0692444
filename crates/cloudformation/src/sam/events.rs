//! Transforms the events of functions and state machines, by type: generates their mappings, rules, schedules,
//! subscriptions and permissions, and the queues for events that name none.

use super::making::{At, Owner, properties, renamed};
use super::policies::Grants;
use super::{FOR_DESTINATION, FOR_STREAM, FOR_SUBSCRIPTION, Transform, referred};
use trees::{Entry, Node, Value};

/// Events that become mappings of sources other than queues.
const STREAMS: [&str; 6] = ["Kinesis", "DynamoDB", "MSK", "MQ", "SelfManagedKafka", "DocumentDB"];

/// Settings of `SqsSubscription` that the transform passes to the mapping; it drops all others.
const SUBSCRIPTION_SETTINGS: [&str; 1] = ["BatchSize"];

/// Managed policy that lets a function poll a queue.
const QUEUE_ROLE: &str = "AWSLambdaSQSQueueExecutionRole";

/// Target of events: a function or its alias, a state machine or its alias.
pub(super) struct Invoked {
    pub(super) id: String,
    /// `true` if `Ref` returns its ARN.
    is_arn: bool,
    pub(super) is_function: bool,
}

impl Invoked {
    pub(super) fn function(owner: &Owner, alias: Option<&str>) -> Self {
        Invoked {
            id: alias.unwrap_or(&owner.id).to_owned(),
            is_arn: alias.is_some(),
            is_function: true,
        }
    }

    pub(super) fn state_machine(id: String) -> Self {
        Invoked {
            id,
            is_arn: true,
            is_function: false,
        }
    }

    pub(super) fn name(&self, at: At) -> Node {
        at.reference(&self.id)
    }

    pub(super) fn arn(&self, at: At) -> Node {
        if self.is_arn {
            at.reference(&self.id)
        } else {
            at.attribute(&self.id, "Arn")
        }
    }
}

/// An event.
struct Event<'e> {
    /// Prefix of generated ids: the owner's id followed by that of the event.
    id: String,
    at: At,
    properties: &'e [Entry],
}

impl Event<'_> {
    fn entry(&self, key: &str) -> Option<&Entry> {
        let mut found = self.properties.iter().filter(|entry| &*entry.key == key);
        found.next().filter(|entry| entry.value.value != Value::Null)
    }

    fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }
}

impl Transform<'_> {
    pub(super) fn event(&mut self, owner: &Owner, entry: &Entry, invoked: &Invoked, grants: &mut Grants) {
        let kind = entry.value.get("Type").and_then(Node::as_str).unwrap_or_default();
        let event = Event {
            id: format!("{}{}", owner.id, entry.key),
            at: At(entry.key_span),
            properties: properties(entry),
        };
        match kind {
            "SQS" => self.queue_event(owner, &event, invoked, grants),
            "SNS" => self.topic_event(owner, &event, invoked, grants),
            "Schedule" | "CloudWatchEvent" | "EventBridgeRule" => self.rule_event(owner, &event, invoked),
            "ScheduleV2" => self.schedule_event(owner, &event, invoked),
            "S3" => self.bucket_event(owner, &event, invoked),
            _ if STREAMS.contains(&kind) => {
                self.stream_event(owner, &event, invoked);
                grants.stream(
                    kind,
                    event.get("SecretsManagerKmsKeyId").and_then(Node::as_str),
                    event.at,
                );
                grant_failures(&event, grants);
            }
            _ if invoked.is_function => self.other_event(owner, &event, invoked, kind),
            _ => {
                self.start_role(owner, &event);
            }
        }
    }

    fn queue_event(&mut self, owner: &Owner, event: &Event<'_>, invoked: &Invoked, grants: &mut Grants) {
        let at = event.at;
        let mut properties = event.properties.to_vec();
        properties.push(owner.at.entry("FunctionName", invoked.name(owner.at)));
        self.make(at, &event.id, "AWS::Lambda::EventSourceMapping", owner, properties);
        grants.service_role(QUEUE_ROLE, at);
        grant_failures(event, grants);
    }

    /// Generates a mapping of a source other than a queue, whose failure destination may be a queue.
    fn stream_event(&mut self, owner: &Owner, event: &Event<'_>, invoked: &Invoked) {
        let at = event.at;
        let source = |entry: &Entry| match &*entry.key {
            "Stream" | "Broker" | "Cluster" => renamed(entry, "EventSourceArn"),
            _ => entry.clone(),
        };
        let mut properties: Vec<Entry> = event.properties.iter().map(source).collect();
        properties.push(owner.at.entry("FunctionName", invoked.name(owner.at)));
        let resource = at.resource(
            event.id.as_str(),
            "AWS::Lambda::EventSourceMapping",
            owner.condition.as_ref(),
            properties,
            at.text(FOR_STREAM),
        );
        self.made.push(resource);
    }

    fn topic_event(&mut self, owner: &Owner, event: &Event<'_>, invoked: &Invoked, grants: &mut Grants) {
        let at = event.at;
        let subscription = event.get("SqsSubscription");
        match subscription.map(|node| &node.value) {
            Some(Value::Bool(true)) => {
                let queue = format!("{}Queue", event.id);
                let fifo = self.is_fifo_topic(event);
                let properties = fifo.map(|fifo| at.entry("FifoQueue", fifo)).into_iter().collect();
                let resource = at.resource(
                    queue.as_str(),
                    "AWS::SQS::Queue",
                    owner.condition.as_ref(),
                    properties,
                    at.text(FOR_SUBSCRIPTION),
                );
                self.made.push(resource);
                let source = at.entry("Queue", at.attribute(&queue, "Arn"));
                self.subscription_mapping(owner, event, invoked, vec![source], at.flag(true));
                let policy = format!("{}QueuePolicy", event.id);
                self.topic_policy(owner, event, &policy, at.attribute(&queue, "Arn"), at.reference(&queue));
                self.subscribe(owner, event, "sqs", at.attribute(&queue, "Arn"));
                grants.service_role(QUEUE_ROLE, at);
            }
            Some(Value::Mapping(settings)) if find(settings, "QueueArn").is_some() => {
                let arn = find(settings, "QueueArn").map_or_else(|| at.text(""), |entry| entry.value.clone());
                let kept = settings
                    .iter()
                    .filter(|entry| &*entry.key == "QueueArn" || SUBSCRIPTION_SETTINGS.contains(&&*entry.key));
                let purpose = find(settings, "Enabled").map_or_else(
                    || at.flag(true),
                    |entry| Node {
                        span: entry.span(),
                        ..entry.value.clone()
                    },
                );
                self.subscription_mapping(owner, event, invoked, kept.cloned().collect(), purpose);
                let chosen = find(settings, "QueuePolicyLogicalId").and_then(|entry| entry.value.as_str());
                let policy = chosen.map_or_else(|| format!("{}QueuePolicy", event.id), str::to_owned);
                if let Some(url) = find(settings, "QueueUrl") {
                    self.topic_policy(owner, event, &policy, arn.clone(), url.value.clone());
                }
                self.subscribe(owner, event, "sqs", arn);
                grants.service_role(QUEUE_ROLE, at);
            }
            _ => {
                self.subscribe(owner, event, "lambda", invoked.arn(at));
                self.invocable(owner, event, invoked, "sns.amazonaws.com");
            }
        }
    }

    /// Returns the `FifoTopic` of the event's topic, if the template declares that topic.
    fn is_fifo_topic(&self, event: &Event<'_>) -> Option<Node> {
        let topic = referred(event.get("Topic")?)?;
        let fifo = self
            .root
            .get("Resources")?
            .get(topic)?
            .get("Properties")?
            .get("FifoTopic")?;
        Some(fifo.clone()).filter(|fifo| !matches!(fifo.value, Value::Bool(false) | Value::Null))
    }

    /// Generates the mapping of a subscription, which polls even if the event disables it.
    fn subscription_mapping(
        &mut self,
        owner: &Owner,
        event: &Event<'_>,
        invoked: &Invoked,
        mut properties: Vec<Entry>,
        purpose: Node,
    ) {
        properties.push(owner.at.entry("FunctionName", invoked.name(owner.at)));
        let resource = event.at.resource(
            format!("{}EventSourceMapping", event.id),
            "AWS::Lambda::EventSourceMapping",
            owner.condition.as_ref(),
            properties,
            purpose,
        );
        self.made.push(resource);
    }

    fn subscribe(&mut self, owner: &Owner, event: &Event<'_>, protocol: &str, endpoint: Node) {
        let at = event.at;
        let mut properties = vec![at.entry("Protocol", at.text(protocol)), at.entry("Endpoint", endpoint)];
        properties.extend(event.entry("Topic").map(|topic| renamed(topic, "TopicArn")));
        properties.extend(event.entry("RedrivePolicy").cloned());
        self.make(at, &event.id, "AWS::SNS::Subscription", owner, properties);
    }

    /// Generates a policy that lets the event's topic send to a queue.
    fn topic_policy(&mut self, owner: &Owner, event: &Event<'_>, id: &str, arn: Node, url: Node) {
        let topic = event.get("Topic").cloned().unwrap_or_else(|| event.at.text(""));
        let everybody = event.at.text("*");
        self.queue_policy(owner, event.at, id, everybody, (arn, url), topic);
    }

    /// Generates a policy that lets `principal` send to the queue with this ARN and URL on behalf of `source`.
    pub(super) fn queue_policy(
        &mut self,
        owner: &Owner,
        at: At,
        id: &str,
        principal: Node,
        (arn, url): (Node, Node),
        source: Node,
    ) {
        let mut statement = at.allow(&["sqs:SendMessage"], arn);
        statement.push(at.entry("Principal", principal));
        let source = at.object(vec![at.entry("aws:SourceArn", source)]);
        statement.push(at.entry("Condition", at.object(vec![at.entry("ArnEquals", source)])));
        let properties = vec![
            at.entry("PolicyDocument", at.document(statement)),
            at.entry("Queues", at.list(vec![url])),
        ];
        self.make(at, id, "AWS::SQS::QueuePolicy", owner, properties);
    }

    fn rule_event(&mut self, owner: &Owner, event: &Event<'_>, invoked: &Invoked) {
        let at = event.at;
        let dead_letter = self.dead_letter_queue(owner, event, true);
        let mut target = vec![at.entry("Arn", invoked.arn(at))];
        if !invoked.is_function {
            let role = event.entry("RoleArn").cloned();
            target.push(role.unwrap_or_else(|| at.entry("RoleArn", self.start_role(owner, event))));
        }
        target.extend(dead_letter.map(|dead_letter| dead_letter_config(event, dead_letter)));
        target.extend(event.entry("RetryPolicy").cloned());
        let mut properties = vec![at.entry("Targets", at.list(vec![at.object(target)]))];
        properties.extend(state(event));
        self.make(at, &event.id, "AWS::Events::Rule", owner, properties);
        if invoked.is_function {
            self.invocable(owner, event, invoked, "events.amazonaws.com");
        }
    }

    fn schedule_event(&mut self, owner: &Owner, event: &Event<'_>, invoked: &Invoked) {
        let at = event.at;
        let dead_letter = self.dead_letter_queue(owner, event, false);
        let mut target = vec![at.entry("Arn", invoked.arn(at))];
        let role = event.entry("RoleArn").cloned().unwrap_or_else(|| {
            let mut grants = Grants::default();
            if let Some(queue) = &dead_letter {
                grants.send(at, &event.id, queue.clone());
            }
            let id = format!("{}Role", event.id);
            self.make(at, &id, "AWS::IAM::Role", owner, grants.role_properties(at));
            at.entry("RoleArn", at.attribute(&id, "Arn"))
        });
        target.push(role);
        target.extend(dead_letter.map(|dead_letter| dead_letter_config(event, dead_letter)));
        target.extend(event.entry("RetryPolicy").cloned());
        let mut properties = vec![at.entry("Target", at.object(target))];
        properties.extend(event.entry("State").cloned());
        self.make(at, &event.id, "AWS::Scheduler::Schedule", owner, properties);
    }

    /// Generates the role with which a rule or an API starts a state machine.
    fn start_role(&mut self, owner: &Owner, event: &Event<'_>) -> Node {
        let id = format!("{}Role", event.id);
        let properties = Grants::default().role_properties(event.at);
        self.make(event.at, &id, "AWS::IAM::Role", owner, properties);
        event.at.attribute(&id, "Arn")
    }

    /// Returns the ARN of the event's dead-letter queue, which is generated if only its type is set. A rule needs a
    /// policy of the queue to send, a schedule needs its role.
    fn dead_letter_queue(&mut self, owner: &Owner, event: &Event<'_>, with_policy: bool) -> Option<Node> {
        let at = event.at;
        let config = event.get("DeadLetterConfig")?;
        if let Some(arn) = config.get("Arn") {
            return Some(arn.clone());
        }
        config.get("Type")?;
        let chosen = config.get("QueueLogicalId").and_then(Node::as_str);
        let id = chosen.map_or_else(|| format!("{}Queue", event.id), str::to_owned);
        let purpose = at.text(FOR_DESTINATION);
        let condition = owner.condition.as_ref();
        self.made
            .push(at.resource(id.as_str(), "AWS::SQS::Queue", condition, Vec::new(), purpose));
        if with_policy {
            let service = at.object(vec![at.entry("Service", at.text("events.amazonaws.com"))]);
            let queue = (at.attribute(&id, "Arn"), at.reference(&id));
            let rule = at.attribute(&event.id, "Arn");
            self.queue_policy(owner, at, &format!("{}QueuePolicy", event.id), service, queue, rule);
        }
        Some(at.attribute(&id, "Arn"))
    }

    fn bucket_event(&mut self, owner: &Owner, event: &Event<'_>, invoked: &Invoked) {
        let at = event.at;
        let kinds = event
            .get("Events")
            .map_or(&[][..], |kinds| kinds.items().unwrap_or(std::slice::from_ref(kinds)));
        if let Some(bucket) = event.get("Bucket").and_then(referred) {
            for kind in kinds {
                let mut configuration = vec![at.entry("Function", invoked.arn(at))];
                configuration.extend(event.entry("Filter").cloned());
                configuration.push(at.entry("Event", kind.clone()));
                let mut configuration = at.object(configuration);
                if let Some(condition) = &owner.condition {
                    let branches = vec![condition.clone(), configuration, at.reference("AWS::NoValue")];
                    configuration = at.function("Fn::If", at.list(branches));
                }
                self.notifications.push((bucket.into(), configuration));
            }
        }
        self.invocable(owner, event, invoked, "s3.amazonaws.com");
    }

    fn other_event(&mut self, owner: &Owner, event: &Event<'_>, invoked: &Invoked, kind: &str) {
        let principal = match kind {
            "Api" | "HttpApi" => "apigateway.amazonaws.com",
            "AlexaSkill" => "alexa-appkit.amazon.com",
            "IoTRule" => "iot.amazonaws.com",
            "CloudWatchLogs" => "logs.amazonaws.com",
            "Cognito" => "cognito-idp.amazonaws.com",
            // An unknown type of event, which may have any principal.
            _ => return self.permission(event.at, &format!("{}Permission", event.id), owner, invoked, None),
        };
        self.invocable(owner, event, invoked, principal);
    }

    fn invocable(&mut self, owner: &Owner, event: &Event<'_>, invoked: &Invoked, principal: &str) {
        let id = format!("{}Permission", event.id);
        self.permission(event.at, &id, owner, invoked, Some(principal));
    }
}

/// Grants permission to send to the failure destination of a mapping.
fn grant_failures(event: &Event<'_>, grants: &mut Grants) {
    let failed = event
        .get("DestinationConfig")
        .and_then(|config| config.get("OnFailure"));
    if let Some(failed) = failed
        && failed.get("Type").and_then(Node::as_str) == Some("SQS")
        && let Some(destination) = failed.get("Destination")
    {
        grants.send(event.at, &event.id, destination.clone());
    }
}

fn find<'e>(entries: &'e [Entry], key: &str) -> Option<&'e Entry> {
    entries.iter().find(|entry| &*entry.key == key)
}

/// Returns the `DeadLetterConfig` of a target, with the span of that of its event.
fn dead_letter_config(event: &Event<'_>, arn: Node) -> Entry {
    let at = event.at;
    let Some(written) = event.entry("DeadLetterConfig") else {
        return at.entry("DeadLetterConfig", at.object(vec![at.entry("Arn", arn)]));
    };
    let span = written.value.span;
    let made = || Entry::new("Arn", written.key_span, Node { span, ..arn });
    let arn = written.value.entry("Arn").cloned().unwrap_or_else(made);
    Entry {
        value: Node {
            span,
            ..at.object(vec![arn])
        },
        ..written.clone()
    }
}

/// Returns the `State` of a rule, which an event may also spell `Enabled`.
fn state(event: &Event<'_>) -> Option<Entry> {
    if let Some(state) = event.entry("State") {
        return Some(state.clone());
    }
    let enabled = event.entry("Enabled")?;
    let is_off = enabled.value.value == Value::Bool(false);
    Some(Entry::new(
        "State",
        enabled.key_span,
        At(enabled.value.span).text(if is_off { "DISABLED" } else { "ENABLED" }),
    ))
}
