//! Many of one kind with one neighbour, so that what is said of them meets at one place.

use std::fmt::Write as _;

/// A name and a text.
pub(crate) type File = (String, String);

/// So many queues with one dead-letter queue, which keeps messages for too short a time for each of them.
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

/// So many functions that read one queue, whose visibility timeout is too short for each of them.
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
