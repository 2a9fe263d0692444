//! Flags mappings whose queue is in a different Region from their function.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "event-source-mapping-cross-region",
    Category::Mapping,
    Severity::Error,
    "a mapping reads a queue in another Region than its function, which Lambda rejects"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for queue in findings.known(&mapping.resource.when, mapping, &mapping.queue) {
            let Some(from) = queue_region(findings.graph, mapping, queue.value) else {
                continue;
            };
            for function in findings.known(&queue.when, mapping, &mapping.function) {
                let Some(to) = function_region(findings.graph, mapping, function.value) else {
                    continue;
                };
                let is_same = fact(from == to, || format!("the queue and the function are in {to}"));
                findings.require(
                    &function.when,
                    mapping,
                    is_same.depending_on(&queue).depending_on(&function),
                    || apart(mapping, &queue, from, to),
                );
            }
        }
    }
}

fn queue_region<'g>(graph: &'g Graph, mapping: &EventSourceMapping, link: &'g Link) -> Option<&'g str> {
    let queue = graph.queue(mapping.resource.unit, link);
    queue.map_or_else(|| link.region(), |queue| queue.resource.region.as_deref())
}

/// Returns the Region of the function, in which its mapping is also created.
fn function_region<'g>(graph: &'g Graph, mapping: &'g EventSourceMapping, link: &'g Link) -> Option<&'g str> {
    let function = graph.function(mapping.resource.unit, link);
    let region = function.map_or_else(|| link.region(), |function| function.resource.region.as_deref());
    region.or(mapping.resource.region.as_deref())
}

fn apart(mapping: &EventSourceMapping, queue: &Known<'_, Link>, from: &str, to: &str) -> Finding {
    let headline =
        format!("{mapping} reads a queue in {from} for a function in {to}, but both must be in the same Region");
    Finding::new(
        "queue",
        headline,
        queue,
        format!("a queue in {from}{}", queue.provenance()),
    )
    .label(mapping.resource.header, format!("the function is in {to}"))
    .help(format!(
        "read a queue in {to}, and let SNS or EventBridge deliver to it from {from}"
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Serverless};
    use crate::testing::stack;

    #[test]
    fn queue_in_other_region_is_flagged() {
        let providers = r#"
provider "aws" {
  region = "eu-west-1"
}
provider "aws" {
  alias  = "there"
  region = "us-east-1"
}
provider "aws" {
  alias  = "open"
  region = var.open
}
resource "aws_sqs_queue" "there" {
  provider = aws.there
}
resource "aws_sqs_queue" "open" {
  provider = aws.open
}"#;
        stack().terraform(providers).check(
            &RULE,
            r#"
            mapping.source                             | finding
            queue.arn                                  |
            = aws_sqs_queue.open.arn                   |
            open                                       |
            arn:aws:sqs:eu-west-1:111122223333:q       |
            = "arn:aws:sqs:${var.open}:111122223333:q" |
            = aws_sqs_queue.there.arn                  | mapping.source
            arn:aws:sqs:us-east-1:111122223333:q       | mapping.source
            "#,
        );
    }

    #[test]
    fn regions_in_arns_are_compared() {
        stack().only(&[CloudFormation]).check(
            &RULE,
            "
            mapping.source                                   | mapping.function                                 | finding
            arn:aws:sqs:us-east-1:111122223333:q             | arn:aws:lambda:eu-west-1:111122223333:function:f | mapping.source
            = !Sub arn:aws:sqs:${AWS::Region}:111122223333:q | arn:aws:lambda:eu-west-1:111122223333:function:f |
            ",
        );
        let table = "mapping.source | finding\n arn:aws:sqs:us-east-1:111122223333:q |";
        stack().only(&[Sam, Serverless]).check(&RULE, table);
    }
}
