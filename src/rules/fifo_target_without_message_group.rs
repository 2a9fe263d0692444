//! Flags rules, schedules, pipes, tasks and APIs that send to a FIFO queue without a message group.

use super::prelude::*;
use crate::graph::{Attribute, Resource};

pub(super) static RULE: Rule = rule!(
    "fifo-target-without-message-group",
    Category::Fifo,
    Severity::Error,
    "a rule, schedule, pipe, task or API sends to a FIFO queue without a message group, and every send fails"
);

fn check(findings: &mut Findings<'_>) {
    let deliveries = findings.graph.deliveries();
    for target in deliveries
        .targets
        .iter()
        .filter(|target| !target.sender.needs_standard_queue())
    {
        judge(findings, &target.resource, &target.target, &target.message_group_id);
    }
    for pipe in &deliveries.pipes {
        judge(findings, &pipe.resource, &pipe.target, &pipe.message_group_id);
    }
}

fn judge(
    findings: &mut Findings<'_>,
    resource: &Resource,
    target: &Attribute<Link>,
    group: &Attribute<Option<String>>,
) {
    for link in findings.known(&resource.when, resource, target) {
        for queue in findings.typed_queues(resource.unit, &link, &link.when) {
            if !queue.fifo {
                continue;
            }
            for group in findings.known(&queue.when, resource, group) {
                let has_group = is_set(&group).depending_on(&link).depending_on(&queue);
                findings.require(&group.when, resource, has_group, || {
                    let headline = format!(
                        "{resource} sends to the FIFO queue {} without a message group, so every send fails",
                        queue.shown
                    );
                    let finding = Finding::new("message_group_id", headline, &group, format!("no `{}`", group.name))
                        .label(&link, format!("{} is a FIFO queue", queue.shown))
                        .help(format!("set `{}` to what keeps related messages in order", group.name));
                    if queue.queue.is_some() {
                        finding.show(&queue)
                    } else {
                        finding
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Serverless, Terraform};
    use crate::testing::check_file_cases;

    #[test]
    fn fifo_target_without_message_group_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  fifo_queue = <fifo>
}
resource "aws_cloudwatch_event_target" "t" { <header>
  rule = "r"
  arn  = aws_sqs_queue.q.arn
  <group>
}
"#,
            r#"
            header | fifo     | group                                          | finding
                   | true     |                                                | header
                   | true     | sqs_target {\n message_group_id = "g"\n }      |
                   | true     | sqs_target {\n message_group_id = var.open\n } |
                   | false    |                                                |
                   | var.open |                                                |
            "#,
        );
    }

    #[test]
    fn task_without_message_group_is_flagged() {
        let definition = "
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {QueueName: q.fifo, FifoQueue: <fifo>}}
  Flow:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      RoleArn: arn:aws:iam::111122223333:role/r
      <definition>
";
        for dialect in [CloudFormation, Sam, Serverless] {
            dialect.check_cases(
                &RULE,
                definition,
                r#"
                fifo  | definition                                                                                                                                                                                                                         | finding
                true  | Definition: {States: {Send: {Type: Task, Resource: 'arn:aws:states:::sqs:sendMessage', Parameters: {QueueUrl: !Ref Q}}}}                                                                                                           | error
                true  | Definition: {States: {All: {Type: Map, ItemProcessor: {States: {Send: {Type: Task, Resource: 'arn:aws:states:::aws-sdk:sqs:sendMessage', Parameters: {QueueUrl: !Ref Q}}}}}}}                                                  | error
                true  | DefinitionString: !Sub '{"States": {"Send": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "Arguments": {"QueueUrl": "${Q}"}}}}'                                                               | error
                true  | Definition: {States: {Send: {Type: Task, Resource: 'arn:aws:states:::sqs:sendMessage', Parameters: {QueueUrl: '${Url}'}}}}\n      DefinitionSubstitutions: {Url: !Ref Q}                                                            | error
                true  | Definition: {States: {Send: {Type: Task, Resource: 'arn:${P}:states:::sqs:sendMessage', Parameters: {QueueUrl: '${Url}'}}}}\n      DefinitionSubstitutions: {P: aws, Url: !Ref Q}                                                       | error
                true  | DefinitionString: '{"States": {"Send": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"QueueUrl": "${Url}"}}}}'\n      DefinitionSubstitutions: {Url: !Ref Q}                                        | error
                true  | DefinitionString: '{"States": {"Send": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"QueueUrl": "${Url}"}}}}'\n      DefinitionSubstitutions: {Other: !Ref Q}                                      |
                true  | Definition: {States: {Send: {Type: Task, Resource: 'arn:aws:states:::sqs:sendMessage', Parameters: {QueueUrl: !Ref Q, MessageGroupId: a}}}}                                                                                         |
                true  | Definition: {States: {Send: {Type: Task, Resource: 'arn:aws:states:::sqs:sendMessage', Parameters: {QueueUrl: !Ref Q, MessageGroupId.$: $.id}}}}                                                                                    |
                true  | Definition: {States: {Send: {Type: Task, Resource: 'arn:aws:states:::sqs:sendMessage', Parameters: {QueueUrl.$: $.url}}}}                                                                                                          |
                true  | Definition: {States: {Send: {Type: Task, Resource: 'arn:aws:states:::sns:publish', Parameters: {QueueUrl: !Ref Q}}}}                                                                                                               |
                false | Definition: {States: {Send: {Type: Task, Resource: 'arn:aws:states:::sqs:sendMessage', Parameters: {QueueUrl: !Ref Q}}}}                                                                                                           |
                "#,
            );
        }
    }

    #[test]
    fn task_of_a_plugin_of_the_serverless_framework_is_checked() {
        let service = "
service: s
provider: {name: aws, region: eu-west-1}
plugins: [<plugin>]
stepFunctions:
  stateMachines:
    ship:
      definition:
        StartAt: Send
        States:
          Send: {Type: Task, Resource: 'arn:aws:states:::sqs:sendMessage', End: true, Parameters: {QueueUrl: !Ref Q<group>}}
resources: {Resources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: q.fifo, FifoQueue: true}}}}
";
        check_file_cases(
            &RULE,
            &[("serverless.yml", service)],
            "
            plugin                    | group               | finding
            serverless-step-functions |                     | error
            serverless-step-functions | , MessageGroupId: a |
            serverless-offline        |                     |
            ",
        );
    }

    #[test]
    fn subscriber_of_a_new_event_bus_is_checked() {
        CloudFormation.check_cases(
            &RULE,
            "
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {QueueName: q.fifo, FifoQueue: true}}
  S:
    Type: AWS::EventsV2::Subscriber
    Properties:
      EventBusArn: arn:aws:events:eu-west-1:111122223333:event-busv2/b/1
      InvokeConfiguration: {TargetArn: !GetAtt Q.Arn, RoleArn: 'arn:aws:iam::111122223333:role/r'<group>}
",
            "
            group                                    | finding
                                                     | error
            , SqsParameters: {MessageGroupId: a}     |
            ",
        );
    }

    #[test]
    fn integration_of_an_api_without_message_group_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  name       = "q.fifo"
  fifo_queue = true
}
resource "aws_api_gateway_integration" "i" { <header>
  type = "AWS"
  uri  = "<uri>"
  <request>
}
"#,
            r#"
            header | uri                                                                                  | request                                                                                              | finding
                   | arn:aws:apigateway:${var.open}:sqs:path/${var.open}/${aws_sqs_queue.q.name}          | request_templates = { "application/json" = "Action=SendMessage&MessageBody=x" }                      | header
                   | arn:aws:apigateway:eu-west-1:sqs:path/111122223333/q.fifo                            | request_templates = { "application/json" = "Action=SendMessage&MessageBody=x" }                      | header
                   | arn:aws:apigateway:${var.open}:sqs:path/${var.open}/${aws_sqs_queue.q.name}          | request_templates = { "application/json" = "Action=SendMessage&MessageBody=x&MessageGroupId=a" }     |
                   | arn:aws:apigateway:${var.open}:sqs:path/${var.open}/${aws_sqs_queue.q.name}          | request_templates = { "application/json" = var.open }                                                |
                   | arn:aws:apigateway:${var.open}:sqs:path/${var.open}/${aws_sqs_queue.q.name}          | request_parameters = { "integration.request.querystring.MessageGroupId" = "'a'" }                    |
                   | arn:aws:apigateway:${var.open}:sqs:path/${var.open}/${aws_sqs_queue.q.name}          |                                                                                                      |
                   | arn:aws:apigateway:${var.open}:sqs:action/SendMessage                                | request_templates = { "application/json" = "Action=SendMessage&MessageBody=x" }                      |
                   | arn:aws:apigateway:eu-west-1:sqs:path/111122223333/q.fifo                            | request_templates = { "application/json" = "Action=ReceiveMessage" }                                 |
                   | https://example.com                                                                  |                                                                                                      |
            "#,
        );
    }

    #[test]
    fn http_api_and_template_without_message_group_are_flagged() {
        let template = "
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {QueueName: q.fifo, FifoQueue: true}}
  M: # expect: fifo-target-without-message-group
    Type: AWS::ApiGateway::Method
    Properties:
      Integration:
        Uri: !Sub 'arn:aws:apigateway:${AWS::Region}:sqs:path/${AWS::AccountId}/${Q.QueueName}'
        RequestTemplates: {application/json: 'Action=SendMessage&MessageBody=$input.body'}
  H: # expect: fifo-target-without-message-group
    Type: AWS::ApiGatewayV2::Integration
    Properties:
      IntegrationSubtype: SQS-SendMessage
      RequestParameters: {QueueUrl: !Ref Q, MessageBody: $request.body}
  G:
    Type: AWS::ApiGatewayV2::Integration
    Properties:
      IntegrationSubtype: SQS-SendMessage
      RequestParameters: {QueueUrl: !Ref Q, MessageBody: $request.body, MessageGroupId: $request.body.group}
  W: # expect: fifo-target-without-message-group
    Type: AWS::ApiGatewayV2::Integration
    Properties:
      IntegrationUri: !Sub 'arn:aws:apigateway:${AWS::Region}:sqs:path/${AWS::AccountId}/${Q.QueueName}'
      RequestTemplates: {$default: 'Action=SendMessage&MessageBody=$input.body'}
  P:
    Type: AWS::ApiGatewayV2::Integration
    Properties: {IntegrationType: HTTP_PROXY, IntegrationUri: 'https://example.com'}
  O:
    Type: AWS::ApiGateway::RestApi
    Properties:
      Body:
        paths:
          /orders:
            post:
              x-amazon-apigateway-integration: # expect: fifo-target-without-message-group
                uri: !Sub 'arn:aws:apigateway:${AWS::Region}:sqs:path/${AWS::AccountId}/${Q.QueueName}'
                requestTemplates: {application/json: 'Action=SendMessage&MessageBody=$input.body'}
            get:
              x-amazon-apigateway-integration: {uri: 'https://example.com', type: http}
  S:
    Type: AWS::Serverless::HttpApi
    Properties:
      DefinitionBody:
        paths:
          /orders:
            post:
              x-amazon-apigateway-integration: # expect: fifo-target-without-message-group
                integrationSubtype: SQS-SendMessage
                requestParameters: {QueueUrl: !Ref Q, MessageBody: $request.body}
  Schedule: # expect: fifo-target-without-message-group
    Type: AWS::Scheduler::Schedule
    Properties: {Target: {Arn: !GetAtt Q.Arn}}
