//! Flags dead-letter queues that nobody watches: messages end there and are deleted unseen.

use super::prelude::*;
use crate::graph::UnitId;
use crate::source::Span;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "dead-letter-queue-unalarmed",
    category: Category::Alarms,
    severity: Severity::Warning,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "no alarm reports messages in a dead-letter queue",
    page: include_str!("../../rules/dead-letter-queue-unalarmed.md"),
    settings: &[],
    check: Some(check),
};

const HELP: &str = "add an alarm on `ApproximateNumberOfMessagesVisible` in `AWS/SQS` with the dimension `QueueName`: \
                    statistic `Maximum`, threshold 1, `GreaterThanOrEqualToThreshold`";

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let watch = graph.dead_letter_watch();
    let mut by_unit: BTreeMap<UnitId, Vec<Unwatched<'_>>> = BTreeMap::new();
    for queue in graph.queues() {
        let when = watch.unwatched_worlds(queue);
        // A module that is not here may watch what it is handed.
        let handed_out = graph.is_handed_out(queue);
        let dead_letter = watch.dead_letter_worlds(queue);
        let watched = if handed_out {
            dead_letter
        } else {
            dead_letter.and(&when.not())
        };
        let is_noticed = fact(true, || noticed(graph, queue, handed_out)).given(&queue.resource.header);
        findings.satisfied(&watched, queue, is_noticed);
        if when.is_possible() && !handed_out {
            by_unit
                .entry(queue.resource.unit)
                .or_default()
                .push(Unwatched { queue, when });
        }
    }
    let blocks = Blocks::new(graph, by_unit.values().flatten());
    for (unit, queues) in &by_unit {
        if watch.has_alarms(*unit) {
            for Unwatched { queue, when } in queues {
                findings.report(when, *queue, unalarmed(graph, queue, &blocks));
            }
        } else {
            without_any_alarm(graph, findings, queues, &blocks);
        }
    }
}

/// Who notices what arrives in `queue`, as far as that is known.
fn noticed(graph: &Graph, queue: &Queue, handed_out: bool) -> String {
    let alarm = graph.alarms_on(queue).next().map(|alarm| &alarm.resource);
    let reader = graph.consumptions(queue).first().map(|read| &read.mapping.resource);
    let reader = reader.or_else(|| graph.pipes_from(queue).first().map(|(_, pipe)| &pipe.resource));
    match (alarm, reader) {
        (Some(alarm), _) => format!("the alarm {} watches it", alarm.shown()),
        (None, Some(reader)) => format!("{} reads it", reader.shown()),
        (None, None) if handed_out => "it is passed to a module that is not here and may watch it".to_owned(),
        (None, None) => "something with unresolved values may watch or read it".to_owned(),
    }
}

/// A dead-letter queue, and the condition under which nobody watches it.
struct Unwatched<'g> {
    queue: &'g Queue,
    when: Condition,
}

/// The blocks that declare a queue which is watched, or is no dead-letter queue. An alarm beside a block that stands
/// for several queues is one on all of them.
struct Blocks(FxHashSet<Span>);

impl Blocks {
    fn new<'a>(graph: &Graph, unwatched: impl Iterator<Item = &'a Unwatched<'a>>) -> Self {
        let key = |queue: &'a Queue| (queue.resource.unit, &*queue.resource.address);
        let unwatched: FxHashSet<(UnitId, &str)> = unwatched.map(|one| key(one.queue)).collect();
        let queues = graph.queues().iter().map(|queue| &queue.resource);
        let watched = queues.filter(|resource| !unwatched.contains(&(resource.unit, &*resource.address)));
        Blocks(watched.map(|resource| resource.header).collect())
    }

    /// Whether every queue of the block of `queue` wants an alarm.
    fn want_alarm(&self, queue: &Queue) -> bool {
        !self.0.contains(&queue.resource.header)
    }
}

fn unalarmed(graph: &Graph, queue: &Queue, blocks: &Blocks) -> Finding {
    let (shown, header) = (queue.resource.shown(), queue.resource.header);
    let headline = format!("no alarm reports messages in the dead-letter queue {shown}");
    let label = match queue.retention.known() {
        Some(retention) => format!("a message here is deleted after {}, seen or not", retention.spoken()),
        None => "a message here is deleted when its retention period ends, seen or not".to_owned(),
    };
    let mut finding = Finding::new("alarm", headline, header, label);
    if let Some(source) = graph.sources_of(queue).first() {
        let mut cases = source.redrive.cases.iter();
        if let Some(case) = cases.find(|case| matches!(case.value(), Some(Some(_)))) {
            let label = format!("{} moves failed messages to {shown}", source.resource.shown());
            finding = finding.label(case.span, label);
        }
    }
    finding
        .help(HELP)
        .fix(blocks.want_alarm(queue).then_some(Change::Alarm(header)))
}

