//! Flags function timeouts that Lambda does not accept.

use super::{Category, Findings, Rule, Set};
use crate::diagnostic::{Diagnostic, Remedy, Safety, Severity};
use crate::graph::limits::FUNCTION_TIMEOUT;
use crate::graph::{Function, Graph};
use crate::rules::shared::operands::Operand;

pub(super) static RULE: Rule = Rule {
    id: "function-timeout-out-of-range",
    category: Category::Visibility,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "Lambda does not accept the function timeout",
    page: include_str!("../../rules/function-timeout-out-of-range.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for function in graph.functions() {
        let resource = &function.resource;
        for timeout in findings.known(&resource.when, resource, &function.timeout) {
            let timeout = Operand::new(&timeout, timeout.value.0);
            for (world, most) in findings.most_run_time(function, &timeout.world, timeout.value) {
                if (*FUNCTION_TIMEOUT.start()..=most).contains(&timeout.value) {
                    findings.holds(&world, resource, &[&timeout], || {
                        format!("1 s ≤ {} s ≤ {most} s", timeout.value)
                    });
                } else {
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
    let (help, wanted) = match value {
        ..1 => (format!("set `{name}` to 1 or more"), None),
        _ if value % 1000 == 0 && value / 1000 <= most => {
            let meant = value / 1000;
            let help = format!("{value} looks like milliseconds: set `{name}` to {meant}");
            (help, Some(meant))
        }
        _ => {
            let help = format!("set `{name}` to {most} or less, and move work that takes longer out of the function");
            (help, Some(most))
        }
    };
    let write = |value| Remedy::not_safe(timeout.write(&function.resource, value));
    timeout.trace(diagnostic).help(help).remedy(wanted.map(write))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::RULE;
    use crate::testing::{Dialect, check, findings};

    fn terraform(timeout: &str) -> String {
        format!("variable \"open\" {{}}\nresource \"aws_lambda_function\" \"worker\" {{\n{timeout}\n}}\n")
    }

    #[test]
    fn both_ends_of_the_range_are_accepted() {
        for timeout in ["", "timeout = 1", "timeout = 900", "timeout = var.open"] {
            check(&RULE, Dialect::Terraform, &terraform(timeout));
        }
        for timeout in ["timeout = 0", "timeout = -5", "timeout = 901", "timeout = 30000"] {
            let text = terraform(&format!("{timeout} # expect: function-timeout-out-of-range"));
            check(&RULE, Dialect::Terraform, &text);
        }
    }

    #[test]
    fn milliseconds_are_recognized() {
        let help = |timeout: &str| findings(&RULE, Dialect::Terraform, &terraform(timeout))[0].help.clone();
        assert_eq!(
            help("timeout = 30000").as_deref(),
            Some("30000 looks like milliseconds: set `timeout` to 30")
        );
        assert!(help("timeout = 3600").unwrap().contains("to 900 or less"));
        assert!(help("timeout = 0").unwrap().contains("to 1 or more"));
    }

    #[test]
    fn managed_instances_run_for_longer() {
        let text = |timeout: &str| {
            format!(
                "
Resources:
  Worker:
    Type: AWS::Lambda::Function
    Properties:
      Timeout: {timeout}
      CapacityProviderConfig:
        LambdaManagedInstancesCapacityProviderConfig: {{CapacityProviderArn: some-arn}}
"
            )
        };
        check(&RULE, Dialect::CloudFormation, &text("5400"));
        check(
            &RULE,
            Dialect::CloudFormation,
            &text("5401 # expect: function-timeout-out-of-range"),
        );
    }
}
