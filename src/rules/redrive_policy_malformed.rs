//! Flags redrive policies that SQS, or the deployment tool, rejects.

use super::prelude::*;
use crate::graph::{Form, PolicyError, PolicyErrorKind, RedrivePolicy, Target};
use source::Span;

pub(super) static RULE: Rule = rule!(
    "redrive-policy-malformed",
    Category::Redrive,
    Severity::Error,
    "SQS rejects the redrive policy: not a JSON object, a wrong key, or a target that is not a queue's ARN",
    fix = Some(Safety::Safe)
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for redrive in findings.redrives(&queue.resource.when, queue) {
            let Some(policy) = redrive.value else { continue };
            let mut all: Vec<Finding> = (policy.faults.iter())
                .filter_map(|fault| of_fault(queue, fault))
                .collect();
            for target in findings.without_notes(|findings| findings.known(&redrive.when, queue, &policy.target)) {
                match of_target(findings.graph, queue, &target) {
                    Some(finding) if target.when == redrive.when => all.push(finding),
                    Some(finding) => findings.report(&target.when, queue, finding),
                    None => {}
                }
            }
            // A misspelled key is often a missing one as well, and each cause is reported once.
            match Finding::worst(all) {
                Some(finding) => findings.report(&redrive.when, queue, finding),
                None => well_formed(findings, queue, &redrive, policy),
            }
        }
    }
}

fn well_formed(
    findings: &mut Findings<'_>,
    queue: &Queue,
    redrive: &Known<'_, Option<Box<RedrivePolicy>>>,
    policy: &RedrivePolicy,
) {
    for fault in &policy.faults {
        let cause = Cause::OutOfRange(&limits::MAX_RECEIVE_COUNT);
        findings.leave_to_rule_of(&redrive.when, queue, &[redrive, &fault.span], cause);
    }
    for target in findings.without_notes(|findings| findings.known(&redrive.when, queue, &policy.target)) {
        let words = || "its keys and the form of its target are what SQS expects".to_owned();
        let is_well_formed = fact(true, words).depending_on(redrive).depending_on(&target);
        findings.satisfied(&target.when, queue, is_well_formed);
    }
}

fn of_fault(queue: &Queue, fault: &PolicyError) -> Option<Finding> {
    let say = |what: &str, label: &str| policy(queue, what, fault.span, label);
    Some(match &fault.kind {
        PolicyErrorKind::NotAnObject => say("that is not a JSON object", "not a JSON object")
            .help("write an object with `deadLetterTargetArn` and `maxReceiveCount`"),
        PolicyErrorKind::UnknownKey(key) => say(
            &format!("with the unknown key `{key}`"),
            &format!("`{key}` is not a key of a redrive policy"),
        )
        .help("its keys are `deadLetterTargetArn` and `maxReceiveCount`, in this spelling"),
        PolicyErrorKind::TargetMissing => say("without `deadLetterTargetArn`", "no `deadLetterTargetArn`")
            .help("set `deadLetterTargetArn` to the ARN of the dead-letter queue"),
        PolicyErrorKind::CountMissing => {
            say("without `maxReceiveCount`", "no `maxReceiveCount`").help("set `maxReceiveCount` to 5")
        }
        PolicyErrorKind::CountQuoted(written) => say(
            &format!("whose `maxReceiveCount` is the string \"{written}\""),
            "a string, where the provider expects a number: it never matches what SQS returns",
        )
        .severity(Severity::Warning)
        .help(format!(
            "write {written} without quotes, or convert what computes it (`tonumber(…)`)"
        ))
        .fix(Change::Unquote(fault.span)),
        PolicyErrorKind::CountConverted(written) => say(
            &format!("whose `maxReceiveCount` is the string \"{written}\""),
            "a string once it reaches the provider, which expects a number: its declared type (`string`, `map(string)`, `map(any)` with texts) converts it",
        )
        .severity(Severity::Warning)
        .help(
            "convert it where the policy is written (`tonumber(…)`), or declare its type as `number`, in an object \
             `object({ …, maxReceiveCount = number })`",
        ),
        // `max-receive-count-out-of-range` reports this fault.
        PolicyErrorKind::CountNotInteger(_) => return None,
    })
}

