//! Flags queue policies that allow a service, or everyone, to send on behalf of any account.

use super::prelude::*;
use crate::graph::access::{Effect, PolicyWriter, Principal, QueuePolicy, Statement, StatementCondition};
use crate::graph::permits::matches;
use crate::graph::{Resource, Target};

pub(super) static RULE: Rule = rule!(
    "queue-policy-source-unscoped",
    Category::Permissions,
    Severity::Warning,
    "a queue policy lets a service send for any account, without `aws:SourceArn` or `aws:SourceAccount`",
    set = Set::DefaultInPart
);

const SEND: &str = "sqs:SendMessage";
const SOURCE_ARN: &str = "aws:sourcearn";

/// Condition keys that do not restrict the sender. All other keys are assumed to restrict it.
const SAY_NOTHING: [&str; 9] = [
    "aws:currenttime",
    "aws:epochtime",
    "aws:multifactorauthage",
    "aws:multifactorauthpresent",
    "aws:principalisawsservice",
    "aws:requestedregion",
    "aws:securetransport",
    "aws:tokenissuetime",
    "aws:viaawsservice",
];

/// Sender that a policy allows too broadly.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sender<'s> {
    Anybody,
    Service(&'s str),
}

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.access().queue_policies.iter();
    for policy in policies.filter(|policy| policy.writer != PolicyWriter::Transform) {
        let resource = &policy.resource;
        for document in findings.known(&resource.when, resource, &policy.document) {
            if let Some(reason) = &document.value.opaque {
                findings.note_unresolved(&document.when, resource, reason, document.span);
                continue;
            }
            let statements = &document.value.statements;
            // A statement that denies all other senders restricts what other statements allow.
            if statements.iter().any(may_narrow) {
                continue;
            }
            for (at, statement) in statements.iter().enumerate() {
                judge(findings, policy, (at, statement), &document.when.and(&statement.when));
            }
        }
    }
}

/// Returns `true` if the statement may deny senders that other statements allow too broadly.
fn may_narrow(statement: &Statement) -> bool {
    let mut effects = statement.effect.cases.iter();
    let may_deny = effects.any(|case| case.value() != Some(&Effect::Allow));
    let narrows = |all: &Vec<StatementCondition>| !allows_nothing(all) && all.iter().any(narrows);
    may_deny && statement.conditions.as_ref().map_or(true, narrows)
}

/// Returns `true` if one of the conditions never holds, so that the statement has no effect.
fn allows_nothing(conditions: &[StatementCondition]) -> bool {
    conditions.iter().any(|one| one.never_holds() || is_of_no_bucket(one))
}

/// Returns `true` if the condition requires the ARN of a bucket without a name, which no source has.
fn is_of_no_bucket(condition: &StatementCondition) -> bool {
    let operator = condition.operator.to_ascii_lowercase();
    let cases = condition.values.iter().flat_map(|value| &value.cases);
    let mut links = cases.map(|case| case.value().map(|link| &link.target));
    let is_nameless =
        |target: Option<&Target>| matches!(target, Some(Target::External(text)) if text.ends_with(":s3:::"));
    let is_optional = ["not", "ifexists", "forallvalues:"]
        .iter()
        .any(|word| operator.contains(word));
    let is_required = !is_optional && !condition.values.is_empty();
    is_required && condition.key.eq_ignore_ascii_case(SOURCE_ARN) && links.all(is_nameless)
}

fn judge(findings: &mut Findings<'_>, policy: &QueuePolicy, (at, statement): (usize, &Statement), when: &Condition) {
    let resource = &policy.statement(at);
    let conditions = match &statement.conditions {
        Ok(conditions) if allows_nothing(conditions) => return,
        Ok(conditions) => conditions,
        Err(reason) => return findings.note_unresolved(when, resource, reason, statement.span),
    };
    if statement.negates.principals {
        return;
    }
    for effect in findings.known(when, resource, &statement.effect) {
        if *effect.value != Effect::Allow {
            continue;
        }
        for actions in findings.known(&effect.when, resource, &statement.actions) {
            let sends = actions.value.iter().any(|action| matches(action, SEND));
            if sends == statement.negates.actions {
                continue;
            }
            for principals in findings.known(&actions.when, resource, &statement.principals) {
                let senders: Vec<Sender<'_>> = principals.value.iter().filter_map(sender).collect();
                for sender in senders {
                    let shown = policy.resource.shown();
                    require(
                        findings,
                        (resource, &shown),
                        statement,
                        (sender, conditions),
                        &principals.when,
                    );
                }
            }
        }
    }
}

