//! Flags functions that receive larger batches than they can process in one invocation.

use super::prelude::*;
use crate::graph::declared::DeclaredConsumer;
use crate::rules::shared::consumers::{PollingMapping, RunTime, default_timeout_of};
use crate::rules::shared::work::ProcessingTime;

pub(super) static RULE: Rule = rule!(
    "batch-exceeds-function-timeout",
    Category::Consumers,
    Severity::Warning,
    "a batch takes longer than the function may run, by the declared time for a message"
);

fn check(findings: &mut Findings<'_>) {
    for (declared, poll, time) in findings.declared_runs() {
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
                    findings.graph,
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
        time.function,
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
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn whole_batch_must_fit_into_timeout() {
        stack().check(
            &RULE,
            r#"
            function.timeout | mapping.batch_size | mapping.enabled | consumer                                      | except     | finding
            60               |                    |                 | processing = { p99 = "6s" }                   |            |
            59               |                    |                 | processing = { p99 = "6s" }                   |            | warning
            59               | 9                  |                 | processing = { p99 = "6s" }                   |            |
            59               |                    | false           | processing = { p99 = "6s" }                   |            | info
            // The default of the Serverless Framework is 6 s.
                             |                    |                 | processing = { p99 = "300ms" }                | Serverless |
                             |                    |                 | processing = { p99 = "301ms" }                | Serverless | warning
            60               |                    |                 | processing = { p99 = "20s" }\nparallelism = 3 |            | warning
            60               |                    |                 | processing = { p99 = "20s" }\nparallelism = 4 |            |
            // Another rule reports a single message above the timeout.
            60               |                    |                 | processing = { p99 = "7s", max = "60s" }      |            |
            60               |                    |                 | processing = { p99 = "7s", max = "59s" }      |            | warning
            open             |                    |                 | processing = { p99 = "59s" }                  |            | unjudged
            60               | open               |                 | processing = { p99 = "59s" }                  |            | unjudged
            "#,
        );
    }

    #[test]
    fn finding_names_declared_time() {
        stack().function("timeout", 31).check(
            &RULE,
            r#"
            consumer                                             | finding | headline   | calculation
            processing = { p50 = "1s", p99 = "6s", max = "30s" } | 1       | …by `p99`… |
            processing = { p50 = "1s", max = "30s" }             | 1       | …by `max`… |
            processing = { p50 = "6s" }                          | 1       | …by `p50`… |
            processing = { p99 = "6s" }                          | 1       |            | 10 × 6 s = 60 s
            "#,
        );
    }
}
