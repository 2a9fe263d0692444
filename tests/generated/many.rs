//! Generates many resources of one kind with a common neighbor, so that all findings concern one resource.

use std::fmt::Write as _;

/// Name and text.
pub(crate) type File = (String, String);

/// Generates `count` queues with one dead-letter queue, whose retention period is too short for each of them.
pub(crate) fn sources(count: usize) -> Vec<File> {
    let mut main = "resource \"aws_sqs_queue\" \"dlq\" {\n  message_retention_seconds = 60\n}\n".to_owned();
    for at in 0..count {
        write!(
            main,
            "resource \"aws_sqs_queue\" \"q{at}\" {{\n  redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.dlq.arn, maxReceiveCount = 5 }})\n}}\n"
        )
        .unwrap();
    }
    vec![("main.tf".to_owned(), main)]
}

/// Generates `count` functions that poll one queue, whose visibility timeout is too short for each of them.
pub(crate) fn readers(count: usize) -> Vec<File> {
    let mut main = "resource \"aws_sqs_queue\" \"q\" {}\n".to_owned();
    for at in 0..count {
        write!(
            main,
            "resource \"aws_lambda_function\" \"f{at}\" {{\n  function_name = \"f{at}\"\n  timeout = 60\n}}\n\
             resource \"aws_lambda_event_source_mapping\" \"m{at}\" {{\n  event_source_arn = aws_sqs_queue.q.arn\n  function_name = aws_lambda_function.f{at}.arn\n}}\n"
        )
        .unwrap();
    }
    vec![("main.tf".to_owned(), main)]
}

/// Generates `count` modules, each with a queue, its function, dead-letter queue and alarm, and variable files of
/// `environments`. The timeout is too long in some of them.
pub(crate) fn services(count: usize, environments: usize) -> Vec<File> {
    let mut files = Vec::new();
    for at in 0..count {
        let name = format!("svc{at}-${{var.env}}");
        let main = format!(
            "variable \"env\" {{ default = \"none\" }}\nvariable \"timeout\" {{ default = 20 }}\n\
             resource \"aws_sqs_queue\" \"dlq\" {{\n  name = \"{name}-dlq\"\n  message_retention_seconds = 1209600\n}}\n\
             resource \"aws_sqs_queue\" \"q\" {{\n  name = \"{name}\"\n  visibility_timeout_seconds = 60\n  \
             redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.dlq.arn, maxReceiveCount = 3 }})\n}}\n\
             resource \"aws_lambda_function\" \"f\" {{\n  function_name = \"{name}\"\n  timeout = var.timeout\n}}\n\
             resource \"aws_lambda_event_source_mapping\" \"m\" {{\n  event_source_arn = aws_sqs_queue.q.arn\n  \
             function_name = aws_lambda_function.f.arn\n}}\n\
             resource \"aws_cloudwatch_metric_alarm\" \"a\" {{\n  alarm_name = \"{name}\"\n  namespace = \"AWS/SQS\"\n  \
             metric_name = \"ApproximateNumberOfMessagesVisible\"\n  comparison_operator = \"GreaterThanThreshold\"\n  \
             threshold = 0\n  dimensions = {{ QueueName = aws_sqs_queue.dlq.name }}\n}}\n"
        );
        files.push((format!("svc{at}/main.tf"), main));
        files.extend((0..environments).map(|one| {
            let values = format!("env = \"e{one}\"\ntimeout = {}\n", 10 + 3 * one);
            (format!("svc{at}/env/e{one}.tfvars"), values)
        }));
    }
    files
}
