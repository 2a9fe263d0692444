//! Flags a queue's URL or name in attributes that require an ARN: sources, targets, endpoints, dead-letter queues.

use super::prelude::*;
use crate::graph::delivery::Sender;
use crate::graph::{Attribute, Form, Resource};

pub(super) static RULE: Rule = rule!(
    "queue-url-in-place-of-arn",
    Category::Queue,
    Severity::Error,
    "a queue's URL or name is used where AWS requires its ARN",
    fix = Some(Safety::Safe)
);

/// Attribute that requires the ARN of a queue.
struct Place<'g> {
    resource: &'g Resource,
    /// Condition under which it exists.
    when: &'g Condition,
    /// Attribute name in the finding.
    attribute: &'static str,
    /// Role of the queue, completing "uses the URL of the queue as its".
    role: &'static str,
    /// Service that rejects other values.
    service: &'static str,
}

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        let source = place(&mapping.resource, "queue", "source", "Lambda");
        judge(findings, &source, &mapping.queue, Some);
    }
    let deliveries = findings.graph.deliveries();
    for pipe in &deliveries.pipes {
        let source = place(&pipe.resource, "source", "source", "EventBridge");
        judge(findings, &source, &pipe.source, Some);
        let target = place(&pipe.resource, "target", "target", "EventBridge");
        judge(findings, &target, &pipe.target, Some);
    }
    for subscription in &deliveries.subscriptions {
        let resource = &subscription.resource;
        for protocol in findings.known(&resource.when, resource, &subscription.protocol) {
            // Other protocols have other endpoints, such as email addresses.
            if *protocol.value == "sqs" {
                let endpoint = Place {
                    when: &protocol.when,
                    ..place(resource, "endpoint", "endpoint", "SNS")
                };
                judge(findings, &endpoint, &subscription.endpoint, Some);
            }
        }
    }
    for target in &deliveries.targets {
        let service = if target.sender == Sender::Bucket {
            "S3"
        } else {
            "EventBridge"
        };
        let delivery = place(&target.resource, "target", "target", service);
        if !target.uses_url {
            judge(findings, &delivery, &target.target, Some);
        }
        let failures = place(&target.resource, "dead_letter", "dead-letter queue", service);
        judge(findings, &failures, &target.dead_letter, Option::as_ref);
    }
    for function in findings.graph.functions() {
        for setting in &function.failure_targets {
            let failures = Place {
                when: &setting.when,
                ..place(&function.resource, "failure_target", "failure destination", "Lambda")
            };
            judge(findings, &failures, &setting.target, Some);
        }
    }
}

fn place<'g>(resource: &'g Resource, attribute: &'static str, role: &'static str, service: &'static str) -> Place<'g> {
    Place {
        resource,
        when: &resource.when,
        attribute,
        role,
        service,
    }
}

fn judge<'g, T>(
    findings: &mut Findings<'_>,
    place: &Place<'g>,
    attribute: &'g Attribute<T>,
    link: impl Fn(&'g T) -> Option<&'g Link>,
) {
    for known in findings.known(place.when, place.resource, attribute) {
        let Some(link) = link(known.value) else { continue };
        let is_arn = fact(link.form == Form::Arn, || format!("`{}` is an ARN", known.name)).depending_on(&known);
        let queue = findings.graph.queue(place.resource.unit, link);
        // A reference to a resource that is not a queue may be an ARN, and subscriptions and targets may have URLs of
        // other things.
        let is_queue = queue.is_some() || (link.form == Form::Url && link.external_queue_name().is_some());
        if !findings.satisfied(&known.when, place.resource, is_arn) && is_queue {
            findings.report(&known.when, place.resource, no_arn(place, &known, link, queue));
        }
    }
}

