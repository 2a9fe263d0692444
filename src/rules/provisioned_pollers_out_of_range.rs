//! Flags provisioned pollers of a mapping that Lambda rejects.

use super::prelude::*;
use crate::graph::limits::{MAXIMUM_POLLERS, MAXIMUM_POLLERS_OLD, MINIMUM_POLLERS};
use crate::graph::{Attribute, ProvisionedPollers};
use crate::rules::shared::wrong_types::Accepts;

pub(super) static RULE: Rule = Rule {
    id: "provisioned-pollers-out-of-range",
    category: Category::Mapping,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a mapping has provisioned pollers in a number or a group that Lambda rejects",
    page: include_str!("../../rules/provisioned-pollers-out-of-range.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for pollers in findings.known(&mapping.resource.when, mapping, &mapping.provisioned_pollers) {
            let Some(bounds) = pollers.value else { continue };
            let (minimum, maximum) = (&bounds.minimum, &bounds.maximum);
            range(
                findings,
                mapping,
                "minimum_pollers",
                minimum,
                &MINIMUM_POLLERS,
                &pollers.when,
            );
            range(
                findings,
                mapping,
                "maximum_pollers",
                maximum,
                &MAXIMUM_POLLERS,
                &pollers.when,
            );
            order(findings, mapping, bounds, &pollers.when);
            group(graph, findings, mapping, bounds, &pollers.when);
        }
    }
}

fn range(
    findings: &mut Findings<'_>,
    mapping: &EventSourceMapping,
    id: &'static str,
    attribute: &Attribute<Option<i64>>,
    quota: &'static Quota,
    when: &Condition,
) {
    findings.reject_types(when, mapping, id, attribute, Accepts::of("Lambda", quota));
    for number in findings.any_numbers(when, mapping, attribute, quota.unit) {
        let is_accepted = findings.require(&number.when, mapping, within(&number, quota), || {
            out_of_range(mapping, id, &number, quota)
        });
        // Each bound is checked by itself; the bounds are compared only if both are in range.
        if is_accepted && id == "maximum_pollers" && number.value > MAXIMUM_POLLERS_OLD {
            findings.report(&number.when, mapping, many(mapping, id, &number));
        }
    }
}

fn out_of_range(mapping: &EventSourceMapping, id: &'static str, number: &Operand<'_>, quota: &Quota) -> Finding {
    let (name, least, most) = (number.name, quota.least, quota.most);
    let headline = format!(
        "{} sets `{name}` to {}, but Lambda accepts {least} to {most} pollers",
        mapping.resource.shown(),
        number.value
    );
    let label = format!("{} is outside {least} to {most}", number.shown());
    Finding::new(id, headline, number, label)
        .help(format!("set `{name}` to a value from {least} to {most}"))
        .fix(number.set_to(number.value.clamp(least, most)))
}

fn many(mapping: &EventSourceMapping, id: &'static str, number: &Operand<'_>) -> Finding {
    let headline = format!(
        "{} sets `{}` to {}, and some of AWS's pages and schemas allow at most {MAXIMUM_POLLERS_OLD}",
        mapping.resource.shown(),
        number.name,
        number.value
    );
    let label = format!("{} pollers may be rejected", number.shown());
    Finding::new(id, headline, number, label)
        .severity(Severity::Info)
        .help(format!(
            "try whether your deployment takes it, or set `{}` to {MAXIMUM_POLLERS_OLD} or less",
            number.name
        ))
}

/// Requires that the minimum is not above the maximum.
fn order(findings: &mut Findings<'_>, mapping: &EventSourceMapping, pollers: &ProvisionedPollers, when: &Condition) {
    for minimum in findings.numbers(when, mapping, &pollers.minimum, &MINIMUM_POLLERS) {
        for maximum in findings.numbers(&minimum.when, mapping, &pollers.maximum, &MAXIMUM_POLLERS) {
            findings.require(&maximum.when, mapping, at_most(&minimum, &maximum), || {
                reversed(mapping, &minimum, &maximum)
            });
        }
    }
}

