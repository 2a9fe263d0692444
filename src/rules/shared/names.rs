//! Reads names of queues, in which some pieces may be unknown.

use super::findings::Findings;
use super::operands::Provenance;
use super::trace::{ReadValue, UnknownPart};
use crate::graph::{Condition, Pattern, Queue};
use source::Span;
use std::collections::BTreeSet;
use std::ops::Deref;

/// Name of a queue, of which pieces may be unknown.
#[derive(Debug)]
pub(crate) struct QueueName<'g> {
    /// Pieces of the name.
    pub(crate) text: Pattern,
    /// Condition under which the queue has this name.
    pub(crate) when: Condition,
    from: Provenance<'g>,
    /// Reason for which a piece is unknown.
    gap: Option<UnknownPart<'g>>,
}

impl<'g> Deref for QueueName<'g> {
    type Target = Provenance<'g>;

    fn deref(&self) -> &Provenance<'g> {
        &self.from
    }
}

impl ReadValue for QueueName<'_> {
    fn spans(&self, all: &mut BTreeSet<Span>) {
        self.from.spans(all);
    }

    fn unresolved(&self) -> Option<UnknownPart<'_>> {
        self.gap
    }
}

/// Returns `true` if the queue's address or name marks it as a dead-letter queue: programs may send to it even if no
/// redrive policy refers to it.
pub(crate) fn is_named_dead_letter_queue(queue: &Queue) -> bool {
    let says = |name: &str| {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let letters = letters.collect::<String>().to_ascii_lowercase();
        letters.contains("dlq") || letters.contains("deadletter")
    };
    let mut names = queue.name.cases.iter().filter_map(|case| case.value()?.as_deref());
    says(queue.resource.address.rsplit('.').next().unwrap_or_default()) || names.any(says)
}

impl Findings<'_> {
    /// Returns the written names of `queue` under the condition `when`. A name of which no piece is known is noted as
    /// unresolved.
    pub(crate) fn names<'a>(&mut self, when: &Condition, queue: &'a Queue) -> Vec<QueueName<'a>> {
        let mut all = Vec::new();
        let known = self.known_or(when, queue, &queue.name, |findings, when, case, unresolved| {
            let Some(text) = unresolved.pattern() else {
                findings.unresolved(when, &queue.resource, case, unresolved, case.source_span());
                return;
            };
            all.push(QueueName {
                text: text.clone(),
                when: when.clone(),
                from: Provenance::new(case, &queue.name.name, &queue.resource),
                gap: Some(UnknownPart {
                    reason: unresolved.reason(),
                    cause: case.source_span(),
                    resource: &queue.resource,
                }),
            });
        });
        for name in known {
            // A generated name always fits.
            let Some(text) = name.value.as_deref().filter(|text| !text.is_empty()) else {
                continue;
            };
            all.push(QueueName {
                text: text.into(),
                from: *name,
                when: name.when,
                gap: None,
            });
        }
        all
    }

    /// Notes that the queue with this name could not be judged because of the unknown pieces.
    pub(crate) fn note_unknown_name(&mut self, when: &Condition, name: &QueueName<'_>) {
        if let Some(gap) = name.gap {
            self.unresolved(when, gap.resource, name, gap.reason, gap.cause);
        }
    }
}
