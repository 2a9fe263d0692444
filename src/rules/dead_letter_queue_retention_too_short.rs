//! Flags dead-letter queues that keep messages no longer than their source queue does.

use super::retries_outlast_retention::Retries;
use super::{Category, Findings, Read, Rule, Set};
use crate::diagnostic::{Diagnostic, Remedy, Safety, Severity};
use crate::graph::limits::{DELAY, MAX_RECEIVE_COUNT, RETENTION, VISIBILITY_TIMEOUT};
use crate::graph::{Condition, Graph, Link, Queue, Seconds};
use crate::rules::Known;
use crate::rules::shared::operands::Operand;
use crate::source::Span;

pub(super) static RULE: Rule = Rule {
    id: "dead-letter-queue-retention-too-short",
    category: Category::Redrive,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a message keeps its age on the move, so little or no time is left to look at it",
    page: include_str!("../../rules/dead-letter-queue-retention-too-short.md"),
    settings: &[],
    check: Some(check),
};

/// A source queue and its dead-letter queue.
struct Pair<'g> {
    source: &'g Queue,
    dlq: &'g Queue,
    /// Where the one names the other.
    target: Span,
    source_retention: Operand<'g>,
    retention: Operand<'g>,
    world: Condition,
    /// Where the message is older than the dead-letter queue keeps it when it arrives.
    lost: Option<Retries<'g>>,
}

impl Pair<'_> {
    fn severity(&self) -> Severity {
        if self.lost.is_some() {
            Severity::Error
        } else {
            Severity::Warning
        }
    }
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let mut all = Vec::new();
    for source in graph.queues() {
        for target in findings.redrive_targets(&source.resource.when, source) {
            let dlq = graph.queue(source.resource.unit, target.value);
            let Some(dlq) = dlq.filter(|dlq| !std::ptr::eq(*dlq, source)) else {
                continue;
            };
            let world = target.world.and(&dlq.resource.when);
            for world in standard_worlds(findings, source, &world) {
                all.extend(pairs(findings, source, dlq, &target, &world));
            }
        }
    }
    // The worst speaks of a dead-letter queue with several sources; the others become its labels.
    all.sort_by_key(|pair| std::cmp::Reverse((pair.severity(), pair.source_retention.value)));
    for pair in all {
        let diagnostic = too_short(findings, &pair);
        findings.found(&pair.world, &pair.dlq.resource, &[&pair.target]);
        findings.report(&pair.world, &pair.dlq.resource, diagnostic);
    }
}

/// On FIFO queues the age starts anew with the move.
fn standard_worlds(findings: &mut Findings<'_>, source: &Queue, world: &Condition) -> Vec<Condition> {
    let mut worlds = Vec::new();
    for fifo in findings.known(world, &source.resource, &source.fifo) {
        if *fifo.value {
            findings.holds(&fifo.world, &source.resource, &[&fifo], || {
                "FIFO: the age of a message starts anew with the move".to_owned()
            });
        } else {
            worlds.push(fifo.world);
        }
    }
    worlds
}

fn pairs<'g>(
    findings: &mut Findings<'_>,
    source: &'g Queue,
    dlq: &'g Queue,
    target: &Known<'_, Link>,
    world: &Condition,
) -> Vec<Pair<'g>> {
    let mut all = Vec::new();
    for source_retention in findings.retention(world, source) {
        for retention in findings.retention(&source_retention.world, dlq) {
            let (source_kept, kept) = (source_retention.value, retention.value);
            let longest = *RETENTION.end();
            // Nothing can be longer than the longest.
            if source_kept < kept || kept == longest {
                let read: [&dyn Read; 3] = [&source_retention, &retention, target];
                findings.holds(&retention.world, &dlq.resource, &read, || {
                    let sign = if source_kept < kept { "<" } else { "=" };
                    let most = if kept == longest { ", the longest there is" } else { "" };
                    format!("{source_kept} s of {} {sign} {kept} s{most}", source.resource.shown())
                });
                continue;
            }
            let pair = |world: Condition, lost| Pair {
                source,
                dlq,
                target: target.span(),
                source_retention: source_retention.clone(),
                retention: retention.clone(),
                world,
                lost,
            };
            let lost = losses(source, &retention);
            all.extend(
                lost.into_iter()
                    .map(|retries| pair(retries.delay.world.clone(), Some(retries))),
            );
            all.push(pair(retention.world.clone(), None));
        }
    }
    all
}

/// Where the last failure comes after the end of `retention`. An operand that is unresolved here only keeps the
/// severity down, so it is not noted.
fn losses<'g>(source: &'g Queue, retention: &Operand<'g>) -> Vec<Retries<'g>> {
    let mut all = Vec::new();
    for (world, _, policy) in source.redrive.known_in(&retention.world) {
        let Some(policy) = policy else { continue };
        for count in operands(&world, &policy.max_receive_count, |count| *count) {
            for visibility in operands(&count.world, &source.visibility_timeout, |seconds| seconds.0) {
                for delay in operands(&visibility.world, &source.delay, |seconds| seconds.0) {
                    let retries = Retries {
                        count: count.clone(),
                        visibility: visibility.clone(),
                        delay,
                    };
                    let in_range = MAX_RECEIVE_COUNT.contains(&retries.count.value)
                        && VISIBILITY_TIMEOUT.contains(&retries.visibility.value)
                        && DELAY.contains(&retries.delay.value);
                    if in_range && retention.value <= retries.age() {
                        all.push(retries);
                    }
                }
            }
        }
    }
    all
}

