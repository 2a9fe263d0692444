//! Flags dead-letter queues of another type than their source queue.

use super::{Category, Findings, Known, Rule, Set, fifo_queue_name_suffix, redrive_policy_malformed};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::{Condition, FIFO_SUFFIX, Form, Graph, Link, Queue};
use crate::source::Span;

pub(super) static RULE: Rule = Rule {
    id: "dead-letter-queue-type-mismatch",
    category: Category::Redrive,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "one of source queue and dead-letter queue is FIFO, the other is not",
    page: include_str!("../../rules/dead-letter-queue-type-mismatch.md"),
    settings: &[],
    check: Some(check),
};

/// The type of a dead-letter queue, and what says so.
struct Type {
    fifo: bool,
    shown: String,
    says: Option<Span>,
    world: Condition,
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for source in graph.queues() {
        for target in findings.redrive_targets(&source.resource.when, source) {
            for fifo in findings.known(&target.world, &source.resource, &source.fifo) {
                if contradicts_name(source, *fifo.value, &fifo.world) {
                    // The type may be the mistake.
                    let other = &fifo_queue_name_suffix::RULE;
                    findings.yields(&fifo.world, &source.resource, &[&fifo, &target], other);
                    continue;
                }
                for dlq in types(graph, findings, source, &target, &fifo.world) {
                    if dlq.fifo == *fifo.value {
                        let says = dlq.says.unwrap_or(target.span());
                        findings.holds(&dlq.world, &source.resource, &[&fifo, &target, &says], || {
                            let kind = if dlq.fifo { "FIFO" } else { "standard" };
                            format!("{kind}, as is its dead-letter queue {}", dlq.shown)
                        });
                    } else {
                        let diagnostic = mismatch(findings, source, &target, &fifo, &dlq);
                        findings.report(&dlq.world, &source.resource, diagnostic);
                    }
                }
            }
        }
    }
}

fn types(
    graph: &Graph,
    findings: &mut Findings<'_>,
    source: &Queue,
    target: &Known<'_, Link>,
    world: &Condition,
) -> Vec<Type> {
    let Some(dlq) = graph.queue(source.resource.unit, target.value) else {
        if target.value.form != Form::Arn {
            findings.yields(world, &source.resource, &[target], &redrive_policy_malformed::RULE);
        }
        return of_arn(target.value, world).into_iter().collect();
    };
    let world = world.and(&dlq.resource.when);
    let known = findings.known(&world, &dlq.resource, &dlq.fifo).into_iter();
    known
        .filter(|fifo| !contradicts_name(dlq, *fifo.value, &fifo.world))
        .map(|fifo| Type {
            fifo: *fifo.value,
            shown: dlq.resource.shown(),
            says: Some(fifo.span()),
            world: fifo.world,
        })
        .collect()
}

/// A queue that is not here tells its type by its name: that of a FIFO queue ends in `.fifo`, no other does.
fn of_arn(link: &Link, world: &Condition) -> Option<Type> {
    if link.form != Form::Arn {
        return None; // `redrive-policy-malformed` speaks.
    }
    let name = link.external_queue_name()?;
    Some(Type {
        fifo: is_fifo_name(name),
        shown: format!("`{name}`"),
        says: None,
        world: world.clone(),
    })
}

/// SQS compares the suffix as it is written.
fn is_fifo_name(name: &str) -> bool {
    name.ends_with(FIFO_SUFFIX)
}

fn contradicts_name(queue: &Queue, fifo: bool, world: &Condition) -> bool {
    let names = queue.name.known_in(world);
    names
        .iter()
        .any(|(_, _, name)| name.as_ref().is_some_and(|name| is_fifo_name(name) != fifo))
}

fn mismatch(
    findings: &Findings<'_>,
    source: &Queue,
    target: &Known<'_, Link>,
    fifo: &Known<'_, bool>,
    dlq: &Type,
) -> Diagnostic {
    let kind = |fifo: bool| if fifo { "a FIFO queue" } else { "a standard queue" };
    let shown = source.resource.shown();
    let headline = format!(
        "{shown} is {}, but its dead-letter queue {} is {}",
        kind(*fifo.value),
        dlq.shown,
        kind(dlq.fifo)
    );
    let diagnostic = findings
        .diagnostic(
            Severity::Error,
            &source.resource,
            "redrive",
            headline,
            target.span(),
            format!("names {}", kind(dlq.fifo)),
        )
        .label(fifo.span(), format!("{shown} is {}", kind(*fifo.value)));
    let diagnostic = match dlq.says {
        Some(span) => diagnostic.label(span, format!("{} is {}", dlq.shown, kind(dlq.fifo))),
        None => diagnostic,
    };
    diagnostic.help(format!("name {} as the dead-letter queue", kind(*fifo.value)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{Dialect, check, findings};

    fn terraform(source: &str, target: &str, dlq: &str) -> String {
        format!(
            r#"
            variable "open" {{}}
            resource "aws_sqs_queue" "orders" {{
              {source}
              redrive_policy = jsonencode({{ deadLetterTargetArn = {target}, maxReceiveCount = 5 }})
            }}
            resource "aws_sqs_queue" "failed" {{
              {dlq}
            }}
            "#
        )
    }

    fn count(source: &str, target: &str, dlq: &str) -> usize {
        findings(&RULE, Dialect::Terraform, &terraform(source, target, dlq)).len()
    }

    #[test]
    fn both_types_must_be_the_same() {
        let (fifo, failed) = ("fifo_queue = true", "aws_sqs_queue.failed.arn");
        assert_eq!(count("", failed, ""), 0);
        assert_eq!(count(fifo, failed, fifo), 0);
        assert_eq!(count(fifo, failed, ""), 1);
        assert_eq!(count("", failed, fifo), 1);
        assert_eq!(count("fifo_queue = var.open", failed, fifo), 0);
        assert_eq!(count(fifo, failed, "fifo_queue = var.open"), 0);
        assert_eq!(count(fifo, "var.open", ""), 0);
    }

    #[test]
    fn an_arn_tells_its_type() {
        let standard = "\"arn:aws:sqs:eu-west-1:123456789012:elsewhere\"";
        let fifo = "\"arn:aws:sqs:eu-west-1:123456789012:elsewhere.fifo\"";
        assert_eq!(count("fifo_queue = true", fifo, ""), 0);
        assert_eq!(count("fifo_queue = true", standard, ""), 1);
        assert_eq!(count("", fifo, ""), 1);
        assert_eq!(count("", standard, ""), 0);
    }

    #[test]
    fn a_name_that_contradicts_its_type_is_the_cause() {
        let failed = "aws_sqs_queue.failed.arn";
        assert_eq!(count("name = \"orders.fifo\"", failed, "fifo_queue = true"), 0);
        assert_eq!(count("fifo_queue = true", failed, "name = \"failed.fifo\""), 0);
    }

    #[test]
    fn it_points_at_the_target() {
        let text = "
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: true
      RedrivePolicy:
        deadLetterTargetArn: !GetAtt Failed.Arn # expect: dead-letter-queue-type-mismatch
        maxReceiveCount: 5
  Failed:
    Type: AWS::SQS::Queue
";
        check(&RULE, Dialect::Sam, text);
    }
}
