//! Flags functions that receive batches from a queue and have the default timeout.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "function-timeout-defaulted",
    Category::Visibility,
    Severity::Info,
    "a function that gets batches leaves its timeout to the default of a few seconds",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for (assumed, function) in findings.graph.functions_of(mapping, &mapping.resource.when) {
            for timeout in findings.any_numbers(&assumed, function, &function.timeout, Unit::Seconds) {
                let is_set = fact(!timeout.is_default, || format!("`{}` is set", timeout.name)).depending_on(&timeout);
                if findings.satisfied(&timeout.when, function, is_set) {
                    continue;
                }
                for batch in findings.numbers(&timeout.when, mapping, &mapping.batch_size, &limits::BATCH_SIZE) {
                    if batch.value > 1 {
                        for source in findings.polled_queues(mapping, &batch.when) {
                            let finding = defaulted(function, &timeout, &batch, &source.shown);
                            findings.report(&source.when, function, finding);
                        }
                    }
                }
            }
        }
    }
}

fn defaulted(function: &Function, timeout: &Operand<'_>, batch: &Operand<'_>, source: &str) -> Finding {
    let headline = format!(
        "{function} has the default timeout of {} s for batches of up to {} messages from {source}: when it ends, all of them return to the queue",
        timeout.value, batch.value
    );
    Finding::new("timeout", headline, timeout, format!("`{}` is not set", timeout.name))
        .label(batch, format!("up to {}", batch.counted("messages per batch")))
        .help(format!(
            "set `{}` to what a whole batch needs, and the visibility timeout to six times that",
            timeout.name
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::stack;

    #[test]
    fn default_timeout_for_batches_is_flagged() {
        stack().only(&[Terraform, CloudFormation, Sam]).check(
            &RULE,
            "
            function.timeout | mapping.batch_size | finding
                             |                    | function
                             | 2                  | function
            3                |                    |
            open             |                    |
                             | 1                  |
                             | open               |
            ",
        );
        stack().only(&[Terraform]).check(
            &RULE,
            "
            function.timeout | mapping.batch_size | finding
            null             | 2                  | function.timeout
            null             | 1                  |
            null             | open               |
            ",
        );
    }

    #[test]
    fn timeout_in_globals_is_accepted() {
        Sam.check(
            &RULE,
            r"
Globals:
  Function:
    Timeout: 3
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}
",
        );
    }
}
