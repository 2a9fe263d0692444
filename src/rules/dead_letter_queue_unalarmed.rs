//! Flags dead-letter queues without an alarm and without a consumer: their messages expire unnoticed.

use super::prelude::*;
use crate::graph::alarms::AlarmMetric;
use crate::graph::{Alarm, Resource, UnitId, Watch};
use crate::rules::shared::alarms::{Unwatched, Words};
use rustc_hash::FxHashSet;
use source::Span;

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-unalarmed",
    Category::Alarms,
    Severity::Warning,
    "no alarm reports messages in a dead-letter queue",
    fix = Some(Safety::Unsafe)
);

const HELP: &str = "add an alarm on `ApproximateNumberOfMessagesVisible` in `AWS/SQS` with the dimension `QueueName`: \
                    statistic `Maximum`, threshold 1, `GreaterThanOrEqualToThreshold`, and an action that notifies someone";

static WORDS: Words = Words {
    start: "no alarm reports messages in",
    preposition: "in",
    one: "dead-letter queue",
    several: "dead-letter queues",
};

fn check(findings: &mut Findings<'_>) {
    let watch = findings.graph.dead_letter_watch();
    let mut all = Vec::new();
    for queue in findings.graph.queues() {
        let when = unwatched(findings, &watch, queue);
        if when.is_possible() {
            all.push(Unwatched { queue, when });
        }
    }
    let blocks = Blocks::new(findings.graph, &all);
    findings.report_unwatched(&watch, all, &WORDS, |queue| unalarmed(findings.graph, queue, &blocks));
}

/// Returns the condition under which `queue` is a dead-letter queue and certainly neither watched nor consumed.
/// Conditions under which that is unresolved are noted.
fn unwatched(findings: &mut Findings<'_>, watch: &Watch<'_>, queue: &Queue) -> Condition {
    let dead_letter = watch.dead_letter_when(queue);
    if !dead_letter.is_possible() {
        return dead_letter;
    }
    let noticed = dead_letter.and(&watch.noticed_when(queue));
    let is_noticed = fact(true, || who_notices(findings.graph, watch, queue)).depending_on(&queue.resource.header);
    findings.satisfied(&noticed, queue, is_noticed);
    findings.certainly_unwatched(watch, queue, dead_letter.and(&noticed.not()))
}

/// Describes the alarm or consumer that notices messages in `queue`.
fn who_notices(graph: &Graph, watch: &Watch<'_>, queue: &Queue) -> String {
    let reader = graph.consumptions(queue).first().map(|read| &read.mapping.resource);
    let reader = reader.or_else(|| graph.pipes_from(queue).first().map(|(_, pipe)| &pipe.resource));
    match (watch.alarms(queue).first(), reader) {
        (Some(alarm), _) if alarm.is_nonexistent => {
            format!("the alarm {alarm} is left out on purpose")
        }
        (Some(alarm), _) => format!("the alarm {alarm} watches it"),
        (None, reader) => format!("{} reads it", reader.map_or_else(String::new, Resource::shown)),
    }
}

/// Header spans of the blocks that declare at least one queue that needs no alarm. The fix adds an alarm to a block,
/// which applies to every queue that the block declares. It adds none next to an alarm that names no queue, and that may
/// be meant for any.
struct Blocks {
    watched: FxHashSet<Span>,
    with_broken_alarms: FxHashSet<UnitId>,
}

impl Blocks {
    fn new<'a>(graph: &Graph, unwatched: &'a [Unwatched<'a>]) -> Self {
        let key = |queue: &'a Queue| (queue.resource.unit, &*queue.resource.address);
        let unwatched: FxHashSet<(UnitId, &str)> = unwatched.iter().map(|one| key(one.queue)).collect();
        let queues = graph.queues().iter().map(|queue| &queue.resource);
        let watched = queues.filter(|resource| !unwatched.contains(&(resource.unit, &*resource.address)));
        let is_broken = |alarm: &&Alarm| alarm.metrics.iter().any(AlarmMetric::names_no_queue);
        let broken = graph.alarms().iter().filter(is_broken);
        Blocks {
            watched: watched.map(|resource| resource.header).collect(),
            with_broken_alarms: broken.map(|alarm| alarm.resource.unit).collect(),
        }
    }

