//! Flags queue policies without a version, which make Terraform wait until it times out.

use super::prelude::*;
use crate::graph::access::PolicyDocument;

pub(super) static RULE: Rule = rule!(
    "queue-policy-version-missing",
    Category::Queue,
    Severity::Warning,
    "a queue policy has no `Version`, and Terraform may wait for it until it times out",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.access().queue_policies.iter();
    for policy in policies.filter(|policy| policy.is_awaited) {
        let resource = &policy.resource;
        for document in findings.known(&resource.when, resource, &policy.document) {
            for version in findings.known(&document.when, resource, &document.value.version) {
                findings.require(
                    &version.when,
                    resource,
                    is_set(&version).depending_on(&document),
                    || missing(&resource.shown(), &document),
                );
            }
        }
    }
}

fn missing(shown: &str, document: &Known<'_, PolicyDocument>) -> Finding {
    let headline =
        format!("the queue policy of {shown} has no `Version`, and Terraform may wait for it until it times out");
    let label = format!("no `Version` in this policy{}", document.provenance());
    Finding::new("policy_version", headline, document, label).help(
        "begin the policy with `Version = \"2012-10-17\"`, or write it as an `aws_iam_policy_document`, which has one",
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};

    fn count(resource: &str) -> usize {
        let text = format!(
            "variable \"open\" {{}}\ndata \"aws_iam_policy_document\" \"d\" {{}}\nresource \"aws_sqs_queue\" \"q\" {{\n  {}\n}}\n{}\n",
            if resource.starts_with("policy") { resource } else { "" },
            if resource.starts_with("policy") { "" } else { resource },
        );
        Terraform.findings(&RULE, &text).len()
    }

    #[test]
    fn policy_without_version_is_flagged() {
        for (policy, expected) in [
            ("jsonencode({ Statement = [] })", 1),
            ("\"{\\\"Statement\\\": []}\"", 1),
            ("jsonencode({ Version = \"2012-10-17\", Statement = [] })", 0),
            ("jsonencode({ Version = \"2008-10-17\", Statement = [] })", 0),
            ("jsonencode({ Version = var.open, Statement = [] })", 0),
            ("data.aws_iam_policy_document.d.json", 0),
            ("var.open", 0),
            ("null", 0),
            ("var.open ? jsonencode({ Statement = [] }) : null", 1),
        ] {
            assert_eq!(count(&format!("policy = {policy}")), expected, "{policy}");
            if policy != "null" {
                let separate = format!(
                    "resource \"aws_sqs_queue_policy\" \"p\" {{\n  queue_url = aws_sqs_queue.q.url\n  policy = {policy}\n}}"
                );
                assert_eq!(count(&separate), expected, "{separate}");
            }
        }
    }

    #[test]
    fn cloudformation_policy_is_ignored() {
        let text = "Resources:\n  Q: {Type: AWS::SQS::Queue}\n  P:\n    Type: AWS::SQS::QueuePolicy\n    Properties:\n      \
                    Queues: [!Ref Q]\n      PolicyDocument: {Statement: []}\n";
        assert!(CloudFormation.findings(&RULE, text).is_empty());
    }
}
