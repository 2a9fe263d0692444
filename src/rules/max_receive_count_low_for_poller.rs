//! Flags redrive policies with fewer receives than AWS advises for queues that Lambda reads.

use super::max_receive_count_too_low::{self, minimum};
use super::{Category, Findings, Rule, Set, Setting, Value};
use crate::diagnostic::{Diagnostic, Remedy, Safety, Severity};
use crate::graph::{Graph, Queue};
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::operands::Operand;

pub(super) static RULE: Rule = Rule {
    id: "max-receive-count-low-for-poller",
    category: Category::Redrive,
    severity: Severity::Info,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "fewer than five receives: throttling of the function counts against the message",
    page: include_str!("../../rules/max-receive-count-low-for-poller.md"),
    settings: &[Setting {
        name: "recommended",
        default: Value::Number {
            value: RECOMMENDED,
            least: 1,
        },
        summary: "the fewest receives that absorb throttling",
    }],
    check: Some(check),
};

/// The fewest receives that AWS advises where Lambda polls.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html>
pub(super) const RECOMMENDED: i64 = 5;

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.read() {
        let minimum = minimum(findings, queue);
        let recommended = findings.number(&RULE, "recommended", &queue.resource);
        for count in findings.receive_counts(&queue.resource.when, queue) {
            if count.value < minimum {
                let other = &max_receive_count_too_low::RULE;
                findings.yields(&count.world, &queue.resource, &[&count], other);
                continue;
            }
            if recommended <= count.value {
                findings.holds(&count.world, &queue.resource, &[&count], || {
                    format!("{recommended} ≤ {} receives", count.value)
                });
                continue;
            }
            for consumer in findings.consumers(graph, &count.world, queue) {
                let diagnostic = low(findings, queue, &count, &consumer, recommended);
                findings.report(&consumer.world, &queue.resource, diagnostic);
            }
        }
    }
}

fn low(
    findings: &Findings<'_>,
    queue: &Queue,
    count: &Operand<'_>,
    consumer: &Consumer<'_>,
    recommended: i64,
) -> Diagnostic {
    let throttled = if consumer.is_pipe { "pipe" } else { "function" };
    let headline = format!(
        "{} gives up on a message after {} receives, and a throttled {throttled} uses them up",
        queue.resource.shown(),
        count.value
    );
    let diagnostic = findings.diagnostic(
        Severity::Info,
        &queue.resource,
        "max_receive_count",
        headline,
        count.span,
        format!("moved to the dead-letter queue after {} receives", count.count()),
    );
    consumer
        .show(count.trace(diagnostic))
        .help(format!("set `{}` to {recommended} or more", count.name))
        .remedy(Remedy::not_safe(count.write(&queue.resource, recommended)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{Dialect, check};

    fn terraform(count: &str, mapping: &str) -> String {
        format!(
            r#"
            variable "open" {{}}
            resource "aws_sqs_queue" "orders" {{
              redrive_policy = jsonencode({{
                deadLetterTargetArn = "arn:aws:sqs:eu-west-1:123456789012:failed"
                maxReceiveCount     = {count}
              }})
            }}
            resource "aws_lambda_event_source_mapping" "orders" {{
              event_source_arn = aws_sqs_queue.orders.arn
              function_name    = "worker"
              {mapping}
            }}
            "#
        )
    }

    #[test]
    fn two_to_four_receives_are_low() {
        for count in ["0", "1", "5", "100", "var.open"] {
            check(&RULE, Dialect::Terraform, &terraform(count, ""));
        }
        for count in ["2", "4"] {
            let text = format!("{count} # expect: max-receive-count-low-for-poller");
            check(&RULE, Dialect::Terraform, &terraform(&text, ""));
        }
    }

    #[test]
    fn a_disabled_mapping_is_no_poller() {
        check(&RULE, Dialect::Terraform, &terraform("3", "enabled = false"));
    }

    #[test]
    fn events_of_a_function_are_pollers() {
        let text = "
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy:
        deadLetterTargetArn: arn:aws:sqs:eu-west-1:123456789012:failed
        maxReceiveCount: 3 # expect: max-receive-count-low-for-poller
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Events: {Q: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}
";
        check(&RULE, Dialect::Sam, text);
    }
}
