//! Flags references to a dead-letter queue that is not declared.

use super::prelude::*;
use crate::graph::{Attribute, Resource, Target};

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-undeclared",
    Category::Redrive,
    Severity::Error,
    "a redrive policy refers to a dead-letter queue that is not declared"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for target in findings.redrive_targets(&queue.resource.when, queue) {
            judge(findings, &queue.resource, "redrive", &target, Some(target.value));
        }
    }
    for function in findings.graph.functions() {
        for setting in &function.failure_targets {
            let (resource, when) = (&function.resource, &setting.when);
            all(findings, resource, "failure_target", when, &setting.target, |link| {
                Some(link)
            });
        }
    }
    let deliveries = findings.graph.deliveries();
    for target in &deliveries.targets {
        let resource = &target.resource;
        all(
            findings,
            resource,
            "dead_letter",
            &resource.when,
            &target.dead_letter,
            Option::as_ref,
        );
    }
    for subscription in &deliveries.subscriptions {
        let resource = &subscription.resource;
        for redrive in findings.known(&resource.when, resource, &subscription.redrive) {
            if let Some(policy) = redrive.value.as_ref().filter(|policy| policy.faults.is_empty()) {
                all(findings, resource, "redrive", &redrive.when, &policy.target, |link| {
                    Some(link)
                });
            }
        }
    }
}

fn all<T>(
    findings: &mut Findings<'_>,
    resource: &Resource,
    id: &'static str,
    when: &Condition,
    attribute: &Attribute<T>,
    link: impl Fn(&T) -> Option<&Link>,
) {
    for known in findings.known(when, resource, attribute) {
        judge(findings, resource, id, &known, link(known.value));
    }
}

fn judge<T>(
    findings: &mut Findings<'_>,
    resource: &Resource,
    id: &'static str,
    known: &Known<'_, T>,
    link: Option<&Link>,
) {
    let Some(link) = link else { return };
    let undeclared = match &link.target {
        Target::Dangling(name) => Some(name),
        _ => None,
    };
    let is_declared = fact(undeclared.is_none(), || {
        format!("`{}` is declared, or outside the project", known.name)
    });
    findings.require(&known.when, resource, is_declared.depending_on(known), || {
        let name = undeclared.map_or("", |name| name);
        let headline = format!("{resource} names `{name}` as its dead-letter queue, which is not declared");
        let label = format!("`{name}` is not declared, so the deployment fails");
        Finding::new(id, headline, known, label).help(format!(
            "declare `{name}`: AWS does not create dead-letter queues by itself"
        ))
    });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::queue;

    #[test]
    fn undeclared_target_is_flagged() {
        let others = r#"
resource "aws_sqs_queue" "none" {
  count = 0
}
module "away" {
  source = "example.com/queues"
}"#;
        queue().dead_letter_queue("fifo", false).terraform(others).check(
            &RULE,
            "
            queue.target                              | finding
            dlq.arn                                   |
            = aws_sqs_queue.none[0].arn               |
            arn:aws:sqs:eu-west-1:111122223333:failed |
            open                                      |
            = module.away.arn                         |
            = aws_sqs_queue.gone.arn                  | queue.target
            = module.gone.arn                         | queue.target
            = data.aws_sqs_queue.gone.arn             | queue.target
            ",
        );
        queue().only(&[CloudFormation, Sam]).check(
            &RULE,
            "
            queue.target       | function.failure_target | finding
            = !GetAtt Gone.Arn | = !GetAtt Gone.Arn      | queue.target, function.failure_target
            ",
        );
    }

    #[test]
    fn every_reference_to_a_dead_letter_queue_is_checked() {
        Terraform.check(
            &RULE,
            r#"
resource "aws_sqs_queue" "orders" {}
resource "aws_sqs_queue_redrive_policy" "orders" {
  queue_url      = aws_sqs_queue.orders.id
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.gone.arn # expect: dead-letter-queue-undeclared
    maxReceiveCount     = 5
  })
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  dead_letter_config {
    target_arn = aws_sqs_queue.gone.arn # expect: dead-letter-queue-undeclared
  }
}
resource "aws_cloudwatch_event_target" "t" {
  rule = "r"
  arn  = aws_lambda_function.f.arn
  dead_letter_config {
    arn = aws_sqs_queue.gone.arn # expect: dead-letter-queue-undeclared
  }
}
resource "aws_sns_topic_subscription" "s" {
  topic_arn      = "arn:aws:sns:eu-west-1:111122223333:t"
  protocol       = "lambda"
  endpoint       = aws_lambda_function.f.arn
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.gone.arn }) # expect: dead-letter-queue-undeclared
}
"#,
        );
    }
}
