//! Flags queues whose redrive policy or redrive allow policy is set twice.

use super::prelude::*;
use crate::graph::{RedriveKind, RedriveWriter};

pub(super) static RULE: Rule = Rule {
    id: "redrive-policy-overwritten",
    category: Category::Queue,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "the redrive policy of a queue is set in two places, which overwrite each other",
    page: include_str!("../../rules/redrive-policy-overwritten.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        if let [only] = queue.redrive_writers.as_slice() {
            let single = fact(true, || "one place writes the redrive policy".to_owned());
            findings.satisfied(&queue.resource.when.and(&only.when), queue, single);
        }
        for (at, writer) in queue.redrive_writers.iter().enumerate() {
            let others = queue.redrive_writers.iter().take(at);
            for other in others.filter(|other| other.kind == writer.kind && other.resource != writer.resource) {
                let mut when = queue.resource.when.and(&writer.when).and(&other.when);
                for writer in [writer, other] {
                    if let Some(reason) = &writer.doubt {
                        findings.note_unresolved(&when, queue, reason, writer.span);
                        when = Condition::never();
                    }
                }
                findings.report(&when, queue, overwritten(queue, other, writer));
            }
        }
    }
}

fn overwritten(queue: &Queue, first: &RedriveWriter, second: &RedriveWriter) -> Finding {
    let (attribute, policy) = match second.kind {
        RedriveKind::Policy => ("redrive", "redrive policy"),
        RedriveKind::AllowPolicy => ("redrive_allow", "redrive allow policy"),
    };
    let shown = queue.resource.shown();
    let headline = format!("the {policy} of {shown} is set in two places, and the one that is applied last stays");
    let label = |writer: &RedriveWriter| match &writer.resource {
        Some(by) => format!("`{by}` sets it"),
        None => format!("the queue sets its {policy} itself"),
    };
    let help = match first.resource {
        None => format!("keep the {policy} in the queue, or in the resource of its own, and remove the other"),
        Some(_) => "keep one of the two resources".to_owned(),
    };
    Finding::new(attribute, headline, second.span, label(second))
        .label(first.span, label(first))
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::{check, findings};

    fn count(own: &str, rest: &str) -> usize {
        let text = format!(
            r#"
variable "open" {{}}
variable "separate" {{
  default = true
}}
resource "aws_sqs_queue" "d" {{}}
resource "aws_sqs_queue" "other" {{}}
locals {{
  policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 }})
}}
resource "aws_sqs_queue" "q" {{
  {own}
}}
{rest}
"#
        );
        findings(&RULE, Terraform, &text).len()
    }

    fn separate(name: &str, arguments: &str) -> String {
        format!(
            "resource \"aws_sqs_queue_redrive_policy\" \"{name}\" {{\n  redrive_policy = local.policy\n  {arguments}\n}}\n"
        )
    }

    const OWN: &str = "redrive_policy = local.policy";
    const ON_QUEUE: &str = "queue_url = aws_sqs_queue.q.id";

    #[test]
    fn policy_set_in_two_places_is_flagged() {
        assert_eq!(count(OWN, ""), 0);
        assert_eq!(count("", &separate("p", ON_QUEUE)), 0);
        assert_eq!(count(OWN, &separate("p", ON_QUEUE)), 1);
        assert_eq!(count(OWN, &separate("p", "queue_url = aws_sqs_queue.other.id")), 0);
        assert_eq!(count(OWN, &separate("p", "queue_url = var.open")), 0);
        assert_eq!(count("redrive_policy = null", &separate("p", ON_QUEUE)), 0);
        assert_eq!(count("redrive_policy = var.open", &separate("p", ON_QUEUE)), 0);
        let two = separate("p", ON_QUEUE) + &separate("r", ON_QUEUE);
        assert_eq!(count("", &two), 1);
    }

    #[test]
    fn policies_under_exclusive_conditions_are_accepted() {
        let count_of = |count: &str| separate("p", &format!("{ON_QUEUE}\n  count = {count}"));
        let own = "redrive_policy = var.separate ? null : local.policy";
        assert_eq!(count(own, &count_of("var.separate ? 1 : 0")), 0);
        assert_eq!(count(own, &count_of("var.separate ? 0 : 1")), 0);
        assert_eq!(count(OWN, &count_of("1")), 1);
        assert_eq!(count(OWN, &count_of("0")), 0);
        assert_eq!(count(OWN, &count_of("var.open")), 0);
    }

    #[test]
    fn allow_policy_is_checked_separately() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "d" {
  redrive_allow_policy = jsonencode({ redrivePermission = "allowAll" })
}
resource "aws_sqs_queue_redrive_allow_policy" "a" { # expect: redrive-policy-overwritten
  queue_url            = aws_sqs_queue.d.id
  redrive_allow_policy = jsonencode({ redrivePermission = "denyAll" })
}
resource "aws_sqs_queue" "q" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue_redrive_allow_policy" "q" {
  queue_url            = aws_sqs_queue.q.id
  redrive_allow_policy = jsonencode({ redrivePermission = "denyAll" })
}
"#,
        );
    }
}
