//! Generates modules with environments.

use super::many::File;

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
