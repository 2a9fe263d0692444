//! Flags redrive policies that give a message no second attempt.

use super::prelude::*;
use crate::rules::shared::advice::FewestReceives;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "max-receive-count-too-low",
    Category::Redrive,
    Severity::Warning,
    "a single failed receive sends a good message to the dead-letter queue",
    fix = Some(Safety::Unsafe),
    settings = FewestReceives::ALL
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        let FewestReceives { minimum } = findings.settings(queue);
        for count in findings.receive_counts(&queue.resource.when, queue) {
            findings.require(&count.when, queue, at_least(&count, minimum), || {
                too_low(queue, &count, minimum)
            });
        }
    }
}

fn too_low(queue: &Queue, count: &Operand<'_>, minimum: i64) -> Finding {
    let (shown, receives) = (queue.resource.shown(), count.value);
    let (counted, too_few) = if receives == 1 {
        (
            "receive",
            "one throttle or lost response dead-letters a good message".to_owned(),
        )
    } else {
        ("receives", format!("fewer than the minimum of {minimum}"))
    };
    let headline = format!("{shown} moves a message to its dead-letter queue after {receives} {counted}: {too_few}");
    let label = format!("moved to the dead-letter queue after {}", count.counted(counted));
    let wanted = minimum.max(limits::ADVISED_RECEIVES);
    let enough = if wanted == minimum {
        format!("set `{}` to {wanted} or more", count.name)
    } else {
        format!("set `{}` to {wanted}, or at least to {minimum}", count.name)
    };
    Finding::new("max_receive_count", headline, count, label)
        .scenario(scenarios::of_unlucky_receives(queue, receives, false))
        .help(enough)
        .caveat("suppress this finding if processing a message twice would do more harm")
        .fix((wanted <= limits::MAX_RECEIVE_COUNT.most).then(|| count.set_to(wanted)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::queue;

    #[test]
    fn one_receive_is_flagged_and_two_accepted() {
        queue().check(
            &RULE,
            r#"
            queue.max_receive_count | finding
            1                       | queue.max_receive_count
            "1"                     | queue.max_receive_count
            2                       |
            // The rule for ranges reports it.
            0                       |
            open                    | unjudged
            "#,
        );
    }

    #[test]
    fn parameter_and_json_text_are_read() {
        let template = "
Parameters:
  Receives: {Type: Number, Default: 1}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy:
        deadLetterTargetArn: arn:aws:sqs:eu-west-1:123456789012:failed
        maxReceiveCount: !Ref Receives # expect: max-receive-count-too-low
";
        CloudFormation.check(&RULE, template);
        let text = r#"
resource "aws_sqs_queue" "orders" {
  redrive_policy = "{\"deadLetterTargetArn\": \"arn:aws:sqs:eu-west-1:123456789012:failed\", \"maxReceiveCount\": 1}" # expect: max-receive-count-too-low
}
"#;
        Terraform.check(&RULE, text);
    }
}
