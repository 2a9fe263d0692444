//! Flags receive counts that SQS does not accept.

use super::max_receive_count_low_for_poller::RECOMMENDED;
use super::{Category, Findings, Rule, Set};
use crate::diagnostic::{Diagnostic, Remedy, Safety, Severity};
use crate::graph::limits::MAX_RECEIVE_COUNT;
use crate::graph::{Fault, Graph, PolicyFault, Queue};
use crate::rules::shared::operands::Operand;

pub(super) static RULE: Rule = Rule {
    id: "max-receive-count-out-of-range",
    category: Category::Redrive,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "SQS does not accept the receive count of a redrive policy",
    page: include_str!("../../rules/max-receive-count-out-of-range.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        let resource = &queue.resource;
        for count in findings.any_receive_counts(&resource.when, queue) {
            if MAX_RECEIVE_COUNT.contains(&count.value) {
                let (least, most) = (MAX_RECEIVE_COUNT.start(), MAX_RECEIVE_COUNT.end());
                findings.holds(&count.world, resource, &[&count], || {
                    format!("{least} ≤ {} ≤ {most} receives", count.value)
                });
            } else {
                let diagnostic = out_of_range(findings, queue, &count);
                findings.report(&count.world, resource, diagnostic);
            }
        }
        for (world, _, policy) in queue.redrive.known_in(&resource.when) {
            for fault in policy.iter().flat_map(|policy| &policy.faults) {
                if let PolicyFault::CountNotInteger(written) = &fault.kind {
                    let diagnostic = no_integer(findings, queue, fault, written);
                    findings.report(&world, resource, diagnostic);
                }
            }
        }
    }
}

fn out_of_range(findings: &Findings<'_>, queue: &Queue, count: &Operand<'_>) -> Diagnostic {
    let (least, most) = (MAX_RECEIVE_COUNT.start(), MAX_RECEIVE_COUNT.end());
    let headline = format!(
        "{} allows {} receives, but SQS accepts {least} to {most}",
        queue.resource.shown(),
        count.value
    );
    let diagnostic = findings.diagnostic(
        Severity::Error,
        &queue.resource,
        "max_receive_count",
        headline,
        count.span,
        format!("{}, outside {least} to {most}", count.count()),
    );
    let (help, wanted) = if count.value < *least {
        let help = format!(
            "set `{}` to {RECOMMENDED}; leave the redrive policy out to have no dead-letter queue",
            count.name
        );
        (help, RECOMMENDED)
    } else {
        let help = format!(
            "set `{}` to {most} or less; AWS's advice is {RECOMMENDED} or a little more",
            count.name
        );
        (help, *most)
    };
    let remedy = Remedy::not_safe(count.write(&queue.resource, wanted));
    count.trace(diagnostic).help(help).remedy(remedy)
}

fn no_integer(findings: &Findings<'_>, queue: &Queue, fault: &Fault, written: &str) -> Diagnostic {
    let headline = format!(
        "{} has a receive count that is no whole number: `{written}`",
        queue.resource.shown()
    );
    findings
        .diagnostic(
            Severity::Error,
            &queue.resource,
            "max_receive_count",
            headline,
            fault.span,
            "no whole number",
        )
        .help("set `maxReceiveCount` to a whole number from 1 to 1000, such as 5")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{Dialect, check, findings};

    fn terraform(count: &str, note: &str) -> String {
        format!(
            r#"
            variable "open" {{}}
            resource "aws_sqs_queue" "orders" {{
              redrive_policy = jsonencode({{
                deadLetterTargetArn = "arn:aws:sqs:eu-west-1:123456789012:failed"
                maxReceiveCount     = {count} {note}
              }})
            }}
            "#
        )
    }

    #[test]
    fn both_ends_of_the_range_are_accepted() {
        for count in ["1", "1000", "var.open", "\"5\""] {
            check(&RULE, Dialect::Terraform, &terraform(count, ""));
        }
        for count in ["0", "-1", "1001", "2.5", "\"many\""] {
            let text = terraform(count, "# expect: max-receive-count-out-of-range");
            check(&RULE, Dialect::Terraform, &text);
        }
    }

    #[test]
    fn a_quoted_count_in_a_template_counts_as_its_number() {
        let text = |count: &str| {
            format!(
                "
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {{deadLetterTargetArn: 'arn:aws:sqs:eu-west-1:123456789012:failed', maxReceiveCount: '{count}'}}
"
            )
        };
        assert!(findings(&RULE, Dialect::CloudFormation, &text("1000")).is_empty());
        let found = findings(&RULE, Dialect::CloudFormation, &text("1001"));
        assert_eq!(
            found[0].headline,
            "`Orders` allows 1001 receives, but SQS accepts 1 to 1000"
        );
    }
}
