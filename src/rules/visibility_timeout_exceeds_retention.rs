//! Flags queues that delete a message before it can be received a second time.

use super::prelude::*;
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = Rule {
    id: "visibility-timeout-exceeds-retention",
    category: Category::Visibility,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a message expires before its visibility timeout ends, so nothing is ever retried",
    page: include_str!("../../rules/visibility-timeout-exceeds-retention.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.consumed() {
        // A queue without a consumer delivers no message even once.
        for consumer in findings.consumers_and_workers(graph, &queue.resource.when, queue) {
            for visibility in findings.visibility(&consumer.when, queue) {
                for retention in findings.retention(&visibility.when, queue) {
                    let retried = below(&visibility, &retention).depending_on(&consumer);
                    findings.require(&retention.when, queue, retried, || {
                        expires_first(queue, &consumer, &visibility, &retention)
                    });
                }
            }
        }
    }
}

fn expires_first(queue: &Queue, consumer: &Consumer<'_>, visibility: &Operand<'_>, retention: &Operand<'_>) -> Finding {
    let headline = format!(
        "{} keeps messages for {} but has a visibility timeout of {}: a message that fails once is lost without a retry",
        queue.resource.shown(),
        retention.in_words(),
        visibility.in_words()
    );
    let deleted = format!("the message is deleted after {}", retention.shown());
    let again = format!("it would become visible again only after {}", visibility.shown());
    Finding::new("retention", headline, retention, deleted)
        .label(visibility, visibility.or_default("SQS", again))
        .show(consumer)
        .scenario(scenarios::of_one_failure(Some(visibility), None, retention))
        .help(format!(
            "raise `{}` well above {}; SQS's default is {}",
            retention.name,
            visibility.value,
            limits::RETENTION_DEFAULT.with_words()
        ))
        .fix(retention.set_to(limits::RETENTION_DEFAULT.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::RULE;
    use crate::testing::{Dialect, check, findings};

    fn terraform(visibility: &str, retention: &str, mapping: &str) -> String {
        format!(
            r#"
            variable "open" {{}}
            resource "aws_sqs_queue" "orders" {{
              {visibility}
              {retention}
            }}
            resource "aws_lambda_event_source_mapping" "orders" {{
              event_source_arn = aws_sqs_queue.orders.arn
              function_name    = "worker"
              {mapping}
            }}
            "#
        )
    }

    const EXPECTED: &str = "# expect: visibility-timeout-exceeds-retention";

    #[test]
    fn equal_retention_is_flagged_and_one_second_more_accepted() {
        let visibility = "visibility_timeout_seconds = 600";
        let equal = format!("message_retention_seconds = 600 {EXPECTED}");
        check(&RULE, Dialect::Terraform, &terraform(visibility, &equal, ""));
        check(
            &RULE,
            Dialect::Terraform,
            &terraform(visibility, "message_retention_seconds = 601", ""),
        );
    }

    #[test]
    fn unconsumed_queues_and_out_of_range_values_are_ignored() {
        let (visibility, retention) = ("visibility_timeout_seconds = 600", "message_retention_seconds = 600");
        check(
            &RULE,
            Dialect::Terraform,
            &terraform(visibility, retention, "enabled = false"),
        );
        check(
            &RULE,
            Dialect::Terraform,
            &terraform(visibility, "message_retention_seconds = 14", ""),
        );
        check(
            &RULE,
            Dialect::Terraform,
            &terraform("visibility_timeout_seconds = 600000", retention, ""),
        );
        check(
            &RULE,
            Dialect::Terraform,
            &terraform("visibility_timeout_seconds = var.open", retention, ""),
        );
    }

    #[test]
    fn default_timeout_with_minimum_retention_is_accepted() {
        check(
            &RULE,
            Dialect::Terraform,
            &terraform("", "message_retention_seconds = 60", ""),
        );
    }

    #[test]
    fn help_uses_cloudformation_property_names() {
        let text = "
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties: {VisibilityTimeout: 900, MessageRetentionPeriod: 600}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Events: {Q: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}
";
        let found = findings(&RULE, Dialect::Sam, text);
        assert!(
            found[0]
                .help
                .as_ref()
                .unwrap()
                .starts_with("raise `MessageRetentionPeriod` well above 900")
        );
    }
}
