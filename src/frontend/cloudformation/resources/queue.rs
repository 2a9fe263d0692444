//! `AWS::SQS::Queue`, and the two policies in it, each an object or a text that holds one.

use super::{Lowering, Properties, attribute, of_cases, whole_number};
use crate::conditions::{Case, Cases, Condition, MAX_CASES};
use crate::frontend::cloudformation::value::{Evaluated, Outcome, Outcomes, Part, always};
use crate::frontend::json;
use crate::frontend::tree::{Node, Value};
use crate::graph::{
    Attribute, Fault, Implicit, Link, PolicyFault, Queue, RedriveAllowPolicy, RedrivePolicy, Resource, Seconds,
    Sourced, State, limits,
};
use crate::source::Span;
use std::sync::Arc;

/// The mark around a part's number in a policy's text: no template holds it, and it may stand in JSON.
const MARK: char = '\u{e000}';

/// The keys of a policy with what they come to.
pub(super) type Keys<'t> = Vec<(Arc<str>, Span, Outcomes<'t>)>;

/// A policy in one of its spellings.
pub(super) enum Policy<'t> {
    /// None: absent, or an empty object.
    None,
    /// Its keys.
    Object(Keys<'t>),
    /// Not an object.
    Malformed,
    /// Not known.
    Unresolved(Arc<str>),
}

impl<'t> Policy<'t> {
    /// What `key` comes to, absent where the policy does not have it.
    pub(super) fn find(keys: &Keys<'t>, key: &str, span: Span) -> Outcomes<'t> {
        let found = keys.iter().find(|(name, ..)| &**name == key);
        found.map_or_else(|| always(Evaluated::Absent, span), |(_, _, outcomes)| outcomes.clone())
    }
}

impl<'t> Lowering<'_, 't> {
    pub(super) fn queue(&mut self, resource: Resource, properties: &Properties<'t>, implicit: Option<Implicit>) {
        let second = |key: &'static str, default: Seconds| self.seconds(properties, &[key], default);
        let queue = Queue {
            name: self.name(properties, &["QueueName"]),
            fifo: self.flag(properties, &["FifoQueue"], false),
            sends_fifo_false: true,
            visibility_timeout: second("VisibilityTimeout", limits::VISIBILITY_TIMEOUT_DEFAULT),
            retention: second("MessageRetentionPeriod", limits::RETENTION_DEFAULT),
            delay: second("DelaySeconds", Seconds(0)),
            receive_wait_time: second("ReceiveMessageWaitTimeSeconds", Seconds(0)),
            maximum_message_size: self.attribute(
                properties,
                &["MaximumMessageSize"],
                &State::Default(limits::MAXIMUM_MESSAGE_SIZE_DEFAULT),
                super::integer,
            ),
            key: self.optional_link(properties, &["KmsMasterKeyId"]),
            managed_encryption: self.attribute(properties, &["SqsManagedSseEnabled"], &State::Default(None), |value| {
                super::boolean(value).map(Some)
            }),
            content_based_deduplication: self.flag(properties, &["ContentBasedDeduplication"], false),
            deduplication_scope: self.name(properties, &["DeduplicationScope"]),
            throughput_limit: self.name(properties, &["FifoThroughputLimit"]),
            key_reuse_period: second("KmsDataKeyReusePeriodSeconds", limits::KEY_REUSE_PERIOD_DEFAULT),
            redrive: self.redrive(properties),
            redrive_allow: self.redrive_allow(properties),
            implicit,
            resource,
        };
        self.graph.queues.push(queue);
    }

    fn redrive(&self, properties: &Properties<'t>) -> Attribute<Option<Box<RedrivePolicy>>> {
        self.policy(properties, "RedrivePolicy", |keys, outcome| {
            if let Some(keys) = keys {
                return Box::new(self.redrive_policy(&keys, outcome));
            }
            let unknown = "the redrive policy is malformed";
            Box::new(RedrivePolicy {
                target: Attribute::unresolved("deadLetterTargetArn", unknown, outcome.span),
                max_receive_count: Attribute::unresolved("maxReceiveCount", unknown, outcome.span),
                faults: vec![Fault {
                    kind: PolicyFault::NotAnObject,
                    span: outcome.span,
                }],
            })
        })
    }

