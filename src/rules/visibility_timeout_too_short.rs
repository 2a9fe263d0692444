//! Flags queues whose visibility timeout leaves Lambda no time to retry a throttled batch.

use super::prelude::*;
use crate::rules::shared::advice::{Advice, set_to_needed};
use crate::rules::shared::consumers::{PollingMapping, RunTime};
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = Rule {
    id: "visibility-timeout-too-short",
    category: Category::Visibility,
    severity: Severity::Warning,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "the visibility timeout is less than six times the function timeout plus the batching window",
    page: include_str!("../../rules/visibility-timeout-too-short.md"),
    settings: Advice::ALL,
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for (queue, _) in graph.polled() {
        let advice = findings.settings::<Advice>(queue);
        findings.set_judged_attribute(&queue.visibility_timeout);
        for poll in findings.polls(graph, &queue.resource.when, queue) {
            for time in findings.least_run_times(graph, &poll) {
                for window in findings.least_window(&time.limit.when, poll.mapping) {
                    for visibility in findings.most_visibility(&window.when, queue) {
                        let enough = at_least(&visibility, advice.needed(&time.limit, &window))
                            .note(|| format!(", with {}", time.function.resource.shown()));
                        findings.require(
                            &visibility.when,
                            queue,
                            enough.depending_on(&time).depending_on(&poll),
                            || too_short(queue, &poll, &time, &window, &visibility, advice),
                        );
                    }
                }
            }
        }
    }
}

fn too_short(
    queue: &Queue,
    poll: &PollingMapping<'_>,
    time: &RunTime<'_>,
    window: &Operand<'_>,
    visibility: &Operand<'_>,
    advice: Advice,
) -> Finding {
    let (subject, function) = (queue.resource.shown(), time.function.resource.shown());
    let needed = advice.needed(&time.limit, window);
    let first_attempt = Term::from(&time.limit) + window;
    let visible_after = visibility.in_words();
    // Lambda receives messages before the batching window ends, so they wait in it while their visibility timeout runs.
    let headline = if visibility.value < first_attempt.value {
        format!(
            "{subject} has a visibility timeout of {visible_after}, but the batching window and {function} together may \
             take {}, so a message may reappear during its first attempt",
            first_attempt.with_unit()
        )
    } else {
        format!(
            "{subject} has a visibility timeout of {visible_after}, less than the {} that give Lambda time to retry \
             when {function} is throttled",
            needed.with_unit()
        )
    };
    let becomes_visible = format!("the message becomes visible again after {}", visibility.shown());
    let label = visibility.or_default("SQS", becomes_visible);
    let mut finding = Finding::new("visibility_timeout", headline, visibility, label)
        .severity(poll.severity(Severity::Warning))
        .scenario(scenarios::of_throttling(visibility, &time.limit, window, advice.factor))
        .show(time)
        .show(poll);
    if window.value > 0 {
        finding = finding.label(
            window,
            format!("a message may wait up to {} for its batch", window.shown()),
        );
    }
    let fifo = queue.fifo.known_in(&visibility.when);
    if let Some((_, case, _)) = fifo.iter().find(|(_, _, fifo)| **fifo) {
        let message = "exactly-once covers sending only: a FIFO queue, too, delivers a message again when its visibility timeout ends";
        finding = finding.label(case.span, message);
    }
    let mut help = advice.help(visibility, &needed);
    if is_rarely_throttled(poll, time, visibility) {
        help += "; throttling is unlikely here, since the mapping's maximum concurrency is within the function's reserved concurrency";
    }
    finding.help(help).fix(set_to_needed(visibility, &needed))
}

