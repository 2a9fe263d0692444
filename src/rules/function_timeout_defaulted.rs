//! Flags functions that receive batches from a queue and have the default timeout.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "function-timeout-defaulted",
    category: Category::Visibility,
    severity: Severity::Info,
    set: Set::Pedantic,
    fix: None,
    summary: "a function that gets batches leaves its timeout to the default of a few seconds",
    page: include_str!("../../rules/function-timeout-defaulted.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for (assumed, function) in graph.functions_of(mapping, &mapping.resource.when) {
            for timeout in findings.any_numbers(&assumed, function, &function.timeout, Unit::Seconds) {
                let is_set = fact(!timeout.is_default, || format!("`{}` is set", timeout.name)).depending_on(&timeout);
                if findings.satisfied(&timeout.when, function, is_set) {
                    continue;
                }
                for batch in findings.numbers(&timeout.when, mapping, &mapping.batch_size, &limits::BATCH_SIZE) {
                    if batch.value > 1 {
                        for source in findings.polled_queues(graph, mapping, &batch.when) {
                            let finding = defaulted(function, &timeout, &batch, &source.shown);
                            findings.report(&source.when, function, finding);
                        }
                    }
                }
            }
        }
    }
}

fn defaulted(function: &Function, timeout: &Operand<'_>, batch: &Operand<'_>, source: &str) -> Finding {
    let headline = format!(
        "{} has the default timeout of {} s for batches of up to {} messages from {source}: when it is over, all of them return",
        function.resource.shown(),
        timeout.value,
        batch.value
    );
    Finding::new("timeout", headline, timeout, format!("`{}` is not set", timeout.name))
        .label(batch, format!("up to {}", batch.counted("messages per batch")))
        .help(format!(
            "set `{}` to what a whole batch needs, and the visibility timeout to six times that",
            timeout.name
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(header: &str, timeout: &str, mapping: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{}}
resource "aws_lambda_function" "f" {{ {header}
  function_name = "f"
  timeout       = {timeout}
}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
  {mapping}
}}
"#
        )
    }

    const EXPECTED: &str = "# expect: function-timeout-defaulted";

    #[test]
    fn default_timeout_for_batches_is_flagged() {
        let absent = terraform(EXPECTED, "null", "").replace("timeout       = null", "");
        check(&RULE, Terraform, &absent);
        let expected = format!("null {EXPECTED}");
        check(&RULE, Terraform, &terraform("", &expected, "batch_size = 2"));
        for (timeout, mapping) in [
            ("3", ""),
            ("var.open", ""),
            ("null", "batch_size = 1"),
            ("null", "batch_size = var.open"),
        ] {
            check(&RULE, Terraform, &terraform("", timeout, mapping));
        }
    }

    #[test]
    fn cloudformation_function_is_flagged() {
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  F: # expect: function-timeout-defaulted
    Type: AWS::Lambda::Function
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}
",
        );
        check(
            &RULE,
            Sam,
            r"
Globals:
  Function:
    Timeout: 3
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}
",
        );
    }
}
