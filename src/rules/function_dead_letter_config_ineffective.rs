//! Flags failure queues of functions that do not receive the messages that fail in a queue.

use super::prelude::*;
use crate::graph::{Consumption, FailureTarget, RedrivePolicy};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = rule!(
    "function-dead-letter-config-ineffective",
    Category::FailureChannel,
    Severity::Warning,
    "a function's dead-letter setting does not apply to messages from a queue, and the queue has none"
);

fn check(findings: &mut Findings<'_>) {
    let mut seen = BTreeSet::new();
    for queue in findings.graph.queues() {
        for consumption in findings.graph.consumptions(queue) {
            for (when, function) in findings.graph.functions_of(consumption.mapping, &consumption.when) {
                for setting in &function.failure_targets {
                    judge_failures(findings, &when, (function, setting), (queue, &consumption));
                }
                for setting in &function.success_targets {
                    let when = when.and(&setting.when);
                    // One of several queues suffices.
                    let is_new = seen.insert((&function.resource.address, setting.span));
                    if is_new && !is_used(findings, &when, function, setting) {
                        findings.report(&when, function, unused(function, setting, queue, &consumption));
                    }
                }
            }
        }
    }
}

/// Returns `true` if another invoker of the function may be asynchronous, in which case the setting applies.
fn is_used(findings: &mut Findings<'_>, when: &Condition, function: &Function, setting: &FailureTarget) -> bool {
    let invocations = findings.graph.asynchronous_invocations_of(function);
    let Some(other) = invocations.first() else {
        return false;
    };
    let applies = || {
        format!(
            "`{}` applies where `{}` invokes the function",
            setting.name, other.resource
        )
    };
    let applies = fact(true, applies)
        .depending_on(&setting.span)
        .depending_on(&other.span);
    findings.satisfied(when, function, applies)
}