    fn redrive_allow(&self, properties: &Properties<'t>) -> Attribute<Option<Box<RedriveAllowPolicy>>> {
        self.policy(properties, "RedriveAllowPolicy", |keys, outcome| {
            let keys = keys.unwrap_or_default();
            let find = |key: &str| Policy::find(&keys, key, outcome.span);
            let open = State::Unresolved("`redrivePermission` is missing".into());
            let permission = find("redrivePermission");
            let world = properties.world.and(&outcome.when);
            let mut sources = Vec::new();
            for Case { when, then: listed } in self.template.list(&find("sourceQueueArns"), &world) {
                let one = |state| Attribute {
                    name: "sourceQueueArns".into(),
                    cases: Cases::one(Sourced {
                        state,
                        span: listed.span,
                        origins: listed.origins.clone().into(),
                    })
                    .under(&when),
                };
                match listed.items {
                    Err(ref reason) => sources.push(one(State::Unresolved(reason.clone()))),
                    Ok(ref items) => sources.extend(items.iter().map(|item| {
                        let link = self.template.link(item);
                        one(link.map_or_else(State::Unresolved, State::Set))
                    })),
                }
            }
            Box::new(RedriveAllowPolicy {
                permission: attribute("redrivePermission", permission, outcome.span, &open, Evaluated::text),
                sources,
            })
        })
    }

    /// The policy that the property `name` holds; `read` gets its keys, or `None` where it is malformed.
    pub(super) fn policy<P: Clone>(
        &self,
        properties: &Properties<'t>,
        name: &'static str,
        read: impl Fn(Option<Keys<'t>>, &Case<Outcome<'t>>) -> P,
    ) -> Attribute<Option<P>> {
        let cases = self.get(properties, &[name]).into_iter().flat_map(|outcome| {
            let states = match self.policy_of(&outcome, &properties.world) {
                Policy::None if matches!(outcome.value, Evaluated::Absent) => Cases::one(State::Default(None)),
                Policy::None => Cases::one(State::Set(None)),
                Policy::Object(keys) => told_apart(keys).map(|keys| State::Set(Some(read(Some(keys), &outcome)))),
                Policy::Malformed => Cases::one(State::Set(Some(read(None, &outcome)))),
                Policy::Unresolved(reason) => Cases::one(State::Unresolved(reason)),
            };
            let is_absent = matches!(outcome.value, Evaluated::Absent);
            let sourced = states.map(|state| Sourced {
                state,
                span: if is_absent { properties.header } else { outcome.span },
                origins: outcome.origins.clone().into(),
            });
            sourced.under(&outcome.when)
        });
        of_cases(name, cases.collect(), properties.header)
    }

    fn policy_of(&self, outcome: &Case<Outcome<'t>>, world: &Condition) -> Policy<'t> {
        match &outcome.value {
            Evaluated::Absent => Policy::None,
            Evaluated::Unresolved(reason) => Policy::Unresolved(reason.clone()),
            Evaluated::Items(_) => Policy::Malformed,
            Evaluated::Tree(node) => match node.entries() {
                None => Policy::Malformed,
                Some([]) => Policy::None,
                Some(entries) if entries.iter().any(|entry| entry.key.starts_with("Fn::")) => {
                    Policy::Unresolved("a macro fills it in".into())
                }
                Some(entries) => {
                    let here = world.and(&outcome.when);
                    let evaluate = |at, node| self.template.eval(node, at, &here);
                    let keys = entries.iter();
                    Policy::Object(
                        keys.map(|entry| (entry.key.clone(), entry.key_span, evaluate(entry.span(), &entry.value)))
                            .collect(),
                    )
                }
            },
            Evaluated::Text(parts) => written_as_text(parts, outcome.span),
        }
    }

    fn redrive_policy(&self, keys: &Keys<'t>, outcome: &Outcome<'t>) -> RedrivePolicy {
        let mut faults = Vec::new();
        let is_written = |outcomes: &Outcomes<'_>| {
            let mut all = outcomes.iter();
            all.any(|outcome| !matches!(outcome.value, Evaluated::Absent))
        };
        for (key, span, outcomes) in keys {
            if !matches!(&**key, "deadLetterTargetArn" | "maxReceiveCount") && is_written(outcomes) {
                faults.push(Fault {
                    kind: PolicyFault::UnknownKey(key.to_string()),
                    span: *span,
                });
            }
        }
        let find = |key: &str| Policy::find(keys, key, outcome.span);
        let (target, count) = (find("deadLetterTargetArn"), find("maxReceiveCount"));
        for (outcomes, kind) in [
            (&target, PolicyFault::TargetMissing),
            (&count, PolicyFault::CountMissing),
        ] {
            if !is_written(outcomes) {
                let span = outcome.span;
                faults.push(Fault { kind, span });
            }
        }
        if let [only] = &*count
            && let Some(written) = not_a_count(&only.value)
        {
            faults.push(Fault {
                kind: PolicyFault::CountNotInteger(written),
                span: only.span,
            });
        }
        let missing = |name: &str| State::<Link>::Unresolved(format!("`{name}` is missing").into());
        let no_count = State::Unresolved("`maxReceiveCount` is missing".into());
        RedrivePolicy {
            target: attribute(
                "deadLetterTargetArn",
                target,
                outcome.span,
                &missing("deadLetterTargetArn"),
                |value| self.template.link(value),
            ),
            max_receive_count: attribute("maxReceiveCount", count, outcome.span, &no_count, super::integer),
            faults,
        }
    }
}

