//! Flags alarms on a metric name, namespace or dimension that SQS does not publish: they never fire.

use super::prelude::*;
use crate::graph::alarms::{DIMENSION, NAMESPACE, is_misspelled_namespace, is_sqs_metric, misspelled_metric};
use crate::graph::{Alarm, AlarmMetric, Form};

pub(super) static RULE: Rule = rule!(
    "alarm-dimension-invalid",
    Category::Alarms,
    Severity::Warning,
    "an alarm names a metric or a dimension that SQS does not publish, so it never fires",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for alarm in findings.graph.alarms() {
        for of in &alarm.metrics {
            namespace(findings, alarm, of);
        }
        for metric in findings.queue_metrics(alarm) {
            let is_published = fact(misspelled_metric(metric.name.value).is_none(), || {
                format!(
                    "`{}` is not a slip for another metric of `{NAMESPACE}`",
                    metric.name.value
                )
            });
            findings.require(
                &metric.name.when,
                alarm,
                is_published.depending_on(&metric.name),
                || misspelt(alarm, &metric.name),
            );
            dimensions(findings, alarm, metric.of, &metric.name.when);
        }
    }
}

/// Describes what an alarm without data does.
fn fires(alarm: &Alarm) -> &'static str {
    match alarm.missing_data.known() {
        Some(missing) if missing.as_deref() == Some("breaching") => "fires all the time",
        Some(_) => "never fires",
        None => "never gets data",
    }
}

/// Reports a misspelled namespace, if the metric name is one that only SQS has.
fn namespace(findings: &mut Findings<'_>, alarm: &Alarm, of: &AlarmMetric) {
    let namespaces = findings.without_notes(|findings| findings.known(&alarm.resource.when, alarm, &of.namespace));
    for namespace in namespaces
        .iter()
        .filter(|namespace| is_misspelled_namespace(namespace.value))
    {
        for metric in findings.without_notes(|findings| findings.known(&namespace.when, alarm, &of.metric)) {
            if is_sqs_metric(metric.value) {
                let headline = format!(
                    "{alarm} {}: `{}` is in the namespace `{NAMESPACE}`, not in `{}`",
                    fires(alarm),
                    metric.value,
                    namespace.value
                );
                let label = format!(
                    "the namespace is `{NAMESPACE}`, in these letters{}",
                    namespace.provenance()
                );
                let finding = Finding::new("namespace", headline, namespace, label)
                    .help(format!("set `{}` to `{NAMESPACE}`", namespace.name));
                findings.report(&metric.when, alarm, finding);
            }
        }
    }
}

fn misspelt(alarm: &Alarm, metric: &Known<'_, String>) -> Finding {
    let meant = misspelled_metric(metric.value).unwrap_or_default();
    let headline = format!("{alarm} {}: SQS has no metric `{}`", fires(alarm), metric.value);
    let label = format!("the metric is called `{meant}`{}", metric.provenance());
    Finding::new("metric", headline, metric, label)
        .help(format!("set `{}` to `{meant}`", metric.name))
        .fix(Change::Word {
            at: metric.span,
            wrong: metric.value.clone(),
            right: meant,
        })
}

fn dimensions(findings: &mut Findings<'_>, alarm: &Alarm, of: &AlarmMetric, when: &Condition) {
    for other in &of.other_dimensions {
        let headline = format!(
            "{alarm} {}: SQS metrics have no dimension `{}`, only `{DIMENSION}`",
            fires(alarm),
            other.name
        );
        let label = format!("no metric of SQS has the dimension `{}`", other.name);
        let help = format!("name the queue in the dimension `{DIMENSION}`, and no other");
        let finding = Finding::new("dimension", headline, other.span, label).help(help);
        findings.report(&when.and(&other.when), alarm, finding);
    }
    for link in findings.known(when, alarm, &of.queue) {
        // An empty parameter default is a placeholder that a deployment replaces if it enables the alarm.
        if *link.value == Link::none() && link.is_written_elsewhere() {
            continue;
        }
        let is_name = fact(link.value.form == Form::Name && *link.value != Link::none(), || {
            format!("the dimension `{DIMENSION}` is a name")
        });
        if !findings.satisfied(&link.when, alarm, is_name.depending_on(&link)) {
            let finding = if *link.value == Link::none() {
                of.other_dimensions
                    .is_empty()
                    .then(|| without_dimension(findings.graph, alarm, of, &link))
            } else {
                no_name(findings.graph, alarm, &link)
            };
            if let Some(finding) = finding {
                findings.report(&link.when, alarm, finding);
            }
        }
    }
}

fn without_dimension(graph: &Graph, alarm: &Alarm, of: &AlarmMetric, link: &Known<'_, Link>) -> Finding {
    let headline = format!(
        "{alarm} {}: it names no queue in the dimension `{DIMENSION}`",
        fires(alarm)
    );
    let label = format!("SQS publishes its metrics with the dimension `{DIMENSION}` only");
    let finding = Finding::new("dimension", headline, link, label);
    let Some(queue) = graph.namesake(alarm, of) else {
        return finding.help(format!("name the queue in the dimension `{DIMENSION}`"));
    };
    let (alarm_at, header, name) = (
        alarm.resource.header,
        queue.resource.header,
        queue.resource.queue_name_reference(),
    );
    let change = Change::Dimension {
        alarm: alarm_at,
        queue: header,
    };
    finding
        .label(header, format!("{queue} has the name of the alarm"))
        .help(format!("set the dimension `{DIMENSION}` to `{name}`"))
        .fix((!alarm.has_queries).then_some(change))
}

