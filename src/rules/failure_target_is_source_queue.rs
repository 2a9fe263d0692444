//! Flags functions whose failures go to a queue that they consume.

use super::prelude::*;
use crate::graph::FailureTarget;

pub(super) static RULE: Rule = rule!(
    "failure-target-is-source-queue",
    Category::FailureChannel,
    Severity::Error,
    "a function puts its failures into a queue that it reads, so they come back as messages"
);

fn check(findings: &mut Findings<'_>) {
    for function in findings.graph.functions() {
        for setting in &function.failure_targets {
            for target in findings.known(&setting.when, function, &setting.target) {
                let queue = findings.graph.queue(function.resource.unit, target.value);
                let Some(queue) = queue.filter(|queue| queue.resource.is_single()) else {
                    continue;
                };
                let is_read = findings.graph.is_read(queue);
                let quiet = fact(!is_read, || format!("nothing reads {queue}")).depending_on(&target);
                if findings.satisfied(&target.when, function, quiet) {
                    continue;
                }
                for poll in findings.polls(&target.when.and(&queue.resource.when), queue) {
                    if !poll.enabled {
                        continue;
                    }
                    for (when, read_by) in findings.graph.functions_of(poll.mapping, &poll.when) {
                        if std::ptr::eq(read_by, function) {
                            for severity in severities(findings, function, &when) {
                                let finding = back(function, setting, &target, queue, poll.mapping);
                                findings.report(&severity.0, function, finding.severity(severity.1));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the severity of the loop: one that is explicitly allowed is only a warning.
fn severities(findings: &mut Findings<'_>, function: &Function, when: &Condition) -> Vec<(Condition, Severity)> {
    let loops = findings.known(when, function, &function.recursive_loop).into_iter();
    let severity = |wanted: &str| {
        if wanted == "Allow" {
            Severity::Warning
        } else {
            Severity::Error
        }
    };
    loops.map(|known| (known.when.clone(), severity(known.value))).collect()
}

fn back(
    function: &Function,
    setting: &FailureTarget,
    target: &Known<'_, Link>,
    queue: &Queue,
    mapping: &EventSourceMapping,
) -> Finding {
    let (shown, queue) = (function.resource.shown(), queue.resource.shown());
    let headline = format!(
        "`{}` of {shown} is {queue}, which the function reads: its failures come back to it",
        setting.name
    );
    let reads = format!("{mapping} reads {queue} for {shown}");
    Finding::new(
        "failure_target",
        headline,
        target,
        format!("{queue} receives the failures, and the function reads it"),
    )
    .label(mapping.resource.header, reads)
    .help(format!(
        "set `{}` to a queue of its own, which no function reads",
        target.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Sam;
    use crate::testing::stack;

    #[test]
    fn failure_target_that_function_consumes_is_flagged() {
        stack().check(
            &RULE,
            "
            function.failure_target                   | mapping.enabled | finding
            queue.arn                                 |                 | error function.failure_target
            arn:aws:sqs:eu-west-1:111122223333:failed |                 |
            open                                      |                 |
            queue.arn                                 | false           |
            queue.arn                                 | open            |
            ",
        );
    }

    #[test]
    fn allowed_recursive_loop_is_a_warning() {
        let allowed = r#"
resource "aws_lambda_function_recursion_config" "f" {
  function_name  = aws_lambda_function.worker.function_name
  recursive_loop = "Allow"
}"#;
        let table = "function.failure_target | finding\n queue.arn | warning function.failure_target";
        stack().terraform(allowed).check(&RULE, table);
    }

    #[test]
    fn failure_destination_is_checked() {
        Sam.check(
            &RULE,
            r"
Resources:
  Orders:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      EventInvokeConfig:
        DestinationConfig:
          OnFailure:
            Type: SQS
            Destination: !GetAtt Orders.Arn # expect: failure-target-is-source-queue
      Events:
        E:
          Type: SQS
          Properties: {Queue: !GetAtt Orders.Arn}
",
        );
    }
}