fn operands<'g, T>(
    world: &Condition,
    attribute: &'g crate::graph::Attribute<T>,
    number: impl Fn(&T) -> i64,
) -> Vec<Operand<'g>> {
    let known = attribute.known_in(world).into_iter().map(|(world, case, value)| {
        let known = Known {
            value,
            world,
            case,
            name: &attribute.name,
        };
        Operand::new(&known, number(value))
    });
    known.collect()
}

fn too_short(findings: &Findings<'_>, pair: &Pair<'_>) -> Diagnostic {
    let (dlq, source) = (pair.dlq.resource.shown(), pair.source.resource.shown());
    let (kept, source_kept) = (pair.retention.value, pair.source_retention.value);
    let (keeps, source_keeps) = (Seconds(kept).spoken(), Seconds(source_kept).spoken());
    let headline = match &pair.lost {
        Some(retries) => format!(
            "{dlq} keeps messages for {keeps}, but a message that fails in {source} is {} s old when it arrives: it is \
             lost at once",
            retries.age()
        ),
        None if kept == source_kept => format!(
            "{dlq} keeps messages for {keeps}, no longer than {source}, and a message keeps its age on the move"
        ),
        None => format!(
            "{dlq} keeps messages for {keeps}, less than the {source_keeps} of {source}, and a message keeps its age \
             on the move"
        ),
    };
    let deleted = format!("deleted {} after it was first sent", pair.retention.seconds());
    let diagnostic = findings.diagnostic(
        pair.severity(),
        &pair.dlq.resource,
        "retention",
        headline,
        pair.retention.span,
        pair.retention.or_default(deleted, "SQS"),
    );
    let diagnostic = pair.retention.trace(diagnostic);
    let source_says = format!("{source} keeps it for {}", pair.source_retention.seconds());
    let mut diagnostic = pair
        .source_retention
        .show(diagnostic, pair.source_retention.or_default(source_says, "SQS"));
    if let Some(retries) = &pair.lost {
        diagnostic = retries.show(diagnostic).calculation(retries.calculation());
    }
    let most = RETENTION.end();
    let shorter = if source_kept < *most {
        String::new()
    } else {
        format!(", and `{}` of {source} to less", pair.source_retention.name)
    };
    diagnostic
        .help(format!(
            "set `{}` of {dlq} to {most} (14 days, the longest){shorter}",
            pair.retention.name
        ))
        .remedy(Remedy::not_safe(pair.retention.write(&pair.dlq.resource, *most)))
}

#[cfg(test)]
mod tests {
    use super::{RULE, Severity};
    use crate::testing::{Dialect, check, findings};

    fn cloudformation(source: &str, dlq: &str) -> String {
        format!(
            "
Parameters:
  Open: {{Type: Number}}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {{deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}}
      {source}
  Failed: {dlq}
"
        )
    }

    const EXPECTED: &str = "# expect: dead-letter-queue-retention-too-short";

    fn dlq(properties: &str) -> String {
        format!("\n    Type: AWS::SQS::Queue\n    Properties:\n      {properties}")
    }

    #[test]
    fn equal_is_too_short_and_a_second_more_is_not() {
        let source = "MessageRetentionPeriod: 86400";
        for (text, flagged) in [("86399", true), ("86400", true), ("86401", false), ("!Ref Open", false)] {
            let marker = if flagged { EXPECTED } else { "" };
            let dlq = dlq(&format!("MessageRetentionPeriod: {text} {marker}"));
            check(&RULE, Dialect::CloudFormation, &cloudformation(source, &dlq));
        }
        let defaults = cloudformation("", &format!("{EXPECTED}\n    Type: AWS::SQS::Queue"));
        check(&RULE, Dialect::CloudFormation, &defaults);
    }

    #[test]
    fn the_longest_cannot_be_longer() {
        let longest = "MessageRetentionPeriod: 1209600";
        check(&RULE, Dialect::CloudFormation, &cloudformation(longest, &dlq(longest)));
    }

    #[test]
    fn on_fifo_queues_the_age_starts_anew() {
        let text = cloudformation("FifoQueue: true", &dlq("FifoQueue: true"));
        check(&RULE, Dialect::CloudFormation, &text);
    }

    #[test]
    fn too_old_on_arrival_is_certain_loss() {
        let judge = |source: &str, retention: &str| {
            let dlq = dlq(&format!("MessageRetentionPeriod: {retention}"));
            let found = findings(&RULE, Dialect::CloudFormation, &cloudformation(source, &dlq));
            (found[0].severity, found[0].calculation.clone())
        };
        let source = "VisibilityTimeout: 60\n      DelaySeconds: 10";
        assert_eq!(
            judge(source, "310"),
            (Severity::Error, Some("10 s + 5 × 60 s = 310 s".to_owned()))
        );
        assert_eq!(judge(source, "311"), (Severity::Warning, None));
        // An open visibility timeout keeps the severity down, and nothing else.
        assert_eq!(judge("VisibilityTimeout: !Ref Open", "310"), (Severity::Warning, None));
    }

    #[test]
    fn the_source_that_keeps_longest_decides() {
        let text = r#"
            resource "aws_sqs_queue" "failed" {
              message_retention_seconds = 172800 # expect: dead-letter-queue-retention-too-short
            }
            resource "aws_sqs_queue" "short" {
              message_retention_seconds = 172800
              redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
            }
            resource "aws_sqs_queue" "long" {
              message_retention_seconds = 259200
              redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
            }
        "#;
        check(&RULE, Dialect::Terraform, text);
        let found = findings(&RULE, Dialect::Terraform, text);
        assert!(
            found[0]
                .headline
                .contains("less than the 259200 s (3 days) of `aws_sqs_queue.long`")
        );
        assert!(
            found[0]
                .labels()
                .iter()
                .any(|label| label.message.contains("aws_sqs_queue.short"))
        );
    }
}
