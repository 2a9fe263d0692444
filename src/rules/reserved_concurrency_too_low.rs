//! Flags functions whose reserved concurrency is below the concurrency with which Lambda polls a standard queue.

use super::prelude::*;
use crate::graph::limits::{FIRST_CONCURRENT_BATCHES, MAXIMUM_CONCURRENCY, POLLER_CONCURRENCY};
use crate::rules::shared::queue_types::TypedQueue;
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = rule!(
    "reserved-concurrency-too-low",
    Category::Mapping,
    Severity::Warning,
    "a function reserves less concurrency than Lambda polls its queue with, so good messages are throttled",
    settings = Concurrency::ALL
);

settings! {
    /// Minimum concurrency of a function for a queue.
    struct Concurrency of "reserved-concurrency-too-low" {
        minimum: i64 = FIRST_CONCURRENT_BATCHES, at least 1, "the least reserved concurrency that is enough";
    }
}

fn check(findings: &mut Findings<'_>) {
    for function in findings.graph.functions() {
        let (reserved, accepts) = (
            &function.reserved_concurrency,
            Accepts::at_least("Lambda", 0, Unit::Invocations),
        );
        findings.reject_types(
            &function.resource.when,
            function,
            "reserved_concurrency",
            reserved,
            accepts,
        );
    }
    for mapping in findings.graph.mappings() {
        for (assumed, function) in findings.graph.functions_of(mapping, &mapping.resource.when) {
            let Concurrency { minimum } = findings.settings(function);
            let reserved = &function.reserved_concurrency;
            for reserved in findings.any_numbers(&assumed, function, reserved, Unit::Invocations) {
                if reserved.value == 0 {
                    findings.leave_to_rule_of(&reserved.when, function, &[&reserved], Cause::NoConcurrency);
                    continue;
                }
                provisioned(findings, mapping, function, &reserved);
                if !findings.satisfied(&reserved.when, function, at_least(&reserved, minimum)) {
                    for when in unbounded(findings, mapping, &reserved.when) {
                        for source in findings.sources(mapping, &when) {
                            if !source.fifo {
                                let finding = too_low(function, mapping, &reserved, &source, minimum);
                                findings.report(&source.when, function, finding);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Compares the reserved concurrency with that of provisioned pollers: their minimum always polls, their maximum only
/// under load.
fn provisioned(findings: &mut Findings<'_>, mapping: &EventSourceMapping, function: &Function, reserved: &Operand<'_>) {
    let enabled = findings.known(&reserved.when, mapping, &mapping.enabled).into_iter();
    for enabled in enabled.filter(|enabled| *enabled.value) {
        for pollers in findings.known(&enabled.when, mapping, &mapping.provisioned_pollers) {
            let Some(pollers_of) = pollers.value else { continue };
            for (attribute, quota, severity) in [
                (&pollers_of.minimum, &limits::MINIMUM_POLLERS, Severity::Warning),
                (&pollers_of.maximum, &limits::MAXIMUM_POLLERS, Severity::Info),
            ] {
                for number in findings.numbers(&pollers.when, mapping, attribute, quota) {
                    for source in findings.sources(mapping, &number.when) {
                        if !source.fifo {
                            let is_enough = at_least(reserved, POLLER_CONCURRENCY * Term::from(&number));
                            findings.require(&source.when, function, is_enough, || {
                                throttled(function, mapping, reserved, &number).severity(severity)
                            });
                        }
                    }
                }
            }
        }
    }
}

fn throttled(
    function: &Function,
    mapping: &EventSourceMapping,
    reserved: &Operand<'_>,
    pollers: &Operand<'_>,
) -> Finding {
    let most = POLLER_CONCURRENCY.saturating_mul(pollers.value);
    let headline = format!(
        "{function} reserves a concurrency of {}, but `{}` of {mapping} allows {most} concurrent batches, and each throttle counts as a \
         receive",
        reserved.value, pollers.name
    );
    Finding::new(
        "reserved_concurrency",
        headline,
        reserved,
        format!("reserves {}", reserved.shown()),
    )
    .label(
        pollers,
        format!(
            "each of {} pollers invokes up to {POLLER_CONCURRENCY} at a time",
            pollers.shown()
        ),
    )
    .help(format!(
        "set `{}` to {most} or more, or use fewer pollers",
        reserved.name
    ))
}

/// Returns the conditions in `when` under which `mapping` is enabled and nothing limits its concurrent batches.
fn unbounded(findings: &mut Findings<'_>, mapping: &EventSourceMapping, when: &Condition) -> Vec<Condition> {
    let mut all = Vec::new();
    for enabled in findings.known(when, mapping, &mapping.enabled) {
        if !enabled.value {
            continue;
        }
        for maximum in findings.known(&enabled.when, mapping, &mapping.maximum_concurrency) {
            if maximum.value.is_some() {
                continue;
            }
            let pollers = findings.known(&maximum.when, mapping, &mapping.provisioned_pollers);
            let none = pollers.into_iter().filter(|pollers| pollers.value.is_none());
            all.extend(none.map(|pollers| pollers.when));
        }
    }
    all
}

fn too_low(
    function: &Function,
    mapping: &EventSourceMapping,
    reserved: &Operand<'_>,
    source: &TypedQueue<'_>,
    minimum: i64,
) -> Finding {
    let (shown, value) = (function.resource.shown(), reserved.value);
    let polled = if value < FIRST_CONCURRENT_BATCHES {
        format!(
            "Lambda starts to poll {} with {FIRST_CONCURRENT_BATCHES} concurrent batches; {} are throttled",
            source.shown,
            FIRST_CONCURRENT_BATCHES - value
        )
    } else {
        format!(
            "nothing limits Lambda to that many concurrent batches of {}; the others are throttled",
            source.shown
        )
    };
    let headline =
        format!("{shown} reserves a concurrency of {value}, but {polled}, and each throttle counts as a receive");
    let label = format!("reserves {}", reserved.shown());
    let bound = value.max(MAXIMUM_CONCURRENCY.least);
    let maximum = &mapping.maximum_concurrency.name;
    let help = if bound == value {
        format!(
            "set `{maximum}` of {mapping} to {value}, or `{}` to {minimum} or more",
            reserved.name
        )
    } else {
        format!(
            "set `{}` to {minimum} or more, or to {bound} together with a `{maximum}` of {bound} on {mapping}",
            reserved.name
        )
    };
    Finding::new("reserved_concurrency", headline, reserved, label)
        .label(
            mapping.resource.header,
            format!("{mapping} reads the queue, without a maximum concurrency"),
        )
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::stack;

    #[test]
    fn concurrency_below_five_is_flagged() {
        stack().check(
            &RULE,
            "
            function.reserved_concurrency | mapping.source                            | mapping.enabled | mapping.concurrency | mapping.minimum_pollers | finding
            5                             |                                           |                 |                     |                         |
            4                             |                                           |                 |                     |                         | function.reserved_concurrency
            1                             |                                           |                 |                     |                         | function.reserved_concurrency
            2                             |                                           |                 |                     |                         | function.reserved_concurrency
            -1                            |                                           |                 |                     |                         |
            null                          |                                           |                 |                     |                         |
            open                          |                                           |                 |                     |                         |
            0                             |                                           |                 |                     |                         |
            // A limited or disabled mapping.
            2                             | arn:aws:sqs:eu-west-1:111122223333:q.fifo |                 |                     |                         |
            2                             |                                           | false           |                     |                         |
            2                             |                                           | open            |                     |                         |
            2                             |                                           |                 | 2                   |                         |
            2                             |                                           |                 | open                |                         |
            ",
        );
        let table = "function.reserved_concurrency | mapping.source | finding\n 2 | open |";
        stack().only(&[Terraform, CloudFormation]).check(&RULE, table);
    }

    #[test]
    fn concurrency_below_that_of_provisioned_pollers_is_flagged() {
        stack().check(
            &RULE,
            "
            function.reserved_concurrency | mapping.source                            | mapping.enabled | mapping.minimum_pollers | mapping.maximum_pollers | finding
            50                            |                                           |                 | 5                       |                         |
            49                            |                                           |                 | 5                       |                         | warning function.reserved_concurrency
            49                            |                                           |                 | 5                       | 10                      | warning function.reserved_concurrency
            100                           |                                           |                 | 5                       | 10                      |
            99                            |                                           |                 | 5                       | 10                      | info function.reserved_concurrency
            49                            |                                           | false           | 5                       |                         |
            49                            | arn:aws:sqs:eu-west-1:111122223333:q.fifo |                 | 5                       |                         |
            49                            |                                           |                 | open                    |                         |
            open                          |                                           |                 | 5                       |                         |
            null                          |                                           |                 | 5                       |                         |
            ",
        );
    }

    #[test]
    fn help_names_values_to_set() {
        stack().only(&[Terraform]).check(
            &RULE,
            "
            function.reserved_concurrency | finding | help
            3                             | 1       | set `maximum_concurrency` of `aws_lambda_event_source_mapping.orders` to 3, or `reserved_concurrent_executions` to 5 or more
            1                             | 1       | set `reserved_concurrent_executions` to 5 or more, or to 2 together with a `maximum_concurrency` of 2 on `aws_lambda_event_source_mapping.orders`
            ",
        );
    }
}
