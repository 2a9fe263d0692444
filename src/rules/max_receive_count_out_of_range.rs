//! Flags max receive counts that SQS rejects.

use super::prelude::*;
use crate::graph::limits::{ADVISED_RECEIVES, MAX_RECEIVE_COUNT};
use crate::graph::{PolicyError, PolicyErrorKind};

pub(super) static RULE: Rule = rule!(
    "max-receive-count-out-of-range",
    Category::Redrive,
    Severity::Error,
    "SQS does not accept the max receive count of a redrive policy",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        let when = &queue.resource.when;
        for count in findings.any_receive_counts(when, queue) {
            findings.require(&count.when, queue, within(&count, &MAX_RECEIVE_COUNT), || {
                out_of_range(queue, &count)
            });
        }
        for (when, _, policy) in queue.redrive.known_in(when) {
            for fault in policy.iter().flat_map(|policy| &policy.faults) {
                if let PolicyErrorKind::CountNotInteger(written) = &fault.kind {
                    findings.report(&when, queue, no_integer(queue, fault, written));
                }
            }
        }
    }
}

fn out_of_range(queue: &Queue, count: &Operand<'_>) -> Finding {
    let (name, least, most) = (count.name, MAX_RECEIVE_COUNT.least, MAX_RECEIVE_COUNT.most);
    let headline = format!(
        "{queue} has a max receive count of {}, but SQS accepts {least} to {most}",
        count.value
    );
    let label = format!("{} is outside {least} to {most}", count.shown());
    let finding = Finding::new("max_receive_count", headline, count, label);
    if count.value < least {
        finding
            .help(format!(
                "set `{name}` to {ADVISED_RECEIVES}, or remove the redrive policy to have no dead-letter queue"
            ))
            .fix(count.set_to(ADVISED_RECEIVES))
    } else {
        finding
            .help(format!(
                "set `{name}` to {most} or less; {ADVISED_RECEIVES} or a few more suit most queues"
            ))
            .fix(count.set_to(most))
    }
}

fn no_integer(queue: &Queue, fault: &PolicyError, written: &str) -> Finding {
    let headline = format!("{queue} has a max receive count that is not a whole number: `{written}`");
    Finding::new("max_receive_count", headline, fault.span, "not a whole number")
        .help("set `maxReceiveCount` to a whole number from 1 to 1000, such as 5")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam};
    use crate::testing::queue;

    #[test]
    fn both_ends_of_the_range_are_accepted() {
        queue().check(
            &RULE,
            r#"
            queue.max_receive_count | finding
            1                       |
            1000                    |
            open                    |
            "5"                     |
            0                       | queue.max_receive_count
            -1                      | queue.max_receive_count
            1001                    | queue.max_receive_count
            2.5                     | queue.max_receive_count
            "many"                  | queue.max_receive_count
            "#,
        );
    }

    #[test]
    fn quoted_count_in_template_is_read_as_number() {
        queue().only(&[CloudFormation, Sam]).check(
            &RULE,
            r#"
            queue.max_receive_count | finding                 | headline
            "1000"                  |                         |
            "1001"                  | queue.max_receive_count | `Orders` has a max receive count of 1001, but SQS accepts 1 to 1000
            "#,
        );
    }
}
