//! Flags visibility timeouts with which failures would use up the quota of messages in flight.

use super::prelude::*;
use crate::graph::limits::{IN_FLIGHT, LEAST_FAILURES};
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = Rule {
    id: "in-flight-limit-at-risk",
    category: Category::Visibility,
    severity: Severity::Info,
    set: Set::Pedantic,
    fix: None,
    summary: "fewer than 20 failures per second fill the quota of messages in flight",
    page: include_str!("../../rules/in-flight-limit-at-risk.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.read() {
        for visibility in findings.visibility(&queue.resource.when, queue) {
            let is_short = at_most(&visibility, IN_FLIGHT / LEAST_FAILURES);
            if findings.satisfied(&visibility.when, queue, is_short) {
                continue;
            }
            for consumer in findings.consumers(graph, &visibility.when, queue) {
                findings.report(&consumer.when, queue, at_risk(queue, &visibility, &consumer));
            }
        }
    }
}

fn at_risk(queue: &Queue, visibility: &Operand<'_>, consumer: &Consumer<'_>) -> Finding {
    let failures = IN_FLIGHT / visibility.value;
    let headline = format!(
        "{} has a visibility timeout of {}, so {} failures per second fill the quota of {IN_FLIGHT} messages in flight, and nothing is received any more",
        queue.resource.shown(),
        visibility.in_words(),
        failures + 1
    );
    Finding::new(
        "visibility_timeout",
        headline,
        visibility,
        format!("in flight for {}", visibility.shown()),
    )
    .show(consumer)
    .scenario(scenarios::of_failures(visibility, failures + 1))
    .calculation(Some(format!(
        "{IN_FLIGHT} messages ÷ {} s = {failures} per second",
        visibility.value
    )))
    .help(format!(
        "lower `{}` to {} or less, or `maxReceiveCount`, so that failures leave the queue sooner",
        visibility.name,
        IN_FLIGHT / LEAST_FAILURES
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(visibility: &str, mapping: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  visibility_timeout_seconds = {visibility}
}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = "f"
  {mapping}
}}
"#
        )
    }

    #[test]
    fn timeout_above_6000_seconds_is_flagged() {
        for (visibility, mapping) in [("6000", ""), ("var.open", ""), ("6001", "enabled = false")] {
            check(&RULE, Terraform, &terraform(visibility, mapping));
        }
        check(
            &RULE,
            Terraform,
            &terraform("6001 # expect: in-flight-limit-at-risk", ""),
        );
    }

    #[test]
    fn cloudformation_queue_is_flagged() {
        let queue = "
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 43200 # expect: in-flight-limit-at-risk
";
        let pipe = "  P:
    Type: AWS::Pipes::Pipe
    Properties: {Source: !GetAtt Q.Arn, Target: arn:aws:sqs:eu-west-1:111122223333:r}
";
        check(&RULE, CloudFormation, &format!("{queue}{pipe}"));
        let event = "  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}
";
        check(&RULE, Sam, &format!("{queue}{event}"));
    }
}
