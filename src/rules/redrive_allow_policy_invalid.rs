//! Flags redrive allow policies that SQS rejects.

use super::prelude::*;
use crate::graph::limits::ALLOWED_SOURCES;
use crate::graph::{Attribute, RedriveAllowPolicy};
use source::Span;

pub(super) static RULE: Rule = rule!(
    "redrive-allow-policy-invalid",
    Category::Redrive,
    Severity::Error,
    "SQS rejects the redrive allow policy: a wrong permission, or the wrong queues beside it"
);

const PERMISSIONS: [&str; 3] = ["allowAll", "byQueue", "denyAll"];

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for allow in findings.known(&queue.resource.when, queue, &queue.redrive_allow) {
            let Some(policy) = allow.value else { continue };
            for permission in findings.known(&allow.when, queue, &policy.permission) {
                if permission.is_default || !PERMISSIONS.contains(&permission.value.as_str()) {
                    findings.report(&permission.when, queue, no_permission(queue, &permission));
                } else if permission.value == "byQueue" {
                    count(findings, queue, policy, &permission);
                    regions(findings, queue, policy, &permission.when);
                } else {
                    let alone = fact(policy.sources.is_empty(), || {
                        format!("`{}` without queues", permission.value)
                    });
                    findings.require(&permission.when, queue, alone.depending_on(&permission), || {
                        superfluous(queue, policy, &permission)
                    });
                    for (when, span) in &policy.null_sources {
                        findings.report(&permission.when.and(when), queue, null_sources(queue, *span));
                    }
                }
            }
        }
    }
}

/// Requires between 1 and 10 source queues.
fn count(findings: &mut Findings<'_>, queue: &Queue, policy: &RedriveAllowPolicy, permission: &Known<'_, String>) {
    let when = &permission.when;
    let listed = policy.sources.iter();
    let is_always_there = |source: &&Attribute<Link>| {
        let there = source
            .cases
            .iter()
            .fold(Condition::never(), |all, case| all.or(&case.when));
        !when.is_possible_with(&there.not())
    };
    // Sources that may be absent are counted only if no source is certain, so that the list does not appear empty.
    let most = listed.clone().filter(is_always_there).count();
    let count = if most > 0 { most } else { policy.sources.len() };
    let within = within(Term::counted(count, Unit::Queues), &ALLOWED_SOURCES);
    findings.require(when, queue, within.depending_on(permission), || {
        let (least, most) = (ALLOWED_SOURCES.least, ALLOWED_SOURCES.most);
        let headline = format!("{queue} allows `byQueue` with {count} queues, but SQS accepts {least} to {most}");
        Finding::new(
            "redrive_allow",
            headline,
            permission,
            format!("{count} queues in `sourceQueueArns`"),
        )
        .help(format!(
            "list {least} to {most} ARNs in `sourceQueueArns`, or set `redrivePermission` to `allowAll`"
        ))
    });
}

/// Requires the source queues to be in the Region of `queue`.
fn regions(findings: &mut Findings<'_>, queue: &Queue, policy: &RedriveAllowPolicy, when: &Condition) {
    let Some(here) = queue.resource.region.as_deref() else {
        return;
    };
    for source in &policy.sources {
        for source in findings.known(when, queue, source) {
            let node = findings.graph.queue(queue.resource.unit, source.value);
            let there = node.map_or_else(|| source.value.region(), |node| node.resource.region.as_deref());
            if let Some(there) = there.filter(|there| *there != here) {
                let headline = format!(
                    "{queue} in {here} allows a queue in {there} to use it as a dead-letter queue, but both must be in the same Region"
                );
                let finding = Finding::new("redrive_allow", headline, &source, format!("a queue in {there}"))
                    .label(queue.resource.header, format!("this queue is in {here}"))
                    .help("list only queues of the same Region");
                findings.report(&source.when, queue, finding);
            }
        }
    }
}

fn no_permission(queue: &Queue, permission: &Known<'_, String>) -> Finding {
    let (shown, value) = (queue.resource.shown(), permission.value);
    let (headline, label) = if permission.is_default {
        (
            format!("{shown} has a redrive allow policy without `redrivePermission`"),
            "no `redrivePermission`".to_owned(),
        )
    } else {
        (
            format!("{shown} has the redrive permission `{value}`, which SQS does not have"),
            format!("SQS rejects `{value}`"),
        )
    };
    Finding::new("redrive_allow", headline, permission, label)
        .help("set `redrivePermission` to `allowAll`, `denyAll` or `byQueue`")
}

