//! Flags queues whose visibility timeout is shorter than the timeout of a function that consumes them.

use super::prelude::*;
use crate::rules::shared::advice::{Advice, set_to_needed};
use crate::rules::shared::consumers::{PollingMapping, RunTime};
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "visibility-timeout-below-function-timeout",
    Category::Visibility,
    Severity::Error,
    "messages become visible again while the function may still be working on them",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    findings.note_unresolved_sources();
    for (queue, _) in findings.graph.polled() {
        let advice = findings.settings::<Advice>(queue);
        findings.set_judged_attribute(&queue.visibility_timeout);
        for poll in findings.polls(&queue.resource.when, queue) {
            for time in findings.least_run_times(&poll) {
                for visibility in findings.most_visibility(&time.limit.when, queue) {
                    let function = &time.function.resource;
                    let covered = at_least(&visibility, Term::from(&time.limit).of(function));
                    findings.require(
                        &visibility.when,
                        queue,
                        covered.depending_on(&time).depending_on(&poll),
                        || below_timeout(queue, &poll, &time, &visibility, advice),
                    );
                }
            }
        }
    }
}

fn below_timeout(
    queue: &Queue,
    poll: &PollingMapping<'_>,
    time: &RunTime<'_>,
    visibility: &Operand<'_>,
    advice: Advice,
) -> Finding {
    let (function, limit) = (time.function.resource.shown(), &time.limit);
    let runs = if time.durable {
        format!("an execution of {function} may take {}", limit.in_words())
    } else {
        format!("{function} may run for {}", limit.in_words())
    };
    let headline = format!(
        "{queue} has a visibility timeout of {}, but {runs}, so a message may be processed twice",
        visibility.in_words()
    );
    let becomes_visible = format!("the message becomes visible again after {}", visibility.shown());
    let label = visibility.or_default("SQS", becomes_visible);
    let finding = Finding::new("visibility_timeout", headline, visibility, label)
        // AWS does not document whether Lambda accepts a *disabled* mapping in this case.
        .severity(poll.severity(Severity::Error))
        .scenario(scenarios::of_timeout(visibility, limit))
        .show(time)
        .show(poll)
        .although_fifo(queue, &visibility.when);
    let needed = advice.needed(limit, poll.window(&visibility.when));
    finding
        .help(advice.help(visibility, &needed))
        .fix(set_to_needed(visibility, &needed))
        .calculation(needed.calculation())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::stack;

    #[test]
    fn equal_timeout_is_accepted_and_one_second_less_flagged() {
        stack().check(
            &RULE,
            "
            queue.visibility_timeout | function.timeout | mapping.enabled | finding
            60                       | 60               |                 |
            59                       | 60               |                 | queue.visibility_timeout
                                     |                  |                 |
                                     | 30               |                 |
                                     | 31               |                 | queue
            2                        |                  |                 | queue.visibility_timeout
            open                     | 300              |                 | unjudged
                                     | open             |                 | unjudged
                                     | 300              | open            | unjudged
                                     | 60               | false           | info queue
            // Other rules report these values.
            0                        | 60               |                 |
            -1                       | 60               |                 |
                                     | 30000            |                 |
            ",
        );
    }

    #[test]
    fn calculation_includes_batching_window() {
        stack().only(&[Terraform]).function("timeout", 300).mapping("window", 20).check(
            &RULE,
            "
            finding | headline                                                                                                                                         | calculation               | help
            queue   | `aws_sqs_queue.orders` has a visibility timeout of 30 s, but `aws_lambda_function.worker` may run for 300 s, so a message may be processed twice | 6 × 300 s + 20 s = 1820 s | …`visibility_timeout_seconds` to 1820…
            ",
        );
    }

    #[test]
    fn two_functions_on_one_queue_give_one_finding() {
        let small = "  Small:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 70
      Events: {Q: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}";
        stack().only(&[Sam]).template(small).check(
            &RULE,
            "
            queue.visibility_timeout | function.timeout | finding                  | headline                    | label
            60                       | 80               | queue.visibility_timeout | …`Worker` may run for 80 s… | …`Small`…
            ",
        );
    }

    #[test]
    fn durable_function_is_judged_by_execution_timeout() {
        stack()
            .only(&[CloudFormation])
            .queue("visibility_timeout", 600)
            .function("timeout", 10)
            .check(
                &RULE,
                "
            function.execution_timeout | finding | headline
            600                        |         |
            86400                      | 1       | …an execution of `Worker` may take 1800 s…
            ",
            );
    }
}
