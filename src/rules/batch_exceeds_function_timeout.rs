//! Flags functions that receive larger batches than they can process in one invocation.

use super::prelude::*;
use crate::graph::declared::DeclaredConsumer;
use crate::rules::shared::consumers::{PollingMapping, RunTime, default_timeout_of};
use crate::rules::shared::work::ProcessingTime;

pub(super) static RULE: Rule = Rule {
    id: "batch-exceeds-function-timeout",
    category: Category::Consumers,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "a batch takes longer than the function may run, by the declared time for a message",
    page: include_str!("../../rules/batch-exceeds-function-timeout.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for (declared, poll, time) in findings.declared_runs(graph) {
        let Some(work) = ProcessingTime::slow(declared).or_else(|| ProcessingTime::median(declared)) else {
            continue;
        };
        for batch in findings.numbers(
            &time.limit.when,
            poll.mapping,
            &poll.mapping.batch_size,
            &limits::BATCH_SIZE,
        ) {
            let whole = rounds(&batch, declared) * Term::from(work);
            let fits = at_least(&time.limit, whole)
                .depending_on(&batch)
                .depending_on(&time)
                .depending_on(&poll);
            findings.require(&batch.when, time.function, fits, || {
                let numbers = [batch.value, declared.parallelism];
                exceeds(declared, &poll, &time, &batch, work).scenario(crate::rules::shared::scenarios::of_batch(
                    graph,
                    &poll,
                    &time.limit,
                    numbers,
                    work,
                ))
            });
        }
    }
}

/// Returns the number of messages that are processed one after the other.
fn rounds(batch: &Operand<'_>, declared: &DeclaredConsumer) -> i64 {
    (batch.value + declared.parallelism - 1) / declared.parallelism
}

fn exceeds(
    declared: &DeclaredConsumer,
    poll: &PollingMapping<'_>,
    time: &RunTime<'_>,
    batch: &Operand<'_>,
    work: ProcessingTime,
) -> Finding {
    let at_once = match declared.parallelism {
        1 => "one after the other".to_owned(),
        count => format!("{count} at a time"),
    };
    let whole = rounds(batch, declared) * Term::from(work);
    let headline = format!(
        "{} may run for {}, but a batch of {} messages of {} takes {} {at_once} (by `{}`), so it is stopped in the middle of \
         the batch and finished messages run again",
        time.function.resource.shown(),
        time.limit.in_words(),
        batch.value,
        work.time,
        whole.with_unit(),
        work.key()
    );
    let label = format!("a batch has up to {}", batch.counted("messages"));
    let ends = time.limit.or_default(
        default_timeout_of(&time.limit),
        format!("stopped after {}", time.limit.shown()),
    );
    let finding = Finding::new("timeout", headline, &time.limit, ends)
        .severity(poll.severity(Severity::Warning))
        .label(batch, batch.or_default("Lambda", label));
    work.show(finding).help(format!(
        "lower `{}`, or raise `{}` and the queue's visibility timeout with it; a function that works on several messages at \
         once declares that as `parallelism`",
        batch.name, time.limit.name
    ))
}

#[cfg(test)]
mod tests {
    use super::{RULE, Severity};
    use crate::Outcome;
    use crate::testing::run_files;

    fn run(function: &str, mapping: &str, says: &str) -> Outcome {
        let text = format!(
            r#"
            variable "open" {{}}
            resource "aws_sqs_queue" "orders" {{
              name = "orders"
            }}
            resource "aws_lambda_function" "fulfil" {{
              function_name = "fulfil"
              {function}
            }}
            resource "aws_lambda_event_source_mapping" "orders" {{
              event_source_arn = aws_sqs_queue.orders.arn
              function_name    = aws_lambda_function.fulfil.arn
              {mapping}
            }}
            "#
        );
        let settings = format!("[[consumer]]\nqueue = \"orders\"\nfunction = \"fulfil\"\n{says}\n");
        let outcome = run_files(&RULE, &[("main.tf", &text), ("sqslint.toml", &settings)]);
        assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
        outcome
    }

    fn found(function: &str, mapping: &str, says: &str) -> Vec<Severity> {
        let outcome = run(function, mapping, says);
        outcome.findings.iter().map(|found| found.severity).collect()
    }

    #[test]
    fn whole_batch_must_fit_into_timeout() {
        let seconds = "processing = { p99 = \"6s\" }";
        assert_eq!(found("timeout = 60", "", seconds), []);
        assert_eq!(found("timeout = 59", "", seconds), [Severity::Warning]);
        assert_eq!(found("timeout = 59", "batch_size = 9", seconds), []);
        assert_eq!(found("timeout = 59", "enabled = false", seconds), [Severity::Info]);
        assert_eq!(found("", "", "processing = { p99 = \"300ms\" }"), []);
        assert_eq!(found("", "", "processing = { p99 = \"301ms\" }"), [Severity::Warning]);
    }

    #[test]
    fn parallelism_shortens_batch() {
        let parallel = |count: i64| format!("processing = {{ p99 = \"20s\" }}\nparallelism = {count}");
        assert_eq!(found("timeout = 60", "", &parallel(3)), [Severity::Warning]);
        assert_eq!(found("timeout = 60", "", &parallel(4)), []);
    }

    #[test]
    fn finding_names_declared_time() {
        for (says, key) in [
            ("processing = { p50 = \"1s\", p99 = \"6s\", max = \"30s\" }", "p99"),
            ("processing = { p50 = \"1s\", max = \"30s\" }", "max"),
            ("processing = { p50 = \"6s\" }", "p50"),
        ] {
            let outcome = run("timeout = 31", "", says);
            assert!(outcome.findings[0].headline.contains(&format!("by `{key}`")), "{says}");
        }
        let outcome = run("timeout = 31", "", "processing = { p99 = \"6s\" }");
        assert_eq!(outcome.findings[0].calculation.as_deref(), Some("10 × 6 s = 60 s"));
    }

    #[test]
    fn single_message_above_timeout_is_left_to_other_rule() {
        assert_eq!(
            found("timeout = 60", "", "processing = { p99 = \"7s\", max = \"60s\" }"),
            []
        );
        assert_eq!(
            found("timeout = 60", "", "processing = { p99 = \"7s\", max = \"59s\" }"),
            [Severity::Warning]
        );
    }

    #[test]
    fn unresolved_values_are_not_judged() {
        for (function, mapping) in [("timeout = var.open", ""), ("timeout = 60", "batch_size = var.open")] {
            let outcome = run(function, mapping, "processing = { p99 = \"59s\" }");
            assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
            assert_eq!(outcome.not_evaluated.len(), 1, "{:?}", outcome.not_evaluated);
        }
    }
}