/// `keys` in the cases in which each is written or not: a policy that lacks a key has a fault only there.
fn told_apart(keys: Keys<'_>) -> Cases<Keys<'_>> {
    let mut all = Cases::one(keys.clone());
    for (at, (key, _, outcomes)) in keys.iter().enumerate().filter(|(_, key)| key.2.len() > 1) {
        let is_odd = |outcome: &Case<Outcome<'_>>| {
            let is_wrong = || &**key == "maxReceiveCount" && not_a_count(&outcome.value).is_some();
            matches!(outcome.value, Evaluated::Absent) || is_wrong()
        };
        if !outcomes.iter().any(is_odd) || all.len() * outcomes.len() > MAX_CASES {
            continue;
        }
        let each = all.into_iter().flat_map(|Case { when, then: keys }| {
            let one_each = outcomes.clone().map(|outcome| {
                let mut keys = keys.clone();
                if let Some(key) = keys.get_mut(at) {
                    key.2 = Cases::one(outcome);
                }
                keys
            });
            one_each.under(&when)
        });
        all = each.collect();
    }
    all
}

/// What a count is as written, where it is known to be no whole number.
fn not_a_count(value: &Evaluated<'_>) -> Option<String> {
    match value {
        Evaluated::Text(_) => value.text().ok().filter(|text| whole_number(text).is_none()),
        Evaluated::Items(_) => Some("[…]".to_owned()),
        Evaluated::Tree(node) => Some(if node.items().is_some() { "[…]" } else { "{…}" }.to_owned()),
        Evaluated::Absent | Evaluated::Unresolved(_) => None,
    }
}

/// A policy in a text, whose references and placeholders may stand inside or outside of JSON strings.
fn written_as_text<'t>(parts: &[Part], span: Span) -> Policy<'t> {
    if let [Part::Open { reason, .. }] = parts {
        return Policy::Unresolved(reason.clone());
    }
    let text = marked(parts);
    if text.trim().is_empty() {
        return Policy::None;
    }
    let Ok(node) = json::parse_value(&text, span) else {
        return Policy::Malformed;
    };
    match node.entries() {
        None => Policy::Malformed,
        Some([]) => Policy::None,
        Some(entries) => {
            let keys = entries.iter();
            Policy::Object(
                keys.map(|entry| {
                    let value = unmarked(&entry.value, parts);
                    (entry.key.clone(), span, always(value, span))
                })
                .collect(),
            )
        }
    }
}

/// The text of `parts` with a mark for each that is not known text: a JSON string, or a piece of one.
pub(super) fn marked(parts: &[Part]) -> String {
    let mut text = String::new();
    let mut in_string = false;
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Text(piece) => {
                let mut escaped = false;
                for c in piece.chars() {
                    match c {
                        '"' if !escaped => in_string = !in_string,
                        _ => {}
                    }
                    escaped = c == '\\' && !escaped;
                }
                text.push_str(piece);
            }
            Part::Reference(_) | Part::Open { .. } => {
                let quote = if in_string { "" } else { "\"" };
                text.extend([quote, &format!("{MARK}{at}{MARK}"), quote]);
            }
        }
    }
    text
}

/// A value of a policy's text with the parts put back.
fn unmarked<'t>(node: &Node, parts: &[Part]) -> Evaluated<'t> {
    match &node.value {
        Value::Null => Evaluated::Absent,
        Value::Sequence(items) => Evaluated::Items(
            items
                .iter()
                .map(|item| unmarked_text(item.as_str().unwrap_or_default(), parts))
                .collect(),
        ),
        Value::Mapping(_) => Evaluated::Items(Vec::new()),
        _ => {
            let text = crate::frontend::cloudformation::template::scalar(node).unwrap_or_default();
            Evaluated::Text(unmarked_text(&text, parts))
        }
    }
}

/// A text with the parts put back in the place of their marks.
pub(super) fn unmarked_text(text: &str, parts: &[Part]) -> Vec<Part> {
    let pieces = text.split(MARK).enumerate();
    let all = pieces.filter(|(_, piece)| !piece.is_empty()).map(|(at, piece)| {
        let marked = piece.parse::<usize>().ok().filter(|_| at % 2 == 1);
        marked
            .and_then(|at| parts.get(at).cloned())
            .unwrap_or_else(|| Part::Text(piece.to_owned()))
    });
    all.collect()
}
