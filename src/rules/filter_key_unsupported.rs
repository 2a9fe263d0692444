//! Flags filters on parts of a message to which filters of queues have no access.

use super::prelude::*;
use crate::rules::shared::patterns::parse;
use crate::rules::shared::queue_types::PolledQueue;

pub(super) static RULE: Rule = Rule {
    id: "filter-key-unsupported",
    category: Category::Mapping,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "a filter on a queue asks for something other than the message body, so it matches nothing",
    page: include_str!("../../rules/filter-key-unsupported.md"),
    settings: &[],
    check: Some(check),
};

/// Only part of a message to which filters apply.
const BODY: &str = "body";

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for filters in findings.known(&mapping.resource.when, mapping, &mapping.filters) {
            for pattern in filters.value {
                for pattern in findings.known(&filters.when, mapping, pattern) {
                    let Some(Ok(object)) = parse(pattern.value) else {
                        continue;
                    };
                    // An operator such as `$or` contains further patterns.
                    let mut others = object.keys().filter(|key| *key != BODY && !key.starts_with('$'));
                    let other = others.next();
                    for source in findings.polled_queues(graph, mapping, &pattern.when) {
                        let is_body =
                            fact(other.is_none(), || "asks for the body only".to_owned()).depending_on(&pattern);
                        findings.require(&source.when, mapping, is_body, || {
                            unsupported(mapping, &pattern, &source, other.map_or("", |key| key))
                        });
                    }
                }
            }
        }
    }
}

fn unsupported(
    mapping: &EventSourceMapping,
    pattern: &Known<'_, String>,
    source: &PolledQueue<'_>,
    key: &str,
) -> Finding {
    let headline = format!(
        "{} filters messages of {} by `{key}`, but filters of queues see only `{BODY}`",
        mapping.resource.shown(),
        source.shown
    );
    Finding::new("filters", headline, pattern, format!("`{key}` stands beside `{BODY}`")).help(format!(
        "put what the filter asks for into `{BODY}`, and let the sender write it there; to filter by attributes, use the filter policy of an SNS subscription"
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(source: &str, pattern: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = {source}
  function_name    = "f"
  filter_criteria {{
    filter {{
      pattern = {pattern}
    }}
  }}
}}
"#
        )
    }

    const QUEUE: &str = "\"arn:aws:sqs:eu-west-1:111122223333:q\"";

    #[test]
    fn filter_on_other_key_than_body_is_flagged() {
        for (source, pattern) in [
            (QUEUE, "jsonencode({ body = { a = [1] } })"),
            (QUEUE, "jsonencode({})"),
            (QUEUE, "jsonencode({ \"$or\" = [{ body = { a = [1] } }] })"),
            (QUEUE, "var.open"),
            (QUEUE, "\"no json\""),
            (
                "var.open\n starting_position = \"LATEST\"",
                "jsonencode({ messageAttributes = { a = [1] } })",
            ),
        ] {
            check(&RULE, Terraform, &terraform(source, pattern));
        }
        for pattern in [
            "jsonencode({ messageAttributes = { a = [1] } })",
            "jsonencode({ body = { a = [1] }, kind = [1] })",
            "jsonencode({ Body = { a = [1] } })",
        ] {
            let expected = format!("{pattern} # expect: filter-key-unsupported");
            check(&RULE, Terraform, &terraform(QUEUE, &expected));
        }
    }

    #[test]
    fn cloudformation_filter_is_flagged() {
        check(
            &RULE,
            CloudFormation,
            r#"
Resources:
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:q
      FunctionName: f
      FilterCriteria:
        Filters:
          - Pattern: '{"messageAttributes": {"kind": ["order"]}}' # expect: filter-key-unsupported
"#,
        );
        check(
            &RULE,
            Sam,
            r#"
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E:
          Type: SQS
          Properties:
            Queue: arn:aws:sqs:eu-west-1:111122223333:q
            FilterCriteria:
              Filters:
                - Pattern: '{"kind": ["order"]}' # expect: filter-key-unsupported
"#,
        );
    }
}
