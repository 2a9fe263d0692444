//! Flags numbers that SQS rejects for an attribute of a queue, and suggests the unit that was probably meant.

use super::prelude::*;
use crate::graph::Attribute;
use crate::rules::shared::operands::Number;
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = rule!(
    "queue-attribute-out-of-range",
    Category::Queue,
    Severity::Error,
    "an attribute of a queue has a value that SQS rejects",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for (id, attribute, quota) in [
            (
                "visibility_timeout",
                &queue.visibility_timeout,
                &limits::VISIBILITY_TIMEOUT,
            ),
            ("retention", &queue.retention, &limits::RETENTION),
            ("delay", &queue.delay, &limits::DELAY),
            (
                "receive_wait_time",
                &queue.receive_wait_time,
                &limits::RECEIVE_WAIT_TIME,
            ),
            ("key_reuse_period", &queue.key_reuse_period, &limits::KEY_REUSE_PERIOD),
        ] {
            judge(findings, queue, id, attribute, quota);
        }
        let (size, quota) = (&queue.maximum_message_size, &limits::MAXIMUM_MESSAGE_SIZE);
        judge(findings, queue, "maximum_message_size", size, quota);
    }
}

fn judge<T: Number>(
    findings: &mut Findings<'_>,
    queue: &Queue,
    id: &'static str,
    attribute: &Attribute<T>,
    quota: &Quota,
) {
    let accepts = Accepts::of("SQS", quota);
    findings.reject_types(&queue.resource.when, queue, id, attribute, accepts);
    for number in findings.any_numbers(&queue.resource.when, queue, attribute, quota.unit) {
        // AWS's own defaults are always in range.
        if !number.is_default {
            let accepted = within(&number, quota).note(|| format!(" for `{}`", number.name));
            findings.require(&number.when, queue, accepted, || {
                out_of_range(queue, id, &number, quota)
            });
        }
    }
}

fn out_of_range(queue: &Queue, id: &'static str, number: &Operand<'_>, quota: &Quota) -> Finding {
    let (value, name, low, high) = (number.value, number.name, quota.least, quota.most);
    let unit = quota.unit.short();
    let headline = format!("{queue} sets `{name}` to {value}, but SQS accepts {low} to {high} {unit}");
    let (side, bound) = if value < low { ("below", low) } else { ("above", high) };
    let label = format!("{value} {unit}{} is {side} {bound} {unit}", number.provenance());
    match Meant::by(id, value, quota) {
        Some(meant) => {
            let label = format!("{label}; {value} looks like {}", meant.unit);
            Finding::new(id, headline, number, label)
                .help(format!(
                    "set `{name}` to {} if {value} was meant in {}: the value is in {}",
                    meant.value,
                    meant.unit,
                    quota.unit.name()
                ))
                .fix(number.set_to(meant.value))
                .calculation(Some(meant.calculation))
        }
        None => Finding::new(id, headline, number, label)
            .help(format!("set `{name}` to a value from {low} to {high}"))
            .fix(number.set_to(value.clamp(low, high))),
    }
}

/// Value converted from the unit that was probably meant.
struct Meant {
    unit: &'static str,
    value: i64,
    calculation: String,
}