fn sender(principal: &Principal) -> Option<Sender<'_>> {
    match (principal.kind.as_str(), principal.id.as_deref()) {
        ("*", _) | ("AWS", Some("*")) => Some(Sender::Anybody),
        ("Service", Some(service)) => Some(Sender::Service(service)),
        _ => None,
    }
}

fn require(
    findings: &mut Findings<'_>,
    (resource, shown): (&Resource, &str),
    statement: &Statement,
    (sender, conditions): (Sender<'_>, &[StatementCondition]),
    when: &Condition,
) {
    let narrowing: Vec<&StatementCondition> = conditions.iter().filter(|one| narrows(one)).collect();
    let of_bucket = matches!(sender, Sender::Service(service) if service.starts_with("s3."));
    let only_arn = !narrowing.is_empty() && narrowing.iter().all(|one| one.key.eq_ignore_ascii_case(SOURCE_ARN));
    let is_scoped = !(narrowing.is_empty() || of_bucket && only_arn);
    let scoped = fact(is_scoped, || "the statement says for whom".to_owned()).depending_on(&statement.span);
    findings.require(when, resource, scoped, || {
        if narrowing.is_empty() {
            let finding = unscoped(shown, statement, (sender, conditions));
            if sender == Sender::Anybody && conditions.is_empty() {
                finding
            } else {
                finding.pedantic()
            }
        } else {
            without_account(shown, statement)
        }
    });
}

/// Returns `true` if the condition restricts the sender or the source on whose behalf it sends. A negated condition
/// without values excludes nothing.
fn narrows(condition: &StatementCondition) -> bool {
    let key = condition.key.to_ascii_lowercase();
    !(SAY_NOTHING.contains(&key.as_str()) || condition.values.is_empty() || any_value(condition).is_some())
}

/// Returns the value of the condition that matches every source.
fn any_value(condition: &StatementCondition) -> Option<&str> {
    let operator = condition.operator.to_ascii_lowercase();
    // `ArnEquals` accepts wildcards like `ArnLike`.
    let has_wildcards = operator.contains("arn") || operator.contains("like");
    let mut links = condition
        .values
        .iter()
        .flat_map(|value| value.cases.iter().filter_map(|case| case.value()));
    links.find_map(|link| match &link.target {
        Target::External(text) if has_wildcards && is_anything(text) => Some(&**text),
        _ => None,
    })
}

/// Returns `true` if the pattern matches ARNs of any account and any resource.
fn is_anything(pattern: &str) -> bool {
    let is_open = |part: &str| part.bytes().all(|byte| byte == b'*');
    let mut parts = pattern.splitn(6, ':').skip(4);
    pattern == "*"
        || matches!((parts.next(), parts.next()), (Some(account), Some(name)) if is_open(account) && is_open(name))
}

fn unscoped(shown: &str, statement: &Statement, (sender, conditions): (Sender<'_>, &[StatementCondition])) -> Finding {
    let without_effect = conditions.iter().find_map(|one| Some((one, any_value(one)?)));
    let (headline, none) = match sender {
        Sender::Anybody => (
            format!("{shown} lets anyone send to the queue, from any account"),
            "no condition restricts who may send",
        ),
        Sender::Service(service) => (
            format!("{shown} lets `{service}` send to the queue on behalf of any account"),
            "no condition restricts on whose behalf it sends",
        ),
    };
    let label = match without_effect {
        Some((condition, value)) => format!(
            "`{}` on `{}` matches everything: `{value}`",
            condition.operator, condition.key
        ),
        None => none.to_owned(),
    };
    Finding::new("policy_source", headline, statement.span, label)
        .help("add a condition: `ArnEquals` on `aws:SourceArn`, or `StringEquals` on `aws:SourceAccount`")
}

fn without_account(shown: &str, statement: &Statement) -> Finding {
    let headline = format!("{shown} lets S3 send by the bucket's ARN alone, which does not say whose bucket it is");
    let label = "once the bucket is deleted, anybody may take its name";
    Finding::new("policy_source", headline, statement.span, label)
        .severity(Severity::Info)
        .pedantic()
        .help("add a condition `StringEquals` on `aws:SourceAccount` with your account")
}

#[cfg(test)]
mod tests {
    use super::{RULE, is_anything};
    use crate::testing::Dialect::{CloudFormation, Sam, Serverless, Terraform};

    const POLICY: &str = r#"
variable "open" {}
resource "aws_sqs_queue" "q" {}
resource "aws_sqs_queue_policy" "p" {
  queue_url = aws_sqs_queue.q.url
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ <statement> }] })
}
"#;

    #[test]
    fn service_without_source_condition_is_flagged() {
        let service =
            "Effect = \"Allow\", Action = \"sqs:SendMessage\", Principal = { Service = \"<service>.amazonaws.com\" }";
        Terraform.check_cases(
            &RULE,
            &POLICY.replace("<statement>", &format!("{service}<more>")),
            r#"
            service | more                                                                                                                                | finding
            sns     |                                                                                                                                     | 1
            sns     | , Condition = { ArnEquals = { "aws:SourceArn" = "arn:aws:sns:eu-west-1:111122223333:t" } }                                          |
            sns     | , Condition = { StringEquals = { "AWS:SourceAccount" = "111122223333" } }                                                           |
            sns     | , Condition = { StringEquals = { "aws:SourceOrgID" = "o-1" } }                                                                      |
            sns     | , Condition = { Bool = { "aws:SecureTransport" = "true" } }                                                                         | 1
            sns     | , Condition = { ArnLike = { "aws:SourceArn" = "*" } }                                                                               | 1
            sns     | , Condition = { ArnLike = { "aws:SourceArn" = "arn:aws:sns:*:*:*" } }                                                               | 1
            sns     | , Condition = { ArnLike = { "aws:SourceArn" = "arn:aws:sns:*:*:orders" } }                                                          |
            sns     | , Condition = { ArnLike = { "aws:SourceArn" = var.open } }                                                                          |
            sns     | , Condition = var.open                                                                                                              |
            sns     | }, { Effect = "Deny", Action = "sqs:*", Principal = "*", Condition = { StringNotEquals = { "aws:SourceAccount" = "111122223333" } } |
            sns     | }, { Effect = "Deny", Action = "sqs:*", Principal = "*", Condition = { Bool = { "aws:SecureTransport" = "false" } }                 | 1
            // An empty list matches nothing: nothing is allowed or denied, or, negated, everything.
            sns     | , Condition = { ArnEquals = { "aws:SourceArn" = [] } }                                                                              |
            sns     | , Condition = { ArnNotEquals = { "aws:SourceArn" = [] } }                                                                           | 1
            sns     | }, { Effect = "Deny", Action = "sqs:*", Principal = "*", Condition = { StringEquals = { "aws:SourceAccount" = [] } }                | 1
            // Each statement is reported.
            sns     | }, { Effect = "Allow", Action = "sqs:*", Principal = "*"                                                                            | 2
            // The ARN of a bucket does not name its account.
            s3      | , Condition = { ArnLike = { "aws:SourceArn" = "arn:aws:s3:::uploads" } }                                                            | info
            s3      | , Condition = { ArnLike = { "aws:SourceArn" = "arn:aws:s3:::uploads" }, StringEquals = { "aws:SourceAccount" = "111122223333" } }   |
            s3      | , Condition = { StringEquals = { "aws:SourceAccount" = "111122223333" } }                                                           |
            "#,
        );
    }

    #[test]
    fn condition_that_matches_everything_is_quoted() {
        let statement = r#"Effect = "Allow", Action = "sqs:*", Principal = { Service = "s3.amazonaws.com" }, Condition = { ArnEquals = { "aws:SourceArn" = "arn:aws:s3:::*" } }"#;
        let found = Terraform.findings(&RULE, &POLICY.replace("<statement>", statement));
        let labels: Vec<&str> = found.iter().map(|found| &*found.primary().message).collect();
        assert_eq!(
            labels,
            ["`ArnEquals` on `aws:SourceArn` matches everything: `arn:aws:s3:::*`"]
        );
    }

    #[test]
    fn statements_that_do_not_allow_sending_are_ignored() {
        Terraform.check_cases(
            &RULE,
            POLICY,
            r#"
            statement                                                                                  | finding
            Effect = "Allow", Action = "sqs:*", Principal = "*"                                        | 1
            Effect = "Allow", Action = "sqs:*", Principal = { AWS = "*" }                              | 1
            Effect = "Allow", NotAction = "sqs:DeleteQueue", Principal = "*"                           | 1
            Effect = "Allow", NotAction = "sqs:*", Principal = "*"                                     |
            Effect = "Allow", Action = "sqs:ReceiveMessage", Principal = "*"                           |
            Effect = "Allow", Action = "sqs:*", Principal = { AWS = "arn:aws:iam::111122223333:root" } |
            Effect = "Allow", Action = "sqs:*", Principal = { Service = var.open }                     |
            Effect = var.open, Action = "sqs:*", Principal = "*"                                       |
            "#,
        );
    }

    #[test]
    fn only_a_public_queue_without_any_condition_is_reported_by_default() {
        let condition = |text: &str| format!(", Condition = {{ {text} }}");
        let secure = condition("Bool = { \"aws:SecureTransport\" = \"true\" }");
        for (principal, condition, is_default) in [
            ("\"*\"", "", true),
            ("{ AWS = \"*\" }", "", true),
            ("{ AWS = [\"*\"] }", "", true),
            ("\"*\"", &*secure, false),
            ("{ Service = \"sns.amazonaws.com\" }", "", false),
        ] {
            let statement =
                format!("Effect = \"Allow\", Action = \"sqs:SendMessage\", Principal = {principal}{condition}");
            let found = Terraform.findings(&RULE, &POLICY.replace("<statement>", &statement));
            let found: Vec<bool> = found.iter().map(|found| !found.is_pedantic).collect();
            assert_eq!(found, [is_default], "{statement}");
        }
        let policy = "
  Q: {Type: AWS::SQS::Queue}
  P:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Q]
      PolicyDocument: {Statement: [{Effect: Allow, Action: 'sqs:SendMessage', Principal: '*', Resource: !GetAtt Q.Arn}]}
