//! Flags queues whose visibility timeout leaves Lambda no time to retry a throttled batch.

use super::visibility_timeout_below_function_timeout::{self as below_function_timeout, shortfalls};
use super::{Category, Findings, Read, Rule, Set, Setting, Value, visibility_timeout_zero};
use crate::diagnostic::{Diagnostic, Safety, Severity};
use crate::graph::{Condition, Graph, Queue};
use crate::rules::shared::advice::{Advice, FACTOR};
use crate::rules::shared::consumers::{Poll, RunTime};
use crate::rules::shared::operands::Operand;

pub(super) static RULE: Rule = Rule {
    id: "visibility-timeout-too-short",
    category: Category::Visibility,
    severity: Severity::Warning,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "the visibility timeout is less than six function timeouts plus the batching window",
    page: include_str!("../../rules/visibility-timeout-too-short.md"),
    settings: &[
        Setting {
            name: "factor",
            default: Value::Number {
                value: FACTOR,
                least: 1,
            },
            summary: "how many function timeouts the visibility timeout covers",
        },
        Setting {
            name: "count-window",
            default: Value::Flag(true),
            summary: "whether the batching window is added",
        },
    ],
    check: Some(check),
};

/// A mapping whose retries need longer than its queue hides a message.
struct Shortage<'g> {
    poll: Poll<'g>,
    run_time: RunTime<'g>,
    window: Operand<'g>,
    visibility: Operand<'g>,
    advice: Advice,
    world: Condition,
}

impl Shortage<'_> {
    fn read(&self) -> [&dyn Read; 4] {
        [&self.visibility, &self.run_time, &self.window, &self.poll]
    }

    fn wanted(&self) -> i64 {
        self.advice.least(self.run_time.limit.value, self.window.value)
    }

    fn severity(&self) -> Severity {
        if self.poll.enabled {
            Severity::Warning
        } else {
            Severity::Info
        }
    }
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for (queue, _) in graph.polled() {
        let mut all = shortages(graph, findings, queue);
        if all.is_empty() {
            continue;
        }
        // The worst speaks; the other functions become its labels.
        all.sort_by_key(|found| std::cmp::Reverse((found.severity(), found.wanted())));
        let worse = shortfalls(graph, findings, queue);
        for found in all {
            // Where `visibility-timeout-below-function-timeout` says no less of the queue, it alone speaks.
            let yields = worse.iter().filter(|other| other.severity() >= found.severity());
            let world = yields.fold(found.world.clone(), |world, other| world.and(&other.world.not()));
            let left = found.world.and(&world.not());
            findings.yields(&left, &queue.resource, &found.read(), &below_function_timeout::RULE);
            let diagnostic = too_short(findings, queue, &found);
            findings.found(&world, &queue.resource, &found.read());
            findings.report(&world, &queue.resource, diagnostic);
        }
    }
}

fn shortages<'g>(graph: &'g Graph, findings: &mut Findings<'_>, queue: &'g Queue) -> Vec<Shortage<'g>> {
    findings.about_to_judge(&queue.visibility_timeout);
    let advice = findings.advice(&queue.resource);
    let mut all = Vec::new();
    for poll in findings.polls(graph, &queue.resource.when, queue) {
        for run_time in findings.run_times(graph, &poll) {
            for window in findings.window(&run_time.limit.world, poll.mapping) {
                for visibility in findings.visibility(&window.world, queue) {
                    let found = Shortage {
                        world: visibility.world.clone(),
                        poll: poll.clone(),
                        run_time: run_time.clone(),
                        window: window.clone(),
                        visibility,
                        advice,
                    };
                    let (visibility, timeout) = (found.visibility.value, found.run_time.limit.value);
                    if timeout <= visibility && visibility < found.wanted() {
                        all.push(found);
                    } else {
                        suffices(findings, queue, &found);
                    }
                }
            }
        }
    }
    all
}

fn suffices(findings: &mut Findings<'_>, queue: &Queue, found: &Shortage<'_>) {
    let (visibility, timeout) = (found.visibility.value, found.run_time.limit.value);
    let (world, resource) = (&found.world, &queue.resource);
    if visibility == 0 {
        findings.yields(world, resource, &found.read(), &visibility_timeout_zero::RULE);
    } else if visibility < timeout {
        findings.yields(world, resource, &found.read(), &below_function_timeout::RULE);
    } else {
        findings.holds(world, resource, &found.read(), || {
            let function = found.run_time.function.resource.shown();
            let calculation = found.advice.calculation(timeout, found.window.value);
            format!("{calculation} ≤ {visibility} s, with {function}")
        });
    }
}