    /// Returns `true` if every queue of the block that declares `queue` needs an alarm.
    fn want_alarm(&self, queue: &Queue) -> bool {
        !self.watched.contains(&queue.resource.header) && !self.with_broken_alarms.contains(&queue.resource.unit)
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
            "a message here is deleted after {}, whether or not anyone looked",
            retention.readable()
        ),
        None => String::new(),
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
        let [owner, _] = graph.shown_apart(&source.resource, &queue.resource);
        Some((owner, case.span))
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
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::check_file_cases;

    /// Queue with a dead-letter queue, and an alarm on the source queue, so that the unit has an alarm.
    const QUEUES: &str = r#"
variable "open" {}
variable "stage" {}
variable "topic" { default = "" }
variable "alarms" { default = false }
resource "aws_sqs_queue" "q" {
  name           = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" { <queue>
  name = "${var.stage}-orders-dlq"
}
resource "aws_cloudwatch_metric_alarm" "other" {
  namespace   = "AWS/SQS"
  metric_name = "ApproximateAgeOfOldestMessage"
  dimensions  = { QueueName = aws_sqs_queue.q.name }
}
"#;

    const ALARM: &str = r#"
resource "aws_cloudwatch_metric_alarm" "d" {
  namespace   = "AWS/SQS"
  metric_name = <metric>
  dimensions  = { QueueName = <name> }
  <existence>
}
"#;

    #[test]
    fn no_alarm_is_added_next_to_one_that_names_no_queue() {
        Terraform.check_cases(
            &RULE,
            r#"
resource "aws_sqs_queue" "q" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {
  name = "dead"
}
resource "aws_sqs_queue" "other" {}
resource "aws_sns_topic" "t" {}
resource "aws_cloudwatch_metric_alarm" "b" {
  alarm_name          = "b"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateAgeOfOldestMessage"
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  dimensions          = { QueueName = aws_sqs_queue.other.name }
  alarm_actions       = [aws_sns_topic.t.arn]
}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace     = "<namespace>"
  metric_name   = "ApproximateNumberOfMessagesVisible"
  dimensions    = { <dimension> = aws_sqs_queue.other.name }
  alarm_actions = [aws_sns_topic.t.arn]
}
"#,
            "
            namespace  | dimension  | finding | fix
            AWS/SQS    | QueueName  | 1       | declare an alarm on the number of visible messages
            AWS/SQS    | QueueNames | 1       | none
            AWS/Lambda | QueueNames | 1       | declare an alarm on the number of visible messages
            ",
        );
    }

    #[test]
    fn alarm_on_the_queue_is_accepted() {
        Terraform.check_cases(
            &RULE,
            &format!("{QUEUES}{ALARM}").replace("${var.stage}-orders-dlq", "d"),
            r#"
            queue | metric                               | name                 | existence                              | finding | unjudged
                  | "ApproximateNumberOfMessagesVisible" | aws_sqs_queue.d.name |                                        |         |
                  | "ApproximateAgeOfOldestMessage"      | "d"                  |                                        |         |
                  | "ApproximateNumberOfMessagesVisible" | aws_sqs_queue.q.name |                                        | queue   |
                  | "NumberOfMessagesDeleted"            | aws_sqs_queue.d.name |                                        | queue   |
            // Another rule reports a metric that is blind to redriven messages.
                  | "NumberOfMessagesSent"               | aws_sqs_queue.d.name |                                        |         |
            // An alarm that may watch the queue.
                  | "ApproximateNumberOfMessagesVisible" | var.open             |                                        |         |
                  | var.open                             | aws_sqs_queue.d.name |                                        |         |
                  | "ApproximateNumberOfMessagesVisible" | aws_sqs_queue.d.name | count = var.open                       |         |
            // An alarm that is left out on purpose.
                  | "ApproximateNumberOfMessagesVisible" | aws_sqs_queue.d.name | count = var.alarms ? 1 : 0             |         | 0
                  | "ApproximateNumberOfMessagesVisible" | aws_sqs_queue.d.name | count = var.topic == "" ? 0 : 1        |         | 0
                  | "ApproximateNumberOfMessagesVisible" | aws_sqs_queue.d.name | for_each = toset(compact([var.topic])) |         | 0
            "#,
        );
    }

    /// A variable leaves out a queue together with its alarm. The alarm's reference to that queue must not match
    /// another one.
    #[test]
    fn alarm_left_out_with_its_queue_watches_no_other_queue() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "on" { <switch> }
