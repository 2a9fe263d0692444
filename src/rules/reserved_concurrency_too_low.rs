//! Flags functions whose reserved concurrency is below the concurrency with which Lambda polls a standard queue.

use super::prelude::*;
use crate::graph::limits::{FIRST_CONCURRENT_BATCHES, MAXIMUM_CONCURRENCY};
use crate::rules::shared::queue_types::TypedQueue;
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = Rule {
    id: "reserved-concurrency-too-low",
    category: Category::Mapping,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "a function reserves less concurrency than Lambda polls its queue with, so good messages are throttled",
    page: include_str!("../../rules/reserved-concurrency-too-low.md"),
    settings: Concurrency::ALL,
    check: Some(check),
};

settings! {
    /// Minimum concurrency of a function for a queue.
    struct Concurrency of "reserved-concurrency-too-low" {
        minimum: i64 = FIRST_CONCURRENT_BATCHES, at least 1, "the least reserved concurrency that is enough";
    }
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for function in graph.functions() {
        let (reserved, accepts) = (
            &function.reserved_concurrency,
            Accepts::at_least("Lambda", 0, Unit::Invocations),
        );
        findings.reject_types(
            &function.resource.when,
            function,
            "reserved_concurrency",
            reserved,
            accepts,
        );
    }
    for mapping in graph.mappings() {
        for (assumed, function) in graph.functions_of(mapping, &mapping.resource.when) {
            let Concurrency { minimum } = findings.settings(function);
            let reserved = &function.reserved_concurrency;
            for reserved in findings.any_numbers(&assumed, function, reserved, Unit::Invocations) {
                if reserved.value == 0 {
                    findings.leave_to_rule_of(&reserved.when, function, &[&reserved], Cause::NoConcurrency);
                } else if !findings.satisfied(&reserved.when, function, at_least(&reserved, minimum)) {
                    for when in unbounded(findings, mapping, &reserved.when) {
                        for source in findings.sources(graph, mapping, &when) {
                            if !source.fifo {
                                let finding = too_low(function, mapping, &reserved, &source, minimum);
                                findings.report(&source.when, function, finding);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the conditions in `when` under which `mapping` is enabled and nothing limits its concurrent batches.
fn unbounded(findings: &mut Findings<'_>, mapping: &EventSourceMapping, when: &Condition) -> Vec<Condition> {
    let mut all = Vec::new();
    for enabled in findings.known(when, mapping, &mapping.enabled) {
        if !enabled.value {
            continue;
        }
        for maximum in findings.known(&enabled.when, mapping, &mapping.maximum_concurrency) {
            if maximum.value.is_some() {
                continue;
            }
            let pollers = findings.known(&maximum.when, mapping, &mapping.provisioned_pollers);
            let none = pollers.into_iter().filter(|pollers| pollers.value.is_none());
            all.extend(none.map(|pollers| pollers.when));
        }
    }
    all
}

fn too_low(
    function: &Function,
    mapping: &EventSourceMapping,
    reserved: &Operand<'_>,
    source: &TypedQueue<'_>,
    minimum: i64,
) -> Finding {
    let (shown, value) = (function.resource.shown(), reserved.value);
    let polled = if value < FIRST_CONCURRENT_BATCHES {
        format!(
            "Lambda starts to poll {} with {FIRST_CONCURRENT_BATCHES} batches at once",
            source.shown
        )
    } else {
        format!(
            "nothing keeps Lambda from more batches of {} at once than that",
            source.shown
        )
    };
    let headline = format!("{shown} reserves a concurrency of {value}, but {polled}: those throttled use up receives");
    let label = format!("reserves {}", reserved.shown());
    let bound = value.max(MAXIMUM_CONCURRENCY.least);
    let maximum = &mapping.maximum_concurrency.name;
    let help = if bound == value {
        format!(
            "set `{maximum}` of {} to {value}, or `{}` to {minimum} or more",
            mapping.resource.shown(),
            reserved.name
        )
    } else {
        format!(
            "set `{}` to {minimum} or more, or to {bound} together with a `{maximum}` of {bound} on {}",
            reserved.name,
            mapping.resource.shown()
        )
    };
    Finding::new("reserved_concurrency", headline, reserved, label)
        .label(
            mapping.resource.header,
            format!(
                "{} reads the queue, without a maximum concurrency",
                mapping.resource.shown()
            ),
        )
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings};

    fn terraform(queue: &str, reserved: &str, mapping: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_lambda_function" "f" {{
  function_name                  = "f"
  reserved_concurrent_executions = {reserved}
}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = {queue}
  function_name    = aws_lambda_function.f.arn
  {mapping}
}}
"#
        )
    }

    const STANDARD: &str = "\"arn:aws:sqs:eu-west-1:111122223333:q\"";
    const FIFO: &str = "\"arn:aws:sqs:eu-west-1:111122223333:q.fifo\"";

    #[test]
    fn concurrency_below_five_is_flagged() {
        for reserved in ["5", "-1", "null", "var.open", "0"] {
            check(&RULE, Terraform, &terraform(STANDARD, reserved, ""));
        }
        for reserved in ["4", "1"] {
            let reserved = format!("{reserved} # expect: reserved-concurrency-too-low");
            check(&RULE, Terraform, &terraform(STANDARD, &reserved, ""));
        }
    }

    #[test]
    fn limited_or_disabled_mapping_is_accepted() {
        for (queue, mapping) in [
            (FIFO, ""),
            ("var.open", ""),
            (STANDARD, "enabled = false"),
            (STANDARD, "enabled = var.open"),
            (STANDARD, "scaling_config {\n maximum_concurrency = 2\n }"),
            (STANDARD, "scaling_config {\n maximum_concurrency = var.open\n }"),
            (STANDARD, "provisioned_poller_config {\n minimum_pollers = 2\n }"),
        ] {
            check(&RULE, Terraform, &terraform(queue, "2", mapping));
        }
    }

    #[test]
    fn help_names_values_to_set() {
        let help = |reserved: &str| {
            let found = findings(&RULE, Terraform, &terraform(STANDARD, reserved, ""));
            found.first().and_then(|found| found.help.clone()).unwrap_or_default()
        };
        assert_eq!(
            help("3"),
            "set `maximum_concurrency` of `aws_lambda_event_source_mapping.m` to 3, or `reserved_concurrent_executions` to 5 or more"
        );
        assert_eq!(
            help("1"),
            "set `reserved_concurrent_executions` to 5 or more, or to 2 together with a `maximum_concurrency` of 2 on `aws_lambda_event_source_mapping.m`"
        );
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
  F:
    Type: AWS::Lambda::Function
    Properties:
      ReservedConcurrentExecutions: 2 # expect: reserved-concurrency-too-low
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: !Ref F
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
      ReservedConcurrentExecutions: 1 # expect: reserved-concurrency-too-low
      Events:
        E:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
",
        );
    }
}
