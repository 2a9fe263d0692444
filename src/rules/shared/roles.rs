//! Queries about functions that poll queues, their roles, and the permissions of those roles.

use super::compare::fact;
use super::consumers::PollingMapping;
use super::finding::Finding;
use super::findings::Findings;
use super::operands::Known;
use super::trace::ReadValue;
use crate::graph::permits::{On, Permits, Policies};
use crate::graph::{Cause, Condition, Function, Link, Queue, Resource, UnitId};
use source::Span;

/// Reason that a role with a possible denial is not judged.
const DENIED: &str = "a statement may deny it, under a condition or in a part that is not known";

/// Links between a queue and a principal that uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// Event source mapping, or pipe with the queue as its source: under the role of the function or pipe.
    Poll,
    /// Worker.
    Work,
    /// Heartbeat of a worker.
    Heartbeat,
    /// Delivery to the queue, under a role or by a service itself: targets of functions, schedules, pipes, rules and
    /// APIs, subscriptions, notifications.
    Send,
}

impl Edge {
    /// Returns the actions that the principal must be allowed: on the queue, and with the customer managed key that
    /// encrypts it.
    pub(crate) fn needs(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            // <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html>
            // <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-sqs.html>
            Edge::Poll => (
                &["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
                &["kms:Decrypt"],
            ),
            // <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html>
            Edge::Work => (&["sqs:ReceiveMessage", "sqs:DeleteMessage"], &["kms:Decrypt"]),
            Edge::Heartbeat => (&["sqs:ChangeMessageVisibility"], &[]),
            Edge::Send => (&["sqs:SendMessage"], &["kms:GenerateDataKey", "kms:Decrypt"]),
        }
    }
}

/// Use of a queue under a role.
pub(crate) struct RoleUse<'g, 'r> {
    /// Kind of use.
    pub(crate) edge: Edge,
    /// Resource that uses the queue: a mapping, a pipe, a target.
    pub(crate) resource: &'g Resource,
    /// Condition under which it does.
    pub(crate) when: &'r Condition,
    /// Role, as a link in `unit`.
    pub(crate) role: &'r Link,
    /// Unit in which the link is written.
    pub(crate) unit: UnitId,
    /// The queue.
    pub(crate) queue: &'g Queue,
    /// Service that may send without the role, if the queue's policy allows it.
    pub(crate) service: Option<&'static str>,
    /// Values from which the use follows.
    pub(crate) read: &'r [&'r dyn ReadValue],
}

/// Actions that a role lacks.
pub(crate) struct Lacking<'g> {
    /// Declaration of the role.
    pub(crate) role: &'g Resource,
    /// The actions, as a list for a sentence.
    pub(crate) actions: String,
    /// Queue or key, for a sentence.
    pub(crate) on: String,
    /// Statement that denies the actions, or the only policy, which does not allow them.
    policy: Option<(Span, &'static str)>,
    attribute: &'static str,
}

impl Lacking<'_> {
    /// Creates a finding that points at the role.
    pub(crate) fn finding(&self, headline: String) -> Finding {
        let label = format!("this role does not allow {} on {}", self.actions, self.on);
        let finding = Finding::new(self.attribute, headline, self.role.header, label);
        match self.policy.filter(|(policy, _)| *policy != self.role.header) {
            Some((policy, words)) => finding.label(policy, words),
            None => finding,
        }
    }
}

/// Function that polls a queue under a role that the project declares.
#[derive(Debug)]
pub(crate) struct PollingFunction<'g> {
    /// Mapping that polls on behalf of the function.
    pub(crate) poll: PollingMapping<'g>,
    /// The function.
    pub(crate) function: &'g Function,
    /// Role of the function, as a link.
    pub(crate) role: Known<'g, Option<Link>>,
}

impl<'g> PollingFunction<'g> {
    /// Returns the use of `queue` under the function's role, which depends on `read`.
    pub(crate) fn used<'r>(
        &'r self,
        queue: &'g Queue,
        role: &'r Link,
        read: &'r [&'r dyn ReadValue],
    ) -> RoleUse<'g, 'r> {
        RoleUse {
            edge: Edge::Poll,
            resource: &self.poll.mapping.resource,
            when: &self.role.when,
            role,
            unit: self.function.resource.unit,
            queue,
            service: None,
            read,
        }
    }
}

