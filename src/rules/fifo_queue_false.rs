//! Flags `FifoQueue: false` in templates: CloudFormation passes it to SQS, which accepts the attribute only with the
//! value true.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "fifo-queue-false",
    Category::Fifo,
    Severity::Error,
    "`FifoQueue: false` is written out, but SQS rejects the attribute on a standard queue",
    fix = Some(Safety::Safe)
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues().iter().filter(|queue| queue.sends_fifo_false) {
        for fifo in findings.known(&queue.resource.when, queue, &queue.fifo) {
            // A conditional value may be false only under conditions that are never deployed.
            let is_false = !fifo.is_default && !*fifo.value && queue.resource.when.implies(&fifo.when);
            let is_not_sent = fact(!is_false, || {
                let is = if fifo.is_default {
                    "not set"
                } else {
                    "not false wherever the queue exists"
                };
                format!("`{}` is {is}", fifo.name)
            });
            findings.require(&fifo.when, queue, is_not_sent.depending_on(&fifo), || {
                refused(queue, &fifo)
            });
        }
    }
}

fn refused(queue: &Queue, fifo: &Known<'_, bool>) -> Finding {
    let headline = format!(
        "{queue} sets `{}` to false, but SQS rejects that attribute on a standard queue",
        fifo.name
    );
    let label = format!(
        "false{}: SQS answers \"Unknown Attribute FifoQueue\"",
        fifo.provenance()
    );
    // A value that is written elsewhere may have other uses.
    let is_here = fifo.origins.is_empty();
    Finding::new("fifo", headline, fifo, label)
        .help(format!(
            "remove `{}`: a queue without it is a standard queue",
            fifo.name
        ))
        .fix(is_here.then(|| fifo.removal()))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Serverless, Terraform};
    use crate::testing::queue;

    #[test]
    fn explicit_false_in_template_is_flagged() {
        queue().only(&[CloudFormation, Sam, Serverless]).check(
            &RULE,
            r#"
            queue.fifo | finding
            false      | queue.fifo
            "false"    | queue.fifo
            true       |
            null       |
                       |
            "#,
        );
        // The provider does not send it.
        queue()
            .only(&[Terraform])
            .check(&RULE, "queue.fifo | finding\n false |");
    }

    #[test]
    fn conditional_false_is_accepted() {
        CloudFormation.check(
            &RULE,
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
