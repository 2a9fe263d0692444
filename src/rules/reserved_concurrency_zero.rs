//! Flags functions with a reserved concurrency of 0 that an enabled mapping invokes.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "reserved-concurrency-zero",
    category: Category::Mapping,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "a function that a mapping invokes has a reserved concurrency of 0, so it never runs",
    page: include_str!("../../rules/reserved-concurrency-zero.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for (assumed, function) in graph.functions_of(mapping, &mapping.resource.when) {
            let reserved = &function.reserved_concurrency;
            for reserved in findings.any_numbers(&assumed, function, reserved, Unit::Invocations) {
                if findings.satisfied(&reserved.when, function, above(&reserved, 0)) {
                    continue;
                }
                for enabled in findings.known(&reserved.when, mapping, &mapping.enabled) {
                    let is_off = fact(!enabled.value, || format!("{} is disabled", mapping.resource.shown()));
                    findings.require(
                        &enabled.when,
                        function,
                        is_off.depending_on(&reserved).depending_on(&enabled),
                        || zero(function, mapping, &reserved),
                    );
                }
            }
        }
    }
}

fn zero(function: &Function, mapping: &EventSourceMapping, reserved: &Operand<'_>) -> Finding {
    let headline = format!(
        "{} has a reserved concurrency of 0, so Lambda throttles every message that {} receives",
        function.resource.shown(),
        mapping.resource.shown()
    );
    let label = format!("{}: the function never runs", reserved.shown());
    let reads = format!("{} reads a queue for it", mapping.resource.shown());
    Finding::new("reserved_concurrency", headline, reserved, label)
        .label(mapping.resource.header, reads)
        .help(format!(
            "set `{}` to 1 or more, or disable {} to stop processing without using up receives",
            reserved.name,
            mapping.resource.shown()
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(reserved: &str, mapping: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_lambda_function" "f" {{
  function_name                  = "f"
  reserved_concurrent_executions = {reserved}
}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:q"
  function_name    = aws_lambda_function.f.arn
  {mapping}
}}
"#
        )
    }

    const EXPECTED: &str = "0 # expect: reserved-concurrency-zero";

    #[test]
    fn zero_is_flagged_if_a_mapping_polls() {
        for (reserved, mapping) in [
            ("1", ""),
            ("-1", ""),
            ("null", ""),
            ("var.open", ""),
            (EXPECTED, ""),
            (EXPECTED, "enabled = true"),
            ("0", "enabled = false"),
            ("0", "enabled = var.open"),
        ] {
            check(&RULE, Terraform, &terraform(reserved, mapping));
        }
    }

    #[test]
    fn cloudformation_function_is_flagged() {
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Idle:
    Type: AWS::Lambda::Function
    Properties:
      ReservedConcurrentExecutions: 0
  F:
    Type: AWS::Lambda::Function
    Properties:
      ReservedConcurrentExecutions: 0 # expect: reserved-concurrency-zero
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:q
      FunctionName: !Ref F
",
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      ReservedConcurrentExecutions: 0 # expect: reserved-concurrency-zero
      Events:
        E:
          Type: SQS
          Properties:
            Queue: arn:aws:sqs:eu-west-1:111122223333:q
",
        );
    }
}
