//! Flags queue policies that refer to their queue by its ARN instead of its URL.

use super::prelude::*;
use crate::graph::LinkForm;
use crate::graph::access::{PolicyWriter, QueuePolicy};

pub(super) static RULE: Rule = Rule {
    id: "queue-policy-targets-arn",
    category: Category::Queue,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "a queue policy names its queue by the ARN, and SQS takes only the URL",
    page: include_str!("../../rules/queue-policy-targets-arn.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let policies = graph.access().queue_policies.iter();
    for policy in policies.filter(|policy| policy.writer == PolicyWriter::Separate) {
        let resource = &policy.resource;
        for link in findings.known(&resource.when, resource, &policy.queue) {
            let is_url = fact(link.value.form != LinkForm::Arn, || {
                format!("`{}` is not an ARN", link.name)
            });
            findings.require(&link.when, resource, is_url.depending_on(&link), || {
                targets_arn(policy, &link, graph.queue(resource.unit, link.value))
            });
        }
    }
}

fn targets_arn(policy: &QueuePolicy, link: &Known<'_, Link>, queue: Option<&Queue>) -> Finding {
    let headline = format!(
        "{} names its queue by the ARN, and SQS takes only the URL",
        policy.resource.shown()
    );
    let label = format!("SQS answers that this address is not valid{}", link.provenance());
    let finding = Finding::new("queue", headline, link, label);
    match queue {
        Some(queue) => finding
            .label(
                queue.resource.header,
                format!("{} is declared here", queue.resource.shown()),
            )
            .help(format!("set `{}` to `{}`", link.name, queue.resource.url_reference())),
        None => finding.help(format!(
            "set `{}` to the queue's URL: `https://sqs.<region>.amazonaws.com/<account>/<name>`",
            link.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::{check, check_cases};

    #[test]
    fn arn_in_terraform_policy_is_flagged() {
        check_cases(
            &RULE,
            Terraform,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" {}
resource "aws_sqs_queue_policy" "p" {
  queue_url = <queue>
  policy    = "{}"
}
"#,
            r#"
            queue                                                     | finding
            aws_sqs_queue.q.url                                       |
            aws_sqs_queue.q.id                                        |
            aws_sqs_queue.q.arn                                       | 1
            "arn:aws:sqs:eu-west-1:111122223333:orders"               | 1
            "https://sqs.eu-west-1.amazonaws.com/111122223333/orders" |
            var.open                                                  |
            var.open ? aws_sqs_queue.q.arn : aws_sqs_queue.q.url      | 1
            "#,
        );
    }

    #[test]
    fn arn_in_cloudformation_policy_is_flagged() {
        check_cases(
            &RULE,
            CloudFormation,
            r"
Parameters:
  Open: {Type: String}
Resources:
  Q: {Type: AWS::SQS::Queue}
  P:
    Type: AWS::SQS::QueuePolicy
    Properties:
      PolicyDocument: {Version: '2012-10-17', Statement: []}
      Queues:
        - !Ref Open
        - <queue>
",
            "
            queue         | finding | help
            !Ref Q        |         |
            !GetAtt Q.Arn | queue   | set `Queues` to `!Ref Q`
            ",
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  R: {Type: AWS::SQS::Queue}
  Inline:
    Type: AWS::SQS::QueueInlinePolicy
    Properties:
      PolicyDocument: {Version: '2012-10-17', Statement: []}
      Queue: !Sub '${R.Arn}' # expect: queue-policy-targets-arn
",
        );
    }
}
