//! Flags mappings that invoke a function directly although only one of its aliases or versions has provisioned
//! concurrency.

use super::prelude::*;
use crate::graph::ProvisionedConcurrency;

pub(super) static RULE: Rule = rule!(
    "provisioned-concurrency-bypassed",
    Category::Mapping,
    Severity::Info,
    "a mapping invokes the function itself, so the provisioned concurrency of its alias is never used"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for (assumed, function) in findings.graph.functions_of(mapping, &mapping.resource.when) {
            let has_none = fact(function.provisioned.is_empty(), || {
                format!("no alias or version of {function} has provisioned concurrency")
            });
            let has_none = has_none.depending_on(&function.resource.header);
            // Whatever else invokes the function may invoke the alias.
            if findings.satisfied(&assumed, mapping, has_none)
                || is_invoked_otherwise(findings.graph, mapping, function)
            {
                continue;
            }
            for enabled in findings.known(&assumed, mapping, &mapping.enabled) {
                if !enabled.value {
                    continue;
                }
                for qualifier in findings.known(&enabled.when, mapping, &mapping.qualifier) {
                    for provisioned in &function.provisioned {
                        let is_used = fact(!is_unqualified(qualifier.value.as_deref()), || {
                            format!("{mapping} invokes an alias or version of {function}")
                        });
                        let when = qualifier.when.and(&provisioned.when);
                        findings.require(&when, mapping, is_used.depending_on(&qualifier), || {
                            bypassed(mapping, function, &qualifier, provisioned)
                        });
                    }
                }
            }
        }
    }
}

/// Returns `true` if a mapping other than `this` names an alias or version of `function`, or may, or something else may
/// invoke it.
fn is_invoked_otherwise(graph: &Graph, this: &EventSourceMapping, function: &Function) -> bool {
    let names_alias = |mapping: &EventSourceMapping| {
        let mut cases = mapping.qualifier.cases.iter();
        cases.any(|case| case.value().is_none_or(|name| !is_unqualified(name.as_deref())))
    };
    let mappings = graph.mappings_of(function).into_iter();
    let mut others = mappings.filter(|(_, mapping)| !std::ptr::eq(*mapping, this));
    others.any(|(_, mapping)| names_alias(mapping)) || !graph.invocations_of(function).is_empty()
}

/// Returns `true` if a mapping with this qualifier invokes the unpublished version of its function.
fn is_unqualified(qualifier: Option<&str>) -> bool {
    qualifier.is_none_or(|name| name == "$LATEST")
}

fn bypassed(
    mapping: &EventSourceMapping,
    function: &Function,
    qualifier: &Known<'_, Option<String>>,
    provisioned: &ProvisionedConcurrency,
) -> Finding {
    let headline = format!(
        "{mapping} invokes {function} without a qualifier, so messages never use the provisioned concurrency of `{}`",
        provisioned.resource
    );
    let label = "this invokes `$LATEST`, which has no provisioned concurrency";
    Finding::new("function", headline, qualifier, label)
        .label(
            provisioned.span,
            "paid for, and not used by any invocation in these files",
        )
        .help(format!(
            "set `{}` to the alias or version that has the provisioned concurrency",
            qualifier.name
        ))
}
