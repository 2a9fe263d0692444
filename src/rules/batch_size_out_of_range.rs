//! Flags batch sizes that Lambda rejects for every kind of source.

use super::prelude::*;
use crate::graph::limits::BATCH_SIZE;

pub(super) static RULE: Rule = rule!(
    "batch-size-out-of-range",
    Category::Mapping,
    Severity::Error,
    "a mapping has a batch size that Lambda rejects",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        let checked = ("batch_size", &mapping.batch_size, &BATCH_SIZE);
        // `fifo-batch-size-too-large` reports FIFO queues.
        findings.require_range(mapping, checked, Cause::FifoBatch, |batch| {
            format!(
                "{mapping} has a batch size of {}, but Lambda accepts {} to {} messages",
                batch.value, BATCH_SIZE.least, BATCH_SIZE.most
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::stack;

    #[test]
    fn both_ends_of_the_range_are_accepted() {
        stack().check(
            &RULE,
            r#"
            mapping.batch_size | queue.fifo | except     | finding
            1                  |            |            |
            10000              |            |            |
            open               |            |            |
            null               |            |            |
            // The Serverless Framework replaces it by the default.
            0                  |            | Serverless | mapping.batch_size
            -1                 |            |            | mapping.batch_size
            10001              |            |            | mapping.batch_size
            "10001"            |            |            | mapping.batch_size
            // Another rule reports large batches of FIFO queues.
            10001              | true       |            |
            0                  | true       | Serverless | mapping.batch_size
            "#,
        );
    }

    #[test]
    fn unresolved_source_is_judged_by_largest_limit() {
        let table = "mapping.source | mapping.batch_size | finding\n open | 10001 | mapping.batch_size";
        stack().only(&[Terraform, CloudFormation]).check(&RULE, table);
    }

    #[test]
    fn headline_names_accepted_range() {
        stack().only(&[Terraform]).check(
            &RULE,
            "
            mapping.batch_size | finding            | headline
            20000              | mapping.batch_size | `aws_lambda_event_source_mapping.orders` has a batch size of 20000, but Lambda accepts 1 to 10000 messages
            ",
        );
    }
}
