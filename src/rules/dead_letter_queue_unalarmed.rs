//! Flags dead-letter queues without an alarm and without a consumer: their messages expire unnoticed.

use super::prelude::*;
use crate::graph::{Resource, UnitId, Watch};
use crate::rules::shared::alarms::{Unwatched, Words};
use rustc_hash::FxHashSet;
use source::Span;

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
                    statistic `Maximum`, threshold 1, `GreaterThanOrEqualToThreshold`, and an action that tells somebody";

static WORDS: Words = Words {
    start: "no alarm reports messages in",
    preposition: "in",
    one: "dead-letter queue",
    several: "dead-letter queues",
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let watch = graph.dead_letter_watch();
    let mut all = Vec::new();
    for queue in graph.queues() {
        let when = unwatched(graph, findings, &watch, queue);
        if when.is_possible() {
            all.push(Unwatched { queue, when });
        }
    }
    let blocks = Blocks::new(graph, &all);
    findings.report_unwatched(graph, &watch, all, &WORDS, |queue| unalarmed(graph, queue, &blocks));
}

/// Returns the condition under which `queue` is a dead-letter queue and certainly neither watched nor consumed.
/// Conditions under which that is unresolved are noted.
fn unwatched(graph: &Graph, findings: &mut Findings<'_>, watch: &Watch<'_>, queue: &Queue) -> Condition {
    let dead_letter = watch.dead_letter_when(queue);
    if !dead_letter.is_possible() {
        return dead_letter;
    }
    let noticed = dead_letter.and(&watch.noticed_when(queue));
    let is_noticed = fact(true, || who_notices(graph, watch, queue)).depending_on(&queue.resource.header);
    findings.satisfied(&noticed, queue, is_noticed);
    findings.certainly_unwatched(graph, watch, queue, dead_letter.and(&noticed.not()))
}

/// Describes the alarm or consumer that notices messages in `queue`.
fn who_notices(graph: &Graph, watch: &Watch<'_>, queue: &Queue) -> String {
    let reader = graph.consumptions(queue).first().map(|read| &read.mapping.resource);
    let reader = reader.or_else(|| graph.pipes_from(queue).first().map(|(_, pipe)| &pipe.resource));
    match (watch.alarms(queue).first(), reader) {
        (Some(alarm), _) if alarm.is_nonexistent => {
            format!("the alarm {} is left out on purpose", alarm.resource.shown())
        }
        (Some(alarm), _) => format!("the alarm {} watches it", alarm.resource.shown()),
        (None, reader) => format!("{} reads it", reader.map_or_else(String::new, Resource::shown)),
    }
}

/// Header spans of the blocks that declare at least one queue that needs no alarm. The fix adds an alarm to a block,
/// which applies to every queue that the block declares.
struct Blocks(FxHashSet<Span>);

impl Blocks {
    fn new<'a>(graph: &Graph, unwatched: &'a [Unwatched<'a>]) -> Self {
        let key = |queue: &'a Queue| (queue.resource.unit, &*queue.resource.address);
        let unwatched: FxHashSet<(UnitId, &str)> = unwatched.iter().map(|one| key(one.queue)).collect();
        let queues = graph.queues().iter().map(|queue| &queue.resource);
        let watched = queues.filter(|resource| !unwatched.contains(&(resource.unit, &*resource.address)));
        Blocks(watched.map(|resource| resource.header).collect())
    }

    /// Returns `true` if every queue of the block that declares `queue` needs an alarm.
    fn want_alarm(&self, queue: &Queue) -> bool {
        !self.0.contains(&queue.resource.header)
    }
}

fn unalarmed(graph: &Graph, queue: &Queue, blocks: &Blocks) -> Finding {
    let (shown, header) = (queue.resource.shown(), queue.resource.header);
    let owners = owners(graph, queue);
    let headline = match owners.as_slice() {
        [] => format!("no alarm reports messages in the dead-letter queue {shown}"),
        [(owner, _)] => format!("no alarm reports messages in {shown}, the dead-letter queue of {owner}"),
        [(owner, _), others @ ..] => format!(
            "no alarm reports messages in {shown}, the dead-letter queue of {owner} and {} more",
            others.len()
        ),
    };
    let label = match queue.retention.known() {
        Some(retention) => format!(
            "a message here is deleted after {}, seen or not",
            retention.with_words()
        ),
        None => "a message here is deleted when its retention period ends, seen or not".to_owned(),
    };
    let mut finding = Finding::new("alarm", headline, header, label);
    if let Some((owner, span)) = owners.first() {
        finding = finding.label(*span, format!("{owner} moves failed messages to {shown}"));
    }
    finding
        .help(HELP)
        .fix(blocks.want_alarm(queue).then_some(Change::Alarm(header)))
}

