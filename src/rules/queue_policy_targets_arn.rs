//! Flags queue policies that refer to their queue by its ARN instead of its URL.

use super::prelude::*;
use crate::graph::Form;
use crate::graph::access::{PolicyWriter, QueuePolicy};

pub(super) static RULE: Rule = rule!(
    "queue-policy-targets-arn",
    Category::Queue,
    Severity::Error,
    "a queue policy names its queue by the ARN, and SQS takes only the URL"
);

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.access().queue_policies.iter();
    for policy in policies.filter(|policy| policy.writer == PolicyWriter::Separate) {
        let resource = &policy.resource;
        for link in findings.known(&resource.when, resource, &policy.queue) {
            let is_url = fact(link.value.form != Form::Arn, || {
                format!("`{}` is not an ARN", link.name)
            });
            findings.require(&link.when, resource, is_url.depending_on(&link), || {
                targets_arn(policy, &link, findings.graph.queue(resource.unit, link.value))
            });
        }
    }
}

fn targets_arn(policy: &QueuePolicy, link: &Known<'_, Link>, queue: Option<&Queue>) -> Finding {
    let headline = format!("{policy} names its queue by the ARN, and SQS takes only the URL");
    let label = format!("SQS answers that this address is not valid{}", link.provenance());
    let finding = Finding::new("queue", headline, link, label);
    match queue {
        Some(queue) => finding
            .label(queue.resource.header, format!("{queue} is declared here"))
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

    #[test]
    fn arn_in_terraform_policy_is_flagged() {
        for (queue, expected) in [
            ("aws_sqs_queue.q.url", 0),
            ("aws_sqs_queue.q.id", 0),
            ("aws_sqs_queue.q.arn", 1),
            ("\"arn:aws:sqs:eu-west-1:111122223333:orders\"", 1),
            ("\"https://sqs.eu-west-1.amazonaws.com/111122223333/orders\"", 0),
            ("var.open", 0),
            ("var.open ? aws_sqs_queue.q.arn : aws_sqs_queue.q.url", 1),
        ] {
            let text = format!(
                "variable \"open\" {{}}\nresource \"aws_sqs_queue\" \"q\" {{}}\nresource \"aws_sqs_queue_policy\" \"p\" {{\n  \
                 queue_url = {queue}\n  policy = \"{{}}\"\n}}\n"
            );
            assert_eq!(Terraform.findings(&RULE, &text).len(), expected, "{queue}");
        }
    }

    #[test]
    fn arn_in_cloudformation_policy_is_flagged() {
        CloudFormation.check(
            &RULE,
            r"
Parameters:
  Open: {Type: String}
Resources:
  Q: {Type: AWS::SQS::Queue}
  R: {Type: AWS::SQS::Queue}
  P:
    Type: AWS::SQS::QueuePolicy
    Properties:
      PolicyDocument: {Version: '2012-10-17', Statement: []}
      Queues:
        - !Ref Q
        - !Ref Open
        - !GetAtt R.Arn # expect: queue-policy-targets-arn
  Inline:
    Type: AWS::SQS::QueueInlinePolicy
    Properties:
      PolicyDocument: {Version: '2012-10-17', Statement: []}
      Queue: !Sub '${R.Arn}' # expect: queue-policy-targets-arn
",
        );
    }

    #[test]
    fn help_spells_url_in_dialect() {
        let text = "Resources:\n  Q: {Type: AWS::SQS::Queue}\n  P:\n    Type: AWS::SQS::QueuePolicy\n    Properties:\n      \
                    PolicyDocument: {Statement: []}\n      Queues: [!GetAtt Q.Arn]\n";
        let found = CloudFormation.findings(&RULE, text);
        let help = found.first().and_then(|found| found.help.as_deref());
        assert_eq!(help, Some("set `Queues` to `!Ref Q`"));
    }
}
