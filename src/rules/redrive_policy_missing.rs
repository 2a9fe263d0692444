//! Flags queues with a consumer but without a dead-letter queue.

use super::prelude::*;
use crate::graph::{RedrivePolicy, UnitId};
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::dead_letter::{IneffectiveFailureQueue, dead_letter_queue, ineffective_failure_queue};
use rustc_hash::FxHashMap;

pub(super) static RULE: Rule = rule!(
    "redrive-policy-missing",
    Category::Redrive,
    Severity::Warning,
    "a message that always fails is retried until it expires and is then lost",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    findings.note_unresolved_sources();
    let unused = unused_failure_queues(findings.graph);
    for queue in findings.graph.consumed() {
        if findings.graph.is_dead_letter_queue(queue) {
            continue; // A dead-letter queue needs no redrive policy.
        }
        for redrive in findings.redrives(&queue.resource.when, queue) {
            // `redrive-policy-malformed` reports faults of an existing policy.
            if findings.satisfied(&redrive.when, queue, is_set(&redrive)) {
                continue;
            }
            for when in as_source(findings, queue, &redrive.when) {
                let consumers = findings.consumers_and_workers(&when, queue);
                // Looked up once for all consumers of the queue, of which there may be thousands.
                let named = (!consumers.is_empty())
                    .then(|| ineffective_failure_queue(findings.graph, &when, queue))
                    .flatten();
                let (unit, stem) = (queue.resource.unit, stem(queue).0);
                let unused = unused.get(&(unit, stem)).or_else(|| unused.get(&(unit, String::new())));
                for consumer in consumers {
                    let finding = missing(queue, &redrive, &consumer, named.as_ref(), unused.copied());
                    findings.report(&consumer.when, queue, finding);
                }
            }
        }
    }
}

/// Returns the conditions under which no redrive allow policy makes `queue` the dead-letter queue of an external queue.
fn as_source(findings: &mut Findings<'_>, queue: &Queue, when: &Condition) -> Vec<Condition> {
    let mut all = Vec::new();
    for allow in findings.known(when, queue, &queue.redrive_allow) {
        let Some(policy) = allow.value else {
            all.push(allow.when);
            continue;
        };
        let permissions = findings.known(&allow.when, queue, &policy.permission).into_iter();
        all.extend(
            permissions
                .filter(|known| known.value == "denyAll")
                .map(|known| known.when),
        );
    }
    all
}

/// Returns the queues that are named like a dead-letter queue and that nothing uses, by unit and [`stem`].
fn unused_failure_queues(graph: &Graph) -> FxHashMap<(UnitId, String), &Queue> {
    let mut unused = FxHashMap::default();
    for queue in graph.queues() {
        let is_used = graph.is_dead_letter_queue(queue) || graph.is_read(queue) || graph.is_sent_to(queue);
        if !is_used && let (stem, true) = stem(queue) {
            unused.insert((queue.resource.unit, stem), queue);
        }
    }
    unused
}

/// Returns the letters of a queue's address without those of `dlq`, `dead letter` and `queue`, and `true` if the first
/// or second of these occurs: `OrdersDLQ` and `OrdersQueue` have the stem `orders`.
fn stem(queue: &Queue) -> (String, bool) {
    let letters = queue.resource.address.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    let rest = name.replace("deadletter", "").replace("dlq", "");
    let is_for_failures = rest.len() < name.len();
    (rest.replace("awssqsqueue", "").replace("queue", ""), is_for_failures)
}

fn missing(
    queue: &Queue,
    redrive: &Known<'_, Option<Box<RedrivePolicy>>>,
    consumer: &Consumer<'_>,
    named: Option<&IneffectiveFailureQueue<'_>>,
    unused: Option<&Queue>,
) -> Finding {
    let headline = format!(
        "{queue} has no redrive policy: a message that always fails is retried until it expires and is then lost"
    );
    let name = redrive.name;
    let absence = match redrive.null_cause() {
        Some(cause) => format!("`{name}` is null because of {cause}"),
        None if redrive.is_default => format!("no `{name}`"),
        None => format!("this `{name}` is empty"),
    };
    let message = format!("{absence}: failed messages have nowhere to go");
    let mut finding = Finding::new("redrive", headline, redrive, message).show(consumer);
    let fifo = queue.fifo.known_in(&consumer.when);
    if let Some((_, case, _)) = fifo.iter().find(|(_, _, fifo)| **fifo) {
        let message = "until it expires, the message also blocks its message group; a dead-letter queue frees the group but breaks its order";
        finding = finding.label(case.span, message);
    }
    let target = match (named, unused) {
        (
            Some(IneffectiveFailureQueue {
                setting,
                function,
                queue,
            }),
            _,
        ) => format!(
            "{queue}, which `{}` of {function} references without effect,",
            setting.name
        ),
        (None, Some(unused)) => format!("{unused}, a dead-letter queue by its name that nothing uses,"),
        (None, None) => "a dead-letter queue of the same type".to_owned(),
    };
    let too_old = too_old(queue);
    let to = named.map(|named| named.queue).or(unused);
    let fix = dead_letter_queue(redrive, &consumer.when, queue, to).filter(|_| too_old.is_none());
    finding
        .help(format!(
            "set `{}` to {target} with a `maxReceiveCount` of 5 or more; let that queue keep messages longer than this \
             one, and put an alarm on it{}",
            redrive.name,
            too_old.unwrap_or_default()
        ))
        .fix(fix)
}

