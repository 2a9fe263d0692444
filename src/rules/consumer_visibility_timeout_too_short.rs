//! Flags queues whose messages become visible again while the declared consumer is still processing them.

use super::prelude::*;
use crate::rules::shared::scenarios;
use crate::rules::shared::work::{DeclaredProcessor, ProcessingTime, with_room};

/// Multiple of the median that some teams start with; AWS recommends no number.
const MEDIANS: i64 = 2;

pub(super) static RULE: Rule = Rule {
    id: "consumer-visibility-timeout-too-short",
    category: Category::Consumers,
    severity: Severity::Warning,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a declared consumer takes longer for a message than the visibility timeout",
    page: include_str!("../../rules/consumer-visibility-timeout-too-short.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        findings.set_judged_attribute(&queue.visibility_timeout);
        let unrenewed = graph.declared(queue).iter().filter(|one| one.heartbeat.is_none());
        for declared in unrenewed {
            for processor in findings.declared_processors(graph, queue, declared) {
                for visibility in findings.most_visibility(&processor.when, queue) {
                    if let Some(work) = ProcessingTime::longest(declared) {
                        findings.require(&visibility.when, queue, at_least(&visibility, work), || {
                            too_short(queue, &processor, &visibility, work)
                        });
                    } else if let Some(work) = ProcessingTime::median(declared) {
                        let needed = MEDIANS * Term::from(work);
                        findings.require(&visibility.when, queue, at_least(&visibility, needed), || {
                            short_of_medians(queue, &processor, &visibility, work)
                        });
                    }
                }
            }
        }
    }
}

fn too_short(
    queue: &Queue,
    processor: &DeclaredProcessor<'_>,
    visibility: &Operand<'_>,
    work: ProcessingTime,
) -> Finding {
    let harm = if processor.is_worker() {
        "so a second worker gets the message while the first still works on it"
    } else {
        "so a message may be processed twice"
    };
    let finding = found(queue, processor, visibility, work, harm)
        .severity(processor.severity(Severity::Warning))
        .scenario(scenarios::of_work(visibility, work));
    let (name, room) = (visibility.name, with_room(work.time));
    let set = match room {
        Some(seconds) => format!("set `{name}` to {seconds} or more"),
        None => format!("no `{name}` is as long"),
    };
    let renew = if processor.is_worker() {
        ", or renew it while the work goes on (`ChangeMessageVisibility`) and declare that as `heartbeat`"
    } else {
        ""
    };
    let change = room
        .filter(|_| visibility.is_known())
        .map(|room| visibility.set_to(room));
    finding.help(format!("{set}{renew}")).fix(change)
}

fn short_of_medians(
    queue: &Queue,
    processor: &DeclaredProcessor<'_>,
    visibility: &Operand<'_>,
    work: ProcessingTime,
) -> Finding {
    let harm = "which leaves little room for slower ones";
    found(queue, processor, visibility, work, harm)
        .severity(Severity::Info)
        .help(format!(
            "measure how long the slowest messages take and declare that as `p99` or `max`; until then, twice the median \
             is a start for `{}`",
            visibility.name
        ))
}

fn found(
    queue: &Queue,
    processor: &DeclaredProcessor<'_>,
    visibility: &Operand<'_>,
    work: ProcessingTime,
    harm: &str,
) -> Finding {
    let headline = format!(
        "{} has a visibility timeout of {}, but {} {}, {harm}",
        queue.resource.shown(),
        visibility.in_words(),
        processor.shown(),
        work.takes()
    );
    let becomes_visible = format!("the message becomes visible again after {}", visibility.shown());
    let label = visibility.or_default("SQS", becomes_visible);
    let finding = Finding::new("visibility_timeout", headline, visibility, label);
    processor.show(work.show(finding))
}

#[cfg(test)]
mod tests {
    use super::{RULE, Severity};
    use crate::Outcome;
    use crate::testing::run_files;

    fn terraform(queue: &str) -> String {
        format!(
            "variable \"open\" {{}}\nresource \"aws_sqs_queue\" \"orders\" {{\n  name = \"orders\"\n  {queue}\n}}\n"
        )
    }

    const FUNCTION: &str = r#"
        resource "aws_lambda_function" "fulfil" {
          function_name = "fulfil-order"
          timeout       = 60
        }
        resource "aws_lambda_event_source_mapping" "orders" {
          event_source_arn = aws_sqs_queue.orders.arn
          function_name    = aws_lambda_function.fulfil.arn
        }
    "#;

    fn declared(queue: &str, says: &str) -> Outcome {
        let settings = format!("[[consumer]]\nqueue = \"orders\"\n{says}\n");
        run_files(&RULE, &[("main.tf", queue), ("sqslint.toml", &settings)])
    }

    fn severities(outcome: &Outcome) -> Vec<Severity> {
        outcome.findings.iter().map(|found| found.severity).collect()
    }

