//! Flags functions with a reserved concurrency of 0 that an enabled mapping invokes.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "reserved-concurrency-zero",
    Category::Mapping,
    Severity::Warning,
    "a function that a mapping invokes has a reserved concurrency of 0, so it never runs"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for (assumed, function) in findings.graph.functions_of(mapping, &mapping.resource.when) {
            let reserved = &function.reserved_concurrency;
            for reserved in findings.any_numbers(&assumed, function, reserved, Unit::Invocations) {
                if findings.satisfied(&reserved.when, function, above(&reserved, 0)) {
                    continue;
                }
                for enabled in findings.known(&reserved.when, mapping, &mapping.enabled) {
                    let is_off = fact(!enabled.value, || format!("{mapping} is disabled"));
                    findings.require(
                        &enabled.when,
                        function,
                        is_off.depending_on(&reserved).depending_on(&enabled),
                        || zero(function, mapping, &reserved),
                    );
                }
            }
        }
    }
}

fn zero(function: &Function, mapping: &EventSourceMapping, reserved: &Operand<'_>) -> Finding {
    let headline = format!(
        "{function} has a reserved concurrency of 0, so Lambda throttles every message that {mapping} receives"
    );
    let label = format!("{}: the function never runs", reserved.shown());
    let reads = format!("{mapping} reads a queue for it");
    Finding::new("reserved_concurrency", headline, reserved, label)
        .label(mapping.resource.header, reads)
        .help(format!(
            "set `{}` to 1 or more, or disable {mapping} to stop processing without using up receives",
            reserved.name
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{queue, stack};

    #[test]
    fn zero_is_flagged_if_a_mapping_polls() {
        stack().check(
            &RULE,
            "
            function.reserved_concurrency | mapping.enabled | finding
            0                             |                 | function.reserved_concurrency
            0                             | true            | function.reserved_concurrency
            0                             | false           |
            0                             | open            |
            1                             |                 |
            -1                            |                 |
            null                          |                 |
            open                          |                 |
            ",
        );
    }

    #[test]
    fn function_without_mapping_is_ignored() {
        queue().check(&RULE, "function.reserved_concurrency | finding\n 0 |");
    }
}
