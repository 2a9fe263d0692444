//! Functions that poll queues, the roles that they work under, and what those may do.

use super::consumers::Poll;
use super::findings::Findings;
use super::operands::Known;
use crate::graph::permits::{Permits, Policies};
use crate::graph::{Condition, Function, Graph, Link, Queue, Resource};
use crate::source::Span;

/// What Lambda and pipes do with a queue that they read, under the role of the function or pipe.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html>
/// <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-sqs.html>
pub(crate) const POLLING: [&str; 3] = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];

/// A function that polls a queue under a role that the project declares.
#[derive(Debug)]
pub(crate) struct PollingFunction<'g> {
    /// The mapping that makes it poll.
    pub(crate) poll: Poll<'g>,
    /// The function.
    pub(crate) function: &'g Function,
    /// The role, as the function names it.
    pub(crate) role: Known<'g, Option<Link>>,
    /// The same, as it is declared.
    pub(crate) declared: &'g Resource,
}

impl<'g> PollingFunction<'g> {
    /// Where the role may do `action` on `queue`; on any key where there is no queue.
    pub(crate) fn may(&self, policies: &Policies<'g>, action: &str, queue: Option<&'g Queue>) -> Permits {
        let link = self.role.value.as_ref();
        let permits = link.and_then(|link| policies.role(self.function.resource.unit, link, action, queue));
        permits.unwrap_or_else(Permits::none)
    }
}

impl Findings<'_> {
    /// The functions that poll `queue`, where the project declares their roles. What others may do is said where those are
    /// declared, and is no open question here.
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
                    // A function without one gets that of the Serverless Framework, or is refused.
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

    /// As [`Findings::without_permission`] for several things that are all needed: which of them certainly lack, each set
    /// with its condition.
    pub(crate) fn lacking<'a>(
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

/// The only policy that was asked, where there is but one.
pub(crate) fn only_policy(permits: &[(&str, Permits)]) -> Option<Span> {
    match permits.first()?.1.asked.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// `a`, `b` and `c`.
pub(crate) fn listed(actions: &[&str]) -> String {
    let quoted: Vec<String> = actions.iter().map(|action| format!("`{action}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