fn no_arn<T>(place: &Place<'_>, known: &Known<'_, T>, link: &Link, queue: Option<&Queue>) -> Finding {
    let form = if link.form == Form::Url { "URL" } else { "name" };
    let shown = queue.map_or_else(|| "a queue".to_owned(), |queue| queue.resource.shown());
    let headline = format!(
        "{} uses the {form} of {shown} as its {}, but {} requires the ARN",
        place.resource, place.role, place.service
    );
    let label = format!("this is the queue's {form}{}", known.provenance());
    let finding = Finding::new(place.attribute, headline, known, label);
    match queue {
        Some(queue) => finding
            .label(queue.resource.header, format!("{shown} is declared here"))
            .help(format!("set `{}` to `{}`", known.name, queue.resource.arn_reference()))
            .fix(known.arn()),
        None => finding.help(format!(
            "set `{}` to the queue's ARN: `arn:aws:sqs:<region>:<account>:<name>`",
            known.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::stack;

    #[test]
    fn urls_and_names_are_flagged() {
        stack().queue("name", "orders").check(
            &RULE,
            "
            mapping.source                                             | finding
            queue.id                                                   | mapping.source
            queue.url                                                  | mapping.source
            queue.name                                                 | mapping.source
            https://sqs.eu-west-1.amazonaws.com/111122223333/elsewhere | mapping.source
            queue.arn                                                  |
            arn:aws:sqs:eu-west-1:111122223333:orders                  |
            open                                                       |
            ",
        );
    }

    #[test]
    fn help_spells_arn_in_dialect() {
        stack().only(&[CloudFormation]).check(
            &RULE,
            "
            mapping.source | finding        | help
            queue.url      | mapping.source | set `EventSourceArn` to `!GetAtt Orders.Arn`
            ",
        );
    }

    #[test]
    fn every_attribute_that_requires_an_arn_is_checked() {
        Terraform.check_cases(
            &RULE,
            r#"
resource "aws_sqs_queue" "q" {}
resource "<type>" "r" {
  <others>
  <attribute> = aws_sqs_queue.q.<value>
  <end>
}
"#,
            r#"
            type                        | others                                                                                       | attribute  | value | end | finding
            aws_pipes_pipe              | target = "arn:aws:states:eu-west-1:123456789012:stateMachine:m"                              | source     | url   |     | value
            aws_pipes_pipe              | target = "arn:aws:states:eu-west-1:123456789012:stateMachine:m"                              | source     | arn   |     |
            aws_pipes_pipe              | source = "arn:aws:kinesis:eu-west-1:123456789012:stream/s"                                   | target     | id    |     | value
            aws_pipes_pipe              | source = "arn:aws:kinesis:eu-west-1:123456789012:stream/s"                                   | target     | arn   |     |
            aws_sns_topic_subscription  | topic_arn = "arn:aws:sns:eu-west-1:123456789012:t"\n protocol = "sqs"                        | endpoint   | url   |     | value
            aws_sns_topic_subscription  | topic_arn = "arn:aws:sns:eu-west-1:123456789012:t"\n protocol = "sqs"                        | endpoint   | arn   |     |
            aws_cloudwatch_event_target | rule = "r"                                                                                   | arn        | id    |     | value
            aws_cloudwatch_event_target | rule = "r"                                                                                   | arn        | arn   |     |
            aws_cloudwatch_event_target | rule = "r"\n arn = "arn:aws:lambda:eu-west-1:123456789012:function:f"\n dead_letter_config { | arn        | name  | }   | value
            aws_cloudwatch_event_target | rule = "r"\n arn = "arn:aws:lambda:eu-west-1:123456789012:function:f"\n dead_letter_config { | arn        | arn   | }   |
            aws_lambda_function         | function_name = "f"\n dead_letter_config {                                                   | target_arn | url   | }   | value
            aws_lambda_function         | function_name = "f"\n dead_letter_config {                                                   | target_arn | arn   | }   |
            aws_s3_bucket_notification  | bucket = "b"\n queue {                                                                       | queue_arn  | id    | }   | value
            aws_s3_bucket_notification  | bucket = "b"\n queue {                                                                       | queue_arn  | arn   | }   |
            "#,
        );
    }

    #[test]
    fn action_of_a_schedule_gets_the_url() {
        Terraform.check_cases(
            &RULE,
            r#"
resource "aws_sqs_queue" "q" {}
resource "aws_scheduler_schedule" "s" {
  target {
    arn = "arn:aws:scheduler:::aws-sdk:sqs:sendMessage"
    input = jsonencode({ QueueUrl = aws_sqs_queue.q.url, MessageBody = "m" })
    dead_letter_config {
      arn = aws_sqs_queue.q.<failures>
    }
  }
}
"#,
            "
            failures | finding
            arn      |
            url      | failures
            ",
        );
    }

    #[test]
    fn url_endpoints_of_other_protocols_are_ignored() {
        Terraform.check(
            &RULE,
            r#"
resource "aws_sns_topic_subscription" "s" {
  topic_arn = "arn:aws:sns:eu-west-1:123456789012:t"
  protocol  = "https"
  endpoint  = "https://shop.example.com/orders"
}
"#,
        );
    }
}
