//! Flags redrive policies that give a message no second chance.

use super::max_receive_count_low_for_poller::RECOMMENDED;
use super::{Category, Findings, Rule, Set, Setting, Value};
use crate::diagnostic::{Diagnostic, Remedy, Safety, Severity};
use crate::graph::{Graph, Queue};
use crate::rules::shared::operands::Operand;

pub(super) static RULE: Rule = Rule {
    id: "max-receive-count-too-low",
    category: Category::Redrive,
    severity: Severity::Warning,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a single failed receive sends a good message to the dead-letter queue",
    page: include_str!("../../rules/max-receive-count-too-low.md"),
    settings: &[Setting {
        name: "minimum",
        default: Value::Number { value: 2, least: 1 },
        summary: "the fewest receives that are enough",
    }],
    check: Some(check),
};

/// The fewest receives that allow a retry. AWS: "we don't recommend setting the number of maximum receives to 1".
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html>
pub(super) fn minimum(findings: &Findings<'_>, queue: &Queue) -> i64 {
    findings.number(&RULE, "minimum", &queue.resource)
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        let minimum = minimum(findings, queue);
        for count in findings.receive_counts(&queue.resource.when, queue) {
            if count.value < minimum {
                let diagnostic = too_low(findings, queue, &count, minimum);
                findings.report(&count.world, &queue.resource, diagnostic);
            } else {
                findings.holds(&count.world, &queue.resource, &[&count], || {
                    format!("{minimum} ≤ {} receives", count.value)
                });
            }
        }
    }
}

fn too_low(findings: &Findings<'_>, queue: &Queue, count: &Operand<'_>, minimum: i64) -> Diagnostic {
    let receives = if count.value == 1 { "receive" } else { "receives" };
    let headline = format!(
        "{} gives up on a message after {} {receives}: one throttle or lost response sends a good one to the \
         dead-letter queue",
        queue.resource.shown(),
        count.value
    );
    let diagnostic = findings.diagnostic(
        Severity::Warning,
        &queue.resource,
        "max_receive_count",
        headline,
        count.span,
        format!("moved to the dead-letter queue after {} {receives}", count.count()),
    );
    let wanted = minimum.max(RECOMMENDED);
    let help = format!(
        "set `{}` to {wanted}, or to {minimum} at the very least; suppress this where working on a message twice does more harm",
        count.name
    );
    let remedy = Remedy::not_safe(count.write(&queue.resource, wanted));
    count.trace(diagnostic).help(help).remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{Dialect, check, run_files};

    fn cloudformation(count: &str) -> String {
        format!(
            "
Parameters:
  Open: {{Type: Number}}
  Receives: {{Type: Number, Default: 1}}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy:
        deadLetterTargetArn: arn:aws:sqs:eu-west-1:123456789012:failed
        maxReceiveCount: {count}
"
        )
    }

    #[test]
    fn one_receive_is_too_few_and_two_are_not() {
        let one = "# expect: max-receive-count-too-low";
        check(&RULE, Dialect::CloudFormation, &cloudformation(&format!("1 {one}")));
        check(&RULE, Dialect::CloudFormation, &cloudformation(&format!("'1' {one}")));
        check(
            &RULE,
            Dialect::CloudFormation,
            &cloudformation(&format!("!Ref Receives {one}")),
        );
        check(&RULE, Dialect::CloudFormation, &cloudformation("2"));
    }

    #[test]
    fn zero_is_out_of_range_and_an_open_count_is_not_judged() {
        check(&RULE, Dialect::CloudFormation, &cloudformation("0"));
        let text = format!("{}AWSTemplateFormatVersion: 2010-09-09\n", cloudformation("!Ref Open"));
        let outcome = run_files(&RULE, &[("template.yaml", &text)]);
        assert!(outcome.findings.is_empty());
        assert_eq!(outcome.not_evaluated.len(), 1, "{:?}", outcome.not_evaluated);
    }

    #[test]
    fn it_needs_no_consumer_in_terraform_either() {
        let text = r#"
            resource "aws_sqs_queue" "orders" {
              redrive_policy = "{\"deadLetterTargetArn\": \"arn:aws:sqs:eu-west-1:123456789012:failed\", \"maxReceiveCount\": 1}" # expect: max-receive-count-too-low
            }
        "#;
        check(&RULE, Dialect::Terraform, text);
    }
}
