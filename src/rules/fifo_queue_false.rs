//! Flags `FifoQueue: false` where it reaches SQS, which takes the attribute only as true.

use super::{Category, Findings, Rule, Set};
use crate::diagnostic::{Change, Remedy, Safety, Severity};
use crate::graph::{Graph, State};

pub(super) static RULE: Rule = Rule {
    id: "fifo-queue-false",
    category: Category::Fifo,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Safe),
    summary: "`FifoQueue: false` is written out, and SQS refuses the attribute on a standard queue",
    page: include_str!("../../rules/fifo-queue-false.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues().iter().filter(|queue| queue.sends_fifo_false) {
        for fifo in findings.known(&queue.resource.when, &queue.resource, &queue.fifo) {
            // A value that hangs on a condition may be false only where nobody deploys it.
            let everywhere = queue.resource.when.implies(&fifo.case.when);
            if !everywhere || !matches!(fifo.case.state, State::Set(false)) {
                let is = if fifo.case.is_default() {
                    "not set"
                } else {
                    "not false wherever the queue exists"
                };
                findings.holds(&fifo.world, &queue.resource, &[&fifo], || {
                    format!("`{}` is {is}", fifo.name)
                });
                continue;
            }
            let headline = format!(
                "{} sets `{}` to false, and SQS refuses that attribute on a standard queue",
                queue.resource.shown(),
                fifo.name
            );
            let label = format!(
                "false{}: SQS answers \"Unknown Attribute FifoQueue\"",
                fifo.provenance()
            );
            let diagnostic =
                findings.diagnostic(Severity::Error, &queue.resource, "fifo", headline, fifo.span(), label);
            let diagnostic = fifo.show_origin(diagnostic).help(format!(
                "remove `{}`: a queue without it is a standard queue",
                fifo.name
            ));
            // What is written elsewhere may serve others as well.
            let is_here = fifo.case.origins.is_empty();
            let remove = || Remedy::safe(Change::Remove(fifo.place(&queue.resource)));
            let diagnostic = diagnostic.remedy(is_here.then(remove));
            findings.report(&fifo.world, &queue.resource, diagnostic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    #[test]
    fn false_is_refused_where_it_is_sent() {
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: false # expect: fifo-queue-false
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
      FifoQueue: "false" # expect: fifo-queue-false
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  fifo_queue = false
}
"#,
        );
    }

    #[test]
    fn true_and_absent_are_fine() {
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
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: !Ref AWS::NoValue
",
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 60
",
        );
    }

    #[test]
    fn a_condition_may_choose_the_other_branch() {
        check(
            &RULE,
            CloudFormation,
            r#"
Parameters:
  Fifo: {Type: String}
Conditions:
  IsFifo: !Equals [!Ref Fifo, "yes"]
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: !If [IsFifo, true, false]
"#,
        );
    }
}
