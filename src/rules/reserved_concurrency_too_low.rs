//! Flags functions whose reserved concurrency is below the concurrency with which Lambda polls a standard queue.

use super::prelude::*;
use crate::graph::limits::{
    FIRST_CONCURRENT_BATCHES, MAXIMUM_CONCURRENCY, MOST_CONCURRENT_BATCHES, POLLER_CONCURRENCY,
};
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
        minimum: i64 = FIRST_CONCURRENT_BATCHES, at least 1, "the least reserved concurrency that is enough for each mapping";
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
    for function in findings.graph.functions() {
        let mappings = findings.graph.mappings_of(function);
        if mappings.is_empty() {
            continue;
        }
        let (when, attribute) = (&function.resource.when, &function.reserved_concurrency);
        for reserved in findings.any_numbers(when, function, attribute, Unit::Invocations) {
            if reserved.value == 0 {
                findings.leave_to_rule_of(&reserved.when, function, &[&reserved], Cause::NoConcurrency);
                continue;
            }
            for (when, mapping) in &mappings {
                provisioned(findings, mapping, function, &reserved.under(reserved.when.and(when)));
            }
            for (when, polling) in findings.polling_together(function, &reserved.when, polls) {
                unbounded(findings, function, &reserved.under(when), &polling);
            }
        }
    }
}

/// Concurrency with which Lambda polls a queue.
#[derive(Clone)]
enum Polls<'g> {
    /// No maximum concurrency limits it. Contains the name of the queue.
    Unlimited(String),
    UpTo(Operand<'g>),
}

/// Returns how `mapping` polls under conditions that enable it: standard queues only, without provisioned pollers.
fn polls<'g>(
    findings: &mut Findings<'g>,
    mapping: &'g EventSourceMapping,
    when: &Condition,
) -> Vec<(Condition, Polls<'g>)> {
    let mut all = Vec::new();
    let enabled = findings.known(when, mapping, &mapping.enabled).into_iter();
    for enabled in enabled.filter(|enabled| *enabled.value) {
        let maximum = &mapping.maximum_concurrency;
        let numbers = findings.numbers(&enabled.when, mapping, maximum, &MAXIMUM_CONCURRENCY);
        all.extend(
            numbers
                .into_iter()
                .map(|maximum| (maximum.when.clone(), Polls::UpTo(maximum))),
        );
        let maximums = findings.without_notes(|this| this.known(&enabled.when, mapping, maximum));
        for absent in maximums.into_iter().filter(|maximum| maximum.value.is_none()) {
            let pollers = findings.known(&absent.when, mapping, &mapping.provisioned_pollers);
            for pollers in pollers.into_iter().filter(|pollers| pollers.value.is_none()) {
                let sources = findings.sources(mapping, &pollers.when).into_iter();
                let standard = sources.filter(|source| !source.fifo);
                all.extend(standard.map(|source| (source.when, Polls::Unlimited(source.shown))));
            }
        }
    }
    all
}

