//! Flags mappings that set both provisioned pollers and a maximum concurrency.

use super::prelude::*;
use crate::graph::ProvisionedPollers;

pub(super) static RULE: Rule = rule!(
    "provisioned-pollers-with-maximum-concurrency",
    Category::Mapping,
    Severity::Error,
    "a mapping has provisioned pollers and a maximum concurrency, which exclude each other"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        let concurrency = &mapping.maximum_concurrency;
        for pollers in findings.known(&mapping.resource.when, mapping, &mapping.provisioned_pollers) {
            let Some(bounds) = pollers.value else {
                for maximum in findings.any_numbers(&pollers.when, mapping, concurrency, Unit::Invocations) {
                    let alone = fact(true, || format!("`{}` stands alone", maximum.name));
                    findings.satisfied(
                        &maximum.when,
                        mapping,
                        alone.depending_on(&maximum).depending_on(&pollers),
                    );
                }
                continue;
            };
            for when in not_empty(findings, mapping, bounds, &pollers.when) {
                for maximum in findings.any_numbers(&when, mapping, concurrency, Unit::Invocations) {
                    findings.report(&maximum.when, mapping, both(mapping, &maximum, &pollers));
                }
            }
        }
    }
}

/// Returns the conditions in `when` under which at least one bound of the pollers is set.
fn not_empty(
    findings: &mut Findings<'_>,
    mapping: &EventSourceMapping,
    pollers: &ProvisionedPollers,
    when: &Condition,
) -> Vec<Condition> {
    let mut all = Vec::new();
    for minimum in findings.known(when, mapping, &pollers.minimum) {
        if minimum.value.is_some() {
            all.push(minimum.when);
            continue;
        }
        let maximum = findings.known(&minimum.when, mapping, &pollers.maximum);
        let set = maximum.into_iter().filter(|maximum| maximum.value.is_some());
        all.extend(set.map(|maximum| maximum.when));
    }
    all
}

fn both(
    mapping: &EventSourceMapping,
    maximum: &Operand<'_>,
    pollers: &Known<'_, Option<Box<ProvisionedPollers>>>,
) -> Finding {
    let headline = format!(
        "{mapping} has provisioned pollers and a maximum concurrency of {}, but Lambda accepts only one of the two",
        maximum.value
    );
    let label = format!("a maximum concurrency of {}", maximum.shown());
    Finding::new("maximum_concurrency", headline, maximum, label)
        .label(pollers, "provisioned pollers limit the concurrency themselves")
        .help(format!("remove `{}` or `{}`", maximum.name, pollers.name))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn pollers_with_maximum_concurrency_are_flagged() {
        stack().check(
            &RULE,
            "
            mapping.minimum_pollers | mapping.maximum_pollers | mapping.concurrency | finding
            2                       |                         | 5                   | mapping.concurrency
                                    | 5                       | 5                   | mapping.concurrency
            2                       | open                    | 5                   | mapping.concurrency
            2                       |                         |                     |
                                    |                         | 5                   |
            open                    |                         | 5                   |
            2                       |                         | open                |
            ",
        );
    }
}
