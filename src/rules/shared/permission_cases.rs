//! Compares the verdicts of the rules about permissions with the evaluation logic of IAM, for every kind of link between
//! a principal and a queue or a key.
//!
//! The decisions are those of AWS's documentation:
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html>,
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html>,
//! <https://docs.aws.amazon.com/kms/latest/developerguide/key-policies.html>.
//! A request that the files leave open is expected to cause no finding, like an allowed one.

use crate::rules::by_id;
use crate::testing::Dialect::Terraform;
use crate::testing::findings;

/// Decision of IAM on the request of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Allowed,
    /// The files do not determine it.
    Open,
    /// No statement allows it.
    Implicit,
    /// A statement denies it.
    Explicit,
}

use Decision::{Allowed, Explicit, Implicit, Open};

/// Link between a principal and a queue.
struct Edge {
    name: &'static str,
    rule: &'static str,
    /// Required actions, as elements of a list.
    actions: &'static str,
    /// Pattern that matches exactly the required actions among those that the cases use.
    pattern: &'static str,
    /// Resources that make the link, with the role `aws_iam_role.r` and the queue `aws_sqs_queue.q`.
    text: &'static str,
}

const POLL: &str = r#""sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes""#;
const SEND: &str = r#""sqs:SendMessage""#;

/// Links whose principal is a role.
const EDGES: [Edge; 11] = [
    Edge {
        name: "mapping",
        rule: "function-role-missing-queue-permission",
        actions: POLL,
        pattern: r#""sqs:Rec*", "sqs:De?eteMessage", "sqs:Get*Attributes""#,
        text: r#"
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = aws_iam_role.r.arn
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}"#,
    },
    Edge {
        name: "pipe",
        rule: "pipe-role-missing-queue-permission",
        actions: POLL,
        pattern: r#""sqs:Rec*", "sqs:De?eteMessage", "sqs:Get*Attributes""#,
        text: r#"
resource "aws_pipes_pipe" "p" {
  role_arn = aws_iam_role.r.arn
  source   = aws_sqs_queue.q.arn
  target   = "arn:aws:states:eu-west-1:111122223333:stateMachine:m"
}"#,
    },
    Edge {
        name: "target of a pipe",
        rule: "target-role-missing-send-permission",
        actions: SEND,
        pattern: r#""sqs:S?ndM*""#,
        text: r#"
resource "aws_pipes_pipe" "p" {
  role_arn = aws_iam_role.r.arn
  source   = "arn:aws:kinesis:eu-west-1:111122223333:stream/s"
  target   = aws_sqs_queue.q.arn
}"#,
    },
    Edge {
        name: "dead-letter queue of a function",
        rule: "target-role-missing-send-permission",
        actions: SEND,
        pattern: r#""sqs:S?ndM*""#,
        text: r#"
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = aws_iam_role.r.arn
  dead_letter_config {
    target_arn = aws_sqs_queue.q.arn
  }
}"#,
    },
    Edge {
        name: "destination of a function",
        rule: "target-role-missing-send-permission",
        actions: SEND,
        pattern: r#""sqs:S?ndM*""#,
        text: r#"
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = aws_iam_role.r.arn
}
resource "aws_lambda_function_event_invoke_config" "c" {
  function_name = aws_lambda_function.f.function_name
  destination_config {
    on_failure {
      destination = aws_sqs_queue.q.arn
    }
  }
}"#,
    },
    Edge {
        name: "target of a schedule",
        rule: "target-role-missing-send-permission",
        actions: SEND,
        pattern: r#""sqs:S?ndM*""#,
        text: r#"
resource "aws_scheduler_schedule" "s" {
  schedule_expression = "rate(1 hour)"
  target {
    arn      = aws_sqs_queue.q.arn
    role_arn = aws_iam_role.r.arn
  }
}"#,
    },
    Edge {
        name: "dead-letter queue of a schedule",
        rule: "target-role-missing-send-permission",
        actions: SEND,
        pattern: r#""sqs:S?ndM*""#,
        text: r#"
resource "aws_scheduler_schedule" "s" {
  schedule_expression = "rate(1 hour)"
  target {
    arn      = "arn:aws:lambda:eu-west-1:111122223333:function:f"
    role_arn = aws_iam_role.r.arn
    dead_letter_config {
      arn = aws_sqs_queue.q.arn
    }
  }
}"#,
    },
    Edge {
        name: "target of a rule",
        rule: "target-role-missing-send-permission",
        actions: SEND,
        pattern: r#""sqs:S?ndM*""#,
        text: r#"
resource "aws_cloudwatch_event_target" "t" {
  rule     = "r"
  arn      = aws_sqs_queue.q.arn
  role_arn = aws_iam_role.r.arn
}"#,
    },
    Edge {
        name: "integration of a REST API",
        rule: "target-role-missing-send-permission",
        actions: SEND,
        pattern: r#""sqs:S?ndM*""#,
        text: r#"
resource "aws_api_gateway_integration" "i" {
  rest_api_id             = "a"
  resource_id             = "b"
  http_method             = "POST"
  type                    = "AWS"
  integration_http_method = "POST"
  credentials             = aws_iam_role.r.arn
  uri                     = "arn:aws:apigateway:${var.open}:sqs:path/${var.open}/${aws_sqs_queue.q.name}"
  request_templates       = { "application/json" = "Action=SendMessage&MessageBody=$input.body" }
}"#,
    },
    Edge {
        name: "integration of an HTTP API",
        rule: "target-role-missing-send-permission",
        actions: SEND,
        pattern: r#""sqs:S?ndM*""#,
        text: r#"
resource "aws_apigatewayv2_integration" "i" {
  api_id              = "a"
  integration_type    = "AWS_PROXY"
  integration_subtype = "SQS-SendMessage"
  credentials_arn     = aws_iam_role.r.arn
  request_parameters  = { QueueUrl = aws_sqs_queue.q.url, MessageBody = "$request.body" }
}"#,
    },
    // The task is known to read the queue because its role may receive from it.
    Edge {
        name: "worker",
        rule: "worker-role-missing-queue-permission",
        actions: r#""sqs:DeleteMessage""#,
        pattern: r#""sqs:Del?teM*""#,
        text: r#"
resource "aws_ecs_task_definition" "t" {
  family        = "worker"
  task_role_arn = aws_iam_role.r.arn
  container_definitions = jsonencode([{ name = "worker", image = "worker" }])
}
resource "aws_iam_role_policy" "receive" {
  role   = aws_iam_role.r.id
  policy = jsonencode({ Statement = [
    { Effect = "Allow", Action = "sqs:ReceiveMessage", Resource = aws_sqs_queue.q.arn }
  ] })
}"#,
    },
];

