//! Flags provisioned pollers of a mapping that Lambda rejects.

use super::prelude::*;
use crate::graph::limits::{MAXIMUM_POLLERS, MINIMUM_POLLERS};
use crate::graph::{Attribute, ProvisionedPollers};
use crate::rules::shared::ranges::out_of_range;
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = rule!(
    "provisioned-pollers-out-of-range",
    Category::Mapping,
    Severity::Error,
    "a mapping has provisioned pollers in a number or a group that Lambda rejects",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for pollers in findings.known(&mapping.resource.when, mapping, &mapping.provisioned_pollers) {
            let Some(bounds) = pollers.value else { continue };
            for (id, attribute, quota) in [
                ("minimum_pollers", &bounds.minimum, &MINIMUM_POLLERS),
                ("maximum_pollers", &bounds.maximum, &MAXIMUM_POLLERS),
            ] {
                range(findings, mapping, id, attribute, quota, &pollers.when);
            }
            order(findings, mapping, bounds, &pollers.when);
            group(findings, mapping, bounds, &pollers.when);
        }
    }
}

fn range(
    findings: &mut Findings<'_>,
    mapping: &EventSourceMapping,
    id: &'static str,
    attribute: &Attribute<Option<i64>>,
    quota: &'static Quota,
    when: &Condition,
) {
    findings.reject_types(when, mapping, id, attribute, Accepts::of("Lambda", quota));
    for number in findings.any_numbers(when, mapping, attribute, quota.unit) {
        findings.require(&number.when, mapping, within(&number, quota), || {
            let headline = format!(
                "{mapping} sets `{}` to {}, but Lambda accepts {} to {} pollers",
                number.name, number.value, quota.least, quota.most
            );
            out_of_range(id, headline, &number, quota)
        });
    }
}

/// Requires that the minimum is not above the maximum.
fn order(findings: &mut Findings<'_>, mapping: &EventSourceMapping, pollers: &ProvisionedPollers, when: &Condition) {
    for minimum in findings.numbers(when, mapping, &pollers.minimum, &MINIMUM_POLLERS) {
        for maximum in findings.numbers(&minimum.when, mapping, &pollers.maximum, &MAXIMUM_POLLERS) {
            findings.require(&maximum.when, mapping, at_most(&minimum, &maximum), || {
                reversed(mapping, &minimum, &maximum)
            });
        }
    }
}

fn reversed(mapping: &EventSourceMapping, minimum: &Operand<'_>, maximum: &Operand<'_>) -> Finding {
    let headline = format!(
        "{mapping} wants at least {} pollers and at most {}, which Lambda rejects",
        minimum.value, maximum.value
    );
    Finding::new(
        "minimum_pollers",
        headline,
        minimum,
        format!("at least {}", minimum.shown()),
    )
    .label(maximum, format!("at most {}", maximum.shown()))
    .help(format!("set `{}` to {} or more", maximum.name, minimum.value))
}

/// Requires that a mapping of a queue has no poller group.
fn group(findings: &mut Findings<'_>, mapping: &EventSourceMapping, pollers: &ProvisionedPollers, when: &Condition) {
    for group in findings.known(when, mapping, &pollers.group) {
        let Some(name) = group.value else { continue };
        for source in findings.polled_queues(mapping, &group.when) {
            let headline = format!(
                "{mapping} puts the pollers of {} into the group `{name}`, but only mappings of Kafka have poller groups",
                source.shown
            );
            let finding = Finding::new("poller_group", headline, &group, "a poller group on a queue")
                .help(format!("remove `{}`", group.name))
                .fix(group.removal());
            findings.report(&source.when, mapping, finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::stack;

    #[test]
    fn both_ends_of_the_ranges_are_accepted() {
        stack().check(
            &RULE,
            "
            mapping.minimum_pollers | mapping.maximum_pollers | finding
            2                       | 2                       |
            200                     | 10000                   |
            200                     |                         |
            open                    | 2                       |
            1                       |                         | mapping.minimum_pollers
            201                     |                         | mapping.minimum_pollers
            500                     | 600                     | mapping.minimum_pollers
                                    | 1                       | mapping.maximum_pollers
                                    | 2001                    |
                                    | 10001                   | error mapping.maximum_pollers
            6                       | 5                       | mapping.minimum_pollers
            // Only the range is reported.
            201                     | 5                       | mapping.minimum_pollers
            ",
        );
    }

    #[test]
    fn poller_group_on_queue_is_flagged() {
        stack().check(
            &RULE,
            "
            mapping.source | mapping.minimum_pollers | mapping.poller_group | finding
                           | 2                       | g                    | mapping.poller_group
                           | 1                       | g                    | mapping.minimum_pollers, mapping.poller_group
            ",
        );
        let table = "mapping.source | mapping.poller_group | finding\n open | g |";
        stack().only(&[Terraform, CloudFormation]).check(&RULE, table);
    }

    #[test]
    fn empty_configuration_is_accepted() {
        let text = r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:q"
  function_name    = "f"
  provisioned_poller_config {}
}
"#;
        Terraform.check(&RULE, text);
    }
}
