//! Flags queues whose visibility timeout is shorter than the timeout of a function that consumes them.

use super::prelude::*;
use crate::rules::shared::advice::{Advice, set_to_needed};
use crate::rules::shared::consumers::{PollingMapping, RunTime};
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = Rule {
    id: "visibility-timeout-below-function-timeout",
    category: Category::Visibility,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "messages become visible again while the function may still be working on them",
    page: include_str!("../../rules/visibility-timeout-below-function-timeout.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    findings.note_unresolved_sources(graph);
    for (queue, _) in graph.polled() {
        let advice = findings.settings::<Advice>(queue);
        findings.set_judged_attribute(&queue.visibility_timeout);
        for poll in findings.polls(graph, &queue.resource.when, queue) {
            for time in findings.least_run_times(graph, &poll) {
                for visibility in findings.most_visibility(&time.limit.when, queue) {
                    let function = &time.function.resource;
                    let covered = at_least(&visibility, Term::from(&time.limit).of(function));
                    findings.require(
                        &visibility.when,
                        queue,
                        covered.depending_on(&time).depending_on(&poll),
                        || below_timeout(queue, &poll, &time, &visibility, advice),
                    );
                }
            }
        }
    }
}

fn below_timeout(
    queue: &Queue,
    poll: &PollingMapping<'_>,
    time: &RunTime<'_>,
    visibility: &Operand<'_>,
    advice: Advice,
) -> Finding {
    let (function, limit) = (time.function.resource.shown(), &time.limit);
    let runs = if time.durable {
        format!("an execution of {function} may take {}", limit.in_words())
    } else {
        format!("{function} may run for {}", limit.in_words())
    };
    let headline = format!(
        "{} has a visibility timeout of {}, but {runs}, so a message may be processed twice",
        queue.resource.shown(),
        visibility.in_words()
    );
    let becomes_visible = format!("the message becomes visible again after {}", visibility.shown());
    let label = visibility.or_default("SQS", becomes_visible);
    let finding = Finding::new("visibility_timeout", headline, visibility, label)
        // AWS does not document whether Lambda accepts a *disabled* mapping in this case.
        .severity(poll.severity(Severity::Error))
        .scenario(scenarios::of_timeout(visibility, limit))
        .show(time)
        .show(poll);
    let needed = advice.needed(limit, poll.window(&visibility.when));
    finding
        .help(advice.help(visibility, &needed))
        .fix(set_to_needed(visibility, &needed))
        .calculation(needed.calculation())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{RULE, Severity};
    use crate::testing::{Dialect, check, findings, run_files};

    fn terraform(queue: &str, function: &str, mapping: &str) -> String {
        format!(
            r#"
            variable "open" {{}}
            resource "aws_sqs_queue" "orders" {{ # {queue}
            }}
            resource "aws_lambda_function" "worker" {{
              function_name = "worker"
              {function}
            }}
            resource "aws_lambda_event_source_mapping" "orders" {{
              event_source_arn = aws_sqs_queue.orders.arn
              function_name    = aws_lambda_function.worker.arn
              {mapping}
            }}
            "#
        )
    }

    const EXPECTED: &str = "expect: visibility-timeout-below-function-timeout";

    #[test]
    fn equal_timeout_is_accepted_and_one_second_less_flagged() {
        check(
            &RULE,
            Dialect::Terraform,
            &terraform("\n visibility_timeout_seconds = 60", "timeout = 60", ""),
        );
        let short = format!("\n visibility_timeout_seconds = 59 # {EXPECTED}");
        check(&RULE, Dialect::Terraform, &terraform(&short, "timeout = 60", ""));
    }

    #[test]
    fn default_timeouts_are_compared() {
        check(&RULE, Dialect::Terraform, &terraform("", "", ""));
        check(&RULE, Dialect::Terraform, &terraform("", "timeout = 30", ""));
        check(&RULE, Dialect::Terraform, &terraform(EXPECTED, "timeout = 31", ""));
        let below_default = format!("\n visibility_timeout_seconds = 2 # {EXPECTED}");
        check(&RULE, Dialect::Terraform, &terraform(&below_default, "", ""));
    }

    #[test]
    fn unresolved_values_are_noted_and_not_judged() {
        for (queue, function, mapping) in [
            ("\n visibility_timeout_seconds = var.open", "timeout = 300", ""),
            ("", "timeout = var.open", ""),
            ("", "timeout = 300", "enabled = var.open"),
        ] {
            let outcome = run_files(&RULE, &[("main.tf", &terraform(queue, function, mapping))]);
            assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
            assert_eq!(outcome.not_evaluated.len(), 1, "{:?}", outcome.not_evaluated);
        }
    }

    #[test]
    fn zero_and_out_of_range_timeouts_are_left_to_other_rules() {
        check(
            &RULE,
            Dialect::Terraform,
            &terraform("\n visibility_timeout_seconds = 0", "timeout = 60", ""),
        );
        check(&RULE, Dialect::Terraform, &terraform("", "timeout = 30000", ""));
        check(
            &RULE,
            Dialect::Terraform,
            &terraform("\n visibility_timeout_seconds = -1", "timeout = 60", ""),
        );
    }

    #[test]
    fn disabled_mapping_is_an_info() {
        let found = findings(
            &RULE,
            Dialect::Terraform,
            &terraform("", "timeout = 60", "enabled = false"),
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].severity, Severity::Info);
    }

    #[test]
    fn calculation_includes_batching_window() {
        let text = terraform("", "timeout = 300", "maximum_batching_window_in_seconds = 20");
        let found = findings(&RULE, Dialect::Terraform, &text);
        assert_eq!(
            found[0].headline,
            "`aws_sqs_queue.orders` has a visibility timeout of 30 s, but `aws_lambda_function.worker` may run for 300 s, so a message may be processed twice"
        );
        assert_eq!(found[0].calculation.as_deref(), Some("6 × 300 s + 20 s = 1820 s"));
        assert!(
            found[0]
                .help
                .as_ref()
                .unwrap()
                .contains("`visibility_timeout_seconds` to 1820")
        );
    }

    #[test]
    fn two_functions_on_one_queue_give_one_finding() {
        let text = "
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 60 # expect: visibility-timeout-below-function-timeout
  Small:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 70
      Events: {Q: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}
  Large:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 80
      Events: {Q: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}
";
        check(&RULE, Dialect::Sam, text);
        let found = findings(&RULE, Dialect::Sam, text);
        assert!(found[0].headline.contains("`Large` may run for 80 s"));
        assert!(found[0].labels().iter().any(|label| label.message.contains("`Small`")));
    }

    #[test]
    fn values_under_exclusive_conditions_are_not_compared() {
        let text = |condition: &str| {
            format!(
                "
Parameters:
  Env: {{Type: String, Default: dev}}
Conditions:
  IsProd: !Equals [!Ref Env, prod]
  IsDev: !Not [!Condition IsProd]
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: !If [IsProd, 300, 30]
  Worker:
    Type: AWS::Lambda::Function
    Condition: {condition}
    Properties:
      Timeout: 50
  OrdersMapping:
    Type: AWS::Lambda::EventSourceMapping
    Condition: {condition}
    Properties:
      EventSourceArn: !GetAtt Orders.Arn
      FunctionName: !Ref Worker
"
            )
        };
        assert!(findings(&RULE, Dialect::CloudFormation, &text("IsProd")).is_empty());
        let found = findings(&RULE, Dialect::CloudFormation, &text("IsDev"));
        assert_eq!(found.len(), 1);
        assert!(found[0].when.is_some());
    }

    #[test]
    fn durable_function_is_judged_by_execution_timeout() {
        let text = |execution: i64| {
            format!(
                "
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 600
  Worker:
    Type: AWS::Lambda::Function
    Properties:
      Timeout: 10
      DurableConfig:
        ExecutionTimeout: {execution}
  OrdersMapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Orders.Arn
      FunctionName: !Ref Worker
"
            )
        };
        assert!(findings(&RULE, Dialect::CloudFormation, &text(600)).is_empty());
        let found = findings(&RULE, Dialect::CloudFormation, &text(86_400));
        assert!(found[0].headline.contains("an execution of `Worker` may take 900 s"));
    }
}
