//! Tests of edits that declare dead-letter queues, and alarms on them. Every result with a dead-letter queue is checked
//! with all default rules.

use super::*;

const READER: &str = r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn        = aws_sqs_queue.orders.arn
  function_name           = "worker"
  function_response_types = ["ReportBatchItemFailures"]
}
"#;

/// Returns the file after its queue `orders` received a dead-letter queue, in a module with the files `others`.
fn declared(text: &str, others: &[(&str, &str)], fifo: bool) -> Option<String> {
    let mut files = vec![("main.tf", text)];
    files.extend(others);
    let module = Module::of(&files);
    let after = module.after(&missing_dead_letter_queue(
        module.span("resource \"aws_sqs_queue\" \"orders\""),
        fifo,
    ))?;
    let reader = READER.replace(
        "orders.arn",
        if text.contains("for_each") {
            "orders[\"a\"].arn"
        } else if text.contains("count =") {
            "orders[0].arn"
        } else {
            "orders.arn"
        },
    );
    let mut files = vec![("main.tf", after.as_str()), ("reader.tf", reader.as_str())];
    files.extend(others);
    nothing_is_found(&files);
    Some(after)
}

/// Returns the file after its queue received an alarm, in a module with the file `other`.
fn alarmed(text: &str, other: &str) -> Option<String> {
    let module = Module::of(&[("main.tf", text), ("other.tf", other)]);
    let header = text.lines().next()?.split(" {").next()?;
    module.after(&Change::Alarm(module.span(header)))
}

#[test]
fn dead_letter_queue_is_declared() {
    let before = r#"# The orders.
resource "aws_sqs_queue" "orders" { # ours
  name = "orders"
  tags = {
    team = "shop"
  }
  kms_master_key_id = aws_kms_key.k.id # key
}
"#;
    let after = declared(before, &[], false).unwrap();
    assert_eq!(
        after,
        r#"# The orders.
resource "aws_sqs_queue" "orders" { # ours
  name = "orders"
  tags = {
    team = "shop"
  }
  kms_master_key_id = aws_kms_key.k.id # key
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.orders_dlq.arn
    maxReceiveCount     = 5
  })
}

resource "aws_sqs_queue" "orders_dlq" {
  name                      = "orders-dlq"
  message_retention_seconds = 1209600
  kms_master_key_id         = aws_kms_key.k.id

  tags = {
    team = "shop"
  }
}
"#
    );
    let crlf = before.replace('\n', "\r\n");
    assert_eq!(declared(&crlf, &[], false), Some(after.replace('\n', "\r\n")));
}

/// Returns the lines of the dead-letter queue that is declared for a queue with this body.
fn dead_letter_queue(body: &str, others: &[(&str, &str)], fifo: bool) -> Option<String> {
    let text = format!("resource \"aws_sqs_queue\" \"orders\" {body}\n{}", "output \"o\" {\n}");
    let after = declared(&text, others, fifo)?;
    let block = after
        .split("\n\n")
        .find(|block| block.contains("message_retention_seconds"))?;
    let lines: Vec<&str> = block.lines().map(str::trim).filter(|line| *line != "}").collect();
    let lines = lines
        .iter()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    Some(
        lines
            .filter(|line| !line.starts_with("message_retention") && !line.starts_with("resource"))
            .collect::<Vec<_>>()
            .join("; "),
    )
}

#[test]
fn dead_letter_queue_name_derives_from_the_queue_name() {
    let cases = [
        ("{\n}", false, ""),
        ("{}", false, ""),
        ("{ name = \"orders\" }", false, "name = \"orders-dlq\""),
        ("{\n  name = null\n}", false, ""),
        (
            "{\n  name = \"${var.env}-orders\" # c\n}",
            false,
            "name = \"${var.env}-orders-dlq\"",
        ),
        ("{\n  name = var.name\n}", false, "name = \"${var.name}-dlq\""),
        (
            "{\n  name = format(\"%s-x\", var.name)\n}",
            false,
            "name = \"${format(\"%s-x\", var.name)}-dlq\"",
        ),
        (
            "{\n  name_prefix = \"orders-\"\n}",
            false,
            "name_prefix = \"orders-dlq-\"",
        ),
        (
            "{\n  name       = \"orders.fifo\"\n  fifo_queue = true\n}",
            true,
            "name = \"orders-dlq.fifo\"; fifo_queue = true",
        ),
        (
            "{\n  name       = var.name\n  fifo_queue = true\n}",
            true,
            "name = \"${trimsuffix(var.name, \".fifo\")}-dlq.fifo\"; fifo_queue = true",
        ),
        (
            "{\n  name       = \"${var.env}-orders.fifo\"\n  fifo_queue = var.fifo\n}",
            true,
            "name = \"${var.env}-orders-dlq.fifo\"; fifo_queue = var.fifo",
        ),
    ];
    for (body, fifo, expected) in cases {
        let variables = [("variables.tf", "variable \"fifo\" {\n  default = true\n}\n")];
        let found = dead_letter_queue(body, &variables, fifo);
        assert_eq!(found.as_deref(), Some(expected), "{body}");
    }
    let long = format!("{{\n  name = \"{}\"\n}}", "a".repeat(78));
    assert_eq!(dead_letter_queue(&long, &[], false).as_deref(), Some(""));
}