/// Returns the finding for a target in the wrong form. `dead-letter-queue-undeclared` and `redrive-target-not-a-queue`
/// report targets that are not declared or not queues.
fn of_target(graph: &Graph, queue: &Queue, target: &Known<'_, Link>) -> Option<Finding> {
    let link = target.value;
    let form = match (link.form, &link.target) {
        (_, Target::Dangling(_) | Target::OtherUnit { .. }) | (Form::Arn, _) => return None,
        // The resource is not a queue.
        (_, Target::Resource(_)) if graph.queue(queue.resource.unit, link).is_none() => return None,
        (Form::Url, _) => "a queue's URL".to_owned(),
        (Form::Name, _) => "a name".to_owned(),
    };
    let help = match graph.queue(queue.resource.unit, link) {
        Some(target) => format!("set `deadLetterTargetArn` to `{}`", target.resource.arn_reference()),
        None => "set `deadLetterTargetArn` to the queue's ARN: `arn:aws:sqs:<region>:<account>:<name>`".to_owned(),
    };
    let what = format!("whose target is {form}, where SQS accepts only a queue's ARN");
    let finding = policy(queue, &what, target.span, format!("{form}, not a queue's ARN"));
    Some(finding.help(help).fix(target.arn()))
}

/// Creates a finding on the policy of `queue`, which `what` describes.
fn policy(queue: &Queue, what: &str, place: Span, label: impl Into<String>) -> Finding {
    let headline = format!("{queue} has a redrive policy {what}");
    Finding::new("redrive", headline, place, label)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};

    #[test]
    fn malformed_terraform_policies_are_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "failed" {}