resource "aws_sqs_queue" "q" {
  name           = "q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {
  name = "d"
}
resource "aws_sqs_queue" "other" {
  count = var.on ? 1 : 0
  name  = "other"
}
resource "aws_cloudwatch_metric_alarm" "other" {
  count       = var.on ? 1 : 0
  namespace   = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions  = { QueueName = aws_sqs_queue.other[0].name }
}
"#,
            "
            switch          | finding
            default = false | 1
            default = true  | 1
            type = bool     | 1
            ",
        );
    }

    #[test]
    fn custom_resource_with_queue_name_may_watch_it() {
        CloudFormation.check_cases(
            &RULE,
            "
Parameters: {Source: {Type: String}}
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}}}
  D: {Type: AWS::SQS::Queue, Properties: {QueueName: orders-dlq}}
  A: {Type: '<type>', Properties: <properties>}
",
            "
            type                                | properties                                     | finding
            Custom::Other                       | {}                                             | 1
            Custom::SQSAlarms                   | {QueueName: orders-dlq}                        |
            Custom::SQSAlarms                   | {QueueName: orders}                            | 1
            AWS::CloudFormation::CustomResource | {Queue: !GetAtt D.QueueName}                   |
            Custom::S3BucketNotifications       | {Queue: !GetAtt D.Arn}                         | 1
            // A mapping that may poll any queue is no reason for silence.
            AWS::Lambda::EventSourceMapping     | {EventSourceArn: !Ref Source, FunctionName: f} | 1
            ",
        );
    }

    #[test]
    fn uncreated_alarm_module_may_watch_it() {
        let call = "module \"alarms\" {\n  source = \"./alarms\"\n  count = 0\n  queue = aws_sqs_queue.d.name\n}\n";
        check_file_cases(
            &RULE,
            &[
                ("main.tf", &format!("{QUEUES}{call}")),
                ("alarms/main.tf", "variable \"queue\" {}\n<resource>\n"),
            ],
            r#"
            queue | resource                                      | finding  | reason
                  |                                               | queue    |
                  | resource "aws_sns_topic" "t" {}               | queue    |
                  | module "m" {\n source = "./m"\n }             |          |
                  | resource "datadog_monitor" "m" {}             |          |
                  | resource "aws_cloudwatch_metric_alarm" "a" {} | unjudged | a module that is not created here may watch it
            "#,
        );
    }

    /// The queues would be in the elements of a collection that is empty.
    #[test]
    fn alarms_that_a_module_creates_for_no_element_are_ignored() {
        let alarm = "variable \"alarms\" {\n  default = {}\n}\nresource \"aws_cloudwatch_metric_alarm\" \"a\" {\n  \
                     for_each = var.alarms\n  namespace = each.value.namespace\n  metric_name = \
                     \"ApproximateNumberOfMessagesVisible\"\n  dimensions = { QueueName = <name> }\n}\n";
        check_file_cases(
            &RULE,
            &[
                (
                    "main.tf",
                    &format!("{QUEUES}module \"alarms\" {{\n  source = \"./alarms\"\n  <argument>\n}}\n"),
                ),
                (
                    "alarms/main.tf",
                    &format!("variable \"queue\" {{\n  default = \"other\"\n}}\n{alarm}"),
                ),
            ],
            "
            queue | argument                       | name             | finding
                  |                                | each.value.queue | queue
                  | alarms = var.open              | each.value.queue |
            // An alarm on this queue is left out.
                  | queue = aws_sqs_queue.d.name   | var.queue        |
            ",
        );
    }

    #[test]
    fn partly_unknown_name_may_match() {
        let alarm = ALARM
            .replace("<metric>", "\"ApproximateNumberOfMessagesVisible\"")
            .replace("<existence>", "");
        Terraform.check_cases(
            &RULE,
            &format!("{QUEUES}{alarm}"),
            r#"
            queue | name                       | finding | unjudged
                  | "${var.stage}-orders-dlq"  |         |
                  | "${var.other}-dlq"         |         |
                  | "prod-orders-dlq"          |         |
                  | "${var.stage}-refunds-dlq" | queue   | 0
                  | "prod-refunds-dlq"         | queue   | 0
            "#,
        );
        check_file_cases(
            &RULE,
            &[
                ("queues/main.tf", QUEUES),
                ("alarms/main.tf", &format!("variable \"env\" {{}}\n{alarm}")),
            ],
            r#"
            queue | name                     | finding | unjudged
                  | "${var.env}-orders-dlq"  |         |
                  | "prod-orders-dlq"        |         |
                  | "${var.env}-refunds-dlq" | queue   | 0
                  | "${var.env}"             | queue   | 0
            "#,
        );
    }

    /// A mapping with an unresolved source may poll any queue. Findings on all queues must not be suppressed because of
    /// that.
    #[test]
    fn mapping_with_unresolved_source_suppresses_nothing() {
        let mapping = r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = <source>
  function_name    = "f"
  enabled          = <enabled>
}
data "aws_ssm_parameter" "arn" {
  name = "x"
}
"#;
        Terraform.check_cases(
            &RULE,
            &format!("{QUEUES}{mapping}"),
            r#"
            queue | source                                           | enabled | finding  | unjudged
                  | var.open                                         | true    | queue    | 0
                  | "arn:aws:sqs:eu-west-1:123456789012:${var.open}" | true    | queue    |
                  | data.aws_ssm_parameter.arn.value                 | true    | unjudged |
            // A consumed dead-letter queue.
                  | aws_sqs_queue.d.arn                              | true    |          |
                  | aws_sqs_queue.d.arn                              | false   | queue    |
            "#,
        );
    }

    #[test]
    fn third_party_monitor_may_watch_it() {
        let monitor = "resource \"datadog_monitor\" \"m\" {\n  query = \"<query>\"\n}\n";
        Terraform.check_cases(
            &RULE,
            &format!("{QUEUES}{monitor}"),
            "
            queue | query                                                                  | finding | unjudged
                  | max(last_5m):max:aws.sqs.approximate_number_of_messages_visible{*} > 0 |         |
                  | avg(last_5m):avg:system.cpu.user{*} > 90                               | queue   | 0
            ",
        );
    }

    #[test]
    fn finding_names_source_queue() {
        CloudFormation.check_cases(
            &RULE,
            "
Resources:
  D: {Type: AWS::SQS::Queue}
  O:
    Type: <type>
    Properties: <properties>
  P:
    Type: AWS::Lambda::Permission
    Properties: {FunctionName: !Ref O, Principal: <by>}
",
            "
            type                   | properties                                                                | by                       | finding | headline
            AWS::SQS::Queue        | {RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}} | s3.amazonaws.com         | 1       | no alarm reports messages in `D`, the dead-letter queue of `O`
            AWS::Lambda::Function  | {DeadLetterConfig: {TargetArn: !GetAtt D.Arn}}                            | s3.amazonaws.com         | 1       | no alarm reports messages in `D`, the dead-letter queue of the function `O`
            // Lambda sends only failures of asynchronous invocations there.
            AWS::Lambda::Function  | {DeadLetterConfig: {TargetArn: !GetAtt D.Arn}}                            | apigateway.amazonaws.com |         |
            AWS::SNS::Subscription | {RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn}}                     | s3.amazonaws.com         | 1       | no alarm reports messages in `D`, the dead-letter queue of the subscription `O`
            AWS::Events::Rule      | {Targets: [{Id: a, Arn: x, DeadLetterConfig: {Arn: !GetAtt D.Arn}}]}      | s3.amazonaws.com         | 1       | no alarm reports messages in `D`, the dead-letter queue of the rule `O`
            ",
        );
    }

    #[test]
    fn destination_of_a_function_counts_if_it_is_invoked_asynchronously() {
        CloudFormation.check_cases(
            &RULE,
            "
Resources:
  D: {Type: AWS::SQS::Queue}
  F: {Type: AWS::Lambda::Function}
  C:
    Type: AWS::Lambda::EventInvokeConfig
    Properties: {FunctionName: !Ref F, Qualifier: $LATEST, DestinationConfig: {OnFailure: {Destination: !GetAtt D.Arn}}}
  P:
    Type: AWS::Lambda::Permission
    Properties: {FunctionName: !Ref F, Principal: <by>}
",
            "by | finding\n s3.amazonaws.com | 1\n apigateway.amazonaws.com |",
        );
    }

    #[test]
    fn only_names_and_arns_in_exports_may_lead_to_an_alarm() {
        CloudFormation.check_cases(
            &RULE,
            "
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}}}
  D: {Type: AWS::SQS::Queue}