impl<'g> Findings<'g> {
    /// Returns the functions that poll `queue`, if the project declares their roles. The permissions of external roles
    /// are declared elsewhere and are not noted as unresolved.
    pub(crate) fn polling_functions(
        &mut self,
        policies: &Policies<'g>,
        when: &Condition,
        queue: &Queue,
    ) -> Vec<PollingFunction<'g>> {
        let mut all = Vec::new();
        for poll in self.polls(when, queue).into_iter().filter(|poll| poll.enabled) {
            for link in self.known(&poll.when, poll.mapping, &poll.mapping.function) {
                let Some((function, when)) = self.graph.invoked(poll.mapping, link.value, &link.when) else {
                    continue;
                };
                for role in self.known(&when, function, &function.role) {
                    // The Serverless Framework supplies a role if the function has none; otherwise Lambda rejects it.
                    let Some(link) = role.value else { continue };
                    if policies.declared_role(function.resource.unit, link).is_some() {
                        all.push(PollingFunction {
                            poll: poll.clone(),
                            function,
                            role,
                        });
                    }
                }
            }
        }
        all
    }

    /// Reports the finding that `broken` returns for the actions on the queue that the role certainly lacks.
    pub(crate) fn require_on_queue(
        &mut self,
        policies: &Policies<'g>,
        used: &RoleUse<'g, '_>,
        broken: impl Fn(&Lacking<'g>) -> Finding,
    ) {
        let (actions, _) = used.edge.needs();
        self.require_actions(policies, used, (used.when, On::Queue(used.queue)), actions, broken);
    }

    /// Like [`Findings::require_on_queue`], for actions with the customer managed key that encrypts the queue.
    pub(crate) fn require_on_key(
        &mut self,
        policies: &Policies<'g>,
        used: &RoleUse<'g, '_>,
        broken: impl Fn(&Lacking<'g>, &Known<'g, Option<Link>>) -> Finding,
    ) {
        let (queue, (_, actions)) = (used.queue, used.edge.needs());
        for key in self.known(used.when, queue, &queue.key) {
            let named = key.value.as_ref().filter(|link| !link.is_key_of_aws());
            let Some(link) = named.filter(|link| !link.written().is_empty()) else {
                continue; // SSE-SQS, or the AWS managed key, which every role of the account may use.
            };
            if let Some(declared) = policies.key(queue.resource.unit, link) {
                let on = (&key.when, On::Key(declared));
                self.require_actions(policies, used, on, actions, |lacking| broken(lacking, &key));
            } else {
                let reason = Cause::Elsewhere.because(format!("the key `{}` is not declared here", link.written()));
                self.note_unresolved(&key.when, used.resource, &reason, key.span);
            }
        }
    }

    fn require_actions(
        &mut self,
        policies: &Policies<'g>,
        used: &RoleUse<'g, '_>,
        (when, on): (&Condition, On<'g>),
        actions: &'static [&'static str],
        broken: impl Fn(&Lacking<'g>) -> Finding,
    ) {
        let Some(role) = policies.declared_role(used.unit, used.role) else {
            let reason = Cause::Elsewhere.because(format!("the role `{}` is not declared here", used.role.written()));
            return self.note_unresolved(when, used.resource, &reason, used.resource.header);
        };
        let mut permitted = when.clone();
        let mut denial = None;
        let mut missing: Vec<(Condition, Vec<&str>, Permits)> = Vec::new();
        for action in actions {
            let Some(permits) = policies.role_or_service(used.unit, used.role, used.service, action, on) else {
                return;
            };
            permitted = permitted.and(&permits.when);
            denial = denial.or(permits.denial);
            let left = self.without_permission(when, used.resource, &permits);
            match missing.iter_mut().find(|(known, ..)| *known == left) {
                Some((_, actions, _)) => actions.push(action),
                None if left.is_possible() => missing.push((left, vec![action], permits)),
                None => {}
            }
        }
        if let Some(denial) = denial {
            self.not_covered(&permitted, used.resource, used.read, DENIED, denial);
        } else {
            let may = fact(true, || format!("{} allows {}", role.shown(), listed(actions)));
            let may = used.read.iter().fold(may, |may, read| may.depending_on(*read));
            self.satisfied(&permitted, used.resource, may);
        }
        let (on, attribute) = match on {
            On::Queue(queue) => (queue.resource.shown(), "role"),
            On::Key(key) => (key.resource.shown(), "role_key"),
        };
        for (when, actions, permits) in missing {
            let lacking = Lacking {
                role,
                actions: listed(&actions),
                on: on.clone(),
                policy: blamed(&when, &permits),
                attribute,
            };
            self.report(&when, used.resource, broken(&lacking));
        }
    }
}

/// Returns the statement that denies the action under `when`, or else the only evaluated policy.
fn blamed(when: &Condition, permits: &Permits) -> Option<(Span, &'static str)> {
    if when.is_possible_with(&permits.denied) {
        return permits.denial.map(|denial| (denial, "this statement denies it"));
    }
    match permits.evaluated.as_slice() {
        [only] => Some((*only, "its only policy does not allow it")),
        _ => None,
    }
}

/// Formats a list: `a`, `b` and `c`.
pub(crate) fn listed(actions: &[&str]) -> String {
    let quoted: Vec<String> = actions.iter().map(|action| format!("`{action}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