/// Statements of a policy of the role, and IAM's decision. `<A>` are the required actions, `<P>` patterns of them.
const IDENTITY: [(&str, Decision); 31] = [
    // Without a statement that allows it, a request is denied.
    ("", Implicit),
    (r#"{ Effect = "Allow", Action = "logs:*", Resource = "*" }"#, Implicit),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = aws_sqs_queue.q.arn }"#,
        Allowed,
    ),
    (r#"{ Effect = "Allow", Action = [<A>], Resource = "*" }"#, Allowed),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = [aws_sqs_queue.other.arn, aws_sqs_queue.q.arn] }"#,
        Allowed,
    ),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = aws_sqs_queue.other.arn }"#,
        Implicit,
    ),
    // Wildcards in actions; their case is ignored.
    (r#"{ Effect = "Allow", Action = "sqs:*", Resource = "*" }"#, Allowed),
    (r#"{ Effect = "Allow", Action = "*", Resource = "*" }"#, Allowed),
    (r#"{ Effect = "Allow", Action = [<P>], Resource = "*" }"#, Allowed),
    (
        r#"{ Effect = "Allow", Action = "SQS:*MESSAGE*", Resource = "*" }, { Effect = "Allow", Action = "Sqs:gETqUEUE*", Resource = "*" }"#,
        Allowed,
    ),
    (r#"{ Effect = "Allow", Action = "sns:*", Resource = "*" }"#, Implicit),
    // Wildcards in resources.
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "arn:aws:sqs:*:*:orders" }"#,
        Allowed,
    ),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "arn:aws:sqs:*:*:ord?rs" }"#,
        Allowed,
    ),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "arn:aws:sqs:*:*:order" }"#,
        Implicit,
    ),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "arn:aws:sqs:*:*:x*" }"#,
        Implicit,
    ),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "arn:aws:sns:*:*:orders" }"#,
        Implicit,
    ),
    // Everything except what is listed.
    (r#"{ Effect = "Allow", NotAction = "iam:*", Resource = "*" }"#, Allowed),
    (r#"{ Effect = "Allow", NotAction = [<A>], Resource = "*" }"#, Implicit),
    (
        r#"{ Effect = "Allow", Action = [<A>], NotResource = aws_sqs_queue.other.arn }"#,
        Allowed,
    ),
    (
        r#"{ Effect = "Allow", Action = [<A>], NotResource = aws_sqs_queue.q.arn }"#,
        Implicit,
    ),
    // An explicit denial takes precedence, wherever it is written.
    (
        r#"{ Effect = "Allow", Action = "*", Resource = "*" }, { Effect = "Deny", Action = [<A>], Resource = "*" }"#,
        Explicit,
    ),
    (
        r#"{ Effect = "Deny", Action = "sqs:*", Resource = aws_sqs_queue.q.arn }, { Effect = "Allow", Action = [<A>], Resource = "*" }"#,
        Explicit,
    ),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "*" }, { Effect = "Deny", NotAction = "logs:*", Resource = "*" }"#,
        Explicit,
    ),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "*" }, { Effect = "Deny", Action = "*", NotResource = aws_sqs_queue.other.arn }"#,
        Explicit,
    ),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "*" }, { Effect = "Deny", Action = "*", Resource = aws_sqs_queue.other.arn }"#,
        Allowed,
    ),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "*" }, { Effect = "Deny", Action = "sqs:PurgeQueue", Resource = "*" }"#,
        Allowed,
    ),
    // A denial under a condition applies if the condition holds.
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "*" }, { Effect = "Deny", Action = "sqs:*", Resource = "*", Condition = { Bool = { "aws:SecureTransport" = "false" } } }"#,
        Open,
    ),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "*", Condition = { StringEquals = { "aws:SourceVpc" = "vpc-1" } } }"#,
        Open,
    ),
    // Parts that are not known.
    (r#"{ Effect = "Allow", Action = var.open, Resource = "*" }"#, Open),
    (r#"{ Effect = "Allow", Action = [<A>], Resource = var.open }"#, Open),
    (
        r#"{ Effect = "Allow", Action = [<A>], Resource = "*" }, { Effect = "Deny", Action = var.open, Resource = "*" }"#,
        Open,
    ),
];

/// Further resources, and IAM's decision on a request that no other policy allows.
const BESIDE: [(&str, Decision); 9] = [
    // Within an account, the policy of the resource suffices if it names the role.
    (
        r#"<queue policy>{ Effect = "Allow", Principal = { AWS = aws_iam_role.r.arn }, Action = [<A>], Resource = "*" }"#,
        Allowed,
    ),
    (
        r#"<queue policy>{ Effect = "Allow", Principal = "*", Action = "sqs:*", Resource = aws_sqs_queue.q.arn }"#,
        Allowed,
    ),
    // A policy that names the account leaves the decision to the policies of the role.
    (
        r#"<queue policy>{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::111122223333:root" }, Action = "sqs:*", Resource = "*" }"#,
        Implicit,
    ),
    (
        r#"<queue policy>{ Effect = "Allow", Principal = { AWS = "111122223333" }, Action = "sqs:*", Resource = "*" }"#,
        Implicit,
    ),
    (
        r#"<queue policy>{ Effect = "Allow", Principal = { Service = "sns.amazonaws.com" }, Action = "sqs:*", Resource = "*" }"#,
        Implicit,
    ),
    (
        r#"<queue policy>{ Effect = "Allow", Principal = { AWS = aws_iam_role.r.arn }, Action = "sqs:ListQueueTags", Resource = "*" }"#,
        Implicit,
    ),
    // Managed policies.
    (r#"<managed>"arn:aws:iam::aws:policy/AmazonSQSFullAccess""#, Allowed),
    (
        r#"<managed>"arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole""#,
        Implicit,
    ),
    (r#"<managed>"arn:aws:iam::111122223333:policy/own""#, Open),
];

/// Statements of the queue's policy that decide on a request that the role's policy allows.
const RESOURCE: [(&str, Decision); 6] = [
    (
        r#"{ Effect = "Deny", Principal = "*", Action = [<A>], Resource = aws_sqs_queue.q.arn }"#,
        Explicit,
    ),
    (
        r#"{ Effect = "Deny", Principal = { AWS = "*" }, Action = "sqs:*", Resource = "*" }"#,
        Explicit,
    ),
    (
        r#"{ Effect = "Deny", Principal = { Service = "s3.amazonaws.com" }, Action = "sqs:*", Resource = "*" }"#,
        Allowed,
    ),
    (
        r#"{ Effect = "Deny", Principal = { AWS = "arn:aws:iam::111122223333:role/other" }, Action = "sqs:*", Resource = "*" }"#,
        Open,
    ),
    (
        r#"{ Effect = "Deny", Principal = "*", Action = "sqs:*", Resource = "*", Condition = { Bool = { "aws:SecureTransport" = "false" } } }"#,
        Open,
    ),
    (
        r#"{ Effect = "Deny", Principal = "*", Action = "sqs:SetQueueAttributes", Resource = "*" }"#,
        Allowed,
    ),
];

fn project(edge: &str, queue: &str) -> String {
    format!(
        r#"
provider "aws" {{}}
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  name = "orders"
  {queue}
}}
resource "aws_sqs_queue" "other" {{
  name = "other"
}}
resource "aws_iam_role" "r" {{
  name = "r"
}}
{edge}
"#
    )
}

fn role_policy(statements: &str) -> String {
    format!(
        "resource \"aws_iam_role_policy\" \"p\" {{\n  role = aws_iam_role.r.id\n  policy = jsonencode({{ Statement = \
         [{statements}] }})\n}}\n"
    )
}

fn queue_policy(statements: &str) -> String {
    format!(
        "resource \"aws_sqs_queue_policy\" \"p\" {{\n  queue_url = aws_sqs_queue.q.url\n  policy = jsonencode({{ \
         Statement = [{statements}] }})\n}}\n"
    )
}

fn attachment(policy: &str) -> String {
    format!(
        "resource \"aws_iam_role_policy_attachment\" \"p\" {{\n  role = aws_iam_role.r.name\n  policy_arn = {policy}\n}}\n"
    )
}

/// Collects the cases that a rule decides otherwise.
#[derive(Default)]
struct Cases {
    run: usize,
    wrong: Vec<String>,
}

impl Cases {
    fn run(&mut self, rule: &str, text: &str, decision: Decision, case: &str) {
        self.run += 1;
        let rule = by_id(rule).expect("the rule exists");
        let found = findings(rule, Terraform, text).len();
        if (found > 0) != matches!(decision, Implicit | Explicit) {
            self.wrong.push(format!("{found} findings, {decision:?}: {case}"));
        }
    }

    fn assert_at_least(&self, number: usize) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        assert!(self.run >= number, "only {} cases", self.run);
    }
}

