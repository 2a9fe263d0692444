//! Flags tasks of state machines that set a delay for a message to a FIFO queue.

use super::prelude::*;
use crate::graph::delivery::{EventTarget, Sender};

pub(super) static RULE: Rule = rule!(
    "fifo-message-delay",
    Category::Fifo,
    Severity::Error,
    "a task sets a delay for a message to a FIFO queue, and every send fails"
);

fn check(findings: &mut Findings<'_>) {
    let targets = findings.graph.deliveries().targets.iter();
    for target in targets.filter(|target| target.sender == Sender::Task) {
        let resource = &target.resource;
        for link in findings.known(&resource.when, resource, &target.target) {
            for queue in findings.typed_queues(resource.unit, &link, &link.when) {
                if !queue.fifo {
                    continue;
                }
                for delay in findings.known(&queue.when, resource, &target.delay) {
                    // Whether SQS rejects a delay of 0 is not known.
                    let seconds = delay.value.unwrap_or_default();
                    let is_plain = fact(seconds == 0, || "sets no delay".to_owned());
                    findings.require(&delay.when, resource, is_plain.depending_on(&delay).depending_on(&queue), || {
                        let headline = format!(
                            "{resource} sends to the FIFO queue {} with a delay of {seconds} s, so every send fails",
                            queue.shown
                        );
                        delayed(target, headline, &delay)
                    });
                }
            }
        }
    }
}

fn delayed<T>(target: &EventTarget, headline: String, delay: &Known<'_, T>) -> Finding {
    let label = "SQS rejects a delay of a single message of a FIFO queue";
    Finding::new("delay", headline, delay, label)
        .label(target.resource.header, "this task fails")
        .help("remove `DelaySeconds`, and set the delay of the queue, or wait in a `Wait` state before")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;

    #[test]
    fn delay_of_a_message_to_a_fifo_queue_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  name       = "q.fifo"
  fifo_queue = <fifo>
}
resource "aws_sfn_state_machine" "m" {
  name     = "m"
  role_arn = "arn:aws:iam::111122223333:role/r"
  definition = jsonencode({ StartAt = "Send", States = { Send = {
    Type = "Task", Resource = "arn:aws:states:::<action>", End = true,
    Parameters = { QueueUrl = <queue>, MessageGroupId = "g", MessageBody = "x", <delay> }
  } } })
}
"#,
            r#"
            fifo     | action                          | queue                | delay                   | finding
            true     | sqs:sendMessage                 | aws_sqs_queue.q.url  | DelaySeconds = 60       | error
            true     | sqs:sendMessage.waitForTaskToken | aws_sqs_queue.q.url | DelaySeconds = 1        | error
            true     | aws-sdk:sqs:sendMessage         | aws_sqs_queue.q.url  | DelaySeconds = 60       | error
            true     | sqs:sendMessage                 | aws_sqs_queue.q.url  | DelaySeconds = 0        |
            true     | sqs:sendMessage                 | aws_sqs_queue.q.url  | "DelaySeconds.$" = "$.d" |
            true     | sqs:sendMessage                 | aws_sqs_queue.q.url  | DelaySeconds = var.open |
            true     | sqs:sendMessage                 | aws_sqs_queue.q.url  |                         |
            true     | sqs:sendMessage                 | "{% $states.input %}" | DelaySeconds = 60      |
            true     | lambda:invoke                   | aws_sqs_queue.q.url  | DelaySeconds = 60       |
            false    | sqs:sendMessage                 | aws_sqs_queue.q.url  | DelaySeconds = 60       |
            var.open | sqs:sendMessage                 | aws_sqs_queue.q.url  | DelaySeconds = 60       |
            "#,
        );
    }
}
