//! Flags batching windows that Lambda rejects.

use super::prelude::*;
use crate::graph::limits::WINDOW;

pub(super) static RULE: Rule = rule!(
    "batching-window-out-of-range",
    Category::Mapping,
    Severity::Error,
    "a mapping has a batching window that Lambda rejects",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        let checked = ("window", &mapping.window, &WINDOW);
        // `fifo-batching-window` reports FIFO queues.
        findings.require_range(mapping, checked, Cause::FifoWindow, |window| {
            format!(
                "{mapping} has a batching window of {} s, but Lambda accepts {} to {} s",
                window.value, WINDOW.least, WINDOW.most
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn both_ends_of_the_range_are_accepted() {
        stack().check(
            &RULE,
            "
            mapping.window | queue.fifo | finding
            0              |            |
            300            |            |
            open           |            |
            null           |            |
            -1             |            | mapping.window
            301            |            | mapping.window
            3000           |            | mapping.window
            // Another rule reports any window of a FIFO queue.
            301            | true       |
            -1             | true       | mapping.window
            ",
        );
    }
}