";
        CloudFormation.check(&RULE, template);
        Sam.check(&RULE, template);
    }

    #[test]
    fn documents_of_apis_and_batches_of_schedules_are_read() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  name       = "q.fifo"
  fifo_queue = true
}
resource "aws_api_gateway_rest_api" "a" {
  body = <body> <header>
}
resource "aws_scheduler_schedule" "s" {
  target {
    arn   = "arn:aws:scheduler:::aws-sdk:sqs:sendMessageBatch"
    input = jsonencode({ QueueUrl = aws_sqs_queue.q.url, Entries = <entries> }) <schedule>
  }
}
"#,
            r#"
            header | body                                                                                                                                                                                                                                                  | schedule | entries                                                    | finding
                   | jsonencode({ paths = { "/a" = { post = { "x-amazon-apigateway-integration" = { integrationSubtype = "SQS-SendMessage", requestParameters = { QueueUrl = aws_sqs_queue.q.url } } } } } })                                                          |          | [{ MessageGroupId = "a" }]                                 | header
                   | "{paths: {/a: {post: {x-amazon-apigateway-integration: {integrationSubtype: SQS-SendMessage, requestParameters: {QueueUrl: '${aws_sqs_queue.q.url}'}}}}}}"                                                                                          |          | [{ MessageGroupId = "a" }]                                 | header
                   | "{paths: {/a: {post: {x-amazon-apigateway-integration: {integrationSubtype: SQS-SendMessage, requestParameters: {QueueUrl: '${aws_sqs_queue.q.url}', MessageGroupId: a}}}}}}"                                                                       |          | [{ MessageGroupId = var.open }]                            |
                   | "{paths: {/a: {post: {x-amazon-apigateway-integration: {integrationSubtype: SQS-ReceiveMessage, requestParameters: {QueueUrl: '${aws_sqs_queue.q.url}'}}}}}}"                                                                                       |          | var.open                                                   |
                   | var.open                                                                                                                                                                                                                                              |          | [{ MessageGroupId = "a" }, { MessageBody = "b" }]          | schedule
                   | "paths"                                                                                                                                                                                                                                               |          | []                                                         |
            "#,
        );
    }
}
