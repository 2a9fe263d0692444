//! Flags filters on parts of a message to which filters of queues have no access.

use super::prelude::*;
use crate::rules::shared::patterns::parse;
use crate::rules::shared::queue_types::PolledQueue;

pub(super) static RULE: Rule = rule!(
    "filter-key-unsupported",
    Category::Mapping,
    Severity::Warning,
    "a filter on a queue asks for something other than the message body, so it matches nothing"
);

/// Only part of a message to which filters apply.
const BODY: &str = "body";

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for filters in findings.known(&mapping.resource.when, mapping, &mapping.filters) {
            for pattern in filters.value {
                for pattern in findings.known(&filters.when, mapping, pattern) {
                    let Some(Ok(object)) = parse(pattern.value) else {
                        continue;
                    };
                    // An operator such as `$or` contains further patterns.
                    let mut others = object.keys().filter(|key| *key != BODY && !key.starts_with('$'));
                    let other = others.next();
                    for source in findings.polled_queues(mapping, &pattern.when) {
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
        "{mapping} filters messages of {} by `{key}`, but filters on queues match only `{BODY}`",
        source.shown
    );
    Finding::new("filters", headline, pattern, format!("`{key}` is next to `{BODY}`")).help(format!(
        "let the sender put the value into the message, and filter by `{BODY}`; to filter by attributes, use the filter policy of an SNS subscription"
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::stack;

    #[test]
    fn filter_on_other_key_than_body_is_flagged() {
        stack().check(
            &RULE,
            r#"
            mapping.pattern                   | finding
            {"body": {"a": [1]}}              |
            {}                                |
            {"$or": [{"body": {"a": [1]}}]}   |
            open                              |
            no json                           |
            {"messageAttributes": {"a": [1]}} | mapping.pattern
            {"body": {"a": [1]}, "kind": [1]} | mapping.pattern
            {"Body": {"a": [1]}}              | mapping.pattern
            {"kind": ["order"]}               | mapping.pattern
            "#,
        );
        stack().only(&[Terraform]).check(
            &RULE,
            "
            mapping.source | mapping.starting_position | mapping.pattern                                   | finding
                           |                           | = jsonencode({ body = { a = [1] } })              |
                           |                           | = jsonencode({ messageAttributes = { a = [1] } }) | mapping.pattern
            open           | LATEST                    | = jsonencode({ messageAttributes = { a = [1] } }) |
            ",
        );
    }
}
