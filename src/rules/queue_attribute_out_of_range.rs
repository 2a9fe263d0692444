//! Flags numbers that SQS rejects for an attribute of a queue, and suggests the unit that was probably meant.

use super::prelude::*;
use crate::graph::Attribute;
use crate::rules::shared::operands::Number;
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = Rule {
    id: "queue-attribute-out-of-range",
    category: Category::Queue,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "an attribute of a queue has a value that SQS rejects",
    page: include_str!("../../rules/queue-attribute-out-of-range.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
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
    let headline = format!(
        "{} sets `{name}` to {value}, but SQS accepts {low} to {high} {unit}",
        queue.resource.shown()
    );
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
    use crate::testing::{check, findings};

    #[test]
    fn value_that_is_not_a_whole_number_is_flagged() {
        for (written, shown) in [
            ("\"30s\"", "\"30s\""),
            ("1.5", "1.5"),
            ("true", "true"),
            ("\"abc\"", "\"abc\""),
        ] {
            let text = format!("resource \"aws_sqs_queue\" \"q\" {{\n  visibility_timeout_seconds = {written}\n}}\n");
            let found = findings(&RULE, Terraform, &text);
            let headlines: Vec<&str> = found.iter().map(|found| &*found.headline).collect();
            let expected = format!(
                "`aws_sqs_queue.q` has a `visibility_timeout_seconds` that SQS rejects: `{shown}` is not a whole number"
            );
            assert_eq!(headlines, [expected], "{written}");
        }
        for written in ["30s", "1.5", "true", "abc", "null", "~"] {
            let text = format!(
                "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      VisibilityTimeout: {written}\n"
            );
            for dialect in [CloudFormation, Sam] {
                assert_eq!(findings(&RULE, dialect, &text).len(), 1, "{written}");
            }
        }
        // A number in a string is accepted.
        let quoted = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = \"30\"\n}\n";
        assert!(findings(&RULE, Terraform, quoted).is_empty());
    }

    #[test]
    fn bounds_are_accepted() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  visibility_timeout_seconds = 0
  message_retention_seconds = 60
  delay_seconds = 0
  receive_wait_time_seconds = 0
  max_message_size = 1024
  kms_data_key_reuse_period_seconds = 60
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  visibility_timeout_seconds = 43200
  message_retention_seconds = 1209600
  delay_seconds = 900
  receive_wait_time_seconds = 20
  max_message_size = 1048576
  kms_data_key_reuse_period_seconds = 86400
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
"#,
        );
    }

    #[test]
    fn one_past_the_bounds_is_flagged() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  visibility_timeout_seconds = -1 # expect: queue-attribute-out-of-range
  message_retention_seconds = 59 # expect: queue-attribute-out-of-range
  delay_seconds = -1 # expect: queue-attribute-out-of-range
  receive_wait_time_seconds = -1 # expect: queue-attribute-out-of-range
  max_message_size = 1023 # expect: queue-attribute-out-of-range
  kms_data_key_reuse_period_seconds = 59 # expect: queue-attribute-out-of-range
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  visibility_timeout_seconds = 43201 # expect: queue-attribute-out-of-range
  message_retention_seconds = 1209601 # expect: queue-attribute-out-of-range
  delay_seconds = 901 # expect: queue-attribute-out-of-range
  receive_wait_time_seconds = 21 # expect: queue-attribute-out-of-range
  max_message_size = 1048577 # expect: queue-attribute-out-of-range
  kms_data_key_reuse_period_seconds = 86401 # expect: queue-attribute-out-of-range
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r#"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: "43201" # expect: queue-attribute-out-of-range
      DelaySeconds: 901 # expect: queue-attribute-out-of-range
"#,
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      MessageRetentionPeriod: 59 # expect: queue-attribute-out-of-range
",
        );
    }

    #[test]
    fn unresolved_values_are_not_judged() {
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_sqs_queue" "q" {
  delay_seconds = var.x
}
"#,
        );
    }

    #[test]
    fn finding_suggests_intended_unit() {
        let cases = [
            ("visibility_timeout_seconds = 300000", Some("300000 ms ÷ 1000 = 300 s")),
            ("message_retention_seconds = 14", Some("14 × 86400 s = 1209600 s")),
            ("max_message_size = 256", Some("256 × 1024 bytes = 262144 bytes")),
            ("receive_wait_time_seconds = 30", None),
        ];
        for (line, calculation) in cases {
            let text = format!("resource \"aws_sqs_queue\" \"q\" {{\n  {line}\n}}\n");
            let found = findings(&RULE, Terraform, &text);
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(
                found.first().and_then(|f| f.calculation.as_deref()),
                calculation,
                "{line}"
            );
        }
    }
}