/// Returns advice for a queue that deletes a message before it has been received as often as the fix allows. A longer
/// retention period is a decision of its own: old messages may be worthless.
fn too_old(queue: &Queue) -> Option<String> {
    let (visibility, retention) = (queue.visibility_timeout.known()?.0, queue.retention.known()?.0);
    let age = visibility.saturating_mul(limits::ADVISED_RECEIVES);
    let name = &queue.retention.name;
    (retention <= age).then(|| {
        format!(
            "; a message that fails moves there after {age} s, but `{name}` deletes it after {retention} s: raise that \
             only if an old message is still worth its processing"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};

    const QUEUE: &str = r#"
variable "open" {}
resource "aws_sqs_queue" "orders" { <header>
  <queue>
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = "worker"
  enabled          = <enabled>
}
"#;

    #[test]
    fn consumed_queue_without_policy_is_flagged() {
        Terraform.check_cases(
            &RULE,
            QUEUE,
            r#"
            header | queue                                                                                                                | enabled  | finding
                   |                                                                                                                      | true     | header
                   |                                                                                                                      | false    |
                   |                                                                                                                      | var.open | unjudged
                   | redrive_policy = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:123456789012:dlq", maxReceiveCount = 5 }) | true     |
                   | redrive_policy = ""                                                                                                  | true     | queue
                   | redrive_policy = var.open                                                                                            | true     | unjudged
            // Another rule reports it.
                   | redrive_policy = "no json"                                                                                           | true     |
            // A dead-letter queue.
                   | redrive_allow_policy = jsonencode({ redrivePermission = "allowAll" })                                                | true     |
                   | redrive_allow_policy = jsonencode({ redrivePermission = "denyAll" })                                                 | true     | header
            "#,
        );
        Terraform.check_cases(
            &RULE,
            &QUEUE.replace("= aws_sqs_queue.orders.arn", "= <source>"),
            "header | queue | enabled | source | finding\n  |  | true | var.open | unjudged",
        );
        let source = r#"
resource "aws_sqs_queue" "first" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.orders.arn, maxReceiveCount = 5 })
}
"#;
        Terraform.check_cases(
            &RULE,
            &format!("{QUEUE}{source}"),
            "header | queue | enabled | finding\n  |  | true |",
        );
    }

    #[test]
    fn fifo_queue_gets_label_about_order() {
        Sam.check_cases(
            &RULE,
            "
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties: {FifoQueue: true}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Events: {Q: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}
",
            "
            finding | label
            1       | …breaks its order…
            1       | no `RedrivePolicy`: failed messages have nowhere to go
            ",
        );
    }

    #[test]
    fn fix_uses_a_queue_that_keeps_messages_long_enough() {
        let with_unused = QUEUE
            .replace("<header>", "")
            .replace("<queue>", "message_retention_seconds = <kept>");
        let unused = "resource \"aws_sqs_queue\" \"orders_dlq\" {\n  <dead>\n}\n";
        Terraform.check_cases(
            &RULE,
            &format!("{}{unused}", with_unused.replace("<enabled>", "true")),
            "
            kept   | dead                                 | finding | fix
            345600 | message_retention_seconds = 345601   | 1       | …leads to `aws_sqs_queue.orders_dlq`
            345600 | message_retention_seconds = 345600   | 1       | none
            345600 | message_retention_seconds = null     | 1       | none
            345600 | message_retention_seconds = var.open | 1       | …leads to `aws_sqs_queue.orders_dlq`
            345599 |                                      | 1       | …leads to `aws_sqs_queue.orders_dlq`
            345600 |                                      | 1       | …`aws_sqs_queue.orders_dlq`, and set its `message_retention_seconds` to 1209600
            ",
        );
    }

    #[test]
    fn conditional_policy_is_flagged_under_other_condition() {
        CloudFormation.check_cases(
            &RULE,
            "
Parameters:
  Env: {Type: String}
Conditions:
  IsProd: !Equals [!Ref Env, prod]
Resources:
  Failed:
    Type: AWS::SQS::Queue
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: !If
        - IsProd
        - {deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}
        - !Ref AWS::NoValue
  OrdersMapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Orders.Arn, FunctionName: worker}
",
            "finding | when\n 1 | not IsProd",
        );
    }

    #[test]
    fn unused_queue_named_like_a_dead_letter_queue_is_mentioned() {
        let mention = "`aws_sqs_queue.orders_dlq`, a dead-letter queue by its name that nothing uses,";
        let queue =
            |name: &str, arguments: &str| format!("resource \"aws_sqs_queue\" \"{name}\" {{\n  {arguments}\n}}\n");
        let dlq = queue("orders_dlq", "");
        let policy =
            "redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.orders_dlq.arn, maxReceiveCount = 5 })";
        let plain = QUEUE
            .replace("<header>", "")
            .replace("<queue>", "")
            .replace("<enabled>", "true");
        for (more, is_mentioned) in [
            (dlq.clone(), true),
            (queue("invoices_dlq", ""), false),
            (dlq + &queue("other", policy), false),
            (String::new(), false),
        ] {
            let found = Terraform.findings(&RULE, &(plain.clone() + &more));
            let help = found[0].help.as_deref().unwrap_or_default();
            assert_eq!(help.contains(mention), is_mentioned, "{more}: {help}");
        }
    }
}
