//! Flags FIFO queues as the failure target of asynchronous invocations.

use super::prelude::*;
use crate::graph::FailureTarget;
use crate::rules::shared::queue_types::TypedQueue;

pub(super) static RULE: Rule = rule!(
    "async-failure-target-fifo",
    Category::FailureChannel,
    Severity::Error,
    "failures of asynchronous invocations go to a FIFO queue, which Lambda rejects"
);

fn check(findings: &mut Findings<'_>) {
    for function in findings.graph.functions() {
        for setting in &function.failure_targets {
            for target in findings.known(&setting.when, function, &setting.target) {
                for queue in findings.typed_queues(function.resource.unit, &target, &target.when) {
                    let is_standard = fact(!queue.fifo, || queue.words())
                        .depending_on(&target)
                        .depending_on(&queue);
                    findings.require(&queue.when, function, is_standard, || {
                        refused(function, setting, &target, &queue)
                    });
                }
            }
        }
    }
}

fn refused(function: &Function, setting: &FailureTarget, target: &Known<'_, Link>, queue: &TypedQueue<'_>) -> Finding {
    let headline = format!(
        "`{}` of {function} is the FIFO queue {}, but Lambda accepts only standard queues there",
        setting.name, queue.shown
    );
    let finding = Finding::new(
        "failure_target",
        headline,
        target,
        "a FIFO queue, which Lambda rejects here",
    )
    .help(format!("set `{}` to a standard queue", target.name));
    if queue.queue.is_some() {
        finding.show(queue)
    } else {
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::CloudFormation;
    use crate::testing::queue;

    #[test]
    fn only_fifo_targets_are_flagged() {
        queue().check(
            &RULE,
            "
            queue.fifo | function.failure_target                        | finding
            false      | queue.arn                                      |
            open       | queue.arn                                      |
            true       | queue.arn                                      | function.failure_target
            true       | open                                           |
            true       | arn:aws:sqs:eu-west-1:111122223333:failed      |
            true       | arn:aws:sqs:eu-west-1:111122223333:failed.fifo | function.failure_target
            ",
        );
        let topic = "resource \"aws_sns_topic\" \"t\" {\n  fifo_topic = true\n}";
        queue()
            .terraform(topic)
            .check(&RULE, "function.failure_target | finding\n = aws_sns_topic.t.arn |");
    }

    #[test]
    fn failure_destination_is_checked() {
        CloudFormation.check(
            &RULE,
            r"
Resources:
  Failed:
    Type: AWS::SQS::Queue
    Properties: {FifoQueue: true}
  F:
    Type: AWS::Lambda::Function
  Config:
    Type: AWS::Lambda::EventInvokeConfig
    Properties:
      FunctionName: !Ref F
      Qualifier: $LATEST
      DestinationConfig:
        OnFailure:
          Destination: !GetAtt Failed.Arn # expect: async-failure-target-fifo
",
        );
    }
}
