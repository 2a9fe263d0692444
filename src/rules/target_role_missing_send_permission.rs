//! Flags roles that do not allow to send to the queue that they are used to send to.

use super::prelude::*;
use crate::graph::delivery::{EventTarget, Pipe, Sender};
use crate::graph::permits::Policies;
use crate::graph::{Attribute, FailureTarget, Function, Resource};
use crate::rules::shared::roles::{Edge, Lacking, RoleUse};
use crate::rules::shared::senders::EVENTS;

pub(super) static RULE: Rule = rule!(
    "target-role-missing-send-permission",
    Category::Permissions,
    Severity::Error,
    "the role of a function, schedule, pipe, rule, task or API may not send to the queue that it has to send to"
);

/// Resource that sends under a role.
struct Sending<'g> {
    resource: &'g Resource,
    role: &'g Attribute<Option<Link>>,
    /// Service that may send without the role.
    service: Option<&'static str>,
    /// Consequence of the missing permission.
    so: &'static str,
    /// Failure setting without effect, because only queues invoke the function.
    ineffective: Option<&'g FailureTarget>,
}

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    let mut check = Check {
        policies: findings.graph.policies(),
        findings,
    };
    for function in graph.functions() {
        check.function(function);
    }
    for pipe in &graph.deliveries().pipes {
        check.pipe(pipe);
    }
    for target in &graph.deliveries().targets {
        check.target(target);
    }
}

struct Check<'g, 'c> {
    findings: &'c mut Findings<'g>,
    policies: Policies<'g>,
}

impl<'g> Check<'g, '_> {
    fn function(&mut self, function: &'g Function) {
        let graph = self.findings.graph;
        let sending = Sending {
            resource: &function.resource,
            role: &function.role,
            service: None,
            so: "Lambda cannot send failed invocations there",
            ineffective: None,
        };
        let is_idle = graph.asynchronous_invocations_of(function).is_empty() && !graph.mappings_of(function).is_empty();
        for setting in &function.failure_targets {
            let ineffective = is_idle.then_some(setting);
            self.judge(
                &Sending { ineffective, ..sending },
                &setting.target,
                Some,
                &setting.when,
            );
        }
    }

    fn pipe(&mut self, pipe: &'g Pipe) {
        let sending = Sending {
            resource: &pipe.resource,
            role: &pipe.role,
            service: None,
            so: "the pipe cannot deliver",
            ineffective: None,
        };
        for running in self.findings.known(&pipe.resource.when, pipe, &pipe.running) {
            if *running.value {
                self.judge(&sending, &pipe.target, Some, &running.when);
                let sending = Sending {
                    so: "records that the pipe cannot deliver are lost",
                    ..sending
                };
                for dead_letter in &pipe.dead_letters {
                    self.judge(&sending, dead_letter, Option::as_ref, &running.when);
                }
            }
        }
    }

    fn target(&mut self, target: &'g EventTarget) {
        let (service, so) = match target.sender {
            Sender::Rule => (Some(EVENTS), "EventBridge cannot deliver"),
            Sender::Schedule => (None, "the schedule cannot deliver"),
            Sender::Api => (None, "every request to the API fails"),
            Sender::Task => (None, "the task fails"),
            Sender::IotRule => (None, "AWS IoT drops the messages"),
            Sender::LifecycleHook => (None, "Auto Scaling cannot notify it"),
            Sender::Subscriber => (None, "EventBridge cannot deliver"),
            Sender::Bucket => return, // Has no role.
        };
        let resource = &target.resource;
        let sending = Sending {
            resource,
            role: &target.role,
            service,
            so,
            ineffective: None,
        };
        for enabled in self.findings.known(&resource.when, resource, &target.enabled) {
            if !*enabled.value {
                continue;
            }
            self.judge(&sending, &target.target, Some, &enabled.when);
            // The dead-letter queue of a rule is sent to by the service.
            if matches!(target.sender, Sender::Schedule | Sender::Subscriber) {
                let sending = Sending {
                    so: "what cannot be delivered is lost",
                    ..sending
                };
                self.judge(&sending, &target.dead_letter, Option::as_ref, &enabled.when);
            }
        }
    }

    /// Reports the permissions to send to the queue in `attribute` that the role lacks.
    fn judge<T>(
        &mut self,
        sending: &Sending<'g>,
        attribute: &'g Attribute<T>,
        link: fn(&'g T) -> Option<&'g Link>,
        when: &Condition,
    ) {
        let resource = sending.resource;
        for target in self.findings.known(when, &resource, attribute) {
            let Some(queue) = link(target.value).and_then(|link| self.findings.graph.queue(resource.unit, link)) else {
                continue;
            };
            let when = target.when.and(&queue.resource.when);
            for role in self.findings.known(&when, &resource, sending.role) {
                // Without a role, the service sends by itself or rejects the target.
                let declared = role.value.as_ref();
                let Some(link) = declared.filter(|link| self.policies.declared_role(resource.unit, link).is_some())
                else {
                    continue;
                };
                let used = RoleUse {
                    edge: Edge::Send,
                    resource,
                    when: &role.when,
                    role: link,
                    unit: resource.unit,
                    queue,
                    service: sending.service,
                    read: &[&target, &role],
                };
                self.findings
                    .require_on_queue(&self.policies, &used, |lacking| refused(sending, &target, lacking));
                self.findings.require_on_key(&self.policies, &used, |lacking, _| {
                    refused(sending, &target, lacking).severity(Severity::Warning)
                });
            }
        }
    }
}

fn refused<T>(sending: &Sending<'_>, target: &Known<'_, T>, lacking: &Lacking<'_>) -> Finding {
    let headline = format!(
        "{}, the role of {}, does not allow {} on {}, so {}",
        lacking.role.shown(),
        sending.resource.shown(),
        lacking.actions,
        lacking.on,
        sending.so
    );
    let help = match sending.ineffective {
        Some(setting) => format!(
            "remove `{}`: only queues invoke the function, and their failed messages do not arrive there",
            setting.name
        ),
        None => format!("allow the role {} on the ARN of {}", lacking.actions, lacking.on),
    };
    lacking
        .finding(headline)
        .label(
            target,
            format!("{} sends to the queue with this role", sending.resource.shown()),
        )
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::CloudFormation;

    #[test]
    fn help_removes_a_setting_without_effect() {
        CloudFormation.check_cases(
            &RULE,
            r#"
Resources:
  Failed: {Type: AWS::SQS::Queue}
  Role:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow, Principal: {Service: lambda.amazonaws.com}, Action: sts:AssumeRole}]}
      Policies: [{PolicyName: x, PolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow, Action: sqs:ReceiveMessage, Resource: "*"}]}}]
  Worker:
    Type: AWS::Lambda::Function
    Properties: {Role: !GetAtt Role.Arn, DeadLetterConfig: {TargetArn: !GetAtt Failed.Arn}}
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:q, FunctionName: !Ref Worker}
  Other:
    Type: AWS::Lambda::Permission
    Properties: {FunctionName: !Ref Worker, Principal: <by>}
"#,
            "
            by                       | finding | help
            s3.amazonaws.com         | error   | allow the role `sqs:SendMessage`…
            apigateway.amazonaws.com | error   | remove `DeadLetterConfig`…
            ",
        );
    }
}
