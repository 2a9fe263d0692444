//! Flags functions whose mappings together may invoke them more often at once than their reserved concurrency allows.

use super::prelude::*;
use crate::graph::limits::MAXIMUM_CONCURRENCY;

pub(super) static RULE: Rule = rule!(
    "maximum-concurrency-exceeds-reserved",
    Category::Mapping,
    Severity::Warning,
    "mappings may invoke a function more often at one time than its reserved concurrency allows",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for function in findings.graph.functions() {
        if findings.graph.mappings_of(function).is_empty() {
            continue;
        }
        let (unit, reserved) = (MAXIMUM_CONCURRENCY.unit, &function.reserved_concurrency);
        for reserved in findings.any_numbers(&function.resource.when, function, reserved, unit) {
            if reserved.value == 0 {
                findings.leave_to_rule_of(&reserved.when, function, &[&reserved], Cause::NoConcurrency);
                continue;
            }
            for (when, maximums) in findings.polling_together(function, &reserved.when, polling_maximums) {
                let Some(total) = sum(&maximums) else { continue };
                findings.require(&when, function, at_most(total, &reserved), || {
                    exceeds(function, &reserved, &maximums)
                });
            }
        }
    }
}

/// Mapping with its maximum concurrency.
type Maximum<'g> = (&'g EventSourceMapping, Operand<'g>);

/// Returns the maximums of `mapping` under conditions that enable it. Unknown maximums are left out, as they could only
/// add to the sum.
fn polling_maximums<'g>(
    findings: &mut Findings<'_>,
    mapping: &'g EventSourceMapping,
    when: &Condition,
) -> Vec<(Condition, Operand<'g>)> {
    let mut all = Vec::new();
    for enabled in findings.known(when, mapping, &mapping.enabled) {
        if *enabled.value {
            let maximum = &mapping.maximum_concurrency;
            let maximums = findings.numbers(&enabled.when, mapping, maximum, &MAXIMUM_CONCURRENCY);
            all.extend(maximums.into_iter().map(|maximum| (maximum.when.clone(), maximum)));
        }
    }
    all
}

fn sum<'a>(maximums: &'a [Maximum<'_>]) -> Option<Term<'a>> {
    let mut terms = maximums.iter().map(|(_, maximum)| Term::from(maximum));
    let first = terms.next()?;
    Some(terms.fold(first, |all, one| all + one))
}

fn exceeds(function: &Function, reserved: &Operand<'_>, maximums: &[Maximum<'_>]) -> Finding {
    let (shown, limit) = (function.resource.shown(), reserved.value);
    let keeps = format!("{shown} reserves {}", reserved.shown());
    let may = |mapping: &EventSourceMapping, maximum: &Operand<'_>| {
        format!("{mapping} may invoke it {} times at once", maximum.shown())
    };
    if let [(mapping, maximum)] = maximums {
        let headline = format!(
            "{mapping} may invoke {shown} {} times at once, but the function reserves {limit}: Lambda throttles the rest, and each throttle counts as a receive",
            maximum.value
        );
        let fits = MAXIMUM_CONCURRENCY.accepts(limit);
        let raise = format!("`{}` to {} or more", reserved.name, maximum.value);
        let help = if fits {
            format!("set `{}` to {limit} or less, or {raise}", maximum.name)
        } else {
            format!(
                "set {raise}: Lambda accepts no `{}` below {}",
                maximum.name, MAXIMUM_CONCURRENCY.least
            )
        };
        let finding = Finding::new("reserved_concurrency", headline, maximum, may(mapping, maximum))
            .label(reserved, keeps)
            .help(help);
        return finding.fix(fits.then(|| maximum.set_to(limit)));
    }
    let total = maximums
        .iter()
        .map(|(_, maximum)| maximum.value)
        .fold(0, i64::saturating_add);
    let headline = format!(
        "the mappings of {shown} may invoke it {total} times at once, but it reserves {limit}: Lambda throttles the rest, and each throttle counts as a receive"
    );
    let finding = Finding::new("reserved_concurrency", headline, reserved, keeps);
    let finding = (maximums.iter()).fold(finding, |finding, (mapping, maximum)| {
        finding.label(maximum, may(mapping, maximum))
    });
    let least = i64::try_from(maximums.len())
        .unwrap_or(i64::MAX)
        .saturating_mul(MAXIMUM_CONCURRENCY.least);
    let lower = if limit >= least {
        format!(", or lower the maximum concurrency of the mappings to {limit} in total")
    } else {
        String::new()
    };
    finding.help(format!("set `{}` to {total} or more{lower}", reserved.name))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::stack;

    #[test]
    fn maximum_above_reserved_concurrency_is_flagged() {
        stack().check(
            &RULE,
            "
            function.reserved_concurrency | mapping.concurrency | finding
            10                            | 10                  |
            10                            | 11                  | mapping.concurrency
            5                             | 50                  | mapping.concurrency
            1                             | 2                   | mapping.concurrency
            -1                            | 11                  |
            null                          | 11                  |
            open                          | 11                  |
            10                            | open                |
            // Other rules report these values.
            0                             | 11                  |
            1                             | 0                   |
            ",
        );
    }

    #[test]
    fn maximums_of_all_enabled_mappings_are_added() {
        let second = r#"
resource "aws_lambda_function" "f" {
  function_name                  = "f"
  reserved_concurrent_executions = <reserved>
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:q"
  function_name    = aws_lambda_function.f.arn
  scaling_config {
    maximum_concurrency = <first>
  }
}
variable "open" {}
resource "aws_lambda_event_source_mapping" "n" {
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:r"
  function_name    = "f"
  <enabled>
  scaling_config {
    <second>
  }
}
"#;
        Terraform.check_cases(
            &RULE,
            second,
            "
            reserved | first | second                         | enabled         | finding  | calculation
            10       | 6     |                                |                 |          |
            12       | 6     | maximum_concurrency = 6        |                 |          |
            11       | 6     | maximum_concurrency = 6        |                 | reserved | 6 + 6 = 12
            11       | 6     | maximum_concurrency = 6        | enabled = false |          |
            // Unknown maximums could only add to the known ones.
            10       | 12    | maximum_concurrency = var.open |                 | first    |
            ",
        );
    }

    #[test]
    fn maximums_under_exclusive_conditions_are_not_added() {
        let template = "
Parameters:
  Stage: {Type: String}
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
  IsTest: !Not [!Condition IsProd]
Resources:
  F:
    Type: AWS::Lambda::Function
    Properties:
      ReservedConcurrentExecutions: <reserved>
  M:
    Type: AWS::Lambda::EventSourceMapping
    Condition: IsProd
    Properties:
      EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:q
      FunctionName: !Ref F
      ScalingConfig: {MaximumConcurrency: 6}
  N:
    Type: AWS::Lambda::EventSourceMapping
    Condition: <condition>
    Properties:
      EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:r
      FunctionName: !Ref F
      ScalingConfig: {MaximumConcurrency: 6}
";
        CloudFormation.check_cases(
            &RULE,
            template,
            "
            reserved | condition | finding
            10       | IsTest    |
            10       | IsProd    | reserved
            ",
        );
    }
}
