//! Flags failure queues of functions that do not receive the messages that fail in a queue.

use super::prelude::*;
use crate::graph::{Consumption, FailureTarget, RedrivePolicy};

pub(super) static RULE: Rule = Rule {
    id: "function-dead-letter-config-ineffective",
    category: Category::FailureChannel,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "a function's dead-letter setting does not apply to messages from a queue, and the queue has none",
    page: include_str!("../../rules/function-dead-letter-config-ineffective.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        for consumption in graph.consumptions(queue) {
            for (when, function) in graph.functions_of(consumption.mapping, &consumption.when) {
                for setting in &function.failure_targets {
                    // Another invoker may be asynchronous, in which case the setting applies.
                    if let Some(other) = graph.invocations_of(function).first() {
                        let applies = || {
                            format!(
                                "`{}` applies where `{}` invokes the function",
                                setting.name, other.resource
                            )
                        };
                        let applies = fact(true, applies)
                            .depending_on(&setting.span)
                            .depending_on(&other.span);
                        findings.satisfied(&when, function, applies);
                        continue;
                    }
                    for redrive in findings.known(&when, queue, &queue.redrive) {
                        let has_its_own = fact(redrive.value.is_some(), || {
                            format!("{} has a redrive policy of its own", queue.resource.shown())
                        });
                        let has_its_own = has_its_own.depending_on(&setting.span).depending_on(&redrive);
                        if !findings.satisfied(&redrive.when, function, has_its_own) {
                            let when = redrive.when.and(&setting.when);
                            let finding = ineffective(function, setting, queue, &consumption, &redrive);
                            findings.report(&when, function, finding);
                        }
                    }
                }
            }
        }
    }
}

fn ineffective(
    function: &Function,
    setting: &FailureTarget,
    queue: &Queue,
    consumption: &Consumption<'_>,
    redrive: &Known<'_, Option<Box<RedrivePolicy>>>,
) -> Finding {
    // The two settings of one function are two findings.
    let attribute = if setting.name.to_ascii_lowercase().contains("dead") {
        "dead_letter_config"
    } else {
        "on_failure"
    };
    let (from, mapping) = (queue.resource.shown(), consumption.mapping.resource.shown());
    let headline = format!(
        "`{}` of {} never receives messages from {from} that fail",
        setting.name,
        function.resource.shown()
    );
    let label = "this receives failures of asynchronous invocations only";
    Finding::new(attribute, headline, setting.span, label)
        .label(
            consumption.link.span,
            format!("{mapping} invokes the function synchronously with messages from {from}"),
        )
        .label(redrive.span, format!("{from} has no redrive policy"))
        // `redrive-policy-missing` reports what the queue needs.
        .help(format!(
            "remove `{}`, which nothing else uses: only `{}` on {from} moves its failed messages",
            setting.name, redrive.name
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::check;

    #[test]
    fn function_dead_letter_config_without_redrive_policy_is_flagged() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
resource "aws_sqs_queue" "failed" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  dead_letter_config { # expect: function-dead-letter-config-ineffective
    target_arn = aws_sqs_queue.failed.arn
  }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = aws_lambda_function.f.arn
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  Failed:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Lambda::Function
    Properties:
      DeadLetterConfig: # expect: function-dead-letter-config-ineffective
        TargetArn: !GetAtt Failed.Arn
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: !Ref F
",
        );
    }

    #[test]
    fn queue_with_redrive_policy_is_accepted() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "failed" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  dead_letter_config {
    target_arn = aws_sqs_queue.failed.arn
  }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = aws_lambda_function.f.arn
}
"#,
        );
    }

    #[test]
    fn function_with_another_invoker_is_accepted() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
resource "aws_sqs_queue" "failed" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  dead_letter_config {
    target_arn = aws_sqs_queue.failed.arn
  }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = aws_lambda_function.f.arn
}
resource "aws_lambda_permission" "p" {
  action = "lambda:InvokeFunction"
  function_name = aws_lambda_function.f.function_name
  principal = "s3.amazonaws.com"
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  Failed:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Lambda::Function
    Properties:
      DeadLetterConfig:
        TargetArn: !GetAtt Failed.Arn
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: !Ref F
  P:
    Type: AWS::Lambda::Permission
    Properties:
      Action: lambda:InvokeFunction
      FunctionName: !Ref F
      Principal: s3.amazonaws.com
",
        );
    }

    #[test]
    fn unresolved_values_are_not_judged() {
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_sqs_queue" "q" {
  redrive_policy = var.x
}
resource "aws_sqs_queue" "failed" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  dead_letter_config {
    target_arn = aws_sqs_queue.failed.arn
  }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = aws_lambda_function.f.arn
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_sqs_queue" "q" {
}
resource "aws_sqs_queue" "failed" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  dead_letter_config {
    target_arn = aws_sqs_queue.failed.arn
  }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = var.x
  function_name = aws_lambda_function.f.arn
}
"#,
        );
    }

    const EXPECTED: &str = "expect: function-dead-letter-config-ineffective";

    #[test]
    fn only_asynchronous_invokers_use_the_setting() {
        let terraform = |header: &str, more: &str| {
            format!(
                r#"
resource "aws_sqs_queue" "q" {{}}
resource "aws_sqs_queue" "failed" {{}}
resource "aws_lambda_function" "f" {{
  function_name = "f"
  dead_letter_config {{ # {header}
    target_arn = aws_sqs_queue.failed.arn
  }}
}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}}
{more}
"#
            )
        };
        let permission = |principal: &str| {
            format!(
                "resource \"aws_lambda_permission\" \"p\" {{\n  function_name = aws_lambda_function.f.arn\n  principal     = \"{principal}\"\n}}\n"
            )
        };
        let integration = "resource \"aws_apigatewayv2_integration\" \"i\" {\n  integration_uri = aws_lambda_function.f.invoke_arn\n}\n";
        for waiting in [
            permission("apigateway.amazonaws.com").as_str(),
            &permission("elasticloadbalancing.amazonaws.com"),
            integration,
            "resource \"aws_secretsmanager_secret\" \"s\" {\n  name = aws_lambda_function.f.function_name\n}\n",
        ] {
            check(&RULE, Terraform, &terraform(EXPECTED, waiting));
        }
        for other in [
            permission("s3.amazonaws.com"),
            // An API may also invoke asynchronously.
            format!("{}# X-Amz-Invocation-Type\n", permission("apigateway.amazonaws.com")),
        ] {
            check(&RULE, Terraform, &terraform("", &other));
        }
        let template = |header: &str, principal: &str| {
            format!(
                "
Resources:
  Q: {{Type: AWS::SQS::Queue}}
  Failed: {{Type: AWS::SQS::Queue}}
  F:
    Type: AWS::Lambda::Function
    Properties:
      DeadLetterConfig: {{TargetArn: !GetAtt Failed.Arn}} # {header}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {{EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}
  P:
    Type: AWS::Lambda::Permission
    Properties: {{FunctionName: !Ref F, Principal: {principal}}}
  S:
    Type: AWS::SecretsManager::Secret
    Properties: {{Name: !Ref F}}
"
            )
        };
        check(&RULE, CloudFormation, &template(EXPECTED, "apigateway.amazonaws.com"));
        check(&RULE, CloudFormation, &template("", "s3.amazonaws.com"));
    }
}
