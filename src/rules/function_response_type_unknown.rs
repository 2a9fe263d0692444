//! Flags response types that Lambda does not support.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "function-response-type-unknown",
    Category::Mapping,
    Severity::Error,
    "a mapping asks for a response type that Lambda does not have"
);

/// Only supported response type.
const KNOWN: &str = "ReportBatchItemFailures";

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for response in &mapping.response_types {
            for name in findings.known(&mapping.resource.when.and(&response.when), mapping, &response.name) {
                if response.is_bare {
                    findings.report(&name.when, mapping, bare(mapping, &name));
                    continue;
                }
                let is_known = fact(name.value == KNOWN, || format!("`{KNOWN}`")).depending_on(&name);
                findings.require(&name.when, mapping, is_known, || unknown(mapping, &name));
            }
        }
    }
}

fn bare(mapping: &EventSourceMapping, name: &Known<'_, String>) -> Finding {
    let headline = format!(
        "{mapping} has a single value in `{}`, which must be a list, so its deployment fails",
        name.name
    );
    let label = format!("`{}` is not a list{}", name.value, name.provenance());
    Finding::new("response_types", headline, name, label).help(format!("write a list: `[{KNOWN}]`"))
}

fn unknown(mapping: &EventSourceMapping, name: &Known<'_, String>) -> Finding {
    let headline = format!(
        "{mapping} asks for the response type `{}`, but Lambda has only `{KNOWN}`",
        name.value
    );
    let label = format!("Lambda rejects the response type `{}`{}", name.value, name.provenance());
    Finding::new("response_types", headline, name, label).help(format!("write `{KNOWN}`"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::stack;

    /// The Serverless Framework writes the list itself.
    #[test]
    fn response_type_without_a_list_is_flagged() {
        stack().only(&[Terraform, CloudFormation, Sam]).check(
            &RULE,
            r"
            mapping.response_types  | finding
            ReportBatchItemFailures | mapping.response_types
            Unknown                 | mapping.response_types
            open                    |
            null                    |
            ",
        );
    }

    #[test]
    fn response_type_other_than_the_supported_one_is_flagged() {
        stack().check(
            &RULE,
            r#"
            mapping.response_types           | finding
            [ReportBatchItemFailures]        |
            [ReportBatchItemFailures, open]  |
            []                               |
            null                             |
            open                             |
            [open]                           |
            [ReportBatchItemFailure]         | mapping.response_types
            [reportBatchItemFailures]        | mapping.response_types
            [""]                             | mapping.response_types
            [open, ReportBatchItemsFailures] | mapping.response_types
            "#,
        );
    }
}
