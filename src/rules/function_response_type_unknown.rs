//! Flags response types that Lambda does not support.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "function-response-type-unknown",
    category: Category::Mapping,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "a mapping asks for a response type that Lambda does not have",
    page: include_str!("../../rules/function-response-type-unknown.md"),
    settings: &[],
    check: Some(check),
};

/// Only supported response type.
const KNOWN: &str = "ReportBatchItemFailures";

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for response in &mapping.response_types {
            for name in findings.known(&mapping.resource.when.and(&response.when), mapping, &response.name) {
                let is_known = fact(name.value == KNOWN, || format!("`{KNOWN}`")).depending_on(&name);
                findings.require(&name.when, mapping, is_known, || unknown(mapping, &name));
            }
        }
    }
}

fn unknown(mapping: &EventSourceMapping, name: &Known<'_, String>) -> Finding {
    let headline = format!(
        "{} asks for the response type `{}`, but Lambda has only `{KNOWN}`",
        mapping.resource.shown(),
        name.value
    );
    let label = format!("Lambda rejects the response type `{}`{}", name.value, name.provenance());
    Finding::new("response_types", headline, name, label).help(format!("write `{KNOWN}`"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn response_type_other_than_the_supported_one_is_flagged() {
        stack().check(
            &RULE,
            r#"
            mapping.response_types           | finding
            [ReportBatchItemFailures]        |
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
