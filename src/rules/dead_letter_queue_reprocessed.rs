//! Flags dead-letter queues that are consumed by the function that has just failed on their messages.

use super::prelude::*;
use crate::graph::Resource;

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-reprocessed",
    Category::Redrive,
    Severity::Info,
    "a function reads both a queue and its dead-letter queue, so failures are not kept apart"
);

/// Function that receives the messages of a queue.
struct Reader<'g> {
    function: &'g Function,
    /// Mapping or pipe that invokes the function.
    by: &'g Resource,
    /// Condition under which the function receives them.
    when: Condition,
}

fn check(findings: &mut Findings<'_>) {
    for dlq in findings.graph.queues() {
        let sources = findings.graph.sources_of(dlq);
        if sources.is_empty() || !dlq.resource.is_single() {
            continue;
        }
        for reader in readers(findings, dlq, &dlq.resource.when) {
            for source in sources.iter().filter(|source| !std::ptr::eq(**source, dlq)) {
                for (when, link) in source.redrive_targets(&reader.when) {
                    let is_this = findings.graph.queue(source.resource.unit, link);
                    if !is_this.is_some_and(|found| std::ptr::eq(found, dlq)) {
                        continue;
                    }
                    for first in readers(findings, source, &when) {
                        let is_another = !std::ptr::eq(first.function, reader.function);
                        let other = fact(is_another, || {
                            format!("read by {}, not by the function of its source", reader.function)
                        });
                        if !findings.satisfied(&first.when, dlq, other.depending_on(&reader.by.header)) {
                            findings.report(&first.when, dlq, reprocessed(source, dlq, &first, &reader));
                        }
                    }
                }
            }
        }
    }
}

fn readers<'g>(findings: &mut Findings<'g>, queue: &'g Queue, when: &Condition) -> Vec<Reader<'g>> {
    let mut all = Vec::new();
    for poll in findings.polls(&when.and(&queue.resource.when), queue) {
        if poll.enabled {
            let functions = findings.graph.functions_of(poll.mapping, &poll.when).into_iter();
            let single = functions.filter(|(_, function)| function.resource.is_single());
            all.extend(single.map(|(when, function)| Reader {
                function,
                by: &poll.mapping.resource,
                when,
            }));
        }
    }
    for (reads, pipe) in findings.graph.pipes_from(queue) {
        for running in findings.known(&when.and(&reads), &pipe.resource, &pipe.running) {
            if !running.value {
                continue;
            }
            for target in findings.known(&running.when, &pipe.resource, &pipe.target) {
                if let Some(function) = findings.graph.function(pipe.resource.unit, target.value) {
                    all.push(Reader {
                        function,
                        by: &pipe.resource,
                        when: target.when.and(&function.resource.when),
                    });
                }
            }
        }
    }
    all
}

fn reprocessed(source: &Queue, dlq: &Queue, first: &Reader<'_>, again: &Reader<'_>) -> Finding {
    let (source, dlq, function) = (
        source.resource.shown(),
        dlq.resource.shown(),
        again.function.resource.shown(),
    );
    let headline = format!(
        "{function} reads {source} and its dead-letter queue {dlq}, so a message that failed is tried again at once and no alarm reports it"
    );
    let reads = |reader: &Reader<'_>, queue: &str| format!("{} reads {queue} for {function}", reader.by.shown());
    Finding::new("readers", headline, again.by.header, reads(again, &dlq))
        .label(first.by.header, reads(first, &source))
        .help(format!(
            "remove {}, put an alarm on {dlq}, and move messages back with a redrive task once their cause is fixed",
            again.by.shown()
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::stack;

    #[test]
    fn function_on_queue_and_its_dead_letter_queue_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "failed" {}
resource "aws_sqs_queue" "orders" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_lambda_function" "f" {
  function_name = "f"
}
resource "aws_lambda_function" "g" {
  function_name = "g"
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.f.arn
}
resource "aws_lambda_event_source_mapping" "failed" { <header>
  event_source_arn = aws_sqs_queue.failed.arn
  function_name    = <function>
  enabled          = <enabled>
}
"#,
            "
            header | function                  | enabled  | finding
                   | aws_lambda_function.f.arn | true     | header
                   | aws_lambda_function.f.arn | null     | header
                   | aws_lambda_function.g.arn | null     |
                   | var.open                  | null     |
                   | aws_lambda_function.f.arn | false    |
                   | aws_lambda_function.f.arn | var.open |
            ",
        );
    }

    #[test]
    fn function_invoked_by_pipe_is_flagged() {
        let pipe = "  P: # expect: dead-letter-queue-reprocessed
    Type: AWS::Pipes::Pipe
    Properties: {Source: !GetAtt Failed.Arn, Target: !GetAtt Worker.Arn}";
        stack()
            .only(&[CloudFormation, Sam])
            .template(pipe)
            .check(&RULE, "dlq.fifo | finding\n false | pipe");
    }
}
