//! Flags queues whose visibility timeout is too short for the functions that a pipe invokes with their messages.

use super::prelude::*;
use crate::graph::delivery::Pipe;
use crate::rules::shared::advice::{Advice, set_to_needed};
use crate::rules::shared::consumers::RunTime;
use crate::rules::shared::operands::FavorableBound;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "pipe-visibility-timeout-too-short",
    Category::PipesAndSam,
    Severity::Warning,
    "the visibility timeout is less than six times what the functions of a pipe may take",
    fix = Some(Safety::Unsafe)
);

/// Invocation type for which a pipe does not wait.
const NOT_WAITED_FOR: &str = "FIRE_AND_FORGET";

/// Condition, and the function for which a pipe waits under it; `None` for a step without a function of the project.
type Step<'g> = (Condition, Option<RunTime<'g>>);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for (reads, pipe) in findings.graph.pipes_from(queue) {
            findings.set_judged_attribute(&queue.visibility_timeout);
            let running = findings.known(&reads, pipe, &pipe.running);
            for running in running.into_iter().filter(|running| *running.value) {
                for (when, enrichment) in enrichments(findings, pipe, &running.when) {
                    for (when, target) in targets(findings, pipe, &when) {
                        let functions = enrichment.iter().chain(&target).collect();
                        judge(findings, queue, pipe, functions, &when);
                    }
                }
            }
        }
    }
}

fn enrichments<'g>(findings: &mut Findings<'g>, pipe: &'g Pipe, when: &Condition) -> Vec<Step<'g>> {
    let links = findings.known(when, pipe, &pipe.enrichment);
    let steps = links.into_iter().flat_map(|link| match link.value {
        None => vec![(link.when, None)],
        Some(to) => step(findings, pipe, &link, to),
    });
    steps.collect()
}

fn targets<'g>(findings: &mut Findings<'g>, pipe: &'g Pipe, when: &Condition) -> Vec<Step<'g>> {
    let mut all = Vec::new();
    for invocation in findings.known(when, pipe, &pipe.invocation_type) {
        if invocation.value.as_deref() == Some(NOT_WAITED_FOR) {
            all.push((invocation.when, None));
            continue;
        }
        for link in findings.known(&invocation.when, pipe, &pipe.target) {
            all.extend(step(findings, pipe, &link, link.value));
        }
    }
    all
}

/// Returns the functions that `link` (whose target is `to`) invokes. A target that is not a function of the project has
/// an unknown duration.
fn step<'g, T>(findings: &mut Findings<'g>, pipe: &'g Pipe, link: &Known<'g, T>, to: &Link) -> Vec<Step<'g>> {
    if findings.graph.function(pipe.resource.unit, to).is_none() {
        return vec![(link.when.clone(), None)];
    }
    let times = findings.least_run_times_of_link(&pipe.resource, to, **link, &link.when);
    let steps = times.into_iter().map(|time| (time.limit.when.clone(), Some(time)));
    steps.collect()
}

/// Judges `queue` by the functions that `pipe` invokes one after the other with each batch.
fn judge(findings: &mut Findings<'_>, queue: &Queue, pipe: &Pipe, functions: Vec<&RunTime<'_>>, when: &Condition) {
    let advice = findings.settings::<Advice>(queue);
    for window in findings.bounded_numbers(when, pipe, &pipe.window, &limits::WINDOW, FavorableBound::Least) {
        for visibility in findings.most_visibility(&window.when, queue) {
            let (needed, takes) = match *functions {
                [first] => (advice.needed(&first.limit, &window), Term::from(&first.limit)),
                [first, second] => (
                    advice.needed_by_both((&first.limit, &second.limit), &window),
                    &first.limit + Term::from(&second.limit),
                ),
                _ => continue,
            };
            let enough = at_least(&visibility, needed.clone())
                .note(|| format!(", with {}", names(&functions)))
                .depending_on(functions[0]);
            findings.require(&visibility.when, queue, enough, || {
                let mut headline = format!(
                    "{queue} has a visibility timeout of {}, less than the {} that AWS advises for the pipe {pipe}",
                    visibility.in_words(),
                    needed.with_unit()
                );
                let is_overlap = visibility.value < takes.value;
                if is_overlap {
                    headline += ", so messages may reappear while the pipe still works on them";
                }
                let label = format!("messages become visible again after {}", visibility.shown());
                let finding = Finding::new(
                    "visibility_timeout",
                    headline,
                    &visibility,
                    visibility.or_default("SQS", label),
                );
                let length = takes.value;
                let scenario = scenarios::of_length(&visibility, length).filter(|_| is_overlap && takes.is_known());
                let finding = finding.scenario(scenario);
                let finding = functions.iter().fold(finding, |finding, time| finding.show(*time));
                finding
                    .label(pipe.resource.header, format!("{pipe} reads the queue"))
                    .help(advice.help_for("what the functions of the pipe may take", &visibility, &needed))
                    .fix(set_to_needed(&visibility, &needed))
            });
        }
    }
}

