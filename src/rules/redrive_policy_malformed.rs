//! Flags redrive policies that SQS, or the tool that deploys them, does not understand.

use super::{Category, Findings, Known, Rule, Set, max_receive_count_out_of_range};
use crate::diagnostic::{Change, Remedy, Safety, Severity};
use crate::graph::{Case, Fault, Form, Graph, Link, PolicyFault, Queue, RedrivePolicy, Target};
use crate::source::Span;

pub(super) static RULE: Rule = Rule {
    id: "redrive-policy-malformed",
    category: Category::Redrive,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Safe),
    summary: "SQS refuses the redrive policy: no JSON object, a wrong key, a target that is no queue's ARN",
    page: include_str!("../../rules/redrive-policy-malformed.md"),
    settings: &[],
    check: Some(check),
};

/// Something wrong, in words.
struct Problem {
    severity: Severity,
    span: Span,
    /// Behind "`orders` has a redrive policy".
    headline: String,
    label: String,
    help: String,
    remedy: Option<Remedy>,
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        for redrive in findings.redrives(&queue.resource.when, queue) {
            let Some(policy) = redrive.value else { continue };
            let faults: Vec<Problem> = policy.faults.iter().filter_map(of_fault).collect();
            if policy.target.cases.iter().all(|case| case.value().is_none()) {
                say(findings, queue, &redrive.world, faults);
                continue; // Missing, which is a fault, or not settled by the files.
            }
            let mut all = faults;
            for (world, case, link) in policy.target.known_in(&redrive.world) {
                let Some(problem) = of_target(graph, queue, link, case) else {
                    continue;
                };
                if world == redrive.world {
                    all.push(problem);
                } else {
                    say(findings, queue, &world, vec![problem]);
                }
            }
            if all.is_empty() {
                well_formed(findings, queue, &redrive, policy);
            }
            say(findings, queue, &redrive.world, all);
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
        let other = &max_receive_count_out_of_range::RULE;
        findings.yields(&redrive.world, &queue.resource, &[redrive, &fault.span], other);
    }
    for (world, case, _) in policy.target.known_in(&redrive.world) {
        findings.holds(&world, &queue.resource, &[redrive, case], || {
            "the keys and the form of the target are as SQS wants them".to_owned()
        });
    }
}

/// One finding for a policy: the worst speaks, the rest becomes its labels. A misspelled key is often a missing
/// one as well, and one cause should not be reported twice.
fn say(findings: &mut Findings<'_>, queue: &Queue, world: &crate::graph::Condition, mut problems: Vec<Problem>) {
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
    let mut problems = problems.into_iter();
    let Some(worst) = problems.next() else { return };
    let headline = format!("{} has a redrive policy {}", queue.resource.shown(), worst.headline);
    let first = findings
        .diagnostic(
            worst.severity,
            &queue.resource,
            "redrive",
            headline,
            worst.span,
            worst.label,
        )
        .help(worst.help)
        .remedy(worst.remedy);
    let diagnostic = problems.fold(first, |all, problem| all.label(problem.span, problem.label));
    findings.report(world, &queue.resource, diagnostic);
}

fn of_fault(fault: &Fault) -> Option<Problem> {
    let mut remedy = None;
    let (severity, headline, label, help) = match &fault.kind {
        PolicyFault::NotAnObject => (
            Severity::Error,
            "that is no JSON object".to_owned(),
            "no JSON object".to_owned(),
            "write an object with `deadLetterTargetArn` and `maxReceiveCount`".to_owned(),
        ),
        PolicyFault::UnknownKey(key) => (
            Severity::Error,
            format!("with the unknown key `{key}`"),
            format!("`{key}` is no key of a redrive policy"),
            "its keys are `deadLetterTargetArn` and `maxReceiveCount`, in this spelling".to_owned(),
        ),
        PolicyFault::TargetMissing => (
            Severity::Error,
            "without `deadLetterTargetArn`".to_owned(),
            "no `deadLetterTargetArn`".to_owned(),
            "set `deadLetterTargetArn` to the ARN of the dead-letter queue".to_owned(),
        ),
        PolicyFault::CountMissing => (
            Severity::Error,
            "without `maxReceiveCount`".to_owned(),
            "no `maxReceiveCount`".to_owned(),
            "set `maxReceiveCount` to 5".to_owned(),
        ),
        PolicyFault::CountQuoted(written) => {
            remedy = Some(Remedy::safe(Change::Unquote(fault.span)));
            (
                Severity::Warning,
                format!("whose `maxReceiveCount` is the text \"{written}\""),
                "a text, where the provider asks for a number: it never matches what SQS returns".to_owned(),
                format!("write {written} without quotes"),
            )
        }
        // `max-receive-count-out-of-range` speaks of it.
        PolicyFault::CountNotInteger(_) => return None,
    };
    Some(Problem {
        severity,
        span: fault.span,
        headline,
        label,
        help,
        remedy,
    })
}

