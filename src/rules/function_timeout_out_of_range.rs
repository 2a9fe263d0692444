//! Flags function timeouts that Lambda does not accept.

use super::{Category, Findings, Rule, Set};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::limits::FUNCTION_TIMEOUT;
use crate::graph::{Function, Graph};
use crate::operands::Operand;

pub(super) static RULE: Rule = Rule {
    id: "function-timeout-out-of-range",
    category: Category::Visibility,
    severity: Severity::Error,
    set: Set::Default,
    summary: "Lambda does not accept the function timeout",
    page: include_str!("../../rules/function-timeout-out-of-range.md"),
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for function in graph.functions() {
        let resource = &function.resource;
        for timeout in findings.known(&resource.when, resource, &function.timeout) {
            let timeout = Operand::new(&timeout, timeout.value.0);
            for (world, most) in findings.most_run_time(function, &timeout.world, timeout.value) {
                if !(*FUNCTION_TIMEOUT.start()..=most).contains(&timeout.value) {
                    let diagnostic = out_of_range(findings, function, &timeout, most);
                    findings.report(&world, resource, diagnostic);
                }
            }
        }
    }
}

fn out_of_range(findings: &Findings<'_>, function: &Function, timeout: &Operand<'_>, most: i64) -> Diagnostic {
    let (value, name) = (timeout.value, timeout.name);
    let headline = format!(
        "{} has a timeout of {value} s, but Lambda accepts 1 s to {most} s",
        function.resource.shown()
    );
    let diagnostic = findings.diagnostic(
        Severity::Error,
        &function.resource,
        "timeout",
        headline,
        timeout.span,
        format!("{}, outside 1 s to {most} s", timeout.seconds()),
    );
    let help = match value {
        ..1 => format!("set `{name}` to 1 or more"),
        _ if value % 1000 == 0 && value / 1000 <= most => {
            format!("{value} looks like milliseconds: set `{name}` to {}", value / 1000)
        }
        _ => format!("set `{name}` to {most} or less, and move work that takes longer out of the function"),
    };
    timeout.trace(diagnostic).help(help)
}
