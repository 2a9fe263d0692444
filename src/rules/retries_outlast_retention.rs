//! Flags queues whose messages expire before they have failed often enough to reach the dead-letter queue.

use super::{Category, Findings, Read, Rule, Set, visibility_timeout_exceeds_retention, visibility_timeout_zero};
use crate::diagnostic::{Diagnostic, Remedy, Safety, Severity};
use crate::graph::limits::{RETENTION, RETENTION_DEFAULT};
use crate::graph::{Graph, Queue, Seconds};
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::operands::Operand;

pub(super) static RULE: Rule = Rule {
    id: "retries-outlast-retention",
    category: Category::Redrive,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a failing message expires before it reaches the dead-letter queue",
    page: include_str!("../../rules/retries-outlast-retention.md"),
    settings: &[],
    check: Some(check),
};

/// What decides how old a message is when it has failed for the last time.
pub(super) struct Retries<'g> {
    pub(super) count: Operand<'g>,
    pub(super) visibility: Operand<'g>,
    pub(super) delay: Operand<'g>,
}

impl Retries<'_> {
    /// The age at which a message that fails each time moves on.
    pub(super) fn age(&self) -> i64 {
        self.delay.value + self.count.value * self.visibility.value
    }

    pub(super) fn calculation(&self) -> String {
        format!(
            "{} s + {} × {} s = {} s",
            self.delay.value,
            self.count.value,
            self.visibility.value,
            self.age()
        )
    }

    /// `diagnostic` with a label at each operand.
    pub(super) fn show(&self, diagnostic: Diagnostic) -> Diagnostic {
        let count = format!(
            "a message moves to the dead-letter queue after {} receives",
            self.count.count()
        );
        let hides = format!("each receive hides it for {}", self.visibility.seconds());
        let diagnostic = self.count.show(diagnostic, count);
        let diagnostic = self
            .visibility
            .show(diagnostic, self.visibility.or_default(hides, "SQS"));
        if self.delay.value == 0 {
            return diagnostic;
        }
        let waits = format!("at first it waits {}", self.delay.seconds());
        self.delay.show(diagnostic, waits)
    }
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.read() {
        for count in findings.receive_counts(&queue.resource.when, queue) {
            for consumer in findings.consumers(graph, &count.world, queue) {
                compare(findings, queue, &count, &consumer);
            }
        }
    }
}

fn compare(findings: &mut Findings<'_>, queue: &Queue, count: &Operand<'_>, consumer: &Consumer<'_>) {
    for visibility in findings.visibility(&consumer.world, queue) {
        for delay in findings.delay(&visibility.world, queue) {
            for retention in findings.retention(&delay.world, queue) {
                let retries = Retries {
                    count: count.clone(),
                    visibility: visibility.clone(),
                    delay: delay.clone(),
                };
                let (world, resource) = (&retention.world, &queue.resource);
                let read: [&dyn Read; 5] = [count, &visibility, &delay, &retention, consumer];
                // 0 and a retention within one visibility timeout have rules of their own.
                if visibility.value == 0 {
                    findings.yields(world, resource, &read, &visibility_timeout_zero::RULE);
                } else if retention.value <= visibility.value {
                    findings.yields(world, resource, &read, &visibility_timeout_exceeds_retention::RULE);
                } else if retention.value <= retries.age() {
                    let diagnostic = expires(findings, queue, &retries, &retention, consumer);
                    findings.report(world, resource, diagnostic);
                } else {
                    findings.holds(world, resource, &read, || {
                        format!("{} < {} s", retries.calculation(), retention.value)
                    });
                }
            }
        }
    }
}

