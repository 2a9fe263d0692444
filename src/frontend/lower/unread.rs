//! What a part of a unit that is not read leaves open: whatever is not declared may be declared there.

use super::separate::unsettle as unsettle_policy;
use super::{Reason, own_link};
use crate::conditions::Condition;
use crate::graph::{Attribute, Invocation, UnitGraph};
use crate::source::Span;

/// Makes unresolved what would count as absent.
pub(super) fn unsettle(graph: &mut UnitGraph, reason: &Reason) {
    let always = Condition::always();
    for queue in &mut graph.queues {
        unsettle_policy(&mut queue.redrive, reason, &always);
        unsettle_policy(&mut queue.redrive_allow, reason, &always);
    }
    let first = graph.queues.iter().map(|queue| queue.resource.header).next();
    let first = first.or_else(|| graph.functions.iter().map(|function| function.resource.header).next());
    if let Some(span) = first {
        leave_open(graph, reason, span);
    }
}

/// What is not read may watch or read any queue, grant any role more, and invoke any function.
pub(in crate::frontend) fn leave_open(graph: &mut UnitGraph, reason: &Reason, span: Span) {
    let all = graph.queues.iter().map(|queue| own_link(&queue.resource));
    let all: Vec<_> = all.collect();
    graph.handed_out.extend(all);
    hand_out_roles(graph);
    graph.invocations.push(Invocation {
        by: "resources".into(),
        span,
        function: Attribute::unresolved("function", reason.clone(), span),
    });
}

/// What is not read may grant any role more.
pub(in crate::frontend) fn hand_out_roles(graph: &mut UnitGraph) {
    let all = graph.access.roles.iter().map(|role| own_link(&role.resource));
    let all: Vec<_> = all.collect();
    graph.handed_out.extend(all);
}
