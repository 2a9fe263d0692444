//! Flags dead-letter queues whose retention period is not longer than that of their source queue.

use super::prelude::*;
use crate::graph::limits::RETENTION;
use crate::rules::shared::retries::Retries;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-retention-too-short",
    Category::Redrive,
    Severity::Warning,
    "a message keeps its original enqueue time when it is moved, so little or no time is left to look at it",
    fix = Some(Safety::Unsafe)
);

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for source in graph.queues() {
        for target in findings.redrive_targets(&source.resource.when, source) {
            let dlq = graph.queue(source.resource.unit, target.value);
            let Some(dlq) = dlq.filter(|dlq| !std::ptr::eq(*dlq, source)) else {
                continue;
            };
            for fifo in findings.known(&target.when.and(&dlq.resource.when), source, &source.fifo) {
                let restarts = fact(*fifo.value, || {
                    "FIFO: the enqueue time of a message is reset when it is moved".to_owned()
                });
                if !findings.satisfied(&fifo.when, source, restarts.depending_on(&fifo)) {
                    compare(graph, findings, (source, dlq), &target, &fifo.when);
                }
            }
        }
    }
}

fn compare(
    graph: &Graph,
    findings: &mut Findings<'_>,
    (source, dlq): (&Queue, &Queue),
    target: &Known<'_, Link>,
    when: &Condition,
) {
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
                graph,
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
        let (keeps, source_keeps) = (retention.in_words(), source_retention.in_words());
        let headline = match lost {
            Some(retries) => format!(
                "{dlq} keeps messages for {keeps}, but a message that fails in {source} is already {} s old when it \
                 arrives and is deleted at once",
                retries.age().value
            ),
            None if retention.value == source_retention.value => format!(
                "{dlq} keeps messages for {keeps}, no longer than {source}, and a message keeps its original enqueue \
                 time when it is moved"
            ),
            None => format!(
                "{dlq} keeps messages for {keeps}, less than the {source_keeps} of {source}, and a message keeps its \
                 original enqueue time when it is moved"
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
    use super::{RULE, Severity};
    use crate::testing::Dialect;

    fn cloudformation(source: &str, dlq: &str) -> String {
        format!(
            "
Parameters:
  Open: {{Type: Number}}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {{deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}}
      {source}
  Failed: {dlq}
"
        )
    }

    const EXPECTED: &str = "# expect: dead-letter-queue-retention-too-short";

    fn dlq(properties: &str) -> String {
        format!("\n    Type: AWS::SQS::Queue\n    Properties:\n      {properties}")
    }

    #[test]
    fn equal_retention_is_flagged_and_one_second_more_accepted() {
        let source = "MessageRetentionPeriod: 86400";
        for (text, flagged) in [("86399", true), ("86400", true), ("86401", false), ("!Ref Open", false)] {
            let marker = if flagged { EXPECTED } else { "" };
            let dlq = dlq(&format!("MessageRetentionPeriod: {text} {marker}"));
            Dialect::CloudFormation.check(&RULE, &cloudformation(source, &dlq));
        }
        let defaults = cloudformation("", &format!("{EXPECTED}\n    Type: AWS::SQS::Queue"));
        Dialect::CloudFormation.check(&RULE, &defaults);
    }

    #[test]
    fn maximum_on_both_queues_is_accepted() {
        let longest = "MessageRetentionPeriod: 1209600";
        Dialect::CloudFormation.check(&RULE, &cloudformation(longest, &dlq(longest)));
    }

    #[test]
    fn fifo_queues_are_ignored() {
        let text = cloudformation("FifoQueue: true", &dlq("FifoQueue: true"));
        Dialect::CloudFormation.check(&RULE, &text);
    }

    #[test]
    fn message_too_old_on_arrival_is_an_error() {
        let judge = |source: &str, retention: &str| {
            let dlq = dlq(&format!("MessageRetentionPeriod: {retention}"));
            let found = Dialect::CloudFormation.findings(&RULE, &cloudformation(source, &dlq));
            (found[0].severity, found[0].calculation.clone())
        };
        let source = "VisibilityTimeout: 60\n      DelaySeconds: 10";
        assert_eq!(
            judge(source, "310"),
            (Severity::Error, Some("10 s + 5 × 60 s = 310 s".to_owned()))
        );
        assert_eq!(judge(source, "311"), (Severity::Warning, None));
        // A message that the source queue deletes first does not arrive at all.
        let expiring = |retention: u32| format!("{source}\n      MessageRetentionPeriod: {retention}");
        assert_eq!(judge(&expiring(311), "310").0, Severity::Error);
        assert_eq!(judge(&expiring(310), "310"), (Severity::Warning, None));
        // An unresolved visibility timeout only lowers the severity.
        assert_eq!(judge("VisibilityTimeout: !Ref Open", "310"), (Severity::Warning, None));
    }

    #[test]
    fn source_with_longest_retention_is_reported() {
        let text = r#"
            resource "aws_sqs_queue" "failed" {
              message_retention_seconds = 172800 # expect: dead-letter-queue-retention-too-short
            }
            resource "aws_sqs_queue" "short" {
              message_retention_seconds = 172800
              redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
            }
            resource "aws_sqs_queue" "long" {
              message_retention_seconds = 259200
              redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
            }
        "#;
        Dialect::Terraform.check(&RULE, text);
        let found = Dialect::Terraform.findings(&RULE, text);
        assert!(
            found[0]
                .headline
                .contains("less than the 259200 s (3 days) of `aws_sqs_queue.long`")
        );
        assert!(
            found[0]
                .labels()
                .iter()
                .any(|label| label.message.contains("aws_sqs_queue.short"))
        );
    }
}
