//! Flags functions with tenant isolation that poll a queue.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "tenant-isolation-with-queue",
    Category::Mapping,
    Severity::Error,
    "a mapping invokes a function with tenant isolation, which needs a tenant id that no mapping passes"
);

/// Mode in which each tenant has environments of its own.
const PER_TENANT: &str = "PER_TENANT";

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for (assumed, function) in findings.graph.functions_of(mapping, &mapping.resource.when) {
            for mode in findings.known(&assumed, function, &function.tenant_isolation) {
                let is_shared = mode.value.as_deref() != Some(PER_TENANT);
                let is_shared = fact(is_shared, || "all tenants share environments".to_owned()).depending_on(&mode);
                if findings.satisfied(&mode.when, mapping, is_shared) {
                    continue;
                }
                for source in findings.sources(mapping, &mode.when) {
                    findings.report(&source.when, mapping, isolated(function, mapping, &mode));
                }
            }
        }
    }
}

fn isolated(function: &Function, mapping: &EventSourceMapping, mode: &Known<'_, Option<String>>) -> Finding {
    let (shown, mapping_shown) = (function.resource.shown(), mapping.resource.shown());
    let headline = format!(
        "{mapping_shown} invokes {shown}, which isolates tenants, without a tenant id, so no message is processed"
    );
    let label = format!("Lambda invokes {shown} only with a tenant id{}", mode.provenance());
    Finding::new("tenant_isolation", headline, mode, label)
        .label(mapping.resource.header, format!("{mapping_shown} passes none"))
        .help(
            "let the queue invoke another function, which reads the tenant from the message and invokes this one with its \
             id, or remove the tenant isolation",
        )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::stack;

    #[test]
    fn isolated_function_of_a_queue_is_flagged() {
        stack().only(&[Terraform, CloudFormation, Sam]).check(
            &RULE,
            "
            function.tenant_isolation | mapping.source                                    | finding
            PER_TENANT                |                                                   | function.tenant_isolation
            null                      |                                                   |
            open                      |                                                   |
            PER_TENANT                | arn:aws:kinesis:eu-west-1:111122223333:stream/s   |
            ",
        );
    }
}
