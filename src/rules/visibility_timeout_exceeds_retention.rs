//! Flags queues that delete a message before it can be received a second time.

use super::prelude::*;
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "visibility-timeout-exceeds-retention",
    Category::Visibility,
    Severity::Error,
    "a message expires before its visibility timeout ends, so nothing is ever retried",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.consumed() {
        // A queue without a consumer delivers no message even once.
        for consumer in findings.consumers_and_workers(&queue.resource.when, queue) {
            for visibility in findings.visibility(&consumer.when, queue) {
                for retention in findings.retention(&visibility.when, queue) {
                    let retried = below(&visibility, &retention).depending_on(&consumer);
                    findings.require(&retention.when, queue, retried, || {
                        expires_first(queue, &consumer, &visibility, &retention)
                    });
                }
            }
        }
    }
}

fn expires_first(queue: &Queue, consumer: &Consumer<'_>, visibility: &Operand<'_>, retention: &Operand<'_>) -> Finding {
    let headline = format!(
        "{queue} keeps messages for {} but has a visibility timeout of {}: a message that fails once is lost without a retry",
        retention.readable(),
        visibility.readable()
    );
    let deleted = format!("the message is deleted after {}", retention.shown());
    let again = format!("it would become visible again only after {}", visibility.shown());
    Finding::new("retention", headline, retention, deleted)
        .label(visibility, visibility.or_default("SQS", again))
        .show(consumer)
        .scenario(scenarios::of_one_failure(Some(visibility), None, retention))
        .help(format!(
            "raise `{}` well above {}; SQS's default is {}",
            retention.name,
            visibility.value,
            limits::RETENTION_DEFAULT.with_words()
        ))
        .fix(retention.set_to(limits::RETENTION_DEFAULT.0))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Sam;
    use crate::testing::stack;

    #[test]
    fn equal_retention_is_flagged_and_one_second_more_accepted() {
        stack().check(
            &RULE,
            "
            queue.visibility_timeout | queue.retention | mapping.enabled | finding
            600                      | 600             |                 | queue.retention
            600                      | 601             |                 |
            600                      | 600             | false           |
            // Other rules report these values.
            600                      | 14              |                 |
            600000                   | 600             |                 |
            open                     | 600             |                 |
            // The default timeout with the minimum retention.
                                     | 60              |                 |
            ",
        );
    }

    #[test]
    fn help_uses_cloudformation_property_names() {
        stack().only(&[Sam]).check(
            &RULE,
            "
            queue.visibility_timeout | queue.retention | finding         | help
            900                      | 600             | queue.retention | raise `MessageRetentionPeriod` well above 900…
            ",
        );
    }
}
