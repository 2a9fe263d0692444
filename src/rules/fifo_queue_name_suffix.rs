//! Flags queue names that do not fit the queue's type: `.fifo` missing, `.fifo` too much, or too long.

use super::{Category, Findings, Known, Rule, Set};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::limits::QUEUE_NAME_LENGTH;
use crate::graph::{FIFO_SUFFIX, Graph, Queue};

pub(super) static RULE: Rule = Rule {
    id: "fifo-queue-name-suffix",
    category: Category::Fifo,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "a queue's name and type disagree: FIFO names end in `.fifo`, others do not",
    page: include_str!("../../rules/fifo-queue-name-suffix.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        for name in findings.known(&queue.resource.when, &queue.resource, &queue.name) {
            // A generated name always fits.
            let Some(text) = name.value.as_deref().filter(|text| !text.is_empty()) else {
                continue;
            };
            for fifo in findings.known(&name.world, &queue.resource, &queue.fifo) {
                if *fifo.value == text.ends_with(FIFO_SUFFIX) {
                    findings.holds(&fifo.world, &queue.resource, &[&name, &fifo], || {
                        let (kind, ends) = if *fifo.value {
                            ("FIFO", "ends")
                        } else {
                            ("standard", "does not end")
                        };
                        format!("{kind}, and `{text}` {ends} in `{FIFO_SUFFIX}`")
                    });
                } else {
                    let diagnostic = mismatch(findings, queue, &name, text, &fifo);
                    findings.report(&fifo.world, &queue.resource, diagnostic);
                }
            }
            let length = text.chars().count();
            if QUEUE_NAME_LENGTH < length {
                let diagnostic = too_long(findings, queue, &name, text);
                findings.report(&name.world, &queue.resource, diagnostic);
            } else {
                findings.holds(&name.world, &queue.resource, &[&name], || {
                    format!("{length} ≤ {QUEUE_NAME_LENGTH} characters")
                });
            }
        }
    }
}

fn mismatch(
    findings: &Findings<'_>,
    queue: &Queue,
    name: &Known<'_, Option<String>>,
    text: &str,
    fifo: &Known<'_, bool>,
) -> Diagnostic {
    let shown = queue.resource.shown();
    let (headline, label, help) = if *fifo.value {
        (
            format!("the FIFO queue {shown} is called `{text}`, and names of FIFO queues end in `{FIFO_SUFFIX}`"),
            format!("no `{FIFO_SUFFIX}` at the end{}", name.provenance()),
            format!("set `{}` to `{text}{FIFO_SUFFIX}`", name.name),
        )
    } else {
        let bare = text.strip_suffix(FIFO_SUFFIX).unwrap_or(text);
        (
            format!("the standard queue {shown} is called `{text}`, and only FIFO queues may end in `{FIFO_SUFFIX}`"),
            format!("`{FIFO_SUFFIX}` at the end{}", name.provenance()),
            format!(
                "set `{}` to true for a FIFO queue, or `{}` to `{bare}` for a standard one",
                fifo.name, name.name
            ),
        )
    };
    let diagnostic = findings.diagnostic(Severity::Error, &queue.resource, "name", headline, name.span(), label);
    let diagnostic = name.show_origin(diagnostic);
    let kind = match (fifo.case.is_default(), fifo.value) {
        (true, _) => format!("`{}` is not set, so this is a standard queue", fifo.name),
        (false, true) => format!("this makes it a FIFO queue{}", fifo.provenance()),
        (false, false) => format!("this makes it a standard queue{}", fifo.provenance()),
    };
    fifo.show_origin(diagnostic.label(fifo.span(), kind)).help(help)
}

fn too_long(findings: &Findings<'_>, queue: &Queue, name: &Known<'_, Option<String>>, text: &str) -> Diagnostic {
    let length = text.chars().count();
    let headline = format!(
        "the name of {} has {length} characters, and SQS takes {QUEUE_NAME_LENGTH}",
        queue.resource.shown()
    );
    let label = format!("{length} characters{}", name.provenance());
    let diagnostic = findings.diagnostic(Severity::Error, &queue.resource, "name", headline, name.span(), label);
    name.show_origin(diagnostic).help(format!(
        "shorten `{}` to {QUEUE_NAME_LENGTH} characters, `{FIFO_SUFFIX}` included",
        name.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    #[test]
    fn name_and_type_must_agree() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "orders" # expect: fifo-queue-name-suffix
  fifo_queue = true
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "orders.fifo" # expect: fifo-queue-name-suffix
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "orders.fifo"
  fifo_queue = true
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: orders.fifo # expect: fifo-queue-name-suffix
",
        );
        check(
            &RULE,
            Sam,
            r#"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: orders # expect: fifo-queue-name-suffix
      FifoQueue: "true"
"#,
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: orders.fifo
      FifoQueue: true
",
        );
    }

    #[test]
    fn generated_names_are_fine() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name_prefix = "orders"
  fifo_queue = true
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: true
",
        );
    }

    #[test]
    fn eighty_characters_fit() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq" # expect: fifo-queue-name-suffix
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq.fifo # expect: fifo-queue-name-suffix
      FifoQueue: true
",
        );
    }

    #[test]
    fn what_is_not_known_is_not_judged() {
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_sqs_queue" "q" {
  name = var.x
  fifo_queue = true
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_sqs_queue" "q" {
  name = "orders"
  fifo_queue = var.x
}
"#,
        );
    }
}