/// Returns `true` if the mapping's maximum concurrency is within the function's reserved concurrency.
fn is_rarely_throttled(poll: &PollingMapping<'_>, time: &RunTime<'_>, visibility: &Operand<'_>) -> bool {
    let maximum = poll.mapping.maximum_concurrency.known_in(&visibility.when);
    let reserved = time.function.reserved_concurrency.known_in(&visibility.when);
    match (maximum.as_slice(), reserved.as_slice()) {
        ([(_, _, Some(maximum))], [(_, _, Some(reserved))]) => maximum <= reserved,
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{RULE, Severity};
    use crate::testing::{Dialect, check, findings, run_files};

    fn sam(visibility: &str, fifo: &str, timeout: &str, event: &str) -> String {
        format!(
            "
Parameters:
  Open: {{Type: Number}}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: {visibility}
      {fifo}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: {timeout}
      Events:
        Orders:
          Type: SQS
          Properties:
            Queue: !GetAtt Orders.Arn
            {event}
"
        )
    }

    const EXPECTED: &str = "# expect: visibility-timeout-too-short";

    #[test]
    fn timeout_below_six_function_timeouts_and_window_is_flagged() {
        let window = "MaximumBatchingWindowInSeconds: 5";
        check(&RULE, Dialect::Sam, &sam("360", "", "60", ""));
        check(&RULE, Dialect::Sam, &sam(&format!("359 {EXPECTED}"), "", "60", ""));
        check(&RULE, Dialect::Sam, &sam("365", "", "60", window));
        check(&RULE, Dialect::Sam, &sam(&format!("364 {EXPECTED}"), "", "60", window));
    }

    #[test]
    fn zero_and_timeout_below_function_timeout_are_left_to_other_rules() {
        check(&RULE, Dialect::Sam, &sam("59", "", "60", ""));
        check(&RULE, Dialect::Sam, &sam("0", "", "60", ""));
        check(&RULE, Dialect::Sam, &sam(&format!("60 {EXPECTED}"), "", "60", ""));
    }

    #[test]
    fn unresolved_values_are_noted_and_not_judged() {
        for text in [
            sam("!Ref Open", "", "60", ""),
            sam("60", "", "!Ref Open", ""),
            sam("360", "", "60", "MaximumBatchingWindowInSeconds: !Ref Open"),
        ] {
            let text = format!("{text}Transform: AWS::Serverless-2016-10-31\n");
            let outcome = run_files(&RULE, &[("template.yaml", &text)]);
            assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
            assert_eq!(outcome.not_evaluated.len(), 1, "{:?}", outcome.not_evaluated);
        }
    }

    #[test]
    fn headline_warns_if_window_uses_up_first_attempt() {
        let found = findings(
            &RULE,
            Dialect::Sam,
            &sam("62", "", "60", "MaximumBatchingWindowInSeconds: 5"),
        );
        assert!(found[0].headline.contains("may take 65 s"), "{}", found[0].headline);
        assert_eq!(found[0].calculation.as_deref(), Some("6 × 60 s + 5 s = 365 s"));
        assert_eq!(
            found[0].help.as_deref(),
            Some("set `VisibilityTimeout` to 365 or more: six times the function timeout plus the batching window")
        );
    }

    #[test]
    fn finding_mentions_fifo_and_concurrency() {
        let found = findings(&RULE, Dialect::Sam, &sam("60", "FifoQueue: true", "60", ""));
        assert!(
            found[0]
                .labels()
                .iter()
                .any(|label| label.message.contains("exactly-once"))
        );
        let limited = sam(
            "60",
            "",
            "60\n      ReservedConcurrentExecutions: 10",
            "ScalingConfig: {MaximumConcurrency: 10}",
        );
        let found = findings(&RULE, Dialect::Sam, &limited);
        assert!(found[0].help.as_ref().unwrap().contains("throttling is unlikely"));
        assert_eq!(found[0].severity, Severity::Warning);
    }

    #[test]
    fn disabled_mapping_is_an_info() {
        let found = findings(&RULE, Dialect::Sam, &sam("60", "", "60", "Enabled: false"));
        assert_eq!(found[0].severity, Severity::Info);
    }

    #[test]
    fn one_finding_names_largest_required_timeout() {
        let text = r#"
            resource "aws_sqs_queue" "orders" { # expect: visibility-timeout-too-short
            }
            resource "aws_lambda_function" "small" {
              timeout = 6
            }
            resource "aws_lambda_function" "large" {
              timeout = 7
            }
            resource "aws_lambda_event_source_mapping" "small" {
              event_source_arn = aws_sqs_queue.orders.arn
              function_name    = aws_lambda_function.small.arn
            }
            resource "aws_lambda_event_source_mapping" "large" {
              event_source_arn = aws_sqs_queue.orders.arn
              function_name    = aws_lambda_function.large.arn
            }
        "#;
        check(&RULE, Dialect::Terraform, text);
        let found = findings(&RULE, Dialect::Terraform, text);
        assert_eq!(found[0].calculation.as_deref(), Some("6 × 7 s + 0 s = 42 s"));
    }

    #[test]
    fn function_timeout_above_visibility_timeout_takes_precedence() {
        let text = r#"
            resource "aws_sqs_queue" "orders" {
            }
            resource "aws_lambda_function" "small" {
              timeout = 6
            }
            resource "aws_lambda_function" "large" {
              timeout = 60
            }
            resource "aws_lambda_event_source_mapping" "small" {
              event_source_arn = aws_sqs_queue.orders.arn
              function_name    = aws_lambda_function.small.arn
            }
            resource "aws_lambda_event_source_mapping" "large" {
              event_source_arn = aws_sqs_queue.orders.arn
              function_name    = aws_lambda_function.large.arn
            }
        "#;
        check(&RULE, Dialect::Terraform, text);
    }
}