#[test]
fn roles_are_judged_as_iam_does() {
    let mut cases = Cases::default();
    for edge in &EDGES {
        let fill = |text: &str| text.replace("<A>", edge.actions).replace("<P>", edge.pattern);
        let mut run = |text: &str, decision, case: &str| {
            let text = project(edge.text, "") + text;
            cases.run(edge.rule, &text, decision, &format!("{}: {case}", edge.name));
        };
        for (statements, decision) in IDENTITY {
            run(&role_policy(&fill(statements)), decision, statements);
        }
        for (written, decision) in BESIDE {
            let filled = fill(written);
            let text = match filled.split_once('>') {
                Some(("<queue policy", statements)) => queue_policy(statements),
                Some((_, policy)) => attachment(policy),
                None => filled,
            };
            run(&text, decision, written);
        }
        for (statements, decision) in RESOURCE {
            let allow = fill("{ Effect = \"Allow\", Action = [<A>], Resource = \"*\" }");
            let text = role_policy(&allow) + &queue_policy(&fill(statements));
            run(&text, decision, statements);
        }
    }
    cases.assert_at_least(11 * 40);
}

/// Keys, and the decision of KMS on a request that the role's policy allows, or does not.
#[test]
fn keys_are_judged_as_kms_does() {
    const ROOT: &str = r#"{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::111122223333:root" }, Action = "kms:*", Resource = "*" }"#;
    let named = r#"{ Effect = "Allow", Principal = { AWS = aws_iam_role.r.arn }, Action = ["kms:Decrypt", "kms:GenerateDataKey*"], Resource = "*" }"#;
    let other = r#"{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::111122223333:root" }, Action = "kms:Describe*", Resource = "*" }"#;
    let denial = r#"{ Effect = "Deny", Principal = "*", Action = "kms:Decrypt", Resource = "*" }"#;
    let account = r#"{ Effect = "Allow", Principal = { AWS = "111122223333" }, Action = "kms:*", Resource = "*" }"#;
    let allow = |resource: &str| {
        format!(r#"{{ Effect = "Allow", Action = ["kms:Decrypt", "kms:GenerateDataKey"], Resource = {resource} }}"#)
    };
    let any = allow("\"*\"");
    let rows = [
        // KMS's default policy leaves the decision to the account.
        ("", String::new(), Implicit),
        ("", any.clone(), Allowed),
        ("", allow("aws_kms_key.k.arn"), Allowed),
        ("", allow("aws_kms_key.other.arn"), Implicit),
        ("", allow("\"arn:aws:kms:*:*:key/*\""), Allowed),
        ("", allow("\"arn:aws:kms:eu-west-1:111122223333:key/*\""), Allowed),
        ("", allow("\"arn:aws:kms:eu-west-1:111122223333:key/1234\""), Open),
        ("", allow("\"arn:aws:sqs:*:*:*\""), Implicit),
        ("", allow("var.open"), Open),
        // An alias in the element `Resource` is the alias, not its key.
        ("", allow("aws_kms_alias.a.arn"), Implicit),
        (
            "",
            allow("\"arn:aws:kms:eu-west-1:111122223333:alias/orders\""),
            Implicit,
        ),
        ("", allow("\"arn:aws:kms:*:*:alias/*\""), Implicit),
        ("", allow("aws_kms_alias.a.target_key_arn"), Allowed),
        (
            "",
            r#"{ Effect = "Allow", Action = "KMS:*", Resource = "*" }"#.to_owned(),
            Allowed,
        ),
        (
            "",
            r#"{ Effect = "Allow", Action = "kms:Encrypt", Resource = "*" }"#.to_owned(),
            Implicit,
        ),
        (
            "",
            format!("{any}, {{ Effect = \"Deny\", Action = \"kms:*\", Resource = aws_kms_key.k.arn }}"),
            Explicit,
        ),
        (
            "",
            format!("{any}, {{ Effect = \"Deny\", Action = \"kms:*\", Resource = aws_kms_key.other.arn }}"),
            Allowed,
        ),
        (ROOT, String::new(), Implicit),
        (ROOT, any.clone(), Allowed),
        (account, any.clone(), Allowed),
        // A policy of its own suffices, and without a statement for the account nothing else does.
        (named, String::new(), Allowed),
        (other, any.clone(), Implicit),
        (named, any.clone(), Allowed),
        ("var.open", String::new(), Open),
    ];
    let mut cases = Cases::default();
    let edges = [
        ("function-role-missing-kms-decrypt", &EDGES[0]),
        (EDGES[1].rule, &EDGES[1]),
        (EDGES[2].rule, &EDGES[2]),
        (EDGES[3].rule, &EDGES[3]),
        (EDGES[5].rule, &EDGES[5]),
        (EDGES[10].rule, &EDGES[10]),
    ];
    for (rule, edge) in edges {
        let rows = rows
            .iter()
            .map(|(key, role, decision)| (key.to_string(), role, *decision));
        let with_denial = [(format!("{ROOT}, {denial}"), &any, Explicit)];
        for (key, role, decision) in rows.chain(with_denial) {
            let policy = if key.is_empty() {
                String::new()
            } else {
                format!("policy = jsonencode({{ Statement = [{key}] }})")
            };
            let keys = format!(
                "resource \"aws_kms_key\" \"k\" {{\n  {policy}\n}}\nresource \"aws_kms_key\" \"other\" {{}}\nresource \
                 \"aws_kms_alias\" \"a\" {{\n  name = \"alias/orders\"\n  target_key_id = aws_kms_key.k.key_id\n}}\n"
            );
            let queue = format!(
                "{{ Effect = \"Allow\", Action = [{}], Resource = \"*\" }}, {role}",
                edge.actions
            );
            let text = project(edge.text, "kms_master_key_id = aws_kms_key.k.arn") + &keys + &role_policy(&queue);
            cases.run(rule, &text, decision, &format!("{}: {key} / {role}", edge.name));
        }
    }
    cases.assert_at_least(6 * 20);
}

/// Services that send by themselves need a statement in the policy of the queue, and in that of its key.
#[test]
fn services_are_judged_as_iam_does() {
    const SENDERS: [(&str, &str); 3] = [
        (
            "sns.amazonaws.com",
            "resource \"aws_sns_topic\" \"t\" {}\nresource \"aws_sns_topic_subscription\" \"s\" {\n  topic_arn = \
             aws_sns_topic.t.arn\n  protocol = \"sqs\"\n  endpoint = aws_sqs_queue.q.arn\n}\n",
        ),
        (
            "events.amazonaws.com",
            "resource \"aws_cloudwatch_event_target\" \"t\" {\n  rule = \"r\"\n  arn = aws_sqs_queue.q.arn\n}\n",
        ),
        (
            "s3.amazonaws.com",
            "resource \"aws_s3_bucket_notification\" \"n\" {\n  bucket = \"uploads\"\n  queue {\n    queue_arn = \
             aws_sqs_queue.q.arn\n    events = [\"s3:ObjectCreated:*\"]\n  }\n}\n",
        ),
    ];
    let allow = |principal: &str, rest: &str| format!("{{ Effect = \"Allow\", Principal = {principal}, {rest} }}");
    let (queue, key) = (
        "Action = \"sqs:SendMessage\", Resource = \"*\"",
        "Action = \"kms:*\", Resource = \"*\"",
    );
    let mut cases = Cases::default();
    for (service, sender) in SENDERS {
        let own = format!("{{ Service = \"{service}\" }}");
        let list = format!("{{ Service = [\"lambda.amazonaws.com\", \"{service}\"] }}");
        let role = "{ AWS = aws_iam_role.r.arn }";
        let root = "{ AWS = \"arn:aws:iam::111122223333:root\" }";
        let denies = |principal: &str| {
            format!("{{ Effect = \"Deny\", Principal = {principal}, Action = \"*\", Resource = \"*\" }}")
        };
        let rows = |rest: &'static str| {
            [
                (allow(&own, rest), Allowed),
                (allow(&list, rest), Allowed),
                (allow("\"*\"", rest), Allowed),
                (allow("{ Service = \"lambda.amazonaws.com\" }", rest), Implicit),
                (allow(role, rest), Implicit),
                (allow(root, rest), Implicit),
                (allow("{ Service = var.open }", rest), Open),
                ("var.open".to_owned(), Open),
                (allow(&own, rest).replace("Action", "NotAction"), Implicit),
                (format!("{}, {}", allow(&own, rest), denies("\"*\"")), Explicit),
                (format!("{}, {}", allow(&own, rest), denies(&own)), Explicit),
                (
                    format!(
                        "{}, {}",
                        allow(&own, rest),
                        denies("{ Service = \"lambda.amazonaws.com\" }")
                    ),
                    Allowed,
                ),
                (
                    allow(
                        &own,
                        &format!("{rest}, Condition = {{ StringEquals = {{ \"aws:SourceAccount\" = \"1\" }} }}"),
                    ),
                    Open,
                ),
            ]
        };
        for (statements, decision) in rows(queue) {
            let text = project(sender, "") + &queue_policy(&statements);
            cases.run(
                "queue-policy-missing-for-producer",
                &text,
                decision,
                &format!("{service}: {statements}"),
            );
        }
        let only = |action: &str| allow(&own, &format!("Action = {action}, Resource = \"*\""));
        let further = [
            (String::new(), Implicit),
            (only("\"kms:GenerateDataKey\""), Implicit),
            (only("\"kms:Decrypt\""), Implicit),
            (only("[\"kms:GenerateDataKey*\", \"kms:Decrypt\"]"), Allowed),
        ];
        for (statements, decision) in rows(key).into_iter().chain(further) {
            let policy = match statements.as_str() {
                "" => String::new(),
                all => format!("policy = jsonencode({{ Statement = [{all}] }})"),
            };
            let key = format!("resource \"aws_kms_key\" \"k\" {{\n  {policy}\n}}\n");
            let text = project(sender, "kms_master_key_id = aws_kms_key.k.id") + &key;
            cases.run(
                "queue-key-blocks-service",
                &text,
                decision,
                &format!("{service}, key: {statements}"),
            );
        }
    }
    cases.assert_at_least(3 * 28);
}