impl Meant {
    /// Returns the conversion from the unit in which `value` was probably meant, if there is a likely one.
    fn by(id: &str, value: i64, quota: &Quota) -> Option<Meant> {
        if quota.most < value {
            let meant = value / 1_000;
            let is_whole = quota.unit == Unit::Seconds && value % 1_000 == 0 && quota.accepts(meant);
            return is_whole.then(|| Meant {
                unit: "milliseconds",
                value: meant,
                calculation: format!("{value} ms ÷ 1000 = {meant} s"),
            });
        }
        let (unit, factor) = match (id, value) {
            ("retention", 1..=14) => ("days", 86_400),
            ("retention", 24 | 36 | 48) | ("key_reuse_period", 24) => ("hours", 3_600),
            ("key_reuse_period", 1..=59) => ("minutes", 60),
            ("maximum_message_size", 1) => ("MiB", 1_048_576),
            ("maximum_message_size", 2..=1_023) => ("KiB", 1_024),
            _ => return None,
        };
        Some(Meant {
            unit,
            value: value * factor,
            calculation: format!("{value} × {factor} {0} = {1} {0}", quota.unit.short(), value * factor),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::queue;

    #[test]
    fn value_that_is_not_a_whole_number_is_flagged() {
        queue().only(&[Terraform]).check(
            &RULE,
            r#"
            queue.visibility_timeout | finding                  | headline
            "30s"                    | queue.visibility_timeout | `aws_sqs_queue.orders` has a `visibility_timeout_seconds` that SQS rejects: `"30s"` is not a whole number
            1.5                      | queue.visibility_timeout | …that SQS rejects: `1.5` is not a whole number
            true                     | queue.visibility_timeout | …that SQS rejects: `true` is not a whole number
            "abc"                    | queue.visibility_timeout | …that SQS rejects: `"abc"` is not a whole number
            // A number in a string is accepted.
            "30"                     |                          |
            "#,
        );
        for value in ["30s", "1.5", "true", "abc", "null", "~"] {
            let text = format!(
                "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      VisibilityTimeout: {value}\n"
            );
            for dialect in [CloudFormation, Sam] {
                assert_eq!(dialect.findings(&RULE, &text).len(), 1, "{value}");
            }
        }
    }

    #[test]
    fn both_ends_of_each_range_are_accepted() {
        queue().check(
            &RULE,
            r#"
            queue.visibility_timeout | queue.retention | queue.delay | queue.wait_time | queue.maximum_size | queue.key_reuse_period | finding
                                     |                 |             |                 |                    |                        |
            0                        | 60              | 0           | 0               | 1024               | 60                     |
            43200                    | 1209600         | 900         | 20              | 1048576            | 86400                  |
            -1                       |                 |             |                 |                    |                        | queue.visibility_timeout
            43201                    |                 |             |                 |                    |                        | queue.visibility_timeout
            "43201"                  |                 |             |                 |                    |                        | queue.visibility_timeout
                                     | 59              |             |                 |                    |                        | queue.retention
                                     | 1209601         |             |                 |                    |                        | queue.retention
                                     |                 | -1          |                 |                    |                        | queue.delay
                                     |                 | 901         |                 |                    |                        | queue.delay
                                     |                 | open        |                 |                    |                        |
                                     |                 |             | -1              |                    |                        | queue.wait_time
                                     |                 |             | 21              |                    |                        | queue.wait_time
                                     |                 |             |                 | 1023               |                        | queue.maximum_size
                                     |                 |             |                 | 1048577            |                        | queue.maximum_size
                                     |                 |             |                 |                    | 59                     | queue.key_reuse_period
                                     |                 |             |                 |                    | 86401                  | queue.key_reuse_period
            43201                    |                 | 901         |                 |                    |                        | queue.visibility_timeout, queue.delay
            "#,
        );
    }

    #[test]
    fn finding_suggests_intended_unit() {
        queue().check(
            &RULE,
            "
            queue.visibility_timeout | queue.retention | queue.maximum_size | finding                  | calculation
            300000                   |                 |                    | queue.visibility_timeout | 300000 ms ÷ 1000 = 300 s
                                     | 14              |                    | queue.retention          | 14 × 86400 s = 1209600 s
                                     |                 | 256                | queue.maximum_size       | 256 × 1024 bytes = 262144 bytes
            ",
        );
        let found = queue().queue("wait_time", 30).findings(&RULE, Terraform);
        assert_eq!(
            found
                .iter()
                .map(|found| found.calculation.is_none())
                .collect::<Vec<_>>(),
            [true]
        );
    }
}
