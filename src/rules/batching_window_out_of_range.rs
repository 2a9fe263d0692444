//! Flags batching windows that Lambda rejects.

use super::prelude::*;
use crate::graph::limits::WINDOW;
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = rule!(
    "batching-window-out-of-range",
    Category::Mapping,
    Severity::Error,
    "a mapping has a batching window that Lambda rejects",
    fix = Some(Safety::Unsafe)
);

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        let accepts = Accepts::of("Lambda", &WINDOW);
        findings.reject_types(&mapping.resource.when, mapping, "window", &mapping.window, accepts);
        for window in findings.any_numbers(&mapping.resource.when, mapping, &mapping.window, WINDOW.unit) {
            let mut when = window.when.clone();
            if window.value > WINDOW.most {
                // `fifo-batching-window` reports FIFO queues.
                for source in findings.without_notes(|findings| findings.sources(graph, mapping, &window.when)) {
                    if source.fifo {
                        findings.leave_to_rule_of(&source.when, mapping, &[&window, &source], Cause::FifoWindow);
                        when = when.and(&source.when.not());
                    }
                }
            }
            findings.require(&when, mapping, within(&window, &WINDOW), || {
                out_of_range(mapping, &window)
            });
        }
    }
}

fn out_of_range(mapping: &EventSourceMapping, window: &Operand<'_>) -> Finding {
    let (least, most) = (WINDOW.least, WINDOW.most);
    let headline = format!(
        "{} has a batching window of {} s, but Lambda accepts {least} to {most} s",
        mapping.resource.shown(),
        window.value
    );
    let label = format!("{} is outside {least} to {most} s", window.shown());
    Finding::new("window", headline, window, label)
        .help(format!("set `{}` to a value from {least} to {most}", window.name))
        .fix(window.set_to(window.value.clamp(least, most)))
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
