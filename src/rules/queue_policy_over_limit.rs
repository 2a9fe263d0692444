//! Flags queue policies that exceed the quotas of SQS.

use super::prelude::*;
use crate::graph::access::{PolicyDocument, PolicyWriter, QueuePolicy, Statement};
use crate::graph::{Attribute, Form, Resource, Target, UnitId};
use source::Span;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = rule!(
    "queue-policy-over-limit",
    Category::Queue,
    Severity::Error,
    "a queue policy exceeds a quota of SQS, which rejects it"
);

fn check(findings: &mut Findings<'_>) {
    for policy in &findings.graph.access().queue_policies {
        let resource = &policy.resource;
        for document in findings.known(&resource.when, resource, &policy.document) {
            if let Some(reason) = &document.value.opaque {
                findings.note_unresolved(&document.when, resource, reason, document.span);
            }
            let statements = || document.value.statements.iter().filter(|one| one.when.is_always());
            let measures = [
                (statements().count(), limits::POLICY_STATEMENTS, "statements"),
                (least_bytes(document.value), limits::POLICY_BYTES, "bytes"),
            ];
            for (count, limit, what) in measures {
                require(
                    findings,
                    &document.when,
                    (policy, resource),
                    document.span,
                    (count, limit, what),
                );
            }
            for (at, statement) in document.value.statements.iter().enumerate() {
                judge(findings, policy, (at, statement), &document.when.and(&statement.when));
            }
        }
    }
}

fn judge(findings: &mut Findings<'_>, policy: &QueuePolicy, (at, statement): (usize, &Statement), when: &Condition) {
    let resource = &policy.statement(at);
    let on = (policy, resource);
    for actions in findings.known(when, resource, &statement.actions) {
        let measure = (actions.value.len(), limits::STATEMENT_ACTIONS, "actions");
        require(findings, &actions.when, on, actions.span, measure);
    }
    for principals in findings.known(when, resource, &statement.principals) {
        let measure = (principals.value.len(), limits::STATEMENT_PRINCIPALS, "principals");
        require(findings, &principals.when, on, principals.span, measure);
    }
    let conditions = statement.conditions.as_ref().map_or(0, Vec::len);
    let measure = (conditions, limits::STATEMENT_CONDITIONS, "conditions");
    require(findings, when, on, statement.span, measure);
    if !statement.negates.resources {
        let queues = queues(findings.graph, resource.unit, statement);
        require(findings, when, on, statement.span, (queues.len(), 1, "queues"));
    }
}

