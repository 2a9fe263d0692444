//! Reports mappings with filters: Lambda deletes every message that no filter matches.

use super::prelude::*;
use crate::graph::Attribute;
use crate::rules::shared::queue_types::PolledQueue;
use crate::rules::shared::rivals::pairs;
use rustc_hash::FxHashMap;

pub(super) static RULE: Rule = rule!(
    "filter-discards-messages",
    Category::Mapping,
    Severity::Info,
    "messages that a mapping's filters do not match are deleted, without a dead-letter queue"
);

fn check(findings: &mut Findings<'_>) {
    // Conditions under which queues have competing consumers.
    let mut contested = FxHashMap::default();
    for mapping in findings.graph.mappings() {
        for filters in findings.known(&mapping.resource.when, mapping, &mapping.filters) {
            for source in findings.polled_queues(mapping, &filters.when) {
                let has_none = fact(filters.value.is_empty(), || "no filters".to_owned()).depending_on(&filters);
                if findings.satisfied(&source.when, mapping, has_none) {
                    continue;
                }
                // `queue-competing-filters` reports queues with another consumer for these messages.
                let when = source.queue.map_or_else(
                    || source.when.clone(),
                    |queue| {
                        let contested = contested.entry((queue.resource.unit, &queue.resource.address));
                        let contested = contested.or_insert_with(|| {
                            let rivals = findings.competing_consumers(queue);
                            let pairs = pairs(&rivals, |_, _| true);
                            pairs.iter().fold(Condition::never(), |all, pair| all.or(&pair.when))
                        });
                        source.when.and(&contested.not())
                    },
                );
                findings.report(&when, mapping, discards(mapping, &filters, &source));
            }
        }
    }
}

fn discards(
    mapping: &EventSourceMapping,
    filters: &Known<'_, Vec<Attribute<String>>>,
    source: &PolledQueue<'_>,
) -> Finding {
    let headline = format!(
        "{mapping} deletes messages of {} that its filters do not match: they reach no dead-letter queue",
        source.shown
    );
    Finding::new(
        "filters",
        headline,
        filters,
        "a message that matches none of these is deleted, and so is one whose body is not JSON",
    )
    .help("filter in the SNS subscription or the EventBridge rule if someone may need the other messages")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::stack;

    #[test]
    fn filter_on_queue_is_flagged() {
        stack().check(
            &RULE,
            r#"
            mapping.pattern      | mapping.source                       | finding
            {"body": {"a": [1]}} |                                      | 1
            {"body": {"a": [1]}} | arn:aws:sqs:eu-west-1:111122223333:q | 1
                                 |                                      |
            "#,
        );
        stack()
            .only(&[Terraform, CloudFormation])
            .mapping("source", "open")
            .check(
                &RULE,
                r#"
            mapping.pattern      | mapping.starting_position | finding
            // A source without a starting position is a queue.
            {"body": {"a": [1]}} |                           | 1
            {"body": {"a": [1]}} | LATEST                    |
            "#,
            );
    }

    #[test]
    fn queue_with_another_consumer_is_left_to_other_rule() {
        let other = r#"
resource "aws_lambda_event_source_mapping" "other" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = "g"
}"#;
        stack()
            .terraform(other)
            .check(&RULE, "mapping.pattern | finding\n {\"body\": {\"a\": [1]}} |");
    }
}
