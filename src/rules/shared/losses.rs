//! Losses of messages in the code of workers.

use crate::graph::{Loss, LossKind, Queue};
use crate::rules::shared::compare::fact;
use crate::rules::shared::finding::Finding;
use crate::rules::shared::findings::Findings;

/// Reports each loss of `kind` in the program of a worker. `holds` states that a program has none.
pub(crate) fn report_losses(
    findings: &mut Findings<'_>,
    kind: LossKind,
    holds: &str,
    lost: impl Fn(&Queue, &Loss) -> Finding,
) {
    for queue in findings.graph.queues() {
        let when = &queue.resource.when;
        for program in findings.graph.programs(queue) {
            let mut losses = program.losses.iter().filter(|loss| loss.kind == kind).peekable();
            let has_none = losses.peek().is_none();
            if !findings.satisfied(when, queue, fact(has_none, || holds.to_owned())) {
                losses.for_each(|loss| findings.report(when, queue, lost(queue, loss)));
            }
        }
    }
}