/// Returns the finding for an ARN or a URL in place of the name.
fn no_name(graph: &Graph, alarm: &Alarm, link: &Known<'_, Link>) -> Option<Finding> {
    let queue = graph.queue(alarm.resource.unit, link.value);
    if queue.is_none() && link.value.external_queue_name().is_none() {
        return None; // A reference to another kind of resource may be a name.
    }
    let form = if link.value.form == Form::Url { "URL" } else { "ARN" };
    let shown = queue.map_or_else(|| "a queue".to_owned(), |queue| queue.resource.shown());
    let headline = format!(
        "{alarm} {}: the dimension `{DIMENSION}` is the name of {shown}, not its {form}",
        fires(alarm)
    );
    let label = format!("this is the queue's {form}{}", link.provenance());
    let finding = Finding::new("dimension", headline, link, label);
    Some(match queue {
        Some(queue) => finding
            .label(queue.resource.header, format!("{shown} is declared here"))
            .help(format!(
                "set the dimension to `{}`",
                queue.resource.queue_name_reference()
            )),
        None => finding.help("set the dimension to the queue's name, the last part of its ARN or URL"),
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};

    /// Checks an alarm with these arguments for each row of the table in their holes.
    fn check_alarm(arguments: &str, table: &str) {
        let blocks = r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  name = "q"
}
resource "aws_cloudwatch_metric_alarm" "a" {
  <arguments>
}
"#;
        Terraform.check_cases(&RULE, &blocks.replace("<arguments>", arguments), table);
    }

    #[test]
    fn queue_dimension_must_be_a_name() {
        check_alarm(
            "namespace = \"AWS/SQS\"\n  metric_name = \"ApproximateNumberOfMessagesVisible\"\n  <dimensions>",
            r#"
            dimensions                                                              | finding
            dimensions = { QueueName = aws_sqs_queue.q.name }                       |
            dimensions = { QueueName = "other" }                                    |
            dimensions = { QueueName = var.open }                                   |
            dimensions = var.open                                                   |
            dimensions = { QueueName = aws_sqs_queue.q.arn }                        | 1
            dimensions = { QueueName = aws_sqs_queue.q.id }                         | 1
            dimensions = { QueueName = "arn:aws:sqs:eu-west-1:111122223333:x" }     | 1
            dimensions = { Queue = aws_sqs_queue.q.name }                           | 1
            dimensions = { QueueName = aws_sqs_queue.q.name, Region = "eu-west-1" } | 1
            dimensions = {}                                                         | 1
                                                                                    | 1
            "#,
        );
    }

    #[test]
    fn alarm_with_the_name_of_a_queue_is_repaired() {
        let alarm = |name: &str| {
            format!(
                "resource \"aws_sqs_queue\" \"d\" {{\n  name = \"orders-dlq\"\n}}\nresource \"aws_cloudwatch_metric_alarm\" \"a\" {{\n  \
                 alarm_name = \"{name}\"\n  namespace = \"AWS/SQS\"\n  metric_name = \"ApproximateNumberOfMessagesVisible\"\n}}\n"
            )
        };
        for (name, is_repaired) in [("orders-dlq", true), ("orders-dlq-depth", false)] {
            let found = Terraform.findings(&RULE, &alarm(name));
            assert_eq!(found[0].remedy.is_some(), is_repaired, "{name}");
            let help = found[0].help.as_deref().unwrap_or_default();
            assert_eq!(help.contains("aws_sqs_queue.d.name"), is_repaired, "{help}");
        }
    }

    #[test]
    fn misspelled_metric_or_namespace_is_flagged() {
        check_alarm(
            "namespace = <namespace>\n  metric_name = <metric>\n  dimensions = { QueueName = aws_sqs_queue.q.name }",
            r#"
            namespace    | metric                               | finding
            "AWS/SQS"    | "NumberOfMessagesDeleted"            |
            "AWS/SQS"    | "SomethingNew"                       |
            "AWS/SQS"    | var.open                             |
            "AWS/SQS"    | "ApproximateNumberOfMessageVisible"  | 1
            "AWS/SQS"    | "approximateAgeOfOldestMessage"      | 1
            "AWS/SQS"    | "ApproximateNumberOfMessages"        | 1
            "AWS/SQS"    | "ApproximateNumberOfVisibleMessages" | 1
            "AWS/Sqs"    | "NumberOfMessagesSent"               | 1
            "SQS"        | "NumberOfMessagesSent"               | 1
            "SQS"        | "Depth"                              |
            "Orders/SQS" | "NumberOfMessagesSent"               |
            var.open     | "NumberOfMessagesSent"               |
            "AWS/Lambda" | "Errors"                             |
            "#,
        );
    }

    #[test]
    fn metric_queries_are_checked() {
        check_alarm(
            r#"metric_query {
    id = "e"
    expression = "m1 + m2"
  }
  metric_query {
    id = "m"
    metric {
      namespace   = "AWS/SQS"
      metric_name = "ApproximateNumberOfMessagesVisible"
      period      = 60
      stat        = "Maximum"
      dimensions  = { <dimension> = "q" }
    }
  }"#,
            "dimension | finding\n QueueName |\n Name | 1",
        );
    }

    #[test]
    fn empty_parameter_default_is_ignored() {
        CloudFormation.check_cases(
            &RULE,
            "
Parameters: {Name: {Type: String, Default: ''}, On: {Type: String}}
Conditions: {On: !Equals [!Ref On, 'yes']}
Resources:
  A:
    Type: AWS::CloudWatch::Alarm
    Condition: On
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateAgeOfOldestMessage
      Dimensions: [{Name: QueueName, Value: <value>}]
",
            "
            value               | finding
            !Ref Name           |
            ''                  | 1
            !ImportValue orders |
            ",
        );
    }
}
