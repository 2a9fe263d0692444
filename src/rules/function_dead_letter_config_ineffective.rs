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
        let permission = r#"
resource "aws_lambda_permission" "p" {
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.worker.function_name
  principal     = "<principal>"
}"#;
        for (principal, finding) in [
            ("apigateway.amazonaws.com", "function.failure_target block"),
            ("elasticloadbalancing.amazonaws.com", "function.failure_target block"),
            ("sqs.amazonaws.com", "function.failure_target block"),
            ("s3.amazonaws.com", ""),
        ] {
            let invoker = permission.replace("<principal>", principal);
            failed
                .clone()
                .terraform(&invoker)
                .check(&RULE, &format!("finding | help\n {finding} |"));
        }
        // An API may also invoke asynchronously.
        let api = permission.replace("<principal>", "apigateway.amazonaws.com") + "\n# X-Amz-Invocation-Type";
        failed.clone().terraform(&api).check(&RULE, "finding | help\n |");
        failed.check(
            &RULE,
            r#"
            terraform                                                                                                  | finding
            resource "aws_apigatewayv2_integration" "i" {\n integration_uri = aws_lambda_function.worker.invoke_arn\n} | function.failure_target block
            resource "aws_secretsmanager_secret" "s" {\n name = aws_lambda_function.worker.function_name\n}            | function.failure_target block
            "#,
        );
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
            ",
        );
    }
}