fn superfluous(queue: &Queue, policy: &RedriveAllowPolicy, permission: &Known<'_, String>) -> Finding {
    let headline = format!(
        "{queue} lists source queues beside the redrive permission `{}`, which SQS rejects",
        permission.value
    );
    let label = format!("`{}` takes no `sourceQueueArns`", permission.value);
    let finding = Finding::new("redrive_allow", headline, permission, label);
    let listed = policy.sources.first().and_then(|source| source.cases.first());
    let finding = listed
        .into_iter()
        .fold(finding, |finding, case| finding.label(case.span, "a source queue"));
    finding.help("remove `sourceQueueArns`, or set `redrivePermission` to `byQueue`")
}

fn null_sources(queue: &Queue, span: Span) -> Finding {
    let headline = format!("{queue} has a redrive allow policy with `sourceQueueArns` of null, which SQS rejects");
    let label = "`jsonencode` writes this as `null`, not as an absent key";
    Finding::new("redrive_allow", headline, span, label)
        .help("leave out `sourceQueueArns` unless `redrivePermission` is `byQueue`, for example with `merge()`")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::queue;

    #[test]
    fn one_to_ten_queues_are_accepted() {
        for (count, finding) in [(0, "queue.permission"), (1, ""), (10, ""), (11, "queue.permission")] {
            let arns = (0..count).map(|at| format!("arn:aws:sqs:eu-west-1:111122223333:q{at}"));
            let list = format!("[{}]", arns.collect::<Vec<_>>().join(", "));
            let table = format!("queue.permission | queue.sources | finding\n byQueue | {list} | {finding}");
            queue().check(&RULE, &table);
        }
        queue().check(
            &RULE,
            "
            queue.permission | queue.sources                     | finding
            byQueue          |                                   | queue.permission
            byQueue          | open                              |
            byQueue          | = [for queue in var.open : queue] |
            ",
        );
    }

    #[test]
    fn null_instead_of_source_queues_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
variable "sources" { default = null }
variable "limited" { default = false }
resource "aws_sqs_queue" "d" {
  redrive_allow_policy = jsonencode({
    redrivePermission = "<permission>"
    sourceQueueArns   = <sources>
  })
}
"#,
            "
            permission | sources                      | finding
            allowAll   | null                         | sources
            denyAll    | null                         | sources
            allowAll   | var.sources                  | 1
            allowAll   | var.limited ? [\"q\"] : null | 1
            byQueue    | null                         | permission
            // An unknown list may be one of queues.
            allowAll   | var.open                     | permission
            byQueue    | var.open                     |
            ",
        );
        let absent = "Resources:\n  D: {Type: AWS::SQS::Queue, Properties: {RedriveAllowPolicy: {redrivePermission: allowAll, \
                      sourceQueueArns: !Ref AWS::NoValue}}}\n";
        CloudFormation.check(&RULE, absent);
    }

    #[test]
    fn unknown_permission_is_flagged() {
        queue().check(
            &RULE,
            r#"
            queue.permission | queue.sources | finding
            allowAll         |               |
            denyAll          |               |
            open             |               |
            AllowAll         |               | queue.permission
            ByQueue          |               | queue.permission
            ""               |                                        | queue.permission
            allowAll         | [arn:aws:sqs:eu-west-1:111122223333:q] | queue.permission
            "#,
        );
    }

    #[test]
    fn source_queue_in_other_region_is_flagged() {
        queue()
            .queue("permission", "byQueue")
            .terraform("provider \"aws\" {\n  region = \"eu-west-1\"\n}")
            .check(
                &RULE,
                r#"
            queue.sources                                | finding
            [arn:aws:sqs:eu-west-1:111122223333:q]       |
            = ["arn:aws:sqs:${var.open}:111122223333:q"] |
            [arn:aws:sqs:us-east-1:111122223333:q]       | queue.sources
            "#,
            );
    }

    #[test]
    fn missing_permission_is_flagged() {
        let template = "
Resources:
  Failed:
    Type: AWS::SQS::Queue
    Properties:
      RedriveAllowPolicy: # expect: redrive-allow-policy-invalid
        sourceQueueArns: [!GetAtt Orders.Arn]
  Orders:
    Type: AWS::SQS::Queue
";
        CloudFormation.check(&RULE, template);
        Sam.check(&RULE, template);
    }
}
