//! Flags queues with several consumers, each of which receives only some of the messages.

use super::prelude::*;
use crate::rules::shared::rivals::{CompetingConsumer, CompetingPair};

pub(super) static RULE: Rule = rule!(
    "queue-competing-consumers",
    Category::Mapping,
    Severity::Warning,
    "several consumers read one queue, so each message reaches only one of them"
);

fn check(findings: &mut Findings<'_>) {
    // `queue-competing-filters` reports consumers with filters.
    let concerns =
        |one: &CompetingConsumer<'_>, other: &CompetingConsumer<'_>| one.filters.is_none() && other.filters.is_none();
    findings.judge_competing_consumers(concerns, competing);
}

fn competing(queue: &Queue, pair: &CompetingPair<'_, '_>) -> Finding {
    let (first, second) = (pair.first.resource.shown(), pair.second.resource.shown());
    let headline = format!("{first} and {second} both read {queue}: each message reaches only one of them, at random");
    Finding::new(
        "consumers",
        headline,
        queue.resource.header,
        "several consumers read this queue",
    )
    .label(pair.first.resource.header, format!("{first} reads {queue}"))
    .label(pair.second.resource.header, format!("{second} reads {queue}"))
    .help("give each consumer a queue of its own, and let SNS or EventBridge deliver to both")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::stack;

    #[test]
    fn mappings_of_two_functions_are_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" { <header>
  name = "q"
}
resource "aws_lambda_function" "f" {
  function_name = "f"
}
resource "aws_lambda_event_source_mapping" "a" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
resource "aws_lambda_event_source_mapping" "b" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = <function>
  <more>
}
"#,
            r#"
            header | function                                                | more                                                                                | finding
                   | "g"                                                     |                                                                                     | header
            // The same function, even with a different version.
                   | aws_lambda_function.f.function_name                     |                                                                                     |
                   | "f:live"                                                |                                                                                     |
                   | "arn:aws:lambda:eu-west-1:111122223333:function:f:live" |                                                                                     |
                   | var.open                                                |                                                                                     |
                   | "g"                                                     | enabled = false                                                                     |
                   | "g"                                                     | enabled = var.open                                                                  |
                   | "g"                                                     | count = var.open                                                                    |
                   | "g"                                                     | filter_criteria {\n filter {\n pattern = jsonencode({ body = { a = [1] } })\n }\n } |
            "#,
        );
    }

    #[test]
    fn two_deployments_of_one_image_do_not_compete() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  name = "q"
}
resource "aws_lambda_function" "blue" {
  function_name = "blue"
  package_type  = "Image"
  image_uri     = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/work:1"
}
resource "aws_lambda_function" "green" {
  function_name = "green"
  package_type  = "Image"
  image_uri     = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/<image>"
}
resource "aws_lambda_event_source_mapping" "blue" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.blue.arn
}
resource "aws_lambda_event_source_mapping" "green" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.green.arn
}
"#,
            "image | finding\n work:1 |\n other:1 | 1\n ${var.open} |",
        );
    }

    #[test]
    fn mapping_and_pipe_are_flagged() {
        let pipe = "  P:
    Type: AWS::Pipes::Pipe
    Properties: {Source: !GetAtt Orders.Arn, Target: arn:aws:sqs:eu-west-1:111122223333:r}";
        stack().template(pipe).check(&RULE, "finding | headline\n queue |");
        let event = "  G:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}";
        stack()
            .only(&[Sam])
            .template(event)
            .check(&RULE, "finding | headline\n queue |");
    }

    #[test]
    fn workers_compete_if_their_roles_differ_and_may_only_receive() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" { <header>
  name = "q"
}
resource "aws_iam_role" "a" {
  name               = "a"
  assume_role_policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ecs-tasks.amazonaws.com" } }] })
}
resource "aws_iam_role_policy" "a" {
  role   = aws_iam_role.a.id
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = ["sqs:ReceiveMessage"], Resource = aws_sqs_queue.q.arn }] })
}
resource "aws_iam_role" "b" {
  name               = "b"
  assume_role_policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ecs-tasks.amazonaws.com" } }] })
}
resource "aws_iam_role_policy" "b" {
  role   = aws_iam_role.b.id
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = <actions>, Resource = aws_sqs_queue.q.arn }] })
}
resource "aws_ecs_task_definition" "a" {
  family                = "a"
  task_role_arn         = aws_iam_role.a.arn
  container_definitions = jsonencode([{ name = "a", image = "a" }])
}
resource "aws_ecs_task_definition" "b" {
  family                = "b"
  task_role_arn         = aws_iam_role.<role>.arn
  container_definitions = jsonencode([{ name = "b", image = "b" }])
}
"#,
            r#"
            header | actions                                   | role | finding
                   | ["sqs:ReceiveMessage"]                    | b    | header
            // The program may be a sender.
                   | ["sqs:ReceiveMessage", "sqs:SendMessage"] | b    |
                   | ["sqs:GetQueueUrl"]                       | b    |
                   | [var.open]                                | b    |
            // One of the two may be the reader.
                   | ["sqs:GetQueueUrl"]                       | a    |
            "#,
        );
    }

    #[test]
    fn mappings_under_exclusive_conditions_are_accepted() {
        CloudFormation.check(
            &RULE,
            r"
Parameters:
  Stage: {Type: String}
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
  IsTest: !Not [!Condition IsProd]
Resources:
  Q:
    Type: AWS::SQS::Queue
  A:
    Type: AWS::Lambda::EventSourceMapping
    Condition: IsProd
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: f}
  B:
    Type: AWS::Lambda::EventSourceMapping
    Condition: IsTest
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: g}
",
        );
    }
}
