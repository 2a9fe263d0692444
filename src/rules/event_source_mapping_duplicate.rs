//! Flags duplicate mappings of one queue to one function.

use super::prelude::*;
use crate::graph::{Target, UnitId};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) static RULE: Rule = rule!(
    "event-source-mapping-duplicate",
    Category::Mapping,
    Severity::Error,
    "two mappings link the same queue to the same function, which Lambda rejects"
);

/// Ends that only one mapping of a unit may have: queue, function and the function's qualifier.
type Ends = (UnitId, End, End, Option<String>);
/// Resource by its unit and address, or the written ARN or name.
type End = (Option<UnitId>, Arc<str>);

/// Mapping, and the condition under which it has these ends.
type Mapped<'g> = (&'g EventSourceMapping, Condition);

fn check(findings: &mut Findings<'_>) {
    let mut by_ends: BTreeMap<Ends, Vec<Mapped<'_>>> = BTreeMap::new();
    for mapping in findings.graph.mappings() {
        // A mapping that may not exist may be an alternative to another one.
        if mapping.resource.uncertain.is_none() {
            for (ends, when) in ends_of(findings, mapping) {
                by_ends.entry(ends).or_default().push((mapping, when));
            }
        }
    }
    for same in by_ends.values() {
        for (at, (mapping, when)) in same.iter().enumerate() {
            let earlier = same.iter().take(at);
            if same.len() == 1 {
                let alone = || "no other mapping links the same queue to the same function".to_owned();
                findings.satisfied(when, mapping, fact(true, alone).depending_on(&mapping.resource.header));
            }
            for (first, _) in earlier.filter(|(first, _)| !std::ptr::eq(*first, *mapping)) {
                let both = when.and(&earlier_when(same, first));
                findings.report(&both, mapping, duplicate(first, mapping));
            }
        }
    }
}

fn earlier_when(same: &[Mapped<'_>], mapping: &EventSourceMapping) -> Condition {
    let its = same.iter().filter(|(of, _)| std::ptr::eq(*of, mapping));
    its.fold(Condition::never(), |all, (_, when)| all.or(when))
}

/// Returns the known ends of `mapping`, each with its condition.
fn ends_of(findings: &mut Findings<'_>, mapping: &EventSourceMapping) -> Vec<(Ends, Condition)> {
    let graph = findings.graph;
    let unit = mapping.resource.unit;
    let mut all = Vec::new();
    for queue in findings.known(&mapping.resource.when, mapping, &mapping.queue) {
        let node = graph.queue(unit, queue.value).map(|queue| &queue.resource);
        let Some(source) = end(node, queue.value) else { continue };
        for function in findings.known(&queue.when, mapping, &mapping.function) {
            let node = graph.function(unit, function.value).map(|function| &function.resource);
            let Some(target) = end(node, function.value) else {
                continue;
            };
            for qualifier in findings.known(&function.when, mapping, &mapping.qualifier) {
                let ends = (unit, source.clone(), target.clone(), qualifier.value.clone());
                all.push((ends, qualifier.when));
            }
        }
    }
    all
}

fn end(resource: Option<&crate::graph::Resource>, link: &Link) -> Option<End> {
    match (resource, &link.target) {
        (Some(resource), _) if !resource.is_single() => None,
        (Some(resource), _) => Some((Some(resource.unit), resource.address.clone())),
        // The unknown pieces of two ARNs may differ.
        (None, Target::External(written)) if !written.contains("${") => Some((None, written.clone())),
        (None, _) => None,
    }
}

fn duplicate(first: &EventSourceMapping, second: &EventSourceMapping) -> Finding {
    let (first_shown, shown) = (first.resource.shown(), second.resource.shown());
    let headline = format!("{shown} links the same queue to the same function as {first_shown}, which Lambda rejects");
    let message = "a queue and a function have one mapping at most";
    Finding::new("function", headline, second.resource.header, message)
        .label(first.resource.header, format!("{first_shown} is the other one"))
        .help("keep the one with the settings that you want, and remove the other")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};

    #[test]
    fn same_queue_and_function_are_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  name = "q"
}
resource "aws_sqs_queue" "r" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
}
resource "aws_lambda_alias" "live" {
  name          = "live"
  function_name = aws_lambda_function.f.function_name
}
resource "aws_lambda_event_source_mapping" "a" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
resource "aws_lambda_event_source_mapping" "b" { <header>
  event_source_arn = <queue>
  function_name    = <function>
  <more>
}
"#,
            r#"
            header | queue                                  | function                            | more             | finding
                   | aws_sqs_queue.q.arn                    | aws_lambda_function.f.arn           |                  | header
                   | aws_sqs_queue.q.arn                    | aws_lambda_function.f.function_name |                  | header
                   | "arn:aws:sqs:eu-west-1:111122223333:q" | "f"                                 | enabled = false  | header
                   | aws_sqs_queue.r.arn                    | aws_lambda_function.f.arn           |                  |
                   | aws_sqs_queue.q.arn                    | "g"                                 |                  |
                   | aws_sqs_queue.q.arn                    | aws_lambda_alias.live.arn           |                  |
                   | aws_sqs_queue.q.arn                    | "f:2"                               |                  |
                   | var.open                               | aws_lambda_function.f.arn           |                  |
                   | aws_sqs_queue.q.arn                    | var.open                            |                  |
                   | aws_sqs_queue.q.arn                    | aws_lambda_function.f.arn           | count = var.open |
                   | aws_sqs_queue.q.arn                    | aws_lambda_function.f.arn           | count = 0        |
            "#,
        );
    }

    #[test]
    fn placeholders_are_not_the_same_queue() {
        let blocks = r#"
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_lambda_event_source_mapping" "a" {
  event_source_arn = "<source>"
  function_name    = "f"
}
resource "aws_lambda_event_source_mapping" "b" {
  event_source_arn = "<source>"
  function_name    = "f"
}
"#;
        let template = "
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {QueueName: orders}}
  A: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: '<source>', FunctionName: f}}
  B: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: '<source>', FunctionName: f}}
";
        for (dialect, text) in [(Terraform, blocks), (CloudFormation, template)] {
            dialect.check_cases(
                &RULE,
                text,
                "
                source                                                 | finding | unjudged
                not-used                                               |         | 2
                arn:not-used                                           |         | 2
                arn:aws:sqs:eu-west-1:111122223333                     |         | 2
                #{Queue}                                               |         | 2
                arn:aws:sqs:#{AWS::Region}:#{AWS::AccountId}:other     |         | 2
                arn:aws:sqs:eu-west-1:111122223333:other               | 1       | 0
                https://sqs.eu-west-1.amazonaws.com/111122223333/other | 1       | 0
                // The name of a declared queue.
                orders                                                 | 1       | 0
                ",
            );
        }
    }

    #[test]
    fn mappings_under_exclusive_conditions_are_accepted() {
        CloudFormation.check_cases(
            &RULE,
            "
Parameters:
  Stage: {Type: String}
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
  IsTest: !Not [!Condition IsProd]
Resources:
  A:
    Type: AWS::Lambda::EventSourceMapping
    Condition: IsProd
    Properties: {EventSourceArn: 'arn:aws:sqs:eu-west-1:111122223333:q', FunctionName: f}
  B: <header>
    Type: AWS::Lambda::EventSourceMapping
    Condition: <condition>
    Properties: {EventSourceArn: 'arn:aws:sqs:eu-west-1:111122223333:q', FunctionName: f}
",
            "
            header | condition | finding
                   | IsTest    |
                   | IsProd    | header
            ",
        );
    }
}