fn expires(
    findings: &Findings<'_>,
    queue: &Queue,
    retries: &Retries<'_>,
    retention: &Operand<'_>,
    consumer: &Consumer<'_>,
) -> Diagnostic {
    let (age, visibility) = (retries.age(), retries.visibility.value);
    let severity = if retention.value <= 2 * visibility {
        Severity::Error
    } else {
        Severity::Warning
    };
    let headline = format!(
        "{} keeps a message for {}, but it takes {} of failing until it reaches the dead-letter queue",
        queue.resource.shown(),
        Seconds(retention.value).spoken(),
        Seconds(age).spoken()
    );
    let deleted = format!("the message is deleted after {}", retention.seconds());
    let diagnostic = findings.diagnostic(
        severity,
        &queue.resource,
        "retention",
        headline,
        retention.span,
        retention.or_default(deleted, "SQS"),
    );
    // The most receives that still fit; there is none where the delay alone fills the retention.
    let fitting = (retention.value - retries.delay.value - 1).max(0) / visibility;
    let raise = (age < *RETENTION.end()).then(|| format!("raise `{}` above {age}", retention.name));
    let lower = (fitting >= 1).then(|| format!("lower `{}` to {fitting} or less", retries.count.name));
    let help: Vec<String> = raise.into_iter().chain(lower).collect();
    let help = if help.is_empty() {
        format!("lower `{}`", retries.visibility.name)
    } else {
        help.join(", or ")
    };
    // The default first: a source that keeps messages as long as its dead-letter queue leaves no time to look at them.
    let wanted = [RETENTION_DEFAULT.0, *RETENTION.end()]
        .into_iter()
        .find(|wanted| age < *wanted);
    consumer
        .show(retries.show(retention.trace(diagnostic)))
        .calculation(retries.calculation())
        .help(help)
        .remedy(wanted.map(|wanted| Remedy::not_safe(retention.write(&queue.resource, wanted))))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{RULE, Severity};
    use crate::testing::{Dialect, check, findings};

    fn terraform(settings: &str, count: i64, mapping: &str) -> String {
        format!(
            r#"
            variable "open" {{}}
            resource "aws_sqs_queue" "orders" {{
              {settings}
              redrive_policy = jsonencode({{
                deadLetterTargetArn = "arn:aws:sqs:eu-west-1:123456789012:failed"
                maxReceiveCount     = {count}
              }})
            }}
            resource "aws_lambda_event_source_mapping" "orders" {{
              event_source_arn = aws_sqs_queue.orders.arn
              function_name    = "worker"
              {mapping}
            }}
            "#
        )
    }

    fn settings(visibility: &str, delay: &str, retention: &str) -> String {
        format!(
            "visibility_timeout_seconds = {visibility}\n delay_seconds = {delay}\n message_retention_seconds = {retention}"
        )
    }

    #[test]
    fn equality_is_too_short() {
        let short = settings("60", "10", "310 # expect: retries-outlast-retention");
        check(&RULE, Dialect::Terraform, &terraform(&short, 5, ""));
        check(
            &RULE,
            Dialect::Terraform,
            &terraform(&settings("60", "10", "311"), 5, ""),
        );
        check(
            &RULE,
            Dialect::Terraform,
            &terraform(&settings("60", "10", "310"), 5, "enabled = false"),
        );
    }

    #[test]
    fn severity_follows_the_attempts_that_fit() {
        let severity = |retention: &str| {
            findings(
                &RULE,
                Dialect::Terraform,
                &terraform(&settings("60", "0", retention), 5, ""),
            )[0]
            .severity
        };
        assert_eq!(severity("120"), Severity::Error);
        assert_eq!(severity("121"), Severity::Warning);
    }

    #[test]
    fn other_rules_speak_of_zero_one_visibility_timeout_and_ranges() {
        for (visibility, retention, count) in [
            ("0", "60", 5),
            ("60", "60", 5),
            ("60", "300", 2000),
            ("60000", "300", 5),
            ("60", "59", 5),
            ("var.open", "300", 5),
            ("60", "var.open", 5),
        ] {
            let text = terraform(&settings(visibility, "0", retention), count, "");
            check(&RULE, Dialect::Terraform, &text);
        }
    }

    #[test]
    fn the_advice_fits() {
        let help = |visibility: &str, retention: &str, count| {
            let text = terraform(&settings(visibility, "0", retention), count, "");
            let found = findings(&RULE, Dialect::Terraform, &text);
            (found[0].help.clone().unwrap(), found[0].calculation.clone().unwrap())
        };
        assert_eq!(
            help("60", "200", 5),
            (
                "raise `message_retention_seconds` above 300, or lower `maxReceiveCount` to 3 or less".to_owned(),
                "0 s + 5 × 60 s = 300 s".to_owned()
            )
        );
        // No retention is long enough.
        assert_eq!(help("43200", "1209600", 28).0, "lower `maxReceiveCount` to 27 or less");
    }

    #[test]
    fn the_default_retention_counts() {
        let text = "
Resources:
  Orders: # expect: retries-outlast-retention
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 5400
      RedrivePolicy: {deadLetterTargetArn: 'arn:aws:sqs:eu-west-1:123456789012:failed', maxReceiveCount: 64}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Events: {Q: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}
";
        check(&RULE, Dialect::Sam, text);
        check(
            &RULE,
            Dialect::Sam,
            &text
                .replace("64}", "63}")
                .replace("# expect: retries-outlast-retention", ""),
        );
    }
}