/// Alarms often live elsewhere, so a unit that declares none on any queue gets one piece of advice.
fn without_any_alarm(graph: &Graph, findings: &mut Findings<'_>, queues: &[Unwatched<'_>], blocks: &Blocks) {
    let Some((first, others)) = queues.split_first() else {
        return;
    };
    let mut finding = unalarmed(graph, first.queue, blocks).severity(Severity::Info);
    if !others.is_empty() {
        finding = finding.headline(format!(
            "no alarm reports messages in {} or in {} other dead-letter {}",
            first.queue.resource.shown(),
            others.len(),
            if others.len() == 1 { "queue" } else { "queues" }
        ));
    }
    // One label a place: queues of a `for_each` and of a module that is called often share theirs.
    let mut places: BTreeMap<Span, (String, usize)> = BTreeMap::new();
    for other in others {
        let shown = || (other.queue.resource.shown(), 0);
        places.entry(other.queue.resource.header).or_insert_with(shown).1 += 1;
    }
    for (span, (shown, count)) in places {
        let label = match count {
            1 => format!("nor in {shown}"),
            _ => format!("nor in {shown} and {} more declared here", count - 1),
        };
        finding = finding.label(span, label);
    }
    let when = (queues.iter()).fold(Condition::never(), |all, queue| all.or(&queue.when));
    findings.report(&when, first.queue, finding);
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::diagnostic::Severity;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings};

    #[test]
    fn an_alarm_on_another_queue_is_none() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" { # expect: dead-letter-queue-unalarmed
  name = "d"
}
resource "aws_cloudwatch_metric_alarm" "other" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateAgeOfOldestMessage"
  dimensions = { QueueName = aws_sqs_queue.q.name }
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}
  D: # expect: dead-letter-queue-unalarmed
    Type: AWS::SQS::Queue
  A:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateNumberOfMessagesVisible
      Dimensions:
        - {Name: QueueName, Value: !GetAtt Q.QueueName}
",
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}
  D: # expect: dead-letter-queue-unalarmed
    Type: AWS::SQS::Queue
  A:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateNumberOfMessagesVisible
      Dimensions:
        - {Name: QueueName, Value: !GetAtt Q.QueueName}
",
        );
    }

    #[test]
    fn depth_and_age_tell() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {
  name = "d"
}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions = { QueueName = aws_sqs_queue.d.name }
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {
  name = "d"
}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateAgeOfOldestMessage"
  dimensions = { QueueName = "d" }
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}
  D:
    Type: AWS::SQS::Queue
  A:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateNumberOfMessagesVisible
      Dimensions:
        - {Name: QueueName, Value: !GetAtt D.QueueName}
",
        );
    }

    #[test]
    fn other_metrics_do_not() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" { # expect: dead-letter-queue-unalarmed
  name = "d"
}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace = "AWS/SQS"
  metric_name = "NumberOfMessagesDeleted"
  dimensions = { QueueName = aws_sqs_queue.d.name }
}
"#,
        );
    }

    #[test]
    fn a_blind_metric_is_another_rule() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {
  name = "d"
}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace = "AWS/SQS"
  metric_name = "NumberOfMessagesSent"
  dimensions = { QueueName = aws_sqs_queue.d.name }
}
"#,
        );
    }

    #[test]
    fn an_alarm_that_may_watch_counts() {
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_sqs_queue" "q" {
  name = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {
  name = "d"
}
resource "aws_cloudwatch_metric_alarm" "other" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateAgeOfOldestMessage"
  dimensions = { QueueName = aws_sqs_queue.q.name }
}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions = { QueueName = var.x }
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_sqs_queue" "q" {
  name = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {
  name = "d"
}
resource "aws_cloudwatch_metric_alarm" "other" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateAgeOfOldestMessage"
  dimensions = { QueueName = aws_sqs_queue.q.name }
}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace = "AWS/SQS"
  metric_name = var.x
  dimensions = { QueueName = aws_sqs_queue.d.name }
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_sqs_queue" "q" {
  name = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {
  name = "d"
}
resource "aws_cloudwatch_metric_alarm" "other" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateAgeOfOldestMessage"
  dimensions = { QueueName = aws_sqs_queue.q.name }
}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions = { QueueName = aws_sqs_queue.d.name }
  count = var.x
}
"#,
        );
    }

    #[test]
    fn somebody_who_reads_it_notices() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {
  name = "d"
}
resource "aws_cloudwatch_metric_alarm" "other" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateAgeOfOldestMessage"
  dimensions = { QueueName = aws_sqs_queue.q.name }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.d.arn
  function_name = "f"
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" { # expect: dead-letter-queue-unalarmed
  name = "d"
}
resource "aws_cloudwatch_metric_alarm" "other" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateAgeOfOldestMessage"
  dimensions = { QueueName = aws_sqs_queue.q.name }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.d.arn
  function_name = "f"
  enabled = false
}
"#,
        );
    }

    #[test]
    fn an_alarm_under_a_condition_leaves_the_other_worlds() {
        check(
            &RULE,
            CloudFormation,
            r"
Parameters:
  Env: {Type: String, AllowedValues: [dev, prod]}
Conditions:
  IsProd: !Equals [!Ref Env, prod]
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}
  D: # expect: dead-letter-queue-unalarmed
    Type: AWS::SQS::Queue
  A:
    Type: AWS::CloudWatch::Alarm
    Condition: IsProd
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateNumberOfMessagesVisible
      Dimensions:
        - {Name: QueueName, Value: !GetAtt D.QueueName}
",
        );
    }

    #[test]
    fn a_unit_without_alarms_gets_one_piece_of_advice() {
        let pair = |name: &str| {
            format!(
                "resource \"aws_sqs_queue\" \"{name}\" {{\n  redrive_policy = jsonencode({{ deadLetterTargetArn = \
                 aws_sqs_queue.{name}_dlq.arn, maxReceiveCount = 5 }})\n}}\nresource \"aws_sqs_queue\" \"{name}_dlq\" {{}}\n"
            )
        };
        let text = pair("a") + &pair("b") + &pair("c");
        let found = findings(&RULE, Terraform, &text);
        assert_eq!(found.len(), 1);
        let advice = &found[0];
        assert_eq!(advice.severity, Severity::Info);
        assert_eq!(advice.subject.address, "aws_sqs_queue.a_dlq");
        let others = advice
            .labels()
            .iter()
            .filter(|label| label.message.starts_with("nor in"));
        assert_eq!(others.count(), 2);
    }
}
