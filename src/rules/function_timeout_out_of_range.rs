//! Flags function timeouts that Lambda rejects.

use super::prelude::*;
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = rule!(
    "function-timeout-out-of-range",
    Category::Visibility,
    Severity::Error,
    "Lambda does not accept the function timeout",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for function in findings.graph.functions() {
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
    let headline = format!("{function} has a timeout of {value} s, but Lambda accepts 1 s to {most} s");
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
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::stack;

    #[test]
    fn both_ends_of_the_range_are_accepted() {
        stack().check(
            &RULE,
            "
            function.timeout | function.capacity_provider | except     | finding
                             |                            |            |
            1                |                            |            |
            1800             |                            |            |
            open             |                            |            |
            // The Serverless Framework replaces it by the default.
            0                |                            | Serverless | function.timeout
            -5               |                            |            | function.timeout
            1801             |                            |            | function.timeout
            30000            |                            |            | function.timeout
            // Managed instances have a higher limit.
            5400             | arn                        |            |
            5401             | arn                        |            | function.timeout
            ",
        );
    }

    #[test]
    fn milliseconds_are_recognized() {
        stack().only(&[Terraform]).check(
            &RULE,
            "
            function.timeout | finding          | help
            30000            | function.timeout | 30000 looks like milliseconds: set `timeout` to 30
            3600             | function.timeout | …to 1800 or less…
            0                | function.timeout | …to 1 or more…
            ",
        );
    }
}