fn judge_failures(
    findings: &mut Findings<'_>,
    when: &Condition,
    (function, setting): (&Function, &FailureTarget),
    (queue, consumption): (&Queue, &Consumption<'_>),
) {
    if is_used(findings, when, function, setting) {
        return;
    }
    for redrive in findings.known(when, queue, &queue.redrive) {
        let has_its_own = fact(redrive.value.is_some(), || {
            format!("{queue} has a redrive policy of its own")
        });
        let has_its_own = has_its_own.depending_on(&setting.span).depending_on(&redrive);
        if !findings.satisfied(&redrive.when, function, has_its_own) {
            let when = redrive.when.and(&setting.when);
            let finding = ineffective(function, setting, queue, consumption, &redrive);
            findings.report(&when, function, finding);
        }
    }
}

/// Returns the finding for a destination of successes.
fn unused(function: &Function, setting: &FailureTarget, queue: &Queue, consumption: &Consumption<'_>) -> Finding {
    let (from, mapping) = (queue.resource.shown(), consumption.mapping.resource.shown());
    let headline = format!(
        "`{}` of {function} never receives a record: only messages from {from} invoke the function",
        setting.name
    );
    let label = "this receives results of asynchronous invocations only";
    Finding::new("on_success", headline, setting.span, label)
        .label(
            consumption.link.span,
            format!("{mapping} invokes the function synchronously"),
        )
        .help(format!(
            "let the function itself send what should follow a processed message, and remove `{}`",
            setting.name
        ))
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
        "`{}` of {function} never receives messages from {from} that fail",
        setting.name
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
    use crate::testing::Dialect::{CloudFormation, Serverless, Terraform};
    use crate::testing::stack;

    #[test]
    fn function_dead_letter_config_without_redrive_policy_is_flagged() {
        let failed = stack().function("failure_target", "arn:aws:sqs:eu-west-1:111122223333:failed");
        failed.check(
            &RULE,
            "
            queue.max_receive_count | queue.redrive | finding
                                    |               | function.failure_target block
            5                       |               |
                                    | open          |
            ",
        );
        failed
            .only(&[Terraform, CloudFormation])
            .check(&RULE, "mapping.source | finding\n open |");
        let declared = "function.failure_target | finding\n = aws_sqs_queue.failed.arn | function.failure_target block";
        stack()
            .terraform("resource \"aws_sqs_queue\" \"failed\" {}")
            .check(&RULE, declared);
    }

    #[test]
    fn only_asynchronous_invokers_use_the_setting() {
        let failed = stack().function("failure_target", "arn:aws:sqs:eu-west-1:111122223333:failed");
        failed.check(
            &RULE,
            r#"
            terraform                                                                                                                                                             | finding
            resource "aws_lambda_permission" "p" {\n function_name = aws_lambda_function.worker.function_name\n principal = "apigateway.amazonaws.com"\n}                         | function.failure_target block
            resource "aws_lambda_permission" "p" {\n function_name = aws_lambda_function.worker.function_name\n principal = "elasticloadbalancing.amazonaws.com"\n}               | function.failure_target block
            resource "aws_lambda_permission" "p" {\n function_name = aws_lambda_function.worker.function_name\n principal = "sqs.amazonaws.com"\n}                                | function.failure_target block
            resource "aws_lambda_permission" "p" {\n function_name = aws_lambda_function.worker.function_name\n principal = "s3.amazonaws.com"\n}                                 |
            // An API may also invoke asynchronously.
            resource "aws_lambda_permission" "p" {\n function_name = aws_lambda_function.worker.function_name\n principal = "apigateway.amazonaws.com"\n} # X-Amz-Invocation-Type |
            resource "aws_apigatewayv2_integration" "i" {\n integration_uri = aws_lambda_function.worker.invoke_arn\n}                                                            | function.failure_target block
            resource "aws_secretsmanager_secret" "s" {\n name = aws_lambda_function.worker.function_name\n}                                                                       | function.failure_target block
            // Another function may invoke it, or does so by a destination.
            resource "aws_lambda_function" "f" {\n environment {\n variables = { F = aws_lambda_function.worker.function_name }\n }\n}                                         |
            resource "aws_lambda_function_event_invoke_config" "c" {\n destination_config {\n on_success {\n destination = aws_lambda_function.worker.arn\n }\n }\n}         |
            resource "aws_lambda_function_event_invoke_config" "c" {\n function_name = aws_lambda_function.worker.function_name\n}                                              | function.failure_target block
            "#,
        );
    }

    /// Returns a function polling a queue with a redrive policy, whose successful results go to another queue.
    fn template(expected: &str, others: &str) -> String {
        format!(
            "
Resources:
  Failed: {{Type: AWS::SQS::Queue}}
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {{deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}}
  Worker:
    Type: AWS::Lambda::Function
    Properties: {{Timeout: 5}}
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {{EventSourceArn: !GetAtt Orders.Arn, FunctionName: !Ref Worker}}
  Config:
    Type: AWS::Lambda::EventInvokeConfig
    Properties:
      FunctionName: !Ref Worker
      DestinationConfig:
        OnSuccess: {expected}
          Destination: arn:aws:sqs:eu-west-1:111122223333:done
{others}"
        )
    }

    #[test]
    fn destination_of_successes_is_flagged_despite_a_redrive_policy() {
        let expected = "# expect: function-dead-letter-config-ineffective";
        CloudFormation.check(&RULE, &template(expected, ""));
        let topic = "  S: {Type: AWS::SNS::Subscription, Properties: {TopicArn: t, Protocol: lambda, Endpoint: !GetAtt Worker.Arn}}\n";
        CloudFormation.check(&RULE, &template("", topic));
        let second = "  More:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Failed.Arn, FunctionName: !Ref Worker}\n";
        CloudFormation.check(&RULE, &template(expected, second));
        let service = "
service: orders
provider: {name: aws}
functions:
  worker:
    handler: src/worker.handler
    destinations:
      onSuccess: arn:aws:sqs:eu-west-1:111122223333:done # expect: function-dead-letter-config-ineffective
    events:
      - sqs: {arn: !GetAtt Orders.Arn}
resources:
  Resources:
    Orders:
      Type: AWS::SQS::Queue
";
        Serverless.check(&RULE, service);
    }

    #[test]
    fn invoker_in_template_uses_the_setting() {
        stack().function("failure_target", "arn:aws:sqs:eu-west-1:111122223333:failed").check(
            &RULE,
            "
            template                                                                                                         | finding
            P: {Type: AWS::Lambda::Permission, Properties: {FunctionName: !Ref Worker, Principal: apigateway.amazonaws.com}} | function.failure_target block
            P: {Type: AWS::Lambda::Permission, Properties: {FunctionName: !Ref Worker, Principal: sqs.amazonaws.com}}        | function.failure_target block
            P: {Type: AWS::Lambda::Permission, Properties: {FunctionName: !Ref Worker, Principal: s3.amazonaws.com}}         |
            S: {Type: AWS::SecretsManager::Secret, Properties: {Name: !Ref Worker}}                                          | function.failure_target block
            F: {Type: AWS::Lambda::Function, Properties: {Environment: {Variables: {F: !Ref Worker}}}}                       |
            C: {Type: AWS::Lambda::EventInvokeConfig, Properties: {FunctionName: f, DestinationConfig: {OnSuccess: {Destination: !GetAtt Worker.Arn}}}} |
            ",
        );
    }
}
