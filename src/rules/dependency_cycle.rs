//! Flags queues, policies, buckets, topics, rules and keys that refer to each other in a circle.

use super::prelude::*;
use crate::graph::order::{Creation, CycleStep, without_keys};
use crate::graph::{Resource, UnitId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) static RULE: Rule = rule!(
    "dependency-cycle",
    Category::Queue,
    Severity::Error,
    "a queue and other resources refer to each other in a circle, so none of them can be created first"
);

/// Resources around queues by address, with the keys of instances removed.
type Resources<'g> = BTreeMap<Arc<str>, &'g Resource>;

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    let mut units: BTreeMap<UnitId, Resources<'_>> = BTreeMap::new();
    for resource in around_queues(graph) {
        let address = without_keys(&resource.address).into();
        units
            .entry(resource.unit)
            .or_default()
            .entry(address)
            .or_insert(resource);
    }
    for (unit, resources) in units {
        let Some(order) = graph.order(unit) else { continue };
        let of: BTreeSet<Arc<str>> = resources.keys().cloned().collect();
        let cycles = order.cycles(&of);
        let is_circular = |address: &Arc<str>| cycles.iter().flatten().any(|(step, _)| step == address);
        for (_, resource) in resources.iter().filter(|(address, _)| !is_circular(address)) {
            let is_first = fact(true, || "no circle of references contains it".to_owned());
            findings.satisfied(&resource.when, *resource, is_first.depending_on(&resource.header));
        }
        for steps in &cycles {
            let known = steps.iter().filter_map(|(address, _)| resources.get(address));
            let Some(first) = known.clone().next() else { continue };
            let when = known.fold(Condition::always(), |all, resource| all.and(&resource.when));
            findings.report(&when, *first, circle(graph, order.creation, first, steps));
        }
    }
}

/// Returns the resources whose cycles the rule reports.
fn around_queues(graph: &Graph) -> impl Iterator<Item = &Resource> {
    let (access, deliveries) = (graph.access(), graph.deliveries());
    let queues = graph.queues().iter().map(|queue| &queue.resource);
    let policies = access.queue_policies.iter().map(|policy| &policy.resource);
    let keys = access.keys.iter().map(|key| &key.resource);
    let topics = deliveries.topics.iter().map(|topic| &topic.resource);
    let subscriptions = deliveries.subscriptions.iter().map(|one| &one.resource);
    queues
        .chain(policies)
        .chain(keys)
        .chain(topics)
        .chain(subscriptions)
        .chain(&deliveries.sources)
}

