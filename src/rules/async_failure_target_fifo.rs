//! Flags FIFO queues as the failure target of asynchronous invocations.

use super::prelude::*;
use crate::graph::FailureTarget;
use crate::rules::shared::queue_types::TypedQueue;

pub(super) static RULE: Rule = Rule {
    id: "async-failure-target-fifo",
    category: Category::FailureChannel,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "failures of asynchronous invocations go to a FIFO queue, which Lambda rejects",
    page: include_str!("../../rules/async-failure-target-fifo.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for function in graph.functions() {
        for setting in &function.failure_targets {
            for target in findings.known(&setting.when, function, &setting.target) {
                for queue in findings.typed_queues(graph, function.resource.unit, &target, &target.when) {
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
        "`{}` of {} is the FIFO queue {}, but Lambda accepts only standard queues there",
        setting.name,
        function.resource.shown(),
        queue.shown
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
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(fifo: &str, target: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_sns_topic" "t" {{
  fifo_topic = true
}}
resource "aws_sqs_queue" "failed" {{
  fifo_queue = {fifo}
}}
resource "aws_lambda_function" "f" {{
  function_name = "f"
  dead_letter_config {{
    target_arn = {target}
  }}
}}
"#
        )
    }

    const EXPECTED: &str = "# expect: async-failure-target-fifo";

    #[test]
    fn only_fifo_targets_are_flagged() {
        let failed = "aws_sqs_queue.failed.arn";
        for (fifo, target) in [
            ("false", failed),
            ("var.open", failed),
            ("true", "var.open"),
            ("true", "aws_sns_topic.t.arn"),
            ("true", "\"arn:aws:sqs:eu-west-1:111122223333:failed\""),
        ] {
            check(&RULE, Terraform, &terraform(fifo, target));
        }
        for target in [failed, "\"arn:aws:sqs:eu-west-1:111122223333:failed.fifo\""] {
            check(&RULE, Terraform, &terraform("true", &format!("{target} {EXPECTED}")));
        }
    }

    #[test]
    fn failure_destination_is_checked() {
        check(
            &RULE,
            CloudFormation,
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
        check(
            &RULE,
            Sam,
            r"
Resources:
  Failed:
    Type: AWS::SQS::Queue
    Properties: {FifoQueue: true}
  F:
    Type: AWS::Serverless::Function
    Properties:
      DeadLetterQueue:
        Type: SQS
        TargetArn: !GetAtt Failed.Arn # expect: async-failure-target-fifo
",
        );
    }
}
