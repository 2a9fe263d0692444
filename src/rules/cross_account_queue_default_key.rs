//! Flags mappings to queues in other accounts that are encrypted with the AWS managed key, which only its own account
//! may use.

use super::prelude::*;
use crate::graph::AWS_KEY;
use crate::rules::shared::places::LocationKind;

pub(super) static RULE: Rule = rule!(
    "cross-account-queue-default-key",
    Category::Permissions,
    Severity::Error,
    "a function polls a queue in another account that `alias/aws/sqs` encrypts, a key for its own account alone"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        let resource = &mapping.resource;
        let Some(here) = resource.account.as_deref() else {
            continue; // Nothing to compare with.
        };
        for link in findings.known(&resource.when, mapping, &mapping.queue) {
            let Some(queue) = findings.graph.queue(resource.unit, link.value) else {
                continue;
            };
            let there = LocationKind::Account.at(link.value, Some(&queue.resource));
            let Some(there) = there.filter(|there| *there != here) else {
                continue;
            };
            for key in findings.known(&link.when.and(&queue.resource.when), queue, &queue.key) {
                let is_own = key.value.as_ref().is_none_or(|key| !key.is_key_of_aws());
                let is_open = fact(is_own, || format!("`{AWS_KEY}` does not encrypt the queue"));
                findings.require(
                    &key.when,
                    mapping,
                    is_open.depending_on(&link).depending_on(&key),
                    || locked((mapping, here), (queue, there), &link, &key),
                );
            }
        }
    }
}

fn locked(
    (mapping, here): (&EventSourceMapping, &str),
    (queue, there): (&Queue, &str),
    link: &Known<'_, Link>,
    key: &Known<'_, Option<Link>>,
) -> Finding {
    let headline = format!(
        "{mapping} in account {here} polls {queue} in account {there}, and the key `{AWS_KEY}` there cannot be shared"
    );
    let label = format!("AWS's own key serves account {there} alone{}", key.provenance());
    Finding::new("key", headline, key, label)
        .label(link, format!("a function in account {here} polls the queue"))
        .help("use a customer managed key whose policy lets the function's role decrypt")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::{TemporaryDirectory, run};

    #[test]
    fn only_customer_managed_key_works_across_accounts() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
provider "aws" {
  allowed_account_ids = ["111122223333"]
}
provider "aws" {
  alias = "other"
  assume_role {
    role_arn = "arn:aws:iam::444455556666:role/deploy"
  }
}
provider "aws" {
  alias   = "profile"
  profile = "third"
}
resource "aws_sqs_queue" "q" {
  name              = "orders"
  provider          = <provider>
  kms_master_key_id = <key>
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = <source>
  function_name    = "worker"
}
"#,
            r#"
            provider    | key             | source                                      | finding
            aws.other   | "alias/aws/sqs" | aws_sqs_queue.q.arn                         | 1
            aws         | "alias/aws/sqs" | aws_sqs_queue.q.arn                         |
            aws.profile | "alias/aws/sqs" | aws_sqs_queue.q.arn                         |
            aws.other   | "alias/orders"  | aws_sqs_queue.q.arn                         |
            aws.other   | var.open        | aws_sqs_queue.q.arn                         |
            aws.other   | null            | aws_sqs_queue.q.arn                         |
            aws.other   | "alias/aws/sqs" | var.open                                    |
            // A different queue of the same name.
            aws         | "alias/aws/sqs" | "arn:aws:sqs:eu-west-1:444455556666:orders" |
            aws.other   | "alias/aws/sqs" | "arn:aws:sqs:eu-west-1:444455556666:orders" | 1
            aws.profile | "alias/aws/sqs" | "arn:aws:sqs:eu-west-1:444455556666:orders" | 1
            aws         | "alias/aws/sqs" | "arn:aws:sqs:eu-west-1:111122223333:orders" |
            "#,
        );
    }

    #[test]
    fn accounts_of_cdk_stacks_are_read() {
        let manifest = |account: &str| {
            format!(
                r#"{{"version": "36.0.0", "artifacts": {{
  "Queues": {{"type": "aws:cloudformation:stack", "environment": "aws://{account}/eu-west-1", "properties": {{"templateFile": "Queues.template.json"}}}},
  "Workers": {{"type": "aws:cloudformation:stack", "environment": "aws://111122223333/eu-west-1", "properties": {{"templateFile": "Workers.template.json"}}}}
}}}}"#
            )
        };
        let queues = r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "orders", "KmsMasterKeyId": "alias/aws/sqs"}}}}"#;
        let workers = |account: &str| {
            format!(
                r#"{{"Resources": {{"M": {{"Type": "AWS::Lambda::EventSourceMapping", "Properties": {{
  "EventSourceArn": "arn:aws:sqs:eu-west-1:{account}:orders", "FunctionName": "worker"}}}}}}}}"#
            )
        };
        for (account, expected) in [("444455556666", 1), ("111122223333", 0)] {
            let (manifest, workers) = (manifest(account), workers(account));
            let directory = TemporaryDirectory::with_files([
                ("cdk.out/manifest.json", &*manifest),
                ("cdk.out/Queues.template.json", queues),
                ("cdk.out/Workers.template.json", &*workers),
            ]);
            let found = run(&RULE, &directory.path().join("cdk.out")).findings;
            assert_eq!(found.len(), expected, "{account}");
        }
    }
}
