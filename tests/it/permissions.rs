//! Compares the verdicts of the rules about permissions with the evaluation logic of IAM, for every kind of link between a
//! principal and a queue or a key: those of `tests/permissions/links.tf`, with the statements of `cases.txt`.
//!
//! The decisions are those of AWS's documentation:
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html>,
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html>,
//! <https://docs.aws.amazon.com/kms/latest/developerguide/key-policies.html>.
//! A request that the files leave open is expected to cause no finding, like an allowed one.

use sqslint::rules::by_id;
use sqslint::testing::Dialect;

const LINKS: &str = include_str!("../permissions/links.tf");
const CASES: &str = include_str!("../permissions/cases.txt");

/// Link between a principal and a queue.
struct Edge {
    name: &'static str,
    rule: &'static str,
    actions: &'static str,
    pattern: &'static str,
    text: &'static str,
}

fn edges() -> Vec<Edge> {
    let edges = LINKS.split("#: ").skip(1).map(|edge| {
        let (head, text) = edge.split_once('\n').expect("an edge has resources");
        let [name, rule, actions, pattern] = fields(head);
        Edge {
            name,
            rule,
            actions,
            pattern,
            text,
        }
    });
    edges.collect()
}

/// Returns the rows of a section of the cases: the decision, and one or two texts.
fn rows(section: &str) -> impl Iterator<Item = [&'static str; 3]> {
    let (_, rest) = CASES
        .split_once(&format!("## {section}\n"))
        .expect("the section exists");
    let rows = rest.lines().take_while(|line| !line.starts_with("## "));
    rows.filter(|row| row.contains(" |") && !row.starts_with('#'))
        .map(fields)
}

fn fields<const N: usize>(row: &'static str) -> [&'static str; N] {
    let mut fields = row.splitn(N, '|').map(str::trim);
    std::array::from_fn(|_| fields.next().unwrap_or_default())
}

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

fn policy(kind: &str, target: &str, statements: &str) -> String {
    format!("resource \"{kind}\" \"p\" {{\n  {target}\n  policy = jsonencode({{ Statement = [{statements}] }})\n}}\n")
}

fn role_policy(statements: &str) -> String {
    policy("aws_iam_role_policy", "role = aws_iam_role.r.id", statements)
}

fn queue_policy(statements: &str) -> String {
    policy("aws_sqs_queue_policy", "queue_url = aws_sqs_queue.q.url", statements)
}

/// Returns a key with this policy, or with KMS's default policy.
fn key(statements: &str) -> String {
    let policy = match statements {
        "" => String::new(),
        all => format!("policy = jsonencode({{ Statement = [{all}] }})"),
    };
    format!("resource \"aws_kms_key\" \"k\" {{\n  {policy}\n}}\n")
}

/// Collects the cases that a rule decides otherwise.
#[derive(Default)]
struct Cases {
    run: usize,
    wrong: Vec<String>,
}