resource "aws_sns_topic" "failed" {}
resource "aws_sqs_queue" "orders" {
  redrive_policy = <policy>
}
"#,
            r#"
            policy                                                                                               | finding | headline
            ""                                                                                                   |         |
            null                                                                                                 |         |
            var.open                                                                                             |         |
            jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })                  |         |
            jsonencode({ deadLetterTargetArn = var.open, maxReceiveCount = 5 })                                  |         |
            jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 2.5 })                |         |
            // The quotes around the ARN are missing, whatever the unresolved parts are.
            <<EOT\n{"deadLetterTargetArn": ${aws_sqs_queue.failed.arn}, "maxReceiveCount": ${var.open}}\nEOT\n   | error   | … has a redrive policy that is not a JSON object
            <<EOT\n{"deadLetterTargetArn": "${aws_sqs_queue.failed.arn}" "maxReceiveCount": 5}\nEOT\n            | error   | … has a redrive policy that is not a JSON object
            "{'deadLetterTargetArn': '${var.open}', 'maxReceiveCount': 5}"                                       | error   | … has a redrive policy that is not a JSON object
            { deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 }                              | error   | … has a redrive policy that is not a JSON object
            <<EOT\n{"deadLetterTargetArn": "${aws_sqs_queue.failed.arn}", "maxReceiveCount": ${var.open}}\nEOT\n |         |
            // The unresolved part may be the rest of the object.
            "{\"maxReceiveCount\": 5${var.open}"                                                                 |         |
            "no json"                                                                                            | error   | … has a redrive policy that is not a JSON object
            "[]"                                                                                                 | error   | … has a redrive policy that is not a JSON object
            jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = "5" })                | warning | … has a redrive policy whose `maxReceiveCount` is the string "5"
            jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn })                                       | error   | … has a redrive policy without `maxReceiveCount`
            jsonencode({ maxReceiveCount = 5 })                                                                  | error   | … has a redrive policy without `deadLetterTargetArn`
            jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.url, maxReceiveCount = 5 })                  | error   | … has a redrive policy whose target is a queue's URL, where SQS accepts only a queue's ARN
            jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.id, maxReceiveCount = 5 })                   | error   | … has a redrive policy whose target is a queue's URL, where SQS accepts only a queue's ARN
            // `redrive-target-not-a-queue` reports this target.
            jsonencode({ deadLetterTargetArn = "arn:aws:sns:eu-west-1:123456789012:t", maxReceiveCount = 5 })    |         |
            "#,
        );
    }

    #[test]
    fn count_that_a_type_converts_is_not_called_quoted() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "redrive" {
  type    = <type>
  default = { deadLetterTargetArn = "arn:aws:sqs:eu-west-1:111122223333:d", maxReceiveCount = <count> }
}
locals {
  count = "5"
}
resource "aws_sqs_queue" "orders" {
  redrive_policy = jsonencode(<policy>)
}
"#,
            r#"
            type                                                             | count | policy                                                               | finding | help
            map(any)                                                         | 5     | var.redrive                                                          | warning | convert it…
            map(string)                                                      | "5"   | merge(var.redrive, { deadLetterTargetArn = "arn:aws:sqs:a:1:d" })    | warning | convert it…
            map(any)                                                         | 5     | merge(var.redrive, { maxReceiveCount = tonumber(var.redrive.maxReceiveCount) }) |         |
            object({ deadLetterTargetArn = string, maxReceiveCount = number }) | 5   | var.redrive                                                          |         |
            map(any)                                                         | 5     | { deadLetterTargetArn = "arn:aws:sqs:a:1:d", maxReceiveCount = "5" } | warning | write 5 without quotes…
            map(any)                                                         | 5     | { deadLetterTargetArn = "arn:aws:sqs:a:1:d", maxReceiveCount = local.count } | warning | write 5 without quotes…
            "#,
        );
    }

    #[test]
    fn malformed_cloudformation_policies_are_flagged() {
        CloudFormation.check_cases(
            &RULE,
            "
Parameters:
  Open: {Type: String}
Resources:
  Failed: {Type: AWS::SQS::Queue}
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: <policy>
",
            r#"
            policy                                                                     | finding | headline
            {}                                                                         |         |
            !Sub '{"deadLetterTargetArn": "${Failed.Arn}", "maxReceiveCount": 5}'      |         |
            !Sub '{"deadLetterTargetArn": ${Failed.Arn}, "maxReceiveCount": 5}'        | error   | … has a redrive policy that is not a JSON object
            !Sub '{"deadLetterTargetArn": "${Failed.Arn}" "maxReceiveCount": ${Open}}' | error   | … has a redrive policy that is not a JSON object
            !Sub '{"deadLetterTargetArn": "${Failed.Arn}" ${Open}}'                    |         |
            !Sub '{deadLetterTargetArn: "${Failed.Arn}", maxReceiveCount: 5}'          | error   | … has a redrive policy that is not a JSON object
            []                                                                         | error   | … has a redrive policy that is not a JSON object
            {deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}              |         |
            {deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: '5'}            |         |
            {deadLetterTargetArn: !Ref Failed, maxReceiveCount: 5}                     | error   | … has a redrive policy whose target is a queue's URL, where SQS accepts only a queue's ARN
            {deadLetterTargetArn: !GetAtt Failed.QueueName, maxReceiveCount: 5}        | error   | … has a redrive policy whose target is a name, where SQS accepts only a queue's ARN
            {deadLetterTargetArn: failed, maxReceiveCount: 5}                          | error   | … has a redrive policy whose target is a name, where SQS accepts only a queue's ARN
            // Another tool replaces this text.
            {deadLetterTargetArn: '#{Failed.Arn}', maxReceiveCount: 5}                 |         |
            {deadLetterTargetArn: '<arn>', maxReceiveCount: 5}                         |         |
            {deadLetterTargetARN: !GetAtt Failed.Arn, maxReceiveCount: 5}              | error   | … has a redrive policy with the unknown key `deadLetterTargetARN`
            "#,
        );
    }
}
