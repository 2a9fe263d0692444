//! Flags batch sizes that Lambda rejects for every kind of source.

use super::prelude::*;
use crate::graph::limits::BATCH_SIZE;
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = rule!(
    "batch-size-out-of-range",
    Category::Mapping,
    Severity::Error,
    "a mapping has a batch size that Lambda rejects",
    fix = Some(Safety::Unsafe)
);

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        let (batch, accepts) = (&mapping.batch_size, Accepts::of("Lambda", &BATCH_SIZE));
        findings.reject_types(&mapping.resource.when, mapping, "batch_size", batch, accepts);
        for batch in findings.batch_sizes(&mapping.resource.when, mapping) {
            let mut when = batch.when.clone();
            if batch.value > BATCH_SIZE.most {
                // `fifo-batch-size-too-large` reports FIFO queues.
                for source in findings.without_notes(|findings| findings.sources(graph, mapping, &batch.when)) {
                    if source.fifo {
                        findings.leave_to_rule_of(&source.when, mapping, &[&batch, &source], Cause::FifoBatch);
                        when = when.and(&source.when.not());
                    }
                }
            }
            findings.require(&when, mapping, within(&batch, &BATCH_SIZE), || {
                out_of_range(mapping, &batch)
            });
        }
    }
}

fn out_of_range(mapping: &EventSourceMapping, batch: &Operand<'_>) -> Finding {
    let (least, most) = (BATCH_SIZE.least, BATCH_SIZE.most);
    let headline = format!(
        "{} has a batch size of {}, but Lambda accepts {least} to {most} messages",
        mapping.resource.shown(),
        batch.value
    );
    let label = format!("{} is outside {least} to {most}", batch.shown());
    Finding::new("batch_size", headline, batch, label)
        .help(format!("set `{}` to a value from {least} to {most}", batch.name))
        .fix(batch.set_to(batch.value.clamp(least, most)))
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
