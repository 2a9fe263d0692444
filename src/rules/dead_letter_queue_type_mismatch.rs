//! Flags dead-letter queues of another type than their source queue.

use super::{Category, Findings, Known, Rule, Set};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::{Condition, Graph, Link, Queue, Target};
use crate::source::Span;

pub(super) static RULE: Rule = Rule {
    id: "dead-letter-queue-type-mismatch",
    category: Category::Redrive,
    severity: Severity::Error,
    set: Set::Default,
    summary: "one of source queue and dead-letter queue is FIFO, the other is not",
    page: include_str!("../../rules/dead-letter-queue-type-mismatch.md"),
    check: Some(check),
};

/// The type of a dead-letter queue, and what says so.
struct Type {
    fifo: bool,
    shown: String,
    says: Option<Span>,
    world: Condition,
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for source in graph.queues() {
        for target in findings.redrive_targets(&source.resource.when, source) {
            for fifo in findings.known(&target.world, &source.resource, &source.fifo) {
                if contradicts_name(source, *fifo.value, &fifo.world) {
                    continue; // `fifo-queue-name-suffix` speaks: the type may be the mistake.
                }
                for dlq in types(graph, findings, source, &target, &fifo.world) {
                    if dlq.fifo != *fifo.value {
                        let diagnostic = mismatch(findings, source, &target, &fifo, &dlq);
                        findings.report(&dlq.world, &source.resource, diagnostic);
                    }
                }
            }
        }
    }
}

fn types(
    graph: &Graph,
    findings: &mut Findings<'_>,
    source: &Queue,
    target: &Known<'_, Link>,
    world: &Condition,
) -> Vec<Type> {
    let Some(dlq) = graph.queue(source.resource.unit, target.value) else {
        return of_arn(target.value, world).into_iter().collect();
    };
    let world = world.and(&dlq.resource.when);
    let known = findings.known(&world, &dlq.resource, &dlq.fifo).into_iter();
    known
        .filter(|fifo| !contradicts_name(dlq, *fifo.value, &fifo.world))
        .map(|fifo| Type {
            fifo: *fifo.value,
            shown: dlq.resource.shown(),
            says: Some(fifo.span()),
            world: fifo.world,
        })
        .collect()
}

/// A queue that is not here tells its type by its name: that of a FIFO queue ends in `.fifo`, no other does.
fn of_arn(link: &Link, world: &Condition) -> Option<Type> {
    let Target::External(arn) = &link.target else {
        return None;
    };
    let mut parts = arn.split(':');
    if parts.next()? != "arn" || parts.nth(1)? != "sqs" {
        return None;
    }
    let name = parts.nth(2)?;
    Some(Type {
        fifo: name.ends_with(".fifo"),
        shown: format!("`{name}`"),
        says: None,
        world: world.clone(),
    })
}

fn contradicts_name(queue: &Queue, fifo: bool, world: &Condition) -> bool {
    let names = queue.name.known_in(world);
    names
        .iter()
        .any(|(_, _, name)| name.as_ref().is_some_and(|name| name.ends_with(".fifo") != fifo))
}

fn mismatch(
    findings: &Findings<'_>,
    source: &Queue,
    target: &Known<'_, Link>,
    fifo: &Known<'_, bool>,
    dlq: &Type,
) -> Diagnostic {
    let kind = |fifo: bool| if fifo { "a FIFO queue" } else { "a standard queue" };
    let shown = source.resource.shown();
    let headline = format!(
        "{shown} is {}, but its dead-letter queue {} is {}",
        kind(*fifo.value),
        dlq.shown,
        kind(dlq.fifo)
    );
    let diagnostic = findings
        .diagnostic(
            Severity::Error,
            &source.resource,
            "redrive",
            headline,
            target.span(),
            format!("names {}", kind(dlq.fifo)),
        )
        .label(fifo.span(), format!("{shown} is {}", kind(*fifo.value)));
    let diagnostic = match dlq.says {
        Some(span) => diagnostic.label(span, format!("{} is {}", dlq.shown, kind(dlq.fifo))),
        None => diagnostic,
    };
    diagnostic.help(format!("name {} as the dead-letter queue", kind(*fifo.value)))
}
