//! Flags failure destinations on mappings of queues, which Lambda supports only for streams.

use super::prelude::*;
use crate::rules::shared::queue_types::PolledQueue;

pub(super) static RULE: Rule = rule!(
    "event-source-mapping-failure-destination",
    Category::FailureChannel,
    Severity::Warning,
    "a mapping on a queue has a destination for failures, which only streams support"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for destination in findings.known(&mapping.resource.when, mapping, &mapping.failure_destination) {
            for source in findings.polled_queues(mapping, &destination.when) {
                let none = fact(destination.value.is_none(), || "no destination for failures".to_owned());
                findings.require(&source.when, mapping, none.depending_on(&destination), || {
                    unsupported(mapping, &destination, &source)
                });
            }
        }
    }
}

fn unsupported(
    mapping: &EventSourceMapping,
    destination: &Known<'_, Option<Link>>,
    source: &PolledQueue<'_>,
) -> Finding {
    let headline = format!(
        "{mapping} has a destination for failures of {}, but Lambda supports that for streams only: nothing arrives there",
        source.introduced()
    );
    Finding::new(
        "failure_destination",
        headline,
        destination,
        "failed messages of a queue do not arrive here",
    )
    .help(format!(
        "remove the destination, and give {} a redrive policy with a dead-letter queue",
        source.shown
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::stack;

    #[test]
    fn failure_destination_on_queue_is_flagged() {
        stack().check(
            &RULE,
            "
            mapping.source                       | mapping.failure_destination               | finding
                                                 | arn:aws:sqs:eu-west-1:111122223333:failed | mapping.failure_destination
            arn:aws:sqs:eu-west-1:111122223333:q | arn:aws:sqs:eu-west-1:111122223333:failed | mapping.failure_destination
                                                 | queue.arn                                 | mapping.failure_destination
                                                 | open                                      |
                                                 | null                                      |
            ",
        );
        stack().only(&[Terraform, CloudFormation]).check(
            &RULE,
            "
            mapping.source                                  | mapping.failure_destination               | finding
            arn:aws:kinesis:eu-west-1:111122223333:stream/s | arn:aws:sqs:eu-west-1:111122223333:failed |
            open                                            | arn:aws:sqs:eu-west-1:111122223333:failed |
            ",
        );
    }
}