/// What is wrong with the target itself. Whether it is declared is for `dead-letter-queue-undeclared` to say.
fn of_target(graph: &Graph, queue: &Queue, link: &Link, case: &Case<Link>) -> Option<Problem> {
    let form = match (link.form, &link.target) {
        (_, Target::Dangling(_) | Target::Elsewhere { .. }) | (Form::Arn, Target::Resource(_)) => return None,
        (Form::Arn, Target::External(_)) => match link.service() {
            Some("sqs") | None => return None,
            Some(service) => format!("an ARN of `{service}`"),
        },
        // Another kind of resource than a queue.
        (_, Target::Resource(_)) if graph.queue(queue.resource.unit, link).is_none() => return None,
        (Form::Url, _) => "a queue's URL".to_owned(),
        (Form::Name, _) => "a name".to_owned(),
    };
    Some(Problem {
        severity: Severity::Error,
        span: case.span,
        remedy: Remedy::arn(case.span, &case.origins),
        headline: format!("whose target is {form}, where SQS takes only a queue's ARN"),
        label: format!("{form}, not a queue's ARN"),
        help: match graph.queue(queue.resource.unit, link) {
            Some(target) => format!("set `deadLetterTargetArn` to `{}`", target.resource.arn_reference()),
            None => "set `deadLetterTargetArn` to the queue's ARN: `arn:aws:sqs:<region>:<account>:<name>`".to_owned(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{RULE, Severity};
    use crate::testing::{Dialect, findings};

    /// Severity and headline behind the queue's name, if there is a finding.
    fn judge(dialect: Dialect, policy: &str) -> Option<(Severity, String)> {
        let text = match dialect {
            Dialect::Terraform => format!(
                r#"
                variable "open" {{}}
                resource "aws_sqs_queue" "failed" {{}}
                resource "aws_sns_topic" "failed" {{}}
                resource "aws_sqs_queue" "orders" {{
                  redrive_policy = {policy}
                }}
                "#
            ),
            _ => format!(
                "
Resources:
  Failed: {{Type: AWS::SQS::Queue}}
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {policy}
"
            ),
        };
        let found = findings(&RULE, dialect, &text);
        assert!(found.len() <= 1, "one cause, one finding: {found:?}");
        let first = found.first()?;
        let (_, behind) = first.headline.split_once("has a redrive policy ")?;
        Some((first.severity, behind.to_owned()))
    }

    #[test]
    fn terraform_policies() {
        for (policy, expected) in [
            ("\"\"", None),
            ("null", None),
            ("var.open", None),
            (
                "jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })",
                None,
            ),
            (
                "jsonencode({ deadLetterTargetArn = var.open, maxReceiveCount = 5 })",
                None,
            ),
            (
                "jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 2.5 })",
                None,
            ),
            ("\"no json\"", Some((Severity::Error, "that is no JSON object"))),
            ("\"[]\"", Some((Severity::Error, "that is no JSON object"))),
            (
                "jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = \"5\" })",
                Some((Severity::Warning, "whose `maxReceiveCount` is the text \"5\"")),
            ),
            (
                "jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn })",
                Some((Severity::Error, "without `maxReceiveCount`")),
            ),
            (
                "jsonencode({ maxReceiveCount = 5 })",
                Some((Severity::Error, "without `deadLetterTargetArn`")),
            ),
            (
                "jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.url, maxReceiveCount = 5 })",
                Some((
                    Severity::Error,
                    "whose target is a queue's URL, where SQS takes only a queue's ARN",
                )),
            ),
            (
                "jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.id, maxReceiveCount = 5 })",
                Some((
                    Severity::Error,
                    "whose target is a queue's URL, where SQS takes only a queue's ARN",
                )),
            ),
            (
                "jsonencode({ deadLetterTargetArn = \"arn:aws:sns:eu-west-1:123456789012:t\", maxReceiveCount = 5 })",
                Some((
                    Severity::Error,
                    "whose target is an ARN of `sns`, where SQS takes only a queue's ARN",
                )),
            ),
        ] {
            let expected = expected.map(|(severity, text): (_, &str)| (severity, text.to_owned()));
            assert_eq!(judge(Dialect::Terraform, policy), expected, "{policy}");
        }
    }

    #[test]
    fn template_policies() {
        for (policy, expected) in [
            ("{}", None),
            ("{deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}", None),
            ("{deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: '5'}", None),
            (
                "{deadLetterTargetArn: !Ref Failed, maxReceiveCount: 5}",
                Some((
                    Severity::Error,
                    "whose target is a queue's URL, where SQS takes only a queue's ARN",
                )),
            ),
            (
                "{deadLetterTargetArn: !GetAtt Failed.QueueName, maxReceiveCount: 5}",
                Some((
                    Severity::Error,
                    "whose target is a name, where SQS takes only a queue's ARN",
                )),
            ),
            (
                "{deadLetterTargetARN: !GetAtt Failed.Arn, maxReceiveCount: 5}",
                Some((Severity::Error, "with the unknown key `deadLetterTargetARN`")),
            ),
        ] {
            let expected = expected.map(|(severity, text): (_, &str)| (severity, text.to_owned()));
            assert_eq!(judge(Dialect::CloudFormation, policy), expected, "{policy}");
        }
    }
}
