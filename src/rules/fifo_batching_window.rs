//! Flags mappings on FIFO queues that set a batching window.

use super::prelude::*;
use crate::rules::shared::queue_types::TypedQueue;

pub(super) static RULE: Rule = rule!(
    "fifo-batching-window",
    Category::Mapping,
    Severity::Error,
    "a mapping on a FIFO queue has a batching window, which FIFO does not support",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        // Without an upper bound: `batching-window-out-of-range` leaves FIFO queues to this rule.
        for window in findings.any_numbers(&mapping.resource.when, mapping, &mapping.window, Unit::Seconds) {
            let is_none = fact(window.value <= 0, || {
                format!("{} means no batching window", window.in_words())
            });
            if findings.satisfied(&window.when, mapping, is_none.depending_on(&window)) {
                continue;
            }
            for source in findings.sources(mapping, &window.when) {
                let is_standard = fact(!source.fifo, || source.words())
                    .depending_on(&window)
                    .depending_on(&source);
                findings.require(&source.when, mapping, is_standard, || {
                    unsupported(mapping, &window, &source)
                });
            }
        }
    }
}

fn unsupported(mapping: &EventSourceMapping, window: &Operand<'_>, source: &TypedQueue<'_>) -> Finding {
    let headline = format!(
        "{mapping} sets a batching window of {} on the FIFO queue {}, which does not support one",
        window.in_words(),
        source.shown
    );
    let label = format!("a batching window of {}, so Lambda rejects the mapping", window.shown());
    // The fix removes the attribute, or sets a number that is written elsewhere to 0.
    let fix = if window.origins.is_empty() {
        window.removal()
    } else {
        window.set_to(0)
    };
    Finding::new("window", headline, window, label)
        .show(source)
        .help(format!("remove `{}`", window.name))
        .fix(fix)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn window_above_zero_is_flagged() {
        stack().check(
            &RULE,
            "
            queue.fifo | mapping.source | mapping.window | finding
            true       |                | 0              |
            true       |                | 1              | mapping.window
            true       |                | 301            | mapping.window
            true       |                |                |
            true       |                | open           |
                       |                | 1              |
            true       | open           | 1              |
            ",
        );
    }
}