Outputs:
  Dead: {Value: <value>, Export: {Name: dead}}
",
            "
            value               | finding
            !Ref D              | 1
            !GetAtt D.Arn       |
            !GetAtt D.QueueName |
            ",
        );
    }

    #[test]
    fn alarm_that_scales_does_not_raise_the_severity() {
        Terraform.check_cases(
            &RULE,
            &format!("{QUEUES}resource \"aws_cloudwatch_metric_alarm\" \"scale\" {{\n  namespace = \"AWS/SQS\"\n  metric_name = \"NumberOfMessagesSent\"\n  dimensions = {{ QueueName = aws_sqs_queue.q.name }}\n  alarm_actions = [<action>]\n}}\n").replace(
                "resource \"aws_cloudwatch_metric_alarm\" \"other\" {\n  namespace   = \"AWS/SQS\"",
                "resource \"aws_cloudwatch_metric_alarm\" \"other\" {\n  namespace   = \"AWS/Lambda\"",
            ),
            "
            queue | action                             | finding
                  | aws_appautoscaling_policy.up.arn   | info queue
                  | aws_sns_topic.alerts.arn           | warning queue
            ",
        );
    }

    #[test]
    fn broken_alarm_with_the_name_of_the_queue_is_left_to_its_rule() {
        let alarm = "resource \"aws_cloudwatch_metric_alarm\" \"d\" {\n  alarm_name = \"<alarm>\"\n  namespace = \"AWS/SQS\"\n  metric_name = \"ApproximateNumberOfMessagesVisible\"\n}\n";
        Terraform.check_cases(
            &RULE,
            &format!("{QUEUES}{alarm}").replace("${var.stage}-orders-dlq", "orders-dlq"),
            "
            queue | alarm        | finding
                  | orders-dlq   |
                  | orders-dlq-2 | queue
            ",
        );
    }

    #[test]
    fn unit_without_alarms_gets_one_info() {
        CloudFormation.check_cases(
            &RULE,
            "
Resources:
  A: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt ADead.Arn, maxReceiveCount: 5}}}
  B: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt BDead.Arn, maxReceiveCount: 5}}}
  C: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt CDead.Arn, maxReceiveCount: 5}}}
  ADead: {Type: AWS::SQS::Queue} <first>
  BDead: {Type: AWS::SQS::Queue}
  CDead: {Type: AWS::SQS::Queue}
",
            "
            first | finding    | label
                  | info first | nor in `BDead`
                  | info first | nor in `CDead`
            ",
        );
    }
}
