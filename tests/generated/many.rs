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