impl Cases {
    fn run(&mut self, rule: &str, text: &str, decision: &str, case: &str) {
        self.run += 1;
        let is_denied = match decision {
            "Implicit" | "Explicit" => true,
            "Allowed" | "Open" => false,
            other => panic!("{other} is not a decision"),
        };
        let rule = by_id(rule).expect("the rule exists");
        let found = Dialect::Terraform.findings(rule, text).len();
        if (found > 0) != is_denied {
            self.wrong.push(format!("{found} findings, {decision}: {case}"));
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
    let edges = edges();
    for edge in &edges {
        let fill = |text: &str| text.replace("<A>", edge.actions).replace("<P>", edge.pattern);
        let mut run = |text: &str, decision, case: &str| {
            let text = project(edge.text, "") + text;
            cases.run(edge.rule, &text, decision, &format!("{}: {case}", edge.name));
        };
        for [decision, statements, _] in rows("role") {
            run(&role_policy(&fill(statements)), decision, statements);
        }
        for [decision, written, _] in rows("also") {
            let text = if written.starts_with('{') {
                queue_policy(&fill(written))
            } else {
                let role = "role = aws_iam_role.r.name";
                format!(
                    "resource \"aws_iam_role_policy_attachment\" \"p\" {{\n  {role}\n  policy_arn = {written}\n}}\n"
                )
            };
            run(&text, decision, written);
        }
        for [decision, statements, _] in rows("queue") {
            let allow = fill("{ Effect = \"Allow\", Action = [<A>], Resource = \"*\" }");
            let text = role_policy(&allow) + &queue_policy(&fill(statements));
            run(&text, decision, statements);
        }
    }
    cases.assert_at_least(13 * 40);
}

#[test]
fn keys_are_judged_as_kms_does() {
    const ROOT: &str = r#"{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::111122223333:root" }, Action = "kms:*", Resource = "*" }"#;
    const NAMED: &str = r#"{ Effect = "Allow", Principal = { AWS = aws_iam_role.r.arn }, Action = ["kms:Decrypt", "kms:GenerateDataKey*"], Resource = "*" }"#;
    const DECRYPT: &str = r#"{ Effect = "Allow", Action = ["kms:Decrypt", "kms:GenerateDataKey"]"#;
    const OTHERS: &str = r#"
resource "aws_kms_key" "other" {}
resource "aws_kms_alias" "a" {
  name          = "alias/orders"
  target_key_id = aws_kms_key.k.key_id
}
"#;
    let mut cases = Cases::default();
    for edge in &edges() {
        let rule = match edge.name {
            "mapping" => "function-role-missing-kms-decrypt",
            _ => edge.rule,
        };
        for [decision, of_key, of_role] in rows("key") {
            let fill = |text: &str| {
                text.replace("<root>", ROOT)
                    .replace("<named>", NAMED)
                    .replace("<decrypt>", DECRYPT)
            };
            let allow = format!(
                "{{ Effect = \"Allow\", Action = [{}], Resource = \"*\" }}, ",
                edge.actions
            );
            let text = project(edge.text, "kms_master_key_id = aws_kms_key.k.arn")
                + &key(&fill(of_key))
                + OTHERS
                + &role_policy(&(allow + &fill(of_role)));
            cases.run(rule, &text, decision, &format!("{}: {of_key} / {of_role}", edge.name));
        }
    }
    cases.assert_at_least(13 * 20);
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
    let mut cases = Cases::default();
    for (service, sender) in SENDERS {
        let fill = |text: &str, action: &str| {
            let rest = format!("Action = \"{action}\", Resource = \"*\"");
            text.replace("<service>", service).replace("<rest>", &rest)
        };
        for [decision, statements, _] in rows("service") {
            let text = project(sender, "") + &queue_policy(&fill(statements, "sqs:SendMessage"));
            let case = format!("{service}: {statements}");
            cases.run("queue-policy-missing-for-producer", &text, decision, &case);
        }
        for [decision, statements, _] in rows("service").chain(rows("service, key")) {
            let queue = "kms_master_key_id = aws_kms_key.k.id";
            let text = project(sender, queue) + &key(&fill(statements, "kms:*"));
            let case = format!("{service}, key: {statements}");
            cases.run("queue-key-blocks-service", &text, decision, &case);
        }
    }
    cases.assert_at_least(3 * 28);
}

#[test]
fn roles_of_other_accounts_need_both_policies() {
    const ROLE: &str = r#"{ Effect = "Allow", Action = "sqs:*", Resource = "*" }"#;
    const ACCOUNTS: &str = r#"
provider "aws" {
  allowed_account_ids = ["111122223333"]
}
provider "aws" {
  alias               = "other"
  allowed_account_ids = ["444455556666"]
}
"#;
    let mut cases = Cases::default();
    let edge = &edges()[0];
    for [decision, own, theirs] in rows("account") {
        let text = project(edge.text, "provider = aws.other").replace("provider \"aws\" {}", ACCOUNTS);
        let queue = if theirs.is_empty() {
            String::new()
        } else {
            queue_policy(theirs)
        };
        let text = text + &role_policy(&own.replace("<role>", ROLE)) + &queue;
        cases.run(edge.rule, &text, decision, &format!("{own} / {theirs}"));
    }
    cases.assert_at_least(10);
}