/// Returns the owners of the dead-letter queue `queue`, with the span of the reference to it.
fn owners(graph: &Graph, queue: &Queue) -> Vec<(String, Span)> {
    let sources = graph.sources_of(queue).into_iter().filter_map(|source| {
        let mut cases = source.redrive.cases.iter();
        let case = cases.find(|case| matches!(case.value(), Some(Some(_))))?;
        Some((source.resource.shown(), case.span))
    });
    let uses = graph.dead_letter_uses_of(queue).into_iter();
    let uses = uses.map(|used| (used.owner_shown(), used.span));
    let mut known = FxHashSet::default();
    let all = sources.chain(uses).filter(|(owner, _)| known.insert(owner.clone()));
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::diagnostic::Severity;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings, run_files};

    const EXPECTED: &str = "# expect: dead-letter-queue-unalarmed";

    /// Returns a queue with a dead-letter queue, whose header is followed by `comment`, an alarm on the source queue,
    /// and `more`.
    fn beside(comment: &str, more: &str) -> String {
        format!(
            r#"
resource "aws_sqs_queue" "q" {{
  name = "q"
  redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 }})
}}
resource "aws_sqs_queue" "d" {{ {comment}
  name = "d"
}}
resource "aws_cloudwatch_metric_alarm" "other" {{
  namespace = "AWS/SQS"
  metric_name = "ApproximateAgeOfOldestMessage"
  dimensions = {{ QueueName = aws_sqs_queue.q.name }}
}}
{more}"#
        )
    }

    #[test]
    fn custom_resource_with_queue_name_may_watch_it() {
        let template = |custom: &str| {
            format!(
                "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties: {{RedrivePolicy: {{deadLetterTargetArn: !GetAtt D.Arn, \
                 maxReceiveCount: 5}}}}\n  D: {{Type: AWS::SQS::Queue, Properties: {{QueueName: orders-dlq}}}}\n  {custom}\n"
            )
        };
        let count = |custom: &str| crate::testing::findings(&RULE, CloudFormation, &template(custom)).len();
        assert_eq!(count(""), 1);
        assert_eq!(
            count("A: {Type: 'Custom::SQSAlarms', Properties: {QueueName: orders-dlq}}"),
            0
        );
        assert_eq!(
            count("A: {Type: 'Custom::SQSAlarms', Properties: {QueueName: orders}}"),
            1
        );
        assert_eq!(
            count("A: {Type: 'AWS::CloudFormation::CustomResource', Properties: {Queue: !GetAtt D.QueueName}}"),
            0
        );
        assert_eq!(
            count("A: {Type: 'Custom::S3BucketNotifications', Properties: {Queue: !GetAtt D.Arn}}"),
            1
        );
    }

    /// A variable leaves out a queue together with its alarm. The alarm's reference to that queue must not match
    /// another one.
    #[test]
    fn alarm_left_out_with_its_queue_watches_no_other_queue() {
        let module = |switch: &str| {
            format!(
                r#"
variable "on" {{ {switch} }}
resource "aws_sqs_queue" "q" {{
  name           = "q"
  redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 }})
}}
resource "aws_sqs_queue" "d" {{
  name = "d"
}}
resource "aws_sqs_queue" "other" {{
  count = var.on ? 1 : 0
  name  = "other"
}}
resource "aws_cloudwatch_metric_alarm" "other" {{
  count       = var.on ? 1 : 0
  namespace   = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions  = {{ QueueName = aws_sqs_queue.other[0].name }}
}}
"#
            )
        };
        for switch in ["default = false", "default = true", "type = bool"] {
            let outcome = run_files(&RULE, &[("main.tf", &module(switch))]);
            assert_eq!(outcome.findings.len(), 1, "{switch}: {:?}", outcome.not_evaluated);
        }
    }

    #[test]
    fn alarm_on_another_queue_is_ignored() {
        check(&RULE, Terraform, &beside(EXPECTED, ""));
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
    fn alarms_on_depth_and_age_are_accepted() {
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
    fn alarm_on_other_metric_is_ignored() {
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
    fn alarm_on_blind_metric_is_left_to_other_rule() {
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

    /// A mapping with an unresolved source may poll any queue. Findings on all queues must not be suppressed because of
    /// that.
    #[test]
    fn mapping_with_unresolved_source_suppresses_nothing() {
        let terraform = |source: &str| {
            let mapping = format!("event_source_arn = {source}\n  function_name = \"f\"");
            let mapping = format!("resource \"aws_lambda_event_source_mapping\" \"m\" {{\n  {mapping}\n}}\n");
            beside(EXPECTED, &format!("variable \"x\" {{}}\n{mapping}"))
        };
        for source in ["var.x", "\"arn:aws:sqs:eu-west-1:123456789012:${var.x}\""] {
            check(&RULE, Terraform, &terraform(source));
        }
        check(
            &RULE,
            CloudFormation,
            r"
Parameters:
  Source: {Type: String}
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}
  D: # expect: dead-letter-queue-unalarmed
    Type: AWS::SQS::Queue
  Other:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateAgeOfOldestMessage
      Dimensions: [{Name: QueueName, Value: !GetAtt Q.QueueName}]
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !Ref Source, FunctionName: f}
",
        );
    }

    #[test]
    fn alarm_with_unresolved_queue_may_watch_it() {
        check(
            &RULE,
            Terraform,
            &beside(
                "",
                r#"
variable "x" {}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions = { QueueName = var.x }
}
"#,
            ),
        );
        check(
            &RULE,
            Terraform,
            &beside(
                "",
                r#"
variable "x" {}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace = "AWS/SQS"
  metric_name = var.x
  dimensions = { QueueName = aws_sqs_queue.d.name }
}
"#,
            ),
        );
        check(
            &RULE,
            Terraform,
            &beside(
                "",
                r#"
variable "x" {}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions = { QueueName = aws_sqs_queue.d.name }
  count = var.x
}
"#,
            ),
        );
    }

    #[test]
    fn consumed_dead_letter_queue_is_accepted() {
        check(
            &RULE,
            Terraform,
            &beside(
                "",
                r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.d.arn
  function_name = "f"
}
"#,
            ),
        );
        check(
            &RULE,
            Terraform,
            &beside(
                EXPECTED,
                r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.d.arn
  function_name = "f"
  enabled = false
}
"#,
            ),
        );
    }

    /// Source queue with its dead-letter queue, and another queue with an alarm, so that the unit has an alarm.
    const QUEUES: &str = r#"
