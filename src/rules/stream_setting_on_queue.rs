//! Flags settings on mappings of queues that Lambda supports only for streams.

use super::prelude::*;
use crate::graph::StreamSetting;

pub(super) static RULE: Rule = Rule {
    id: "stream-setting-on-queue",
    category: Category::Mapping,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "a mapping on a queue has a setting that only streams take",
    page: include_str!("../../rules/stream-setting-on-queue.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        if mapping.stream_settings.is_empty() {
            for source in findings.polled_queues(graph, mapping, &mapping.resource.when) {
                let none = fact(true, || "no setting that only streams take".to_owned());
                findings.satisfied(&source.when, mapping, none.depending_on(&mapping.resource.header));
            }
            continue;
        }
        let when = (mapping.stream_settings.iter()).fold(Condition::never(), |all, one| all.or(&one.when));
        for source in findings.polled_queues(graph, mapping, &mapping.resource.when.and(&when)) {
            let set = |setting: &&StreamSetting| setting.when.is_possible_with(&source.when);
            let settings: Vec<&StreamSetting> = mapping.stream_settings.iter().filter(set).collect();
            if let Some(finding) = for_streams(mapping, &source.introduced(), &settings) {
                findings.report(&source.when, mapping, finding);
            }
        }
    }
}

/// Returns one finding for all settings, at the one that Lambda rejects first.
fn for_streams(mapping: &EventSourceMapping, source: &str, settings: &[&StreamSetting]) -> Option<Finding> {
    let start = settings.iter().find(|setting| setting.is_start);
    let first = start.or(settings.first())?;
    let names: Vec<String> = settings.iter().map(|setting| format!("`{}`", setting.name)).collect();
    let names = names.join(", ");
    let headline = format!(
        "{} sets {names} for {source}, but only streams take that",
        mapping.resource.shown()
    );
    let label = |setting: &StreamSetting| {
        if setting.is_start {
            "a queue has no position to start at, so Lambda rejects the mapping"
        } else {
            "it has no effect on a queue, or Lambda rejects it"
        }
    };
    let finding = Finding::new("stream_settings", headline, first.span, label(first));
    let others = settings.iter().filter(|setting| !std::ptr::eq(**setting, *first));
    let finding = others.fold(finding, |finding, setting| finding.label(setting.span, label(setting)));
    let severity = if start.is_some() {
        Severity::Error
    } else {
        Severity::Warning
    };
    Some(finding.severity(severity).help(format!("remove {names}")))
}

#[cfg(test)]
mod tests {
    use super::{RULE, Severity};
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings};

    fn terraform(source: &str, settings: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  fifo_queue = var.open
}}
resource "aws_kinesis_stream" "s" {{}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = {source}
  function_name    = "f"
  {settings}
}}
"#
        )
    }

    const QUEUE: &str = "aws_sqs_queue.q.arn";

    #[test]
    fn starting_position_is_an_error_and_other_settings_a_warning() {
        let severity = |settings: &str| {
            let found = findings(&RULE, Terraform, &terraform(QUEUE, settings));
            assert!(found.len() <= 1, "one cause, one finding: {found:?}");
            found.first().map(|found| found.severity)
        };
        for (settings, expected) in [
            ("starting_position = \"LATEST\"", Some(Severity::Error)),
            ("starting_position = null", None),
            ("starting_position = var.open", None),
            ("maximum_retry_attempts = 2", Some(Severity::Warning)),
            ("bisect_batch_on_function_error = true", Some(Severity::Warning)),
            (
                "parallelization_factor = 2\n starting_position = \"LATEST\"",
                Some(Severity::Error),
            ),
            // Values that plans and states contain for absent attributes.
            ("maximum_retry_attempts = -1", None),
            ("maximum_record_age_in_seconds = 0", None),
            ("bisect_batch_on_function_error = false", None),
            ("starting_position = \"\"", None),
        ] {
            assert_eq!(severity(settings), expected, "{settings}");
        }
    }

    #[test]
    fn streams_and_unresolved_sources_are_accepted() {
        for source in ["aws_kinesis_stream.s.arn", "var.open"] {
            check(&RULE, Terraform, &terraform(source, "starting_position = \"LATEST\""));
        }
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
      MaximumRetryAttempts: 3
      StartingPosition: LATEST # expect: stream-setting-on-queue
",
        );
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
        E:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
            MaximumRetryAttempts: 3 # expect: stream-setting-on-queue
",
        );
    }
}
