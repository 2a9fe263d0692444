//! Names of queues, of which some pieces may be unknown.

use super::findings::Findings;
use super::operands::Provenance;
use super::trace::{Gap, Read};
use crate::graph::{Condition, Pattern, Queue};
use crate::source::Span;
use std::collections::BTreeSet;
use std::ops::Deref;

/// A queue's name, as far as it is known.
#[derive(Debug)]
pub(crate) struct QueueName<'g> {
    /// Its pieces.
    pub(crate) text: Pattern,
    /// The condition under which it is that.
    pub(crate) when: Condition,
    from: Provenance<'g>,
    /// Why a piece is unknown.
    gap: Option<Gap<'g>>,
}

impl<'g> Deref for QueueName<'g> {
    type Target = Provenance<'g>;

    fn deref(&self) -> &Provenance<'g> {
        &self.from
    }
}

impl Read for QueueName<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        self.from.places(all);
    }

    fn unresolved(&self) -> Option<Gap<'_>> {
        self.gap
    }
}

/// Whether the queue's address or its name says that it is for messages that failed: by the files nothing leads there, and
/// programs may.
pub(crate) fn is_called_dead_letter(queue: &Queue) -> bool {
    let says = |name: &str| {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let letters = letters.collect::<String>().to_ascii_lowercase();
        letters.contains("dlq") || letters.contains("deadletter")
    };
    let mut names = queue.name.cases.iter().filter_map(|case| case.value()?.as_deref());
    says(queue.resource.address.rsplit('.').next().unwrap_or_default()) || names.any(says)
}

impl Findings<'_> {
    /// The names that the author of `queue` gives it, under the condition `when`. One of which nothing is known is noted.
    pub(crate) fn names<'g>(&mut self, when: &Condition, queue: &'g Queue) -> Vec<QueueName<'g>> {
        let mut all = Vec::new();
        let known = self.known_or(when, queue, &queue.name, |findings, when, case, unresolved| {
            let Some(text) = unresolved.pattern() else {
                findings.unresolved(when, &queue.resource, case, unresolved, case.cause());
                return;
            };
            all.push(QueueName {
                text: text.clone(),
                when: when.clone(),
                from: Provenance::new(case, &queue.name.name, &queue.resource),
                gap: Some(Gap {
                    reason: unresolved.reason(),
                    cause: case.cause(),
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

    /// Notes that the queue called `name` could not be judged, for want of what is unknown of that.
    pub(crate) fn undecided(&mut self, when: &Condition, name: &QueueName<'_>) {
        if let Some(gap) = name.gap {
            self.unresolved(when, gap.resource, name, gap.reason, gap.cause);
        }
    }
}
