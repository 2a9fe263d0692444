//! Flags queues with several consumers, one of whose filters deletes messages that another consumer processes.

use super::prelude::*;
use crate::rules::shared::rivals::{CompetingConsumer, CompetingPair};

pub(super) static RULE: Rule = rule!(
    "queue-competing-filters",
    Category::Mapping,
    Severity::Error,
    "a filter of one consumer deletes messages that another consumer of the queue wants"
);

fn check(findings: &mut Findings<'_>) {
    let concerns =
        |one: &CompetingConsumer<'_>, other: &CompetingConsumer<'_>| one.filters.is_some() || other.filters.is_some();
    findings.judge_competing_consumers(concerns, competing);
}

fn competing(queue: &Queue, pair: &CompetingPair<'_, '_>) -> Finding {
    let (first, second) = (pair.first.resource.shown(), pair.second.resource.shown());
    let shown = queue.resource.shown();
    let headline = format!(
        "{first} and {second} both read {shown}, and a message that the filters of one do not match is deleted, although the other consumer may need it"
    );
    let finding = Finding::new(
        "consumers",
        headline,
        queue.resource.header,
        "several consumers read this queue",
    );
    let finding = [(pair.first, first), (pair.second, second)]
        .into_iter()
        .fold(finding, |finding, (rival, shown)| match rival.filters {
            Some(filters) => finding.label(filters, format!("{shown} deletes what does not match")),
            None => finding.label(rival.resource.header, format!("{shown} has no filter")),
        });
    finding.help("give each consumer a queue of its own, and filter in the SNS subscription or the EventBridge rule")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::stack;

    #[test]
    fn one_filter_among_two_consumers_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
locals {
  orders = jsonencode({ body = { a = [1] } })
}
resource "aws_sqs_queue" "q" { <queue>
  name = "q"
}
resource "aws_lambda_event_source_mapping" "a" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = "f"
  filter_criteria {
    <first>
  }
}
resource "aws_lambda_event_source_mapping" "b" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = "g"
  enabled          = <enabled>
  filter_criteria {
    <second>
  }
}
"#,
            r#"
            queue | first                             | second                                                                                | enabled | finding
                  | filter { pattern = local.orders } |                                                                                       | true    | queue
                  |                                   | filter { pattern = local.orders }                                                     | true    | queue
                  | filter { pattern = local.orders } | filter { pattern = local.orders }                                                     | true    | queue
                  |                                   |                                                                                       | true    |
                  | filter { pattern = local.orders } |                                                                                       | false   |
                  |                                   | filter { pattern = local.orders }                                                     | false   |
                  | filter { pattern = local.orders } | dynamic "filter" {\n for_each = var.open\n content {\n pattern = filter.value\n }\n } | true    |
            "#,
        );
    }

    #[test]
    fn filter_of_pipe_and_of_event_are_flagged() {
        let pipe = r#"  P:
    Type: AWS::Pipes::Pipe
    Properties:
      Source: !GetAtt Orders.Arn
      SourceParameters: {FilterCriteria: {Filters: [{Pattern: '{"body": {"a": [1]}}'}]}}
      Target: arn:aws:sqs:eu-west-1:111122223333:r"#;
        stack()
            .only(&[CloudFormation])
            .template(pipe)
            .check(&RULE, "finding | headline\n queue |");
        let event = "  Other:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}";
        stack().only(&[Sam]).template(event).check(
            &RULE,
            r#"
            mapping.pattern      | finding
            {"body": {"a": [1]}} | queue
                                 |
            "#,
        );
    }
}