/// A role of another account needs the permission of both sides, and its own account may not be named.
#[test]
fn roles_of_other_accounts_need_both_policies() {
    const ROLE: &str = "{ Effect = \"Allow\", Action = \"sqs:*\", Resource = \"*\" }";
    let principal =
        |who: &str| format!("{{ Effect = \"Allow\", Principal = {who}, Action = \"sqs:*\", Resource = \"*\" }}");
    let mut cases = Cases::default();
    for (own, theirs, decision) in [
        (ROLE, String::new(), Implicit),
        (ROLE, principal("{ AWS = \"arn:aws:iam::111122223333:root\" }"), Allowed),
        (ROLE, principal("{ AWS = \"111122223333\" }"), Allowed),
        (ROLE, principal("{ AWS = aws_iam_role.r.arn }"), Allowed),
        (ROLE, principal("\"*\""), Allowed),
        (ROLE, principal("{ Service = \"lambda.amazonaws.com\" }"), Implicit),
        ("", principal("{ AWS = aws_iam_role.r.arn }"), Implicit),
        ("", principal("\"*\""), Implicit),
        ("", String::new(), Implicit),
        (ROLE, "var.open".to_owned(), Open),
    ] {
        let text = project(EDGES[0].text, "provider = aws.other")
            .replace("provider \"aws\" {}", "provider \"aws\" {\n  allowed_account_ids = [\"111122223333\"]\n}\nprovider \"aws\" {\n  alias = \"other\"\n  allowed_account_ids = [\"444455556666\"]\n}")
            + &role_policy(own)
            + &if theirs.is_empty() { String::new() } else { queue_policy(&theirs).replace("\"p\"", "\"q\"") };
        cases.run(EDGES[0].rule, &text, decision, &format!("{own} / {theirs}"));
    }
    cases.assert_at_least(10);
}
