//! Marks the effects of unread parts of a unit: they may declare anything that is not declared elsewhere.

use super::separate::make_unresolved as unsettle_policy;
use super::{Reason, own_link};
use crate::graph::{Attribute, Invocation, UnitGraph};
use conditions::Condition;
use source::Span;

/// Makes absent attributes unresolved.
pub(super) fn make_unresolved(graph: &mut UnitGraph, reason: &Reason) {
    let always = Condition::always();
    for queue in &mut graph.queues {
        unsettle_policy(&mut queue.redrive, reason, &always);
        unsettle_policy(&mut queue.redrive_allow, reason, &always);
    }
    let first = graph.queues.iter().map(|queue| queue.resource.header).next();
    let first = first.or_else(|| graph.functions.iter().map(|function| function.resource.header).next());
    if let Some(span) = first {
        expose_all(graph, reason, span);
    }
}

/// Records that an unread part may watch or poll any queue, grant any role more permissions, and invoke any function.
pub(in crate::frontend) fn expose_all(graph: &mut UnitGraph, reason: &Reason, span: Span) {
    let all = graph.queues.iter().map(|queue| own_link(&queue.resource));
    let all: Vec<_> = all.collect();
    graph.passed_to_missing_code.extend(all);
    expose_roles(graph);
    graph.invocations.push(Invocation {
        resource: "resources".into(),
        span,
        function: Attribute::unresolved("function", reason.clone(), span),
        waits: false,
    });
}

/// Records that an unread part may grant any role more permissions.
pub(in crate::frontend) fn expose_roles(graph: &mut UnitGraph) {
    let all = graph.access.roles.iter().map(|role| own_link(&role.resource));
    let all: Vec<_> = all.collect();
    graph.passed_to_missing_code.extend(all);
}
