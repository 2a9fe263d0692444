//! Flags filters on message fields for queues whose messages all arrive in an SNS envelope.

use super::prelude::*;
use crate::graph::delivery::Subscription;
use crate::graph::{Attribute, SNS_ENVELOPE};
use crate::rules::shared::envelopes::{delivering, subscribed};
use crate::rules::shared::patterns::all;
use serde_json::{Map, Value};

pub(super) static RULE: Rule = rule!(
    "filter-misses-sns-envelope",
    Category::Mapping,
    Severity::Warning,
    "a filter asks for fields that SNS's envelope hides, so every message is deleted"
);

fn check(findings: &mut Findings<'_>) {
    for (queue, consumptions) in findings.graph.polled() {
        let with_filters = consumptions
            .iter()
            .any(|read| !read.mapping.filters.cases.iter().all(|case| case.is_default()));
        if !with_filters {
            continue;
        }
        let Some(subscribed) = subscribed(findings.graph, queue).filter(|found| found.is_only) else {
            continue;
        };
        for read in &consumptions {
            for filters in findings.known(&read.when, read.mapping, &read.mapping.filters) {
                let Some(patterns) = all(&filters).filter(|patterns| !patterns.is_empty()) else {
                    continue;
                };
                let missing: Option<Vec<&str>> = patterns.iter().map(outside).collect();
                if let Some((when, subscription)) = delivering(findings, &subscribed.all, false, &filters.when) {
                    let hits =
                        fact(missing.is_none(), || "asks for keys of SNS's envelope".to_owned()).depending_on(&filters);
                    findings.require(&when, read.mapping, hits, || {
                        let key = missing.iter().flatten().next().copied().unwrap_or_default();
                        misses(read.mapping, queue, &filters, subscription, key)
                    });
                }
            }
        }
    }
}

/// Returns a body key that `pattern` requires and that the envelope lacks. Such a pattern matches no message.
fn outside(pattern: &Map<String, Value>) -> Option<&str> {
    let body = pattern.get("body")?.as_object()?;
    let asks = |(key, value): &(&String, &Value)| {
        let is_of_envelope = SNS_ENVELOPE.contains(&key.as_str()) || key.starts_with('$');
        // A requirement that a key does not exist is met.
        !is_of_envelope && !value.to_string().contains("\"exists\":false")
    };
    body.iter().find(asks).map(|(key, _)| key.as_str())
}

fn misses(
    mapping: &EventSourceMapping,
    queue: &Queue,
    filters: &Known<'_, Vec<Attribute<String>>>,
    subscription: &Subscription,
    key: &str,
) -> Finding {
    let raw = &subscription.raw_message_delivery;
    let headline = format!(
        "{mapping} filters by `{key}`, but messages of {queue} arrive in the envelope of SNS: none matches, and all are deleted"
    );
    let span = raw.cases.first().map_or(subscription.resource.header, |case| case.span);
    Finding::new(
        "filters",
        headline,
        filters,
        format!("`{key}` is inside the text of `Message`"),
    )
    .label(span, format!("{subscription} delivers without raw message delivery"))
    .help(format!("set `{}` to `true`, or filter in the subscription", raw.name))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;

    const SUBSCRIPTION: &str = r#"
variable "open" {}
resource "aws_sns_topic" "t" {}
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_sns_topic_subscription" "s" {
  topic_arn            = aws_sns_topic.t.arn
  protocol             = "sqs"
  endpoint             = aws_sqs_queue.q.arn
  raw_message_delivery = <raw>
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = "f"
  filter_criteria { <criteria>
    filter {
      pattern = jsonencode({ body = <body> })
    }
  }
}
"#;

    #[test]
    fn filter_on_field_inside_envelope_is_flagged() {
        Terraform.check_cases(
            &RULE,
            SUBSCRIPTION,
            r#"
            criteria | body                            | raw      | finding
                     | { kind = ["order"] }            | false    | criteria
                     | { kind = ["order"] }            | null     | criteria
                     | { kind = ["order"] }            | true     |
                     | { kind = ["order"] }            | var.open |
                     | { Type = ["Notification"] }     | false    |
                     | { kind = [{ exists = false }] } | false    |
                     | ["text"]                        | false    |
                     | var.open                        | false    |
            "#,
        );
    }

    /// Returns a subscription in an envelope, and a filter that no message of it matches.
    fn filtered() -> String {
        let text = SUBSCRIPTION.replace("<body>", "{ kind = [\"order\"] }");
        text.replace("<raw>", "false").replace("<criteria>", "")
    }

    #[test]
    fn reader_of_an_output_may_be_another_producer() {
        Terraform.check_cases(
            &RULE,
            &format!("{}{}", filtered(), "output \"o\" {\n  value = <value>\n}\n"),
            "
            value                       | finding
            aws_sqs_queue.q.url         |
            [{ a = aws_sqs_queue.q.id }] |
            aws_sns_topic.t.arn         | 1
            ",
        );
    }

    #[test]
    fn queue_with_another_producer_is_accepted() {
        Terraform.check_cases(
            &RULE,
            &format!("{}{}", filtered(), "resource \"<type>\" \"other\" {\n  <arguments>\n}\n"),
            r#"
            type                        | arguments                                                                                                            | finding
            aws_cloudwatch_event_target | rule = "r"\n arn = aws_sqs_queue.q.arn                                                                               |
            aws_iam_role_policy         | role = "r"\n policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sqs:SendMessage", Resource = "*" }] }) |
            aws_iam_role_policy         | role = "r"\n policy = var.open                                                                                       |
            aws_sfn_state_machine       | definition = jsonencode({ Parameters = { QueueUrl = aws_sqs_queue.q.url } })                                         |
            aws_lambda_function         | function_name = "f"\n environment {\n variables = { QUEUE = aws_sqs_queue.q.url }\n }                               |
            aws_iot_topic_rule          | sqs {\n queue_url = aws_sqs_queue.q.id\n }                                                                          |
            aws_autoscaling_group       | initial_lifecycle_hook {\n notification_target_arn = aws_sqs_queue.q.arn\n }                                        |
            aws_ssm_parameter           | value = aws_sqs_queue.q.url                                                                                          |
            aws_ssm_parameter           | value = "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"                                                    |
            aws_ssm_parameter           | value = "https://sqs.eu-west-1.amazonaws.com/123456789012/others"                                                    | 1
            aws_api_gateway_integration | uri = "arn:aws:apigateway:${var.open}:sqs:path/${var.open}/${aws_sqs_queue.q.name}"                                  |
            aws_api_gateway_integration | uri = "arn:aws:apigateway:eu-west-1:sqs:path/123456789012/orders"                                                    |
            aws_cloudwatch_metric_alarm | dimensions = { QueueName = aws_sqs_queue.q.name }                                                                    | 1
            "#,
        );
    }
}
