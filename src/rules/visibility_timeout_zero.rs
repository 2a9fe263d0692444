//! Flags queues with a visibility timeout of 0: messages stay visible while they are processed.

use super::prelude::*;
use crate::rules::shared::advice::{Advice, set_to_needed};
use crate::rules::shared::consumers::PollingMapping;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = Rule {
    id: "visibility-timeout-zero",
    category: Category::Visibility,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "the visibility timeout is 0, so several consumers may receive a message at the same time",
    page: include_str!("../../rules/visibility-timeout-zero.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        if !graph.is_consumed(queue) && graph.is_dead_letter_queue(queue) {
            continue; // A dead-letter queue without a consumer.
        }
        for visibility in findings.visibility(&queue.resource.when, queue) {
            if findings.satisfied(&visibility.when, queue, above(&visibility, 0)) {
                continue;
            }
            for poll in findings.polls(graph, &visibility.when, queue) {
                if poll.enabled {
                    let finding = refused(graph, findings, queue, &poll, &visibility);
                    findings.report(&poll.when, queue, finding);
                }
            }
            let help = longer_than_processing(&visibility);
            let finding = zero(queue, &visibility)
                .severity(Severity::Warning)
                .scenario(scenarios::of_length(&visibility, 1))
                .help(help);
            findings.report(&visibility.when, queue, finding);
        }
    }
}

/// Returns the finding for a queue that a mapping polls.
fn refused(
    graph: &Graph,
    findings: &mut Findings<'_>,
    queue: &Queue,
    poll: &PollingMapping<'_>,
    visibility: &Operand<'_>,
) -> Finding {
    let mapping = &poll.mapping.resource;
    let message = format!(
        "Lambda rejects {}, since every function timeout is longer than 0 s",
        mapping.shown()
    );
    let finding = zero(queue, visibility).label(mapping.header, message);
    let times = findings.run_times(graph, poll).into_iter().map(|time| time.limit);
    let Some(longest) = times.max_by_key(|limit| limit.value) else {
        return finding.help(longer_than_processing(visibility));
    };
    let advice = findings.settings::<Advice>(queue);
    // If the window is unknown, no fix is offered. A value below what both need has a finding of its own.
    let needed = advice.needed(&longest, poll.window(&poll.when));
    finding
        .help(advice.help(visibility, &needed))
        .fix(set_to_needed(visibility, &needed))
}

fn longer_than_processing(visibility: &Operand<'_>) -> String {
    format!(
        "set `{}` to more than the time that a consumer needs for a message",
        visibility.name
    )
}

fn zero(queue: &Queue, visibility: &Operand<'_>) -> Finding {
    let headline = format!(
        "{} has a visibility timeout of 0 s, so a message stays visible while it is processed",
        queue.resource.shown()
    );
    let message = format!(
        "{}: other consumers may receive the message at the same time",
        visibility.shown()
    );
    Finding::new("visibility_timeout", headline, visibility, message)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{RULE, Severity};
    use crate::testing::{Dialect, check, findings, run_files};

    fn cloudformation(visibility: &str, enabled: &str) -> String {
        format!(
            "
Parameters:
  Open: {{Type: Number}}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: {visibility}
  OrdersMapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Orders.Arn
      FunctionName: worker
      {enabled}
"
        )
    }

    #[test]
    fn only_zero_is_flagged() {
        check(
            &RULE,
            Dialect::CloudFormation,
            &cloudformation("0 # expect: visibility-timeout-zero", ""),
        );
        check(&RULE, Dialect::CloudFormation, &cloudformation("1", ""));
        check(&RULE, Dialect::CloudFormation, &cloudformation("!Ref AWS::NoValue", ""));
    }

    #[test]
    fn enabled_mapping_makes_it_an_error() {
        let severity = |enabled: &str| {
            let found = findings(&RULE, Dialect::CloudFormation, &cloudformation("0", enabled));
            found[0].severity
        };
        assert_eq!(severity(""), Severity::Error);
        assert_eq!(severity("Enabled: false"), Severity::Warning);
    }

    #[test]
    fn queue_without_known_consumer_is_a_warning() {
        let text = "resource \"aws_sqs_queue\" \"orders\" {\n  visibility_timeout_seconds = 0\n}\n";
        let found = findings(&RULE, Dialect::Terraform, text);
        assert_eq!(found[0].severity, Severity::Warning);
        assert!(found[0].help.as_ref().unwrap().contains("`visibility_timeout_seconds`"));
    }

    #[test]
    fn unresolved_timeout_is_noted_and_not_judged() {
        let text = format!(
            "{}AWSTemplateFormatVersion: 2010-09-09\n",
            cloudformation("!Ref Open", "")
        );
        let outcome = run_files(&RULE, &[("template.yaml", &text)]);
        assert!(outcome.findings.is_empty());
        assert_eq!(outcome.not_evaluated.len(), 1);
    }

    #[test]
    fn help_is_computed_from_function_timeout() {
        let text = "
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 0
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 20
      Events: {Q: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}
";
        let found = findings(&RULE, Dialect::Sam, text);
        assert!(found[0].help.as_ref().unwrap().contains("`VisibilityTimeout` to 120"));
    }
}