    #[test]
    fn processing_time_above_timeout_is_flagged() {
        let queue = terraform("visibility_timeout_seconds = 60");
        for (says, expected) in [
            ("processing = { max = \"60s\" }", vec![]),
            ("processing = { max = \"60001ms\" }", vec![Severity::Warning]),
            ("processing = { max = \"61s\" }", vec![Severity::Warning]),
            ("processing = { p50 = \"1s\", p99 = \"61s\" }", vec![Severity::Warning]),
            ("processing = { p99 = \"61s\", max = \"62s\" }", vec![Severity::Warning]),
            ("processing = { p50 = \"30s\" }", vec![]),
            ("processing = { p50 = \"31s\" }", vec![Severity::Info]),
            ("processing = { p50 = \"31s\", p99 = \"60s\" }", vec![]),
            (
                "processing = { max = \"90s\" }\nheartbeat = { every = \"20s\", extend-to = \"60s\" }",
                vec![],
            ),
            ("", vec![]),
        ] {
            assert_eq!(severities(&declared(&queue, says)), expected, "{says}");
        }
    }

    #[test]
    fn finding_shows_both_values_and_help() {
        let outcome = declared(&terraform(""), "processing = { max = \"280s\" }");
        let found = &outcome.findings[0];
        assert_eq!(
            found.headline,
            "`aws_sqs_queue.orders` has a visibility timeout of 30 s, but its worker may take 280 s for a message, so a second \
             worker gets the message while the first still works on it"
        );
        let labels = found.labels().iter();
        let labels: Vec<String> = labels
            .map(|label| {
                format!(
                    "{} {}",
                    outcome.sources.file(label.span.file).base_name(),
                    label.message
                )
            })
            .collect();
        assert_eq!(
            labels,
            [
                "main.tf `visibility_timeout_seconds` is not set: SQS's default of 30 s applies",
                "sqslint.toml no message takes longer than 280 s"
            ]
        );
        assert!(found.help.as_ref().is_some_and(|help| help.contains("to 300 or more")));
        assert!(found.fix.is_some());
    }

    #[test]
    fn milliseconds_are_compared_with_seconds() {
        let outcome = declared(&terraform(""), "processing = { max = \"30500ms\" }");
        assert_eq!(outcome.findings.len(), 1);
        assert!(outcome.findings[0].headline.contains("may take 30500 ms"));
        assert!(
            declared(&terraform(""), "processing = { max = \"29500ms\" }")
                .findings
                .is_empty()
        );
    }

    #[test]
    fn declared_function_must_poll_the_queue() {
        let text = terraform("visibility_timeout_seconds = 60") + FUNCTION;
        for (function, expected) in [
            ("fulfil-order", 1),
            ("aws_lambda_function.fulfil", 1),
            ("fulfil*", 1),
            ("bill", 0),
        ] {
            let says = format!("function = \"{function}\"\nprocessing = {{ max = \"90s\" }}");
            let outcome = declared(&text, &says);
            assert_eq!(outcome.findings.len(), expected, "{function}");
            assert_eq!(outcome.unmatched.len(), 1 - expected, "{function}");
        }
    }

    #[test]
    fn zero_and_timeout_below_function_timeout_are_left_to_other_rules() {
        assert!(
            declared(
                &terraform("visibility_timeout_seconds = 0"),
                "processing = { max = \"9s\" }"
            )
            .findings
            .is_empty()
        );
        let function = "function = \"fulfil-order\"\nprocessing = { max = \"59s\" }";
        let text = |seconds: i64| terraform(&format!("visibility_timeout_seconds = {seconds}")) + FUNCTION;
        assert!(declared(&text(45), function).findings.is_empty());
        assert!(declared(&text(60), function).findings.is_empty());
    }

    #[test]
    fn bounds_decide_and_unresolved_timeout_is_noted() {
        let outcome = declared(
            &terraform("visibility_timeout_seconds = var.open"),
            "processing = { max = \"9s\" }",
        );
        assert!(outcome.findings.is_empty());
        assert_eq!(outcome.not_evaluated.len(), 1, "{:?}", outcome.not_evaluated);
        let bounded = "
            variable \"seconds\" {
              type = number
              validation {
                condition     = var.seconds <= 60
                error_message = \"at most 60\"
              }
            }
            resource \"aws_sqs_queue\" \"orders\" {
              name                       = \"orders\"
              visibility_timeout_seconds = var.seconds
            }
        ";
        assert_eq!(declared(bounded, "processing = { max = \"61s\" }").findings.len(), 1);
        assert!(declared(bounded, "processing = { max = \"60s\" }").findings.is_empty());
    }

    #[test]
    fn cloudformation_queue_is_flagged() {
        let template = "
AWSTemplateFormatVersion: '2010-09-09'
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties: {VisibilityTimeout: 60}
";
        let settings = "[[consumer]]\nqueue = \"Ord*\"\nprocessing = { max = \"2m\" }\n";
        let outcome = run_files(&RULE, &[("template.yaml", template), ("sqslint.toml", settings)]);
        assert_eq!(outcome.findings.len(), 1);
        assert!(outcome.findings[0].headline.contains("may take 120 s"));
    }
}