fn circle(graph: &Graph, creation: &Creation, first: &Resource, steps: &[CycleStep]) -> Finding {
    let addresses = || steps.iter().map(|(address, _)| &**address);
    let shown: Vec<String> = addresses()
        .chain(addresses().take(1))
        .map(|address| format!("`{address}`"))
        .collect();
    let is_alone = steps.len() == 1;
    let headline = match shown.first().filter(|_| is_alone) {
        Some(only) => format!("{only} refers to itself, so it cannot be created"),
        None => format!(
            "{} refer to each other, so none of them can be created first",
            shown.join(" → ")
        ),
    };
    let next = |at: usize| shown.get(at + 1).filter(|_| !is_alone).map_or("itself", String::as_str);
    let spans = steps.iter().map(|(_, span)| *span);
    let mut labels = spans.enumerate().map(|(at, span)| {
        (
            span,
            format!("{} refers to {}", shown.get(at).map_or("", String::as_str), next(at)),
        )
    });
    let (span, label) = labels.next().unwrap_or((first.header, String::new()));
    let finding = Finding::new("order", headline, span, label);
    let finding = labels.fold(finding, |finding, (span, label)| finding.label(span, label));
    let queues = graph.queues().iter().filter(|queue| queue.resource.unit == first.unit);
    let queues: BTreeSet<String> = queues.map(|queue| without_keys(&queue.resource.address)).collect();
    let is_of_queues = addresses().all(|address| queues.contains(address));
    finding.help(match (creation.composed_arn, creation.cycle_of_queues) {
        (_, Some(way)) if is_of_queues && !is_alone => way.to_owned(),
        (Some(arn), _) => format!(
            "write one of the ARNs with a name instead of a reference: \
             `{arn}sqs:${{AWS::Region}}:${{AWS::AccountId}}:<name>`, or `arn:aws:s3:::<name>` for a bucket"
        ),
        (None, _) => {
            "write one of the ARNs with a name instead of a reference, or set the policy with a separate resource"
                .to_owned()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Serverless, Terraform};

    #[test]
    fn redrive_policies_in_both_directions_are_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "failed" {
  name                 = "failed"
  redrive_allow_policy = jsonencode({ redrivePermission = "byQueue", sourceQueueArns = [<source>] })
}
resource "aws_sqs_queue" "orders" {
  name           = "orders"
  redrive_policy = jsonencode({ deadLetterTargetArn = <target>, maxReceiveCount = 5 })
}
locals { source = aws_sqs_queue.orders.arn }
"#,
            r#"
            target                                      | source                                      | finding | help
            aws_sqs_queue.failed.arn                    | aws_sqs_queue.orders.arn                    | error   | …aws_sqs_queue_redrive_allow_policy…
            aws_sqs_queue.failed.arn                    | local.source                                | error   |
            aws_sqs_queue.failed.arn                    | "arn:aws:sqs:eu-west-1:111122223333:orders" |         |
            "arn:aws:sqs:eu-west-1:111122223333:failed" | aws_sqs_queue.orders.arn                    |         |
            aws_sqs_queue.failed.arn                    | var.open                                    |         |
            "#,
        );
    }

    #[test]
    fn resource_that_refers_to_itself_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
resource "aws_sqs_queue" "q" {
  name   = "q"
  policy = jsonencode({ Statement = [{ Action = "sqs:SendMessage", Resource = <resource> }] })
}
locals { arn = aws_sqs_queue.q.arn }
"#,
            r#"
            resource                               | finding | headline
            aws_sqs_queue.q.arn                    | error   | `aws_sqs_queue.q` refers to itself, so it cannot be created
            local.arn                              | error   |
            "*"                                    |         |
            "arn:aws:sqs:eu-west-1:111122223333:q" |         |
            "#,
        );
        for dialect in [CloudFormation, Sam, Serverless] {
            dialect.check_cases(
                &RULE,
                "
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties: {RedriveAllowPolicy: {redrivePermission: byQueue, sourceQueueArns: [<source>]}}
",
                "
                source                                 | finding
                !GetAtt Q.Arn                          | error
                'arn:aws:sqs:eu-west-1:111122223333:q' |
                ",
            );
        }
    }

    #[test]
    fn policy_key_and_topic_close_a_circle_in_terraform() {
        Terraform.check_cases(
            &RULE,
            r#"
resource "aws_sns_topic" "t" {
  name              = "t"
  kms_master_key_id = <key of the topic>
}
resource "aws_kms_key" "k" {
  policy = jsonencode({ Statement = [{ Condition = { ArnEquals = { "aws:SourceArn" = <source> } } }] })
}
resource "aws_sqs_queue" "q" {
  policy = data.aws_iam_policy_document.d.json
}
data "aws_iam_policy_document" "d" {
  statement {
    resources = [<resource>]
  }
}
resource "aws_sqs_queue_policy" "p" {
  queue_url = aws_sqs_queue.q.url
  policy    = data.aws_iam_policy_document.d.json
}
"#,
            r#"
            key of the topic  | source              | resource                                   | finding | headline
            aws_kms_key.k.arn | aws_sns_topic.t.arn | "*"                                        | 1       | `aws_kms_key.k` → `aws_sns_topic.t` → `aws_kms_key.k` refer to each other…
            aws_kms_key.k.arn | "*"                 | "*"                                        |         |
            null              | aws_sns_topic.t.arn | aws_sqs_queue.q.arn                        | 1       | `aws_sqs_queue.q` → `data.aws_iam_policy_document.d` → `aws_sqs_queue.q` refer…
            null              | aws_sns_topic.t.arn | "arn:aws:sqs:eu-west-1:111122223333:q"     |         |
            "#,
        );
    }

    #[test]
    fn separate_policy_resource_is_accepted() {
        Terraform.check(
            &RULE,
            r#"
resource "aws_sqs_queue" "failed" {}
resource "aws_sqs_queue" "orders" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue_redrive_allow_policy" "failed" {
  queue_url            = aws_sqs_queue.failed.id
  redrive_allow_policy = jsonencode({ redrivePermission = "byQueue", sourceQueueArns = [aws_sqs_queue.orders.arn] })
}
"#,
        );
    }

    #[test]
    fn circles_of_templates_are_flagged() {
        for dialect in [CloudFormation, Sam, Serverless] {
            dialect.check_cases(
                &RULE,
                "
Conditions:
  Uploading: !Equals [!Ref AWS::Region, eu-west-1]
Resources:
  Q: {Type: AWS::SQS::Queue}
  P:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Q]
      PolicyDocument:
        Statement: [{Effect: Allow, Principal: {Service: s3.amazonaws.com}, Action: sqs:SendMessage, Resource: !GetAtt Q.Arn, Condition: {ArnLike: {aws:SourceArn: <source>}}}]
  B:
    Type: AWS::S3::Bucket
    <waits>
    Properties:
      BucketName: uploads
      NotificationConfiguration:
        QueueConfigurations: [{Event: 's3:ObjectCreated:*', Queue: !GetAtt Q.Arn}]
",
                "
                waits             | source                                           | finding | headline
                DependsOn: P      | !GetAtt B.Arn                                    | 1       | `B` → `P` → `B` refer to each other, so none of them can be created first
                DependsOn: [P, Q] | !Sub '${B.Arn}'                                  | 1       | `B` → `P` → `B` refer…
                DependsOn: P      | !Sub ['${X}', {X: !GetAtt B.Arn}]                | 1       | `B` → `P` → `B` refer…
                DependsOn: P      | !If [Uploading, !GetAtt B.Arn, '*']              |         |
                DependsOn: P      | arn:aws:s3:::uploads                             |         |
                                  | !GetAtt B.Arn                                    |         |
                ",
            );
        }
    }
}
