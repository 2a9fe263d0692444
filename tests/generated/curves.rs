//! Inputs of any size whose cost could grow faster than they do: many resources that refer to one, or many pairs.

use crate::many::File;

/// Returns one Terraform file: `first`, and `count` times `each` with the number in place of `#`.
fn terraform(first: &str, each: &str, count: usize) -> Vec<File> {
    let all: String = (0..count).map(|at| each.replace('#', &at.to_string())).collect();
    vec![("main.tf".to_owned(), format!("{first}{all}"))]
}

/// Topics that send to one queue, whose policy has a statement for each.
pub(crate) fn topics(count: usize) -> Vec<File> {
    let each = "resource \"aws_sns_topic\" \"t#\" {}\nresource \"aws_sns_topic_subscription\" \"s#\" {\n  topic_arn = \
        aws_sns_topic.t#.arn\n  protocol = \"sqs\"\n  endpoint = aws_sqs_queue.q.arn\n}\n";
    let statement = "{ Effect = \"Allow\", Principal = { Service = \"sns.amazonaws.com\" }, Action = \"sqs:SendMessage\", \
        Resource = aws_sqs_queue.q.arn, Condition = { ArnEquals = { \"aws:SourceArn\" = aws_sns_topic.t#.arn } } },\n";
    terraform(
        &format!(
            "resource \"aws_sqs_queue\" \"q\" {{}}\n{}",
            policy("queue", "q.url", statement, count)
        ),
        each,
        count,
    )
}

/// Queues that one function polls, whose role has a statement for each.
pub(crate) fn polled(count: usize) -> Vec<File> {
    let each = "resource \"aws_sqs_queue\" \"q#\" {}\nresource \"aws_lambda_event_source_mapping\" \"m#\" {\n  \
        event_source_arn = aws_sqs_queue.q#.arn\n  function_name = aws_lambda_function.f.arn\n}\n";
    let first = "resource \"aws_iam_role\" \"r\" {}\nresource \"aws_lambda_function\" \"f\" {\n  function_name = \"f\"\n  role = \
        aws_iam_role.r.arn\n}\n";
    let statement = "{ Effect = \"Allow\", Action = [\"sqs:ReceiveMessage\", \"sqs:DeleteMessage\", \
        \"sqs:GetQueueAttributes\"], Resource = aws_sqs_queue.q#.arn },\n";
    terraform(
        &format!("{first}{}", policy("role", "r.name", statement, count)),
        each,
        count,
    )
}

/// Returns the policy of a queue or role with a statement for each number.
fn policy(of: &str, name: &str, statement: &str, count: usize) -> String {
    let (kind, argument, node) = match of {
        "queue" => ("aws_sqs_queue_policy", "queue_url", "aws_sqs_queue"),
        _ => ("aws_iam_role_policy", "role", "aws_iam_role"),
    };
    let all: String = (0..count).map(|at| statement.replace('#', &at.to_string())).collect();
    format!(
        "resource \"{kind}\" \"p\" {{\n  {argument} = {node}.{name}\n  policy = jsonencode({{ Statement = [\n{all}] }})\n}}\n"
    )
}

/// Queues with an alarm each, that names the queue.
pub(crate) fn alarms(count: usize) -> Vec<File> {
    let each = "resource \"aws_sqs_queue\" \"q#\" { name = \"q#\" }\nresource \"aws_cloudwatch_metric_alarm\" \"a#\" {\n  \
        namespace = \"AWS/SQS\"\n  metric_name = \"ApproximateNumberOfMessagesVisible\"\n  dimensions = { QueueName = \"q#\" }\n}\n";
    terraform("", each, count)
}

/// Queues with a subscription each.
pub(crate) fn subscriptions(count: usize) -> Vec<File> {
    let each = "resource \"aws_sqs_queue\" \"q#\" {}\nresource \"aws_sns_topic_subscription\" \"s#\" {\n  topic_arn = \
        aws_sns_topic.t.arn\n  protocol = \"sqs\"\n  endpoint = aws_sqs_queue.q#.arn\n}\n";
    terraform("resource \"aws_sns_topic\" \"t\" {}\n", each, count)
}
