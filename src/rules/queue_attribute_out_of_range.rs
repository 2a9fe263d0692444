//! Flags numbers that SQS does not take for an attribute of a queue, with the unit they were likely meant in.

use super::{Category, Findings, Known, Rule, Set};
use crate::diagnostic::{Remedy, Safety, Severity};
use crate::graph::limits::{
    DELAY, KEY_REUSE_PERIOD, MAXIMUM_MESSAGE_SIZE, RECEIVE_WAIT_TIME, RETENTION, VISIBILITY_TIMEOUT,
};
use crate::graph::{Attribute, Graph, Queue, Seconds};
use crate::rules::shared::operands::Operand;
use std::ops::RangeInclusive;

pub(super) static RULE: Rule = Rule {
    id: "queue-attribute-out-of-range",
    category: Category::Queue,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "an attribute of a queue has a value that SQS refuses",
    page: include_str!("../../rules/queue-attribute-out-of-range.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        let in_seconds: [(&'static str, &Attribute<Seconds>, _); 5] = [
            ("visibility_timeout", &queue.visibility_timeout, VISIBILITY_TIMEOUT),
            ("retention", &queue.retention, RETENTION),
            ("delay", &queue.delay, DELAY),
            ("receive_wait_time", &queue.receive_wait_time, RECEIVE_WAIT_TIME),
            ("key_reuse_period", &queue.key_reuse_period, KEY_REUSE_PERIOD),
        ];
        for (id, attribute, range) in in_seconds {
            for known in findings.known(&queue.resource.when, &queue.resource, attribute) {
                let limit = Limit {
                    id,
                    range: range.clone(),
                    unit: "s",
                };
                limit.judge(findings, queue, &known, known.value.0);
            }
        }
        let size = &queue.maximum_message_size;
        for known in findings.known(&queue.resource.when, &queue.resource, size) {
            let limit = Limit {
                id: "maximum_message_size",
                range: MAXIMUM_MESSAGE_SIZE,
                unit: "bytes",
            };
            limit.judge(findings, queue, &known, *known.value);
        }
    }
}

/// What SQS takes for one attribute.
struct Limit {
    /// The attribute, in the graph's words.
    id: &'static str,
    range: RangeInclusive<i64>,
    unit: &'static str,
}

impl Limit {
    fn judge<T>(&self, findings: &mut Findings<'_>, queue: &Queue, known: &Known<'_, T>, value: i64) {
        let (low, high, unit) = (self.range.start(), self.range.end(), self.unit);
        if self.range.contains(&value) {
            // That AWS takes its own defaults goes without saying.
            if !known.case.is_default() {
                findings.holds(&known.world, &queue.resource, &[known], || {
                    format!("{low} ≤ {value} ≤ {high} {unit} for `{}`", known.name)
                });
            }
            return;
        }
        let headline = format!(
            "{} sets `{}` to {value}, and SQS takes {low} to {high} {unit}",
            queue.resource.shown(),
            known.name
        );
        let meant = self.meant(value);
        let guess = meant
            .as_ref()
            .map_or_else(String::new, |meant| format!("; {value} looks like {}", meant.unit));
        let side = if value < *low {
            format!("below {low} {unit}")
        } else {
            format!("above {high} {unit}")
        };
        let label = format!("{value} {unit}{} is {side}{guess}", known.provenance());
        let diagnostic = findings.diagnostic(Severity::Error, &queue.resource, self.id, headline, known.span(), label);
        let diagnostic = known.show_origin(diagnostic);
        let wanted = meant.as_ref().map_or(value.clamp(*low, *high), |meant| meant.value);
        let remedy = Remedy::not_safe(Operand::new(known, value).write(&queue.resource, wanted));
        let diagnostic = match meant {
            Some(meant) => diagnostic.calculation(meant.calculation).help(format!(
                "set `{}` to {}, if {value} was meant in {}: it is a number of {}",
                known.name,
                meant.value,
                meant.unit,
                self.unit_in_words()
            )),
            None => diagnostic.help(format!("set `{}` to a value from {low} to {high}", known.name)),
        };
        findings.report(&known.world, &queue.resource, diagnostic.remedy(remedy));
    }

    fn unit_in_words(&self) -> &'static str {
        if self.unit == "s" { "seconds" } else { self.unit }
    }

    /// The unit in which `value` would be in range, where one suggests itself.
    fn meant(&self, value: i64) -> Option<Meant> {
        if *self.range.end() < value {
            let whole = self.unit == "s" && value % 1_000 == 0 && self.range.contains(&(value / 1_000));
            return whole.then(|| Meant {
                unit: "milliseconds",
                value: value / 1_000,
                calculation: format!("{value} ms ÷ 1000 = {} s", value / 1_000),
            });
        }
        let (unit, factor) = match (self.id, value) {
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
            calculation: format!("{value} × {factor} {0} = {1} {0}", self.unit, value * factor),
        })
    }
}

/// A value in the unit it was likely meant in, converted.
struct Meant {
    unit: &'static str,
    value: i64,
    calculation: String,
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings};

    #[test]
    fn the_bounds_are_in_range() {
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
    fn one_past_is_not() {
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
    fn what_is_not_known_is_not_judged() {
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
    fn names_the_unit_that_was_meant() {
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
