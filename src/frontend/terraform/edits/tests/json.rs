//! Tests of edits in JSON syntax.

use super::*;

const FILE: &str = r#"{
  "resource": {
    "aws_sqs_queue": {
      "orders": {
        "name": "${var.env}-orders",
        "kms_master_key_id": "${aws_kms_key.k.id}"
      }
    },
    "aws_lambda_event_source_mapping": {
      "m": {
        "event_source_arn": "${aws_sqs_queue.orders.arn}",
        "function_name": "f",
        "batch_size": 5,
        "function_response_types": ["ReportBatchItemFailures"]
      }
    }
  }
}
"#;

fn after(text: &str, change: impl Fn(&Module) -> Change) -> Option<String> {
    let module = Module::of(&[("main.tf.json", text)]);
    module.after(&change(&module))
}

fn number(header: &str, name: &str) -> impl Fn(&Module) -> Change {
    move |module| Change::Number {
        place: absent(module.span(header), name),
        value: 360,
    }
}

#[test]
fn number_is_added_at_the_end() {
    assert_eq!(
        after(FILE, number("\"orders\"", "delay_seconds")),
        Some(FILE.replace("k.id}\"\n", "k.id}\",\n        \"delay_seconds\": 360\n"))
    );
    let short = r#"{"resource":{"aws_sqs_queue":{"q":{"name":"q"}}}}"#;
    assert_eq!(
        after(short, number("\"q\"", "delay_seconds")).as_deref(),
        Some(r#"{"resource":{"aws_sqs_queue":{"q":{"name":"q","delay_seconds":360}}}}"#)
    );
    assert_eq!(after(short, number("\"q\"", "timeout")), None);
    let list = short.replace("{\"name\":\"q\"}", "[{\"name\":\"q\"}]");
    assert_eq!(after(&list, number("\"q\"", "delay_seconds")), None);
    assert_eq!(
        after(&short.replace("\"}", "\",}"), number("\"q\"", "delay_seconds")),
        None
    );
}

#[test]
fn argument_is_removed_with_its_comma() {
    let found = after(FILE, |module| {
        Change::Remove(Place {
            written: Some(module.span("\"batch_size\": 5")),
            ..absent(module.span("\"m\""), "batch_size")
        })
    });
    assert_eq!(found, Some(FILE.replace("        \"batch_size\": 5,\n", "")));
}

#[test]
fn dead_letter_queue_is_declared() {
    for text in [
        FILE.to_owned(),
        FILE.replace('\n', "\r\n"),
        FILE.replace(['\n', ' '], ""),
    ] {
        let found = after(&text, |module| {
            missing_dead_letter_queue(module.span("\"orders\""), false)
        })
        .unwrap();
        nothing_is_found(&[("main.tf.json", &found)]);
        let dense: String = found.split_whitespace().collect();
        for part in [
            "\"redrive_policy\":\"${jsonencode({deadLetterTargetArn=aws_sqs_queue.orders_dlq.arn,maxReceiveCount=5})}\"",
            "\"orders_dlq\":{\"name\":\"${var.env}-orders-dlq\",\"message_retention_seconds\":1209600,\"kms_master_key_id\":\"${aws_kms_key.k.id}\"}",
        ] {
            assert!(dense.contains(part), "{part}: {found}");
        }
        assert!(
            text.lines()
                .all(|line| found.contains(line) || text.lines().count() == 1),
            "{found}"
        );
    }
}

#[test]
fn alarm_is_added_to_the_existing_ones() {
    let text = FILE.replace(
        "    \"aws_lambda_event",
        "    \"aws_cloudwatch_metric_alarm\": {\n      \"a\": {\n        \"namespace\": \"AWS/SQS\",\n        \"alarm_actions\": [\"${var.topic}\"]\n      }\n    },\n    \"aws_lambda_event",
    );
    let found = after(&text, |module| Change::Alarm(module.span("\"orders\""))).unwrap();
    for part in [
        "\"alarm_actions\": [\"${var.topic}\"],\n",
        "\"QueueName\": \"${aws_sqs_queue.orders.name}\"",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    assert_eq!(found.matches("aws_cloudwatch_metric_alarm").count(), 1, "{found}");
}
