//! Collects references to queues and functions that any resource may have: a queue used as a dead-letter queue, an
//! invocation of a function, a queue passed to a nested stack. It knows argument names, not resource types.

use super::view::CloudFormation;
use super::{names, target};
use crate::frontend::lower::unread::expose_roles;
use crate::frontend::lower::{Lowering, NodeKind, SYNCHRONOUS_PRINCIPALS};
use crate::graph::{self, Attribute, DeadLetterUse, Form, Invocation, Owner, Target};
use cloudformation::document::intrinsic;
use cloudformation::sections::{Declared, Dialect};
use cloudformation::stacks::{Stack, is_stack};
use cloudformation::value::Link;
use cloudformation::value::{Evaluated, Outcomes, Part};
use conditions::Condition;
use source::Span;
use std::sync::Arc;
use trees::{Node, Value};

/// Types that refer to a function without invoking it.
const NOT_INVOKING: [&str; 8] = [
    "AWS::ApplicationAutoScaling::ScalableTarget",
    "AWS::Lambda::Alias",
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::Version",
    // Its name may only derive from that of a function.
    "AWS::SecretsManager::Secret",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::CloudFormation::WaitConditionHandle",
];

/// Callers that wait for the response of a function and so receive its failures: prefixes of types.
const SYNCHRONOUS: [&str; 6] = [
    "AWS::ApiGateway::",
    "AWS::ApiGatewayV2::",
    "AWS::ElasticLoadBalancingV2::",
    "AWS::Lambda::Url",
    "AWS::Serverless::Api",
    "AWS::Serverless::HttpApi",
];
/// Custom resource with which CDK sets the notifications of a bucket: it does not use queues.
const NOTIFICATIONS: &str = "Custom::S3BucketNotifications";
/// Types whose references to queues have nodes of their own, or do not send.
const JUDGED: [&str; 8] = [
    "AWS::CloudWatch::Alarm",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::Lambda::EventSourceMapping",
    "AWS::SNS::Subscription",
    "AWS::SNS::Topic",
    "AWS::SQS::QueuePolicy",
];
/// Header with which an API invokes a function asynchronously.
const WITHOUT_WAITING: &str = "Invocation-Type";

/// A reference, with its condition and span.
pub(super) struct FoundReference {
    pub(super) link: Link,
    pub(super) when: Condition,
    pub(super) span: Span,
    /// The failure argument that contains it.
    pub(super) failure: Option<Span>,
}