resource "aws_sqs_queue" "q" {
  name = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {
  name = "${var.stage}-orders-dlq"
}
variable "stage" {}
resource "aws_cloudwatch_metric_alarm" "other" {
  namespace = "AWS/SQS"
  metric_name = "ApproximateAgeOfOldestMessage"
  dimensions = { QueueName = aws_sqs_queue.q.name }
}
"#;

    /// Returns the number of findings and the unjudged resources for the module of [`QUEUES`] with `more`.
    fn outcome(more: &str) -> (usize, Vec<String>) {
        outcome_of(&[("main.tf", &format!("{QUEUES}{more}"))])
    }

    fn outcome_of(files: &[(&str, &str)]) -> (usize, Vec<String>) {
        let outcome = run_files(&RULE, files);
        let open = outcome.not_evaluated.iter();
        let open = open.map(|open| format!("{}: {}", open.subject.address, open.reason));
        (outcome.findings.len(), open.collect())
    }

    const SILENT: (usize, Vec<String>) = (0, Vec::new());

    #[test]
    fn alarm_left_out_on_purpose_is_accepted() {
        assert_eq!(outcome("").0, 1);
        let alarm = |existence: &str| {
            outcome(&format!(
                r#"
variable "alarms" {{ default = false }}
variable "topic" {{ default = "" }}
resource "aws_cloudwatch_metric_alarm" "d" {{
  {existence}
  namespace = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions = {{ QueueName = aws_sqs_queue.d.name }}
}}
"#
            ))
        };
        assert_eq!(alarm("count = var.alarms ? 1 : 0"), SILENT);
        assert_eq!(alarm("count = var.topic == \"\" ? 0 : 1"), SILENT);
        assert_eq!(alarm("for_each = toset(compact([var.topic]))"), SILENT);
        check(
            &RULE,
            CloudFormation,
            r#"
Parameters:
  Topic: {Type: String, Default: ""}
Conditions:
  HasTopic: !Not [!Equals [!Ref Topic, ""]]
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}
  D:
    Type: AWS::SQS::Queue
  A:
    Type: AWS::CloudWatch::Alarm
    Condition: HasTopic
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateNumberOfMessagesVisible
      Dimensions:
        - {Name: QueueName, Value: !GetAtt D.QueueName}
"#,
        );
    }

    #[test]
    fn uncreated_alarm_module_may_watch_it() {
        let (findings, open) = outcome_of(&[
            (
                "main.tf",
                &format!(
                    "{QUEUES}module \"alarms\" {{\n  source = \"./alarms\"\n  count = 0\n  queue = aws_sqs_queue.d.name\n}}\n"
                ),
            ),
            ("alarms/main.tf", "variable \"queue\" {}\n"),
        ]);
        assert_eq!(findings, 0);
        assert_eq!(
            open,
            ["aws_sqs_queue.d: a module that is not created here may watch it"]
        );
    }

    #[test]
    fn partly_unknown_name_may_match() {
        let alarm = |name: &str| {
            format!(
                r#"
resource "aws_cloudwatch_metric_alarm" "d" {{
  namespace = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions = {{ QueueName = "{name}" }}
}}
"#
            )
        };
        let here = |name: &str| outcome(&alarm(name));
        assert_eq!(here("${var.stage}-orders-dlq").0, 0);
        assert_eq!(here("${var.other}-dlq").0, 0);
        assert_eq!(here("prod-orders-dlq").0, 0);
        assert_eq!(here("${var.stage}-refunds-dlq"), (1, Vec::new()));
        assert_eq!(here("prod-refunds-dlq"), (1, Vec::new()));
        let elsewhere = |name: &str| {
            let alarms = format!("variable \"env\" {{}}\n{}", alarm(name));
            outcome_of(&[("queues/main.tf", QUEUES), ("alarms/main.tf", &alarms)])
        };
        assert_eq!(elsewhere("${var.env}-orders-dlq").0, 0);
        assert_eq!(elsewhere("prod-orders-dlq").0, 0);
        assert_eq!(elsewhere("${var.env}-refunds-dlq"), (1, Vec::new()));
        assert_eq!(elsewhere("${var.env}"), (1, Vec::new()));
    }

    #[test]
    fn mapping_source_from_input_is_not_a_queue_of_the_unit() {
        let mapping = |source: &str| {
            outcome(&format!(
                "variable \"arn\" {{}}\nresource \"aws_lambda_event_source_mapping\" \"m\" {{\n  event_source_arn = {source}\n  \
                 function_name = \"f\"\n}}\n"
            ))
        };
        assert_eq!(mapping("var.arn"), (1, Vec::new()));
        let (findings, open) =
            mapping("data.aws_ssm_parameter.arn.value\n}\ndata \"aws_ssm_parameter\" \"arn\" {\n  name = \"x\"");
        assert_eq!((findings, open.len()), (0, 1), "{open:?}");
    }

    #[test]
    fn third_party_monitor_may_watch_it() {
        let monitor = |query: &str| {
            outcome(&format!(
                "resource \"datadog_monitor\" \"m\" {{\n  query = \"{query}\"\n}}\n"
            ))
        };
        assert_eq!(
            monitor("max(last_5m):max:aws.sqs.approximate_number_of_messages_visible{*} > 0").0,
            0
        );
        assert_eq!(monitor("avg(last_5m):avg:system.cpu.user{*} > 90"), (1, Vec::new()));
    }

    #[test]
    fn finding_names_source_queue() {
        let headline = |text: &str| {
            let found = findings(&RULE, CloudFormation, text);
            found.first().map(|found| found.headline.clone()).unwrap_or_default()
        };
        let owned = |owner: &str| {
            headline(&format!(
                "Resources:\n  D: {{Type: AWS::SQS::Queue}}\n  O:\n    {owner}"
            ))
        };
        assert_eq!(
            owned(
                "Type: AWS::SQS::Queue\n    Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}}\n"
            ),
            "no alarm reports messages in `D`, the dead-letter queue of `O`"
        );
        assert_eq!(
            owned("Type: AWS::Lambda::Function\n    Properties: {DeadLetterConfig: {TargetArn: !GetAtt D.Arn}}\n"),
            "no alarm reports messages in `D`, the dead-letter queue of the function `O`"
        );
        assert_eq!(
            owned(
                "Type: AWS::SNS::Subscription\n    Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn}}\n"
            ),
            "no alarm reports messages in `D`, the dead-letter queue of the subscription `O`"
        );
        assert_eq!(
            owned(
                "Type: AWS::Events::Rule\n    Properties: {Targets: [{Id: a, Arn: x, DeadLetterConfig: {Arn: !GetAtt D.Arn}}]}\n"
            ),
            "no alarm reports messages in `D`, the dead-letter queue of the rule `O`"
        );
    }

    #[test]
    fn unit_without_alarms_gets_one_info() {
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