#[test]
fn no_dead_letter_queue_without_a_certain_name() {
    let cases = [
        ("{\n  name       = \"a-${var.name}\"\n  fifo_queue = true\n}", true),
        ("{\n  name = var.on ? \"a\" : null\n}", false),
        ("{\n  name = \"a\" == \"b\" ? \"a\" : \"b\"\n}", false),
        ("{\n  name = <<EOT\na\nEOT\n}", false),
        ("{\n  name = var.nothing\n}", false),
        ("{\n  name = \"${var.nothing}\"\n}", false),
        ("{\n  name = \"taken\"\n}", false),
        ("{\n  redrive_policy = \"\"\n}", false),
        ("{\n  tags = {\n    a = <<EOT\na\nEOT\n  }\n}", false),
    ];
    let variables = "variable \"nothing\" {\n  default = null\n}\noutput \"t\" {\n  value = \"taken-dlq\"\n}\n";
    for (body, fifo) in cases {
        assert_eq!(
            dead_letter_queue(body, &[("variables.tf", variables)], fifo),
            None,
            "{body}"
        );
    }
    for other in [
        "resource \"aws_sqs_queue_redrive_policy\" \"p\" {\n  queue_url = aws_sqs_queue.orders.id\n}\n",
        "resource \"aws_sqs_queue_redrive_policy\" \"p\" {\n  queue_url = var.url\n}\n",
        "resource \"aws_sqs_queue\" \"orders_dlq\" {\n}\n",
    ] {
        assert_eq!(
            dead_letter_queue("{\n  name = \"orders\"\n}", &[("other.tf", other)], false),
            None,
            "{other}"
        );
    }
}