impl<'t> Lowering<CloudFormation<'_, 't>> {
    /// Adds to the graph the references of `declared`.
    pub(super) fn references(&mut self, declared: &Declared<'t>) {
        let kind = &*declared.kind;
        let assumed = self.resource(declared).when;
        let mut properties = declared
            .properties
            .filter(|_| assumed.is_possible() && kind != "AWS::SQS::Queue");
        if kind == "AWS::Lambda::EventInvokeConfig" {
            properties = properties.and_then(|properties| properties.get("DestinationConfig"));
        }
        let Some(properties) = properties else { return };
        let mut all = Vec::new();
        self.collect(properties, properties.span, &assumed, None, &mut all);
        let waits = self.waits(declared);
        // The failure arguments of a function are lowered with the function.
        let is_function = matches!(
            kind,
            "AWS::Lambda::Function" | "AWS::Serverless::Function" | "AWS::Lambda::EventInvokeConfig"
        );
        for found in all {
            if let Some(argument) = found.failure.filter(|_| !is_function) {
                let by = (&declared.id, NodeKind::owner(names::kind(kind)));
                self.use_as_dead_letter_queue(by, argument, &found, assumed.and(&found.when));
            }
            self.invocation(declared, &found, waits);
            let is_away = || matches!(self.view.template.stack(&declared.id), Stack::Unread);
            let goes_away = (is_stack(kind) && is_away()) || is_custom(kind) || !kind.starts_with("AWS::");
            if goes_away && kind != NOTIFICATIONS && self.is_passed(&found.link) {
                self.graph.passed_to_missing_code.push(found.link.into());
            } else if !JUDGED.contains(&kind) && target::is_queue(self.view.template, &found.link) == Some(true) {
                self.graph.mentioned.push(found.link.into());
            }
        }
        if is_custom(kind) {
            self.record_passed_names(properties);
        }
        if kind == "AWS::Lambda::Permission" {
            self.open_permission(declared, properties, waits);
        }
    }

    /// Records names passed to a custom resource, whose code may do anything with these queues.
    fn record_passed_names(&mut self, properties: &'t Node) {
        for entry in properties.entries().unwrap_or_default() {
            let outcomes = self
                .view
                .template
                .eval(&entry.value, entry.span(), &Condition::always());
            let names: Vec<String> = outcomes
                .iter()
                .filter_map(|outcome| outcome.value.text().ok())
                .collect();
            let links = names.into_iter().map(|name| graph::Link {
                target: Target::External(name.into()),
                form: Form::Name,
            });
            self.graph.passed_to_missing_code.extend(links);
        }
    }

    /// Returns `true` if a resource invokes functions and waits for their responses.
    fn waits(&self, declared: &Declared<'t>) -> bool {
        let template = self.view.template;
        let principal = || {
            let principal = declared.properties?.get("Principal")?.as_str()?;
            SYNCHRONOUS_PRINCIPALS.contains(&principal).then_some(())
        };
        let may_wait = match &*declared.kind {
            "AWS::Lambda::Permission" => principal().is_some(),
            kind => SYNCHRONOUS.iter().any(|prefix| kind.starts_with(prefix)),
        };
        // A template that is not a file may contain the header anywhere.
        let text = template.sources().map(|sources| sources.file(declared.header.file));
        may_wait && text.is_some_and(|file| !file.text().contains(WITHOUT_WAITING))
    }

    pub(super) fn use_as_dead_letter_queue(
        &mut self,
        (by, owner): (&Arc<str>, Owner),
        argument: Span,
        found: &FoundReference,
        when: Condition,
    ) {
        let target = Attribute::set("Arn", found.link.clone().into(), found.span);
        self.graph.dead_letter_uses.push(DeadLetterUse {
            resource: by.clone(),
            owner,
            span: argument,
            target,
            when,
        });
    }

    fn invocation(&mut self, declared: &Declared<'t>, found: &FoundReference, waits: bool) {
        let is_quiet = NOT_INVOKING.contains(&&*declared.kind)
            || declared.kind.starts_with("AWS::IAM::")
            || declared.kind.starts_with("AWS::Logs::LogGroup");
        let is_own = found.link.target == Target::Resource(declared.id.clone());
        if !is_quiet && !is_own && target::is_function(self.view.template, &found.link) {
            self.graph.invocations.push(Invocation {
                resource: declared.id.clone(),
                span: declared.header,
                function: Attribute::set("FunctionName", found.link.clone().into(), found.span),
                waits,
            });
        }
    }

    /// Records a permission whose function is unresolved, which may invoke any function.
    fn open_permission(&mut self, declared: &Declared<'t>, properties: &'t Node, waits: bool) {
        let Some(entry) = properties.entry("FunctionName") else {
            return;
        };
        for outcome in self
            .view
            .template
            .eval(&entry.value, entry.span(), &Condition::always())
        {
            if let Err(reason) = self.view.template.link(&outcome.value) {
                self.graph.invocations.push(Invocation {
                    resource: declared.id.clone(),
                    span: declared.header,
                    function: Attribute::unresolved("FunctionName", reason, outcome.span),
                    waits,
                });
            }
        }
    }

    /// Returns `true` if another stack could use the target of the link.
    fn is_passed(&self, link: &Link) -> bool {
        let template = self.view.template;
        target::is_queue(template, link) == Some(true)
            || target::kind(template, link).as_deref() == Some("AWS::IAM::Role")
    }

    /// Records exported queues, roles and functions, which stacks outside the project may use.
    pub(super) fn exports(&mut self) {
        // Unread parts of the template may grant any role more permissions.
        let template = self.view.template;
        if template.dialect == Dialect::Template && !template.is_closed {
            expose_roles(&mut self.graph);
        }
        for output in self.view.template.outputs {
            let Some(value) = output.value.get("Value") else {
                continue;
            };
            let is_exported = output.value.get("Export").is_some();
            let mut all = Vec::new();
            self.collect(value, output.span(), &Condition::always(), None, &mut all);
            for found in all {
                if !is_exported {
                    self.graph.mentioned.push(found.link.into());
                } else if self.is_passed(&found.link) {
                    self.graph.passed_to_missing_code.push(found.link.into());
                } else if target::is_function(self.view.template, &found.link) {
                    self.graph.invocations.push(Invocation {
                        resource: output.key.clone(),
                        span: output.key_span,
                        function: Attribute::set("Value", found.link.into(), found.span),
                        waits: false,
                    });
                }
            }
        }
    }

    /// Collects every link in `node`: all references, and literal ARNs of queues in failure arguments.
    pub(super) fn collect(
        &self,
        node: &'t Node,
        at: Span,
        assumed: &Condition,
        failure: Option<Span>,
        all: &mut Vec<FoundReference>,
    ) {
        if !self.view.template.may_step() {
            return;
        }
        match (&node.value, intrinsic(node)) {
            (_, Some((_, argument))) => {
                let outcomes = self.view.template.eval(node, at, assumed);
                for outcome in &outcomes {
                    if let Evaluated::Tree(inner) = outcome.value
                        && inner.span != node.span
                    {
                        self.collect(inner, outcome.span, &assumed.and(&outcome.when), failure, all);
                    }
                }
                self.found_in(outcomes, failure, all);
                // A function that is not evaluated may have references in its arguments.
                if !matches!(argument.value, Value::String(_)) && all.is_empty() {
                    self.collect(argument, at, assumed, failure, all);
                }
            }
            (Value::String(_), None) => self.found_in(self.view.template.eval(node, at, assumed), failure, all),
            (Value::Sequence(items), None) => {
                for item in items {
                    self.collect(item, item.span, assumed, failure, all);
                }
            }
            (Value::Mapping(entries), None) => {
                for entry in entries {
                    let key = &*entry.key;
                    let names_failure = matches!(
                        key,
                        "DeadLetterConfig" | "DeadLetterArn" | "RedrivePolicy" | "OnFailure" | "DeadLetterQueue"
                    );
                    let failure = failure.or(names_failure.then(|| entry.span()));
                    self.collect(&entry.value, entry.span(), assumed, failure, all);
                }
            }
            _ => {}
        }
    }

    fn found_in(&self, outcomes: Outcomes<'t>, failure: Option<Span>, all: &mut Vec<FoundReference>) {
        for outcome in outcomes {
            let Evaluated::Text(parts) = &outcome.value else {
                continue;
            };
            let mut links = Vec::new();
            match self.view.template.link(&outcome.value) {
                Ok(link) if !matches!(link.target, Target::External(_)) => links.push(link),
                Ok(link) if failure.is_some() && link.form == Form::Arn => links.push(link),
                _ => {}
            }
            // References inside a longer text, such as a definition in JSON.
            for part in parts.iter().filter(|part| matches!(part, Part::Reference(_))) {
                links.extend(self.view.template.link(&Evaluated::Text(vec![part.clone()])).ok());
            }
            if failure.is_some() {
                links.extend(parts.iter().filter_map(quoted_arn));
            }
            links.dedup();
            all.extend(links.into_iter().map(|link| FoundReference {
                link,
                when: outcome.when.clone(),
                span: outcome.span,
                failure,
            }));
        }
    }
}

/// Returns `true` if resources of this type run custom code.
fn is_custom(kind: &str) -> bool {
    kind.starts_with("Custom::") || kind == "AWS::CloudFormation::CustomResource"
}

/// Returns the ARN of a queue in a text that contains JSON.
fn quoted_arn(part: &Part) -> Option<Link> {
    let Part::Text(text) = part else {
        return None;
    };
    let (_, rest) = text.split_once("\"arn:")?;
    let (arn, _) = rest.split_once('"')?;
    Some(Link {
        target: Target::External(format!("arn:{arn}").into()),
        form: Form::Arn,
    })
}