fn names(functions: &[&RunTime<'_>]) -> String {
    let names: Vec<String> = functions.iter().map(|time| time.function.resource.shown()).collect();
    names.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;

    /// Pipe with an enrichment function of 20 s and a target function of 30 s.
    const PIPE: &str = r#"
variable "open" {}
locals {
  enrich  = aws_lambda_function.enrich.arn
  work    = aws_lambda_function.work.arn
  other   = "arn:aws:lambda:eu-west-1:111122223333:function:elsewhere"
  machine = "arn:aws:states:eu-west-1:111122223333:stateMachine:m"
}
resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = <visibility>
}
resource "aws_lambda_function" "enrich" {
  timeout = 20
}
resource "aws_lambda_function" "work" {
  timeout = 30
}
resource "aws_pipes_pipe" "orders" {
  source        = aws_sqs_queue.orders.arn
  enrichment    = <enrichment>
  target        = <target>
  desired_state = <state>
  source_parameters {
    sqs_queue_parameters {
      maximum_batching_window_in_seconds = <window>
    }
  }
  target_parameters {
    lambda_function_parameters {
      invocation_type = <invocation>
    }
  }
}
"#;

    #[test]
    fn timeout_below_six_times_both_functions_and_window_is_flagged() {
        Terraform.check_cases(
            &RULE,
            PIPE,
            r#"
            visibility | enrichment   | target        | window | invocation        | state     | finding
            300        | local.enrich | local.work    | null   | null              | null      |
            299        | local.enrich | local.work    | null   | null              | null      | visibility
            305        | local.enrich | local.work    | 5      | null              | null      |
            304        | local.enrich | local.work    | 5      | null              | null      | visibility
            // A target that the pipe does not wait for takes no time.
            120        | local.enrich | local.work    | null   | "FIRE_AND_FORGET" | null      |
            119        | local.enrich | local.work    | null   | "FIRE_AND_FORGET" | null      | visibility
            120        | local.enrich | local.machine | null   | null              | null      |
            119        | local.enrich | local.machine | null   | null              | null      | visibility
            // Stopped pipes and external functions.
            30         | local.enrich | local.work    | null   | null              | "STOPPED" |
            30         | local.enrich | local.work    | null   | null              | var.open  |
            30         | null         | local.other   | null   | null              | null      |
            30         | null         | local.machine | null   | null              | null      |
            30         | null         | var.open      | null   | null              | null      |
            var.open   | local.enrich | local.work    | null   | null              | null      | unjudged
            // Another rule reports it.
            0          | local.enrich | local.work    | null   | null              | null      |
            "#,
        );
    }

    #[test]
    fn calculation_includes_both_functions() {
        let functions = PIPE
            .replace("<enrichment>", "local.enrich")
            .replace("<target>", "local.work");
        let text = |visibility: &str| {
            let text = functions.replace("<visibility>", visibility);
            ["<window>", "<invocation>", "<state>"]
                .iter()
                .fold(text, |text, hole| text.replace(hole, "null"))
        };
        let found = Terraform.findings(&RULE, &text("299"));
        assert_eq!(
            found[0].calculation.as_deref(),
            Some("6 × 20 s + 6 × 30 s + 0 s = 300 s")
        );
        assert!(!found[0].headline.contains("reappear"), "{}", found[0].headline);
        let found = Terraform.findings(&RULE, &text("49"));
        assert!(found[0].headline.contains("reappear"), "{}", found[0].headline);
    }
}
