//! Queues and their policies.

use super::super::json;
use super::super::value::{Kind, Value};
use super::read::{Refusal, boolean, integer, link, of_cases, refusal, seconds, text};
use super::{Lowering, Node, missing};
use crate::conditions::{Case, Condition};
use crate::graph::{
    Attribute, Fault, PolicyFault, Queue, RedriveAllowPolicy, RedrivePolicy, Seconds, Sourced, State, limits,
};
use crate::source::Span;

impl Lowering<'_, '_> {
    pub(super) fn queue(&mut self, node: &Node) {
        let name = self.optional_text(node, "name");
        let zero = Seconds(0);
        let queue = Queue {
            resource: node.resource.clone(),
            name,
            fifo: self.read(node, "fifo_queue", false, boolean),
            sends_fifo_false: false,
            visibility_timeout: self.read(
                node,
                "visibility_timeout_seconds",
                limits::VISIBILITY_TIMEOUT_DEFAULT,
                seconds,
            ),
            retention: self.read(node, "message_retention_seconds", limits::RETENTION_DEFAULT, seconds),
            delay: self.read(node, "delay_seconds", zero, seconds),
            receive_wait_time: self.read(node, "receive_wait_time_seconds", zero, seconds),
            maximum_message_size: self.read(
                node,
                "max_message_size",
                limits::MAXIMUM_MESSAGE_SIZE_TERRAFORM,
                integer,
            ),
            key: self.optional_link(node, "kms_master_key_id"),
            key_reuse_period: self.read(
                node,
                "kms_data_key_reuse_period_seconds",
                limits::KEY_REUSE_PERIOD_DEFAULT,
                seconds,
            ),
            managed_encryption: self.read(node, "sqs_managed_sse_enabled", None, |eval, value| {
                boolean(eval, value).map(Some)
            }),
            content_based_deduplication: self.read(node, "content_based_deduplication", false, boolean),
            deduplication_scope: self.optional_text(node, "deduplication_scope"),
            throughput_limit: self.optional_text(node, "fifo_throughput_limit"),
            redrive: self.redrive(node),
            redrive_allow: self.redrive_allow(node),
            implicit: None,
        };
        if let Some(cause) = &node.cause {
            self.causes.insert(node.resource.address.clone(), cause.clone());
        }
        self.graph.queues.push(queue);
        self.inline_queue_policy(node);
    }

    pub(super) fn redrive(&mut self, node: &Node) -> Attribute<Option<Box<RedrivePolicy>>> {
        let argument = self.argument(&node.block.body, &node.scope, "redrive_policy");
        let span = argument.as_ref().map_or(node.resource.header, |(_, span)| *span);
        self.policy("redrive_policy", argument, node, |lowering, policy, world| {
            Ok(Some(Box::new(lowering.redrive_policy(policy, span, world))))
        })
    }

    pub(super) fn redrive_allow(&mut self, node: &Node) -> Attribute<Option<Box<RedriveAllowPolicy>>> {
        let argument = self.argument(&node.block.body, &node.scope, "redrive_allow_policy");
        let span = argument.as_ref().map_or(node.resource.header, |(_, span)| *span);
        self.policy("redrive_allow_policy", argument, node, |lowering, policy, world| {
            lowering.redrive_allow_policy(policy, span, world)
        })
    }