/// Requires the number of `what` not to exceed its limit.
fn require(
    findings: &mut Findings<'_>,
    when: &Condition,
    (policy, resource): (&QueuePolicy, &Resource),
    span: Span,
    (count, limit, what): (usize, usize, &'static str),
) {
    let is_within = fact(count <= limit, || format!("{count} {what}, of at most {limit}"));
    findings.require(when, resource, is_within.depending_on(&span), || {
        let shown = match policy.writer {
            PolicyWriter::Queue => format!("the policy of {policy}"),
            _ => policy.to_string(),
        };
        let headline = match what {
            "queues" => format!("a statement of {shown} names {count} queues, and SQS accepts one per statement"),
            "statements" => format!("{shown} has {count} statements, and SQS accepts at most {limit}"),
            "bytes" => format!("{shown} has at least {count} bytes, and SQS accepts at most {limit}"),
            _ => format!("a statement of {shown} has {count} {what}, and SQS accepts at most {limit}"),
        };
        let help = match what {
            "actions" => "allow only the actions that the principals need, such as `sqs:SendMessage`, or `sqs:*`",
            "queues" => "give each queue a policy of its own, whose statements name that queue only",
            _ => "write one statement with a list of ARNs as `aws:SourceArn`, instead of one for each sender",
        };
        Finding::new(what, headline, span, "SQS rejects the policy with \"OverLimit\"").help(help)
    });
}

/// Returns the different queues among the resources of `statement`.
fn queues(graph: &Graph, unit: UnitId, statement: &Statement) -> BTreeSet<String> {
    let links = statement.resources.iter().filter_map(Attribute::known);
    let name = |link: &Link| match graph.queue(unit, link) {
        Some(queue) => Some(queue.resource.shown()),
        None => link
            .external_queue_name()
            .filter(|name| !name.contains(['*', '?', '$']))
            .map(str::to_owned),
    };
    links.filter_map(name).collect()
}

/// Returns the minimum number of bytes of the document as compact JSON: unresolved values count as empty.
fn least_bytes(document: &PolicyDocument) -> usize {
    let certain = document.statements.iter().filter(|one| one.when.is_always());
    certain.map(least_bytes_of).sum()
}

fn least_bytes_of(statement: &Statement) -> usize {
    let links = |all: &[Attribute<Link>]| all.iter().filter_map(Attribute::known).map(least_length).sum::<usize>();
    let actions = statement.actions.known().into_iter().flatten();
    let principals = statement.principals.known().into_iter().flatten();
    let conditions = statement.conditions.iter().flatten();
    r#"{"Effect":"Allow","Principal":{"AWS":},"Action":,"Resource":},"#.len()
        + actions.map(|action| action.len() + 3).sum::<usize>()
        + principals
            .filter_map(|one| one.id.as_ref())
            .map(|id| known_length(id) + 3)
            .sum::<usize>()
        + links(&statement.resources)
        + conditions
            .map(|one| one.operator.len() + one.key.len() + links(&one.values) + 9)
            .sum::<usize>()
}

/// Returns the minimum length of a value, with its quotes and a comma.
fn least_length(link: &Link) -> usize {
    let length = match (&link.target, link.form) {
        (Target::External(text), _) => known_length(text),
        (_, Form::Arn) => "arn:aws:s3:::abc".len(),
        _ => 1,
    };
    length + 3
}

/// Returns the length of a text without its placeholders.
fn known_length(text: &str) -> usize {
    let mut parts = text.split("${");
    let first = parts.next().map_or(0, str::len);
    parts.fold(first, |all, part| {
        all + part.split_once('}').map_or(0, |(_, rest)| rest.len())
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};

    /// Returns `count` texts for a list, each with its number.
    fn list(count: usize, text: &str) -> String {
        let texts: Vec<String> = (0..count).map(|at| text.replace('N', &at.to_string())).collect();
        format!("[{}]", texts.join(", "))
    }

    #[test]
    fn counts_above_the_quotas_are_flagged() {
        let statement = r#"{Effect: Allow, Principal: "*", Action: "sqs:SendMessage", Resource: "*", Sid: "SN"}"#;
        let of = |parts: &str| format!("[{{Effect: Allow, {parts}}}]");
        let actions = |count| {
            of(&format!(
                r#"Principal: "*", Resource: "*", Action: {}"#,
                list(count, "\"sqs:N\"")
            ))
        };
        let principals = |count| {
            of(&format!(
                r#"Action: "sqs:*", Resource: "*", Principal: {{AWS: {}}}"#,
                list(count, "\"N\"")
            ))
        };
        let condition = |count| {
            let keys: Vec<String> = (0..count).map(|at| format!("\"k:{at}\": \"x\"")).collect();
            of(&format!(
                r#"Principal: "*", Action: "sqs:*", Resource: "*", Condition: {{StringEquals: {{{}}}}}"#,
                keys.join(", ")
            ))
        };
        let sources = |count| {
            let arns = list(count, "\"arn:aws:sns:eu-west-1:111122223333:topic-N\"");
            of(&format!(
                r#"Principal: "*", Action: "sqs:*", Resource: "*", Condition: {{ArnLike: {{"aws:SourceArn": {arns}}}}}"#
            ))
        };
        let resources = |list: &str| of(&format!(r#"Principal: "*", Action: "sqs:*", Resource: {list}"#));
        for (statements, expected) in [
            (list(20, statement), 0),
            (list(21, statement), 1),
            (actions(7), 0),
            (actions(8), 1),
            (principals(50), 0),
            (principals(51), 1),
            (condition(10), 0),
            (condition(11), 1),
            (sources(150), 0),
            (sources(200), 1),
            (resources("!GetAtt Q.Arn"), 0),
            (resources("[!GetAtt Q.Arn, !GetAtt Q.Arn]"), 0),
            (resources("[!GetAtt Q.Arn, !GetAtt Other.Arn]"), 1),
            (resources("[!GetAtt Q.Arn, !Ref Open]"), 0),
            (resources(r#"["arn:aws:sqs:*:*:a", "arn:aws:sqs:*:*:b"]"#), 1),
            (resources(r#"["arn:aws:sqs:*:*:a", "arn:aws:sqs:*:*:*"]"#), 0),
        ] {
            for dialect in [CloudFormation, Sam] {
                let text = format!(
                    "
Parameters:
  Open: {{Type: String}}
Resources:
  Q: {{Type: AWS::SQS::Queue}}
  Other: {{Type: AWS::SQS::Queue}}
  P:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Q]
      PolicyDocument: {{Version: '2012-10-17', Statement: {statements}}}
"
                );
                assert_eq!(dialect.findings(&RULE, &text).len(), expected, "{text}");
            }
        }
    }

    #[test]
    fn terraform_policies_are_measured() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" {}
resource "aws_sqs_queue_policy" "p" {
  queue_url = aws_sqs_queue.q.url
  policy    = data.aws_iam_policy_document.d.json
}
data "aws_iam_policy_document" "d" {
  dynamic "statement" {
    for_each = <each>
    content {
      actions   = <actions>
      resources = [aws_sqs_queue.q.arn]
      principals {
        type        = "AWS"
        identifiers = ["111122223333"]
      }
    }
  }
}
"#,
            r#"
            each       | actions                                         | finding
            range(20)  | ["sqs:SendMessage"]                             |
            range(21)  | ["sqs:SendMessage"]                             | 1
            var.open   | ["sqs:SendMessage"]                             |
            [1]        | [for n in range(8) : "sqs:A${n}"]               | 1
            [1]        | [for n in range(7) : "sqs:A${n}"]               |
            [1]        | var.open                                        |
            "#,
        );
    }
}