fn reversed(mapping: &EventSourceMapping, minimum: &Operand<'_>, maximum: &Operand<'_>) -> Finding {
    let headline = format!(
        "{} wants at least {} pollers and at most {}, which Lambda rejects",
        mapping.resource.shown(),
        minimum.value,
        maximum.value
    );
    Finding::new(
        "minimum_pollers",
        headline,
        minimum,
        format!("at least {}", minimum.shown()),
    )
    .label(maximum, format!("at most {}", maximum.shown()))
    .help(format!("set `{}` to {} or more", maximum.name, minimum.value))
}

/// Requires that a mapping of a queue has no poller group.
fn group(
    graph: &Graph,
    findings: &mut Findings<'_>,
    mapping: &EventSourceMapping,
    pollers: &ProvisionedPollers,
    when: &Condition,
) {
    for group in findings.known(when, mapping, &pollers.group) {
        let Some(name) = group.value else { continue };
        for source in findings.polled_queues(graph, mapping, &group.when) {
            let headline = format!(
                "{} puts the pollers of {} into the group `{name}`, but only mappings of Kafka have poller groups",
                mapping.resource.shown(),
                source.shown
            );
            let finding = Finding::new("poller_group", headline, &group, "a poller group on a queue")
                .help(format!("remove `{}`", group.name))
                .fix(group.removal());
            findings.report(&source.when, mapping, finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RULE, Severity};
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings};

    fn terraform(pollers: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:q"
  function_name    = "f"
  provisioned_poller_config {{
    {pollers}
  }}
}}
"#
        )
    }

    #[test]
    fn ends_of_both_ranges_are_accepted() {
        for pollers in [
            "",
            "minimum_pollers = 2\n maximum_pollers = 2",
            "minimum_pollers = 200\n maximum_pollers = 2000",
            "minimum_pollers = 200",
            "minimum_pollers = var.open\n maximum_pollers = 2",
        ] {
            check(&RULE, Terraform, &terraform(pollers));
        }
        for pollers in [
            "minimum_pollers = 1",
            "minimum_pollers = 201",
            "maximum_pollers = 1",
            "maximum_pollers = 10001",
        ] {
            let pollers = format!("{pollers} # expect: provisioned-pollers-out-of-range");
            check(&RULE, Terraform, &terraform(&pollers));
        }
    }

    #[test]
    fn minimum_above_maximum_is_flagged() {
        check(
            &RULE,
            Terraform,
            &terraform("minimum_pollers = 6 # expect: provisioned-pollers-out-of-range\n maximum_pollers = 5"),
        );
        // Only the range is reported.
        check(
            &RULE,
            Terraform,
            &terraform("minimum_pollers = 201 # expect: provisioned-pollers-out-of-range\n maximum_pollers = 5"),
        );
    }

    #[test]
    fn maximum_above_older_limit_is_an_info() {
        let severity = |pollers: &str| {
            let found = findings(&RULE, Terraform, &terraform(pollers));
            found.first().map(|found| found.severity)
        };
        assert_eq!(severity("maximum_pollers = 2000"), None);
        assert_eq!(severity("maximum_pollers = 2001"), Some(Severity::Info));
        assert_eq!(severity("maximum_pollers = 10001"), Some(Severity::Error));
    }

    #[test]
    fn poller_group_on_queue_is_flagged() {
        check(
            &RULE,
            Terraform,
            &terraform("minimum_pollers = 2\n poller_group_name = \"g\" # expect: provisioned-pollers-out-of-range"),
        );
        let open =
            terraform("poller_group_name = \"g\"").replace("\"arn:aws:sqs:eu-west-1:111122223333:q\"", "var.open");
        check(&RULE, Terraform, &open);
    }

    #[test]
    fn cloudformation_mapping_is_flagged() {
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:q
      FunctionName: f
      ProvisionedPollerConfig:
        MinimumPollers: 500 # expect: provisioned-pollers-out-of-range
        MaximumPollers: 600
",
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E:
          Type: SQS
          Properties:
            Queue: arn:aws:sqs:eu-west-1:111122223333:q
            ProvisionedPollerConfig:
              MinimumPollers: 1 # expect: provisioned-pollers-out-of-range
              PollerGroupName: g # expect: provisioned-pollers-out-of-range
",
        );
    }
}