";
        let indented = policy.replace('\n', "\n  ");
        for (dialect, text) in [
            (CloudFormation, format!("Resources:{policy}")),
            (Sam, format!("Resources:{policy}")),
            (
                Serverless,
                format!("service: s\nprovider: {{name: aws}}\nresources:\n  Resources:{indented}\n"),
            ),
        ] {
            let found = dialect.findings(&RULE, &text);
            let found: Vec<bool> = found.iter().map(|found| found.is_pedantic).collect();
            assert_eq!(found, [false], "{dialect:?}");
        }
    }

    #[test]
    fn policy_that_sam_generates_is_accepted() {
        Sam.check(
            &RULE,
            r"
Resources:
  Q: {Type: AWS::SQS::Queue}
  T: {Type: AWS::SNS::Topic}
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E:
          Type: SNS
          Properties:
            Topic: !Ref T
            SqsSubscription: {QueueArn: !GetAtt Q.Arn, QueueUrl: !Ref Q}
",
        );
    }

    #[test]
    fn patterns_for_any_account_and_resource_are_recognized() {
        for (pattern, expected) in [
            ("*", true),
            ("arn:aws:sns:*:*:*", true),
            ("arn:aws:s3:::*", true),
            ("arn:aws:s3:*:*:uploads", false),
            ("arn:aws:sns:*:111122223333:*", false),
            ("111122223333", false),
        ] {
            assert_eq!(is_anything(pattern), expected, "{pattern}");
        }
    }
}
