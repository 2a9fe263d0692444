//! Flags mappings whose maximum concurrency is below the minimum that Lambda accepts.

use super::prelude::*;
use crate::graph::limits::MAXIMUM_CONCURRENCY;
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = rule!(
    "maximum-concurrency-out-of-range",
    Category::Mapping,
    Severity::Error,
    "a mapping has a maximum concurrency below 2, which Lambda rejects",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    let Quota { least, unit, .. } = MAXIMUM_CONCURRENCY;
    for mapping in findings.graph.mappings() {
        let (maximum, accepts) = (
            &mapping.maximum_concurrency,
            Accepts::of("Lambda", &MAXIMUM_CONCURRENCY),
        );
        findings.reject_types(&mapping.resource.when, mapping, "maximum_concurrency", maximum, accepts);
        // Without an upper bound: AWS raises it on request.
        for maximum in findings.any_numbers(&mapping.resource.when, mapping, &mapping.maximum_concurrency, unit) {
            findings.require(&maximum.when, mapping, at_least(&maximum, least), || {
                too_low(mapping, &maximum, least)
            });
        }
    }
}

fn too_low(mapping: &EventSourceMapping, maximum: &Operand<'_>, least: i64) -> Finding {
    let headline = format!(
        "{mapping} has a maximum concurrency of {}, but Lambda accepts {least} or more",
        maximum.value
    );
    let label = format!("{} is below {least}, so Lambda rejects the mapping", maximum.shown());
    Finding::new("maximum_concurrency", headline, maximum, label)
        .help(format!("set `{}` to {least} or more", maximum.name))
        .caveat("to process one message after the other, use a FIFO queue with one message group")
        .fix(maximum.set_to(least))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::stack;

    #[test]
    fn maximum_below_two_is_flagged() {
        stack().check(
            &RULE,
            "
            mapping.concurrency | except     | finding
                                |            |
            2                   |            |
            5000                |            |
            open                |            |
            1                   |            | mapping.concurrency
            // The Serverless Framework omits it.
            0                   | Serverless | mapping.concurrency
            -1                  |            | mapping.concurrency
            ",
        );
    }

    #[test]
    fn empty_scaling_configuration_is_accepted() {
        let mapping = "event_source_arn = \"arn:aws:sqs:eu-west-1:111122223333:q\"\n  function_name = \"f\"";
        let blocks =
            format!("resource \"aws_lambda_event_source_mapping\" \"m\" {{\n  {mapping}\n  scaling_config {{}}\n}}\n");
        Terraform.check(&RULE, &blocks);
        let resource = "Resources:
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:q
      FunctionName: f
      ScalingConfig: {}
";
        CloudFormation.check(&RULE, resource);
    }
}
