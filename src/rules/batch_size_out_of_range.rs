//! Flags batch sizes that Lambda rejects for every kind of source.

use super::prelude::*;
use crate::graph::limits::BATCH_SIZE;
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = Rule {
    id: "batch-size-out-of-range",
    category: Category::Mapping,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a mapping has a batch size that Lambda rejects",
    page: include_str!("../../rules/batch-size-out-of-range.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        let (batch, accepts) = (&mapping.batch_size, Accepts::of("Lambda", &BATCH_SIZE));
        findings.reject_types(&mapping.resource.when, mapping, "batch_size", batch, accepts);
        for batch in findings.batch_sizes(&mapping.resource.when, mapping) {
            let mut when = batch.when.clone();
            if batch.value > BATCH_SIZE.most {
                // `fifo-batch-size-too-large` reports FIFO queues.
                for source in findings.without_notes(|findings| findings.sources(graph, mapping, &batch.when)) {
                    if source.fifo {
                        findings.leave_to_rule_of(&source.when, mapping, &[&batch, &source], Cause::FifoBatch);
                        when = when.and(&source.when.not());
                    }
                }
            }
            findings.require(&when, mapping, within(&batch, &BATCH_SIZE), || {
                out_of_range(mapping, &batch)
            });
        }
    }
}

fn out_of_range(mapping: &EventSourceMapping, batch: &Operand<'_>) -> Finding {
    let (least, most) = (BATCH_SIZE.least, BATCH_SIZE.most);
    let headline = format!(
        "{} has a batch size of {}, but Lambda accepts {least} to {most} messages",
        mapping.resource.shown(),
        batch.value
    );
    let label = format!("{} is outside {least} to {most}", batch.shown());
    Finding::new("batch_size", headline, batch, label)
        .help(format!("set `{}` to a value from {least} to {most}", batch.name))
        .fix(batch.set_to(batch.value.clamp(least, most)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings};

    fn terraform(queue: &str, size: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = {queue}
  function_name    = "f"
  batch_size       = {size}
}}
"#
        )
    }

    const STANDARD: &str = "\"arn:aws:sqs:eu-west-1:111122223333:q\"";

    #[test]
    fn both_ends_of_the_range_are_accepted() {
        for size in ["1", "10000", "var.open", "null"] {
            check(&RULE, Terraform, &terraform(STANDARD, size));
        }
        for size in ["0", "-1", "10001"] {
            let size = format!("{size} # expect: batch-size-out-of-range");
            check(&RULE, Terraform, &terraform(STANDARD, &size));
        }
    }

    #[test]
    fn large_batches_of_fifo_queues_are_left_to_their_own_rule() {
        let fifo = "\"arn:aws:sqs:eu-west-1:111122223333:q.fifo\"";
        check(&RULE, Terraform, &terraform(fifo, "10001"));
        check(
            &RULE,
            Terraform,
            &terraform(fifo, "0 # expect: batch-size-out-of-range"),
        );
    }

    #[test]
    fn unresolved_source_is_judged_by_largest_limit() {
        let size = "10001 # expect: batch-size-out-of-range";
        check(&RULE, Terraform, &terraform("var.open", size));
    }

    #[test]
    fn cloudformation_batch_size_is_flagged() {
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: f
      BatchSize: '10001' # expect: batch-size-out-of-range
",
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
            BatchSize: 0 # expect: batch-size-out-of-range
",
        );
    }

    #[test]
    fn headline_names_accepted_range() {
        let found = findings(&RULE, Terraform, &terraform(STANDARD, "20000"));
        assert_eq!(
            found.first().map(|found| &*found.headline),
            Some(
                "`aws_lambda_event_source_mapping.m` has a batch size of 20000, but Lambda accepts 1 to 10000 messages"
            )
        );
    }
}
