//! Queries about functions that poll queues, their roles, and the permissions of those roles.

use super::consumers::PollingMapping;
use super::findings::Findings;
use super::operands::Known;
use crate::graph::permits::{Permits, Policies};
use crate::graph::{Condition, Function, Graph, Link, Queue, Resource};
use source::Span;

/// Reason that a role with a denial is not judged.
pub(crate) const DENIED: &str = "a statement may deny it, and denials are not evaluated";
/// Actions that Lambda and pipes perform on a queue that they poll, under the role of the function or pipe.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html>
/// <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-sqs.html>
pub(crate) const POLLING: [&str; 3] = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];

/// Function that polls a queue under a role that the project declares.
#[derive(Debug)]
pub(crate) struct PollingFunction<'g> {
    /// Mapping that polls on behalf of the function.
    pub(crate) poll: PollingMapping<'g>,
    /// The function.
    pub(crate) function: &'g Function,
    /// Role of the function, as a link.
    pub(crate) role: Known<'g, Option<Link>>,
    /// Declaration of the role.
    pub(crate) declared: &'g Resource,
}

impl<'g> PollingFunction<'g> {
    /// Returns the conditions under which the role may perform `action` on `queue`, or on any key if `queue` is `None`.
    pub(crate) fn may(&self, policies: &Policies<'g>, action: &str, queue: Option<&'g Queue>) -> Permits {
        let link = self.role.value.as_ref();
        let permits = link.and_then(|link| policies.role(self.function.resource.unit, link, action, queue));
        permits.unwrap_or_else(Permits::none)
    }
}

impl Findings<'_> {
    /// Returns the functions that poll `queue`, if the project declares their roles. The permissions of external roles
    /// are declared elsewhere and are not noted as unresolved.
    pub(crate) fn polling_functions<'g>(
        &mut self,
        graph: &'g Graph,
        policies: &Policies<'g>,
        when: &Condition,
        queue: &'g Queue,
    ) -> Vec<PollingFunction<'g>> {
        let mut all = Vec::new();
        for poll in self.polls(graph, when, queue).into_iter().filter(|poll| poll.enabled) {
            for link in self.known(&poll.when, poll.mapping, &poll.mapping.function) {
                let Some((function, when)) = graph.invoked(poll.mapping, link.value, &link.when) else {
                    continue;
                };
                for role in self.known(&when, function, &function.role) {
                    // The Serverless Framework supplies a role if the function has none; otherwise Lambda rejects it.
                    let Some(link) = role.value else { continue };
                    if let Some(declared) = policies.declared_role(function.resource.unit, link) {
                        all.push(PollingFunction {
                            poll: poll.clone(),
                            function,
                            role,
                            declared,
                        });
                    }
                }
            }
        }
        all
    }

    /// Like [`Findings::without_permission`], for several required actions: returns the sets of actions that are
    /// certainly missing, each with its condition.
    pub(crate) fn missing_actions<'a>(
        &mut self,
        when: &Condition,
        resource: &Resource,
        permits: &[(&'a str, Permits)],
    ) -> Vec<(Condition, Vec<&'a str>)> {
        let mut all: Vec<(Condition, Vec<&'a str>)> = Vec::new();
        for (action, permits) in permits {
            let left = self.without_permission(when, resource, permits);
            if !left.is_possible() {
                continue;
            }
            match all.iter_mut().find(|(condition, _)| *condition == left) {
                Some((_, actions)) => actions.push(action),
                None => all.push((left, vec![action])),
            }
        }
        all
    }
}

/// Returns the span of the policy that was evaluated, if there is exactly one.
pub(crate) fn only_policy(permits: &[(&str, Permits)]) -> Option<Span> {
    match permits.first()?.1.evaluated.as_slice() {
        [only] => Some(*only),
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
