//! Flags consumed queues that a plan, or the changes since an earlier commit, replace.

use super::prelude::*;
use crate::graph::Replacement;

pub(super) static RULE: Rule = rule!(
    "queue-replaced",
    Category::Queue,
    Severity::Warning,
    "a change replaces a queue that has consumers, and its messages are deleted with it"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        let Some(replaced) = &queue.replaced else {
            let kept = fact(true, || {
                "neither a plan nor an earlier commit shows that it is replaced".to_owned()
            });
            findings.satisfied(&queue.resource.when, queue, kept.depending_on(&queue.resource.header));
            continue;
        };
        let consumers = findings.consumers_and_workers(&queue.resource.when, queue);
        if let Some(consumer) = consumers.first() {
            let when = consumers.iter().fold(Condition::never(), |all, one| all.or(&one.when));
            findings.report(&when, queue, will_be_replaced(queue, replaced).show(consumer));
        }
    }
}

fn will_be_replaced(queue: &Queue, replaced: &Replacement) -> Finding {
    let attribute = &replaced.attribute;
    let because = match &replaced.change {
        Some([was, is]) => format!(": `{attribute}` changes from {was} to {is}"),
        None if attribute.is_empty() => String::new(),
        None => format!(": `{attribute}` changes"),
    };
    let headline =
        format!("this change replaces {queue}{because}, and the messages in the present queue are deleted with it");
    Finding::new(
        "name",
        headline,
        replaced.span,
        "a queue with another name or type is another queue",
    )
    .help("create the new queue next to this one, move the senders, wait until this one is empty, and then remove it")
}
