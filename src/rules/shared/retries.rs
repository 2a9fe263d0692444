//! Computes the age of a message when it has failed for the last time and moves to the dead-letter queue.

use super::compare::Term;
use super::finding::Finding;
use super::findings::Findings;
use super::operands::Operand;
use crate::graph::{Condition, Queue};

/// Settings that determine that age.
#[derive(Debug, Clone)]
pub(crate) struct Retries<'g> {
    /// Number of receives.
    pub(crate) count: Operand<'g>,
    /// Visibility timeout after each receive.
    pub(crate) visibility: Operand<'g>,
    /// Delay preceding the first receive.
    pub(crate) delay: Operand<'g>,
    /// Condition under which all three have these values.
    pub(crate) when: Condition,
}

impl Retries<'_> {
    /// Returns the age at which a message that always fails is moved: `0 s + 5 × 30 s`.
    pub(crate) fn age(&self) -> Term<'_> {
        &self.delay + &self.count * &self.visibility
    }

    /// Adds a label at each operand to `finding`.
    pub(crate) fn show(&self, finding: Finding) -> Finding {
        let count = format!(
            "a message moves to the dead-letter queue after {} receives",
            self.count.shown()
        );
        let hides = format!("after each receive it is invisible for {}", self.visibility.shown());
        let finding =
            (finding.label(&self.count, count)).label(&self.visibility, self.visibility.or_default("SQS", hides));
        if self.delay.value == 0 {
            return finding;
        }
        finding.label(
            &self.delay,
            format!("a new message is delayed by {}", self.delay.shown()),
        )
    }
}

impl Findings<'_> {
    /// Returns the visibility timeouts and delays of `queue`, combined with the receive count `count`.
    pub(crate) fn retries<'a>(&mut self, when: &Condition, queue: &'a Queue, count: &Operand<'a>) -> Vec<Retries<'a>> {
        let mut all = Vec::new();
        for visibility in self.visibility(when, queue) {
            for delay in self.delay(&visibility.when, queue) {
                all.push(Retries {
                    count: count.clone(),
                    visibility: visibility.clone(),
                    when: delay.when.clone(),
                    delay,
                });
            }
        }
        all
    }
}