#[test]
fn style_of_other_dead_letter_queues_is_followed() {
    let other = r#"
resource "aws_sqs_queue" "mail" {
  name           = "mail"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.mail_dead_letter.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "mail_dead_letter" {
  name                      = "mail-DLQ"
  message_retention_seconds = 1209600
}
resource "aws_cloudwatch_metric_alarm" "a" {
  alarm_name          = "a"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 1
  dimensions          = { QueueName = aws_sqs_queue.mail_dead_letter.name }
  alarm_actions = [
    var.topic, # them
    data.aws_sns_topic.t[0].arn
  ]
  ok_actions = [each.value]
}
"#;
    let text = "resource \"aws_sqs_queue\" \"orders\" {\n  name = \"orders\"\n}\n";
    let after = declared(text, &[("other.tf", other)], false).unwrap();
    let part = "\"aws_sqs_queue\" \"orders_dead_letter\" {\n  name                      = \"orders-DLQ\"\n";
    assert!(after.contains(part), "{after}");
    let alarm = |other: &str| alarmed("resource \"aws_sqs_queue\" \"orders_dead_letter\" {\n}\n", other);
    let after = alarm(other).unwrap();
    for part in [
        "\"aws_cloudwatch_metric_alarm\" \"orders_dead_letter_messages\" {",
        "  alarm_actions       = [var.topic, data.aws_sns_topic.t[0].arn]\n",
        "  dimensions = {\n    QueueName = aws_sqs_queue.orders_dead_letter.name\n  }\n",
    ] {
        assert!(after.contains(part), "{after}");
    }
    let elsewhere = other.replace("  alarm_name ", "  provider = aws.us\n  alarm_name ");
    assert_eq!(alarm(&elsewhere), None, "there are no actions to copy");
}

#[test]
fn dead_letter_queue_has_the_count_or_for_each_of_the_queue() {
    let counted = "resource \"aws_sqs_queue\" \"orders\" {\n  count    = 2\n  provider = aws.us\n\n  \
                   name = \"orders-${count.index}\"\n}\n";
    let after = declared(counted, &[], false).unwrap();
    for part in [
        "  count    = 2\n  provider = aws.us\n\n  name                      = \"orders-${count.index}-dlq\"\n",
        "    deadLetterTargetArn = aws_sqs_queue.orders_dlq[count.index].arn\n",
    ] {
        assert!(after.contains(part), "{part}: {after}");
    }
    let other = "resource \"aws_cloudwatch_metric_alarm\" \"a\" {\n  provider = aws.us\n  namespace = \"AWS/SQS\"\n  alarm_actions = [var.topic]\n}\n";
    let after = alarmed(counted, other).unwrap();
    for part in [
        "    QueueName = aws_sqs_queue.orders[count.index].name\n",
        "  count    = 2\n  provider = aws.us\n\n  alarm_name          = \"${aws_sqs_queue.orders[count.index].name}-messages\"",
    ] {
        assert!(after.contains(part), "{part}: {after}");
    }
    let each = "resource \"aws_sqs_queue\" \"orders\" {\n  for_each = toset([\n    \"a\",\n    \"b\",\n  ])\n\n  \
                name = \"orders-${each.key}\"\n}\n";
    let after = declared(each, &[], false).unwrap();
    for part in [
        "  for_each = toset([\n    \"a\",\n    \"b\",\n  ])\n\n  name                      = \"orders-${each.key}-dlq\"\n",
        "    deadLetterTargetArn = aws_sqs_queue.orders_dlq[each.key].arn\n",
    ] {
        assert!(after.contains(part), "{part}: {after}");
    }
}

#[test]
fn blank_lines_separate_the_new_block() {
    let text = "resource \"aws_sqs_queue\" \"orders\" {\n}\nresource \"x\" \"y\" {\n}";
    let after = declared(text, &[], false).unwrap();
    assert!(
        after.contains("}\n\nresource \"aws_sqs_queue\" \"orders_dlq\""),
        "{after}"
    );
    assert!(after.ends_with("}\n\nresource \"x\" \"y\" {\n}"), "{after}");
    let last = "resource \"aws_sqs_queue\" \"orders\" {\n} # end";
    let after = declared(last, &[], false).unwrap();
    assert!(after.contains("} # end\n\nresource"), "{after}");
}

#[test]
fn alarm_is_declared_on_a_dead_letter_queue() {
    let text = r#"resource "aws_sqs_queue" "OrdersDLQ" {
  count = 1
  name  = "d"
}

resource "aws_cloudwatch_metric_alarm" "OrdersDLQMessages" {
  namespace     = "AWS/SQS"
  alarm_actions = [var.topic]
}
"#;
    let module = Module::one(text);
    let header = module.span("resource \"aws_sqs_queue\" \"OrdersDLQ\"");
    let after = module.after(&Change::Alarm(header)).unwrap();
    assert!(
        after.contains("\"OrdersDLQMessages2\" {\n  count = 1\n\n  alarm_name"),
        "{after}"
    );
    assert!(
        after.contains("    QueueName = aws_sqs_queue.OrdersDLQ[count.index].name\n"),
        "{after}"
    );
}

#[test]
fn alarm_without_actions_is_not_declared() {
    for text in [
        "resource \"aws_sqs_queue\" \"dlq\" {\n}\n",
        "resource \"aws_sqs_queue\" \"dlq\" {\n}\nresource \"aws_cloudwatch_metric_alarm\" \"a\" {\n  namespace = \"AWS/SQS\"\n  alarm_actions = []\n}\n",
        "resource \"aws_sqs_queue\" \"dlq\" {\n}\nresource \"aws_cloudwatch_metric_alarm\" \"bill\" {\n  namespace = \"AWS/Billing\"\n  alarm_actions = [var.topic]\n}\n",
    ] {
        let module = Module::one(text);
        let header = module.span("resource \"aws_sqs_queue\" \"dlq\"");
        assert_eq!(module.after(&Change::Alarm(header)), None, "{text}");
    }
}

#[test]
fn conditional_actions_are_copied() {
    let alarm = |actions: &str| {
        alarmed(
            "resource \"aws_sqs_queue\" \"orders_dlq\" {\n}\n",
            &format!(
                "resource \"aws_cloudwatch_metric_alarm\" \"a\" {{\n  namespace = \"AWS/SQS\"\n  alarm_actions = {actions}\n}}\n"
            ),
        )
    };
    let actions = "var.alert_email != \"\" ? [aws_sns_topic.alerts[0].arn] : []";
    let after = alarm(actions).unwrap();
    assert!(after.contains(&format!("alarm_actions       = {actions}\n")), "{after}");
    assert_eq!(alarm("[for topic in each.value.topics : topic.arn]"), None);
    assert_eq!(alarm("var.scales ? [aws_appautoscaling_policy.up.arn] : []"), None);
}
