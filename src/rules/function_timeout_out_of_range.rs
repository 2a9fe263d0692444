//! Flags function timeouts that Lambda rejects.

use super::prelude::*;
use crate::rules::shared::wrong_types::Accepts;

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
        let accepts = Accepts::of("Lambda", &limits::FUNCTION_TIMEOUT);
        findings.reject_types(&function.resource.when, function, "timeout", &function.timeout, accepts);
        for timeout in findings.any_numbers(&function.resource.when, function, &function.timeout, Unit::Seconds) {
            for (when, quota) in findings.timeout_quotas(function, &timeout) {
                findings.require(&when, function, within(&timeout, quota), || {
                    out_of_range(function, &timeout, quota)
                });
            }
        }
    }
}

fn out_of_range(function: &Function, timeout: &Operand<'_>, quota: &Quota) -> Finding {
    let (value, name, most) = (timeout.value, timeout.name, quota.most);
    let headline = format!(
        "{} has a timeout of {value} s, but Lambda accepts 1 s to {most} s",
        function.resource.shown()
    );
    let label = format!("{} is outside 1 s to {most} s", timeout.shown());
    let finding = Finding::new("timeout", headline, timeout, label);
    let meant = value / 1000;
    if value < quota.least {
        finding.help(format!("set `{name}` to 1 or more"))
    } else if value % 1000 == 0 && quota.accepts(meant) {
        finding
            .help(format!("{value} looks like milliseconds: set `{name}` to {meant}"))
            .fix(timeout.set_to(meant))
    } else {
        finding
            .help(format!(
                "set `{name}` to {most} or less, and move work that takes longer out of the function"
            ))
            .fix(timeout.set_to(most))
    }
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
    fn managed_instances_have_a_higher_limit() {
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
