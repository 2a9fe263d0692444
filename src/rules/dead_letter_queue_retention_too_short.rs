//! Flags dead-letter queues whose retention period is not longer than that of their source queue.

use super::prelude::*;
use crate::graph::Seconds;
use crate::graph::limits::RETENTION;
use crate::rules::shared::retries::Retries;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-retention-too-short",
    Category::Redrive,
    Severity::Warning,
    "a failed message is deleted soon after it arrives or at once: its age counts from when it was first sent",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for source in findings.graph.queues() {
        for target in findings.redrive_targets(&source.resource.when, source) {
            let dlq = findings.graph.queue(source.resource.unit, target.value);
            let Some(dlq) = dlq.filter(|dlq| !std::ptr::eq(*dlq, source)) else {
                continue;
            };
            for fifo in findings.known(&target.when.and(&dlq.resource.when), source, &source.fifo) {
                let restarts = fact(*fifo.value, || {
                    "FIFO: the enqueue time of a message is reset when it is moved".to_owned()
                });
                if !findings.satisfied(&fifo.when, source, restarts.depending_on(&fifo)) {
                    compare(findings, (source, dlq), &target, &fifo.when);
                }
            }
        }
    }
}

fn compare(findings: &mut Findings<'_>, (source, dlq): (&Queue, &Queue), target: &Known<'_, Link>, when: &Condition) {
    for source_retention in findings.least_retention(when, source) {
        for retention in findings.retention(&source_retention.when, dlq) {
            let kept = Term::from(&source_retention).of(&source.resource);
            // No retention period can exceed the maximum.
            let outlives = if retention.value == RETENTION.most {
                at_most(kept, &retention).note(|| ", the maximum".to_owned())
            } else {
                below(kept, &retention)
            };
            let pair = Pair {
                graph: findings.graph,
                source,
                dlq,
                source_retention: &source_retention,
                retention: &retention,
            };
            let outlives = findings.require(&retention.when, dlq, outlives.depending_on(target), || {
                pair.finding(None)
            });
            if !(outlives && source_retention.is_known()) {
                for retries in losses(findings, source, &source_retention, &retention) {
                    findings.report(&retries.when, dlq, pair.finding(Some(&retries)));
                }
            }
        }
    }
}

/// Returns the settings under which the last failure comes after the end of `retention`: the message is then too old
/// for the dead-letter queue when it arrives. A message that expires in `source` before that never arrives, which
/// `retries-outlast-retention` reports. Unresolved operands only lower the severity, so they are not noted.
fn losses<'g>(
    findings: &mut Findings<'_>,
    source: &'g Queue,
    source_retention: &Operand<'_>,
    retention: &Operand<'g>,
) -> Vec<Retries<'g>> {
    // With an unresolved retention of the source, the message is lost in either queue.
    let may_arrive = |age: i64| !source_retention.is_known() || age < source_retention.value;
    let is_lost = |age: i64| retention.value <= age && may_arrive(age);
    findings.without_notes(|findings| {
        let counts = findings.receive_counts(&retention.when, source).into_iter();
        let all = counts.flat_map(|count| findings.retries(&count.when, source, &count));
        all.filter(|retries| is_lost(retries.age().value)).collect()
    })
}

/// Source queue and its dead-letter queue, with their retention periods.
struct Pair<'a> {
    graph: &'a Graph,
    source: &'a Queue,
    dlq: &'a Queue,
    source_retention: &'a Operand<'a>,
    retention: &'a Operand<'a>,
}

impl Pair<'_> {
    /// Creates the finding. With `lost`, messages are too old for the dead-letter queue when they arrive; otherwise
    /// they only have less time left there.
    fn finding(&self, lost: Option<&Retries<'_>>) -> Finding {
        let Pair {
            source_retention,
            retention,
            ..
        } = self;
        let [dlq, source] = self.graph.shown_apart(&self.dlq.resource, &self.source.resource);
        let keeps = retention.readable();
        let headline = match lost {
            Some(retries) => format!(
                "{dlq} deletes a message {keeps} after it was first sent: one that fails in {source} is {} old by then \
                 and gone on arrival",
                Seconds(retries.age().value).readable()
            ),
            None if retention.value == source_retention.value => format!(
                "{dlq} deletes a message {keeps} after it was first sent, no later than {source}: one that fails late has \
                 little time left there"
            ),
            None => format!(
                "{dlq} deletes a message {keeps} after it was first sent: one that fails later in {source} is gone on \
                 arrival"
            ),
        };
        let deleted = format!("deleted {} after it was first sent", retention.shown());
        let mut source_says = format!("{source} keeps messages for {}", source_retention.shown());
        if source_retention.value == RETENTION.most {
            // Two queues at the maximum are the best possible setting and are not reported. The fix raises only the
            // retention of the dead-letter queue.
            source_says += ", the maximum: no dead-letter queue can outlive that, so an alarm has to report the first message in time";
        }
        let finding = Finding::new("retention", headline, *retention, retention.or_default("SQS", deleted))
            .label(*source_retention, source_retention.or_default("SQS", source_says))
            .help(format!(
                "set `{}` of {dlq} to {} (14 days, the maximum)",
                retention.name, RETENTION.most
            ))
            .fix(retention.set_to(RETENTION.most))
            // The source queue with the longest retention takes precedence.
            .weight(source_retention.value);
        match lost {
            Some(retries) => (retries.show(finding))
                .scenario(scenarios::of_retries_kept(retries, source_retention, retention))
                .calculation(retries.age().calculation())
                .severity(Severity::Error),
            None => finding.scenario(scenarios::of_late_failure(source_retention, retention)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::queue;

    #[test]
    fn equal_retention_is_flagged_and_one_second_more_accepted() {
        queue().check(
            &RULE,
            "
            queue.retention | dlq.retention | queue.fifo | dlq.fifo | finding
            86400           | 86399         |            |          | dlq.retention
            86400           | 86400         |            |          | dlq.retention
            86400           | 86401         |            |          |
            86400           | open          |            |          |
            // The defaults.
                            |               |            |          | dlq
            // The maximum on both queues.
            1209600         | 1209600       |            |          |
                            |               | true       | true     |
            ",
        );
    }

    #[test]
    fn message_too_old_on_arrival_is_an_error() {
        queue().check(
            &RULE,
            "
            queue.visibility_timeout | queue.delay | queue.retention | dlq.retention | finding | calculation
            60                       | 10          |                 | 310           | error   | 10 s + 5 × 60 s = 310 s
            60                       | 10          |                 | 311           | warning |
            // A message that the source queue deletes first does not arrive at all.
            60                       | 10          | 311             | 310           | error   |
            60                       | 10          | 310             | 310           | warning |
            // An unresolved visibility timeout only lowers the severity.
            open                     |             |                 | 310           | warning |
            ",
        );
    }

    #[test]
    fn source_with_longest_retention_is_reported() {
        Terraform.check_cases(
            &RULE,
            r#"
resource "aws_sqs_queue" "failed" {
  message_retention_seconds = <failed>
}
resource "aws_sqs_queue" "short" {
  message_retention_seconds = 172800
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "long" {
  message_retention_seconds = 259200
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
"#,
            "
            failed | finding | headline                                                                           | label
            172800 | failed  | …2 days after it was first sent: one that fails later in `aws_sqs_queue.long` is… | …aws_sqs_queue.short…
            ",
        );
    }
}