fn too_short(findings: &Findings<'_>, queue: &Queue, found: &Shortage<'_>) -> Diagnostic {
    let Shortage {
        poll,
        run_time,
        window,
        visibility,
        advice,
        ..
    } = found;
    let (subject, function) = (queue.resource.shown(), run_time.function.resource.shown());
    let (timeout, wanted) = (run_time.limit.value, found.wanted());
    let first_attempt = timeout + window.value;
    // Lambda receives messages before the window begins, so they wait in it while their timeout runs.
    let headline = if visibility.value < first_attempt {
        format!(
            "{subject} hides a message for {} s, but the batching window and {function} together may take \
             {first_attempt} s, so it may reappear during its very first attempt",
            visibility.value
        )
    } else {
        format!(
            "{subject} hides a message for {} s, less than the {wanted} s that leave Lambda time to retry \
             {function} when it is throttled",
            visibility.value
        )
    };
    let becomes_visible = format!("the message becomes visible again after {}", visibility.seconds());
    let diagnostic = findings.diagnostic(
        found.severity(),
        &queue.resource,
        "visibility_timeout",
        headline,
        visibility.span,
        visibility.or_default(becomes_visible, "SQS"),
    );
    let mut diagnostic = poll.show(run_time.limit.show(visibility.trace(diagnostic), run_time.label()));
    if window.value > 0 {
        let message = format!("a message may wait {} for its batch", window.seconds());
        diagnostic = window.show(diagnostic, message);
    }
    let fifo = queue.fifo.known_in(&found.world);
    if let Some((_, case, _)) = fifo.iter().find(|(_, _, fifo)| **fifo) {
        let message =
            "exactly-once covers sending only: here too a message is delivered again when its visibility timeout ends";
        diagnostic = diagnostic.label(case.span, message);
    }
    let mut help = format!("set `{}` to {wanted} or more: {}", visibility.name, advice.terms());
    if is_rarely_throttled(found) {
        help += "; throttling is unlikely here, as the mapping's maximum concurrency fits into the function's reserved concurrency";
    }
    diagnostic
        .calculation(advice.calculation(timeout, window.value))
        .help(help)
        .remedy(advice.remedy(&queue.resource, visibility, timeout, window.value))
}

/// Whether the mapping never asks for more concurrency than the function keeps for itself.
fn is_rarely_throttled(found: &Shortage<'_>) -> bool {
    let maximum = found.poll.mapping.maximum_concurrency.known_in(&found.world);
    let reserved = found.run_time.function.reserved_concurrency.known_in(&found.world);
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
    fn six_timeouts_and_the_window_are_enough() {
        let window = "MaximumBatchingWindowInSeconds: 5";
        check(&RULE, Dialect::Sam, &sam("360", "", "60", ""));
        check(&RULE, Dialect::Sam, &sam(&format!("359 {EXPECTED}"), "", "60", ""));
        check(&RULE, Dialect::Sam, &sam("365", "", "60", window));
        check(&RULE, Dialect::Sam, &sam(&format!("364 {EXPECTED}"), "", "60", window));
    }

    #[test]
    fn below_one_timeout_and_at_zero_other_rules_speak() {
        check(&RULE, Dialect::Sam, &sam("59", "", "60", ""));
        check(&RULE, Dialect::Sam, &sam("0", "", "60", ""));
        check(&RULE, Dialect::Sam, &sam(&format!("60 {EXPECTED}"), "", "60", ""));
    }

    #[test]
    fn what_is_open_is_said_and_not_judged() {
        for text in [
            sam("!Ref Open", "", "60", ""),
            sam("60", "", "!Ref Open", ""),
            sam("60", "", "60", "MaximumBatchingWindowInSeconds: !Ref Open"),
        ] {
            let text = format!("{text}Transform: AWS::Serverless-2016-10-31\n");
            let outcome = run_files(&RULE, &[("template.yaml", &text)]);
            assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
            assert_eq!(outcome.not_evaluated.len(), 1, "{:?}", outcome.not_evaluated);
        }
    }

    #[test]
    fn a_window_can_use_up_the_first_attempt() {
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
    fn fifo_and_concurrency_are_mentioned() {
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
    fn a_disabled_mapping_is_advice() {
        let found = findings(&RULE, Dialect::Sam, &sam("60", "", "60", "Enabled: false"));
        assert_eq!(found[0].severity, Severity::Info);
    }

    #[test]
    fn one_finding_names_the_largest_need() {
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
    fn a_function_that_runs_for_longer_than_the_timeout_silences_the_others() {
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