    /// A JSON policy, case by case; null, the empty text and `{}` are none.
    pub(super) fn policy<T>(
        &mut self,
        name: &'static str,
        argument: Option<(Value, Span)>,
        node: &Node,
        mut convert: impl FnMut(&mut Self, Result<Value, &'static str>, &Condition) -> Result<Option<T>, Refusal>,
    ) -> Attribute<Option<T>> {
        let name = self.spelled(node, name);
        let Some((value, span)) = argument else {
            return Attribute::absent(name, None, node.resource.header);
        };
        let mut cases = Vec::new();
        for Case { when, then: value } in value.each_case() {
            let world = node.resource.when.and(&when);
            if !world.is_possible() {
                continue;
            }
            let state = match &value.kind {
                Kind::Null => State::Default(None),
                Kind::Text(text) if text.trim().is_empty() => State::Set(None),
                Kind::Unknown(unknown) => State::Unresolved(unknown.reason.clone()),
                Kind::Text(_) | Kind::Encoded(_) | Kind::Rendered(_) => {
                    let decoded = json::decode(&value);
                    let inner = decoded.as_ref().ok().map(|value| value.kind.clone());
                    match inner {
                        Some(Kind::Cases(_) | Kind::Unknown(_) | Kind::Reference(..)) => {
                            State::Unresolved(refusal(&value, "the policy is not known"))
                        }
                        Some(Kind::Map(entries)) if entries.is_empty() => State::Set(None),
                        _ => convert(self, decoded, &world).map_or_else(State::Unresolved, State::Set),
                    }
                }
                Kind::Template(_) => match json::decode(&value) {
                    Ok(decoded) => convert(self, Ok(decoded), &world).map_or_else(State::Unresolved, State::Set),
                    Err(_) => State::Unresolved(refusal(&value, "the policy is not known")),
                },
                _ => State::Unresolved(refusal(&value, "the policy is not known")),
            };
            let sourced = Sourced {
                state,
                span,
                origins: value.origins.list().into(),
            };
            cases.push(Case::new(when, sourced));
        }
        of_cases(name, cases, span)
    }

    fn redrive_policy(&mut self, policy: Result<Value, &'static str>, span: Span, world: &Condition) -> RedrivePolicy {
        let mut faults = Vec::new();
        let policy = policy.ok().filter(|policy| policy.entries().is_some());
        let (mut target, mut count) = (None, None);
        match policy.as_ref().and_then(Value::entries) {
            None => faults.push(Fault {
                kind: PolicyFault::NotAnObject,
                span,
            }),
            Some(entries) => {
                for (key, value) in entries.iter() {
                    let place = value.span.unwrap_or(span);
                    match &**key {
                        "deadLetterTargetArn" => target = Some((value.clone(), place)),
                        "maxReceiveCount" => count = Some((value.clone(), place)),
                        other => faults.push(Fault {
                            kind: PolicyFault::UnknownKey(other.to_owned()),
                            span: place,
                        }),
                    }
                }
                if target.is_none() {
                    faults.push(Fault {
                        kind: PolicyFault::TargetMissing,
                        span,
                    });
                }
                if count.is_none() {
                    faults.push(Fault {
                        kind: PolicyFault::CountMissing,
                        span,
                    });
                }
            }
        }
        let target = target.unwrap_or_else(|| (missing("`deadLetterTargetArn` is missing"), span));
        let count = count.unwrap_or_else(|| (missing("`maxReceiveCount` is missing"), span));
        for value in count.0.each_case() {
            let place = count.1;
            let kind = match &value.kind {
                Kind::Text(text) if text.trim().parse::<i64>().is_ok() => PolicyFault::CountQuoted(text.to_string()),
                Kind::Text(text) => PolicyFault::CountNotInteger(text.to_string()),
                Kind::Number(number) if !number.is_whole() => PolicyFault::CountNotInteger(number.to_string()),
                Kind::Bool(_) | Kind::List(_) | Kind::Map(_) | Kind::Null => {
                    let text = json::encode(&value).to_text();
                    PolicyFault::CountNotInteger(text.map_or_else(String::new, |text| text.to_string()))
                }
                _ => continue,
            };
            let fault = Fault { kind, span: place };
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        RedrivePolicy {
            target: self.attribute("deadLetterTargetArn", Some(target), span, world, None, link),
            max_receive_count: self.attribute("maxReceiveCount", Some(count), span, world, None, integer),
            faults,
        }
    }

    fn redrive_allow_policy(
        &mut self,
        policy: Result<Value, &'static str>,
        span: Span,
        world: &Condition,
    ) -> Result<Option<Box<RedriveAllowPolicy>>, Refusal> {
        let policy = policy.map_err(Refusal::from)?;
        let permission = policy
            .get("redrivePermission")
            .map(|value| (value.clone(), value.span.unwrap_or(span)));
        let permission = self.attribute(
            "redrivePermission",
            permission,
            span,
            world,
            Some("allowAll".to_owned()),
            text,
        );
        let mut sources = Vec::new();
        if let Some(listed) = policy.get("sourceQueueArns") {
            let place = listed.span.unwrap_or(span);
            for item in listed
                .items()
                .map_or_else(|| vec![listed.clone()], |items| items.to_vec())
            {
                sources.push(self.attribute("sourceQueueArns", Some((item, place)), span, world, None, link));
            }
        }
        Ok(Some(Box::new(RedriveAllowPolicy { permission, sources })))
    }
}
