//! Flags failure destinations on mappings of queues, which Lambda supports only for streams.

use super::prelude::*;
use crate::rules::shared::queue_types::PolledQueue;

pub(super) static RULE: Rule = Rule {
    id: "event-source-mapping-failure-destination",
    category: Category::FailureChannel,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "a mapping on a queue has a destination for failures, which only streams support",
    page: include_str!("../../rules/event-source-mapping-failure-destination.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for destination in findings.known(&mapping.resource.when, mapping, &mapping.failure_destination) {
            for source in findings.polled_queues(graph, mapping, &destination.when) {
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
        "{} has a destination for failures of {}, but Lambda supports that for streams only: nothing arrives there",
        mapping.resource.shown(),
        source.introduced()
    );
    Finding::new(
        "failure_destination",
        headline,
        destination,
        "failures of a queue do not come here",
    )
    .help(format!(
        "remove the destination, and give {} a redrive policy with a dead-letter queue",
        source.shown
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(source: &str, target: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{}}
resource "aws_sqs_queue" "failed" {{}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = {source}
  function_name    = "f"
  destination_config {{
    on_failure {{
      destination_arn = {target}
    }}
  }}
}}
"#
        )
    }

    #[test]
    fn failure_destination_on_queue_is_flagged() {
        let expected = "aws_sqs_queue.failed.arn # expect: event-source-mapping-failure-destination";
        check(&RULE, Terraform, &terraform("aws_sqs_queue.q.arn", expected));
        check(
            &RULE,
            Terraform,
            &terraform("\"arn:aws:sqs:eu-west-1:111122223333:q\"", expected),
        );
        for (source, target) in [
            (
                "\"arn:aws:kinesis:eu-west-1:111122223333:stream/s\"",
                "aws_sqs_queue.failed.arn",
            ),
            ("var.open", "aws_sqs_queue.failed.arn"),
            ("aws_sqs_queue.q.arn", "var.open"),
            ("aws_sqs_queue.q.arn", "null"),
        ] {
            check(&RULE, Terraform, &terraform(source, target));
        }
    }

    #[test]
    fn cloudformation_mapping_is_flagged() {
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: f
      DestinationConfig:
        OnFailure:
          Destination: arn:aws:sqs:eu-west-1:111122223333:failed # expect: event-source-mapping-failure-destination
",
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
            DestinationConfig:
              OnFailure:
                Destination: arn:aws:sqs:eu-west-1:111122223333:failed # expect: event-source-mapping-failure-destination
",
        );
    }
}
