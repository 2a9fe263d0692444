//! Inputs of any size whose cost could grow faster than they do: many resources that refer to one, or many pairs.

use crate::many::File;

/// Returns one Terraform file: `first`, and `count` times `each` with the number in place of `#`.
fn terraform(first: &str, each: &str, count: usize) -> Vec<File> {
    let all: String = (0..count).map(|at| each.replace('#', &at.to_string())).collect();
    vec![("main.tf".to_owned(), format!("{first}{all}"))]
}

/// Policies of one queue, of which only the last takes effect.
pub(crate) fn policies(count: usize) -> Vec<File> {
    let policy = "resource \"aws_sqs_queue_policy\" \"p#\" {\n  queue_url = aws_sqs_queue.q.id\n  policy = jsonencode({ \
                  Statement = [] })\n}\n";
    terraform("resource \"aws_sqs_queue\" \"q\" {}\n", policy, count)
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

/// Functions that poll one queue through filters.
pub(crate) fn filters(count: usize) -> Vec<File> {
    let each = "resource \"aws_lambda_event_source_mapping\" \"m#\" {\n  event_source_arn = aws_sqs_queue.q.arn\n  function_name = \
        \"f#\"\n  filter_criteria {\n    filter { pattern = jsonencode({ body = { kind = [\"#\"] } }) }\n  }\n}\n";
    terraform("resource \"aws_sqs_queue\" \"q\" {}\n", each, count)
}

/// Pipes between two queues each.
pub(crate) fn pipes(count: usize) -> Vec<File> {
    let each = "resource \"aws_sqs_queue\" \"q#\" {}\nresource \"aws_sqs_queue\" \"t#\" {}\nresource \"aws_pipes_pipe\" \"p#\" {\n  \
        role_arn = aws_iam_role.r.arn\n  source = aws_sqs_queue.q#.arn\n  target = aws_sqs_queue.t#.arn\n}\n";
    terraform("resource \"aws_iam_role\" \"r\" {}\n", each, count)
}

/// Rules that send events to a queue each.
pub(crate) fn rules(count: usize) -> Vec<File> {
    let each = "resource \"aws_sqs_queue\" \"q#\" {}\nresource \"aws_cloudwatch_event_rule\" \"r#\" { name = \"r#\" }\n\
        resource \"aws_cloudwatch_event_target\" \"t#\" {\n  rule = aws_cloudwatch_event_rule.r#.name\n  arn = \
        aws_sqs_queue.q#.arn\n}\n";
    terraform("", each, count)
}

/// Queues, mappings and alarms whose names depend on variables without a value.
pub(crate) fn unknown_names(count: usize) -> Vec<File> {
    let each = "variable \"v#\" {}\nresource \"aws_sqs_queue\" \"q#\" { name = var.v# }\nresource \"aws_lambda_event_source_mapping\" \
        \"m#\" {\n  event_source_arn = \"arn:aws:sqs:eu-west-1:111122223333:${var.v#}\"\n  function_name = \"f\"\n}\nresource \
        \"aws_cloudwatch_metric_alarm\" \"a#\" {\n  namespace = \"AWS/SQS\"\n  metric_name = \"ApproximateNumberOfMessagesVisible\"\n  \
        dimensions = { QueueName = \"${var.v#}-x\" }\n}\n";
    terraform("", each, count)
}

/// Queues with a declared consumer each.
pub(crate) fn consumers(count: usize) -> Vec<File> {
    declared("", count)
}

/// Queues with a declared consumer each, whose pattern begins with a wildcard.
pub(crate) fn consumers_by_end(count: usize) -> Vec<File> {
    declared("*", count)
}

fn declared(wildcard: &str, count: usize) -> Vec<File> {
    let mut files = terraform("", "resource \"aws_sqs_queue\" \"q#\" { name = \"q#\" }\n", count);
    let each =
        (0..count).map(|at| format!("[[consumer]]\nqueue = \"{wildcard}q{at}\"\nprocessing = {{ max = \"90s\" }}\n"));
    files.extend([
        ("sqslint.toml".to_owned(), each.collect()),
        (".git/HEAD".to_owned(), String::new()),
    ]);
    files
}

/// A queue with properties that resemble one that it has.
pub(crate) fn misspellings(count: usize) -> Vec<File> {
    // The name contains none of them, so that all results differ.
    let letters = b"acdfghjknpqrwxz0123456789";
    let letter = |at: usize| char::from(letters[at % letters.len()]);
    let name = |at: usize| {
        let rest = at / letters.len();
        let mut name = "VisibilityTimeout".to_owned();
        name.insert_str(1 + rest / letters.len(), &format!("{}{}", letter(at), letter(rest)));
        name
    };
    let properties: String = (0..count).map(|at| format!("      {}: 5\n", name(at))).collect();
    let text = format!("Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n{properties}");
    vec![("t.yaml".to_owned(), text)]
}

/// Functions whose handlers are in one file.
pub(crate) fn handlers(count: usize) -> Vec<File> {
    let all = |each: &str| -> String { (0..count).map(|at| each.replace('#', &at.to_string())).collect() };
    let functions = all(
        "  F#:\n    Type: AWS::Serverless::Function\n    Properties:\n      CodeUri: src/\n      \
        Handler: app.h#\n      Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}\n",
    );
    let template =
        format!("Transform: AWS::Serverless-2016-10-31\nResources:\n  Q: {{Type: AWS::SQS::Queue}}\n{functions}");
    let source =
        all("def h#(event, context):\n    for record in event[\"Records\"]:\n        print(record[\"body\"])\n");
    vec![("t.yaml".to_owned(), template), ("src/app.py".to_owned(), source)]
}

/// A handler that imports functions of one other file, up to as many as are read.
pub(crate) fn imported(count: usize) -> Vec<File> {
    let all = |each: &str| -> String { (0..count).map(|at| each.replace('#', &at.to_string())).collect() };
    let template = "Transform: AWS::Serverless-2016-10-31\nResources:\n  Q: {Type: AWS::SQS::Queue}\n  F:\n    Type: \
                    AWS::Serverless::Function\n    Properties:\n      Handler: src/app.handler\n      Events: {E: {Type: \
                    SQS, Properties: {Queue: !GetAtt Q.Arn}}}\n";
    let names = all("f#, ");
    let source =
        format!("const {{ {names} }} = require('./lib');\nexports.handler = async (event) => {{ f0(event); }};\n");
    let function = format!(
        "exports.f# = (event) => {{\n{}}};\n",
        "console.log(event);\n".repeat(100)
    );
    let files = [
        ("t.yaml", template.to_owned()),
        ("src/app.js", source),
        ("src/lib.js", all(&function)),
    ];
    files.map(|(name, text)| (name.to_owned(), text)).into()
}

/// A service with functions that poll a queue each.
pub(crate) fn functions(count: usize) -> Vec<File> {
    let all = |each: &str| -> String { (0..count).map(|at| each.replace('#', &at.to_string())).collect() };
    let functions = all("  f#: {handler: a.f#, events: [{sqs: {arn: !GetAtt Q#.Arn}}]}\n");
    let queues = all("    Q#: {Type: AWS::SQS::Queue}\n");
    let text =
        format!("service: s\nprovider: {{name: aws}}\nfunctions:\n{functions}resources:\n  Resources:\n{queues}");
    vec![("serverless.yml".to_owned(), text)]
}

/// Templates without a version, which may be parts of each other, with queues that get dead-letter queues as fixes.
pub(crate) fn fragments(count: usize) -> Vec<File> {
    let service = "  Q#: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}\n  F#: {Type: AWS::Lambda::Function}\n  \
                   M#: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt Q#.Arn, FunctionName: !Ref F#}}\n";
    let file = |at: usize| {
        let services: String = (0..10).map(|of| service.replace('#', &format!("{at}n{of}"))).collect();
        (format!("t{at}.yaml"), format!("Resources:\n{services}"))
    };
    (0..count).map(file).collect()
}

/// Returns `count` roots that each write a parameter, and as many that each read one of them.
pub(crate) fn parameters(count: usize) -> Vec<File> {
    let writer = |at: usize| {
        let text = format!(
            "resource \"aws_sqs_queue\" \"q\" {{}}\nresource \"aws_ssm_parameter\" \"p\" {{\n  name  = \"/queues/{at}\"\n  \
             type  = \"String\"\n  value = aws_sqs_queue.q.arn\n}}\n"
        );
        (format!("queues/{at}/main.tf"), text)
    };
    let reader = |at: usize| {
        let text = format!(
            "data \"aws_ssm_parameter\" \"p\" {{ name = \"/queues/{at}\" }}\nresource \"aws_lambda_function\" \"f\" {{\n  \
             function_name = \"f\"\n}}\nresource \"aws_lambda_event_source_mapping\" \"m\" {{\n  \
             event_source_arn = data.aws_ssm_parameter.p.value\n  function_name = aws_lambda_function.f.arn\n}}\n"
        );
        (format!("workers/{at}/main.tf"), text)
    };
    (0..count).flat_map(|at| [writer(at), reader(at)]).collect()
}