/// Compares the reserved concurrency with that of mappings without a maximum: each starts with a few batches, and
/// scales to many more under load.
fn unbounded<'g>(
    findings: &mut Findings<'g>,
    function: &Function,
    reserved: &Operand<'_>,
    polling: &[(&'g EventSourceMapping, Polls<'g>)],
) {
    let Concurrency { minimum } = findings.settings(function);
    let unlimited = polling.iter().filter_map(|(mapping, polls)| match polls {
        Polls::Unlimited(queue) => Some((*mapping, queue.as_str())),
        Polls::UpTo(_) => None,
    });
    let unlimited: Vec<_> = unlimited.collect();
    if unlimited.is_empty() {
        return;
    }
    let times = i64::try_from(unlimited.len()).unwrap_or(i64::MAX);
    let first = polling
        .iter()
        .fold(times * Term::from(minimum), |sum, (_, polls)| match polls {
            Polls::UpTo(maximum) => sum + maximum,
            Polls::Unlimited(_) => sum,
        });
    let value = first.value;
    if findings.satisfied(&reserved.when, function, at_least(reserved, first.clone())) {
        findings.require(
            &reserved.when,
            function,
            at_least(reserved, MOST_CONCURRENT_BATCHES),
            || too_low(function, reserved, polling, &unlimited, value).severity(Severity::Info),
        );
    } else {
        findings.require(&reserved.when, function, at_least(reserved, first), || {
            too_low(function, reserved, polling, &unlimited, value)
        });
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

fn too_low(
    function: &Function,
    reserved: &Operand<'_>,
    polling: &[(&EventSourceMapping, Polls<'_>)],
    unlimited: &[(&EventSourceMapping, &str)],
    first: i64,
) -> Finding {
    let (shown, value) = (function.resource.shown(), reserved.value);
    let queues: Vec<&str> = unlimited.iter().map(|(_, queue)| *queue).collect();
    let queues = queues.join(" and ");
    let polled = if value < first {
        let others = if polling.len() > unlimited.len() {
            ", including those of its other mappings"
        } else {
            ""
        };
        format!(
            "Lambda starts to poll {queues} with {first} concurrent batches{others}; {} are throttled",
            first - value
        )
    } else {
        format!(
            "nothing limits Lambda to that many concurrent batches of {queues}; under load the others are throttled"
        )
    };
    let headline =
        format!("{shown} reserves a concurrency of {value}, but {polled}, and each throttle counts as a receive");
    let label = format!("reserves {}", reserved.shown());
    let help = help(reserved, polling, unlimited, first);
    let finding = Finding::new("reserved_concurrency", headline, reserved, label).help(help);
    polling.iter().fold(finding, |finding, (mapping, polls)| match polls {
        Polls::Unlimited(queue) => finding.label(
            mapping.resource.header,
            format!("{mapping} reads {queue}, without a maximum concurrency"),
        ),
        Polls::UpTo(maximum) => finding.label(
            maximum,
            format!("{mapping} may invoke it {} times at once", maximum.shown()),
        ),
    })
}

/// Returns the help. The maximum concurrencies of all mappings fit into the reserved concurrency together, and each is at
/// least 2.
fn help(
    reserved: &Operand<'_>,
    polling: &[(&EventSourceMapping, Polls<'_>)],
    unlimited: &[(&EventSourceMapping, &str)],
    first: i64,
) -> String {
    let taken = polling.iter().map(|(_, polls)| match polls {
        Polls::UpTo(maximum) => maximum.value,
        Polls::Unlimited(_) => 0,
    });
    let taken = taken.fold(0, i64::saturating_add);
    let times = i64::try_from(unlimited.len()).unwrap_or(i64::MAX);
    let left = reserved.value.saturating_sub(taken);
    let each = (left / times).max(MAXIMUM_CONCURRENCY.least);
    let names: Vec<String> = unlimited.iter().map(|(mapping, _)| format!("{mapping}")).collect();
    let names = names.join(" and ");
    let maximum = unlimited
        .first()
        .map_or("", |(mapping, _)| &*mapping.maximum_concurrency.name);
    let needed = taken.saturating_add(each.saturating_mul(times));
    if needed > reserved.value {
        format!(
            "set `{}` to {first} or more, or to {needed} together with a `{maximum}` of {each} on {names}",
            reserved.name
        )
    } else if reserved.value < first {
        format!(
            "set `{maximum}` of {names} to {each}, or `{}` to {first} or more",
            reserved.name
        )
    } else {
        format!("set `{maximum}` of {names} to {each}")
    }
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
            1250                          |                                           |                 |                     |                         |
            1249                          |                                           |                 |                     |                         | info function.reserved_concurrency
            5                             |                                           |                 |                     |                         | info function.reserved_concurrency
            4                             |                                           |                 |                     |                         | warning function.reserved_concurrency
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
            64                            | 1       | set `maximum_concurrency` of `aws_lambda_event_source_mapping.orders` to 64
            3                             | 1       | set `maximum_concurrency` of `aws_lambda_event_source_mapping.orders` to 3, or `reserved_concurrent_executions` to 5 or more
            1                             | 1       | set `reserved_concurrent_executions` to 5 or more, or to 2 together with a `maximum_concurrency` of 2 on `aws_lambda_event_source_mapping.orders`
            ",
        );
    }

    #[test]
    fn mappings_of_one_function_are_added() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" {}
resource "aws_sqs_queue" "r" {
  fifo_queue = <fifo>
}
resource "aws_lambda_function" "f" {
  function_name                  = "f"
  reserved_concurrent_executions = <reserved>
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
resource "aws_lambda_event_source_mapping" "n" {
  event_source_arn = aws_sqs_queue.r.arn
  function_name    = aws_lambda_function.f.arn
  enabled          = <enabled>
  scaling_config {
    maximum_concurrency = <maximum>
  }
}
"#,
            "
            reserved | fifo  | enabled | maximum  | finding          | help
            10       | false | true    | null     | info reserved    | set `maximum_concurrency` of `aws_lambda_event_source_mapping.m` and `aws_lambda_event_source_mapping.n` to 5
            9        | false | true    | null     | warning reserved | set `maximum_concurrency` of `aws_lambda_event_source_mapping.m` and `aws_lambda_event_source_mapping.n` to 4, or `reserved_concurrent_executions` to 10 or more
            3        | false | true    | null     | warning reserved | set `reserved_concurrent_executions` to 10 or more, or to 4 together with a `maximum_concurrency` of 2 on `aws_lambda_event_source_mapping.m` and `aws_lambda_event_source_mapping.n`
            9        | true  | true    | null     | info reserved    | set `maximum_concurrency` of `aws_lambda_event_source_mapping.m` to 9
            9        | false | false   | null     | info reserved    | set `maximum_concurrency` of `aws_lambda_event_source_mapping.m` to 9
            12       | false | true    | 7        | info reserved    | set `maximum_concurrency` of `aws_lambda_event_source_mapping.m` to 5
            11       | false | true    | 7        | warning reserved | set `maximum_concurrency` of `aws_lambda_event_source_mapping.m` to 4, or `reserved_concurrent_executions` to 12 or more
            // Another mapping could only add to the known ones.
            4        | false | true    | var.open | warning reserved | set `maximum_concurrency` of `aws_lambda_event_source_mapping.m` to 4, or `reserved_concurrent_executions` to 5 or more
            var.open | false | true    | 7        |                  |
            ",
        );
    }
}
