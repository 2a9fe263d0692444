//! Flags queues that the SAM transform generates for `SqsSubscription: true`.

use super::prelude::*;
use crate::graph::Implicit;

pub(super) static RULE: Rule = rule!(
    "sam-subscription-queue-implicit",
    Category::PipesAndSam,
    Severity::Warning,
    "`SqsSubscription: true` creates a queue with default settings, without a redrive policy"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        if queue.implicit == Some(Implicit::Subscription) {
            let headline = format!(
                "`SqsSubscription: true` creates the queue {queue}, which has a visibility timeout of {} and no redrive policy",
                limits::VISIBILITY_TIMEOUT_DEFAULT
            );
            let label = "the properties of the queue that this creates cannot be set";
            let finding = Finding::new("queue", headline, queue.resource.header, label).help(
                "declare a queue with a redrive policy, and name it in `SqsSubscription` by `QueueArn` and `QueueUrl`",
            );
            findings.report(&queue.resource.when, queue, finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Sam;

    #[test]
    fn only_true_is_flagged() {
        let count = |subscription: &str| {
            let text = format!(
                "Resources:\n  T: {{Type: AWS::SNS::Topic}}\n  Q: {{Type: AWS::SQS::Queue}}\n  F:\n    \
                 Type: AWS::Serverless::Function\n    Properties:\n      Handler: h\n      Runtime: nodejs22.x\n      \
                 CodeUri: .\n      Events:\n        E:\n          Type: SNS\n          Properties:\n            \
                 Topic: !Ref T\n            SqsSubscription: {subscription}\n"
            );
            Sam.findings(&RULE, &text).len()
        };
        assert_eq!(count("true"), 1);
        assert_eq!(count("false"), 0);
        assert_eq!(count("{QueueArn: !GetAtt Q.Arn, QueueUrl: !Ref Q}"), 0);
    }
}
