//! Flags mappings of one queue to one function that are declared twice.

use super::prelude::*;
use crate::graph::{Target, UnitId};
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "event-source-mapping-duplicate",
    category: Category::Mapping,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "two mappings link the same queue to the same function, which Lambda rejects",
    page: include_str!("../../rules/event-source-mapping-duplicate.md"),
    settings: &[],
    check: Some(check),
};

/// What two mappings of a unit may not share: where the queue and the function are, and the function's qualifier.
type Ends = (UnitId, End, End, Option<String>);
/// A resource by its unit and address, or what is written.
type End = (Option<UnitId>, String);

/// A mapping, and the condition under which it has these ends.
type Mapped<'g> = (&'g EventSourceMapping, Condition);

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let mut by_ends: BTreeMap<Ends, Vec<Mapped<'_>>> = BTreeMap::new();
    for mapping in graph.mappings() {
        // One that may not exist may be there in place of another.
        if mapping.resource.uncertain.is_none() {
            for (ends, when) in ends_of(graph, findings, mapping) {
                by_ends.entry(ends).or_default().push((mapping, when));
            }
        }
    }
    for same in by_ends.values() {
        for (at, (mapping, when)) in same.iter().enumerate() {
            let earlier = same.iter().take(at);
            if same.len() == 1 {
                let alone = || "no other mapping links the same queue to the same function".to_owned();
                findings.satisfied(when, mapping, fact(true, alone).given(&mapping.resource.header));
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

/// What `mapping` links, as far as it is known.
fn ends_of(graph: &Graph, findings: &mut Findings<'_>, mapping: &EventSourceMapping) -> Vec<(Ends, Condition)> {
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
        (Some(resource), _) => Some((Some(resource.unit), resource.address.to_string())),
        // What is unknown in one may be something else in the other.
        (None, Target::External(written)) if !written.contains("${") => Some((None, written.to_string())),
        (None, _) => None,
    }
}

fn duplicate(first: &EventSourceMapping, second: &EventSourceMapping) -> Finding {
    let (first_shown, shown) = (first.resource.shown(), second.resource.shown());
    let headline = format!("{shown} links the same queue to the same function as {first_shown}, which Lambda rejects");
    let message = "a queue and a function have one mapping at most";
    Finding::new("function", headline, second.resource.header, message)
        .label(first.resource.header, format!("{first_shown} is the other one"))
        .help("remove one of them, with the settings that you want on the other")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(header: &str, queue: &str, function: &str, more: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  name = "q"
}}
resource "aws_sqs_queue" "r" {{}}
resource "aws_lambda_function" "f" {{
  function_name = "f"
}}
resource "aws_lambda_alias" "live" {{
  name          = "live"
  function_name = aws_lambda_function.f.function_name
}}
resource "aws_lambda_event_source_mapping" "a" {{
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}}
resource "aws_lambda_event_source_mapping" "b" {{ {header}
  event_source_arn = {queue}
  function_name    = {function}
  {more}
}}
"#
        )
    }

    const EXPECTED: &str = "# expect: event-source-mapping-duplicate";
    const QUEUE: &str = "aws_sqs_queue.q.arn";
    const FUNCTION: &str = "aws_lambda_function.f.arn";

    #[test]
    fn the_same_ends_are_the_same_mapping() {
        for (queue, function, more) in [
            (QUEUE, FUNCTION, ""),
            (QUEUE, "aws_lambda_function.f.function_name", ""),
            ("\"arn:aws:sqs:eu-west-1:111122223333:q\"", "\"f\"", "enabled = false"),
        ] {
            check(&RULE, Terraform, &terraform(EXPECTED, queue, function, more));
        }
    }

    #[test]
    fn other_ends_are_another() {
        for (queue, function, more) in [
            ("aws_sqs_queue.r.arn", FUNCTION, ""),
            (QUEUE, "\"g\"", ""),
            (QUEUE, "aws_lambda_alias.live.arn", ""),
            (QUEUE, "\"f:2\"", ""),
            ("var.open", FUNCTION, ""),
            (QUEUE, "var.open", ""),
            (QUEUE, FUNCTION, "count = var.open"),
            (QUEUE, FUNCTION, "count = 0"),
        ] {
            check(&RULE, Terraform, &terraform("", queue, function, more));
        }
    }

    #[test]
    fn one_of_two_environments_has_each() {
        let template = |other: &str, expected: &str| {
            format!(
                "
Parameters:
  Stage: {{Type: String}}
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
  IsTest: !Not [!Condition IsProd]
Resources:
  A:
    Type: AWS::Lambda::EventSourceMapping
    Condition: IsProd
    Properties:
      EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:q
      FunctionName: f
  B: {expected}
    Type: AWS::Lambda::EventSourceMapping
    Condition: {other}
    Properties:
      EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:q
      FunctionName: f
"
            )
        };
        check(&RULE, CloudFormation, &template("IsTest", ""));
        check(&RULE, CloudFormation, &template("IsProd", EXPECTED));
    }

    #[test]
    fn two_events_of_a_function_are_two_mappings() {
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        A:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
        B: # expect: event-source-mapping-duplicate
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
",
        );
    }
}
