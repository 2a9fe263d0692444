//! Flags pipes whose batches are larger than their target accepts.

use super::prelude::*;
use crate::graph::delivery::{Pipe, TargetKind};

pub(super) static RULE: Rule = rule!(
    "pipe-batch-exceeds-target",
    Category::PipesAndSam,
    Severity::Error,
    "a pipe has a larger batch size than its target takes",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for pipe in &findings.graph.deliveries().pipes {
        let batches = findings.any_numbers(&pipe.resource.when, pipe, &pipe.batch_size, Unit::Messages);
        for batch in batches.iter().filter(|batch| !batch.is_default) {
            for kind in findings.known(&batch.when, pipe, &pipe.target_kind) {
                if let Some(most) = kind.value.largest_batch() {
                    let is_taken = at_most(batch, most)
                        .note(|| format!(", as {} takes", kind.value.shown()))
                        .depending_on(&kind);
                    findings.require(&kind.when, pipe, is_taken, || too_large(pipe, batch, &kind, most));
                }
            }
        }
    }
}

fn too_large(pipe: &Pipe, batch: &Operand<'_>, kind: &Known<'_, TargetKind>, most: i64) -> Finding {
    let target = kind.value.shown();
    let headline = format!(
        "{pipe} has a batch size of {} and delivers to {target}, which accepts at most {most} messages at once",
        batch.value
    );
    let label = format!("{} is above {most}, so the pipe is rejected", batch.shown());
    Finding::new("batch_size", headline, batch, label)
        .label(kind, format!("{target}: at most {most} messages at once"))
        .help(format!("set `{}` to {most} or less", batch.name))
        .fix(batch.set_to(most))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;

    #[test]
    fn batch_size_above_target_limit_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "orders" {}
resource "aws_sqs_queue" "out" {}
resource "aws_sns_topic" "out" {}
resource "aws_cloudwatch_event_bus" "out" {}
resource "aws_kinesis_stream" "out" {}
resource "aws_kinesis_firehose_delivery_stream" "out" {}
resource "aws_cloudwatch_log_group" "out" {}
resource "aws_lambda_function" "out" {}
resource "aws_pipes_pipe" "orders" {
  source = aws_sqs_queue.orders.arn
  target = <target>
  source_parameters {
    sqs_queue_parameters {
      batch_size = <batch>
    }
  }
}
"#,
            r#"
            target                                                 | batch    | finding
            aws_sqs_queue.out.arn                                  | 10       |
            aws_sqs_queue.out.arn                                  | 11       | batch
            aws_sns_topic.out.arn                                  | 10       |
            aws_sns_topic.out.arn                                  | 11       | batch
            aws_cloudwatch_event_bus.out.arn                       | 10       |
            aws_cloudwatch_event_bus.out.arn                       | 11       | batch
            "arn:aws:events:eu-west-1:111122223333:event-bus/out"  | 10       |
            "arn:aws:events:eu-west-1:111122223333:event-bus/out"  | 11       | batch
            "arn:aws:sqs:eu-west-1:111122223333:out"               | 10       |
            "arn:aws:sqs:eu-west-1:111122223333:out"               | 11       | batch
            aws_kinesis_stream.out.arn                             | 500      |
            aws_kinesis_stream.out.arn                             | 501      | batch
            aws_kinesis_firehose_delivery_stream.out.arn           | 500      |
            aws_kinesis_firehose_delivery_stream.out.arn           | 501      | batch
            // Targets that accept any batch, and the default.
            aws_lambda_function.out.arn                            | 10000    |
            aws_cloudwatch_log_group.out.arn                       | 10000    |
            "arn:aws:states:eu-west-1:111122223333:stateMachine:m" | 10000    |
            aws_sqs_queue.out.arn                                  | null     |
            var.open                                               | 100      | unjudged
            aws_sqs_queue.out.arn                                  | var.open | unjudged
            "#,
        );
    }
}
